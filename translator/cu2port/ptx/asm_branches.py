"""Conditionals in the middle of an asm statement: which there are, and each way through them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from cu2port.facts.unit import Unit
from cu2port.ptx.macros import UnknownTextError
from cu2port.syntax.lexer import Group

MOST_READINGS = 16
TOO_MANY = "its text can be read in too many ways"
_BRANCH = frozenset({"if", "ifdef", "ifndef", "else", "elif", "elifdef", "elifndef", "endif"})


def branches_in(unit: Unit, opener: int, close: int) -> tuple[Group, ...]:
    """The conditional branches inside the statement. Raises UnknownTextError where they cannot be taken apart."""
    start, end = unit.p[opener], unit.p[close]
    first = bisect_right(unit.directives, start, key=lambda d: d.start)
    inside = frozenset(range(first, bisect_right(unit.directives, end, key=lambda d: d.start)))
    for k in inside:
        if unit.directives[k].keyword not in _BRANCH:
            raise UnknownTextError(f"a `#{unit.directives[k].keyword}` is in the middle of it")
    groups = tuple(g for g in unit.groups if inside.intersection(g.chain)) if inside else ()
    if any(not inside.issuperset(g.chain) for g in groups):
        raise UnknownTextError("a conditional begins inside it and ends outside")
    if len({g.chain for g in groups}) > MOST_READINGS:  # each of them is at least one more
        raise UnknownTextError(TOO_MANY)
    return groups


def ways_through(unit: Unit, branches: Sequence[Group], taken: tuple[Group, ...] = ()) -> Iterator[tuple[Group, ...]]:
    """Every way to go through the conditionals: which branches are taken. `branches`: in text order, what is left."""
    if not branches:
        yield taken
        return
    chain = branches[0].chain
    members = [g for g in branches if g.chain == chain]
    inner = [g for g in branches if g.chain != chain]
    whole = any(unit.directives[k].keyword == "else" for k in chain)
    for g in (*members, *(() if whole else (None,))):
        skipped = [m for m in members if m is not g]
        left = [x for x in inner if not any(m.start <= x.start and x.end <= m.end for m in skipped)]
        yield from ways_through(unit, left, taken if g is None else (*taken, g))
