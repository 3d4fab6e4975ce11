"""A whole .ptx file as HIP source: one `extern "C" __global__` function an entry, with its name and its parameters.

Control flow stays as labels and `goto`. What has no meaning in HIP becomes a call that does not compile (or traps), at
its place, and is named in what `convert` returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from cu2port.ptx import emit
from cu2port.ptx.bind import UntranslatableError
from cu2port.ptx.families import family
from cu2port.ptx.ir import (
    TYPES,
    Address,
    Const,
    Function,
    Group,
    Initial,
    Instruction,
    Module,
    Operand,
    Place,
    Reg,
    Statement,
    Sum,
    Type,
    Variable,
    Vector,
)
from cu2port.ptx.parse import parse_module
from cu2port.ptx.printer import NAMESPACE, cxx_type
from cu2port.ptx.rename import instructions

_UNSIGNED = {8: "u8", 16: "u16", 32: "u32", 64: "u64"}
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Left:
    """An instruction that has no meaning in HIP. `line` and `column` count from 1, in the PTX."""

    function: str
    opcode: str
    line: int
    column: int
    why: str
    instead: str


@dataclass(frozen=True, slots=True)
class Converted:
    """HIP source made of a module. `kernels`: names of its entries. `left`: what a person must write."""

    text: str
    kernels: tuple[str, ...]
    left: tuple[Left, ...]


def convert(text: str, fp: str = "exact", trap: bool = False) -> Converted:
    """A .ptx file as HIP source. Raises PtxSyntaxError where it cannot be read."""
    return _Writer(parse_module(text), fp, trap).written()


def entries(text: str) -> tuple[str, ...]:
    """Names of the kernels of a PTX text, found without parsing it."""
    return tuple(dict.fromkeys(re.findall(r"\.entry\s+([\w$%.]+)", text)))


class _Writer:
    def __init__(self, module: Module, fp: str, trap: bool) -> None:
        self.module, self.fp, self.trap = module, fp, trap
        self.functions = {f.name: f for f in module.functions}
        self.left: list[Left] = []
        self.hoisted: list[str] = []  # declarations that stood in functions and must stand outside
        self.structs: dict[tuple[int, int], str] = {}  # (bytes, alignment) -> name

    def written(self) -> Converted:
        module = self.module
        globals_ = [self.variable(v) for v in module.variables]
        places = {v.name: variable_place(v) for v in module.variables}
        places |= {f.name: Place(symbol(f.name), TYPES["u64"], pointer=True) for f in module.functions}
        bodies = [self.function(f, places) for f in module.functions if f.body is not None]
        prototypes = [f"{self.signature(f)};" for f in module.functions if not f.is_entry and not is_builtin(f.name)]
        structs = [
            f"struct {f'alignas({align}) ' if align > 1 else ''}{name} {{\n{_INDENT}std::uint8_t bytes[{size}];\n}};"
            for (size, align), name in self.structs.items()
        ]
        version = f"PTX {module.version}" if module.version else "PTX"
        target = f" for {', '.join(module.target)}" if module.target else ""
        head = f"// Made from {version}{target}.\n#include <hip/hip_runtime.h>\n\n#include <cstdint>\n"
        chunks = [head]
        text = "\n".join([*structs, *prototypes, *globals_, *self.hoisted, *bodies])
        headers = [h for h, word in _HEADERS if re.search(word, text)]
        chunks += ["".join(f'#include "cu2port/{h}"\n' for h in headers)] if headers else []
        for group in (structs, [*dict.fromkeys(prototypes)], [*globals_, *self.hoisted]):
            if group:
                chunks.append("\n".join(group) + "\n")
        chunks += bodies
        kernels = tuple(f.name for f in module.functions if f.is_entry and f.body is not None)
        return Converted("\n".join(chunks), kernels, tuple(self.left))

    # --- declarations -----------------------------------------------------------------------------------------------

    def variable(self, v: Variable) -> str:
        """A module's variable. One in shared memory is declared for all functions, as it is in PTX."""
        name = symbol(v.name)
        outside = "extern" in v.attributes
        if v.space == "shared":
            if outside and (not v.dims or not v.dims[0]):
                return f"{_aligned(v)}extern __shared__ {element(v)} {name}[];"
            return f"{_aligned(v)}__shared__ {element(v)} {name}{_extent(v)};"
        where = "__constant__" if v.space == "const" else "__device__"
        if "managed" in v.attributes:
            where = "__managed__"
        linkage = 'extern "C" ' if "visible" in v.attributes or outside else ""
        storage = "" if linkage else "static "
        # `extern "C"` before a single declaration declares it as `extern`: with braces it is a definition
        start = f" = {initial(v, v.init)}" if v.init is not None else ""
        if linkage and not outside and not start:
            return f'extern "C" {{ {_aligned(v)}{where} {element(v)} {name}{_extent(v)}; }}'
        return f"{linkage}{_aligned(v)}{storage}{where} {element(v)} {name}{_extent(v)}{start};"

    def signature(self, f: Function) -> str:
        result = self.parameter_type(f.returns[0]) if f.returns else "void"
        where = "__global__" if f.is_entry else "__device__"
        limits = dict(f.limits)
        threads = limits.get("reqntid") or limits.get("maxntid")
        bounds = f" __launch_bounds__({prod(threads)})" if f.is_entry and threads else ""
        params = ", ".join(f"{self.parameter_type(p)} {symbol(p.name)}" for p in f.params)
        return f'extern "C" {where}{bounds} {result} {symbol(f.name)}({params})'

    def parameter_type(self, v: Variable) -> str:
        """The C++ type of a parameter: by size; bytes are a struct."""
        if not v.dims:
            return cxx_type(TYPES[_UNSIGNED[v.type.bits]] if v.type.is_int else v.type)
        size = prod(v.dims) * max(v.type.bits, 8) // 8
        return self.structs.setdefault((size, v.align or 1), f"bytes{size}" + (f"_{v.align}" if v.align > 1 else ""))

    def function(self, f: Function, places: Mapping[str, Place]) -> str:
        assert f.body is not None
        body = _Body(self, f, dict(places))
        body.begin(f.body)
        done = body.finished()
        lines = (
            [*_grouped(body.top), *body.lines]
            if not done.labels
            else [f"__label__ {', '.join(done.labels)};", *_grouped(body.top), *body.lines]
        )
        inner = "".join(f"{_INDENT}{line}\n" if not line.endswith(":;") else f"{line}\n" for line in lines)
        return f"{self.signature(f)} {{\n{inner}}}\n"


#: Headers of ours that words of the text ask for.
_HEADERS = (
    ("ptx.hpp", rf"{NAMESPACE}(?!untranslated)"),
    ("untranslated.hpp", rf"{NAMESPACE}untranslated"),
    ("warp.hpp", "cu2port::warp::"),
)


class _Body(emit._Emitter):
    """The emitter for a function's body: it knows parameters, calls, variables and `ret`."""

    def __init__(self, writer: _Writer, f: Function, places: dict[str, Place]) -> None:
        super().__init__(places, emit.Options(fp=writer.fp, kernel=f.is_entry))
        self.writer, self.f = writer, f
        self.params: dict[str, Variable] = {}
        self.returns = symbol(f.returns[0].name) if f.returns else ""
        self.taken.update(symbol(name) for name in writer.functions)
        self.taken.update(p.text for p in places.values())

    def begin(self, body: Sequence[Statement]) -> None:
        for p in (*self.f.params, *self.f.returns):
            self.params[p.name] = p
            self.taken.add(symbol(p.name))
            self.places[p.name] = Place(symbol(p.name), _whole(p))
        for p in self.f.returns:
            self.top.append(f"{self.writer.parameter_type(p)} {symbol(p.name)};")
        self.block(body)

    def variable(self, variable: Variable) -> None:
        if variable.space == "reg":
            super().variable(variable)
        elif variable.space == "param":
            text = self.fresh(variable.name)
            self.params[variable.name] = variable
            self.places[variable.name] = Place(text, _whole(variable))
            self.top.append(f"{self.writer.parameter_type(variable)} {text};")
        elif variable.space == "local":
            text = self.fresh(variable.name)
            self.top.append(f"{_aligned(variable)}{element(variable)} {text}{_extent(variable)};")
            self.places[variable.name] = variable_place(replace(variable, name=text))
        else:
            text = self.fresh(f"{self.f.name}_{variable.name}")
            self.writer.hoisted.append(self.writer.variable(replace(variable, name=text)))
            self.places[variable.name] = variable_place(replace(variable, name=text))

    def instruction(self, instruction: Instruction) -> None:
        plain = replace(instruction, guard=None)
        before, inside = len(self.lines), instruction.guard
        try:
            if instruction.name == "ret":
                self.lines.append(f"return {self.returns};" if self.returns else "return;")
            elif instruction.name == "call":
                self.lines.append(self.call(plain))
            elif instruction.opcode.startswith(("ld.param", "st.param")):
                self.parameter(plain)
            else:
                inside = None
                super().instruction(instruction)
        except UntranslatableError as e:
            del self.lines[before:]
            inside = instruction.guard
            self.lines.append(self.refused(e))
        if inside is not None:
            condition = ("!" if inside.negated else "") + self.places[inside.name].text
            added = self.lines[before:]
            self.lines[before:] = (
                [f"if ({condition}) {added[0]}"]
                if len(added) == 1
                else [f"if ({condition}) {{", *(_INDENT + line for line in added), "}"]
            )

    def refused(self, e: UntranslatableError) -> str:
        i = e.instruction
        known = family(i.opcode)
        why = known.why if known is not None else e.reason
        instead = known.instead if known is not None else e.instead
        self.writer.left.append(Left(self.f.name, i.opcode, i.line, i.column, why, instead))
        text = f"{i.opcode}: {why}".replace("\\", "\\\\").replace('"', "'")
        return f'{NAMESPACE}untranslated{"_trap" if self.writer.trap else ""}("{text}");'

    # --- parameters and calls ----------------------------------------------------------------------------------------

    def parameter(self, i: Instruction) -> None:
        """`ld.param` and `st.param`: a parameter's value, or bytes of it."""
        store = i.opcode.startswith("st.")
        at, other = (i.operands[0], i.operands[1]) if store else (i.operands[1], i.operands[0])
        if not isinstance(at, Address) or at.base is None:
            raise UntranslatableError(i, "a parameter in brackets is expected")
        words = i.opcode.split(".")
        type_ = TYPES[words[-1]]
        variable = self.params.get(at.base.name)
        if variable is None:  # an address in a register
            super().instruction(replace(i, opcode=i.opcode.replace(".param", "", 1)))
            return
        items = other.items if isinstance(other, Vector) else (other,)
        name = self.places[variable.name].text
        whole = not variable.dims and variable.type.bits == type_.bits and at.offset == 0 and len(items) == 1
        for k, item in enumerate(items):
            offset = at.offset + k * type_.bits // 8
            if whole:
                part = Reg(variable.name)
                pair = (part, item) if store else (item, part)
                super().instruction(Instruction(f"mov.b{type_.bits}", pair, None, i.line, i.column))
                continue
            address = f"{NAMESPACE}at(&{name}, {offset})" if offset else f"&{name}"
            temporary = f"%param{k}"
            self.places[temporary] = Place(address, TYPES["u64"], pointer=True)
            opcode = f"{'st' if store else 'ld'}.{words[-1]}"
            where = Address(Reg(temporary))
            pair2: tuple[Operand, ...] = (where, item) if store else (item, where)
            super().instruction(Instruction(opcode, pair2, None, i.line, i.column))

    def call(self, i: Instruction) -> str:
        """`call (results), function, (arguments);`"""
        groups = [o for o in i.operands if isinstance(o, Group)]
        names = [o for o in i.operands if isinstance(o, Reg)]
        if not names:
            raise UntranslatableError(i, "the function is not named")
        function = self.writer.functions.get(names[0].name)
        first_is_result = bool(i.operands) and isinstance(i.operands[0], Group)
        results = groups[0].items if first_is_result else ()
        arguments = groups[-1].items if groups and (len(groups) > 1 or not first_is_result) else ()
        if function is None:
            raise UntranslatableError(i, "it calls through a pointer", "call the functions by name, behind a switch")
        if is_builtin(function.name) or (function.body is None and function.name not in self.writer.functions):
            raise UntranslatableError(i, f"`{function.name}` is NVIDIA's", "call HIP's own function")
        given = ", ".join(self.argument(a, p) for a, p in zip(arguments, function.params, strict=False))
        called = f"{symbol(function.name)}({given})"
        if not results:
            return f"{called};"
        (result,) = results
        if not isinstance(result, Reg):
            raise UntranslatableError(i, "the result is no register")
        place = self.places[result.name]
        ctype = self.undeclared.pop(place.text, None)
        if ctype is not None:
            self.top.append(f"{ctype} {place.text};")
        return f"{place.text} = {called};"

    def argument(self, operand: Operand, p: Variable) -> str:
        if isinstance(operand, Reg) and operand.name in self.places:
            return self.places[operand.name].text
        if isinstance(operand, Const):
            return str(operand.value)
        raise UntranslatableError(Instruction("call"), f"an argument for `{p.name}` has a form that it does not take")


def is_builtin(name: str) -> bool:
    """Whether a function belongs to NVIDIA's device runtime (`vprintf`, `malloc`, `__assertfail`)."""
    return name in ("vprintf", "malloc", "free", "__assertfail") or name.startswith(("cuda", "__nv_"))


# --- C++ for declarations ---------------------------------------------------------------------------------------------


def symbol(name: str) -> str:
    """A C++ identifier for a PTX one; clang takes `$`, so that names of kernels stay."""
    return re.sub(r"[^\w$]", "_", name.lstrip("%"))


def element(v: Variable) -> str:
    """The C++ type of one element of a variable."""
    if v.type.kind == "f" and v.type.bits >= 32:
        return cxx_type(v.type)
    return cxx_type(TYPES[("s" if v.type.signed else "u") + str(max(v.type.bits, 8))])


def _extent(v: Variable) -> str:
    """The array part of a declaration."""
    dims = (*v.dims, *((v.vector,) if v.vector > 1 else ()))
    unknown = "[]" if v.init is not None else "[1]"  # a lone `[]` has no size to take an address in
    return "".join(f"[{d}]" if d else unknown for d in dims)


def _aligned(v: Variable) -> str:
    natural = max(v.type.bits, 8) // 8
    wanted = max(v.align, natural * v.vector if v.vector > 1 else 0)
    return f"alignas({wanted}) " if wanted > natural else ""


def _whole(v: Variable) -> Type:
    """The type of a parameter as one value; bytes count as a place to take addresses in."""
    return TYPES[_UNSIGNED[max(v.type.bits, 8)]] if v.type.is_int else v.type


def variable_place(v: Variable) -> Place:
    """What a variable's name is as a value: its address, 32 bits of LDS offset for shared memory."""
    name = symbol(v.name) if v.dims or v.vector > 1 else f"&{symbol(v.name)}"
    if v.space == "shared":
        return Place(f"{NAMESPACE}cvta_to_shared({name})", TYPES["u32"], space="shared")
    return Place(name, TYPES["u64"], pointer=True)


def initial(v: Variable, item: Initial | None) -> str:
    """An initialiser in C++."""
    if isinstance(item, tuple):
        return "{" + ", ".join(initial(v, x) for x in item) + "}"
    if isinstance(item, Const):
        from cu2port.ptx.constants import as_type
        from cu2port.ptx.printer import literal

        kind = TYPES[("s" if v.type.signed else "u") + str(max(v.type.bits, 8))] if v.type.kind != "f" else v.type
        if kind.is_int and kind.bits < 64:
            value = as_type(item, kind.name)
            return str(value - (1 << kind.bits) if kind.signed and value >> (kind.bits - 1) else value)
        return literal(as_type(item, kind.name), kind)
    if isinstance(item, Group) and len(item.items) == 1:
        return initial(v, item.items[0])
    if isinstance(item, Reg):
        return f"reinterpret_cast<std::uint64_t>(&{symbol(item.name)})"
    if isinstance(item, Sum):
        return (
            f"reinterpret_cast<std::uint64_t>(reinterpret_cast<const char*>(&{symbol(item.base.name)}) + {item.offset})"
        )
    return "{}"


def _grouped(declarations: Iterable[str]) -> Iterator[str]:
    """Declarations of one type as one, up to a line's width."""
    by_type: dict[str, list[str]] = {}
    for line in declarations:
        m = re.fullmatch(r"([\w:]+) (\w+);", line)
        by_type.setdefault(m.group(1) if m else line, []).append(m.group(2) if m else "")
    for type_, names in by_type.items():
        if names == [""]:
            yield type_
            continue
        line = type_
        for name in names:
            if len(line) + len(name) > 110:
                yield f"{line.rstrip(',')};"
                line = type_
            line += f" {name},"
        yield f"{line.rstrip(',')};"


__all__ = ["Converted", "Left", "convert", "entries", "instructions"]
