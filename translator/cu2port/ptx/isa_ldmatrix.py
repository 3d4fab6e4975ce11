"""Rows: matrices between shared memory and the lanes of a warp.

A matrix is 8 or 16 rows of 16 bytes, and each row's address is another lane's operand. `_SHAPES` says which elements of
it each lane holds, as the manual's figures do; both directions read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cu2port.ptx.interp import Machine
from cu2port.ptx.ir import Type
from cu2port.ptx.isa_warp import Args, Lanes
from cu2port.ptx.ops import U32, VOID, Effect, NoMeaningError, Op, Value
from cu2port.ptx.printer import cxx_type
from cu2port.ptx.table import ptx

_REF = "warp-level-matrix-instructions-"
_NUM = "{num:x1|x2|x4}"
_SPACE = "{.space:shared|shared::cta}"
_PACKED = "b8x16.{packed:b4x16_p64|b6x16_p32}"


@dataclass(frozen=True)
class Shape:
    """Where the elements of a matrix are in shared memory and in the lanes.

    `rows`: of 16 bytes, each with an address of its own. `words`: of 32 bits that a lane has of it. `bits`: of an
    element in memory; `held`: in a word. `place(lane, word, element)`: row and column of an element of a lane's word.
    """

    rows: int
    words: int
    bits: int
    held: int
    place: Callable[[int, int, int], tuple[int, int]]


def _by_rows(count: int) -> Callable[[int, int, int], tuple[int, int]]:
    """Four lanes share a row, `count` neighbours of it each."""
    return lambda lane, word, i: (lane // 4, count * (lane % 4) + i)


def _by_columns(count: int) -> Callable[[int, int, int], tuple[int, int]]:
    """Four lanes share a column, `count` rows of it each; the second word's column is 8 further."""
    return lambda lane, word, i: (count * (lane % 4) + i, lane // 4 + 8 * word)


#: by the modifiers that tell; what `stmatrix` calls m16n8 is what is transposed in memory: 8 rows of 16 bytes
_SHAPES: Mapping[str, Shape] = {
    "m8n8_b16": Shape(8, 1, 16, 16, _by_rows(2)),
    "m8n8_trans_b16": Shape(8, 1, 16, 16, _by_columns(2)),
    "m8n16_b4x16_p64": Shape(8, 1, 4, 8, _by_rows(4)),
    "m8n16_b6x16_p32": Shape(8, 1, 6, 8, _by_rows(4)),
    "m16n16_trans_b8": Shape(16, 2, 8, 8, _by_columns(4)),
    "m16n16_trans_b4x16_p64": Shape(16, 2, 4, 8, _by_columns(4)),
    "m16n16_trans_b6x16_p32": Shape(16, 2, 6, 8, _by_columns(4)),
    "m16n8_trans_b8": Shape(8, 1, 8, 8, lambda lane, word, i: (2 * (lane % 4) + i % 2, lane // 4 + 8 * (i // 2))),
}


@dataclass(frozen=True)
class Matrices:
    """What an instruction moves: `count` matrices of a shape."""

    shape: str
    count: int

    def elements(self, lane: int) -> Iterator[tuple[int, int, int, int]]:
        """Of each element of a lane: its word, its first bit there, the lane with its row's address, its column."""
        shape = _SHAPES[self.shape]
        for matrix in range(self.count):
            for word in range(shape.words):
                for i in range(32 // shape.held):
                    row, column = shape.place(lane, word, i)
                    yield shape.words * matrix + word, shape.held * i, shape.rows * matrix + row, column

    def __str__(self) -> str:
        return f"{self.shape} x{self.count}"


def _moved(v: Value) -> Matrices:
    assert isinstance(v.attr, Matrices)
    return v.attr


def _load(machine: Machine, v: Value, active: Lanes, args: Args) -> dict[int, int]:
    moved = _moved(v)
    bits = _SHAPES[moved.shape].bits
    out = {}
    for lane in active:
        held = 0
        for word, shift, source, column in moved.elements(lane):
            first = column * bits
            pair = machine.read("shared", args[0][source] + first // 8, 1 + (first % 8 + bits > 8) + (bits > 8))
            held |= (pair >> first % 8 & (1 << bits) - 1) << 32 * word + shift
        out[lane] = held
    return out


def _store(machine: Machine, v: Value, active: Lanes, args: Args) -> dict[int, int]:
    moved = _moved(v)
    bits = _SHAPES[moved.shape].bits
    for lane in active:
        for word, shift, target, column in moved.elements(lane):
            value = args[1 + word][lane] >> shift & (1 << bits) - 1
            machine.write("shared", args[0][target] + column * bits // 8, bits // 8, value)
    return dict.fromkeys(active, 0)


def _transpose(machine: Any, v: Value, active: Lanes, args: Args) -> dict[int, int]:
    held = {}
    for lane in active:
        for i in range(2):
            row, column = _SHAPES["m8n8_b16"].place(lane, 0, i)
            held[column, row] = args[0][lane] >> 16 * i & 0xFFFF
    return {lane: sum(held[_SHAPES["m8n8_b16"].place(lane, 0, i)] << 16 * i for i in range(2)) for lane in active}


def _words(n: int) -> Type:
    return U32.vector(n)


def _spell_load(v: Value, texts: list[str]) -> str:
    return f"cu2port::ptx::ldmatrix_{_moved(v).shape}<{cxx_type(v.type)}>({texts[0]})"


def _spell_store(v: Value, texts: list[str]) -> str:
    words = texts[1] if len(texts) == 2 else f"{cxx_type(_words(len(texts) - 1))}{{{', '.join(texts[1:])}}}"
    return f"cu2port::ptx::stmatrix_{_moved(v).shape}<{cxx_type(_words(len(texts) - 1))}>({texts[0]}, {words})"


LOAD_MATRIX = Op("load_matrix", lambda v, *a: 0, _spell_load, effect=Effect.LANES, run=_load, address=True)
STORE_MATRIX = Op("store_matrix", lambda v, *a: 0, _spell_store, effect=Effect.WRITE, run=_store, address=True)
TRANSPOSE = Op(
    "transpose", lambda v, a: 0, "cu2port::ptx::movmatrix_m8n8_trans_b16({0})", effect=Effect.LANES, run=_transpose
)


def _name(shape: str, trans: bool, type_: str) -> str:
    return "_".join((shape, *(("trans",) if trans else ()), type_))


def _loaded(shape: str, num: str, a: Value, n: int) -> Value:
    words = int(num[1:]) * _SHAPES[shape].words
    if n != words:
        raise NoMeaningError(f"{n} registers, where it has {words} results")
    return Value(LOAD_MATRIX, _words(words), (a,), Matrices(shape, int(num[1:])))


@ptx(f"ldmatrix.sync.aligned.m8n8.{_NUM}{{.trans}}{_SPACE}.b16 {{d}}:u32, [a]", ref=_REF + "ldmatrix", sm=75)
def ldmatrix(a: Value, num: str, trans: bool, n: int) -> Value:
    return _loaded(_name("m8n8", trans, "b16"), num, a, n)


@ptx(f"ldmatrix.sync.aligned.m8n16.{_NUM}{_SPACE}.{_PACKED} {{d}}:u32, [a]", ref=_REF + "ldmatrix", sm=100)
def ldmatrix_packed(a: Value, num: str, packed: str, n: int) -> Value:
    """Elements of 4 or 6 bits, with zeros above them in a byte each."""
    return _loaded(_name("m8n16", False, packed), num, a, n)


@ptx(f"ldmatrix.sync.aligned.m16n16.{{num:x1|x2}}.trans{_SPACE}.b8 {{d}}:u32, [a]", ref=_REF + "ldmatrix", sm=100)
def ldmatrix_bytes(a: Value, num: str, n: int) -> Value:
    return _loaded(_name("m16n16", True, "b8"), num, a, n)


@ptx(
    f"ldmatrix.sync.aligned.m16n16.{{num:x1|x2}}.trans{_SPACE}.{_PACKED} {{d}}:u32, [a]",
    ref=_REF + "ldmatrix",
    sm=100,
)
def ldmatrix_packed_trans(a: Value, num: str, packed: str, n: int) -> Value:
    return _loaded(_name("m16n16", True, packed), num, a, n)


def _stored(shape: str, num: str, a: Value, b: tuple[Value, ...]) -> Value:
    if len(b) != int(num[1:]):
        raise NoMeaningError(f"{len(b)} registers, where it has {num[1:]} operands")
    return Value(STORE_MATRIX, VOID, (a, *b), Matrices(shape, len(b)))


@ptx(f"stmatrix.sync.aligned.m8n8.{_NUM}{{.trans}}{_SPACE}.b16 [a], {{b}}:u32", ref=_REF + "stmatrix", sm=90)
def stmatrix(a: Value, b: tuple[Value, ...], num: str, trans: bool) -> Value:
    return _stored(_name("m8n8", trans, "b16"), num, a, b)


@ptx(f"stmatrix.sync.aligned.m16n8.{_NUM}.trans{_SPACE}.b8 [a], {{b}}:u32", ref=_REF + "stmatrix", sm=100)
def stmatrix_bytes(a: Value, b: tuple[Value, ...], num: str) -> Value:
    return _stored(_name("m16n8", True, "b8"), num, a, b)


@ptx("movmatrix.sync.aligned.m8n8.trans.b16 d:u32, a:u32", ref=_REF + "movmatrix", sm=75)
def movmatrix(a: Value) -> Value:
    return Value(TRANSPOSE, U32, (a,))
