"""Rows: `mma.sp`, the product of a matrix half of whose elements are zero and not held, by `cu2port/mma_sparse.hpp`.

Metadata names the places of the elements that are held: two bits for each of four halves, bytes or pairs of four bits
in a group of eight bytes or four (tf32: the two halves of the one that is held). The manual shows by figures which
lanes hold it. What is here is what CUTLASS arranges for it (`reorder_meta`, the metadata's iterator and CuTe's
`ELayout`), so the shapes are those that CUTLASS has, and of 16 bits and tf32 those with half as many columns too: their
metadata is one word for two rows, in the lane of the quad that the selector names. Of bytes that has two lanes, and no
text says which of them has which row: refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cu2port.ptx import matrix_layouts
from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.isa_matrix import call_of, elements, summed
from cu2port.ptx.matrix_layouts import ELEMENT_BITS, Layout
from cu2port.ptx.ops import U32, Effect, NoMeaningError, Op, Value
from cu2port.ptx.table import ptx

_REF = "warp-level-matrix-instructions-for-sparse-mma"
Registers = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class SparseForm:
    """One form of `mma.sp`: types as PTX names them."""

    shape: str
    d: str
    a: str
    b: str
    suffix: str = ""

    @property
    def function(self) -> str:
        """Its function in mma_sparse.hpp."""
        words = ("sp", self.shape, self.d, self.a, self.b, self.d, self.suffix)
        return "_".join(word for word in words if word)

    @property
    def halves(self) -> bool:
        """Whether the metadata counts halves of words, not bytes."""
        return ELEMENT_BITS[self.a] >= 16

    @property
    def selectors(self) -> int:
        """How many numbers a selector may have: of lanes of a quad, of two, or of all four."""
        return {2: 4, 4: 2}[self.registers("A")] if self.halves else 1

    def __str__(self) -> str:
        return self.function

    def layout(self, matrix: str) -> Layout:
        """The fragment of "A", as it is held, "B", "C" or "D"."""
        return matrix_layouts.sparse_fragment(self.shape, ELEMENT_BITS[self.a], "C" if matrix == "D" else matrix)

    def type(self, matrix: str) -> str:
        """The type of that matrix's elements."""
        return {"A": self.a, "B": self.b, "C": self.d, "D": self.d}[matrix]

    def register(self, matrix: str) -> Type:
        """The type of its registers."""
        name = self.type(matrix)
        return TYPES[name] if name in ("f32", "s32") else U32

    def registers(self, matrix: str) -> int:
        """How many a lane has of it."""
        return self.layout(matrix).count * ELEMENT_BITS[self.type(matrix)] // 32

    def expanded(
        self, held: dict[tuple[int, ...], int], metadata: dict[int, int], selector: int
    ) -> dict[tuple[int, ...], int]:
        """A's elements where they belong, from those that are held and each lane's metadata. `selector`: which lanes
        of a quad hold it."""
        unit = 16 if self.halves else 8  # bits of what an index counts
        width = ELEMENT_BITS[self.a]
        out: dict[tuple[int, ...], int] = {}
        for (_, m, _, k), bits in held.items():
            word, at = divmod(k * width, 32)  # of the words of a row that are held
            part = at // unit
            if self.halves:
                lane = 4 * (m % 8) + 4 // self.selectors * selector + word // 4
                e = metadata.get(lane, 0) >> 16 * (m // 8) + 4 * (word % 4)
            else:
                e = metadata.get(4 * (m % 8) + 2 * (word // 4) + m // 8, 0) >> 8 * (word % 4)
            index = (e >> 2 * part & 3) + (4 if part >= 2 else 0)
            out[0, m, 0, (64 * word + unit * index + at % unit) // width] = bits
        return out


def _multiply(machine: Any, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    form = v.attr
    assert isinstance(form, SparseForm)
    parts, at = {}, 0
    for matrix in "ABC":
        count = form.registers(matrix)
        lanes = {lane: [a[lane] for a in args[at : at + count]] for lane in active}
        parts[matrix] = elements(form, matrix, lanes)
        at += count
    parts["A"] = form.expanded(parts["A"], args[at], next(iter(args[at + 1].values()), 0))
    done = summed(form, parts)
    return {lane: sum(word << i * v.type.bits for i, word in enumerate(done[lane])) for lane in active}


def _spell(v: Value, texts: list[str]) -> str:
    assert isinstance(v.attr, SparseForm)
    return call_of(v.attr, v.attr.function, texts)


SPARSE_MMA = Op("mma.sp", lambda v, *a: 0, _spell, effect=Effect.LANES, run=_multiply)  # attr: the form


def _mma(form: SparseForm, a: Registers, b: Registers, c: Registers, e: Value, selector: Value) -> Value:
    for matrix, given in (("A", a), ("B", b), ("C", c)):
        count = form.registers(matrix)
        if len(given) != count:
            why = f"{matrix} of {form.shape} in {form.type(matrix)} takes {count} registers of a lane, not {len(given)}"
            raise NoMeaningError(why, "write the statement with as many operands as the manual has")
    number = selector.constant
    if number is not None and number >= form.selectors:
        raise NoMeaningError(f"no lanes are selected by {number} for {form.shape} in {form.a}")
    return Value(SPARSE_MMA, form.register("D").vector(form.registers("D")), (*a, *b, *c, e, selector), form, "d")


_HEAD = "mma.{sp:sp|sp::ordered_metadata}.sync.aligned"
_F32 = "{d}:f32, {a}:u32, {b}:u32, {c}:f32, e:u32, f:u32"
_F16 = "{d}:u32, {a}:u32, {b}:u32, {c}:u32, e:u32, f:u32"


@ptx(
    f"{_HEAD}.{{shape:m16n8k16|m16n8k32}}.row.col.f16.f16.f16.f16 {_F16}", ref=_REF, sm=80, fixed={"t": ("f16", "f16")}
)
@ptx(
    f"{_HEAD}.{{shape:m16n8k16|m16n8k32}}.row.col.f32.f16.f16.f32 {_F32}", ref=_REF, sm=80, fixed={"t": ("f32", "f16")}
)
@ptx(
    f"{_HEAD}.{{shape:m16n8k16|m16n8k32}}.row.col.f32.bf16.bf16.f32 {_F32}",
    ref=_REF,
    sm=80,
    fixed={"t": ("f32", "bf16")},
)
@ptx(
    f"{_HEAD}.{{shape:m16n8k8|m16n8k16}}.row.col.f32.tf32.tf32.f32 {_F32}",
    ref=_REF,
    sm=80,
    fixed={"t": ("f32", "tf32")},
)
def mma_sp(shape: object, t: tuple[str, str], a: Registers, b: Registers, c: Registers, e: Value, f: Value) -> Value:
    d, ab = t
    return _mma(SparseForm(str(shape), d, ab, ab), a, b, c, e, f)


_SMALL = "e4m3|e5m2|e3m2|e2m3|e2m1"
_F8F6F4 = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4"


@ptx(f"{_HEAD}.m16n8k64.row.col.f32.{{at:e4m3|e5m2}}.{{bt:e4m3|e5m2}}.f32 {_F32}", ref=_REF, sm=89, fixed={"d": "f32"})
@ptx(
    f"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.{{at:e4m3|e5m2}}.{{bt:e4m3|e5m2}}.f16 {_F16}",
    ref=_REF,
    sm=120,
    fixed={"d": "f16"},
)
@ptx(f"{_F8F6F4}.f32.{{at:{_SMALL}}}.{{bt:{_SMALL}}}.f32 {_F32}", ref=_REF, sm=120, fixed={"d": "f32"})
@ptx(f"{_F8F6F4}.f16.{{at:{_SMALL}}}.{{bt:{_SMALL}}}.f16 {_F16}", ref=_REF, sm=120, fixed={"d": "f16"})
def mma_sp_small(at: object, bt: object, d: str, a: Registers, b: Registers, c: Registers, e: Value, f: Value) -> Value:
    """fp8, and fp6 and fp4 in bytes of their own."""
    return _mma(SparseForm("m16n8k64", d, str(at), str(bt)), a, b, c, e, f)


_S32 = "{d}:s32, {a}:u32, {b}:u32, {c}:s32, e:u32, f:u32"


@ptx(
    f"{_HEAD}.m16n8k64.row.col{{.satfinite}}.s32.{{at:s8|u8}}.{{bt:s8|u8}}.s32 {_S32}",
    ref=_REF,
    sm=80,
    fixed={"shape": "m16n8k64"},
)
@ptx(
    f"{_HEAD}.m16n8k128.row.col{{.satfinite}}.s32.{{at:s4|u4}}.{{bt:s4|u4}}.s32 {_S32}",
    ref=_REF,
    sm=80,
    fixed={"shape": "m16n8k128"},
)
def mma_sp_integer(
    shape: str, at: object, bt: object, satfinite: bool, a: Registers, b: Registers, c: Registers, e: Value, f: Value
) -> Value:
    return _mma(SparseForm(shape, "s32", str(at), str(bt), "satfinite" if satfinite else ""), a, b, c, e, f)
