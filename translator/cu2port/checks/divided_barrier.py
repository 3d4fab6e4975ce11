from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.engine.warp_report import hazard_findings
from cu2port.facts.unit import Unit
from cu2port.warp.hazard_kinds import HazardKind

_WRONG = """__global__ void k(float* x) {
  if (threadIdx.x / 32 == 0) {
    x[0] = 1;
    __syncthreads();
  } else {
    __syncthreads();
    x[1] = x[0];
  }
}
"""
_MACRO = """#define SYNC __syncthreads()
#define FIRST_WARP (threadIdx.x < 32)
__global__ void k(float* x) {
  if (FIRST_WARP) {
    x[0] = 1;
    SYNC;
  } else {
    SYNC;
    x[1] = x[0];
  }
}
"""
_FINE = """__global__ void k(float* x, int n) {
  if (n > 4) {
    x[threadIdx.x / 32] = 1;
    __syncthreads();
  } else {
    __syncthreads();
  }
}
"""


class DividedBarrier(Check):
    """A barrier of the block is in both arms of a branch that divides its threads.

    CUDA counts warps at a barrier, wherever it is. AMD counts wavefronts: one that holds warps of both arms meets
    the barrier twice, and the block falls out of step without a word. Move the barrier out of the branch, give the
    arms to whole wavefronts, or keep one CUDA warp a wavefront (`--warp solo`). Where the branch divides the lanes of
    a warp, CUDA does not say what happens either.
    """

    code, name = "CU363", "divided-barrier"
    examples = (
        Example(_WRONG, _WRONG),
        Example(_MACRO, _MACRO, "through macros"),
        Example(_FINE, note="the block goes one way"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        yield from hazard_findings(self, unit, HazardKind.DIVIDED_BARRIER, "wrong-result")
