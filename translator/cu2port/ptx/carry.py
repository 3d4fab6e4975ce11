"""Whether a text takes the carry flag from another one, leaves it for one, or mixes additions and subtractions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cu2port.ptx.ir import Guard, Statement
from cu2port.ptx.rename import has_target, instructions, labels, mentioned
from cu2port.ptx.table import find

#: what a reviewer should know about such a mix
MIXED = (
    "an addition reads the carry of a subtraction or the other way round, which the manual leaves open: the flag is "
    "taken to be the carry of a + ~b + 1, 0 after a borrow"
)


@dataclass(frozen=True, slots=True)
class Flow:
    """What a text does to the carry flag.

    `takes`: the guards of instructions that may read a flag which the text did not set, None where there is no guard
    that others could know.
    `sets`: under which guards it always sets the flag. `kinds`: of all instructions that touch the flag.
    `leaves`: whether the last that touches it sets it. `writes`: the names that instructions write.
    """

    takes: tuple[Guard | None, ...]
    sets: frozenset[Guard | None]
    kinds: frozenset[str]
    leaves: bool
    writes: frozenset[str]


def flow(statements: Iterable[Statement]) -> Flow:
    """What statements do to the carry flag. After a label nothing is sure."""
    listed = tuple(statements)
    takes: list[Guard | None] = []
    sets: set[Guard | None] = set()
    kinds, writes, leaves = set(), set(), False
    for i in instructions(listed):
        match = find(i.opcode, len(i.operands)) or find(i.opcode)
        if match is not None and match.row.reads == "cc":
            kinds.add(_kind(i.name))
            leaves = False
            if not is_set(sets, i.guard):
                takes.append(None if i.guard is not None and i.guard.name in writes else i.guard)
        if i.operands and has_target(i):
            names = {r.name for r in mentioned(i.operands[0])}
            writes |= names
            sets = {g for g in sets if g is None or g.name not in names}
        if match is not None and match.row.writes == "cc":
            kinds.add(_kind(i.name))
            leaves = True
            sets.add(i.guard)
    jumps = any(labels(listed))
    return Flow(tuple(takes), frozenset() if jumps else frozenset(sets), frozenset(kinds), leaves, frozenset(writes))


def is_set(sets: Iterable[Guard | None], guard: Guard | None) -> bool:
    """Whether an instruction under a guard reads a flag that has been set, given under which guards it has been."""
    known = set(sets)
    return None in known or guard in known or any(g and Guard(g.name, not g.negated) in known for g in known)


def _kind(name: str) -> str:
    return "subtraction" if name in ("sub", "subc") else "addition"


def reads_carry(statements: Iterable[Statement]) -> bool:
    """Whether the carry flag may be read before it is set: it comes from somewhere else."""
    return bool(flow(statements).takes)


def mixes_carry(statements: Iterable[Statement]) -> bool:
    """Whether an addition may read the flag of a subtraction, or the other way round: the manual tells neither."""
    listed = tuple(statements)
    last: set[str] = set()
    steps = [(i, find(i.opcode)) for i in instructions(listed)]
    jumps = any(labels(listed))
    for i, match in steps if not jumps else (*steps, *steps):
        kind = _kind(i.name)
        if match is not None and match.row.reads == "cc" and last - {kind}:
            return True
        if match is not None and match.row.writes == "cc":
            last = {kind} if i.guard is None and not jumps else {*last, kind}
    return False


def leaves_carry(statements: Iterable[Statement]) -> bool:
    """Whether the carry flag is set and not read afterwards: maybe another statement reads it."""
    return flow(statements).leaves
