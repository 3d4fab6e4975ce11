"""C++ for statements: one instruction is one assignment, in the order of the text.

`emit` takes statements as parsed and what names stand for (`Place`), and gives lines without indentation of their own
surroundings. Registers that the statements declare become locals, declared where they are first set if that can be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from cu2port.ptx import constants, ops
from cu2port.ptx.bind import CARRY, bind, register_places
from cu2port.ptx.ir import Const, Directive, Instruction, Label, Operation, Place, Reg, Scope, Statement, Type, Variable
from cu2port.ptx.ops import Effect, Value

NAMESPACE = "cu2port::ptx::"


@dataclass(frozen=True)
class Emitted:
    """Lines of C++. `helpers`: they call functions of `cu2port/ptx.hpp`, which must be included then."""

    lines: tuple[str, ...]
    helpers: bool


@dataclass(frozen=True)
class Options:
    """`fp`: "exact" or "fast" (no flushing, the hardware's approximations). `reserved`: names that locals must not
    take."""

    fp: str = "exact"
    reserved: frozenset[str] = frozenset()
    indent: str = "    "


def cxx_type(t: Type) -> str:
    """The C++ type that holds a value of type `t`."""
    if t.lanes > 1:
        return f"{NAMESPACE}{'u' if t.kind == 'b' else t.kind}{t.bits}x{t.lanes}"
    if t.kind == "f" and t.bits >= 32 and t.name != "tf32":
        return "float" if t.bits == 32 else "double"
    if t.kind == "p":
        return "bool"
    if t.bits > 64:
        return f"{NAMESPACE}{'s' if t.signed else 'u'}{t.bits}"
    return f"std::{'' if t.signed else 'u'}int{max(t.bits, 8)}_t"


def emit(statements: Sequence[Statement], places: Mapping[str, Place], options: Options | None = None) -> Emitted:
    """Lines of C++ for statements. Raises UntranslatableError for the first that has no meaning here.

    `places` says what names stand for that the statements do not declare: `%0` and `%[x]` for operands of an asm
    statement.
    """
    emitter = _Emitter(dict(places), options or Options())
    emitter.block(statements)
    lines = emitter.finished()
    return Emitted(lines, any(NAMESPACE in line for line in lines))


def expression(value: Value, places: Mapping[str, Place]) -> str:
    """One tree as a C++ expression."""
    return _Printer(places).value(value).text


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    level: int
    type: Type  # what C++ makes of it; small integers of arithmetic are `s32` by promotion


_INFIX = {"+", "*", "&", "|", "^", "&&", "||"}


@dataclass
class _Printer:
    """Trees as C++ expressions. `names`: nodes that have got a name, by id."""

    places: Mapping[str, Place]
    names: dict[int, str] = field(default_factory=dict)

    def value(self, v: Value) -> _Text:
        name = self.names.get(id(v))
        if name is not None:
            return _Text(name, 16, v.type)
        op = v.op
        if op is ops.CONST:
            assert isinstance(v.attr, int)
            return _Text(literal(v.attr, v.type), 16 if not v.type.signed else 15, v.type)
        if op is ops.REG:
            place = self.places[str(v.attr)]
            return self.register(place, v.type)
        if op is ops.EXTRACT:
            return _Text(f"{self.value(v.args[0]).text}[{v.attr}]", 16, v.type)
        if op is ops.CONVERT:
            return self.conversion(v)
        if op is ops.SELECT:
            condition = self.wrap(self.value(v.args[0]), 3)
            arms = [self.coerce(self.value(a), v.type) for a in v.args[1:]]
            return _Text(f"{condition} ? {self.wrap(arms[0], 3)} : {self.wrap(arms[1], 2)}", 2, v.type)
        if callable(op.spelling):
            texts = [self.exact(a).text for a in v.args]
            return _Text(op.spelling(v, texts), op.level, v.type)
        if op.level == 16:
            return self.call(v)
        return self.operator(v)

    def register(self, place: Place, wanted: Type) -> _Text:
        if place.pointer:
            return _Text(f"reinterpret_cast<std::uint64_t>({place.text})", 16, ops.U64)
        have = place.type
        level = 16 if place.text.replace("_", "a").isalnum() else 15 if place.text[-1] in ")]" else 0
        text = _Text(place.text, level, have)
        if have.bits == wanted.bits and (have.kind == wanted.kind or (have.is_int and wanted.is_int)):
            return text
        if have.bits == wanted.bits:
            return _Text(f"__builtin_bit_cast({cxx_type(wanted)}, {place.text})", 16, wanted)
        return _Text(f"{cxx_type(wanted)}({place.text})", 16, wanted)

    def conversion(self, v: Value) -> _Text:
        inner = self.value(v.args[0])
        source, wanted = v.args[0].type, v.type
        if source.kind == "p" or source.bits != wanted.bits:
            inner = self.coerce(inner, source)
            return _Text(f"{cxx_type(wanted)}({inner.text})", 16, wanted)
        return inner if inner.type.bits == wanted.bits else self.coerce(inner, wanted)

    def exact(self, v: Value) -> _Text:
        return self.coerce(self.value(v), v.type)

    def coerce(self, text: _Text, wanted: Type) -> _Text:
        """The text as exactly the C++ type of `wanted`; only between types that hold the same bits."""
        have = text.type
        if have == wanted or cxx_type(have) == cxx_type(wanted):
            return text
        if have.is_int and wanted.is_int:
            return _Text(f"{cxx_type(wanted)}({text.text})", 16, wanted)
        return _Text(f"__builtin_bit_cast({cxx_type(wanted)}, {text.text})", 16, wanted)

    def wrap(self, text: _Text, level: int) -> str:
        return text.text if text.level >= level else f"({text.text})"

    def call(self, v: Value) -> _Text:
        assert isinstance(v.op.spelling, str)
        texts = [self.argument(a) if v.op.loose else self.exact(a).text for a in v.args]
        first = cxx_type(v.args[0].type) if v.args else ""
        spelled = v.op.spelling.format(*texts, t=cxx_type(v.type), a=first, attr=v.attr, all=", ".join(texts))
        return _Text(spelled, 16, v.type)

    def argument(self, v: Value) -> str:
        """An argument of a function with one signature: C++ converts between integers of one width."""
        if v.constant is not None and v.type.is_int and v.constant <= 0x7FFFFFFF:
            return _digits(v.constant)
        text = self.value(v)
        same = text.type.is_int and v.type.is_int and text.type.bits == v.type.bits
        return text.text if same else self.coerce(text, v.type).text

    def operator(self, v: Value) -> _Text:
        op = v.op
        assert isinstance(op.spelling, str)
        texts = [self.value(a) for a in v.args]
        result = v.type
        if op in (ops.SHL, ops.SHR):
            wanted = v.type.unsigned if op is ops.SHL else v.type
            if wanted.bits < 32 and op is ops.SHL:
                wanted = ops.U32
                texts[0] = _Text(f"std::uint32_t({texts[0].text})", 16, wanted)
            texts[0] = self.coerce(texts[0], wanted)
            texts[1] = _Text(str(v.args[1].constant), 16, ops.S32) if v.args[1].op is ops.CONST else texts[1]
            result = wanted
        elif v.type.is_int and len(texts) == 2 and op.level not in (8, 9):
            result = self.balance(v, texts)
        elif op.level in (8, 9) and v.args[0].type.is_int:
            wanted = v.args[0].type
            texts = [_plain(v.args[i], t, v.args[1 - i]) or self.coerce(t, wanted) for i, t in enumerate(texts)]
            if op in (ops.EQ, ops.NE):
                pass
        elif op is ops.NEG or op is ops.NOT:
            texts[0] = self.coerce(texts[0], v.type.unsigned)
            result = v.type.unsigned
        if v.type.is_int and v.type.bits < 32 and op.level not in (8, 9):
            result = ops.S32 if result is not ops.U32 else ops.U32
        inner = [self.operand(op, i, texts[i], v.args[i]) for i in range(len(texts))]
        return _Text(op.spelling.format(*inner), op.level, result)

    def balance(self, v: Value, texts: list[_Text]) -> Type:
        """Makes the usual conversions give the unsigned type where the operation needs it; the type they give."""
        want = v.type.unsigned if v.op.wrap or not v.type.signed else v.type
        if v.op is ops.MUL and want.bits < 32:
            texts[0] = _Text(f"std::uint32_t({texts[0].text})", 16, ops.U32)
            return ops.U32
        if want.bits < 32:
            return want
        fits = [t.type.bits == want.bits and t.type.kind != "s" for t in texts]
        for i, text in enumerate(texts):
            plain = _plain(v.args[i], text, v.args[1 - i])
            if plain is not None and fits[1 - i]:
                texts[i] = plain
            elif not (want.kind == "u" and fits[1 - i] and text.type.is_int and text.type.bits == want.bits):
                if want.signed and text.type.is_int and text.type.bits == want.bits:
                    continue
                texts[i] = self.coerce(text, want)
                fits[i] = True
        return want if want.kind != "s" or not any(fits) else want.unsigned

    def operand(self, op: ops.Op, index: int, text: _Text, arg: Value) -> str:
        """An operand with brackets where C++ or a reader needs them."""
        level = op.level
        if text.level >= 15:
            return text.text
        if level == 15:
            return f"({text.text})"
        tight = {12: 12, 13: 13, 9: 12, 8: 12, 4: 8, 3: 8}.get(level, 15)
        if index == 1 and level in (12, 13):
            tight = level + 1
        if arg.op is op and index == 0 and text.level == level:
            return text.text
        return text.text if text.level >= tight else f"({text.text})"


def _plain(arg: Value, text: _Text, other: Value) -> _Text | None:
    """A small constant without a suffix, beside something that already has the type; None for anything else."""
    c = arg.constant
    if c is None or other.op is ops.CONST or arg.type.bits < 8:
        return None
    if c <= 0x7FFFFFFF:
        return _Text(_digits(c), 16, arg.type)
    return None


def _digits(c: int) -> str:
    return str(c) if c < 100 or (c % 10 == 0 and c <= 10000) else hex(c)


def literal(value: int, t: Type) -> str:
    """A constant of exactly the C++ type of `t`."""
    if t.kind == "p":
        return "true" if value else "false"
    if t.name in ("f32", "f64"):
        number = constants.double(Const(value, "f" if t.bits == 64 else t.name))
        text = repr(number)
        if isfinite(number) and len(text) < 12:
            return text + ("f" if t.bits == 32 else "")
        return f"__builtin_bit_cast({cxx_type(t)}, {literal(value, t.unsigned)})"
    number = ops.read(value, t)
    if t.bits < 32 or t.name == "tf32":
        return f"{cxx_type(t)}({number if t.signed else _digits(number)})"
    if t.bits == 32:
        if t.signed:
            return str(number) if number > -(1 << 31) else "(-0x7fffffff - 1)"
        return _digits(number) + "u"
    if t.bits == 64:
        if t.signed:
            return f"std::int64_t({number})" if number > -(1 << 63) else "(-0x7fffffffffffffff - 1)"
        return f"std::uint64_t({_digits(number)})" if number < 1 << 31 else f"{_digits(number)}ull"
    high, low = value >> 64, value & (1 << 64) - 1
    return f"({cxx_type(t)}({high:#x}ull) << 64 | {low:#x}ull)"


@dataclass
class _Emitter:
    places: dict[str, Place]
    options: Options
    lines: list[str] = field(default_factory=list)
    declared: dict[str, str] = field(default_factory=dict)  # locals not yet declared: PTX name -> C++ type
    top: list[str] = field(default_factory=list)
    counter: int = 0
    labels: bool = False

    def finished(self) -> tuple[str, ...]:
        return (*self.top, *self.lines)

    def block(self, statements: Sequence[Statement]) -> None:
        self.labels = self.labels or any(isinstance(s, Label) for s in _walk(statements))
        for statement in statements:
            if isinstance(statement, Instruction):
                self.instruction(statement)
            elif isinstance(statement, Label):
                self.lines.append(f"{statement.name.lstrip('%').replace('$', '_')}:;")
            elif isinstance(statement, Variable):
                self.variable(statement)
            elif isinstance(statement, Scope):
                outer = dict(self.places)
                self.block(statement.body)
                self.places = outer
            else:
                assert isinstance(statement, Directive)

    def variable(self, variable: Variable) -> None:
        taken = self.options.reserved | {p.text for p in self.places.values()}
        for name, place in register_places((variable,)).items():
            text = place.text
            while text in taken:
                text += "_"
            self.places[name] = Place(text, place.type)
            self.declared[name] = cxx_type(place.type)

    def instruction(self, instruction: Instruction) -> None:
        known = {CARRY: Place("carry", ops.PRED), **self.places}
        operation = bind(instruction, known)
        printer = _Printer(known)
        guard = instruction.guard
        out: list[str] = []
        effects = not operation.targets
        if operation.row.helper and _weight(operation) > LONGEST:
            operation = _as_call(operation)
        self.share(operation, printer, out)
        clash = len(operation.targets) > 1
        for target, value in zip(operation.targets, operation.values, strict=False):
            if target.name is None:
                if value.op.effect is not Effect.NONE:
                    out.append(f"{printer.value(value).text};")
                continue
            text = printer.value(value)
            place = known[target.name]
            stored = self.stored(text, value.type, place, printer)
            if clash and len(operation.values) > 1 and value.op not in (ops.EXTRACT, ops.CONST):
                pass
            ctype = self.declared.get(target.name)
            if ctype is not None and guard is None and not self.labels:
                del self.declared[target.name]
                out.append(f"{ctype} {place.text} = {stored};")
            else:
                if ctype is not None:
                    del self.declared[target.name]
                    self.top.append(f"{ctype} {place.text};")
                out.append(f"{place.text} = {stored};")
        if effects:
            out.extend(f"{printer.value(v).text};" for v in operation.values)
        if guard is None:
            self.lines.extend(out)
        else:
            condition = printer.places[guard.name].text
            condition = f"!{condition}" if guard.negated else condition
            if len(out) == 1:
                self.lines.append(f"if ({condition}) {out[0]}")
            else:
                indent = self.options.indent
                self.lines.extend([f"if ({condition}) {{", *(indent + line for line in out), "}"])

    def stored(self, text: _Text, type_: Type, place: Place, printer: _Printer) -> str:
        """The text of a value as what a place takes; C++ converts integers by itself."""
        have = text.type
        if place.pointer:
            return f"reinterpret_cast<decltype({place.text})>({text.text})"
        if place.type.is_int and have.is_int:
            if place.type.bits > type_.bits:
                text = printer.coerce(text, type_)
            return text.text
        if place.type.bits == type_.bits and place.type.kind != have.kind and "p" not in (place.type.kind, have.kind):
            return printer.coerce(printer.coerce(text, type_), place.type).text
        return text.text

    def share(self, operation: Operation, printer: _Printer, out: list[str]) -> None:
        """Names for nodes that are used more than once or must be evaluated exactly once."""
        uses: dict[int, int] = {}
        order: list[Value] = []

        def visit(v: Value) -> None:
            uses[id(v)] = uses.get(id(v), 0) + 1
            if uses[id(v)] == 1:
                for a in v.args:
                    visit(a)
                order.append(v)

        for value in operation.values:
            visit(value)
        for v in order:
            if uses[id(v)] > 1 and v.op not in (ops.CONST, ops.REG) and not v.op.partial:
                self.counter += 1
                name = v.hint or f"t{self.counter}"
                out.append(f"const {cxx_type(v.type)} {name} = {printer.value(v).text};")
                printer.names[id(v)] = name


def function_body(opcode: str, arguments: Sequence[tuple[str, Type]]) -> tuple[str, tuple[str, ...]]:
    """The C++ type of an instruction's result, and the lines of a function that computes it from named arguments."""
    places = {name: Place(name, t) for name, t in arguments} | {"d": Place("d", ops.U64)}
    operation = bind(Instruction(opcode, (Reg("d"), *(Reg(name) for name, _ in arguments))), places)
    emitter = _Emitter(places, Options())
    printer = _Printer(places)
    lines: list[str] = []
    emitter.share(operation, printer, lines)
    value = operation.values[0]
    lines.append(f"return {printer.value(value).text.replace(NAMESPACE, '')};")
    return cxx_type(value.type), tuple(line.replace(NAMESPACE, "") for line in lines)


LONGEST = 5  # more core operations than this are a call of the row's helper


def helper_name(opcode: str) -> str:
    """The function of ptx.hpp for an opcode: `bfe.u32` is `bfe_u32`."""
    return re.sub(r"\W+", "_", opcode)


def _weight(operation: Operation) -> int:
    """How many core operations an instruction takes."""
    seen: dict[int, Value] = {}
    rest = list(operation.values)
    while rest:
        v = rest.pop()
        if id(v) not in seen and v.op not in (ops.CONST, ops.REG):
            seen[id(v)] = v
            rest.extend(v.args)
    return len(seen)


CALL = ops.Op("call", lambda v, *a: 0, NAMESPACE + "{attr}({all})", loose=True)


def _as_call(operation: Operation) -> Operation:
    """The operation as a call of its row's helper."""
    value = Value(CALL, operation.values[0].type, operation.arguments, helper_name(operation.instruction.opcode))
    return Operation(operation.instruction, operation.row, operation.targets, (value,), operation.arguments)


def _walk(statements: Iterable[Statement]) -> Iterable[Statement]:
    for statement in statements:
        yield statement
        if isinstance(statement, Scope):
            yield from _walk(statement.body)
