"""Arithmetic types of expressions, as the declarations of the file tell them.

What is not sure is "", and then libclang may be asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cu2port.core.late import regex
from cu2port.core.model import Span
from cu2port.facts.named_types import (
    ARITHMETIC,
    FLOATING,
    RANK,
    SMALL,
    UNKNOWN,
    VECTOR,
    NamedTypes,
    Typed,
    macro,
    one,
)
from cu2port.facts.structure import Call
from cu2port.facts.unit import Unit
from cu2port.syntax.operands import children, own_tokens, tokens
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import Binary, CallExpr, Cast, Expr, Index, Member, Name, Num, Operator, Paren, Ternary, Unary
from cu2port.syntax.types import builtin
from cu2port.syntax.words import PLACEHOLDERS

HALVES = frozenset("half half2 __half __half2 nv_half nv_half2 __nv_half __nv_half2".split())
BFLOATS = frozenset("nv_bfloat16 nv_bfloat162 __nv_bfloat16 __nv_bfloat162 __hip_bfloat16 __hip_bfloat162".split())
_LONG_VECTOR = regex(r"u?long(?:long)?[1-4]\Z")
_BUILT_IN = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_FLOAT_CALLS = "fabsf floorf ceilf sqrtf rsqrtf expf logf powf sinf cosf fmaxf fminf roundf truncf".split()
_CALLS = {
    **dict.fromkeys(_FLOAT_CALLS, "float"),
    **dict.fromkeys("__popc __ffs __clz __popcll __ffsll __clzll atoi".split(), "int"),
    **dict.fromkeys("__ballot __ballot_sync __activemask __match_any_sync __brev".split(), "unsigned int"),
}
_OF_ARGUMENT = {"abs": 0, "__shfl": 0} | {f"__shfl{way}_sync": 1 for way in ("", "_up", "_down", "_xor")}
_USUAL = frozenset({"*", "/", "%", "+", "-", "&", "^", "|"})
_TRUTHS = frozenset({"<", ">", "<=", ">=", "==", "!=", "&&", "||"})
_STEPS = frozenset({"++", "--", "p++", "p--"})
_ALIKE = frozenset({"min", "max"})
_MAX_DEPTH = 40
_MOST_WORDS = 4  # of a type such as `unsigned long long int`
_REAL = regex(r"[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]+)?([fF]?)\Z")


def promoted(name: str) -> str:
    """An arithmetic type after integral promotion."""
    return "int" if name in SMALL else name


def type_before(unit: Unit, last: int) -> str:
    """The built-in type whose words end at a token, as clang spells it; "" for what is none."""
    words: list[str] = []
    while len(words) < _MOST_WORDS and builtin([unit.tok(last), *words]):
        words.insert(0, unit.tok(last))
        last -= 1
    return builtin(words)


def is_value(name: str) -> bool:
    """Whether a word is, or is the last of, the name of a number's type or of a built-in vector type."""
    if builtin((name,)) not in ("", "void") or name in HALVES or name in BFLOATS:
        return True
    return bool(VECTOR.match(name) or _LONG_VECTOR.match(name))


def common(a: str, b: str) -> str:
    """The type in which CUDA's `min` and `max` take two arguments; "" if it has no overload, or a type is unknown."""
    a, b = promoted(a), promoted(b)
    if {a, b} <= FLOATING:
        return a if a == b else "double"
    if a not in RANK or b not in RANK or RANK[a] != RANK[b]:
        return ""
    return a if a == b else next(x for x in (a, b) if x.startswith("unsigned"))


def _alike(a: Typed, b: Typed) -> Typed:
    """What `min` and `max` give of two types."""
    return UNKNOWN if a.depth or b.depth else a if a == b else Typed(common(a.name, b.name))


def simple_type(unit: Unit, span: Span) -> str:
    """The type of an expression of names, literals, casts, members, calls and operators; "" for a pointer, and if it
    is not known."""
    return _value(_read_type(unit, unit.lexed.at(span.start), unit.lexed.at(span.end)))


def expression_type(unit: Unit, e: Expr) -> Typed:
    """The type of an expression that was read, also a pointer or a template's parameter."""
    return unit.once(_Types).of(e, 0)


def _value(found: Typed) -> str:
    return found.name if not found.depth else ""


def _read_type(unit: Unit, first: int, stop: int) -> Typed:
    e = read_expression(unit, first, stop)
    return unit.once(_Types).of(e, 0) if tokens(e) == (first, stop - 1) else UNKNOWN


def argument_types(unit: Unit, calls: list[tuple[int, Call]]) -> dict[int, list[str]]:
    """By the token of the called name, the types of a call's arguments as `simple_type` tells them. The calls are in
    text order."""
    out = {}
    types, read = unit.once(_Types), _call_trees(unit, calls)
    for i, call in calls[::-1]:  # a call in an argument comes before the one around it
        found = [_argument_type(unit, a, e) for a, e in zip(call.args, read[i], strict=True)]
        out[i] = [_value(x) for x in found]
        if unit.t[i] in _ALIKE and len(found) == 2:
            types.results[i] = _alike(*found)
    return out


def _call_trees(unit: Unit, calls: list[tuple[int, Call]]) -> dict[int, Sequence[Expr | None]]:
    """The trees of the arguments of calls. Calls in one another are read once, with the outermost; None: not read."""
    found: dict[int, CallExpr] = {}
    for i, call in calls:
        todo = [read_expression(unit, i, call.close + 1)] if i not in found else []
        while todo:
            e = todo.pop()
            if isinstance(e, CallExpr):
                found[e.at] = e
            todo += children(e)
    out: dict[int, Sequence[Expr | None]] = {}
    for i, call in calls:
        args = found[i].args if i in found else ()
        out[i] = args if len(args) == len(call.args) else [None] * len(call.args)
    return out


def _argument_type(unit: Unit, span: Span, e: Expr | None) -> Typed:
    first, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
    if e is None or tokens(e) != (first, stop - 1):
        return _read_type(unit, first, stop)
    return unit.once(_Types).of(e, 0)


def pointee_types(unit: Unit, calls: list[tuple[int, Call]]) -> dict[int, str]:
    """By the token of the called name, the type that the first argument points to; "" where it is not known."""
    out = {}
    for i, call in calls:
        found = _read_type(unit, unit.lexed.at(call.args[0].start), unit.lexed.at(call.args[0].end))
        out[i] = found.name if found.depth == 1 else ""
    return out


def unqualified(name: str) -> str:
    """A type as libclang spells it, without `const`, `volatile` and `&`."""
    return re.sub(r"\b(?:const|volatile)\s+", "", name).rstrip(" &")


class _Types:
    """Types of the expressions of one file. `results`: those of calls of `min` and `max` that are known already, by
    the token of their name. `depth` is how deep an expression is in others, of macros and initializers too; `place`:
    the token where a macro is used whose body is read, -1 elsewhere."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.names = NamedTypes(unit)
        self.results: dict[int, Typed] = {}
        self._known: dict[tuple[int, int], Typed] = {}  # of what is declared at a token; of macros by use
        self._returned: dict[int, Typed] = {}

    def of(self, e: Expr, depth: int, place: int = -1) -> Typed:
        """The type of an expression."""
        for w in reversed(e.around):
            if isinstance(w, Cast):
                return self.names.cast(w) if w.type_first < w.type_stop else UNKNOWN
            if not isinstance(w, Paren):
                return UNKNOWN
        read = _READ.get(type(e))
        return read(self, e, depth + 1, place) if read is not None and depth <= _MAX_DEPTH else UNKNOWN

    def number(self, e: Num, depth: int, place: int) -> Typed:
        return Typed(_literal(self.unit.t[e.at]) if e.value is None else e.type)

    def name(self, e: Name, depth: int, place: int) -> Typed:
        at = e.at if place < 0 else place
        d = self._visible(_word(e._replace(around=())), at)
        if d is None:
            return UNKNOWN
        key = d.at, at if d.kind == "macro" else -1
        found = self._known.get(key)
        if found is None:
            self._known[key] = UNKNOWN  # while it is read: `auto x = x;`
            others = self.unit.declarations.alternatives(d)
            found = self._known[key] = one(self._meant(x, depth, at) for x in others)
        if found.dependent and found.owner is not None:
            within = found.owner.scope
            return found if within.first <= at <= within.last else UNKNOWN
        return found

    def _visible(self, word: str, at: int) -> Declaration | None:
        return self.unit.declarations.visible(word, at) if word else None

    def _meant(self, d: Declaration, depth: int, at: int) -> Typed:
        """The type of what a declaration declares; `at`: where it is used."""
        t = self.unit.t
        if d.kind == "macro":
            body = macro(self.unit, d)
            if body is None or body.first == body.stop:
                return UNKNOWN
            e = read_expression(self.unit, body.first, body.stop)
            return self.of(e, depth + 8, at) if tokens(e) == (body.first, body.stop - 1) else UNKNOWN
        if d.kind == "function":
            return UNKNOWN
        if PLACEHOLDERS.isdisjoint(t[d.type_first : d.type_stop]):
            return self.names.declared(d)
        e = read_expression(self.unit, d.at + 2, d.stop - 1)
        whole = t[d.at + 1] == "=" and not d.pointers and tokens(e) == (d.at + 2, d.stop - 2)
        return self.of(e, depth) if whole else UNKNOWN

    def index(self, e: Index, depth: int, place: int) -> Typed:
        return _followed(self.of(e.base, depth, place))

    def member(self, e: Member, depth: int, place: int) -> Typed:
        word, t = _word(e.base), self.unit.t
        if word in _BUILT_IN and t[e.at - 1] == ".":
            return Typed("unsigned int")
        base = self.of(e.base, depth, place)
        through = 1 if t[e.at - 1] == "->" else 0
        return self.names.member(base, e.name) if base.depth == through else UNKNOWN

    def unary(self, e: Unary, depth: int, place: int) -> Typed:
        found = self.of(e.x, depth, place)
        if e.op == "*":
            return _followed(found)
        if e.op == "&":
            return found._replace(depth=found.depth + 1) if found.name else UNKNOWN
        if found.depth or not _is_number(found):
            return found if found.depth and e.op in _STEPS else UNKNOWN
        if e.op in ("+", "-", "~"):
            return Typed(promoted(found.name))
        return Typed("bool") if e.op == "!" else found

    def binary(self, e: Binary, depth: int, place: int) -> Typed:
        """The type of a run of operators, from the left."""
        run = [e]
        while isinstance(run[-1].a, Binary) and not run[-1].a.around:
            run.append(run[-1].a)
        left = self.of(run[-1].a, depth, place)
        for x in reversed(run):
            left = _combined(x.op, left, self.of(x.b, depth, place)) if left.name else UNKNOWN
        return left

    def ternary(self, e: Ternary, depth: int, place: int) -> Typed:
        a, b = self.of(e.a, depth, place), self.of(e.b, depth, place)
        return a if a == b else _combined("+", a, b) if _is_number(a) and _is_number(b) else UNKNOWN

    def operator(self, e: Operator, depth: int, place: int) -> Typed:
        return Typed("unsigned long" if e.word in ("sizeof", "alignof") else "")

    def call(self, e: CallExpr, depth: int, place: int) -> Typed:
        callee, at = _word(e.callee), e.at if place < 0 else place
        own = self._visible(callee, at)
        if own is not None:
            if own.at not in self._returned:
                self._returned[own.at] = self._result(own)
            return self._returned[own.at] if own.kind == "function" or len(e.args) == 1 else UNKNOWN
        if (n := _OF_ARGUMENT.get(callee, len(e.args))) < len(e.args):
            found = self.of(e.args[n], depth, place)
            return Typed(promoted(found.name)) if _is_number(found) else UNKNOWN
        if callee not in _ALIKE:
            return Typed(_CALLS.get(callee, ""))
        if e.at in self.results:
            return self.results[e.at]
        if len(e.args) != 2:
            return UNKNOWN
        return _alike(*(self.of(x, depth, place) for x in e.args))

    def _result(self, d: Declaration) -> Typed:
        """What a call of a declared name gives: what all overloads return, or a value of the type."""
        if d.kind != "function":
            return self.names.named((d.name,), d.at)
        others = self.unit.declarations.alternatives(d)
        return one(self.names.declared(x) for x in others) if all(x.kind == "function" for x in others) else UNKNOWN


_READ: Mapping[type, Callable[[_Types, Any, int, int], Typed]] = {
    Num: _Types.number,
    Name: _Types.name,
    Member: _Types.member,
    Index: _Types.index,
    CallExpr: _Types.call,
    Unary: _Types.unary,
    Binary: _Types.binary,
    Ternary: _Types.ternary,
    Operator: _Types.operator,
}


def _is_number(x: Typed) -> bool:
    return not x.depth and promoted(x.name) in ARITHMETIC


def _followed(x: Typed) -> Typed:
    """What a pointer or an array holds."""
    return x._replace(depth=x.depth - 1) if x.depth > 0 else UNKNOWN


def _combined(op: str, a: Typed, b: Typed) -> Typed:
    """The type of `a op b`."""
    if a.depth or b.depth:
        pointer, other = (a, b) if a.depth else (b, a)
        return pointer if op in ("+", "-") and _is_number(other) else UNKNOWN
    if not (_is_number(a) and _is_number(b)):
        return UNKNOWN
    if op in _TRUTHS:
        return Typed("bool")
    return Typed(_usual(promoted(a.name), promoted(b.name)) if op in _USUAL else promoted(a.name))  # else a shift


def _word(e: Expr) -> str:
    """A name without qualifiers, template arguments and casts; "" for any other expression."""
    plain = isinstance(e, Name) and all(isinstance(w, Paren) for w in e.around) and own_tokens(e) == (e.at, e.at)
    return e.text if plain and isinstance(e, Name) else ""


def same_shape(unit: Unit, a: Span, b: Span) -> bool:
    """Whether two expressions are elements of one array: `x[i]` and `x[j + 1]`."""
    one, other = _element(unit, a), _element(unit, b)
    return one == other and one[1] > 0


def _element(unit: Unit, span: Span) -> tuple[str, int]:
    """The array's name and the number of indices; 0 for what is no element."""
    first, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
    if unit.t[stop - 1] != "]":
        return "", 0
    e, count = read_expression(unit, first, stop), 0
    if tokens(e) != (first, stop - 1):
        return "", 0
    while isinstance(e, Index) and not e.around:
        e, count = e.base, count + 1
    return (_word(e), count) if _word(e) else ("", 0)


def _literal(tok: str) -> str:
    """The type of a number that is no integer."""
    m = _REAL.match(tok.replace("'", ""))
    return "" if m is None else "float" if m[1] else "double"


def _usual(a: str, b: str) -> str:
    """The type of `a + b`."""
    for floating in ("double", "float"):
        if floating in (a, b):
            return floating
    if RANK[a] != RANK[b]:
        return a if RANK[a] > RANK[b] else b
    return a if a == b else next(x for x in (a, b) if x.startswith("unsigned"))
