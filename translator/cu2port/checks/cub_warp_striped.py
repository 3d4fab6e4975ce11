from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, Side, insert
from cu2port.engine.check import Check, Example
from cu2port.facts.blocks import number
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
    wavefronts; where the size of the block is not known to be a multiple of 64, they go through a transpose of the
    block, which gives the same items.
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
        Example(
            "template <int N> using S = cub::BlockStore<int, N, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;",
            "template <int N> using S = hipcub::BlockStore<int, N, 4, N % 64 ? hipcub::BLOCK_STORE_TRANSPOSE : "
            "hipcub::BLOCK_STORE_WARP_TRANSPOSE>;",
            "blocks of a size that is not known",
        ),
        Example(
            "#define LOAD(N) cub::BlockLoad<int, N, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED>\n",
            "#define LOAD(N) hipcub::BlockLoad<int, N, 4, (N) % 64 ? hipcub::BLOCK_LOAD_TRANSPOSE : "
            "hipcub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED>\n",
            "in a macro body",
        ),
        Example(
            "RUN(cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>(s).Load(p, x));",
            "RUN(hipcub::BlockLoad<int, 32, 4, 32 % 64 ? hipcub::BLOCK_LOAD_TRANSPOSE : "
            "hipcub::BLOCK_LOAD_WARP_TRANSPOSE>(s).Load(p, x));",
            "as a macro's argument",
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
        transposed = unit.find(*_TRANSPOSED)
        choices = _choices(unit) if transposed else {}
        for i in transposed:
            edit = choices.get(i)
            yield self.finding(
                f"`{unit.t[i]}` needs blocks of whole wavefronts"
                + (", others go through one of the block" if edit else ""),
                unit.p[i],
                unit.end(i),
                (edit,) if edit else (),
                severity=Severity.INFO,
                effects=(("wave64", "compile-error"), ("wave32", "none")),
            )


def _choices(unit: Unit) -> dict[int, Edit]:
    """By the token of a warp transpose, what chooses one of the block for sizes that are not multiples of 64: where the
    size is one name or number, and not known to be a multiple."""
    out = {}
    for i in unit.find("BlockLoad", "BlockStore"):
        close = unit.angle_close(i + 1) if unit.tok(i + 1) == "<" else -1
        args = unit.split_args(i + 2, close) if close >= 0 else ()
        if len(args) < 4:
            continue
        size, first, last = unit.lexed.at(args[1].start), unit.lexed.at(args[3].start), unit.lexed.at(args[3].end) - 1
        known = number(unit, size, size + 1)
        if unit.lexed.at(args[1].end) != size + 1 or (known is not None and known % 64 == 0):
            continue
        space = unit.t[first:last]
        if set(space) <= {"::", "cub", "hipcub"}:  # else a condition is there, or a name of another
            by_block = unit.t[last].replace("_WARP", "").removesuffix("_TIMESLICED")
            threads = unit.t[size] if unit.in_directive(size) is None else f"({unit.t[size]})"
            text = f"{threads} % 64 ? {'hipcub::' if space else ''}{by_block} : "
            out[last] = insert(args[3].start, text, Side.LEFT)
    return out


def _is_copy(unit: Unit) -> bool:
    """Whether the file adds to CUB's namespace, as those of CUB do."""
    spaces = (d for d in unit.declarations.named("cub") if d.kind == "namespace")
    return any(value_of(unit.lexed, d) == (0, 0) for d in spaces)  # `namespace cub = hipcub` is an alias
