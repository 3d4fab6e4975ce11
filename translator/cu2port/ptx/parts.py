"""The loops and rows of statements of a function by what they hold: what is asked for each array looks at none of the
others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.lambdas import LocalFunction, all_statements
from cu2port.ptx.regions import extent, extent_of, follows
from cu2port.syntax.tree import Block, Decl, Eval, Loop

_PASSES_ON = frozenset({"goto", "co_yield", "co_await"})


class Nest:
    """Ranges by which places they are around."""

    def __init__(self, ranges: Iterable[range]) -> None:
        self.ranges = sorted(set(ranges), key=lambda r: (r.start, -r.stop))
        self.starts = [r.start for r in self.ranges]
        self.outer: list[int] = []  # of each, the one around its start; -1 for none
        open_: list[int] = []
        for n, r in enumerate(self.ranges):
            while open_ and self.ranges[open_[-1]].stop <= r.start:
                open_.pop()
            self.outer.append(open_[-1] if open_ else -1)
            open_.append(n)

    def around(self, i: int) -> Iterator[range]:
        """Those that hold a place, innermost first."""
        n = bisect_right(self.starts, i) - 1
        while n >= 0:
            if i in self.ranges[n]:
                yield self.ranges[n]
            n = self.outer[n]


class Regions:
    """Ranges, one after the other."""

    def __init__(self) -> None:
        self.by_start: list[tuple[int, int]] = []
        self.by_stop: list[tuple[int, int]] = []

    def add(self, r: range) -> None:
        insort(self.by_start, (r.start, r.stop))
        insort(self.by_stop, (r.stop, r.start))

    def cross(self, r: range) -> bool:
        """Whether one of them overlaps a part, and neither holds the other."""
        first, last = bisect_left(self.by_start, (r.start + 1,)), bisect_left(self.by_start, (r.stop,))
        if any(stop > r.stop for _, stop in self.by_start[first:last]):
            return True
        first, last = bisect_left(self.by_stop, (r.start + 1,)), bisect_left(self.by_stop, (r.stop,))
        return any(start < r.start for _, start in self.by_stop[first:last])


@dataclass(frozen=True)
class Step:
    """A statement of a block that may be of a row: `row` is the same for those that follow each other."""

    row: int
    extent: range
    loop: bool


@dataclass(frozen=True)
class Parts:
    """What is looked at once for a function. `loops`: all but `do`; `steps`: by their extents, which `nest` has;
    `evals`: expression statements by their places; `passes_on`: whether it is left in ways that are not looked at."""

    local: Mapping[str, LocalFunction]
    declared: Mapping[str, list[Decl]]
    loops: Nest
    nest: Nest
    steps: Mapping[range, Step]
    evals: Mapping[int, range]
    passes_on: bool

    def entries(self, place: int) -> list[int]:
        """A place, and the calls of the local functions that it is in."""
        out = [place]
        for i in out if self.local else ():
            out += {k for g in self.local.values() if i in g.span for k in g.calls}.difference(out)
        return out

    def is_nested(self, region: range) -> bool:
        """Whether a part is in a loop or a local function."""
        around = (*self.loops.around(region.start), *(g.span for g in self.local.values()))
        return any(r.start < region.start < r.stop for r in around)


def parts_of(unit: Unit, f: Function, body: Block, local: Mapping[str, LocalFunction]) -> Parts:
    """Those of a function and its local functions."""
    declared: dict[str, list[Decl]] = {}
    loops: list[range] = []
    steps: dict[range, Step] = {}
    evals: dict[int, range] = {}
    row = 0
    for s in all_statements(body, local):
        if isinstance(s, Decl):
            declared.setdefault(s.name, []).append(s)
        elif isinstance(s, Loop) and (r := extent(unit, s)) is not None:
            loops.append(r)
        elif isinstance(s, Eval) and s.end >= 0:
            evals[s.at] = range(s.at, s.end + 1)
        elif isinstance(s, Block):
            before: range | None = None
            row += 1
            for x in s.body:
                r = extent_of(unit, x)
                row += r is None or before is None or not follows(unit, before, r)
                before = r
                if r is not None:
                    steps[r] = Step(row, r, isinstance(x, Loop))
    passes_on = not _PASSES_ON.isdisjoint(unit.t[f.body[0] : f.body[1]])
    return Parts(local, declared, Nest(loops), Nest(steps), steps, evals, passes_on)


class Held:
    """What the parts of a function have of an array. `uses`: their places, and whether each has products; `others`:
    where the array is named for something else."""

    def __init__(self, parts: Parts, uses: Sequence[tuple[int, bool]], others: Iterable[int]) -> None:
        self.parts = parts
        self.uses = uses
        self.entries = sorted((i, n) for n, (at, _) in enumerate(uses) for i in parts.entries(at))
        self.others = sorted({i for other in others for i in parts.entries(other)})

    def inside(self, r: range) -> list[int]:
        """The numbers of the uses in a part, and in the local functions that it calls."""
        first, last = bisect_left(self.entries, (r.start,)), bisect_left(self.entries, (r.stop,))
        return sorted({n for _, n in self.entries[first:last]})

    def alone(self, r: range) -> bool:
        """Whether a part, with the local functions that it calls, names the array for its uses alone."""
        return bisect_left(self.others, r.start) == bisect_left(self.others, r.stop)

    def loops(self) -> set[range]:
        """Those that have uses."""
        return {r for i, _ in self.entries for r in self.parts.loops.around(i)}

    def rows(self) -> Iterator[range]:
        """The longest rows of statements that name the array for its uses alone: from the first use to the last
        product, with a loop of products among them."""
        named = {r for i in (*(i for i, _ in self.entries), *self.others) for r in self.parts.nest.around(i)}
        row: list[Step] = []
        for step in sorted((self.parts.steps[r] for r in named), key=lambda x: (x.row, x.extent.start)):
            alone = self.alone(step.extent)
            if row and (not alone or step.row != row[-1].row):
                yield from self._trimmed(row)
                row = []
            if alone:
                row.append(step)
        yield from self._trimmed(row)

    def _trimmed(self, row: Sequence[Step]) -> Iterator[range]:
        """From the first use: all of a row have some."""
        products = [any(self.uses[n][1] for n in self.inside(x.extent)) for x in row]
        last = max((n for n, some in enumerate(products) if some), default=0)
        if last > 0 and any(x.loop and some for x, some in zip(row, products, strict=True)):
            yield range(row[0].extent.start, row[last].extent.stop)
