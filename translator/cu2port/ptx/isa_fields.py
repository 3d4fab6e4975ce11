"""Rows: bit fields and dot products of packed integers."""

from __future__ import annotations

from cu2port.ptx.integers import read
from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.ops import U32, Op, Value, const, convert, make, part, shl, shr, signed, smaller, unsigned
from cu2port.ptx.table import ptx


@ptx(
    "bfe.{t:u32|u64|s32|s64} d, a, b:u32, c:u32",
    ref="integer-arithmetic-instructions-bfe",
    examples={
        "bfe.u32": (((0x12345678, 8, 8), 0x56), ((0x12345678, 8, 0), 0), ((0xFFFFFFFF, 32, 4), 0)),
        "bfe.s32": (((0x00008000, 8, 8), 0xFFFFFF80), ((1 << 31, 40, 3), 0xFFFFFFFF), ((1 << 31, 4, 0), 0)),
    },
    helper=True,
)
def bfe(t: Type, a: Value, b: Value, c: Value) -> Value:
    """Bits from `b` on, `c` of them; beyond the word the sign for signed types. A field of no bits is 0."""
    pos, length = (b & 255).named("pos"), (c & 255).named("length")
    field = shr(a, pos)
    if not t.signed:
        return field & ~shl(const(-1, t), length)
    above = (const(t.bits, U32) - smaller(length, t.bits)).named("above")
    return shr(signed(shl(unsigned(field), above)), above)


@ptx(
    "bfi.{t:b32|b64} d, a, b, c:u32, e:u32",
    ref="integer-arithmetic-instructions-bfi",
    examples={"bfi.b32": (((0xFF, 0, 8, 4), 0xF00), ((1, 7, 0, 0), 7), ((1, 7, 32, 1), 7))},
    helper=True,
)
def bfi(t: Type, a: Value, b: Value, c: Value, e: Value) -> Value:
    """b with the low `e` bits of a at bit `c`; what does not fit is cut off."""
    pos, length = (c & 255).named("pos"), (e & 255).named("length")
    mask = shl(~shl(const(-1, t), length), pos).named("mask")
    return (b & ~mask) | (shl(a, pos) & mask)


@ptx(
    "bmsk.{mode:clamp|wrap}.b32 d:b32, a:u32, b:u32",
    ref="integer-arithmetic-instructions-bmsk",
    examples={
        "bmsk.clamp.b32": (((24, 12), 0xFF000000), ((0, 32), 0xFFFFFFFF), ((32, 1), 0)),
        "bmsk.wrap.b32": (((1, 2), 6), ((33, 2), 6)),
    },
    helper=True,
)
def bmsk(a: Value, b: Value, mode: str) -> Value:
    """`b` ones from bit `a` on."""
    if mode == "wrap":
        a, b = a & 31, b & 31
    return shl(~shl(const(-1, U32), b), a)


@ptx(
    "szext.{mode:clamp|wrap}.{t:u32|s32} d, a, b:u32",
    ref="integer-arithmetic-instructions-szext",
    examples={
        "szext.wrap.u32": (((0xFFFFFFFF, 0), 0), ((0xFFFFFFFF, 33), 1)),
        "szext.clamp.s32": (((0x80, 8), 0xFFFFFF80), ((0x80, 77), 0x80), ((0x80, 0), 0)),
    },
    helper=True,
)
def szext(t: Type, a: Value, b: Value, mode: str) -> Value:
    """The low `b` bits of a, extended."""
    b = b & 31 if mode == "wrap" else smaller(b, 32)
    above = (const(32, U32) - b).named("above")
    return shr(shl(a, above) if not t.signed else signed(shl(unsigned(a), above)), above)


def _dp4a(v: Value, a: int, b: int, c: int) -> int:
    kinds = [TYPES[f"{t[0]}8"] for t in str(v.attr).split("_")]
    pairs = ((read(a >> i & 255, kinds[0]), read(b >> i & 255, kinds[1])) for i in range(0, 32, 8))
    return c + sum(x * y for x, y in pairs) & U32.mask


DP4A = Op("dp4a", _dp4a, "cu2port::ptx::dp4a_{attr}({all})", loose=True)  # attr: s32_u32, for a and b


@ptx(
    "dp4a.{at:u32|s32}.{bt:u32|s32} d:b32, a:b32, b:b32, c:b32",
    ref="integer-arithmetic-instructions-dp4a",
    examples={"dp4a.u32.u32": (((0x04030201, 0x01010101, 10), 20),), "dp4a.s32.u32": (((0xFF, 2, 0), 0xFFFFFFFE),)},
)
def dp4a(a: Value, b: Value, c: Value, at: Type, bt: Type) -> Value:
    return make(DP4A, U32, a, b, c, attr=f"{at}_{bt}")


@ptx(
    "dp2a.{mode:lo|hi}.{at:u32|s32}.{bt:u32|s32} d:b32, a:b32, b:b32, c:b32",
    ref="integer-arithmetic-instructions-dp2a",
    examples={
        "dp2a.lo.u32.u32": (((0x00020001, 0x04030201, 10), 15),),
        "dp2a.hi.u32.u32": (((0x00020001, 0x04030201, 10), 21),),
    },
    helper=True,
)
def dp2a(a: Value, b: Value, c: Value, at: Type, bt: Type, mode: str) -> Value:
    first = 2 if mode == "hi" else 0
    out = c
    for i in range(2):
        out = out + _element(a, i, at, 16) * _element(b, first + i, bt, 8)
    return out


def _element(v: Value, index: int, like: Type, width: int) -> Value:
    """An element of 8 or 16 bits, extended by the sign of `like` to 32."""
    return convert(part(v, index, TYPES[f"{like.kind}{width}"]), U32)
