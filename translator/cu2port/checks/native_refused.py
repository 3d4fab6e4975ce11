from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Options, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.warp.native.asked import native

_NATIVE = Options(warp="native")
_LANES = """__global__ void k(int* p) {
  p[threadIdx.x] = __shfl_up_sync(0xffffffff, p[threadIdx.x], 1);
}
"""
_LANES_KEPT = """#include "cu2port/warp.hpp"
__global__ void k(int* p) {
  p[threadIdx.x] = cu2port::warp::shfl_up(0xffffffff, p[threadIdx.x], 1);
}
"""


class NativeRefused(Check):
    """A kernel that keeps CUDA's warps of 32 lanes although `--warp native` was asked for.

    What it does with lanes is not proven to be the same for wavefronts of any size. The finding points at the first
    place that prevents it. The kernel is right as it is, on GPUs with 32 lanes and with 64.
    """

    code, name, severity = "CU357", "native-refused", Severity.INFO
    modes = frozenset({"native"})
    examples = (
        Example(_LANES, _LANES_KEPT, "a neighbour's value", options=_NATIVE, findings=1),
        Example(_LANES, note="not asked for"),
        Example("__global__ void k(int* p) { p[threadIdx.x] = 0; }", note="no warp", options=_NATIVE),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for k in native(unit).kept:
            yield self.finding(
                f"`{k.kernel.name}` keeps warps of 32 lanes: {k.why}",
                unit.p[k.at],
                unit.end(k.at),
                effects=(("all", "none"),),
            )
