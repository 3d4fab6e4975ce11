from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.engine.cubcalls import storages
from cu2port.facts.unit import Unit

_BARRIER = re.compile(r"(?i)\w*sync\w*|\w*barrier\w*|\w*fence\w*|return|break|CTA_SYNC")
_HEAD = (
    "__global__ void k(int* p) {\n  typedef cub::BlockReduce<int, 64> R;\n  __shared__ typename R::TempStorage ts;\n"
    "  int a = R(ts).Sum(p[0]);\n"
)
_HIP = "#include <hipcub/hipcub.hpp>\n"


class CubStorageReuse(Check):
    """Two block collectives of CUB use the same temporary storage with no barrier between them.

    CUB asks for a barrier too. Without one a block of 64 threads is a single wavefront in HIP, whose collective does
    not end with a barrier, and values are overwritten before they are read. Write `__syncthreads()` between them.
    """

    code, name = "CU715", "cub-storage-reuse"
    triggers = frozenset({"TempStorage"})
    minutes = 5
    examples = (
        Example(
            _HEAD + "  int b = R(ts).Sum(p[1]);\n  p[2] = a + b;\n}\n",
            _HEAD.replace("cub::", "hipcub::") + "  int b = R(ts).Sum(p[1]);\n  p[2] = a + b;\n}\n",
            findings=1,
        ),
        Example(_HEAD + "  __syncthreads();\n  int b = R(ts).Sum(p[1]);\n  p[2] = a + b;\n}\n", note="a barrier"),
        Example(
            _HEAD.replace("int a", "int a; if (p[3]) a") + "  else a = R(ts).Sum(p[1]);\n}\n", note="one or the other"
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        known = storages(unit)
        for name in known:
            last = -1
            for i in unit.find(name):
                opened = unit.enclosing[i]
                if (
                    opened < 0
                    or unit.t[opened] != "("
                    or unit.tok(unit.match[opened] + 1) != "."
                    or unit.t[i + 1] != ")"
                ):
                    continue
                between = unit.t[last:i] if last >= 0 else []
                if last >= 0 and self._follows(unit, last, i) and not any(map(_BARRIER.fullmatch, between)):
                    yield self.finding(
                        f"`{name}` is used by two collectives with no barrier between them",
                        unit.p[i],
                        unit.end(i),
                        effects=(("wave64", "wrong-result"),),
                    )
                last = i

    def _follows(self, unit: Unit, first: int, second: int) -> bool:
        """Whether what is at one token is done before what is at another: in its block or one inside it."""
        f = unit.function_at(first)
        if f is None or f is not unit.function_at(second) or "else" in unit.t[first:second]:
            return False
        opens = [k for k in unit.between(f.body[0], first, "{") if unit.match[k] > first]
        return bool(opens) and unit.match[opens[-1]] > second
