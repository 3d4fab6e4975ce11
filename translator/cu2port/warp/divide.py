"""Division, remainder and masking of abstract values: threads to warps and lanes, block sizes to counts of warps."""

from __future__ import annotations

from cu2port.syntax import constants
from cu2port.warp.operator_rows import LARGER, OF_Y, Row, Table, left_as_it_is, no_value, shown, to
from cu2port.warp.roles import Record, Role, is_mask, is_size
from cu2port.warp.values import LANES, THREADS, UNIFORM, WARPS, Kind, Step, V

#: Kinds that have a lane.
_LANEABLE = frozenset({*THREADS, Kind.LANE, Kind.SHIFTED})
#: Kinds of which `% 32` is a residue: not thread indices, which have a lane.
_RESTING = frozenset({Kind.UNKNOWN, Kind.NUMBER, Kind.DATA, Kind.STEP, Kind.ROUND, Kind.PRODUCT})
_SOFT = frozenset({Kind.INDEX, Kind.LANE_PLUS, Kind.UNKNOWN, Kind.DATA, Kind.PART})
_BY_SIZE = {"/": Role.COUNT, ">>": Role.LOG}
_INTO_SIZE = {"%": Role.SIZE, "&": Role.MASK}
_SEVERAL = "divided by several warps' threads, it names warps"
_SHIFTED = "shifted by more than a warp, it names warps"


def divide(op: str, a: V, b: V, at: int, use: Record) -> V | None:
    """`a / 32`, `a >> 5`: from threads to warps."""
    fits = b.num == 5 if op == ">>" else is_size(b)
    return (_BY_WARP if fits else _BY_OTHER).ordered(op, a, b, at, use)[1]


def modulo(op: str, a: V, b: V, at: int, use: Record) -> V | None:
    """`a % 32`, `a & 31`: the lane of a thread."""
    if op == "&" and b.kind is not Kind.SIZE and a.num in (31, 32) and b.num is None:
        a, b = b, a
    fits = is_size(b) if op == "%" else is_mask(b)
    if op == "&" and a.kind is Kind.PRODUCT and a.num == -32:
        a, b = b, a
    if op == "&" and b.kind is Kind.PRODUCT and b.num == -32:
        return _ROUNDED.ordered(op, a, b, at, use)[1]
    return (_REST_OF_WARP if fits else _REST_OF_OTHER).ordered(op, a, b, at, use)[1]


def _is_32(x: V) -> bool:
    return x.num == 32 and bool(x.src)


def _quotient_of_block(x: V, y: V, _at: int, op: str) -> V:
    a, b = x.constant, y.constant
    folded = constants.binary(op, a, b) if a is not None and b is not None and b.value else None
    return V(Kind.BLOCK, UNIFORM, folded.value if folded else None, (), x.why, type=folded.type if folded else "int")


def _warps_of_block(x: V, y: V, at: int, op: str) -> V:
    n = x.num // 32 if x.num is not None else None
    return V(Kind.COUNT, UNIFORM, n, (), Step(at, f"{shown(op, y)} counts warps", x.why))


def _warps(x: V, y: V) -> bool:
    return y.num is not None and y.num > 32 and y.num % 32 == 0


_BY_OTHER = Table(
    Row("/", THREADS, {Kind.SIZE}, give=to(Kind.WARP, WARPS, step="divided by the warp size, it is a warp id")),
    Row(
        "/",
        THREADS - {Kind.GLOBAL},
        when=lambda x, y: _warps(x, y) and (y.num or 0) % 64 == 0,
        give=to(Kind.WARP, UNIFORM, step=_SEVERAL),
    ),
    Row("/", THREADS, when=_warps, give=to(Kind.WARP, WARPS, step=_SEVERAL)),
    # groups of whole wavefronts
    Row("/", {Kind.WARP}, when=lambda _, y: bool(y.num) and (y.num or 0) % 2 == 0, give=to(Kind.PART, UNIFORM)),
    Row(">>", {Kind.WARP}, when=lambda _, y: (y.num or 0) > 0, give=to(Kind.PART, UNIFORM)),
    Row(
        "/",
        {Kind.PRODUCT},
        when=lambda x, y: bool(x.src) and x.num is None and y.vary == UNIFORM,
        give=to(Kind.PRODUCT, src="x"),
    ),
    # `32 / blockDim.x` rows of a block are a warp
    Row("/", (), {Kind.BLOCK}, lambda x, _: _is_32(x), Role.GUARD, literal="x"),
    # by its name: `rows_per_warp = 32 / threads_per_row`
    Row("/", {Kind.NUMBER}, (), lambda x, _: _is_32(x), Role.WIDTH, literal="x"),
    Row("/", {Kind.NUMBER}, when=lambda x, y: _is_32(x) and y.num is None, give=to(Kind.SHARE, OF_Y, "x", why="")),
    Row("/ >>", {Kind.LANE}, {Kind.SHARE}, lambda _, y: bool(y.src), Role.SIZE, True, other=Kind.SHIFTED),
    Row(
        "/ >>",
        _LANEABLE - {Kind.LANE},
        {Kind.SHARE},
        lambda _, y: bool(y.src),
        Role.SIZE,
        other=Kind.SHIFTED,
    ),
    # `n % 32 / 8`: a place in a word or row
    Row(
        "/ >>",
        {Kind.RESIDUE},
        (),
        lambda x, y: bool(x.src) and y.kind is not Kind.SIZE,
        Role.BITS,
        False,
        literal="x",
    ),
    Row(">>", {Kind.GLOBAL}, when=lambda _, y: (y.num or 0) > 5, give=to(Kind.WARP, WARPS, step=_SHIFTED)),
    Row(">>", THREADS, when=lambda _, y: (y.num or 0) > 5, give=to(Kind.WARP, UNIFORM, step=_SHIFTED)),
    Row("/ >>", {Kind.BLOCK}, when=lambda _, y: y.vary == UNIFORM, give=_quotient_of_block),
)

_BY_WARP = Table(
    Row(
        "/ >>",
        {Kind.GLOBAL},
        role=_BY_SIZE,
        give=to(Kind.GLOBAL_WARP, WARPS, step="{} gives the warp id"),
    ),
    Row(
        "/ >>",
        THREADS | {Kind.SHIFTED},
        role=_BY_SIZE,
        give=to(Kind.WARP, WARPS, step="{} gives the warp id"),
    ),
    Row("/ >>", {Kind.WHOLE}, (), lambda x, _: x.vary == WARPS, _BY_SIZE, True, to(Kind.WARP, WARPS)),
    # warps that each lane of one takes
    Row("/ >>", {Kind.COUNT}, role=_BY_SIZE, lane=True, give=to(Kind.QUOTIENT, src="y")),
    Row("/ >>", {Kind.BLOCK}, role=_BY_SIZE, lane=True, give=_warps_of_block),
    Row("/ >>", {Kind.LANE, Kind.MASK}, role=_BY_SIZE, lane=True, give=to(Kind.NUMBER)),
    Row("/ >>", (), {Kind.SIZE}, role=_BY_SIZE, lane=True, give=no_value),
    Row("/ >>", {Kind.INDEX, Kind.LANE_PLUS}, role=Role.TILE, give=no_value),
    Row("/ >>", {Kind.PART, Kind.THREAD_Y}, role=Role.TILE, lane=False, give=no_value),
    Row("/ >>", role={"/": Role.PLAIN, ">>": Role.BITS}),
    Row("/ >>", when=lambda x, y: bool(y.src) and None in (x.num, y.num), give=to(Kind.QUOTIENT, src="y")),
)

#: `x & ~31`, `x & -32`: whole warps of threads
_ROUNDED = Table(
    Row("&", THREADS | {Kind.BLOCK, Kind.LANE}, role=_INTO_SIZE, lane=True, give=left_as_it_is),
    Row("&", role=Role.TILE, give=to(Kind.WHOLE, src="y")),
)

_REST_OF_OTHER = Table(
    Row("%", {Kind.NUMBER}, {Kind.BLOCK}, lambda x, _: _is_32(x), Role.GUARD, literal="x"),  # `32 % n == 0`
    Row("%", {Kind.NUMBER}, set(Kind) - {Kind.BLOCK}, lambda x, _: _is_32(x), Role.PLAIN, literal="x"),
    Row(
        "% &",
        {Kind.LANE},
        {Kind.SHARE},
        lambda _, y: bool(y.src),
        Role.SIZE,
        True,
        to(Kind.LANE, LANES),
        other=Kind.SHIFTED,
    ),
    Row(
        "% &",
        _LANEABLE,
        {Kind.SHARE},
        lambda _, y: bool(y.src),
        Role.SIZE,
        None,
        to(Kind.LANE, LANES),
        other=Kind.SHIFTED,
    ),
    Row("% &", {Kind.LANE}, when=lambda _, y: y.num is not None, give=to(Kind.LANE)),
    Row("% &", {Kind.LANE}, give=to(Kind.PART)),
    Row("% &", THREADS, {Kind.SIZE}, give=to(Kind.LANE, LANES, step="taken modulo the warp size, it is a lane id")),
    Row("%", THREADS, when=lambda _, y: (y.num or 0) > 0 and (y.num or 0) % 32 == 0, give=left_as_it_is),
    Row("&", THREADS, when=lambda _, y: (y.num or 0) > 0 and ((y.num or 0) + 1) % 32 == 0, give=left_as_it_is),
    Row("%", THREADS, when=lambda _, y: y.num in (2, 4, 8, 16), give=to(Kind.LANE, LANES)),
    Row("&", THREADS, when=lambda _, y: y.num in (1, 3, 7, 15), give=to(Kind.LANE, LANES)),
    Row("% &", THREADS, when=lambda _, y: y.num is not None, give=to(Kind.PART, LANES)),
    Row(
        "&",
        when=lambda x, y: Kind.MASK in (x.kind, y.kind),
        give=to(Kind.MASK, LARGER, why="xy"),
    ),
)

_REST_OF_WARP = Table(
    Row("% &", THREADS, role=_INTO_SIZE, give=to(Kind.LANE, LANES, step="{} gives the lane in a warp of 32")),
    Row("% &", {Kind.LANE}, role=_INTO_SIZE, lane=True, give=to(Kind.LANE, LANES)),
    Row("% &", {Kind.BLOCK, Kind.COUNT}, role=_INTO_SIZE, lane=True, give=to(Kind.NUMBER, why="")),
    Row("% &", {Kind.WARP, Kind.GLOBAL_WARP}, role=_INTO_SIZE, give=to()),
    Row("% &", (), {Kind.SIZE}, lambda x, _: x.vary == LANES, _INTO_SIZE, True, to(Kind.LANE)),
    Row("% &", (), {Kind.SIZE}, role=_INTO_SIZE, lane=True, give=to()),
    Row("% &", {Kind.SHIFTED}, role=_INTO_SIZE, give=to(Kind.LANE, LANES)),
    Row("% &", _SOFT, role={"%": Role.TILE, "&": Role.BITS}),
    Row("% &", set(Kind) - _SOFT, role={"%": Role.TILE, "&": Role.BITS}, lane=False),
    Row(
        "% &",
        {Kind.LANE_PLUS},
        when=lambda x, y: bool(y.src) and x.num is None,
        give=to(Kind.LANE_PLUS, LANES, "y"),
    ),
    Row("% &", _RESTING, when=lambda x, y: bool(y.src) and x.num is None, give=to(Kind.RESIDUE, src="y")),
)
