"""Which branches of `#if` stand around a place, and whether spans cover one: each asked thousands of times a file."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from cu2port.core.model import Span
from cu2port.syntax.lexer import Group


class Cover:
    """Spans of bytes, in any order and maybe overlapping, that are asked what they hold in logarithmic time."""

    def __init__(self, spans: Iterable[Span | Group]) -> None:
        ordered = sorted((s.start, s.end) for s in spans)
        self._starts = [start for start, _ in ordered]
        self._reach = list(accumulate((end for _, end in ordered), max))

    def holds(self, start: int, end: int) -> bool:
        """Whether one of the spans holds all bytes [start, end)."""
        k = bisect_right(self._starts, start) - 1
        return k >= 0 and self._reach[k] >= end

    def __contains__(self, offset: int) -> bool:
        return self.holds(offset, offset + 1)

    def __bool__(self) -> bool:
        return bool(self._starts)

    def touches(self, start: int, end: int) -> bool:
        """Whether one of the spans has a byte of [start, end); of an empty range, the byte at `start`."""
        k = bisect_left(self._starts, max(end, start + 1)) - 1
        return k >= 0 and self._reach[k] > start


class Nested:
    """Spans [first, last), mostly in one another or apart, such as brackets and branches."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        found = list(spans)
        self._order = sorted(range(len(found)), key=lambda k: (found[k][0], -found[k][1]))
        self._starts = [found[k][0] for k in self._order]
        self._ends = [found[k][1] for k in self._order]
        self._parents: list[int] = []  # the last one before that did not end before this one started
        open_spans: list[int] = []
        for n, start in enumerate(self._starts):
            while open_spans and self._ends[open_spans[-1]] <= start:
                open_spans.pop()
            self._parents.append(open_spans[-1] if open_spans else -1)
            open_spans.append(n)

    def around(self, at: int) -> Iterator[int]:
        """Which spans hold a place, as numbers in the order in which they were given; the last to start is first."""
        n = bisect_right(self._starts, at) - 1
        while n >= 0:
            if at < self._ends[n]:
                yield self._order[n]
            n = self._parents[n]


class Conditionals:
    """The branches of a file's conditionals, `groups` in the order in which they start."""

    def __init__(self, groups: tuple[Group, ...]) -> None:
        self._groups = groups
        self._by_opener = {g.opener: g for g in groups}
        self._nested = Nested((g.start, g.end) for g in groups)

    def opened_by(self, directive: int) -> Group | None:
        """The branch that a directive opens, given its index."""
        return self._by_opener.get(directive)

    def around(self, offset: int) -> list[Group]:
        """The branches around a byte offset, outermost first."""
        return [self._groups[k] for k in reversed(list(self._nested.around(offset)))]
