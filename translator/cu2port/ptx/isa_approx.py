"""Rows: approximations. Meanings are rounded correctly; C++ is held to the manual's bounds."""

from __future__ import annotations

from cu2port.ptx.ops import Value, make
from cu2port.ptx.ops_float import (
    APPROX,
    APPROX_FTZ,
    DIV_APPROX,
    DIV_FULL,
    GROSS,
    flushed,
)
from cu2port.ptx.table import ptx

_REF = "floating-point-instructions-"
_HALF = "half-precision-floating-point-instructions-"
_ONE, _TWO, _HALF_ONE = 0x3F800000, 0x40000000, 0x3F000000


def approximated(a: Value, function: str, ftz: bool) -> Value:
    """The function of an f32; with `ftz` denormal operands and results are zeros."""
    if function in ("sin", "cos"):  # how AMD's instructions treat denormals is not documented
        return flushed(make(APPROX, a.type, flushed(a, ftz), attr=function), ftz)
    return make(APPROX_FTZ if ftz else APPROX, a.type, a, attr=function)


@ptx(
    "div.approx{.ftz}.{t:f32} d, a, b",
    ref=_REF + "div",
    # beyond 2^126 the reciprocal is a denormal, which counts as 0
    examples={
        "div.approx.f32": (((_ONE, _TWO), _HALF_ONE), ((_ONE, 0x7F000000), 0), ((0x7F800000, 0x7F000000), 0x7FFFFFFF))
    },
    bound="2 ulp",
)
def div_approx(a: Value, b: Value, ftz: bool) -> Value:
    return flushed(make(DIV_APPROX, a.type, flushed(a, ftz), flushed(b, ftz)), ftz)


@ptx(
    "div.full{.ftz}.{t:f32} d, a, b",
    ref=_REF + "div",
    examples={"div.full.f32": (((_ONE, 0x7F000000), 0x00400000),)},
    bound="2 ulp",
)
def div_full(a: Value, b: Value, ftz: bool) -> Value:
    return flushed(make(DIV_FULL, a.type, flushed(a, ftz), flushed(b, ftz)), ftz)


@ptx(
    "rcp.approx{.ftz}.{t:f32} d, a",
    ref=_REF + "rcp",
    examples={
        "rcp.approx.f32": (((_TWO,), _HALF_ONE), ((0x7F000000,), 0x00400000), ((1 << 31,), 0xFF800000)),
        "rcp.approx.ftz.f32": (((0x7F000000,), 0), ((0x80000001,), 0xFF800000)),
    },
    bound="1 ulp",
)
def rcp_approx(a: Value, ftz: bool) -> Value:
    return approximated(a, "rcp", ftz)


@ptx(
    "sqrt.approx{.ftz}.{t:f32} d, a",
    ref=_REF + "sqrt",
    examples={"sqrt.approx.f32": (((0x40800000,), _TWO), ((1 << 31,), 1 << 31))},
    bound="relative 2^-23",
)
def sqrt_approx(a: Value, ftz: bool) -> Value:
    return approximated(a, "sqrt", ftz)


@ptx(
    "rsqrt.approx{.ftz}.{t:f32} d, a",
    ref=_REF + "rsqrt",
    examples={
        "rsqrt.approx.f32": (((0x40800000,), _HALF_ONE), ((1 << 31,), 0xFF800000), ((0xBF800000,), 0x7FFFFFFF)),
        "rsqrt.approx.ftz.f32": (((0x80000001,), 0xFF800000),),
    },
    bound="relative 2^-22.9",
)
def rsqrt_approx(a: Value, ftz: bool) -> Value:
    return approximated(a, "rsqrt", ftz)


@ptx(
    "rsqrt.approx.{t:f64} d, a",
    ref=_REF + "rsqrt",
    examples={"rsqrt.approx.f64": (((0x4010000000000000,), 0x3FE0000000000000), ((1 << 63,), 0xFFF << 52))},
    bound="2 ulp",
)
def rsqrt_approx_f64(a: Value) -> Value:
    return make(APPROX, a.type, a, attr="rsqrt")


@ptx(
    "sin.approx{.ftz}.{t:f32} d, a",
    ref=_REF + "sin",
    examples={"sin.approx.f32": (((0,), 0), ((1 << 31,), 1 << 31), ((0x7F800000,), 0x7FFFFFFF))},
    bound="absolute 2^-20.5",
)
def sin_approx(a: Value, ftz: bool) -> Value:
    return approximated(a, "sin", ftz)


@ptx(
    "cos.approx{.ftz}.{t:f32} d, a",
    ref=_REF + "cos",
    examples={"cos.approx.f32": (((0,), _ONE), ((1 << 31,), _ONE), ((0xFF800000,), 0x7FFFFFFF))},
    bound="absolute 2^-20.5",
)
def cos_approx(a: Value, ftz: bool) -> Value:
    return approximated(a, "cos", ftz)


@ptx(
    "lg2.approx{.ftz}.{t:f32} d, a",
    ref=_REF + "lg2",
    examples={
        "lg2.approx.f32": (((_TWO,), _ONE), ((0,), 0xFF800000), ((0xBF800000,), 0x7FFFFFFF), ((1,), 0xC3150000)),
        "lg2.approx.ftz.f32": (((1,), 0xFF800000),),
    },
    bound="relative 2^-22",
)
def lg2_approx(a: Value, ftz: bool) -> Value:
    """Near 1 the bound is an absolute one."""
    return approximated(a, "lg2", ftz)


@ptx(
    "ex2.approx{.ftz}.{t:f32} d, a",
    ref=_REF + "ex2",
    examples={
        "ex2.approx.f32": (((_ONE,), _TWO), ((0xFF800000,), 0), ((0xC3150000,), 1)),
        "ex2.approx.ftz.f32": (((0xC3150000,), 0),),
    },
    bound="2 ulp",
)
def ex2_approx(a: Value, ftz: bool) -> Value:
    return approximated(a, "ex2", ftz)


@ptx(
    "tanh.approx.{t:f32} d, a",
    ref=_REF + "tanh",
    examples={"tanh.approx.f32": (((0x7F800000,), _ONE), ((1 << 31,), 1 << 31), ((1,), 1))},
    bound="relative 2^-11",
)
@ptx("tanh.approx.{t:f16|f16x2} d, a", ref=_HALF + "tanh", bound="absolute 2^-10.987")
@ptx("tanh.approx.{t:bf16|bf16x2} d, a", ref=_HALF + "tanh", bound="absolute 2^-8", sm=90)
def tanh_approx(a: Value) -> Value:
    return make(APPROX, a.type, a, attr="tanh")


@ptx(
    "ex2.approx.{t:f16|f16x2} d, a",
    ref=_HALF + "ex2",
    examples={"ex2.approx.f16": (((0x3C00,), 0x4000),), "ex2.approx.f16x2": (((0x3C000000,), 0x40003C00),)},
    bound="relative 2^-9.9",
)
@ptx("ex2.approx.{word:ftz}.{t:bf16|bf16x2} d, a", ref=_HALF + "ex2", bound="relative 2^-7", sm=90)
def ex2_half(a: Value, word: str = "") -> Value:
    return flushed(make(APPROX, a.type, flushed(a, word == "ftz"), attr="ex2"), word == "ftz")


@ptx(
    "rcp.approx.ftz.{t:f64} d, a",
    ref=_REF + "rcp-approx-ftz-f64",
    examples={"rcp.approx.ftz.f64": (((0x4000000012345678,), 0x3FE0000000000000), ((1,), 0x7FF << 52))},
    bound="relative 2^-19",
)
def rcp_gross(a: Value) -> Value:
    return make(GROSS, a.type, a, attr="rcp")


@ptx(
    "rsqrt.approx.ftz.{t:f64} d, a",
    ref=_REF + "rsqrt-approx-ftz-f64",
    examples={"rsqrt.approx.ftz.f64": (((0x4010000012345678,), 0x3FE0000000000000), ((1 << 63 | 1,), 0xFFF << 52))},
    bound="relative 2^-19",
)
def rsqrt_gross(a: Value) -> Value:
    return make(GROSS, a.type, a, attr="rsqrt")
