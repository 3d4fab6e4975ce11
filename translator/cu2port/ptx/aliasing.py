"""Whether writing one operand may change what another one's expression gives.

Two expressions that are plain names, members or elements are compared part by part. Else it matters whether something
can be reached in more than one way: a local that is neither a reference nor has its address taken cannot.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.asm import AsmStatement
from cu2port.ptx.operand_text import SIMPLE
from cu2port.syntax.lexer import is_identifier, lex

_STEP = re.compile(r"(\.|->|::|\[)([\w+ ]+)\]?")
_COMPUTED = re.compile(r"[\[(*]|->")  # an lvalue that is no variable or member of one
_INDEX = re.compile(r"\[([^][]*)\]")
_LANES = frozenset("xyzw")
_NOT_BEFORE_UNARY = frozenset({")", "]"})


@dataclass(frozen=True, slots=True)
class Objects:
    """Names in a function. `own`: its own objects, which no pointer and no other name leads to; `arrays`: names that
    the file declares as arrays and never as anything else, whose elements are theirs alone."""

    own: frozenset[str] = frozenset()
    arrays: frozenset[str] = frozenset()

    def may_alias(self, read: str, written: str) -> bool:
        """Whether the value of an expression may change when an lvalue is assigned to."""
        names, theirs = _names(read), _names(written)
        if not names:
            return False
        if SIMPLE.match(read) and SIMPLE.match(written):
            if _root(read) == _root(written):
                return not _cannot_alias(read, written)
            if _root(written) in names:  # as the index i in x[i]
                return True
        elif names & theirs:
            return True
        if self._private(written, theirs) or self._private(read, names):
            return False
        return not (self._element(read) and self._element(written))

    def may_move(self, lvalue: str, written: str, pointer: bool) -> bool:
        """Whether another object is meant by an lvalue once something is assigned to: `a[i]` when i is.

        `pointer`: what is assigned may be a pointer. What is reached through a variable is taken not to hold it.
        """
        if not _COMPUTED.search(lvalue):
            return False
        if any(self.may_alias(index, written) for index in _INDEX.findall(lvalue)):
            return True
        names = _names(lvalue)
        if written in names:
            return True
        return pointer and any(self.may_alias(name, written) for name in names - _names(written))

    def _private(self, text: str, names: frozenset[str]) -> bool:
        if "*" in text or "->" in text or "(" in text or not names <= self.own:
            return False
        return "[" not in text or self._element(text)

    def _element(self, text: str) -> bool:
        """Whether this is an element of an array that is an object of its own."""
        m = re.match(r"(\w+)\[", text)
        return m is not None and m[1] in self.arrays and bool(SIMPLE.match(text)) and "->" not in text


NOTHING_KNOWN = Objects()


@lru_cache(maxsize=1024)
def _names(text: str) -> frozenset[str]:
    """The variables in an expression, members left out."""
    t = lex(text).t
    return frozenset(
        tok for k, tok in enumerate(t) if is_identifier(tok) and (k == 0 or t[k - 1] not in (".", "->", "::"))
    )


def _root(text: str) -> str:
    m = re.match(r"\w+", text)
    return m.group() if m is not None else ""


def _cannot_alias(a: str, b: str) -> bool:
    """Whether two members or elements of one variable are certainly different ones: v.x and v.y, a[0] and a[1].

    Members of other names may be those of a union."""
    for (how, what), (other_how, other) in zip(_STEP.findall(a), _STEP.findall(b), strict=False):
        if how != other_how:
            return False
        if what != other:
            return (what in _LANES and other in _LANES) or (what.isdigit() and other.isdigit())
    return False


def objects(unit: Unit, s: AsmStatement) -> Objects:
    """What is known of the names in a statement's operands. In a macro's body names may stand for anything."""
    f = unit.function_at(s.keyword)
    if s.macro is not None or f is None:
        return Objects()
    names = {n for r in s.readings for o in r.operands for n in _names(unit.text[o.expr.start : o.expr.end])}
    arrays = frozenset(n for n in names if _is_array(unit, n, f))
    names -= _referred(unit, f)
    own = unit.once(_known).own
    for n in names:
        if (f.first, n) not in own:
            own[f.first, n] = _is_own(unit, f, n, n in arrays)
    return Objects(frozenset(n for n in names if own[f.first, n]), arrays)


@dataclass(frozen=True, slots=True)
class _Known:
    """What was asked so far of a file, which may hold thousands of asm statements: `_array_names`; `_is_own` and
    `_references`, by a function's first token."""

    arrays: dict[str, tuple[int, ...] | None] = field(default_factory=dict)
    own: dict[tuple[int, str], bool] = field(default_factory=dict)
    referred: dict[int, frozenset[str]] = field(default_factory=dict)


def _known(unit: Unit) -> _Known:
    return _Known()


def _referred(unit: Unit, f: Function) -> frozenset[str]:
    """Names that a reference which the function declares may be another name of."""
    known = unit.once(_known).referred
    if f.first not in known:
        known[f.first] = frozenset(_references(unit, f))
    return known[f.first]


def _references(unit: Unit, f: Function) -> Iterator[str]:
    places = unit.find("&", "&&")
    for i in places[bisect_right(places, f.body[0]) : bisect_left(places, f.body[1])]:
        if is_identifier(unit.tok(i + 1)) and unit.tok(i + 2) in ("=", "{", "(", ":"):
            end = i + 3
            while end < f.body[1] and unit.t[end] not in (";", "}"):
                end += 1
            yield from unit.t[i + 3 : end]


def _is_array(unit: Unit, name: str, f: Function) -> bool:
    """Whether each declaration of a name in the file is one of an array, or a parameter of another function."""
    known = unit.once(_known).arrays
    if name not in known:
        known[name] = _parameters_beside_arrays(unit, name)
    others = known[name]
    return others is not None and bisect_right(others, f.params[0]) == bisect_left(others, f.params[1])


def _parameters_beside_arrays(unit: Unit, name: str) -> tuple[int, ...] | None:
    """Where parameters have the name of an array; None where something else has it too, or there is no array."""
    found = False
    others = []
    for k in unit.find(name):
        if unit.is_member(k) or not unit.declares(k):
            continue
        if unit.tok(k + 1) == "[":
            if unit.tok(k - 1) in ("*", "&", ")") or _in_parameters(unit, k):
                return None
            found = True
        elif not _in_parameters(unit, k):
            return None
        else:
            others.append(k)
    return tuple(others) if found else None


def _in_parameters(unit: Unit, k: int) -> bool:
    """Whether a declaration is in round brackets, as a parameter does; the head of a `for` apart."""
    at = k - 1
    while at >= 0 and unit.t[at] not in (";", "{", "}"):
        if unit.t[at] in (")", "]") and 0 <= unit.match[at] < at:
            at = unit.match[at]
        elif unit.t[at] == "(":
            return unit.tok(at - 1) != "for"
        at -= 1
    return False


def _is_own(unit: Unit, f: Function, name: str, is_array: bool) -> bool:
    declared = False
    places = unit.find(name)
    for k in places[bisect_left(places, f.params[0]) : bisect_right(places, f.body[1])]:
        if unit.is_member(k):
            continue
        d = unit.declaration(k)
        if d is not None:
            if d.reference:
                return False
            declared = True
        elif unit.tok(k - 1) == "&" and not _is_value(unit, k - 2):
            return False  # its address is taken
        elif is_array and unit.tok(k + 1) != "[":
            return False  # it becomes a pointer
    return declared


def _is_value(unit: Unit, k: int) -> bool:
    """Whether a token ends an expression, so that an operator behind it has two sides."""
    tok = unit.tok(k)
    return tok in _NOT_BEFORE_UNARY or (bool(tok) and (is_identifier(tok) or tok[0].isdigit()) and tok != "return")
