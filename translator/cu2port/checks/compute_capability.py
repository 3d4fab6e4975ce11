from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_PROPERTIES = frozenset({"cudaDeviceProp", "hipDeviceProp_t"})
_COMPARE = frozenset({"<", ">", "<=", ">=", "==", "!=", "*"})


class ComputeCapability(Check):
    """The program decides on a device's compute capability, which means nothing on AMD GPUs.

    HIP fills `major` and `minor` from the GPU's own number (9 and 4 on gfx942), so a test for sm_70 may pass or fail
    by chance. Ask for the feature, or for `gcnArchName`.
    """

    code, name, severity = "CU601", "compute-capability", Severity.WARNING
    minutes = 15
    examples = (
        Example(
            "void f(cudaDeviceProp p) { if (p.major >= 7) g(); }",
            "void f(hipDeviceProp_t p) { if (p.major >= 7) g(); }",
        ),
        Example('void f(cudaDeviceProp p) { printf("%d", p.major); }', note="shown to people"),
        Example("void f(Version v) { if (v.major >= 7) g(); }", note="another's member"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.words & _PROPERTIES:
            return
        for i in unit.find("major", "minor"):
            if unit.tok(i - 1) not in (".", "->"):
                continue
            if unit.tok(i + 1) in _COMPARE or unit.tok(i - 3) in _COMPARE - {"*"}:
                yield self.finding(
                    f"`{unit.t[i - 2]}{unit.t[i - 1]}{unit.t[i]}` is not a compute capability on AMD GPUs",
                    unit.p[i - 2],
                    unit.end(i),
                    effects=(("all", "wrong-result"),),
                )
