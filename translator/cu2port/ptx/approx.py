"""The functions that instructions approximate, rounded correctly: 1/x, roots, sine, logarithm, power, tangent.

Numbers are bit patterns as in softfloat.py. Inside, they are integers that count 2^-_BITS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from math import isqrt

from cu2port.ptx import softfloat
from cu2port.ptx.softfloat import Format, rounded, unpack

_BITS = 448  # enough to take 2^128 modulo pi and still have 100 bits more than the smallest float needs
_ONE = 1 << _BITS


def _fixed(a: int, f: Format) -> int:
    """A finite number as a multiple of 2^-_BITS."""
    sign, m, e = unpack(a, f)
    e += _BITS
    value = m << e if e >= 0 else m >> -e
    return -value if sign else value


def _rounded(value: int, f: Format, e: int = -_BITS, exact: bool = False) -> int:
    return rounded(int(value < 0), abs(value), e, f, sticky=not exact)


@cache
def _pi() -> int:
    """Machin's formula."""

    def arctan_of_inverse(n: int) -> int:
        total, term, k = 0, (_ONE << 32) // n, 1
        while term:
            total += term // k if k % 4 == 1 else -(term // k)
            term, k = term // (n * n), k + 2
        return total

    return 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)) >> 32


@cache
def _ln2() -> int:
    """ln 2 = 2 artanh(1/3)."""
    return 2 * _artanh(_ONE // 3)


def _artanh(x: int) -> int:
    total, term, k, square = 0, x, 1, x * x >> _BITS
    while term not in (0, -1):
        total += term // k
        term, k = term * square >> _BITS, k + 2
    return total


def _series(x: int, first: int, start: int, step: int, alternate: bool) -> int:
    """first + first * x^step/(...) + ...: the exponential's series, or every second term of it."""
    total, term, n = 0, first, start
    power = x if step == 1 else x * x >> _BITS
    while term not in (0, -1):
        total += term
        for _ in range(step):
            n += 1
            term //= n
        term = term * power >> _BITS
        if alternate:
            term = -term
    return total


def _wave(a: int, f: Format, quarter: int) -> int:
    """Sine, or cosine with `quarter` 1."""
    if softfloat.is_nan(a, f) or softfloat.is_inf(a, f):
        return f.canonical
    if softfloat.is_zero(a, f):
        return softfloat.from_integer(1, f) if quarter else a
    half_pi = _pi() // 2
    quadrant, rest = divmod(_fixed(a, f), half_pi)
    quadrant = (quadrant + quarter) & 3
    value = _series(rest, _ONE, 0, 2, True) if quadrant & 1 else _series(rest, rest, 1, 2, True)
    return _rounded(-value if quadrant & 2 else value, f)


def sin(a: int, f: Format) -> int:
    return _wave(a, f, 0)


def cos(a: int, f: Format) -> int:
    return _wave(a, f, 1)


def lg2(a: int, f: Format) -> int:
    """The logarithm to base 2; -infinity for zeros, NaN below them."""
    if softfloat.is_zero(a, f):
        return f.infinity | f.sign
    if softfloat.is_nan(a, f) or a & f.sign:
        return f.canonical
    if softfloat.is_inf(a, f):
        return a
    _, m, e = unpack(a, f)
    e += m.bit_length() - 1
    m <<= _BITS - (m.bit_length() - 1)
    if m == _ONE:
        return softfloat.from_integer(e, f)
    logarithm = 2 * _artanh(((m - _ONE) << _BITS) // (m + _ONE))
    return _rounded((e << _BITS) + (logarithm << _BITS) // _ln2(), f)


def ex2(a: int, f: Format) -> int:
    """Two to the power a."""
    if softfloat.is_nan(a, f):
        return f.canonical
    if softfloat.is_inf(a, f):
        return 0 if a & f.sign else a
    whole, rest = divmod(_fixed(a, f), _ONE)
    whole = max(-10000, min(10000, whole))
    power = _series(rest * _ln2() >> _BITS, _ONE, 0, 1, False)
    return _rounded(power, f, whole - _BITS, exact=rest == 0 and not softfloat.is_denormal(a, f))


def tanh(a: int, f: Format) -> int:
    if softfloat.is_nan(a, f):
        return f.canonical
    if softfloat.is_zero(a, f):
        return a
    one = softfloat.from_integer(1, f) | a & f.sign
    if softfloat.is_inf(a, f) or abs(_fixed(a, f)) > 100 * _ONE:
        return one
    x = 2 * abs(_fixed(a, f))
    power = _series(x, _ONE, 0, 1, False)
    value = ((power - _ONE) << _BITS) // (power + _ONE)
    return _rounded(-value if a & f.sign else value, f)


def rsqrt(a: int, f: Format) -> int:
    """1 / sqrt(a); infinity of a zero's sign for zeros, NaN below them."""
    if softfloat.is_zero(a, f):
        return f.infinity | a & f.sign
    if softfloat.is_nan(a, f) or a & f.sign:
        return f.canonical
    if softfloat.is_inf(a, f):
        return 0
    _, m, e = unpack(a, f)
    if e & 1:
        m, e = m << 1, e - 1
    top = 1 << 4 * f.fraction + 16
    root = isqrt(top // m)
    return rounded(0, root, -(2 * f.fraction + 8) - e // 2, f, sticky=root * root * m != top)


def rcp(a: int, f: Format) -> int:
    return softfloat.div(softfloat.from_integer(1, f), a, f)


def sqrt(a: int, f: Format) -> int:
    return softfloat.sqrt(a, f)


FUNCTIONS: Mapping[str, Callable[[int, Format], int]] = {
    f.__name__: f for f in (sin, cos, lg2, ex2, tanh, rsqrt, rcp, sqrt)
}
