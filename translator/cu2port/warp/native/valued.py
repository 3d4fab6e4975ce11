"""The value of an expression, by the table of the walk, and what it must be."""

from __future__ import annotations

from cu2port.syntax.tree import Expr, parts
from cu2port.warp.native.reasons import Reason
from cu2port.warp.native.state import MIXED, SAME, Kind, State, T, Valued
from cu2port.warp.native.types import COUNT, casts, holds_threads, is_cast, keeps


def value(s: State, e: Expr) -> Valued:
    """What an expression is; refused where its value would depend on lanes in a way that is not known."""
    if s.refused is not None:
        return s, MIXED
    known = s.fn.values.get(type(e))
    if known is not None:
        s, t = known(s, e)
        return _cast(s, e, t) if is_cast(e) else (s, t)
    for x in parts(e):
        s, _ = plain(s, x)
    return s, SAME


def _cast(s: State, e: Expr, t: T) -> Valued:
    """What a value becomes in the casts around it."""
    for typ in casts(s.fn.unit, e):
        if t.kind is Kind.TID and not holds_threads(typ):
            t = SAME
        elif t.kind in (Kind.PART, Kind.GATHERED):
            if not keeps(t.op, t.typ, typ):
                return s.refuse(e.at, Reason.CAST, f"`{typ}`" if typ else "an unknown type", t.kind.value), MIXED
            t = t if t.typ == COUNT else t._replace(typ=typ)
        elif not (t.plain or t.kind is Kind.WHOLE) and not holds_threads(typ):
            return s.refuse(e.at, Reason.DIFFERS, t.kind.value), MIXED
    return s, t


def plain(s: State, e: Expr) -> Valued:
    """An expression that must be the same for any number of lanes."""
    s, t = value(s, e)
    return s if t.plain else s.refuse(e.at, Reason.DIFFERS, t.kind.value), t


def needed(s: State, e: Expr) -> State:
    """An expression whose value must be the same for any number of lanes, where it stands."""
    s, t = value(s, e)
    if t.plain or (t.kind is Kind.WHOLE and (t.everywhere or s.here.role == "thread")):
        return s
    return s.refuse(e.at, Reason.DIFFERS, t.kind.value)


def lift(s: State, e: Expr, *types: T) -> Valued:
    """What a value is that is made of others."""
    odd = [t for t in types if not t.plain]
    if not odd:
        return s, T(Kind.SAME, uniform=all(t.uniform for t in types))
    if all(t.kind is Kind.WHOLE for t in odd):
        return s, T(Kind.WHOLE, "", everywhere=all(t.everywhere for t in odd))
    return s.refuse(e.at, Reason.DIFFERS, odd[0].kind.value), MIXED
