from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, Trust, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.branches import Comparison, comparison, older_is_empty, older_refuses, tested_defined
from cu2port.facts.hipcode import asks_for_hip
from cu2port.facts.unit import Unit

# Up to Volta the guarded features (atomics on double, shuffles, half arithmetic, synchronised votes) exist on every
# GPU that HIP supports. Later ones guard tensor cores, asynchronous copies and inline PTX, which AMD lacks.
_LAST_COMMON = 720
_HOST_OR_LATER = re.compile(
    r"! defined __CUDA_ARCH__ \|\| __CUDA_ARCH__ >= ([0-9]+)\Z|__CUDA_ARCH__ >= ([0-9]+) \|\| ! defined __CUDA_ARCH__\Z"
)


class CudaArch(Check):
    """`__CUDA_ARCH__` is asked for, which no HIP compiler defines.

    Asking whether it is defined means "is this the device pass": `__HIP_DEVICE_COMPILE__`; `__HIPCC__` where only
    words for `__host__ __device__` hang on it, or flags for later GPUs that the host pass sets as well: clang's host
    pass reads device code too, and must not read what the device pass does not. A comparison with a
    number up to 720 asks for features that AMD GPUs have: true in the device pass, so `>= 600` becomes
    `defined(__HIP_DEVICE_COMPILE__)` and `< 600` its negation. A comparison with a later number stays: undefined
    means 0, so HIP takes the branch for older GPUs, and a person must see whether that branch does the whole job;
    where all that it does is stop (`assert(false)`, `__trap()`, `#error`), or a function would be left with nothing,
    HIP takes the other one.
    """

    code, name, severity = "CU204", "cuda-arch", Severity.WARNING
    minutes = 10
    examples = (
        Example(
            "#ifdef __CUDA_ARCH__\nint x;\n#endif\n",
            "#ifdef __HIP_DEVICE_COMPILE__\nint x;\n#endif\n",
            "the device pass",
        ),
        Example(
            "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\n#else\nint x;\n#endif\n",
            "#if !defined(__HIP_DEVICE_COMPILE__) || defined(__HIP_DEVICE_COMPILE__)\n#else\nint x;\n#endif\n",
            "a feature that AMD GPUs have",
        ),
        Example(
            "#if __CUDA_ARCH__ < 600\nint x;\n#endif\n",
            "#if !defined(__HIP_DEVICE_COMPILE__)\nint x;\n#endif\n",
            "the branch for old GPUs",
        ),
        Example(
            "#if __CUDA_ARCH__ >= 800\nint x;\n#endif\n",
            "#if __CUDA_ARCH__ >= 800\nint x;\n#endif\n",
            "a person must look",
        ),
        Example(
            "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800\n#error too old\n#else\nint x;\n#endif\n",
            "#if defined(__HIP_DEVICE_COMPILE__) && !defined(__HIP_DEVICE_COMPILE__)\n#error too old\n#else\nint x;\n"
            "#endif\n",
            "a branch that only stops",
        ),
        Example(
            "__global__ void k(int* p) {\n#if __CUDA_ARCH__ >= 900\n    *p = 1;\n#endif\n}\n",
            "__global__ void k(int* p) {\n#if defined(__HIP_DEVICE_COMPILE__)\n    *p = 1;\n#endif\n}\n",
            "a kernel that would do nothing",
        ),
        Example(
            "#ifdef __CUDA_ARCH__\n#define BOTH __host__ __device__\n#else\n#define BOTH\n#endif\n",
            "#ifdef __HIPCC__\n#define BOTH __host__ __device__\n#else\n#define BOTH\n#endif\n",
            "words for both sides",
        ),
        Example(
            "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800\n#define HAS_ASYNC_COPY\n#endif\n",
            "#if !defined(__HIPCC__) || __CUDA_ARCH__ >= 800\n#define HAS_ASYNC_COPY\n#endif\n",
            "flags for later GPUs",
        ),
        Example(
            "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800\nint x;\n#endif\n",
            "#if !defined(__HIP_DEVICE_COMPILE__) || __CUDA_ARCH__ >= 800\nint x;\n#endif\n",
            "code of the host, and of later GPUs",
        ),
        Example("enum { BANKS = (__CUDA_ARCH__ >= 200) ? 32 : 16 };", "enum { BANKS = (true) ? 32 : 16 };", "a value"),
        Example("#define ARCH (__CUDA_ARCH__ / 100)\n", "#define ARCH (__CUDA_ARCH__ / 100)\n", "in a macro body"),
        Example("f(__CUDA_ARCH__);", "f(__CUDA_ARCH__);", "as a macro's argument"),
        Example("#if defined(__CUDA_ARCH__)\n#elif defined(__HIP_DEVICE_COMPILE__)\n#endif\n", note="has a HIP branch"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find("__CUDA_ARCH__"):
            tok = unit.t[i]
            if asks_for_hip(unit, i):
                continue
            start, end = unit.p[i], unit.end(i)
            if tested_defined(unit, i):
                asked, hip = "as the device pass", "__HIP_DEVICE_COMPILE__"
                if _names_sides(unit, i):
                    asked, hip = "to name `__device__`, which HIP's host pass reads too", "__HIPCC__"
                elif _flags_later(unit, i):
                    asked, hip = "to flag what later GPUs have, which HIP's host pass must not set", "__HIPCC__"
                yield self.finding(
                    f"`__CUDA_ARCH__` asked for {asked}: `{hip}`",
                    start,
                    end,
                    (replace(start, end, hip),),
                    severity=Severity.INFO,
                    cuda=tok,
                    hip=hip,
                )
                continue
            found = comparison(unit, i, in_code=True)
            ordered = found is not None and found.op in (">", ">=", "<", "<=")
            reason = _taken(unit, i, found) if found is not None and ordered else ""
            if found is not None and reason:
                newer = found.op in (">", ">=") or found.number == 0
                text = "defined(__HIP_DEVICE_COMPILE__)" if newer else "!defined(__HIP_DEVICE_COMPILE__)"
                if unit.in_directive(i) is None:  # an expression, which only the device pass can have read
                    text = "true" if newer else "false"
                yield self.finding(
                    f"`{unit.text[found.start : found.end]}`: {reason}, in the device pass",
                    found.start,
                    found.end,
                    (replace(found.start, found.end, text),),
                    trust=Trust.REVIEW,
                    cuda=tok,
                    hip="__HIP_DEVICE_COMPILE__",
                    effects=(("all", "wrong-result"),),
                )
            elif found is None and _plain_truth(unit, i):
                yield self.finding(
                    "`__CUDA_ARCH__` asked for as the device pass: `__HIP_DEVICE_COMPILE__`",
                    start,
                    end,
                    (replace(start, end, "defined(__HIP_DEVICE_COMPILE__)"),),
                    severity=Severity.INFO,
                    cuda=tok,
                    hip="__HIP_DEVICE_COMPILE__",
                )
            else:
                yield self.finding(
                    "`__CUDA_ARCH__` is not defined by HIP and counts as 0 here: the branch for older GPUs is compiled",
                    start,
                    end,
                    cuda=tok,
                    effects=(("all", "wrong-result"),),
                    why=("See that the branch which HIP takes does the whole job, then ask for the feature instead.",),
                )


def _flags_later(unit: Unit, i: int) -> bool:
    """Whether flags (`#define NAME`) and nothing else hang on `!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= N`, where N
    asks for what AMD GPUs have not."""
    d = unit.in_directive(i)
    if d is None or d.keyword != "if":
        return False
    g = unit.conditionals.opened_by(unit.lexed.directive_index(i))
    words = " ".join(w for w in unit.t[d.first + 2 : d.stop] if w not in ("(", ")"))
    m = _HOST_OR_LATER.match(words)
    if g is None or len(g.chain) != 2 or m is None or int(m[1] or m[2]) <= _LAST_COMMON:
        return False
    inner = unit.lexed.directives_in(g.start, g.end)
    code = sum(x.stop - x.first for x in inner) < bisect_left(unit.p, g.end) - bisect_left(unit.p, g.start)
    return not code and all(x.keyword == "define" and x.stop - x.first <= 3 for x in inner)


def _names_sides(unit: Unit, i: int) -> bool:
    """Whether all that a branch does is to define words for `__host__ __device__`.

    clang's host pass checks the calls of device code, and takes a function without the word for the host's alone.
    """
    d = unit.in_directive(i)
    if d is None or d.keyword not in ("if", "ifdef"):
        return False
    g = unit.conditionals.opened_by(unit.lexed.directive_index(i))
    if g is None or [w for w in unit.t[d.first + 2 : d.stop] if w not in ("defined", "(", ")")] != ["__CUDA_ARCH__"]:
        return False
    inner = unit.lexed.directives_in(g.start, g.end)
    code = any(g.start <= unit.p[x] < g.end for x in range(d.stop, inner[0].first)) if inner else True
    if code or not all(x.keyword == "define" for x in inner):
        return False
    return any("__device__" in unit.t[x.first : x.stop] for x in inner)


def _taken(unit: Unit, i: int, found: Comparison) -> str:
    """Why HIP takes the branch for newer GPUs; "" if it does not."""
    if found.number <= _LAST_COMMON:
        return "AMD GPUs have what this asks for"
    if older_refuses(unit, i, found):
        return "the branch for older GPUs only stops"
    return "the function does nothing for older GPUs" if older_is_empty(unit, i, found) else ""


def _plain_truth(unit: Unit, i: int) -> bool:
    """`#if __CUDA_ARCH__`: the value itself is the condition."""
    d = unit.in_directive(i)
    return (
        d is not None
        and d.keyword in ("if", "elif")
        and all(unit.tok(k) in ("&&", "||", "(", ")", "!") or not d.first + 2 <= k < d.stop for k in (i - 1, i + 1))
    )
