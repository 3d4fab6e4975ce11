"""C++ for statements: one instruction is one assignment, in the order of the text.

`emit` takes statements as parsed and what names stand for (`Place`), and gives lines. Registers that the statements
declare become locals, declared where they are first set if that can be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cu2port.ptx import module_data, ops
from cu2port.ptx.bind import CARRY, UntranslatableError, bind, register_places
from cu2port.ptx.fast import relaxed
from cu2port.ptx.ir import Directive, Instruction, Label, Operation, Place, Reg, Scope, Statement, Type, Variable
from cu2port.ptx.isa_memory import each_time
from cu2port.ptx.names import Names
from cu2port.ptx.ops import Effect, Value
from cu2port.ptx.printer import NAMESPACE, Printer, Text, cxx_type
from cu2port.ptx.reserved import KEYWORDS
from cu2port.ptx.table import spelled
from cu2port.ptx.unset import Name, has_ways, unset


@dataclass(frozen=True)
class Emitted:
    """Lines of C++. `helpers`: they call functions of `cu2port/ptx.hpp`, which must be included then.

    `labels`: names of C++ labels in the lines, which begin with a declaration that keeps them local to a block.
    `relaxed`: how many instructions are not exact, since `fp` is "fast".
    """

    lines: tuple[str, ...]
    helpers: bool
    labels: tuple[str, ...] = ()
    relaxed: int = 0


@dataclass(frozen=True)
class Options:
    """`fp`: "exact" or "fast" (no flushing, the hardware's approximations).

    `reserved`: sets of names that locals must not take; those of a file are many, and are not copied. `unique`: what
    `%=` in names becomes. `kernel`: the code is in a kernel's own body, so that a `return` ends the thread. `result`:
    what `ret` returns, as C++. `prefix`: what names of locals begin with. `volatile`: the statements are those of a
    volatile asm statement; `fenced`: the compiler cannot move them as a whole.
    """

    fp: str = "exact"
    reserved: tuple[frozenset[str], ...] = ()
    unique: str = ""
    kernel: bool = False
    result: str = ""
    prefix: str = ""
    volatile: bool = False
    fenced: bool = False
    indent: str = "    "


def emit(statements: Sequence[Statement], places: Mapping[str, Place], options: Options | None = None) -> Emitted:
    """Lines of C++ for statements. Raises UntranslatableError for the first that has no meaning here.

    `places` says what names stand for that the statements do not declare: `%0` and `%[x]` for operands of an asm
    statement.
    """
    emitter = _Emitter(Names({CARRY: Place("", ops.PRED), **places}), options or Options())
    emitter.flag = places.get(CARRY)
    emitter.taken.update(p.text for p in places.values())
    if has_ways(statements):
        emitter.unset = unset(statements).registers
    emitter.block(statements)
    return emitter.finished()


@dataclass
class _Emitter:
    places: Names[Place]
    options: Options
    lines: list[str] = field(default_factory=list)
    undeclared: dict[str, str] = field(default_factory=dict)  # locals without a declaration: C++ name -> C++ type
    top: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    labels: Names[str] = field(default_factory=Names)  # visible labels: PTX name -> C++ name
    tables: dict[str, list[str]] = field(default_factory=dict)  # `.branchtargets`, by its label
    label_names: list[str] = field(default_factory=list)  # every label's C++ name
    jumps: bool = False
    relaxed: int = 0
    flag: Place | None = None  # the carry flag, once an instruction has named it
    counts: dict[str, int] = field(default_factory=dict)  # how often a name was wanted
    unset: frozenset[Name] = frozenset()  # registers that are read where they may have no value
    variables: int = 0  # declarations that have been seen
    first: dict[str, str] = field(default_factory=dict)  # how C++ names of such registers are initialised

    def finished(self) -> Emitted:
        local = [f"__label__ {', '.join(self.label_names)};"] if self.label_names else []
        lines = (*local, *self.top, *self.lines)
        return Emitted(lines, any(NAMESPACE in line for line in lines), tuple(self.label_names), self.relaxed)

    def fresh(self, wanted: str) -> str:
        """A C++ name like `wanted` that nothing else has."""
        base = re.sub(r"\W", "_", wanted.replace("%=", self.options.unique).lstrip("%$")) or "r"
        base = self.options.prefix + (base if not base[0].isdigit() else "r" + base)
        n = self.counts.get(base, 1)
        name = base if n == 1 else f"{base}_{n}"
        options = self.options
        while name in self.taken or name in KEYWORDS or any(name in names for names in options.reserved):
            n += 1
            name = f"{base}_{n}"
        self.counts[base] = n
        self.taken.add(name)
        return name

    def block(self, statements: Sequence[Statement]) -> None:
        """The statements of one scope."""
        self.jumps = self.jumps or any(isinstance(s, Label) for s in _walk(statements))
        for statement in statements:
            if isinstance(statement, Label):
                self.labels[statement.name] = self.fresh(statement.name)
                self.label_names.append(self.labels[statement.name])
        for statement in statements:
            if isinstance(statement, Instruction):
                self.instruction(statement)
            elif isinstance(statement, Label):
                self.lines.append(f"{self.labels[statement.name]}:;")
            elif isinstance(statement, Variable):
                self.variables += 1
                self.variable(statement)
            elif isinstance(statement, Scope):
                self.places.begin()
                self.labels.begin()
                self.block(statement.body)
                self.places.end()
                self.labels.end()
                if self.flag is not None:  # scopes do not hide it
                    self.places[CARRY] = self.flag
            else:
                assert isinstance(statement, Directive)
                self.tables[statement.label] = [o.name for o in statement.operands if isinstance(o, Reg)]

    def variable(self, variable: Variable) -> None:
        if variable.space == "shared" and "extern" not in variable.attributes:
            text = self.fresh(variable.name)
            self.top.append(module_data.declaration(variable, text, {}))
            self.places[variable.name] = module_data.place(variable, text)
        for name, place in register_places((variable,)).items():
            text = self.fresh(name)
            self.places[name] = Place(text, place.type)
            self.undeclared[text] = cxx_type(place.type)
            if (self.variables, name) in self.unset:
                self.first[text] = " = {}"

    def carry(self) -> Place:
        """The carry flag, a local that comes into being when an instruction first names it."""
        if self.flag is None:
            self.flag = Place(self.fresh("carry"), ops.PRED)
            self.places[CARRY] = self.flag
            self.undeclared[self.flag.text] = "bool"
            if (0, CARRY) in self.unset:
                self.first[self.flag.text] = " = {}"
        return self.flag

    def instruction(self, instruction: Instruction) -> None:
        known = self.places
        operation = bind(instruction, known)
        if self.options.volatile:
            operation = each_time(operation, self.options.fenced)
        if self.options.fp == "fast":
            operation, changed = relaxed(operation)
            self.relaxed += changed
        if operation.row.reads or operation.row.writes:
            self.carry()
        out: list[str] = []
        if operation.row.call:
            self.declare(known[CARRY].text, out, instruction.guard is None)
            operation = as_carry_call(operation)
        elif operation.row.helper and weight(operation) > LONGEST:
            operation = as_call(operation)
        printer = Printer(known, {}, self.labels, self.tables, self.options.kernel, self.options.result)
        try:
            self.share(operation, printer, out)
            self.assign(operation, printer, out)
        except ops.NoMeaningError as error:
            raise UntranslatableError(instruction, error.reason, error.instead) from None
        named = any(line.startswith("const ") for line in out)
        guard = instruction.guard
        if guard is None:
            self.lines.extend(
                ["{", *(self.options.indent + line for line in out), "}"] if named and self.jumps else out
            )
        elif out:
            if guard.name not in known:
                raise UntranslatableError(instruction, f"its predicate `{guard.name}` is not declared")
            condition = ("!" if guard.negated else "") + known[guard.name].text
            if len(out) == 1:
                self.lines.append(f"if ({condition}) {out[0]}")
            else:
                self.lines.extend([f"if ({condition}) {{", *(self.options.indent + line for line in out), "}"])

    def declare(self, name: str, out: list[str], here: bool) -> None:
        """Declares a local that is about to be passed by reference, if it is not yet."""
        ctype = self.undeclared.pop(name, None)
        if ctype is not None:
            (out if here and not self.jumps else self.top).append(f"{ctype} {name}{self.first.get(name, '')};")

    def assign(self, operation: Operation, printer: Printer, out: list[str]) -> None:
        """The assignments of an operation, or the statement of its effect."""
        if not operation.targets:
            for value in operation.values:
                out.extend(printer.statement(value).splitlines())
            return
        places = [None if t.name is None else printer.places[t.name] for t in operation.targets]
        for i, value in enumerate(operation.values[1:], 1):
            written = {p.variable for p in places[:i] if p is not None}
            if id(value) not in printer.names and not written.isdisjoint(registers(value, printer)):
                self.name(value, printer, out)
        for i, (place, value) in enumerate(zip(places, operation.values, strict=True)):
            if place is None:
                if value.op.effect is not Effect.NONE and id(value) not in printer.names:
                    out.append(printer.statement(value))
                continue
            text = printer.stored(value) if place.type.is_int else printer.value(value)
            stored = _stored(text, value.type, place, printer)
            if stored == place.text:
                continue
            ctype = self.undeclared.pop(place.text, None)
            if ctype is not None and operation.instruction.guard is None and not self.jumps:
                stored = f"{ctype} {place.text} = {stored};"
            else:
                if ctype is not None:
                    self.top.append(f"{ctype} {place.text}{self.first.get(place.text, '')};")
                stored = f"{place.text} = {stored};"
            out.append(stored)
            if place.type == value.type and not any(
                place.variable == q.variable for q in places[i + 1 :] if q is not None
            ):
                printer.names.setdefault(id(value), place.text)

    def share(self, operation: Operation, printer: Printer, out: list[str]) -> None:
        """Gives a name to what is used more than once."""
        uses: dict[int, int] = {}
        shared: list[Value] = []

        def visit(v: Value) -> None:
            if v.op is ops.CONST:
                return
            key = id(v)
            n = uses.get(key, 0)
            uses[key] = n + 1
            if n:
                return
            if v.op is ops.REG:
                text = printer.places[str(v.attr)].text
                if text in self.undeclared:  # read before it is set
                    self.top.append(f"{self.undeclared.pop(text)} {text} = {{}};")  # PTX has some value there
                return
            for a in v.args:
                visit(a)
            if v.op is not ops.EXTRACT and not v.op.partial:
                shared.append(v)

        for value in operation.values:
            visit(value)
        if len(uses) == 1:
            return
        results = self.results(operation, printer)
        for v in shared:
            if uses[id(v)] > 1 and id(v) not in results:
                self.name(v, printer, out)

    def results(self, operation: Operation, printer: Printer) -> set[int]:
        """The nodes whose name will be the register that they go to: first results that only later results use."""
        if len(operation.targets) < 2 or operation.targets[0].name is None:
            return set()
        first, place = operation.values[0], printer.places[operation.targets[0].name]
        later = {place.variable} & {text for v in operation.values[1:] for text in registers(v, printer)}
        return {id(first)} if place.type == first.type and not later else set()

    def name(self, v: Value, printer: Printer, out: list[str]) -> None:
        name = self.fresh(v.hint or "t")
        text = printer.coerce(printer.value(v), v.type).text if not _widens(printer, v) else printer.value(v).text
        out.append(f"const {cxx_type(v.type)} {name} = {text};")
        printer.names[id(v)] = name


def _widens(printer: Printer, v: Value) -> bool:
    """C++ converts by itself when a name of v's type is initialised."""
    return printer.value(v).type.is_int and v.type.is_int


def _stored(text: Text, type_: Type, place: Place, printer: Printer) -> str:
    """The text of a value as what a place takes; C++ converts integers by itself."""
    have = text.type
    if place.pointer:
        return f"reinterpret_cast<decltype(+{place.text})>({text.text})"  # of an lvalue it would be a reference
    if place.type.is_int and have.is_int:
        return (printer.coerce(text, type_) if place.type.bits > type_.bits else text).text
    # the C++ types, not the kinds: tf32 is a float's bits in an integer
    if cxx_type(place.type) == cxx_type(have) or "p" in (place.type.kind, have.kind):
        return text.text
    text = printer.coerce(text, type_)
    if place.type.bits == type_.bits:
        return printer.coerce(text, place.type).text
    return printer.resized(text, place.type, type_.signed).text


def registers(value: Value, printer: Printer) -> Iterable[str]:
    """The variables that a tree reads, apart from what has got a name."""
    if id(value) in printer.names:
        return
    if value.op is ops.REG:
        yield printer.places[str(value.attr)].variable
    for arg in value.args:
        yield from registers(arg, printer)


def function_body(opcode: str, arguments: Sequence[tuple[str, Type]]) -> tuple[str, tuple[str, ...]]:
    """The C++ type of an instruction's result, and the lines of a function that computes it from named arguments."""
    places = {name: Place(name, t) for name, t in arguments} | {"%d": Place("d", ops.U64)}
    operation = bind(Instruction(opcode, (Reg("%d"), *(Reg(name) for name, _ in arguments))), places)
    emitter = _Emitter(Names(places), Options())
    emitter.taken.update(places)
    printer = Printer(places)
    lines: list[str] = []
    emitter.share(operation, printer, lines)
    value = operation.values[0]
    lines.append(f"return {printer.value(value).text};")
    return cxx_type(value.type), tuple(line.replace(NAMESPACE, "") for line in lines)


LONGEST = 5  # more core operations than this are a call of the row's helper
CALL = ops.Op("call", lambda v, *a: 0, NAMESPACE + "{attr}({all})", loose=True)


def helper_name(opcode: str) -> str:
    """The function of ptx.hpp for an opcode: `bfe.u32` is `bfe_u32`."""
    return re.sub(r"\W+", "_", opcode)


def weight(operation: Operation) -> int:
    """How many core operations an instruction takes."""
    seen: set[int] = set()
    rest = list(operation.values)
    while rest:
        v = rest.pop()
        if id(v) not in seen and v.op not in (ops.CONST, ops.REG):
            seen.add(id(v))
            rest.extend(v.args)
    return len(seen)


def as_call(operation: Operation) -> Operation:
    """The operation as a call of its row's helper."""
    name = helper_name(spelled(operation.row, operation.instruction.opcode))
    value = Value(CALL, operation.values[0].type, operation.arguments, name)
    return Operation(operation.instruction, operation.row, operation.targets, (value,), operation.arguments)


CARRY_CALL = ops.Op("carry_call", lambda v, *a: 0, NAMESPACE + "{attr}({all})", effect=Effect.STATE, loose=True)


def as_carry_call(operation: Operation) -> Operation:
    """The operation as a call that gets the carry flag by reference."""
    t = operation.bindings["t"]
    assert isinstance(t, Type)
    name = operation.row.call.format(**operation.bindings)
    whole = t if "_hi" in name else t.unsigned
    arguments = (*operation.arguments, ops.reg(CARRY, ops.PRED))
    value = Value(CARRY_CALL, t.unsigned, arguments, f"{name}<{cxx_type(whole)}>")
    return Operation(operation.instruction, operation.row, operation.targets[:1], (value,))


def _walk(statements: Iterable[Statement]) -> Iterable[Statement]:
    for statement in statements:
        yield statement
        if isinstance(statement, Scope):
            yield from _walk(statement.body)
