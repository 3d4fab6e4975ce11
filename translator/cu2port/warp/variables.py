"""What variables and parameters hold, by their values and their names."""

from __future__ import annotations

import re
from collections.abc import Callable

from cu2port.warp.roles import Role
from cu2port.warp.uses import TOLD, WATCHED
from cu2port.warp.values import (
    NOTHING,
    UNIFORM,
    VARY,
    WARPS,
    Kind,
    Step,
    V,
    by_name,
    is_block_size,
    is_weak,
    named_constant,
)

#: Takes a literal's value, its role, whether it counts lanes, and what it meets.
UseFunction = Callable[[V, Role, "bool | None", V], None]

_SCALES = re.compile(r"(?i)scal(?:e|ing)|quant")
_MOST_THREADS = 1024


def held(name: str, v: V, at: int, use: UseFunction) -> V:
    """What a variable holds that is given a value: the value, and what the name says of it."""
    vary = v.vary
    why = v.why
    if v.kind is Kind.QUOTIENT and "bit" in name.lower():
        v = V(Kind.UNKNOWN, vary, None, (), why)  # `bitmap_words = (n + 31) / 32`
    if v.kind is Kind.SHARE and _SCALES.search(name):
        v = V(Kind.UNKNOWN, vary, None, (), why)  # `threads_per_scale = 32 / values`: groups of 32 values
    if v.kind in TOLD and (why is None or why.before is None or not why.text.startswith("kept")):
        why = Step(at, f"kept as `{name}`, {v.kind.value}", v.why)
    known = by_name(name) if v.kind in (Kind.UNKNOWN, Kind.DATA, Kind.PART) and v.num is None else Kind.UNKNOWN
    if known is not Kind.UNKNOWN and (v.kind is not Kind.DATA or known is not Kind.LINEAR):
        v = V(known, max(vary, VARY[known]), None, v.src, Step(at, f"`{name}` is {known.value} by its name", None))
    elif v.kind is Kind.THREAD_Y and known is Kind.UNKNOWN and by_name(name) is Kind.WARP:
        v = V(Kind.WARP, WARPS, None, (), Step(at, f"`{name}` is a warp id by its name", v.why))
    elif v.kind in (Kind.NUMBER, Kind.UNKNOWN) and v.vary == UNIFORM and is_block_size(name):
        v = v._replace(kind=Kind.BLOCK)
    elif v.kind is Kind.PRODUCT and v.num is not None and is_block_size(name) and v.num <= _MOST_THREADS:
        use(v, Role.COUNT, True, V(Kind.BLOCK))  # `constexpr int kThreads = 8 * 32`
        v = v._replace(kind=Kind.BLOCK)
    elif v.kind is Kind.PRODUCT and v.num is None and v.vary == UNIFORM and is_block_size(name):
        use(v, Role.BLOCK, None, NOTHING)
        v = v._replace(kind=Kind.BLOCK)
    elif v.num in WATCHED and v.kind is Kind.NUMBER and v.src and named_constant(name):
        v = v._replace(kind=Kind.SIZE)
    elif v.num is None and v.vary == UNIFORM and named_constant(name) == "size" and not is_weak(name):
        if v.src and v.kind in (Kind.NUMBER, Kind.UNKNOWN):  # `kWarpSize = min(kThreads, 32)`
            use(v, Role.SIZE, True, NOTHING)
        if v.kind in (Kind.NUMBER, Kind.UNKNOWN):
            v = V(Kind.SIZE, UNIFORM, None, v.src, v.why)
    return v._replace(vary=max(vary, v.vary), why=why if v.why is None or v.kind in TOLD else v.why)


def parameter(name: str, v: V | None, at: int, pointer: bool, volatile: bool) -> V:
    """What a parameter holds when callers and its default give `v`; None where they say nothing."""
    if (v is None or v.kind is Kind.UNKNOWN) and not pointer:
        meaning = named_constant(name)
        if meaning == "size":
            return V(Kind.SIZE, UNIFORM, 32, v.src if v is not None else ())
        known = by_name(name)
        if known is not Kind.UNKNOWN:
            return V(known, VARY[known], None, (), Step(at, f"`{name}` is {known.value} by its name", None))
    v = v if v is not None else NOTHING
    if v.kind in (Kind.UNKNOWN, Kind.NUMBER) and v.vary == UNIFORM and not pointer and is_block_size(name):
        return v._replace(kind=Kind.BLOCK)
    if v.num is not None and v.kind is Kind.NUMBER and named_constant(name) == "size":
        v = v._replace(kind=Kind.SIZE)
    return v._replace(volatile=volatile or v.volatile)
