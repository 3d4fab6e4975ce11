"""Names that macros give a meaning. Macros around a launch declare some: `DISPATCH(n, N, [&] { k<N><<<1, 32>>>(); })`,
where a branch of the macro has `constexpr int N = 128;` or `using T = float;` for each case. Others are parameters
of a macro that holds the use: `#define MAKE(T) template __global__ void k<T>(T*);`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_MOST_TOKENS = 4000  # between a use and the macro's name


def by_macro(unit: Unit, name: str, i: int, program: Sequence[Unit]) -> str | None:
    """What the first case of a macro whose call is around token i makes of a name; None where none does."""
    for callee, opener in _calls_around(unit, i):
        call = unit.call(callee)
        if call is None or call.close < i or opener != callee + 1:
            continue
        for u in program:
            for m in u.macros.get(unit.t[callee], ()):
                given = [unit.source(unit.lexed.at(a.start), unit.lexed.at(a.end)) for a in call.args]
                values = dict(zip(m.params or (), given, strict=False))
                if (found := _declared(u, m, values, name)) is not None:
                    return found
    return None


def given_by_calls(unit: Unit, i: int, program: Sequence[Unit]) -> Iterator[tuple[Unit, int, int]] | None:
    """What calls of the macro whose body has token i give for it, as tokens [first, stop) of a file; None where it is
    not the name of a parameter there."""
    own = _macro_around(unit, i)
    if own is None or own.params is None or unit.t[i] not in own.params:
        return None
    return _given(own, own.params.index(unit.t[i]), program)


def _given(own: Macro, k: int, program: Sequence[Unit]) -> Iterator[tuple[Unit, int, int]]:
    for u, at in places(own, program):
        call = u.call(at)
        if call is not None and k < len(call.args):
            yield u, u.lexed.at(call.args[k].start), u.lexed.at(call.args[k].end)


def calls_of_body(unit: Unit, i: int, program: Sequence[Unit]) -> Iterator[tuple[Unit, int]]:
    """Where the macro whose body has token i is used."""
    own = _macro_around(unit, i)
    return places(own, program) if own is not None else iter(())


def in_macros(unit: Unit, i: int, program: Sequence[Unit]) -> Iterator[tuple[Unit, int]]:
    """Where macros that get token i as an argument name it: `LAUNCH(kernel, n)`, whose body has `f<T><<<...>>>()`."""
    if unit.tok(i - 1) not in ("(", ",") or unit.tok(i + 1) not in (")", ","):
        return
    callee, opener = next(_calls_around(unit, i), (-1, -1))
    call = unit.call(callee) if callee >= 0 else None
    if call is None or opener != callee + 1:
        return
    k = next((k for k, a in enumerate(call.args) if a.start == unit.p[i]), -1)
    for u in program if k >= 0 else ():
        for m in u.macros.get(unit.t[callee], ()):
            if m.params is not None and k < len(m.params):
                yield from ((u, at) for at in range(m.first, m.stop) if u.t[at] == m.params[k])


def places(own: Macro, program: Sequence[Unit]) -> Iterator[tuple[Unit, int]]:
    """Where a macro is named, but in its own definition."""
    for u in program:
        for at in u.find(own.name):
            d = u.in_directive(at)
            if d is None or (d.keyword == "define" and at != d.first + 2):
                yield u, at


def _macro_around(unit: Unit, i: int) -> Macro | None:
    d = unit.in_directive(i)
    if d is None or d.keyword != "define":
        return None
    return next((m for m in unit.macros.get(unit.tok(d.first + 2), ()) if m.first <= i < m.stop), None)


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
