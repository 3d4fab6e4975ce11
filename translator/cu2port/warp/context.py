"""Whether a literal counts lanes, by its context: uses of the same names, comments, other numbers of the function.

Only a literal whose own use does not decide it is judged here. `EVIDENCE` is the table of the evidence and its points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cu2port.facts.unit import Unit
from cu2port.syntax.constants import integer
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.tree import Binary, Expr, Num, expressions
from cu2port.warp.analyse import WarpFacts
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.roles import Role
from cu2port.warp.uses import Use
from cu2port.warp.values import COUNT_NAME, LANE_NAME, THREADS, WARP_NAME, Kind

#: Roles that do not decide it -> the role if the literal counts lanes.
OPEN = {
    Role.TILE: Role.SIZE,
    Role.PLAIN: Role.COUNT,
    Role.COUNT: Role.COUNT,
    Role.SIZE: Role.SIZE,
    Role.GUARD: Role.GUARD,
    Role.STRIDE: Role.STRIDE,
}
_LANE_WORDS = re.compile(
    r"(?i)(?!.*(?:half.?warp|per.?warp|warp.?group|sub.?warp))"
    r"\b(?:(?:each|per) lane|lanes?|shuffle|(?:a|one|per|single|full|whole|within|the) warp|warp.?size|warps"
    r"|wavefronts?)\b"
)
_SIZE = re.compile(
    r"(?i)\b(?:warp.?size|size of (?:a|the) warp|threads (?:in|of|per) (?:a|one|the|each)? ?warp|warp reduc)"
)
_BIT_HINT = re.compile(r"(?i)bit|word|mask(?!ed)")
_PER_LANE = re.compile(r"(?i)per_?(?:lane|thread)s?(?:_|\Z|[A-Z])")  # `items_per_lane = n / 32`
_DIVISIONS = frozenset({Role.SIZE, Role.COUNT, Role.LOG})
#: What an index over data is, in a branch that only one warp takes.
_WALKS = frozenset({Kind.STEP, Kind.INDEX, Kind.LANE_PLUS, Kind.SHIFTED})
_RESTS = frozenset({Kind.UNKNOWN, Kind.RESIDUE, Kind.ROUND, Kind.PRODUCT, Kind.STEP})


class Context(NamedTuple):
    """Names of a file by their uses, each with its function. `lanes`: lanes are counted over them. `bits`: elsewhere
    in the function they are bits of a word (`x` in `w[x / 32] >> (x % 32)`). `split`: both quotient and remainder are
    used (`a[x / 32] = b[x % 32]`)."""

    lanes: frozenset[tuple[str, str]]
    bits: frozenset[tuple[str, str]]
    split: frozenset[tuple[str, str]]


def context_of(facts: WarpFacts) -> Context:
    """The context of the literals of a file."""
    lanes = set(facts.extents)
    bits = set()
    divided, rests = set(), set()
    for found in facts.uses.values():
        about = {(u.function, u.about) for u in found if u.about and u.other not in THREADS}
        divided |= {(u.function, u.about) for u in found if u.about and u.role is Role.PLAIN and u.lane is None}
        rests |= {(u.function, u.about) for u in found if u.about and u.role is Role.TILE and u.lane is None}
        if any(u.lane for u in found):
            lanes |= {(u.function, u.about) for u in found if u.about and u.lane and u.role in _DIVISIONS}
        elif any(u.role is Role.BITS and u.lane is False for u in found):
            bits |= about
    return Context(frozenset(lanes), frozenset(bits), frozenset(divided & rests))


def counts_by_context(unit: Unit, facts: WarpFacts, context: Context, at: int, u: Use) -> bool:
    """Whether a use counts lanes, by other uses of the same names, by the name of the result, or by a comment."""
    key = u.function, u.about
    if u.first and u.other in _WALKS and not u.named:
        return True
    if u.role not in OPEN or u.named or key in context.bits or _BIT_HINT.search(u.hint):
        return False
    if u.about and (key in context.lanes or (u.role is Role.PLAIN and _in_comment(unit, at))):
        return True
    if u.lane is not None:
        return False
    each = _PER_LANE.search(u.hint) is not None and _PER_LANE.search(u.about) is None
    rest = u.role is Role.TILE and u.other in _RESTS and u.function in facts.warpish and key not in context.split
    return rest or each or _in_comment(unit, at)


def _in_comment(unit: Unit, at: int) -> bool:
    """Whether the comment on the line of the token, or the message of the assertion around it, refers to lanes."""
    start = unit.text.rfind("\n", 0, unit.p[at]) + 1
    stop = unit.text.find("\n", unit.p[at])
    line = unit.text[start : stop if stop >= 0 else len(unit.text)]
    remark = max(line.rfind("//"), line.rfind("/*"))
    if remark > unit.p[at] - start and _LANE_WORDS.search(line[remark:]):
        return True
    above = unit.text[unit.text.rfind("\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)].strip()
    if above.startswith("//") and _SIZE.search(above):
        return True
    k = at
    while k < len(unit.t) and k < at + 24 and unit.t[k] not in (";", "{", "}"):
        if unit.t[k][0] == '"' and _LANE_WORDS.search(unit.t[k]):
            return True
        k += 1
    return False


#: Evidence for a literal that nothing else decides: its points, and its text in a finding.
MAJORITY, UNANIMOUS, NEIGHBOUR, NAMES, REMARK, OPERATIONS, UNITS, OTHER_NEIGHBOUR, ELEMENT = range(9)
EVIDENCE = {
    MAJORITY: (2, "most other numbers of this value in the function count lanes"),
    UNANIMOUS: (1, "all of them do"),
    NEIGHBOUR: (1, "a number in the same statement counts lanes"),
    NAMES: (1, "the statement names a lane, a warp or a count of warps"),
    REMARK: (1, "the comment above refers to lanes"),
    OPERATIONS: (1, "the function has cross-lane operations"),
    UNITS: (-3, "the statement names bits, bytes, addresses, rows, columns or tiles"),
    OTHER_NEIGHBOUR: (-1, "a number in the same statement does not count lanes"),
    ELEMENT: (-2, "it is an array's size or element"),
}
THRESHOLD = 3
_BITS = re.compile(
    r"(?i)bit|word|hash|pack|rot[lr]?\d*\Z|clz|ffs|popc|float_as|uint_as|mantissa|expon|size_?of|byte|addr|smem"
)
_TILES = re.compile(
    r"(?i)(?:.*(?:row|col|tile|pad|height|width|channel|head|group|token|bank|swizz|layout).*|[mnk]|\w*B(?:LOCK)?_?[MNK])\Z"
)
_WARP = re.compile(r"(?i).*(?:warp|wave)")
_MAX_STATEMENT = 50  # tokens of a statement that are read


def by_evidence(unit: Unit, facts: WarpFacts, judged: dict[int, bool]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Literals that count lanes by points of evidence, with the evidence in words. `judged`: the verdicts so far."""
    for d in facts.devices:
        if d.name not in facts.warpish:
            continue
        first, stop = d.fn.body
        values = {k: integer(unit.t[k]) for k in range(first, stop) if unit.t[k][0].isdigit()}
        literals = {k: v for k, v in values.items() if v in (31, 32)}
        bits = frozenset(e.at for e in expressions(d.body) if _is_bit(e)) if literals else frozenset()
        operations = not LANE_OPERATIONS.isdisjoint(unit.t[first:stop])
        for k, v in literals.items():
            if judged.get(k) or any(u.role is Role.BITS and u.lane is False for u in facts.uses.get(k, ())):
                continue
            others = [judged.get(j, False) for j, w in literals.items() if w == v and j != k]
            seen = set(_statement_evidence(unit, k, judged, bits))
            yes, no = others.count(True), others.count(False)
            seen |= {MAJORITY} if yes and yes >= 2 * no else set()
            seen |= {UNANIMOUS} if yes > 1 and not no else set()
            seen |= {OPERATIONS} if operations else set()
            if sum(EVIDENCE[x][0] for x in seen) >= THRESHOLD:
                yield k, tuple(EVIDENCE[x][1] for x in sorted(seen) if EVIDENCE[x][0] > 0)


def _is_bit(e: Expr) -> bool:
    """`1 << n`"""
    return isinstance(e, Binary) and e.op == "<<" and isinstance(e.a, Num) and e.a.value == 1


def _statement_evidence(unit: Unit, at: int, judged: dict[int, bool], bits: frozenset[int]) -> Iterator[int]:
    """The evidence in the statement around a token and in the comment above it. `bits`: where 1 is shifted."""
    t = unit.t
    if t[at - 1] == "[" and unit.tok(at + 1) == "]":
        yield ELEMENT
    a, b = at, at
    while a > 0 and at - a < _MAX_STATEMENT and t[a - 1] not in (";", "{", "}"):
        a -= 1
    while b + 1 < len(t) and b - at < _MAX_STATEMENT and t[b] not in (";", "{", "}"):
        b += 1
    for k in range(a, b):
        if k != at and k in judged and t[k][0].isdigit():
            yield NEIGHBOUR if judged[k] else OTHER_NEIGHBOUR
        if k in bits:
            yield UNITS
        if not is_identifier(t[k]):
            continue
        if LANE_NAME.match(t[k]) or WARP_NAME.match(t[k]) or COUNT_NAME.match(t[k]) or _WARP.match(t[k]):
            yield NAMES
        if _BITS.search(t[k]) or _TILES.match(t[k]):
            yield UNITS
    line = unit.text.rfind("\n", 0, unit.p[at])
    above = unit.text[unit.text.rfind("\n", 0, max(line, 0)) + 1 : max(line, 0)]
    if "//" in above and _LANE_WORDS.search(above[above.find("//") :]):
        yield REMARK
