"""Types of operands: libclang's where it has seen them, else those of plain declarations in the function around.

libclang sees only what it compiles: nothing in branches that its preprocessor leaves out, or behind missing headers. A
local or a parameter that the function declares once, with a type that C++ or CUDA defines, needs no compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from cu2port.core.model import Span
from cu2port.facts.clang import Expr
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.asm import AsmStatement
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.types import Type, builtin, written

_BITS = {"char": 8, "short": 16, "int": 32, "long": 64, "long long": 64, "float": 32, "double": 64, "bool": 8}
_VECTOR = re.compile(r"(u?)(char|short|int|long|longlong|float|double)[1234]\Z")
_MEMBER = re.compile(r"([A-Za-z_]\w*)\.[xyzw]\Z")


def operand_types(unit: Unit, wanted: Iterable[AsmStatement]) -> Mapping[Span, Expr]:
    """What is known of the operands' expressions, by span. Nothing of those in macro bodies."""
    plain = [s for s in wanted if s.macro is None]
    spans = {(o.expr.start, o.expr.end) for s in plain for r in s.readings for o in r.operands}
    facts = unit.ask(spans=tuple(sorted(spans))) if spans else None
    types = {Span(*at): e for at, e in facts.exprs.items() if e.bits} if facts is not None else {}
    for s in plain:
        f = unit.function_at(s.keyword)
        if f is None:
            continue
        for o in {o for r in s.readings for o in r.operands}:
            if o.expr not in types and (found := _expression(unit, f, s.keyword, unit.text[o.expr.start : o.expr.end])):
                types[o.expr] = found
    return types


def immediate(expr: Expr | None) -> int | None:
    """The number that nvcc writes for an "n" operand: a signed one of the expression's own type, so -16 for 0xfffffff0u
    and -1 for (unsigned short)0xffff."""
    if expr is None or expr.value is None or not expr.bits:
        return None
    value = expr.value & ((1 << expr.bits) - 1)
    return value - (1 << expr.bits) if value >> (expr.bits - 1) else value


def _expression(unit: Unit, f: Function, before: int, text: str) -> Expr | None:
    """The type of a name, or of a member of one of CUDA's vectors."""
    member = _MEMBER.match(text)
    if member is not None:
        vector = declared_type(unit, f, before, member.group(1))
        m = _VECTOR.match(vector or "")
        if m is None:
            return None
        base = {"longlong": "long long"}.get(m[2], m[2])
        return _expr(f"unsigned {base}" if m[1] else base)
    if not text or not is_identifier(text) or not text.isidentifier():
        return None
    type_ = declared_type(unit, f, before, text)
    return _expr(type_) if type_ else None


def _expr(type_: str) -> Expr | None:
    if type_.endswith("*"):
        return Expr(type_, 64, None, None)
    base = type_.removeprefix("unsigned ").removeprefix("signed ")
    bits = _BITS.get(base)
    if bits is None:
        return None
    signed = None if base in ("float", "double", "bool") else not type_.startswith("unsigned ")
    return Expr(type_, bits, signed, None)


def declared_type(unit: Unit, f: Function, before: int, name: str) -> str | None:
    """The canonical type that a function declares a name with, up to a token; None unless all declarations agree."""
    known = unit.once(_declared_types)
    if (f.first, name) not in known:
        known[f.first, name] = _types_in(unit, f, name)
    first, other = known[f.first, name]
    return first[1] if first is not None and first[0] < before <= other else None


def _declared_types(unit: Unit) -> dict[tuple[int, str], tuple[tuple[int, str | None] | None, int]]:
    """What `_types_in` said so far, by the function's first token and the name."""
    return {}


def _types_in(unit: Unit, f: Function, name: str) -> tuple[tuple[int, str | None] | None, int]:
    """Where a function first declares a name, and with which type; and where it declares it with another one."""
    first: tuple[int, str | None] | None = None
    for d in unit.declarations.named(name):
        if f.params[0] < d.at < f.body[1]:
            type_ = _canonical(written(unit.t, d)) if d.kind in ("variable", "parameter", "member") else None
            if first is None:
                first = (d.at, type_)
            elif type_ != first[1]:
                return first, d.at
    return first, len(unit.t)


def _canonical(type_: Type) -> str | None:
    """The type of a declared name as clang spells it; None if C++ or CUDA do not define it."""
    words = [w for w in type_.words if w not in ("std", "cuda")]
    if type_.indirections:
        return " ".join(words) + " *" if words and not type_.arrays else None
    return words[0] if len(words) == 1 and _VECTOR.match(words[0]) else builtin(words) or None
