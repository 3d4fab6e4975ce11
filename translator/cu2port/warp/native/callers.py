"""What the callers of a function do with what it gives."""

from __future__ import annotations

from cu2port.warp.tree import Binary, CallExpr, Expr, If, Loop, Member, Name, Num, Stmt, callee, expressions, statements


def by_first(body: Stmt, name: str) -> bool:
    """Whether a function's body hands arrays to the functions of a name and uses them afterwards in the first thread
    alone."""
    everything = expressions(body)
    calls = [x for x in everything if isinstance(x, CallExpr) and callee(x) == name]
    loops = [x for s in statements(body) if isinstance(s, Loop) for x in expressions(s.body)]
    if not calls or any(x in loops for x in calls) or not all(isinstance(a, Name) for x in calls for a in x.args):
        return False
    given = {a.at: a.text for x in calls for a in x.args if isinstance(a, Name)}
    first = {x.at for s in statements(body) if isinstance(s, If) and is_first(s.cond) for x in expressions(s.then)}
    later = [x for x in everything if isinstance(x, Name) and x.text in given.values() and x.at > min(given)]
    return all(x.at in given or x.at in first for x in later)


def is_first(e: Expr) -> bool:
    """Whether a condition is `threadIdx.x == 0`."""
    return (
        isinstance(e, Binary)
        and e.op == "=="
        and isinstance(e.a, Member)
        and (getattr(e.a.base, "text", ""), e.a.name) == ("threadIdx", "x")
        and isinstance(e.b, Num)
        and e.b.value == 0
    )
