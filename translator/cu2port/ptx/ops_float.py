"""Core operations on floating point. Values of type f32 and f64 are C++'s float and double; those of every other format
(f16, bf16, tf32, fp8, ...) are the bits, in the smallest unsigned integer that holds them. Packed types (f16x2, bf16x2,
f32x2) go through the same operations, element by element.

`attr` of an operation that rounds is the rounding mode: "" (to nearest, and the compiler may contract), rn, rz, rm, rp.
What rows add for `.ftz` and `.sat` is `flushed` around operands and result, and `saturated` around the result.
"""

from __future__ import annotations

from collections.abc import Callable

from cu2port.ptx import approx, softfloat
from cu2port.ptx.integers import read
from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.ops import PRED, Op, Value, bits, const, convert, make
from cu2port.ptx.softfloat import FORMATS, Format

HELPERS = "cu2port::ptx::"
_PACKED = ("f16x2", "bf16x2", "f32x2")
U16, U32 = TYPES["u16"], TYPES["u32"]


def format_of(t: Type) -> Format:
    """The format of a type that trees may do arithmetic on; of a packed one, that of its elements."""
    return FORMATS[t.name.removesuffix("x2")]


def _each(meaning: Callable[..., int]) -> Callable[..., int]:
    """`meaning(v, format, *patterns)` as a core operation's meaning, for the elements of packed types too."""

    def run(v: Value, *args: int) -> int:
        t = v.args[0].type if v.type is PRED else v.type
        f = format_of(t)
        if t.name not in _PACKED:
            return meaning(v, f, *args)
        mask = (1 << f.bits) - 1
        low = meaning(v, f, *(a & mask for a in args))
        return meaning(v, f, *(a >> f.bits for a in args)) << f.bits | low

    return run


def _mode(v: Value) -> str:
    return str(v.attr or "rn")


def _suffix(t: Type) -> str:
    """Formats that C++ has no type for are in a helper's name."""
    return "" if t.name in ("f32", "f64") else f"_{t.name}"


def _call(name: str) -> Callable[[Value, list[str]], str]:
    """A helper, named with attribute and format: `fma_rz(a, b, c)`, `add_rn_f16(a, b)`."""

    def spell(v: Value, texts: list[str]) -> str:
        t = v.args[0].type if v.type is PRED else v.type
        attribute = f"_{v.attr}" if v.attr else ""
        return f"{HELPERS}{name}{attribute}{_suffix(t)}({', '.join(texts)})"

    return spell


_add = _each(lambda v, f, a, b: softfloat.add(a, b, f, _mode(v)))
_sub = _each(lambda v, f, a, b: softfloat.add(a, softfloat.negated(b, f), f, _mode(v)))
_mul = _each(lambda v, f, a, b: softfloat.mul(a, b, f, _mode(v)))
_order = _each(lambda v, f, a, b: int(softfloat.less(a, b, f)))
_equal = _each(lambda v, f, a, b: int(softfloat.equal(a, b, f)))

FADD = Op("fadd", _add, _call("add"))
FADD_ANY = Op("fadd", _add, "{0} + {1}", 12)  # the compiler may contract
FSUB = Op("fsub", _sub, _call("sub"))
FSUB_ANY = Op("fsub", _sub, "{0} - {1}", 12)
FMUL = Op("fmul", _mul, _call("mul"))
FMUL_ANY = Op("fmul", _mul, "{0} * {1}", 13)
FDIV = Op("fdiv", _each(lambda v, f, a, b: softfloat.div(a, b, f, _mode(v))), _call("div"))
FFMA = Op("ffma", _each(lambda v, f, a, b, c: softfloat.fma(a, b, c, f, _mode(v))), _call("fma"))
FSQRT = Op("fsqrt", _each(lambda v, f, a: softfloat.sqrt(a, f, _mode(v))), _call("sqrt"))
FNEG = Op("fneg", _each(lambda v, f, a: a ^ f.sign), _call("neg"))
FNEG_PLAIN = Op("fneg", FNEG.meaning, "-{0}", 15)
FABS = Op("fabs", _each(lambda v, f, a: a & f.sign - 1), _call("abs"))
FLT = Op("flt", _order, "{0} < {1}", 9)
FLE = Op("fle", lambda v, a, b: _order(v, a, b) | _equal(v, a, b), "{0} <= {1}", 9)
FEQ = Op("feq", _equal, "{0} == {1}", 8)
FNEU = Op("fneu", lambda v, a, b: 1 - _equal(v, a, b), "{0} != {1}", 8)
ISNAN = Op("isnan", _each(lambda v, f, a: int(softfloat.is_nan(a, f))), "__builtin_isnan({0})")
COPYSIGN = Op("copysign", _each(lambda v, f, a, b: a & f.sign | b & f.sign - 1), _call("copysign"))


def _least(most: bool) -> Callable[..., int]:
    def meaning(v: Value, f: Format, a: int, b: int) -> int:
        how = str(v.attr or "")
        if "xorsign" not in how:
            return softfloat.least(a, b, f, "NaN" in how, most)
        out = softfloat.least(a & f.sign - 1, b & f.sign - 1, f, "NaN" in how, most)
        return out if softfloat.is_nan(out, f) else out | (a ^ b) & f.sign

    return _each(meaning)


FMIN = Op("fmin", _least(False), _call("min"))  # attr: "", NaN, xorsign_abs, NaN_xorsign_abs
FMAX = Op("fmax", _least(True), _call("max"))


def _test(v: Value, f: Format, a: int) -> int:
    nan, inf, denormal = softfloat.is_nan(a, f), softfloat.is_inf(a, f), softfloat.is_denormal(a, f)
    return int(
        {
            "finite": not nan and not inf,
            "infinite": inf,
            "number": not nan,
            "notanumber": nan,
            "normal": not (nan or inf or denormal),  # zeros are normal, as the manual says
            "subnormal": denormal,
        }[str(v.attr)]
    )


def _flush_pattern(a: int, f: Format) -> int:
    return a & f.sign if softfloat.is_denormal(a, f) else a


TESTP = Op("testp", _each(_test), _call("testp"))
FLUSH = Op("flush", _each(lambda v, f, a: _flush_pattern(a, f)), _call("ftz"))


def _saturate(v: Value, f: Format, a: int) -> int:
    if softfloat.is_nan(a, f) or a & f.sign:
        return 0
    return min(a, softfloat.from_integer(1, f))


def _relu(v: Value, f: Format, a: int) -> int:
    if softfloat.is_nan(a, f):
        return f.canonical
    return 0 if a & f.sign else a


SATURATE = Op("saturate", _each(_saturate), _call("sat"))
RELU = Op("relu", _each(_relu), _call("relu"))

# --- approximations: attr is the function -----------------------------------------------------------------------------


def _approximate(v: Value, f: Format, a: int) -> int:
    return approx.FUNCTIONS[str(v.attr)](a, f)


def _spell_approximation(v: Value, texts: list[str]) -> str:
    return f"{HELPERS}{v.attr}_approx{_suffix(v.type)}({texts[0]})"


APPROX = Op("approx", _each(_approximate), _spell_approximation)


def _approximate_flushed(v: Value, f: Format, a: int) -> int:
    return _flush_pattern(_approximate(v, f, _flush_pattern(a, f)), f)


# the same with denormal operands and results as zeros, as AMD's instructions have it
APPROX_FTZ = Op("approx_ftz", _each(_approximate_flushed), lambda v, texts: f"{HELPERS}{v.attr}_approx_ftz({texts[0]})")


def _div_approx(v: Value, f: Format, a: int, b: int) -> int:
    """a * (1 / b), where 1 / b is 0 if it would be denormal."""
    inverse = softfloat.div(softfloat.from_integer(1, f), b, f)
    if softfloat.is_denormal(inverse, f) or softfloat.is_zero(inverse, f):
        return softfloat.mul(a, inverse & f.sign, f)
    return softfloat.div(a, b, f)


DIV_APPROX = Op("div_approx", _each(_div_approx), _call("div_approx"))
DIV_FULL = Op("div_full", _each(lambda v, f, a, b: softfloat.div(a, b, f)), _call("div_full"))


def _gross(v: Value, a: int) -> int:
    """What the hardware's f64 estimates compute from the upper 32 bits of the operand, with zeros below."""
    f = FORMATS["f64"]
    a &= ~0xFFFFFFFF
    if softfloat.is_denormal(a, f):
        a &= f.sign
    out = approx.FUNCTIONS[str(v.attr)](a, f)
    if softfloat.is_nan(out, f):
        return 0x7FFFFFFF00000000
    return out & f.sign if softfloat.is_denormal(out, f) else out & ~0xFFFFFFFF


GROSS = Op("gross", _gross, lambda v, texts: f"{HELPERS}{v.attr}_approx_ftz({texts[0]})")

# --- conversions ------------------------------------------------------------------------------------------------------


def _to_integer(v: Value, a: int) -> int:
    """Rounded, then clamped to the destination's range; NaN is 0, or the top bit alone where either has 64 bits."""
    f = format_of(v.args[0].type)
    t = v.type
    low, high = (-(1 << t.bits - 1), (1 << t.bits - 1) - 1) if t.signed else (0, t.mask)
    if softfloat.is_nan(a, f):
        return 1 << (t.bits - 1) if f.bits == 64 or t.bits == 64 else 0
    if softfloat.is_inf(a, f):
        return (low if a & f.sign else high) & t.mask
    n = softfloat.to_integer(a, f, _integral(v))
    assert n is not None
    return max(low, min(high, n)) & t.mask


def _integral(v: Value) -> str:
    return str(v.attr).removesuffix("i")


def _spell_integral(v: Value, texts: list[str]) -> str:
    from cu2port.ptx.printer import cxx_type

    if v.type.is_int or not _suffix(v.type):
        return f"{HELPERS}cvt_{v.attr}<{cxx_type(v.type)}>({texts[0]})"
    return f"{HELPERS}cvt_{v.attr}{_suffix(v.type)}({texts[0]})"


FTOI = Op("ftoi", _to_integer, _spell_integral)  # attr: rni, rzi, rmi, rpi
ROUND = Op("round", _each(lambda v, f, a: softfloat.to_integral(a, f, _integral(v))), _spell_integral)


def _spell_conversion(v: Value, texts: list[str]) -> str:
    from cu2port.ptx.printer import cxx_type

    source, t, text = v.args[0].type, v.type, texts[0]
    if _suffix(t):
        return f"{HELPERS}cvt_{v.attr or 'rn'}{_suffix(t)}({text})"
    if not v.attr or (v.attr == "rn" and not _suffix(source)):
        return f"{cxx_type(t)}({text})" if not _suffix(source) else f"{HELPERS}cvt_{t.name}{_suffix(source)}({text})"
    return f"{HELPERS}cvt_{v.attr}<{cxx_type(t)}>({text})"


def _placed(a: int, to: Format) -> int:
    """tf32 is in the upper bits of a register of 32."""
    return a << 13 if to.name == "tf32" else a


def _float_to_float(v: Value, a: int) -> int:
    mode, _, satfinite = _mode(v).partition("_")
    to = format_of(v.type)
    return _placed(softfloat.converted(a, format_of(v.args[0].type), to, mode, bool(satfinite)), to)


ITOF = Op(
    "itof",
    lambda v, a: softfloat.from_integer(read(a, v.args[0].type), format_of(v.type), _mode(v)),
    _spell_conversion,
)
FTOF = Op("ftof", _float_to_float, _spell_conversion)  # attr: "" (exact), a mode, a mode with _satfinite


def _pair(v: Value, a: int, b: int) -> int:
    mode, _, satfinite = str(v.attr).partition("_")
    f = format_of(v.type)
    high, low = (softfloat.converted(x, format_of(v.args[0].type), f, mode, bool(satfinite)) for x in (a, b))
    return high << f.bits | low


PAIR = Op("pair", _pair, lambda v, texts: f"{HELPERS}cvt_{v.attr}_{v.type}({texts[0]}, {texts[1]})")


# --- making nodes -----------------------------------------------------------------------------------------------------


def _arithmetic(plain: Op, exact: Op, mode: str, *args: Value) -> Value:
    t = args[0].type
    if not mode and t.name in ("f32", "f64"):
        return make(plain, t, *args)
    return make(exact, t, *args, attr=mode or "rn")


def fadd(a: Value, b: Value, mode: str = "") -> Value:
    return _arithmetic(FADD_ANY, FADD, mode, a, b)


def fsub(a: Value, b: Value, mode: str = "") -> Value:
    """a - b, which is a + -b."""
    return _arithmetic(FSUB_ANY, FSUB, mode, a, b)


def fmul(a: Value, b: Value, mode: str = "") -> Value:
    return _arithmetic(FMUL_ANY, FMUL, mode, a, b)


def fma(a: Value, b: Value, c: Value, mode: str = "rn") -> Value:
    return make(FFMA, a.type, a, b, c, attr=mode or "rn")


def fdiv(a: Value, b: Value, mode: str = "rn") -> Value:
    return make(FDIV, a.type, a, b, attr=mode)


def fsqrt(a: Value, mode: str = "rn") -> Value:
    return make(FSQRT, a.type, a, attr=mode)


def fneg(a: Value) -> Value:
    """The other sign, also of NaN."""
    return make(FNEG if _suffix(a.type) else FNEG_PLAIN, a.type, a)


def fabs(a: Value) -> Value:
    return make(FABS, a.type, a)


def flt(a: Value, b: Value) -> Value:
    """a < b of f32 or f64, false if either is NaN."""
    return make(FLT, PRED, a, b)


def fle(a: Value, b: Value) -> Value:
    return make(FLE, PRED, a, b)


def feq(a: Value, b: Value) -> Value:
    return make(FEQ, PRED, a, b)


def fneu(a: Value, b: Value) -> Value:
    """Not equal, or either is NaN."""
    return make(FNEU, PRED, a, b)


def isnan(a: Value) -> Value:
    return make(ISNAN, PRED, a)


def fmin(a: Value, b: Value, nan: bool = False, xorsign: bool = False) -> Value:
    return make(FMIN, a.type, a, b, attr=_how(nan, xorsign))


def fmax(a: Value, b: Value, nan: bool = False, xorsign: bool = False) -> Value:
    return make(FMAX, a.type, a, b, attr=_how(nan, xorsign))


def _how(nan: bool, xorsign: bool) -> str:
    return "_".join(word for word, there in (("NaN", nan), ("xorsign_abs", xorsign)) if there)


def flushed(a: Value, ftz: bool) -> Value:
    """Denormals as zeros of their sign, if `ftz`."""
    return make(FLUSH, a.type, a) if ftz else a


def saturated(a: Value, sat: bool) -> Value:
    """Clamped to [0, 1], NaN to 0, if `sat`."""
    return make(SATURATE, a.type, a) if sat else a


def relu(a: Value, there: bool = True) -> Value:
    """Negative numbers as 0, if `there`; NaN stays."""
    return make(RELU, a.type, a) if there else a


def one(t: Type) -> Value:
    return const(softfloat.from_integer(1, format_of(t)), t)


def converted(a: Value, t: Type, mode: str = "") -> Value:
    """A number of another format, or an integer, as a number of type `t`."""
    if a.type == t:
        return a
    return make(ITOF if a.type.is_int else FTOF, t, a, attr=mode or None)


def pair(high: Value, low: Value, t: Type, mode: str) -> Value:
    """Two f32 as a packed type."""
    return make(PAIR, t, high, low, attr=mode)


def halves(a: Value, t: Type) -> tuple[Value, Value]:
    """The upper and the lower 16 bits of 32, as values of type `t`."""
    a = bits(a, U32)
    return bits(convert(a >> 16, U16), t), bits(convert(a, U16), t)
