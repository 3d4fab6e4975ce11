"""Whether a text takes the carry flag from another one, leaves it for one, or mixes additions and subtractions."""

from __future__ import annotations

from collections.abc import Iterable

from cu2port.ptx.ir import Statement
from cu2port.ptx.rename import instructions, labels
from cu2port.ptx.table import find

#: what a person should know of such a mix
MIXED = (
    "an addition reads the carry of a subtraction or the other way round, which the manual leaves open: the flag is "
    "taken to be the carry of a + ~b + 1, 0 after a borrow"
)


def reads_carry(statements: Iterable[Statement]) -> bool:
    """Whether the carry flag is read before it is set: it comes from somewhere else."""
    for i in instructions(statements):
        match = find(i.opcode)
        if match is not None and match.row.reads == "cc":
            return True
        if match is not None and match.row.writes == "cc":
            return False
    return False


def mixes_carry(statements: Iterable[Statement]) -> bool:
    """Whether an addition may read the flag of a subtraction, or the other way round: the manual tells neither."""
    listed = tuple(statements)
    last: set[str] = set()
    steps = [(i, find(i.opcode)) for i in instructions(listed)]
    for i, match in steps if not any(labels(listed)) else (*steps, *steps):
        kind = "subtraction" if i.name in ("sub", "subc") else "addition"
        if match is not None and match.row.reads == "cc" and last - {kind}:
            return True
        if match is not None and match.row.writes == "cc":
            last = {kind} if i.guard is None and not any(labels(listed)) else {*last, kind}
    return False


def leaves_carry(statements: Iterable[Statement]) -> bool:
    """Whether the carry flag is set and not read afterwards: maybe another statement reads it."""
    left = False
    for i in instructions(statements):
        match = find(i.opcode)
        if match is not None:
            left = match.row.writes == "cc" or (left and match.row.reads != "cc")
    return left
