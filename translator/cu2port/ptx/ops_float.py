"""Core operations on floating point. Values of type f32 and f64 are C++'s float and double; those of every other format
(f16, bf16, tf32, fp8, ...) are the bits, in the smallest unsigned integer that holds them.

`attr` of an operation that rounds is the rounding mode: "" (to nearest, and the compiler may contract), rn, rz, rm, rp.
What rows add for `.ftz` and `.sat` is `flushed` around operands and result, and `saturated` around the result.
"""

from __future__ import annotations

from collections.abc import Callable

from cu2port.ptx import softfloat
from cu2port.ptx.ir import Type
from cu2port.ptx.ops import PRED, Op, Value, make, read
from cu2port.ptx.softfloat import FORMATS, Format

HELPERS = "cu2port::ptx::"


def format_of(t: Type) -> Format:
    """The format of a type that trees may do arithmetic on."""
    return FORMATS[t.name]


def _mode(v: Value) -> str:
    return str(v.attr or "rn")


def _call(name: str) -> Callable[[Value, list[str]], str]:
    """A helper, named with mode and format: `fma_rz(a, b, c)`; formats that C++ has no type for stand in the name."""

    def spell(v: Value, texts: list[str]) -> str:
        t = v.args[0].type if v.type is PRED else v.type
        mode = f"_{_mode(v)}" if v.attr is not None else ""
        suffix = "" if t.name in ("f32", "f64") else f"_{t.name}"
        return f"{HELPERS}{name}{mode}{suffix}({', '.join(texts)})"

    return spell


def _subtract(v: Value, a: int, b: int) -> int:
    f = format_of(v.type)
    return softfloat.add(a, softfloat.negated(b, f), f, _mode(v))


FADD = Op("fadd", lambda v, a, b: softfloat.add(a, b, format_of(v.type), _mode(v)), _call("add"))
FADD_ANY = Op("fadd", FADD.meaning, "{0} + {1}", 12)  # the compiler may contract
FSUB = Op("fsub", _subtract, _call("sub"))
FSUB_ANY = Op("fsub", _subtract, "{0} - {1}", 12)
FMUL = Op("fmul", lambda v, a, b: softfloat.mul(a, b, format_of(v.type), _mode(v)), _call("mul"))
FMUL_ANY = Op("fmul", FMUL.meaning, "{0} * {1}", 13)
FDIV = Op("fdiv", lambda v, a, b: softfloat.div(a, b, format_of(v.type), _mode(v)), _call("div"))
FFMA = Op("ffma", lambda v, a, b, c: softfloat.fma(a, b, c, format_of(v.type), _mode(v)), _call("fma"))
FSQRT = Op("fsqrt", lambda v, a: softfloat.sqrt(a, format_of(v.type), _mode(v)), _call("sqrt"))
FNEG = Op("fneg", lambda v, a: a ^ format_of(v.type).sign, _call("neg"))
FABS = Op("fabs", lambda v, a: a & format_of(v.type).sign - 1, _call("abs"))
FLT = Op("flt", lambda v, a, b: int(softfloat.less(a, b, format_of(v.args[0].type))), _call("lt"))
FEQ = Op("feq", lambda v, a, b: int(softfloat.equal(a, b, format_of(v.args[0].type))), _call("eq"))
ISNAN = Op("isnan", lambda v, a: int(softfloat.is_nan(a, format_of(v.args[0].type))), _call("isnan"))


def _flush(v: Value, a: int) -> int:
    f = format_of(v.type)
    return a & f.sign if softfloat.is_denormal(a, f) else a


FLUSH = Op("flush", _flush, _call("ftz"))


def _saturate(v: Value, a: int) -> int:
    f = format_of(v.type)
    one = softfloat.from_integer(1, f)
    if softfloat.is_nan(a, f) or a & f.sign:
        return 0
    return min(a, one)


SATURATE = Op("saturate", _saturate, _call("sat"))


def _spell_to_integer(v: Value, texts: list[str]) -> str:
    return f"{HELPERS}cvt_{v.attr}_{v.type}_{v.args[0].type}({texts[0]})"


def _to_integer(v: Value, a: int) -> int:
    """Rounded, then clamped to the destination's range; what NaN becomes is the row's affair (0 here)."""
    f = format_of(v.args[0].type)
    t = v.type
    low, high = (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, t.mask)
    if softfloat.is_nan(a, f):
        return 0
    if softfloat.is_inf(a, f):
        return (low if a & f.sign else high) & t.mask
    n = softfloat.to_integer(a, f, _mode(v))
    assert n is not None
    return max(low, min(high, n)) & t.mask


FTOI = Op("ftoi", _to_integer, _spell_to_integer)
ITOF = Op(
    "itof",
    lambda v, a: softfloat.from_integer(read(a, v.args[0].type), format_of(v.type), _mode(v)),
    lambda v, texts: f"{HELPERS}cvt_{_mode(v)}_{v.type}_{v.args[0].type}({texts[0]})",
)
FTOF = Op(
    "ftof",
    lambda v, a: softfloat.converted(a, format_of(v.args[0].type), format_of(v.type), _mode(v)),
    lambda v, texts: f"{HELPERS}cvt_{_mode(v)}_{v.type}_{v.args[0].type}({texts[0]})",
)


def fadd(a: Value, b: Value, mode: str = "") -> Value:
    if not mode and a.type.bits >= 32:
        return make(FADD_ANY, a.type, a, b)
    return make(FADD, a.type, a, b, attr=mode or "rn")


def fsub(a: Value, b: Value, mode: str = "") -> Value:
    """a - b, which is a + -b."""
    if not mode and a.type.bits >= 32:
        return make(FSUB_ANY, a.type, a, b)
    return make(FSUB, a.type, a, b, attr=mode or "rn")


def fmul(a: Value, b: Value, mode: str = "") -> Value:
    if not mode and a.type.bits >= 32:
        return make(FMUL_ANY, a.type, a, b)
    return make(FMUL, a.type, a, b, attr=mode or "rn")


def fma(a: Value, b: Value, c: Value, mode: str = "rn") -> Value:
    return make(FFMA, a.type, a, b, c, attr=mode)


def fdiv(a: Value, b: Value, mode: str = "rn") -> Value:
    return make(FDIV, a.type, a, b, attr=mode)


def fsqrt(a: Value, mode: str = "rn") -> Value:
    return make(FSQRT, a.type, a, attr=mode)


def fneg(a: Value) -> Value:
    """The other sign, also of NaN."""
    return make(FNEG, a.type, a)


def fabs(a: Value) -> Value:
    return make(FABS, a.type, a)


def flt(a: Value, b: Value) -> Value:
    """a < b, false if either is NaN."""
    return make(FLT, PRED, a, b)


def feq(a: Value, b: Value) -> Value:
    return make(FEQ, PRED, a, b)


def fle(a: Value, b: Value) -> Value:
    return flt(a, b) | feq(a, b)


def isnan(a: Value) -> Value:
    return make(ISNAN, PRED, a)


def flushed(a: Value, ftz: bool) -> Value:
    """Denormals as zeros of their sign, if `ftz`."""
    return make(FLUSH, a.type, a) if ftz else a


def saturated(a: Value, sat: bool) -> Value:
    """Clamped to [0, 1], NaN to 0, if `sat`."""
    return make(SATURATE, a.type, a) if sat else a
