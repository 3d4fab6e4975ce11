"""What the types and values of operands settle in an asm statement: constraints that a macro of another file holds, and
constants (`"n"`) that are part of an opcode, a size or an offset."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from cu2port.core.model import Span
from cu2port.facts.clang import Expr
from cu2port.ptx.asm import AsmStatement, Operand, Reading
from cu2port.ptx.opcode_cases import cases, in_opcode
from cu2port.ptx.operand_text import number
from cu2port.ptx.operand_types import immediate

_PLACE = re.compile(r"%%|%(\d+|\[\w+\])")
_GLUED_BEFORE = re.compile(r"(?:[\w.:]|[\w\]]\[\s*|[<+*]\s*)\Z")
_GLUED_BEHIND = re.compile(r"\w|\s*\*")
#: an address in an access that is not one of shared memory, where addresses may have 32 bits
_ACCESS = r"\b(?:ld|ldu|st|atom|red|prefetch)(?:\.(?!shared)[\w:]+)+[^;\[]*\[\s*{}\s*(?:[+\]])"
_LETTERS = {("float", 32): "f", ("double", 64): "d", ("", 16): "h", ("", 32): "r", ("", 64): "l"}


class _UnsettledError(ValueError):
    """Something stays unknown; says what."""


def settled(s: AsmStatement, text: str, types: Mapping[Span, Expr]) -> AsmStatement:
    """The statement with known constraints and with a text that can be read; else with a `problem` and no readings."""
    others = [s.numbers] if s.numbers is not None else [r for group in s.hints for r in group]
    if any(o.letter[:1] == "?" for r in others for o in r.operands):
        s = replace(s, numbers=None, hints=())
    if not any(o.letter in ("n", "C") or o.letter[:1] == "?" for r in s.readings for o in r.operands):
        return s
    try:
        known = [_constants(_constraints(r, types), text, types) for r in s.readings]
        return replace(s, readings=tuple(case for r in known for case in _cases(r, text)))
    except _UnsettledError as e:
        return replace(s, readings=(), numbers=None, hints=(), problem=str(e))


def _constraints(r: Reading, types: Mapping[Span, Expr]) -> Reading:
    """The compiler takes an operand only where its type has the size and kind of its constraint."""
    operands = []
    for i, o in enumerate(r.operands):
        name = o.letter.removeprefix("?")
        if name == o.letter:
            operands.append(o)
            continue
        expr = types.get(o.expr)
        letter = None
        if expr is not None:
            kind = expr.type.removeprefix("const ").removeprefix("volatile ")
            plain = expr.signed is not None or kind.endswith(("*", "]"))
            letter = _LETTERS.get(("" if plain else kind, expr.bits or 0))
        elif re.search(_ACCESS.format(rf"(?:%{i}|%\[{o.name or ' '}\])"), r.text):
            letter = "l"
        if letter is None:
            raise _UnsettledError(f"`{name}` is no string literal and no macro of this file")
        operands.append(replace(o, constraint=o.constraint.replace(f"?{name}", letter)))
    return replace(r, operands=tuple(operands))


def _constants(r: Reading, text: str, types: Mapping[Span, Expr]) -> Reading:
    """The assembler sees a constant's digits in the text."""
    if not any(o.letter == "n" for o in r.operands):
        return r
    named = {f"[{o.name}]": o for o in r.operands if o.name}
    out, at = [], 0
    for m in _PLACE.finditer(r.text):
        place = m[1] or ""
        index = int(place) if place.isdigit() else -1
        o = r.operands[index] if 0 <= index < len(r.operands) else named.get(place)
        before = r.text[max(0, m.start() - 8) : m.start()]
        if o is None or o.letter != "n":
            continue
        if _GLUED_BEFORE.search(before) or _GLUED_BEHIND.match(r.text, m.end()):
            value = _value(o, text, types)
            if value is None and index >= 0 and in_opcode(r.text, m.start()):
                continue  # one case for each value
            if value is None:
                raise _unknown(o, text)
            out += [r.text[at : m.start()], str(value)]
            at = m.end()
    return replace(r, text="".join((*out, r.text[at:])))


def _cases(r: Reading, text: str) -> tuple[Reading, ...]:
    """Raises _UnsettledError where an opcode has a hole that nothing fills."""
    found = cases(r, text)
    if not found:
        raise _unknown(next(o for o in r.operands if o.letter in ("n", "C")), text)
    return found


def _value(o: Operand, text: str, types: Mapping[Span, Expr]) -> int | None:
    value = immediate(types.get(o.expr))
    return number(text[o.expr.start : o.expr.end]) if value is None else value


def _unknown(o: Operand, text: str) -> _UnsettledError:
    spelled = text[o.expr.start : o.expr.end]
    return _UnsettledError(
        f"an opcode, a size or an offset in it is made of the constant `{spelled}`, whose value is not known here"
    )
