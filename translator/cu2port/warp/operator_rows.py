"""Tables of cases: what an operator makes of two abstract values, and the role of a literal in it.

A `Row` is one case of operands x and y: operators, kinds of both, a condition; then the literal that is used, in which
role; then the result. The first row with a result decides. Rows without a result only record a role.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from cu2port.warp.roles import Record, Role, is_mask, is_size
from cu2port.warp.values import UNIFORM, Kind, Step, V

#: x, y, token of the operator, operator -> the value; None: no value, and no further row is tried.
Result = Callable[[V, V, int, str], V | None]

OF_X, OF_Y, LARGER = -1, -2, -3  # how a result varies


class Row(NamedTuple):
    """One case. `x`, `y`: kinds, empty for any; `role`: of the literal, also by operator; `lane`: whether the literal
    counts lanes (see `Record`); `literal`: the operand with the literal; `side`: "left" or "right" if x must be that
    operand; `other`: the kind of the other operand as it is recorded, None for its own."""

    ops: str
    x: Collection[Kind] = ()
    y: Collection[Kind] = ()
    when: Callable[[V, V], bool] | None = None
    role: Role | Mapping[str, Role] | None = None
    lane: bool | None = None
    give: Result | None = None
    literal: str = "y"
    side: str = ""
    other: Kind | None = None


class Table:
    """Rows in the order in which they are tried."""

    def __init__(self, *rows: Row) -> None:
        ops = {op for row in rows for op in row.ops.split()}
        self._rows = {
            (op, kind): tuple(row for row in rows if op in row.ops.split() and (not row.x or kind in row.x))
            for op in ops
            for kind in Kind
        }

    def ordered(self, op: str, a: V, b: V, at: int, use: Record) -> tuple[bool, V | None]:
        """Whether a row decides `a op b`, and the value; x is a. `at`: token of the operator."""
        return self._first(op, a, b, at, use, ("left", "right") if a is b else ("left",))

    def either(self, op: str, a: V, b: V, at: int, use: Record) -> tuple[bool, V | None]:
        """The same; x is first a, then b."""
        sides = ("left", "right") if a is b else ("left",)
        done, value = self._first(op, a, b, at, use, sides)
        if done:
            return done, value
        return self._first(op, b, a, at, use, ("left", "right") if a is b else ("right",))

    def _first(self, op: str, x: V, y: V, at: int, use: Record, sides: Collection[str]) -> tuple[bool, V | None]:
        for row in self._rows.get((op, x.kind), ()):
            if (
                (row.y and y.kind not in row.y)
                or (row.side and row.side not in sides)
                or (row.when is not None and not row.when(x, y))
            ):
                continue
            if row.role is not None:
                role = row.role if isinstance(row.role, Role) else row.role[op]
                literal, other = (y, x) if row.literal == "y" else (x, y)
                use(literal, role, row.lane, other if row.other is None else other._replace(kind=row.other))
            if row.give is not None:
                return True, row.give(x, y, at, op)
        return False, None


def to(kind: Kind | None = None, vary: int = OF_X, src: str = "", why: str = "x", step: str = "") -> Result:
    """A result. `kind`: None for that of x; `vary`: a constant of `values`, OF_X, OF_Y or LARGER; `src`: operands whose
    literals it has, in this order; `why`: operands whose reason it has, the first one with any; `step`: a further
    reason, with `{}` for the operator and its number."""

    def give(x: V, y: V, at: int, op: str) -> V:
        varies = {OF_X: x.vary, OF_Y: y.vary, LARGER: max(x.vary, y.vary)}.get(vary, vary)
        literals = tuple(k for side in src for k in (x if side == "x" else y).src)
        reason: Step | None = None
        for side in why:
            reason = reason or (x if side == "x" else y).why
        if step:
            reason = Step(at, step.format(shown(op, y)), reason)
        return V(kind or x.kind, varies, None, literals, reason)

    return give


def left_as_it_is(x: V, _y: V, _at: int, _op: str) -> V:
    """The result is x."""
    return x


def no_value(_x: V, _y: V, _at: int, _op: str) -> None:
    """No row after this one is tried."""


def shown(op: str, b: V) -> str:
    """An operator and its number as a reason shows them."""
    return f"`{op} {b.num if b.num is not None else 'warpSize'}`"


def uniform(_: V, y: V) -> bool:
    """Whether y is the same for the block."""
    return y.vary == UNIFORM


def literal_32(_: V, y: V) -> bool:
    """Whether y is a literal 32."""
    return y.num == 32 and bool(y.src)


def literal_31(_: V, y: V) -> bool:
    """Whether y is a literal 31."""
    return y.num == 31 and bool(y.src)


def has_literal(_: V, y: V) -> bool:
    """Whether the number of y comes from a literal."""
    return bool(y.src)


def has_number(_: V, y: V) -> bool:
    """Whether y is constant."""
    return y.num is not None


def size_or_mask(_: V, y: V) -> bool:
    """Whether y is a warp size, or that less one."""
    return is_size(y) or is_mask(y)
