"""A macro's statements with its parameters replaced by the arguments of one use."""

from __future__ import annotations

from typing import Any

from cu2port.syntax.tree import Block, Expr, Loop, Name


def substituted(body: Block, given: dict[str, Expr], site: int) -> Block:
    """The statements with names of `given` replaced; loops of the outermost level stand at token `site`."""
    out = []
    for s in body.body:
        x = _replaced(s, given)
        out.append(x._replace(at=site) if isinstance(x, Loop) else x)
    return Block(body.at, tuple(out))


def _replaced(node: Any, given: dict[str, Expr]) -> Any:
    """A tree's part, rebuilt where a name in it is replaced."""
    if isinstance(node, Name) and node.text in given and not node.qualified:
        return given[node.text]
    if not isinstance(node, tuple):
        return node
    fields = [_replaced(x, given) for x in node]
    if all(a is b for a, b in zip(fields, node, strict=True)):
        return node
    return type(node)(*fields) if hasattr(node, "_fields") else tuple(fields)
