"""Pairs of literals with one meaning: the numbers of a rounding up, a division and a multiplication of one expression.

`(n + 31) / 32 * 32` holds the warp's size three times or not at all: one verdict holds for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from cu2port.facts.unit import Unit
from cu2port.syntax.around import around
from cu2port.syntax.tree import Binary, Expr, Num, Unary

#: What rounds up, by the number that is added: the operators that follow, each with the number behind it.
_ROUNDINGS: dict[tuple[str, int], dict[str, tuple[int, ...]]] = {
    ("+", 31): {"/": (32, 31), "&": (32, 31), ">>": (5,)},
    ("/", 32): {"*": (32,)},
    (">>", 5): {"<<": (5,)},
}


def literal_pairs(unit: Unit) -> Iterator[tuple[int, int]]:
    """Pairs of literals with the same meaning, as token indices."""
    for i in unit.find(*(x + end for x in ("31", "32", "5") for end in ("", "u", "U", "L"))):
        path = around(unit, i)
        if len(path) < 3 or not isinstance(path[1], Binary) or path[1].b is not path[0]:
            continue
        found = _number(path[0])
        op, value = path[1].op, found[1] if found is not None else 0
        for left, outer in pairwise(path[1:]):
            other = _number(_scaled(outer)) if isinstance(outer, Binary) and outer.a is left else None
            if not isinstance(outer, Binary) or other is None:
                break
            if (op, value, outer.op, other[1]) == ("+", 32, "-", 1):
                value = 31
                continue
            if other[1] in _ROUNDINGS.get((op, value), {}).get(outer.op, ()):
                yield i, other[0]
            break


def _scaled(e: Binary) -> Expr:
    """What stands behind an operator, for a factor `32 / n` its `32`: `t / 32 * (32 / n)`."""
    return e.b.a if e.op == "*" and isinstance(e.b, Binary) and e.b.op == "/" else e.b


def _number(e: Expr) -> tuple[int, int] | None:
    """The token and value of a number, also of `~31`."""
    e = e.x if isinstance(e, Unary) and e.op == "~" else e
    return (e.at, e.value) if isinstance(e, Num) and e.value is not None else None
