"""Conditions of native code: who comes where one holds."""

from __future__ import annotations

from cu2port.model import Edit
from cu2port.warp.native.lane_forms import Lanes
from cu2port.warp.native.lanes import Here, axis_of
from cu2port.warp.tree import (
    Binary,
    Expr,
    Unary,
)


class Conditions(Lanes):
    """What conditions say about lanes, at a place of a function."""

    def _condition(self, e: Expr, here: Here) -> tuple[str, dict[tuple[int, int], Edit]]:
        """Who comes where a condition holds: "leader", "first", "slots", "thread"; "" if lanes do not decide."""
        if isinstance(e, Binary) and e.op == "&&":
            a, left = self._condition(e.a, here)
            b, right = self._condition(e.b, here)
            axes = {self._zero_axis(e.a), self._zero_axis(e.b)}
            if self.rows and not self.deep and axes == {"x", "y"}:
                return "thread", {}
            if {a, b} == {"leader", "first"}:
                return "thread", {**left, **right}
            if "thread" in (a, b) and not ({a, b} - {"thread", ""}):
                for x, tag in ((e.a, a), (e.b, b)):
                    if tag == "":
                        self._plain(x)
                return "thread", {**left, **right}
            return "", {}
        zero: Expr | None = None
        if isinstance(e, Unary) and e.op == "!":
            zero = e.x
        elif isinstance(e, Binary) and e.op == "==":
            zero = e.a if self.steps.fold(e.b) == 0 else e.b if self.steps.fold(e.a) == 0 else None
        if zero is not None:
            if self._is_tid(zero):
                return "thread", {}
            edits = self._lane(zero)
            if edits is not None:
                self._spot(zero)
                return ("thread" if here.role == "first" else "leader"), edits
            edits = self._warp(zero)
            if edits is not None:
                self._spot(zero)
                return "first", edits
            return "", {}
        if isinstance(e, Binary) and e.op == "<":
            in_row, in_warp = self._is_tid(e.a), self._lane(e.a) is not None
            if in_row and self.steps.number(e.b) == 32 and self._size(e.b) is not None:
                got = self._size(e.b)
                return "first", got if got is not None else {}
            if (in_row or in_warp) and (bound := self._count(e.b, rounds=True)) is not None:
                self._spot(e)
                return "slots", {**bound, **(self._lane(e.a) or {})}
        return "", {}

    def _is_sure(self, e: Expr) -> bool:
        """Whether the first thread surely comes where a condition lets nobody else in."""
        if isinstance(e, Binary) and e.op == "&&":
            return self._is_sure(e.a) and self._is_sure(e.b)
        return bool(self._zero_axis(e) or self._condition(e, Here())[0])

    def _zero_axis(self, e: Expr) -> str:
        """The axis of `threadIdx.x == 0` and the like."""
        if isinstance(e, Unary) and e.op == "!":
            return axis_of(e.x, "threadIdx")
        return axis_of(e.a, "threadIdx") if isinstance(e, Binary) and e.op == "==" and self.steps.fold(e.b) == 0 else ""
