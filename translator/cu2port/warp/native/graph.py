"""Device functions of one file, and which of them calls which, by names."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import modes
from cu2port.warp.functions import is_device
from cu2port.warp.native.patterns import GROUPS

#: Functions that make groups of some lanes.
LANE_GROUPS = (*(g.maker for g in GROUPS if g.size), "coalesced_threads")


@dataclass(frozen=True, slots=True)
class Graph:
    """The device functions of a file in text order, by name, those that each calls, and those that call it. `warps`:
    those that reach cross-lane operations."""

    functions: tuple[Function, ...]
    named: Mapping[str, tuple[Function, ...]]
    calls: Mapping[Function, tuple[Function, ...]]
    callers: Mapping[Function, tuple[Function, ...]]
    warps: frozenset[Function]

    def reached(self, *start: Function) -> frozenset[Function]:
        """Functions, and all that their calls lead to."""
        return _closure(start, self.calls)

    def leading(self, goals: Iterable[Function]) -> frozenset[Function]:
        """Functions, and all whose calls lead to one of them."""
        return _closure(goals, self.callers)


def _closure(start: Iterable[Function], edges: Mapping[Function, Iterable[Function]]) -> frozenset[Function]:
    found, todo = set(start), list(start)
    while todo:
        new = set(edges.get(todo.pop(), ())) - found
        found |= new
        todo += new
    return frozenset(found)


def graph(unit: Unit, operations: Sequence[int]) -> Graph:
    """The device functions of a file but those that a comment gives `flag`. `operations`: tokens of cross-lane
    operations."""
    mode = modes(unit)
    functions = tuple(f for f in unit.functions if is_device(unit, f) and mode(f.name_at) != "flag")
    named: dict[str, list[Function]] = {}
    for f in functions:
        named.setdefault(f.name, []).append(f)
    calls: dict[Function, tuple[Function, ...]] = {}
    callers: dict[Function, list[Function]] = {}
    for f in functions:
        words = set(unit.t[f.body[0] : f.body[1]]) & named.keys()
        calls[f] = tuple(g for w in sorted(words) for g in named[w] if g is not f)
        for g in calls[f]:
            callers.setdefault(g, []).append(f)
    places = [*operations, *(i for i in unit.find(*LANE_GROUPS) if not unit.is_member(i))]
    in_macros = {unit.t[d.first + 2] for i in places if (d := unit.in_directive(i)) is not None}
    places += [i for i in unit.find(*in_macros) if unit.in_directive(i) is None]
    places.sort()
    direct = [f for f in functions if bisect(places, f.body[0]) < bisect(places, f.body[1])]
    by = {f: tuple(found) for f, found in callers.items()}
    return Graph(functions, {n: tuple(found) for n, found in named.items()}, calls, by, _closure(direct, by))
