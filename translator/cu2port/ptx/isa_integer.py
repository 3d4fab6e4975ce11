"""Rows: integer arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from cu2port.ptx.integers import read
from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.ops import (
    DIV,
    REM,
    U32,
    Op,
    Value,
    brev,
    clamp,
    clz,
    const,
    convert,
    eq,
    larger,
    make,
    mul_hi,
    pack,
    part,
    popc,
    select,
    smaller,
    unsigned,
)
from cu2port.ptx.table import ptx

_INT = "{t:u16|s16|u32|s32|u64|s64}"
_SIGNED = "{t:s16|s32|s64}"
_NARROW = "{t:u16|s16|u32|s32}"
_PACKED = "{t:u16x2|s16x2|u8x4|s8x4}"


def each(t: Type, f: Callable[..., Value], *operands: Value) -> Value:
    """A packed operation: f on each element; `t` is `u16x2` and the like."""
    element, _, count = t.name.partition("x")
    return pack([f(*(part(v, i, TYPES[element]) for v in operands)) for i in range(int(count))], U32)


def saturated(wide: Value, t: Type) -> Value:
    """A number of a wider type, clamped to what t holds."""
    low, high = (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, t.mask)
    return convert(clamp(wide, low, high), t)


@ptx(f"add.{_INT} d, a, b", ref="integer-arithmetic-instructions-add", examples={"add.u16": (((0xFFFF, 2), 1),)})
def add(a: Value, b: Value) -> Value:
    return a + b


@ptx(
    "add.sat.{t:s32} d, a, b",
    ref="integer-arithmetic-instructions-add",
    examples={"add.sat.s32": (((0x7FFFFFFF, 1), 0x7FFFFFFF), ((1 << 31, -1 & 0xFFFFFFFF), 1 << 31))},
    helper=True,
)
def add_sat(t: Type, a: Value, b: Value) -> Value:
    return saturated(convert(a, t.wide) + convert(b, t.wide), t)


@ptx(f"add.{_PACKED} d, a, b", ref="integer-arithmetic-instructions-add", helper=True, sm=90)
def add_packed(t: Type, a: Value, b: Value) -> Value:
    return each(t, lambda x, y: x + y, a, b)


@ptx(f"sub.{_INT} d, a, b", ref="integer-arithmetic-instructions-sub", examples={"sub.u32": (((7, 8), 0xFFFFFFFF),)})
def sub(a: Value, b: Value) -> Value:
    return a - b


@ptx("sub.sat.{t:s32} d, a, b", ref="integer-arithmetic-instructions-sub", helper=True)
def sub_sat(t: Type, a: Value, b: Value) -> Value:
    return saturated(convert(a, t.wide) - convert(b, t.wide), t)


@ptx("sub.{t:u8x4|s8x4} d, a, b", ref="integer-arithmetic-instructions-sub", helper=True, sm=90)
def sub_packed(t: Type, a: Value, b: Value) -> Value:
    return each(t, lambda x, y: x - y, a, b)


@ptx(f"mul.lo.{_INT} d, a, b", ref="integer-arithmetic-instructions-mul")
def mul_lo(a: Value, b: Value) -> Value:
    return a * b


@ptx(
    f"mul.hi.{_INT} d, a, b",
    ref="integer-arithmetic-instructions-mul",
    examples={"mul.hi.u32": (((1 << 31, 4), 2),), "mul.hi.s32": (((0xFFFFFFFF, 1), 0xFFFFFFFF),)},
)
def mul_high(a: Value, b: Value) -> Value:
    return mul_hi(a, b)


@ptx(
    f"mul.wide.{_NARROW} d:wide(t), a, b",
    ref="integer-arithmetic-instructions-mul",
    examples={"mul.wide.s16": (((0xFFFF, 2), 0xFFFFFFFE),)},
)
def mul_wide(t: Type, a: Value, b: Value) -> Value:
    return convert(a, t.wide) * convert(b, t.wide)


@ptx(
    f"mad.lo.{_INT} d, a, b, c", ref="integer-arithmetic-instructions-mad", examples={"mad.lo.u32": (((3, 4, 5), 17),)}
)
def mad_lo(a: Value, b: Value, c: Value) -> Value:
    return a * b + c


@ptx(f"mad.hi.{_INT} d, a, b, c", ref="integer-arithmetic-instructions-mad")
def mad_hi(a: Value, b: Value, c: Value) -> Value:
    return mul_hi(a, b) + c


@ptx("mad.hi.sat.{t:s32} d, a, b, c", ref="integer-arithmetic-instructions-mad", helper=True)
def mad_hi_sat(t: Type, a: Value, b: Value, c: Value) -> Value:
    return saturated(convert(mul_hi(a, b), t.wide) + convert(c, t.wide), t)


@ptx(f"mad.wide.{_NARROW} d:wide(t), a, b, c:wide(t)", ref="integer-arithmetic-instructions-mad")
def mad_wide(t: Type, a: Value, b: Value, c: Value) -> Value:
    return convert(a, t.wide) * convert(b, t.wide) + c


def _product24(t: Type, a: Value, b: Value, part_: str) -> Value:
    """Low or high 32 bits (47..16) of the 48-bit product of the low 24 bits."""
    a, b = ((a << 8) >> 8, (b << 8) >> 8) if t.signed else (a & 0xFFFFFF, b & 0xFFFFFF)
    if part_ == "lo":
        return a * b
    return convert((convert(a, t.wide) * convert(b, t.wide)) >> 16, t)


@ptx(
    "mul24.{part:lo|hi}.{t:u32|s32} d, a, b",
    ref="integer-arithmetic-instructions-mul24",
    examples={"mul24.hi.u32": (((0xFFFFFF, 0xFFFFFF), 0xFFFFFE00),)},
    helper=True,
)
def mul24(t: Type, a: Value, b: Value, part: str) -> Value:
    return _product24(t, a, b, part)


@ptx(
    "mad24.{part:lo|hi}.{t:u32|s32} d, a, b, c",
    ref="integer-arithmetic-instructions-mad24",
    examples={"mad24.lo.s32": (((0x01FFFFFF, 5, 7), 2),)},
    helper=True,
)
def mad24(t: Type, a: Value, b: Value, c: Value, part: str) -> Value:
    return _product24(t, a, b, part) + c


@ptx("mad24.hi.sat.{t:s32} d, a, b, c", ref="integer-arithmetic-instructions-mad24", helper=True)
def mad24_sat(t: Type, a: Value, b: Value, c: Value) -> Value:
    return saturated(convert(_product24(t, a, b, "hi"), t.wide) + convert(c, t.wide), t)


@ptx(
    f"sad.{_INT} d, a, b, c:unsigned(t)",
    ref="integer-arithmetic-instructions-sad",
    examples={"sad.s32": (((0x80000000, 0x7FFFFFFF, 0), 0xFFFFFFFF),), "sad.u32": (((3, 5, 1), 3),)},
    helper=True,
)
def sad(a: Value, b: Value, c: Value) -> Value:
    return c + select(a < b, unsigned(b) - unsigned(a), unsigned(a) - unsigned(b))


@ptx(
    f"div.{_INT} d, a, b",
    ref="integer-arithmetic-instructions-div",
    examples={"div.s32": (((0xFFFFFFF9, 2), 0xFFFFFFFD), ((1 << 31, 0xFFFFFFFF), 1 << 31)), "div.u32": (((7, 2), 3),)},
    helper=True,
)
def div(t: Type, a: Value, b: Value) -> Value:
    """Division by zero gives all ones, as NVIDIA's GPUs do; the manual leaves it open. The least by -1 gives itself."""
    quotient = make(DIV, t, a, b)
    if t.signed:
        quotient = select(eq(b, -1), -a, quotient)
    return select(eq(b, 0), const(-1, t), quotient)


@ptx(
    f"rem.{_INT} d, a, b",
    ref="integer-arithmetic-instructions-rem",
    examples={"rem.s32": (((0xFFFFFFF9, 2), 0xFFFFFFFF), ((1 << 31, 0xFFFFFFFF), 0))},
    helper=True,
)
def rem(t: Type, a: Value, b: Value) -> Value:
    """The sign is the dividend's. A remainder by zero, which the manual leaves open, is the dividend."""
    rest = make(REM, t, a, b)
    if t.signed:
        rest = select(eq(b, -1), const(0, t), rest)
    return select(eq(b, 0), a, rest)


@ptx(f"abs.{_SIGNED} d, a", ref="integer-arithmetic-instructions-abs", examples={"abs.s32": (((1 << 31,), 1 << 31),)})
def abs_(a: Value) -> Value:
    return select(a < 0, -a, a)


@ptx(f"neg.{_SIGNED} d, a", ref="integer-arithmetic-instructions-neg", examples={"neg.s16": (((1,), 0xFFFF),)})
def neg(a: Value) -> Value:
    return -a


def _relu(v: Value, relu: bool) -> Value:
    return larger(v, 0) if relu else v


@ptx(f"min.{_INT} d, a, b", ref="integer-arithmetic-instructions-min")
def min_(a: Value, b: Value) -> Value:
    return smaller(a, b)


@ptx(f"max.{_INT} d, a, b", ref="integer-arithmetic-instructions-max")
def max_(a: Value, b: Value) -> Value:
    return larger(a, b)


@ptx("min.relu.{t:s32} d, a, b", ref="integer-arithmetic-instructions-min", sm=90)
def min_relu(a: Value, b: Value) -> Value:
    return larger(smaller(a, b), 0)


@ptx("max.relu.{t:s32} d, a, b", ref="integer-arithmetic-instructions-max", sm=90)
def max_relu(a: Value, b: Value) -> Value:
    return larger(larger(a, b), 0)


@ptx("min.{t:u16x2|u8x4} d, a, b", ref="integer-arithmetic-instructions-min", helper=True, sm=90)
@ptx("min{.relu}.{t:s16x2|s8x4} d, a, b", ref="integer-arithmetic-instructions-min", helper=True, sm=90)
def min_packed(t: Type, a: Value, b: Value, relu: bool = False) -> Value:
    return each(t, lambda x, y: _relu(smaller(x, y), relu), a, b)


@ptx("max.{t:u16x2|u8x4} d, a, b", ref="integer-arithmetic-instructions-max", helper=True, sm=90)
@ptx("max{.relu}.{t:s16x2|s8x4} d, a, b", ref="integer-arithmetic-instructions-max", helper=True, sm=90)
def max_packed(t: Type, a: Value, b: Value, relu: bool = False) -> Value:
    return each(t, lambda x, y: _relu(larger(x, y), relu), a, b)


@ptx("popc.{t:b32|b64} d:u32, a", ref="integer-arithmetic-instructions-popc", examples={"popc.b64": (((0xF0F,), 8),)})
def popc_(a: Value) -> Value:
    return popc(a)


@ptx(
    "clz.{t:b32|b64} d:u32, a",
    ref="integer-arithmetic-instructions-clz",
    examples={"clz.b32": (((0,), 32), ((1,), 31))},
)
def clz_(a: Value) -> Value:
    return clz(a)


@ptx(
    "bfind{.shiftamt}.{t:u32|u64|s32|s64} d:u32, a",
    ref="integer-arithmetic-instructions-bfind",
    examples={
        "bfind.u32": (((0,), 0xFFFFFFFF), ((0x80,), 7)),
        "bfind.s32": (((0xFFFFFFFF,), 0xFFFFFFFF), ((0xFFFFFF00,), 7)),
        "bfind.shiftamt.u32": (((0x80,), 24), ((0,), 0xFFFFFFFF)),
    },
    helper=True,
)
def bfind(t: Type, a: Value, shiftamt: bool) -> Value:
    value = select(a < 0, ~a, a) if t.signed else a
    zeros = clz(value)
    return select(eq(value, 0), const(-1, U32), zeros if shiftamt else const(t.bits - 1, U32) - zeros)


def _fns(v: Value, mask: int, base: int, offset: int) -> int:
    count = read(offset, v.args[2].type)
    if base > 31:
        return 0xFFFFFFFF
    if count == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    places = range(base, 32) if count > 0 else range(base, -1, -1)
    found = [i for i in places if mask >> i & 1]
    return found[abs(count) - 1] if len(found) >= abs(count) else 0xFFFFFFFF


FNS = Op("fns", _fns, "cu2port::ptx::fns({0}, {1}, {2})", loose=True)


@ptx(
    "fns.b32 d:b32, a:b32, b:u32, c:s32",
    ref="integer-arithmetic-instructions-fns",
    examples={
        "fns.b32": (
            ((0xAAAAAAAA, 3, 1), 3),
            ((0xAAAAAAAA, 3, 0xFFFFFFFF), 3),
            ((0xAAAAAAAA, 2, 1), 3),
            ((0xAAAAAAAA, 2, 0xFFFFFFFF), 1),
        )
    },
)
def fns(a: Value, b: Value, c: Value) -> Value:
    return make(FNS, U32, a, b, c)


@ptx("brev.{t:b32|b64} d, a", ref="integer-arithmetic-instructions-brev", examples={"brev.b32": (((1,), 1 << 31),)})
def brev_(a: Value) -> Value:
    return brev(a)


def _carryless(v: Value, a: int, b: int) -> int:
    """The product without carries, lower or upper half."""
    total = 0
    for i in range(64):
        if b >> i & 1:
            total ^= a << i
    return (total >> 64 if v.attr == "hi" else total) & v.type.mask


CLMUL = Op("clmul", _carryless, "cu2port::ptx::clmul_{attr}({0}, {1})", loose=True)


@ptx(
    "clmad.{part:lo|hi}.{t:u64} d, a, b, c",
    ref="integer-arithmetic-instructions-clmad",
    examples={"clmad.lo.u64": (((3, 3, 0), 5), ((3, 3, 1), 4)), "clmad.hi.u64": (((1 << 63, 2, 0), 1),)},
    sm=100,
)
def clmad(t: Type, a: Value, b: Value, c: Value, part: str) -> Value:
    """Products of polynomials over two elements, added: no carry moves."""
    return make(CLMUL, t, a, b, attr=part) ^ c
