"""Loops and branches as trees: what they change, how they are left, and what is known where ways meet."""

from __future__ import annotations

from cu2port.syntax.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Expr,
    If,
    Jump,
    Loop,
    Name,
    Num,
    Stmt,
    Unary,
    callee,
    expressions,
    statements,
    walk,
)
from cu2port.warp.values import GROUP_NAME, SHUFFLE_NAME, Kind, V, join

_LOOP_KINDS = frozenset({Kind.NUMBER, Kind.SIZE, Kind.UNKNOWN, Kind.PRODUCT, Kind.STEP})
_DOUBLES = frozenset("*= /= <<= >>=".split())
_LEAVING = frozenset({"return", "break", "continue", "goto"})


def either(a: dict[str, V], b: dict[str, V], vary: int) -> dict[str, V]:
    """What is known of the variables of `a` where two ways meet that a condition parted."""
    out = a.copy()
    for name, v in b.items():
        old = out.get(name)
        if old is not None and old is not v and old != v:
            both = join(old, v)
            out[name] = both if both.vary >= vary else both._replace(vary=vary)
    return out


def speaks_of_warps(s: Stmt | None) -> bool:
    """Whether a branch begins with a call of warp code."""
    body = s.body[:4] if isinstance(s, Block) else (s,)
    return any(GROUP_NAME.match(callee(x)) for y in body for x in expressions(y) if isinstance(x, CallExpr))


def in_loop(cond: V) -> Kind:
    """A loop's condition as a branch: others may have left it already."""
    return cond.kind if cond.kind in (Kind.FIRST, Kind.SOME) else Kind.TEST


def widened(v: V, literals: tuple[int, ...], bounded: bool) -> V:
    """A variable that the loop changes."""
    if bounded and v.kind in _LOOP_KINDS:
        return V(Kind.STEP, v.vary, None, literals, v.why)
    if v.kind in (Kind.THREAD, Kind.LINEAR) and not v.src:
        return v._replace(num=None)
    return v._replace(num=None, src=() if v.num is not None else v.src)


def leaves(s: Stmt) -> bool:
    """Whether a branch always ends in `return`, `break`, `continue` or `goto`."""
    if isinstance(s, Jump):
        return s.kind in _LEAVING
    if isinstance(s, Block):
        return bool(s.body) and leaves(s.body[-1])
    return False


def assigned(s: Loop) -> dict[str, Expr | None]:
    """Variables that a loop changes, with what is assigned to them last (None: counted up or down)."""
    out: dict[str, Expr | None] = {}
    heads: list[Expr] = expressions(s.body)
    for x in (s.cond, s.step):
        if x is not None:
            heads += walk(x)
    for e in heads:
        if isinstance(e, Assign) and isinstance(e.target, Name):
            out[e.target.text] = e.value
        elif isinstance(e, Unary) and e.op in ("++", "--", "p++", "p--") and isinstance(e.x, Name):
            out[e.x.text] = None
    return out


def strided(s: Loop) -> set[str]:
    """Names of variables that a loop's head moves on by more than one: data is walked over, not threads."""
    heads = walk(s.step) if s.step is not None else ()
    return {e.target.text for e in heads if isinstance(e, Assign) and e.op == "+=" and isinstance(e.target, Name)}


def tests_of(s: Loop) -> list[Expr]:
    """Conditions in a loop's body whose branch leaves the loop, and assignments in its condition."""
    return [x.cond for x in statements(s.body) if isinstance(x, If) and (leaves(x.then))]


def distances(s: Loop) -> list[Num]:
    """The 32 that bounds the distances of a cross-lane operation: `for (n = 1; n < 32; n <<= 1) shuffle(x, f(n))`."""
    steps = [e for e in walk(s.step) if isinstance(e, Assign) and e.op in _DOUBLES] if s.step is not None else []
    names = {e.target.text for e in steps if isinstance(e.target, Name)}
    if not names or s.cond is None:
        return []
    calls = [e for e in expressions(s.body) if isinstance(e, CallExpr) and SHUFFLE_NAME.search(callee(e))]
    if not any(isinstance(x, Name) and x.text in names for e in calls for a in e.args for x in walk(a)):
        return []
    tests = [e for e in walk(s.cond) if isinstance(e, Binary) and isinstance(e.a, Name) and e.a.text in names]
    return [e.b for e in tests if isinstance(e.b, Num) and e.b.value == 32]
