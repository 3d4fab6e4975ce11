"""Arithmetic types that tokens alone can tell: of literals, of built-in variables, of names declared in plain sight.

What is not sure is "", and then libclang may be asked.
"""

from __future__ import annotations

import re

from cu2port.lexer import is_identifier
from cu2port.model import Span
from cu2port.structure import Function
from cu2port.unit import Unit

_RANK = {"int": 1, "unsigned int": 1, "long": 2, "unsigned long": 2, "long long": 3, "unsigned long long": 3}
_SMALL = frozenset({"bool", "char", "signed char", "unsigned char", "short", "unsigned short"})
_NAMES = {
    "int": "int",
    "float": "float",
    "double": "double",
    "uint": "unsigned int",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "size_t": "unsigned long",
    "int64_t": "long",
    "uint64_t": "unsigned long",
}
_BUILT_IN = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_OPERATORS = frozenset("+ - * / % ( )".split())
_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)\Z|[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]+)?([fF]?)\Z")


def promoted(name: str) -> str:
    """An arithmetic type after integral promotion."""
    return "int" if name in _SMALL else name


def common(a: str, b: str) -> str:
    """The type in which CUDA's `min` and `max` take two arguments; "" if it has no overload, or a type is unknown."""
    a, b = promoted(a), promoted(b)
    if {a, b} <= {"float", "double"}:
        return a if a == b else "double"
    if a not in _RANK or b not in _RANK or _RANK[a] != _RANK[b]:
        return ""
    return a if a == b else next(x for x in (a, b) if x.startswith("unsigned"))


class NamedTypes:
    """Types of the names that a function declares with a plain type. `scalars`, `elements` (of pointers and arrays);
    "" for a name with several."""

    def __init__(self, unit: Unit, function: Function) -> None:
        self.scalars: dict[str, str] = {}
        self.elements: dict[str, str] = {}
        for i in range(function.first, function.body[1]):
            if unit.t[i] in _NAMES or unit.t[i] == "unsigned":
                self._read(unit, i)
            elif unit.t[i] == "auto" and unit.tok(i + 1) in self.scalars:
                self.scalars[unit.t[i + 1]] = ""

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
        while unit.tok(k):
            pointers = 0
            while unit.tok(k) in ("*", "&", "const", "__restrict__", "__restrict", "volatile"):
                pointers += unit.t[k] == "*"
                k += 1
            word = unit.tok(k)
            if not word or not is_identifier(word) or word in _NAMES:
                return
            after = unit.tok(k + 1)
            if after not in (",", ";", "=", ")", "[", "{", ":"):
                return
            pointers += after == "["
            into = self.elements if pointers == 1 else self.scalars
            into[word] = name if into.get(word, name) == name and pointers <= 1 else ""
            if pointers:
                self.scalars.setdefault(word, "")
            if after != ",":
                return
            k += 2


def simple_type(unit: Unit, names: NamedTypes, span: Span) -> str:
    """The type of an expression of names, literals and `+ - * / %`; "" if it holds anything else."""
    found = ""
    k, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
    while k < stop:
        tok = unit.t[k]
        if tok in _OPERATORS:
            k += 1
            continue
        if tok in _BUILT_IN and unit.tok(k + 1) == ".":
            kind, k = "unsigned int", k + 3
        elif is_identifier(tok):
            if unit.tok(k + 1) == "[" and 0 < unit.match[k + 1] < stop:
                kind, k = names.elements.get(tok, ""), unit.match[k + 1] + 1
            elif unit.tok(k + 1) in ("(", ".", "->", "::", "<"):
                return ""
            else:
                kind, k = names.scalars.get(tok, ""), k + 1
        elif tok[0].isdigit() or tok[0] == ".":
            kind, k = _literal(tok), k + 1
        else:
            return ""
        if not kind:
            return ""
        found = _usual(found, kind) if found else kind
    return found


def _literal(tok: str) -> str:
    m = _NUMBER.match(tok.replace("'", ""))
    if m is None:
        return ""
    if m[1] is None:
        return "float" if m[2] else "double"
    suffix = m[1].lower()
    size = ("", "long", "long long")[min(suffix.count("l"), 2)]
    if not suffix:
        return "int" if len(tok) < 10 and not tok.lower().startswith("0x") else ""
    return (f"unsigned {size}" if size else "unsigned int") if "u" in suffix else size


def _usual(a: str, b: str) -> str:
    """The type of `a + b`."""
    for floating in ("double", "float"):
        if floating in (a, b):
            return floating
    if _RANK[a] != _RANK[b]:
        return a if _RANK[a] > _RANK[b] else b
    return a if a == b else next(x for x in (a, b) if x.startswith("unsigned"))
