"""What a branch of a conditional names that HIP has not, and whether HIP can do without the branch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from cu2port.catalog.api import api_facts
from cu2port.catalog.findings import Kind
from cu2port.catalog.includes import include_findings
from cu2port.core.model import Edit, insert
from cu2port.facts.atoms import VERSION_MACROS
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import Group

_KINDS = (Kind.UNSUPPORTED, Kind.UNKNOWN_HEADER)


@dataclass(frozen=True, slots=True)
class _Lacking:
    """A name that HIP has not, at a byte; or the call of a function that is defined with such names alone."""

    start: int
    name: str
    is_call: bool = False


def not_in_hip(unit: Unit, i: int) -> tuple[str, tuple[Edit, ...]]:
    """What the branch of token i's directive names that HIP has not, where HIP can do without the branch; else "".

    It can where other branches of the conditional name nothing of the kind, or where there is no other and the branch
    adds declarations alone. Statements without another branch get one (the edits), which stops the program. A branch
    may define a flag instead, on which the code hangs. What such a branch defines is missing where it is called; the
    program goes on there, since it may have another way behind the call.
    """
    return _without(unit, i, unit.once(_lacking))


def _without(unit: Unit, i: int, lacking: Sequence[_Lacking]) -> tuple[str, tuple[Edit, ...]]:
    g = unit.conditionals.opened_by(unit.lexed.directive_index(i))
    if g is None:
        return "", ()
    inside = [f for f in lacking if g.start <= f.start < g.end]
    start, end = unit.directives[g.chain[0]].start, unit.directives[g.chain[-1]]
    if any(start <= f.start < end.start and f not in inside for f in lacking):
        return "", ()
    if not inside:
        flagged = [h for h in _flagged(unit, g) if len(h.chain) > 2 or _is_outside(unit, h)]
        names = [f.name for h in flagged for f in lacking if h.start <= f.start < h.end]
        return (names[0] if names else ""), ()
    if len(g.chain) > 2 or _is_outside(unit, g) or inside[0].is_call:
        return inside[0].name, ()
    if unit.tok(unit.directives[g.opener].first - 1) not in ("{", "}", ";"):
        return "", ()
    line = unit.text.rfind("\n", 0, end.start) + 1
    said = f'#else\ncu2port::untranslated("`{inside[0].name}` is not in HIP");\n'
    return inside[0].name, (insert(line, said),)


def _lacking(unit: Unit) -> list[_Lacking]:
    """What is named in a file that HIP has not, in its order, and calls of what is defined with it alone."""
    tables = (api_facts(unit).findings, include_findings(unit))
    found = {_Lacking(f.start, f.cuda) for table in tables for k in _KINDS for f in table.get(k, ())}
    rows = sorted(found, key=attrgetter("start"))
    for i in unit.find(*VERSION_MACROS) if rows else ():
        d = unit.in_directive(i)
        g = unit.conditionals.opened_by(unit.lexed.directive_index(i)) if d is not None else None
        if g is None or not _without(unit, i, rows)[0]:
            continue
        places = [(f.name, g.start <= unit.p[f.name_at] < g.end) for f in unit.functions]
        for name in {name for name, inside in places if inside} - {name for name, inside in places if not inside}:
            calls = (unit.p[k] for k in unit.find(name) if not g.start <= unit.p[k] < g.end)
            found |= {_Lacking(at, name, True) for at in calls}
    return sorted(found, key=attrgetter("start"))


def _is_outside(unit: Unit, g: Group) -> bool:
    return unit.function_at(unit.directives[g.opener].first) is None


def _flagged(unit: Unit, g: Group) -> Iterator[Group]:
    """The branches that hang on a macro without a value which this branch defines."""
    inner = unit.lexed.directives_in(g.start, g.end)
    flags = {unit.t[d.first + 2] for d in inner if d.keyword == "define" and d.stop - d.first == 3}
    for h in unit.groups if flags else ():
        d = unit.directives[h.opener]
        words = [w for w in unit.t[d.first + 2 : d.stop] if w not in ("defined", "(", ")")]
        if d.keyword in ("if", "ifdef") and len(words) == 1 and words[0] in flags:
            yield h
