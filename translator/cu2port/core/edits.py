"""Applying edits: all of a finding or none, whatever the order in which findings come.

Edits may nest where the outer one keeps the inner one's bytes (`Edit.parts` holds spans of the original). Two edits
that need the same bytes to be different things cannot both stand: the finding with less trust, then the later one,
loses and is reported as a conflict. Identical edits merge.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from cu2port.core.late import dataclass
from cu2port.core.model import Edit, Finding, Judged, Outcome, Side, Span, Trust


def judge(findings: Iterable[Finding], minimum: Trust) -> tuple[tuple[Judged, ...], tuple[Edit, ...]]:
    """Decide which findings apply. Returns the findings in text order with outcomes, and the edits to make.

    A finding that loses to an edit which takes out the very text it refers to is left out: nothing of it remains.
    """
    ordered = _in_text_order(findings)
    wanted = [f for f in ordered if f.edits and f.trust >= minimum]
    losers: set[Finding] = set()
    if not _compatible([e for f in wanted for e in f.edits]):
        accepted = _Accepted()
        for f in sorted(wanted, key=lambda f: (-f.trust, *_text_order(f))):
            if not accepted.take(f.edits):
                losers.add(f)
    taken = [e for f in wanted if f not in losers for e in f.edits] if losers else []
    judged = []
    edits: dict[Edit, None] = {}
    for f in ordered:
        lost = bool(losers) and f in losers  # a finding's hash takes long, and few files have losers
        if lost and any(_takes_out(e, f) for e in taken):
            continue
        if not f.edits or f.trust < minimum:
            judged.append(Judged(f, Outcome.MANUAL))
        elif lost:
            judged.append(Judged(f, Outcome.CONFLICT))
        else:
            judged.append(Judged(f, Outcome.APPLIED))
            edits.update(dict.fromkeys(f.edits))
    return tuple(judged), tuple(edits)


def _takes_out(e: Edit, f: Finding) -> bool:
    """Whether an edit leaves nothing of what a finding refers to: no text at all, or none with its CUDA name."""
    if not e.start <= f.start <= f.end <= e.end:
        return False
    if not e.parts:
        return True
    if not f.cuda:
        return False
    return not any(f.cuda in x if isinstance(x, str) else x.start < f.end and f.start < x.end for x in e.parts)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text after compatible edits (as `judge` returns them)."""
    return "".join(_render(text, Span(0, len(text)), _nested(sorted(set(edits), key=_edit_order))))


def apply_within(text: str, start: int, end: int, edits: Iterable[Edit]) -> str:
    """What replaces bytes [start, end) of a text after edits that are in them."""
    return apply(text[start:end], [_moved(e, -start) for e in edits])


def _moved(e: Edit, by: int) -> Edit:
    parts = tuple(p if isinstance(p, str) else Span(p.start + by, p.end + by) for p in e.parts)
    return Edit(e.start + by, e.end + by, parts, e.side)


def _in_text_order(findings: Iterable[Finding]) -> list[Finding]:
    """Different findings in an order that does not depend on how they came. What is rarely needed for it is slow."""
    ordered = sorted(findings, key=_most_of_text_order)
    if not _has_equal_keys(ordered):
        return ordered
    ordered = sorted(set(ordered), key=_most_of_text_order)
    return sorted(ordered, key=_text_order) if _has_equal_keys(ordered) else ordered


def _most_of_text_order(f: Finding) -> tuple[int, int, str, str]:
    return (f.start, -f.end, f.code, f.message)


def _has_equal_keys(ordered: Sequence[Finding]) -> bool:
    return any(a.start == b.start and _most_of_text_order(a) == _most_of_text_order(b) for a, b in pairwise(ordered))


def _text_order(f: Finding) -> tuple[int, int, str, str, str]:
    return (f.start, -f.end, f.code, f.message, repr(f.edits))


def _edit_order(e: Edit) -> tuple[int, int, int, tuple[str, ...]]:
    """Text order: at one offset, what closes the left neighbour, then what opens the right one, then replacements
    (the longer first, so that it comes before the edits nested in it)."""
    rank = 2 if e.end > e.start else int(e.side)
    return (e.start, rank, -e.end, tuple(str(x) for x in e.parts))


class _Node(NamedTuple):
    """An edit and those inside its bytes, in text order."""

    edit: Edit
    inner: list[_Node]


def _nested(edits: Iterable[Edit]) -> list[_Node]:
    """Edits, in `_edit_order`, as trees. What closes the bytes that an edit keeps may stand right at its end; it is not
    inside."""
    outermost: list[_Node] = []
    around: list[_Node] = []
    for e in edits:
        while around and around[-1].edit.end <= e.start:
            around.pop()
        node = _Node(e, [])
        (around[-1].inner if around else outermost).append(node)
        around.append(node)
    return outermost


def _render(text: str, span: Span, nodes: Sequence[_Node]) -> Iterator[str]:
    """Text of a span with edits that are inside it. Calls of calls may nest deeper than functions may."""
    todo: list[str | tuple[Span, Sequence[_Node]]] = [(span, nodes)]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
            continue
        span, nodes = item
        position = span.start
        pieces: list[str | tuple[Span, Sequence[_Node]]] = []
        for node in nodes:
            pieces.append(text[position : node.edit.start])
            pieces += [p if isinstance(p, str) else (p, list(_kept(node.inner, p))) for p in node.edit.parts]
            position = max(position, node.edit.end)
        pieces.append(text[position : span.end])
        todo += reversed(pieces)


def _kept(nodes: Iterable[_Node], part: Span) -> Iterator[_Node]:
    """The outermost of some edits that are in a kept span."""
    for node in nodes:
        if _inside(node.edit, part):
            yield node
        elif node.edit.start < part.end and part.start < node.edit.end:
            yield from _kept(node.inner, part)


def _inside(e: Edit, part: Span) -> bool:
    """Whether e is in a kept span (an insertion at its border belongs to the side it is attached to)."""
    if e.start == e.end:
        if e.start == part.start:
            return e.side is Side.RIGHT or part.start == part.end
        if e.start == part.end:
            return e.side is Side.LEFT
    return part.start <= e.start and e.end <= part.end


def _keeps(outer: Edit, inner: Edit) -> bool:
    """Whether an edit keeps the bytes of another one."""
    return any(isinstance(x, Span) and _inside(inner, x) for x in outer.parts)


def _fits(a: Edit, b: Edit) -> bool:
    """Whether two different edits can both stand."""
    if a.end <= b.start or b.end <= a.start:
        return not (a.start == b.start and a.end == b.end and a.start < a.end)
    if a.start == a.end or b.start == b.end:
        point, other = (a, b) if a.start == a.end else (b, a)
        return point.start in (other.start, other.end) or _keeps(other, point)
    outer, inner = (a, b) if a.end - a.start >= b.end - b.start else (b, a)
    return _keeps(outer, inner)


def _compatible(edits: Iterable[Edit]) -> bool:
    """Fast answer for most files: whether no edits overlap, or only in bytes that the outer one keeps.

    What keeps an edit keeps those inside it. An insertion at the border of one asks the next one around that."""
    around: list[Edit] = []
    for e in sorted(set(edits), key=lambda e: (e.start, -e.end)):
        while around and around[-1].end <= e.start:
            around.pop()
        if e.start == e.end:
            holder = next((x for x in reversed(around) if x.start < e.start), None)
        else:
            holder = around[-1] if around else None
            around.append(e)
        if holder is not None and ((holder.start, holder.end) == (e.start, e.end) or not _keeps(holder, e)):
            return False
    return True


@dataclass(slots=True)
class _Accepted:
    """The edits accepted so far, sorted by start, with the longest length seen (to bound the search for neighbours)."""

    starts: list[int]
    edits: list[Edit]
    longest: int

    def __init__(self) -> None:
        self.starts, self.edits, self.longest = [], [], 0

    def take(self, new: tuple[Edit, ...]) -> bool:
        """Add all edits of a finding, or none if one of them does not fit."""
        for i, e in enumerate(new):
            if any(e != other and not _fits(e, other) for other in (*self._near(e), *new[:i])):
                return False
        for e in new:
            k = bisect_left(self.starts, e.start)
            if e in self.edits[k : k + 8]:
                continue
            self.starts.insert(k, e.start)
            self.edits.insert(k, e)
            self.longest = max(self.longest, e.end - e.start)
        return True

    def _near(self, e: Edit) -> list[Edit]:
        lo = bisect_left(self.starts, e.start - self.longest)
        hi = bisect_left(self.starts, e.end + 1)
        return self.edits[lo:hi]
