"""Rows: arithmetic on f16 and bf16, and on pairs of them in one register."""

from __future__ import annotations

from cu2port.ptx.ops import Value
from cu2port.ptx.ops_float import fabs, fadd, flushed, fma, fmax, fmin, fmul, fneg, fsub, relu, saturated
from cu2port.ptx.table import ptx

_F16 = "t:f16|f16x2"
_BF16 = "t:bf16|bf16x2"
_REF = "half-precision-floating-point-instructions-"


@ptx(
    f"add{{.rnd:rn}}{{.ftz}}{{.sat}}.{{{_F16}}} d, a, b",
    ref=_REF + "add",
    examples={
        "add.f16": (((0x3C00, 0x4000), 0x4200), ((0x7BFF, 0x7BFF), 0x7C00)),
        "add.rn.f16x2": (((0x3C004000, 0x3C003C00), 0x40004200),),
        "add.ftz.f16": (((1, 1), 0),),
        "add.sat.f16": (((0x3C00, 0x4000), 0x3C00), ((0x7FFF, 0), 0)),
    },
)
@ptx(
    f"add{{.rnd:rn}}.{{{_BF16}}} d, a, b",
    ref=_REF + "add",
    # 1 + 2^-8 is halfway between two: to even
    examples={"add.bf16": (((0x3F80, 0x4000), 0x4040), ((0x3F80, 0x3B80), 0x3F80), ((0x3F81, 0x3B80), 0x3F82))},
    sm=90,
)
def add(a: Value, b: Value, ftz: bool = False, sat: bool = False) -> Value:
    return saturated(flushed(fadd(flushed(a, ftz), flushed(b, ftz), "rn"), ftz), sat)


@ptx(
    f"sub{{.rnd:rn}}{{.ftz}}{{.sat}}.{{{_F16}}} d, a, b",
    ref=_REF + "sub",
    examples={"sub.f16": (((0x4200, 0x4000), 0x3C00),)},
)
@ptx(f"sub{{.rnd:rn}}.{{{_BF16}}} d, a, b", ref=_REF + "sub", sm=90)
def sub(a: Value, b: Value, ftz: bool = False, sat: bool = False) -> Value:
    return saturated(flushed(fsub(flushed(a, ftz), flushed(b, ftz), "rn"), ftz), sat)


@ptx(
    f"mul{{.rnd:rn}}{{.ftz}}{{.sat}}.{{{_F16}}} d, a, b",
    ref=_REF + "mul",
    examples={"mul.f16": (((0x4200, 0x4000), 0x4600),), "mul.f16x2": (((0x3C004000, 0x3C003C00), 0x3C004000),)},
)
@ptx(f"mul{{.rnd:rn}}.{{{_BF16}}} d, a, b", ref=_REF + "mul", sm=90)
def mul(a: Value, b: Value, ftz: bool = False, sat: bool = False) -> Value:
    return saturated(flushed(fmul(flushed(a, ftz), flushed(b, ftz), "rn"), ftz), sat)


@ptx(
    f"fma.rn{{.ftz}}{{.sat}}.{{{_F16}}} d, a, b, c",
    ref=_REF + "fma",
    # (1 + 3 * 2^-10)^2 - 1 needs the whole product
    examples={"fma.rn.f16": (((0x3C03, 0x3C03, 0xBC00), 0x1E02),)},
)
@ptx(
    f"fma.rn{{.ftz}}.{{modifier:relu}}.{{{_F16}}} d, a, b, c",
    ref=_REF + "fma",
    examples={"fma.rn.relu.f16": (((0x3C00, 0x3C00, 0xC000), 0), ((0x7E00, 0, 0), 0x7FFF))},
)
@ptx(
    f"fma.rn{{.modifier:relu}}.{{{_BF16}}} d, a, b, c",
    ref=_REF + "fma",
    examples={"fma.rn.relu.bf16x2": (((0x3F803F80, 0x3F803F80, 0xC0003F80), 0x4000),)},
    sm=80,
)
def fma_(a: Value, b: Value, c: Value, ftz: bool = False, sat: bool = False, modifier: str = "") -> Value:
    out = flushed(fma(flushed(a, ftz), flushed(b, ftz), flushed(c, ftz)), ftz)
    return relu(saturated(out, sat), modifier == "relu")


@ptx(f"neg{{.ftz}}.{{{_F16}}} d, a", ref=_REF + "neg", examples={"neg.f16x2": (((0x3C008000,), 0xBC000000),)})
@ptx(f"neg.{{{_BF16}}} d, a", ref=_REF + "neg", sm=80)
def neg(a: Value, ftz: bool = False) -> Value:
    return fneg(flushed(a, ftz))


@ptx(f"abs{{.ftz}}.{{{_F16}}} d, a", ref=_REF + "abs", examples={"abs.f16x2": (((0xBC008000,), 0x3C000000),)})
@ptx(f"abs.{{{_BF16}}} d, a", ref=_REF + "abs", sm=80)
def abs_(a: Value, ftz: bool = False) -> Value:
    return fabs(flushed(a, ftz))


@ptx(
    f"min{{.ftz}}{{.nan:NaN}}{{.xorsign.abs}}.{{{_F16}}} d, a, b",
    ref=_REF + "min",
    examples={
        "min.f16": (((0x7E00, 0x3C00), 0x3C00), ((0, 0x8000), 0x8000)),
        "min.NaN.f16x2": (((0x7E003C00, 0x3C004000), 0x7FFF3C00),),
    },
    sm=80,
)
@ptx(f"min{{.nan:NaN}}{{.xorsign.abs}}.{{{_BF16}}} d, a, b", ref=_REF + "min", sm=80)
def min_(
    a: Value,
    b: Value,
    ftz: bool = False,
    nan: str = "",
    xorsign_abs: bool = False,
) -> Value:
    return fmin(flushed(a, ftz), flushed(b, ftz), bool(nan), xorsign_abs)


@ptx(
    f"max{{.ftz}}{{.nan:NaN}}{{.xorsign.abs}}.{{{_F16}}} d, a, b",
    ref=_REF + "max",
    examples={"max.xorsign.abs.f16": (((0xC000, 0x3C00), 0xC000),)},
    sm=80,
)
@ptx(f"max{{.nan:NaN}}{{.xorsign.abs}}.{{{_BF16}}} d, a, b", ref=_REF + "max", sm=80)
def max_(
    a: Value,
    b: Value,
    ftz: bool = False,
    nan: str = "",
    xorsign_abs: bool = False,
) -> Value:
    return fmax(flushed(a, ftz), flushed(b, ftz), bool(nan), xorsign_abs)
