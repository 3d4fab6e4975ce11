"""Abstract values: what an integer of device code stands for, how it varies over a block, and why that is known."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from cu2port.syntax.constants import Constant, fits


class Kind(Enum):
    """What an integer stands for."""

    UNKNOWN = "something unknown"
    NUMBER = "a number"
    THREAD = "a thread index"  # threadIdx.x
    THREAD_Y = "a thread index of another dimension"  # threadIdx.y, threadIdx.z
    LINEAR = "the linear thread index in the block"
    GLOBAL = "the thread index in the grid"
    INDEX = "an index that starts from a thread index"  # of a loop over data, or derived by other arithmetic
    SHIFTED = "a thread index and a number"
    LANE_PLUS = "a lane id and a number"
    PART = "a part of a thread index"
    LANE = "a lane id"
    WARP = "a warp id"
    GLOBAL_WARP = "the warp id in the grid"
    MASK = "a mask of lanes"
    LANE_BIT = "the bit of a lane in a mask"
    COUNT = "a count of warps"
    SIZE = "the warp size"
    BLOCK = "a block size"
    BLOCK_ID = "a block index"
    STEP = "a loop variable"  # bounded or stepped by the literals in `src`
    WARP_MULTIPLE = "a multiple of a warp id"
    PRODUCT = "a multiple of a literal"  # of the literals in `src`
    WHOLE = "a number rounded to a multiple of a literal"  # `n & ~31`
    QUOTIENT = "how often a literal goes into a number"  # `n / 32`; of the literals in `src`
    ROUND = "a round of a loop that takes so many"  # a loop variable bounded by such a quotient
    RESIDUE = "what is left of a division by a literal"  # `n % 32`
    SHARE = "a part of a literal"  # `32 / n`, of the literals in `src`
    LANE_MULTIPLE = "a multiple of a lane id"
    BITS = "a count of bits"
    LANE_BITS = "a count of a mask's bits"
    TILE = "a tile of threads"
    GROUP = "a group of threads"
    ONE = "one thread of the block"  # conditions
    ROW = "one row of the block's threads"
    LEADER = "one lane of each warp"
    FIRST = "whole warps"  # a condition that is the same for all lanes of a CUDA warp
    SOME = "some lanes of each warp"
    TEST = "a condition"
    DATA = "data from memory"


THREADS = frozenset({Kind.THREAD, Kind.LINEAR, Kind.GLOBAL})
CONDITIONS = frozenset({Kind.ONE, Kind.ROW, Kind.LEADER, Kind.FIRST, Kind.SOME, Kind.TEST})

#: How a value varies: the same for the block, or at least for 64 threads in a row; the same for a CUDA warp; by lane.
UNIFORM, WARPS, LANES = 0, 1, 2


class Step(NamedTuple):
    """One step of a chain of reasons: at token `at`, `text`; `before` is the step it rests on."""

    at: int
    text: str
    before: Step | None


class V(NamedTuple):
    """An abstract value. `vary`: UNIFORM, WARPS or LANES. `num`: its value if constant. `src`: the tokens (literals and
    named constants) whose number this is. `shared`: it is in, or points to, shared memory. `type`: the number's, as
    in `syntax.constants`."""

    kind: Kind
    vary: int = UNIFORM
    num: int | None = None
    src: tuple[int, ...] = ()
    why: Step | None = None
    shared: bool = False
    volatile: bool = False
    type: str = "int"

    @property
    def constant(self) -> Constant | None:
        """The number with its C++ type; None if it is not known."""
        if self.num is None:
            return None
        return Constant(self.num, self.type if fits(self.num, self.type) else "long")


_MOST = 16  # literals that one value may come from
NOTHING = V(Kind.UNKNOWN)


def join(a: V, b: V) -> V:
    """What is known of a value that is a or b."""
    if a is b or a == b:
        return a
    vary = max(a.vary, b.vary)
    src = a.src if a.src == b.src else tuple(dict.fromkeys((*a.src, *b.src)))[:_MOST]
    shared, volatile = a.shared or b.shared, a.volatile or b.volatile
    if a.kind is b.kind:
        return V(a.kind, vary, a.num if a.num == b.num else None, src, a.why or b.why, shared, volatile)
    # a variable is set to 0 or -1 first and to what it stands for later; the unknown adds nothing
    for x, y in ((a, b), (b, a)):
        if y.kind is Kind.UNKNOWN or (y.kind is Kind.NUMBER and y.num in (0, -1, None)):
            return V(x.kind, vary, None, src, x.why, shared, volatile)
    if {a.kind, b.kind} == {Kind.COUNT, Kind.NUMBER}:  # `n % size ? 1 : 0` more warps
        return V(Kind.COUNT, vary, None, src, a.why or b.why, shared, volatile)
    if {a.kind, b.kind} <= {Kind.THREAD, Kind.LINEAR, Kind.GLOBAL, Kind.INDEX}:
        return V(Kind.INDEX, vary, None, src, a.why or b.why, shared, volatile)
    if a.kind in CONDITIONS and b.kind in CONDITIONS:
        return V(Kind.TEST, vary, None, src, a.why or b.why)
    return V(Kind.UNKNOWN, vary, None, (), a.why or b.why, shared, volatile)


def join_all(values: Iterable[V]) -> V:
    """The join of several values."""
    out: V | None = None
    for v in values:
        out = v if out is None else join(out, v)
    return out if out is not None else NOTHING


SIZE_NAME = re.compile(
    r"(?i)(?!.*(?:sub_?warp|bytes|(?<!nvsh)mem|partial|half))(?:.*(?:warp_?(?:size|sz|siz|width|lanes|dim|len)|wave(?:front)?_?(?:size|sz)|threads?_?(?:per|in|this)_?(?:this_?)?warp|"
    r"lanes?_?(?:per|in)_?warp|num_?lanes|n_?lanes|lane_?(?:count|num|size)|warp_?(?:n_?)?threads).*\Z"
    r"|(?:ws|wsz|(?:\w*_)?(?:full|whole)_?warp|(?-i:warp_t|WARP_T))\Z)"
)
MASK_NAME = re.compile(r"(?i).*(?:warp_?(?:size_?)?(?:mask|minus)|lane_?(?:id_?)?mask|ws_?mask).*\Z")
LOG_NAME = re.compile(r"(?i).*(?:lo?g2?_?(?:of_?)?(?:warp|ws)|warp_?(?:size_?)?(?:shift|log|bits|lg|exp)).*\Z")
LANE_NAME = re.compile(
    r"(?i)(?!.*per_?(?:warp|lane))(?:.*_)?(?:lane_?(?:id|idx|index|num)?|laneid|lid_?in_?warp|tid_?in_?warp|thread_?lane|"
    r"warp_?lane|my_?lane|lane_?rank|in_?warp_?(?:id|tid|idx))(?:_?(?:x|in_?warp))?\Z"
    r"|(?-i:[a-z]+)(?-i:[A-Z]\w*)?(?-i:Lane(?:Id|Idx|Index))\Z"
)
WARP_NAME = re.compile(
    r"(?i)(?!.*(?:per_?warp|(?:stride|step|offset|rows?|cols?|columns?|elems?|elements|bytes|num|count|size|len|max)_?(?:of_?|in_?)?warp\Z))(?:.*_)?(?:(?:my_?|global_?|local_?|block_?)?warp_?(?:id|idx|index|rank|no)?|wid|wix|warpid"
    r"|warp_?id_?in_?block|wave_?id|(?-i:[a-z][A-Za-z]*Warp(?:Id|Idx|Index|Rank)))\Z"
)
COUNT_NAME = re.compile(
    r"(?i)(?:.*_)?(?:warps|n(?:um|umber|r)?_?(?:of_?)?_?warps?\w*|k?num_?\w*warps?|warps?_?per_?\w+|warps_?in_?\w+"
    r"|warp_?(?:count|num)s?|\w+_warps|warps_?[mnkxyz]|k?warps[MNKXYZ]?|num_w)\Z"
)
THREAD_NAME = re.compile(
    r"(?i)(?:(?!.*(?:glob|grid|warp|lane|group|wave))(?:\w+_tid|\w+_thread_?(?:id|idx|index))|tid|tidx|tid_?x|thread_?id|thread_?idx|thread_?index|thread_?rank|thid|threadid_?x?|"
    r"local_?tid|ltid|thread|(?:idx|tid|thread_?(?:idx|id))_?in_?(?:warp_?group|block|cta|wg))\Z"
)
BLOCK_NAME = re.compile(
    r"(?i).*(?:n(?:um)?_?[a-z]*_?threads|block_?(?:size|dim|threads|sz|width)|threads?_?(?:per|in)_?block|"
    r"threads_?(?:num|count|x)|cta_?(?:size|threads)|tpb|block_?dim_?x|threads\Z|^threads|^nt|^bdim"
    r"|^blk_?sz).*\Z"
)
SHUFFLE_NAME = re.compile(r"(?i)shfl|shuffle|broadcast")
GROUP_NAME = re.compile(r"(?i).*(?:shfl|shuffle|warp|lane).*\Z")


def is_weak(name: str) -> bool:
    """Whether a name of a size refers to lanes rather than to warps, and so of any number of them."""
    low = name.lower()
    return ("warp" not in low and "wave" not in low and low != "ws") or low.startswith("lanes")


@lru_cache(maxsize=4096)
def named_constant(name: str) -> str:
    """What a constant is by its name: "size" (lanes in a warp), "mask" (that less one), "log" (its logarithm), ""."""
    if LOG_NAME.match(name):
        return "log"
    if MASK_NAME.match(name):
        return "mask"
    return "size" if SIZE_NAME.match(name) else ""


@lru_cache(maxsize=4096)
def by_name(name: str) -> Kind:
    """What a variable is, judged by its name alone."""
    if LANE_NAME.match(name):
        return Kind.LANE
    if COUNT_NAME.match(name):
        return Kind.COUNT
    if WARP_NAME.match(name):
        return Kind.WARP
    if THREAD_NAME.match(name):
        return Kind.LINEAR
    return Kind.UNKNOWN


@lru_cache(maxsize=4096)
def is_block_size(name: str) -> bool:
    """Whether a name says that it counts the threads of a block."""
    return BLOCK_NAME.match(name) is not None and "warp" not in name.lower() and "lane" not in name.lower()


VARY = {
    Kind.LANE: LANES,
    Kind.WARP: WARPS,
    Kind.GLOBAL_WARP: WARPS,
    Kind.LINEAR: LANES,
    Kind.COUNT: UNIFORM,
    Kind.UNKNOWN: UNIFORM,
}


def chain(step: Step | None) -> list[Step]:
    """The steps of a chain, from the first one on."""
    out: list[Step] = []
    while step is not None and len(out) < 12:
        out.append(step)
        step = step.before
    return out[::-1]
