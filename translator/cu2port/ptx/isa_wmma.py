"""Rows: `wmma`, matrices of a warp that are loaded, multiplied and stored whole, by functions of `cu2port/wmma.hpp`.

PTX says of a fragment only how many registers it has. Its elements are where wmma.hpp has them: in the layout of `mma`,
but that neighbours in k of a lane are neighbours in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cu2port.ptx import matrix_layouts
from cu2port.ptx.interp import Machine
from cu2port.ptx.ir import TYPES, Type
from cu2port.ptx.isa_matrix import product_of
from cu2port.ptx.isa_memory import cxx_space
from cu2port.ptx.matrix_layouts import ELEMENT_BITS, Layout
from cu2port.ptx.ops import U32, VOID, Effect, NoMeaningError, Op, Value, const
from cu2port.ptx.printer import cxx_type
from cu2port.ptx.table import ptx

_REF = "warp-level-matrix-instructions-wmma"
_WMMA = "cu2port::wmma::"
#: C++ types of elements
_CXX = {
    "f16": "__half",
    "bf16": "__hip_bfloat16",
    "tf32": f"{_WMMA}precision::tf32",
    "f32": "float",
    "f64": "double",
    "s32": "int",
    "s8": "signed char",
    "u8": "unsigned char",
    **{t: f"{_WMMA}experimental::precision::{t}" for t in ("s4", "u4", "b1")},
}


def _bits(axis: str, *numbers: int) -> str:
    return " ".join(f"{axis}{n}" for n in numbers)


def layout(m: int, n: int, k: int, bits: int, matrix: str) -> Layout:
    """The fragment of "A", "B" or "C" of a shape; `bits` are those of an element of A and B."""
    swapped = n > 16
    left, right = ("n", "m") if swapped else ("m", "n")
    tall, wide = (n, m) if swapped else (m, n)
    in_word = max(32 // bits, 1)
    first, steps = in_word.bit_length() - 1, (k // (4 * in_word)).bit_length() - 1
    word, step = range(first), range(first, first + steps)
    quad = _bits("k", first + steps, first + steps + 1)
    rows = range(3, tall.bit_length() - 1)  # beyond the first eight
    columns = range(3, wide.bit_length() - 1)
    if matrix == "C":
        text = f"{right}0 {_bits(left, *rows[:1])} {_bits(right, *columns)} {_bits(left, *rows[1:])}"
        return matrix_layouts.layout(f"{text} | {_bits(right, 1, 2)} {_bits(left, 0, 1, 2)}")
    if (matrix == "A") != swapped:
        text = f"{_bits('k', *word)} {_bits(left, *rows[:1])} {_bits('k', *step)} {_bits(left, *rows[1:])}"
        return matrix_layouts.layout(f"{text} | {quad} {_bits(left, 0, 1, 2)}")
    text = f"{_bits('k', *word)} {_bits('k', *step)} {_bits(right, *columns)}"
    return matrix_layouts.layout(f"{text} | {quad} {_bits(right, 0, 1, 2)}")


@dataclass(frozen=True, slots=True)
class Form:
    """A shape with the types of A and B (`ab`), C and D, as PTX names them; `order` is "row" or "col" in memory."""

    shape: str
    ab: str
    c: str = ""
    d: str = ""
    suffix: str = ""
    matrix: str = ""  # of a load or store
    order: str = ""
    space: str = ""

    @property
    def a(self) -> str:
        return self.ab

    @property
    def size(self) -> tuple[int, int, int]:
        """M, N and K."""
        m, rest = self.shape[1:].split("n")
        n, k = rest.split("k")
        return int(m), int(n), int(k)

    def layout(self, matrix: str) -> Layout:
        """The fragment of "A", "B", "C" or "D"."""
        return layout(*self.size, ELEMENT_BITS[self.ab], "C" if matrix == "D" else matrix)

    def type(self, matrix: str) -> str:
        """The type of that matrix's elements."""
        return {"A": self.ab, "B": self.ab, "C": self.c, "D": self.d}[matrix]

    def register(self, matrix: str) -> Type:
        """The type of its registers."""
        name = self.type(matrix)
        return TYPES[name] if name in ("f32", "f64", "s32") else U32

    def registers(self, matrix: str) -> int:
        """How many a lane has of it in PTX. Those of f16 are as many for every shape, and some are not used."""
        name = self.type(matrix)
        if name == "f16" and matrix in "AB":
            return 8
        return self.layout(matrix).count * ELEMENT_BITS[name] // self.register(matrix).bits

    def vector(self, matrix: str) -> Type:
        """The type of all its registers."""
        return self.register(matrix).vector(self.registers(matrix))

    def fragment(self, matrix: str) -> str:
        """Its type in wmma.hpp."""
        use = {"A": "matrix_a", "B": "matrix_b"}.get(matrix, "accumulator")
        sizes = ", ".join(map(str, self.size))
        order = f", {_WMMA}{self.order}_major" if matrix in "AB" else ""
        return f"{_WMMA}fragment<{_WMMA}{use}, {sizes}, {_CXX[self.type(matrix)]}{order}>"

    def __str__(self) -> str:
        parts = (self.shape, self.d, self.ab, self.c, self.suffix, self.matrix, self.order, self.space)
        return ".".join(p for p in parts if p)


def _form(v: Value) -> Form:
    assert isinstance(v.attr, Form)
    return v.attr


def _places(form: Form, stride: int) -> Iterator[tuple[int, int, int, int]]:
    """Of each element that a lane holds: the lane, its place in the registers and in memory in bits, its size."""
    matrix, held = form.matrix, form.layout(form.matrix)
    width = ELEMENT_BITS[form.type(matrix)]
    row, column = {"A": ("m", "k"), "B": ("k", "n")}.get(matrix, ("m", "n"))
    for lane, element, at in held.all():
        along, across = (at.get(row, 0), at.get(column, 0))[:: 1 if form.order == "row" else -1]
        yield lane, element * width, (along * stride + across) * width, width


def _load(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    form, out = _form(v), dict.fromkeys(active, 0)
    stride = args[1][active[0]]
    for lane, held, at, width in _places(form, stride):
        if lane in out:
            bits = machine.read(form.space, args[0][lane] + at // 8, max(width // 8, 1)) >> at % 8
            out[lane] |= (bits & (1 << width) - 1) << held
    return out


def _store(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    form, size = _form(v), _form(v).register("D").bits
    for lane, held, at, width in _places(form, args[1][active[0]]):
        if lane in active:
            word = args[2 + held // size][lane] >> held % size & (1 << width) - 1
            machine.write(form.space, args[0][lane] + at // 8, width // 8, word)
    return dict.fromkeys(active, 0)


def _multiply(machine: Machine, v: Value, active: tuple[int, ...], args: list[dict[int, int]]) -> dict[int, int]:
    form, lanes = _form(v), {}
    ends = [form.registers("A"), form.registers("A") + form.registers("B")]
    for lane in active:
        parts = args[: ends[0]], args[ends[0] : ends[1]], args[ends[1] :]
        lanes[lane] = [[a[lane] for a in part] for part in parts]
    done = product_of(form, lanes)
    return {lane: sum(word << i * v.type.bits for i, word in enumerate(done[lane])) for lane in active}


def _joined(form: Form, matrix: str, texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{cxx_type(form.vector(matrix))}{{{', '.join(texts)}}}"


def _memory(form: Form) -> str:
    return f", {_WMMA}mem_{form.order}_major" if form.matrix in "CD" else ""


def _spell_load(v: Value, texts: list[str]) -> str:
    form = _form(v)
    kind = f"{form.fragment(form.matrix)}, {cxx_type(v.type)}"
    return f"{_WMMA}load{cxx_space(form.space)}<{kind}>({texts[0]}, {texts[1]}{_memory(form)})"


def _spell_store(v: Value, texts: list[str]) -> str:
    form = _form(v)
    words = _joined(form, "D", texts[2:])
    return f"{_WMMA}store{cxx_space(form.space)}<{form.fragment('D')}>({texts[0]}, {words}, {texts[1]}{_memory(form)})"


def _spell_multiply(v: Value, texts: list[str]) -> str:
    form = _form(v)
    ends = [form.registers("A"), form.registers("A") + form.registers("B")]
    given = [_joined(form, m, t) for m, t in zip("ABC", (texts[: ends[0]], texts[ends[0] : ends[1]], texts[ends[1] :]))]  # noqa: B905
    types = ", ".join((_CXX[form.ab], *map(str, form.size), _CXX[form.d], _CXX[form.c], cxx_type(v.type)))
    how = {"xor_popc": "mma::Xor, ", "and_popc": "mma::And, "}.get(form.suffix, "")
    if form.suffix in ("rz", "rm", "rp"):
        how = f"mma::Rounded<cu2port::ptx::rounding::{form.suffix}>, "
    name = "multiply_bits" if how else "multiply"
    how = f"cu2port::{how}" if how else ""
    rest = ", true" if form.suffix == "satfinite" else ""
    return f"{_WMMA}{name}<{how}{types}>({', '.join(given)}{rest})"


LOAD = Op("wmma_load", lambda v, *a: 0, _spell_load, effect=Effect.LANES, run=_load, address=True)
STORE = Op("wmma_store", lambda v, *a: 0, _spell_store, effect=Effect.WRITE, run=_store, address=True)
MULTIPLY = Op("wmma_mma", lambda v, *a: 0, _spell_multiply, effect=Effect.LANES, run=_multiply)


def _counted(form: Form, matrix: str, given: int) -> None:
    if given != form.registers(matrix):
        why = f"{matrix} of {form.shape} in {form.type(matrix)} has {form.registers(matrix)} registers, not {given}"
        raise NoMeaningError(why, "write the statement with as many operands as the manual has")


def _stride(form: Form, c: Value | None) -> Value:
    """Elements from one row or column to the next; if none are given, as many as one has."""
    if c is not None:
        return c
    m, n, k = form.size
    row, column = {"A": (m, k), "B": (k, n)}.get(form.matrix, (m, n))
    return const(column if form.order == "row" else row, U32)


_SHAPES = "{shape:m16n16k16|m32n8k16|m8n32k16}"
_SPACE = "{.space:global|shared|shared::cta}"
_HEAD = "wmma.load.{matrix:a|b}.sync.aligned.{order:row|col}"
_ORDERS = "{ra:row|col}.{rb:row|col}"
Registers = tuple[Value, ...]


@ptx(f"{_HEAD}.{_SHAPES}{_SPACE}.{{ab:f16|bf16|s8|u8}} {{d}}:u32, [a], ?c:u32", ref=_REF + "-load")
@ptx(f"{_HEAD}.{{shape:m16n16k8}}{_SPACE}.{{ab:tf32}} {{d}}:u32, [a], ?c:u32", ref=_REF + "-load", sm=80)
@ptx(f"{_HEAD}.{{shape:m8n8k4}}{_SPACE}.{{ab:f64}} {{d}}:f64, [a], ?c:u32", ref=_REF + "-load", sm=80)
@ptx(f"{_HEAD}.{{shape:m8n8k32}}{_SPACE}.{{ab:s4|u4}} {{d}}:u32, [a], ?c:u32", ref=_REF + "-load", sm=75)
@ptx(f"{_HEAD}.{{shape:m8n8k128}}{_SPACE}.{{ab:b1}} {{d}}:u32, [a], ?c:u32", ref=_REF + "-load", sm=75)
def wmma_load(matrix: str, order: str, shape: str, space: str, ab: object, a: Value, c: Value | None, n: int) -> Value:
    form = Form(shape, str(ab), matrix=matrix.upper(), order=order, space=space.partition(":")[0])
    if ELEMENT_BITS[form.ab] < 8 and (matrix, order) not in (("a", "row"), ("b", "col")):
        raise NoMeaningError("elements of less than a byte that are not neighbours in k")
    _counted(form, form.matrix, n)
    return Value(LOAD, form.vector(form.matrix), (a, _stride(form, c)), form, "fragment")


#: the type of A and B decides nothing but how many elements C has, which the shape tells
_OF_SHAPE = {"m16n16k8": "tf32", "m8n8k4": "f64", "m8n8k32": "s4", "m8n8k128": "b1"}
_LOAD_C = "wmma.load.c.sync.aligned.{order:row|col}"
_STORE = "wmma.store.d.sync.aligned.{order:row|col}"


@ptx(f"{_LOAD_C}.{_SHAPES}{_SPACE}.{{t:f32|s32}} {{d}}, [a], ?c:u32", ref=_REF + "-load")
@ptx(f"{_LOAD_C}.{{shape:m16n16k8}}{_SPACE}.{{t:f32}} {{d}}, [a], ?c:u32", ref=_REF + "-load", sm=80)
@ptx(f"{_LOAD_C}.{{shape:m8n8k4}}{_SPACE}.{{t:f64}} {{d}}, [a], ?c:u32", ref=_REF + "-load", sm=80)
@ptx(f"{_LOAD_C}.{{shape:m8n8k32|m8n8k128}}{_SPACE}.{{t:f32|s32}} {{d}}, [a], ?c:u32", ref=_REF + "-load", sm=75)
@ptx(f"{_LOAD_C}.{_SHAPES}{_SPACE}.{{ct:f16}} {{d}}:u32, [a], ?c:u32", ref=_REF + "-load")
def wmma_load_c(
    order: str, shape: str, space: str, a: Value, c: Value | None, n: int, t: Type | None = None, ct: object = ""
) -> Value:
    name = str(t or ct)
    form = Form(shape, _OF_SHAPE.get(shape, "f16"), name, name, "", "C", order, space.partition(":")[0])
    _counted(form, "C", n)
    return Value(LOAD, form.vector("C"), (a, _stride(form, c)), form, "fragment")


@ptx(f"{_STORE}.{_SHAPES}{_SPACE}.{{t:f32|s32}} [a], {{b}}, ?c:u32", ref=_REF + "-store")
@ptx(f"{_STORE}.{{shape:m16n16k8}}{_SPACE}.{{t:f32}} [a], {{b}}, ?c:u32", ref=_REF + "-store", sm=80)
@ptx(f"{_STORE}.{{shape:m8n8k4}}{_SPACE}.{{t:f64}} [a], {{b}}, ?c:u32", ref=_REF + "-store", sm=80)
@ptx(f"{_STORE}.{{shape:m8n8k32|m8n8k128}}{_SPACE}.{{t:f32|s32}} [a], {{b}}, ?c:u32", ref=_REF + "-store", sm=75)
@ptx(f"{_STORE}.{_SHAPES}{_SPACE}.{{ct:f16}} [a], {{b}}:u32, ?c:u32", ref=_REF + "-store")
def wmma_store(
    order: str, shape: str, space: str, a: Value, b: Registers, c: Value | None, t: Type | None = None, ct: object = ""
) -> Value:
    name = str(t or ct)
    form = Form(shape, _OF_SHAPE.get(shape, "f16"), name, name, "", "D", order, space.partition(":")[0])
    _counted(form, "D", len(b))
    return Value(STORE, VOID, (a, _stride(form, c), *b), form)


def _product(form: Form, a: Registers, b: Registers, c: Registers) -> Value:
    for matrix, given in (("A", a), ("B", b), ("C", c)):
        _counted(form, matrix, len(given))
    return Value(MULTIPLY, form.vector("D"), (*a, *b, *c), form, "d")


_MMA = f"wmma.mma.sync.aligned.{_ORDERS}"
_BY_K = "wmma.mma.sync.aligned.row.col"  # elements of less than a byte are neighbours in k


def _registers(d: str, c: str) -> str:
    return f"{{d}}:{d}, {{a}}:u32, {{b}}:u32, {{c}}:{c}"


@ptx(
    f"{_MMA}.{_SHAPES}.f32.f32{{.satfinite}} {_registers('f32', 'f32')}",
    ref=_REF + "-mma",
    fixed={"dc": ("f32", "f32")},
)
@ptx(
    f"{_MMA}.{_SHAPES}.f32.f16{{.satfinite}} {_registers('f32', 'u32')}",
    ref=_REF + "-mma",
    fixed={"dc": ("f32", "f16")},
)
@ptx(
    f"{_MMA}.{_SHAPES}.f16.f32{{.satfinite}} {_registers('u32', 'f32')}",
    ref=_REF + "-mma",
    fixed={"dc": ("f16", "f32")},
)
@ptx(
    f"{_MMA}.{_SHAPES}.f16.f16{{.satfinite}} {_registers('u32', 'u32')}",
    ref=_REF + "-mma",
    fixed={"dc": ("f16", "f16")},
)
def wmma_half(shape: str, satfinite: bool, dc: tuple[str, str], a: Registers, b: Registers, c: Registers) -> Value:
    """Of halves; what an element is in memory does not change a fragment."""
    if satfinite:
        raise NoMeaningError("`.satfinite` of floats, which PTX has not had since sm_70", "clamp the result")
    return _product(Form(shape, "f16", dc[1], dc[0]), a, b, c)


@ptx(f"{_MMA}.{_SHAPES}.f32.{{ab:bf16}}.bf16.f32 {_registers('f32', 'f32')}", ref=_REF + "-mma", sm=80)
@ptx(f"{_MMA}.{{shape:m16n16k8}}.f32.{{ab:tf32}}.tf32.f32 {_registers('f32', 'f32')}", ref=_REF + "-mma", sm=80)
def wmma_float(shape: str, ab: object, a: Registers, b: Registers, c: Registers) -> Value:
    return _product(Form(shape, str(ab), "f32", "f32"), a, b, c)


@ptx(
    f"{_MMA}.m8n8k4{{.rnd:rn|rz|rm|rp}}.f64.f64.f64.f64 {{d}}:f64, {{a}}:f64, {{b}}:f64, {{c}}:f64",
    ref=_REF + "-mma",
    sm=80,
)
def wmma_double(rnd: str, a: Registers, b: Registers, c: Registers) -> Value:
    return _product(Form("m8n8k4", "f64", "f64", "f64", "" if rnd == "rn" else rnd), a, b, c)


@ptx(
    f"{_MMA}.{_SHAPES}.s32.{{ab:s8|u8}}.{{bt:s8|u8}}.s32{{.satfinite}} {_registers('s32', 's32')}",
    ref=_REF + "-mma",
    sm=72,
)
@ptx(
    f"{_BY_K}.{{shape:m8n8k32}}.s32.{{ab:s4|u4}}.{{bt:s4|u4}}.s32{{.satfinite}} {_registers('s32', 's32')}",
    ref=_REF + "-mma",
    sm=75,
)
def wmma_integer(
    shape: str, ab: object, bt: object, satfinite: bool, a: Registers, b: Registers, c: Registers
) -> Value:
    if ab != bt:
        raise NoMeaningError("A and B of different types")
    return _product(Form(shape, str(ab), "s32", "s32", "satfinite" if satfinite else ""), a, b, c)


@ptx(
    f"wmma.mma.{{op:xor|and}}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {_registers('s32', 's32')}",
    ref=_REF + "-mma",
    sm=75,
)
def wmma_bits(op: str, a: Registers, b: Registers, c: Registers) -> Value:
    return _product(Form("m8n8k128", "b1", "s32", "s32", f"{op}_popc"), a, b, c)
