"""What asm statements that run one after another do to the carry flag."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cu2port.facts.carry_definitions import has_carry
from cu2port.ptx.asm import AsmStatement
from cu2port.ptx.carry import Flow, flow
from cu2port.ptx.lifted import RefusedError, parse
from cu2port.ptx.rename import labels

NOTHING = Flow((), frozenset(), frozenset(), False, frozenset())


class UnclearError(Exception):
    """A use of what hands on a carry is not understood."""


def statement_flow(s: AsmStatement) -> Flow:
    """What a statement does to the flag. Raises UnclearError where that depends on more than its text."""
    if not any(has_carry(r.text) for r in s.readings):
        return NOTHING
    if len(s.readings) != 1 or s.problem:
        raise UnclearError
    try:
        body = parse(s.readings[0])
    except RefusedError:
        raise UnclearError from None
    made = flow(body)
    if any(labels(body)) or any(g is not None for g in (*made.takes, *made.sets)):
        raise UnclearError
    return made


def in_turn(steps: Iterable[Flow]) -> Flow:
    """What statements do one after another."""
    out = NOTHING
    for step in steps:
        takes = out.takes if out.sets else (*out.takes, *step.takes)
        leaves = step.leaves if step.kinds else out.leaves
        out = Flow(takes, out.sets | step.sets, out.kinds | step.kinds, leaves, frozenset())
    return out


def mix(steps: Sequence[Flow]) -> bool:
    """Whether one of several statements reads a flag of an earlier one that another kind of instruction set."""
    last = 0
    for k, step in enumerate(steps):
        if step.takes and len(frozenset().union(*(x.kinds for x in steps[last : k + 1]))) > 1:
            return True
        last = k if step.sets else last
    return False
