"""The layouts of matrices: PTX's lines against the manual's formulas, AMD's against each other, products by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import mma_manual
import pytest
from amd_code import INCLUDE

from cu2port.ptx import matrix_forms
from cu2port.ptx import matrix_layouts as layouts
from cu2port.ptx.isa_matrix import Form
from cu2port.ptx.matrix_forms import (
    AROUND,
    CDNA,
    RDNA,
    Exchange,
    exchange,
    instruction,
    keeps,
    kept_from,
    kept_place,
    note,
    wave32_column,
    wave32_place,
    wave32_row,
)
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
from cu2port.ptx.table import forms, rows


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
    for name, made in AMD.items():
        out += [(f"{name}.{m}", x) for m, x in zip("ABD", (made.a, made.b, made.d), strict=True)]
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
    for name, made in AMD.items():
        m, n, k = made.a.sizes()["m"], made.b.sizes()["n"], made.a.sizes()["k"]
        assert f"{m}x{n}x{k}" in name
        assert made.b.sizes()["k"] == k
        assert (made.d.sizes()["m"], made.d.sizes()["n"]) == (m, n)
        blocks = [x.sizes().get("b", 1) for x in (made.a, made.b, made.d)]
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


# --- MFMA with exchange: elements by name through both exchanges and the instruction ---------------------------------

Named = tuple[int, int, int]  # warp, row of A or column of B, k
Words = dict[tuple[int, int], list[Named]]  # (lane of 64, register) -> the elements in it


def _held(form: Form, matrix: str, axes: str, whole: bool = False) -> Words:
    """Two warps' fragments. Small floats as the header makes f16 of them: of a register, even bytes and odd bytes; or
    as they are: `whole`."""
    layout_ = form.layout(matrix)
    size = form.register(matrix).bits // layouts.ELEMENT_BITS[form.type(matrix)]
    out: Words = {}
    for lane in range(64):
        for i in range(layout_.count):
            at = layout_.at(lane % 32, i)
            out.setdefault((lane, i // size), []).append((lane // 32, at[axes[0]], at["k"]))
    if whole or not form.a.startswith("e"):
        return out
    rows = form.layout("A").sizes()["m"] // 8 if matrix == "A" else 1
    return {
        (lane, i % rows + rows * (i // rows * 2 + odd)): held[odd::2]
        for (lane, i), held in out.items()
        for odd in (0, 1)
    }


def _wrong(form: Form, name: str) -> list[object]:
    """What is not the products of its row and its column, each once: (lane, register of D, what is there)."""
    made = AMD[name]
    a, b = _held(form, "A", "mk"), _held(form, "B", "nk")
    rows, steps = form.layout("A").sizes()["m"] // 8, len(b) // 64
    words = made.a.count * layouts.ELEMENT_BITS[made.types.split()[1]] // form.register("A").bits
    via = [exchange(name, lane) for lane in range(64)]
    sums: dict[tuple[int, int, int], Counter[tuple[Named, Named]]] = {}  # lane, half of the rows, register
    for half in range(rows):
        for step in range(0, steps, words):
            here = range(step, min(step + words, steps))  # what is beyond is zero in A and in B
            depth = made.a.sizes()["k"]
            x = [[e for i in here for e in b[via[lane].column, i]] for lane in range(64)]
            y = [[e for i in here for e in a[via[lane].row, rows * i + half]] for lane in range(64)]
            at_b = {(at["m"], at["k"]): x[lane][i] for lane, i, at in made.a.all() if i < len(x[lane])}
            at_a = {(at["n"], at["k"]): y[lane][i] for lane, i, at in made.b.all() if i < len(y[lane])}
            for lane, register, at in made.d.all():
                pairs = ((at_a[at["n"], k], at_b[at["m"], k]) for k in range(depth) if (at["n"], k) in at_a)
                sums.setdefault((lane, half, register), Counter()).update(pairs)
    out: list[object] = []
    for lane in range(64):
        for element in range(form.layout("D").count):
            half, i = divmod(element, 2)
            source = via[lane].result
            found = sums[source, half, 2 + i if source & 8 else i]
            at, warp = form.layout("D").at(lane % 32, element), lane // 32
            every_k = range(form.layout("A").sizes()["k"])
            if found != Counter(((warp, at["m"], k), (warp, at.get("n", 0), k)) for k in every_k):
                out.append((lane, element, found))
    return out


def _every_form() -> Iterator[Form]:
    """Of every opcode of `mma`, and with `--ptx-fp fast`."""
    for row in rows():
        if row.root == "mma":
            for opcode, _ in forms(row):
                s = mma_manual.spec(opcode)
                if (
                    ".sp" not in opcode
                    and not s.quads
                    and not s.satfinite
                    and not s.bit_operation
                    and ".r" not in opcode.replace(".row", "")
                ):
                    yield Form(s.shape, s.d, s.a, s.b, s.c, "fast" if s.a in ("f16", "bf16") else "")


_MATRIX_FORMS = {  # forms that differ in what `_wrong` looks at
    (form.shape, layouts.ELEMENT_BITS[form.a], form.a.startswith("e"), name): form
    for form in _every_form()
    for name in sorted({instruction(form, gpu) for gpu in CDNA} - {""})
}


@pytest.mark.parametrize("kind", sorted(_MATRIX_FORMS), ids=str)
def test_mfma_multiplies_what_it_must_for_both_warps(kind: tuple[str, int, bool, str]) -> None:
    assert _wrong(_MATRIX_FORMS[kind], kind[3]) == []


def test_a_wrong_exchange_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    right = matrix_forms.exchange
    monkeypatch.setitem(
        globals(), "exchange", lambda name, lane: replace(right(name, lane), column=right(name, lane ^ 2).column)
    )
    assert _wrong(Form("m16n8k16", "f32", "f16", "f16", "f32"), "mfma_f32_16x16x16f16")


def test_the_header_exchanges_what_the_table_says() -> None:
    """C++ and Python read these expressions alike."""
    header = (INCLUDE / "cu2port" / "mma_wave64.hpp").read_text()
    found = dict(re.findall(r"(\w+) = (\([^=;]*?l [^=;]*?)[,;]", header))
    columns = re.findall(r"struct (Rows\d) .*\n.*return (.*); }", header)
    for name in AMD:
        if name.startswith("mfma") and "16x16" in name:
            column = dict(columns)["Rows1" if name == "mfma_f64_16x16x4f64" else "Rows4"]
            for lane in range(64):
                texts = (found["row"], column, found["result"])
                assert exchange(name, lane) == Exchange(*(eval(text, {"l": lane}) for text in texts))
    for lane in range(64):
        assert kept_from(lane) == eval(found["from"], {"l": lane})
    body = header[header.index("void from_ptx(") :]
    in_tiles = _two_rounds(body[: body.index("#ifndef")], lambda lane, i: (lane, i))
    assert in_tiles == {(lane, i): kept_place(lane, i) for lane, i in product(range(64), range(4))}
    body = header[header.index("to_ptx() const") :]
    back = _two_rounds(body[: body.index("return c;")], kept_place)
    assert back == {(lane, i): (lane, i) for lane, i in product(range(64), range(4))}


Place = tuple[int, int]


def _two_rounds(body: str, held: Callable[[int, int], Place]) -> dict[Place, Place]:
    """What each register of each lane gets, by lane and register, of what the header's text has lanes read from each
    other. `held`: what each of them holds."""
    scalars = [x.split(" = ") for line in re.findall(r"const unsigned (.*);", body) for x in line.split(", ")]
    reads = re.findall(r"const Acc (\w+) = warp::detail::read\((.*), ([^,]*)\);", body)
    stores = re.findall(r" (?:sums\[0\]|c)\[([^\]]*)\] = (?:sums\[1\]\[[^\]]*\] = )?(\w+ \? .*);", body)
    assert len(reads) == len(stores) == 2

    def known(lane: int, i: int) -> dict[str, Any]:
        names: dict[str, Any] = {"l": lane, "i": i}
        for name, value in scalars:
            if name != "l":
                names[name] = eval(value, {}, names)
        registers = [held(lane, r) for r in range(4)]
        return names | {"c": registers, "mine": registers}

    out: dict[Place, Place] = {}
    for lane, i in product(range(64), range(2)):
        names = known(lane, i)
        for name, offered, source in reads:
            names[name] = _chosen(offered, known(eval(source, {}, known(lane, i)), i))
        for at, value in stores:
            out[lane, eval(at, {}, names)] = _chosen(value, names)
    return out


def _chosen(text: str, names: dict[str, Any]) -> Any:
    """The value of `condition ? this : that`."""
    condition, this, that = re.split(r" [?:] ", text)
    return eval(this if eval(condition, {}, names) else that, {}, names)


# --- Sums that stay in tiles -----------------------------------------------------------------------------------------


def _wrong_in_tiles(form: Form, name: str) -> list[object]:
    """Elements by name through the exchange, the instruction and the way back: what is not D's."""
    made = AMD[name]
    a, b = _held(form, "A", "mk"), _held(form, "B", "nk")
    steps, depth = len(b) // 64, made.a.sizes()["k"]
    words = made.a.count * layouts.ELEMENT_BITS[made.types.split()[1]] // form.register("A").bits
    sums: dict[tuple[int, int, int], Counter[tuple[Named, Named]]] = {}  # tile's half, lane, register
    for half, step in product(range(2), range(0, steps, words)):
        here = range(step, min(step + words, steps))
        x = [[e for i in here for e in b[kept_from(lane), i]] for lane in range(64)]
        y = []
        for lane in range(64):
            low = (lane & 8 != 0) == (half == 1)  # the lower rows of a warp are exchanged by the lanes that hold them
            y.append([e for i in here for e in a[kept_from(lane) ^ (0 if low else 32), 2 * i + (not low)]])
        at_b = {(at["m"], at["k"]): x[lane][i] for lane, i, at in made.a.all() if i < len(x[lane])}
        at_a = {(at["n"], at["k"]): y[lane][i] for lane, i, at in made.b.all() if i < len(y[lane])}
        for lane, register, at in made.d.all():
            pairs = ((at_a[at["n"], k], at_b[at["m"], k]) for k in range(depth) if (at["n"], k) in at_a)
            sums.setdefault((half, lane, register), Counter()).update(pairs)
    out: list[object] = []
    for lane, register in product(range(64), range(4)):
        found = sums[lane // 32, lane, register]
        owner, element = kept_place(lane, register)
        at, warp = form.layout("D").at(owner % 32, element), lane // 32
        every_k = range(form.layout("A").sizes()["k"])
        if owner // 32 != warp or found != Counter(((warp, at["m"], k), (warp, at["n"], k)) for k in every_k):
            out.append((lane, register, found))
    return out


_KEPT = [(kind, form) for kind, form in sorted(_MATRIX_FORMS.items()) if keeps(replace(form, d=form.c, suffix=""))]


@pytest.mark.parametrize(("kind", "form"), _KEPT, ids=str)
def test_tiles_hold_each_product_of_their_warp_and_no_other(kind: tuple[str, int, bool, str], form: Form) -> None:
    assert _wrong_in_tiles(form, kind[3]) == []


def test_forms_of_16_rows_that_add_in_their_own_type_are_kept() -> None:
    assert keeps(Form("m16n8k16", "f32", "f16", "f16", "f32"))
    assert keeps(Form("m16n8k32", "s32", "s8", "s8", "s32"))
    assert keeps(Form("m16n8k16", "f16", "f16", "f16", "f16"))
    assert not keeps(Form("m16n8k8", "f16", "f16", "f16", "f32"))
    assert keeps(Form("m16n8k32", "s32", "s8", "s8", "s32", "satfinite"))
    assert not keeps(Form("m16n8k32", "s32", "u8", "s8", "s32", "satfinite"))
    assert not keeps(Form("m8n8k16", "s32", "s8", "s8", "s32"))
    assert not keeps(Form("m16n8k8", "f64", "f64", "f64", "f64"))
    assert len(_KEPT) >= 8


def test_a_wrong_tile_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "kept_from", lambda lane: matrix_forms.kept_from(lane ^ 8))
    assert _wrong_in_tiles(Form("m16n8k16", "f32", "f16", "f16", "f32"), "mfma_f32_16x16x16f16")


def test_what_is_done_to_each_element_of_a_tile_reaches_those_of_the_warp_once() -> None:
    """Registers as the headers name them, through the layouts to PTX's."""
    wave64 = (INCLUDE / "cu2port" / "mma_wave64.hpp").read_text()
    ((condition, then, other),) = re.findall(
        r"second = (.*);\n.*\n.*x = second \? sums\[(\d)\]\[i\] : sums\[(\d)\]", wave64
    )
    reached: Counter[tuple[int, int]] = Counter()
    for lane, i in product(range(64), range(4)):
        second = eval(condition.replace("warp::detail::wave_lane()", "lane"), {"lane": lane})
        half = int(then) if second else int(other)
        owner, element = kept_place(lane, i)
        assert half == lane // 32 == owner // 32  # of a warp, its own lanes count in its half of the tile
        reached[owner, element] += 1
    assert reached == Counter(product(range(64), range(4)))
    wave32 = (INCLUDE / "cu2port" / "mma_wave32.hpp").read_text()
    (read, written) = re.findall(r"x = sums\[0\]\[(.*)\];|sums\[0\]\[(.*)\] = x;", wave32)
    assert read[0] == written[1]
    for lane in range(32):
        reached.update(wave32_place(lane, eval(read[0], {"i": i})) for i in range(4))
    assert {reached[lane, i] for lane, i in product(range(32), range(4))} == {2}


# --- WMMA on wavefronts of one warp ----------------------------------------------------------------------------------


def _wrong_on_wave32(form: Form, name: str) -> list[object]:
    """Elements by name through the exchange, WMMA and the way back; copies that differ, and what is not D's."""
    made = AMD[name]
    bits = layouts.ELEMENT_BITS[made.types.split()[1]]
    a, b = (_held(form, m, axes, whole=bits < 16) for m, axes in (("A", "mk"), ("B", "nk")))
    twice = ("-", 0) in made.a.lanes
    each = 4 if twice else 2  # registers of a lane for one of PTX's B
    steps, words, depth = len(b) // 64, made.a.count * bits // 32 // each, made.a.sizes()["k"]
    out: list[object] = []
    sums: dict[tuple[int, int], Counter[tuple[Named, Named]]] = {}
    for step in range(0, steps, words):
        x: list[list[Named]] = [[] for _ in range(32)]
        y: list[list[Named]] = [[] for _ in range(32)]
        for lane, i, k in product(range(32), range(step, min(step + words, steps)), range(each)):
            x[lane] += b[wave32_column(lane, k, twice), i]
            from_, upper = wave32_row(lane, k, twice)
            y[lane] += a[from_, 2 * i + upper]
        at_b: dict[tuple[int, int], Named] = {}
        at_a: dict[tuple[int, int], Named] = {}
        for held, layout_, axis, found in ((x, made.a, "m", at_b), (y, made.b, "n", at_a)):
            for lane, i, at in layout_.all():
                if i < len(held[lane]) and found.setdefault((at[axis], at["k"]), held[lane][i]) != held[lane][i]:
                    out.append((lane, i, "a copy differs"))
        for lane, register, at in made.d.all():
            pairs = ((at_a[at["n"], k], at_b[at["m"], k]) for k in range(depth) if (at["n"], k) in at_a)
            sums.setdefault((lane, register), Counter()).update(pairs)
    every_k = range(form.layout("A").sizes()["k"])
    for lane, register in product(range(32), range(8)):
        owner, element = wave32_place(lane, register)
        at = form.layout("D").at(owner, element)
        if sums[lane, register] != Counter(((0, at["m"], k), (0, at["n"], k)) for k in every_k):
            out.append((lane, register, sums[lane, register]))
    places = Counter(wave32_place(lane, register) for lane, register in product(range(32), range(8)))
    return out if set(places.values()) == {2} and len(places) == 128 else [places]


_WMMA_FORMS = {
    (form.shape, layouts.ELEMENT_BITS[form.a], form.a.startswith("e"), name): form
    for form in _every_form()
    for name in sorted({instruction(form, gpu, kept) for gpu in RDNA for kept in (False, True)} - {""})
}


@pytest.mark.parametrize("kind", sorted(_WMMA_FORMS), ids=str)
def test_wmma_multiplies_what_it_must(kind: tuple[str, int, bool, str]) -> None:
    assert _wrong_on_wave32(_WMMA_FORMS[kind], kind[3]) == []


@pytest.mark.parametrize("name", ["wmma_f32_16x16x16_f16", "wmma_f32_16x16x16_f16_gfx12"])
@pytest.mark.parametrize("wrong", [1, 2, 4, 8, 16])
def test_a_wrong_exchange_for_wmma_shows(name: str, wrong: int, monkeypatch: pytest.MonkeyPatch) -> None:
    right = matrix_forms.wave32_column
    monkeypatch.setitem(globals(), "wave32_column", lambda lane, k, twice: right(lane ^ (lane & wrong), k, twice))
    same = ("wmma_f32_16x16x16_f16_gfx12", 2), ("wmma_f32_16x16x16_f16", 4), ("wmma_f32_16x16x16_f16", 16)
    found = _wrong_on_wave32(Form("m16n8k16", "f32", "f16", "f16", "f32"), name)
    assert (found == []) == ((name, wrong) in same)  # these bits tell copies apart


def test_the_header_exchanges_for_wmma_what_the_table_says() -> None:
    header = (INCLUDE / "cu2port" / "mma_wave32.hpp").read_text()
    found = dict(re.findall(r"\b(rows|columns) = (\([^=;]*?l [^=;]*?)[,;]", header))
    for lane, k in product(range(32), range(4)):
        rows_, columns = (eval(found[text], {"l": lane}) for text in ("rows", "columns"))
        # the registers were exchanged before: bit 1 of the lane's number is k's, in PTX's layout
        assert wave32_row(lane, k, True)[0] == rows_ & ~2 | k
        assert wave32_column(lane, k, True) == columns + k
    low, high, own = (int(x, 16) for x in re.findall(r"0x([0-9a-f]{8})", header)[:3])
    for lane in range(32):
        other = (lane & 16 ^ 16) | ((high if lane & 8 else low) >> 4 * (lane & 7) & 15)
        assert matrix_forms._ends(lane) == (lane if own >> lane & 1 else other)


def test_what_multiplies_is_told() -> None:
    """Of each `mma`: the GPUs with MFMA and WMMA."""
    told = note("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", False)
    assert told == (
        "by MFMA on gfx942 and gfx950 where both warps of a wavefront are there, by WMMA on gfx1100 and gfx1201, "
        "else by vector instructions"
    )
    assert "WMMA on gfx1201," in note("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", True)
    assert "WMMA" not in note("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", False)
    assert "WMMA on gfx1100 and gfx1201" in note("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", False, AROUND)
    assert "by WMMA on gfx1201, else" in note("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", False)
    assert "WMMA" not in note("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", False)


_SPARSE_BEHIND = "kind::f8f6f4.sp::ordered_metadata"  # as CUTLASS writes it


@pytest.mark.parametrize(
    ("opcode", "why"),
    [
        ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "sparse matrices are not used"),
        (f"mma.sync.aligned.{_SPARSE_BEHIND}.m16n8k64.row.col.f16.e2m1.e4m3.f16", "sparse matrices are not used"),
        ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "quad pair"),
        ("mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64", "round to nearest"),
        ("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", "1 bit"),
        ("mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32", "no elements of 4 bits"),
        ("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32", "signed bytes only"),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "layout of their own"),
    ],
)
def test_why_vector_instructions_multiply_is_told(opcode: str, why: str) -> None:
    told = note(opcode, False)
    assert told.startswith("by vector instructions: ") and why in told
