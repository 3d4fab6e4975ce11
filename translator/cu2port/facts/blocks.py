"""What a launch gives a block, as far as the file says it: how many threads, how many dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from cu2port.core.model import Span
from cu2port.facts.unit import Unit
from cu2port.syntax.around import around, is_changed, statement_around
from cu2port.syntax.constants import Constant
from cu2port.syntax.declarations import value_of
from cu2port.syntax.folding import constant
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import tokens
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import (
    Binary,
    CallExpr,
    Cast,
    Decl,
    Expr,
    Index,
    Name,
    Num,
    Other,
    Paren,
    Ternary,
    Unary,
    callee,
    statements,
    walk,
)
from cu2port.syntax.types import Type, builtin, written
from cu2port.syntax.words import PLACEHOLDERS

_DEPTH = 6
_INTEGERS = frozenset(
    "short,unsigned short,int,unsigned int,long,unsigned long,long long,unsigned long long".split(",")
)
_DIM3 = Type(("dim3",))


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
    found = dim3_variables(unit, name)
    if not found:
        return None
    return (_dim3(unit, found[0].at + 1) if len(found) == 1 and _is_set_once(unit, found[0]) else None,)


def dim3_variables(unit: Unit, name: str) -> list[Declaration]:
    """What the file declares by a name as a `dim3`, in text order."""
    return [d for d in _objects(unit, name) if written(unit.t, d) == _DIM3]


def _objects(unit: Unit, name: str) -> Iterator[Declaration]:
    return (d for d in unit.declarations.named(name) if d.kind in ("variable", "parameter", "member"))


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
    found = [d for d in _objects(unit, name) if _is_integer(unit, d)]
    if len(found) != 1 or not _is_set_once(unit, found[0]):
        return None
    first, stop = value_of(unit.lexed, found[0])
    return _constant(unit, first, stop, depth)


def _is_integer(unit: Unit, d: Declaration) -> bool:
    """Whether it is an integer, or a constant of a type that some header declares (`constexpr dim_t n = 256;`)."""
    type_ = written(unit.t, d)
    if builtin(type_.words) in _INTEGERS or not PLACEHOLDERS.isdisjoint(type_.words):
        return True
    is_name = type_.name and not builtin(type_.words) and not type_.indirections
    return bool(is_name) and "constexpr" in unit.t[d.first : d.at]


def _is_set_once(unit: Unit, d: Declaration) -> bool:
    """Whether a variable gets a value where it is declared, and nowhere else in the file."""
    if value_of(unit.lexed, d) == (0, 0):
        return False
    return not any(i != d.at and is_changed(around(unit, i)) for i in unit.find(d.name))


def dimensions(unit: Unit, span: Span) -> int | None:
    """How many dimensions a block of that size has at most, 1 for a number of threads; None: not known."""
    return _dimensions(unit, read_expression(unit, *_tokens(unit, span)), False, 0)


def _dimensions(unit: Unit, e: Expr, in_macro: bool, depth: int) -> int | None:
    """The same of an expression. `in_macro`: it is in a macro's body, whose names may be any where it is used."""
    outer = next((w for w in reversed(e.around) if not isinstance(w, Paren)), None)
    if outer is not None:
        is_number = isinstance(outer, Cast) and builtin(unit.t[outer.type_first : outer.type_stop]) in _INTEGERS
        return 1 if is_number else None
    if depth > _DEPTH:
        return None
    if isinstance(e, Num):
        return 1
    if isinstance(e, CallExpr) and callee(e) == "dim3":
        return _of_sizes(unit, e.args, in_macro, depth)
    if isinstance(e, Name) and e.text in unit.macros:
        bodies = (read_expression(unit, m.first, m.stop) for m in unit.macros[e.text])
        return 1 if all(_dimensions(unit, x, True, depth + 1) == 1 for x in bodies) else None
    if isinstance(e, (Binary, Ternary, Unary)):
        inner = [e.x] if isinstance(e, Unary) else [e.a, e.b]
        return 1 if all(_dimensions(unit, x, in_macro, depth + 1) == 1 for x in inner) else None
    name = e.base if isinstance(e, Index) else e.callee if isinstance(e, CallExpr) else e
    if in_macro or not isinstance(name, Name) or name.qualified:
        return None
    d = unit.declarations.visible(name.text, name.at)
    if d is None:
        return None
    type_ = written(unit.t, d)
    if builtin(type_.words) in _INTEGERS and d.kind in ("variable", "parameter", "member", "function"):
        wanted = 1 if isinstance(e, Index) else 0
        return 1 if type_.indirections == wanted else None
    is_block = type_.name == "dim3" or type_.name in PLACEHOLDERS
    return _declared(unit, d, depth) if is_block and name is e and not type_.indirections else None


def _of_sizes(unit: Unit, sizes: tuple[Expr, ...], in_macro: bool, depth: int) -> int | None:
    """The dimensions of `dim3(...)`; a last size of 1 is none. What is alone in it may be a block itself."""
    count = len(sizes)
    while count > 1 and isinstance(x := sizes[count - 1], Num) and x.value == 1:
        count -= 1
    if count > 1 or len(sizes) > 1:
        return count
    if not sizes:
        return 1
    known = _dimensions(unit, sizes[0], in_macro, depth + 1)
    return 1 if known is None and not any(_may_be_block(unit, x) for x in walk(sizes[0])) else known


def _may_be_block(unit: Unit, e: Expr) -> bool:
    """Whether an expression is the name of what is declared as a block somewhere in the file, or makes one."""
    if not isinstance(e, Name):
        return False
    return e.text == "dim3" or any(
        (type_ := written(unit.t, d)).name == "dim3" or type_.name in PLACEHOLDERS
        for d in unit.declarations.named(e.text)
    )


def _declared(unit: Unit, d: Declaration, depth: int) -> int | None:
    """The dimensions of a block's size that is declared, and only given to launches."""
    for i in unit.find(d.name):
        if i != d.at and not any(x.config_first <= i < x.close for x in unit.launches):
            if unit.is_member(i) or unit.declarations.visible(d.name, i) is not d:
                continue
            return None  # it may be changed
    value = next(
        (s.init for s in statements(statement_around(unit, d.at)) if isinstance(s, Decl) and s.at == d.at), None
    )
    if isinstance(value, Other) and value.parts and unit.t[value.at] in ("(", "{"):
        return _of_sizes(unit, value.parts, False, depth)
    return _dimensions(unit, value, False, depth + 1) if value is not None and not d.reference else None
