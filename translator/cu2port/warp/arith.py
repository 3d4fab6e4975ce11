"""Arithmetic of abstract values, and the role of a literal operand.

A role is recorded for the tokens in `src` of a value: the literal 32 of `threadIdx.x % 32` is the warp size there.
"""

from __future__ import annotations

from collections.abc import Callable

from cu2port.syntax import constants
from cu2port.warp.add import add
from cu2port.warp.conditions import COMPARE, compare, logic
from cu2port.warp.divide import divide, modulo
from cu2port.warp.multiply import multiply, shift_left
from cu2port.warp.roles import Record, Role, is_mask, is_size
from cu2port.warp.values import LANES, THREADS, Kind, V


def binary(op: str, a: V, b: V, at: int, use: Record) -> V:
    """The value of `a op b`; `at`: the operator's token."""
    if op in COMPARE:
        return compare(op, a, b, at, use)
    if op in ("&&", "||"):
        return logic(op, a, b)
    handler = _HANDLERS.get(op)
    v = handler(op, a, b, at, use) if handler is not None else None
    if v is not None:
        return v
    if a.num is not None and b.num is not None:
        return _fold(op, a, b)
    return _plain(op, a, b)


def _plain(op: str, a: V, b: V) -> V:
    vary = max(a.vary, b.vary)
    why = a.why if a.vary >= b.vary else b.why
    kind = Kind.UNKNOWN
    for x, y in ((a, b), (b, a)):
        if x.kind in (Kind.RESIDUE, Kind.SHARE) and x.src and op in "+-" and y.vary <= x.vary:
            return V(x.kind, vary, None, x.src, why)
    if op in "+-/" and (a.kind is Kind.COUNT or (op == "+" and b.kind is Kind.COUNT)) and vary < LANES:
        return V(Kind.COUNT, vary, None, (), why)
    if a.kind in _THREADISH or b.kind in _THREADISH:
        kind = Kind.PART
    elif op in "+-" and Kind.LANE_BITS in (a.kind, b.kind) and {a.kind, b.kind} <= {Kind.LANE_BITS, Kind.NUMBER}:
        kind = Kind.LANE_BITS
    elif a.kind is Kind.DATA or b.kind is Kind.DATA:
        kind = Kind.DATA
    return V(kind, vary, None, (), why)


_THREADISH = THREADS | {
    Kind.THREAD_Y,
    Kind.INDEX,
    Kind.SHIFTED,
    Kind.LANE_PLUS,
    Kind.LANE_MULTIPLE,
    Kind.PART,
    Kind.LANE,
    Kind.WARP,
    Kind.GLOBAL_WARP,
}


def _fold(op: str, a: V, b: V) -> V:
    x, y = a.constant, b.constant
    folded = constants.binary(op, x, y) if x is not None and y is not None else None
    n = folded.value if folded is not None and folded.type != "bool" else None
    kind = Kind.NUMBER
    src: tuple[int, ...] = ()
    if n in (31, 16, 32) and (a.num in (32, 5, 31) or b.num in (32, 5, 31)):  # `32 - 1`, `32 / 2`, `1 << 5`
        src = tuple(dict.fromkeys((*a.src, *b.src)))
    elif op == "/" and b.num == 32 and b.src:
        kind, src = Kind.QUOTIENT, b.src
    elif op == "*" and 32 in (a.num, b.num):
        kind, src = Kind.PRODUCT, a.src if a.num == 32 and a.src else b.src
        if Kind.COUNT in (a.kind, b.kind):
            kind = Kind.BLOCK
    elif Kind.BLOCK in (a.kind, b.kind) and op in "+-*/":
        kind = Kind.BLOCK
    if n == 31 and Kind.SIZE in (a.kind, b.kind):
        kind = Kind.SIZE
    return V(kind, max(a.vary, b.vary), n, src, a.why or b.why, type=folded.type if folded is not None else "int")


def _bitwise(op: str, a: V, b: V, at: int, use: Record) -> V | None:
    if Kind.MASK in (a.kind, b.kind) or Kind.LANE_BIT in (a.kind, b.kind):
        return V(Kind.MASK, max(a.vary, b.vary), None, (), a.why or b.why)
    for x, y in ((a, b), (b, a)):
        if x.kind is Kind.LANE and (is_mask(y) or is_size(y)):
            use(y, Role.MASK, True, x)
            return V(Kind.LANE, LANES, None, (), x.why)
        if x.kind is Kind.LANE and y.kind is Kind.RESIDUE and y.src and op == "^":
            use(y, Role.MASK, True, x)  # `lane ^ (row & 31)`
        if x.kind is Kind.LANE:
            return V(Kind.LANE if op == "^" else Kind.PART, LANES, None, (), x.why)
        if op == "|" and y.num == 31 and y.src and x.num is None and y.kind is Kind.NUMBER:
            use(y, Role.TILE, None, x)  # `(n - 1) | 31`, the last thread of a warp
    return None


def _shift_right(op: str, a: V, b: V, at: int, use: Record) -> V | None:
    if a.num in (0xFFFFFFFF, -1) and b.kind in (Kind.LANE, Kind.STEP):
        use(b, Role.LAST, b.kind is Kind.LANE or None, a)
        return V(Kind.MASK, b.vary, None, (), b.why)
    if b.num != 5 and b.src:
        use(b, Role.BITS, a.kind is Kind.MASK, a)
    if a.kind is Kind.MASK:
        return V(Kind.MASK, max(a.vary, b.vary), None, (), a.why)
    return divide(op, a, b, at, use)


_HANDLERS: dict[str, Callable[[str, V, V, int, Record], V | None]] = {
    "/": divide,
    ">>": _shift_right,
    "%": modulo,
    "&": modulo,
    "*": multiply,
    "<<": shift_left,
    "+": add,
    "-": add,
    "^": _bitwise,
    "|": _bitwise,
}
