"""Inputs on which roundings go wrong: halfway cases, sums whose parts are far apart, cancellation, integers' limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from cu2port.ptx import softfloat
from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.softfloat import FORMATS, Format

_DISTANCES = (51, 52, 53, 54, 55, 105, 106, 107, 126, 127, 128)  # where double's and 128 bits' windows end


def element_of(t: Type) -> Type | None:
    """The type of each of two numbers that a packed type of floats holds; None for other types."""
    return TYPES[t.name.removesuffix("x2")] if t.name in ("f16x2", "bf16x2", "f32x2") else None


def related(types: Sequence[Type], rng: Random, count: int) -> Iterator[tuple[int, ...]]:
    """`count` vectors for operands that are all floats of one format; none for others."""
    if not types or len(set(types)) != 1:
        return
    element = element_of(types[0])
    name = (element or types[0]).name
    if name not in FORMATS or name == "tf32":
        return
    f = FORMATS[name]
    for _ in range(count):
        low, high = (vector(f, len(types), rng) for _ in range(2))
        yield tuple(a | b << f.bits for a, b in zip(low, high, strict=True)) if element else low


def vector(f: Format, operands: int, rng: Random) -> tuple[int, ...]:
    """Operands of one format."""
    if operands == 1:
        return (single(f, rng),)
    make = rng.choice((far, tie, cancelling))
    out = make(f, rng)
    if operands == 2:
        # the sum's operands, or the product's
        out = (out[0], out[2]) if rng.random() < 0.5 else (out[0], out[1])
    return out


def number(sign: int, m: int, e: int, f: Format) -> int:
    return softfloat.rounded(sign, m, e, f, "rz")


def far(f: Format, rng: Random) -> tuple[int, ...]:
    """1 and something far below, beside a power of two: a and c far apart, b close to 1."""
    one, p = 1 << f.fraction, f.fraction + 1
    e = rng.randint(max(f.lowest + p + 4, -40), 3)
    a = number(rng.getrandbits(1), one + rng.choice((0, 0, 1, 2, 3)), e, f)
    b = number(0, one + rng.choice((0, 0, 0, 1, -1)), -f.fraction, f)
    distance = rng.choice(_DISTANCES) if rng.random() < 0.6 else rng.randint(0, 3 * p + 20)
    c = number(rng.getrandbits(1), 2 * one + rng.choice((-1, -1, 0, 1, 2)), e - distance, f)
    return (a, b, c) if rng.random() < 0.7 else (c, b, a)


def tie(f: Format, rng: Random) -> tuple[int, ...]:
    """A product halfway between two numbers, and next to nothing more or less."""
    p = f.fraction + 1
    while True:
        i = rng.randint(2, p - 1)
        x, y = (rng.getrandbits(n) | 1 | 1 << (n - 1) for n in (i, p + 1 - i))
        if (x * y).bit_length() == p + 1:
            break
    e = rng.randint(-p, 3)
    below = f.lowest if rng.random() < 0.3 else e - rng.randint(1, 2 * p + 8)
    m = rng.choice((0, 1, 1, 3))
    if rng.random() < 0.3:  # a little less than the last bit of a float or a double
        m, below = (1 << p) - 1, e - rng.choice((22, 23, 24, 51, 52, 53))
    c = number(rng.getrandbits(1), m, below, f)
    return number(rng.getrandbits(1), x, e, f), number(0, y, 0, f), c


def cancelling(f: Format, rng: Random) -> tuple[int, ...]:
    """c is close to -a * b."""
    one = 1 << f.fraction
    a, b = (
        number(rng.getrandbits(1), one | rng.getrandbits(f.fraction), rng.randint(-f.fraction - 4, 2), f) for _ in "ab"
    )
    c = softfloat.negated(softfloat.mul(a, b, f), f)
    return a, b, c + rng.choice((0, 0, 1, -1)) & (1 << f.bits) - 1


def single(f: Format, rng: Random) -> int:
    """Beside the limit of an integer type, at or beside a half, or of an exponent from the whole range."""
    how, p = rng.random(), f.fraction + 1
    sign = rng.getrandbits(1)
    if how < 0.4:  # 2^n, the numbers beside it, and those beside those of the next smaller format
        pattern = number(0, 1, rng.choice((6, 7, 8, 14, 15, 16, 30, 31, 32, 62, 63, 64, 0, 1)), f)
        return sign * f.sign | min(max(pattern + rng.choice((-2, -1, 0, 1, 2)), 0), f.largest)
    if how < 0.6:
        return number(sign, 2 * rng.choice((0, 1, 2, 127, 128, 255, 32767, 65535, 3)) + 1, -1, f) + rng.choice(
            (-1, 0, 0, 1)
        )
    e = rng.randint(f.lowest, (1 << f.exponent - 1) - p)
    kept = rng.choice((2, 3, 4, 8, 9, 11, 12, 24, 25, p))
    m = rng.getrandbits(kept) | 1 << kept
    return number(sign, m, e + p - kept, f) + rng.choice((-1, 0, 0, 1)) & (1 << f.bits) - 1
