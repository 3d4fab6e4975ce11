"""One PTX text taken apart for people: its trees, its C++, and what it computes."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence

from cu2port.ptx import integers, ops, special
from cu2port.ptx.bind import CARRY, UntranslatableError, bind, why_unknown
from cu2port.ptx.emit import Options, emit
from cu2port.ptx.families import family
from cu2port.ptx.interp import Machine, StuckError, run
from cu2port.ptx.ir import TYPES, Address, Instruction, Operand, Pair, Place, Scope, Statement, Type, Vector
from cu2port.ptx.parse import parse_inline
from cu2port.ptx.rename import declared, instructions, mentioned
from cu2port.ptx.table import Match, find

_LETTERS = "abcefghijklmnorstuvwxyz"  # d, p and q are results
_OPERAND = re.compile(r"%(\d+|\[\w+\])\Z")
_ADDRESS = Type("u64", "u", 64)  # equal to the type of numbers, yet another one: samples of addresses are 0
_SAMPLES = (0x01234567, 0x89ABCDEF, 5, 3, 0x55AA, 9)


class ExplainError(ValueError):
    """What was asked for cannot be shown; says why."""


def explain(text: str, given: Mapping[str, str], fp: str = "exact") -> Iterator[str]:
    """Lines for the trees, the HIP and the answer. `given`: values of operands by name (`%1`), as written.

    Raises ExplainError, PtxSyntaxError, UntranslatableError.
    """
    statements = parse_inline(text)
    if not any(instructions(statements)):
        raise ExplainError("there is no instruction in the text")
    types, written = operand_types(statements)
    places = dict(_places(types, written))
    yield "tree"
    yield from _trees(statements, dict(places), "  ")
    emitted = emit(statements, {n: p for n, p in places.items() if n != CARRY}, Options(fp=fp))
    yield ""
    yield "HIP"
    yield from (f"  {line}" for line in emitted.lines)
    yield ""
    yield from _answers(statements, places, types, written, given)


def operand_types(statements: Sequence[Statement]) -> tuple[dict[str, Type], tuple[str, ...]]:
    """The types of names that the statements do not declare, by their first use; and those of them that are written.

    Registers that nothing declares are operands too: so texts out of a module can be asked for.
    """
    own = set(declared(statements))
    types: dict[str, Type] = {}
    written: list[str] = []
    for i in instructions(statements):
        match = find(i.opcode, len(i.operands))
        if match is None:
            known = family(i.opcode)
            raise UntranslatableError(i, known.why if known else why_unknown(i))
        if i.guard is not None and i.guard.name not in own:
            types.setdefault(i.guard.name, ops.PRED)
        for operand, type_, target in _slots(match, i):
            for name in (r.name for r in mentioned(operand)):
                if name in own or not _is_operand(name):
                    continue
                if target and name not in written:
                    written.append(name)
                types.setdefault(name, _ADDRESS if isinstance(operand, Address) else type_)
    ordered = sorted(types, key=lambda n: (not n[1:].isdigit(), int(n[1:]) if n[1:].isdigit() else 0))
    return {n: types[n] for n in ordered}, tuple(written)


def _is_operand(name: str) -> bool:
    return bool(_OPERAND.match(name)) or not (
        name == "_" or special.is_special(name) or special.missing(name) is not None
    )


def _slots(match: Match, i: Instruction) -> Iterator[tuple[Operand, Type, bool]]:
    """Each operand with its type and whether it is written."""
    operands = list(i.operands)
    row = match.row
    if row.targets and operands:
        first = operands.pop(0)
        parts: tuple[Operand, ...] = (first.first, first.second) if isinstance(first, Pair) else (first,)
        for part, slot in zip(parts, row.targets, strict=False):
            for item in part.items if isinstance(part, Vector) else (part,):
                yield item, row.type_of(slot, match.bindings), True
    for operand, slot in zip(operands, row.sources, strict=False):
        if slot.form in ("label", "call"):
            continue
        bare = slot.form == "[" and slot.type == "t" and "t" not in match.bindings  # `prefetch.L1 [a]` moves no data
        known = TYPES["s32"] if slot.form == "imm" else TYPES["u64"] if bare else None
        type_ = known or row.type_of(slot, match.bindings)
        for item in operand.items if isinstance(operand, Vector) else (operand,):
            yield item, type_, False


def _places(types: Mapping[str, Type], written: Sequence[str]) -> Iterator[tuple[str, Place]]:
    """Names of C++ as the manual has them: results d, operands a, b, c."""
    letters = iter(_LETTERS)
    results = [n for n in types if n in written]
    for name, type_ in types.items():
        plain = name.strip("%[]")
        if not plain.isdigit():
            text = re.sub(r"\W", "_", plain)
        elif name in written:
            text = "d" if len(results) == 1 else f"d{results.index(name)}"
        else:
            text = next(letters)
        yield name, Place(text, type_)


def _trees(statements: Sequence[Statement], places: dict[str, Place], indent: str) -> Iterator[str]:
    from cu2port.ptx.bind import register_places
    from cu2port.ptx.ir import Variable

    for s in statements:
        if isinstance(s, Variable):
            places.update(register_places((s,)))
        elif isinstance(s, Scope):
            yield from _trees(s.body, dict(places), indent)
        elif isinstance(s, Instruction):
            operation = bind(s, {CARRY: Place("carry", ops.PRED), **places})
            guard = f"@{'!' if s.guard.negated else ''}{s.guard.name} " if s.guard is not None else ""
            if not operation.targets:
                yield from (f"{indent}{guard}{v!r}" for v in operation.values)
            for target, value in zip(operation.targets, operation.values, strict=False):
                yield f"{indent}{guard}{target.name or '_'} = {value!r}"


def _answers(
    statements: Sequence[Statement],
    places: Mapping[str, Place],
    types: Mapping[str, Type],
    written: Sequence[str],
    given: Mapping[str, str],
) -> Iterator[str]:
    unknown = [n for n in given if n not in types]
    if unknown:
        raise ExplainError(f"{unknown[0]} is no operand of this text (it has {', '.join(types) or 'none'})")
    samples = iter(_SAMPLES * 8)
    registers: dict[str, int] = {}
    for name, type_ in types.items():
        if name in given:
            registers[name] = value_of(given[name], type_)
        elif name not in written:
            sample = next(samples)
            registers[name] = 0 if type_ is _ADDRESS else value_of(str(sample), type_) & type_.mask
    shown = ", ".join(f"{n} = {spelled(v, types[n])}" for n, v in registers.items())
    yield f"for {shown}" if shown else "answer"
    try:
        (lane,) = run(statements, places, [dict(registers)], Machine())
    except StuckError as e:
        yield f"  the interpreter cannot tell: {e}"
        return
    for name in written:
        yield f"  {name} = {spelled(lane.get(name, 0), types[name])}"


def value_of(text: str, type_: Type) -> int:
    """The bits of a value as a person writes it: an integer in any base, a decimal for floats. Raises ExplainError."""
    try:
        if type_.name in ("f32", "f64", "f16") and not text.lower().startswith("0x"):
            code = {"f16": "e", "f32": "f", "f64": "d"}[type_.name]
            return int.from_bytes(struct.pack(f"<{code}", float(text)), "little")
        return int(text, 0) & type_.mask
    except (ValueError, OverflowError):
        raise ExplainError(f"`{text}` is not a value of {type_}") from None


def spelled(bits: int, type_: Type) -> str:
    """Bits as a person reads them."""
    if type_.kind == "p":
        return str(bool(bits)).lower()
    if type_.name in ("f32", "f64", "f16"):
        code = {"f16": "e", "f32": "f", "f64": "d"}[type_.name]
        number = struct.unpack(f"<{code}", bits.to_bytes(type_.bits // 8, "little"))[0]
        return f"{number!r} ({bits:#x})"
    number = integers.read(bits, type_)
    return f"{bits:#x}" + (f" ({number})" if number != bits or bits < 10**6 else "")
