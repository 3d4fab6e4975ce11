from __future__ import annotations

from collections.abc import Iterator

from cu2port.checks.own_atomic import is_global, left_to_others, own_functions
from cu2port.core.model import Finding, Severity, Trust
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit

_CLOCK = "__rdtsc"
_MATH = "ceil cos exp exp10 exp2 floor log log10 log2 rcp rint rsqrt sin sqrt trunc".split()
_HALVES = {f"h{name}": frozenset({"__half", "half"}) for name in _MATH} | {
    f"h2{name}": frozenset({"__half2", "half2"}) for name in _MATH
}
_PAIRS = frozenset({"__hmax", "__hmax_nan", "__hmin", "__hmin_nan"})  # of two halves
_HALVES |= {name: frozenset({"__half", "half"}) for name in _PAIRS}
_IDLE = frozenset({"const", "__restrict__"})


class OwnBuiltin(Check):
    """A function is defined that clang or HIP's headers have themselves: `__rdtsc()`, `__half hsin(__half)`.

    g++ has no `__rdtsc` until a header is included, and nvcc lacks functions for halves for older GPUs, so programs
    write them. clang has the first one built in and takes no other; of the others there are two in HIP's pass for the
    host, or in both, and no call of them compiles. The definition is left to other compilers, and does what theirs
    does.
    """

    code, name, severity = "CU267", "own-builtin", Severity.INFO
    triggers = frozenset({_CLOCK, *_HALVES})
    examples = (
        Example(
            "static uint64_t inline __rdtsc() {\n  uint32_t h, l;\n  READ(h, l);\n  return (uint64_t)h << 32 | l;\n}\n",
            "#ifndef __clang__\nstatic uint64_t inline __rdtsc() {\n  uint32_t h, l;\n  READ(h, l);\n"
            "  return (uint64_t)h << 32 | l;\n}\n#endif\n",
            path="a.h",
        ),
        Example(
            "#if __CUDA_ARCH__ < 530\n__device__ __half hsin(__half a) { return CHECK(a); }\n#endif\n",
            "#if !defined(__HIP_DEVICE_COMPILE__)\n#ifndef __HIPCC__\n"
            "__device__ __half hsin(__half a) { return CHECK(a); }\n"
            "#endif\n#endif\n",
            "for older GPUs; as a macro's argument it goes too",
        ),
        Example("#define OWN __device__ __half hsin(__half a) { return a; }\n", note="in a macro body"),
        Example(
            "__device__ __half __hmax_nan(__half a, __half b) {\n  return LARGER(a, b);\n}\n",
            "#ifndef __HIPCC__\n__device__ __half __hmax_nan(__half a, __half b) {\n"
            "  return LARGER(a, b);\n}\n#endif\n",
            "of two halves",
        ),
        Example("struct C { static long __rdtsc() { return 0; } };\nlong f() { return __rdtsc(); }\n", note="a member"),
        Example("__device__ float hsin(float a) { return a; }\n", note="HIP has no such one"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        of_halves = [f for f in own_functions(unit, frozenset(_HALVES)) if _of_half(unit, f)]
        found = [(f, "HIP's headers", "__HIPCC__") for f in of_halves]
        for f in unit.functions if _CLOCK in unit.words else ():
            if f.name == _CLOCK and is_global(unit, f) and not _is_for_others(unit, f):
                found.append((f, "clang", "__clang__"))
        for f, whose, compiler in found:
            yield self.finding(
                f"`{f.name}` is also defined by {whose}",
                unit.p[f.name_at],
                unit.end(f.name_at),
                left_to_others(unit, f, compiler),
                trust=Trust.REVIEW,
                effects=(("all", "compile-error"),),
            )


def _of_half(unit: Unit, f: Function) -> bool:
    """Whether a function takes values of the type that HIP's of its name takes, and as many."""
    spans = unit.split_args(f.params[0] + 1, f.params[1])
    taken = [
        [w for w in unit.t[k:stop] if w not in _IDLE]
        for k, stop in ((unit.lexed.at(x.start), unit.lexed.at(x.end)) for x in spans)
    ]
    known = all(words and words[0] in _HALVES[f.name] and not {"*", "&", "["} & {*words} for words in taken)
    return known and len(spans) == (2 if f.name in _PAIRS else 1)


def _is_for_others(unit: Unit, f: Function) -> bool:
    """Whether a condition around a function asks for clang already."""
    asked = (unit.directives[k] for g in unit.conditions(unit.p[f.first]) for k in g.chain if k <= g.opener)
    return any("__clang__" in unit.t[d.first : d.stop] for d in asked)
