"""From an asm statement to C++: what its operands are, and lines in which they stand as placeholders.

A placeholder is an identifier, `ptx_operand_3_`, and stands for the bytes of that operand's expression; whatever makes
edits of the lines puts the original bytes there, so that edits inside of an operand still apply.

The assembler reads all inputs into registers before the first instruction and writes outputs back after the last.
C++ lines may write an output earlier; where an input that is read later may be the same object, it is copied first.
"""

from __future__ import annotations

import re
from collections import Counter

from cu2port.ptx import special
from cu2port.ptx.asm import Reading
from cu2port.ptx.bind import CARRY, UntranslatableError
from cu2port.ptx.carry import reads_carry
from cu2port.ptx.emit import Options, emit
from cu2port.ptx.ir import TYPES, WIDE, Place, Reg, Statement, Type, Variable
from cu2port.ptx.lifted import CHAIN, TOGETHER, Context, Lifted, RefusedError, parse
from cu2port.ptx.operand_text import EFFECT, LOOSE, SIMPLE, WRITTEN, bare, number, stem, tidy
from cu2port.ptx.operand_types import immediate
from cu2port.ptx.printer import NAMESPACE, cxx_type
from cu2port.ptx.rename import Renamer, declared, has_target, instructions, labels, mentioned
from cu2port.ptx.table import find
from cu2port.ptx.unset import has_ways, outputs_unset
from cu2port.syntax.lexer import lex

_LETTER = {"h": "u16", "r": "u32", "l": "u64", "q": "u128", "f": "f32", "d": "f64", "b": "pred", "n": "s32"}
_CXX = {
    "unsigned char": "u8",
    "signed char": "s8",
    "unsigned short": "u16",
    "short": "s16",
    "unsigned int": "u32",
    "int": "s32",
    "unsigned long": "u64",
    "long": "s64",
    "unsigned long long": "u64",
    "long long": "s64",
    "unsigned __int128": "u128",
    "__int128": "s128",
    "float": "f32",
    "double": "f64",
}
_CONSTANT = re.compile(r"[-+\s\d]+\Z")


def lift(reading: Reading, context: Context) -> Lifted:
    """C++ for one reading of a statement. Raises RefusedError for what has no meaning in HIP."""
    statements = tuple(
        s for s in parse(reading) if not isinstance(s, Variable) or context.shared.keys().isdisjoint(s.names)
    )
    opcodes = tuple(i.opcode for i in instructions(statements))
    if not opcodes and any(declared(statements)):
        raise RefusedError("", "what it declares is for other asm statements", TOGETHER, shared=True)
    return _Lifter(reading, context, statements).lifted(opcodes)


class _Lifter:
    def __init__(self, reading: Reading, context: Context, statements: tuple[Statement, ...]) -> None:
        self.reading, self.context, self.statements = reading, context, statements
        self.operands = reading.operands
        self.names = {f"%{i}": i for i in range(len(self.operands))}
        self.names |= {f"%[{o.name}]": i for i, o in enumerate(self.operands) if o.name}
        self.lines_before: list[str] = []
        self.lines_after: list[str] = []
        self.copies: dict[int, str] = {}
        self.taken: set[str] = set()  # beside those that the file reserves: they are many, and not copied
        # names of a macro's locals must not hide what it is called with, in other files too
        self.prefix = "" if context.macro is None else "ptx_"
        self.scratch: set[int] = set()
        self.unset: frozenset[str] = frozenset()  # outputs that may have no value
        self.bound: dict[int, str] = {}  # outputs that are bound before the first line, and their names

    def lifted(self, opcodes: tuple[str, ...]) -> Lifted:
        for operand in self.operands:
            if operand.letter == "C":
                raise RefusedError("", "its text comes from a constant array (constraint `C`)")
            if operand.letter not in _LETTER:
                raise RefusedError("", f"the constraint of an operand is not known (`{operand.letter.lstrip('?')}`)")
        accesses = self.accesses()
        self.check_carry()
        self.check_names()
        if has_ways(self.statements):
            lacking = outputs_unset(self.statements, self.operands)
            self.unset = lacking.read | lacking.left
        # nvcc lets a text write an input, which then is a register of its own
        self.scratch = {i for i, written, _ in accesses if written and not self.operands[i].output}
        for i in self.to_copy(accesses):
            self.copy(i)
        self.bound = {i: self.local(i, "_out") for i in self.to_bind(accesses)}
        kept = [i for i in range(self.reading.outputs) if f"%{i}" in self.unset and i not in self.copies]
        kept = [i for i in kept if not EFFECT.search(self.text(i))]
        if kept:
            self.lines_before.append(f"{NAMESPACE}may_stay({', '.join(f'ptx_operand_{i}_' for i in kept)});")
        renamed = Renamer(self.new_name).statements(self.statements)
        # without results it is volatile anyway; a statement that may touch memory is not joined with others either
        volatile = self.context.volatile or self.reading.memory or not self.reading.outputs
        options = Options(
            fp=self.context.fp,
            reserved=(*self.context.reserved, frozenset(self.taken)),
            prefix=self.prefix,
            kernel=self.context.kernel,
            volatile=volatile,
            fenced=self.reading.memory,
        )
        try:
            emitted = emit(renamed, self.places(), options)
        except UntranslatableError as e:
            raise RefusedError(e.instruction.opcode, e.reason, e.instead) from None
        lines = [self.tidy(line) for line in (*self.lines_before, *emitted.lines, *self.lines_after)]
        lines = self.bound_outputs(self.bound_once(lines))
        self.check_effects(lines)
        first = [line for line in lines if line.startswith("__label__ ")]
        lines = [line for line in lines if not line.startswith("__label__ ")]
        if self.reading.memory and self.fences_needed():
            fence = 'asm volatile("" ::: "memory");'
            lines = [fence, *lines, fence] if self.touches_memory() else [*lines, fence]
        lines = [*first, *lines]  # C++ requires local labels at the beginning of their block
        scoped = bool(emitted.labels) or any(_DECLARES.match(line) for line in lines)
        helpers = any(NAMESPACE in line for line in lines)
        return Lifted(tuple(lines), opcodes, scoped, helpers)

    def new_name(self, name: str, written: bool) -> str:
        i = self.names.get(name)
        return name if i is None else _written(i) if written else f"%{i}"

    # --- operands ---------------------------------------------------------------------------------------------------

    def text(self, i: int) -> str:
        span = self.operands[i].expr
        return self.context.text[span.start : span.end]

    def placeholder(self, i: int) -> str:
        """What stands for an operand in an expression: bare where its own text needs no brackets."""
        name = f"ptx_operand_{i}_"
        if self.operands[i].output and not self.context.macro:
            return f"({name})" if LOOSE.search(self.text(i)) else name
        return name if self.simple(i) else f"({name})"

    def simple(self, i: int) -> bool:
        """Whether an operand is a name, an element or a number, that can stand anywhere and be read twice."""
        text = self.text(i)
        return bool(SIMPLE.match(text)) and not (self.context.macro and not self.context.macro.isdisjoint(lex(text).t))

    def known(self, i: int) -> Type | None:
        """The operand's C++ type, if it is one with the bits that its constraint asks for."""
        expr = self.context.types.get(self.operands[i].expr)
        type_ = TYPES.get(_CXX.get(expr.type.removeprefix("const ").removeprefix("volatile "), "")) if expr else None
        letter = TYPES.get(_LETTER.get(self.operands[i].letter, ""))
        return type_ if type_ is not None and letter is not None and type_.bits == letter.bits else None

    def pointer(self, i: int) -> bool:
        expr = self.context.types.get(self.operands[i].expr)
        return expr is not None and expr.type.rstrip(" const").endswith(("*", "]")) and self.operands[i].letter == "l"

    def constant(self, i: int) -> int | None:
        operand = self.operands[i]
        expr = self.context.types.get(operand.expr)
        if operand.letter == "n" and (value := immediate(expr)) is not None:
            return value
        return None if operand.output else number(self.text(i))

    def places(self) -> dict[str, Place]:
        """What reading (`%3`), reading as 64 bits (`%3.wide`) and writing (`%3.write`) an operand means."""
        out: dict[str, Place] = dict(self.context.shared)
        for i, operand in enumerate(self.operands):
            letter = TYPES[_LETTER[operand.letter]]
            constant = self.constant(i)
            if i in self.copies:
                out[f"%{i}"] = out[_written(i)] = Place(self.copies[i], letter)
                continue
            type_ = self.known(i)
            name = self.placeholder(i)
            if constant is not None and (operand.letter == "n" or letter.is_int):
                out[f"%{i}"] = Place(name, letter, constant=constant)
            elif self.pointer(i):
                out[f"%{i}"] = Place(name, letter, pointer=True)
            elif type_ is not None:
                out[f"%{i}"] = Place(name, type_)
            elif operand.letter == "l":
                out[f"%{i}"] = Place(f"{NAMESPACE}address({name})", letter, object=name)
            elif letter.is_int:
                expr = self.context.types.get(operand.expr)
                short = operand.letter == "n" and expr is not None and 0 < expr.bits < 32 and expr.signed is False
                read = f"{NAMESPACE}immediate({name})" if short else bare(name)
                out[f"%{i}"] = Place(f"{cxx_type(letter)}({read})", letter, object=name)
            else:
                out[f"%{i}"] = Place(name, letter)
            if operand.letter == "n" and constant is None:
                out[WIDE.format(f"%{i}")] = Place(f"{NAMESPACE}immediate({name})", TYPES["s64"], object=name)
            out[_written(i)] = Place(name, type_ or letter, pointer=self.pointer(i))
        return out

    # --- what must be copied ------------------------------------------------------------------------------------------

    def accesses(self) -> list[tuple[int, bool, int]]:
        """(operand, written, index of the instruction) in order."""
        out: list[tuple[int, bool, int]] = []
        for n, instruction in enumerate(instructions(self.statements)):
            target = has_target(instruction)
            for k, operand in enumerate(instruction.operands):
                written = k == 0 and target
                out.extend((self.names[name], written, n) for r in mentioned(operand) if (name := r.name) in self.names)
        return out

    def to_copy(self, accesses: list[tuple[int, bool, int]]) -> list[int]:
        """Operands that lines must not touch directly: see the module's docstring."""
        out = set()
        reads = Counter(i for i, written, _ in accesses if not written)
        last_read = {i: n for i, written, n in accesses if not written}
        writes = Counter(i for i, written, _ in accesses if written)
        first_write = {i: n for i, written, n in reversed(accesses) if written}
        branches = any(labels(self.statements))
        # what memory or a product gives has a name before any element of it is written
        whole = {n for n, x in enumerate(instructions(self.statements)) if x.name in _WHOLE}
        together: dict[int, list[int]] = {}  # what one instruction writes
        for i, written, n in accesses:
            if written and n not in whole:
                together.setdefault(n, []).append(i)
        for i, operand in enumerate(self.operands):
            text = self.text(i)
            if operand.output:
                if (writes[i] > 1 or reads[i] > 1 or branches) and not SIMPLE.match(text):
                    out.add(i)
                continue
            if i in self.scratch or EFFECT.search(text):
                out.add(i)
                continue
            if self.constant(i) is not None or _CONSTANT.match(text):
                continue
            last = last_read.get(i, -1)
            before = [k for k, n in first_write.items() if n < last or branches]
            others = together.get(last, [])
            if any(self.may_alias(i, k) for k in (*before, *(others if len(others) > 1 else ()))):
                out.add(i)
        return sorted(out)

    def may_alias(self, read: int, written: int) -> bool:
        """Whether writing one operand may change what another one's expression gives."""
        return self.context.objects.may_alias(self.text(read), self.text(written))

    def to_bind(self, accesses: list[tuple[int, bool, int]]) -> list[int]:
        """Outputs whose lvalue means another object once another output has been written, as a[i] beside i."""
        end = len(accesses) if any(labels(self.statements)) else -1
        first = {k: n for k, written, n in reversed(accesses) if written}
        last = {i: end if i not in self.copies else len(accesses) for i, _, _ in accesses}
        last |= {i: n for i, _, n in accesses if n > last[i]}
        outputs = [i for i in last if self.operands[i].output]
        late = [(i, k) for i in outputs for k in outputs if i != k and k in first and last[i] >= first[k]]
        return sorted({i for i, k in late if self.may_move(i, k)})

    def may_move(self, lvalue: int, written: int) -> bool:
        texts = self.text(lvalue), self.text(written)
        parameters = self.context.macro or frozenset()
        if all(not parameters.isdisjoint(lex(text).t) for text in texts):
            return True
        return self.context.objects.may_move(*texts, self.operands[written].letter == "l")

    def local(self, i: int, suffix: str) -> str:
        """A name for a local that stands for an operand."""
        name = self.prefix + (self.operands[i].name or stem(self.text(i)) or f"in{i}") + suffix
        while name in self.taken or any(name in names for names in self.context.reserved):
            name += "_"
        self.taken.add(name)
        return name

    def bound_outputs(self, lines: list[str]) -> list[str]:
        """Lines in which an output that others' values may move is bound before the first."""
        out = [f"auto& {name} = ptx_operand_{i}_;" for i, name in self.bound.items()]
        for line in lines:
            for i, name in self.bound.items():
                line = re.sub(rf"(?<![\w>])\(ptx_operand_{i}_\)|\bptx_operand_{i}_\b", name, line)
            out.append(line)
        return out

    def copy(self, i: int) -> None:
        """Gives an operand a local of its own: read before the first line, written back after the last."""
        operand = self.operands[i]
        letter = TYPES[_LETTER[operand.letter]]
        name = self.copies[i] = self.local(i, "_out" if operand.output else "_in")
        type_ = cxx_type(letter)
        source = f"(ptx_operand_{i}_)" if operand.output else f"ptx_operand_{i}_"
        if operand.output:
            first = f" = {self.converted(i)}" if operand.read else " = {}" if f"%{i}" in self.unset else ""
            self.lines_before.append(f"{type_} {name}{first};")
            self.lines_after.append(f"{source} = {self.back(i, name)};")
        else:
            qualifier = "" if i in self.scratch else "const "
            self.lines_before.append(f"{qualifier}{type_} {name} = {self.converted(i)};")

    def converted(self, i: int) -> str:
        """What a copy of an operand is initialised with."""
        source, operand = f"ptx_operand_{i}_", self.operands[i]
        if self.pointer(i) or (operand.letter == "l" and self.known(i) is None):
            return f"{NAMESPACE}address({source})"
        return source

    def back(self, i: int, name: str) -> str:
        if not self.pointer(i):
            return name
        return f"reinterpret_cast<{self.context.types[self.operands[i].expr].type}>({name})"

    def bound_once(self, lines: list[str]) -> list[str]:
        """Lines in which an input's expression that is more than a name is evaluated once."""
        for i, operand in enumerate(self.operands):
            name = f"ptx_operand_{i}_"
            if operand.output or i in self.copies or self.simple(i):
                continue
            if sum(len(re.findall(rf"\b{name}\b", line)) for line in lines) < 2:
                continue
            self.lines_before.clear()
            self.copy(i)
            cast = f"{cxx_type(TYPES[_LETTER[operand.letter]])}({name})"  # which the copy has had
            unwrapped = (re.sub(rf"(?<![\w>])\({name}\)", name, self.tidy(line.replace(cast, name))) for line in lines)
            lines = [*self.lines_before, *(line.replace(name, self.copies[i]) for line in unwrapped)]
        return lines

    def tidy(self, line: str) -> str:
        """Without brackets that neither C++ nor a reader needs."""
        return WRITTEN.sub(lambda m: m[0] if LOOSE.search(self.text(int(m[2]))) else f"{m[1]} = ", tidy(line))

    def check_effects(self, lines: list[str]) -> None:
        """Refuses an output whose expression changes something and would be evaluated twice."""
        for i, operand in enumerate(self.operands):
            if not operand.output or not EFFECT.search(self.text(i)):
                continue
            if sum(len(re.findall(rf"\bptx_operand_{i}_\b", line)) for line in lines) != 1:
                raise RefusedError("", f"`{self.text(i)}` would not be evaluated once", "evaluate it before")

    # --- carry, labels, memory ----------------------------------------------------------------------------------------

    def check_carry(self) -> None:
        """Refuses a carry that comes from another statement."""
        if CARRY not in self.context.shared and reads_carry(self.statements):
            first = next(i for i in instructions(self.statements) if (m := find(i.opcode)) and m.row.reads)
            raise RefusedError(
                first.opcode,
                "its carry comes from another asm statement, which nothing in C++ can hand on",
                CHAIN,
                shared=True,
            )

    def check_names(self) -> None:
        """Refuses registers, predicates and labels that another statement declares."""
        known = {*declared(self.statements), *labels(self.statements), *self.names, *self.context.shared, "_"}
        known |= {n.lstrip("%") for n in known}
        for i in instructions(self.statements):
            used = [r for o in i.operands for r in mentioned(o)]
            for r in (*used, *([Reg(i.guard.name)] if i.guard is not None else [])):
                if r.name in known or r.name.lstrip("%") in known or i.name == "call":
                    continue
                if special.value(r.name, r.select) is None and special.missing(r.name) is None and not r.select:
                    raise RefusedError(
                        i.opcode, f"`{r.name}` is declared in another asm statement", TOGETHER, shared=True
                    )

    def touches_memory(self) -> bool:
        return any(i.name in _MEMORY for i in instructions(self.statements))

    def fences_needed(self) -> bool:
        """Whether order against other memory accesses is not already kept by what the instructions are.

        An asynchronous copy has none with accesses around it. A fence would make each copy wait for its load.
        """
        if not self.touches_memory() and any(_COPY.match(i.opcode) for i in instructions(self.statements)):
            return False
        # a fence between ways to memory becomes nothing
        return not all(i.name in _FENCES and ".proxy." not in i.opcode for i in instructions(self.statements))


_MEMORY = frozenset({"ld", "ldu", "st", "atom", "red", "ldmatrix", "stmatrix"})
_WHOLE = _MEMORY | {"mma"}
_COPY = re.compile(r"cp\.async\.c[ag]\b")
_FENCES = frozenset({"bar", "barrier", "membar", "fence", "trap", "exit"})
_ADDRESS = re.compile(
    rf"(\b(?:ld|st|atom|red)\w*(?:<[^()]*>)?)\((?:{NAMESPACE}address|reinterpret_cast<std::uint64_t>)"
    r"\(\(?(ptx_operand_\d+_)\)?\)(?=[,)])"
)
_DECLARES = re.compile(r"(?:const )?[A-Za-z_][\w:<>, ]*[\w>&] [A-Za-z_]\w*(?:_)?(?: = |;)")


def _written(i: int) -> str:
    return f"%{i}.write"
