"""Integer arithmetic on bit patterns: what the core operations on integers compute."""

from __future__ import annotations

from cu2port.ptx.ir import Type


class OutOfRangeError(ValueError):
    """A core operation met an argument for which C++ defines no result: an error of the row."""


def read(bits: int, type_: Type) -> int:
    """The number that a bit pattern of an integer type stands for."""
    return bits - (1 << type_.bits) if type_.signed and bits >> (type_.bits - 1) else bits


def shift_left(t: Type, a: int, n: int) -> int:
    """a << n, 0 from the width on."""
    return (a << min(n, t.bits)) & t.mask


def shift_right(t: Type, a: int, n: int) -> int:
    """a >> n, nothing but the sign (0 for unsigned) from the width on."""
    return (read(a, t) >> min(n, t.bits)) & t.mask


def checked_amount(t: Type, n: int) -> int:
    """A number of bits that C++ shifts by. Raises OutOfRangeError."""
    if n >= t.bits:
        raise OutOfRangeError(f"shift by {n} of {t.bits} bits")
    return n


def divide(t: Type, a: int, b: int) -> tuple[int, int]:
    """Quotient, rounded towards zero, and remainder. Raises OutOfRangeError where C++ defines none."""
    x, y = read(a, t), read(b, t)
    if y == 0 or (t.signed and y == -1 and a == 1 << (t.bits - 1)):
        raise OutOfRangeError(f"{x} divided by {y}")
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return quotient & t.mask, (x - quotient * y) & t.mask


def multiply_high(t: Type, a: int, b: int) -> int:
    """The upper half of the product."""
    return (read(a, t) * read(b, t) >> t.bits) & t.mask


def permute(a: int, b: int, selector: int) -> int:
    """prmt's default mode: each nibble of the selector picks a byte of {b, a}; its top bit asks for the byte's sign."""
    source = b << 32 | a
    out = 0
    for i in range(4):
        nibble = selector >> (4 * i) & 15
        byte = source >> (8 * (nibble & 7)) & 255
        out |= ((255 if byte >> 7 else 0) if nibble & 8 else byte) << (8 * i)
    return out
