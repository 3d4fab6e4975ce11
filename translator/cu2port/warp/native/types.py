"""Types of variables in native code, by their words, and whether what warps came to may change its type.

A sum over 64 lanes differs from the sum of two truncated sums: converted to an integer or a bool, or overflowed,
before it becomes a wider type. So what depends on the number of lanes keeps its type.
"""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.facts.unit import Unit
from cu2port.syntax.statements import Parser
from cu2port.syntax.tree import Cast, Expr, Paren, Unread
from cu2port.syntax.words import QUALIFIERS

COUNT = "count"  # a number of lanes: any integer holds it
AUTO = "auto"
_SAME = {
    "unsigned int": "unsigned", "uint": "unsigned", "uint32_t": "unsigned", "std :: uint32_t": "unsigned",
    "int32_t": "int", "std :: int32_t": "int", "signed": "int", "signed int": "int", "__half": "half",
    "long long int": "long long", "unsigned long long int": "unsigned long long", "uchar": "unsigned char",
    "uint8_t": "unsigned char", "int8_t": "signed char", "long int": "long", "unsigned long int": "unsigned long",
    "uint16_t": "unsigned short", "ushort": "unsigned short", "int16_t": "short", "short int": "short",
    "?half": "half", "?__half": "half",
}  # fmt: skip
_BITS = {"char": 8, "signed char": 8, "unsigned char": 8, "short": 16, "unsigned short": 16, "int": 32, "unsigned": 32,
         "long long": 64, "unsigned long long": 64, "size_t": 64, "int64_t": 64, "uint64_t": 64}  # fmt: skip
_UNSIGNED = frozenset({"unsigned char", "unsigned short", "unsigned", "unsigned long long", "size_t", "uint64_t"})
REAL = frozenset({"float", "double"})
_FUNCTION_WORDS = frozenset("__forceinline__ __noinline__ __inline__ __inline __global__ [[nodiscard]]".split())
_DROPPED = QUALIFIERS | {"*", "&", "&&", "template"}


def is_cast(e: Expr) -> bool:
    """Whether an expression is converted, or stands beside what was not understood."""
    return any(not isinstance(x, Paren) for x in e.around)


def cast_type(unit: Unit, x: Cast | Unread) -> str:
    """The type that a cast makes, less `*`; "" if it is not known."""
    words = unit.t[x.type_first : x.type_stop] if isinstance(x, Cast) else ()
    return canonical(" ".join(w for w in words if w not in _DROPPED))


def casts(unit: Unit, e: Expr) -> list[str]:
    """The types that an expression is converted to, from the inside out."""
    return [cast_type(unit, x) for x in e.around if not isinstance(x, Paren)]


def holds_threads(name: str) -> bool:
    """Whether a type holds the number of every thread of a block."""
    return _BITS.get(name, 0) >= 16 or name in ("long", "unsigned long")


def is_narrow(name: str) -> bool:
    """Whether a type cannot hold the number of every thread of a block."""
    return 0 < _BITS.get(name, 0) < 16 or name == "bool"


def converted(value: int | None, types: Sequence[str]) -> int | None:
    """An integer after casts; None where that is not known."""
    for name in types:
        bits = _BITS.get(name, 64 if name in ("long", "unsigned long") else 0)
        if value is None or not bits:
            return None
        value &= (1 << bits) - 1
        if name not in _UNSIGNED and name != "unsigned long" and value >> (bits - 1):
            value -= 1 << bits
    return value


def canonical(words: str) -> str:
    """One name for a type that has several."""
    return _SAME.get(words, words)


def declared_type(unit: Unit, at: int) -> str:
    """The type of the variable, parameter or function whose name is declared at a token, less `*` and `&`; "" if it is
    not understood."""
    d = unit.declaration(at)
    if d is None:
        return ""
    first = d.type_first
    while unit.t[first] in _FUNCTION_WORDS:
        first += 1
    got = Parser(unit, first, at, jump=False).type_end(first, at + 1)
    while got is not None and first < got[0] < at and unit.t[got[0] + 1] not in ("=", ",", "[", "(", "{", ";"):
        first = got[0]  # that was a macro, or a compiler's own word, before the type; no other variable
        got = Parser(unit, first, at, jump=False).type_end(first, at + 1)
    if got is None:
        return ""
    return canonical(" ".join(w for w in unit.t[first : min(got[0], at)] if w not in _DROPPED))


def is_integer(name: str) -> bool:
    """Whether a type is an integer's for sure."""
    return name in _BITS


def keeps(op: str, source: str, target: str) -> bool:
    """Whether what warps came to by an operation may become a value of another type before it is put together
    further: as if all had been put together first."""
    if source == target:
        return bool(source)
    a, b = _BITS.get(source, 0), _BITS.get(target, 0)
    if source == COUNT:
        return b > 0 or target in REAL
    if op in ("add", "mul"):
        return (a == b and a > 0) or (source, target) == ("float", "double")
    if op in ("and", "or", "xor"):
        return 0 < a <= b or (op == "or" and target == "bool" and a > 0)
    alike = (source in _UNSIGNED) == (target in _UNSIGNED)
    return (0 < a <= b and alike) or ((a > 0 or source == "float") and target == "double")
