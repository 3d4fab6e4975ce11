"""Rows: comparison and selection."""

from __future__ import annotations

from cu2port.ptx.ops import Value, eq, ne, select, unsigned
from cu2port.ptx.table import ptx

TYPES = "t:b16|b32|b64|u16|u32|u64|s16|s32|s64"


def compare(a: Value, b: Value, cmp: str) -> Value:
    """The predicate `a cmp b` on integers; lo, ls, hi, hs compare unsigned."""
    if cmp in ("lo", "ls", "hi", "hs"):
        a, b = unsigned(a), unsigned(b)
        cmp = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[cmp]
    if cmp == "eq":
        return eq(a, b)
    if cmp == "ne":
        return ne(a, b)
    return {"lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[cmp]


@ptx(
    "setp.{cmp:eq|ne|lt|le|gt|ge|lo|ls|hi|hs}.{" + TYPES + "} p|q, a, b",
    ref="comparison-and-selection-instructions-setp",
    examples={"setp.lt.s32": (((0xFFFFFFFF, 0), (1, 0)),)},
)
def setp(a: Value, b: Value, cmp: str) -> tuple[Value, Value]:
    p = compare(a, b, cmp)
    return p, ~p


@ptx(
    "selp.{" + TYPES + "|f32|f64} d, a, b, c:pred",
    ref="comparison-and-selection-instructions-selp",
    examples={"selp.b32": (((1, 2, 1), 1), ((1, 2, 0), 2))},
)
def selp(a: Value, b: Value, c: Value) -> Value:
    return select(c, a, b)
