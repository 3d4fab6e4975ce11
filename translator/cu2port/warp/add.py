"""Sums and differences of abstract values: offsets of lanes and threads, last lanes, rounding up."""

from __future__ import annotations

from cu2port.warp.operator_rows import (
    LARGER,
    OF_Y,
    Row,
    Table,
    has_literal,
    has_number,
    left_as_it_is,
    literal_31,
    literal_32,
    no_value,
    size_or_mask,
    to,
    uniform,
)
from cu2port.warp.roles import Record, Role, is_mask, is_size
from cu2port.warp.values import LANES, THREADS, UNIFORM, WARPS, Kind, V


def add(op: str, a: V, b: V, at: int, use: Record) -> V | None:
    """`a + b`, `a - b`."""
    done, value = _SUM.either(op, a, b, at, use)
    if not done:
        done, value = _DIFFERENCE.ordered(op, a, b, at, use)
    if not done and a.num is None:
        done, value = _WITH_LITERAL.either(op, a, b, at, use)
    return value


#: A multiple of 32 plus one of these is the start of a row, to which a lane may be added.
_OFFSETS = frozenset({Kind.UNKNOWN, Kind.DATA, Kind.STEP, Kind.ROUND, Kind.PART, Kind.WARP_MULTIPLE, Kind.INDEX})


def _of_y_or_x(x: V, y: V, _at: int, _op: str) -> V:
    return V(y.kind, LANES, None, (), y.why or x.why)


_SUM = Table(
    Row("+ -", {Kind.LANE}, {Kind.PRODUCT, Kind.STEP}, has_literal, Role.STRIDE, True, to(Kind.LANE_PLUS, LANES)),
    Row("+ -", {Kind.LANE}, (), size_or_mask, {"+": Role.STRIDE, "-": Role.LAST}, True, to(Kind.LANE, LANES)),
    Row("+", {Kind.LANE}, {Kind.LINEAR, Kind.GLOBAL}, give=_of_y_or_x),
    Row("+ -", {Kind.LANE}, (), has_number, give=to(Kind.LANE, LANES)),
    Row("-", {Kind.LANE}, give=to(Kind.WHOLE, WARPS), side="right"),  # `i - lane`: where the warp begins
    Row("+ -", {Kind.LANE}, (), uniform, give=to(Kind.LANE_PLUS, LANES)),
    Row("+ -", {Kind.LANE}, give=to(Kind.INDEX, LANES)),
    Row(
        "+ -",
        {Kind.WHOLE},
        (),
        lambda x, y: x.vary == WARPS and bool(y.src) and size_or_mask(x, y),
        Role.LAST,
        True,
        left_as_it_is,
    ),
    # `for (j = 0; j < 32; j++) s[first + j]`
    Row("+ -", {Kind.WHOLE}, {Kind.STEP}, lambda x, y: x.vary == WARPS and bool(y.src), Role.LOOP, True),
    Row("+ -", {Kind.LANE_MULTIPLE}, {Kind.PRODUCT}, lambda _, y: bool(y.src) and y.num is None, Role.STRIDE),
    Row("+ -", {Kind.LANE_MULTIPLE}, (), uniform, give=to(Kind.LANE_MULTIPLE, LANES)),
    Row("+ -", {Kind.LANE_MULTIPLE}, give=to(Kind.PART, LANES)),
    Row("+ -", {Kind.LANE_PLUS}, (), literal_32, Role.STRIDE),
    Row("+ -", {Kind.LANE_PLUS}, give=to(Kind.INDEX, LANES)),
    Row("+", THREADS - {Kind.THREAD}, {Kind.LANE}, give=to(vary=LANES)),
    Row("+", THREADS, {Kind.WHOLE}, role=Role.MASK),  # `(n & ~31) + threadIdx.x`
    Row("+", THREADS, {Kind.BLOCK_ID}, give=to(Kind.GLOBAL, LANES)),
    Row(
        "+",
        THREADS,
        {Kind.THREAD_Y},
        give=to(Kind.LINEAR, LANES, step="the linear index of the thread in its block"),
    ),
    Row("+", THREADS, {Kind.PRODUCT}, lambda _, y: y.vary == LANES, Role.BLOCK, give=to(Kind.LINEAR, LANES)),
    Row("+", THREADS, {Kind.PRODUCT}, role=Role.BLOCK, give=to(Kind.INDEX, LANES)),
    Row("+", THREADS, (), literal_31, Role.LAST),  # `values[threadIdx.x + 31]`
    Row(
        "+",
        THREADS,
        (),
        lambda _, y: bool(y.src) and (y.num == 32 or (y.kind is Kind.STEP and y.num is None)),
        Role.STRIDE,
    ),
    Row("+", THREADS, (), lambda _, y: y.num == 32, give=to(Kind.SHIFTED, LANES, "y")),
    Row("+", THREADS, (), has_number, give=to(Kind.SHIFTED, LANES)),
    Row("+", THREADS, give=to(Kind.INDEX, LANES)),
    # `p + i * 32`, before `+ lane`
    Row(
        "+ -",
        {Kind.PRODUCT},
        _OFFSETS,
        lambda x, y: bool(x.src) and x.num is None and y.vary <= WARPS,
        give=to(Kind.PRODUCT, LARGER, "x", "xy"),
    ),
    Row("+ -", {Kind.INDEX}, (), literal_32, Role.STRIDE),
    Row("+", {Kind.INDEX}, {Kind.UNKNOWN, Kind.DATA}, uniform, give=to(Kind.INDEX)),
    Row("-", THREADS, (), lambda _, y: y.vary == UNIFORM and literal_32(_, y), Role.STRIDE, side="left"),
    Row(
        "-",
        THREADS,
        {Kind.PRODUCT},
        lambda _, y: y.vary == UNIFORM and y.num is not None and not literal_32(_, y),
        Role.GUARD,
        side="left",
    ),
    Row("-", THREADS, (), uniform, give=to(Kind.SHIFTED, LANES), side="left"),
    # `(warps + 31) / 32`
    Row("+", {Kind.COUNT}, (), lambda _, y: is_mask(y) and bool(y.src), Role.COUNT, True, left_as_it_is),
    Row("+ -", {Kind.BLOCK}, (), lambda _, y: size_or_mask(_, y) or y.num == 1, Role.COUNT, True, left_as_it_is),
    # `row * 32 + warp`: a slot for each warp
    Row("+", {Kind.WARP}, {Kind.PRODUCT}, has_literal, Role.SLOTS, True, to(Kind.PART, LARGER)),
    Row("+ -", {Kind.WARP}, (), has_number, give=to(Kind.WARP)),
)


def _from_warp(x: V, _: V) -> bool:
    return is_size(x) or is_mask(x)


_DIFFERENCE = Table(
    # `tag << (32 - LOG_WARP)`, but `32 - LOGICAL_WARP_THREADS`
    Row("-", {Kind.NUMBER}, {Kind.SIZE}, lambda x, y: x.num == 32 and y.num == 5, Role.BITS, False, literal="x"),
    Row("-", {Kind.NUMBER}, {Kind.SIZE}, lambda x, y: x.num == 32 and y.num != 5, Role.SIZE, True, literal="x"),
    # `first + 31 - __clz(mask)`
    Row(
        "-",
        (),
        {Kind.LANE_BITS},
        lambda x, _: bool(x.src) and x.num is None,
        Role.LAST,
        True,
        literal="x",
    ),
    # `32 - __clz(x)`, `w >> (32 - n)`: bits; of a mask of lanes: lanes
    Row("-", (), {Kind.MASK, Kind.LANE_BITS}, _from_warp, Role.LAST, True, no_value, "x"),
    Row("-", (), {Kind.BITS}, lambda x, y: _from_warp(x, y) and y.vary == WARPS, Role.LAST, True, no_value, "x"),
    Row("-", (), (), lambda x, y: _from_warp(x, y) and None not in (x.num, y.num), give=no_value),
    Row("-", (), {Kind.BITS}, _from_warp, Role.BITS, False, no_value, "x"),
    # `32 - n % 32`, what is missing to a multiple
    Row("-", (), {Kind.RESIDUE}, lambda x, _: x.num == 32, Role.TILE, None, no_value, "x"),
    # the role of a name shows when the difference is used
    Row("-", {Kind.SIZE}, (), _from_warp, give=to(Kind.STEP, OF_Y, "x", "y")),
    Row("-", (), (), _from_warp, Role.BITS, None, to(Kind.STEP, OF_Y, "x", "y"), "x"),
)


def _mask_with(x: V, y: V) -> bool:
    return is_mask(y) and bool(y.src) and x.kind is not Kind.NUMBER


_WITH_LITERAL = Table(
    Row("+", {Kind.PRODUCT}, {Kind.SIZE}, _mask_with, Role.PLAIN, True, to(Kind.UNKNOWN, src="y")),
    Row("+", {Kind.PRODUCT}, (), _mask_with, Role.PLAIN, None, to(Kind.UNKNOWN, src="y")),
    Row("+", (), {Kind.SIZE}, _mask_with, Role.PLAIN, True, to(src="y")),
    Row("+", (), (), _mask_with, Role.PLAIN, None, to(src="y")),
    Row("+", (), {Kind.SIZE}, literal_32, Role.PLAIN, True),
    Row("+", (), set(Kind) - {Kind.SIZE}, literal_32, Role.PLAIN),
)
