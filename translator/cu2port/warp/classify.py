"""The verdict on each 32, 31 and 5: is it a count of lanes, in which role, and why."""

from __future__ import annotations

import re
from typing import NamedTuple

from cu2port.lexer import is_identifier
from cu2port.unit import Unit
from cu2port.warp.analyse import WarpFacts, analyse
from cu2port.warp.arith import Role
from cu2port.warp.evaluate import Use
from cu2port.warp.values import Kind, Step, named_constant

_WARP_WORD = re.compile(r"(?i).*(?:warp|lane|wave|wid\Z|\bws\b).*")
_SLOTS = frozenset({Kind.WARP, Kind.LANE, Kind.COUNT})


class Verdict(NamedTuple):
    """One literal or use of a named constant. `lanes`: whether it counts the lanes of a warp."""

    at: int
    lanes: bool
    role: Role
    why: Step | None
    other: Kind


def classify(unit: Unit) -> tuple[Verdict, ...]:
    """The verdicts on a file's device code, in text order. Literals that met nothing are plain numbers and left out."""
    facts = analyse(unit)
    slots = _slots(facts)
    out = []
    for at in sorted({*facts.uses, *slots}):
        found = list(facts.uses.get(at, ()))
        if at in slots:
            found.append(Use(Role.SLOTS if slots[at] else Role.TILE, slots[at], Kind.UNKNOWN, None, "", ""))
        out.append(_verdict(unit, facts, at, found))
    return tuple(out)


def _verdict(unit: Unit, facts: WarpFacts, at: int, found: list[Use]) -> Verdict:
    name = unit.t[at]
    if is_identifier(name) and named_constant(name):
        best = next((u for u in found if u.lane), found[0])
        against = [u for u in found if u.lane is False]
        if against and not any(u.lane or u.lane is None for u in found):
            return Verdict(at, False, against[0].role, against[0].why, against[0].other)
        return Verdict(at, True, best.role, best.why, best.other)
    for u in found:
        if u.lane or (u.lane is None and _likely(facts, u)):
            return Verdict(at, True, u.role, u.why, u.other)
    u = found[0]
    return Verdict(at, False, u.role, u.why, u.other)


_SOFT = frozenset({Role.SIZE, Role.MASK, Role.LOG, Role.COUNT, Role.GUARD, Role.WIDTH})
_THREADS = frozenset({Kind.THREAD, Kind.LINEAR, Kind.GLOBAL})


def _likely(facts: WarpFacts, u: Use) -> bool:
    """Whether an undecided use counts lanes: the thread index says much, the names and the function the rest."""
    if _WARP_WORD.match(u.hint):
        return True
    warpish = u.function in facts.warpish
    if u.role in _SOFT and u.other in _THREADS:
        return warpish or u.other is not Kind.GLOBAL
    if u.role is Role.STRIDE:
        return warpish
    return False


def _slots(facts: WarpFacts) -> dict[int, bool]:
    """Literals in the sizes of shared arrays: whether the dimension holds one slot a warp or a lane."""
    out: dict[int, bool] = {}
    for a in facts.arrays:
        for k, v in enumerate(a.dims):
            used = a.used[k] if k < len(a.used) else set()
            for at in v.src:
                out[at] = out.get(at, False) or bool(used & _SLOTS)
    return out
