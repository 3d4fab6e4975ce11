"""Which matrix instruction of AMD GPUs multiplies for a `mma`, and how lanes exchange what it takes and gives.

`include/cu2port/mma_matrix.hpp` and what it includes do this; what has no instruction here is multiplied by vector
instructions. On CDNA GPUs an instruction multiplies for both warps of a wavefront: its columns are 8 rows of A of each
warp, its rows 8 columns of B of each. Products of one warp's rows and the other's columns are in registers that no lane
reads. On RDNA 3 and 4 a wavefront is one warp: the instruction's columns are A's 16 rows, its rows B's 8 columns, each
of them twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from cu2port.ptx.isa_matrix import Form
from cu2port.ptx.matrix_layouts import AMD, ELEMENT_BITS

CDNA = ("gfx90a", "gfx942", "gfx950")
RDNA = ("gfx1100", "gfx1201")  # RDNA 3 and 4
_SMALL = frozenset({"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"})  # multiplied as f16, which holds each of them
_HALVES = {"f16": "mfma_f32_16x16x16f16", "bf16": "mfma_f32_16x16x16bf16_1k"}
_SUFFIXES = frozenset({"rz", "rm", "rp", "satfinite", "xor", "and"})
_SHAPE = re.compile(r"m\d+n\d+k\d+")
_OTHERS = {"tf32": "mfma_f32_16x16x4f32", "f64": "mfma_f64_16x16x4f64"}


# GPU and types of A and B -> what multiplies, from how many registers of B on: fewer take vector instructions as long
_WMMA: dict[tuple[str, str], tuple[str, int]] = {
    ("gfx1100", "f16"): ("wmma_f32_16x16x16_f16", 2),
    ("gfx1100", "bf16"): ("wmma_f32_16x16x16_bf16", 2),
    ("gfx1201", "f16"): ("wmma_f32_16x16x16_f16_gfx12", 2),
    ("gfx1201", "bf16"): ("wmma_f32_16x16x16_bf16_gfx12", 2),
    ("gfx1201", "fp8"): ("wmma_f32_16x16x16_fp8_fp8_gfx12", 1),
    ("gfx1201", "8"): ("wmma_i32_16x16x16_iu8_gfx12", 2),
    ("gfx1201", "4"): ("wmma_i32_16x16x32_iu4_gfx12", 2),
}
_FP8 = frozenset({"e4m3", "e5m2"})  # these WMMA of RDNA 4 takes as they are


def _wmma(form: Form, gpu: str, kept: bool) -> str:
    types = {form.a, form.b}
    steps = form.registers("B")
    name = form.a
    if types <= _FP8 and gpu == "gfx1201":
        name = "fp8"
    elif types <= _SMALL:
        name, steps = "f16", 2 * steps
    elif form.d == "s32":
        name = form.a[1:]  # of either sign
    if (gpu, name) not in _WMMA or not form.shape.startswith("m16") or (gpu, name, form.suffix) == _DOT2:
        return ""
    made, least = _WMMA[gpu, name]
    return made if kept or steps >= least else ""


_DOT2 = ("gfx1100", "f16", "fast")  # v_dot2 is twice as fast as FMA there, as WMMA with half of it in vain


def instruction(form: Form, gpu: str, kept: bool = False) -> str:
    """The name in `matrix_layouts.AMD` of what multiplies for a form on a GPU; "" where vector instructions do.

    `kept`: with its sums in a tile, where each product takes a matrix instruction if its types have one.
    """
    if form.orders[0] or form.suffix not in ("", "fast", "satfinite"):
        return ""
    if gpu in RDNA:
        return _wmma(form, gpu, kept)
    name = "f16" if {form.a, form.b} <= _SMALL else form.a if form.a == form.b else ""
    if name == "s8":
        return "mfma_i32_16x16x16i8" if gpu == "gfx90a" else "mfma_i32_16x16x32_i8"
    if name in _HALVES:  # gfx90a flushes denormals
        return _HALVES[name] if gpu != "gfx90a" or form.suffix == "fast" else ""
    return _OTHERS.get(name, "")


def form_of(opcode: str, fast: bool) -> Form | None:
    """The form of a dense `mma`; None of others."""
    words = opcode.split(".")
    types = [word for word in words if word in ELEMENT_BITS]
    if words[0] != "mma" or len(types) != 4 or any(word.partition("::")[0] == "sp" for word in words):
        return None
    suffix = next((w for w in words if w in _SUFFIXES), "fast" if fast and types[1][-3:] == "f16" else "")
    orders = ("row", "col") if "m8n8k4" in words and types[1] == "f16" else ("", "")
    return Form(next(w for w in words if _SHAPE.fullmatch(w)), types[0], types[1], types[2], types[3], suffix, orders)


AROUND = "the loop around"
ELSEWHERE = "loops of other files that keep them so"


def note(opcode: str, fast: bool, kept: str = "", exchanged: bool = False) -> str:
    """What a report says of a product: how it is multiplied, on which GPUs, and why by vector instructions on all.

    `kept`: where its sums stay in tiles; `exchanged`: each product takes them out and puts them back.
    """
    form = form_of(opcode, fast)
    in_tile = kept == AROUND
    mfma, wmma = ([g for g in gpus if form is not None and instruction(form, g, in_tile)] for gpus in (CDNA, RDNA))
    if not mfma and not wmma:
        return f"by vector instructions: {_why_not(opcode, form)}"
    told = [f"by MFMA on {_all(mfma)} where both warps of a wavefront are there"] if mfma else []
    told += [f"by WMMA on {_all(wmma)}"] if wmma else []
    out = ", ".join([*told, "else by vector instructions"])
    if exchanged:
        return f"{out}; its sums go to and from tiles for sums of several types at each product"
    return f"{out}; its sums stay in the matrix instruction's layout in {kept}" if kept else out


def _why_not(opcode: str, form: Form | None) -> str:
    """Why no matrix instruction multiplies."""
    if opcode.startswith("wmma"):
        return "its fragments have a layout of their own"
    if form is None:
        return "each word of A picks its elements of B; matrix instructions for sparse matrices are not used"
    if form.orders[0]:
        return "each quad pair has 8 x 8 matrices of its own, which fill no matrix instruction that is used"
    if form.suffix in ("rz", "rm", "rp"):
        return "matrix instructions round to nearest"
    if "b1" in (form.a, form.b):
        return "no matrix instruction has elements of 1 bit"
    if {form.a, form.b} & {"s4", "u4"}:
        return "MFMA has no elements of 4 bits, and WMMA is not faster here"
    if {form.a, form.b} & {"s8", "u8"}:
        return "MFMA has signed bytes only, and WMMA is not faster here"
    return "no matrix instruction is faster"


def _all(gpus: list[str]) -> str:
    return ", ".join(gpus[:-1]) + " and " * (len(gpus) > 1) + gpus[-1]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Which lanes of a wavefront a lane reads: for A and for B before the product, for D after it."""

    row: int
    column: int
    result: int


def exchange(name: str, lane: int) -> Exchange:
    """For an instruction of `AMD`. A lane gives D's registers i, or 2 + i where bit 3 of its number is set."""
    made = AMD[name]
    row = made.a.at(lane, 0)["m"]  # a column of B: its bits are told apart by where they are in D
    bits = [bit for axis, bit in (*made.d.elements, *made.d.lanes) if axis == "m"]
    n0, warp, n1, n2 = (row >> bit & 1 for bit in bits)
    group = lane // 16
    return Exchange((lane % 16) * 4 + group, 32 * warp + 4 * (n0 + 2 * n1 + 4 * n2) + group, lane % 4 * 16 + lane // 4)


# --- Sums that stay where the instruction has them -------------------------------------------------------------------


SUMS = {"f32": "float", "s32": "int", "f16": "cu2port::mma::Pairs"}  # what a tile is of, in C++
BITS = "cu2port::mma::Bits"  # of the words of several types


def sums_of(forms: Iterable[Form]) -> str:
    """What a tile is of that each of these may add into."""
    found = {SUMS[form.d] for form in forms}
    return found.pop() if len(found) == 1 else BITS


def is_exchanged(form: Form, sums: str) -> bool:
    """Whether each product takes its sums out of the tile and puts them back."""
    return form.d == "f16" and sums == BITS


def in_a_row(forms: Iterable[Form]) -> int:
    """How many elements of an array are such a tile."""
    return max(form.registers("D") for form in forms)


def keeps(form: Form) -> bool:
    """Whether sums of a form may stay in tiles between products: of 16 rows, as they are, or rounded to f16 or clamped
    by each."""
    kept = form.d == form.c and form.d in SUMS and form.shape.startswith("m16n8")
    return kept and form.suffix in ("", "fast", "satfinite") and any(instruction(form, gpu) for gpu in CDNA)


def kinds(form: Form) -> str:
    """The template arguments that say how a form is multiplied: `Exact, f16, f16`."""
    small = {form.a, form.b} <= _SMALL
    how = "Integers" if form.d == "s32" else "Fast" if form.suffix == "fast" else "Exact"
    space = "cu2port::mma::"
    return ", ".join(space + x for x in (how, "f16" if small else form.a, "f16" if small else form.b))


def where(kinds_: str, condition: str) -> str:
    """The template arguments for products that are there on a condition."""
    how, _, others = kinds_.partition(", ")
    return f"cu2port::mma::Where<{condition}, {how}>, {others}"


def all_kinds(forms: Iterable[Form]) -> str:
    """The template arguments for products of some kinds."""
    return reduce(both_kinds, dict.fromkeys(map(kinds, forms)))


def both_kinds(a: str, b: str) -> str:
    """The template arguments of a tile for products of two kinds."""
    return f"cu2port::mma::Either, cu2port::mma::Kind<{a}>, cu2port::mma::Kind<{b}>"


def kept_from(lane: int) -> int:
    """The lane whose B a lane reads, and whose rows 0 to 7 of A; rows 8 to 15 come from this lane ^ 32."""
    return lane % 8 * 4 + lane // 16 + 4 * (lane & 8)


def kept_place(lane: int, element: int) -> tuple[int, int]:
    """Where an element of a tile is in PTX's layout: the lane of the wavefront and the register."""
    row = lane % 16 ^ (8 if lane >= 32 else 0)
    column = lane // 16 % 2 * 4 + element
    return lane // 32 * 32 + row % 8 * 4 + column // 2, row // 8 * 2 + column % 2


# --- A wavefront of one warp -----------------------------------------------------------------------------------------


def _ends(lane: int) -> int:
    """Bits 0 and 4 of a lane's number change places."""
    return lane & 14 | lane >> 4 & 1 | (lane & 1) << 4


def wave32_row(lane: int, k: int, twice: bool) -> tuple[int, int]:
    """The lane that has register k of a row of A for a lane of WMMA, and whether of rows 8 to 15.

    `twice`: each half of the wavefront has all of A and B, as on RDNA 3.
    """
    from_ = lane & 12 | (lane & 1) << 4 | k if twice else _ends(lane) & ~2 | k << 1
    return from_, lane >> 1 & 1


def wave32_column(lane: int, k: int, twice: bool) -> int:
    """The same for a column of B."""
    return (lane & 8) >> 1 | (lane & 3) << 3 | k if twice else _ends(lane) & ~2 | k << 1


def wave32_place(lane: int, register: int) -> tuple[int, int]:
    """Where a register of D of WMMA is in PTX's layout: the lane and the register. Two are there twice each."""
    return _ends(lane) & ~2 | (register & 1) << 1, register >> 2 | lane & 2
