"""What expressions are when warps become wavefronts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cu2port.syntax.tree import (
    Binary,
    Expr,
    Index,
    Lambda,
    Member,
    Name,
    Num,
    Ternary,
    Unary,
    heads,
    root,
    statements,
    walk,
)
from cu2port.warp.native.read import read
from cu2port.warp.native.reasons import Reason
from cu2port.warp.native.state import MIXED, SAME, UNIFORM, Here, Kind, State, T, Valued
from cu2port.warp.native.sums import gathered
from cu2port.warp.native.valued import lift, plain, value

_BUILT_IN = frozenset({"blockDim", "gridDim", "blockIdx"})


def _perhaps(s: State, e: Expr, certainly: bool, small: bool = False) -> Valued:
    """What is evaluated by some threads only, unless `certainly` by all. `small`: in blocks of one warp."""
    here = s.here
    if not certainly or small:
        s = s._replace(here=Here(certainly and here.together, here.role, small or here.small))
    s, t = value(s, e)
    return s._replace(here=here), t


def _name(s: State, e: Name) -> Valued:
    s = s.note("understood", e.at)
    if e.qualified or e.text not in s.env:
        for x in e.targs:
            s, _ = value(s, x)
        local = e.text in s.fn.unit.macros or e.text in s.fn.bound
        outside = not local and s.fn.facts.is_of_file(e.text)
        return s, T(Kind.SAME, uniform=outside or s.fn.facts.fold(e) is not None)
    if e.text in s.arrays:
        s = s.alias(e.text, e.at)
    t = s.env[e.text]
    return s, SAME if t.kind is Kind.WHOLE and s.here.role == "thread" else t


def _member(s: State, e: Member) -> Valued:
    if read(s, e, "tid") is not None:
        return s, T(Kind.TID)
    if isinstance(e.base, Name) and e.base.text in _BUILT_IN and e.base.text not in s.env:
        return s, UNIFORM
    s, t = plain(s, e.base)
    return s, T(Kind.SAME, uniform=t.uniform)


def _binary(s: State, e: Binary) -> Valued:
    if read(s, e, "tid") is not None:
        return s, T(Kind.TID)
    s, a = value(s, e.a)
    s, b = _perhaps(s, e.b, e.op not in ("&&", "||") or a.uniform)
    return lift(s, e, a, b)


def _ternary(s: State, e: Ternary) -> Valued:
    if (got := gathered(s, e)) is not None:
        return got
    s, cond = value(s, e.cond)
    s, a = _perhaps(s, e.a, cond.uniform, read(s, e.cond, "small") is not None)
    s, b = _perhaps(s, e.b, cond.uniform, read(s, e.cond, "large") is not None)
    return lift(s, e, cond, a, b)


def _unary(s: State, e: Unary) -> Valued:
    if e.op == "&":
        return _address(s, e)
    s, t = value(s, e.x)
    if e.op not in ("++", "--", "p++", "p--"):
        return lift(s, e, t._replace(uniform=t.uniform and e.op != "*"))
    if not t.plain or s.here.by_lanes:
        return s.refuse(e.at, Reason.CHANGED, t.kind.value), MIXED
    return s.set(e.x.text, SAME) if isinstance(e.x, Name) else s, SAME


def _address(s: State, e: Unary) -> Valued:
    name, inner = root(e.x), e.x
    if isinstance(inner, Index) and isinstance(inner.base, Name) and name not in s.arrays:
        s, base = value(s, inner.base)
        s, place = plain(s, inner.inner)
        s, t = lift(s, e, base, place)
    else:
        if isinstance(inner, Index):
            s, _ = plain(s, inner.inner)
        t = UNIFORM if name not in s.env or name in s.arrays else SAME
    if not isinstance(inner, Index):
        s = s.lost(name, e.at)
    elif name in s.arrays:
        s = s.alias(name, e.at)
    return s, t


def _index(s: State, e: Index) -> Valued:
    if isinstance(e.base, Name) and e.base.text in s.arrays:
        s = s.note("understood", e.base.at)
        t = s.get(e.base.text)
        if t.kind is Kind.FIRST_SET and isinstance(e.inner, Num) and e.inner.value == 0:
            return s, SAME
        if not t.plain:
            return s.refuse(e.at, Reason.READ_HOLDING, e.base.text, t.kind.value), MIXED
        return plain(s, e.inner)[0], SAME
    s, base = plain(s, e.base)
    s, place = plain(s, e.inner)
    if s.here.role == "first" and not (base.uniform and place.uniform):
        s = s.refuse(e.at, Reason.MORE_LANES)
    return s, SAME


def _lambda(s: State, e: Lambda) -> Valued:
    for x in (x for y in statements(e.body) for h in heads(y) for x in walk(h)):
        if isinstance(x, Name):
            s = s.lost(x.text, x.at)
    return s, SAME


#: By kind of expression. Calls and assignments come with the modules that know them; of others the parts are looked at.
VALUES: Mapping[type, Callable[[State, Any], Valued]] = {
    Num: lambda s, _: (s, UNIFORM),
    Name: _name,
    Member: _member,
    Binary: _binary,
    Ternary: _ternary,
    Unary: _unary,
    Index: _index,
    Lambda: _lambda,
}
