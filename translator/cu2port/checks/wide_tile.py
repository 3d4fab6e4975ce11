from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit


class WideTile(Check):
    """A cooperative tile of more than 32 threads.

    CUDA makes such tiles of several warps. HIP's are parts of one wavefront: 64 threads fit on gfx9 alone, more on no
    GPU. Use the block, or tiles of 32 that meet through shared memory.
    """

    code, name, severity = "CU324", "wide-tile", Severity.WARNING
    triggers = frozenset({"tiled_partition", "thread_block_tile"})
    examples = (
        Example(
            "namespace cg = cooperative_groups;\n__device__ void f() { auto t = cg::tiled_partition<64>(g); }",
            "namespace cg = cooperative_groups;\n__device__ void f() { auto t = cg::tiled_partition<64>(g); }",
        ),
        Example(
            "using T = cooperative_groups::thread_block_tile<128>;",
            "using T = cooperative_groups::thread_block_tile<128>;",
        ),
        Example("using T = cooperative_groups::thread_block_tile<32>;", note="fits everywhere"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find("tiled_partition", "thread_block_tile"):
            size = unit.tok(i + 2)
            if unit.tok(i + 1) != "<" or not size.isdecimal() or int(size) <= 32:
                continue
            fits = int(size) == 64
            yield self.finding(
                f"a tile of {size} threads; a tile in HIP has at most as many as a wavefront",
                unit.p[i],
                unit.end(i + 2),
                effects=(("wave64", "none"), ("wave32", "compile-error")) if fits else (("all", "compile-error"),),
            )
