"""Trees of core operations: what rows build, what the interpreter and the emitter walk.

A `Value` is a node: an operation, a type, arguments. Python's operators build nodes: `(a + b) & 31`, `x << n`, `a < b`.
Numbers are bit patterns: an integer from 0 to 2**bits - 1 whatever the type; the type says how to read it.

What operators mean: + - * wrap, for signed types too. `<<` and `>>` need an amount below the width (rows say themselves
what happens beyond; the interpreter stops at anything else); `>>` fills with the sign for signed types. `<` and kin
compare by the sign of the type and give a predicate; `eq` and `ne` are functions, since Python needs `==`. On
predicates `& | ^ ~` are logical. A Python int beside a node becomes a constant of the node's type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from cu2port.ptx.integers import checked_amount, divide, multiply_high, permute, read, shift_left, shift_right
from cu2port.ptx.ir import TYPES, Type

PRED, VOID, U32, U64, S32 = (TYPES[name] for name in ("pred", "void", "u32", "u64", "s32"))


class Effect(Enum):
    """What an operation does beside giving a value; everything but NONE is evaluated once, in order."""

    NONE = "none"
    READ = "read"  # reads memory
    WRITE = "write"  # writes memory, or both
    LANES = "lanes"  # gives and takes values of other lanes
    SYNC = "sync"  # barriers and fences
    CONTROL = "control"  # does not come back, or traps
    STATE = "state"  # clocks and the like: another answer each time


@dataclass(frozen=True, slots=True)
class Op:
    """One core operation.

    `meaning(node, *arguments)`: the bits of the result. `spelling`: how C++ says it, with {0}, {1} for arguments, {t}
    for the result's C++ type, {a} for that of the first argument, {attr}; or a function from (node, texts) to text.
    `level`: C++'s precedence of the spelling (16: a call or a name). `wrap`: computed unsigned, since C++ does not
    define signed overflow.
    """

    name: str
    meaning: Callable[..., int]
    spelling: str | Callable[..., str]
    level: int = 16
    effect: Effect = Effect.NONE
    wrap: bool = False
    partial: bool = False  # undefined for some arguments: never evaluated before its condition is known
    loose: bool = False  # its arguments may be any integers of that width: C++ converts them
    address: bool = False  # the first argument is an address, printed as helpers take it
    # (printer, node) -> C++, for what needs to know the places; instead of `spelling`
    render: Callable[..., str] | None = None
    # (machine, node, active lanes, arguments by lane) -> bits by lane, for what `meaning` alone cannot do
    run: Callable[..., dict[int, int]] | None = None


class Value:
    """A node. `attr` is what belongs to the operation itself: a constant's bits, a register's name, a memory order."""

    __slots__ = ("args", "attr", "hint", "op", "type")

    def __init__(self, op: Op, type_: Type, args: tuple[Value, ...] = (), attr: object = None, hint: str = "") -> None:
        self.op, self.type, self.args, self.attr, self.hint = op, type_, args, attr, hint

    @property
    def constant(self) -> int | None:
        """The bits of a constant, else None."""
        return self.attr if self.op is CONST and isinstance(self.attr, int) else None

    def _with(self, other: Value | int) -> Value:
        if isinstance(other, Value):
            return other
        return const(other, self.type)

    def __repr__(self) -> str:
        if self.op is CONST:
            return f"{self.attr:#x}:{self.type}" if self.type is not PRED else str(bool(self.attr)).lower()
        if self.op is REG:
            return f"{self.attr}"
        attr = f"[{self.attr}]" if self.attr is not None else ""
        return f"{self.op.name}.{self.type}{attr}({', '.join(map(repr, self.args))})"

    def __add__(self, other: Value | int) -> Value:
        return make(ADD, self.type, self, self._with(other))

    def __radd__(self, other: int) -> Value:
        return self + other

    def __sub__(self, other: Value | int) -> Value:
        return make(SUB, self.type, self, self._with(other))

    def __rsub__(self, other: int) -> Value:
        return const(other, self.type) - self

    def __mul__(self, other: Value | int) -> Value:
        return make(MUL, self.type, self, self._with(other))

    def __and__(self, other: Value | int) -> Value:
        return make(LAND if self.type is PRED else AND, self.type, self, self._with(other))

    def __or__(self, other: Value | int) -> Value:
        return make(LOR if self.type is PRED else OR, self.type, self, self._with(other))

    def __xor__(self, other: Value | int) -> Value:
        return make(LXOR if self.type is PRED else XOR, self.type, self, self._with(other))

    def __invert__(self) -> Value:
        return make(LNOT if self.type is PRED else NOT, self.type, self)

    def __neg__(self) -> Value:
        return make(NEG, self.type, self)

    def __lshift__(self, amount: Value | int) -> Value:
        return make(SHL, self.type, self, amount if isinstance(amount, Value) else const(amount, U32))

    def __rshift__(self, amount: Value | int) -> Value:
        return make(SHR, self.type, self, amount if isinstance(amount, Value) else const(amount, U32))

    def __lt__(self, other: Value | int) -> Value:
        return make(LT, PRED, self, self._with(other))

    def __le__(self, other: Value | int) -> Value:
        return make(LE, PRED, self, self._with(other))

    def __gt__(self, other: Value | int) -> Value:
        return make(GT, PRED, self, self._with(other))

    def __ge__(self, other: Value | int) -> Value:
        return make(GE, PRED, self, self._with(other))

    def named(self, hint: str) -> Value:
        """The same node, to be called `hint` if emitted code gives it a name."""
        return self if self.op in (CONST, REG) else Value(self.op, self.type, self.args, self.attr, hint)


# --- meanings ------------------------------------------------------------------------------------------------------


def _binary(f: Callable[[int, int], int]) -> Callable[[Value, int, int], int]:
    """An operation on numbers, wrapped to the result's width."""

    def meaning(v: Value, a: int, b: int) -> int:
        return f(read(a, v.args[0].type), read(b, v.args[1].type)) & v.type.mask

    return meaning


def _unary(f: Callable[[int], int]) -> Callable[[Value, int], int]:
    return lambda v, a: f(read(a, v.args[0].type)) & v.type.mask


class NoMeaningError(ValueError):
    """A form of an instruction that has no counterpart. `reason` says why, `instead` what to do by hand."""

    def __init__(self, reason: str, instead: str = "") -> None:
        super().__init__(reason)
        self.reason, self.instead = reason, instead


def _of_type(f: Callable[[Type, int, int], int]) -> Callable[[Value, int, int], int]:
    return lambda v, a, b: f(v.type, a, b)


def _by_checked_amount(shift: Callable[[Type, int, int], int]) -> Callable[[Value, int, int], int]:
    return lambda v, a, n: shift(v.type, a, checked_amount(v.type, n))


def _never(v: Value, *_: int) -> int:
    raise AssertionError(f"{v.op.name} is evaluated by its walker")


# --- the core operations on integers and predicates ------------------------------------------------------------------

CONST = Op("const", _never, "")  # attr: bits
REG = Op("reg", _never, "")  # attr: the register's name
SELECT = Op("select", _never, "{0} ? {1} : {2}", 2)  # only the arm taken is evaluated

ADD = Op("add", _binary(lambda a, b: a + b), "{0} + {1}", 12, wrap=True)
SUB = Op("sub", _binary(lambda a, b: a - b), "{0} - {1}", 12, wrap=True)
MUL = Op("mul", _binary(lambda a, b: a * b), "{0} * {1}", 13, wrap=True)
NEG = Op("neg", _unary(lambda a: -a), "0 - {0}", 12, wrap=True)
DIV = Op("div", lambda v, a, b: divide(v.type, a, b)[0], "{0} / {1}", 13, partial=True)
REM = Op("rem", lambda v, a, b: divide(v.type, a, b)[1], "{0} % {1}", 13, partial=True)
AND = Op("and", _binary(lambda a, b: a & b), "{0} & {1}", 7)
OR = Op("or", _binary(lambda a, b: a | b), "{0} | {1}", 5)
XOR = Op("xor", _binary(lambda a, b: a ^ b), "{0} ^ {1}", 6)
NOT = Op("not", _unary(lambda a: ~a), "~{0}", 15)
SHL = Op("shl", _by_checked_amount(shift_left), "{0} << {1}", 11, wrap=True, partial=True)
SHR = Op("shr", _by_checked_amount(shift_right), "{0} >> {1}", 11, partial=True)
LT = Op("lt", _binary(lambda a, b: a < b), "{0} < {1}", 9)
LE = Op("le", _binary(lambda a, b: a <= b), "{0} <= {1}", 9)
GT = Op("gt", _binary(lambda a, b: a > b), "{0} > {1}", 9)
GE = Op("ge", _binary(lambda a, b: a >= b), "{0} >= {1}", 9)
EQ = Op("eq", _binary(lambda a, b: a == b), "{0} == {1}", 8)
NE = Op("ne", _binary(lambda a, b: a != b), "{0} != {1}", 8)
LAND = Op("land", _binary(lambda a, b: a & b), "{0} && {1}", 4)
LOR = Op("lor", _binary(lambda a, b: a | b), "{0} || {1}", 3)
LXOR = Op("lxor", _binary(lambda a, b: a ^ b), "{0} != {1}", 8)
LNOT = Op("lnot", _unary(lambda a: 1 - a), "!{0}", 15)
CONVERT = Op("convert", _unary(lambda a: a), "{t}({0})")  # by value between integers; pred -> 0 or 1
BITS = Op("bits", lambda v, a: a, "__builtin_bit_cast({t}, {0})")  # the same bits as another type of that width
CLZ = Op("clz", lambda v, a: v.args[0].type.bits - a.bit_length(), "cu2port::ptx::clz({0})")
POPC = Op("popc", lambda v, a: a.bit_count(), "cu2port::ptx::popc({0})")
BREV = Op("brev", lambda v, a: int(f"{a:0{v.type.bits}b}"[::-1], 2), "cu2port::ptx::brev({0})")
SHL_ANY = Op("shl_any", _of_type(shift_left), "cu2port::ptx::shl({0}, {1})")  # 0 from the width on
SHR_ANY = Op("shr_any", _of_type(shift_right), "cu2port::ptx::shr({0}, {1})")  # all sign from the width on
# the elements of what a vector load read
EXTRACT = Op("extract", _never, "")  # attr: index
MULHI = Op("mulhi", _of_type(multiply_high), "cu2port::ptx::mul_hi<{t}>({0}, {1})")
PERM = Op("perm", lambda v, *a: permute(*a), "cu2port::ptx::prmt({0}, {1}, {2})", loose=True)


# --- making nodes ----------------------------------------------------------------------------------------------------


def const(value: int, type_: Type) -> Value:
    """A constant; `value` may be negative or too wide and is wrapped."""
    return Value(CONST, type_, (), value & type_.mask)


def make(op: Op, type_: Type, *args: Value, attr: object = None) -> Value:
    """A node, or what it folds to: a constant, or an argument that the operation does not change."""
    if op.effect is Effect.NONE and args:
        constants = [a.attr for a in args if a.op is CONST]
        if len(constants) == len(args) and op.meaning is not _never and op.run is None:
            return Value(CONST, type_, (), op.meaning(Value(op, type_, args, attr), *constants))
        if constants and len(args) == 2:
            folded = _simplify(op, type_, *args)
            if folded is not None:
                return folded
    return Value(op, type_, args, attr)


def _simplify(op: Op, type_: Type, a: Value, b: Value) -> Value | None:
    """x + 0, x & ~0, x << 0 and the like; None where nothing is simpler."""
    x, c = (b, a.constant) if a.op is CONST else (a, b.constant)
    first = a.op is CONST
    if c == 0:
        if op in (ADD, OR, XOR, LOR, LXOR) or (op in (SUB, SHL, SHR) and not first):
            return x
        if op in (AND, MUL, LAND) or (op in (SHL, SHR) and first):
            return const(0, type_)
    if (op is AND and c == type_.mask) or (op is LAND and c == 1) or (op is MUL and c == 1):
        return x
    if (op is LOR and c == 1) or (op is OR and c == type_.mask):
        return const(type_.mask, type_)
    if (op is XOR and c == type_.mask) or (op is LXOR and c == 1):
        return ~x
    return None


def reg(name: str, type_: Type) -> Value:
    """What a register holds, read as `type_`."""
    return Value(REG, type_, (), name)


def select(condition: Value, yes: Value | int, no: Value | int) -> Value:
    """`condition ? yes : no`; an int takes the other arm's type."""
    if not isinstance(yes, Value):
        assert isinstance(no, Value)
        yes = const(yes, no.type)
    elif not isinstance(no, Value):
        no = const(no, yes.type)
    if condition.op is CONST:
        return yes if condition.attr else no
    if yes is no:
        return yes
    return Value(SELECT, yes.type, (condition, yes, no))


def eq(a: Value, b: Value | int) -> Value:
    return make(EQ, PRED, a, b if isinstance(b, Value) else const(b, a.type))


def ne(a: Value, b: Value | int) -> Value:
    return make(NE, PRED, a, b if isinstance(b, Value) else const(b, a.type))


def convert(a: Value, type_: Type) -> Value:
    """The number `a` in another integer type: cut, or extended by a's sign."""
    if a.type == type_:
        return a
    if a.op is CONVERT and a.type.bits >= type_.bits and a.args[0].type is not PRED and type_ is not PRED:
        return convert(a.args[0], type_)  # what was added or cut before does not show
    return make(CONVERT, type_, a)


def bits(a: Value, type_: Type) -> Value:
    """The same bits read as another type of the same width."""
    if a.type == type_:
        return a
    if a.op is REG:
        return reg(str(a.attr), type_)
    if a.type.is_int and type_.is_int:
        return make(CONVERT, type_, a)
    return make(BITS, type_, a)


def signed(a: Value) -> Value:
    return bits(a, a.type.to_signed)


def unsigned(a: Value) -> Value:
    return bits(a, a.type.unsigned)


def smaller(a: Value, b: Value | int) -> Value:
    """The lesser of two integers."""
    b = b if isinstance(b, Value) else const(b, a.type)
    return select(a < b, a, b)


def larger(a: Value, b: Value | int) -> Value:
    b = b if isinstance(b, Value) else const(b, a.type)
    return select(a > b, a, b)


def shl(a: Value, n: Value | int) -> Value:
    """a << n for any n of 32 bits: 0 from the width on."""
    n = n if isinstance(n, Value) else const(n, U32)
    if n.constant is not None:
        return a << n if n.constant < a.type.bits else const(0, a.type)
    return make(SHL_ANY, a.type, a, n)


def shr(a: Value, n: Value | int) -> Value:
    """a >> n for any n of 32 bits: nothing but the sign (0 for unsigned) from the width on."""
    n = n if isinstance(n, Value) else const(n, U32)
    if n.constant is not None:
        if n.constant >= a.type.bits and not a.type.signed:
            return const(0, a.type)
        return a >> min(n.constant, a.type.bits - 1)
    return make(SHR_ANY, a.type, a, n)


def absolute(a: Value) -> Value:
    """|a| in the unsigned type, which holds that of the least number too."""
    return select(a < 0, unsigned(-a), unsigned(a)) if a.type.signed else a


def clamp(a: Value, low: int, high: int) -> Value:
    """a, but at least low and at most high."""
    return smaller(larger(a, low), high)


def part(a: Value, index: int, t: Type) -> Value:
    """Element `index`, counted from the low end, of elements of type t packed in a."""
    return convert(unsigned(a) >> index * t.bits, t)


def pack(parts: Sequence[Value], t: Type) -> Value:
    """Elements packed from the low end on into an integer of type t."""
    out = const(0, t)
    for i, p in enumerate(parts):
        out = out | (convert(unsigned(p), t) << i * p.type.bits)
    return out


def clz(a: Value) -> Value:
    """Leading zeros; the width for 0."""
    return make(CLZ, U32, unsigned(a))


def popc(a: Value) -> Value:
    return make(POPC, U32, unsigned(a))


def brev(a: Value) -> Value:
    return make(BREV, a.type, a)


def mul_hi(a: Value, b: Value) -> Value:
    """The upper half of the product."""
    return make(MULHI, a.type, a, b)


def extract(vector: Value, index: int) -> Value:
    """One element of a vector value."""
    if vector.type.lanes == 1:
        return vector
    element = Type(vector.type.name.rpartition("x")[0], vector.type.kind, vector.type.bits)
    return Value(EXTRACT, TYPES.get(element.name, element), (vector,), index)


def offset_of(address: Value) -> tuple[Value, int]:
    """An address as a base and a constant number of bytes."""
    if address.op is ADD and address.args[1].constant is not None:
        return address.args[0], read(address.args[1].constant, address.type.to_signed)
    return address, 0
