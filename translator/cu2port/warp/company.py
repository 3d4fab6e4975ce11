"""What a number counts by what is around it: uses of the same names, remarks, other numbers of its function.

Only what says nothing itself is judged so. Evidence has points; the table below is all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cu2port.facts.unit import Unit
from cu2port.syntax.constants import integer
from cu2port.syntax.lexer import is_identifier
from cu2port.warp.analyse import WarpFacts
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.ground import Use
from cu2port.warp.roles import Role
from cu2port.warp.values import COUNT_NAME, LANE_NAME, THREADS, WARP_NAME, Kind

#: Roles that more must be known of -> what they are if lanes are counted.
OPEN = {
    Role.TILE: Role.SIZE,
    Role.PLAIN: Role.COUNT,
    Role.COUNT: Role.COUNT,
    Role.SIZE: Role.SIZE,
    Role.GUARD: Role.GUARD,
    Role.STRIDE: Role.STRIDE,
}
_SPEAKS = re.compile(
    r"(?i)(?!.*(?:half.?warp|per.?warp|warp.?group|sub.?warp))"
    r"\b(?:(?:each|per) lane|lanes?|shuffle|(?:a|one|per|single|full|whole|within|the) warp|warp.?size|warps"
    r"|wavefronts?)\b"
)
_SIZE = re.compile(
    r"(?i)\b(?:warp.?size|size of (?:a|the) warp|threads (?:in|of|per) (?:a|one|the|each)? ?warp|warp reduc)"
)
_BIT_HINT = re.compile(r"(?i)bit|word|mask(?!ed)")
_EACH = re.compile(r"(?i)per_?(?:lane|thread)s?(?:_|\Z|[A-Z])")  # what is divided by 32 is shared out to 32 threads
_OVER = frozenset({Role.SIZE, Role.COUNT, Role.LOG})
#: What a warp's lanes walk over data by, in a branch that one warp takes.
_WALKS = frozenset({Kind.STEP, Kind.INDEX, Kind.LANE_PLUS, Kind.SHIFTED})
_RESTS = frozenset({Kind.UNKNOWN, Kind.RESIDUE, Kind.ROUND, Kind.PRODUCT, Kind.STEP})


class Company(NamedTuple):
    """What the uses of a file say of each other: function and names that lanes are counted over; that stand for bits
    of a word elsewhere in the function (`x` of `w[x / 32] >> (x % 32)`); that are divided with and without rest
    (`a[x / 32] = b[x % 32]`)."""

    lanes: frozenset[tuple[str, str]]
    bits: frozenset[tuple[str, str]]
    split: frozenset[tuple[str, str]]


def company_of(facts: WarpFacts) -> Company:
    """The company of a file's numbers."""
    lanes = set(facts.extents)
    bits = set()
    divided, rests = set(), set()
    for found in facts.uses.values():
        about = {(u.function, u.about) for u in found if u.about and u.other not in THREADS}
        divided |= {(u.function, u.about) for u in found if u.about and u.role is Role.PLAIN and u.lane is None}
        rests |= {(u.function, u.about) for u in found if u.about and u.role is Role.TILE and u.lane is None}
        if any(u.lane for u in found):
            lanes |= {(u.function, u.about) for u in found if u.about and u.lane and u.role in _OVER}
        elif any(u.role is Role.BITS and u.lane is False for u in found):
            bits |= about
    return Company(frozenset(lanes), frozenset(bits), frozenset(divided & rests))


def by_company(unit: Unit, facts: WarpFacts, company: Company, at: int, u: Use) -> bool:
    """Whether a use that says nothing itself counts lanes by what else the function does with the same names, by the
    name that its result gets, or by what is written beside it."""
    key = u.function, u.about
    if u.first and u.other in _WALKS and not u.named:
        return True
    if u.role not in OPEN or u.named or key in company.bits or _BIT_HINT.search(u.hint):
        return False
    if u.about and (key in company.lanes or (u.role is Role.PLAIN and _spoken(unit, at))):
        return True
    if u.lane is not None:
        return False
    each = _EACH.search(u.hint) is not None and _EACH.search(u.about) is None  # not items of a thread, packed by 32
    rest = u.role is Role.TILE and u.other in _RESTS and u.function in facts.warpish and key not in company.split
    return rest or each or _spoken(unit, at)


def _spoken(unit: Unit, at: int) -> bool:
    """Whether the remark on the token's line, or the message of the assertion around it, refers to lanes."""
    start = unit.text.rfind("\n", 0, unit.p[at]) + 1
    stop = unit.text.find("\n", unit.p[at])
    line = unit.text[start : stop if stop >= 0 else len(unit.text)]
    remark = max(line.rfind("//"), line.rfind("/*"))
    if remark > unit.p[at] - start and _SPEAKS.search(line[remark:]):
        return True
    above = unit.text[unit.text.rfind("\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)].strip()
    if above.startswith("//") and _SIZE.search(above):
        return True
    k = at
    while k < len(unit.t) and k < at + 24 and unit.t[k] not in (";", "{", "}"):
        if unit.t[k][0] == '"' and _SPEAKS.search(unit.t[k]):
            return True
        k += 1
    return False


#: Evidence for a number that nothing else tells, in points, with the words that a finding gives for it.
CROWD, WHOLE_CROWD, NEIGHBOUR, NAMES, REMARK, OPERATIONS, UNITS, STRANGER, ELEMENT = range(9)
EVIDENCE = {
    CROWD: (2, "most other numbers of this value in the function count lanes"),
    WHOLE_CROWD: (1, "all of them do"),
    NEIGHBOUR: (1, "a number in the same statement counts lanes"),
    NAMES: (1, "the statement names a lane, a warp or a count of warps"),
    REMARK: (1, "the remark above refers to lanes"),
    OPERATIONS: (1, "the function has cross-lane operations"),
    UNITS: (-3, "the statement names bits, bytes, addresses, rows, columns or tiles"),
    STRANGER: (-1, "a number in the same statement counts no lanes"),
    ELEMENT: (-2, "it is an array's size or element"),
}
ENOUGH = 3
_BITS = re.compile(
    r"(?i)bit|word|hash|pack|rot[lr]?\d*\Z|clz|ffs|popc|float_as|uint_as|mantissa|expon|size_?of|byte|addr|smem"
)
_TILES = re.compile(
    r"(?i)(?:.*(?:row|col|tile|pad|height|width|channel|head|group|token|bank|swizz|layout).*|[mnk]|\w*B(?:LOCK)?_?[MNK])\Z"
)
_WARP = re.compile(r"(?i).*(?:warp|wave)")
_LONG = 50  # tokens: no statement is looked at further


def crowded(unit: Unit, facts: WarpFacts, judged: dict[int, bool]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Literals that count lanes by points of evidence, with the evidence in words. `judged`: the verdicts so far."""
    for d in facts.devices:
        if d.name not in facts.warpish:
            continue
        first, stop = d.fn.body
        values = {k: integer(unit.t[k]) for k in range(first, stop) if unit.t[k][0].isdigit()}
        literals = {k: v for k, v in values.items() if v in (31, 32)}
        operations = not LANE_OPERATIONS.isdisjoint(unit.t[first:stop])
        for k, v in literals.items():
            if judged.get(k) or any(u.role is Role.BITS and u.lane is False for u in facts.uses.get(k, ())):
                continue
            others = [judged.get(j, False) for j, w in literals.items() if w == v and j != k]
            seen = set(_beside(unit, k, judged))
            yes, no = others.count(True), others.count(False)
            seen |= {CROWD} if yes and yes >= 2 * no else set()
            seen |= {WHOLE_CROWD} if yes > 1 and not no else set()
            seen |= {OPERATIONS} if operations else set()
            if sum(EVIDENCE[x][0] for x in seen) >= ENOUGH:
                yield k, tuple(EVIDENCE[x][1] for x in sorted(seen) if EVIDENCE[x][0] > 0)


def _beside(unit: Unit, at: int, judged: dict[int, bool]) -> Iterator[int]:
    """The evidence in the statement around a token and in the remark above it."""
    t = unit.t
    if t[at - 1] == "[" and unit.tok(at + 1) == "]":
        yield ELEMENT
    a, b = at, at
    while a > 0 and at - a < _LONG and t[a - 1] not in (";", "{", "}"):
        a -= 1
    while b + 1 < len(t) and b - at < _LONG and t[b] not in (";", "{", "}"):
        b += 1
    for k in range(a, b):
        if k != at and k in judged and t[k][0].isdigit():
            yield NEIGHBOUR if judged[k] else STRANGER
        if t[k] == "<<" and integer(t[k - 1] if t[k - 1][0].isdigit() else "0") == 1:
            yield UNITS
        if not is_identifier(t[k]):
            continue
        if LANE_NAME.match(t[k]) or WARP_NAME.match(t[k]) or COUNT_NAME.match(t[k]) or _WARP.match(t[k]):
            yield NAMES
        if _BITS.search(t[k]) or _TILES.match(t[k]):
            yield UNITS
    line = unit.text.rfind("\n", 0, unit.p[at])
    above = unit.text[unit.text.rfind("\n", 0, max(line, 0)) + 1 : max(line, 0)]
    if "//" in above and _SPEAKS.search(above[above.find("//") :]):
        yield REMARK
