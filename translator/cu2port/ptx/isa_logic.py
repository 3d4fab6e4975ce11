"""Rows: logic and shifts."""

from __future__ import annotations

from cu2port.ptx.ir import Type
from cu2port.ptx.ops import PERM, U32, Value, const, make, select
from cu2port.ptx.table import ptx


@ptx(
    "shl.{t:b16|b32|b64} d, a, b:u32",
    ref="logic-and-shift-instructions-shl",
    examples={"shl.b32": (((1, 31), 1 << 31), ((1, 32), 0))},
)
def shl(t: Type, a: Value, b: Value) -> Value:
    return select(b < t.bits, a << b, 0)


@ptx(
    "lop3.b32 d:b32, a:b32, b:b32, c:b32, lut:imm",
    ref="logic-and-shift-instructions-lop3",
    examples={"lop3.b32": (((0xF0, 0xCC, 0xAA, 0xE8), 0xE8),)},
)
def lop3(a: Value, b: Value, c: Value, lut: int) -> Value:
    """Sum of minterms; the commonest tables have their own form."""
    known = {
        0x96: a ^ b ^ c,
        0xE8: (a & b) | (c & (a | b)),
        0xCA: (a & b) | (~a & c),
        0x80: a & b & c,
        0xFE: a | b | c,
        0xF0: a,
        0xCC: b,
        0xAA: c,
        0xC0: a & b,
        0xEA: (a & b) | c,
        0x6A: (a & b) ^ c,
    }
    if lut & 255 in known:
        return known[lut & 255]
    out: Value = const(0, U32)
    for i in range(8):
        if lut >> i & 1:
            out = out | ((a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c))
    return out


@ptx(
    "prmt.b32 d:b32, a:b32, b:b32, c:b32",
    ref="data-movement-and-conversion-instructions-prmt",
    examples={"prmt.b32": (((0x33221100, 0x77665544, 0x0123), 0x00112233), ((0x80, 0, 0x1118), 0xFF))},
)
def prmt(a: Value, b: Value, c: Value) -> Value:
    return make(PERM, U32, a, b, c)
