"""Cooperative groups of a function: the block, whose `sync` is a barrier, and tiles of a warp, which shuffle."""

from __future__ import annotations

from collections.abc import Callable

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.tree import CallExpr, Expr, Member, Name, callee

_NO_TYPE = frozenset({"return", "else", "case"})


def is_barrier(unit: Unit, e: Expr) -> bool:
    """Whether an expression is a barrier of the block: `__syncthreads()`, `block.sync()`, `cg::sync(block)`."""
    if not isinstance(e, CallExpr) or callee(e) not in ("__syncthreads", "sync"):
        return False
    if callee(e) == "__syncthreads":
        return not e.args
    if isinstance(e.callee, Member):
        return not e.args and is_block(unit, e.callee.base)
    return isinstance(e.callee, Name) and e.callee.qualified and len(e.args) == 1 and is_block(unit, e.args[0])


def is_block(unit: Unit, e: Expr) -> bool:
    """Whether an expression is the group of all threads of the block."""
    if isinstance(e, CallExpr):
        return callee(e) == "this_thread_block" and not e.args
    if not isinstance(e, Name) or (at := _declared(unit, e)) < 0:
        return False
    if unit.tok(at - 1) == "thread_block" or (unit.tok(at - 2), unit.tok(at - 1)) == ("thread_block", "&"):
        return True
    k = at + 2
    while unit.tok(k + 1) == "::":
        k += 2
    return unit.tok(at - 1) == "auto" and unit.tok(at + 1) == "=" and unit.tok(k) == "this_thread_block"


def is_tile(unit: Unit, number: Callable[[Expr], int | None], e: Expr) -> bool:
    """Whether a variable is a tile of a warp: `t = tiled_partition<32>(...)`."""
    if not isinstance(e, Name) or (at := _declared(unit, e)) < 0 or unit.tok(at + 1) != "=":
        return False
    k = at + 2
    while unit.tok(k + 1) == "::":
        k += 2
    if unit.tok(k) != "tiled_partition" or unit.tok(k + 1) != "<" or unit.tok(k + 3) != ">":
        return False
    size = Name(k + 2, unit.t[k + 2])
    return unit.t[k + 2] == "32" or (is_identifier(size.text) and number(size) == 32)


def _declared(unit: Unit, e: Name) -> int:
    """The token of the only declaration of a name in the function where it stands; -1 if there is none."""
    f = unit.function_at(e.at)
    if f is None or e.qualified or e.targs or e.text in unit.macros:
        return -1
    found = [
        i
        for i in unit.find(e.text)
        if f.params[0] < i < f.body[1]
        and ((is_identifier(unit.t[i - 1]) and unit.t[i - 1] not in _NO_TYPE) or unit.t[i - 1] in (">", "&"))
    ]
    return found[0] if len(found) == 1 else -1
