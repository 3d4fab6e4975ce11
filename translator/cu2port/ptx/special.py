"""Special registers: `%tid.x`, `%laneid`, `%clock` and their like, as trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cu2port.ptx.ops import U32, Effect, Op, Value, const


def _run(machine: Any, v: Value, active: tuple[int, ...], _: list[dict[int, int]]) -> dict[int, int]:
    known = machine.special.get(v.attr)
    return {lane: known(lane) & v.type.mask if known else 0 for lane in active}


STATE = Op("state", lambda v: 0, "{attr}", effect=Effect.STATE, run=_run)  # attr: as C++ spells it
FIXED = Op("fixed", lambda v: 0, "{attr}", run=_run)

_VECTORS: Mapping[str, str] = {"%tid": "threadIdx", "%ntid": "blockDim", "%ctaid": "blockIdx", "%nctaid": "gridDim"}


def value(name: str, select: str) -> Value | None:
    """The value of a special register, None for a name that is none."""
    if name in _VECTORS and select in ("x", "y", "z"):
        return Value(FIXED, U32, (), f"{_VECTORS[name]}.{select}")
    if name == "WARP_SZ":
        return const(32, U32)
    return None
