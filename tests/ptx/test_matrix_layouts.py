"""The layouts of matrices: PTX's lines against the manual's formulas, AMD's against each other, products by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from cu2port.ptx import matrix_layouts as layouts
from cu2port.ptx.matrix_layouts import AMD, Layout, fragment, layout, products, ptx_shapes, quad_pair_fragment

# (group, thread in group, element) -> (row, column), as the manual writes them; B's row is k
Formula = Callable[[int, int, int], tuple[int, int]]

_A: dict[tuple[str, int], Formula] = {
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
_B: dict[tuple[str, int], Formula] = {
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


def _c(g: int, t: int, i: int) -> tuple[int, int]:
    return (g if i < 2 else g + 8), t * 2 + (i & 1)


@pytest.mark.parametrize(("shape", "bits"), list(ptx_shapes()))
def test_fragments_are_those_of_the_manual(shape: str, bits: int) -> None:
    for matrix, formula, axes in (("A", _A[shape, bits], "mk"), ("B", _B[shape, bits], "kn"), ("C", _c, "mn")):
        for lane, element, at in fragment(shape, bits, matrix).all():
            assert tuple(at.get(axis, 0) for axis in axes) == formula(lane >> 2, lane & 3, element)


def test_quad_pairs_are_those_of_the_manual() -> None:
    for lane in range(32):
        high = 4 if lane >= 16 else 0
        for i in range(4):
            assert quad_pair_fragment("A", "row").at(lane, i) == {"m": lane % 4 + high, "k": i, "b": lane // 4 % 4}
            assert quad_pair_fragment("A", "col").at(lane, i) == {"m": i % 4 + high, "k": lane % 4, "b": lane // 4 % 4}
            assert quad_pair_fragment("B", "row").at(lane, i) == {"k": lane % 4, "n": i + high, "b": lane // 4 % 4}
            assert quad_pair_fragment("B", "col").at(lane, i) == {"k": i, "n": lane % 4 + high, "b": lane // 4 % 4}
        for i in range(8):
            assert quad_pair_fragment("C", "f16").at(lane, i) == {"m": lane % 4 + high, "n": i, "b": lane // 4 % 4}
            row, column = (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)
            assert quad_pair_fragment("C", "f32").at(lane, i) == {"m": row, "n": column, "b": lane // 4 % 4}


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
