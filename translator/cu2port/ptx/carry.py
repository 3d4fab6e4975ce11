"""Whether a text takes the carry flag from another one, or leaves it for another one."""

from __future__ import annotations

from collections.abc import Iterable

from cu2port.ptx.ir import Statement
from cu2port.ptx.rename import instructions
from cu2port.ptx.table import find


def reads_carry(statements: Iterable[Statement]) -> bool:
    """Whether the carry flag is read before it is set: it comes from somewhere else."""
    for i in instructions(statements):
        match = find(i.opcode)
        if match is not None and match.row.reads == "cc":
            return True
        if match is not None and match.row.writes == "cc":
            return False
    return False


def leaves_carry(statements: Iterable[Statement]) -> bool:
    """Whether the carry flag is set and not read afterwards: maybe another statement reads it."""
    left = False
    for i in instructions(statements):
        match = find(i.opcode)
        if match is not None:
            left = match.row.writes == "cc" or (left and match.row.reads != "cc")
    return left
