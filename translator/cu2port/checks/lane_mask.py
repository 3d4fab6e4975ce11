from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, InHip, Options, Severity
from cu2port.engine.check import Check, Example, Fold, InLint
from cu2port.engine.warp_report import facts_of, in_words
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.warp.values import chain

_FLAG = Options(warp="flag")
_ONES = re.compile(r"0[xX][fF]{8}[uUlL]*\Z")
_MASK = re.compile(r"(?i).*(?:mask|warp|lane|active|shfl|sync|full|vote|ballot)")
_BITS = """__device__ int f(unsigned m) {
  int lane = threadIdx.x & 31;
  unsigned votes = __ballot_sync(m, lane > 3);
  return __popc(votes & ((1u << lane) - 1));
}
"""
_ALL = """#define FULL_MASK 0xffffffff
__device__ void f() { WARP_SYNC(0xffffffff); }
"""
_PLAIN = """__device__ unsigned f(unsigned x, int n) {
  unsigned ones = 0xffffffff;
  return __popc(x & ((1u << n) - 1)) ^ ones;
}
"""


class LaneMask(Check):
    """A mask of lanes is made or counted in 32 bits.

    Of a wavefront of 64 lanes the upper half is left out: `1 << lane` and `0xffffffff` have no bits for it, `__popc`
    and `__ffs` look at the lower word alone. Reported with `--warp flag`; in the default mode masks are those of a warp
    of 32.
    """

    code, name, severity = "CU351", "lane-mask", Severity.WARNING
    modes = frozenset({"flag"})
    lint = InLint(in_hip=InHip.COUNT, folds_into=(Fold("CU311"), Fold("CU310")))
    examples = (
        Example(_BITS, _BITS, "a lane's bit, and counting in a ballot", options=_FLAG, findings=2),
        Example(_ALL, _ALL, "all lanes of a warp, by name and as an argument", options=_FLAG, findings=2),
        Example(_PLAIN, note="bits of a word", options=_FLAG),
        Example(_BITS.replace("__ballot_sync", "vote"), note="by default masks have 32 bits"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*(w for w in unit.words if _ONES.match(w))):
            if _is_mask(unit, i):
                yield self.finding(
                    f"`{unit.t[i]}` names 32 lanes",
                    unit.p[i],
                    unit.end(i),
                    effects=(("wave64", "wrong-result"),),
                )
        seen: set[int] = set()
        for d in facts_of(unit).devices:
            for e in d.events.values():
                if e.kind in ("lane-bit", "mask-bits") and e.at not in seen:
                    seen.add(e.at)
                    what = "a lane's bit is shifted" if e.kind == "lane-bit" else f"`{e.name}` looks at a mask of lanes"
                    yield self.finding(
                        f"{what} in 32 bits",
                        unit.p[e.at],
                        unit.end(e.at),
                        effects=(("wave64", "wrong-result"),),
                        why=(*in_words(unit, chain(e.values[0].why)), *self.reasons),
                    )


def _is_mask(unit: Unit, i: int) -> bool:
    """Whether 32 ones at token i are a mask of lanes, by the name that they are given or passed to."""
    d = unit.in_directive(i)
    if d is not None:
        return d.keyword == "define" and _MASK.match(unit.t[d.first + 2]) is not None
    before = unit.tok(i - 1)
    name = unit.tok(i - 2)
    return before in ("=", "(", "{") and bool(name) and is_identifier(name) and _MASK.match(name) is not None
