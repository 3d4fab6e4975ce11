"""Loops that are made of labels and `goto`, as converted PTX has them: which places they enclose."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from cu2port.syntax.lexer import is_identifier
from cu2port.verify.statements import Statements, lambda_bodies

_DEEPEST = 8  #: loops in each other that are told apart


@dataclass(frozen=True, slots=True)
class Region:
    """From a label to the last `goto` that jumps back to it, in tokens; `name` is of what counts the turns, `around`
    of those of the regions around it, the outermost first."""

    label: int
    stop: int
    name: str
    around: tuple[str, ...]


def regions(body: Statements, marks: Sequence[int], sites: Sequence[int]) -> list[Region]:
    """Those that hold one of these tokens (which are sorted), in the order of their labels.

    Of two that overlap the first holds the other. Places learn of a region by its name: there is none around a mark
    that is no site, such as a macro's name, around a loop with a keyword or a lambda that holds a mark, or in a lambda.
    """
    unit = body.unit
    jumps = [i for i in body.tokens(body.first, body.stop) if unit.t[i] == "goto"] if marks else []
    if not jumps:
        return []
    ends = _backward(body, jumps)
    own = sorted(lambda_bodies(unit, body.first, body.stop))
    spans = [*((x.keyword, x.stop) for x in body.loops()), *own]
    kept = sorted({first for first, stop in spans if _between(marks, first, stop)} | {*marks} - {*sites})
    furthest = list(accumulate((b for _, b in own), max))
    chosen: list[tuple[int, int]] = []
    outer: list[tuple[int, int]] = []  # what was found so far, without those inside of others
    for label in sorted(ends, reverse=True):
        stop = ends[label]
        while outer and outer[-1][0] < stop:
            stop = max(stop, outer.pop()[1])
        outer.append((label, stop))
        before = bisect_left(own, (label,))
        in_lambda = before > 0 and furthest[before - 1] > label
        if _between(marks, label, stop) and not _between(kept, label, stop) and not in_lambda:
            chosen.append((label, stop))
    found: list[Region] = []
    open_now: list[Region] = []
    for n, (label, stop) in enumerate(reversed(chosen)):
        while open_now and open_now[-1].stop <= label:
            open_now.pop()
        if len(open_now) < _DEEPEST:
            found.append(Region(label, stop, f"cu2port_j{n}", tuple(r.name for r in open_now)))
            open_now.append(found[-1])
    return found


def turns(found: Sequence[Region], places: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """For each place, in order, what counts the turns of the regions around it, the outermost first."""
    out: dict[int, tuple[str, ...]] = {}
    open_now: list[Region] = []
    waiting = list(reversed(found))
    for place in places:
        while waiting and waiting[-1].label < place:
            region = waiting.pop()
            while open_now and open_now[-1].stop <= region.label:
                open_now.pop()
            open_now.append(region)
        while open_now and open_now[-1].stop <= place:
            open_now.pop()
        out[place] = (*open_now[-1].around, open_now[-1].name) if open_now else ()
    return out


def _backward(body: Statements, jumps: Sequence[int]) -> dict[int, int]:
    """Labels that a `goto` behind them names, and the token behind the last of these."""
    unit = body.unit
    named = {unit.tok(i + 1) for i in jumps}
    labels: dict[str, list[int]] = {}
    for i in body.tokens(body.first, body.stop):
        tok = unit.t[i]
        starts = unit.tok(i - 1) in (";", ":", "{", "}", ")")
        if tok in named and starts and is_identifier(tok) and unit.tok(i + 1) == ":":
            labels.setdefault(tok, []).append(i)
    ends: dict[int, int] = {}
    for i in jumps:  # a name may stand for a label in each of several blocks
        places = labels.get(unit.tok(i + 1), [])
        before = bisect_left(places, i)
        if before:
            ends[places[before - 1]] = i + 1
    return ends


def _between(places: Sequence[int], first: int, stop: int) -> bool:
    at = bisect_right(places, first)
    return at < len(places) and places[at] < stop
