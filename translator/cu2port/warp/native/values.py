"""Values of native code: those that stay the same however many lanes a warp has, and those that do not."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from cu2port.syntax.tree import Expr

SPACE = "cu2port::wave::"


class Kind(Enum):
    """What a value is when warps become wavefronts. All but SAME, TID and SPOT change with the number of lanes."""

    SAME = "the same value in the same thread"
    TID = "threadIdx.x"
    LANE = "a lane id"
    WARP = "a warp id"
    COUNT = "a count of warps"
    PART = "what a warp's lanes come to"  # over all lanes of the thread's warp
    SLOTS = "an array with a value for each warp"
    GATHERED = "a warp's value in each lane"  # and an identity in the lanes beyond
    WHOLE = "what the block's threads come to"  # in the first warp, or everywhere
    TILE = "a tile of 32 threads"
    SPOT = "an array whose first element is set"
    MIXED = "one of several values"


class T(NamedTuple):
    """The type of a value. `op`: what put it together; `everywhere`: a WHOLE that all threads have; `uniform`: the same
    in all threads of the block; `seen`: SLOTS behind a barrier; `node`: the constant that a variable was set to;
    `typ`: the C++ type of what depends on the number of lanes; `source`: the variable whose value of each warp SLOTS
    hold."""

    kind: Kind
    op: str = ""
    everywhere: bool = False
    uniform: bool = False
    seen: bool = False
    node: Expr | None = None
    typ: str = ""
    source: str = ""


SAME = T(Kind.SAME)
UNIFORM = T(Kind.SAME, uniform=True)
MIXED = T(Kind.MIXED)
_ASIDE: dict[str, Any] = {"node": None, "source": ""}
_PLAIN = frozenset({Kind.SAME, Kind.TID})


def is_plain(t: T) -> bool:
    """Whether a value is the same for any number of lanes."""
    return t.kind in _PLAIN


def join(a: T, b: T) -> T:
    """The type of a value that is a or b."""
    if a == b:
        return a
    if is_plain(a) and is_plain(b):
        return T(Kind.SAME, uniform=a.uniform and b.uniform)
    if Kind.WHOLE in (a.kind, b.kind) and (is_plain(a) or is_plain(b)):  # right wherever the block's is
        return T(Kind.WHOLE, everywhere=a.everywhere or b.everywhere)
    if a.kind is b.kind and a._replace(**_ASIDE) == b._replace(**_ASIDE):
        return a._replace(node=None, source=a.source if a.source == b.source else "")
    return MIXED
