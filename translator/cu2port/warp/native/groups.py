"""Cooperative groups of a function, by the table: the block, tiles of a warp."""

from __future__ import annotations

from collections.abc import Callable

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.tree import CallExpr, Expr, Name, callee
from cu2port.warp.native.patterns import GROUPS

_NO_TYPE = frozenset({"return", "else", "case"})
_OF_ITS_OWN = ("auto", ">")  # before a variable that stays what it is set to first; `thread_group` may be set again


def group(unit: Unit, number: Callable[[Expr], int | None], e: Expr) -> str:
    """What group of threads an expression is, as its row says it; "" if it is none. `number`: values of constants."""
    if isinstance(e, CallExpr):
        return next((g.means for g in GROUPS if callee(e) == g.maker and not e.args and not g.size), "")
    if not isinstance(e, Name) or (at := _declared(unit, e)) < 0:
        return ""
    before = unit.tok(at - 2) if unit.tok(at - 1) == "&" else unit.tok(at - 1)
    k = at + 2
    while unit.tok(k + 1) == "::":
        k += 2
    for g in GROUPS:
        if g.typ and before == g.typ:
            return g.means
        initialised = unit.tok(at - 1) in _OF_ITS_OWN and unit.tok(at + 1) == "=" and unit.tok(k) == g.maker
        if initialised and (not g.size or _argument(unit, number, k + 1) == g.size):
            return g.means
    return ""


def _argument(unit: Unit, number: Callable[[Expr], int | None], at: int) -> int | None:
    """The only argument of a template, whose `<` is a token: a number or a constant."""
    if (unit.tok(at), unit.tok(at + 2)) != ("<", ">"):
        return None
    size = Name(at + 1, unit.t[at + 1])
    return number(size) if is_identifier(size.text) else 32 if size.text == "32" else None


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
