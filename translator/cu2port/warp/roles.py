"""The roles of a 32, a 31 or a 5, and how one is recorded."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from cu2port.warp.values import Kind, V


class Role(Enum):
    """What a 32, 31 or 5 is in one use."""

    SIZE = "lanes in a warp"
    MASK = "mask of a lane id"
    LOG = "shift between threads and warps"
    COUNT = "threads to warps"
    SLOTS = "slots of a shared array, one a warp or a lane"
    WIDTH = "width or distance of a cross-lane operation"
    LOOP = "bound of a loop over lanes"
    STRIDE = "stride of lanes over data"
    GUARD = "bound between the first warp and the rest"
    LAST = "last lane"
    BITS = "bits of a word"
    TILE = "edge of a tile"
    BLOCK = "threads of a block"
    PLAIN = "a plain number"


Record = Callable[[V, Role, bool | None, V], None]  # the literal, its role, whether it counts lanes, the other side


def is_size(v: V) -> bool:
    """Whether a value is the warp size, or a 32 that may be."""
    return v.num == 32 or (v.kind is Kind.SIZE and v.num in (None, 64))


def is_mask(v: V) -> bool:
    """Whether a value is the warp size less one, or a 31 that may be."""
    return v.num == 31 or (v.kind is Kind.SIZE and v.num is None)
