from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.api import api_facts
from cu2port.catalog.findings import Kind
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Example, RowCheck
from cu2port.facts.unit import Unit


class OwnName(RowCheck):
    """A CUDA name is treated as the project's own, since a file that is included here declares it.

    A declaration counts where it is visible. A local, a member of another class, a name of a namespace that is not
    open there, or a macro of another source keeps no name. A name that stays because of a header counts as manual
    work, because libclang could not decide: check that the header's name is meant.

    So is a member that no file declares (`library.cublasCreate(h)`). If a macro makes it from its name,
    or it is a pointer to a function, then that name was replaced and this one has to follow.

    If the name is CUDA's, `cu2port query NAME` shows its mapping.
    """

    code, name, severity = "CU113", "own-name", Severity.INFO
    kind = Kind.OWN
    note_minutes = 5
    examples = (
        Example("void f(L& l, H* h) { l.cublasCreate(h); }", "void f(L& l, H* h) { l.cublasCreate(h); }", "a member"),
        Example("#define M(l, h) l.cublasCreate(h)\n", "#define M(l, h) l.cublasCreate(h)\n", "in a macro body"),
        Example("CHECK(l->cublasCreate(h));", "CHECK(l->cublasCreate(h));", "as a macro's argument"),
        Example("static int cudaFree(void* p) { return 0; }\nint x = cudaFree(q);\n", note="declared in this file"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        return self.of_kind(api_facts(unit).findings)
