"""Rows: logic, shifts, bytes picked and moved."""

from __future__ import annotations

from functools import cache

from cu2port.ptx.ir import Type
from cu2port.ptx.ops import PERM, U32, Op, Value, const, convert, eq, make, ne, select, shl, shr, smaller
from cu2port.ptx.table import ptx

_BITS = "{t:pred|b16|b32|b64}"


@ptx(f"and.{_BITS} d, a, b", ref="logic-and-shift-instructions-and", examples={"and.b32": (((12, 10), 8),)})
def and_(a: Value, b: Value) -> Value:
    return a & b


@ptx(f"or.{_BITS} d, a, b", ref="logic-and-shift-instructions-or", examples={"or.pred": (((0, 1), 1),)})
def or_(a: Value, b: Value) -> Value:
    return a | b


@ptx(f"xor.{_BITS} d, a, b", ref="logic-and-shift-instructions-xor", examples={"xor.pred": (((1, 1), 0),)})
def xor(a: Value, b: Value) -> Value:
    return a ^ b


@ptx(f"not.{_BITS} d, a", ref="logic-and-shift-instructions-not", examples={"not.pred": (((0,), 1),)})
def not_(a: Value) -> Value:
    return ~a


@ptx(
    "cnot.{t:b16|b32|b64} d, a", ref="logic-and-shift-instructions-cnot", examples={"cnot.b32": (((0,), 1), ((5,), 0))}
)
def cnot(t: Type, a: Value) -> Value:
    return convert(eq(a, 0), t)


@cache
def _formulas() -> dict[int, tuple[str, int, int]]:
    """The shortest way to each of the 256 tables: operator and the tables of its operands."""
    best: dict[int, tuple[str, int, int]] = {0xF0: ("a", 0, 0), 0xCC: ("b", 0, 0), 0xAA: ("c", 0, 0)}
    levels: list[list[int]] = [[0xF0, 0xCC, 0xAA]]
    while len(best) < 254:  # all but the two constants
        level: list[int] = []

        def add(table: int, how: tuple[str, int, int], level: list[int] = level) -> None:
            if table not in best and 0 < table < 255:
                best[table] = how
                level.append(table)

        for x in levels[-1]:
            add(~x & 255, ("~", x, 0))
        for i in range(len(levels)):
            for x in levels[i]:
                for y in levels[len(levels) - 1 - i]:
                    add(x & y, ("&", x, y))
                    add(x | y, ("|", x, y))
                    add(x ^ y, ("^", x, y))
        levels.append(level)
    return best


def _look_up_bits(_: Value, a: int, b: int, c: int, table: int) -> int:
    bits = ((4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) for i in range(32))
    return sum((table >> index & 1) << i for i, index in enumerate(bits))


#: by a table that is a constant of the program, but whose value is not known here (a template's parameter)
LOP3 = Op("lop3", _look_up_bits, "cu2port::ptx::lop3({0}, {1}, {2}, {3})")


def look_up(a: Value, b: Value, c: Value, table: int | Value) -> Value:
    """The logic function of three words that an 8-bit table gives: bit 4a + 2b + c is the result."""
    if isinstance(table, Value):
        return Value(LOP3, U32, (a, b, c, table))
    table &= 255
    if table in (0, 255):
        return const(-(table & 1), U32)
    operator, x, y = _formulas()[table]
    if operator in "abc":
        return {"a": a, "b": b, "c": c}[operator]
    left = look_up(a, b, c, x)
    if operator == "~":
        return ~left
    right = look_up(a, b, c, y)
    return left & right if operator == "&" else left | right if operator == "|" else left ^ right


@ptx(
    "lop3.b32 d:b32, a:b32, b:b32, c:b32, lut:imm",
    ref="logic-and-shift-instructions-lop3",
    examples={
        "lop3.b32": (
            ((0xF0, 0xCC, 0xAA, 0xE8), 0xE8),
            ((0xF0, 0xCC, 0xAA, 0x40), 0x40),
            ((0xF0, 0xCC, 0xAA, 0x1A), 0x1A),
        )
    },
)
def lop3(a: Value, b: Value, c: Value, lut: int | Value) -> Value:
    return look_up(a, b, c, lut)


@ptx(
    "lop3.{op:or|and}.b32 d:b32|?p, a:b32, b:b32, c:b32, lut:imm, q:pred",
    ref="logic-and-shift-instructions-lop3",
    sm=70,
)
def lop3_predicate(a: Value, b: Value, c: Value, lut: int | Value, q: Value, op: str) -> tuple[Value, Value]:
    d = look_up(a, b, c, lut)
    return d, (ne(d, 0) | q) if op == "or" else (ne(d, 0) & q)


@ptx(
    "shf.{dir:l|r}.{mode:clamp|wrap}.b32 d:b32, a:b32, b:b32, c:u32",
    ref="logic-and-shift-instructions-shf",
    examples={
        "shf.l.clamp.b32": (((0x80000001, 2, 1), 5), ((7, 2, 40), 7)),
        "shf.r.wrap.b32": (((0x80000001, 3, 33), 0xC0000000),),
    },
    helper=True,
)
def shf(a: Value, b: Value, c: Value, dir: str, mode: str) -> Value:  # noqa: A002
    """The upper (left) or lower (right) word of the 64 bits {b, a}, shifted."""
    n = c & 31 if mode == "wrap" else smaller(c, 32)
    if n.constant is not None and 0 < n.constant < 32:
        m = n.constant
        return (b << m) | (a >> (32 - m)) if dir == "l" else (a >> m) | (b << (32 - m))
    both = (convert(b, U32.wide) << 32) | convert(a, U32.wide)
    return convert((shl(both, n) >> 32) if dir == "l" else shr(both, n), U32)


@ptx(
    "shl.{t:b16|b32|b64} d, a, b:u32",
    ref="logic-and-shift-instructions-shl",
    examples={"shl.b32": (((1, 31), 1 << 31), ((1, 32), 0)), "shl.b16": (((3, 15), 1 << 15),)},
)
def shl_(a: Value, b: Value) -> Value:
    return shl(a, b)


@ptx(
    "shr.{t:b16|b32|b64|u16|u32|u64|s16|s32|s64} d, a, b:u32",
    ref="logic-and-shift-instructions-shr",
    examples={"shr.u32": (((1 << 31, 31), 1), ((1 << 31, 32), 0)), "shr.s16": (((0x8000, 65535), 0xFFFF),)},
)
def shr_(a: Value, b: Value) -> Value:
    return shr(a, b)


@ptx(
    "prmt.b32 d:b32, a:b32, b:b32, c:b32",
    ref="data-movement-and-conversion-instructions-prmt",
    examples={"prmt.b32": (((0x33221100, 0x77665544, 0x0123), 0x00112233), ((0x80, 0, 0x1118), 0xFF))},
)
def prmt(a: Value, b: Value, c: Value) -> Value:
    return make(PERM, U32, a, b, c)


# by mode, the selector that each value of c's low two bits stands for
_MODES = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


@ptx(
    "prmt.b32.{mode:f4e|b4e|rc8|ecl|ecr|rc16} d:b32, a:b32, b:b32, c:b32",
    ref="data-movement-and-conversion-instructions-prmt",
    examples={
        "prmt.b32.f4e": (((0x33221100, 0x77665544, 1), 0x44332211),),
        "prmt.b32.rc8": (((0x33221100, 0, 6), 0x22222222),),
    },
    helper=True,
)
def prmt_mode(a: Value, b: Value, c: Value, mode: str) -> Value:
    first, second, third, fourth = (const(selector, U32) for selector in _MODES[mode])
    which = (c & 3).named("which")
    selector = select(eq(which, 0), first, select(eq(which, 1), second, select(eq(which, 2), third, fourth)))
    return make(PERM, U32, a, b, selector)
