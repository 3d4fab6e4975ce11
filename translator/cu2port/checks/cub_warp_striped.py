from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.declarations import value_of

_STRIPED = (
    "BlockedToWarpStriped",
    "LoadDirectWarpStriped",
    "ScatterToWarpStriped",
    "StoreDirectWarpStriped",
    "WarpStripedToBlocked",
)
_TRANSPOSED = (
    "BLOCK_LOAD_WARP_TRANSPOSE",
    "BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED",
    "BLOCK_STORE_WARP_TRANSPOSE",
    "BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED",
)


class CubWarpStriped(Check):
    """cub arranges data by warps of a block; hipCUB does so by wavefronts.

    In a warp-striped arrangement it depends on that which thread holds which item: code that counts on 32 threads a
    warp is wrong with 64. Loads and stores through a warp transpose give the same items, and need blocks of whole
    wavefronts.
    """

    code, name, severity = "CU326", "cub-warp-striped", Severity.WARNING
    triggers = frozenset({"cub", "hipcub"})
    examples = (
        Example(
            "__device__ void f() { cub::LoadDirectWarpStriped(threadIdx.x, p, items); }",
            "__device__ void f() { hipcub::LoadDirectWarpStriped(threadIdx.x, p, items); }",
        ),
        Example(
            "using L = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;",
            "using L = hipcub::BlockLoad<int, 128, 4, hipcub::BLOCK_LOAD_WARP_TRANSPOSE>;",
            "a warp transpose",
        ),
        Example("using L = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;", note="by the block"),
        Example(
            "namespace cub { void BlockedToWarpStriped(int*); void f() { BlockedToWarpStriped(0); } }",
            note="a copy of CUB, with warps of its own",
        ),
        Example("void WarpStripedToBlocked(int*); void f() { WarpStripedToBlocked(0); }", note="not cub's"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.words & {"cub", "hipcub"} or _is_copy(unit):  # a file's own function of that name
            return
        for i in unit.find(*_STRIPED):
            if unit.tok(i + 1) in ("(", "<"):
                yield self.finding(
                    f"`{unit.t[i]}` strides by wavefronts in hipCUB",
                    unit.p[i],
                    unit.end(i),
                    effects=(("wave64", "wrong-result"), ("wave32", "none")),
                )
        for i in unit.find(*_TRANSPOSED):
            yield self.finding(
                f"`{unit.t[i]}` needs blocks of whole wavefronts",
                unit.p[i],
                unit.end(i),
                severity=Severity.INFO,
                effects=(("wave64", "compile-error"), ("wave32", "none")),
            )


def _is_copy(unit: Unit) -> bool:
    """Whether the file adds to CUB's namespace, as those of CUB do."""
    spaces = (d for d in unit.declarations.named("cub") if d.kind == "namespace")
    return any(value_of(unit.lexed, d) == (0, 0) for d in spaces)  # `namespace cub = hipcub` is an alias
