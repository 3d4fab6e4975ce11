"""What happens in device code that lanes must agree on, and under which conditions it happens."""

from __future__ import annotations

from typing import NamedTuple

from cu2port.syntax.tree import CallExpr, Expr, Loop, Stmt
from cu2port.warp.values import Kind, V


class Frame(NamedTuple):
    """A branch that is being taken. `at`: the token of its `if`, `switch`, `for`...; `arm`: which side (0: then,
    1: else, a case's token); `cond`: who takes it (of the condition as written, `arm` 1 has the others)."""

    at: int
    arm: int
    cond: V

    @property
    def who(self) -> Kind:
        """Whom the frame lets through."""
        if self.arm == 1 and self.cond.kind in (Kind.ONE, Kind.ROW, Kind.LEADER):
            return Kind.SOME if self.cond.kind is Kind.LEADER else Kind.TEST
        return self.cond.kind


class Event(NamedTuple):
    """`kind`: barrier, group-barrier, named-barrier, lanes (a cross-lane operation), call, atomic, store, asm.

    `frames`: the branches around it, outermost first; `loops`: tokens of the loops around it. `name`: what is called
    or written; `values`: of the arguments."""

    kind: str
    at: int
    name: str
    frames: tuple[Frame, ...]
    loops: tuple[int, ...]
    values: tuple[V, ...] = ()
    node: CallExpr | None = None


class LoopSeen(NamedTuple):
    """A loop with what was known where it begins. `cond`: its condition's value; `values`: the values of expressions
    in its condition and its breaking tests, by token."""

    node: Loop
    frames: tuple[Frame, ...]
    loops: tuple[int, ...]
    values: dict[int, V]


class BlockSeen(NamedTuple):
    """Statements in a row, with the branches and loops around them."""

    body: tuple[Stmt, ...]
    frames: tuple[Frame, ...]
    loops: tuple[int, ...]


class Store(NamedTuple):
    """A write to memory: the name it starts from, its index or pointer, and what is written where that is a number."""

    at: int
    name: str
    target: Expr
    frames: tuple[Frame, ...]
    loops: tuple[int, ...]
    value: int | None = None
