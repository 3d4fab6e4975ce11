from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.hipcode import asks_for_hip
from cu2port.facts.unit import Unit

_SAME = {
    "__CUDACC__": "__HIPCC__",
    "__CUDACC_RTC__": "__HIPCC_RTC__",
    "__NVCC__": "__HIPCC__",
}


class CompilerMacros(Check):
    """A macro that nvcc defines is asked for: `__CUDACC__`, `__NVCC__`, `__CUDACC_RTC__`.

    clang defines `__HIPCC__` for HIP sources as nvcc defines `__CUDACC__` for CUDA ones, so the name is replaced.
    A conditional that already has a branch for HIP is left as it is.
    """

    code, name, severity = "CU205", "compiler-macro", Severity.INFO
    triggers = frozenset(_SAME)
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
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_SAME):
            tok = unit.t[i]
            hip = _SAME[tok]
            if asks_for_hip(unit, i):
                continue
            d = unit.in_directive(i)
            if d is not None and d.keyword in ("define", "undef") and i == d.first + 2:
                continue
            yield self.finding(
                f"`{tok}` is `{hip}`",
                unit.p[i],
                unit.end(i),
                (replace(unit.p[i], unit.end(i), hip),),
                cuda=tok,
                hip=hip,
            )
