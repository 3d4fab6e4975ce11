"""Types of what a file declares: variables, members, functions, names of types.

A type that has a name but is not known, such as a template's `T`, is that name after a `?`: two such are the same type
or cannot be compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cu2port.core.late import regex
from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.tree import Cast
from cu2port.syntax.types import alias_of, builtin, is_class, name_of
from cu2port.syntax.words import DECLARATOR_WORDS, PLACEHOLDERS

RANK = {"int": 1, "unsigned int": 1, "long": 2, "unsigned long": 2, "long long": 3, "unsigned long long": 3}
SMALL = frozenset({"bool", "char", "signed char", "unsigned char", "short", "unsigned short"})
FLOATING = frozenset({"float", "double"})
ARITHMETIC = frozenset(RANK) | FLOATING  # after promotion
VECTOR = regex(r"(u?)(char|short|int|float|double)[1-4]\Z|dim3\Z")
_DEEPEST = 64  # names of types that stand for one another
_OBJECTS = frozenset({"variable", "parameter", "member", "template parameter"})


class Typed(NamedTuple):
    """A type. `name`: as libclang spells an arithmetic one, a `?` before another's, "" if it is not known; `depth`:
    pointers and arrays; `owner`: the template parameter that it is, or the class, as far as the file declares it."""

    name: str = ""
    depth: int = 0
    owner: Declaration | None = None

    @property
    def dependent(self) -> bool:
        """Whether it is a template's parameter."""
        return self.owner is not None and self.owner.kind == "template parameter"


UNKNOWN = Typed()


def one(found: Iterable[Typed]) -> Typed:
    """The type that all agree on."""
    kinds = {x if x.dependent else x._replace(owner=None): x for x in found}
    return next(iter(kinds.values())) if len(kinds) == 1 else UNKNOWN


def names_class(unit: Unit, found: Typed, at: int) -> bool:
    """Whether a type is a class, of CUDA's or one that is visible at a token: no number that another file names."""
    name = found.name.removeprefix("?")
    if not name or name == found.name:
        return False
    d = unit.declarations.visible(name, at)
    return unit.catalog.get(name) is not None or (d is not None and is_class(unit.t, d))


def macro(unit: Unit, d: Declaration) -> Macro | None:
    """The macro that is declared there; None for one with parameters."""
    return next((m for m in unit.macros.get(d.name, ()) if m.directive.first + 2 == d.at and m.params is None), None)


class NamedTypes:
    """Types of the names of one file."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._declared: dict[int, Typed] = {}
        self._named: dict[int, Typed] = {}
        self._members: dict[tuple[int, str], Typed] = {}
        self._open = 0  # names of types that are looked for

    def declared(self, d: Declaration) -> Typed:
        """The type of a variable, a parameter or a member, or what a function returns."""
        found = self._declared.get(d.at)
        if found is None:
            found = self._declared[d.at] = self._of_declaration(d)
        return found

    def _of_declaration(self, d: Declaration) -> Typed:
        bits = d.kind == "member" and self._unit.tok(d.at + 1) == ":"  # its number decides how it is promoted
        if bits or d.scope.kind == "macro" or d.kind not in _OBJECTS | {"function"}:
            return UNKNOWN
        found = self._spelled(d.type_first, d.type_stop, d.at, d.pointers + d.arrays)
        if found.dependent and d.kind in ("function", "template parameter"):
            return UNKNOWN
        return found

    def cast(self, cast: Cast) -> Typed:
        """The type that an expression is converted to."""
        return self._written(cast.type_first, cast.type_stop, cast.first)

    def member(self, base: Typed, name: str) -> Typed:
        """The type of a member of a value, of a class of the file or of CUDA's vectors."""
        if base.dependent:
            return UNKNOWN
        if base.owner is not None:
            key = base.owner.at, name
            if key not in self._members:
                found = [d for d in self._unit.declarations.members(base.owner, name) if d.kind == "member"]
                self._members[key] = one(x if not (x := self.declared(d)).dependent else UNKNOWN for d in found)
            return self._members[key]
        vector = VECTOR.match(base.name.removeprefix("?"))
        if vector is None:
            return UNKNOWN
        return Typed("unsigned int" if not vector[2] else f"unsigned {vector[2]}" if vector[1] else vector[2])

    def _written(self, first: int, stop: int, at: int) -> Typed:
        """The type that tokens [first, stop) name, pointers among them."""
        t, last = self._unit.t, stop
        while last > first and t[last - 1] in DECLARATOR_WORDS:
            last -= 1
        return self._spelled(first, last, at, t[last:stop].count("*"))

    def _spelled(self, first: int, stop: int, at: int, pointers: int = 0) -> Typed:
        """The type that tokens [first, stop) name for a use at token `at`."""
        words = name_of(self._unit.t, first, stop)
        found = self.named(words, at) if words else UNKNOWN
        return found._replace(depth=found.depth + pointers)

    def named(self, words: tuple[str, ...], at: int) -> Typed:
        """The type of a name, or of the words of a built-in type, at token `at`."""
        d = self._unit.declarations.visible(words[0], at) if len(words) == 1 else None
        if d is not None:
            if d.at not in self._named:
                self._named[d.at] = UNKNOWN  # while it is looked for: a name that stands for itself
                self._open += 1
                others = [x for x in self._unit.declarations.alternatives(d) if not self._repeats(x)]
                self._named[d.at] = one(self._meant(x) if self._open < _DEEPEST else UNKNOWN for x in others)
                self._open -= 1
            return self._named[d.at]
        found = builtin(words)
        if found:
            small = found in SMALL or found in ARITHMETIC
            return Typed(found) if small else UNKNOWN
        return Typed(f"?{'::'.join(words)}") if words[-1] not in PLACEHOLDERS else UNKNOWN

    def _repeats(self, d: Declaration) -> bool:
        """`typedef struct A {} A;`"""
        return d.kind == "type" and name_of(self._unit.t, d.type_first, d.type_stop) == (d.name,)

    def _meant(self, d: Declaration) -> Typed:
        """What a declaration makes a name of a type stand for."""
        t = self._unit.t
        if d.kind == "macro":
            body = macro(self._unit, d)
            return self._written(body.first, body.stop, d.at) if body is not None else UNKNOWN
        if d.kind == "template parameter":
            return Typed(f"?{d.name}", 0, d) if not name_of(t, d.type_first, d.type_stop) else UNKNOWN
        first, stop = alias_of(t, d)
        if first < stop and not ("{" in t[first:stop] and not name_of(t, first, stop)):
            found = self._written(first, stop, d.at)
            return found._replace(depth=found.depth + d.pointers + d.arrays)
        return Typed(f"?{d.name}", 0, d) if is_class(t, d) or first < stop else UNKNOWN
