"""What operators make of abstract values, and which role a literal plays beside them.

A role is recorded for the tokens in `src` of a value: the literal 32 of `threadIdx.x % 32` is the warp size there.
"""

from __future__ import annotations

from collections.abc import Callable

from cu2port.syntax import constants
from cu2port.warp.conditions import COMPARE, compare, logic
from cu2port.warp.divide import divide, modulo, shown
from cu2port.warp.roles import Record, Role, is_mask, is_size
from cu2port.warp.values import LANES, THREADS, UNIFORM, WARPS, Kind, Step, V


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
    made = constants.binary(op, x, y) if x is not None and y is not None else None
    n = made.value if made is not None and made.type != "bool" else None
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
    return V(kind, max(a.vary, b.vary), n, src, a.why or b.why, type=made.type if made is not None else "int")


def _multiply(op: str, a: V, b: V, at: int, use: Record) -> V | None:
    """`warp * 32`, `n * 32`, `warp << 5`."""
    if op == "<<" and (b.kind in (Kind.LANE,)):
        one = a.num in (1, 2, 3) or a.num in (0xFFFFFFFF, -1)
        return V(Kind.LANE_BIT if one else Kind.UNKNOWN, LANES, None, (), b.why)
    if op == "*" and is_size(a) and not is_size(b):
        a, b = b, a
    if not (b.num == 5 if op == "<<" else is_size(b)):
        for x, y in ((a, b), (b, a)) if op == "*" else ():
            if x.kind in (Kind.WARP, Kind.GLOBAL_WARP) and y.kind is Kind.PRODUCT and y.src:
                use(y, Role.COUNT, True, x)
                return V(Kind.PART, x.vary, None, (), x.why)
            if x.kind is Kind.WARP and y.kind is Kind.BLOCK and "threadIdx.y" in (x.why.text if x.why else ""):
                return V(Kind.LINEAR, x.vary, None, (), x.why)  # rows of 32 threads: `threadIdx.y * blockDim.x`
            if x.kind in (Kind.WARP, Kind.GLOBAL_WARP) and y.vary == UNIFORM:
                return V(Kind.WARP_MULTIPLE, x.vary, None, (), x.why)
        for x, y in ((a, b), (b, a)) if op == "*" else ():
            if x.kind is Kind.PRODUCT and x.src and y.vary == UNIFORM and y.kind in _FACTORS:
                return V(Kind.PRODUCT, x.vary, None, x.src, x.why)
            if x.kind is Kind.LANE and y.vary == UNIFORM:
                return V(Kind.LANE_MULTIPLE, LANES, None, (), x.why)
        if op == "<<":
            if a.num == 1 and b.kind is Kind.SIZE:  # `1u << (WARP_SIZE - 1)`: the last lane's bit
                use(b, Role.LAST, True, a)
            elif b.src and b.num is None:
                use(b, Role.LOOP if a.kind is Kind.LANE_BIT else Role.BITS, False, a)
            elif b.src:
                use(b, Role.BITS, False, a)
            if Kind.MASK is a.kind:
                return V(Kind.MASK, max(a.vary, b.vary), None, (), a.why)
        if op == "*" and {a.kind, b.kind} in ({Kind.BLOCK_ID, Kind.BLOCK}, {Kind.BLOCK_ID}):
            return V(Kind.BLOCK_ID, UNIFORM, None, (), a.why or b.why)
        if (
            op == "*"
            and Kind.COUNT in (a.kind, b.kind)
            and {a.kind, b.kind} <= _COUNTED
            and max(a.vary, b.vary) < LANES
        ):
            return V(Kind.COUNT, max(a.vary, b.vary), None, (), a.why or b.why)
        for x, y in ((a, b), (b, a)) if op == "*" else ((a, b),):
            if x.kind is Kind.THREAD_Y and (y.kind is Kind.BLOCK or y.num is not None):
                return V(Kind.THREAD_Y, LANES, None, (), x.why)  # `threadIdx.y * 16`, before `+ threadIdx.x`
        if op == "*" and Kind.BLOCK in (a.kind, b.kind) and a.vary == b.vary == UNIFORM:
            return V(Kind.BLOCK, UNIFORM, None, (), a.why or b.why)
        return None
    role = Role.LOG if op == "<<" else Role.COUNT
    if a.kind is Kind.WARP_MULTIPLE:
        use(b, role, True, a)
        return V(Kind.PART, a.vary, None, (), a.why)
    if a.kind in (Kind.WARP, Kind.GLOBAL_WARP, Kind.COUNT):
        use(b, role, True, a)
        n = a.num * 32 if a.num is not None else None
        kind = Kind.BLOCK if a.kind is Kind.COUNT else Kind.GLOBAL if a.kind is Kind.GLOBAL_WARP else Kind.LINEAR
        return V(kind, a.vary, n, (), Step(at, f"{shown(op, b)} counts threads again", a.why))
    if a.num is not None and b.num is not None:
        if op == "*" and a.num != 32:
            use(b, Role.COUNT, None, a)
        return None  # folded, the product remembers its literals
    src = (*b.src, *a.src) if a.kind is Kind.ROUND else b.src
    if op == "*" and a.kind in _FACTORS:
        use(b, Role.COUNT, None, a)
    return V(Kind.PRODUCT, a.vary, None, src, a.why)


def _add(op: str, a: V, b: V, at: int, use: Record) -> V | None:
    for x, y in ((a, b), (b, a)):
        if x.kind is Kind.LANE:
            if y.kind in (Kind.PRODUCT, Kind.STEP) and y.src:
                use(y, Role.STRIDE, True, x)
                return V(Kind.LANE_PLUS, LANES, None, (), x.why)
            if is_size(y) or is_mask(y):
                use(y, Role.LAST if op == "-" else Role.STRIDE, True, x)
                return V(Kind.LANE, LANES, None, (), x.why)
            if y.kind in (Kind.LINEAR, Kind.GLOBAL) and op == "+":
                return V(y.kind, LANES, None, (), y.why or x.why)
            if y.num is not None:
                return V(Kind.LANE, LANES, None, (), x.why)
            if op == "-" and x is b:
                return V(Kind.WHOLE, WARPS, None, (), x.why)  # `i - lane`: where the warp begins
            return V(Kind.LANE_PLUS if y.vary == UNIFORM else Kind.INDEX, LANES, None, (), x.why)
        if x.kind is Kind.WHOLE and x.vary == WARPS and y.src:
            if is_size(y) or is_mask(y):
                use(y, Role.LAST, True, x)
                return x
            if y.kind is Kind.STEP:
                use(y, Role.LOOP, True, x)  # `for (j = 0; j < 32; j++) s[first + j]`
        if x.kind is Kind.LANE_MULTIPLE:
            if y.kind is Kind.PRODUCT and y.src and y.num is None:
                use(y, Role.STRIDE, None, x)
            return V(Kind.LANE_MULTIPLE if y.vary == UNIFORM else Kind.PART, LANES, None, (), x.why)
        if x.kind is Kind.LANE_PLUS:
            if y.num == 32 and y.src:
                use(y, Role.STRIDE, None, x)
            return V(Kind.INDEX, LANES, None, (), x.why)
        if x.kind in THREADS and op == "+":
            if y.kind is Kind.LANE and x.kind is not Kind.THREAD:
                return V(x.kind, LANES, None, (), x.why)
            if y.kind is Kind.WHOLE:
                use(y, Role.MASK, None, x)  # `(n & ~31) + threadIdx.x`
            if y.kind is Kind.BLOCK_ID:
                return V(Kind.GLOBAL, LANES, None, (), x.why)
            if y.kind is Kind.THREAD_Y:
                return V(Kind.LINEAR, LANES, None, (), Step(at, "the linear index of the thread in its block", x.why))
            if y.kind is Kind.PRODUCT:
                use(y, Role.BLOCK, None, x)
                return V(Kind.LINEAR if y.vary == LANES else Kind.INDEX, LANES, None, (), x.why)
            if y.num == 31 and y.src:
                use(y, Role.LAST, None, x)  # `values[threadIdx.x + 31]`
            if y.src and (y.num == 32 or (y.kind is Kind.STEP and y.num is None)):
                use(y, Role.STRIDE, None, x)
            if y.num is not None:
                return V(Kind.SHIFTED, LANES, None, y.src if y.num == 32 else (), x.why)
            return V(Kind.INDEX, LANES, None, (), x.why)
        if x.kind is Kind.PRODUCT and x.src and x.num is None and y.kind in _OFFSETS and y.vary <= WARPS:
            return V(Kind.PRODUCT, max(x.vary, y.vary), None, x.src, x.why or y.why)  # `p + i * 32`, before `+ lane`
        if x.kind is Kind.INDEX and y.num == 32 and y.src:
            use(y, Role.STRIDE, None, x)
        if x.kind is Kind.INDEX and op == "+" and y.vary == UNIFORM and y.kind in (Kind.UNKNOWN, Kind.DATA):
            return V(Kind.INDEX, x.vary, None, (), x.why)
        if x is a and op == "-" and x.kind in THREADS and y.vary == UNIFORM:
            if y.num == 32 and y.src:
                use(y, Role.STRIDE, None, x)
            elif y.kind is Kind.PRODUCT and y.num is not None:
                use(y, Role.GUARD, None, x)
            return V(Kind.SHIFTED, LANES, None, (), x.why)
        if x.kind is Kind.COUNT and is_mask(y) and y.src and op == "+":
            use(y, Role.COUNT, True, x)  # `(warps + 31) / 32`
            return x
        if x.kind is Kind.BLOCK and (is_mask(y) or is_size(y) or y.num == 1):
            use(y, Role.COUNT, True, x)
            return x
        if x.kind is Kind.WARP and y.kind is Kind.PRODUCT and y.src and op == "+":
            use(y, Role.SLOTS, True, x)  # `row * 32 + warp`: a slot for each warp
            return V(Kind.PART, max(x.vary, y.vary), None, (), x.why)
        if x.kind is Kind.WARP and y.num is not None:
            return V(Kind.WARP, x.vary, None, (), x.why)
    if op == "-" and a.num == 32 and a.kind is Kind.NUMBER and b.kind is Kind.SIZE:
        bits = b.num == 5  # `tag << (32 - LOG_WARP)`, but `32 - LOGICAL_WARP_THREADS`
        use(a, Role.BITS if bits else Role.SIZE, not bits, b)
    if op == "-" and a.src and a.num is None and b.kind is Kind.LANE_BITS:
        use(a, Role.LAST, True, b)  # `first + 31 - __clz(mask)`
    if op == "-" and (is_size(a) or is_mask(a)):
        # `32 - __clz(x)`, `w >> (32 - n)`: bits; of a mask of lanes: lanes
        if b.kind in (Kind.MASK, Kind.LANE_BITS) or (b.kind is Kind.BITS and b.vary == WARPS):
            use(a, Role.LAST, True, b)
        elif a.num is not None and b.num is not None:
            return None
        elif b.kind is Kind.BITS:
            use(a, Role.BITS, False, b)
        elif b.kind is Kind.RESIDUE and a.num == 32:  # `32 - n % 32`, what is missing to a multiple
            use(a, Role.TILE, None, b)
        else:
            if a.kind is not Kind.SIZE:  # a name's role shows when the difference is used
                use(a, Role.BITS, None, b)
            return V(Kind.STEP, b.vary, None, a.src, b.why)
    if op == "+" and a.num is None:
        for x, y in ((a, b), (b, a)):
            if is_mask(y) and y.src and x.kind is not Kind.NUMBER:
                use(y, Role.PLAIN, True if y.kind is Kind.SIZE else None, x)
                return V(x.kind if x.kind is not Kind.PRODUCT else Kind.UNKNOWN, x.vary, None, y.src, x.why)
            if y.num == 32 and y.src:
                use(y, Role.PLAIN, True if y.kind is Kind.SIZE else None, x)
    return None


#: What warps are counted with: so many in each of several blocks.
_COUNTED = frozenset({Kind.COUNT, Kind.UNKNOWN, Kind.NUMBER})
#: What a multiple of 32 stays one by.
_FACTORS = frozenset({Kind.UNKNOWN, Kind.NUMBER, Kind.SIZE, Kind.BLOCK_ID, Kind.STEP, Kind.ROUND})
#: What a multiple of 32 may be added to before the lane is: where a row begins.
_OFFSETS = frozenset({Kind.UNKNOWN, Kind.DATA, Kind.STEP, Kind.ROUND, Kind.PART, Kind.WARP_MULTIPLE, Kind.INDEX})


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
    "*": _multiply,
    "<<": _multiply,
    "+": _add,
    "-": _add,
    "^": _bitwise,
    "|": _bitwise,
}
