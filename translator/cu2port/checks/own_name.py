from __future__ import annotations

from collections.abc import Iterator

from cu2port.check import Check, Example
from cu2port.model import Finding, Severity
from cu2port.unit import Unit


class OwnName(Check):
    """A name of CUDA's is taken for the project's own, since another file of the tree declares it.

    No header at hand says whose name it is here. Where it is CUDA's after all, `cu2port query NAME` tells its fate.
    """

    code, name, severity = "CU113", "own-name", Severity.INFO
    examples = (
        Example("static int cudaFree(void* p) { return 0; }\nint x = cudaFree(q);\n", note="declared in this file"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        yield from (f for f in unit.api.findings if f.code == self.code)
