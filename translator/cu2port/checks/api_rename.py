from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.api import api_facts
from cu2port.catalog.findings import Kind
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Example, RowCheck
from cu2port.facts.unit import Unit


class ApiRename(RowCheck):
    """A CUDA name is replaced by the HIP name that takes the same arguments and means the same.

    The pairs are rows of the catalogue (`cu2port query NAME` shows one). Only names that are CUDA's are touched:
    members, names of other namespaces, strings, and functions that the code declares itself stay.
    """

    code, name, severity = "CU101", "api-rename", Severity.INFO
    kind = Kind.RENAME
    examples = (
        Example("void f(void* p) { cudaFree(p); }", "void f(void* p) { hipFree(p); }"),
        Example('void f(Pool& q, void* p) { q.cudaFree(p); my::cudaFree(p); puts("cudaFree"); }', note="not CUDA's"),
        Example("#define FREE(x) CHECK(cudaFree(x))\n", "#define FREE(x) CHECK(hipFree(x))\n", "in a macro body"),
        Example("CHECK(cudaFree(p));", "CHECK(hipFree(p));", "as a macro's argument"),
        Example("k = cudaMemcpyKind::cudaMemcpyDefault;", "k = hipMemcpyKind::hipMemcpyDefault;", "scoped", findings=2),
        Example("auto f(S s) noexcept -> cudaError_t { }", "auto f(S s) noexcept -> hipError_t { }", "returned"),
        Example(
            "#include <thrust/sort.h>\nusing namespace thrust;\nvoid f(int* p) { sort(cuda::par, p, p + 9); }\n",
            "#include <thrust/sort.h>\nusing namespace thrust;\nvoid f(int* p) { sort(thrust::hip::par, p, p + 9); }\n",
            "Thrust's `cuda`, not libcu++'s",
        ),
        Example("auto f(S s) { return g()->cudaFree(s); }", note="a member"),
        Example("k = my::cudaMemcpyKind::cudaMemcpyDefault;", note="another's enumeration"),
        Example(
            "#if A\nint e = cudaSuccess;\n#else\nint e = cudaErrorUnknown;\n#endif\n",
            "#if A\nint e = hipSuccess;\n#else\nint e = hipErrorUnknown;\n#endif\n",
            "both branches",
            findings=2,
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        return self.of_kind(api_facts(unit).findings)
