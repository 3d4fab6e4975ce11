from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.api import api_facts
from cu2port.catalog.findings import Kind
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Example, InLint, RowCheck
from cu2port.facts.unit import Unit


class ApiUnsupported(RowCheck):
    """A CUDA name has no counterpart in HIP.

    The name stays in the file, so that the compiler stops there instead of running something else. The page of the
    name (`cu2port query NAME`) says what to do instead.
    """

    code, name, severity = "CU103", "api-unsupported", Severity.ERROR
    lint = InLint(chosen=True)
    kind = Kind.UNSUPPORTED
    counterpart = False
    examples = (
        Example(
            "auto e = cudaDeviceFlushGPUDirectRDMAWrites(a, b);", "auto e = cudaDeviceFlushGPUDirectRDMAWrites(a, b);"
        ),
        Example("auto e = my::cudaDeviceFlushGPUDirectRDMAWrites(a, b);", note="another namespace"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        return self.of_kind(api_facts(unit).findings)
