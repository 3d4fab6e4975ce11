"""Declarations of a module in C++: names, types, variables with their initial values, parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from cu2port.ptx.constants import as_type
from cu2port.ptx.ir import (
    TYPES,
    Const,
    Function,
    Group,
    Initial,
    Masked,
    Module,
    Place,
    Reg,
    Sum,
    Type,
    Variable,
)
from cu2port.ptx.printer import NAMESPACE, cxx_type, literal
from cu2port.ptx.reserved import free

VISIBLE = frozenset({"visible", "weak", "common", "extern"})
OPAQUE = ("texref", "samplerref", "surfref")  # types of texturing, which HIP has as objects


class NoInitialError(ValueError):
    """A variable whose initial value C++ cannot say; the message says why."""


def symbol(name: str) -> str:
    """A C++ identifier for a PTX one; clang takes `$`, so that names of kernels stay."""
    return re.sub(r"[^\w$]", "_", name.lstrip("%"))


def names(module: Module) -> dict[str, str]:
    """PTX name of each function and variable -> its C++ name: the same, where C++ and the headers let it."""
    out: dict[str, str] = {}
    taken: set[str] = set()
    items: tuple[Function | Variable, ...] = (*module.functions, *module.variables)
    for item in items:
        if item.name in out:  # declared, then defined
            continue
        out[item.name] = unused(free(symbol(item.name)), taken)
    return out


def unused(name: str, taken: set[str]) -> str:
    """The name, with `_` behind it until nothing else has it; it is taken from then on."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def is_external(f: Function) -> bool:
    """Whether other modules or the host may name a function."""
    return f.is_entry or not VISIBLE.isdisjoint(f.attributes)


def is_opaque(v: Variable) -> bool:
    """Whether a variable stands for a texture, a sampler or a surface."""
    return v.space == "tex" or any(word in v.attributes for word in OPAQUE)


# --- types ------------------------------------------------------------------------------------------------------------


def element(v: Variable) -> str:
    """The C++ type of one element of a variable."""
    if v.type.kind == "f" and v.type.bits >= 32:
        return cxx_type(v.type)
    return cxx_type(TYPES[("s" if v.type.signed else "u") + str(max(v.type.bits, 8))])


def value_type(v: Variable) -> Type | None:
    """The type of a parameter as one value; None for bytes, which are a struct."""
    if v.dims or v.vector > 1:
        return None
    if v.type.is_int:
        return TYPES[f"u{max(v.type.bits, 8)}"]
    return v.type


def natural(t: Type) -> int:
    """The alignment of a type in bytes, at least."""
    return max(t.bits, 8) // 8


@dataclass
class Structs:
    """The structs that stand for parameters of bytes."""

    byte_types: dict[tuple[int, int], str] = field(default_factory=dict)  # (bytes, alignment) -> name

    def type_of(self, v: Variable) -> str:
        """The C++ type of a parameter: by size; bytes are a struct. Of a register that is passed: its own."""
        value = value_type(v)
        if value is not None:
            return cxx_type(value)
        size = prod(v.dims) * v.vector * natural(v.type)
        align = max(v.align, natural(v.type) * v.vector)
        return self.byte_types.setdefault((size, align), f"bytes{size}" + (f"_{align}" if align > 1 else ""))

    def declared(self) -> list[str]:
        return [
            f"struct {f'alignas({align}) ' if align > 1 else ''}{name} {{\n    std::uint8_t bytes[{max(size, 1)}];\n}};"
            for (size, align), name in self.byte_types.items()
        ]


# --- variables --------------------------------------------------------------------------------------------------------


def extent(v: Variable) -> str:
    """The array part of a declaration."""
    dims = (*v.dims, *((v.vector,) if v.vector > 1 else ()))
    # a lone `[]` has no size to take an address in, unless it is defined elsewhere
    unknown = "[]" if v.init is not None or "extern" in v.attributes else "[1]"
    return "".join(f"[{d}]" if d else unknown for d in dims)


def aligned(v: Variable) -> str:
    wanted = max(v.align, natural(v.type) * v.vector if v.vector > 1 else 0)
    return f"alignas({wanted}) " if wanted > natural(v.type) else ""


SYMBOL = "CU2PORT_SYMBOL"
#: A name for device code alone: for the host it may be one of the C library, which the program would lose.
SYMBOL_MACRO = f"""#ifdef __HIP_DEVICE_COMPILE__
#define {SYMBOL}(name) __asm__(name)
#else
#define {SYMBOL}(name)
#endif
"""


def declaration(v: Variable, name: str, known: Mapping[str, str], local: bool = False) -> str:
    """A variable outside of functions. One in shared memory is declared for all functions, as it is in PTX.

    The host finds variables by name, also those that are not visible to other modules; not a function's own (`local`)
    and those that compilers made. `known`: C++ names of what initial values may name. Raises NoInitialError.
    """
    outside = "extern" in v.attributes
    if v.space == "shared":
        if outside and (not v.dims or not v.dims[0]):
            return f"{aligned(v)}extern __shared__ {element(v)} {name}[];"
        return f"{aligned(v)}__shared__ {element(v)} {name}{extent(v)};"
    where = "__constant__" if v.space == "const" else "__device__"
    if "managed" in v.attributes:
        where = "__managed__"
    weak = "__attribute__((weak)) " if "weak" in v.attributes else ""
    hidden = VISIBLE.isdisjoint(v.attributes) and (local or "$" in v.name or v.name.startswith("__"))
    linkage = "" if hidden else 'extern "C" '
    label = f' {SYMBOL}("{v.name}")' if linkage and name != symbol(v.name) else ""
    storage = "" if linkage else "static "
    pieces = _pieces(v)
    if _is_packed(pieces):
        members, values, at = "", [], 0
        for piece in pieces:
            if isinstance(piece, tuple):
                members += f" {element(v)} at{at}[{len(piece)}];"
                values.append(initial(v, piece, known))
                at += len(piece) * natural(v.type)
            else:
                members += f" std::uint64_t at{at};"
                values.append(_address(piece, known))
                at += 8
        text = f"struct __attribute__((packed)) {name}_type {{{members} }};\n"
        return f"{text}{linkage}{weak}{aligned(v)}{storage}{where} {name}_type {name}{label} = {{{', '.join(values)}}};"
    start = f" = {initial(v, v.init, known)}" if v.init is not None else ""
    # `extern "C"` before a single declaration declares it as `extern`: with braces it is a definition
    if linkage and not outside and not start:
        return f'extern "C" {{ {weak}{aligned(v)}{where} {element(v)} {name}{extent(v)}{label}; }}'
    return f"{linkage}{weak}{aligned(v)}{storage}{where} {element(v)} {name}{extent(v)}{label}{start};"


def place(v: Variable, name: str) -> Place:
    """What a variable's name is as a value: its address, 32 bits of LDS offset for shared memory."""
    try:
        packed = _is_packed(_pieces(v))
    except NoInitialError:
        packed = False
    is_array = (v.dims or v.vector > 1) and not packed
    text = name if is_array or (v.space == "shared" and "extern" in v.attributes) else f"&{name}"
    if v.space == "shared":
        return Place(f"{NAMESPACE}cvta_to_shared({text})", TYPES["u32"], space="shared")
    return Place(text, TYPES["u64"], pointer=True)


def _is_packed(pieces: Sequence[tuple[Initial, ...] | Reg | Sum]) -> bool:
    """Whether a variable is a struct, since addresses are among its elements."""
    return any(isinstance(p, (Reg, Sum)) for p in pieces)


def _pieces(v: Variable) -> list[tuple[Initial, ...] | Reg | Sum]:
    """Initial values with every address that masks cut into elements made whole again. Raises NoInitialError."""
    if not isinstance(v.init, tuple) or not any(isinstance(x, Masked) for x in v.init):
        return [v.init if isinstance(v.init, tuple) else ()]
    bits = v.type.bits
    out: list[tuple[Initial, ...] | Reg | Sum] = []
    plain: list[Initial] = []
    at = 0
    while at < len(v.init):
        item = v.init[at]
        if not isinstance(item, Masked):
            plain.append(item)
            at += 1
            continue
        parts = [Masked(v.type.mask << k, item.item) for k in range(0, 64, bits)]
        if list(v.init[at : at + len(parts)]) != parts:
            raise NoInitialError("a part of an address is no constant of C++")
        if plain:
            out.append(tuple(plain))
        out.append(item.item)
        plain = []
        at += len(parts)
    size = prod(v.dims)
    plain += [Const(0)] * (size - at)
    return [*out, tuple(plain)] if plain else out


def initial(v: Variable, item: Initial | None, known: Mapping[str, str]) -> str:
    """An initialiser in C++. Raises NoInitialError."""
    if isinstance(item, tuple):
        return "{" + ", ".join(initial(v, x, known) for x in item) + "}"
    if isinstance(item, Const):
        kind = TYPES[("s" if v.type.signed else "u") + str(max(v.type.bits, 8))] if v.type.kind != "f" else v.type
        if kind.is_int and kind.bits < 64:
            value = as_type(item, kind.name)
            return str(value - (1 << kind.bits) if kind.signed and value >> (kind.bits - 1) else value)
        return literal(as_type(item, kind.name), kind)
    if isinstance(item, Group) and len(item.items) == 1:
        return initial(v, item.items[0], known)
    if isinstance(item, (Reg, Sum)):
        if v.type.bits != 64:
            raise NoInitialError(f"an address has 64 bits here, not {v.type.bits}")
        return _address(item, known)
    if isinstance(item, Masked) and item.mask == v.type.mask and v.type.bits == 64:
        return _address(item.item, known)
    raise NoInitialError("it has a form that C++ does not have")


def _address(item: Reg | Sum, known: Mapping[str, str]) -> str:
    name = item.name if isinstance(item, Reg) else item.base.name
    if name not in known:
        raise NoInitialError(f"`{name}` is not declared, or is in another kind of memory")
    if isinstance(item, Sum) and item.offset:
        moved = f"{'+' if item.offset > 0 else '-'} {abs(item.offset)}"
        return f"reinterpret_cast<std::uint64_t>(reinterpret_cast<const char*>(&{known[name]}) {moved})"
    return f"reinterpret_cast<std::uint64_t>(&{known[name]})"


def grouped(declarations: Sequence[str]) -> list[str]:
    """Declarations of one type as one, up to a line's width."""
    out: list[str] = []
    by_type: dict[str, list[str]] = {}
    for line in declarations:
        m = re.fullmatch(r"([\w:]+) (\w+(?: = \{\})?);", line)
        by_type.setdefault(m.group(1) if m else line, []).append(m.group(2) if m else "")
    for type_, found in by_type.items():
        if found == [""]:
            out.append(type_)
            continue
        line = type_
        for name in found:
            if len(line) + len(name) > 110:
                out.append(f"{line.rstrip(',')};")
                line = type_
            line += f" {name},"
        out.append(f"{line.rstrip(',')};")
    return out
