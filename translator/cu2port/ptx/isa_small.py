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
F32 = TYPES["f32"]
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
    mask, to = (1 << f.bits) - 1, FORMATS[v.type.name.removesuffix("x2")]
    high, low = (softfloat.converted(x & mask, f, to) for x in (a >> width, a))
    return high << 16 | low


def _spell(form: Callable[[Value], str]) -> Callable[[Value, list[str]], str]:
    return lambda v, texts: f"{HELPERS}{form(v)}({', '.join(texts)})"


PACK_SMALL = Op("pack_small", _pack, _spell(lambda v: f"cvt_rn_satfinite_{v.type}"))
UNPACK_SMALL = Op("unpack_small", _unpack, _spell(lambda v: f"cvt_rn_{v.type}_{v.args[0].type}"))


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
    f"cvt.rn.satfinite{{.relu}}.{{t:{_EIGHT}}}.{{s:f16x2}} d, a:s",
    ref=_REF,
    examples={"cvt.rn.satfinite.e4m3x2.f16x2": (((0x3C00_6400,), 0x387E),)},
    sm=89,
)
@ptx(
    f"cvt.rn.satfinite{{.relu}}.{{t:{_SIX}|{_FOUR}}}.{{s:f16x2}} d, a:s",
    ref=_REF,
    examples={"cvt.rn.satfinite.e2m1x2.f16x2": (((0x3C00_C600,), 0x2F),)},
    sm=100,
)
@ptx(
    f"cvt.rn.satfinite{{.relu}}.{{t:{_EIGHT}|{_SIX}|{_FOUR}}}.{{s:bf16x2}} d, a:s",
    ref=_REF,
    examples={"cvt.rn.satfinite.e4m3x2.bf16x2": (((0x3F80_43E1,), 0x387E),)},
    sm=100,
)
def repack(t: Type, s: Type, a: Value, relu: bool) -> Value:
    half = TYPES[s.name.removesuffix("x2")]
    high, low = (_relued(converted(x, F32), relu) for x in halves(a, half))
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


@ptx(
    f"cvt.rn{{.relu}}.bf16x2.{{t:{_EIGHT}|{_SIX}|{_FOUR}}} d:bf16x2, a",
    ref=_REF,
    examples={"cvt.rn.bf16x2.e4m3x2": (((0x387E,), 0x3F8043E0), ((0xFF01,), 0x7FFF3B00))},
    sm=100,
)
def unpack_bf16(a: Value, relu: bool) -> Value:
    return _relued(make(UNPACK_SMALL, TYPES["bf16x2"], a), relu)


def _scale(a: int, mode: str, satfinite: bool) -> int:
    """The exponent of an f32 as ue8m0: 2^(x - 127), 255 is NaN. The format has no sign, so that of `a` is left out."""
    exponent, fraction = a >> 23 & 255, a & 0x7FFFFF
    if exponent == 255:
        return 254 if satfinite and not fraction else 255
    up = mode == "rp" and fraction > (0 if exponent else 0x400000)  # 2^-127 is a denormal f32
    exponent += up
    return 254 if exponent == 255 and satfinite else exponent


def _pack_scales(v: Value, a: int, b: int) -> int:
    mode, _, satfinite = str(v.attr).partition("_")
    return _scale(a, mode, bool(satfinite)) << 8 | _scale(b, mode, bool(satfinite))


def _unpack_scales(v: Value, a: int) -> int:
    high, low = (0x7FFF if x == 255 else x << 7 or 0x40 for x in (a >> 8, a & 255))
    return high << 16 | low


PACK_SCALES = Op("pack_scales", _pack_scales, _spell(lambda v: f"cvt_{v.attr}_ue8m0x2"))
UNPACK_SCALES = Op("unpack_scales", _unpack_scales, _spell(lambda v: "cvt_rn_bf16x2_ue8m0x2"))


@ptx(
    "cvt.{rnd:rz|rp}{.satfinite}.{t:ue8m0x2}.f32 d, a:f32, b:f32",
    ref=_REF,
    examples={
        "cvt.rp.satfinite.ue8m0x2.f32": (((_ONE, 0x40400000), 0x7F81), ((0x7F7FFFFF, 0), 0xFE00)),
        "cvt.rz.ue8m0x2.f32": (((0x40400000, 0x7FC00000), 0x80FF),),
    },
    sm=100,
)
def pack_scales(t: Type, a: Value, b: Value, rnd: str, satfinite: bool) -> Value:
    return make(PACK_SCALES, t, a, b, attr=rnd + ("_satfinite" if satfinite else ""))


@ptx(
    "cvt.{rnd:rz|rp}{.satfinite}.{t:ue8m0x2}.bf16x2 d, a:bf16x2",
    ref=_REF,
    examples={"cvt.rp.ue8m0x2.bf16x2": (((0x3F80_3F81,), 0x7F80),)},
    sm=100,
)
def repack_scales(t: Type, a: Value, rnd: str, satfinite: bool) -> Value:
    high, low = (converted(half, F32) for half in halves(a, TYPES["bf16"]))
    return make(PACK_SCALES, t, high, low, attr=rnd + ("_satfinite" if satfinite else ""))


@ptx(
    "cvt.rn.bf16x2.{t:ue8m0x2} d:bf16x2, a",
    ref=_REF,
    examples={"cvt.rn.bf16x2.ue8m0x2": (((0x7F00,), 0x3F800040), ((0xFF80,), 0x7FFF4000))},
    sm=100,
)
def unpack_scales(a: Value) -> Value:
    return make(UNPACK_SCALES, TYPES["bf16x2"], a)
