"""PTX as written: types, operands, instructions, modules. And `Operation`: an instruction that was understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cu2port.ptx.ops import Value
    from cu2port.ptx.table import Row


@dataclass(frozen=True, eq=False)
class Type:
    """A PTX type, or one that trees need beside them (`u128`, vectors); the name distinguishes them.

    `kind`: one of u, s, b, f, p (predicate), v (void). `bits` is the width of one element; `lanes` is above 1 for what
    `ld.v4` reads.
    """

    name: str
    kind: str
    bits: int
    lanes: int = 1

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Type) and self.name == other.name)

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def signed(self) -> bool:
        return self.kind == "s"

    @cached_property
    def is_int(self) -> bool:
        return self.kind in "usb"

    @cached_property
    def is_float(self) -> bool:
        return self.kind == "f"

    @cached_property
    def mask(self) -> int:
        """All bits of one element set."""
        return (1 << self.bits) - 1

    @cached_property
    def unsigned(self) -> Type:
        return TYPES[f"u{self.bits}"]

    @property
    def to_signed(self) -> Type:
        return TYPES[f"s{self.bits}"]

    @property
    def wide(self) -> Type:
        """The type of twice the width."""
        return TYPES[f"{'u' if self.kind == 'b' else self.kind}{self.bits * 2}"]

    def vector(self, lanes: int) -> Type:
        return self if lanes == 1 else Type(f"{self.name}x{lanes}", self.kind, self.bits, lanes)

    def __str__(self) -> str:
        return self.name


def _types() -> dict[str, Type]:
    types = [Type(f"{kind}{bits}", kind, bits) for kind in "usb" for bits in (2, 4, 8, 16, 32, 64, 128)]
    types += [Type("u256", "u", 256), Type("s256", "s", 256)]  # a 128-bit product
    types += [Type("pred", "p", 1), Type("void", "v", 0)]
    types += [
        Type(name, "f", bits) for name, bits in (("f16", 16), ("bf16", 16), ("tf32", 32), ("f32", 32), ("f64", 64))
    ]
    # packed and small formats live in registers of bits; rows take them apart
    packed = (
        "f16x2 32  bf16x2 32  f32x2 64  u16x2 32  s16x2 32  u8x4 32  s8x4 32  e4m3 8  e5m2 8  e4m3x2 16  e5m2x2 16  "
    )
    packed += (
        "e2m1x2 8  e2m3x2 16  e3m2x2 16  ue8m0x2 16  e4m3x4 32  e5m2x4 32  e2m1x4 16  e2m3x4 32  e3m2x4 32  s2f6x2 16"
    )
    words = packed.split()
    types += [Type(name, "b", int(bits)) for name, bits in zip(words[::2], words[1::2], strict=True)]
    return {t.name: t for t in types}


TYPES: Mapping[str, Type] = _types()


# --- operands, as written --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reg:
    """A name: a register, variable, label, function or special register; `%0` and `%[x]` are operands of an asm
    statement.

    The doubled `%%` of inline text is one `%` here. `select` is what stands behind a dot: `x` of `%tid.x`, `b0` of
    `r.b0`.
    """

    name: str
    select: str = ""


@dataclass(frozen=True, slots=True)
class Const:
    """A literal or a constant expression. `value`: an integer; for floats the bits of a double, or of a float for `0f`.

    `kind`: "s" (signed 64 bits), "u" (unsigned 64 bits), "f" (double, to be rounded to the operand's type), "f32"
    (`0f...`).
    """

    value: int
    kind: str = "s"


@dataclass(frozen=True, slots=True)
class Vector:
    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """`[base + offset]`, in bytes; `rest` holds further items, as in `[tensor, {x, y}]`. A constant address has no
    base."""

    base: Reg | None
    offset: int = 0
    rest: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    """`!p`, a negated predicate."""

    item: Operand


@dataclass(frozen=True, slots=True)
class Neg:
    """`-a`, which a few instructions allow on a register."""

    item: Operand


@dataclass(frozen=True, slots=True)
class Pair:
    """`d|p`, two results."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Group:
    """`( ... )` of a call."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """`name + offset` outside of brackets, in bytes: an address written as a value."""

    base: Reg
    offset: int


@dataclass(frozen=True, slots=True)
class Masked:
    """`0xff00(name)` among initial values: the bits of an address under the mask, moved down."""

    mask: int
    item: Reg | Sum


Operand = Reg | Const | Vector | Address | Not | Neg | Pair | Group | Sum | Masked


# --- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Guard:
    """`@p` or `@!p` in front of an instruction."""

    name: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Instruction:
    """`@guard opcode operands;`. `line` and `column` count from 1, in the text that was parsed."""

    opcode: str  # with its modifiers, as in "mad.lo.u32"
    operands: tuple[Operand, ...] = ()
    guard: Guard | None = None
    line: int = 0
    column: int = 0

    @property
    def name(self) -> str:
        return self.opcode.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Label:
    name: str
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Variable:
    """A declaration in any space: `reg`, `shared`, `global`, `const`, `local`, `param`, ...

    `count`: N of a register range `r<N>` (names r0 .. rN-1), 0 if it is none. `dims`: array extents, 0 for `[]`.
    `align` in bytes, 0 if not written. `init`: nested tuples of `Const`, `Reg` and `Sum`. `vector`: 2 or 4 for `.v2`,
    `.v4`.
    """

    space: str
    type: Type
    name: str
    count: int = 0
    vector: int = 1
    align: int = 0
    dims: tuple[int, ...] = ()
    init: Initial | None = None
    attributes: tuple[str, ...] = ()  # extern, visible, weak, common, managed, ptr, ...
    line: int = 0
    column: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Every register that a declaration declares."""
        return tuple(f"{self.name}{i}" for i in range(self.count)) if self.count else (self.name,)


Initial = Operand | tuple["Initial", ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """`{ ... }`: registers and labels of its own."""

    body: tuple[Statement, ...]
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Directive:
    """What else is in a body: `.pragma`, `.branchtargets`, `.calltargets`, `.callprototype`; debug ones are
    dropped. `params` and `returns` are a prototype's."""

    name: str
    operands: tuple[Operand, ...] = ()
    label: str = ""
    text: str = ""
    line: int = 0
    column: int = 0
    params: tuple[Variable, ...] = ()
    returns: tuple[Variable, ...] = ()


Statement = Instruction | Label | Variable | Scope | Directive


@dataclass(frozen=True, slots=True)
class Function:
    """An `.entry` (a kernel) or a `.func`; `body` is None for a declaration. `limits`: `.maxntid` and kin with their
    numbers."""

    name: str
    is_entry: bool
    params: tuple[Variable, ...] = ()
    returns: tuple[Variable, ...] = ()
    body: tuple[Statement, ...] | None = None
    limits: tuple[tuple[str, tuple[int, ...]], ...] = ()
    attributes: tuple[str, ...] = ()
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Module:
    """A `.ptx` file. `version` and `target` as written, `address_size` in bits."""

    version: str = ""
    target: tuple[str, ...] = ()
    address_size: int = 64
    variables: tuple[Variable, ...] = ()
    functions: tuple[Function, ...] = ()
    directives: tuple[Directive, ...] = ()


# --- what was understood ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """What a name stands for while instructions are understood and emitted.

    `text` is a C++ lvalue or expression, `type` how many bits it holds and as what (`pointer`: a C++ pointer, type
    u64).
    `constant`: the value of an "n" operand, if it is known. `space`: of a variable whose address a name denotes.
    `object`: the variable that `text` reads, where `text` is more than its name.
    """

    text: str
    type: Type
    pointer: bool = False
    constant: int | None = None
    space: str = ""
    object: str = ""

    @property
    def variable(self) -> str:
        """What tells whether two places are the same."""
        return self.object or self.text


#: the name of an operand "n" where 64 bits of it are read
WIDE = "{}.wide"


@dataclass(frozen=True, slots=True)
class Target:
    """A register that is written. `name` None is the sink `_`."""

    name: str | None
    type: Type  # of the value written; a wider register is extended, by sign for signed types


@dataclass(frozen=True, slots=True)
class Operation:
    """An instruction that was understood: `values[i]` goes to `targets[i]`; an effect alone has no targets.

    Every operand is read before any target is written.
    """

    instruction: Instruction
    row: Row
    targets: tuple[Target, ...]
    values: tuple[Value, ...]
    arguments: tuple[Value, ...] = ()  # the operands read, in order, of a row that may be emitted as a helper's call
    bindings: Mapping[str, object] = field(default_factory=dict)
