from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Options
from cu2port.engine.check import Check, Example
from cu2port.engine.warp_report import hazard_findings
from cu2port.facts.unit import Unit
from cu2port.warp.hazard_kinds import HazardKind

_FLAG = Options(warp="flag")
_WRONG = """__device__ int f(int v) {
  int lane = threadIdx.x & 31;
  if (lane < 16) v = __shfl_sync(0xffffffff, v, 20);
  else v = __shfl_sync(0xffffffff, v, 3);
  return v;
}
"""
_FINE = """__device__ int f(int v) {
  if (threadIdx.x < 32) v = __shfl_sync(0xffffffff, v, 20);
  else v = __shfl_sync(0xffffffff, v, 3);
  return v;
}
"""


class OtherArmMask(Check):
    """The mask of a cross-lane operation names lanes that are in the other arm of a branch.

    CUDA lets both arms' lanes wait until all named ones have come. AMD runs one arm after the other: what is read from
    a lane of the other arm is 0, and its vote is missing. Move the operation out of the branch and choose between the
    results there. Where only one arm has the operation, the mask is wrong in CUDA too.
    """

    code, name = "CU365", "other-arm-mask"
    examples = (
        Example(_WRONG, _WRONG, options=_FLAG),
        Example(_FINE, note="the branch is taken by whole warps", options=_FLAG),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        yield from hazard_findings(self, unit, HazardKind.OTHER_ARM, "wrong-result")
