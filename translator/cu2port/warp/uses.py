"""What is found out of literals while a file is interpreted: their uses, and arrays in shared memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from cu2port.syntax.tree import Expr, Member, Name, walk
from cu2port.warp.roles import Role
from cu2port.warp.values import Kind, Step, V

WIDE = 32
WATCHED = frozenset({32, 31, 5})
TOLD = frozenset(
    {
        Kind.LANE,
        Kind.WARP,
        Kind.GLOBAL_WARP,
        Kind.MASK,
        Kind.COUNT,
        Kind.THREAD,
        Kind.LINEAR,
        Kind.GLOBAL,
        Kind.LANE_BIT,
    }
)


def names_in(e: Expr) -> str:
    """The names of an expression in a row: what two expressions are about the same by."""
    out: dict[str, None] = {}
    for x in walk(e):
        if isinstance(x, Name):
            out[x.text] = None
        elif isinstance(x, Member):
            out["." + x.name] = None
    return " ".join(out)


class Use(NamedTuple):
    """One use of a literal. `lane`: whether it counts lanes; None: only if the function works with warps.
    `hint`: the variable that the result goes to; `function`: where; `about`: the names in what it meets there;
    `named`: a name stands for the literal there; `first`: in a branch that only one warp takes."""

    role: Role
    lane: bool | None
    other: Kind
    why: Step | None
    hint: str
    function: str
    about: str = ""
    named: bool = False
    first: bool = False


@dataclass(slots=True)
class Array:
    """An array in shared memory: the literals in its sizes, and what it is indexed with, by dimension."""

    at: int
    name: str
    dims: list[V]
    used: list[set[Kind]] = field(default_factory=list)
