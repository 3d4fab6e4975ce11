"""Which matrix instruction of AMD GPUs multiplies for a `mma`, and how lanes exchange what it takes and gives.

`include/cu2port/mma_matrix.hpp` does this; what has no instruction here is multiplied by vector instructions. On CDNA
GPUs an instruction multiplies for both warps of a wavefront: its columns are 8 rows of A of each warp, its rows 8
columns of B of each. Products of one warp's rows and the other's columns are in registers that no lane reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from cu2port.ptx.isa_matrix import Form
from cu2port.ptx.matrix_layouts import AMD, ELEMENT_BITS

CDNA = ("gfx90a", "gfx942", "gfx950")
_SMALL = frozenset({"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"})  # multiplied as f16, which holds each of them
_HALVES = {"f16": "mfma_f32_16x16x16f16", "bf16": "mfma_f32_16x16x16bf16_1k"}
_OTHERS = {"tf32": "mfma_f32_16x16x4f32", "f64": "mfma_f64_16x16x4f64"}


def instruction(form: Form, gpu: str) -> str:
    """The name in `matrix_layouts.AMD` of what multiplies for a form on a GPU; "" where vector instructions do."""
    if gpu not in CDNA or form.orders[0] or form.suffix not in ("", "fast", "satfinite"):
        return ""
    name = "f16" if {form.a, form.b} <= _SMALL else form.a if form.a == form.b else ""
    if name == "s8":
        return "mfma_i32_16x16x16i8" if gpu == "gfx90a" else "mfma_i32_16x16x32_i8"
    if name in _HALVES:  # gfx90a flushes denormals
        return _HALVES[name] if gpu != "gfx90a" or form.suffix == "fast" else ""
    return _OTHERS.get(name, "")


def note(opcode: str, fast: bool) -> str:
    """What a report says of a `mma`: how it is multiplied, and on which GPUs."""
    words = opcode.split(".")
    types = [word for word in words if word in ELEMENT_BITS]
    gpus: list[str] = []
    if "sp" not in words[1] and len(types) == 4:
        suffix = next((w for w in words if w in ("rz", "rm", "rp")), "fast" if fast and types[1][-3:] == "f16" else "")
        orders = ("row", "col") if "m8n8k4" in words and types[1] == "f16" else ("", "")
        form = Form(words[3], types[0], types[1], types[2], types[3], suffix, orders)
        gpus = [gpu for gpu in CDNA if instruction(form, gpu)]
    if not gpus:
        return "by vector instructions: lanes read each other's registers"
    return f"by MFMA on {' and '.join(gpus)} where both warps of a wavefront are there, else by vector instructions"


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
