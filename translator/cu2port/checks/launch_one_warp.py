from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Options, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.hostside import one_warp_launches

_FLAG = Options(warp="flag")
_SUM = """__global__ void sum(int* x) { x[0] = __shfl_xor_sync(~0u, x[threadIdx.x], 16); }
"""
_ONE = _SUM + "void run(int* x) { sum<<<4, 32>>>(x); }\n"
_ROWS = _SUM + "void run(int* x) { dim3 block(32, 8); sum<<<4, block>>>(x); }\n"
_MACRO = _SUM + "#define RUN(x) sum<<<4, dim3(32, 4)>>>(x)\n"
_PLAIN = """__global__ void set(int* x) { x[threadIdx.x] = 1; }
void run(int* x) { set<<<4, 32>>>(x); }
"""


class LaunchOneWarp(Check):
    """A launch gives a CUDA warp to each block, or to each row of a block.

    On wave64 a block of 32 threads leaves half of the wavefront's lanes idle: right, and half as fast as it could be.
    Two rows of 32 share a wavefront, so `threadIdx.y` is no wavefront's number. Where a kernel keeps its warps of 32
    neither matters for the result.
    """

    code, name, severity = "CU355", "launch-one-warp", Severity.INFO
    triggers = frozenset(LANE_OPERATIONS)
    examples = (
        Example(_ONE, _ONE, options=_FLAG),
        Example(_ROWS, _ROWS, "rows of 32", options=_FLAG),
        Example(_MACRO, _MACRO, "in a macro body", options=_FLAG),
        Example(_PLAIN, note="no warp code"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for launch, at, kernel in one_warp_launches(unit):
            yield self.finding(
                f"`{kernel}` works with warps and is launched with rows of 32 threads",
                unit.p[launch.callee],
                unit.end(at) if at > launch.callee else unit.end(launch.close),
                effects=(("wave64", "slower"),),
            )
