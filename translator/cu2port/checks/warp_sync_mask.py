from __future__ import annotations

from collections.abc import Iterator

from cu2port.check import Check, Example
from cu2port.model import Finding, Severity
from cu2port.unit import Unit
from cu2port.warpnames import sync_calls


class WarpSyncMask(Check):
    """A `*_sync` builtin means a warp of 32 lanes; on a wavefront of 64 it does not mean the same.

    AMD wants the masks of all callers to add up to the lanes that are active: a mask that names a lane which is not
    there traps or votes wrong, and with 64 lanes two CUDA warps share one wavefront. Each such call needs a look:
    shuffles want a width of 32, votes want the half of the wavefront that the CUDA warp is.
    """

    code, name, severity = "CU311", "warp-sync-mask", Severity.WARNING
    examples = (
        Example(
            "__device__ int f(int v) { return __shfl_sync(0xffffffffffffffffULL, v, 0); }",
            "__device__ int f(int v) { return __shfl_sync(0xffffffffffffffffULL, v, 0); }",
        ),
        Example("__device__ void f() { __syncwarp(); }", note="no mask"),
        Example(
            "#define __shfl_sync(m, v, l) __shfl(v, l)\nint x = __shfl_sync(m, v, l);\n", note="a macro of the file"
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i, call in sync_calls(unit):
            if call.args:
                yield self.finding(
                    f"`{unit.t[i]}` with a mask: right for a warp of 32 lanes, not for a wavefront of 64",
                    unit.p[i],
                    unit.end(call.close),
                    effects=(("wave64", "wrong-result"),),
                )
