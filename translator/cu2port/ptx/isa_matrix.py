"""Rows: `mma`, the product of two matrices that a warp holds together, by the functions of `cu2port/mma.hpp`.

What a product means to the interpreter is the sum of the manual's triple loop, computed exactly and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import copysign, inf, isfinite, isnan, nan
from typing import Any, Protocol

from cu2port.ptx import matrix_layouts, softfloat
from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.matrix_layouts import ELEMENT_BITS, Layout
from cu2port.ptx.ops import U32, Effect, NoMeaningError, Op, Value
from cu2port.ptx.softfloat import FORMATS
from cu2port.ptx.table import ptx

_REF = "warp-level-matrix-instructions-mma"


class Product(Protocol):
    """What a product is of: the types of A and D, and where the elements of each matrix are."""

    @property
    def a(self) -> str: ...
    @property
    def d(self) -> str: ...
    @property
    def suffix(self) -> str: ...
    def layout(self, matrix: str) -> Layout: ...
    def type(self, matrix: str) -> str: ...
    def register(self, matrix: str) -> Type: ...
    def registers(self, matrix: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Form:
    """One form of `mma`: types as PTX names them. `suffix`: how its function differs beside shape and types;
    `orders`: "row" or "col" of A and B, of Volta's m8n8k4 only."""

    shape: str
    d: str
    a: str
    b: str
    c: str
    suffix: str = ""
    orders: tuple[str, str] = ("", "")

    @property
    def function(self) -> str:
        """Its function in mma.hpp."""
        return "_".join(
            word for word in (self.shape, *self.orders, self.d, self.a, self.b, self.c, self.suffix) if word
        )

    def __str__(self) -> str:
        return self.function

    def layout(self, matrix: str) -> Layout:
        """The fragment of "A", "B", "C" or "D"."""
        if self.orders[0]:
            order = {"A": self.orders[0], "B": self.orders[1], "C": self.c, "D": self.d}[matrix]
            return matrix_layouts.quad_pair_fragment("C" if matrix == "D" else matrix, order)
        return matrix_layouts.fragment(self.shape, ELEMENT_BITS[self.a], "C" if matrix == "D" else matrix)

    def type(self, matrix: str) -> str:
        """The type of that matrix's elements."""
        return {"A": self.a, "B": self.b, "C": self.c, "D": self.d}[matrix]

    def register(self, matrix: str) -> Type:
        """The type of its registers."""
        name = self.type(matrix)
        return TYPES[name] if name in ("f32", "f64", "s32") else U32

    def registers(self, matrix: str) -> int:
        """How many a lane has of it."""
        return self.layout(matrix).count * ELEMENT_BITS[self.type(matrix)] // self.register(matrix).bits


def _number(bits: int, name: str) -> float:
    """An element as a float, which holds each of them exactly."""
    if name in ("s32", "s8", "s4"):
        width = ELEMENT_BITS[name]
        return float(bits - (1 << width) if bits >> (width - 1) else bits)
    if name in ("u8", "u4", "b1"):
        return float(bits)
    if name == "e2m1":
        bits >>= 2  # the middle bits of a byte
    elif name == "tf32":
        bits >>= 13
    f = FORMATS[name]
    bits &= (1 << f.bits) - 1
    if softfloat.is_nan(bits, f):
        return nan
    sign, m, e = softfloat.unpack(bits, f)
    size = inf if softfloat.is_inf(bits, f) else float(m) * 2.0**e
    return copysign(size, -1.0 if sign else 1.0)


def _rounded(terms: list[tuple[float, float]], c: float, name: str, mode: str) -> int:
    """The bits of c and the products of the terms, added and rounded to a float format."""
    f = FORMATS[name]
    if not isfinite(c) or not all(isfinite(x) and isfinite(y) for x, y in terms):
        products = [
            x * y if isfinite(x) and isfinite(y) else copysign(1.0, x) * copysign(1.0, y) * inf for x, y in terms
        ]
        wrong = any(isnan(x) or isnan(y) or (0.0 in (x, y) and not isfinite(x + y)) for x, y in terms)
        total = (
            nan if wrong or isnan(c) else sum((p for p in products if not isfinite(p)), c if not isfinite(c) else 0.0)
        )
        return f.canonical if isnan(total) else f.infinity | (f.sign if total < 0 else 0)
    exact = sum((Fraction(x) * Fraction(y) for x, y in terms), Fraction(c))
    if exact == 0:  # what cancels is +0, and rounded down -0; zeros of one sign keep it
        signs = {copysign(1.0, c), *(copysign(1.0, x) * copysign(1.0, y) for x, y in terms)}
        return f.sign if signs == {-1.0} or (mode == "rm" and signs != {1.0}) else 0
    # all denominators are powers of two
    scale = exact.denominator.bit_length() - 1
    return softfloat.rounded(int(exact < 0), abs(exact.numerator), -scale, f, mode)


def _integer(terms: list[tuple[float, float]], c: float, form: Product) -> int:
    if form.a == "b1":
        same = form.suffix.startswith("and")
        total = sum(int(x == y == 1.0) if same else int(x != y) for x, y in terms) + int(c)
    else:
        total = sum(int(x) * int(y) for x, y in terms) + int(c)
    if form.suffix == "satfinite":
        total = min(max(total, -(1 << 31)), (1 << 31) - 1)
    return total & 0xFFFFFFFF


def elements(form: Product, matrix: str, lanes: dict[int, list[int]]) -> dict[tuple[int, ...], int]:
    """The bits of a matrix's elements by (b, m, n, k), from each lane's registers."""
    held, width = form.layout(matrix), ELEMENT_BITS[form.type(matrix)]
    size, out = form.register(matrix).bits, {}
    for lane, element, at in held.all():
        word = lanes[lane][element * width // size] if lane in lanes else 0
        out[tuple(at.get(axis, 0) for axis in "bmnk")] = word >> element * width % size & (1 << width) - 1
    return out


def product_of(form: Product, lanes: dict[int, list[list[int]]]) -> dict[int, list[int]]:
    """D's registers by lane, from each lane's registers of A, B and C."""
    return summed(form, {m: elements(form, m, {lane: x[i] for lane, x in lanes.items()}) for i, m in enumerate("ABC")})


def summed(form: Product, parts: dict[str, dict[tuple[int, ...], int]]) -> dict[int, list[int]]:
    """D's registers by lane, from the bits of the elements of A, B and C by (b, m, n, k). A may lack some."""
    numbers = {m: {at: _number(bits, form.type(m)) for at, bits in part.items()} for m, part in parts.items()}
    held, width, size = form.layout("D"), ELEMENT_BITS[form.d], form.register("D").bits
    depth = range(form.layout("B").sizes()["k"])
    done: dict[tuple[int, ...], int] = {}
    blocks, rows, columns = (range(held.sizes().get(axis, 1)) for axis in "bmn")
    for b, m, n in product(blocks, rows, columns):
        left, right = numbers["A"], numbers["B"]
        terms = [(left[b, m, 0, k], right[b, 0, n, k]) for k in depth if (b, m, 0, k) in left]
        c = numbers["C"][b, m, n, 0]
        mode = form.suffix if form.suffix in ("rz", "rm", "rp") else "rn"
        done[b, m, n] = _integer(terms, c, form) if form.d == "s32" else _rounded(terms, c, form.d, mode)
    out = {lane: [0] * form.registers("D") for lane in range(32)}
    for lane, element, at in held.all():
        bits = done[at.get("b", 0), at["m"], at["n"]]
        out[lane][element * width // size] |= bits << element * width % size
    return out


def _multiply(machine: Any, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    form = v.attr
    assert isinstance(form, Form)
    ends = [form.registers("A"), form.registers("A") + form.registers("B")]
    lanes = {
        lane: [[a[lane] for a in part] for part in (args[: ends[0]], args[ends[0] : ends[1]], args[ends[1] :])]
        for lane in active
    }
    done = product_of(form, lanes)
    return {lane: sum(word << i * v.type.bits for i, word in enumerate(done[lane])) for lane in active}


def call_of(form: Product, function: str, texts: Sequence[str], *more: str) -> str:
    """The call of a function of mma.hpp: the registers of A, B and C as lists, what is left of `texts`, and `more`."""
    rest, groups = list(texts), []
    for matrix in "ABC":
        count = form.registers(matrix)
        groups.append(f"{{{', '.join(rest[:count])}}}")
        rest = rest[count:]
    return f"cu2port::mma::{function}({', '.join((*groups, *rest, *more))})"


def _spell(v: Value, texts: list[str]) -> str:
    assert isinstance(v.attr, Form)
    return call_of(v.attr, v.attr.function, texts)


MMA = Op("mma", lambda v, *a: 0, _spell, effect=Effect.LANES, run=_multiply)  # attr: the form


def _mma(form: Form, a: tuple[Value, ...], b: tuple[Value, ...], c: tuple[Value, ...]) -> Value:
    for matrix, given in (("A", a), ("B", b), ("C", c)):
        count = form.registers(matrix)
        if len(given) != count:
            why = f"{matrix} of {form.shape} in {form.type(matrix)} takes {count} registers of a lane, not {len(given)}"
            raise NoMeaningError(why, "write the statement with as many operands as the manual has")
    type_ = form.register("D").vector(form.registers("D"))
    return Value(MMA, type_, (*a, *b, *c), form, "d")


_HEAD = "mma.sync.aligned"
_F32 = "{d}:f32, {a}:u32, {b}:u32, {c}:f32"
_F16 = "{d}:u32, {a}:u32, {b}:u32, {c}:u32"
_S32 = "{d}:s32, {a}:u32, {b}:u32, {c}:s32"
Registers = tuple[Value, ...]


def _types(d: str, ab: str, c: str) -> dict[str, object]:
    return {"types": (d, ab, ab, c)}


@ptx(
    f"{_HEAD}.{{shape:m16n8k8|m16n8k16}}.row.col.f16.f16.f16.f16 {_F16}",
    ref=_REF,
    fixed=_types("f16", "f16", "f16"),
)
@ptx(
    f"{_HEAD}.{{shape:m16n8k8|m16n8k16}}.row.col.f32.f16.f16.f32 {_F32}",
    ref=_REF,
    fixed=_types("f32", "f16", "f32"),
)
@ptx(
    f"{_HEAD}.{{shape:m16n8k8|m16n8k16}}.row.col.f32.bf16.bf16.f32 {_F32}",
    ref=_REF,
    sm=80,
    fixed=_types("f32", "bf16", "f32"),
)
@ptx(
    f"{_HEAD}.{{shape:m16n8k4|m16n8k8}}.row.col.f32.tf32.tf32.f32 {_F32}",
    ref=_REF,
    sm=80,
    fixed=_types("f32", "tf32", "f32"),
)
def mma(shape: str, types: tuple[str, str, str, str], a: Registers, b: Registers, c: Registers) -> Value:
    return _mma(Form(shape, *types), a, b, c)


_SMALL = "e4m3|e5m2|e3m2|e2m3|e2m1"


@ptx(
    f"{_HEAD}.{{shape:m16n8k16|m16n8k32}}.row.col.f32.{{at:e4m3|e5m2}}.{{bt:e4m3|e5m2}}.f32 {_F32}",
    ref=_REF,
    sm=89,
    fixed={"ct": "f32"},
)
@ptx(
    f"{_HEAD}.{{shape:m16n8k16|m16n8k32}}.row.col.f16.{{at:e4m3|e5m2}}.{{bt:e4m3|e5m2}}.f16 {_F16}",
    ref=_REF,
    sm=89,
    fixed={"ct": "f16"},
)
@ptx(
    f"{_HEAD}.{{shape:m16n8k32}}.row.col.kind::f8f6f4.f32.{{at:{_SMALL}}}.{{bt:{_SMALL}}}.f32 {_F32}",
    ref=_REF,
    sm=120,
    fixed={"ct": "f32"},
)
@ptx(
    f"{_HEAD}.{{shape:m16n8k32}}.row.col.kind::f8f6f4.f16.{{at:{_SMALL}}}.{{bt:{_SMALL}}}.f16 {_F16}",
    ref=_REF,
    sm=120,
    fixed={"ct": "f16"},
)
def mma_small(shape: str, at: object, bt: object, ct: str, a: Registers, b: Registers, c: Registers) -> Value:
    """fp8, and fp6 and fp4 in bytes of their own."""
    return _mma(Form(shape, ct, str(at), str(bt), ct), a, b, c)


@ptx(
    f"{_HEAD}.{{shape:m8n8k4|m16n8k4|m16n8k8|m16n8k16}}.row.col{{.rnd:rn|rz|rm|rp}}.f64.f64.f64.f64 "
    "{d}:f64, {a}:f64, {b}:f64, {c}:f64",
    ref=_REF,
    sm=80,
)
def mma_double(shape: str, rnd: str, a: Registers, b: Registers, c: Registers) -> Value:
    return _mma(Form(shape, "f64", "f64", "f64", "f64", "" if rnd == "rn" else rnd), a, b, c)


@ptx(
    f"{_HEAD}.{{shape:m8n8k16|m16n8k16|m16n8k32}}.row.col{{.satfinite}}.s32.{{at:s8|u8}}.{{bt:s8|u8}}.s32 {_S32}",
    ref=_REF,
    sm=75,
)
@ptx(
    f"{_HEAD}.{{shape:m8n8k32|m16n8k32|m16n8k64}}.row.col{{.satfinite}}.s32.{{at:s4|u4}}.{{bt:s4|u4}}.s32 {_S32}",
    ref=_REF,
    sm=75,
)
def mma_integer(shape: str, at: object, bt: object, satfinite: bool, a: Registers, b: Registers, c: Registers) -> Value:
    return _mma(Form(shape, "s32", str(at), str(bt), "s32", "satfinite" if satfinite else ""), a, b, c)


@ptx(
    f"{_HEAD}.{{shape:m8n8k128|m16n8k128|m16n8k256}}.row.col.s32.b1.b1.s32.{{op:xor|and}}.popc {_S32}",
    ref=_REF,
    sm=75,
)
def mma_bits(shape: str, op: str, a: Registers, b: Registers, c: Registers) -> Value:
    return _mma(Form(shape, "s32", "b1", "b1", "s32", f"{op}_popc"), a, b, c)


_QUADS = f"{_HEAD}.m8n8k4.{{ra:row|col}}.{{rb:row|col}}"


@ptx(f"{_QUADS}.f16.f16.f16.f16 {_F16}", ref=_REF, fixed={"types": ("f16", "f16")})
@ptx(f"{_QUADS}.f32.f16.f16.f32 {_F32}", ref=_REF, fixed={"types": ("f32", "f32")})
@ptx(f"{_QUADS}.f32.f16.f16.f16 {{d}}:f32, {{a}}:u32, {{b}}:u32, {{c}}:u32", ref=_REF, fixed={"types": ("f32", "f16")})
def mma_quads(ra: str, rb: str, types: tuple[str, str], a: Registers, b: Registers, c: Registers) -> Value:
    """Volta's: four products, each by a quad pair."""
    return _mma(Form("m8n8k4", types[0], "f16", "f16", types[1], orders=(ra, rb)), a, b, c)
