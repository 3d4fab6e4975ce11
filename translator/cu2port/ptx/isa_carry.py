"""Rows: extended precision. One carry flag a thread; `.cc` sets it, `c` reads it.

Subtraction adds the complement: its flag is the carry of a + ~b + 1, set where nothing is borrowed. Among subtractions
this is what the manual says; what an `addc` reads after a `sub.cc`, or a `subc` after an `add.cc`, it leaves open.
"""

from __future__ import annotations

from cu2port.ptx.ir import Type
from cu2port.ptx.ops import Value, convert, eq, mul_hi, ne, unsigned
from cu2port.ptx.table import ptx

_T = "{t:u32|s32|u64|s64}"
_REF = "extended-precision-arithmetic-instructions-"


def _sum(a: Value, b: Value, carry: Value | None) -> tuple[Value, Value]:
    """a + b + carry and the carry out of it."""
    wide = unsigned(a).type.wide
    total = convert(unsigned(a), wide) + convert(unsigned(b), wide)
    if carry is not None:
        total = total + convert(carry, wide)
    return convert(total, a.type.unsigned), ne(total >> a.type.bits, 0)


def _difference(a: Value, b: Value, carry: Value | None) -> tuple[Value, Value]:
    """a + ~b + carry (1 if there is none) and the carry out of it."""
    wide = unsigned(a).type.wide
    total = convert(unsigned(a), wide) - convert(unsigned(b), wide)
    if carry is not None:
        total = total - convert(~carry, wide)
    return convert(total, a.type.unsigned), eq(total >> a.type.bits, 0)


@ptx(
    f"add.cc.{_T} d, a, b",
    ref=_REF + "add-cc",
    examples={"add.cc.u32": (((0xFFFFFFFF, 1), (0, 1)), ((1, 2), (3, 0)))},
    writes="cc",
    call="add_cc",
)
def add_cc(a: Value, b: Value) -> tuple[Value, Value]:
    return _sum(a, b, None)


@ptx(
    f"addc.cc.{_T} d, a, b",
    ref=_REF + "addc",
    examples={"addc.cc.u32": (((0xFFFFFFFF, 0, 1), (0, 1)), ((0xFFFFFFFF, 0xFFFFFFFF, 1), (0xFFFFFFFF, 1)))},
    reads="cc",
    writes="cc",
    call="addc_cc",
)
def addc_cc(a: Value, b: Value, cc: Value) -> tuple[Value, Value]:
    return _sum(a, b, cc)


@ptx(f"addc.{_T} d, a, b", ref=_REF + "addc", examples={"addc.u32": (((1, 2, 1), 4),)}, reads="cc")
def addc(t: Type, a: Value, b: Value, cc: Value) -> Value:
    return unsigned(a) + unsigned(b) + convert(cc, t.unsigned)


@ptx(
    f"sub.cc.{_T} d, a, b",
    ref=_REF + "sub-cc",
    examples={"sub.cc.u32": (((0, 1), (0xFFFFFFFF, 0)), ((2, 2), (0, 1)))},
    writes="cc",
    call="sub_cc",
)
def sub_cc(a: Value, b: Value) -> tuple[Value, Value]:
    return _difference(a, b, None)


@ptx(
    f"subc.cc.{_T} d, a, b",
    ref=_REF + "subc",
    examples={"subc.cc.u32": (((0, 0, 0), (0xFFFFFFFF, 0)), ((0, 0xFFFFFFFF, 0), (0, 0)), ((5, 2, 1), (3, 1)))},
    reads="cc",
    writes="cc",
    call="subc_cc",
)
def subc_cc(a: Value, b: Value, cc: Value) -> tuple[Value, Value]:
    return _difference(a, b, cc)


@ptx(f"subc.{_T} d, a, b", ref=_REF + "subc", examples={"subc.u32": (((5, 2, 0), 2), ((5, 2, 1), 3))}, reads="cc")
def subc(t: Type, a: Value, b: Value, cc: Value) -> Value:
    return unsigned(a) - unsigned(b) - convert(~cc, t.unsigned)


def _product(a: Value, b: Value, part: str) -> Value:
    return mul_hi(a, b) if part == "hi" else unsigned(a) * unsigned(b)


@ptx(
    f"mad.{{part:lo|hi}}.cc.{_T} d, a, b, c",
    ref=_REF + "mad-cc",
    examples={"mad.lo.cc.u32": (((2, 3, 0xFFFFFFFF), (5, 1)),)},
    writes="cc",
    call="mad_{part}_cc",
)
def mad_cc(a: Value, b: Value, c: Value, part: str) -> tuple[Value, Value]:
    return _sum(_product(a, b, part), c, None)


@ptx(
    f"madc.{{part:lo|hi}}.cc.{_T} d, a, b, c",
    ref=_REF + "madc",
    examples={"madc.hi.cc.u32": (((1 << 31, 2, 0xFFFFFFFE, 1), (0, 1)),)},
    reads="cc",
    writes="cc",
    call="madc_{part}_cc",
)
def madc_cc(a: Value, b: Value, c: Value, cc: Value, part: str) -> tuple[Value, Value]:
    return _sum(_product(a, b, part), c, cc)


@ptx(
    f"madc.{{part:lo|hi}}.{_T} d, a, b, c",
    ref=_REF + "madc",
    examples={"madc.lo.u32": (((2, 3, 4, 1), 11),)},
    reads="cc",
)
def madc(t: Type, a: Value, b: Value, c: Value, cc: Value, part: str) -> Value:
    return unsigned(_product(a, b, part)) + unsigned(c) + convert(cc, t.unsigned)
