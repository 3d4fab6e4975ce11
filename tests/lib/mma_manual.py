"""`mma` as NVIDIA's manual has it, written once more apart from the converter: where elements are, what they mean, and
the triple loop in higher precision.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from operator import mul

# (group, thread in group, element) -> (row, column), as the manual writes them; B's row is k
Formula = Callable[[int, int, int], tuple[int, int]]

A: dict[tuple[str, int], Formula] = {
    ("m8n8k4", 64): lambda g, t, i: (g, t),
    ("m16n8k4", 64): lambda g, t, i: (g if i == 0 else g + 8, t),
    ("m16n8k8", 64): lambda g, t, i: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
    ("m16n8k16", 64): lambda g, t, i: (g if i % 2 == 0 else g + 8, i * 2 + t if i % 2 == 0 else i * 2 - 2 + t),
    ("m16n8k4", 32): lambda g, t, i: (g if i == 0 else g + 8, t),
    ("m16n8k8", 32): lambda g, t, i: (g if i in (0, 2) else g + 8, t if i in (0, 1) else t + 4),
    ("m16n8k8", 16): lambda g, t, i: (g if i in (0, 1) else g + 8, t * 2 + (i & 1)),
    ("m16n8k16", 16): lambda g, t, i: (
        g if 0 <= i < 2 or 4 <= i < 6 else g + 8,
        t * 2 + (i & 1) + (0 if i < 4 else 8),
    ),
    ("m8n8k16", 8): lambda g, t, i: (g, t * 4 + i),
    ("m16n8k16", 8): lambda g, t, i: (g if i < 4 else g + 8, t * 4 + (i & 3)),
    ("m16n8k32", 8): lambda g, t, i: (
        g if 0 <= i < 4 or 8 <= i < 12 else g + 8,
        t * 4 + (i & 3) + (0 if i < 8 else 16),
    ),
    ("m8n8k32", 4): lambda g, t, i: (g, t * 8 + i),
    ("m16n8k32", 4): lambda g, t, i: (g if i < 8 else g + 8, t * 8 + (i & 7)),
    ("m16n8k64", 4): lambda g, t, i: (
        g if 0 <= i < 8 or 16 <= i < 24 else g + 8,
        t * 8 + (i & 7) + (0 if i < 16 else 32),
    ),
    ("m8n8k128", 1): lambda g, t, i: (g, t * 32 + i),
    ("m16n8k128", 1): lambda g, t, i: (g if i < 32 else g + 8, t * 32 + (i & 31)),
    ("m16n8k256", 1): lambda g, t, i: (
        g if 0 <= i < 32 or 64 <= i < 96 else g + 8,
        t * 32 + (i & 31) + (0 if i < 64 else 128),
    ),
}
B: dict[tuple[str, int], Formula] = {
    ("m8n8k4", 64): lambda g, t, i: (t, g),
    ("m16n8k4", 64): lambda g, t, i: (t, g),
    ("m16n8k8", 64): lambda g, t, i: (t if i == 0 else t + 4, g),
    ("m16n8k16", 64): lambda g, t, i: (t + i * 4, g),
    ("m16n8k4", 32): lambda g, t, i: (t, g),
    ("m16n8k8", 32): lambda g, t, i: (t if i == 0 else t + 4, g),
    ("m16n8k8", 16): lambda g, t, i: (t * 2 + i, g),
    ("m16n8k16", 16): lambda g, t, i: (t * 2 + (i & 1) + (0 if i < 2 else 8), g),
    ("m8n8k16", 8): lambda g, t, i: (t * 4 + i, g),
    ("m16n8k16", 8): lambda g, t, i: (t * 4 + i, g),
    ("m16n8k32", 8): lambda g, t, i: (t * 4 + (i & 3) + (0 if i < 4 else 16), g),
    ("m8n8k32", 4): lambda g, t, i: (t * 8 + i, g),
    ("m16n8k32", 4): lambda g, t, i: (t * 8 + i, g),
    ("m16n8k64", 4): lambda g, t, i: (t * 8 + (i & 7) + (0 if i < 8 else 32), g),
    ("m8n8k128", 1): lambda g, t, i: (t * 32 + i, g),
    ("m16n8k128", 1): lambda g, t, i: (t * 32 + i, g),
    ("m16n8k256", 1): lambda g, t, i: (t * 32 + (i & 31) + (0 if i < 32 else 128), g),
}


def c_at(g: int, t: int, i: int) -> tuple[int, int]:
    return (g if i < 2 else g + 8), t * 2 + (i & 1)


def quads_at(matrix: str, order: str, lane: int, i: int) -> tuple[int, int]:
    """Row and column of an element of Volta's m8n8k4; `order`: "row" or "col", for C and D "f16" or "f32"."""
    high, low = 4 if lane >= 16 else 0, lane % 4
    if matrix == "A":
        return (low + high, i) if order == "row" else (i % 4 + high, low)
    if matrix == "B":
        return (low, i + high) if order == "row" else (i, low + high)
    if order == "f16":
        return low + high, i
    return (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)


# mma.sp: (row, first column of the chunk, columns in a chunk, elements held of it, the element's number among them)
SparseFormula = Callable[[int, int, int], tuple[int, int, int, int, int]]
SPARSE_A: dict[tuple[str, int], SparseFormula] = {
    ("m16n8k32", 16): lambda g, t, i: (
        g if 0 <= i < 2 or 4 <= i < 6 else g + 8,
        t * 4 if i < 4 else t * 4 + 16,
        4,
        2,
        i % 2,
    ),
    ("m16n8k16", 32): lambda g, t, i: (g if i in (0, 2) else g + 8, t * 2 if i < 2 else t * 2 + 8, 2, 1, 0),
    ("m16n8k16", 16): lambda g, t, i: (g if 0 <= i < 2 else g + 8, t * 4, 4, 2, i % 2),
    ("m16n8k8", 32): lambda g, t, i: (g if i == 0 else g + 8, t * 2, 2, 1, 0),
    ("m16n8k64", 8): lambda g, t, i: (
        g if 0 <= i < 4 or 8 <= i < 12 else g + 8,
        (t * 8 if i < 8 else t * 8 + 32) + 4 * (i % 4 // 2),
        4,
        2,
        i % 2,
    ),
    ("m16n8k128", 4): lambda g, t, i: (
        g if 0 <= i < 8 or 16 <= i < 24 else g + 8,
        (t * 16 if i < 16 else t * 16 + 64) + 8 * (i % 8 // 4),
        8,
        4,
        i % 4,
    ),
}
SPARSE_B: dict[tuple[str, int], Formula] = {
    ("m16n8k32", 16): lambda g, t, i: (t * 2 + (i & 1) + 8 * (i // 2), g),
    ("m16n8k16", 32): lambda g, t, i: (t + i * 4, g),
    ("m16n8k16", 16): lambda g, t, i: (t * 2 + (i & 1) + 8 * (i // 2), g),
    ("m16n8k8", 32): lambda g, t, i: (t + i * 4, g),
    ("m16n8k64", 8): lambda g, t, i: (t * 4 + (i & 3) + 16 * (i // 4), g),
    ("m16n8k128", 4): lambda g, t, i: (t * 8 + (i & 7) + 32 * (i // 8), g),
}
# of a row's chunk that begins at a column: the lane of the quad and the first of four bits. CUTLASS has them so. It has
# no product of the two shapes whose metadata one lane of a quad holds.
METADATA: dict[tuple[str, int], Callable[[int, int, int], tuple[int, int]]] = {
    ("m16n8k32", 16): lambda row, column, selector: (
        2 * selector + column // 16,
        16 * (row // 8) + column % 16 // 4 * 4,
    ),
    ("m16n8k16", 32): lambda row, column, selector: (2 * selector + column // 8, 16 * (row // 8) + column % 8 // 2 * 4),
    ("m16n8k16", 16): lambda row, column, selector: (selector, 16 * (row // 8) + column // 4 * 4),
    ("m16n8k8", 32): lambda row, column, selector: (selector, 16 * (row // 8) + column // 2 * 4),
    ("m16n8k64", 8): lambda row, column, selector: (2 * (column // 32) + row // 8, column % 32 // 4 * 4),
    ("m16n8k128", 4): lambda row, column, selector: (2 * (column // 64) + row // 8, column % 64 // 8 * 4),
}

BITS = {"f64": 64, "f32": 32, "tf32": 32, "s32": 32, "f16": 16, "bf16": 16, "s4": 4, "u4": 4, "b1": 1}
BITS |= dict.fromkeys(("u32",), 32)
BITS |= dict.fromkeys(("s8", "u8", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1"), 8)


def _small(byte: int, exponent: int, fraction: int, bias: int) -> float:
    """A small float without infinity: its sign above exponent and fraction."""
    e, m = byte >> fraction & (1 << exponent) - 1, byte & (1 << fraction) - 1
    size = math.ldexp(m, 1 - bias - fraction) if e == 0 else math.ldexp(m + (1 << fraction), e - bias - fraction)
    return -size if byte >> (exponent + fraction) & 1 else size


def number(bits: int, name: str) -> float:
    """What an element's bits stand for."""
    if name == "f64":
        return float(struct.unpack("<d", struct.pack("<Q", bits))[0])
    if name in ("f32", "tf32", "bf16"):
        word = {"f32": bits, "tf32": bits & 0xFFFFE000, "bf16": bits << 16}[name]
        return float(struct.unpack("<f", struct.pack("<I", word))[0])
    if name in ("f16", "e5m2"):
        return float(struct.unpack("<e", struct.pack("<H", bits if name == "f16" else bits << 8))[0])
    if name == "e4m3":
        return math.nan if bits & 0x7F == 0x7F else _small(bits, 4, 3, 7)
    if name == "e3m2":
        return _small(bits & 0x3F, 3, 2, 3)
    if name == "e2m3":
        return _small(bits & 0x3F, 2, 3, 1)
    if name == "e2m1":
        return _small(bits >> 2 & 0xF, 2, 1, 1)
    width = BITS[name]
    return float(bits - (1 << width) if name[0] == "s" and bits >> (width - 1) else bits)


Elements = dict[tuple[int, tuple[int, int]], int]  # (block, (row, column)) -> bits


@dataclass(frozen=True)
class Spec:
    """An `mma` by its opcode."""

    shape: str
    d: str
    a: str
    b: str
    c: str
    orders: tuple[str, str]
    satfinite: bool
    bit_operation: str
    sparse: bool = False
    selector: int = 0

    @property
    def inputs(self) -> str:
        """The matrices that a lane gives registers of; "E" is metadata."""
        return "ABCE" if self.sparse else "ABC"

    @property
    def quads(self) -> bool:
        return self.shape == "m8n8k4" and self.a == "f16"

    @property
    def size(self) -> tuple[int, int, int]:
        m, n, k = re.findall(r"\d+", self.shape)
        return int(m), int(n), int(k)

    def type(self, matrix: str) -> str:
        return {"A": self.a, "B": self.b, "C": self.c, "D": self.d, "E": "u32"}[matrix]

    @cache  # noqa: B019  # there are as many as forms
    def places(self, matrix: str) -> tuple[tuple[int, int, int, tuple[int, int]], ...]:
        """(lane, element, block, (row, column)) of every element; blocks are quad pairs. A sparse A counts what is
        held of it: its columns are half as many."""
        return tuple(self._places(matrix))

    def _places(self, matrix: str) -> Iterator[tuple[int, int, int, tuple[int, int]]]:
        m, n, k = self.size
        if self.sparse and matrix == "E":
            yield from ((lane, 0, 0, (lane, 0)) for lane in range(32))
            return
        if self.sparse and matrix in "AB":
            for lane in range(32):
                for i in range((m * k // 2 if matrix == "A" else n * k) // 32):
                    yield lane, i, 0, self._sparse_at(matrix, lane >> 2, lane & 3, i)
            return
        total = {"A": m * k, "B": k * n}.get(matrix, m * n) * (4 if self.quads else 1)
        for lane in range(32):
            for i in range(total // 32):
                if self.quads:
                    order = {"A": self.orders[0], "B": self.orders[1], "C": self.c, "D": self.d}[matrix]
                    yield lane, i, lane // 4 % 4, quads_at(matrix, order, lane, i)
                else:
                    table = {"A": A, "B": B}.get(matrix)
                    formula = c_at if table is None else table[self.shape, BITS[self.a]]
                    yield lane, i, 0, formula(lane >> 2, lane & 3, i)

    def _sparse_at(self, matrix: str, g: int, t: int, i: int) -> tuple[int, int]:
        if matrix == "B":
            return SPARSE_B[self.shape, BITS[self.a]](g, t, i)
        row, first, columns, held, number_ = SPARSE_A[self.shape, BITS[self.a]](g, t, i)
        return row, first // columns * held + number_

    def expanded(self, lanes: list[list[int]], metadata: list[list[int]]) -> Elements:
        """The elements of a sparse A that are held, by row and column of the whole matrix."""
        out: Elements = {}
        width, key = BITS[self.a], (self.shape, BITS[self.a])
        for lane in range(32):
            for i in range(16 * self.size[2] // 2 // 32):
                row, first, columns, _, number_ = SPARSE_A[key](lane >> 2, lane & 3, i)
                from_, bit = METADATA[key](row, first, self.selector)
                two = metadata[lane & ~3 | from_][0] >> bit & 15
                if columns == 2:  # the halves of one element
                    column = (two & 3) // 2
                elif columns == 4:
                    column = two >> 2 * number_ & 3
                else:  # pairs
                    column = (two >> 2 * (number_ // 2) & 3) * 2 + number_ % 2
                bits = lanes[lane][i * width // 32] >> i * width % 32 & (1 << width) - 1
                out[0, (row, first + column)] = bits
        return out

    def word(self, matrix: str) -> int:
        """Bits of a register."""
        return 64 if self.type(matrix) == "f64" else 32

    @cache  # noqa: B019
    def registers(self, matrix: str) -> int:
        return sum(1 for lane, *_ in self.places(matrix) if lane == 0) * BITS[self.type(matrix)] // self.word(matrix)


@cache
def spec(opcode: str, selector: int = 0) -> Spec:
    words = opcode.split(".")
    shape = next(w for w in words if re.fullmatch(r"m\d+n\d+k\d+", w))
    types = [w for w in words if w in BITS and w != "u32"]
    sparse = any(w in ("sp", "sp::ordered_metadata") for w in words)
    orders = [w for w in words if w in ("row", "col")]
    bit_operation = next((w for w in words if w in ("xor", "and")), "")
    d, a, b, c = types
    return Spec(shape, d, a, b, c, (orders[0], orders[1]), "satfinite" in words, bit_operation, sparse, selector)


def gathered(s: Spec, matrix: str, lanes: list[list[int]]) -> Elements:
    """A matrix's elements from each lane's registers."""
    width, word = BITS[s.type(matrix)], s.word(matrix)
    return {
        (block, at): lanes[lane][i * width // word] >> i * width % word & (1 << width) - 1
        for lane, i, block, at in s.places(matrix)
    }


@dataclass(frozen=True)
class Wanted:
    """A result: the number, and the sum of sizes that errors are measured by. `number` is exact but for Inf and NaN."""

    number: Fraction | float
    size: float


@dataclass(frozen=True)
class _Products:
    """The products of an element of D: the sum of the finite ones and of their sizes; those that are Inf or NaN."""

    total: Fraction
    size: float
    special: tuple[float, ...]


Sums = dict[tuple[int, tuple[int, int]], Wanted]


def triple_loop(s: Spec, a: Elements, b: Elements, c: Sums, steps: int = 1) -> Sums:
    """D, which becomes C again `steps` times: each sum of products and C, without any rounding."""
    m, n, k = s.size
    left = {at: number(bits, s.a) for at, bits in a.items()}
    right = {at: number(bits, s.b) for at, bits in b.items()}
    out = {}
    for block in range(4 if s.quads else 1):
        columns = [_line(s, [right[block, (x, j)] for x in range(k)]) for j in range(n)]
        for i in range(m):
            held = [x for x in range(k) if not s.sparse or (block, (i, x)) in left]
            row = _line(s, [left[block, (i, x)] for x in held])
            for j in range(n):
                products = _products(s, row, columns[j].of(held) if s.sparse else columns[j])
                d = c[block, (i, j)]
                if not s.satfinite and not products.special and math.isfinite(d.number):
                    products, once = _Products(products.total * steps, products.size * steps, ()), 1
                else:
                    once = steps
                for _ in range(once):
                    d = _added(s, products, d)
                out[block, (i, j)] = d
    return out


@dataclass(frozen=True)
class _Line:
    """A row of A or a column of B: numbers; the same times 2^bits; their sizes; both 0 of Inf and NaN."""

    numbers: list[float]
    scaled: list[int]
    sizes: list[float]
    finite: bool

    def of(self, places: list[int]) -> _Line:
        """What is at these places."""
        numbers = [self.numbers[i] for i in places]
        scaled, sizes = [self.scaled[i] for i in places], [self.sizes[i] for i in places]
        return _Line(numbers, scaled, sizes, all(map(math.isfinite, numbers)))


def _bits(s: Spec) -> int:
    return 1074 if s.a == "f64" else 149


def _line(s: Spec, numbers: list[float]) -> _Line:
    sizes = [abs(x) if math.isfinite(x) else 0.0 for x in numbers]
    return _Line(numbers, [_scaled(s, x) for x in numbers], sizes, all(map(math.isfinite, numbers)))


def _scaled(s: Spec, x: float) -> int:
    if not math.isfinite(x):
        return 0
    numerator, denominator = x.as_integer_ratio()
    return numerator << (_bits(s) - denominator.bit_length() + 1)


def _products(s: Spec, row: _Line, column: _Line) -> _Products:
    pairs = zip(row.numbers, column.numbers, strict=True)
    if s.bit_operation:
        count = sum(x != y if s.bit_operation == "xor" else x == y == 1 for x, y in pairs)
        return _Products(Fraction(count), float(count), ())
    special: tuple[float, ...] = ()
    if not (row.finite and column.finite):
        special = tuple(x * y for x, y in pairs if not (math.isfinite(x) and math.isfinite(y)))
    total = sum(map(mul, row.scaled, column.scaled))
    return _Products(Fraction(total, 1 << 2 * _bits(s)), sum(map(mul, row.sizes, column.sizes)), special)


def _added(s: Spec, products: _Products, c: Wanted) -> Wanted:
    special = [*products.special, *([] if math.isfinite(c.number) else [float(c.number)])]
    size = products.size + c.size
    if special:
        return Wanted(math.nan if any(map(math.isnan, special)) or len(set(special)) > 1 else special[0], size)
    total = products.total + Fraction(c.number)
    if s.d == "s32":
        wide = int(total)
        total = Fraction(
            min(max(wide, -(1 << 31)), (1 << 31) - 1) if s.satfinite else (wide + (1 << 31)) % (1 << 32) - (1 << 31)
        )
    return Wanted(total, size)


LARGEST = {"f16": 65504.0, "f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}


def tolerance(s: Spec, size: float, steps: int) -> float:
    """How far a result may be off: K * 2^-23 of the sum of sizes for f32, 2^-10 of it for f16, and denormal bits."""
    k = s.size[2] * steps
    if s.d == "s32":
        return 0.0
    if s.d == "f64":
        return k * 2.0**-52 * size + k * 2.0**-1074
    error = k * 2.0**-23 * size + k * 2.0**-149
    return error + (steps * (2.0**-10 * size + 2.0**-24) if s.d == "f16" else 0.0)


def agrees(s: Spec, bits: int, wanted: Wanted, steps: int = 1) -> bool:
    """Whether a result is one that the manual's sum allows."""
    got = number(bits, s.d)
    if s.d != "s32" and wanted.size >= LARGEST["f32" if s.d == "f16" else s.d]:
        return True  # sums on the way may leave the format in any order of additions but one
    if isinstance(wanted.number, float) and not math.isfinite(wanted.number):
        return math.isnan(got) if math.isnan(wanted.number) else got == wanted.number
    error = tolerance(s, wanted.size, steps)
    if math.isinf(got):  # beyond the largest number, or so close that rounding takes it there
        return abs(Fraction(wanted.number)) + Fraction(error) >= Fraction(LARGEST[s.d]) and (got > 0) == (
            wanted.number > 0
        )
    if s.d not in ("s32", "f64") and abs(got - float(wanted.number)) <= error / 2:
        return True  # these numbers have far more bits than the bound is off by
    return not math.isnan(got) and abs(Fraction(got) - Fraction(wanted.number)) <= Fraction(error)
