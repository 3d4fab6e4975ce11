"""The verdict on each 32, 31 and 5: is it a count of lanes, in which role, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from cu2port.facts.unit import Unit, condition_words
from cu2port.syntax.around import head_around
from cu2port.syntax.constants import integer
from cu2port.syntax.declarations import value_of
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import tokens
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import Assign, Num
from cu2port.warp.analyse import WarpFacts, analyse
from cu2port.warp.context import OPEN, Context, by_evidence, context_of, counts_by_context
from cu2port.warp.hostside import counts_threads
from cu2port.warp.literal_pairs import literal_pairs
from cu2port.warp.lockstep import tails
from cu2port.warp.roles import Role
from cu2port.warp.token_patterns import token_patterns
from cu2port.warp.uses import Use
from cu2port.warp.values import (
    COUNT_NAME,
    LANE_NAME,
    THREADS,
    WARP_NAME,
    Kind,
    Step,
    is_block_size,
    is_weak,
    named_constant,
)

_WARP_WORD = re.compile(r"(?i).*(?:warp|lane|wave|wid\Z|\bws\b).*")
_SHORT = 12  # tokens of a value that are looked at
_SLOTS = frozenset({Kind.WARP, Kind.LANE, Kind.COUNT, Kind.LANE_MULTIPLE})


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
    context = context_of(facts)
    for at in sorted({*facts.uses, *slots, *named}):
        found = list(facts.uses.get(at, ()))
        if at in slots:
            found.append(Use(Role.SLOTS if slots[at] else Role.TILE, slots[at], Kind.UNKNOWN, None, "", ""))
        if at in named and not (found and is_identifier(unit.t[at])):
            found.append(named[at])
        out.append(_verdict(unit, facts, context, at, found))
    verdicts = {v.at: v for v in out}
    for at, evidence in by_evidence(unit, facts, {v.at: v.lanes for v in out}):
        why: Step | None = None
        for text in evidence:
            why = Step(at, text, why)
        verdicts[at] = Verdict(at, True, Role.COUNT, why, Kind.UNKNOWN)
    for _ in range(2):
        for pair in literal_pairs(unit):
            for at, other in (pair, pair[::-1]):
                v = verdicts.get(other)
                if v is not None and v.lanes and not (at in verdicts and verdicts[at].lanes):
                    verdicts[at] = v._replace(at=at)
    return tuple(verdicts[at] for at in sorted(verdicts))


def _with_tails(unit: Unit, facts: WarpFacts) -> WarpFacts:
    """The facts, functions with a warp-synchronous tail counted among those that work with warps."""
    names = {f.name for tail in tails(unit, facts) if (f := unit.function_at(tail.first)) is not None}
    return replace(facts, warpish=facts.warpish | names) if names else facts


def _verdict(unit: Unit, facts: WarpFacts, context: Context, at: int, found: list[Use]) -> Verdict:
    name = unit.t[at]
    if is_identifier(name) and named_constant(name):
        best = next((u for u in found if u.lane), found[0])
        lanes = any(u.role is not Role.BITS or u.lane for u in found)
        return Verdict(at, lanes, best.role, best.why, best.other)
    found = [u for u in found if not _elsewhere(facts, u)] or [u._replace(lane=False) for u in found]
    words = sum(u.role is Role.BITS and u.lane is False for u in found)
    for u in found:
        if words > 1 and u.role is Role.BITS and u.other is Kind.MASK:
            continue  # `32 - n`, by which several words are shifted
        if u.lane or (u.lane is None and _likely(facts, u) and (u.function, u.about) not in context.bits):
            return Verdict(at, True, u.role, u.why, u.other)
    if not any(u.role is Role.BITS and u.lane is False for u in found):
        for u in found:
            if counts_by_context(unit, facts, context, at, u):
                return Verdict(at, True, OPEN[u.role], u.why, u.other)
    u = found[0]
    return Verdict(at, False, u.role, u.why, u.other)


_COORDINATE = re.compile(r"(?i)(?:[xyz]\d?|.*(?:row|col|tile).*)\Z")
_OF_THREADS = frozenset({*THREADS, Kind.LANE, Kind.BLOCK_ID})


def _elsewhere(facts: WarpFacts, u: Use) -> bool:
    """Whether a use in a function without a word of warps makes coordinates of threads (`x = threadIdx.x % 32`), or
    parts what only was made of a block's size (`channel = blockIdx.x * THREADS * 4`, `channel / 32`)."""
    if u.function in facts.warpish or not u.function or u.role not in _PLACING:
        return False
    if u.other in _OF_THREADS and _COORDINATE.match(u.hint):
        return True
    return u.other in (Kind.BLOCK, Kind.COUNT) and bool(u.about) and not any(map(_sized, u.about.split()))


def _sized(name: str) -> bool:
    return is_block_size(name) or "block" in name.lower() or "warp" in name.lower() or "thread" in name.lower()


_PLACING = frozenset({Role.SIZE, Role.MASK, Role.LOG, Role.COUNT, Role.STRIDE})
_WORDS = re.compile(r"(?i)bit_?(?:map|set|mask)|words_per|(?:bit|word)s?\Z")
_PER_WARP = re.compile(r"(?i)(?:per|in)_?(?:a_?)?warp")
_SOFT = frozenset({Role.SIZE, Role.MASK, Role.LOG, Role.COUNT, Role.GUARD, Role.WIDTH})
_DIVIDING = frozenset({*_SOFT, Role.BITS, Role.TILE, Role.PLAIN})


def _likely(facts: WarpFacts, u: Use) -> bool:
    """Whether an undecided use counts lanes: the thread index says much, the names and the function the rest."""
    if _WORDS.search(u.hint) and u.role in _DIVIDING:
        return False
    if u.role in _DIVIDING and (LANE_NAME.match(u.hint) or WARP_NAME.match(u.hint) or COUNT_NAME.match(u.hint)):
        return True
    if u.role in (Role.SIZE, Role.MASK, Role.BITS) and "lane" in u.hint.lower():
        return True
    if u.role is Role.WIDTH and u.other in (Kind.UNKNOWN, Kind.NUMBER, Kind.BLOCK) and _PER_WARP.search(u.hint):
        return True
    warpish = u.function in facts.warpish
    if u.role in _SOFT and u.other in THREADS:
        return warpish or (u.other is not Kind.GLOBAL and not (u.named and u.role is Role.GUARD))
    if u.other is Kind.SHIFTED and u.role in _SOFT:
        return warpish
    if u.role is Role.STRIDE or (u.role is Role.GUARD and u.other is Kind.BLOCK):
        return warpish
    if (u.role is Role.LAST and u.other in THREADS) or (u.role is Role.BLOCK and u.other in (Kind.UNKNOWN, *THREADS)):
        return warpish
    return False


def _named(unit: Unit, facts: WarpFacts) -> dict[int, Use]:
    """Tokens that count lanes by a name alone: `warp_size` anywhere, its value, the size of a tile."""
    out: dict[int, Use] = {}
    inside: set[int] = set()
    for d in facts.devices:
        inside.update(range(d.fn.first, d.fn.body[1]))
    for word in unit.words:
        meaning = named_constant(word) if is_identifier(word) else ""
        if meaning:
            out |= _uses_of_constant(unit, word, meaning, inside)
    for i in _by_platform(unit):
        out[i] = _BY_NAME
    for i, role in token_patterns(unit):
        out.setdefault(i, Use(role, True, Kind.SIZE, None, "", ""))
    for directive in unit.directives:
        if directive.keyword == "define":
            for i in range(directive.first + 3, directive.stop):
                if unit.t[i][0].isdigit() and integer(unit.t[i]) in (32, 31, 5) and counts_threads(unit, i):
                    out[i] = Use(Role.COUNT, True, Kind.BLOCK, None, "", "")
    for i in unit.find("thread_block_tile", "tiled_partition"):
        if unit.tok(i + 1) == "<" and integer(unit.tok(i + 2) or "x") == 32:
            out[i + 2] = Use(Role.WIDTH, True, Kind.TILE, None, "", "")
    return out


_BY_NAME = Use(Role.SIZE, True, Kind.SIZE, None, "", "")
_VALUES = {"size": 32, "mask": 31, "log": 5}


def _uses_of_constant(unit: Unit, word: str, meaning: str, inside: set[int]) -> dict[int, Use]:
    """Uses of a named constant and its values; none if the file defines it with another value. `inside`: tokens of
    device functions."""
    value = _VALUES[meaning]
    places: dict[int, Use] = {}
    known: set[bool] = set()  # for each definition: whether it has this value
    own = any(f.name == word for f in unit.functions)
    for i in unit.find(word):
        directive = unit.in_directive(i)
        first, stop = _given(unit, i)
        if first < stop:
            e = read_expression(unit, first, stop)
            if isinstance(e, Num) and e.value is not None and tokens(e) == (first, stop - 1):
                known.add(e.value == value)
                if e.value == value:
                    places[e.at] = places[i] = _BY_NAME
                continue
            if not any(map(_WARP_WORD.match, unit.t[first : min(stop, first + _SHORT)])):
                known.add(False)
        if meaning in ("size", "log") and (i in inside or (directive is not None and directive.keyword == "define")):
            places[i] = _BY_NAME
    if meaning != "size" and True not in known and not word.isupper() and word[:1] != "k":
        return {}  # `dst_warp_shift`: an offset
    if own:  # the name of a function, and perhaps of a variable
        places = {i: u for i, u in places.items() if unit.tok(i + 1) != "(" and i in inside}
    if (own and True not in known) or (known == {False}) or (is_weak(word) and True not in known):
        return {}
    return places


def _given(unit: Unit, i: int) -> tuple[int, int]:
    """The tokens of the value that a name gets where it is declared, or assigned to; (0, 0) if it gets none."""
    d = unit.declaration(i)
    if d is not None:
        return value_of(unit.lexed, d)
    found = head_around(unit, i) if unit.tok(i + 1) == "=" else None
    if found is None or not isinstance(found[1], Assign) or tokens(found[1].target)[1] != i:
        return 0, 0
    first, last = tokens(found[1].value)
    return first, last + 1


def _by_platform(unit: Unit) -> Iterator[int]:
    """The 32 of names that are 32 in one branch for a platform and 64 in another one."""
    if "64" not in unit.words or not any(_PLATFORM.search(w) for w in unit.words):
        return
    found: dict[tuple[int, str], dict[int, int]] = {}
    for i, tok in enumerate(unit.t):
        if tok not in ("32", "64"):
            continue
        d = unit.in_directive(i)
        defines = d is not None and d.keyword == "define" and i == d.first + 3
        if not defines and not (
            unit.t[i - 1] in ("=", "{") and {"const", "constexpr"} & set(unit.t[max(0, i - 8) : i])
        ):
            continue
        name = unit.t[i - 1] if defines else unit.t[i - 2]
        for g in unit.conditions(unit.p[i]):
            words = condition_words(unit, g)
            if any(_PLATFORM.search(w) for w in words):
                found.setdefault((g.chain[0], name), {})[int(tok)] = i
    for values in found.values():
        if len(values) == 2:
            yield values[32]


_PLATFORM = re.compile(r"__HIP|HIPCC|HCC|ROCM|AMD|NVCC|CUDACC|GFX|USE_HIP|WITH_HIP")


def _slots(facts: WarpFacts) -> dict[int, bool]:
    """Literals in the sizes of shared arrays: whether the dimension holds one slot a warp or a lane."""
    out: dict[int, bool] = {}
    for a in facts.arrays:
        for k, v in enumerate(a.dims):
            used = a.used[k] if k < len(a.used) else set()
            by_name = _WARP_WORD.match(a.name) is not None and len(a.dims) == 1
            if (v.num is not None and v.num % 32) or any(x.num == 33 for x in a.dims):
                continue  # five values for each lane
            for at in v.src:
                out[at] = out.get(at, False) or bool(used & _SLOTS) or by_name
    return out
