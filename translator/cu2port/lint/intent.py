"""Which warps code for HIP was written for: CUDA's of 32 lanes, or whatever a wavefront has.

CUDA code whose names were replaced still counts 32 lanes, and the file says so: it divides thread indices by 32, its
masks have 32 bits, its reductions start with a distance of 16. If nothing in it refers to a wavefront, its lane
operations can be kept to 32 lanes: that changes nothing on wavefronts of 32, and those of 64 give the same.
"""

from __future__ import annotations

import re

from cu2port.core.model import Trust
from cu2port.facts.conditionals import Cover
from cu2port.facts.hipcode import hip_branches
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import SHUFFLES, SYNC, mask_bits
from cu2port.syntax.constants import integer
from cu2port.syntax.lexer import is_identifier
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.classify import classify
from cu2port.warp.headers import header_facts
from cu2port.warp.model import constants
from cu2port.warp.roles import Role
from cu2port.warp.values import THREADS, Kind, by_name, is_block_size, named_constant

# what tells a lane from a warp: a literal in one of these roles, beside a thread index
_PARTS = frozenset({Role.SIZE, Role.MASK, Role.LOG, Role.COUNT})
_WHOLE = frozenset(
    "__lane_id __lanemask_lt __lanemask_gt __lanemask_eq __ballot64 __popcll __ffsll __clzll __brevll __fns64 "
    "__activemask64 __match_any64".split()
)
_WAVE = re.compile(r"(?i).*(?:wave_?(?:front|size|id|mask|32|64)|\bwf_?size)|__AMDGCN_WAVEFRONT|__builtin_amdgcn_|WAVE")
_WIDE = re.compile(r"(?i)0x(?:f{9,16}|[0-9a-f]{9,16})[ul]*\Z|1u?ll?u?\Z")
_PARTING = {64: frozenset({"%", "/", "%=", "/="}), 63: frozenset({"&", "&=", "=="}), 6: frozenset({">>", ">>="})}
_SHUFFLES = SHUFFLES | {n for n in SYNC if "shfl" in n}


def lanes_32(unit: Unit) -> Trust | None:
    """How sure it is that a file's warps have 32 lanes: EXACT, REVIEW, or None if nothing in it says so."""
    return unit.once(_lanes_32)


def counts_lanes(unit: Unit, besides: frozenset[int]) -> bool:
    """Whether a file counts lanes at all, with a number or a name of its own, `besides` some bytes."""
    named = any(w != "warpSize" and named_constant(w) == "size" for w in _sizes(unit))
    return named or any(v.lanes and unit.t[v.at] != "warpSize" and unit.p[v.at] not in besides for v in classify(unit))


def _lanes_32(unit: Unit) -> Trust | None:
    masked = _masked_functions(unit)
    if not masked and not _counts(unit) and not _starts_at_16(unit):
        return None
    return Trust.REVIEW if _doubtful(unit, masked) else Trust.EXACT


def _masked_functions(unit: Unit) -> frozenset[int]:
    """The functions that pass a mask of 32 bits to a `*_sync` builtin, which HIP 7 refuses, by their first token; -1
    stands for macros."""
    if unit.words.isdisjoint(SYNC) or any(unit.macros.get(n) for n in SYNC & unit.words):
        return frozenset()
    shims = header_facts(unit).macros
    found = set()
    for i in unit.find(*(SYNC & unit.words - shims)):
        call = unit.call(i)
        if call is not None and call.args and mask_bits(unit, call.args[0]) == 32:
            f = unit.function_at(i)
            found.add(-1 if f is None else f.first)
    return frozenset(found)


def _counts(unit: Unit) -> bool:
    """Whether the file takes thread indices apart by 32, or names 32 as the size of a warp."""
    for v in classify(unit):
        word = unit.t[v.at]
        if not v.lanes or is_identifier(word):
            continue
        if v.role in _PARTS and (v.other in THREADS or named_constant(unit.tok(v.at - 1)) or v.other is Kind.LANE):
            return True
        if named_constant(unit.tok(v.at - 2)) == "size" and integer(word) == 32:
            return True
    return False


def _starts_at_16(unit: Unit) -> bool:
    """Whether a loop halves the distance of a shuffle from 16 on: those are the distances within 32 lanes."""
    return any(_distance(unit, i) == 16 for i in unit.find(*(_SHUFFLES & unit.words)))


def _distance(unit: Unit, i: int) -> int:
    """The greatest distance of the shuffle at token i: a literal, or where its loop starts; 0 if it is not known."""
    call = unit.call(i)
    k = 2 if unit.t[i].endswith("_sync") else 1
    if call is None or len(call.args) <= k:
        return 0
    name = unit.text[call.args[k].start : call.args[k].end]
    if name[:1].isdigit():
        return integer(name) or 0
    f = unit.function_at(i)
    if f is None or not is_identifier(name):
        return 0
    known = unit.once(_known_starts)
    if (f.first, name) not in known:
        starts = [
            integer(unit.t[j + 2]) or 0
            for j in unit.between(f.body[0] + 1, f.body[1], name)
            if unit.tok(j + 1) == "="
            and unit.tok(j + 2)[:1].isdigit()
            and unit.tok(j + 3) == ";"
            and _opens_for(unit, j)
        ]
        known[f.first, name] = max(starts, default=0)
    return known[f.first, name]


def _known_starts(_: Unit) -> dict[tuple[int, str], int]:
    """Where the loops over a variable start at most, by a function's first token and its name; those asked for."""
    return {}


def _opens_for(unit: Unit, j: int) -> bool:
    """Whether token j is what a `for` statement declares or sets first."""
    k = j - 1
    while k > j - 4 and is_identifier(unit.tok(k)):
        k -= 1
    return unit.tok(k) == "(" and unit.tok(k - 1) == "for"


def _doubtful(unit: Unit, masked: frozenset[int]) -> bool:
    """Whether something in the file may refer to a whole wavefront, or to another size."""
    words = unit.words
    if words & _WHOLE or any(_WAVE.match(w) or _WIDE.match(w) for w in words) or _branches_on_lanes(unit):
        return True
    known = header_facts(unit)
    if words & known.macros & SYNC:
        return True
    for i in unit.find("warpSize"):
        f = unit.function_at(i)
        if f is None or f.first not in masked:
            return True
    own = {n: integer(unit.tok(at)) for n, at in constants(unit).items() if unit.tok(at)[:1].isdigit()}
    for w in _sizes(unit):
        if w != "warpSize" and named_constant(w) == "size":
            values = {integer(unit.t[m.first]) if m.stop == m.first + 1 else None for m in unit.macros.get(w, ())}
            values |= {own[w]} if w in own else set()
            values |= {known.constants[w]} if not values and w in known.constants else set()
            values = values or _given(unit, w)
            if values != {32}:
                return True
    if any(_distance(unit, i) > 31 for i in unit.find(*(_SHUFFLES & words))):
        return True
    return any(_by_64(unit, i) for i in unit.find("64", "63", "6", "0x3f", "0x3F", "0x40"))


def _given(unit: Unit, name: str) -> set[int | None]:
    """The numbers that a variable or parameter is set to where it is declared."""
    return {
        integer(unit.t[i + 2]) if unit.tok(i + 2)[:1].isdigit() and unit.tok(i + 3) in (";", ",", ">", ")") else None
        for i in unit.find(name)
        if unit.tok(i + 1) == "=" and is_identifier(unit.tok(i - 1))
    }


def _branches_on_lanes(unit: Unit) -> bool:
    """Whether a branch for HIP holds a lane operation or the size of a wavefront: the file was written for it too."""
    branches = Cover(hip_branches(unit))
    found = unit.find(*LANE_OPERATIONS, "warpSize", "64", "63", "0x3f", "0x3F", *_sizes(unit))
    return any(unit.p[i] in branches for i in found)


def _sizes(unit: Unit) -> list[str]:
    return [w for w in unit.words if is_identifier(w) and named_constant(w)]


def _by_64(unit: Unit, i: int) -> bool:
    """Whether a number parts threads into wavefronts of 64: `tid % 64`, `tid / 64`, `tid & 63`, `tid >> 6`, or is the
    width of a shuffle."""
    before, number, k = unit.tok(i - 1), integer(unit.t[i]), i - 2
    if before == "," and number == 64:
        return _in_shuffle(unit, i)
    if before == ">" and unit.tok(i - 2) == ">":
        before, k = ">>", i - 3
    if before not in _PARTING.get(number or 0, ()):
        return False
    first = unit.match[k] if unit.tok(k) in (")", "]") else k
    if unit.tok(k - 1) == ".":
        first = k - 2
    left = unit.t[max(0, first) : k + 1]
    return any(by_name(w) is not Kind.UNKNOWN or is_block_size(w) or w in ("threadIdx", "blockDim") for w in left)


def _in_shuffle(unit: Unit, i: int) -> bool:
    k = i
    while k > max(0, i - 40) and unit.t[k] not in (";", "{", "}"):
        if unit.t[k] in _SHUFFLES:
            return True
        k -= 1
    return False
