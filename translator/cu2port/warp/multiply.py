"""Products and left shifts of abstract values: warps to threads, and multiples of literals."""

from __future__ import annotations

from cu2port.warp.operator_rows import (
    LARGER,
    Result,
    Row,
    Table,
    has_literal,
    no_value,
    shown,
    to,
    uniform,
)
from cu2port.warp.roles import Record, Role, is_size
from cu2port.warp.values import LANES, UNIFORM, Kind, Step, V


def multiply(op: str, a: V, b: V, at: int, use: Record) -> V | None:
    """`warp * 32`, `n * 32`, `warp << 5`."""
    if op == "*" and is_size(a) and not is_size(b):
        a, b = b, a
    if b.num == 5 if op == "<<" else is_size(b):
        return _BY_WARP.ordered(op, a, b, at, use)[1]
    for table in (_WARPS_TIMES, _LITERALS_TIMES):
        done, value = table.either(op, a, b, at, use)
        if done:
            return value
    return _BY_OTHER.ordered(op, a, b, at, use)[1]


def shift_left(op: str, a: V, b: V, at: int, use: Record) -> V | None:
    """`a << b`: the bit of a lane, or a product."""
    done, value = _BIT_OF_LANE.ordered(op, a, b, at, use)
    return value if done else multiply(op, a, b, at, use)


#: A count of warps times one of these is one.
_COUNTED = frozenset({Kind.COUNT, Kind.UNKNOWN, Kind.NUMBER})
#: A multiple of 32 times one of these is one.
_FACTORS = frozenset({Kind.UNKNOWN, Kind.NUMBER, Kind.SIZE, Kind.BLOCK_ID, Kind.STEP, Kind.ROUND})
_WARP_IDS = frozenset({Kind.WARP, Kind.GLOBAL_WARP})
_INTO_THREADS = {"*": Role.COUNT, "<<": Role.LOG}


def _threads(kind: Kind) -> Result:
    """Threads of so many warps."""

    def give(x: V, y: V, at: int, op: str) -> V:
        n = x.num * 32 if x.num is not None else None
        return V(kind, x.vary, n, (), Step(at, f"{shown(op, y)} counts threads again", x.why))

    return give


def _rows_of_32(x: V, _: V) -> bool:
    return x.why is not None and "threadIdx.y" in x.why.text


_BIT_OF_LANE = Table(
    Row(
        "<<",
        (),
        {Kind.LANE},
        lambda x, _: x.num in (1, 2, 3, 0xFFFFFFFF, -1),
        give=to(Kind.LANE_BIT, LANES, why="y"),
    ),
    Row("<<", (), {Kind.LANE}, give=to(Kind.UNKNOWN, LANES, why="y")),
)

_WARPS_TIMES = Table(
    Row("*", _WARP_IDS, {Kind.PRODUCT}, has_literal, Role.COUNT, True, to(Kind.PART)),
    # rows of 32 threads: `threadIdx.y * blockDim.x`
    Row("*", {Kind.WARP}, {Kind.BLOCK}, _rows_of_32, give=to(Kind.LINEAR)),
    Row("*", _WARP_IDS, when=uniform, give=to(Kind.WARP_MULTIPLE)),
)

_LITERALS_TIMES = Table(
    Row(
        "*",
        {Kind.PRODUCT},
        _FACTORS,
        lambda x, y: bool(x.src) and y.vary == UNIFORM,
        give=to(Kind.PRODUCT, src="x"),
    ),
    Row("*", {Kind.LANE}, when=uniform, give=to(Kind.LANE_MULTIPLE, LANES)),
)


def _no_last_lane(x: V, y: V) -> bool:
    return bool(y.src) and not (x.num == 1 and y.kind is Kind.SIZE)


_BY_OTHER = Table(
    # `1u << (WARP_SIZE - 1)`: the bit of the last lane
    Row("<<", (), {Kind.SIZE}, lambda x, _: x.num == 1, Role.LAST, True),
    Row("<<", {Kind.LANE_BIT}, (), lambda x, y: _no_last_lane(x, y) and y.num is None, Role.LOOP, False),
    Row(
        "<<",
        (),
        (),
        lambda x, y: _no_last_lane(x, y) and not (x.kind is Kind.LANE_BIT and y.num is None),
        Role.BITS,
        False,
    ),
    Row("<<", {Kind.MASK}, give=to(Kind.MASK, LARGER)),
    Row("*", {Kind.BLOCK_ID}, {Kind.BLOCK, Kind.BLOCK_ID}, give=to(Kind.BLOCK_ID, UNIFORM, why="xy")),
    Row("*", {Kind.BLOCK}, {Kind.BLOCK_ID}, give=to(Kind.BLOCK_ID, UNIFORM, why="xy")),
    Row(
        "*",
        _COUNTED,
        _COUNTED,
        lambda x, y: Kind.COUNT in (x.kind, y.kind) and max(x.vary, y.vary) < LANES,
        give=to(Kind.COUNT, LARGER, why="xy"),
    ),
    # `threadIdx.y * 16`, before `+ threadIdx.x`
    Row(
        "* <<",
        {Kind.THREAD_Y},
        (),
        lambda _, y: y.kind is Kind.BLOCK or y.num is not None,
        give=to(Kind.THREAD_Y, LANES),
    ),
    Row(
        "*",
        (),
        {Kind.THREAD_Y},
        lambda x, _: x.kind is Kind.BLOCK or x.num is not None,
        give=to(Kind.THREAD_Y, LANES, why="y"),
    ),
    Row(
        "*",
        (),
        (),
        lambda x, y: Kind.BLOCK in (x.kind, y.kind) and x.vary == y.vary == UNIFORM,
        give=to(Kind.BLOCK, UNIFORM, why="xy"),
    ),
)

_BY_WARP = Table(
    Row("* <<", {Kind.WARP_MULTIPLE}, role=_INTO_THREADS, lane=True, give=to(Kind.PART)),
    Row("* <<", {Kind.COUNT}, role=_INTO_THREADS, lane=True, give=_threads(Kind.BLOCK)),
    Row("* <<", {Kind.GLOBAL_WARP}, role=_INTO_THREADS, lane=True, give=_threads(Kind.GLOBAL)),
    Row("* <<", {Kind.WARP}, role=_INTO_THREADS, lane=True, give=_threads(Kind.LINEAR)),
    # both are numbers: the product is folded, and remembers its literals
    Row("*", (), (), lambda x, y: None not in (x.num, y.num) and x.num != 32, Role.COUNT, give=no_value),
    Row("* <<", (), (), lambda x, y: None not in (x.num, y.num), give=no_value),
    Row("*", _FACTORS, role=Role.COUNT),
    Row("* <<", {Kind.ROUND}, give=to(Kind.PRODUCT, src="yx")),
    Row("* <<", give=to(Kind.PRODUCT, src="y")),
)
