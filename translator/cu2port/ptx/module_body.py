"""The body of a module's function in C++: parameters, calls, variables and ends, which inline PTX does not have."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cu2port.ptx import emit
from cu2port.ptx.bind import UntranslatableError, bind
from cu2port.ptx.families import family
from cu2port.ptx.ir import (
    TYPES,
    Address,
    Directive,
    Function,
    Group,
    Instruction,
    Operand,
    Place,
    Reg,
    Statement,
    Type,
    Variable,
    Vector,
)
from cu2port.ptx.module_data import (
    aligned,
    declaration,
    element,
    extent,
    place,
    value_type,
)
from cu2port.ptx.module_facts import RUNTIME, Facts, Left, is_builtin
from cu2port.ptx.module_print import Formats, printf
from cu2port.ptx.names import Names
from cu2port.ptx.printer import NAMESPACE, Printer, Text, cxx_type
from cu2port.ptx.rename import directives, instructions, mentioned
from cu2port.ptx.unset import unset

INDENT = "    "
_WIDER = "compile the PTX for addresses of 64 bits (`nvcc -m64`): HIP's programs have no pointers of 32 bits to pass"
EXITED = "exited"  # what a function tells its caller with, where it ended the thread


class Body(emit._Emitter):
    """The emitter for a function's body."""

    def __init__(
        self,
        facts: Facts,
        f: Function,
        places: Mapping[str, Place],
        parameters: Sequence[str],
        reserved: frozenset[str],
    ) -> None:
        """`parameters`: the C++ names of parameters and results, in this order. `reserved`: those of the module."""
        super().__init__(Names({**places}), emit.Options(fp=facts.fp, kernel=f.is_entry, reserved=(reserved,)))
        self.facts, self.f = facts, f
        self.params: Names[Variable] = Names()  # parameters in scope: those of the function, and those for calls
        self.prototypes: dict[str, Directive] = {}
        self.formats: Formats | None = None
        self.taken.update(parameters)
        self.taken.update({"malloc", "free", "printf", EXITED})
        self.returned = f.returns[0].name if len(f.returns) == 1 else ""
        self.may_exit = f.name in facts.exiting or any(
            i.name == "call" and any(isinstance(o, Reg) and o.name in facts.exiting for o in i.operands)
            for i in instructions(f.body or ())
        )
        for p, text in zip((*f.params, *f.returns), parameters, strict=True):
            self.parameter_place(p, text)

    def written(self) -> list[str]:
        """The lines of the body."""
        body = self.f.body or ()
        for d in directives(body):
            if d.name == "branchtargets":
                self.tables[d.label] = [o.name for o in d.operands if isinstance(o, Reg)]
            elif d.label:
                self.prototypes[d.label] = d
        lacking = unset(body, (self.returned,) if self.returned else ())
        self.unset = lacking.registers
        if self.returned:
            (result,) = self.f.returns
            first = " = {}" if self.returned in lacking.left else ""
            self.top.append(f"{self.facts.structs.type_of(result)} {self.text_of(result.name)}{first};")
        self.top += [declaration(v, self.facts.names[v.name], {}) for v in self.facts.own.get(self.f.name, ())]
        if self.f.is_entry and self.may_exit:
            self.top.append(f"bool {EXITED} = false;")
        self.block(body)
        return self.lines

    def parameter_place(self, p: Variable, text: str) -> None:
        """A parameter's name is its address; one in a register is the register."""
        self.places.drop(p.name)
        if p.space == "reg":
            self.params.drop(p.name)
            self.places[p.name] = Place(text, value_type(p) or p.type)
        else:
            self.params[p.name] = p
            self.places[p.name] = Place(f"&{text}", TYPES["u64"], pointer=True)

    def text_of(self, name: str) -> str:
        """The C++ object of a parameter or register."""
        return self.places[name].text.lstrip("&")

    def block(self, statements: Sequence[Statement]) -> None:
        self.params.begin()
        super().block(statements)
        self.params.end()

    def variable(self, variable: Variable) -> None:
        for name in variable.names:
            self.params.drop(name)
        if variable.space == "reg" or (variable.space == "shared" and "extern" not in variable.attributes):
            super().variable(variable)
        elif variable.space == "param":
            text = self.fresh(variable.name)
            self.parameter_place(variable, text)
            self.top.append(f"{self.facts.structs.type_of(variable)} {text};")
        elif variable.space == "local":
            text = self.fresh(variable.name)
            self.top.append(f"{aligned(variable)}{element(variable)} {text}{extent(variable)};")
            self.places[variable.name] = place(variable, text)
        else:
            text = self.fresh(f"{self.f.name}_{variable.name}")
            self.facts.hoisted.append(self.facts.declared(variable, text, self.f.name))
            self.places[variable.name] = place(variable, text)

    def instruction(self, instruction: Instruction) -> None:
        plain = replace(instruction, guard=None)
        before, guard, inside = len(self.lines), instruction.guard, instruction.guard
        try:
            if guard is not None and (guard.name not in self.places or self.places[guard.name].type.kind != "p"):
                inside = None
                raise UntranslatableError(instruction, f"its predicate `{guard.name}` is not declared")
            self.look(instruction)
            if instruction.name == "ret":
                self.lines.append(self.end())
            elif instruction.opcode == "exit" and not self.f.is_entry:
                self.lines += [f"{EXITED} = true;", self.end()]
            elif instruction.name == "call":
                self.call(plain)
            elif re.match(r"(?:ld|st)\.(?:\w+\.)*?param\b", instruction.opcode):
                self.parameter(plain)
            else:
                inside = None
                super().instruction(instruction)
        except UntranslatableError as e:
            del self.lines[before:]
            self.lines.append(self.refused(e))
            inside = instruction.guard if instruction.guard and instruction.guard.name in self.places else None
        if inside is not None:
            condition = ("!" if inside.negated else "") + self.places[inside.name].text
            added = self.lines[before:]
            self.lines[before:] = (
                [f"if ({condition}) {added[0]}"]
                if len(added) == 1
                else [f"if ({condition}) {{", *(INDENT + line for line in added), "}"]
            )

    def end(self) -> str:
        return f"return {self.text_of(self.returned)};" if self.returned else "return;"

    def look(self, i: Instruction) -> None:
        """Refuses what would compile to something else: textures by name, addresses cut to 32 bits."""
        shared = ".shared" in i.opcode
        for operand in i.operands:
            for name in (r.name for r in mentioned(operand)):
                if name in self.facts.opaque:
                    raise UntranslatableError(i, "textures and surfaces are objects of another kind in HIP")
            base = operand.base if isinstance(operand, Address) else None
            known = self.places.get(base.name) if base is not None else None
            if known is not None and known.type.is_int and known.type.bits < 64 and not known.space and not shared:
                bits = known.type.bits
                raise UntranslatableError(
                    i, f"an address of {bits} bits, which outside of shared memory have 64", _WIDER
                )
        if i.name == "cvta" and i.opcode.endswith("32") and not shared:
            raise UntranslatableError(i, "an address of 32 bits, which outside of shared memory have 64", _WIDER)
        if i.name == "mov" and i.opcode.endswith("32"):
            for operand in i.operands[1:]:
                for r in mentioned(operand):
                    if r.name in self.places and self.places[r.name].pointer:
                        raise UntranslatableError(i, f"the address of `{r.name}` has 64 bits", _WIDER)

    def refused(self, e: UntranslatableError) -> str:
        i = e.instruction
        known = family(i.opcode)
        why = known.why if known is not None else e.reason
        instead = known.instead if known is not None else e.instead
        self.facts.left.append(Left(self.f.name, i.opcode, i.line, i.column, why, instead))
        text = f"{i.opcode}: {why}".replace("\\", "\\\\").replace('"', "'")
        return f'{NAMESPACE}untranslated{"_trap" if self.facts.trap else ""}("{text}");'

    # --- parameters ---------------------------------------------------------------------------------------------------

    def parameter(self, i: Instruction) -> None:
        """`ld.param` and `st.param`: a parameter's value, or bytes of it."""
        store = i.opcode.startswith("st.")
        if len(i.operands) != 2:
            raise UntranslatableError(i, "two operands are expected")
        at, other = (i.operands[0], i.operands[1]) if store else (i.operands[1], i.operands[0])
        if not isinstance(at, Address) or at.base is None:
            raise UntranslatableError(i, "a parameter in brackets is expected")
        last = i.opcode.rpartition(".")[2]
        if last not in TYPES:
            raise UntranslatableError(i, "no row of the instruction table knows it")
        type_ = TYPES[last]
        variable = self.params.get(at.base.name)
        if variable is None:  # an address in a register
            super().instruction(replace(i, opcode=re.sub(r"\.param(?:::\w+)?", "", i.opcode, count=1)))
            return
        items = other.items if isinstance(other, Vector) else (other,)
        text = self.text_of(variable.name)
        own = value_type(variable)
        for k, item in enumerate(items):
            offset = at.offset + k * type_.bits // 8
            if own is not None and own.bits == type_.bits >= 16 and offset == 0 and self.fits(item, type_, store):
                self.places["%whole"] = Place(text, own)
                pair: tuple[Operand, ...] = (Reg("%whole"), item) if store else (item, Reg("%whole"))
                name = type_.name if type_.kind != "f" or type_.bits > 16 else f"b{type_.bits}"
                super().instruction(Instruction(f"mov.{name}", pair, None, i.line, i.column))
                continue
            self.places["%part"] = Place(
                f"{NAMESPACE}at(&{text}, {offset})" if offset else f"&{text}", TYPES["u64"], pointer=True
            )
            where = Address(Reg("%part"))
            pair = (where, item) if store else (item, where)
            super().instruction(Instruction(f"{'st' if store else 'ld'}.{last}", pair, None, i.line, i.column))

    def fits(self, item: Operand, type_: Type, store: bool) -> bool:
        """Whether a copy says it: nothing is extended."""
        if not isinstance(item, Reg) or item.name not in self.places:
            return store
        return store or self.places[item.name].type.bits == type_.bits

    # --- calls --------------------------------------------------------------------------------------------------------

    def call(self, i: Instruction) -> None:
        """`call (results), function, (arguments), prototype;`"""
        operands = list(i.operands)
        results = operands.pop(0) if operands and isinstance(operands[0], Group) else Group(())
        callee = operands.pop(0) if operands else None
        arguments = operands.pop(0) if operands and isinstance(operands[0], Group) else Group(())
        if not isinstance(callee, Reg) or not isinstance(results, Group) or not isinstance(arguments, Group):
            raise UntranslatableError(i, "the function is not named")
        if callee.name in self.facts.functions and callee.name not in self.params:
            function = self.facts.functions[callee.name]
            name = self.facts.names[function.name]
        else:
            function, name = self.pointed(i, callee, operands)
        if len(results.items) not in (0, len(function.returns)) or len(arguments.items) != len(function.params):
            raise UntranslatableError(i, f"`{callee.name}` has other parameters or results")
        given = [self.argument(i, a, p) for a, p in zip(arguments.items, function.params, strict=True)]
        if is_builtin(function.name) and function.body is None:
            if function.name == "vprintf":
                self.deliver(i, results.items, function, self.printed(i, arguments.items, given))
                return
            if function.name not in RUNTIME:
                raise UntranslatableError(i, f"`{function.name}` is NVIDIA's", "call HIP's own function")
            self.deliver(i, results.items, function, RUNTIME[function.name].format(*given))
            return
        if len(function.returns) > 1:
            given = [*self.references(results.items, function), *given]
        exits = function.name in self.facts.exiting
        if exits:
            given.append(EXITED)
        text = f"{name}({', '.join(given)})"
        if len(function.returns) > 1:
            self.lines.append(f"{text};")
            for k, result in enumerate(results.items):
                self.take(i, result, function.returns[k], self.places[f"%result{k}"].text)
        else:
            self.deliver(i, results.items, function, text)
        if exits:
            self.lines.append(f"if ({EXITED}) {self.end()}")

    def printed(self, i: Instruction, arguments: Sequence[Operand], given: Sequence[str]) -> str:
        """The call of printf that a `vprintf` is."""
        first = arguments[0] if arguments else None
        if self.formats is None:
            self.formats = Formats(self.f.body or (), self.facts.strings)
        text = self.formats.of(i, first.name) if isinstance(first, Reg) else None
        done = printf(text, given[1]) if text is not None and len(given) == 2 else None
        if done is None:
            raise UntranslatableError(i, "the format of this `vprintf` is not known", "write printf() in its place")
        return done

    def pointed(self, i: Instruction, callee: Reg, rest: Sequence[Operand]) -> tuple[Function, str]:
        """What a call through a register calls: its prototype, and the C++ of the function."""
        known = self.places.get(callee.name)
        label = rest[0].name if rest and isinstance(rest[0], Reg) else ""
        prototype = self.prototypes.get(label)
        if known is None or prototype is None:
            raise UntranslatableError(i, f"`{callee.name}` is no function", "call the function by its name")
        function = Function("", False, prototype.params, prototype.returns)
        targets = [o.name for o in prototype.operands if isinstance(o, Reg)]
        if prototype.name == "calltargets":
            if not targets or targets[0] not in self.facts.functions:
                raise UntranslatableError(i, "its `.calltargets` names no function")
            function = replace(self.facts.functions[targets[0]], name="")
        if not self.facts.exiting.isdisjoint(targets or self.facts.exiting):
            raise UntranslatableError(i, "it may call a function that ends the thread", "call the function by its name")
        types = [self.facts.structs.type_of(p) for p in function.params]
        result = "void" if len(function.returns) != 1 else self.facts.structs.type_of(function.returns[0])
        if len(function.returns) > 1:
            types = [f"{self.facts.structs.type_of(p)}&" for p in function.returns] + types
        return function, f"reinterpret_cast<{result} (*)({', '.join(types)})>({known.text})"

    def argument(self, i: Instruction, operand: Operand, p: Variable) -> str:
        """An argument as C++ of exactly the parameter's type."""
        own = value_type(p)
        wanted = self.facts.structs.type_of(p)
        variable = self.params.get(operand.name) if isinstance(operand, Reg) else None
        if variable is not None and isinstance(operand, Reg):
            text = self.text_of(operand.name)
            same = self.facts.structs.type_of(variable) == wanted
            if 0 in p.dims and not same:
                why = f"`{p.name}` takes any number of bytes, as functions with `...` do"
                raise UntranslatableError(i, why, "pass a pointer to an array")
            return text if same else f"__builtin_bit_cast({wanted}, {text})"
        if own is None:
            raise UntranslatableError(i, f"the argument for `{p.name}` is no parameter")
        type_ = own if own.bits >= 16 else TYPES["u16"]
        name = "pred" if own.kind == "p" else own.name if own.is_int or own.bits > 16 else f"b{own.bits}"
        name = name if own.bits >= 16 or own.kind == "p" else "b16"
        mov = Instruction(f"mov.{name}", (Reg("%argument"), operand), None, i.line, i.column)
        value = bind(mov, ChainMap({"%argument": Place("", type_)}, self.places)).values[0]
        printer = Printer(self.places, {}, self.labels, self.tables)
        text = printer.exact(value).text
        for name, ctype in list(self.undeclared.items()):  # read before it is set
            if re.search(rf"\b{name}\b", text):
                self.top.append(f"{ctype} {name} = {{}};")
                del self.undeclared[name]
        return text if own.bits >= 16 or own.kind == "p" else f"{wanted}({text})"

    def references(self, results: Sequence[Operand], function: Function) -> list[str]:
        """Objects that several results go to."""
        out = []
        for k, p in enumerate(function.returns):
            text = self.fresh(f"result{k}" if not results else getattr(results[k], "name", "") + "_result")
            self.top.append(f"{self.facts.structs.type_of(p)} {text};")
            self.places[f"%result{k}"] = Place(text, value_type(p) or TYPES["b8"])
            out.append(text)
        return out

    def deliver(self, i: Instruction, results: Sequence[Operand], function: Function, text: str) -> None:
        """The call as a statement, its result where it goes."""
        if not results:
            self.lines.append(f"{text};")
        else:
            self.take(i, results[0], function.returns[0], text)

    def take(self, i: Instruction, result: Operand, p: Variable, text: str) -> None:
        """`text`, a value of the type of `p`, goes to a parameter or a register."""
        if not isinstance(result, Reg) or (result.name not in self.places and result.name != "_"):
            raise UntranslatableError(i, "the result is no register")
        if result.name == "_":
            self.lines.append(f"{text};" if "(" in text else "")
            self.lines = self.lines if self.lines[-1] else self.lines[:-1]
            return
        goal = self.text_of(result.name)
        ctype = self.undeclared.pop(goal, None)
        if ctype is not None:
            self.top.append(f"{ctype} {goal}{self.first.get(goal, '')};")
        variable = self.params.get(result.name)
        wanted = self.facts.structs.type_of(variable) if variable else cxx_type(self.places[result.name].type)
        have = self.facts.structs.type_of(p)
        own = value_type(p)
        if have == wanted:
            self.lines.append(f"{goal} = {text};")
        elif variable is None and own is not None:
            type_ = self.places[result.name].type
            printed = Text(text, 16, own)
            if own.bits == type_.bits:
                printed = Printer(self.places).coerce(printed, type_)
            self.lines.append(f"{goal} = {printed.text};")
        else:
            self.lines.append(f"{goal} = __builtin_bit_cast({wanted}, {text});")
