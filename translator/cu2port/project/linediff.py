"""Unified diffs of long texts that differ in many lines, in time that grows with their length.

`difflib` looks through all that is left of both texts for each line that is the same. Lines that stand once in either
text are matched first here, as far as their order allows; `difflib` sees what is between two of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher


class _Matcher(SequenceMatcher[str]):
    """Groups the matching blocks that it is given."""

    def __init__(self, blocks: list[Match]) -> None:
        super().__init__()
        self._blocks = blocks

    def get_matching_blocks(self) -> list[Match]:
        return self._blocks


def unified(a: Sequence[str], b: Sequence[str], old: str, new: str, context: int = 3) -> Iterator[str]:
    """What `difflib.unified_diff` gives: two lines that name the texts, then hunks; lines keep their ends."""
    groups = list(_Matcher(_blocks(a, b)).get_grouped_opcodes(context))
    if groups:
        yield f"--- {old}\n"
        yield f"+++ {new}\n"
    for group in groups:
        yield f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (" " + line for line in a[i1:i2])
            else:
                yield from ("-" + line for line in a[i1:i2])
                yield from ("+" + line for line in b[j1:j2])


def _range(start: int, stop: int) -> str:
    """Lines [start, stop), counted from 0, as the head of a hunk names them."""
    if stop - start == 1:
        return str(start + 1)
    return f"{start + 1 if stop > start else start},{stop - start}"


def _blocks(a: Sequence[str], b: Sequence[str]) -> list[Match]:
    """Runs of equal lines in order, and an empty one at the end."""
    found: list[Match] = []

    def add(i: int, j: int, size: int) -> None:
        if found and (found[-1].a + found[-1].size, found[-1].b + found[-1].size) == (i, j):
            i, j, size = found[-1].a, found[-1].b, found.pop().size + size
        if size:
            found.append(Match(i, j, size))

    i = j = 0
    for next_i, next_j in (*_anchors(a, b), (len(a), len(b))):
        head = 0
        while i + head < next_i and j + head < next_j and a[i + head] == b[j + head]:
            head += 1
        add(i, j, head)
        i, j, tail = i + head, j + head, 0
        while i < next_i - tail and j < next_j - tail and a[next_i - tail - 1] == b[next_j - tail - 1]:
            tail += 1
        if i < next_i - tail and j < next_j - tail:
            between = SequenceMatcher(None, a[i : next_i - tail], b[j : next_j - tail])
            for m in between.get_matching_blocks():
                add(i + m.a, j + m.b, m.size)
        add(next_i - tail, next_j - tail, tail)
        i, j = next_i, next_j
    return [*found, Match(len(a), len(b), 0)]


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Places of lines that stand once in both: of those the longest sequence that ascends in both."""
    once_a, once_b = ({x for x, n in Counter(text).items() if n == 1} for text in (a, b))
    places = {x: j for j, x in enumerate(b) if x in once_b}
    pairs = [(i, places[x]) for i, x in enumerate(a) if x in once_a and x in places]
    ends: list[int] = []  # the least place in b at which a sequence of each length may end, and which pair that is
    last: list[int] = []
    before = [-1] * len(pairs)
    for k, (_, j) in enumerate(pairs):
        n = bisect_left(ends, j)
        before[k] = last[n - 1] if n else -1
        ends[n : n + 1], last[n : n + 1] = [j], [k]
    out = []
    k = last[-1] if last else -1
    while k >= 0:
        out.append(pairs[k])
        k = before[k]
    return out[::-1]
