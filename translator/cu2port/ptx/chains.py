"""Statements of a file that are lifted together, by a register, a scope or the carry flag, and those that cannot be."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from cu2port.core.model import Edit
from cu2port.facts.carry_definitions import has_carry
from cu2port.facts.unit import Unit
from cu2port.ptx.aliasing import objects
from cu2port.ptx.asm import AsmStatement, Reading
from cu2port.ptx.bind import CARRY
from cu2port.ptx.carry import leaves_carry, mixes_carry, reads_carry
from cu2port.ptx.carry_calls import call_chains
from cu2port.ptx.carry_macros import MacroChains, macro_chains
from cu2port.ptx.lift import lift
from cu2port.ptx.lifted import Context, Lifted, RefusedError, parse
from cu2port.ptx.surroundings import is_plain
from cu2port.ptx.together import together

#: statements that belong together, by keyword: their reading, what happened to it, and whether it mixes carries
Together = dict[int, tuple[Reading, Lifted, bool]]


def lifted_together(
    unit: Unit, wanted: Sequence[AsmStatement], context: Context
) -> tuple[Together, int, tuple[Edit, ...]]:
    """The statements that belong together and are lifted; and edits that declare what those of macros share, with the
    keyword of the statement that they are made for."""
    out = _of_functions(unit, wanted, context)
    macros = macro_chains(unit, wanted)
    of_macros = _of_macros(unit, wanted, context, macros) if macros is not None else {}
    if _is_left(unit, wanted, {*out, *of_macros}):
        calls = call_chains(unit, wanted)
        of_calls = _of_macros(unit, wanted, context, calls) if calls is not None else {}
        macros, of_macros = (calls, of_calls) if of_calls else (macros, of_macros)
    if macros is None or not of_macros:
        return out, -1, ()
    return out | of_macros, min(of_macros), macros.edits


def _is_left(unit: Unit, wanted: Iterable[AsmStatement], lifted: Container[int]) -> bool:
    """Whether a statement in a function takes a carry from elsewhere or may leave one, and is not lifted."""
    left = [s for s in wanted if s.macro is None and s.keyword not in lifted and s.readings]
    return bool(carry_chains(unit, left)) or any(_reads_carry(s) for s in left)


def _reads_carry(s: AsmStatement) -> bool:
    try:
        return any(has_carry(r.text) and reads_carry(parse(r)) for r in s.readings)
    except RefusedError:
        return False


def _of_functions(unit: Unit, wanted: Iterable[AsmStatement], context: Context) -> Together:
    """The statements that belong together with others of their functions, of functions where all of them are lifted."""
    out: Together = {}
    by_keyword = {s.keyword: s for s in wanted}
    for found in together(unit, by_keyword.values()):
        of_function: Together = {}
        try:
            for keyword, one in found.items():
                s = by_keyword[keyword]
                reserved = (*context.reserved, one.taken)
                its = replace(around(unit, s, context), shared=one.places, reserved=reserved)
                lifted = replace(lift(one.reading, its), declares=one.declares)
                of_function[keyword] = (one.reading, lifted, one.mixes_carry)
        except RefusedError:
            continue  # each says why by itself
        out |= of_function
    return out


def _of_macros(unit: Unit, wanted: Iterable[AsmStatement], context: Context, macros: MacroChains) -> Together:
    """The statements of macros that hand on a carry, if all of them are lifted."""
    out: Together = {}
    for s in wanted:
        if s.keyword in macros.statements:
            its = replace(around(unit, s, context), shared={CARRY: macros.flag})
            try:
                mixes = macros.mixes_carry or mixes_carry(parse(s.readings[0]))
                out[s.keyword] = (s.readings[0], lift(s.readings[0], its), mixes)
            except RefusedError:
                return {}
    return out


def around(unit: Unit, s: AsmStatement, context: Context) -> Context:
    """The context of one statement, given that of its file."""
    macro = frozenset(s.macro.params or ()) if s.macro is not None else None
    kernel = macro is None and "exit" in unit.source(s.open, s.close) and in_kernel(unit, s.keyword)
    return replace(context, objects=objects(unit, s), macro=macro, volatile=s.volatile, kernel=kernel)


def in_kernel(unit: Unit, i: int) -> bool:
    """Whether a `return` at token i leaves a kernel: it is in one, and in no lambda or class within."""
    f = unit.function_at(i)
    if f is None or "__global__" not in f.sides:
        return False
    block = []
    i -= 1
    while i > f.body[0]:
        if 0 <= unit.match[i] < i:
            i = unit.match[i]
        elif unit.t[i] == "{":
            block.append(i)
        i -= 1
    return is_plain(unit, block)


def carry_chains(unit: Unit, wanted: Iterable[AsmStatement]) -> frozenset[int]:
    """Statements (by keyword) that set a carry which another statement of the file may read."""
    leaving, reading = set(), False
    for s in wanted:
        for r in s.readings:
            if not has_carry(r.text):
                continue
            try:
                body = parse(r)
            except RefusedError:
                continue
            reading = reading or reads_carry(body)
            if leaves_carry(body):
                leaving.add(s.keyword)
    return frozenset(leaving) if reading else frozenset()
