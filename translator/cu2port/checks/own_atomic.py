from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, Side, Trust, insert, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.taken import is_left_out
from cu2port.syntax.lexer import is_identifier

#: Overloads that HIP's runtime header has and CUDA's does not (`atomicAdd` of doubles: not for GPUs before sm_60).
_HIP_HAS = {
    "unsigned long": "Add Sub Min Max Exch CAS And Or Xor",
    "unsigned long long": "Sub",
    "float": "Sub Min Max CAS",
    "double": "Add Sub Min Max Exch CAS",
}
_OVERLOADS = {(f"atomic{name}", kind) for kind, names in _HIP_HAS.items() for name in names.split()}
_NAMES = frozenset(name for name, _ in _OVERLOADS)
#: Of the words of a type, those that tell nothing here; of its other spellings, those of 64-bit Linux.
_IDLE = frozenset({"const", "volatile", "int", "std", "::", "__restrict__"})
_SPELLED = {"size_t": "unsigned long", "uint64_t": "unsigned long", "ulong": "unsigned long"}


class OwnAtomic(Check):
    """An atomic function is defined that HIP has itself: `float atomicMax(float*, float)`.

    CUDA lacks it, so programs write it by compare and swap; in HIP the definition is the second one, and does not
    compile. It is left to other compilers by `#ifndef __HIPCC__`. HIP's does the same, by one instruction where it can.
    """

    code, name, severity = "CU229", "own-atomic", Severity.INFO
    triggers = frozenset(_NAMES)
    examples = (
        Example(
            "__device__ float atomicMax(float* p, float v) {\n    return v;\n}\n",
            "#ifndef __HIPCC__\n__device__ float atomicMax(float* p, float v) {\n    return v;\n}\n#endif\n",
        ),
        Example(
            "__device__ size_t atomicAdd(size_t* p, const size_t v) { return CHECK(v); }\n",
            "#ifndef __HIPCC__\n__device__ size_t atomicAdd(size_t* p, const size_t v) { return CHECK(v); }\n#endif\n",
            "as a macro's argument it goes too",
        ),
        Example("#define OWN __device__ float atomicMax(float* p, float v) { return v; }\n", note="in a macro body"),
        Example(
            "#if __CUDA_ARCH__ > 300\n__device__ size_t atomicMin(size_t* p, size_t v) { return v; }\n#endif\n",
            "#if defined(__HIP_DEVICE_COMPILE__)\n#ifndef __HIPCC__\n"
            "__device__ size_t atomicMin(size_t* p, size_t v) { return v; }\n#endif\n#endif\n",
            "in a branch that HIP takes",
        ),
        Example(
            "#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\n#else\n"
            "__device__ double atomicAdd(double* p, double v) { return v; }\n#endif\n",
            note="in a branch that HIP does not take",
        ),
        Example(
            "namespace my { __device__ float atomicMax(float* p, float v) { return v; } }\n", note="in a namespace"
        ),
        Example(
            "__device__ long long atomicAdd(long long* p, long long v) { return v; }\n", note="HIP has no such one"
        ),
        Example(
            "#ifdef __CUDACC__\n#elif defined(__HIPCC__)\n#endif\n__device__ int atomicMax(S* p, S v) { return 1; }\n"
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.words & _NAMES:
            return
        for f in own_functions(unit, _NAMES):
            kind = _kind(unit, f)
            if (f.name, kind) not in _OVERLOADS:
                continue
            yield self.finding(
                f"`{f.name}` of `{kind}` is also defined by HIP",
                unit.p[f.name_at],
                unit.end(f.name_at),
                left_to_others(unit, f),
                trust=Trust.REVIEW,
                cuda=f.name,
                effects=(("all", "compile-error"),),
            )


def _kind(unit: Unit, f: Function) -> str:
    """T of a function that takes `T*` and then values of T; "" of any other."""
    spans = unit.split_args(f.params[0] + 1, f.params[1])
    kinds = []
    for n, span in enumerate(spans):
        k, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
        words = [w for w in unit.t[k:stop] if w not in _IDLE]
        if len(words) > 1 and is_identifier(words[-1]):
            words.pop()
        if n == 0 and words[-1:] == ["*"]:
            words.pop()
        text = " ".join(words)
        kinds.append(_SPELLED.get(text, text))
    return kinds[0] if len(kinds) == (3 if f.name == "atomicCAS" else 2) and len(set(kinds)) == 1 else ""


def own_functions(unit: Unit, names: frozenset[str]) -> Iterator[Function]:
    """The device functions of some names that a file defines in the global namespace, no templates, in what HIP reads
    and outside of macro bodies."""
    for f in unit.functions:
        if f.name not in names or "__device__" not in f.sides or unit.declarations.template_at(f.first):
            continue
        if is_global(unit, f) and not is_left_out(unit, unit.p[f.first]):
            yield f


def is_global(unit: Unit, f: Function) -> bool:
    """Whether a definition is in no macro's body, namespace or class."""
    return unit.in_directive(f.name_at) is None and not _is_nested(unit, f)


def _is_nested(unit: Unit, f: Function) -> bool:
    """Whether a definition is in a namespace or a class."""
    return any(
        unit.t[k] == "{" and unit.match[k] > f.body[1]
        for k in unit.find("{")
        if k < f.first and unit.tok(k - 1) != '"C"'
    )


def left_to_others(unit: Unit, f: Function, compiler: str = "__HIPCC__") -> tuple[Edit, ...]:
    """`#ifndef` around a definition that a compiler need not see; nothing where it shares a line with other code."""
    start, end = unit.p[f.first], unit.end(f.body[1])
    line = unit.text.rfind("\n", 0, start) + 1
    stop = unit.text.find("\n", end)
    rest = unit.text[end : stop if stop >= 0 else len(unit.text)].strip()
    if unit.text[line:start].strip() or (rest and not rest.startswith("//")):
        return ()
    first = unit.t[f.first]  # with it, since an include may be added at the same place
    return (
        replace(start, start + len(first), f"#ifndef {compiler}\n{unit.text[line:start]}{first}"),
        insert(end, "\n#endif", Side.LEFT),
    )
