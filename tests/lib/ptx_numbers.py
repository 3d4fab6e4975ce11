"""Numbers in PTX's formats and their roundings, in whole numbers. From the manual; nothing of cu2port is used.

A finite number is (-1)**sign * m * 2**e. A result is an int (exactly these bits), or a function that says whether bits
are right: any NaN is as good as another, and approximations have bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

Wanted = int | Callable[[int], bool]


class Format(NamedTuple):
    bits: int
    fraction: int
    bias: int
    infinity: int | None  # its bits
    nan: int | None  # the canonical one
    largest: int  # the largest finite number's bits

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)


F16, BF16 = Format(16, 10, 15, 0x7C00, 0x7FFF, 0x7BFF), Format(16, 7, 127, 0x7F80, 0x7FFF, 0x7F7F)
F32 = Format(32, 23, 127, 0x7F800000, 0x7FFFFFFF, 0x7F7FFFFF)
F64 = Format(64, 52, 1023, 0x7FF << 52, 0x7FF8 << 48, (0x7FF << 52) - 1)
TF32 = Format(19, 10, 127, 0xFF << 10, 0x3FFFF, (0xFF << 10) - 1)  # the upper bits of a .b32
E4M3, E5M2 = Format(8, 3, 7, None, 0x7F, 0x7E), Format(8, 2, 15, 0x7C, 0x7F, 0x7B)
E2M1, E2M3, E3M2 = Format(4, 1, 1, None, None, 7), Format(6, 3, 1, None, None, 31), Format(6, 2, 3, None, None, 31)
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64, "tf32": TF32}
FORMATS |= {"e4m3": E4M3, "e5m2": E5M2, "e2m1": E2M1, "e2m3": E2M3, "e3m2": E3M2}


class Number(NamedTuple):
    sign: int
    m: int = 0
    e: int = 0
    kind: str = ""  # "", "inf" or "nan"
    more: bool = False  # the number is a bit larger than m * 2**e

    @property
    def zero(self) -> bool:
        return not self.kind and not self.m

    def negated(self, flip: bool = True) -> Number:
        return self._replace(sign=self.sign ^ flip)

    def key(self) -> tuple[float | int, ...]:
        """For comparisons of numbers that are not NaN: -0 below +0 by the last part."""
        if self.kind:
            return (-1 if self.sign else 1, 0, 0)
        exact = (self.m << (self.e + 1100)) * (-1 if self.sign else 1)
        return (0, exact, -self.sign)


NAN = Number(0, kind="nan")


def signed(n: int, bits: int) -> int:
    n &= (1 << bits) - 1
    return n - (1 << bits) if n >> (bits - 1) else n


def decoded(code: int, f: Format, flush: bool = False) -> Number:
    sign, magnitude = code >> (f.bits - 1) & 1, code & (f.sign - 1)
    if magnitude > f.largest:
        return Number(sign, kind="inf" if magnitude == f.infinity else "nan")
    field, m = magnitude >> f.fraction, magnitude & ((1 << f.fraction) - 1)
    if field == 0:
        return Number(sign, 0 if flush else m, 1 - f.bias - f.fraction)
    return Number(sign, m | 1 << f.fraction, field - f.bias - f.fraction)


def is_nan(code: int, f: Format) -> bool:
    return decoded(code, f).kind == "nan"


def some_nan(f: Format) -> Wanted:
    return lambda got: is_nan(got, f)


def rounded(x: Number, f: Format, mode: str) -> int:
    """The bits of a number that is no NaN. Overflow goes where the mode says."""
    sign = f.sign if x.sign else 0
    up_mode = mode == ("rm" if x.sign else "rp")
    beyond = f.largest if f.infinity is None or not (mode in ("rn", "rna") or up_mode) else f.infinity
    if x.kind:
        return sign | (f.largest if f.infinity is None else f.infinity)
    if not x.m:
        return sign
    least = 1 - f.bias - f.fraction
    m, e = (x.m << 80, x.e - 80) if x.more else (x.m, x.e)
    unit = max(e + m.bit_length() - f.fraction - 1, least)
    shift = unit - e
    if shift <= 0:
        n, up = m << -shift, False
    else:
        n, rest, half = m >> shift, m & ((1 << shift) - 1), 1 << (shift - 1)
        inexact = bool(rest or x.more)
        if mode == "rn":
            up = rest > half or (rest == half and (x.more or n & 1 == 1))
        else:
            up = rest >= half if mode == "rna" else up_mode and inexact
    code = (unit - least << f.fraction) + n + up
    return sign | (beyond if code > f.largest else code)


def add(a: Number, b: Number, mode: str = "rn") -> Number:
    if "nan" in (a.kind, b.kind) or (a.kind and b.kind and a.sign != b.sign):
        return NAN
    if a.kind or b.kind:
        return a if a.kind else b
    if a.zero and b.zero and a.sign == b.sign:
        return a
    e = min(a.e, b.e)
    total = (a.m << (a.e - e)) * (-1) ** a.sign + (b.m << (b.e - e)) * (-1) ** b.sign
    return Number(int(mode == "rm"), 0, 0) if not total else Number(int(total < 0), abs(total), e)


def mul(a: Number, b: Number) -> Number:
    sign = a.sign ^ b.sign
    if "nan" in (a.kind, b.kind) or (a.kind and b.zero) or (b.kind and a.zero):
        return NAN
    return Number(sign, kind="inf") if a.kind or b.kind else Number(sign, a.m * b.m, a.e + b.e)


def div(a: Number, b: Number) -> Number:
    sign = a.sign ^ b.sign
    if "nan" in (a.kind, b.kind) or (a.kind and b.kind) or (a.zero and b.zero):
        return NAN
    if a.kind or b.zero:
        return Number(sign, kind="inf")
    if b.kind or a.zero:
        return Number(sign)
    q, rest = divmod(a.m << 130, b.m)
    return Number(sign, q, a.e - b.e - 130, more=rest != 0)


def sqrt(a: Number) -> Number:
    if a.kind == "nan" or (a.sign and not a.zero):
        return NAN
    if a.kind or a.zero:
        return a
    shift = 140 + (a.e & 1)
    root = math.isqrt(a.m << shift)
    return Number(0, root, (a.e - shift) // 2, more=root * root != a.m << shift)


def integral(x: Number, mode: str) -> Number:
    """Rounded to a whole number: rni, rzi, rmi, rpi."""
    if x.kind or x.e >= 0:
        return x
    n, rest, half = x.m >> -x.e, x.m & ((1 << -x.e) - 1), 1 << (-x.e - 1)
    up = {"rni": rest > half or (rest == half and n & 1 == 1), "rzi": False}
    up |= {"rmi": bool(x.sign and rest), "rpi": bool(not x.sign and rest)}
    return Number(x.sign, n + up[mode], 0)


def real(x: Number) -> float:
    """As a Python float, for bounds of approximations; not exact for more than 53 bits."""
    if x.kind:
        return math.nan if x.kind == "nan" else math.copysign(math.inf, -x.sign)
    spare = max(x.m.bit_length() - 64, 0)
    try:
        return math.copysign(math.ldexp(x.m >> spare, x.e + spare), -x.sign if x.sign else 1)
    except OverflowError:
        return math.copysign(math.inf, -x.sign if x.sign else 1)


def flushed(code: int, f: Format) -> int:
    return code & f.sign if code & (f.sign - 1) < 1 << f.fraction else code


def finished(x: Number, f: Format, mode: str, words: Sequence[str]) -> Wanted:
    """A result: rounded, and .ftz, .sat, .relu and .satfinite as the words say."""
    if x.kind == "nan":
        if "sat" in words:
            return 0
        return f.largest if f.nan is None else some_nan(f)
    code = rounded(x, f, mode)
    if "ftz" in words and f in (F32, F16):
        code = flushed(code, f)
    magnitude = code & (f.sign - 1)
    if "satfinite" in words and magnitude > f.largest:
        code, magnitude = code & f.sign | f.largest, f.largest
    if "sat" in words:
        one = f.bias << f.fraction
        return 0 if code & f.sign else min(code, one)
    if "relu" in words and code & f.sign:
        return 0
    return code


def near(
    value: float, f: Format, relative: float = 0.0, absolute: float = 0.0, ulps: float = 0.0
) -> Callable[[int], bool]:
    """Within bounds of a finite value; an ulp is that of the value."""
    exponent = max(math.frexp(value)[1] - 1, 1 - f.bias) if value else 1 - f.bias
    room = abs(value) * relative + absolute + ulps * math.ldexp(1.0, exponent - f.fraction)

    def right(got: int) -> bool:
        x = decoded(got, f)
        if x.kind == "inf":  # where the value may round there
            return abs(value) + room >= real(decoded(f.largest, f)) and (x.sign == 1) == (value < 0)
        return x.kind != "nan" and abs(real(x) - value) <= room

    return right


def packed(parts: Sequence[Wanted], bits: int) -> Wanted:
    """Elements of so many bits, lowest first."""
    mask = (1 << bits) - 1
    if all(isinstance(p, int) for p in parts):
        return sum((p & mask) << bits * i for i, p in enumerate(parts) if isinstance(p, int))
    return lambda got: all(accepts(p, got >> bits * i & mask) for i, p in enumerate(parts))


def accepts(wanted: Wanted, got: int) -> bool:
    return wanted == got if isinstance(wanted, int) else wanted(got)
