from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, InHip, Options, Severity
from cu2port.engine.check import Check, Example, Fold, InLint
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import SYNC, sync_calls

_FLAG = Options(warp="flag")


class WarpSyncMask(Check):
    """A `*_sync` builtin with a mask means a warp of 32 lanes; on a wavefront of 64 it does not mean the same.

    AMD wants the masks of all callers to add up to the lanes that are active: a mask that names a lane which is not
    there traps or votes wrong, and with 64 lanes two CUDA warps share one wavefront. Reported with `--warp flag`; else
    the call goes to `cu2port/warp.hpp` (CU313).
    """

    code, name, severity = "CU311", "warp-sync-mask", Severity.WARNING
    modes = frozenset({"flag"})
    triggers = frozenset(SYNC)
    lint = InLint(in_hip=InHip.OWN, folds_into=(Fold("CU310"),))
    examples = (
        Example(
            "__device__ int f(int v) { return __shfl_sync(0xffffffffffffffffULL, v, 0); }",
            "__device__ int f(int v) { return __shfl_sync(0xffffffffffffffffULL, v, 0); }",
            options=_FLAG,
        ),
        Example("__device__ void f() { __syncwarp(); }", note="no mask", options=_FLAG),
        Example(
            "#define __shfl_sync(m, v, l) __shfl(v, l)\nint x = __shfl_sync(m, v, l);\n",
            note="a macro of the file",
            options=_FLAG,
        ),
        Example("__device__ int f(int v) { return __shfl_sync(~0u, v, 0); }", note="rewritten by CU313"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(SYNC):
            return
        for i, call in sync_calls(unit):
            if call.args:
                yield self.finding(
                    f"`{unit.t[i]}` with a mask: right for a warp of 32 lanes, not for a wavefront of 64",
                    unit.p[i],
                    unit.end(call.close),
                    cuda=unit.t[i],
                    effects=(("wave64", "wrong-result"),),
                    operation=unit.p[i] if unit.options.rocm < (7, 0) else -1,  # the mask's width is said since, too
                )
