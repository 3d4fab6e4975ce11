"""Values of constant expressions, from their trees."""

from __future__ import annotations

from collections.abc import Callable

from cu2port.syntax import constants
from cu2port.syntax.constants import Constant
from cu2port.syntax.tree import Binary, Expr, Name, Num, Paren, Ternary, Unary

_DEEPEST = 40  # operands in one another


def constant(e: Expr, named: Callable[[Name], Constant | None], depth: int = 0) -> Constant | None:
    """The value of an integer expression; None where it has none, or it is not known.

    `named`: the value of a name, None if it is not known. Casts are not followed.
    """
    if depth > _DEEPEST or not all(isinstance(w, Paren) for w in e.around):
        return None
    if isinstance(e, Binary):
        return _run(e, named, depth + 1)
    if isinstance(e, Num):
        return Constant(e.value, e.type) if e.value is not None else None
    if isinstance(e, Name):
        return constants.literal(e.text) or named(e)
    if isinstance(e, Unary):
        x = constant(e.x, named, depth + 1)
        return constants.unary(e.op, x) if x is not None else None
    if isinstance(e, Ternary):
        cond, a, b = (constant(x, named, depth + 1) for x in (e.cond, e.a, e.b))
        return constants.chosen(cond, a, b) if cond is not None and a is not None and b is not None else None
    return None


def _run(e: Binary, named: Callable[[Name], Constant | None], depth: int) -> Constant | None:
    """A run of operators, from the left, so that a long one is no deep recursion."""
    run = [e]
    while isinstance(run[-1].a, Binary) and not run[-1].a.around:
        run.append(run[-1].a)
    left = constant(run[-1].a, named, depth)
    for x in reversed(run):
        right = constant(x.b, named, depth) if left is not None else None
        if left is None or right is None:
            return None
        left = constants.binary(x.op, left, right)
    return left
