"""Rows: conversions from and to f32, f64, f16 and bf16. The formats below 16 bits are in isa_small.py."""

from __future__ import annotations

from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.ops import Value, make
from cu2port.ptx.ops_float import FTOI, ROUND, converted, flushed, pair, relu, saturated
from cu2port.ptx.table import ptx

_REF = "data-movement-and-conversion-instructions-cvt"
_INT = "u8|u16|u32|u64|s8|s16|s32|s64"
_IRND = ".{rnd:rni|rzi|rmi|rpi}"
_FRND = ".{rnd:rn|rz|rm|rp}"
F32 = TYPES["f32"]
_ONE, _TWO, _HALF = 0x3F800000, 0x40000000, 0x3F000000


def as_single(a: Value) -> Value:
    """An f16 or bf16 as the f32 of the same value, others as they are."""
    return converted(a, F32) if a.type.bits == 16 else a


@ptx(
    f"cvt{_IRND}{{.ftz}}{{.sat}}.{{t:{_INT}}}.{{s:f32}} d, a:s",
    ref=_REF,
    examples={
        "cvt.rni.s32.f32": (((_HALF,), 0), ((0x3FC00000,), 2), ((0x7FC00000,), 0), ((0x4F000000,), 0x7FFFFFFF)),
        "cvt.rzi.u32.f32": (((0xBF800000,), 0), ((0x4F800000,), 0xFFFFFFFF)),
        "cvt.rmi.s32.f32": (((0xBF000000,), 0xFFFFFFFF),),
        "cvt.rpi.s32.f32": (((1,), 1), ((0xBF000000,), 0)),
        "cvt.rpi.ftz.s32.f32": (((1,), 0),),
        "cvt.rni.sat.u8.f32": (((0x43800000,), 255),),
        "cvt.rni.s8.f32": (((0xC3800000,), 0x80),),
        "cvt.rni.u64.f32": (((0x7FC00000,), 1 << 63),),
    },
)
@ptx(
    f"cvt{_IRND}{{.sat}}.{{t:{_INT}}}.{{s:f64|f16}} d, a:s",
    ref=_REF,
    examples={
        "cvt.rni.s32.f64": (((0x4004000000000000,), 2), ((0x7FF8 << 48,), 1 << 31)),
        "cvt.rzi.u16.f64": (((0x7FF8 << 48,), 1 << 15),),
        "cvt.rmi.s16.f16": (((0xBC01,), 0xFFFE), ((0x7C00,), 0x7FFF), ((0x7E00,), 0)),
    },
)
@ptx(
    f"cvt{_IRND}.{{t:{_INT}}}.{{s:bf16}} d, a:s",
    ref=_REF,
    examples={"cvt.rpi.s8.bf16": (((0x3F81,), 2), ((0x4300,), 127))},
    sm=90,
)
def to_integer(t: Type, a: Value, rnd: str, ftz: bool = False) -> Value:
    """The result is clamped to the integer's range with and without .sat."""
    return make(FTOI, t, flushed(as_single(a), ftz), attr=rnd)


@ptx(
    f"cvt{_FRND}{{.ftz}}{{.sat}}.{{t:f32}}.{{s:{_INT}}} d, a:s",
    ref=_REF,
    examples={
        "cvt.rn.f32.s32": (((0xFFFFFFFF,), 0xBF800000), ((0x01000001,), 0x4B800000)),
        "cvt.rp.f32.u32": (((0x01000001,), 0x4B800001),),
        "cvt.rn.f32.s8": (((0x80,), 0xC3000000),),
        "cvt.rz.f32.u64": (((0xFFFFFFFFFFFFFFFF,), 0x5F7FFFFF),),
    },
)
@ptx(
    f"cvt{_FRND}{{.sat}}.{{t:f64|f16}}.{{s:{_INT}}} d, a:s",
    ref=_REF,
    examples={"cvt.rn.f16.u32": (((65520,), 0x7C00), ((65519,), 0x7BFF)), "cvt.rn.sat.f64.s32": (((5,), 0x3FF << 52),)},
)
@ptx(f"cvt{_FRND}.{{t:bf16}}.{{s:{_INT}}} d, a:s", ref=_REF, examples={"cvt.rz.bf16.u64": (((0x101,), 0x4380),)}, sm=90)
def from_integer(t: Type, a: Value, rnd: str, sat: bool = False) -> Value:
    return saturated(converted(a, t, rnd), sat)


@ptx(
    f"cvt{_IRND}{{.ftz}}{{.sat}}.{{t:f32}}.f32 d, a",
    ref=_REF,
    examples={
        "cvt.rni.f32.f32": (((0x3FC00000,), _TWO), ((0xBF000000,), 1 << 31)),
        "cvt.rpi.ftz.f32.f32": (((1,), 0),),
    },
)
@ptx(f"cvt{_IRND}{{.sat}}.{{t:f64}}.f64 d, a", ref=_REF)
@ptx(f"cvt{_IRND}{{.sat}}.{{t:f16}}.f16 d, a", ref=_REF, examples={"cvt.rzi.f16.f16": (((0xBE00,), 0xBC00),)})
@ptx(f"cvt{_IRND}.{{t:bf16}}.bf16 d, a", ref=_REF, examples={"cvt.rpi.bf16.bf16": (((0x3F81,), 0x4000),)}, sm=90)
def to_integral(a: Value, rnd: str, ftz: bool = False, sat: bool = False) -> Value:
    return saturated(make(ROUND, a.type, flushed(a, ftz), attr=rnd), sat)


@ptx("cvt{.ftz}{.sat}.{t:f32}.f32 d, a", ref=_REF, examples={"cvt.ftz.f32.f32": (((0x80000001,), 1 << 31),)})
@ptx("cvt{.sat}.{t:f64}.f64 d, a", ref=_REF, examples={"cvt.sat.f64.f64": (((0x7FF8 << 48,), 0),)})
@ptx("cvt{.sat}.{t:f16}.f16 d, a", ref=_REF)
def same(a: Value, ftz: bool = False, sat: bool = False) -> Value:
    return saturated(flushed(a, ftz), sat)


@ptx(
    "cvt{.ftz}{.sat}.f64.{t:f32} d:f64, a",
    ref=_REF,
    examples={"cvt.f64.f32": (((1,), 0x36A << 52),), "cvt.ftz.f64.f32": (((1,), 0),)},
)
@ptx("cvt{.sat}.f64.{t:f16} d:f64, a", ref=_REF, examples={"cvt.f64.f16": (((1,), 0x3E7 << 52),)})
@ptx(
    "cvt{.rnd:rn|rz|rm|rp}.f64.{t:bf16} d:f64, a", ref=_REF, examples={"cvt.rm.f64.bf16": (((1,), 0x37A << 52),)}, sm=90
)
def to_f64(a: Value, ftz: bool = False, sat: bool = False) -> Value:
    """Exact, whatever rounding bf16 is written with."""
    return saturated(converted(flushed(a, ftz), TYPES["f64"]), sat)


@ptx(
    "cvt{.ftz}{.sat}.f32.{t:f16} d:f32, a",
    ref=_REF,
    examples={"cvt.f32.f16": (((0x3C00,), _ONE), ((0x8001,), 0xB3800000))},
)
@ptx(
    "cvt{.rnd:rn|rz|rm|rp}{.ftz}.f32.{t:bf16} d:f32, a",
    ref=_REF,
    examples={
        "cvt.f32.bf16": (((0x3F80,), _ONE), ((1,), 1 << 16)),
        "cvt.rp.ftz.f32.bf16": (((0x3F81,), 0x3F810000), ((1,), 0)),
    },
    sm=90,
)
def to_f32(a: Value, ftz: bool = False, sat: bool = False) -> Value:
    return saturated(flushed(converted(a, F32), ftz), sat)


@ptx(
    f"cvt{_FRND}{{.ftz}}{{.sat}}.f32.{{t:f64}} d:f32, a",
    ref=_REF,
    examples={
        "cvt.rn.f32.f64": (((0x3FF0000010000000,), _ONE), ((0x3FF0000030000000,), 0x3F800002)),
        "cvt.rp.f32.f64": (((1,), 1),),
        "cvt.rp.ftz.f32.f64": (((1,), 0),),
        "cvt.rz.f32.f64": (((0x47F0 << 48,), 0x7F7FFFFF), ((0xC7F0 << 48,), 0xFF7FFFFF)),
    },
)
def f64_to_f32(a: Value, rnd: str, ftz: bool, sat: bool) -> Value:
    return saturated(flushed(converted(a, F32, rnd), ftz), sat)


@ptx(
    f"cvt{_FRND}{{.ftz}}{{.sat}}.f16.{{t:f32}} d:f16, a",
    ref=_REF,
    examples={
        "cvt.rn.f16.f32": (((0x477FF000,), 0x7C00), ((0x7FC00000,), 0x7FFF)),
        "cvt.rz.f16.f32": (((0x477FF000,), 0x7BFF),),
    },
)
@ptx(f"cvt{_FRND}{{.sat}}.f16.{{t:f64}} d:f16, a", ref=_REF, examples={"cvt.rp.f16.f64": (((1,), 1),)})
@ptx(f"cvt{_FRND}.f16.{{t:bf16}} d:f16, a", ref=_REF, examples={"cvt.rn.f16.bf16": (((0x3F80,), 0x3C00),)}, sm=90)
def to_f16(a: Value, rnd: str, ftz: bool = False, sat: bool = False) -> Value:
    return saturated(converted(as_single(flushed(a, ftz)), TYPES["f16"], rnd), sat)


@ptx(
    f"cvt{_FRND}{{.ftz}}.bf16.{{t:f32}} d:bf16, a",
    ref=_REF,
    examples={
        "cvt.rn.bf16.f32": (((0x3F808000,), 0x3F80), ((0x3F818000,), 0x3F82), ((0x7F7FFFFF,), 0x7F80)),
        "cvt.rp.ftz.bf16.f32": (((1,), 0), ((0x807FFFFF,), 0x8000)),
    },
    sm=80,
)
@ptx(f"cvt{_FRND}.bf16.{{t:f64|f16}} d:bf16, a", ref=_REF, examples={"cvt.rz.bf16.f16": (((0x3C01,), 0x3F80),)}, sm=90)
def to_bf16(a: Value, rnd: str, ftz: bool = False) -> Value:
    return converted(as_single(flushed(a, ftz)), TYPES["bf16"], rnd)


def _narrowed(a: Value, t: Type, rnd: str, relued: bool, satfinite: bool) -> Value:
    return converted(relu(a, relued), t, rnd + ("_satfinite" if satfinite else ""))


_RELU_EXAMPLES = {
    "cvt.rn.relu.f16.f32": (((0xBF800000,), 0), ((0x7FC00000,), 0x7FFF)),
    "cvt.rz.relu.satfinite.bf16.f32": (((0x7F800000,), 0x7F7F), ((0xFF800000,), 0)),
}


@ptx("cvt.{rnd:rn|rz}.{word:relu}{.satfinite}.{t:f16|bf16}.f32 d, a:f32", ref=_REF, examples=_RELU_EXAMPLES, sm=80)
@ptx(
    "cvt.{rnd:rn|rz}.{word:satfinite}.{t:f16|bf16}.f32 d, a:f32",
    ref=_REF,
    examples={"cvt.rn.satfinite.f16.f32": (((0xFF800000,), 0xFBFF), ((0x7FC00000,), 0x7FFF))},
    sm=80,
)
def narrowed(t: Type, a: Value, rnd: str, word: str, satfinite: bool = False) -> Value:
    return _narrowed(a, t, rnd, word == "relu", satfinite or word == "satfinite")


@ptx(
    "cvt.{rnd:rn|rz}{.relu}{.satfinite}.{t:f16x2|bf16x2}.f32 d, a:f32, b:f32",
    ref=_REF,
    examples={
        "cvt.rn.f16x2.f32": (((_ONE, _TWO), 0x3C004000),),
        "cvt.rz.relu.bf16x2.f32": (((0xBF800000, _TWO), 0x4000),),
    },
    sm=80,
)
def packed(t: Type, a: Value, b: Value, rnd: str, relu: bool, satfinite: bool) -> Value:
    """The first operand goes to the upper half."""
    return pair(_relued(a, relu), _relued(b, relu), t, rnd + ("_satfinite" if satfinite else ""))


def _relued(a: Value, there: bool) -> Value:
    return relu(a, there)


@ptx(
    "cvt.rna{.satfinite}.{t:tf32}.f32 d, a:f32",
    ref=_REF,
    examples={"cvt.rna.tf32.f32": (((0x3F801000,), 0x3F802000), ((0x3F800FFF,), _ONE))},
    sm=80,
)
@ptx(
    "cvt.{rnd:rn|rz}{.satfinite}{.relu}.{t:tf32}.f32 d, a:f32",
    ref=_REF,
    examples={"cvt.rn.tf32.f32": (((0x3F801000,), _ONE),), "cvt.rn.relu.tf32.f32": (((0xBF800000,), 0),)},
    sm=90,
)
def to_tf32(t: Type, a: Value, satfinite: bool, rnd: str = "rna", relu: bool = False) -> Value:
    return _narrowed(a, t, rnd, relu, satfinite)
