from __future__ import annotations

from collections.abc import Iterator, Sequence

from cu2port.core.model import Edit, Finding, Severity, Span
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_SPACE = "cooperative_groups"
_PARTS = frozenset({"binary_partition", "labeled_partition"})
_META = ("meta_group_rank", "meta_group_size")
_MAKERS = frozenset({"binary_partition", "coalesced_group", "coalesced_threads", "labeled_partition"})


class CoalescedTile(Check):
    """Tiles of some lanes of a warp, `cg::tiled_partition(cg::coalesced_threads(), 4)`, have other lanes in HIP.

    HIP looks for the lanes of such a group with `1 << lane`, an `int`. In a wavefront of 64 that is wrong from lane 31
    on: tiles have the lanes of others, or none. `cu2port::tiled_partition` makes them by the ranks of the threads.

    Nor do HIP's parts of a group know which part they are: `meta_group_rank()` and `meta_group_size()` of what
    `binary_partition` or `labeled_partition` made are 0 and 1. Work with the predicate or the label instead.
    """

    code, name, severity = "CU331", "coalesced-tile", Severity.INFO
    triggers = frozenset({"tiled_partition", *_META})
    examples = (
        Example(
            "__device__ int f() {\n  auto active = cooperative_groups::coalesced_threads();\n"
            "  return cooperative_groups::tiled_partition(active, 4).size();\n}\n",
            '#include "cu2port/labeled_partition.hpp"\n#include "cu2port/warp.hpp"\n__device__ int f() {\n'
            "  auto active = cooperative_groups::binary_partition("
            "cooperative_groups::coalesced_threads(), cu2port::warp::upper());\n"
            "  return cu2port::tiled_partition(active, 4).size();\n}\n",
        ),
        Example(
            "namespace cg = cooperative_groups;\n"
            "__device__ void f(const cg::coalesced_group& g, int n) { USE(cg::tiled_partition(g, n)); }\n",
            '#include "cu2port/labeled_partition.hpp"\nnamespace cg = cooperative_groups;\n'
            "__device__ void f(const cg::coalesced_group& g, int n) { USE(cu2port::tiled_partition(g, n)); }\n",
            "a parameter; as a macro's argument",
        ),
        Example(
            "#define FOURS() cooperative_groups::tiled_partition(cooperative_groups::coalesced_threads(), 4)\n",
            '#include "cu2port/labeled_partition.hpp"\n#include "cu2port/warp.hpp"\n'
            "#define FOURS() cu2port::tiled_partition(cooperative_groups::binary_partition("
            "cooperative_groups::coalesced_threads(), cu2port::warp::upper()), 4)\n",
            "in a macro body",
        ),
        Example(
            "namespace cg = cooperative_groups;\n__device__ void f(cg::thread_block b, cg::coalesced_group g) {\n"
            "  auto t = cg::tiled_partition(b, 4);\n  auto w = cg::tiled_partition<32>(b);\n}\n",
            note="tiles of a block",
        ),
        Example(
            "namespace cg = cooperative_groups;\n__device__ int f(const cg::thread_block_tile<32>& w, bool p) {\n"
            "  auto part = cg::binary_partition(w, p);\n"
            "  return part.meta_group_rank() + 2 * w.meta_group_rank();\n}\n",
            "namespace cg = cooperative_groups;\n__device__ int f(const cg::thread_block_tile<32>& w, bool p) {\n"
            "  auto part = cg::binary_partition(w, p);\n"
            "  return part.meta_group_rank() + 2 * w.meta_group_rank();\n}\n",
            "the number of a part",
        ),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.words & _MAKERS or _SPACE not in unit.text:
            return
        yield from self._tiles(unit)
        yield from self._numbers_of_parts(unit)

    def _tiles(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find("tiled_partition"):
            call = unit.call(i) if unit.tok(i + 1) == "(" and not unit.is_member(i) else None
            if call is None or len(call.args) != 2 or not _of_lanes(unit, call.args[0]):
                continue
            start, end = unit.p[unit.qualifier(i)], unit.end(i)
            yield self.finding(
                "HIP's tiles of some lanes of a wavefront have other lanes",
                start,
                end,
                (Edit(start, end, ("cu2port::tiled_partition",)),),
                effects=(("wave64", "wrong-result"),),
                helpers=("labeled_partition.hpp",),
            )

    def _numbers_of_parts(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_META):
            group = i - 2
            if unit.tok(i - 1) != "." or not is_identifier(unit.tok(group)) or unit.is_member(group):
                continue
            if _PARTS.isdisjoint(_declared_with(unit, group)):
                continue
            yield self.finding(
                f"`{unit.t[i]}()` of a part of a group is {int(unit.t[i] == _META[1])} in HIP",
                unit.p[i],
                unit.end(i),
                severity=Severity.WARNING,
                effects=(("all", "wrong-result"),),
            )


def _declared_with(unit: Unit, i: int) -> Sequence[str]:
    """The tokens of the declaration of the variable at token i."""
    d = unit.declarations.visible(unit.t[i], i)
    return unit.t[d.first : d.stop] if d is not None else ()


def _of_lanes(unit: Unit, group: Span) -> bool:
    """Whether an expression is a group of some lanes: it makes one, or names a variable that is one."""
    first, stop = unit.lexed.at(group.start), unit.lexed.at(group.end)
    if not _MAKERS.isdisjoint(unit.t[first:stop]):
        return True
    return stop == first + 1 and is_identifier(unit.t[first]) and not _MAKERS.isdisjoint(_declared_with(unit, first))
