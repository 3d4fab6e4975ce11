from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Options, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_VOTES = ("any", "all", "ballot", "match_any", "match_all")
_NESTED = """namespace cg = cooperative_groups;
__device__ void f() {
  auto a = cg::tiled_partition<32>(cg::this_thread_block());
  auto b = cg::tiled_partition<8>(a);
}
"""
_VOTE = "__device__ int f(const cooperative_groups::thread_block_tile<16>& t, int x) { return t.any(x); }\n"


class OldTile(Check):
    """What tiles of HIP 6 cannot do: be parts of tiles, and vote on GPUs with wavefronts of 32.

    HIP 7 has both. In HIP 6 a tile of a tile does not compile. `any`, `all`, `ballot`, `match_any` and `match_all` of a
    tile name the lanes of the whole block in a mask; on wavefronts of 32 they trap in blocks of more than 32 threads.
    Make the small tile of the block, and vote with `cu2port::warp::ballot` and the tile's mask.
    """

    code, name, severity = "CU327", "old-tile", Severity.WARNING
    triggers = frozenset({"tiled_partition", *_VOTES})
    examples = (
        Example(_NESTED, _NESTED, options=Options(rocm=(6, 3))),
        Example(_VOTE, _VOTE, options=Options(rocm=(6, 3))),
        Example(_NESTED, note="HIP 7"),
        Example(_VOTE, note="HIP 7"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.options.rocm >= (7, 0):
            return
        tiles = _tiles(unit)
        for i in unit.find("tiled_partition"):
            k = unit.angle_close(i + 1) + 1 if unit.tok(i + 1) == "<" else 0
            if k > 0 and unit.tok(k) == "(" and unit.tok(k + 1) in tiles and unit.tok(k + 2) == ")":
                message = f"a tile of the tile `{unit.t[k + 1]}` does not compile with HIP 6"
                yield self.finding(message, unit.p[i], unit.end(k + 2), effects=(("all", "compile-error"),))
        for i in unit.find(*_VOTES):
            if unit.tok(i - 1) == "." and unit.tok(i - 2) in tiles and unit.tok(i + 1) == "(":
                message = f"`{unit.t[i]}` of a tile traps with HIP 6 in blocks of more than 32 threads"
                effects = (("wave64", "none"), ("wave32", "wrong-result"))
                yield self.finding(message, unit.p[i - 2], unit.end(i), effects=effects)


def _tiles(unit: Unit) -> frozenset[str]:
    """Names of variables and parameters that are tiles with a size known to the compiler."""
    out = set()
    for i in unit.find("tiled_partition", "thread_block_tile"):
        if unit.tok(i + 1) != "<":
            continue
        if unit.t[i] == "tiled_partition":
            k = unit.qualifier(i) - 1
            k = k - 1 if unit.tok(k) == "=" else -1
        else:
            k = unit.angle_close(i + 1) + 1
            while k > 0 and unit.tok(k) in ("&", "const"):
                k += 1
        if k > 0 and is_identifier(unit.tok(k)):
            out.add(unit.t[k])
    return frozenset(out)
