"""Patterns of the table compared with code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.syntax.statements import read_body, read_expression
from cu2port.syntax.tree import (
    Assign,
    Binary,
    CallExpr,
    Decl,
    Eval,
    Expr,
    If,
    Loop,
    Member,
    Name,
    Num,
    Stmt,
    Unary,
    parts,
    single,
)
from cu2port.warp.native.types import is_cast

#: Holes of a pattern and what stands there, in text order of the pattern. The callee as a hole holds the whole call.
Bound = tuple[tuple[str, Expr], ...]
_MIRROR = {**{x: x for x in ("+", "*", "|", "&", "^", "==", "!=", "&&")}, "<": ">", ">": "<", "<=": ">=", ">=": "<="}


@cache
def expression(text: str) -> Expr:
    """A pattern, read as code is."""
    unit = Unit(text, load_catalog())
    return read_expression(unit, 0, len(unit.t))


@cache
def statement(text: str) -> Stmt:
    """A pattern of a statement."""
    unit = Unit(text, load_catalog())
    (only,) = read_body(unit, 0, len(unit.t)).body
    return only


def is_hole(e: Expr) -> bool:
    """Whether a pattern leaves it open what stands at a place."""
    return isinstance(e, Name) and e.text.isupper()


def matches(p: Expr, e: Expr) -> Iterator[Bound]:
    """The ways in which an expression is what a pattern says. Casts count, except for those of the whole, and of what
    is in a hole."""
    if isinstance(p, Name) and p.text.isupper():
        yield ((p.text, e),)
    elif type(p) is not type(e):
        return
    elif isinstance(p, CallExpr) and isinstance(e, CallExpr) and isinstance(p.callee, Name) and is_hole(p.callee):
        for got in _all(p.args, e.args):
            yield ((p.callee.text, e), *got)
    elif isinstance(p, Binary) and isinstance(e, Binary):
        if p.op == e.op:
            yield from _all((p.a, p.b), (e.a, e.b))
        if _MIRROR.get(p.op) == e.op:
            yield from _all((p.a, p.b), (e.b, e.a))
    elif _label(p) == _label(e):
        yield from _all(parts(p), parts(e))


def matches_statement(p: Stmt | None, s: Stmt | None) -> Iterator[Bound]:
    """The ways in which a statement is what a pattern says. A block of one statement is that statement."""
    p, s = (single(x) if x is not None else None for x in (p, s))
    if p is None or s is None:
        if p is s:
            yield ()
    elif isinstance(p, Eval) and isinstance(s, Eval) and s.end >= 0:
        yield from matches(p.expr, s.expr)
    elif isinstance(p, Decl) and isinstance(s, Decl) and not (s.dims or s.pointer or s.shared):
        if p.init is not None and s.init is not None:
            yield from _all((Name(p.at, p.name), p.init), (Name(s.at, s.name), s.init))
    elif isinstance(p, If) and isinstance(s, If):
        yield from _joined(matches(p.cond, s.cond), (p.then, p.other), (s.then, s.other))
    elif isinstance(p, Loop) and isinstance(s, Loop) and p.kind == s.kind and None not in (s.cond, s.step):
        heads = _all(_heads(p), _heads(s))
        yield from _joined(heads, (p.init, p.body), (s.init, s.body))


def _joined(heads: Iterator[Bound], ps: Sequence[Stmt | None], ss: Sequence[Stmt | None]) -> Iterator[Bound]:
    """The ways in which heads and statements inside are what a pattern says."""
    first, second = zip(ps, ss, strict=True)
    for head in heads:
        for a in matches_statement(*first):
            for b in matches_statement(*second):
                yield (*head, *a, *b)


def _heads(s: Loop) -> tuple[Expr, ...]:
    return tuple(x for x in (s.cond, s.step) if x is not None)


def _all(ps: Sequence[Expr], es: Sequence[Expr]) -> Iterator[Bound]:
    if len(ps) != len(es):
        return
    if not ps:
        yield ()
        return
    if is_cast(es[0]) and not is_hole(ps[0]):
        return
    for head in matches(ps[0], es[0]):
        for rest in _all(ps[1:], es[1:]):
            yield (*head, *rest)


def _label(e: Expr) -> object:
    """What an expression is, less its parts."""
    if isinstance(e, Name):
        return e.text, e.qualified, e.targs
    if isinstance(e, Num):
        return e.value
    if isinstance(e, Unary):
        return e.op.removeprefix("p")
    return e.name if isinstance(e, Member) else e.op if isinstance(e, (Assign, Binary)) else ""
