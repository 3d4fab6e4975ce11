from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_SPACE = "rocshmem::"


class ShmemContext(Check):
    """A kernel communicates by NVSHMEM, whose twin wants each block to begin and to end that.

    In rocSHMEM all threads of a block call `rocshmem::rocshmem_wg_init()` before its first device function and
    `rocshmem::rocshmem_wg_finalize()` behind the last one, before any of them returns.
    """

    code, name, severity = "CU740", "shmem-context", Severity.WARNING
    examples = (
        Example(
            "__global__ void k(int* p) { nvshmem_int_p(p, 1, 0); nvshmem_quiet(); }\n",
            "__global__ void k(int* p) { rocshmem::rocshmem_int_p(p, 1, 0); rocshmem::rocshmem_quiet(); }\n",
            findings=1,
        ),
        Example(
            "__global__ void k(int* p) { CHECK(nvshmem_my_pe()); }\n",
            "__global__ void k(int* p) { CHECK(rocshmem::rocshmem_my_pe()); }\n",
            "as a macro's argument",
            findings=1,
        ),
        Example("#define PUT(p) nvshmem_int_p(p, 1, 0)\n", note="in a macro body nobody knows for whom"),
        Example("#include <nvshmem.h>\nvoid f() { nvshmem_barrier_all(); }\n", note="on the host"),
        Example(
            "#include <nvshmem.h>\n__global__ void k(int* p) { rocshmem::rocshmem_wg_init(); nvshmem_quiet(); }\n",
            note="it is there",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        names = {w for w in unit.words & unit.catalog.active if w.startswith("nvshmem")}
        if not names or "rocshmem_wg_init" in unit.words:
            return
        first: dict[int, int] = {}
        for i in unit.find(*names):
            f = unit.function_at(i)
            row = unit.catalog.get(unit.t[i])
            if f is not None and "__global__" in f.sides and row is not None and row.hip.startswith(_SPACE):
                first.setdefault(f.name_at, i)
        for at, i in first.items():
            yield self.finding(
                f"`{unit.t[at]}` calls rocSHMEM: its blocks begin with `rocshmem_wg_init()` and end with "
                "`rocshmem_wg_finalize()`",
                unit.p[i],
                unit.end(i),
                cuda=unit.t[i],
                effects=(("all", "wrong-result"),),
            )
