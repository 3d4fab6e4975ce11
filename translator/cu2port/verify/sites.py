"""Where the expression of a call begins, by tokens alone."""

from __future__ import annotations

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.neighbours import with_template
from cu2port.syntax.words import BEFORE_VALUE, STATEMENTS
from cu2port.verify.reach import is_operation

_NO_MACROS = BEFORE_VALUE | STATEMENTS


def expression_start(unit: Unit, i: int, limit: int) -> int:
    """The first token of `a.b(c)->f` whose last is i; -1 where i is a declared name and not a call."""
    k = _qualifier(unit, i)
    if (word := with_template(unit, k)) < k:
        k = unit.qualifier(word)
    while unit.tok(k - 1) in (".", "->"):
        k -= 2
        while unit.tok(k) in (")", "]"):
            k = unit.match[k]
            if k <= limit:
                return -1
            before = unit.tok(k - 1)
            if (is_identifier(before) and before not in BEFORE_VALUE) or before in (")", "]"):
                k -= 1
            elif unit.tok(k - 1) == ">" and unit.angle_open(k - 1) > limit:
                k = unit.angle_open(k - 1) - 1
            else:
                break
        if unit.tok(k) == ">" and unit.angle_open(k) > limit:
            k = unit.angle_open(k) - 1
        k = with_template(unit, unit.qualifier(k))
    if k < limit:
        return -1
    before = unit.tok(k - 1)
    if before == ")" and unit.tok(unit.match[k - 1] - 1) == "new":  # where the object of a class is to be made
        return -1
    if k > limit and (
        (is_identifier(before) and before not in BEFORE_VALUE)
        or (before in ("~", "new", ">") and not is_operation(unit, i))
    ):
        return -1
    return k


def _qualifier(unit: Unit, i: int) -> int:
    """The first token of a qualified name, also of `decltype(x)::f`, and of `TYPE(x)::f` where a macro names a type."""
    k = unit.qualifier(i)
    while unit.tok(k) == "::" and unit.tok(k - 1) == ")" and unit.match[k - 1] > 0:
        named = unit.match[k - 1] - 1
        if not is_identifier(unit.tok(named)) or unit.tok(named) in _NO_MACROS:
            break
        k = unit.qualifier(named)
    return k
