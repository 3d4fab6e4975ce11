"""Functions and operations of cooperative groups that are named without their namespace.

`reduce(tile, x, cg::plus<int>())` is found by its arguments' namespaces. Where the operation moves to another one,
that finds two functions, so the call gets its namespace too.
"""

from __future__ import annotations

from collections.abc import Iterator

from cu2port.facts.unit import Unit

_SPACE = "cooperative_groups"
_FUNCTIONS = ("reduce", "inclusive_scan", "exclusive_scan")
_OPERATIONS = ("plus", "less", "greater", "bit_and", "bit_or", "bit_xor")
_GROUPS = frozenset(
    "tiled_partition thread_block_tile coalesced_threads coalesced_group binary_partition labeled_partition".split()
)


def unqualified(unit: Unit) -> Iterator[tuple[str, int]]:
    """Unqualified uses: the full name of what is meant, and its token."""
    if _SPACE not in unit.text or not unit.words & {*_FUNCTIONS, *_OPERATIONS}:
        return
    for i in unit.find(*_FUNCTIONS):
        call = unit.call(i) if _alone(unit, i) else None
        if call is None or len(call.args) < 2 or unit.tok(i + 1) != "(":
            continue
        first, stop = unit.lexed.at(call.args[0].start), unit.lexed.at(call.args[0].end)
        if stop == first + 1 and _is_group(unit, first):
            yield f"{_SPACE}::{unit.t[i]}", i
    opened = any(unit.t[i - 1 : i + 1] == ["using", "namespace"] for i in unit.find("namespace"))
    for i in unit.find(*_OPERATIONS) if opened else ():
        call_at = unit.enclosing[i]
        given_to = unit.tok(call_at - 1) if call_at > 0 else ""
        if unit.tok(i + 1) == "<" and _alone(unit, i) and given_to in _FUNCTIONS:
            yield f"{_SPACE}::{unit.t[i]}", i


def _alone(unit: Unit, i: int) -> bool:
    """Whether a name has no qualifier and no declaration in this file."""
    return unit.tok(i - 1) not in ("::", ".", "->") and unit.declarations.visible(unit.t[i], i) is None


def _is_group(unit: Unit, i: int) -> bool:
    """Whether token i is a variable that the file declares as a group."""
    d = unit.declarations.visible(unit.t[i], i)
    return d is not None and not _GROUPS.isdisjoint(unit.t[d.first : d.stop])
