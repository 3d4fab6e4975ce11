"""Inline PTX of the CUDA side: calls in its place, and what the interpreter runs for each of them.

The converter's C++ for it must not run on both sides: a fault in it would be on both. `answers.py` has the calls' other
end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cu2port.facts.carry_definitions import has_carry
from cu2port.facts.unit import Unit
from cu2port.ptx import ops
from cu2port.ptx.asm import AsmStatement, Operand, Reading, statements
from cu2port.ptx.bind import CARRY, UntranslatableError
from cu2port.ptx.interp import Program, prepare
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.lifted import RefusedError, parse
from cu2port.ptx.operand_text import number
from cu2port.ptx.ops import Effect, Value
from cu2port.ptx.rename import Renamer
from cu2port.ptx.rewrite import is_ptx
from cu2port.ptx.settled import settled

_TYPES = {"h": "u16", "r": "u32", "l": "u64", "f": "f32", "d": "f64", "b": "pred", "n": "s32"}
_LINE_END = re.compile(r"\\?\r?\n")
#: What one lane can do by itself although it is no arithmetic; all else with a meaning of its own takes the warp.
_ALONE = frozenset({"load", "store", "clear", "atom", "copy", "prefetch", "fixed", "state", "goto", "switch"})
_ALONE_TOO = frozenset({"cvta_to_shared", "nanosleep", "sync"})
_NOT_HERE = frozenset({"exit", "ret", "trap", "brkpt", "call_function", "carry_call", "alloca", "load_param"})
_NOT_HERE_TOO = frozenset({"store_param", "fetch", "put", "cvta_shared", "is_space", "sync_reduce", "reduce_some"})
_BARRIER = "__syncthreads"


class CannotRunError(Exception):
    """Why an asm statement cannot be run."""


@dataclass(frozen=True, slots=True)
class Body:
    """What a call runs. `letters`: the constraint of each register; `is_pure`: what it gives depends on its registers
    alone; `has_carry`: it may read the carry flag that another statement of the thread left."""

    program: Program
    letters: str
    is_pure: bool
    has_carry: bool


def with_calls(unit: Unit, names: frozenset[str], bodies: list[Body]) -> str:
    """A text with calls in place of its PTX. `bodies` gets what they run: a call's number is its index. `names`: macros
    that the kernel needs. Raises CannotRunError."""
    out, at = [], 0
    for s in statements(unit):
        if not is_ptx(unit, s) or (s.macro is not None and s.macro.name not in names):
            continue
        out += [unit.text[at : s.span.start], _call(unit, s, bodies)]
        at = s.span.end
        out += _LINE_END.findall(unit.text, s.span.start, s.span.end)
    return "".join((*out, unit.text[at:]))


def _call(unit: Unit, s: AsmStatement, bodies: list[Body]) -> str:
    reading = _reading(unit, s)
    program = _program(unit, reading)
    found = {v.op.name: v for v in _values(program)}
    opcode = next((step.instruction.opcode for step in program.steps), "its text")
    barrier = (v := found.get("sync")) is not None and v.attr == _BARRIER
    if barrier and len(program.steps) == 1 and program.steps[0].instruction.guard is None:
        return f"{_BARRIER}()"
    missing = found.keys() & (_NOT_HERE | _NOT_HERE_TOO | {"sync_some"})
    if barrier or missing:
        raise CannotRunError(f"`{opcode}`: {min(missing, default='a barrier')} within inline PTX")
    alone = all(v.op.run is None or v.op.name in _ALONE | _ALONE_TOO for v in found.values())
    pure = all(v.op.effect in (Effect.NONE, Effect.CONTROL) and v.op.name != "fixed" for v in found.values()) and alone
    carry = has_carry(reading.text)
    arguments = [str(len(bodies)), *(_operand(unit, o) for o in reading.operands)]
    bodies.append(Body(program, "".join(o.letter for o in reading.operands), pure and not carry, carry))
    touches = any(v.op.effect in (Effect.READ, Effect.WRITE) for v in found.values())
    name = "cu2port_ptx" if alone and not touches else "cu2port_ptx_memory" if alone else "cu2port_ptx_sync"
    return f"{name}({', '.join(arguments)})"


def _reading(unit: Unit, s: AsmStatement) -> Reading:
    s = settled(s, unit.text, {})
    readings = s.readings or ((s.numbers,) if s.numbers is not None else ())
    if not readings or any((r.text, r.operands) != (readings[0].text, readings[0].operands) for r in readings):
        raise CannotRunError(s.problem or "inline PTX whose text depends on a macro or a branch")
    for o in readings[0].operands:
        if o.letter not in _TYPES:
            raise CannotRunError(f"inline PTX with the constraint `{o.letter}`")
    return readings[0]


def _program(unit: Unit, reading: Reading) -> Program:
    places = {CARRY: Place("", ops.PRED)}
    names: dict[str, str] = {}
    for i, o in enumerate(reading.operands):
        known = number(unit.text[o.expr.start : o.expr.end]) if o.letter == "n" else None
        places[f"%{i}"] = Place(f"%{i}", TYPES[_TYPES[o.letter]], constant=known)
        if o.name:
            names[f"%[{o.name}]"] = f"%{i}"
    try:
        body = Renamer(lambda name, written: names.get(name, name)).statements(parse(reading))
        return prepare(body, places)
    except UntranslatableError as e:
        raise CannotRunError(f"`{e.instruction.opcode}`: {e.reason}") from None
    except RefusedError as e:
        raise CannotRunError(f"inline PTX: {e.why}") from None


def _values(program: Program) -> Iterator[Value]:
    """All operations of a program, each once."""
    seen: set[int] = set()
    todo = [v for step in program.steps for v in step.operation.values]
    while todo:
        v = todo.pop()
        if id(v) not in seen:
            seen.add(id(v))
            todo += v.args
            yield v


def _operand(unit: Unit, o: Operand) -> str:
    how = "in" if not o.output else "inout" if o.read else "out"
    return f"cu2port_trial::cu2port_{how}<'{o.letter}'>({unit.text[o.expr.start : o.expr.end]})"
