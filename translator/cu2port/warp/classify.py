"""The verdict on each 32, 31 and 5: is it a count of lanes, in which role, and why."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from cu2port.lexer import is_identifier
from cu2port.unit import Unit
from cu2port.warp.analyse import WarpFacts, analyse
from cu2port.warp.arith import Role
from cu2port.warp.evaluate import Use
from cu2port.warp.lockstep import tails
from cu2port.warp.parse import integer
from cu2port.warp.values import COUNT_NAME, LANE_NAME, WARP_NAME, Kind, Step, is_weak, named_constant

_WARP_WORD = re.compile(r"(?i).*(?:warp|lane|wave|wid\Z|\bws\b).*")
_OPERATORS = frozenset("+ - * / % << >> < > & |".split())
_SLOTS = frozenset({Kind.WARP, Kind.LANE, Kind.COUNT})


class Verdict(NamedTuple):
    """One literal or use of a named constant. `lanes`: whether it counts the lanes of a warp."""

    at: int
    lanes: bool
    role: Role
    why: Step | None
    other: Kind


@lru_cache(maxsize=1)
def classify(unit: Unit) -> tuple[Verdict, ...]:
    """The verdicts on a file's device code, in text order. Literals that met nothing are plain numbers and left out."""
    facts = _with_tails(unit, analyse(unit))
    slots = _slots(facts)
    out = []
    named = _named(unit, facts)
    for at in sorted({*facts.uses, *slots, *named}):
        found = list(facts.uses.get(at, ()))
        if at in slots:
            found.append(Use(Role.SLOTS if slots[at] else Role.TILE, slots[at], Kind.UNKNOWN, None, "", ""))
        if at in named and not (found and is_identifier(unit.t[at])):
            found.append(named[at])
        out.append(_verdict(unit, facts, at, found))
    return tuple(out)


def _with_tails(unit: Unit, facts: WarpFacts) -> WarpFacts:
    """The facts, functions with a warp-synchronous tail counted among those that work with warps."""
    names = {f.name for tail in tails(unit, facts) if (f := unit.function_at(tail.first)) is not None}
    return replace(facts, warpish=facts.warpish | names) if names else facts


def _verdict(unit: Unit, facts: WarpFacts, at: int, found: list[Use]) -> Verdict:
    name = unit.t[at]
    if is_identifier(name) and named_constant(name):
        best = next((u for u in found if u.lane), found[0])
        lanes = any(u.role is not Role.BITS or u.lane for u in found)
        return Verdict(at, lanes, best.role, best.why, best.other)
    for u in found:
        if u.lane or (u.lane is None and _likely(facts, u)):
            return Verdict(at, True, u.role, u.why, u.other)
    u = found[0]
    return Verdict(at, False, u.role, u.why, u.other)


_SOFT = frozenset({Role.SIZE, Role.MASK, Role.LOG, Role.COUNT, Role.GUARD, Role.WIDTH})
_DIVIDING = frozenset({*_SOFT, Role.BITS, Role.TILE, Role.PLAIN})
_THREADS = frozenset({Kind.THREAD, Kind.LINEAR, Kind.GLOBAL})


def _likely(facts: WarpFacts, u: Use) -> bool:
    """Whether an undecided use counts lanes: the thread index says much, the names and the function the rest."""
    if u.role in _DIVIDING and (LANE_NAME.match(u.hint) or WARP_NAME.match(u.hint) or COUNT_NAME.match(u.hint)):
        return True
    if u.role in (Role.SIZE, Role.MASK, Role.BITS) and "lane" in u.hint.lower():
        return True
    warpish = u.function in facts.warpish
    if u.role in _SOFT and u.other in _THREADS:
        return warpish or u.other is not Kind.GLOBAL
    if u.other is Kind.SHIFTED and u.role in _SOFT:
        return warpish
    if u.role is Role.STRIDE or (u.role is Role.BLOCK and u.other is Kind.UNKNOWN):
        return warpish
    return False


def _named(unit: Unit, facts: WarpFacts) -> dict[int, Use]:
    """Tokens that count lanes by a name alone: `warp_size` wherever it stands, its value, the size of a tile."""
    out: dict[int, Use] = {}
    plain = Use(Role.SIZE, True, Kind.SIZE, None, "", "")
    inside: set[int] = set()
    for d in facts.devices:
        inside.update(range(d.fn.first, d.fn.body[1]))
    for word in unit.words:
        meaning = named_constant(word) if is_identifier(word) else ""
        if not meaning:
            continue
        value = {"size": 32, "mask": 31, "log": 5}[meaning]
        places: dict[int, Use] = {}
        known: set[bool] = set()  # of the values that the file gives it: whether they are right
        own = any(f.name == word for f in unit.functions)
        for i in unit.find(word):
            directive = unit.in_directive(i)
            defines = directive is not None and i == directive.first + 2 and directive.keyword == "define"
            k = i + (1 if defines else 2)
            if (defines or unit.tok(i + 1) in ("=", "{")) and unit.tok(i - 1) not in ("(", ")", "&&", "||"):
                number = integer(unit.tok(k)) if unit.tok(k)[:1].isdigit() else None
                if number is not None and unit.tok(k + 1) not in _OPERATORS:
                    known.add(number == value)
                    if number == value:
                        places[k] = places[i] = plain
                    continue
                if not any(_WARP_WORD.match(x) for x in _until_end(unit, k)):
                    known.add(False)
            if meaning in ("size", "log") and (
                i in inside or (directive is not None and directive.keyword == "define")
            ):
                places[i] = plain
        if own or (known == {False}) or (is_weak(word) and True not in known):
            continue
        out |= places
    for i in unit.find("thread_block_tile", "tiled_partition"):
        if unit.tok(i + 1) == "<" and integer(unit.tok(i + 2) or "x") == 32:
            out[i + 2] = Use(Role.WIDTH, True, Kind.TILE, None, "", "")
    return out


def _until_end(unit: Unit, k: int) -> list[str]:
    """The tokens from k to the end of an initialiser."""
    end = k
    while end < len(unit.t) and end < k + 12 and unit.t[end] not in (";", "}", "#"):
        end += 1
    return unit.t[k:end]


def _slots(facts: WarpFacts) -> dict[int, bool]:
    """Literals in the sizes of shared arrays: whether the dimension holds one slot a warp or a lane."""
    out: dict[int, bool] = {}
    for a in facts.arrays:
        for k, v in enumerate(a.dims):
            used = a.used[k] if k < len(a.used) else set()
            by_name = _WARP_WORD.match(a.name) is not None and len(a.dims) == 1
            for at in v.src:
                out[at] = out.get(at, False) or bool(used & _SLOTS) or by_name
    return out
