from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.api import api_facts
from cu2port.catalog.findings import Kind
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Example, InLint, RowCheck
from cu2port.facts.unit import Unit


class ApiNotApplied(RowCheck):
    """A function becomes a HIP function with other arguments, and this use of it cannot be rewritten in place.

    Its address is taken, its arguments come from a macro, or it has a number of arguments that the catalogue's row
    does not know.
    """

    code, name, severity = "CU106", "api-change-not-applied", Severity.ERROR
    lint = InLint(chosen=True)
    kind = Kind.NOT_APPLIED
    minutes = 10
    examples = (
        Example("auto f = cudaMemcpyToSymbol;", "auto f = cudaMemcpyToSymbol;", "its address is taken"),
        Example("int cudaMemcpyToSymbols = 0;", note="another name"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        return self.of_kind(api_facts(unit).findings)
