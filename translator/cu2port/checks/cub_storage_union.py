from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_UNION = """__global__ void k(int* p) {
  typedef cub::BlockRadixSort<int, 64, 4> S;
  __shared__ union { typename S::TempStorage ts; int mine[64]; } u;
}
"""


class CubStorageUnion(Check):
    """The temporary storage of a block collective shares a union with an array of the kernel's own.

    With rocPRIM such kernels ended in memory faults or gave corrupt data. Give the collective a `__shared__` variable
    of its own, or the array one.
    """

    code, name = "CU716", "cub-storage-union"
    triggers = frozenset({"TempStorage"})
    minutes = 10
    examples = (
        Example(_UNION, _UNION.replace("cub::", "hipcub::"), findings=1),
        Example(_UNION.replace("int mine[64]", "typename T::TempStorage u"), note="two collectives"),
        Example("union U { int a[3]; float b[3]; };", note="no collective"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "TempStorage" not in unit.words:
            return
        for i in unit.find("union"):
            opened = next((k for k in range(i + 1, min(i + 4, len(unit.t))) if unit.t[k] == "{"), -1)
            if opened < 0 or unit.match[opened] < 0:
                continue
            members = " ".join(unit.t[opened + 1 : unit.match[opened]]).split(";")
            own = [m for m in members if "[" in m and "TempStorage" not in m and "(" not in m and "{" not in m]
            block = any("TempStorage" in m and "Warp" not in m for m in members)
            if block and own and "[" in own[0].split()[-3:]:
                yield self.finding(
                    f"`{own[0].split('[')[0].split()[-1]}` shares its memory with a collective's temporary storage",
                    unit.p[i],
                    unit.end(opened),
                    effects=(("all", "wrong-result"),),
                )
