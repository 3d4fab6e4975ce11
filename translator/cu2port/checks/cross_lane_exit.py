from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Options
from cu2port.engine.check import Check, Example
from cu2port.engine.warp_report import hazard_findings
from cu2port.facts.unit import Unit
from cu2port.warp.hazard_kinds import HazardKind

_FLAG = Options(warp="flag")
_WRONG = """__device__ int f(const int* x, int n) {
  for (int i = threadIdx.x; i < n; i++) {
    if (x[i] == 0) {
      int k = __popc(__activemask());
      return k;
    }
  }
  return 0;
}
"""
_FINE = """__device__ int f(const int* x, int n) {
  int k = 0;
  for (int i = threadIdx.x; i < n; i++) {
    if (x[i] == 0) k += __popc(__activemask());
  }
  return k;
}
"""


class CrossLaneExit(Check):
    """A cross-lane operation is just before the `break` or `return` of a branch in a loop.

    A block that can only leave its loop belongs behind the loop for the compiler: lanes that leave in different rounds
    may come to it together, after the last. The operation then counts or reads other lanes than in CUDA, with 32 lanes
    as with 64. Do it before the branch, or keep what it needs and do it behind the loop.
    """

    code, name = "CU367", "cross-lane-before-exit"
    examples = (
        Example(_WRONG, _WRONG, options=_FLAG),
        Example(_FINE, note="the lanes stay in the loop", options=_FLAG),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        yield from hazard_findings(self, unit, HazardKind.EXIT, "wrong-result")
