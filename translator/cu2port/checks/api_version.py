from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.api import api_facts
from cu2port.catalog.findings import Kind
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import RowCheck
from cu2port.facts.unit import Unit


class ApiVersion(RowCheck):
    """A name's HIP counterpart is not in the ROCm version that is asked for.

    `--rocm` tells for which version code is made; names that came later or went earlier are reported and left.
    """

    code, name, severity = "CU104", "api-version", Severity.ERROR
    kind = Kind.VERSION
    minutes = 10
    examples = ()

    def run(self, unit: Unit) -> Iterator[Finding]:
        return self.of_kind(api_facts(unit).findings)
