"""CUDA's cross-lane builtins by name."""

from __future__ import annotations

from collections.abc import Iterator

from cu2port.structure import Call
from cu2port.unit import Unit, iter_calls

SYNC = frozenset(
    "__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __any_sync __all_sync __ballot_sync __match_any_sync "
    "__match_all_sync __reduce_add_sync __reduce_min_sync __reduce_max_sync __reduce_and_sync __reduce_or_sync "
    "__reduce_xor_sync __syncwarp".split()
)


def sync_calls(unit: Unit) -> Iterator[tuple[int, Call]]:
    """Calls of the builtins whose first argument is a mask of lanes; what the file defines itself is left out."""
    for i, call in iter_calls(unit, SYNC):
        if unit.t[i] in unit.macros or unit.t[i] in unit.declared or unit.tok(i - 1) == "::":
            continue
        d = unit.in_directive(i)
        if d is not None and d.keyword == "define" and i == d.first + 2:
            continue
        yield i, call
