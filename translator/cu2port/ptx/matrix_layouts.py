"""Where the elements of a matrix lie: PTX's fragments over the 32 lanes of a warp, AMD's over a wavefront.

A layout is linear over bits: each bit of an element's number in its lane, and each bit of the lane's number, is one bit
of one coordinate, or says nothing ("-", the lanes that differ in it hold copies). So a layout is one line of text:

    "k0 m3 k3 | k1 k2 m0 m1 m2"      A of m16n8k16, f16

Left of the bar are the bits of the element's number, lowest first: bit 0 is k's bit 0, bit 1 is the row's bit 3. Right
of it are those of the lane's number. `m`, `n`, `k` count rows of A, columns of B and the dimension between them; `b`
counts independent products of one instruction (quad pairs of Volta's m8n8k4, blocks of MFMA 4x4). C and D are `m` by
`n`.

Elements fill registers in order, from the low bits up: element i of b bits is in register i * b / 32.

Sources: NVIDIA's PTX ISA, "Matrix fragments for mma.*" (tests hold each line against the manual's formulas); AMD's
instruction set manuals of CDNA 1 to 4 and RDNA 3 and 4, "matrix arithmetic" (tests run them in an emulator).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

Coordinates = Mapping[str, int]  # axis -> number
Bit = tuple[str, int]  # axis and bit; ("-", 0) where copies lie


@dataclass(frozen=True, slots=True)
class Layout:
    """A matrix over lanes. `elements`, `lanes`: what each bit of an element's or a lane's number means."""

    elements: tuple[Bit, ...]
    lanes: tuple[Bit, ...]

    @property
    def count(self) -> int:
        """Elements in each lane."""
        return 1 << len(self.elements)

    @property
    def width(self) -> int:
        """Lanes that hold the matrix together."""
        return 1 << len(self.lanes)

    def at(self, lane: int, element: int) -> dict[str, int]:
        """The coordinates of a lane's element."""
        out: dict[str, int] = {}
        for number, bits in ((element, self.elements), (lane, self.lanes)):
            for i, (axis, bit) in enumerate(bits):
                if axis != "-":
                    out[axis] = out.get(axis, 0) | (number >> i & 1) << bit
        return out

    def find(self, **at: int) -> tuple[int, int]:
        """The lowest lane and the element that hold what is at these coordinates; an axis that is left out is 0."""
        numbers = []
        for bits in (self.lanes, self.elements):
            numbers.append(sum((at.get(axis, 0) >> bit & 1) << i for i, (axis, bit) in enumerate(bits)))
        return numbers[0], numbers[1]

    def all(self) -> Iterator[tuple[int, int, dict[str, int]]]:
        """(lane, element, coordinates) of everything that is held, copies too."""
        for lane in range(self.width):
            for element in range(self.count):
                yield lane, element, self.at(lane, element)

    def sizes(self) -> dict[str, int]:
        """How far each axis counts."""
        out: dict[str, int] = {}
        for axis, _ in (*self.elements, *self.lanes):
            if axis != "-":
                out[axis] = out.get(axis, 1) * 2
        return out


@cache
def layout(text: str) -> Layout:
    """A layout from its line. Raises ValueError where a bit of a coordinate has no place, or two."""
    left, bar, right = text.partition("|")
    halves = [tuple((w[0], int(w[1:] or 0)) for w in half.split()) for half in (left, right)]
    bits = sorted(b for half in halves for b in half if b[0] != "-")
    highest = dict(bits)
    if not bar or bits != sorted((axis, i) for axis, top in highest.items() for i in range(top + 1)):
        raise ValueError(f"`{text}` does not hold each element once")
    return Layout(halves[0], halves[1])


# --- PTX -------------------------------------------------------------------------------------------------------------

#: The bits of one element by the name of its type in PTX.
ELEMENT_BITS: Mapping[str, int] = {
    **dict.fromkeys(("f64",), 64),
    **dict.fromkeys(("f32", "tf32", "s32"), 32),
    **dict.fromkeys(("f16", "bf16"), 16),
    **dict.fromkeys(("s8", "u8", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1"), 8),  # the last three in bytes of their own
    **dict.fromkeys(("s4", "u4"), 4),
    "b1": 1,
}

_A8, _B8, _C8 = "m0 m1 m2", "n0 n1 n2", "n0 | n1 n2 m0 m1 m2"
_C16 = "n0 m3 | n1 n2 m0 m1 m2"

#: (shape, bits of A's and B's elements) -> the lines of A, B, and of C and D.
_PTX: Mapping[tuple[str, int], tuple[str, str, str]] = {
    ("m8n8k4", 64): (f"| k0 k1 {_A8}", f"| k0 k1 {_B8}", _C8),
    ("m16n8k4", 64): (f"m3 | k0 k1 {_A8}", f"| k0 k1 {_B8}", _C16),
    ("m16n8k8", 64): (f"m3 k2 | k0 k1 {_A8}", f"k2 | k0 k1 {_B8}", _C16),
    ("m16n8k16", 64): (f"m3 k2 k3 | k0 k1 {_A8}", f"k2 k3 | k0 k1 {_B8}", _C16),
    ("m16n8k4", 32): (f"m3 | k0 k1 {_A8}", f"| k0 k1 {_B8}", _C16),
    ("m16n8k8", 32): (f"m3 k2 | k0 k1 {_A8}", f"k2 | k0 k1 {_B8}", _C16),
    ("m16n8k8", 16): (f"k0 m3 | k1 k2 {_A8}", f"k0 | k1 k2 {_B8}", _C16),
    ("m16n8k16", 16): (f"k0 m3 k3 | k1 k2 {_A8}", f"k0 k3 | k1 k2 {_B8}", _C16),
    ("m8n8k16", 8): (f"k0 k1 | k2 k3 {_A8}", f"k0 k1 | k2 k3 {_B8}", _C8),
    ("m16n8k16", 8): (f"k0 k1 m3 | k2 k3 {_A8}", f"k0 k1 | k2 k3 {_B8}", _C16),
    ("m16n8k32", 8): (f"k0 k1 m3 k4 | k2 k3 {_A8}", f"k0 k1 k4 | k2 k3 {_B8}", _C16),
    ("m8n8k32", 4): (f"k0 k1 k2 | k3 k4 {_A8}", f"k0 k1 k2 | k3 k4 {_B8}", _C8),
    ("m16n8k32", 4): (f"k0 k1 k2 m3 | k3 k4 {_A8}", f"k0 k1 k2 | k3 k4 {_B8}", _C16),
    ("m16n8k64", 4): (f"k0 k1 k2 m3 k5 | k3 k4 {_A8}", f"k0 k1 k2 k5 | k3 k4 {_B8}", _C16),
    ("m8n8k128", 1): (f"k0 k1 k2 k3 k4 | k5 k6 {_A8}", f"k0 k1 k2 k3 k4 | k5 k6 {_B8}", _C8),
    ("m16n8k128", 1): (f"k0 k1 k2 k3 k4 m3 | k5 k6 {_A8}", f"k0 k1 k2 k3 k4 | k5 k6 {_B8}", _C16),
    ("m16n8k256", 1): (f"k0 k1 k2 k3 k4 m3 k7 | k5 k6 {_A8}", f"k0 k1 k2 k3 k4 k7 | k5 k6 {_B8}", _C16),
}

#: Volta's m8n8k4 on f16: four products, each by a quad pair (lanes l and l + 16 of a quad). A and B by their order in
#: memory, C and D by their type.
_QUAD_PAIRS: Mapping[tuple[str, str], str] = {
    ("A", "row"): "k0 k1 | m0 m1 b0 b1 m2",
    ("A", "col"): "m0 m1 | k0 k1 b0 b1 m2",
    ("B", "row"): "n0 n1 | k0 k1 b0 b1 n2",
    ("B", "col"): "k0 k1 | n0 n1 b0 b1 n2",
    ("C", "f16"): "n0 n1 n2 | m0 m1 b0 b1 m2",
    ("C", "f32"): "n0 m1 n2 | m0 n1 b0 b1 m2",
}

#: `ldmatrix`, `stmatrix` and `movmatrix` of 8x8 elements of 16 bits: row `m`, column `k`; and with `.trans`.
MATRIX_8X8 = layout("k0 | k1 k2 m0 m1 m2")
MATRIX_8X8_TRANS = layout("m0 | m1 m2 k0 k1 k2")


def ptx_shapes() -> Iterator[tuple[str, int]]:
    """Every shape of `mma` with the bits of its elements, without Volta's m8n8k4."""
    yield from _PTX


def fragment(shape: str, bits: int, matrix: str) -> Layout:
    """PTX's fragment of "A", "B" or "C" (which is D's too) for a shape. Raises KeyError for one that PTX has not."""
    return layout(_PTX[shape, bits]["ABC".index(matrix)])


#: `mma.sp` -> the lines of B; A has half as many columns and lies as in the dense product of that shape
_SPARSE_B: Mapping[tuple[str, int], str] = {
    ("m16n8k8", 32): f"k2 | k0 k1 {_B8}",
    ("m16n8k16", 32): f"k2 k3 | k0 k1 {_B8}",
    ("m16n8k16", 16): f"k0 k3 | k1 k2 {_B8}",
    ("m16n8k32", 16): f"k0 k3 k4 | k1 k2 {_B8}",
    ("m16n8k64", 8): f"k0 k1 k4 k5 | k2 k3 {_B8}",
    ("m16n8k128", 4): f"k0 k1 k2 k5 k6 | k3 k4 {_B8}",
}


def sparse_fragment(shape: str, bits: int, matrix: str) -> Layout:
    """PTX's fragment of "A" without its zeros, "B" or "C" for a shape of `mma.sp`."""
    if matrix == "B":
        return layout(_SPARSE_B[shape, bits])
    rows, _, depth = shape.rpartition("k")
    return fragment(f"{rows}k{int(depth) // 2}", bits, matrix)


def quad_pair_fragment(matrix: str, order: str) -> Layout:
    """The same for m8n8k4 on f16; `order`: "row" or "col" of A and B, "f16" or "f32" for C and D."""
    return layout(_QUAD_PAIRS[matrix, order])


# --- AMD -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MatrixInstruction:
    """A matrix instruction of AMD GPUs: where its operands lie, and the types of elements; `gpus` that have it."""

    a: Layout
    b: Layout
    d: Layout
    types: str  # "f32 f16": D's and C's, A's and B's
    gpus: tuple[str, ...]


_CDNA2, _CDNA3, _CDNA4 = "gfx90a", "gfx942", "gfx950"
_L16, _N16 = "m0 m1 m2 m3", "n0 n1 n2 n3"
_D4 = f"m0 m1 | {_N16} m2 m3"  # 16x16: four rows a lane
_D32 = "m0 m1 m3 m4 | n0 n1 n2 n3 n4 m2"  # 32x32: rows 8 * (r / 4) + 4 * (lane / 32) + r % 4


def _amd(a: str, b: str, d: str, types: str, *gpus: str) -> MatrixInstruction:
    return MatrixInstruction(layout(a), layout(b), layout(d), types, gpus)


def _mfma16(k: str, lanes: str, types: str, *gpus: str) -> MatrixInstruction:
    return _amd(f"{k} | {_L16} {lanes}", f"{k} | {_N16} {lanes}", _D4, types, *gpus)


def _mfma32(k: str, lane: str, types: str, *gpus: str) -> MatrixInstruction:
    return _amd(f"{k} | m0 m1 m2 m3 m4 {lane}", f"{k} | n0 n1 n2 n3 n4 {lane}", _D32, types, *gpus)


#: By the builtin's name without `__builtin_amdgcn_` and `_w32`.
AMD: Mapping[str, MatrixInstruction] = {
    "mfma_f32_16x16x4f32": _mfma16("", "k0 k1", "f32 f32", _CDNA2, _CDNA3, _CDNA4),
    "mfma_f32_16x16x16f16": _mfma16("k0 k1", "k2 k3", "f32 f16", _CDNA2, _CDNA3, _CDNA4),
    "mfma_f32_16x16x16bf16_1k": _mfma16("k0 k1", "k2 k3", "f32 bf16", _CDNA2, _CDNA3, _CDNA4),
    "mfma_i32_16x16x16i8": _mfma16("k0 k1", "k2 k3", "s32 s8", _CDNA2),
    "mfma_i32_16x16x32_i8": _mfma16("k0 k1 k2", "k3 k4", "s32 s8", _CDNA3, _CDNA4),
    "mfma_f32_16x16x32_fp8_fp8": _mfma16("k0 k1 k2", "k3 k4", "f32 e4m3", _CDNA3, _CDNA4),
    "mfma_f32_16x16x8_xf32": _mfma16("k0", "k1 k2", "f32 tf32", _CDNA3),
    "mfma_f32_16x16x32_f16": _mfma16("k0 k1 k2", "k3 k4", "f32 f16", _CDNA4),
    "mfma_f32_16x16x32_bf16": _mfma16("k0 k1 k2", "k3 k4", "f32 bf16", _CDNA4),
    "mfma_i32_16x16x64_i8": _mfma16("k0 k1 k2 k3", "k4 k5", "s32 s8", _CDNA4),
    "mfma_f64_16x16x4f64": _amd(
        f"| {_L16} k0 k1", f"| {_N16} k0 k1", f"m2 m3 | {_N16} m0 m1", "f64 f64", _CDNA2, _CDNA3, _CDNA4
    ),
    "mfma_f64_4x4x4f64": _amd(
        "| m0 m1 b0 b1 k0 k1", "| n0 n1 b0 b1 k0 k1", "| n0 n1 b0 b1 m0 m1", "f64 f64", _CDNA2, _CDNA3, _CDNA4
    ),
    "mfma_f32_4x4x4f16": _amd(
        "k0 k1 | m0 m1 b0 b1 b2 b3",
        "k0 k1 | n0 n1 b0 b1 b2 b3",
        "m0 m1 | n0 n1 b0 b1 b2 b3",
        "f32 f16",
        _CDNA2,
        _CDNA3,
        _CDNA4,
    ),
    "mfma_i32_4x4x4i8": _amd(
        "k0 k1 | m0 m1 b0 b1 b2 b3",
        "k0 k1 | n0 n1 b0 b1 b2 b3",
        "m0 m1 | n0 n1 b0 b1 b2 b3",
        "s32 s8",
        _CDNA2,
        _CDNA3,
        _CDNA4,
    ),
    "mfma_f32_32x32x2f32": _mfma32("", "k0", "f32 f32", _CDNA2, _CDNA3, _CDNA4),
    "mfma_f32_32x32x8f16": _mfma32("k0 k1", "k2", "f32 f16", _CDNA2, _CDNA3, _CDNA4),
    "mfma_f32_32x32x8bf16_1k": _mfma32("k0 k1", "k2", "f32 bf16", _CDNA2, _CDNA3, _CDNA4),
    "mfma_i32_32x32x16_i8": _mfma32("k0 k1 k2", "k3", "s32 s8", _CDNA3, _CDNA4),
    # gfx11: each half of the wavefront holds all of A and B, row and column by the lane; D's rows alternate
    "wmma_f32_16x16x16_f16": _amd(
        f"k0 k1 k2 k3 | {_L16} -", f"k0 k1 k2 k3 | {_N16} -", f"m1 m2 m3 | {_N16} m0", "f32 f16", "gfx1100"
    ),
    "wmma_f32_16x16x16_bf16": _amd(
        f"k0 k1 k2 k3 | {_L16} -", f"k0 k1 k2 k3 | {_N16} -", f"m1 m2 m3 | {_N16} m0", "f32 bf16", "gfx1100"
    ),
    "wmma_i32_16x16x16_iu8": _amd(
        f"k0 k1 k2 k3 | {_L16} -", f"k0 k1 k2 k3 | {_N16} -", f"m1 m2 m3 | {_N16} m0", "s32 s8", "gfx1100"
    ),
    # gfx12: the halves hold halves of K, of 16 bits by fours; D's halves are rows 0 to 7 and 8 to 15
    "wmma_f32_16x16x16_f16_gfx12": _amd(
        f"k0 k1 k3 | {_L16} k2", f"k0 k1 k3 | {_N16} k2", f"m0 m1 m2 | {_N16} m3", "f32 f16", "gfx1201"
    ),
    "wmma_f32_16x16x16_bf16_gfx12": _amd(
        f"k0 k1 k3 | {_L16} k2", f"k0 k1 k3 | {_N16} k2", f"m0 m1 m2 | {_N16} m3", "f32 bf16", "gfx1201"
    ),
    "wmma_i32_16x16x16_iu8_gfx12": _amd(
        f"k0 k1 k2 | {_L16} k3", f"k0 k1 k2 | {_N16} k3", f"m0 m1 m2 | {_N16} m3", "s32 s8", "gfx1201"
    ),
    "wmma_f32_16x16x16_fp8_fp8_gfx12": _amd(
        f"k0 k1 k2 | {_L16} k3", f"k0 k1 k2 | {_N16} k3", f"m0 m1 m2 | {_N16} m3", "f32 e4m3", "gfx1201"
    ),
    "wmma_i32_16x16x32_iu4_gfx12": _amd(
        f"k0 k1 k2 k3 | {_L16} k4", f"k0 k1 k2 k3 | {_N16} k4", f"m0 m1 m2 | {_N16} m3", "s32 s4", "gfx1201"
    ),
}


# --- How lanes get what they multiply --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Product:
    """One step of the portable form in one lane: accumulator `c` takes register `a` of lane `a_lane` times register `b`
    of lane `b_lane`, a dot product over the elements of a register (f64: over one)."""

    c: int
    a: int
    a_lane: int
    b: int
    b_lane: int


def products(shape: str, bits: int, lane: int) -> Iterator[Product]:
    """What a lane multiplies for its part of D, in this order: cu2port/mma.hpp's loop.

    Its rows of A are in the four lanes of its quad; its two columns of B are in two other quads.
    """
    a, b = fragment(shape, bits, "A"), fragment(shape, bits, "B")
    size = max(bits, 32) // bits
    row_sets = a.sizes()["m"] // 8
    for step in range(b.count // size):
        for j in range(4):
            for rows in range(row_sets):
                for column in range(2):
                    yield Product(
                        rows * 2 + column,
                        step * row_sets + rows,
                        (lane & ~3) + j,
                        step,
                        8 * (lane & 3) + 4 * column + j,
                    )
