"""CUDA's names that the analysis knows: what they give, and which argument of a cross-lane operation is what."""

from __future__ import annotations

# position of the mask, the value, the lane or distance, the width
from cu2port.core.late import regex

SHUFFLES = {
    **{f"__shfl{d}_sync": (0, 1, 2, 3) for d in ("", "_up", "_down", "_xor")},
    **{f"__shfl{d}": (-1, 0, 1, 2) for d in ("", "_up", "_down", "_xor")},
}
BALLOTS = frozenset(
    "__ballot_sync __ballot __activemask __match_any_sync __match_all_sync __match_any __match_all __ballot64".split()
)
VOTES = frozenset("__any_sync __all_sync __any __all __uni_sync __uni".split())
REDUCES = frozenset(f"__reduce_{x}_sync" for x in ("add", "min", "max", "and", "or", "xor"))
LANE_OPERATIONS = frozenset({*SHUFFLES, *BALLOTS, *VOTES, *REDUCES, "__syncwarp", "__hip_ds_swizzle"})
BARRIERS = frozenset("__syncthreads __syncthreads_or __syncthreads_and __syncthreads_count __barrier_sync".split())
GROUP_LANES = frozenset("shfl shfl_up shfl_down shfl_xor ballot any all match_any match_all reduce".split())
BIT_COUNTS = frozenset(
    "__popc __popcll __ffs __ffsll __clz __clzll __brev __brevll __fns popcount countl_zero countr_zero __ctz "
    "clz popc ffs ctz bfe".split()
)
TAKES = frozenset(
    "atomicCAS atomicCAS_block atomicCAS_system atomicExch atomicExch_block atomicExch_system atomicOr exchange "
    "compare_exchange_strong compare_exchange_weak test_and_set try_lock atomicAnd".split()
)
ATOMIC = regex(r"atomic[A-Z]\w*\Z|fetch_\w+\Z|store\Z|__nv_atomic_\w+\Z|red_\w+\Z|st_\w*release\w*\Z")
READS = regex(
    r"(?i)(?:\w*(?:ld|load|read|poll|peek|acquire)\w*|\w*(?:atomic|volatile)\w*|__ldcg|__ldcv|__ldg|load|\w*flag\w*"
    r"|\w*test_?wait\w*|\w*try_?wait\w*|test)\Z"
)
WAITS = regex(
    r"(?i)\w*(?:mbar\w*wait|barrier\w*wait|wait_?(?:parity|barrier|full|empty|on)\w*|consumer_wait\w*|"
    r"producer_acquire\w*|try_wait\w*|arrive_and_wait|wait_until\w*|spin_?(?:wait|lock)\w*)\Z"
)
QUIET = frozenset(
    "__nanosleep __threadfence __threadfence_block __threadfence_system nanosleep printf clock64 clock "
    "__builtin_amdgcn_s_sleep assert trap __trap __clock64 atomic_thread_fence yield "
    "__builtin_amdgcn_fence".split()
)
LANE_GETTERS = regex(
    r"(?i)_*(?:get_?)?(?:my_?)?(?:canonical_?)?(?:warp_?)?lane_?(?:id|idx|index|rank)?(?:_in_warp)?\Z|__lane_id\Z|LaneId\Z"
)
WARP_GETTERS = regex(r"(?i)_*(?:get_?)?(?:canonical_?)?warp_?(?:id|idx|index|rank)(?:_in_\w+|_sync)?\Z")
NAMED_BARRIER = regex(r"\bbar(?:rier)?(?:\.cta|\.warp)?\.(sync|arrive|red)[.\w]*\s+([^;\"]*)")
_DIVIDES = regex(r"(?i)\w*(?:ceil_?div|div_?(?:up|ceil|round_?up)|cdiv|div_rounding_up|i_?div_?up)\w*\Z")
_ROUNDS = regex(r"(?i)\w*(?:round_?up|align_?up|round_?down|next_?multiple|pad_?to|ceil_?to)\w*\Z")
#: Functions that give a barrier its number of threads.
ARRIVALS = regex(r"(?i)\w*(?:m?bar(?:rier)?\w*(?:init|arrive|sync|expect)|(?:init|arrive)\w*barrier)\w*\Z")
SIZE_GETTERS = regex(r"(?i)(?:\w*_)?(?:get_?)?k?(?:warp|wave)_?(?:size|threads)\Z")


def rounding(name: str) -> str:
    """The operator that a function of two numbers stands for: "/" divides and rounds up, "%" rounds to a multiple."""
    return "/" if _DIVIDES.match(name) else "%" if _ROUNDS.match(name) else ""


GROUP_FUNCTIONS = frozenset({"reduce", "inclusive_scan", "exclusive_scan", "invoke_one", "invoke_one_broadcast"})
SURELY_LANES = frozenset({"shfl", "shfl_up", "shfl_down", "shfl_xor", "match_any", "match_all", "ballot"})
TILE_MAKERS = frozenset({"tiled_partition", "thread_block_tile", "labeled_partition", "binary_partition"})
#: Functions of `cu2port::warp` -> CUDA's names.
CONVERTED = {n.removeprefix("__").removesuffix("_sync"): n for n in sorted(LANE_OPERATIONS) if n.endswith("_sync")}
CONVERTED |= {"activemask": "__activemask", "syncwarp": "__syncwarp"}
FILTER = LANE_OPERATIONS | BARRIERS
