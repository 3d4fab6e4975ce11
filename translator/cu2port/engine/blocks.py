"""How many threads a launch gives a block, as far as the file says it in plain numbers."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from cu2port.core.model import Span
from cu2port.facts.unit import Unit
from cu2port.syntax.around import around, is_changed
from cu2port.syntax.constants import Constant
from cu2port.syntax.folding import constant
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import tokens
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import Name

_DEPTH = 6
_TYPES = frozenset("int unsigned size_t auto long uint uint32_t int32_t uint64_t int64_t short".split())


def threads(unit: Unit, span: Span) -> int | None:
    """The threads of a block written as a number, a constant, `dim3(...)` or a variable of that; None: not known."""
    known = extents(unit, span)
    return None if known is None else prod(known)


def extents(unit: Unit, span: Span) -> tuple[int, ...] | None:
    """The same by axis, as far as they are written."""
    first, stop = _tokens(unit, span)
    if stop - first == 1 and is_identifier(unit.t[first]):
        known = unit.once(_variables)
        name = unit.t[first]
        if name not in known:
            known[name] = _variable(unit, name)
        variable = known[name]
        if variable is not None:
            return variable[0]
    if unit.t[first] == "dim3":
        return _dim3(unit, first + 1)
    n = number(unit, first, stop)
    return None if n is None else (n,)


def _variables(unit: Unit) -> dict[str, tuple[tuple[int, ...] | None] | None]:
    """What `_variable` said so far."""
    return {}


def _variable(unit: Unit, name: str) -> tuple[tuple[int, ...] | None] | None:
    """The extents of a `dim3` variable; None where the name is none."""
    places = [i for i in unit.find(name) if unit.tok(i - 1) == "dim3"]
    if not places:
        return None
    return (_dim3(unit, places[0] + 1) if len(places) == 1 and _is_set_once(unit, places[0]) else None,)


def number(unit: Unit, first: int, stop: int, depth: int = 0) -> int | None:
    """The value of an expression of numbers and constants; None: not known."""
    known = _constant(unit, first, stop, depth)
    return None if known is None else known.value


def named_number(unit: Unit, name: str) -> int | None:
    """The value of a macro, a constant or a variable that is set once in a file; None: not known."""
    known = _named(unit, name, 0)
    return None if known is None else known.value


def _constant(unit: Unit, first: int, stop: int, depth: int) -> Constant | None:
    def named(e: Name) -> Constant | None:
        return _named(unit, e.text, depth + 1) if tokens(e) == (e.at, e.at) and depth < _DEPTH else None

    e = read_expression(unit, first, stop)
    return constant(e, named) if tokens(e) == (first, stop - 1) else None


def _tokens(unit: Unit, span: Span) -> tuple[int, int]:
    return unit.lexed.at(span.start), unit.lexed.at(span.end)


def _dim3(unit: Unit, opener: int) -> tuple[int, ...] | None:
    """The numbers of `dim3(...)`, `name(...)` or `name = dim3(...)`; opener: the token behind the name."""
    if unit.tok(opener) == "=" and unit.tok(opener + 1) == "dim3":
        opener += 2
    if unit.tok(opener) not in ("(", "{") or unit.match[opener] < 0:
        return None
    out = []
    for part in unit.split_args(opener + 1, unit.match[opener]):
        n = number(unit, *_tokens(unit, part))
        if n is None:
            return None
        out.append(n)
    return tuple(out)


def _values(unit: Unit) -> dict[tuple[str, int], Constant | None]:
    """What `_named` said so far."""
    return {}


def _named(unit: Unit, name: str, depth: int) -> Constant | None:
    """A macro's or a constant's value; of a variable too, that is set once."""
    known = unit.once(_values)
    if (name, depth) not in known:
        known[name, depth] = _value_of(unit, name, depth)
    return known[name, depth]


def _value_of(unit: Unit, name: str, depth: int) -> Constant | None:
    if name in unit.macros:
        values = {_constant(unit, m.first, m.stop, depth) for m in unit.macros[name]}
        return values.pop() if len(values) == 1 else None
    places = list(_declarations(unit, name))
    if len(places) != 1 or not _is_set_once(unit, places[0]):
        return None
    first = stop = places[0] + 2
    while stop < len(unit.t) and unit.t[stop] not in (";", ",", "}", "{"):
        stop = max(stop, unit.match[stop]) + 1
    return _constant(unit, first, stop, depth) if stop > first else None


def _declarations(unit: Unit, name: str) -> Iterator[int]:
    for i in unit.find(name):
        if unit.tok(i - 1) in _TYPES and unit.in_directive(i) is None:
            yield i  # a parameter too: of which no number is known


def _is_set_once(unit: Unit, at: int) -> bool:
    """Whether a variable gets a value where it is declared, at token `at`, and nowhere else in the file."""
    if unit.tok(at + 1) not in ("=", "(", "{"):
        return False
    return not any(i != at and is_changed(around(unit, i)) for i in unit.find(unit.t[at]))
