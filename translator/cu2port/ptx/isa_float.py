"""Rows: arithmetic on f32 and f64."""

from __future__ import annotations

from cu2port.ptx.ir import Type
from cu2port.ptx.ops import PRED, Value, make
from cu2port.ptx.ops_float import (
    COPYSIGN,
    TESTP,
    converted,
    fabs,
    fadd,
    fdiv,
    flushed,
    fma,
    fmax,
    fmin,
    fmul,
    fneg,
    fsqrt,
    fsub,
    one,
    saturated,
)
from cu2port.ptx.table import ptx

_RND = "{.rnd:rn|rz|rm|rp}"
_MUST = ".{rnd:rn|rz|rm|rp}"
_REF = "floating-point-instructions-"
_MIXED = "mixed-precision-floating-point-instructions-"
_ONE, _TWO, _THREE, _TINY = 0x3F800000, 0x40000000, 0x40400000, 0x33000000  # 2^-25
_AFTER = 0x3F800001


@ptx(
    f"add{_RND}{{.ftz}}{{.sat}}.{{t:f32}} d, a, b",
    ref=_REF + "add",
    examples={
        "add.f32": (((_ONE, _TWO), _THREE),),
        "add.rp.f32": (((_ONE, _TINY), _AFTER),),
        "add.rm.f32": (((_ONE, _TINY), _ONE), ((_ONE, _ONE ^ 1 << 31), 1 << 31)),
        "add.rz.ftz.f32": (((_ONE, 1), _ONE), ((1, 1), 0), ((0x7F7FFFFF, 0x7F7FFFFF), 0x7F7FFFFF)),
        "add.rz.ftz.sat.f32": (((_ONE, _TWO), _ONE), ((0x7FFFFFFF, _TWO), 0)),
    },
)
@ptx(f"add{_RND}.{{t:f64}} d, a, b", ref=_REF + "add", examples={"add.rn.f64": (((1 << 63, 1 << 63), 1 << 63),)})
@ptx(f"add{_RND}{{.ftz}}.{{t:f32x2}} d, a, b", ref=_REF + "add", sm=100)
def add(a: Value, b: Value, rnd: str, ftz: bool = False, sat: bool = False) -> Value:
    return saturated(flushed(fadd(flushed(a, ftz), flushed(b, ftz), rnd), ftz), sat)


@ptx(
    f"sub{_RND}{{.ftz}}{{.sat}}.{{t:f32}} d, a, b",
    ref=_REF + "sub",
    examples={"sub.f32": (((_THREE, _TWO), _ONE),), "sub.rm.f32": (((_ONE, _ONE), 1 << 31),)},
)
@ptx(f"sub{_RND}.{{t:f64}} d, a, b", ref=_REF + "sub")
@ptx(f"sub{_RND}{{.ftz}}.{{t:f32x2}} d, a, b", ref=_REF + "sub", sm=100)
def sub(a: Value, b: Value, rnd: str, ftz: bool = False, sat: bool = False) -> Value:
    return saturated(flushed(fsub(flushed(a, ftz), flushed(b, ftz), rnd), ftz), sat)


@ptx(
    f"mul{_RND}{{.ftz}}{{.sat}}.{{t:f32}} d, a, b",
    ref=_REF + "mul",
    examples={
        "mul.ftz.f32": (((0x00800000, 0x3F000000), 0), ((0x80800000, 0x3F000000), 1 << 31)),
        "mul.f32": (((0x00800000, 0x3F000000), 0x00400000),),
        "mul.rp.f32": (((1, 1), 1),),
    },
)
@ptx(f"mul{_RND}.{{t:f64}} d, a, b", ref=_REF + "mul")
@ptx(f"mul{_RND}{{.ftz}}.{{t:f32x2}} d, a, b", ref=_REF + "mul", sm=100)
def mul(a: Value, b: Value, rnd: str, ftz: bool = False, sat: bool = False) -> Value:
    return saturated(flushed(fmul(flushed(a, ftz), flushed(b, ftz), rnd), ftz), sat)


@ptx(
    f"fma{_MUST}{{.ftz}}{{.sat}}.{{t:f32}} d, a, b, c",
    ref=_REF + "fma",
    examples={
        # (1 + 3 * 2^-23)^2 - 1 needs the whole product
        "fma.rn.f32": (((0x3F800003, 0x3F800003, _ONE ^ 1 << 31), 0x35400002),),
        "fma.rz.ftz.f32": (((0x3F800003, 0x3F800003, _ONE ^ 1 << 31), 0x35400002),),
        "fma.rp.f32": (((0x3F800003, 0x3F800003, _ONE ^ 1 << 31), 0x35400003),),
    },
)
@ptx(f"fma{_MUST}.{{t:f64}} d, a, b, c", ref=_REF + "fma")
@ptx(f"fma{_MUST}{{.ftz}}.{{t:f32x2}} d, a, b, c", ref=_REF + "fma", sm=100)
@ptx(
    f"mad{_MUST}{{.ftz}}{{.sat}}.{{t:f32}} d, a, b, c",
    ref=_REF + "mad",
    examples={"mad.rn.f32": (((_TWO, _ONE, _ONE), _THREE),)},
)
@ptx(f"mad{_MUST}.{{t:f64}} d, a, b, c", ref=_REF + "mad")
def fma_(a: Value, b: Value, c: Value, rnd: str, ftz: bool = False, sat: bool = False) -> Value:
    return saturated(flushed(fma(flushed(a, ftz), flushed(b, ftz), flushed(c, ftz), rnd), ftz), sat)


@ptx(
    f"div{_MUST}{{.ftz}}.{{t:f32}} d, a, b",
    ref=_REF + "div",
    examples={"div.rn.f32": (((_ONE, _THREE), 0x3EAAAAAB),), "div.rz.f32": (((_ONE, _THREE), 0x3EAAAAAA),)},
)
@ptx(f"div{_MUST}.{{t:f64}} d, a, b", ref=_REF + "div")
def div(a: Value, b: Value, rnd: str, ftz: bool = False) -> Value:
    return flushed(fdiv(flushed(a, ftz), flushed(b, ftz), rnd), ftz)


@ptx(
    f"rcp{_MUST}{{.ftz}}.{{t:f32}} d, a",
    ref=_REF + "rcp",
    examples={"rcp.rn.f32": (((_THREE,), 0x3EAAAAAB), ((1 << 31,), 0xFF800000))},
)
@ptx(f"rcp{_MUST}.{{t:f64}} d, a", ref=_REF + "rcp")
def rcp(a: Value, rnd: str, ftz: bool = False) -> Value:
    return flushed(fdiv(one(a.type), flushed(a, ftz), rnd), ftz)


@ptx(
    f"sqrt{_MUST}{{.ftz}}.{{t:f32}} d, a",
    ref=_REF + "sqrt",
    examples={
        "sqrt.rn.f32": (((_TWO,), 0x3FB504F3), ((1 << 31,), 1 << 31)),
        "sqrt.rp.f32": (((_TWO,), 0x3FB504F4),),
        "sqrt.rn.ftz.f32": (((0x807FFFFF,), 1 << 31),),
    },
)
@ptx(f"sqrt{_MUST}.{{t:f64}} d, a", ref=_REF + "sqrt")
def sqrt(a: Value, rnd: str, ftz: bool = False) -> Value:
    return fsqrt(flushed(a, ftz), rnd)


@ptx("abs{.ftz}.{t:f32} d, a", ref=_REF + "abs", examples={"abs.ftz.f32": (((0x80000001,), 0), ((0xBF800000,), _ONE))})
@ptx("abs.{t:f64} d, a", ref=_REF + "abs")
def abs_(a: Value, ftz: bool = False) -> Value:
    return fabs(flushed(a, ftz))


@ptx("neg{.ftz}.{t:f32} d, a", ref=_REF + "neg", examples={"neg.ftz.f32": (((1,), 1 << 31), ((_ONE,), 0xBF800000))})
@ptx("neg.{t:f64} d, a", ref=_REF + "neg")
def neg(a: Value, ftz: bool = False) -> Value:
    return fneg(flushed(a, ftz))


_MIN_EXAMPLES = {
    "min.f32": (((0, 1 << 31), 1 << 31), ((0x7FC00000, _ONE), _ONE), ((0x7FC00000, 0xFFC00000), 0x7FFFFFFF)),
    "min.NaN.f32": (((0x7FC00000, _ONE), 0x7FFFFFFF),),
    "min.ftz.f32": (((1, 2), 0),),
    "min.xorsign.abs.f32": (((0xC0000000, _ONE), 0xBF800000), ((0xC0000000, 0xBF800000), _ONE)),
}


@ptx("min{.ftz}{.nan:NaN}{.xorsign.abs}.{t:f32} d, a, b", ref=_REF + "min", examples=_MIN_EXAMPLES)
@ptx("min.{t:f64} d, a, b", ref=_REF + "min")
def min_(
    a: Value,
    b: Value,
    ftz: bool = False,
    nan: str = "",
    xorsign_abs: bool = False,
) -> Value:
    return fmin(flushed(a, ftz), flushed(b, ftz), bool(nan), xorsign_abs)


@ptx(
    "max{.ftz}{.nan:NaN}{.xorsign.abs}.{t:f32} d, a, b",
    ref=_REF + "max",
    examples={"max.f32": (((0, 1 << 31), 0), ((0x7FC00000, _ONE), _ONE)), "max.NaN.f32": (((_ONE, _TWO), _TWO),)},
)
@ptx("max.{t:f64} d, a, b", ref=_REF + "max")
def max_(
    a: Value,
    b: Value,
    ftz: bool = False,
    nan: str = "",
    xorsign_abs: bool = False,
) -> Value:
    return fmax(flushed(a, ftz), flushed(b, ftz), bool(nan), xorsign_abs)


@ptx("min{.ftz}{.nan:NaN}{.size:abs}.{t:f32} d, a, b, c", ref=_REF + "min", sm=100)
def min3(
    a: Value,
    b: Value,
    c: Value,
    ftz: bool,
    nan: str,
    size: str,
) -> Value:
    a, b, c = (fabs(flushed(x, ftz)) if size else flushed(x, ftz) for x in (a, b, c))
    return fmin(fmin(a, b, bool(nan)), c, bool(nan))


@ptx("max{.ftz}{.nan:NaN}{.size:abs}.{t:f32} d, a, b, c", ref=_REF + "max", sm=100)
def max3(
    a: Value,
    b: Value,
    c: Value,
    ftz: bool,
    nan: str,
    size: str,
) -> Value:
    a, b, c = (fabs(flushed(x, ftz)) if size else flushed(x, ftz) for x in (a, b, c))
    return fmax(fmax(a, b, bool(nan)), c, bool(nan))


@ptx(
    "copysign.{t:f32|f64} d, a, b",
    ref=_REF + "copysign",
    examples={"copysign.f32": (((1 << 31, _ONE), 0xBF800000),), "copysign.f64": (((0, 1 << 63), 0),)},
)
def copysign(a: Value, b: Value) -> Value:
    """The sign of a on b."""
    return make(COPYSIGN, a.type, a, b)


@ptx(
    "testp.{what:finite|infinite|number|notanumber|normal|subnormal}.{t:f32|f64} p, a",
    ref=_REF + "testp",
    examples={
        "testp.normal.f32": (((_ONE,), 1), ((0,), 1), ((1,), 0), ((0x7F800000,), 0)),
        "testp.subnormal.f64": (((1,), 1), ((1 << 63,), 0)),
        "testp.notanumber.f32": (((0x7F800001,), 1),),
    },
)
def testp(a: Value, what: str) -> Value:
    """Zeros are normal numbers, which C's isnormal denies."""
    return make(TESTP, PRED, a, attr=what)


@ptx(
    f"add{_RND}{{.sat}}.f32.{{t:f16|bf16}} d:f32, a, c:f32",
    ref=_MIXED + "add",
    examples={"add.f32.f16": (((0x3C00, _TWO), _THREE),)},
    sm=100,
)
def add_mixed(a: Value, c: Value, rnd: str, sat: bool) -> Value:
    return saturated(fadd(converted(a, c.type), c, rnd), sat)


@ptx(
    f"sub{_RND}{{.sat}}.f32.{{t:f16|bf16}} d:f32, a, c:f32",
    ref=_MIXED + "sub",
    examples={"sub.f32.bf16": (((0x4040, _TWO), _ONE),)},
    sm=100,
)
def sub_mixed(a: Value, c: Value, rnd: str, sat: bool) -> Value:
    return saturated(fsub(converted(a, c.type), c, rnd), sat)


@ptx(
    f"fma{_MUST}{{.sat}}.f32.{{t:f16|bf16}} d:f32, a, b, c:f32",
    ref=_MIXED + "fma",
    examples={"fma.rn.f32.f16": (((0x3C00, 0x4000, _ONE), _THREE),)},
    sm=100,
)
def fma_mixed(t: Type, a: Value, b: Value, c: Value, rnd: str, sat: bool) -> Value:
    return saturated(fma(converted(a, c.type), converted(b, c.type), c, rnd), sat)
