"""What division and its kin make of abstract values: warps and lanes of threads, counts of warps of a block's size."""

from __future__ import annotations

from cu2port.syntax import constants
from cu2port.warp.roles import Record, Role, is_mask, is_size
from cu2port.warp.values import LANES, THREADS, UNIFORM, WARPS, Kind, Step, V

#: What lanes are made of.
_LANEABLE = frozenset({*THREADS, Kind.LANE, Kind.SHIFTED})


def divide(op: str, a: V, b: V, at: int, use: Record) -> V | None:
    """`a / 32`, `a >> 5`: from threads to warps."""
    role = Role.LOG if op == ">>" else Role.COUNT
    if not (b.num == 5 if op == ">>" else is_size(b)):
        if op == "/" and b.kind is Kind.SIZE and a.kind in THREADS:
            return V(Kind.WARP, WARPS, None, (), Step(at, "divided by the warp size, it is a warp id", a.why))
        if a.kind in THREADS and b.num is not None and b.num > 32 and b.num % 32 == 0 and op == "/":
            vary = UNIFORM if b.num % 64 == 0 and a.kind is not Kind.GLOBAL else WARPS
            return V(Kind.WARP, vary, None, (), Step(at, "divided by several warps' threads, it names warps", a.why))
        if a.kind is Kind.WARP and b.num and (b.num % 2 == 0 if op == "/" else b.num > 0):
            return V(Kind.PART, UNIFORM, None, (), a.why)  # groups of whole wavefronts
        if op == "/" and a.kind is Kind.PRODUCT and a.src and a.num is None and b.vary == UNIFORM:
            return V(Kind.PRODUCT, a.vary, None, a.src, a.why)
        if op == "/" and a.num == 32 and a.src and b.kind is Kind.BLOCK:
            use(a, Role.GUARD, None, b)  # `32 / blockDim.x` rows of a block are a warp
        if op == "/" and a.num == 32 and a.src and a.kind is Kind.NUMBER:
            use(a, Role.WIDTH, None, b)  # by its name: `rows_per_warp = 32 / threads_per_row`
        if op == "/" and a.num == 32 and a.src and a.kind is Kind.NUMBER and b.num is None:
            return V(Kind.SHARE, b.vary, None, a.src)
        if b.kind is Kind.SHARE and b.src and a.kind in _LANEABLE:
            use(b, Role.SIZE, True if a.kind is Kind.LANE else None, a._replace(kind=Kind.SHIFTED))
        if a.kind is Kind.RESIDUE and a.src and b.kind is not Kind.SIZE:
            use(a, Role.BITS, False, b)  # `n % 32 / 8`: a place in a word or row
        if op == ">>" and a.kind in THREADS and b.num is not None and b.num > 5:
            return V(
                Kind.WARP,
                UNIFORM if a.kind is not Kind.GLOBAL else WARPS,
                None,
                (),
                Step(at, "shifted by more than a warp, it names warps", a.why),
            )
        if a.kind is Kind.BLOCK and b.vary == UNIFORM:
            x, y = a.constant, b.constant
            made = constants.binary(op, x, y) if x is not None and y is not None and y.value else None
            return V(Kind.BLOCK, UNIFORM, made.value if made else None, (), a.why, type=made.type if made else "int")
        return None
    if a.kind in THREADS or a.kind is Kind.SHIFTED:
        use(b, role, None, a)
        kind = Kind.GLOBAL_WARP if a.kind is Kind.GLOBAL else Kind.WARP
        return V(kind, WARPS, None, (), Step(at, f"{shown(op, b)} gives the warp id", a.why))
    if a.kind is Kind.WHOLE and a.vary == WARPS:
        use(b, role, True, a)
        return V(Kind.WARP, WARPS, None, (), a.why)
    if a.kind is Kind.COUNT:
        use(b, role, True, a)  # warps that each lane of one takes
        return V(Kind.QUOTIENT, a.vary, None, b.src, a.why)
    if a.kind is Kind.BLOCK:
        use(b, role, True, a)
        n = a.num // 32 if a.num is not None else None
        return V(Kind.COUNT, UNIFORM, n, (), Step(at, f"{shown(op, b)} counts warps", a.why))
    if a.kind in (Kind.LANE, Kind.MASK):
        use(b, role, True, a)
        return V(Kind.NUMBER, a.vary, None, (), a.why)
    if b.kind is Kind.SIZE:
        use(b, role, True, a)
    elif a.kind in (Kind.INDEX, Kind.LANE_PLUS, Kind.PART, Kind.THREAD_Y):
        use(b, Role.TILE, None if a.kind in (Kind.INDEX, Kind.LANE_PLUS) else False, a)
    else:
        use(b, Role.BITS if op == ">>" else Role.PLAIN, None, a)
        if b.src and (a.num is None or b.num is None):
            return V(Kind.QUOTIENT, a.vary, None, b.src, a.why)
    return None


def modulo(op: str, a: V, b: V, at: int, use: Record) -> V | None:
    """`a % 32`, `a & 31`: the lane of a thread."""
    role = Role.SIZE if op == "%" else Role.MASK
    if op == "&" and b.kind is not Kind.SIZE and a.num in (31, 32) and b.num is None:
        a, b = b, a
    fits = is_size(b) if op == "%" else is_mask(b)
    if op == "&" and a.kind is Kind.PRODUCT and a.num == -32:
        a, b = b, a
    if op == "&" and b.kind is Kind.PRODUCT and b.num == -32:  # `x & ~31`, `x & -32`: whole warps of threads
        if a.kind in THREADS or a.kind in (Kind.BLOCK, Kind.LANE):
            use(b, role, True, a)
            return a
        use(b, Role.TILE, None, a)
        return V(Kind.WHOLE, a.vary, None, b.src, a.why)
    if not fits:
        if op == "%" and a.num == 32 and a.src and a.kind is Kind.NUMBER:
            use(a, Role.GUARD if b.kind is Kind.BLOCK else Role.PLAIN, None, b)  # `32 % n == 0`
        if b.kind is Kind.SHARE and b.src and a.kind in _LANEABLE:
            use(b, Role.SIZE, True if a.kind is Kind.LANE else None, a._replace(kind=Kind.SHIFTED))
            return V(Kind.LANE, LANES, None, (), a.why)
        if a.kind is Kind.LANE:
            return V(Kind.LANE if b.num is not None else Kind.PART, a.vary, None, (), a.why)
        if a.kind in THREADS and b.kind is Kind.SIZE:
            return V(Kind.LANE, LANES, None, (), Step(at, "taken modulo the warp size, it is a lane id", a.why))
        if a.kind in THREADS and b.num is not None and (b.num if op == "%" else b.num + 1) % 32 == 0 and b.num > 0:
            return a
        if a.kind in THREADS and b.num is not None:
            return V(
                Kind.LANE if (b.num if op == "%" else b.num + 1) in (2, 4, 8, 16) else Kind.PART, LANES, None, (), a.why
            )
        if op == "&" and Kind.MASK in (a.kind, b.kind):
            return V(Kind.MASK, max(a.vary, b.vary), None, (), a.why or b.why)
        return None
    if a.kind in THREADS:
        use(b, role, None, a)
        return V(Kind.LANE, LANES, None, (), Step(at, f"{shown(op, b)} gives the lane in a warp of 32", a.why))
    if a.kind is Kind.LANE:
        use(b, role, True, a)
        return V(Kind.LANE, LANES, None, (), a.why)
    if a.kind in (Kind.BLOCK, Kind.COUNT):
        use(b, role, True, a)
        return V(Kind.NUMBER, a.vary)
    if a.kind in (Kind.WARP, Kind.GLOBAL_WARP):
        use(b, role, None, a)
        return V(a.kind, a.vary, None, (), a.why)
    if b.kind is Kind.SIZE:
        use(b, role, True, a)
        return V(Kind.LANE if a.vary == LANES else a.kind, a.vary, None, (), a.why)
    if a.kind is Kind.SHIFTED:
        use(b, role, None, a)
        return V(Kind.LANE, LANES, None, (), a.why)
    soft = a.kind in (Kind.INDEX, Kind.LANE_PLUS, Kind.UNKNOWN, Kind.DATA, Kind.PART)
    use(b, Role.BITS if op == "&" else Role.TILE, None if soft else False, a)
    if b.src and a.num is None and a.kind is Kind.LANE_PLUS:
        return V(Kind.LANE_PLUS, LANES, None, b.src, a.why)
    if b.src and a.num is None and a.kind in _RESTING:
        return V(Kind.RESIDUE, a.vary, None, b.src, a.why)
    return None


#: What `% 32` makes a residue of: not thread indices, which give lanes.
_RESTING = frozenset({Kind.UNKNOWN, Kind.NUMBER, Kind.DATA, Kind.STEP, Kind.ROUND, Kind.PRODUCT})


def shown(op: str, b: V) -> str:
    """An operator and its number as a reason shows them."""
    return f"`{op} {b.num if b.num is not None else 'warpSize'}`"
