"""Pairs of literals with one meaning: the numbers of a rounding up, a division and a multiplication of one expression.

`(n + 31) / 32 * 32` holds the warp's size three times or not at all: one verdict holds for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from cu2port.facts.unit import Unit
from cu2port.syntax.constants import integer

_MAX_TOKENS = 4  # closing brackets between the two numbers, and one operator


def literal_pairs(unit: Unit) -> Iterator[tuple[int, int]]:
    """Pairs of literals with the same meaning, as token indices."""
    for i in unit.find("31", "31u", "31U", "31L"):
        if unit.tok(i - 1) == "+":
            k = _next_operand(unit, i, ("/", ">", "&"))
            if k > 0 and _value(unit, k) in ((5,) if unit.tok(k - 1) == ">" else (32, 31)):
                yield i, k
    for i in unit.find("32", "32u", "32U", "32L"):
        if unit.tok(i + 1) == "-" and _value(unit, i + 2) == 1 and unit.tok(i - 1) == "+":
            k = _next_operand(unit, i + 2, ("/",))
            if k > 0 and _value(unit, k) == 32:
                yield i, k
        if unit.tok(i - 1) == "/":
            k = _next_operand(unit, i, ("*",))
            if k > 0 and _value(unit, k) == 32:
                yield i, k
    for i in unit.find("5", "5u", "5U", "5L"):
        if unit.tok(i - 1) == ">" and unit.tok(i - 2) == ">":
            k = _next_operand(unit, i, ("<<",))
            if k > 0 and _value(unit, k) == 5:
                yield i, k


def _next_operand(unit: Unit, i: int, operators: tuple[str, ...]) -> int:
    """The operand that follows a number, after closing brackets and one of `operators`; -1 if there is none."""
    k = i + 1
    while k < i + _MAX_TOKENS and unit.tok(k) == ")":
        k += 1
    if unit.tok(k) not in operators:
        return -1
    k += 1
    while unit.tok(k) in (">", "(", "~"):
        k += 1
    return k


def _value(unit: Unit, i: int) -> int | None:
    tok = unit.tok(i)
    return integer(tok) if tok[:1].isdigit() else None
