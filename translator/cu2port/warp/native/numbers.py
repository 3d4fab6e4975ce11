"""Constants, masks, and expressions that are the same variable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from cu2port.facts.unit import Unit
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import (
    Binary,
    CallExpr,
    Expr,
    Index,
    Member,
    Name,
    Num,
    Unary,
    callee,
)
from cu2port.syntax.types import is_class
from cu2port.warp.model import constants, macro_expression
from cu2port.warp.native.groups import group
from cu2port.warp.native.headers import header, headers_of
from cu2port.warp.native.types import casts, converted, is_cast

_FULL = 0xFFFFFFFF
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]{2,}\Z|k[A-Z]\w+\Z")


@dataclass(frozen=True, slots=True)
class Numbers:
    """Constants and shapes of the expressions of one file. `local`: names that have values at a place; `alone`: the
    headers that it includes are not looked at."""

    unit: Unit
    local: Mapping[str, int] = field(default_factory=dict)
    alone: bool = False

    def assuming(self, values: Mapping[str, int]) -> Self:
        """The same where some names have values that are given."""
        return replace(self, local={**self.local, **values})

    @property
    def headers(self) -> tuple[Unit, ...]:
        """The headers that the file includes; none where they are not looked at."""
        return () if self.alone else self.unit.once(_headers)

    def is_of_file(self, name: str) -> bool:
        """Whether a name is said outside of functions and classes, so that it means one thing for all threads."""
        places = [i for i in self.unit.find(name) if self.unit.function_at(i) is None]
        return bool(places) and not any(a < i < b for i in places for a, b in self.unit.once(classes))

    # --- numbers --------------------------------------------------------------------------------------------------

    def named(self, name: str, depth: int = 4) -> int | None:
        """The value of a constant that the file defines once and without condition; None for any other name."""
        unit = self.unit
        if name in self.local:
            return self.local[name]
        ms = unit.macros.get(name, ())
        declared = [i for i in unit.find(name) if unit.in_directive(i) is None and unit.declares(i)]
        if ms:
            if len(ms) > 1 or declared or ms[0].params is not None or ms[0].stop == ms[0].first:
                return None
            if len(unit.conditions(ms[0].directive.start)) > (1 if unit.guard else 0):
                return None
            return self.fold(macro_expression(unit, ms[0]), depth - 1)
        at = self.unit.once(constants).get(name)
        if at is None and not declared:
            return self._of_headers(name)
        if at is None or any(i != at - 2 for i in declared):
            return None
        if len(unit.conditions(unit.p[at])) > (1 if unit.guard else 0) or unit.function_at(at) is not None:
            return None
        stop = at
        while stop < len(unit.t) and unit.t[stop] not in (";", ",", "}"):
            stop = max(stop, unit.match[stop]) + 1
        return self.fold(read_expression(unit, at, stop), depth - 1)

    def _of_headers(self, name: str) -> int | None:
        """The value of a constant that headers of the project define, each once and without condition, and all alike.

        Its name looks like a constant's."""
        if not _CONSTANT.match(name) or self.alone:
            return None
        found = [u for u in self.headers if name in u.macros or (name in u.words and name in constants(u))]
        undone = any(d.keyword == "undef" and u.tok(d.first + 2) == name for u in self.headers for d in u.directives)
        if not found or undone:
            return None
        values = set()
        for u in found:
            other = Numbers(u, alone=True)
            values.add(other.named(name) if other.is_of_file(name) else None)
        return values.pop() if len(values) == 1 else None

    def fold(self, e: Expr, depth: int = 4) -> int | None:
        """The value of a constant expression."""
        value = self._fold(e, depth)
        return converted(value, casts(self.unit, e)) if e.around else value

    def _fold(self, e: Expr, depth: int) -> int | None:
        if isinstance(e, Num):
            return e.value
        if isinstance(e, Name):
            if e.text == "UINT_MAX":
                return _FULL
            return self.named(e.text, depth) if depth > 0 and not e.targs and not e.qualified else None
        if isinstance(e, Unary) and e.op in ("-", "~"):
            v = self.fold(e.x, depth)
            return None if v is None else (-v if e.op == "-" else ~v)
        if isinstance(e, Binary):
            a, b = self.fold(e.a, depth), self.fold(e.b, depth)
            if a is None or b is None:
                return None
            if e.op in ("/", "%") and (b <= 0 or a < 0):
                return None
            if e.op in ("<<", ">>") and (a < 0 or not 0 <= b <= 31):
                return None
            table = {"+": a + b, "-": a - b, "*": a * b}
            if e.op in table:
                return table[e.op]
            if e.op in ("/", "%"):
                return a // b if e.op == "/" else a % b
            if e.op in ("<<", ">>"):
                return a << b if e.op == "<<" else a >> b
        return None

    def is_cudas_size(self, e: Expr) -> bool:
        """Whether a name is CUDA's `warpSize`."""
        return (
            isinstance(e, Name)
            and e.text == "warpSize"
            and not e.qualified
            and "warpSize" not in self.unit.macros
            and not any(self.unit.declares(i) for i in self.unit.find("warpSize"))
        )

    def number(self, e: Expr) -> int | None:
        """A constant's value, `warpSize` treated as what it is in CUDA."""
        if types := casts(self.unit, e):
            return converted(self.number(e._replace(around=())), types)
        if self.is_cudas_size(e):
            return 32
        if isinstance(e, CallExpr) and isinstance(e.callee, Member) and callee(e) in ("size", "num_threads"):
            return 32 if not e.args and group(self.unit, self.fold, e.callee.base) == "tile" else None
        if isinstance(e, Binary) and e.op in ("/", "-", "+", "*", ">>"):
            a, b = self.number(e.a), self.number(e.b)
            if a is None or b is None:
                return None
            if e.op in ("/", ">>"):
                if a < 0 or b < (e.op == "/") or (b > 31 and e.op == ">>"):
                    return None
                return a // b if e.op == "/" else a >> b
            return {"-": a - b, "+": a + b, "*": a * b}[e.op]
        return self.fold(e)

    def full(self, e: Expr) -> bool:
        """Whether a mask names all 32 lanes."""
        v = self.fold(e)
        return v is not None and v & _FULL == _FULL

    # --- shapes ---------------------------------------------------------------------------------------------------

    def shape(self, e: Expr) -> object:
        """An expression without its place; None where it may be no plain value."""
        if is_cast(e):
            return None
        if isinstance(e, Num):
            return self.unit.t[e.at]
        if isinstance(e, Name):
            return (e.text,) if not e.targs and not e.qualified else None
        if isinstance(e, Member):
            base = self.shape(e.base)
            return None if base is None else (".", base, e.name)
        if isinstance(e, Index):
            base, inner = self.shape(e.base), self.shape(e.inner)
            return None if base is None or inner is None else ("[]", base, inner)
        return None

    def same(self, a: Expr, b: Expr) -> bool:
        """Whether two expressions are the same variable."""
        x = self.shape(a)
        return x is not None and x == self.shape(b)


def _headers(unit: Unit) -> tuple[Unit, ...]:
    """The headers that a file includes."""
    unit.asked = True  # the answer depends on other files
    return tuple(header(path, path.stat().st_mtime_ns) for path in headers_of(unit))


def classes(unit: Unit) -> list[tuple[int, int]]:
    """The bodies of classes: the tokens of their brackets."""
    out = []
    for i in unit.find("struct", "class", "union"):
        k = i + 1
        while k < len(unit.t) and unit.t[k] not in ("{", ";", "(", ")", "=", "}"):
            k += 1
        if unit.tok(k) == "{" and unit.match[k] > k:
            out.append((k, unit.match[k]))
    return out


def is_own_space(unit: Unit, at: int, spaces: frozenset[str] = frozenset()) -> bool:
    """Whether the qualified name that ends at a token starts with a namespace or class of the file, with `::`, or with
    one of some namespaces."""
    first = unit.qualifier(at)
    return unit.t[first] in ("::", *spaces) or any(
        d.kind == "namespace" or is_class(unit.t, d) for d in unit.declarations.named(unit.t[first])
    )
