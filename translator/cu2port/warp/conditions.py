"""Conditions: whom a comparison lets through, one thread, one lane of each warp, whole warps or some lanes."""

from __future__ import annotations

from cu2port.warp.roles import Record, Role, is_mask, is_size
from cu2port.warp.values import CONDITIONS, UNIFORM, WARPS, Kind, V

COMPARE = frozenset("< > <= >= == !=".split())


def compare(op: str, a: V, b: V, at: int, use: Record) -> V:
    """A condition: whom it lets through."""
    x, y = (b, a) if (a.num is not None or a.kind is Kind.SIZE) and b.num is None else (a, b)
    if is_size(y) or is_mask(y):
        if x.kind in (Kind.LANE, Kind.LANE_PLUS):
            use(y, Role.LAST if is_mask(y) else Role.SIZE, True, x)
        elif x.kind in (Kind.THREAD, Kind.LINEAR):
            use(y, Role.LAST if y.num == 31 and op in ("==", "!=") else Role.GUARD, None, x)
        elif x.kind is Kind.LANE_BITS and is_size(y):
            use(y, Role.SIZE, True, x)  # `__ffs(mask) - 1 < 32`
        elif x.kind is Kind.PART and y.num == 31 and op in ("==", "!="):
            use(y, Role.LAST, None, x)  # `threadIdx.x % group == 31`
        elif x.kind in (Kind.COUNT, Kind.WARP, Kind.BLOCK, Kind.SIZE):
            role = Role.SLOTS if x.kind in (Kind.COUNT, Kind.WARP) else Role.GUARD
            lanes = None if x.kind is Kind.BLOCK and y.kind is Kind.NUMBER else True
            use(y, role, False if x.kind is Kind.WARP and is_mask(y) else lanes, x)
        elif y.kind is Kind.SIZE:
            use(y, Role.SIZE, True, x)
        else:
            use(y, Role.PLAIN, False if x.num is None and x.kind is not Kind.NUMBER else None, x)
    if y.kind is Kind.PRODUCT and y.src and x.kind in (Kind.THREAD, Kind.LINEAR, Kind.INDEX):
        use(y, Role.GUARD, None, x)
    if y.kind is Kind.PRODUCT and y.src and y.vary == UNIFORM and x.kind in (Kind.LANE, Kind.LANE_PLUS) and op == "<":
        use(y, Role.COUNT, True, x)  # `for (i = lane; i < (n + 31) / 32 * 32; ...)`
    if y.num is None and y.kind is Kind.NUMBER and y.src and x.kind in (Kind.THREAD, Kind.LINEAR):
        use(y, Role.GUARD, None, x)  # `first = wide ? 64 : 32`
    if y.num is None and y.kind in (Kind.NUMBER, Kind.UNKNOWN) and y.src and x.kind is Kind.LANE and op in _TURNED:
        use(y, Role.SIZE, True, x)  # `lane < count`, `count = min(32, rest)`
    for s, o in ((a, b), (b, a)):
        if s.kind is Kind.STEP and s.src and o.kind in (Kind.LANE, Kind.THREAD, Kind.LINEAR):
            use(s, Role.LOOP if o.kind is Kind.LANE else Role.GUARD, True if o.kind is Kind.LANE else None, o)
        if s.kind is Kind.QUOTIENT and s.src and o.kind in _PARTED:
            use(s, Role.COUNT, True, o)  # `lane < THREADS / 32`
        if s.kind is Kind.RESIDUE and o.kind is Kind.LANE:
            use(s, Role.SIZE, True, o)
    vary = max(a.vary, b.vary)
    why = (a if a.vary >= b.vary else b).why
    op = op if x is a else _TURNED.get(op, op)
    kind = _condition(op, x, y, vary)
    sure = (
        1 if kind is Kind.ONE and x.kind is not Kind.THREAD else None
    )  # one of the block, however many its dimensions
    if sure is None and x.kind in (Kind.THREAD, Kind.LINEAR, Kind.SHIFTED):
        sure = _one_warp(op, y)
    if _whole(op, x, y):
        vary = UNIFORM if _aligned(op, y, 64) else WARPS
    elif x.kind is Kind.WARP and _aligned(op, y, 2):
        vary = UNIFORM  # `warp < 4`
    return V(kind, vary, sure, (), why, a.shared or b.shared)


#: What is compared with a quotient that counts warps.
_PARTED = frozenset({Kind.LANE, Kind.WARP, Kind.GLOBAL_WARP, Kind.COUNT, Kind.THREAD, Kind.LINEAR})
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _one_warp(op: str, y: V) -> int | None:
    """32 if `x op y` lets one warp through, -32 if it keeps one out: `x < 32`, `x >= 32`."""
    if op in ("<", ">="):
        return 32 if op == "<" and is_size(y) else -32 if is_size(y) else None
    if op in (">", "<=") and y.num == 31:
        return 32 if op == "<=" else -32
    return None


def _aligned(op: str, y: V, size: int) -> bool:
    """Whether `x op y` parts the values of x at a multiple of `size`."""
    if y.num is None or y.num <= 0 or op not in _TURNED:
        return False
    return y.num % size == (size - 1 if op in ("<=", ">") else 0)


def _whole(op: str, x: V, y: V) -> bool:
    """Whether `x op y` is the same for all lanes of each CUDA warp although x varies by lane."""
    if x.kind not in (Kind.THREAD, Kind.LINEAR) or op not in ("<", ">=", ">", "<="):
        return False
    if y.kind in (Kind.SIZE, Kind.BLOCK) or (y.kind is Kind.PRODUCT and y.num is None):
        return True
    if y.num is not None and y.num > 0:
        return y.num % 32 == (31 if op in ("<=", ">") else 0)
    return False


def _condition(op: str, x: V, y: V, vary: int) -> Kind:
    if op in ("==", "<", "<="):
        single = op == "==" or (op == "<" and y.num == 1) or (op == "<=" and y.num == 0)
        if single and y.vary == UNIFORM and x.kind in (Kind.LINEAR, Kind.GLOBAL, Kind.THREAD):
            return Kind.ONE
        if single and y.vary == UNIFORM and x.kind is Kind.THREAD_Y:
            return Kind.ROW
        if single and x.kind is Kind.LANE and y.vary <= WARPS:
            return Kind.LEADER
        if op == "==" and y.kind is Kind.LANE and x.vary <= WARPS:
            return Kind.LEADER
    if vary == WARPS or _whole(op, x, y):
        return Kind.FIRST
    return Kind.SOME if x.kind is Kind.LANE and y.vary <= WARPS else Kind.TEST


def logic(op: str, a: V, b: V) -> V:
    """`a && b`, `a || b`."""
    vary = max(a.vary, b.vary)
    why = (a if a.vary >= b.vary else b).why
    kinds = {a.kind, b.kind} & CONDITIONS
    kind = Kind.TEST
    sure: int | None = None
    if op == "&&":
        if Kind.ONE in kinds and (Kind.ROW in kinds or 1 in (a.num, b.num)):
            sure = 1
        if Kind.ONE in kinds or kinds == {Kind.LEADER, Kind.FIRST}:
            kind = Kind.ONE if Kind.ONE in kinds else Kind.LEADER
        elif Kind.LEADER in kinds:
            kind = Kind.LEADER
        elif Kind.ROW in kinds:
            kind = Kind.ROW
        elif vary == WARPS:
            kind = Kind.FIRST
    elif a.kind is b.kind and a.kind in CONDITIONS:
        kind = a.kind
    elif vary == WARPS:
        kind = Kind.FIRST
    if sure is None:
        sure = 32 if op == "&&" and 32 in (a.num, b.num) else -32 if op == "||" and -32 in (a.num, b.num) else None
    return V(kind, vary, sure, (), why, a.shared or b.shared)


def negate(v: V) -> V:
    """The value of `!v`."""
    if v.kind not in CONDITIONS:
        return compare("==", v, V(Kind.NUMBER, num=0), -1, lambda *_: None)
    kind = v.kind if v.kind is Kind.FIRST else Kind.SOME if v.kind in (Kind.LEADER, Kind.SOME) else Kind.TEST
    return V(kind, v.vary, None, (), v.why, v.shared)
