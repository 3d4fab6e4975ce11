"""Rows: moves between registers."""

from __future__ import annotations

from cu2port.ptx.ops import Value
from cu2port.ptx.table import ptx


@ptx(
    "mov.{t:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64|pred} d, a",
    ref="data-movement-and-conversion-instructions-mov",
    examples={"mov.u32": (((5,), 5),)},
)
def mov(a: Value) -> Value:
    return a
