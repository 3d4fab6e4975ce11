"""Which branches of `#if` stand around a place, and whether spans cover one: each asked thousands of times a file."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate

from cu2port.lexer import Group
from cu2port.model import Span


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


class Nested:
    """Spans (first, last) that lie in one another or apart, such as brackets."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._spans = sorted(spans)
        self._parents: list[int] = []
        around: list[int] = []
        for k, (first, _) in enumerate(self._spans):
            while around and self._spans[around[-1]][1] <= first:
                around.pop()
            self._parents.append(around[-1] if around else -1)
            around.append(k)

    def innermost(self, i: int) -> int:
        """The first of the innermost span with first < i < last; -1 if there is none."""
        k = bisect_left(self._spans, (i, -1)) - 1
        while k >= 0 and self._spans[k][1] <= i:
            k = self._parents[k]
        return self._spans[k][0] if k >= 0 else -1


class Conditionals:
    """The branches of a file's conditionals, `groups` in the order in which they start."""

    def __init__(self, groups: tuple[Group, ...]) -> None:
        self._groups = groups
        self._starts = [g.start for g in groups]
        self._by_opener = {g.opener: g for g in groups}
        self._parents: list[int] = []
        open_groups: list[int] = []
        for k, g in enumerate(groups):
            while open_groups and groups[open_groups[-1]].end <= g.start:
                open_groups.pop()
            self._parents.append(open_groups[-1] if open_groups else -1)
            open_groups.append(k)

    def opened_by(self, directive: int) -> Group | None:
        """The branch that a directive opens, given its index."""
        return self._by_opener.get(directive)

    def around(self, offset: int) -> list[Group]:
        """The branches around a byte offset, outermost first."""
        out = []
        k = bisect_right(self._starts, offset) - 1
        while k >= 0:
            if offset < self._groups[k].end:
                out.append(self._groups[k])
            k = self._parents[k]
        return out[::-1]
