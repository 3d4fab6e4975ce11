from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.engine.warp_report import hazard_findings
from cu2port.facts.unit import Unit
from cu2port.warp.hazard_kinds import HazardKind

_HANGS = """__global__ void k(int* locks, int* bins, const int* in) {
  int b = in[threadIdx.x];
  while (atomicCAS(&locks[b], 0, 1) != 0) {}
  bins[b]++;
  atomicExch(&locks[b], 0);
}
"""
_MACRO = """#define LOCK(p) while (atomicCAS(p, 0, 1) != 0) {}
__global__ void k(int* m, double* x) {
  LOCK(m);
  x[0] += threadIdx.x;
  atomicExch(m, 0);
}
"""
_FINE = """__global__ void k(int* locks, int* bins, const int* in) {
  int b = in[threadIdx.x];
  for (bool done = false; !done;) {
    if (atomicCAS(&locks[b], 0, 1) == 0) {
      bins[b]++;
      atomicExch(&locks[b], 0);
      done = true;
    }
  }
}
"""
_HOST = """void f(N* n, int threadIdx) {
  if (threadIdx > 2) {
    while (n->lock.test_and_set(std::memory_order_acquire));
    n->x++;
    n->lock.clear();
  }
}
"""


class LaneLock(Check):
    """Lanes of one wavefront wait for each other in a loop.

    CUDA GPUs since Volta let each lane go on by itself. AMD's lanes go on together: a lane that left the loop waits
    behind it until the others have left too, and those wait for what it does there. This hangs with 32 lanes as with
    64. Take the lock, work and let go inside the loop's body, with a flag that ends the loop; or let one lane do the
    work of all.
    """

    code, name = "CU361", "lane-lock"
    examples = (
        Example(_HANGS, _HANGS),
        Example(_MACRO, _MACRO, "through a macro"),
        Example(_FINE, note="the lock is let go inside the loop"),
        Example(_HOST, note="threads of the host, with an index of their own"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        yield from hazard_findings(self, unit, HazardKind.LANE_LOCK, "hang")
