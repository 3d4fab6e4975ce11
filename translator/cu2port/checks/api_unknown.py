from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.api import api_facts
from cu2port.catalog.findings import Kind
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Example, RowCheck
from cu2port.facts.unit import Unit


class ApiUnknown(RowCheck):
    """A name looks like one of CUDA's, and neither the catalogue nor the available code declares it.

    It may be newer than cu2port, misspelt, or come from a header of yours that was not among the inputs.
    """

    code, name, severity = "CU105", "unknown-cuda-name", Severity.WARNING
    kind = Kind.UNKNOWN
    minutes = 5
    examples = (
        Example("void f() { cudaFrobnicate(1); }", "void f() { cudaFrobnicate(1); }"),
        Example("cublasMpGrid_t g;", "cublasMpGrid_t g;", "a type"),
        Example(
            "#define RUN(x) cudaFrobnicate(x)\n#define run cudaFrobnicate\n",
            "#define RUN(x) cudaFrobnicate(x)\n#define run cudaFrobnicate\n",
            "in a macro body",
        ),
        Example("#define SET(cudaFrob) (cudaFrob(1))\n#if cudaFrob(1)\n#endif\n", note="a parameter; a condition"),
        Example(
            "#define TYPES(T) constexpr auto CUDA_FROB_T = 1;\nvoid f() { TYPES(int) g(CUDA_FROB_T); }\n",
            note="declared by a macro",
        ),
        Example("static int cudaFrobnicate(int x) { return x; }\nint y = cudaFrobnicate(1);\n", note="declared here"),
        Example("struct A { static int* cudaFrob(int x); };\nint* A::cudaFrob(int x) { return 0; }\n", note="a member"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        return self.of_kind(api_facts(unit).findings)
