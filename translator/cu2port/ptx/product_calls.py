"""Calls of macros that are one asm with one product, as if each had the statement in its place.

`#define MMA(d0, d1, ...) asm("mma.sync..." : "+f"(d0), "+f"(d1), ...)` says nothing of the array whose elements `d0`
and `d1` are. A call does, so that the loop around may keep it in tiles. Then the call becomes C++ by itself, and the
macro stays what it is for all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from cu2port.core.model import Project, Span
from cu2port.facts.asm_macros import is_asm_of_parameters
from cu2port.facts.unit import Unit
from cu2port.ptx.asm import AsmStatement, Reading, statements
from cu2port.ptx.macros import live_definitions
from cu2port.ptx.taken import is_left_out


@dataclass(frozen=True)
class _Pattern:
    """What a macro writes: an asm whose operands are parameters, by their places in a call. `under`: the directives of
    conditionals that the definition is in."""

    statement: AsmStatement
    reading: Reading
    params: int
    places: tuple[int, ...]
    under: frozenset[int] = frozenset()


def is_call(unit: Unit, s: AsmStatement) -> bool:
    """Whether a statement is a call of a macro that stands for it."""
    return unit.t[s.keyword] not in unit.asm_words


def product_calls(unit: Unit, wanted: Iterable[AsmStatement]) -> Iterator[AsmStatement]:
    """The calls that HIP's compiler reads, in functions, each as an asm statement. `wanted`: the file's own ones."""
    patterns = _included(unit)
    for s in wanted:
        if s.macro is not None and (found := _pattern(unit, s)) is not None and _is_alone(unit, s.macro.name):
            around = unit.conditionals.around(s.macro.directive.start)
            patterns[s.macro.name] = replace(found, under=frozenset(g.opener for g in around))
    for name, p in patterns.items():
        for i in unit.find(name):
            if unit.in_directive(i) is None and not is_left_out(unit, unit.p[i]) and not unit.is_dead(unit.p[i]):
                found_call = _call(unit, i, p)
                if found_call is not None:
                    yield found_call


def _call(unit: Unit, i: int, p: _Pattern) -> AsmStatement | None:
    call = unit.call(i)
    if call is None or call.open != i + 1 or len(call.args) != p.params or unit.tok(call.close + 1) != ";":
        return None
    if unit.function_at(i) is None or not p.under <= {g.opener for g in unit.conditionals.around(unit.p[i])}:
        return None
    if any(unit.lexed.directive_at(k) is not None for k in range(call.open, call.close)):
        return None
    operands = (
        replace(o, expr=Span(call.args[k].start, call.args[k].end))
        for o, k in zip(p.reading.operands, p.places, strict=True)
    )
    reading = replace(p.reading, operands=tuple(operands))
    span = Span(unit.p[i], unit.end(call.close))
    return replace(p.statement, keyword=i, open=call.open, close=call.close, span=span, readings=(reading,), macro=None)


def _is_alone(unit: Unit, name: str) -> bool:
    """Whether a file gives a macro one meaning throughout."""
    undefined = any(d.keyword == "undef" and unit.tok(d.first + 2) == name for d in unit.directives)
    return not undefined and len(unit.macros[name]) == 1 and len(live_definitions(unit, name)) == 1


def _pattern(unit: Unit, s: AsmStatement) -> _Pattern | None:
    """What a macro stands for, if it is one statement with a product, made of its parameters alone."""
    m = s.macro
    if m is None or m.params is None or "..." in m.params or s.params or s.problem or len(s.readings) != 1:
        return None
    reading = s.readings[0]
    if "mma" not in reading.text or reading.where or s.numbers is not None or s.hints:
        return None
    if not is_asm_of_parameters(unit, m) or len(set(m.params)) != len(m.params):
        return None
    places = []
    for o in reading.operands:
        words = unit.t[unit.lexed.at(o.expr.start) : unit.lexed.at(o.expr.end)]
        while len(words) > 2 and words[0] == "(" and words[-1] == ")":
            words = words[1:-1]
        if len(words) != 1 or words[0] not in m.params:
            return None
        places.append(m.params.index(words[0]))
    return _Pattern(s, reading, len(m.params), tuple(places))


def _included(unit: Unit) -> dict[str, _Pattern]:
    """Those of headers that a file includes, as far as it calls them and has no such macro itself."""
    told: dict[str, set[str]] = {}
    for name, _, text in (x.partition(" ") for x in sorted(unit.project.products)):
        if name in unit.words and name not in unit.macros and not any(map(unit.declares, unit.find(name))):
            told.setdefault(name, set()).add(text)
    texts = [next(iter(of)) for of in told.values() if len(of) == 1]
    texts = [text for text in texts if text.startswith("#")]
    if not texts:
        return {}
    of = Project(asm_keywords=unit.project.asm_keywords)
    made = Unit("\n".join([*texts, ""]), unit.catalog, unit.options, unit.path, of)
    found = ((s.macro.name, _pattern(made, s)) for s in statements(made) if s.macro is not None)
    out: Mapping[str, _Pattern | None] = dict(found)
    made.forget()
    return {name: p for name, p in out.items() if p is not None}
