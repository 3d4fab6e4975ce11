"""Arithmetic types that tokens alone can tell: of literals, built-in variables, and names declared visibly.

What is not sure is "", and then libclang may be asked. A type that has a name but is not known, such as a template's
`T`, is that name after a `?`: two such are the same type or cannot be compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cu2port.core.model import Span
from cu2port.facts.structure import Call, Function
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import children, own_tokens, tokens
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import Binary, CallExpr, Cast, Expr, Index, Member, Name, Num, Paren, Unary
from cu2port.syntax.types import ALIASES, builtin
from cu2port.syntax.words import CLASS_KEYS, NO_TYPES, PLACEHOLDERS

_RANK = {"int": 1, "unsigned int": 1, "long": 2, "unsigned long": 2, "long long": 3, "unsigned long long": 3}
_SMALL = frozenset({"bool", "char", "signed char", "unsigned char", "short", "unsigned short"})
_FLOATING = frozenset({"float", "double"})
ARITHMETIC = frozenset(_RANK) | _FLOATING  # after promotion
HALVES = frozenset("half half2 __half __half2 nv_half nv_half2 __nv_half __nv_half2".split())
BFLOATS = frozenset("nv_bfloat16 nv_bfloat162 __nv_bfloat16 __nv_bfloat162 __hip_bfloat16 __hip_bfloat162".split())
_NAMES = {name: name for name in ("int", "float", "double")} | {
    name: ALIASES[name] for name in ("uint", "int32_t", "uint32_t", "size_t", "int64_t", "uint64_t")
}
_WORDS = frozenset("unsigned signed long short char int".split())  # of which types of several words are made
_OTHER = frozenset(
    "bool uchar ushort ulong int8_t uint8_t int16_t uint16_t u_int8_t u_int16_t u_int32_t u_int64_t".split()
)
_VECTOR = re.compile(r"(u?)(char|short|int|float|double)[1-4]\Z|dim3\Z")
_LONG_VECTOR = re.compile(r"u?long(?:long)?[1-4]\Z")
_BUILT_IN = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_FLOAT_CALLS = "fabsf floorf ceilf sqrtf rsqrtf expf logf powf sinf cosf fmaxf fminf roundf truncf".split()
_CALLS = {
    **dict.fromkeys(_FLOAT_CALLS, "float"),
    **dict.fromkeys("__popc __ffs __clz __popcll __ffsll __clzll atoi".split(), "int"),
    **dict.fromkeys("__ballot __ballot_sync __activemask __match_any_sync __brev".split(), "unsigned int"),
}
_USUAL = frozenset({"*", "/", "%", "+", "-", "&", "^", "|"})
_TRUTHS = frozenset({"<", ">", "<=", ">=", "==", "!=", "&&", "||"})
_ALIKE = frozenset({"min", "max"})
_MAX_DEPTH = 40
_REAL = re.compile(r"[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]+)?([fF]?)\Z")


def promoted(name: str) -> str:
    """An arithmetic type after integral promotion."""
    return "int" if name in _SMALL else name


def is_value(name: str) -> bool:
    """Whether a word is, or is the last of, the name of a number's type or of a built-in vector type."""
    if name in _NAMES or name in _WORDS or name in _OTHER or name in HALVES or name in BFLOATS:
        return True
    return bool(_VECTOR.match(name) or _LONG_VECTOR.match(name))


def common(a: str, b: str) -> str:
    """The type in which CUDA's `min` and `max` take two arguments; "" if it has no overload, or a type is unknown."""
    a, b = promoted(a), promoted(b)
    if {a, b} <= _FLOATING:
        return a if a == b else "double"
    if a not in _RANK or b not in _RANK or _RANK[a] != _RANK[b]:
        return ""
    return a if a == b else next(x for x in (a, b) if x.startswith("unsigned"))


def _alike(a: str, b: str) -> str:
    """What `min` and `max` give of two types."""
    return a if a == b else common(a, b)


class NamedTypes:
    """Types of the names that a function declares. `scalars`, `elements` (of pointers and arrays), `parts` (of the
    built-in vector types); "" for a name with several. `results`: those of calls of `min` and `max` that are known
    already, by the token of their name."""

    def __init__(self, unit: Unit, function: Function | None) -> None:
        self.scalars: dict[str, str] = {}
        self.elements: dict[str, str] = {}
        self.parts: dict[str, str] = {}
        self.results: dict[int, str] = {}
        for i in range(function.first, function.body[1]) if function is not None else ():
            tok = unit.t[i]
            if tok in _NAMES or tok == "unsigned":
                self._read(unit, i)
            elif tok == "auto" and unit.tok(i + 1) in self.scalars:
                self.scalars[unit.t[i + 1]] = ""
            elif is_identifier(tok) and unit.t[i - 1] in _BEFORE_TYPE and tok not in _WORDS and tok not in _NO_TYPES:
                self._read_named(unit, i, in_params=function is not None and i < function.body[0])

    def _read(self, unit: Unit, i: int) -> None:
        t = unit.t
        if t[i] == "unsigned":
            if unit.tok(i + 1) in ("char", "short", "long"):
                return
            name, k = "unsigned int", i + (2 if unit.tok(i + 1) == "int" else 1)
        elif t[i] in ("int", "double") and unit.tok(i - 1) in ("unsigned", "long", "short", "signed"):
            return
        else:
            name, k = _NAMES[t[i]], i + 1
        self._declare(unit, k, name)

    def _read_named(self, unit: Unit, i: int, in_params: bool) -> None:
        """A declaration with a type of another name. `a * b` is one only where it can be nothing else."""
        after = unit.tok(i + 1)
        if after in ("*", "&") and not (in_params or unit.t[i - 1] in ("const", "__shared__")):
            return
        vector = _VECTOR.match(unit.t[i])
        if vector is None:
            self._declare(unit, i + 1, f"?{unit.t[i]}")
        elif is_identifier(after) and unit.tok(i + 2) in _AFTER_NAME:
            part = "unsigned int" if not vector[2] else f"unsigned {vector[2]}" if vector[1] else vector[2]
            self.parts[after] = part if self.parts.get(after, part) == part else ""
            self.scalars[after] = ""

    def _declare(self, unit: Unit, k: int, name: str) -> None:
        """Note the names that are declared from token k on as of a type."""
        while unit.tok(k):
            pointers = 0
            while unit.tok(k) in ("*", "&", "const", "__restrict__", "__restrict", "volatile"):
                pointers += unit.t[k] == "*"
                k += 1
            word = unit.tok(k)
            if not word or not is_identifier(word) or word in _NAMES:
                return
            after = unit.tok(k + 1)
            if after not in _AFTER_NAME:
                return
            pointers += after == "["
            into = self.elements if pointers == 1 else self.scalars
            into[word] = name if into.get(word, name) == name and pointers <= 1 else ""
            if pointers:
                self.scalars.setdefault(word, "")
            if after != ",":
                return
            k += 2


_AFTER_NAME = frozenset({",", ";", "=", ")", "[", "{", ":", ">"})
_BEFORE_TYPE = frozenset({"(", ",", ";", "{", "}", "const", "volatile", "__shared__", "static", "register"})
_NO_TYPES = NO_TYPES | CLASS_KEYS | PLACEHOLDERS | {"typename", "const", "void"}


def simple_type(unit: Unit, names: NamedTypes, span: Span) -> str:
    """The type of an expression of names, literals, casts and operators; "" if it holds anything else."""
    return _read_type(unit, names, unit.lexed.at(span.start), unit.lexed.at(span.end), 0)


def _read_type(unit: Unit, names: NamedTypes, first: int, stop: int, depth: int) -> str:
    e = read_expression(unit, first, stop)
    return _Types(unit, names).of(e, depth) if tokens(e) == (first, stop - 1) else ""


def argument_types(unit: Unit, calls: list[tuple[int, Call]]) -> dict[int, list[str]]:
    """By the token of the called name, the types of a call's arguments as `simple_type` tells them. The calls are in
    text order."""
    out = {}
    read = _call_trees(unit, calls)
    for i, call, names in _with_names(unit, calls[::-1]):  # a call in an argument comes before the one around it
        out[i] = [_argument_type(unit, names, a, e) for a, e in zip(call.args, read[i], strict=True)]
        if names is not None and unit.t[i] in _ALIKE and len(out[i]) == 2:
            names.results[i] = _alike(*out[i])
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


def _argument_type(unit: Unit, names: NamedTypes | None, span: Span, e: Expr | None) -> str:
    if names is None:
        return ""
    if e is None or tokens(e) != (unit.lexed.at(span.start), unit.lexed.at(span.end) - 1):
        return simple_type(unit, names, span)
    return _Types(unit, names).of(e, 0)


def pointee_types(unit: Unit, calls: list[tuple[int, Call]]) -> dict[int, str]:
    """By the token of the called name, the type that the first argument points to, as the names that the function
    declares tell it of `p`, `p + k` and `&p[k]`; "" for all else."""
    out = dict.fromkeys((i for i, _ in calls), "")
    for i, call, names in _with_names(unit, calls):
        e = read_expression(unit, unit.lexed.at(call.args[0].start), unit.lexed.at(call.args[0].end))
        if isinstance(e, Unary) and e.op == "&":
            e = e.x
        while isinstance(e, Index) or (isinstance(e, Binary) and e.op == "+"):
            e = e.base if isinstance(e, Index) else e.a
        if names is not None and isinstance(e, Name):
            out[i] = names.elements.get(e.text, "")
    return out


def _with_names(unit: Unit, calls: list[tuple[int, Call]]) -> Iterator[tuple[int, Call, NamedTypes | None]]:
    """Calls, each with the names of its function; None outside of functions. Those of one function stand together."""
    function, names = None, None
    for i, call in calls:
        f = unit.function_at(i)
        if f is not function:
            function, names = f, NamedTypes(unit, f) if f is not None else None
        yield i, call, names


def unqualified(name: str) -> str:
    """A type as libclang spells it, without `const`, `volatile` and `&`."""
    return re.sub(r"\b(?:const|volatile)\s+", "", name).rstrip(" &")


class _Types:
    """Types of expressions in one function; "" where one is not known."""

    def __init__(self, unit: Unit, names: NamedTypes) -> None:
        self.unit, self.names = unit, names

    def of(self, e: Expr, depth: int) -> str:
        """The type of an expression. `depth`: how deep it is in others, of macros too."""
        for w in reversed(e.around):
            if isinstance(w, Cast):
                found = builtin(x for x in self.unit.t[w.type_first : w.type_stop] if x != "::")
                return found if promoted(found) in ARITHMETIC else ""
            if not isinstance(w, Paren):
                return ""
        if depth > _MAX_DEPTH:
            return ""
        if isinstance(e, Num):
            return _literal(self.unit.t[e.at]) if e.value is None else e.type
        if isinstance(e, Binary):
            return self._run(e, depth + 1)
        if isinstance(e, Unary) and e.op in ("+", "-", "~"):
            found = self.of(e.x, depth + 1)
            return "" if found.startswith("?") else promoted(found)
        if isinstance(e, Index):
            return self.names.elements.get(_word(e.base), "")
        if isinstance(e, Member) and self.unit.t[e.at - 1] == ".":
            word = _word(e.base)
            return "unsigned int" if word in _BUILT_IN else self.names.parts.get(word, "")
        if isinstance(e, CallExpr):
            return self._call(e, depth + 1)
        word = _word(e)
        return self.names.scalars[word] if word in self.names.scalars else _constant(self.unit, word, depth)

    def _run(self, e: Binary, depth: int) -> str:
        """The type of a run of operators, from the left."""
        run = [e]
        while isinstance(run[-1].a, Binary) and not run[-1].a.around:
            run.append(run[-1].a)
        left = self.of(run[-1].a, depth)
        for x in reversed(run):
            right = self.of(x.b, depth) if left else ""
            if not right or "?" in (left[0], right[0]):
                return ""
            if x.op in _TRUTHS:
                left = "bool"
            elif x.op in _USUAL:
                left = _usual(promoted(left), promoted(right))
            else:  # a shift
                left = promoted(left)
        return left

    def _call(self, e: CallExpr, depth: int) -> str:
        callee = _word(e.callee)
        if callee not in _ALIKE:
            return _CALLS.get(callee, "")
        if e.at in self.names.results:
            return self.names.results[e.at]
        if len(e.args) != 2:
            return ""
        first, second = (self.of(x, depth) for x in e.args)
        return _alike(first, second) if first else ""


def _word(e: Expr) -> str:
    """A name without qualifiers, template arguments and casts; "" for any other expression."""
    plain = isinstance(e, Name) and all(isinstance(w, Paren) for w in e.around) and own_tokens(e) == (e.at, e.at)
    return e.text if plain and isinstance(e, Name) else ""


def _constant(unit: Unit, name: str, depth: int) -> str:
    """The type of a macro for a number, or of a constant that is declared outside all functions; else ""."""
    definitions = unit.macros.get(name, ())
    if definitions:
        found = {
            "" if m.params is not None else _read_type(unit, NamedTypes(unit, None), m.first, m.stop, depth + 8)
            for m in definitions
        }
    else:
        found = {
            _NAMES[unit.t[i - 1]]
            for i in unit.find(name)
            if unit.t[i - 1] in _NAMES and unit.tok(i - 2) not in _WORDS and unit.function_at(i) is None
            if unit.tok(i + 1) in ("=", ";", "{", ",")
        }
    return found.pop() if len(found) == 1 else ""


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
    if _RANK[a] != _RANK[b]:
        return a if _RANK[a] > _RANK[b] else b
    return a if a == b else next(x for x in (a, b) if x.startswith("unsigned"))
