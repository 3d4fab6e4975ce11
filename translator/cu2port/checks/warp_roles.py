from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.engine.warp_report import hazard_findings
from cu2port.facts.unit import Unit
from cu2port.warp.hazard_kinds import HazardKind

_HANGS = """__global__ void k(float* out) {
  __shared__ volatile int full;
  int warp = threadIdx.x / 32;
  if (warp == 0) {
    out[0] = 1;
    full = 1;
  } else {
    while (!full) {}
    out[1] = out[0];
  }
}
"""
_MACRO = """#define WARP_ID (threadIdx.x >> 5)
#define WAIT(f) while (!(f)) {}
__global__ void k(volatile int* full, float* out) {
  if (WARP_ID == 0) {
    full[0] = 1;
  } else {
    WAIT(full[0])
    out[1] = out[0];
  }
}
"""
_FINE = """__global__ void k(volatile int* arrived, int blocks) {
  if (threadIdx.x == 0) {
    atomicAdd((int*)arrived, 1);
    while (*arrived < blocks) {}
  }
  __syncthreads();
}
"""


class WarpRoles(Check):
    """Warps of one block have different roles and wait for each other through memory.

    On wave64 two CUDA warps share a wavefront, and a wavefront runs one arm of a branch at a time: a warp that waits
    for what the other arm will do waits for ever. Give the roles to whole wavefronts (64 threads each on wave64), or
    keep one CUDA warp a wavefront (`--warp solo`). The same holds for mbarriers and pipelines.
    """

    code, name = "CU362", "warp-roles"
    examples = (
        Example(_HANGS, _HANGS),
        Example(_MACRO, _MACRO, "through macros"),
        Example(_FINE, note="blocks wait for each other, one thread each"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        yield from hazard_findings(self, unit, HazardKind.WARP_ROLES, "hang")
