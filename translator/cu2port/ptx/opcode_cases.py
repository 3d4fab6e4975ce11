"""The cases of an opcode that is made of constants which only a template's instantiation settles.

    template <class T, int K> ... asm("mma.sync.aligned.m16n8k%7.row.col.f32.%8.%8.f32 ...", ... "n"(K), "C"(name<T>));

A hole (`%7`) may hold what makes the opcode one of the instruction table's, and nothing else. Each way to fill all
holes is a reading of its own, whose C++ stands behind a test of the constants.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from cu2port.ptx.asm import Operand, Reading
from cu2port.ptx.operand_text import SIMPLE
from cu2port.ptx.table import forms, rows

#: kind of what is settled in a case: the condition is C++, with placeholders for operands
VALUE = "value"
_MOST = 64
_HOLE = re.compile(r"%(\d+)")
#: an opcode, also with holes, where an instruction begins
_OPCODE = re.compile(r"(?:(?<=[;{}\n])|\A)\s*(?:@!?[%\w]+\s+)?([a-z][a-z0-9_]*(?:[.:%]+[\w%]+)+)")
Filling = dict[int, str]  # operand -> text


def in_opcode(text: str, at: int) -> bool:
    """Whether the hole that begins here is part of an opcode."""
    return any(m.start(1) <= at < m.end(1) for m in _OPCODE.finditer(text))


def cases(r: Reading, text: str) -> tuple[Reading, ...]:
    """A reading for each way to fill the holes of a reading's opcodes; the reading itself where there are none, no
    reading where nothing fits or too much does. `text`: the file's."""
    opcodes = [m[1] for m in _OPCODE.finditer(r.text) if "%" in m[1]]
    if not opcodes:
        return (r,)
    fillings: list[Filling] = [{}]
    for opcode in dict.fromkeys(opcodes):
        fillings = [f | more for f in fillings for more in _fitting(opcode) if _agree(f, more)]
        if len(fillings) > _MOST:
            return ()
    return tuple(_filled(r, f, text) for f in fillings if all(_suits(r.operands, i, word) for i, word in f.items()))


def _agree(a: Filling, b: Filling) -> bool:
    return all(a.get(i, text) == text for i, text in b.items())


def _suits(operands: tuple[Operand, ...], i: int, text: str) -> bool:
    """A number for `"n"`, a word for `"C"`."""
    return i < len(operands) and (text.isdigit() if operands[i].letter == "n" else operands[i].letter == "C")


def _fitting(opcode: str) -> Iterator[Filling]:
    """Every way to fill the holes so that the table knows the opcode, in the table's order."""
    root = opcode.partition(".")[0]
    pattern, at, seen = "", 0, set()
    for m in _HOLE.finditer(opcode):
        name = f"h{m[1]}"
        digits = at == m.start() or opcode[m.start() - 1].isalpha()  # `m16n8k%7`
        hole = rf"(?P={name})" if name in seen else rf"(?P<{name}>{r'[0-9]+' if digits else r'[a-z0-9]+'})"
        pattern += re.escape(opcode[at : m.start()]) + hole
        seen.add(name)
        at = m.end()
    found = re.compile(pattern + re.escape(opcode[at:]))
    for known in _opcodes(root):
        if (match := found.fullmatch(known)) is not None:
            yield {int(name[1:]): text for name, text in match.groupdict().items()}


@cache
def _opcodes(root: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(opcode for row in rows() if row.root == root for opcode, _ in forms(row)))


def _filled(r: Reading, filling: Filling, source: str) -> Reading:
    """The reading with texts in the place of operands, which are numbers that nothing names from then on."""
    text = _OPCODE.sub(lambda m: _HOLE.sub(lambda hole: filling.get(int(hole[1]), hole[0]), m[0]), r.text)
    operands = tuple(replace(o, constraint="n") if i in filling else o for i, o in enumerate(r.operands))
    tests = []
    for i, value in sorted(filling.items()):
        span = r.operands[i].expr
        name = f"ptx_operand_{i}_"
        if r.operands[i].letter == "n":
            tests.append(f"{name if SIMPLE.match(source[span.start : span.end]) else f'({name})'} == {value}")
        else:
            tests.append(f'cu2port::ptx::same({name}, "{value}")')
    return replace(r, text=text, operands=operands, where=(*r.where, (VALUE, " && ".join(tests))))
