"""Memory in kernels with a row for each warp: elements that lanes write must lie apart, whichever lane comes to them.

In CUDA elements i and i + 32 are one lane's, one after the other: it may gather in `t[i % 32]`, or read in element i
what it wrote in element i - 32. On more lanes two lanes do that at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cu2port.unit import Unit
from cu2port.warp.native.idioms import Refused
from cu2port.warp.tree import (
    Binary,
    CallExpr,
    Expr,
    Index,
    Member,
    Name,
    Other,
    Ternary,
    Unary,
    parts,
    root,
    walk,
)

Form = tuple[object, ...] | str


@dataclass(slots=True)
class Memory:
    """What elements read and write. `element`: the loop's variable and what tells which lane comes to which element;
    `stands`: pointers, by the pointer that they were made of; `version`: where variables were set last. `read` and
    `written`: by pointer and by token, the places."""

    unit: Unit
    element: dict[str, str] = field(default_factory=dict)
    stands: dict[str, str] = field(default_factory=dict)
    pointers: set[str] = field(default_factory=set)  # what addresses are made of, also as numbers
    version: dict[str, int] = field(default_factory=dict)
    items: dict[int, str] = field(default_factory=dict)  # expressions that are an element's number or place, by token
    read: dict[str, dict[int, set[Form]]] = field(default_factory=dict)
    written: dict[str, dict[int, set[Form]]] = field(default_factory=dict)

    def origin(self, e: Expr) -> str:
        name = root(e)
        if name not in self.pointers:  # `row + out`
            within = (e.x,) if isinstance(e, Unary) else (e.base, e.inner) if isinstance(e, Index) else (e,)
            name = next((n for x in within for n in _addresses(x) if n in self.pointers), name)
        return self._first(name)

    def _first(self, name: str) -> str:
        while name in self.stands:
            name = self.stands[name]
        return name

    def made(self, name: str, e: Expr, pointer: bool) -> None:
        """A variable is set to an expression: it stands for the memory of all pointers that this may be."""
        found = [x for x in _addresses(e) if x in self.pointers]
        if pointer and not found and root(e) not in ("", name):
            found = [root(e)]
        for x in found:
            one, other = self._first(name), self._first(x)
            if one != other:
                self.stands[one] = other
        if found or pointer:
            self.pointers.add(name)

    def form(self, e: Expr) -> Form:
        """An expression without its place, the loop's variable by one name whatever loop it is of."""
        if e.at in self.items and isinstance(e, (Binary, Index)):
            return f"i{self.items[e.at]}"
        if isinstance(e, Name):
            if e.text in self.element:
                return f"i{self.element[e.text]}"
            return f"={e.text}#{self.version.get(e.text, 0)}"
        if isinstance(e, Binary):
            return (e.op, self.form(e.a), self.form(e.b))
        if isinstance(e, Index):
            return ("[]", self.form(e.base), self.form(e.inner))
        if isinstance(e, Member):
            return (".", e.name, self.form(e.base))
        if isinstance(e, Unary):
            return (e.op, self.form(e.x))
        return tuple(self.unit.t[x.at] for x in walk(e))

    def apart(self, e: Expr, rows: set[str]) -> bool:
        """Whether a place differs for any two elements: the element's number in it once, shifted or scaled by what is
        the row's. `rows`: the names that may shift it."""
        if isinstance(e, Member):
            return self.apart(e.base, rows)
        if isinstance(e, Index) and e.at in self.items:
            return True
        if isinstance(e, Index):
            a, b = self._number(e.base, rows), self._number(e.inner, rows)
            return a + b == 1
        if isinstance(e, Unary) and e.op == "*":
            return self._number(e.x, rows) == 1
        return isinstance(e, Binary) and self._number(e, rows) == 1

    def _number(self, e: Expr, rows: set[str]) -> int:
        """How often the element's number is in an expression, 2 for more or where that is not certain."""
        if isinstance(e, Name):
            return 1 if e.text in self.element else 0 if e.text in rows else 2
        if isinstance(e, Binary) and e.at in self.items:
            return 1
        if isinstance(e, Binary) and e.op in ("+", "-", "*"):
            return min(2, self._number(e.a, rows) + self._number(e.b, rows))
        inside = any(isinstance(x, Name) and (x.text in self.element or x.text not in rows) for x in walk(e))
        return 2 if inside else 0

    def note(self, e: Expr, write: bool) -> None:
        """Something is read or written through a pointer."""
        into = self.written if write else self.read
        into.setdefault(self.origin(e), {}).setdefault(e.at, set()).add(self.form(e))

    def check(self) -> None:
        """Raises Refused where an element may read what another one wrote."""
        for name, places in self.written.items():
            found = [*places.items(), *self.read.get(name, {}).items()]
            if any(forms != found[0][1] for _, forms in found):
                raise Refused(
                    max(at for at, _ in found), f"`{name}` is written by elements and used at another place too"
                )


def _addresses(e: Expr) -> list[str]:
    """The names whose own values an expression is made of, not what is behind them."""
    if isinstance(e, Name):
        return [e.text]
    if isinstance(e, Unary) and e.op == "&":
        return [root(e.x)]
    if isinstance(e, (Binary, Unary, Ternary, Other)) and getattr(e, "op", "") != "*":
        return [n for x in parts(e) for n in _addresses(x)]
    if isinstance(e, Binary):
        return [n for x in (e.a, e.b) for n in _addresses(x)]
    return _addresses(e.args[0]) if isinstance(e, CallExpr) and len(e.args) == 1 else []
