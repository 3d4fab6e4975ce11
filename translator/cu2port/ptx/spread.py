"""Accumulators that a function has as parameters of their own, in order: `mma(float& d0, float& d1, ...)`."""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.facts.unit import Unit
from cu2port.ptx.accumulators import element_of, is_pure
from cu2port.syntax.operands import tokens
from cu2port.syntax.tree import Expr, Unary


def root_of(unit: Unit, args: Sequence[Expr], pointers: bool) -> str | None:
    """The array of whose elements in a row, from the first of a tile, arguments are the addresses or the elements."""
    found = []
    for e in args:
        if pointers and not (isinstance(e, Unary) and e.op == "&"):
            return None
        found.append(element_of(unit, e.x if pointers and isinstance(e, Unary) else e) if is_pure(e) else None)
    if found[0] is None:
        return None
    root, member, base, first = found[0]
    row = found == [(root, member, base, first + i) for i in range(len(args))]
    return root if row and first % len(args) == 0 and not member else None


def same(unit: Unit, args: Sequence[Expr], others: Sequence[Expr]) -> tuple[range, ...]:
    """The tokens of arguments that are written as others, apart from `&`; () where one is not."""
    spans = [(tokens(a), tokens(b)) for a, b in zip(args, others, strict=True)]
    texts = [tuple("".join(unit.t[x : y + 1]).lstrip("&") for x, y in pair) for pair in spans]
    return tuple(range(b[0], b[1] + 1) for _, b in spans) if all(a == b for a, b in texts) else ()
