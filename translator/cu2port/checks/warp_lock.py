from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.engine.warp_report import hazard_findings
from cu2port.facts.unit import Unit
from cu2port.warp.hazard_kinds import HazardKind

_HANGS = """__global__ void k(int* lock, int* n) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *n += 1;
    atomicExch(lock, 0);
  }
}
"""
_MACRO = """#define LANE (threadIdx.x & 31)
#define TAKE(m) while (atomicExch(m, 1)) {}
__global__ void k(int* lock, int* n) {
  if (LANE == 0) {
    TAKE(lock);
    *n += 1;
    atomicExch(lock, 0);
  }
}
"""
_HANDED = """__global__ void k(int* lock, int* n) {
  int lane = threadIdx.x % 32, old = 1;
  while (old != 0) {
    if (lane == 0) old = atomicCAS(lock, 0, 1);
    old = __shfl_sync(0xffffffffu, old, 0);
  }
  if (lane == 0) {
    *n += 1;
    atomicExch(lock, 0);
  }
}
"""
_HANDED_HIP = '#include "cu2port/warp.hpp"\n' + _HANDED.replace("__shfl_sync(", "cu2port::warp::shfl(")
_ONE = """__global__ void k(int* lock, int* n) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *n += 1;
    atomicExch(lock, 0);
  }
}
"""


class WarpLock(Check):
    """One lane of each warp waits for a lock.

    A wavefront of 64 lanes holds two CUDA warps. The lane that got the lock leaves the loop and waits there for the
    other warp's lane, which waits for the lock: neither goes on. Let one lane of the wavefront take the lock for both,
    or one thread of the block; or keep one CUDA warp a wavefront (`--warp solo`). It is the same where one lane asks
    for the lock and a shuffle or a vote gives the answer to the others, so that the whole warp leaves the loop.

    A loop that tries, works and lets go inside its body is reported too: it runs as long as the compiler leaves the
    release where it is.
    """

    code, name = "CU360", "warp-lock"
    examples = (
        Example(_HANGS, _HANGS),
        Example(_MACRO, _MACRO, "through macros"),
        Example(_HANDED, _HANDED_HIP, "passed on by a shuffle"),
        Example(_ONE, note="one thread of the block"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        yield from hazard_findings(self, unit, HazardKind.WARP_LOCK, "hang")
