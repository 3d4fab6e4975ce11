"""Floating point on bit patterns, exactly as IEEE 754 rounds, for every format and rounding mode that PTX has.

A finite number is (sign, m, e): (-1)^sign * m * 2^e with m >= 0. NaNs come out as the format's canonical one.
Rounding modes: rn (to nearest, ties to even), rna (ties away from zero), rz, rm (down), rp (up).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt


@dataclass(frozen=True)
class Format:
    """`fraction` bits behind the point, `exponent` bits. `infinite`: the top exponent is kept for infinity and NaN;
    else only the all-ones pattern is NaN (e4m3), or nothing is (`nan` False)."""

    name: str
    exponent: int
    fraction: int
    infinite: bool = True
    nan: bool = True

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.fraction

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def lowest(self) -> int:
        """The power of two that the last bit of a denormal stands for."""
        return 1 - self.bias - self.fraction

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def largest(self) -> int:
        """The bits of the largest finite number."""
        return self.infinity - 1 if self.infinite else self.sign - 1 - (1 if self.nan else 0)

    @property
    def canonical(self) -> int:
        """The NaN that instructions give: all bits but the sign."""
        return self.sign - 1


FORMATS: Mapping[str, Format] = {
    f.name: f
    for f in (
        Format("f64", 11, 52),
        Format("f32", 8, 23),
        Format("tf32", 8, 10),
        Format("f16", 5, 10),
        Format("bf16", 8, 7),
        Format("e5m2", 5, 2),
        Format("e4m3", 4, 3, infinite=False),
        Format("e3m2", 3, 2, infinite=False, nan=False),
        Format("e2m3", 2, 3, infinite=False, nan=False),
        Format("e2m1", 2, 1, infinite=False, nan=False),
    )
}

Number = tuple[int, int, int]


def is_nan(x: int, f: Format) -> bool:
    magnitude = x & f.sign - 1
    return magnitude > f.infinity if f.infinite else f.nan and magnitude == f.sign - 1


def is_inf(x: int, f: Format) -> bool:
    return f.infinite and x & f.sign - 1 == f.infinity


def is_zero(x: int, f: Format) -> bool:
    return x & f.sign - 1 == 0


def is_denormal(x: int, f: Format) -> bool:
    return 0 < x & f.sign - 1 < 1 << f.fraction


def unpack(x: int, f: Format) -> Number:
    """A finite pattern as (sign, m, e)."""
    exponent = x >> f.fraction & (1 << f.exponent) - 1
    m = x & (1 << f.fraction) - 1
    if exponent:
        m |= 1 << f.fraction
    return x >> (f.bits - 1) & 1, m, max(exponent, 1) - 1 + f.lowest


def _rounds_away(mode: str, sign: int, kept: int, rest: int, half: int) -> bool:
    """Whether a rounding mode takes the magnitude above `kept`, for the bits `rest` behind it; `half` of its last."""
    return bool(
        {
            "rn": rest > half or (rest == half and kept & 1),
            "rna": rest >= half,
            "rz": False,
            "rm": rest and sign,
            "rp": rest and not sign,
        }[mode]
    )


def rounded(sign: int, m: int, e: int, f: Format, mode: str = "rn", sticky: bool = False) -> int:
    """The pattern nearest to (-1)^sign * (m + a bit, if `sticky`) * 2^e under a rounding mode."""
    if m == 0 and not sticky:
        return sign * f.sign
    m, e = m << 2 | sticky, e - 2
    shift = max(m.bit_length() - 1 - f.fraction, f.lowest - e)
    if shift > 0:
        kept, rest, half = m >> shift, m & (1 << shift) - 1, 1 << (shift - 1)
        kept += _rounds_away(mode, sign, kept, rest, half)
    else:
        kept = m << -shift
    e += shift
    if kept >> (f.fraction + 1):
        kept, e = kept >> 1, e + 1
    # a normal number's leading bit adds 1 to the exponent field
    pattern = ((e - f.lowest) << f.fraction) + kept if kept else 0
    if pattern > f.largest:
        inward = mode == "rz" or (mode == "rm" and not sign) or (mode == "rp" and sign)
        pattern = f.largest if inward or (not f.infinite and not f.nan) else f.infinity if f.infinite else f.canonical
    return pattern | sign * f.sign


def negated(x: int, f: Format) -> int:
    return x ^ f.sign


def fma(a: int, b: int, c: int, f: Format, mode: str = "rn") -> int:
    """a * b + c with one rounding."""
    if is_nan(a, f) or is_nan(b, f) or is_nan(c, f):
        return f.canonical
    sign = (a ^ b) >> (f.bits - 1)
    if is_inf(a, f) or is_inf(b, f):
        if is_zero(a, f) or is_zero(b, f) or (is_inf(c, f) and c >> (f.bits - 1) != sign):
            return f.canonical
        return f.infinity | sign * f.sign
    if is_inf(c, f):
        return c
    _, ma, ea = unpack(a, f)
    _, mb, eb = unpack(b, f)
    sc, mc, ec = unpack(c, f)
    return _sum(sign, ma * mb, ea + eb, sc, mc, ec, f, mode)


def _sum(sa: int, ma: int, ea: int, sb: int, mb: int, eb: int, f: Format, mode: str) -> int:
    e = min(ea, eb)
    if ma == 0 or mb == 0:  # keeps a huge shift of nothing away
        e = ea if mb == 0 else eb
    total = (-1) ** sa * (ma << ea - e if ma else 0) + (-1) ** sb * (mb << eb - e if mb else 0)
    if total == 0:
        negative = sa if ma == 0 and mb == 0 and sa == sb else mode == "rm"
        return f.sign if negative else 0
    return rounded(total < 0, abs(total), e, f, mode)


def add(a: int, b: int, f: Format, mode: str = "rn") -> int:
    if is_nan(a, f) or is_nan(b, f):
        return f.canonical
    if is_inf(a, f):
        return f.canonical if is_inf(b, f) and a != b else a
    if is_inf(b, f):
        return b
    return _sum(*unpack(a, f), *unpack(b, f), f, mode)


def mul(a: int, b: int, f: Format, mode: str = "rn") -> int:
    if is_nan(a, f) or is_nan(b, f):
        return f.canonical
    sign = (a ^ b) >> (f.bits - 1)
    if is_inf(a, f) or is_inf(b, f):
        return f.canonical if is_zero(a, f) or is_zero(b, f) else f.infinity | sign * f.sign
    (_, ma, ea), (_, mb, eb) = unpack(a, f), unpack(b, f)
    return rounded(sign, ma * mb, ea + eb, f, mode)


def div(a: int, b: int, f: Format, mode: str = "rn") -> int:
    if is_nan(a, f) or is_nan(b, f) or (is_inf(a, f) and is_inf(b, f)) or (is_zero(a, f) and is_zero(b, f)):
        return f.canonical
    sign = (a ^ b) >> (f.bits - 1)
    if is_inf(a, f) or is_zero(b, f):
        return f.infinity | sign * f.sign
    if is_zero(a, f) or is_inf(b, f):
        return sign * f.sign
    (_, ma, ea), (_, mb, eb) = unpack(a, f), unpack(b, f)
    extra = 2 * f.fraction + 6
    quotient, rest = divmod(ma << extra, mb)
    return rounded(sign, quotient, ea - eb - extra, f, mode, rest != 0)


def sqrt(a: int, f: Format, mode: str = "rn") -> int:
    if is_zero(a, f):
        return a
    if is_nan(a, f) or a >> (f.bits - 1):
        return f.canonical
    if is_inf(a, f):
        return a
    _, m, e = unpack(a, f)
    extra = 2 * f.fraction + 8 + (e & 1)
    root = isqrt(m << extra)
    return rounded(0, root, (e - extra) >> 1, f, mode, root * root != m << extra)


def converted(a: int, source: Format, to: Format, mode: str = "rn", satfinite: bool = False) -> int:
    """The same number in another format; `satfinite` takes what is beyond its largest number to that."""
    if is_nan(a, source):
        return to.canonical
    sign = a >> (source.bits - 1) & 1
    if is_inf(a, source):
        beyond = to.infinity if to.infinite else to.canonical if to.nan else to.largest
        return (to.largest if satfinite else beyond) | sign * to.sign
    out = rounded(*unpack(a, source), to, mode)
    if satfinite and out & to.sign - 1 > to.largest:
        out = to.largest | sign * to.sign
    return out


def to_integral(a: int, f: Format, mode: str) -> int:
    """The number rounded to an integer, in its own format; zeros keep the sign."""
    if is_nan(a, f):
        return f.canonical
    n = to_integer(a, f, mode)
    if n is None:
        return a
    return rounded(a >> (f.bits - 1), abs(n), 0, f)


def least(a: int, b: int, f: Format, nan: bool = False, most: bool = False) -> int:
    """The lesser (or the greater, if `most`) number, -0 below +0; NaN loses against numbers, or wins if `nan`."""
    if is_nan(a, f) or is_nan(b, f):
        if nan or (is_nan(a, f) and is_nan(b, f)):
            return f.canonical
        return b if is_nan(a, f) else a
    below = (_order(a, f), not a & f.sign) < (_order(b, f), not b & f.sign)
    return a if below != most else b


def to_integer(a: int, f: Format, mode: str) -> int | None:
    """The number rounded to an integer of any size; None for NaN and infinities."""
    if is_nan(a, f) or is_inf(a, f):
        return None
    sign, m, e = unpack(a, f)
    if e >= 0:
        return -(m << e) if sign else m << e
    kept, rest, half = m >> -e, m & (1 << -e) - 1, 1 << (-e - 1)
    kept += _rounds_away(mode, sign, kept, rest, half)
    return -kept if sign else kept


def from_integer(n: int, f: Format, mode: str = "rn") -> int:
    return rounded(n < 0, abs(n), 0, f, mode)


def less(a: int, b: int, f: Format) -> bool:
    """a < b; False if either is NaN."""
    if is_nan(a, f) or is_nan(b, f):
        return False
    return _order(a, f) < _order(b, f)


def equal(a: int, b: int, f: Format) -> bool:
    return not is_nan(a, f) and not is_nan(b, f) and _order(a, f) == _order(b, f)


def _order(x: int, f: Format) -> int:
    magnitude = x & f.sign - 1
    return -magnitude if x & f.sign else magnitude
