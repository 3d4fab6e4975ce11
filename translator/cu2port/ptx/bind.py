"""From an instruction as written to what it means: finds its row, types its operands, builds the trees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from cu2port.ptx import constants, ops
from cu2port.ptx.integers import OutOfRangeError
from cu2port.ptx.ir import (
    TYPES,
    WIDE,
    Address,
    Const,
    Group,
    Instruction,
    Neg,
    Not,
    Operand,
    Operation,
    Pair,
    Place,
    Reg,
    Sum,
    Target,
    Type,
    Variable,
    Vector,
)
from cu2port.ptx.ops import Value
from cu2port.ptx.table import Match, Row, Slot, find

CARRY = "CC"  # the name of the carry flag among places


_CALL = ops.Op(  # attr: the function's PTX name
    "call_function",
    lambda v, *a: 0,
    lambda v, texts: f"{_cxx_name(v.attr)}({', '.join(texts)})",
    effect=ops.Effect.CONTROL,
)


class UntranslatableError(ValueError):
    """An instruction without a meaning here. `reason` says why, `instead` what to do by hand."""

    def __init__(self, instruction: Instruction, reason: str, instead: str = "") -> None:
        super().__init__(f"{instruction.line}:{instruction.column}: `{instruction.opcode}`: {reason}")
        self.instruction, self.reason, self.instead = instruction, reason, instead


def register_places(variables: Iterable[Variable], rename: Mapping[str, str] | None = None) -> dict[str, Place]:
    """Places for declared registers; a C++ name is the PTX name without `%`, or what `rename` says."""
    out = {}
    for variable in variables:
        if variable.space == "reg":
            for name in variable.names:
                plain = name.lstrip("%").replace("$", "_").replace("%=", "")
                out[name] = Place((rename or {}).get(name, plain), variable.type)
    return out


def bind(instruction: Instruction, places: Mapping[str, Place]) -> Operation:
    """What `instruction` means where `places` tells what names stand for. Raises UntranslatableError.

    Names of special registers need no place. The carry flag is the place "CC" (a predicate), which walkers provide.
    """
    match = find(instruction.opcode, len(instruction.operands))
    if match is None:
        raise UntranslatableError(instruction, why_unknown(instruction))
    return _Binder(instruction, match, places).operation()


def why_unknown(instruction: Instruction) -> str:
    """Why no row is an instruction's."""
    if find(instruction.opcode) is not None:
        return f"{len(instruction.operands)} operands do not fit any form of it"
    return "no row of the instruction table knows it"


class _Binder:
    def __init__(self, instruction: Instruction, match: Match, places: Mapping[str, Place]) -> None:
        self.instruction, self.row, self.bindings, self.places = instruction, match.row, match.bindings, places
        self.given = match.given

    def fail(self, reason: str, instead: str = "") -> UntranslatableError:
        return UntranslatableError(self.instruction, reason, instead)

    def operation(self) -> Operation:
        row, operands = self.row, list(self.instruction.operands)
        if row.sources and row.sources[0].form == "call":
            return self.call(operands)
        written = operands.pop(0) if row.targets else None
        arguments: dict[str, object] = dict(self.given)
        if row.targets and row.targets[0].select:
            written, arguments[row.targets[0].select] = self.selected(written)
        for slot, operand in zip(row.sources, operands, strict=False):
            if slot.form == "[;":
                arguments[slot.select] = self.coordinates(slot, operand)
            elif slot.select:
                sign = f"{slot.name}_negated"
                if sign in row.wanted:
                    arguments[sign] = isinstance(operand, Neg)
                    operand = operand.item if isinstance(operand, Neg) else operand
                operand, arguments[slot.select] = self.selected(operand)
            arguments[slot.name] = self.source(slot, operand)
        for slot in row.sources[len(operands) :]:
            arguments[slot.name] = None
        if row.reads and row.reads in row.wants:
            arguments[row.reads] = ops.reg(CARRY, ops.PRED)
        if "n" in row.wants and "n" not in arguments:
            arguments["n"] = self.width(written, operands)
        given = [arguments[slot.name] for slot in row.sources] if row.helper or row.call else []
        if not row.wanted.issuperset(arguments):
            arguments = {name: value for name, value in arguments.items() if name in row.wanted}
        try:
            result = row.meaning(**arguments)
        except OutOfRangeError as error:
            raise self.fail(str(error)) from None
        except ops.NoMeaningError as error:
            raise UntranslatableError(self.instruction, error.reason, error.instead) from None
        values = result if isinstance(result, tuple) else (result,)
        return self.finish(row, written, values, tuple(v for v in given if isinstance(v, Value)))

    def selected(self, operand: Operand | None) -> tuple[Operand, str]:
        """An operand without what stands behind its dot, and that."""
        if isinstance(operand, Reg) and operand.name in self.places:
            return Reg(operand.name), operand.select
        if operand is None:
            raise self.fail("an operand is missing")
        return operand, ""

    def call(self, operands: list[Operand]) -> Operation:
        """`call (result), function, (arguments);` with result and arguments where there are any."""
        results: tuple[Operand, ...] = ()
        if operands and isinstance(operands[0], Group):
            results, operands = operands[0].items, operands[1:]
        function, operands = (operands[0], operands[1:]) if operands else (None, [])
        given: tuple[Operand, ...] = ()
        if operands and isinstance(operands[0], Group):
            given, operands = operands[0].items, operands[1:]
        if not isinstance(function, Reg) or (function.name in self.places and not self.places[function.name].space):
            raise self.fail("a call through a pointer", "call the function by its name")
        if operands or len(results) > 1:
            raise self.fail("a call through a pointer or with several results", "call the function by its name")
        arguments = tuple(self.argument(operand) for operand in given)
        if not results:
            value = Value(_CALL, ops.VOID, arguments, function.name)
            return Operation(self.instruction, self.row, (), (value,), (), self.bindings)
        target = results[0]
        place = self.places.get(target.name) if isinstance(target, Reg) else None
        if place is None:
            raise self.fail("the result of the call is not declared")
        value = Value(_CALL, place.type, arguments, function.name)
        return Operation(self.instruction, self.row, (self.target(target, place.type),), (value,), (), self.bindings)

    def argument(self, operand: Operand) -> Value:
        """An argument of a call, in its own type."""
        if isinstance(operand, Const):
            return ops.const(operand.value, ops.S32 if -(1 << 31) <= operand.value < 1 << 31 else ops.U64)
        place = self.places.get(operand.name) if isinstance(operand, Reg) else None
        if place is None:
            raise self.fail("an argument of the call is not declared")
        return self.value(operand, place.type)

    def width(self, written: Operand | None, operands: list[Operand]) -> int:
        """How many elements the vector operand has; 1 for a scalar."""
        for operand in (written, *operands):
            if isinstance(operand, Vector):
                return len(operand.items)
        return 1

    def finish(
        self, row: Row, written: Operand | None, values: tuple[Value, ...], arguments: tuple[Value, ...]
    ) -> Operation:
        targets: list[Target] = []
        out: list[Value] = []
        parts: list[Operand | None] = []
        if row.targets:
            parts = [written.first, written.second] if isinstance(written, Pair) else [written]
        if len(parts) > len(row.targets):
            raise self.fail("two results, where it has one")
        for slot, part, value in zip(row.targets, parts, values, strict=False):
            if isinstance(part, Vector):
                if slot.form != "{":
                    raise self.fail("a vector, where it has a scalar result")
                if 1 < value.type.lanes != len(part.items):
                    raise self.fail(f"{len(part.items)} registers, where it has {value.type.lanes} results")
                parts_ = values if len(values) == len(part.items) > 1 else None
                for i, item in enumerate(part.items):
                    element = parts_[i] if parts_ else ops.extract(value, i)
                    targets.append(self.target(item, element.type))
                    out.append(element)
            else:
                targets.append(self.target(part, value.type))
                out.append(value)
        if row.writes:
            targets.append(Target(CARRY, ops.PRED))
            out.append(values[-1])
        if not row.targets:
            out = list(values)
        return Operation(self.instruction, row, tuple(targets), tuple(out), arguments, self.bindings)

    def target(self, operand: Operand | None, type_: Type) -> Target:
        if not isinstance(operand, Reg) or operand.select:
            raise self.fail("the result is no register")
        if operand.name == "_":
            return Target(None, type_)
        place = self.places.get(operand.name)
        if place is None:
            raise self.fail(f"`{operand.name}` is not declared")
        element = Type(type_.name.rpartition("x")[0], type_.kind, type_.bits) if type_.lanes > 1 else type_
        if place.type.bits < element.bits or (place.type.is_float and element.is_float and place.type != element):
            raise self.fail(f"`{operand.name}` is a register of `.{place.type}`, the result has type `.{element}`")
        return Target(operand.name, element)

    def source(self, slot: Slot, operand: Operand) -> object:
        if slot.form in ("[", "[;"):
            return self.address(operand)
        if slot.form == "{" and isinstance(operand, Vector):
            type_ = self.row.type_of(slot, self.bindings)
            if slot.type.startswith("parts("):
                type_ = TYPES[f"u{type_.bits // len(operand.items)}"]
            return tuple(self.value(item, type_) for item in operand.items)
        if slot.form == "imm":
            if slot.name == "lut" and isinstance(operand, Reg) and operand.name in self.places:
                place = self.places[operand.name]
                return place.constant if place.constant is not None else self.value(operand, ops.U32)
            return self.constant(operand)
        if slot.form == "label":
            if isinstance(operand, Reg) and not operand.select:
                return operand.name
            raise self.fail("a label is expected")
        if slot.form == "?" and self.is_predicate(operand):
            return self.value(operand, ops.PRED)
        value = self.value(operand, self.row.type_of(slot, self.bindings))
        return (value,) if slot.form == "{" else value

    def coordinates(self, slot: Slot, operand: Operand) -> tuple[Value, ...]:
        """What follows the handle of a texture or surface: `[a, {x, y}]` or `[a, x]`."""
        rest = operand.rest if isinstance(operand, Address) else ()
        if len(rest) != 1:
            raise self.fail("a sampler of its own", "use a texture object, which brings its sampler along")
        type_ = self.row.type_of(slot, self.bindings)
        items = rest[0].items if isinstance(rest[0], Vector) else rest
        return tuple(self.value(item, type_) for item in items)

    def constant(self, operand: Operand) -> int:
        if isinstance(operand, Const) and operand.kind in "su":
            return operand.value
        if isinstance(operand, Reg):
            place = self.places.get(operand.name)
            if place is not None and place.constant is not None:
                return place.constant
        raise self.fail("an operand must be a constant whose value is known here")

    def value(self, operand: Operand, type_: Type) -> Value:
        """An operand read as `type_`."""
        if isinstance(operand, Const):
            return ops.const(constants.as_type(operand, type_.name), type_)
        if isinstance(operand, Not) and type_ is ops.PRED:
            return ~self.value(operand.item, type_)
        if isinstance(operand, Neg) and self.is_constant(operand.item):
            return -self.value(operand.item, type_)
        if isinstance(operand, Sum) and (self.is_constant(operand.base) or self.is_address(operand.base)):
            return self.value(operand.base, type_) + operand.offset
        if isinstance(operand, Reg):
            return self.name(operand, type_)
        signs = {Not: "a `!`, which only predicates take", Neg: "a `-` before an operand, which it does not take"}
        raise self.fail(signs.get(type(operand), "an operand has a form that it does not take"))

    def is_predicate(self, operand: Operand) -> bool:
        """Whether an operand is a register for predicates, or what is not one."""
        item = operand.item if isinstance(operand, Not) else operand
        return isinstance(item, Reg) and item.name in self.places and self.places[item.name].type is ops.PRED

    def is_constant(self, operand: Operand) -> bool:
        """Whether an operand is one whose number the assembler sees in the text."""
        return (
            isinstance(operand, Reg) and operand.name in self.places and self.places[operand.name].constant is not None
        )

    def is_address(self, operand: Reg) -> bool:
        """Whether a name is that of a variable or a function, which has an address to add to."""
        place = self.places.get(operand.name)
        return place is not None and bool(place.space or place.pointer)

    def name(self, operand: Reg, type_: Type) -> Value:
        place = self.places.get(operand.name)
        if place is not None:
            if operand.select:
                raise self.fail(f"`{operand.name}.{operand.select}`: it takes no part of a register")
            if place.constant is not None:
                return ops.const(place.constant, type_)
            if place.type.bits < type_.bits and type_.is_int and (wide := WIDE.format(operand.name)) in self.places:
                return ops.reg(wide, type_)
            if place.type.bits < type_.bits and not place.space:
                raise self.fail(f"`{operand.name}` has {place.type.bits} bits, {type_.bits} are wanted")
            return ops.reg(operand.name, type_)
        from cu2port.ptx import special

        value = special.value(operand.name, operand.select)
        lacking = special.missing(operand.name)
        if lacking is not None:
            raise UntranslatableError(self.instruction, f"`{operand.name}`: {lacking[0]}", lacking[1])
        if value is None:
            raise self.fail(f"`{operand.name}` is not declared")
        return ops.convert(value, type_) if type_.is_int else ops.bits(value, type_)

    def address(self, operand: Operand) -> Value:
        """An address in bytes: 64 bits, or 32 where the register has 32."""
        if not isinstance(operand, Address):
            raise self.fail("an address in brackets is expected")
        if operand.base is None:
            return ops.const(operand.offset, ops.U64)
        place = self.places.get(operand.base.name)
        if place is None:
            raise self.fail(f"`{operand.base.name}` is not declared")
        type_ = ops.U32 if place.type.bits == 32 and not place.space else ops.U64
        return ops.reg(operand.base.name, type_) + operand.offset


__all__ = ["CARRY", "TYPES", "UntranslatableError", "bind", "register_places"]


def _cxx_name(name: object) -> str:
    """A PTX identifier as one of C++."""
    return re.sub(r"\W", "_", str(name).lstrip("%"))
