from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.files import CUDA_SUFFIXES, suffix
from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.branches import tested_defined
from cu2port.facts.header_macros import DEFAULT_STREAM, HEADER_MACROS
from cu2port.facts.hipcode import asks_for_hip
from cu2port.facts.unit import Unit

_SAME = {
    "__CUDACC__": "__HIPCC__",
    "__CUDACC_EXTENDED_LAMBDA__": "__HIPCC__",  # nvcc defines it where an option allows what clang always does
    "__CUDACC_RDC__": "__CLANG_RDC__",
    "__CUDACC_RELAXED_CONSTEXPR__": "__HIPCC__",
    "__CUDACC_RTC__": "__HIPCC_RTC__",
    "__NVCC__": "__HIPCC__",
}
_ASKS = "__CUDA_ARCH_HAS_FEATURE__"
_WITHOUT_CALL = frozenset({"ifdef", "ifndef", "elifdef", "elifndef", "undef"})


class CompilerMacros(Check):
    """A macro that nvcc defines is asked for: `__CUDACC__`, `__NVCC__`, `__CUDACC_RTC__`.

    clang defines `__HIPCC__` for HIP sources as nvcc defines `__CUDACC__` for CUDA ones, so the name is replaced.
    A conditional that already has a branch for HIP is left as it is.

    Macros that a program defines for CUDA's headers become those of HIP's: `__CUDA_NO_HALF_OPERATORS__`, and outside of
    CUDA sources `CUDA_API_PER_THREAD_DEFAULT_STREAM`. In those nvcc has included the runtime's header before.

    `__CUDA_ARCH_HAS_FEATURE__(SM90_ALL)` asks for one architecture of NVIDIA's, which no AMD GPU is: it becomes 0.
    HIP has no macro of that name, so its preprocessor stops at such a call. A file that defines the macro keeps it.
    """

    code, name, severity = "CU205", "compiler-macro", Severity.INFO
    triggers = frozenset({*_SAME, *HEADER_MACROS, _ASKS})
    examples = (
        Example("#ifdef __CUDACC__\nint x;\n#endif\n", "#ifdef __HIPCC__\nint x;\n#endif\n"),
        Example(
            "#if defined(__NVCC__) && A\nint x;\n#endif\n",
            "#if defined(__HIPCC__) && A\nint x;\n#endif\n",
        ),
        Example(
            "#if defined(__CUDACC__)\nint x;\n#elif defined(__HIPCC__)\nint y;\n#endif\n",
            note="there is a branch for HIP already",
        ),
        Example('const char* s = "__CUDACC__";', note="a string"),
        Example(
            "#if defined(__CUDACC_EXTENDED_LAMBDA__) && __CUDACC_RDC__\nint x;\n#endif\n",
            "#if defined(__HIPCC__) && __CLANG_RDC__\nint x;\n#endif\n",
            "options of nvcc",
            findings=2,
        ),
        Example(
            "#define __CUDA_NO_HALF_OPERATORS__\n#undef __CUDA_NO_HALF_CONVERSIONS__\n",
            "#define __HIP_NO_HALF_OPERATORS__\n#undef __HIP_NO_HALF_CONVERSIONS__\n",
            "for CUDA's headers",
            findings=2,
        ),
        Example(
            "#define CUDA_API_PER_THREAD_DEFAULT_STREAM\n",
            "#define HIP_API_PER_THREAD_DEFAULT_STREAM\n",
            path="a.cpp",
        ),
        Example("#define CUDA_API_PER_THREAD_DEFAULT_STREAM\n", note="without effect in a CUDA source"),
        Example(
            "#if defined(__CUDA_ARCH_HAS_FEATURE__) && __CUDA_ARCH_HAS_FEATURE__(SM90_ALL)\nint x;\n#endif\n",
            "#if defined(__CUDA_ARCH_HAS_FEATURE__) && 0\nint x;\n#endif\n",
            "a feature of one architecture",
        ),
        Example("#define HAS __CUDA_ARCH_HAS_FEATURE__(SM90_ALL)\n", "#define HAS 0\n", "in a macro body"),
        Example(
            "f(__CUDA_ARCH_HAS_FEATURE__(SM90_ALL), __CUDA_ARCH_HAS_FEATURE__);\n",
            "f(0, __CUDA_ARCH_HAS_FEATURE__);\n",
            "as an argument; without its brackets it stays",
            findings=2,
        ),
        Example(
            "#ifndef __CUDA_ARCH_HAS_FEATURE__\n#define __CUDA_ARCH_HAS_FEATURE__(x) 0\n#endif\n"
            "#if __CUDA_ARCH_HAS_FEATURE__(SM90_ALL)\nint x;\n#endif\n",
            note="the file has its own",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        known = _SAME | HEADER_MACROS
        if suffix(unit.path) in CUDA_SUFFIXES:
            del known[DEFAULT_STREAM]
        for i in unit.find(*known):
            tok = unit.t[i]
            hip = known[tok]
            if asks_for_hip(unit, i):
                continue
            d = unit.in_directive(i)
            if tok in _SAME and d is not None and d.keyword in ("define", "undef") and i == d.first + 2:
                continue
            yield self.finding(
                f"`{tok}` is `{hip}`",
                unit.p[i],
                unit.end(i),
                (replace(unit.p[i], unit.end(i), hip),),
                cuda=tok,
                hip=hip,
            )
        if _ASKS not in unit.macros:
            yield from self._features(unit)

    def _features(self, unit: Unit) -> Iterator[Finding]:
        """What is said of questions for features of one architecture."""
        for i in unit.find(_ASKS):
            d = unit.in_directive(i)
            if tested_defined(unit, i) or (d is not None and d.keyword in _WITHOUT_CALL):
                continue
            called = unit.tok(i + 1) == "(" and unit.match[i + 1] > i
            end = unit.end(unit.match[i + 1] if called else i)
            edits = (replace(unit.p[i], end, "0"),) if called else ()
            said = "`0`" if edits else "HIP has no such macro"
            yield self.finding(
                f"`{_ASKS}` asks for one architecture of NVIDIA's: {said}",
                unit.p[i],
                end,
                edits,
                severity=Severity.INFO if edits else Severity.WARNING,
                cuda=_ASKS,
                effects=() if edits else (("all", "compile-error"),),
            )
