"""Rows: conversions from and to the formats of 8, 6 and 4 bits, two in one register.

They are the formats of the Open Compute Project. MI300 converts fp8 of another kind (the exponent is off by one, there
is no negative zero), so that C++ computes on the bits.
"""

from __future__ import annotations

from collections.abc import Callable

from cu2port.ptx import softfloat
from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.ops import Op, Value, make
from cu2port.ptx.ops_float import HELPERS, converted, halves, relu
from cu2port.ptx.softfloat import FORMATS, Format
from cu2port.ptx.table import ptx

_REF = "data-movement-and-conversion-instructions-cvt"
_EIGHT, _SIX, _FOUR = "e4m3x2|e5m2x2", "e2m3x2|e3m2x2", "e2m1x2"
F32, F16 = TYPES["f32"], TYPES["f16"]
_ONE, _TWO = 0x3F800000, 0x40000000


def _parts(t: Type) -> tuple[Format, int]:
    """The format of a packed type's elements, and how many bits one takes."""
    return FORMATS[t.name.removesuffix("x2")], t.bits // 2


def _pack(v: Value, a: int, b: int) -> int:
    f, width = _parts(v.type)
    high, low = (softfloat.converted(x, FORMATS["f32"], f, "rn", satfinite=True) for x in (a, b))
    return high << width | low


def _unpack(v: Value, a: int) -> int:
    f, width = _parts(v.args[0].type)
    mask = (1 << f.bits) - 1
    high, low = (softfloat.converted(x & mask, f, FORMATS["f16"]) for x in (a >> width, a))
    return high << 16 | low


def _spell(form: Callable[[Value], str]) -> Callable[[Value, list[str]], str]:
    return lambda v, texts: f"{HELPERS}{form(v)}({', '.join(texts)})"


PACK_SMALL = Op("pack_small", _pack, _spell(lambda v: f"cvt_rn_satfinite_{v.type}"))
UNPACK_SMALL = Op("unpack_small", _unpack, _spell(lambda v: f"cvt_rn_f16x2_{v.args[0].type}"))


@ptx(
    f"cvt.rn.satfinite{{.relu}}.{{t:{_EIGHT}}}.f32 d, a:f32, b:f32",
    ref=_REF,
    examples={
        # 448 is the largest e4m3 and 57344 the largest e5m2
        "cvt.rn.satfinite.e4m3x2.f32": (((_ONE, 0x44800000), 0x387E), ((0x7FC00000, 0x80000000), 0x7F80)),
        "cvt.rn.satfinite.e5m2x2.f32": (((_ONE, 0x7F800000), 0x3C7B),),
        "cvt.rn.satfinite.relu.e4m3x2.f32": (((0xBF800000, _TWO), 0x0040),),
    },
    sm=89,
)
@ptx(
    f"cvt.rn.satfinite{{.relu}}.{{t:{_SIX}|{_FOUR}}}.f32 d, a:f32, b:f32",
    ref=_REF,
    examples={
        "cvt.rn.satfinite.e2m1x2.f32": (((_ONE, 0x40C00000), 0x27), ((0xFF800000, 0x7FC00000), 0xF7)),
        "cvt.rn.satfinite.e2m3x2.f32": (((_ONE, 0xC1000000), 0x083F),),
        "cvt.rn.satfinite.e3m2x2.f32": (((_ONE, 0x42000000), 0x0C1F),),
    },
    sm=100,
)
def pack(t: Type, a: Value, b: Value, relu: bool) -> Value:
    return make(PACK_SMALL, t, _relued(a, relu), _relued(b, relu))


def _relued(a: Value, there: bool) -> Value:
    return relu(a, there)


@ptx(
    f"cvt.rn.satfinite{{.relu}}.{{t:{_EIGHT}}}.f16x2 d, a:f16x2",
    ref=_REF,
    examples={"cvt.rn.satfinite.e4m3x2.f16x2": (((0x3C00_6400,), 0x387E),)},
    sm=89,
)
def repack(t: Type, a: Value, relu: bool) -> Value:
    high, low = (_relued(converted(half, F32), relu) for half in halves(a, F16))
    return make(PACK_SMALL, t, high, low)


@ptx(
    f"cvt.rn{{.relu}}.f16x2.{{t:{_EIGHT}}} d:f16x2, a",
    ref=_REF,
    examples={"cvt.rn.f16x2.e4m3x2": (((0x387E,), 0x3C005F00), ((0x7F01,), 0x7FFF1800))},
    sm=89,
)
@ptx(
    f"cvt.rn{{.relu}}.f16x2.{{t:{_SIX}|{_FOUR}}} d:f16x2, a",
    ref=_REF,
    examples={"cvt.rn.relu.f16x2.e2m1x2": (((0xA7,), 0x4600),), "cvt.rn.f16x2.e3m2x2": (((0x0C1F,), 0x3C004F00),)},
    sm=100,
)
def unpack(a: Value, relu: bool) -> Value:
    return _relued(make(UNPACK_SMALL, TYPES["f16x2"], a), relu)
