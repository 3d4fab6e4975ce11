from __future__ import annotations

import dataclasses
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from cu2port.core import edits
from cu2port.core.model import Finding, Severity, Trust, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.atoms import of_pass
from cu2port.facts.branches import (
    LAST_COMMON,
    Comparison,
    comparison,
    is_asked,
    is_in_code,
    names_gpus,
    names_sides,
    newer_only,
    older_computes,
    older_is_empty,
    older_refuses,
    tested_defined,
)
from cu2port.facts.hipcode import CONDITIONS, asks_for_hip, condition, condition_of
from cu2port.facts.sided_branches import sided_branches
from cu2port.facts.unit import Unit
from cu2port.ptx.taken import architecture
from cu2port.syntax.around import around
from cu2port.syntax.conditions import UNDEFINED, UNKNOWN, Lookup, Macro, truth
from cu2port.syntax.constants import Constant
from cu2port.syntax.lexer import lex
from cu2port.syntax.tree import Binary, Name, Unary

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
    means 0, so HIP takes the branch for older GPUs: check whether that branch does the whole job;
    where all that it does is stop (`assert(false)`, `__trap()`, `#error`), or a function would be left with nothing,
    HIP takes the other one. So it does where a device function lists PTX for several later GPUs and nothing for older
    ones, and the PTX can be lifted: the smallest number that loses none of it then holds for the whole file. Nothing is
    left to check where each of two branches returns one value of the same operands, or one is for certain GPUs alone
    (`== 860`) and the other for all others.
    """

    code, name, severity = "CU204", "cuda-arch", Severity.WARNING
    triggers = frozenset({"__CUDA_ARCH__"})
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
            "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800\nint x;\n#endif\n",
            "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800\nint x;\n#endif\n",
            "what only older GPUs need: false in both passes",
            findings=1,
        ),
        Example(
            "__device__ int f() { if constexpr (__CUDA_ARCH__ >= 900) return 1; return __CUDA_ARCH__ / 100; }",
            "__device__ int f() { if constexpr (false) return 1; return __CUDA_ARCH__ / 100; }",
            "in code",
            findings=2,
        ),
        Example(
            "#if (__CUDA_ARCH__) >= (600) || (__CUDA_ARCH__) == 530\nint x;\n#endif\n",
            "#if defined(__HIP_DEVICE_COMPILE__) || (__CUDA_ARCH__) == 530\nint x;\n#endif\n",
            "in brackets: another GPU is no feature",
            findings=2,
        ),
        Example("#ifdef __INTELLISENSE__\n#define __CUDA_ARCH__ 520\n#endif\n", note="for an editor"),
        Example(
            "#if __CUDA_ARCH__ >= 800\nint x;\n#endif\n",
            "#if __CUDA_ARCH__ >= 800\nint x;\n#endif\n",
            "review is needed",
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
            "__global__ void k(int* p) {\n#if __CUDA_ARCH__ >= 900\n    *p = 1;\n#else\n"
            '#pragma message("no code for this GPU")\n#endif\n}\n',
            "__global__ void k(int* p) {\n#if defined(__HIP_DEVICE_COMPILE__)\n    *p = 1;\n#else\n"
            '#pragma message("no code for this GPU")\n#endif\n}\n',
            "a kernel that would only say so",
        ),
        Example(
            "__device__ void f(unsigned* p) {\n    ++p;\n#if __CUDA_ARCH__ >= 800\n"
            '    asm("add.u32 %0, %0, 1;" : "+r"(*p));\n#elif __CUDA_ARCH__ >= 750\n'
            '    asm("add.u32 %0, %0, 2;" : "+r"(*p));\n#endif\n}\n',
            '#include "cu2port/ptx.hpp"\n__device__ void f(unsigned* p) {\n    ++p;\n#if __CUDA_ARCH__ >= 800\n'
            '    asm("add.u32 %0, %0, 1;" : "+r"(*p));\n#elif defined(__HIP_DEVICE_COMPILE__)\n'
            "    *p = std::uint32_t(*p) + 2;\n#endif\n}\n",
            "PTX for later GPUs alone",
        ),
        Example(
            "#ifdef __CUDA_ARCH__\n#define BOTH __host__ __device__\n#else\n#define BOTH\n#endif\n",
            "#ifdef __HIPCC__\n#define BOTH __host__ __device__\n#else\n#define BOTH\n#endif\n",
            "words for both sides",
        ),
        Example(
            "#if defined(__CUDACC__) && defined(__CUDA_ARCH__)\n#define BOTH __device__\n#else\n#define BOTH\n#endif\n",
            "#if defined(__HIPCC__) && defined(__HIPCC__)\n#define BOTH __host__ __device__\n#else\n#define BOTH\n"
            "#endif\n",
            "a word that the host's functions have too, outside of the device pass",
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
        Example(
            "__device__ float f(float a) {\n#if __CUDA_ARCH__ >= 800\n    return quick(a);\n#else\n"
            "    return 1 - 2 / (expf(2 * a) + 1);\n#endif\n}\n",
            "__device__ float f(float a) {\n#if __CUDA_ARCH__ >= 800\n    return quick(a);\n#else\n"
            "    return 1 - 2 / (expf(2 * a) + 1);\n#endif\n}\n",
            "for information: each branch gives a value of the same operands",
        ),
        Example(
            "#define BODY(T) __device__ T f(T x) { if (__CUDA_ARCH__ >= 530) return x; return x / 2; }\n",
            "#define BODY(T) __device__ T f(T x) { if (true) return x; return x / 2; }\n",
            "in a macro body that no condition of a directive can use",
        ),
        Example("#define ARCH (__CUDA_ARCH__ / 100)\n", "#define ARCH (__CUDA_ARCH__ / 100)\n", "in a macro body"),
        Example("f(__CUDA_ARCH__);", "f(__CUDA_ARCH__);", "as a macro's argument"),
        Example("#if defined(__CUDA_ARCH__)\n#elif defined(__HIP_DEVICE_COMPILE__)\n#endif\n", note="has a HIP branch"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        by_directive: dict[int, list[int]] = {}
        for i in unit.find("__CUDA_ARCH__"):
            if not asks_for_hip(unit, i) and not _is_named(unit, i):
                by_directive.setdefault(unit.lexed.directive_index(i), []).append(i)
        for n in sorted(by_directive.keys() - unit.once(sided_branches).keys()):
            tokens = by_directive[n]
            if n < 0 or unit.directives[n].keyword not in CONDITIONS:
                yield from self._each(unit, tokens)
            elif not unit.options.cuda_arch and _is_fallback(unit, n):
                yield self.finding(
                    "this asks for older NVIDIA GPUs, and stays false in HIP's host and device passes",
                    unit.p[tokens[0]],
                    unit.end(tokens[0]),
                    cuda="__CUDA_ARCH__",
                    effects=(("all", "compile-error"),),
                    why=("Newer GPUs and HIP's headers have what it replaces. See that this holds.",),
                )
            else:
                found = list(self._each(unit, tokens))
                answer = _answer(unit, n, found)
                yield from (f if f.edits or not answer else dataclasses.replace(f, why=(answer, *f.why)) for f in found)

    def _defined(self, unit: Unit, i: int) -> Finding:
        """What is said of a test whether the macro is defined."""
        asked, hip = "as the device pass", "__HIP_DEVICE_COMPILE__"
        alone = names_sides(unit, i)
        if alone is not None:
            asked, hip = "to name `__device__`, which HIP's host pass reads too", "__HIPCC__"
        elif _flags_later(unit, i):
            asked, hip = "to flag what later GPUs have, which HIP's host pass must not set", "__HIPCC__"
        return self.finding(
            f"`__CUDA_ARCH__` asked for {asked}: `{hip}`",
            unit.p[i],
            unit.end(i),
            (replace(unit.p[i], unit.end(i), hip), *(insert(unit.p[k], "__host__ ") for k in alone or ())),
            severity=Severity.INFO,
            cuda="__CUDA_ARCH__",
            hip=hip,
        )

    def _each(self, unit: Unit, tokens: Iterable[int]) -> Iterator[Finding]:
        """What is said of tokens one by one: each atom that HIP answers as CUDA would is replaced."""
        for i in tokens:
            start, end = unit.p[i], unit.end(i)
            if tested_defined(unit, i):
                yield self._defined(unit, i)
                continue
            found = comparison(unit, i, in_code=True)
            ordered = found is not None and found.op in (">", ">=", "<", "<=")
            reason = _taken(unit, i, found) if found is not None and ordered else ""
            if found is not None and reason:
                newer = found.op in (">", ">=") or found.number == 0
                text = "defined(__HIP_DEVICE_COMPILE__)" if newer else "!defined(__HIP_DEVICE_COMPILE__)"
                if is_in_code(unit, i):  # an expression, which only the device pass can have read
                    text = "true" if newer else "false"
                yield self.finding(
                    f"`{unit.text[found.start : found.end]}`: {reason}, in the device pass",
                    found.start,
                    found.end,
                    (replace(found.start, found.end, text),),
                    trust=Trust.REVIEW,
                    cuda="__CUDA_ARCH__",
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
                    cuda="__CUDA_ARCH__",
                    hip="__HIP_DEVICE_COMPILE__",
                )
            elif found is not None and ordered and is_in_code(unit, i):
                text = "false" if found.op in (">", ">=") else "true"
                yield self.finding(
                    f"`{unit.text[found.start : found.end]}`: HIP has no such number and takes the code for older GPUs",
                    found.start,
                    found.end,
                    (replace(found.start, found.end, text),),
                    trust=Trust.REVIEW,
                    cuda="__CUDA_ARCH__",
                    effects=(("all", "compile-error"),),
                )
            elif unit.options.cuda_arch and (ordered or is_in_code(unit, i)):
                yield self._as_asked(unit, i, ordered)
            elif is_in_code(unit, i):
                yield self.finding(
                    "`__CUDA_ARCH__` is not defined by HIP, so its value does not compile",
                    start,
                    end,
                    cuda="__CUDA_ARCH__",
                    effects=(("all", "compile-error"),),
                    why=("Ask for the feature, or give HIP's GPUs a number of your own.",),
                )
            elif found is not None and (how := _older_does_it(unit, i)):
                yield self.finding(
                    f"`{unit.text[found.start : found.end]}`: HIP takes the {how}",
                    start,
                    end,
                    severity=Severity.INFO,
                    cuda="__CUDA_ARCH__",
                )
            else:
                yield self._counts_as_zero(unit, i)

    def _counts_as_zero(self, unit: Unit, i: int) -> Finding:
        """What is said where the number is asked for and HIP has no answer of its own."""
        d = unit.in_directive(i)
        of_macro = d is not None and d.keyword == "define"
        older = "here: the branch for older GPUs is compiled"
        return self.finding(
            "`__CUDA_ARCH__` is not defined by HIP and counts as 0 "
            + ("in a condition of `#if`, and in code it does not compile" if of_macro else older),
            unit.p[i],
            unit.end(i),
            cuda="__CUDA_ARCH__",
            effects=(("all", "compile-error" if of_macro else "wrong-result"),),
            why=(
                "See that the branch which HIP takes does the whole job, then ask for the feature instead.",
                "`--cuda-arch sm_80` makes HIP take the branches for that GPU of NVIDIA's.",
            ),
        )

    def _as_asked(self, unit: Unit, i: int, ordered: bool) -> Finding:
        """What is said where the options give HIP a number: later GPUs are not it, and a value is written out."""
        number = str(unit.options.cuda_arch)
        what = "asks for other GPUs, and keeps its answer" if ordered else "its value is written out"
        return self.finding(
            f"HIP counts as {number} here: {what}",
            unit.p[i],
            unit.end(i),
            () if ordered else (replace(unit.p[i], unit.end(i), number),),
            trust=Trust.REVIEW,
            severity=Severity.INFO if ordered else Severity.WARNING,
            cuda="__CUDA_ARCH__",
        )


def _is_named(unit: Unit, i: int) -> bool:
    """Whether a directive gives the macro a meaning or takes it away: `#define`, which is CU244, and `#undef`."""
    d = unit.in_directive(i)
    return d is not None and d.keyword in ("define", "undef") and i == d.first + 2


def _is_fallback(unit: Unit, n: int) -> bool:
    """Whether a conditional without another branch adds what only older GPUs of NVIDIA's lack, so that it is false for
    a compiler without `__CUDA_ARCH__`: `#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800`."""
    g = unit.conditionals.opened_by(n)
    if g is None or len(g.chain) != 2 or g.chain[0] != n:
        return False
    words = condition(unit, unit.directives[n])
    untouched, older, newer = (truth(words, _with_arch(arch)) for arch in (0, LAST_COMMON, 9999))
    return untouched is False and older is not False and newer is False


def _with_arch(arch: int) -> Lookup:
    """What is known of macros where `__CUDA_ARCH__` has a value, or is not defined (0)."""
    known = Macro(True, Constant(arch, "long long"), True) if arch else UNDEFINED
    return lambda word: known if word == "__CUDA_ARCH__" else UNKNOWN


def _answer(unit: Unit, n: int, findings: Iterable[Finding]) -> str:
    """What a conditional asks of HIP's two passes when the edits of findings are made; "" if that is not known."""
    d = unit.directives[n]
    inside = [e for f in findings for e in f.edits if d.start <= e.start and e.end <= d.end]
    _, keyword, *words = lex(edits.apply_within(unit.text, d.start, d.end, inside)).t
    host, device = (truth(condition_of(keyword, words), of_pass(on)) for on in (False, True))
    if host is None and device is None:
        return ""
    said = {True: "true", False: "false", None: "not known here"}
    return f"The whole condition is {said[host]} in HIP's host pass and {said[device]} in its device pass."


def _flags_later(unit: Unit, i: int) -> bool:
    """Whether flags (`#define NAME`) and nothing else hang on `!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= N`, where N
    asks for what AMD GPUs have not."""
    d = unit.in_directive(i)
    if d is None or d.keyword != "if":
        return False
    g = unit.conditionals.opened_by(unit.lexed.directive_index(i))
    words = " ".join(w for w in unit.t[d.first + 2 : d.stop] if w not in ("(", ")"))
    m = _HOST_OR_LATER.match(words)
    least = unit.options.cuda_arch or LAST_COMMON
    if g is None or len(g.chain) != 2 or m is None or int(m[1] or m[2]) <= least:
        return False
    inner = unit.lexed.directives_in(g.start, g.end)
    code = sum(x.stop - x.first for x in inner) < bisect_left(unit.p, g.end) - bisect_left(unit.p, g.start)
    return not code and all(x.keyword == "define" and x.stop - x.first <= 3 for x in inner)


def _taken(unit: Unit, i: int, found: Comparison) -> str:
    """Why HIP takes the branch for newer GPUs; "" if it does not."""
    if found.least <= LAST_COMMON:
        return "AMD GPUs have what this asks for"
    if unit.options.cuda_arch:
        return f"HIP counts as {unit.options.cuda_arch} here" if found.least <= unit.options.cuda_arch else ""
    if older_refuses(unit, i, found):
        return "the branch for older GPUs only stops"
    if found.least <= architecture(unit):
        return "PTX of later GPUs is lifted here, and older ones would do nothing in its place"
    return "the function does nothing for older GPUs" if older_is_empty(unit, i, found) else ""


def _older_does_it(unit: Unit, i: int) -> str:
    """What of a conditional HIP takes where it is known to do the whole job; "" if that is not known."""
    if names_gpus(unit, i):
        return "branch for all other GPUs"
    g = unit.conditionals.opened_by(unit.lexed.directive_index(i))
    least = newer_only(unit, g.chain) if g is not None else 0
    if 0 < least <= architecture(unit):  # without `#else`, another branch holds PTX for older GPUs that HIP takes
        return "PTX for older GPUs, which is lifted"
    return "value for older GPUs, which is made of the same operands" if older_computes(unit, i) else ""


def _plain_truth(unit: Unit, i: int) -> bool:
    """`#if __CUDA_ARCH__`: the value itself is the condition. `(__CUDA_ARCH__) == 700` is none, brackets or not."""
    d = unit.in_directive(i)
    path = around(unit, i) if d is not None and d.keyword in ("if", "elif") else ()
    used = len(path) > 1 and isinstance(path[1], (Binary, Unary)) and path[1].op not in ("&&", "||", "!")
    return bool(path) and isinstance(path[0], Name) and not used and is_asked(*path)
