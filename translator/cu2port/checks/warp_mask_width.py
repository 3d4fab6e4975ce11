from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Options, Severity
from cu2port.engine.check import Check, Example, Fold, InLint
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import SYNC, mask_bits, modes, sync_calls

_FLAG = Options(warp="flag")


class WarpMaskWidth(Check):
    """A mask of 32 bits is passed to a `*_sync` builtin that stays, and HIP's takes 64 bits.

    HIP 7 refuses a narrower mask at compile time, on every GPU. Widening it would make the code compile and leave it
    wrong: lanes 32 to 63 of a wavefront are not in the mask. Reported with `--warp flag` and in code for HIP; else the
    call goes to `cu2port/warp.hpp`, which takes CUDA's masks (CU313).
    """

    code, name, severity = "CU310", "warp-mask-width", Severity.WARNING
    triggers = frozenset(SYNC)
    true_of_hip = True
    lint = InLint(folds_into=(Fold("CU311"),), with_size=True)
    examples = (
        Example(
            "__device__ int f(int v) { return __shfl_down_sync(0xffffffff, v, 16); }",
            "__device__ int f(int v) { return __shfl_down_sync(0xffffffff, v, 16); }",
            options=_FLAG,
        ),
        Example(
            "#define FULL 0xffffffffu\n#define SYNC() __syncwarp(FULL)\n",
            "#define FULL 0xffffffffu\n#define SYNC() __syncwarp(FULL)\n",
            "a named mask",
            options=_FLAG,
        ),
        Example(
            "#include <hip/hip_runtime.h>\n__device__ int f(unsigned m, int v) { return __any_sync(m, v); }",
            "#include <hip/hip_runtime.h>\n__device__ int f(unsigned m, int v) { return __any_sync(m, v); }",
            "HIP's own code",
        ),
        Example("__device__ int f(int v) { return __shfl_down_sync(0xffffffff, v, 16); }", note="rewritten by CU313"),
        Example(
            "__device__ int f(int v) { __syncwarp(); return __shfl_sync(0xffffffffffffffffULL, v, 0); }",
            note="wide",
            options=_FLAG,
        ),
        Example(
            "__device__ int f(int v) { const uint64_t m = v; return __shfl_sync(m, v, 0); }",
            note="a wide variable",
            options=_FLAG,
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.options.rocm < (7, 0) or unit.words.isdisjoint(SYNC):
            return
        mode = modes(unit)
        for i, call in sync_calls(unit):
            if call.args and mode(i) == "flag" and mask_bits(unit, call.args[0]) != 64:
                mask = call.args[0]
                yield self.finding(
                    f"`{unit.t[i]}` takes a mask of 64 bits in HIP",
                    mask.start,
                    mask.end,
                    cuda=unit.t[i],
                    effects=(("all", "compile-error"),),
                    operation=unit.p[i],
                )
