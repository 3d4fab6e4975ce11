"""The meaning of PTX's floating point, comparison, selection and conversion instructions, from the manual.

As in ptx_integers.py; nothing of cu2port is used. Bounds of approximations are the manual's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from ptx_integers import Bits, Meaning, Texts, Words, clamped, compared, read
from ptx_numbers import (
    BF16,
    F16,
    F32,
    F64,
    FORMATS,
    NAN,
    TF32,
    Format,
    Number,
    Wanted,
    accepts,
    add,
    decoded,
    div,
    finished,
    flushed,
    integral,
    is_nan,
    mul,
    near,
    packed,
    real,
    some_nan,
    sqrt,
)

FLOATS: dict[str, Meaning] = {}
_TYPE = re.compile(r"(?:([usb])(\d+)|(b?f\d+|tf32|e\dm\d|ue8m0)(?:x(\d))?)")


def meaning(*roots: str) -> Callable[[Meaning], Meaning]:
    def put(function: Meaning) -> Meaning:
        FLOATS.update(dict.fromkeys(roots, function))
        return function

    return put


def types(words: Words) -> list[str]:
    return [w for w in words[1:] if _TYPE.fullmatch(w)]


def base(t: str) -> str:
    return t.rpartition("x")[0] if re.search(r"x\d$", t) else t


def rounding(words: Words) -> str:
    return next((w for w in words if w in ("rn", "rz", "rm", "rp", "rna")), "rn")


def given(code: int, f: Format, words: Words) -> Number:
    return decoded(code, f, flush="ftz" in words and f in (F32, F16))


def elementwise(t: str, v: Bits, one: Callable[..., Wanted]) -> Wanted:
    """One number, or each of a packed pair."""
    f = FORMATS[base(t)]
    if base(t) == t:
        return one(*v)
    mask = (1 << f.bits) - 1
    return packed([one(*(x >> f.bits * i & mask for x in v)) for i in range(2)], f.bits)


@meaning("add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt")
def arithmetic(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    root, t, mode = words[0], types(words)[-1], rounding(words)
    if "approx" in words or "full" in words:
        return (approximate(words, v),)
    if len(types(words)) == 2:  # .f32.f16: the last operand and the result are f32
        f = FORMATS[t]
        x = [*(decoded(code & (1 << f.bits) - 1, f) for code in v[:-1]), decoded(v[-1], F32)]
        return (finished(computed(root, x, mode), F32, mode, words),)

    def one(*codes: int) -> Wanted:
        f = FORMATS[base(t)]
        return finished(computed(root, [given(c, f, words) for c in codes], mode), f, mode, words)

    return (elementwise(t, v, one),)


def computed(root: str, x: list[Number], mode: str) -> Number:
    if root in ("add", "sub"):
        return add(x[0], x[1].negated(root == "sub"), mode)
    if root == "mul":
        return mul(*x)
    if root in ("fma", "mad"):
        return add(mul(x[0], x[1]), x[2], mode)
    return sqrt(x[0]) if root == "sqrt" else div(*x) if root == "div" else div(Number(0, 1), x[0])


@meaning("neg", "abs")
def signs(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    t = types(words)[-1]
    f = FORMATS[base(t)]

    def one(code: int) -> Wanted:
        if is_nan(code, f):
            return some_nan(f)
        code = flushed(code, f) if "ftz" in words else code
        return code ^ f.sign if words[0] == "neg" else code & ~f.sign

    return (elementwise(t, v, one),)


@meaning("min", "max")
def extremes(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    t = types(words)[-1]
    f = FORMATS[base(t)]

    def one(*codes: int) -> Wanted:
        sign = 0
        if "xorsign" in words:
            sign = (codes[0] ^ codes[1]) & f.sign
        if "abs" in words:
            codes = tuple(c & ~f.sign for c in codes)
        numbers = [c for c in codes if not is_nan(c, f)]
        if not numbers or ("NaN" in words and len(numbers) < len(codes)):
            return f.nan if "NaN" in words and f.nan else some_nan(f)
        flush = [flushed(c, f) if "ftz" in words else c for c in numbers]
        return (min if words[0] == "min" else max)(flush, key=lambda c: decoded(c, f).key()) | sign

    return (elementwise(t, v, one),)


@meaning("testp", "copysign")
def tested(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    f = FORMATS[words[-1]]
    if words[0] == "copysign":
        return (v[1] & ~f.sign | v[0] & f.sign,)
    x = decoded(v[0], f)
    small = not x.kind and 0 < v[0] & ~f.sign < 1 << f.fraction
    facts = {"finite": not x.kind, "infinite": x.kind == "inf", "number": x.kind != "nan"}
    facts |= {"notanumber": x.kind == "nan", "subnormal": small, "normal": not x.kind and not small}
    return (int(facts[words[1]]),)


# --- comparisons and selections ---------------------------------------------------------------------------------------


def ordered(name: str, a: int, b: int, t: str, ftz: bool) -> bool:
    """A comparison of numbers of a type; those of floats with u are true where one is NaN."""
    if base(t) not in FORMATS:
        return compared(name, read(a, t), read(b, t))
    x, y = (decoded(c, FORMATS[base(t)], flush=ftz) for c in (a, b))
    if "nan" in (x.kind, y.kind):
        return name.endswith("u") or name == "nan"
    if name in ("num", "nan"):
        return name == "num"
    keys = [n.key()[:2] for n in (x, y)]
    place = (keys[0] > keys[1]) - (keys[0] < keys[1])
    return compared(name.removesuffix("u"), place, 0)


def combined(words: Words, bit: bool, c: int) -> bool:
    return {"and": bit and bool(c), "or": bit or bool(c), "xor": bit != bool(c)}.get(words[2], bit)


@meaning("set", "setp")
def comparisons(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    t, ftz, c = types(words)[-1], "ftz" in words, v[2] if len(v) > 2 else 0
    f = FORMATS.get(base(t))
    mask = (1 << f.bits) - 1 if f else -1
    pairs = (
        [(v[0] >> f.bits * i & mask, v[1] >> f.bits * i & mask) for i in range(2)] if f and base(t) != t else [v[:2]]
    )
    bits = [ordered(words[1], a, b, t, ftz) for a, b in pairs]
    if words[0] == "setp":
        if len(bits) == 1 and "|" in texts[0]:
            return int(combined(words, bits[0], c)), int(combined(words, not bits[0], c))
        return tuple(int(combined(words, bit, c)) for bit in bits)[: 2 if "|" in texts[0] else 1]
    into = types(words)[0]
    g = FORMATS.get(base(into))
    size = 16 if len(bits) == 2 else g.bits if g else int(into[1:])
    whole = g.bias << g.fraction if g else (1 << size) - 1
    return (packed([whole if combined(words, bit, c) else 0 for bit in bits], size),)


@meaning("selp", "slct")
def selected(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    if words[0] == "selp":
        return (v[0] if v[2] else v[1],)
    return (v[0] if ordered("ge", v[2], 0, types(words)[1], "ftz" in words) else v[1],)


# --- conversions ------------------------------------------------------------------------------------------------------


def to_integer(x: Number, mode: str, t: str, from_double: bool) -> int:
    bits = int(t[1:])
    if x.kind == "nan":
        return 1 << (bits - 1) if from_double or bits == 64 else 0
    if x.kind:
        return clamped((-1 if x.sign else 1) << 70, t) & (1 << bits) - 1
    n = integral(x, mode)
    return clamped((n.m << n.e) * (-1 if x.sign else 1), t) & (1 << bits) - 1


def scale_of(x: Number, words: Words) -> int:
    """ue8m0: a power of two."""
    if x.kind == "nan" or (x.kind and "satfinite" not in words):
        return 255
    if x.kind:
        return 254
    if x.zero:
        return 0
    exponent = x.e + x.m.bit_length() - 1
    exponent += "rp" in words and x.m != 1 << (x.m.bit_length() - 1)
    return max(exponent + 127, 0) if exponent <= 127 else 254 if "satfinite" in words else 255


@meaning("cvt")
def conversion(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    into, of = types(words)
    if into in ("f16x2", "bf16x2") or re.search(r"x\d$", into):
        return (converted_pair(words, v, into, of),)
    register = {"b": 8, "h": 16, "r": 32, "l": 64, "f": 32}[texts[0].strip("%{ ")[0]]
    f, g = FORMATS.get(of), FORMATS.get(into)
    if g is None:
        if f is None:
            n = clamped(read(v[0], of), into) if "sat" in words else read(v[0], of)
        else:
            mode = next(w for w in words if w in ("rni", "rzi", "rmi", "rpi"))
            x = decoded(v[0], f, flush="ftz" in words and f is F32)
            n = to_integer(x, mode, into, f is F64)
        return (read(n, into) & (1 << register) - 1,)
    kept = [w for w in words if w != "ftz" or g is F32]
    if f is None:
        n = read(v[0], of)
        return (finished(Number(int(n < 0), abs(n)), g, rounding(words), kept),)
    x = decoded(v[0], f, flush="ftz" in words and f is F32)
    whole = next((w for w in words if w in ("rni", "rzi", "rmi", "rpi")), "")
    result = finished(integral(x, whole) if whole else x, g, rounding(words), kept)
    return (result,) if g is not TF32 else (lambda got: accepts(result, got >> 13),)


def converted_pair(words: Words, v: Bits, into: str, of: str) -> Wanted:
    mode, count = rounding(words), int(into[-1])
    if base(of) == "ue8m0":
        scales = [v[0] >> 8 * i & 255 for i in range(2)]
        return packed([finished(NAN if s == 255 else Number(0, 1, s - 127), BF16, mode, words) for s in scales], 16)
    f = FORMATS[base(of)]
    room = {4: 4, 6: 8, 8: 8, 16: 16, 32: 32}[f.bits]
    halves = [v[0] >> room * i & (1 << f.bits) - 1 for i in range(2)]
    codes = list(v[count - 1 :: -1]) if of == "f32" else halves
    if base(into) == "ue8m0":
        return packed([scale_of(decoded(c, f), words) for c in codes], 8)
    g = FORMATS[base(into)]
    parts = [finished(decoded(code, f), g, mode, words) for code in codes]
    return packed(parts, {4: 4, 6: 8, 8: 8, 16: 16}[g.bits])


# --- approximations ---------------------------------------------------------------------------------------------------


def quotient(words: Words, v: Bits) -> Wanted:
    a, b = (given(c, F32, words) for c in v)
    exact = div(a, b)
    size = abs(real(b))
    if "approx" in words and 2.0**126 < size < 2.0**128:  # a bit is lost there, says the manual
        return some_nan(F32) if a.kind else lambda got: got & ~F32.sign == 0
    if exact.kind == "nan":
        return some_nan(F32)
    if exact.kind or exact.zero:
        return finished(exact, F32, "rn", words)
    if "approx" in words and size < 2.0**-126:
        return lambda got: True  # outside of the range with a bound
    return bounded(real(exact), F32, words, ulps=2)


def bounded(value: float, f: Format, words: Words, **room: float) -> Wanted:
    """Near a value; with .ftz a subnormal one may be flushed, or is."""
    inside = near(value, f, **room)
    limit = math.ldexp(1.0, 1 - f.bias)
    if "ftz" not in words or abs(value) > limit * 1.000001:
        return inside
    return lambda got: (got & (f.sign - 1) == 0) or (got & (f.sign - 1) >= 1 << f.fraction and inside(got))


def reciprocal(words: Words, x: Number, f: Format) -> Wanted:
    exact = div(Number(0, 1), x) if words[0] == "rcp" else x
    if words[0] == "rsqrt":
        exact = div(Number(0, 1), sqrt(x))
    elif words[0] == "sqrt":
        exact = sqrt(x)
    if exact.kind == "nan":
        return some_nan(f)
    if exact.kind or exact.zero:
        return finished(exact, f, "rn", words)
    if f is F64:
        return bounded(real(exact), f, words, relative=2.0**-19)
    errors = {"rcp": {"ulps": 1.0}, "sqrt": {"relative": 2.0**-23}, "rsqrt": {"relative": 2.0**-22.9}}
    return bounded(real(exact), f, words, **errors[words[0]], absolute=2.0**-150)


@meaning("rsqrt", "sin", "cos", "lg2", "ex2", "tanh")
def approximations(words: Words, v: Bits, texts: Texts) -> tuple[Wanted, ...]:
    return (approximate(words, v),)


def approximate(words: Words, v: Bits) -> Wanted:
    t = types(words)[-1]
    f = FORMATS[base(t)]
    if words[0] == "div":
        return quotient(words, v)
    if words[0] in ("rcp", "rsqrt", "sqrt"):
        if f is F64 and "ftz" in words:  # the low word of the operand does not count, that of the result is 0
            high = reciprocal(words, decoded(v[0] >> 32 << 32, f, flush=True), f)
            return lambda got: got & 0xFFFFFFFF == 0 and accepts(high, got)
        return reciprocal(words, given(v[0], f, words), f)
    return elementwise(t, v, lambda code: transcendental(words, given(code, f, words), f))


def transcendental(words: Words, x: Number, f: Format) -> Wanted:
    root, a = words[0], real(x)
    if x.kind == "nan" or (x.kind and root in ("sin", "cos")) or (root == "lg2" and x.sign and not x.zero):
        return some_nan(f)
    if root == "lg2":
        if x.kind or x.zero:
            return finished(Number(int(x.zero), kind="inf"), f, "rn", words)
        value = math.log2(a)
        return bounded(value, f, words, **({"absolute": 2.0**-22} if 0.5 < a < 2 else {"relative": 2.0**-22}))
    if root == "ex2":
        if x.kind:
            return 0 if x.sign else f.infinity or 0
        value = 2.0 ** max(min(a, 1000.0), -1000.0)
        bound = {F32: {"ulps": 2.0}, F16: {"relative": 2.0**-9.9, "ulps": 0.5}, BF16: {"relative": 2.0**-7}}[f]
        return bounded(value, f, words, **bound)
    if root == "sin" and x.zero:
        return finished(x, f, "rn", words)
    if root == "tanh":
        if x.kind or x.zero:
            return finished(x._replace(m=1, kind="") if x.kind else x, f, "rn", words)
        value = math.tanh(a)
        bounds = {F32: {"relative": 2.0**-11}, F16: {"absolute": 2.0**-10.987}, BF16: {"absolute": 2.0**-8}}
        return near(value, f, **bounds[f])
    if abs(a) > 100 * math.pi:
        return lambda got: True  # no bound is stated
    value = math.sin(a) if root == "sin" else math.cos(a)
    return bounded(value, f, words, absolute=2.0**-20.5 if abs(a) <= math.pi else 2.0**-14.7)
