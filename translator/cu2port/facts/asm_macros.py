"""Macros that are one asm statement of their parameters: they hide no jump, and change what a call names alone."""

from __future__ import annotations

from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier, is_string
from cu2port.syntax.words import ASM_QUALIFIERS, VOLATILE


def is_asm_of_parameters(unit: Unit, m: Macro) -> bool:
    """Whether a macro is an asm statement, maybe with its semicolon, with no name but those of its parameters."""
    if m.params is None or m.first >= m.stop or unit.t[m.first] not in unit.asm_words:
        return False
    k = m.first + 1
    while unit.tok(k) in ASM_QUALIFIERS - {"goto"}:
        k += 1
    if unit.tok(k) != "(" or unit.match[k] < 0 or unit.t[unit.match[k] + 1 : m.stop] not in ([], [";"]):
        return False
    named = (x for x in unit.t[k : m.stop] if is_identifier(x) and not is_string(x))
    return all(x in m.params for x in named)


def is_volatile(unit: Unit, keyword: int, opener: int) -> bool:
    """Whether an asm statement says so, or the macro that stands for its keyword does."""
    macro = unit.asm_keywords.get(unit.t[keyword])
    return (macro is not None and macro.volatile) or any(unit.t[k] in VOLATILE for k in range(keyword + 1, opener))
