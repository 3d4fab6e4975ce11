"""The layouts of matrices: PTX's lines against the manual's formulas, AMD's against each other, products by name."""

from __future__ import annotations

from collections import Counter
from itertools import product

import mma_manual
import pytest

from cu2port.ptx import matrix_layouts as layouts
from cu2port.ptx.matrix_layouts import (
    AMD,
    Layout,
    fragment,
    layout,
    products,
    ptx_shapes,
    quad_pair_fragment,
    sparse_fragment,
)


@pytest.mark.parametrize(("shape", "bits"), list(ptx_shapes()))
def test_fragments_are_those_of_the_manual(shape: str, bits: int) -> None:
    for matrix, formula, axes in (
        ("A", mma_manual.A[shape, bits], "mk"),
        ("B", mma_manual.B[shape, bits], "kn"),
        ("C", mma_manual.c_at, "mn"),
    ):
        for lane, element, at in fragment(shape, bits, matrix).all():
            assert tuple(at.get(axis, 0) for axis in axes) == formula(lane >> 2, lane & 3, element)


@pytest.mark.parametrize(
    ("matrix", "order"), [*((m, o) for m in "AB" for o in ("row", "col")), ("C", "f16"), ("C", "f32")]
)
def test_quad_pairs_are_those_of_the_manual(matrix: str, order: str) -> None:
    axes = {"A": "mk", "B": "kn", "C": "mn"}[matrix]
    for lane, element, at in quad_pair_fragment(matrix, order).all():
        assert at["b"] == lane // 4 % 4
        assert tuple(at[axis] for axis in axes) == mma_manual.quads_at(matrix, order, lane, element)


@pytest.mark.parametrize(("shape", "bits"), list(mma_manual.SPARSE_A))
def test_sparse_fragments_are_those_of_the_manual(shape: str, bits: int) -> None:
    for lane, element, at in sparse_fragment(shape, bits, "A").all():
        row, first, columns, held, number = mma_manual.SPARSE_A[shape, bits](lane >> 2, lane & 3, element)
        assert (at["m"], at["k"]) == (row, first // columns * held + number)
    for lane, element, at in sparse_fragment(shape, bits, "B").all():
        assert (at["k"], at["n"]) == mma_manual.SPARSE_B[shape, bits](lane >> 2, lane & 3, element)
    assert sparse_fragment(shape, bits, "C") == fragment("m16n8k16", 16, "C")


@pytest.mark.parametrize(("shape", "bits", "depth"), [("m16n8k64", 8, 64), ("m16n8k128", 4, 128)])
def test_metadata_of_bytes_is_where_cute_has_it(shape: str, bits: int, depth: int) -> None:
    """Its layout of 16 by K: lanes (2, 2, 8) with strides (8, 8 * K, 1), a lane's values with stride 16."""
    for row, column in product(range(16), range(0, depth, 32 // bits)):
        lane, bit = mma_manual.METADATA[shape, bits](row, column, 0)
        value = bit // 4 * (32 // bits)
        assert 8 * (lane % 2) + 8 * depth * (lane // 2) + row % 8 + 16 * value == row + 16 * column


@pytest.mark.parametrize(("shape", "bits", "selector"), [("m16n8k32", 16, 0), ("m16n8k16", 32, 1)])
def test_metadata_of_halves_is_where_cutlass_loads_it(shape: str, bits: int, selector: int) -> None:
    """It reorders the 16-bit words of 32 rows by two columns, and lane l loads the two of row l of the result."""
    reordered = {}
    for row, word in product(range(32), range(2)):
        to, column = row % 8 * 4 + row // 8, word
        if (to + column) % 2 == 1:
            to, column = (to + 1, column - 1) if column else (to - 1, column + 1)
        reordered[row, word] = to, column
    fours = 64 // bits
    for row, column in product(range(16), range(0, 8 * fours, fours)):
        quad_lane, bit = mma_manual.METADATA[shape, bits](row, column, selector)
        lane, half = reordered[16 * selector + row, column // (4 * fours)]
        assert (quad_lane, bit) == (lane % 4, 16 * half + column % (4 * fours) // fours * 4)
        assert lane // 4 == row % 8


def _every() -> list[tuple[str, Layout]]:
    out = [(f"{s}.{bits}.{m}", fragment(s, bits, m)) for s, bits in ptx_shapes() for m in "ABC"]
    out += [(f"quad pair {m} {o}", quad_pair_fragment(m, o)) for m in "AB" for o in ("row", "col")]
    out += [(f"quad pair C {o}", quad_pair_fragment("C", o)) for o in ("f16", "f32")]
    for name, instruction in AMD.items():
        out += [(f"{name}.{m}", x) for m, x in zip("ABD", (instruction.a, instruction.b, instruction.d), strict=True)]
    return [*out, ("ldmatrix", layouts.MATRIX_8X8), ("ldmatrix.trans", layouts.MATRIX_8X8_TRANS)]


@pytest.mark.parametrize(("name", "held"), _every(), ids=[name for name, _ in _every()])
def test_each_element_lies_somewhere_and_copies_only_where_the_line_says(name: str, held: Layout) -> None:
    seen = Counter(tuple(sorted(at.items())) for _, _, at in held.all())
    sizes = held.sizes()
    total = 1
    for size in sizes.values():
        total *= size
    copies = 1 << sum(axis == "-" for axis, _ in held.lanes)
    assert len(seen) == total
    assert set(seen.values()) == {copies}
    for lane, element, at in held.all():
        found, at_element = held.find(**at)
        assert at_element == element
        assert held.at(found, element) == at
        assert found <= lane


@pytest.mark.parametrize("line", ["k0 k0 | m0", "k1 | m0 m1", "k0 m0", "k0 | m0 m2"])
def test_a_line_that_forgets_an_element_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="does not hold each element once"):
        layout(line)


def test_shapes_are_what_their_names_say() -> None:
    for shape, bits in ptx_shapes():
        m, n, k = (int(x) for x in shape[1:].replace("n", " ").replace("k", " ").split())
        assert fragment(shape, bits, "A").sizes() == {"m": m, "k": k}
        assert fragment(shape, bits, "B").sizes() == {"n": n, "k": k}
        assert fragment(shape, bits, "C").sizes() == {"m": m, "n": n}
    for name, instruction in AMD.items():
        m, n, k = instruction.a.sizes()["m"], instruction.b.sizes()["n"], instruction.a.sizes()["k"]
        assert f"{m}x{n}x{k}" in name
        assert instruction.b.sizes()["k"] == k
        assert (instruction.d.sizes()["m"], instruction.d.sizes()["n"]) == (m, n)
        blocks = [x.sizes().get("b", 1) for x in (instruction.a, instruction.b, instruction.d)]
        assert len(set(blocks)) == 1


@pytest.mark.parametrize(("shape", "bits"), list(ptx_shapes()))
@pytest.mark.parametrize("warp", [0, 1])
def test_the_portable_form_multiplies_what_it_must(shape: str, bits: int, warp: int) -> None:
    """Elements by name through the lanes of both logical warps: each product of a row and a column once, no other."""
    a, b, c = (fragment(shape, bits, m) for m in "ABC")
    size = max(bits, 32) // bits
    first = 32 * warp

    def named(held: Layout, lane: int, register: int, axes: str) -> list[tuple[int, ...]]:
        return [
            (lane // 32, *(held.at(lane % 32, register * size + i).get(axis, 0) for axis in axes)) for i in range(size)
        ]

    for lane in range(first, first + 32):
        sums: dict[int, Counter[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
        for p in products(shape, bits, lane):
            pairs = zip(named(a, p.a_lane, p.a, "mk"), named(b, p.b_lane + first, p.b, "kn"), strict=True)
            sums.setdefault(p.c, Counter()).update(pairs)
        for element in range(c.count):
            at = c.at(lane % 32, element)
            wanted = Counter(((warp, at["m"], k), (warp, k, at.get("n", 0))) for k in range(a.sizes()["k"]))
            assert sums[element] == wanted


# --- MFMA with exchange: not emitted yet; what it will do is proven here by names -------------------------------------

Named = tuple[int, int, int]  # warp, row of A or column of B, k


def _held(shape: str, bits: int, matrix: str, axes: str) -> dict[tuple[int, int], list[Named]]:
    """(lane of 64, register) -> the elements in it, for two warps."""
    layout_, size = fragment(shape, bits, matrix), 32 // bits
    out: dict[tuple[int, int], list[Named]] = {}
    for lane in range(64):
        for i in range(layout_.count):
            at = layout_.at(lane % 32, i)
            out.setdefault((lane, i // size), []).append((lane // 32, at[axes[0]], at["k"]))
    return out


def _exchanged(shape: str, bits: int) -> list[tuple[list[list[Named]], list[list[Named]]]]:
    """For D of warp 0 and 1: the elements that each of 64 lanes gives the instruction of A and of B.

    A lane reads whole registers of one other lane: s for rows 0 to 7 of its own warp, s ^ 32 for 8 to 15 of the other.
    """
    a, b = _held(shape, bits, "A", "mk"), _held(shape, bits, "B", "nk")
    steps = fragment(shape, bits, "B").count * bits // 32
    out = []
    for warp in range(2):
        left, right = [], []
        for lane in range(64):
            s = 4 * (lane % 8) + lane // 16 + (32 if lane % 16 >= 8 else 0)
            first = (lane % 16 < 8) == (warp == 0)
            left.append([x for step in range(steps) for x in a[(s, 2 * step) if first else (s ^ 32, 2 * step + 1)]])
            right.append([x for step in range(steps) for x in b[s, step]])
        out.append((left, right))
    return out


@pytest.mark.parametrize(
    ("shape", "bits", "name"),
    [
        ("m16n8k16", 16, "mfma_f32_16x16x16f16"),
        ("m16n8k16", 16, "mfma_f32_16x16x16bf16_1k"),
        ("m16n8k32", 8, "mfma_i32_16x16x32_i8"),
        ("m16n8k32", 8, "mfma_f32_16x16x32_fp8_fp8"),
        ("m16n8k8", 32, "mfma_f32_16x16x8_xf32"),
    ],
)
def test_whole_registers_move_from_ptx_to_mfma(shape: str, bits: int, name: str) -> None:
    """B times A, so that a lane gets four columns of one row of its own warp: each sum of products once, and nothing of
    the other warp."""
    instruction = AMD[name]
    for warp, (rows, columns) in enumerate(_exchanged(shape, bits)):
        # the instruction's rows are columns of B, its columns rows of A
        at_b = {(at["m"], at["k"]): columns[lane][i] for lane, i, at in instruction.a.all()}
        at_a = {(at["n"], at["k"]): rows[lane][i] for lane, i, at in instruction.b.all()}
        depth = instruction.a.sizes()["k"]
        for lane, element, at in instruction.d.all():
            if lane // 32 != warp:
                continue  # that half is taken from the other product
            pairs = Counter((at_a[at["n"], k], at_b[at["m"], k]) for k in range(depth))
            row, column = lane % 16 if warp == 0 else (lane % 16) ^ 8, 4 * (lane % 32 // 16) + element
            assert pairs == Counter(((warp, row, k), (warp, column, k)) for k in range(depth))
