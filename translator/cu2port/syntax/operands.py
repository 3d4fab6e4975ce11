"""What an expression is made of, token by token: its extent, and the expressions directly inside of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cu2port.syntax.tree import (
    Assign,
    Binary,
    CallExpr,
    Expr,
    Index,
    Lambda,
    Launch,
    Member,
    Name,
    Operator,
    Other,
    Ternary,
    Unary,
    heads,
    parts,
    statements,
)

Extent = tuple[int, int]  # the first token and the last

# What an expression begins and ends with, where that is another expression; else its own tokens. A long run of operands
# is no deep recursion: `a + b + c` is followed in a loop.
_LEFT: dict[type, Callable[[Any], Expr | None]] = {
    Binary: lambda e: e.a,
    Assign: lambda e: e.target,
    Ternary: lambda e: e.cond,
    Index: lambda e: e.base,
    Member: lambda e: e.base,
    CallExpr: lambda e: e.callee,
    Launch: lambda e: e.callee,
    Unary: lambda e: e.x if e.op[0] == "p" else None,
}
_RIGHT: dict[type, Callable[[Any], Expr | None]] = {
    Binary: lambda e: e.b,
    Assign: lambda e: e.value,
    Ternary: lambda e: e.b,
    Unary: lambda e: None if e.op[0] == "p" else e.x,
}
_START: dict[type, Callable[[Any], int]] = {
    Name: lambda e: e.start if e.start >= 0 else e.at,
    Other: lambda e: e.start if e.start >= 0 else e.at,
}
_END: dict[type, Callable[[Any], int]] = {
    Name: lambda e: max(e.at, e.end),
    Member: lambda e: max(e.at, e.end),
    Index: lambda e: e.end,
    CallExpr: lambda e: e.close,
    Lambda: lambda e: e.end,
    Operator: lambda e: e.end,
    Launch: lambda e: e.end,
    Other: lambda e: e.end if e.start >= 0 else e.at,
}


def first_token(e: Expr) -> int:
    """The first token of an expression, of the brackets and casts around it."""
    while not e.around:
        left = _LEFT.get(type(e))
        inner = left(e) if left is not None else None
        if inner is None:
            start = _START.get(type(e))
            return start(e) if start is not None else e.at
        e = inner
    return e.around[-1].first


def last_token(e: Expr) -> int:
    """The last token of an expression, of the brackets and casts around it."""
    while not e.around:
        right = _RIGHT.get(type(e))
        inner = right(e) if right is not None else None
        if inner is None:
            end = _END.get(type(e))
            return end(e) if end is not None else e.at
        e = inner
    return e.around[-1].last


def is_empty(e: Expr) -> bool:
    """Whether there is no expression where one was looked for."""
    return isinstance(e, Other) and e.end < e.start and not e.around


def tokens(e: Expr) -> Extent:
    """The extent of an expression with the brackets and casts around it."""
    return first_token(e), last_token(e)


def own_tokens(e: Expr) -> Extent:
    """The extent of an expression without what is around it."""
    return tokens(e._replace(around=()) if e.around else e)


def children(node: Expr) -> list[Expr]:
    """All expressions that are directly inside of an expression, in text order: those of lambdas, of template arguments
    and of `sizeof` too. Nothing that is not there, and once what a GNU `a ?: b` takes twice."""
    inside: tuple[Expr, ...]
    if isinstance(node, Ternary) and node.a is node.cond:
        inside = (node.cond, node.b)
    elif isinstance(node, Lambda):
        inside = tuple(x for s in statements(node.body) for x in heads(s))
    elif isinstance(node, Operator):
        inside = node.operands
    else:
        inside = (*parts(node), *(node.targs if isinstance(node, (Name, Member)) else ()))
    return [x for x in inside if not is_empty(x)]
