"""Names that macros around a launch declare: `DISPATCH(n, SIZE, [&] { k<SIZE><<<1, 32>>>(); })`, where a branch of the
macro has `constexpr int SIZE = 128;` or `using T = float;` for each case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_MOST_TOKENS = 4000  # between a use and the macro's name


def by_macro(unit: Unit, i: int, program: Sequence[Unit]) -> str | None:
    """What the first case of a macro whose call is around token i makes of that name; None where none does."""
    for name, opener in _calls_around(unit, i):
        call = unit.call(name)
        if call is None or call.close < i or opener != name + 1:
            continue
        for u in program:
            for m in u.macros.get(unit.t[name], ()):
                given = [unit.source(unit.lexed.at(a.start), unit.lexed.at(a.end)) for a in call.args]
                values = dict(zip(m.params or (), given, strict=False))
                if (found := _declared(u, m, values, unit.t[i])) is not None:
                    return found
    return None


def _calls_around(unit: Unit, i: int) -> Iterator[tuple[int, int]]:
    """Names before the brackets around a token, and these."""
    k = i - 1
    while k > max(0, i - _MOST_TOKENS):
        if unit.t[k] in (")", "]", "}") and 0 <= unit.match[k] < k:
            k = unit.match[k]
        elif unit.t[k] == "(" and is_identifier(unit.tok(k - 1)):
            yield k - 1, k
        k -= 1


def _declared(unit: Unit, m: Macro, values: Mapping[str, str], wanted: str) -> str | None:
    for first in range(m.first, m.stop):
        word = unit.t[first]
        if word not in ("constexpr", "using", "typedef"):
            continue
        stop = next((k for k in range(first, m.stop) if unit.t[k] == ";"), m.stop)
        equals = next((k for k in range(first, stop) if unit.t[k] == "="), -1)
        if word != "typedef" and equals < 0:
            continue
        at = stop if word == "typedef" else equals
        name = values.get(unit.t[at - 1], unit.t[at - 1])
        while unit.tok(at - 2) == "##":
            at -= 2
            name = values.get(unit.t[at - 1], unit.t[at - 1]) + name
        a, b = (first + 1, at - 1) if word == "typedef" else (equals + 1, stop)
        if name == wanted and a < b and values.keys().isdisjoint(unit.t[a:b]):
            return " ".join(unit.t[a:b])
    return None
