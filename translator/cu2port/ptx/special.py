"""Special registers: `%tid.x`, `%laneid`, `%clock` and their like, as trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cu2port.ptx.ops import PRED, U32, U64, Effect, Op, Value, const, convert


def _run(machine: Any, v: Value, active: tuple[int, ...], _: list[dict[int, int]]) -> dict[int, int]:
    known = machine.special.get(v.attr)
    return {lane: known(lane) & v.type.mask if known else 0 for lane in active}


FIXED = Op("fixed", lambda v: 0, "{attr}", run=_run)  # attr: as C++ spells it
STATE = Op("state", lambda v: 0, "{attr}", effect=Effect.STATE, run=_run)  # another value each time

_PTX, _WARP = "cu2port::ptx::", "cu2port::warp::"
_VECTORS: Mapping[str, str] = {
    "%tid": "threadIdx",
    "%ntid": "blockDim",
    "%ctaid": "blockIdx",
    "%nctaid": "gridDim",
    "%clusterid": "blockIdx",  # a cluster is one block
    "%nclusterid": "gridDim",
}
_FIXED: Mapping[str, str] = {
    "%laneid": _WARP + "lane_id()",
    "%lanemask_eq": _WARP + "lanemask_eq()",
    "%lanemask_le": _WARP + "lanemask_le()",
    "%lanemask_lt": _WARP + "lanemask_lt()",
    "%lanemask_ge": _WARP + "lanemask_ge()",
    "%lanemask_gt": _WARP + "lanemask_gt()",
    "%warpid": _PTX + "warpid()",
    "%smid": _PTX + "smid()",
    "%dynamic_smem_size": _PTX + "dynamic_smem_size()",
    "%total_smem_size": _PTX + "total_smem_size()",
    "%aggr_smem_size": _PTX + "total_smem_size()",
}
_STATE: Mapping[str, str] = {
    "%clock64": _PTX + "clock64()",
    "%globaltimer": _PTX + "globaltimer()",
}
# name -> (C++, whether the upper half)
_HALVES: Mapping[str, tuple[str, bool]] = {
    "%clock": ("%clock64", False),
    "%clock_hi": ("%clock64", True),
    "%globaltimer_lo": ("%globaltimer", False),
    "%globaltimer_hi": ("%globaltimer", True),
}
_CONSTANTS: Mapping[str, int] = {
    "WARP_SZ": 32,
    "%nwarpid": 64,  # 2048 threads, as many as NVIDIA's largest multiprocessors take
    "%cluster_ctarank": 0,
    "%cluster_nctarank": 1,
    "%reserved_smem_offset_begin": 0,
    "%reserved_smem_offset_end": 0,
    "%reserved_smem_offset_cap": 0,
    "%reserved_smem_offset_0": 0,
    "%reserved_smem_offset_1": 0,
}
_CONSTANTS_64: Mapping[str, int] = {"%gridid": 0, "%current_graph_exec": 0}
_CONSTANT_VECTORS: Mapping[str, int] = {"%cluster_ctaid": 0, "%cluster_nctaid": 1}

MISSING: Mapping[str, tuple[str, str]] = {
    "%nsmid": (
        "a kernel cannot ask how many compute units its GPU has",
        "pass `hipDeviceProp_t::multiProcessorCount` to the kernel",
    ),
    "%pm": ("AMD GPUs have no such performance counters", "use rocprofv3"),
    "%envreg": ("its meaning is NVIDIA's driver's own", "pass the value to the kernel"),
}


def value(name: str, select: str) -> Value | None:
    """The value of a special register, None for a name that is none or has no counterpart (see `missing`)."""
    if name in _VECTORS and select in ("x", "y", "z"):
        return Value(FIXED, U32, (), f"{_VECTORS[name]}.{select}")
    if select and (name in _VECTORS or name in _CONSTANT_VECTORS):
        return (
            const(_CONSTANT_VECTORS.get(name, 0) if select in ("x", "y", "z") else 0, U32) if select in "xyzw" else None
        )
    if select:
        return None
    if name in _FIXED:
        return Value(FIXED, U32, (), _FIXED[name])
    if name in _STATE:
        return Value(STATE, U64, (), _STATE[name])
    if name in _HALVES:
        whole, upper = _HALVES[name]
        counter = Value(STATE, U64, (), _STATE[whole])
        return convert(counter >> 32 if upper else counter, U32)
    if name == "%is_explicit_cluster":
        return const(0, PRED)
    if name in _CONSTANTS:
        return const(_CONSTANTS[name], U32)
    return const(_CONSTANTS_64[name], U64) if name in _CONSTANTS_64 else None


def is_special(name: str) -> bool:
    """Whether a name is a special register's that has a counterpart."""
    return any(value(name, select) is not None for select in ("", "x"))


def missing(name: str) -> tuple[str, str] | None:
    """Why a special register has no counterpart, and what to do instead; None for any other name."""
    return MISSING.get(name.rstrip("0123456789").removesuffix("_"))
