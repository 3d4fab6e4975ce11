"""Types of operands: libclang's where it has seen them, else those of plain declarations in the function around.

libclang sees only what it compiles: nothing in branches that its preprocessor leaves out, or behind missing headers. A
local or a parameter that the function declares once, with a type that C++ or CUDA defines, needs no compiler.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping

from cu2port.core.model import Span
from cu2port.facts.clang import Expr
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.asm import AsmStatement
from cu2port.syntax.lexer import is_identifier

_NAMED = {
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short",
    "uint16_t": "unsigned short",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "int64_t": "long",
    "uint64_t": "unsigned long",
    "size_t": "unsigned long",
    "uintptr_t": "unsigned long",
    "intptr_t": "long",
    "uint": "unsigned int",
    "ushort": "unsigned short",
    "ulong": "unsigned long",
}
_BUILTIN = frozenset({"unsigned", "signed", "int", "long", "short", "char", "float", "double", "bool", "void"})
_BITS = {"char": 8, "short": 16, "int": 32, "long": 64, "long long": 64, "float": 32, "double": 64, "bool": 8}
_VECTOR = re.compile(r"(u?)(char|short|int|long|longlong|float|double)[1234]\Z")
_MEMBER = re.compile(r"([A-Za-z_]\w*)\.[xyzw]\Z")
_SPECIFIERS = frozenset({"const", "volatile", "__restrict__", "__restrict", "restrict", "register", "static"})


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
    places = unit.find(name)
    for k in places[bisect_left(places, f.params[0]) : bisect_right(places, f.body[1])]:
        if unit.tok(k + 1) in (",", ")", ";", "=", "(", "{") and not unit.is_member(k):
            type_ = _type_before(unit, k, f.params[0])
            if type_ == "":
                continue  # a use
            if first is None:
                first = (k, type_)
            elif type_ != first[1]:
                return first, k
    return first, len(unit.t)


def _type_before(unit: Unit, k: int, floor: int) -> str | None:
    """The type that stands before a declared name; "" where this declares nothing, None where it is another type."""
    words: list[str] = []
    stars = 0
    i = k - 1
    while i > floor:
        tok = unit.t[i]
        if tok == "*" and not words:
            stars += 1
        elif tok in ("&", "&&") and not words and not stars:
            pass
        elif tok == "," and not words and not stars and (first := list_start(unit, i, floor)) > 0:
            i = first  # `unsigned a, b`: the type stands before the first name
            continue
        elif tok in _SPECIFIERS:
            pass
        elif is_identifier(tok) and unit.in_directive(i) is None:
            words.insert(0, tok)
        elif tok == "::" and words:
            pass
        else:
            break
        i -= 1
    if not words or (unit.t[i] not in (";", "{", "}", "(", ",") and unit.in_directive(i) is None):
        return "" if not words else None
    if "return" in words or "else" in words or "goto" in words:
        return ""
    return _canonical(words, stars)


def list_start(unit: Unit, comma: int, floor: int) -> int:
    """For a name behind a comma of a declaration `T a = 1, b`: the token after its type; -1 if this is no such list."""
    i = comma - 1
    while i > floor:
        tok = unit.t[i]
        if tok in (")", "]", "}") and 0 <= unit.match[i] < i:
            i = unit.match[i]
        elif tok in (";", "{", "}", "("):
            break
        i -= 1
    if unit.t[i] == "(":  # parameters have a type each; the head of a `for` has one type
        return -1 if unit.tok(i - 1) != "for" else _first_name(unit, i + 1, comma)
    return _first_name(unit, i + 1, comma)


def _first_name(unit: Unit, start: int, stop: int) -> int:
    """The end of the type that a declaration's tokens begin with, -1 if they begin with none."""
    i = start
    while i < stop and (unit.t[i] in _SPECIFIERS or unit.t[i] in _BUILTIN or unit.t[i] in ("std", "::")):
        i += 1
    if i < stop and (unit.t[i] in _NAMED or _VECTOR.match(unit.t[i])) and unit.t[i - 1] not in _BUILTIN:
        i += 1
    return i - 1 if i > start and is_identifier(unit.tok(i)) else -1


def _canonical(words: list[str], stars: int) -> str | None:
    words = [w for w in words if w not in ("std", "constexpr", "cuda")]
    if stars:
        return " ".join(words) + " *"
    if len(words) == 1 and (words[0] in _NAMED or _VECTOR.match(words[0])):
        return _NAMED.get(words[0], words[0])
    if not words or not all(w in _BUILTIN for w in words):
        return None
    unsigned = "unsigned" in words
    longs = words.count("long")
    base = next((w for w in ("char", "short", "float", "double", "bool", "void") if w in words), "int")
    if longs and base == "int":
        base = "long long" if longs > 1 else "long"
    return f"unsigned {base}" if unsigned else base
