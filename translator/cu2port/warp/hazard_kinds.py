"""The kinds of hazards between lanes."""

from __future__ import annotations

from enum import Enum


class HazardKind(Enum):
    """Kinds of hazards; each is one check."""

    WARP_LOCK = "warp-lock"
    LANE_LOCK = "lane-lock"
    WARP_ROLES = "warp-roles"
    DIVIDED_BARRIER = "divided-barrier"
    NAMED_BARRIER = "named-barrier"
    OTHER_ARM = "other-arm-mask"
    COALESCED = "coalesced-threads"
    EXIT = "cross-lane-before-exit"
