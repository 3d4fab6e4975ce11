from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.api import api_facts
from cu2port.catalog.findings import Kind
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Example, RowCheck
from cu2port.facts.unit import Unit


class ApiChange(RowCheck):
    """A CUDA function or type has a HIP counterpart that takes other arguments or behaves differently.

    The arguments are rewritten as the catalogue's row says. Where a row's trust is `review`, the rewrite is made and
    reported as a warning, because the meaning may differ in the way that the message tells.
    """

    code, name, severity = "CU102", "api-change", Severity.INFO
    kind = Kind.CHANGE
    minutes = 2
    examples = (
        Example(
            "void f() { cudaMemcpyToSymbol(table, p, n); }", "void f() { hipMemcpyToSymbol(HIP_SYMBOL(table), p, n); }"
        ),
        Example("void f() { x.cudaMemcpyToSymbol(table, p, n); }", note="a member"),
        Example(
            "struct A { static void f(void*); };\nvoid A::CUDART_CB f(void*) {}\n",
            "struct A { static void f(void*); };\nvoid A::f(void*) {}\n",
            "a macro, which no class has",
        ),
        Example(
            "#define UP(s, p, n) cudaMemcpyToSymbol(s, p, n)\n",
            "#define UP(s, p, n) hipMemcpyToSymbol(HIP_SYMBOL(s), p, n)\n",
            "in a macro body",
        ),
        Example(
            "CHECK(cudaMemcpyToSymbol(table, p, n));",
            "CHECK(hipMemcpyToSymbol(HIP_SYMBOL(table), p, n));",
            "as a macro's argument",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        return self.of_kind(api_facts(unit).findings)
