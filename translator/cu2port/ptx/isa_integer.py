"""Rows: integer arithmetic and bit fields."""

from __future__ import annotations

from cu2port.ptx.ir import Type
from cu2port.ptx.ops import Value, const, convert, larger, ne, popc, select, signed, smaller
from cu2port.ptx.table import ptx

INT = "t:u16|s16|u32|s32|u64|s64"


@ptx("add.{" + INT + "} d, a, b", ref="integer-arithmetic-instructions-add", examples={"add.u32": (((7, 8), 15),)})
def add(a: Value, b: Value) -> Value:
    return a + b


@ptx(
    "mad.lo.{" + INT + "} d, a, b, c",
    ref="integer-arithmetic-instructions-mad",
    examples={"mad.lo.u32": (((3, 4, 5), 17),)},
)
def mad_lo(a: Value, b: Value, c: Value) -> Value:
    return a * b + c


@ptx(
    "bfi.{t:b32|b64} d, a, b, c:u32, e:u32",
    ref="integer-arithmetic-instructions-bfi",
    examples={"bfi.b32": (((0xFF, 0, 8, 4), 0xF00), ((1, 7, 0, 0), 7))},
    helper=True,
)
def bfi(t: Type, a: Value, b: Value, c: Value, e: Value) -> Value:
    pos, length = (c & 255).named("pos"), (e & 255).named("length")
    inside = pos < t.bits
    ones = const(t.mask, t)
    low = select(length < t.bits, ~(ones << length), ones)
    mask = (low << pos).named("mask")
    return select(inside, (b & ~mask) | ((a << pos) & mask), b)


@ptx(
    "bmsk.{mode:clamp|wrap}.b32 d:b32, a:u32, b:u32",
    ref="integer-arithmetic-instructions-bmsk",
    examples={"bmsk.clamp.b32": (((24, 12), 0xFF000000), ((0, 32), 0xFFFFFFFF), ((32, 1), 0))},
    helper=True,
)
def bmsk(a: Value, b: Value, mode: str) -> Value:
    one = const(1, a.type)
    if mode == "wrap":
        a, b = a & 31, b & 31
        return ((one << b) - 1) << a
    ones = select(b < 32, (one << b) - 1, const(-1, a.type))
    return select(a < 32, ones << a, 0)


__all__ = ["convert", "larger", "ne", "popc", "signed", "smaller"]
