"""Rows: arithmetic on f32 and f64."""

from __future__ import annotations

from cu2port.ptx.ops import Value
from cu2port.ptx.ops_float import fadd, flushed, saturated
from cu2port.ptx.table import ptx


@ptx(
    "add{.rnd:rn}{.ftz}{.sat}.{t:f32} d, a, b",
    ref="floating-point-instructions-add",
    examples={"add.f32": (((0x3F800000, 0x40000000), 0x40400000),)},
)
@ptx("add{.rnd:rn}.{t:f64} d, a, b", ref="floating-point-instructions-add")
def add(a: Value, b: Value, rnd: str, ftz: bool = False, sat: bool = False) -> Value:
    return saturated(flushed(fadd(flushed(a, ftz), flushed(b, ftz), rnd), ftz), sat)
