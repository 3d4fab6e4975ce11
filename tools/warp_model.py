"""What CUDA's warps of 32 lanes do, from the CUDA C++ Programming Guide: values are arrays with one element a lane.

Masks are integers of 32 bits; `active` holds truth values: the lanes that come to an operation. Nothing here is taken
from cu2port's headers or its simulator: it is what those are held to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

WORD = 0xFFFFFFFF


class Vec:
    """A number of 32 bits in each lane; or a truth value, 0 or 1. Arithmetic wraps around, as for `unsigned`."""

    __slots__ = ("values",)

    def __init__(self, values: Iterable[int]) -> None:
        self.values = [int(v) & WORD for v in values]

    def _with(self, other: Vec | int, op: Callable[[int, int], int]) -> Vec:
        return Vec(map(op, self.values, other.values if isinstance(other, Vec) else [other] * 32))

    def __iter__(self) -> Iterator[int]:
        return iter(self.values)

    def __getitem__(self, i: int) -> int:
        return self.values[i]

    def at(self, lanes: Vec) -> Vec:
        """In each lane the value of another."""
        return Vec(self.values[i] for i in lanes)

    def any(self) -> bool:
        return any(self.values)

    def count(self) -> int:
        return sum(map(bool, self.values))

    def chosen(self) -> list[int]:
        """The lanes in which it is true."""
        return [i for i, v in enumerate(self.values) if v]

    def __add__(self, other: Vec | int) -> Vec:
        return self._with(other, int.__add__)

    def __sub__(self, other: Vec | int) -> Vec:
        return self._with(other, int.__sub__)

    def __mul__(self, other: Vec | int) -> Vec:
        return self._with(other, int.__mul__)

    def __xor__(self, other: Vec | int) -> Vec:
        return self._with(other, int.__xor__)

    def __and__(self, other: Vec | int) -> Vec:
        return self._with(other, int.__and__)

    def __or__(self, other: Vec | int) -> Vec:
        return self._with(other, int.__or__)

    def __rshift__(self, other: Vec | int) -> Vec:
        return self._with(other, int.__rshift__)

    def __mod__(self, other: int) -> Vec:
        return Vec(v % other for v in self.values)

    def __floordiv__(self, other: int) -> Vec:
        return Vec(v // other for v in self.values)

    def __lt__(self, other: Vec | int) -> Vec:
        return self._with(other, int.__lt__)

    def __gt__(self, other: Vec | int) -> Vec:
        return self._with(other, int.__gt__)

    def __ge__(self, other: Vec | int) -> Vec:
        return self._with(other, int.__ge__)

    def without(self, other: Vec) -> Vec:
        """`a & ~b`, of masks and of truth values."""
        return self._with(other, lambda a, b: a & ~b)

    def same(self, other: Vec | int) -> Vec:
        return self._with(other, int.__eq__)


LANES = Vec(range(32))


def full(value: int) -> Vec:
    """One value in all lanes."""
    return Vec([value] * 32)


def where(yes: Vec, a: Vec, b: Vec) -> Vec:
    """In each lane a value of `a` where `yes` holds, else of `b`."""
    return Vec(x if c else y for c, x, y in zip(yes, a, b, strict=True))


def shifted(value: int, by: Vec) -> Vec:
    """`value << by`"""
    return Vec(value << n for n in by)


#: In each lane the mask of those below it.
BELOW = Vec((1 << n) - 1 for n in range(32))


def mask_of(active: Vec) -> int:
    """The mask that names the active lanes."""
    return sum(1 << int(i) for i in active.chosen())


def popc(values: Vec) -> Vec:
    """`__popc`"""
    return Vec([int(v).bit_count() for v in values])


def ffs(values: Vec) -> Vec:
    """`__ffs`: the lowest set bit, counted from 1; 0 if there is none."""
    return Vec([(int(v) & -int(v)).bit_length() for v in values])


def clz(values: Vec) -> Vec:
    """`__clz`"""
    return Vec([32 - int(v).bit_length() for v in values])


def brev(values: Vec) -> Vec:
    """`__brev`"""
    return Vec([int(f"{int(v):032b}"[::-1], 2) for v in values])


def nth(mask: Vec, k: Vec) -> Vec:
    """The lane of the k-th bit of a mask, k taken modulo the number of its bits."""
    out = []
    for m, n in zip(mask, k, strict=True):
        bits = [i for i in range(32) if int(m) >> i & 1]
        out.append(bits[int(n) % len(bits)] if bits else 0)
    return Vec(out)


# --- Shuffles: "lane" is the thread's index in its warp, `width` a power of 2 up to 32 -------------------------------


def shfl_from(source: Vec, width: int) -> Vec:
    """`__shfl_sync`: the lane that is read; out of range the index is taken modulo width."""
    return (LANES & (~(width - 1) & WORD)) | (source & (width - 1))


def up_from(delta: Vec, width: int) -> Vec:
    """`__shfl_up_sync`: the lowest delta lanes of a section keep their own value."""
    return where((LANES & (width - 1)) >= delta, LANES - delta, LANES)


def down_from(delta: Vec, width: int) -> Vec:
    """`__shfl_down_sync`: the highest delta lanes of a section keep their own value."""
    return where((LANES & (width - 1)) + delta < width, LANES + delta, LANES)


def xor_from(bits: Vec, width: int) -> Vec:
    """`__shfl_xor_sync`: later sections are out of reach, where a lane keeps its own value; earlier ones are not."""
    other = LANES ^ bits
    return where(other // width > LANES // width, LANES, other)


# --- What the lanes of a mask come to ------------------------------------------------------------------------------


def ballot(predicate: Vec, active: Vec, mask: Vec) -> Vec:
    """`__ballot_sync`: the lanes of the mask that are here and whose predicate holds."""
    return mask & mask_of(predicate & active)


def match_any(values: Vec, active: Vec, mask: Vec) -> Vec:
    """`__match_any_sync`"""
    out = [0] * 32
    for i in active.chosen():
        out[i] = mask_of(values.same(values[i]) & active) & mask[i]
    return Vec(out)


def reduce(name: str, values: Vec, active: Vec, mask: Vec) -> Vec:
    """`__reduce_add_sync` and so on; `smin`, `smax` of int."""
    out = [0] * 32
    fold: dict[str, Callable[[int, int], int]] = {
        "add": lambda a, b: a + b & WORD,
        "min": min,
        "max": max,
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "smin": lambda a, b: min(a, b, key=signed),
        "smax": lambda a, b: max(a, b, key=signed),
    }
    known: dict[int, int] = {}
    for i in active.chosen():
        m = int(mask[i])
        if m not in known:
            members = [int(values[j]) for j in range(32) if m >> j & 1 and active[j]]
            total = members[0]
            for v in members[1:]:
                total = fold[name](total, v)
            known[m] = total
        out[i] = known[m]
    return Vec(out)


def signed(value: int) -> int:
    """The int whose bits a word of 32 bits has."""
    return value - (1 << 32) if value >> 31 else value


def tile_scan(values: Vec, size: int, inclusive: bool) -> Vec:
    """Sums over the threads of a tile up to this one, or before it."""
    out = [0] * 32
    for first in range(0, 32, size):
        total = 0
        for i in range(first, first + size):
            before = total
            total = total + int(values[i]) & WORD
            out[i] = total if inclusive else before
    return Vec(out)
