from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, Finding, Severity, Trust
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.types import is_type_parameter, written

_GRID = frozenset({"this_grid", "grid_group"})
_GROUPS = _GRID | frozenset(
    "thread_group thread_block this_thread_block thread_block_tile tiled_partition coalesced_group coalesced_threads"
    " binary_partition labeled_partition tiled_group".split()
)
_NAMES = {"num_threads": "size", "dim_threads": "group_dim"}  # of any group
_OF_GRID = {
    "block_index": "dim3(blockIdx.x, blockIdx.y, blockIdx.z)",
    "block_rank": "(((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x)",
    "dim_blocks": "dim3(gridDim.x, gridDim.y, gridDim.z)",
    "group_dim": "dim3(gridDim.x, gridDim.y, gridDim.z)",
    "num_blocks": "((unsigned long long)gridDim.x * gridDim.y * gridDim.z)",
}
_DEEPEST = 16  # names of types that stand for one another


class GroupMember(Check):
    """A member of a cooperative group that HIP has not, or that gives something else there: `tile.num_threads()`.

    Groups of HIP have `num_threads()` since 7.2, and `size()` since ever, which CUDA has for the same number.
    `dim_threads()` of a block is `group_dim()`. HIP's grid has neither of `num_blocks()`, `dim_blocks()`,
    `block_index()` and `block_rank()`. Its `group_dim()` has the threads of a block, where CUDA's has the blocks of the
    grid: that compiles, and is another number. All of them are written with `gridDim` and `blockIdx`.
    """

    code, name, severity = "CU369", "group-member", Severity.INFO
    triggers = frozenset({*_NAMES, *_OF_GRID})
    examples = (
        Example(
            "namespace cg = cooperative_groups;\n"
            "template <int N> __device__ void f(cg::thread_block_tile<N>& tile, int n) {\n"
            "  auto block = cg::this_thread_block();\n"
            "  for (int i = tile.thread_rank(); i < n; i += tile.num_threads()) use(i, block.dim_threads().x);\n}\n",
            "namespace cg = cooperative_groups;\n"
            "template <int N> __device__ void f(cg::thread_block_tile<N>& tile, int n) {\n"
            "  auto block = cg::this_thread_block();\n"
            "  for (int i = tile.thread_rank(); i < n; i += tile.size()) use(i, block.group_dim().x);\n}\n",
            findings=2,
        ),
        Example(
            "__device__ dim3 f() { auto g = cooperative_groups::this_grid();"
            " use(g.num_blocks()); return g.group_dim(); }",
            "__device__ dim3 f() { auto g = cooperative_groups::this_grid();"
            " use(((unsigned long long)gridDim.x * gridDim.y * gridDim.z));"
            " return dim3(gridDim.x, gridDim.y, gridDim.z); }",
            "a grid",
            findings=2,
        ),
        Example(
            "using Tile = cooperative_groups::thread_block_tile<16>;\n"
            "template <class G> __device__ int f(Tile t, G g) {"
            " return t.num_threads() + g.num_threads() + cooperative_groups::this_thread_block().num_threads(); }\n",
            "using Tile = cooperative_groups::thread_block_tile<16>;\n"
            "template <class G> __device__ int f(Tile t, G g) {"
            " return t.size() + g.size() + cooperative_groups::this_thread_block().size(); }\n",
            "a name for a type, a template's parameter, the result of a call",
            findings=3,
        ),
        Example(
            "#define COUNT(b) (b.num_threads() + tile.num_threads())\n"
            "__device__ int f(cooperative_groups::thread_block_tile<8> tile) { return CHECK(tile.num_threads()); }\n",
            "#define COUNT(b) (b.num_threads() + tile.num_threads())\n"
            "__device__ int f(cooperative_groups::thread_block_tile<8> tile) { return CHECK(tile.size()); }\n",
            "as a macro's argument; in a macro body nobody knows what it is a member of",
            findings=1,
        ),
        Example(
            "using cooperative_groups::thread_block;\nstruct Pool { int num_threads(); };\n"
            "int f(Pool& pool, thread_block b) { return pool.num_threads() + b.group_dim().x; }\n",
            note="the program's own; a block's",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if _GROUPS.isdisjoint(unit.words):
            return
        for i in unit.find(*_NAMES, *_OF_GRID):
            if unit.tok(i - 1) != "." or unit.tok(i + 1) != "(" or unit.tok(i + 2) != ")":
                continue
            name, group = unit.t[i], i - 2
            words = _words(unit, group)
            new, start, end = _NAMES.get(name, ""), unit.p[i], unit.end(i)
            if not _GRID.isdisjoint(words) and name in _OF_GRID:
                if not is_identifier(unit.t[group]) or unit.tok(group - 1) in (".", "->", "::"):
                    continue
                new, start, end = _OF_GRID[name], unit.p[group], unit.end(i + 2)
            elif not new or not (words & _GROUPS or "?" in words):
                continue
            yield self.finding(
                f"`{name}` of a group is `{new}` in HIP",
                start,
                end,
                (Edit(start, end, (new,)),),
                trust=Trust.REVIEW if "?" in words else Trust.EXACT,
                effects=(("all", "wrong-result" if name == "group_dim" else "compile-error"),),
            )


def _words(unit: Unit, i: int) -> frozenset[str]:
    """The words that declare what ends at token i, or of the call that does; `?` for a template's parameter."""
    if unit.tok(i) == ")" and 0 < (opened := unit.match[i]) < i:
        while opened > 0 and unit.tok(opened - 1) == ">" and 0 <= unit.match[opened - 1] < opened:
            opened = unit.match[opened - 1]
        return frozenset({unit.tok(opened - 1)})
    name = unit.tok(i)
    d = unit.declarations.visible(name, i) if is_identifier(name) and unit.tok(i - 1) != "::" else None
    return _declared(unit, d, i) if d is not None and unit.tok(i - 1) not in (".", "->") else frozenset()


def _declared(unit: Unit, d: Declaration, at: int) -> frozenset[str]:
    """The words that declare a variable, through names that stand for its type."""
    words = frozenset(unit.t[d.first : d.stop])
    for _ in range(_DEEPEST):
        known = unit.declarations.visible(written(unit.t, d).name, d.at)
        if known is None or known.at == d.at:
            return words
        if is_type_parameter(unit.t, known):
            return words | {"?"}
        d = known
        words |= frozenset(unit.t[d.first : d.stop])
    return words
