"""The type that a file declares a variable with, where an expression is the variable or one element of it."""

from __future__ import annotations

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier

_IDLE = frozenset({"const", "struct", "typename", "volatile", "static"})


def declared_word(unit: Unit, first: int, stop: int) -> str:
    """The last word of the type of tokens [first, stop), `x` or `x[i]`; "" for other expressions and other types."""
    if stop <= first or not is_identifier(unit.t[first]):
        return ""
    indexed = unit.tok(first + 1) == "[" and unit.match[first + 1] == stop - 1
    if stop - first != 1 and not indexed:
        return ""
    d = unit.declarations.visible(unit.t[first], first)
    if d is None or d.pointers + d.arrays != (1 if indexed else 0):
        return ""
    words = [w for w in unit.t[d.type_first : d.type_stop] if w not in _IDLE]
    return words[-1] if words and is_identifier(words[-1]) else ""
