"""What an expression is made of, token by token: its extent, and the expressions directly inside of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def _edge(
    outermost: Mapping[type, Callable[[Any], Expr | None]], own: Mapping[type, Callable[[Any], int]], side: int
) -> Callable[[Expr], int]:
    """The function that tells the first token of an expression with the brackets and casts around it (`side` 0), or the
    last one (1)."""

    def edge(e: Expr) -> int:
        while not e.around:
            get = outermost.get(type(e))
            inner = get(e) if get is not None else None
            if inner is None:
                token = own.get(type(e))
                return token(e) if token is not None else e.at
            e = inner
        w = e.around[-1]
        return w.last if side else w.first

    return edge


first_token = _edge(_LEFT, _START, 0)
last_token = _edge(_RIGHT, _END, 1)


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
