"""Texts of PTX that are given to a word which nothing known here makes an asm: `ASM("add.u32 ..." : "=r"(d) : ...)`.

No call has a colon behind a string literal, so the word is a macro for `asm`, or one whose body has it. Without a colon
the text shows it, in code that runs on the GPU. What HIP's compiler makes of it cannot be known, so it needs review.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cu2port.core.late import regex
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier, is_string
from cu2port.syntax.strings import decode
from cu2port.syntax.words import ASM_QUALIFIERS, KEYWORDS

_OPCODE = regex(r"(?:^|[;{}\n])\s*(?:@!?%{0,2}\w+\s+)?([a-z]\w*(?:\.\w+(?:::\w+)*)+)")


def unsettled(unit: Unit, begun: Iterable[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """The words that stand before such texts, each with the bracket behind its text, as tokens. `begun`: where
    brackets may begin with one."""
    for m in begun:
        opener = unit.lexed.at(m.start())
        if unit.tok(opener) != "(" or unit.p[opener] != m.start() or unit.match[opener] < 0:
            continue  # in a comment or a text
        k = opener - 1
        while unit.tok(k) in ASM_QUALIFIERS:
            k -= 1
        text, colon = _text(unit, opener)
        if k >= 0 and text and _may_be_asm(unit, k, colon) and _is_ptx(unit, k, text, colon):
            yield k, unit.match[opener]


def _text(unit: Unit, opener: int) -> tuple[str, bool]:
    """The text that brackets begin with, and whether a colon is behind it."""
    text, k = "", opener + 1
    while is_string(unit.tok(k)):
        text += decode(unit.t[k])
        k += 1
    return text, unit.tok(k) in (":", "::")


def _may_be_asm(unit: Unit, k: int, colon: bool) -> bool:
    """Whether a word may be a macro of another file, or one that is an asm's keyword in some builds."""
    word = unit.t[k]
    if word in unit.asm_words or word in KEYWORDS or not is_identifier(word):
        return False
    if unit.is_member(k) or unit.tok(k - 1) == "::" or unit.declares(k):
        return False
    if word in unit.macros:
        bodies = {tok for m in unit.macros[word] for tok in unit.t[m.first : m.stop]}
        return word in unit.doubtful_asm or (colon and bodies.isdisjoint(unit.asm_words))
    return not unit.owns(word)


def _is_ptx(unit: Unit, k: int, text: str, colon: bool) -> bool:
    """Whether a text is of PTX's instructions, and stands where HIP's compiler reads it."""
    from cu2port.ptx.taken import is_left_out  # slow to load, and few files have such texts

    if is_left_out(unit, unit.p[k]) or unit.is_dead(unit.p[k]):
        return False
    return _begins_ptx(text) if colon else unit.is_device(k) and _is_program(text)


def _begins_ptx(text: str) -> bool:
    """Whether a text has an instruction of PTX's with its types."""
    from cu2port.ptx.tokens import COMMENTS

    return any(map(_is_known, _OPCODE.findall(COMMENTS.sub(" ", text))))


def _is_program(text: str) -> bool:
    """Whether a text is nothing but instructions of PTX's, each with its semicolon."""
    from cu2port.ptx.parse import PtxSyntaxError, parse_inline
    from cu2port.ptx.rename import instructions

    if not text.rstrip().endswith((";", "}")):
        return False
    try:
        opcodes = [i.opcode for i in instructions(parse_inline(text))]
    except PtxSyntaxError:
        return False
    return any("." in x for x in opcodes) and all(map(_is_known, opcodes))


def _is_known(opcode: str) -> bool:
    from cu2port.ptx.families import family
    from cu2port.ptx.table import find

    return find(opcode) is not None or family(opcode) is not None
