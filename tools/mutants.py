"""Mutants of converted kernels: each has one change, in the kernel or in a function that it needs.

width    a shuffle's width, or the width 16 where it has none
mask     `& m` with a mask of some low bits gets one bit less; a full mask of lanes in a vote loses its upper half
shift    a number after `<<`, `>>`, `<<=` or `>>=` becomes one more
lane     31, 32 or 5 beside a lane's number (`% 32`, `& 31`, `/ 32`, `>> 5`) becomes that of 64 or of 16 lanes
barrier  a barrier of the block or of the warp is taken out
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.verify.reach import read
from cu2port.verify.sim_compiler import INCLUDE_DIR
from cu2port.verify.trial.kernels import Kernel
from cu2port.verify.trial.program import Side, names_for
from cu2port.verify.trial.slices import kept

SHUFFLE = re.compile(r"(?:__)?shfl(?:_up|_down|_xor)?(?:_sync)?")
VOTE = re.compile(r"(?:__)?(?:ballot|any|all|match_any|match_all)(?:_sync)?")
FULL = re.compile(r"(?:0x[fF]{8}[uU]?|~0[uU]?|-1)")
NUMBER = re.compile(r"(0x[0-9a-fA-F]+|[0-9]+)([uUlL]*)")
LANES = {("%", 32): 64, ("/", 32): 64, ("&", 31): 15, (">>", 5): 6, ("<", 32): 16, ("==", 31): 15, ("*", 32): 16}
BARRIERS = frozenset({"__syncthreads", "syncwarp", "__syncwarp"})
SHIFTS = frozenset({"<<", ">>", "<<=", ">>="})


@dataclass(frozen=True)
class Mutant:
    """One change: bytes [start, end) of a file's converted text become `text`. `function`: its first token's number."""

    path: Path
    line: int
    operator: str
    start: int
    end: int
    text: str
    function: int

    def __str__(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}:{self.line}: {self.operator} {self.text or 'nothing'}"


def number_of(word: str) -> tuple[int, str] | None:
    """The value of a literal, and its suffix."""
    m = NUMBER.fullmatch(word)
    return (int(m[1], 0), m[2]) if m and (m[1].startswith("0x") or m[1] == "0" or m[1][0] != "0") else None


Change = tuple[str, int, int, str]  # operator, tokens [first, stop), the new text


def widths(unit: Unit, i: int) -> Iterator[Change]:
    """Of a shuffle whose name is token i."""
    call = unit.call(i) if SHUFFLE.fullmatch(unit.t[i]) else None
    if call is None:
        return
    with_width = len(call.args) - unit.t[i].count("_sync") - ("cu2port" in unit.t[max(0, i - 4) : i]) >= 3
    if with_width:
        span = call.args[-1]
        first, stop = unit.lexed.at(span.start), unit.lexed.at(span.end)
        n = number_of(unit.t[first]) if stop == first + 1 else None
        if n and n[0] > 2:
            yield "width", first, stop, str(n[0] // 2)
    elif len(call.args) >= 2:
        yield "width", call.close, call.close + 1, ", 16)"


def masks(unit: Unit, i: int) -> Iterator[Change]:
    """Of a bitwise and with a number of low bits at token i, or of a full mask in a vote."""
    n = (
        number_of(unit.tok(i + 1))
        if unit.t[i] == "&" and i and (unit.t[i - 1] in (")", "]") or is_identifier(unit.t[i - 1]))
        else None
    )
    if n and n[0] > 0 and n[0] & (n[0] + 1) == 0 and n[0] != 31:
        yield "mask", i + 1, i + 2, f"{n[0] >> 1}{n[1]}"
    call = unit.call(i) if VOTE.fullmatch(unit.t[i]) else None
    if call and call.args:
        first, stop = unit.lexed.at(call.args[0].start), unit.lexed.at(call.args[0].end)
        if FULL.fullmatch("".join(unit.t[first:stop])):
            yield "mask", first, stop, "0x0000ffffu"


def shifts(unit: Unit, i: int) -> Iterator[Change]:
    """Of a shift at token i."""
    n = (
        number_of(unit.tok(i + 1))
        if unit.t[i] in SHIFTS and unit.tok(i + 2) in (")", ";", ",", "]", "+", "-", "&", "|")
        else None
    )
    if n and 0 < n[0] < 31 and n[0] != 5:
        yield "shift", i + 1, i + 2, f"{n[0] + 1}{n[1]}"


def lanes(unit: Unit, i: int) -> Iterator[Change]:
    """Of an operator at token i and one of a warp's numbers."""
    n = number_of(unit.tok(i + 1))
    other = LANES.get((unit.t[i], n[0])) if n and i and (unit.t[i - 1] == ")" or is_identifier(unit.t[i - 1])) else None
    if n and other is not None:
        yield "lane", i + 1, i + 2, f"{other}{n[1]}"


def barriers(unit: Unit, i: int) -> Iterator[Change]:
    """Of a barrier that is a statement and whose name is token i."""
    call = unit.call(i) if unit.t[i] in BARRIERS else None
    if call is None or unit.tok(call.close + 1) != ";":
        return
    first = i
    while unit.tok(first - 1) == "::" or (unit.tok(first) == "::" and is_identifier(unit.tok(first - 1))):
        first -= 1
    if unit.tok(first - 1) in (";", "{", "}"):
        yield "barrier", first, call.close + 1, ""


OPERATORS: Sequence[Callable[[Unit, int], Iterator[Change]]] = (widths, masks, shifts, lanes, barriers)


def mutants(side: Side, kernel: Kernel) -> list[Mutant]:
    """All mutants of a converted kernel, by operator."""
    out = []
    for path, unit in side.units.items():
        if INCLUDE_DIR in path.parents:
            continue
        for e in kept(unit, names_for(side, kernel)):
            if not any(
                f.first >= e.first and f.body[1] < e.stop
                for f in unit.functions
                if f.sides & {"__global__", "__device__"}
            ):
                continue
            for i in range(e.first, e.stop):
                if unit.in_directive(i) is not None:
                    continue
                for operator in OPERATORS:
                    for name, first, stop, text in operator(unit, i):
                        start, end = unit.p[first], unit.end(stop - 1)
                        out.append(Mutant(path, unit.text.count("\n", 0, start) + 1, name, start, end, text, e.first))
    return out


def mutated(side: Side, m: Mutant) -> Side:
    """A side with one change."""
    unit = side.units[m.path]
    text = unit.text[: m.start] + m.text + unit.text[m.end :]
    return replace(side, units={**side.units, m.path: read(text, unit.path)})
