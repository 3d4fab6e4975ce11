"""Constant expressions: C's operators on 64-bit integers, signed unless an operand is unsigned; arithmetic on
doubles."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from cu2port.ptx.ir import TYPES, Const

_LEVELS = (
    ("*", "/", "%"),
    ("+", "-"),
    ("<<", ">>"),
    ("<", "<=", ">", ">="),
    ("==", "!="),
    ("&",),
    ("^",),
    ("|",),
    ("&&",),
    ("||",),
)
_MASK = (1 << 64) - 1


def _integer(value: int, kind: str) -> Const:
    value &= _MASK
    return Const(value if kind == "u" or value >> 63 == 0 else value - (1 << 64), kind)


def double(c: Const) -> float:
    """The value of a floating constant."""
    if c.kind == "f32":
        return float(struct.unpack("<f", struct.pack("<I", c.value))[0])
    if c.kind == "f":
        return float(struct.unpack("<d", struct.pack("<Q", c.value))[0])
    return float(c.value)


def _floating(value: float) -> Const:
    return Const(struct.unpack("<Q", struct.pack("<d", value))[0], "f")


def negate(c: Const) -> Const:
    if c.kind == "f32":
        return Const(c.value ^ 1 << 31, "f32")
    if c.kind == "f":
        return Const(c.value ^ 1 << 63, "f")
    return _integer(-c.value, c.kind)


def unary(op: str, c: Const) -> Const:
    return _integer(~c.value, c.kind) if op == "~" else _integer(int(c.value == 0), "s")


def cast(type_: str, c: Const) -> Const:
    """`(.s64) c` and `(.u64) c`, the casts that PTX has in constants."""
    return _integer(c.value, "u" if ".u" in type_ else "s") if c.kind in "su" else c


def evaluate(items: Sequence[Any]) -> Const | None:
    """A flat sequence operand, operator, operand, ...; None if an operand is no constant or the value is undefined."""
    values = list(items)
    if "?" in values and ":" in values:
        question = values.index("?")
        colon = len(values) - 1 - values[::-1].index(":")
        condition = evaluate(values[:question])
        arms = evaluate(values[question + 1 : colon]), evaluate(values[colon + 1 :])
        if condition is None or None in arms:
            return None
        return arms[0] if condition.value else arms[1]
    if not all(isinstance(v, Const) for v in values[::2]) or len(values) % 2 == 0:
        return None
    for level in _LEVELS:
        at = 1
        while at < len(values):
            if str(values[at]) in level:
                result = binary(str(values[at]), values[at - 1], values[at + 1])
                if result is None:
                    return None
                values[at - 1 : at + 2] = [result]
            else:
                at += 2
    return values[0] if len(values) == 1 else None


def binary(op: str, a: Const, b: Const) -> Const | None:
    """One operation; None where C defines none."""
    if a.kind not in "su" or b.kind not in "su":
        x, y = double(a), double(b)
        if op in ("<", "<=", ">", ">=", "==", "!="):
            return _integer(
                int({"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}[op]), "s"
            )
        if (op == "/" and y == 0) or op not in ("+", "-", "*", "/"):
            return None
        return _floating({"+": x + y, "-": x - y, "*": x * y, "/": x / y if y else 0.0}[op])
    kind = "u" if "u" in (a.kind, b.kind) else "s"
    p, q = _integer(a.value, kind).value, _integer(b.value, kind).value
    if op in ("/", "%"):
        if q == 0:
            return None
        quotient = abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
        return _integer(quotient if op == "/" else p - quotient * q, kind)
    if op in ("<<", ">>"):
        if not 0 <= b.value < 64:
            return None
        shifted = a.value << b.value if op == "<<" else a.value >> b.value
        return _integer(shifted, a.kind)
    if op in ("<", "<=", ">", ">=", "==", "!=", "&&", "||"):
        truth = {"<": p < q, "<=": p <= q, ">": p > q, ">=": p >= q, "==": p == q, "!=": p != q}
        truth |= {"&&": bool(p and q), "||": bool(p or q)}
        return _integer(int(truth[op]), "s")
    return _integer({"+": p + q, "-": p - q, "*": p * q, "&": p & q, "^": p ^ q, "|": p | q}[op], kind)


def as_type(c: Const, type_: str) -> int:
    """The bits of a literal written where an operand of this type is expected. Raises OverflowError on none."""
    t = TYPES[type_]
    if t.kind != "f":
        if c.kind == "f" and t.bits == 64:  # as in `mov.b64 d, 0d3FF0000000000000`
            return c.value
        return (int(double(c)) if c.kind == "f" else c.value) & t.mask
    if c.kind == "f32" and t.bits == 32:
        return c.value
    value = double(c) if c.kind in ("f", "f32") else None
    if value is None:  # an integer literal is the float's bits where untyped registers allow it
        return c.value & t.mask
    if t.bits == 64:
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])
    if t.name == "f16":
        return int(struct.unpack("<H", struct.pack("<e", value))[0])
    try:
        single = int(struct.unpack("<I", struct.pack("<f", value))[0])
    except OverflowError:
        single = 0x7F800000 if value > 0 else 0xFF800000
    return single >> 16 if t.bits == 16 else single
