"""How many threads a launch gives a block, as far as the file says it in plain numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from cu2port.core.model import Span
from cu2port.facts.unit import Unit
from cu2port.syntax import constants
from cu2port.syntax.constants import Constant
from cu2port.syntax.lexer import is_identifier

_DEPTH = 6
_TYPES = frozenset("int unsigned size_t auto long uint uint32_t int32_t uint64_t int64_t short".split())
_ASSIGNED = frozenset("= += -= *= /= <<= >>= ++ --".split())
_OPERATORS = frozenset("+ - * / % << >> ( )".split())
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
}


def threads(unit: Unit, span: Span) -> int | None:
    """The threads of a block written as a number, a constant, `dim3(...)` or a variable of that; None: not known."""
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
    return number(unit, first, stop)


def _variables(unit: Unit) -> dict[str, tuple[int | None] | None]:
    """What `_variable` said so far."""
    return {}


def _variable(unit: Unit, name: str) -> tuple[int | None] | None:
    """The threads of a `dim3` variable; None where the name is none."""
    places = [i for i in unit.find(name) if unit.tok(i - 1) == "dim3"]
    if not places:
        return None
    return (_dim3(unit, places[0] + 1) if len(places) == 1 and _is_set_once(unit, places[0]) else None,)


def number(unit: Unit, first: int, stop: int, depth: int = 0) -> int | None:
    """The value of an expression of numbers and constants; None: not known."""
    known = _constant(unit, first, stop, depth)
    return None if known is None else known.value


def _constant(unit: Unit, first: int, stop: int, depth: int) -> Constant | None:
    words = []
    values: list[Constant] = []
    for i in range(first, stop):
        tok = unit.t[i]
        known = constants.literal(tok)
        if known is None and is_identifier(tok) and depth < _DEPTH:
            known = _named(unit, tok, depth + 1)
        if known is None and tok not in _OPERATORS:
            return None
        words.append(tok if known is None else f"v{len(values)}")
        values += [known] if known is not None else []
    try:
        return _value(ast.parse(" ".join(words), mode="eval").body, values)
    except SyntaxError:
        return None


def _tokens(unit: Unit, span: Span) -> tuple[int, int]:
    return unit.lexed.at(span.start), unit.lexed.at(span.end)


def _dim3(unit: Unit, opener: int) -> int | None:
    """The product of `dim3(...)`, `name(...)` or `name = dim3(...)`; opener: the token behind the name."""
    if unit.tok(opener) == "=" and unit.tok(opener + 1) == "dim3":
        opener += 2
    if unit.tok(opener) not in ("(", "{") or unit.match[opener] < 0:
        return None
    out = 1
    for part in unit.split_args(opener + 1, unit.match[opener]):
        n = number(unit, *_tokens(unit, part))
        if n is None:
            return None
        out *= n
    return out


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
    for i in unit.find(unit.t[at]):
        after = i + 3 if unit.tok(i + 1) == "." else i + 1  # of a member too
        if i != at and (unit.tok(i - 1) in ("&", ">>", "++", "--") or unit.tok(after) in _ASSIGNED):
            return False
    return True


def _value(e: ast.expr, values: Sequence[Constant]) -> Constant | None:
    """Integer arithmetic alone, as C++ has it; `values`: of the names `v0`, `v1`, ..."""
    if isinstance(e, ast.Name):
        return values[int(e.id[1:])]
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub):
        inner = _value(e.operand, values)
        return None if inner is None else constants.unary("-", inner)
    if not isinstance(e, ast.BinOp) or type(e.op) not in _ARITHMETIC:
        return None
    a, b = _value(e.left, values), _value(e.right, values)
    return None if a is None or b is None else constants.binary(_ARITHMETIC[type(e.op)], a, b)
