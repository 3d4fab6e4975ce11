"""Values of native code: those that stay the same however many lanes a warp has, and those that do not."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from cu2port.warp.tree import Expr

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
    MASK = "a mask of a warp's lanes"
    GROUP = "a group of a warp's threads"
    LOWER = "a mask of the lanes below"
    RANK = "a lane's rank in a mask"
    COUNTED = "the number of lanes in a mask"
    ELECTED = "whether a lane leads those of a mask"
    LEADER = "the lane that leads those of a mask"
    BASE = "where a warp's places begin"
    PLACE = "a place that the lanes of a mask have"
    PREFIX = "what the lanes of a warp up to each come to"
    UPTO = "a value made of what lanes of a warp up to each come to"
    SHIFTED = "what lanes of a warp before each come to, but in the first"
    LOOSE = "a warp's value in each lane that has one"
    SCANNED = "what the slots up to each lane come to"
    BELOW_SLOTS = "what the slots before each lane come to"
    SHIFTED_SLOTS = "what the slots before each lane come to, but in the first"
    SUMS = "an array with what warps up to each come to"
    SUMS_BELOW = "an array with what warps before each come to"
    BEFORE = "what earlier warps come to"
    MIXED = "one of several values"


class T(NamedTuple):
    """The type of a value. `op`: what put it together; `everywhere`: a WHOLE that all threads have; `uniform`: the same
    in all threads of the block; `seen`: SLOTS behind a barrier; `node`: the constant that a variable was set to;
    `few`: GATHERED with some lane that has no warp's value, whatever the number of lanes; BASE or PLACE that only the
    lanes of the mask have, RANK that counts the lane itself; `mask`: the token that made the mask that a value is of;
    `typ`: the C++ type of what depends on the number of lanes; `scan`: the token of the scan that a value comes from;
    `source`: the variable whose value of each warp SLOTS hold; `made`: the token of the reduction that it comes from;
    `dual`: what a value is that is the same for any number of lanes, but could be had for wavefronts as well: "lane",
    "warp", "tile", or the text of a count of warps."""

    kind: Kind
    op: str = ""
    everywhere: bool = False
    uniform: bool = False
    seen: bool = False
    node: Expr | None = None
    few: bool = False
    mask: int = -1
    typ: str = ""
    scan: int = -1
    own: str = ""
    source: str = ""
    made: int = -1
    dual: str = ""


SAME = T(Kind.SAME)
UNIFORM = T(Kind.SAME, uniform=True)
MIXED = T(Kind.MIXED)
_ASIDE: dict[str, Any] = {"node": None, "source": "", "made": -1, "dual": ""}
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
        return T(Kind.WHOLE, everywhere=a.everywhere or b.everywhere, made=max(a.made, b.made))
    if a.kind is b.kind and a._replace(**_ASIDE) == b._replace(**_ASIDE):
        return a._replace(node=None, source=a.source if a.source == b.source else "", dual="")
    return MIXED
