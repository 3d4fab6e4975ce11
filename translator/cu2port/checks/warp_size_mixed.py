from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, InHip, Options, Severity
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.warp.classify import classify

_FLAG = Options(warp="flag")
_MIXED = """__global__ void k(float* x) {
  __shared__ float part[32];
  int lane = threadIdx.x % warpSize, warp = threadIdx.x / 32;
  if (lane == 0) part[warp] = x[threadIdx.x];
}
"""
_ONE = """__global__ void k(float* x) {
  int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  if (lane == 0) x[warp] = 1;
}
"""


class WarpSizeMixed(Check):
    """A function counts lanes with `warpSize` in one place and with 32 in another.

    On a wavefront of 64 the two disagree: what one half writes, the other does not find. Change all of a function, its
    shared arrays and what the host computes for it, or nothing. Reported with `--warp flag`; in the default mode both
    are 32.
    """

    code, name, severity = "CU353", "warp-size-mixed", Severity.WARNING
    modes = frozenset({"flag"})
    triggers = frozenset({"warpSize"})
    lint = InLint(in_hip=InHip.COUNT)
    examples = (
        Example(_MIXED, _MIXED, options=_FLAG, findings=1),
        Example(_ONE, note="all with warpSize", options=_FLAG),
        Example(_ONE.replace("warpSize", "32"), note="all with 32", options=_FLAG),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "warpSize" not in unit.words:
            return
        found: dict[int, list[int]] = {}
        for v in classify(unit):
            f = unit.function_at(v.at)
            if f is not None and v.lanes and not is_identifier(unit.t[v.at]):
                found.setdefault(f.name_at, []).append(v.at)
        for i in unit.find("warpSize"):
            f = unit.function_at(i)
            literals = found.pop(f.name_at, []) if f is not None and not unit.is_member(i) else []
            if f is not None and literals:
                at = literals[0]
                yield self.finding(
                    f"`{f.name}` counts lanes with `warpSize` and with `{unit.t[at]}`",
                    unit.p[at],
                    unit.end(at),
                    effects=(("wave64", "wrong-result"),),
                )
