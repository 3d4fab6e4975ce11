"""Rows: moves between registers, packing, conversions between integers, addresses in their spaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cu2port.ptx.interp import SHARED_WINDOW
from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.isa_integer import saturated
from cu2port.ptx.ops import (
    PRED,
    U32,
    U64,
    Effect,
    NoMeaningError,
    Op,
    Value,
    const,
    convert,
    larger,
    make,
    pack,
    part,
    smaller,
    unsigned,
)
from cu2port.ptx.table import Example, ptx

_REF = "data-movement-and-conversion-instructions-"
_MOV = _REF + "mov"


@ptx(
    "mov.{t:pred|b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64} {d}, {a}:parts(t)",
    ref=_MOV,
    examples={"mov.u32": (((5,), 5),)},
)
def mov(t: Type, a: tuple[Value, ...], n: int) -> Value | tuple[Value, ...]:
    """A copy; `{a, b}` packs from the low end, a vector result takes apart."""
    if len(a) > 1:
        return pack([unsigned(v) for v in a], t)
    if n > 1:
        element = TYPES[f"u{t.bits // n}"]
        return tuple(part(a[0], i, element) for i in range(n))
    return a[0]


_INTS = "u8|u16|u32|u64|s8|s16|s32|s64"
_CVT = _REF + "cvt"


@ptx(
    f"cvt.{{dt:{_INTS}}}.{{t:{_INTS}}} d:dt, a",
    ref=_CVT,
    examples={"cvt.s32.s8": (((0x80,), 0xFFFFFF80),), "cvt.u8.u32": (((0x1FF,), 0xFF),)},
)
def cvt(dt: Type, a: Value) -> Value:
    """Cut, or extended by the source's sign."""
    return convert(a, dt)


# destination -> the sources that hold numbers which it cannot
_SATURATING = {
    "u8": "u16|u32|u64|s8|s16|s32|s64",
    "u16": "u32|u64|s8|s16|s32|s64",
    "u32": "u64|s8|s16|s32|s64",
    "u64": "s8|s16|s32|s64",
    "s8": "u8|u16|u32|u64|s16|s32|s64",
    "s16": "u16|u32|u64|s32|s64",
    "s32": "u32|u64|s64",
    "s64": "u64",
}
_CVT_SAT: Mapping[str, Sequence[Example]] = {
    "cvt.sat.u8.s32": (((0xFFFFFFFF,), 0), ((300,), 255), ((7,), 7)),
    "cvt.sat.s32.u32": (((0xFFFFFFFF,), 0x7FFFFFFF),),
    "cvt.sat.s16.s64": (((1 << 63,), 0x8000),),
}


def cvt_sat(dt: Type, t: Type, a: Value) -> Value:
    """Clamped to what the destination holds."""
    low, high = (-(1 << dt.bits - 1), (1 << dt.bits - 1) - 1) if dt.signed else (0, dt.mask)
    wide = convert(a, TYPES[f"{t.kind}{max(t.bits, dt.bits)}"])
    if t.signed and -(1 << t.bits - 1) < low:
        wide = larger(wide, low)
    if (t.mask >> 1 if t.signed else t.mask) > high:
        wide = smaller(wide, high)
    return convert(wide, dt)


for _dt, _sources in _SATURATING.items():
    ptx(
        f"cvt.sat.{{dt:{_dt}}}.{{t:{_sources}}} d:dt, a",
        ref=_CVT,
        examples={k: v for k, v in _CVT_SAT.items() if f".{_dt}." in k},
    )(cvt_sat)


@ptx(
    "cvt.pack.sat.{ct:u16|s16}.s32 d:b32, a:s32, b:s32",
    ref=_REF + "cvt-pack",
    examples={"cvt.pack.sat.s16.s32": (((0x12345678, 0xFFFFFFFF), 0x7FFFFFFF),)},
    helper=True,
)
def cvt_pack(ct: Type, a: Value, b: Value) -> Value:
    """a, clamped, in the upper half, b in the lower."""
    return pack([saturated(b, ct), saturated(a, ct)], U32)


@ptx(
    "cvt.pack.sat.{ct:u8|s8|u4|s4|u2|s2}.s32.b32 d:b32, a:s32, b:s32, c:b32",
    ref=_REF + "cvt-pack",
    examples={"cvt.pack.sat.u8.s32.b32": (((300, 0xFFFFFFFF, 0x11223344), 0x3344FF00),)},
    helper=True,
)
def cvt_pack_into(ct: Type, a: Value, b: Value, c: Value) -> Value:
    """c moved up by two elements, with a and b, clamped, below it; b lowest."""
    width = ct.bits
    mask = (1 << width) - 1
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if ct.signed else (0, mask)
    a, b = (unsigned(smaller(larger(v, low), high)) & mask for v in (a, b))
    return (c << 2 * width) | (a << width) | b


# --- addresses -------------------------------------------------------------------------------------------------------


def _moved(by: int) -> Callable[..., dict[int, int]]:
    def run(machine: Any, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
        return {lane: args[0][lane] + by & v.type.mask for lane in active}

    return run


CVTA_SHARED = Op("cvta_shared", lambda v, a: 0, "cu2port::ptx::cvta_shared({0})", loose=True, run=_moved(SHARED_WINDOW))
CVTA_TO_SHARED = Op(
    "cvta_to_shared",
    lambda v, a: 0,
    lambda v, texts: f"cu2port::ptx::cvta_to_shared({texts[0]})",
    address=True,
    run=_moved(-SHARED_WINDOW),
)
_CVTA = _REF + "cvta"


@ptx("cvta.{space:shared|shared::cta|shared::cluster}.{t:u64} d, a", ref=_CVTA)
def cvta_shared(t: Type, a: Value) -> Value:
    """The generic address of an offset in shared memory. A cluster is one block."""
    return convert(make(CVTA_SHARED, U64, convert(a, U32)), t)


@ptx("cvta.to.{space:shared|shared::cta|shared::cluster}.{t:u64} d, a", ref=_CVTA)
def cvta_to_shared(t: Type, a: Value) -> Value:
    """The offset in shared memory of a generic address."""
    return convert(make(CVTA_TO_SHARED, U32, a), t)


@ptx("cvta{.to}.{space:global|const|local|param|param::entry}.{t:u64} d, a", ref=_CVTA)
def cvta(a: Value) -> Value:
    """These spaces' addresses are generic ones already."""
    return a


def _in_space(machine: Any, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    shared = {lane: args[0][lane] >> 32 == SHARED_WINDOW >> 32 for lane in active}
    return {lane: int(shared[lane] == (v.attr == "shared")) for lane in active}


IS_SPACE = Op(
    "is_space",
    lambda v, a: 0,
    lambda v, texts: f"cu2port::ptx::isspacep_{v.attr}({texts[0]})",
    run=_in_space,
    address=True,
)


@ptx(
    "isspacep.{space:global|local|shared|shared::cta|shared::cluster} d:pred, a:u64",
    ref=_REF + "isspacep",
)
def isspacep(a: Value, space: str) -> Value:
    return Value(IS_SPACE, PRED, (a,), space.partition(":")[0])


def _own(machine: Any, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    return {lane: args[0][lane] for lane in active}


#: traps for any block but the first
MAPA = Op("mapa", lambda v, a, b: a, "cu2port::ptx::mapa<{t}>({all})", effect=Effect.STATE, loose=True, run=_own)


@ptx("mapa{.space:shared::cluster}.{t:u32|u64} d, a, b:u32", ref=_REF + "mapa", sm=90)
def mapa(a: Value, b: Value) -> Value:
    """In a cluster of one block there is no other block's memory."""
    if b.constant:
        raise NoMeaningError(
            "it asks for the shared memory of another block of a cluster, and AMD GPUs have no clusters",
            "let each block work for itself, and reduce through global memory",
        )
    return a if b.constant == 0 else Value(MAPA, a.type, (a, b))


@ptx(
    "getctarank{.space:shared::cluster}.{t:u32|u64} d:u32, a",
    ref=_REF + "getctarank",
    sm=90,
)
def getctarank(a: Value) -> Value:
    return const(0, U32)
