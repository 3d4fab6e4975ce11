"""The table of native code: what CUDA code writes where it works with lanes, warps and their values, as CUDA code.

A row holds a pattern; words in capitals are holes. `match.py` compares a pattern with code, `read.py` says what may
are in a hole. Operands of `+`, `*`, `&`, `|`, `^`, `==`, `&&` and of comparisons may stand the other way round;
brackets do not count. To add a pattern, add a row: CONTRIBUTING.md says how. `tests/warp/test_warp_native_patterns.py`
converts an example of each row, runs it on wavefronts of 32 and of 64 lanes, and looks for what it becomes.
"""

from __future__ import annotations

from dataclasses import dataclass

from cu2port.core.model import Span
from cu2port.syntax.tree import CallExpr, callee

Parts = tuple[str | Span, ...]
SPACE = "cu2port::wave::"
_SIZE = SPACE + "size()"


# --- steps: two lanes' values put together ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """How `V` is put together with `OTHER`, the value that another lane has of it; `HELD` is a variable with that
    value, `F` a function or functor. `op`: the operation, "" where `F` says which; `result`: what two values `a` and
    `b` become, "" for a sum."""

    cuda: str
    op: str
    result: str

    @property
    def call(self) -> Parts:
        """The function of `wave` that does the same for a warp, and what follows the variable there."""
        return ("reduce", f", [](auto a, auto b) {{ return {self.result}; }})") if self.result else ("sum", ")")


_SIGNS = {"+": "add", "*": "mul", "|": "or", "&": "and", "^": "xor"}
_AB = {"V": "a", "OTHER": "b", "HELD": "b"}


def _signs(pattern: str) -> tuple[Step, ...]:
    """A row for each operator that does not care about order, in place of `@`."""
    return tuple(Step(pattern.replace("@", x), op, "" if op == "add" else f"a {x} b") for x, op in _SIGNS.items())


def _choices(pattern: str) -> tuple[Step, ...]:
    """A row for each comparison of `V` with `OTHER`, and for each that is taken where it holds: `YES`, else `NO`."""
    out = []
    for sign in ("<", ">", "<=", ">="):
        for yes, no in (("V", "HELD"), ("HELD", "V")):
            if "YES" not in pattern and yes == "V":
                continue
            op = "max" if (sign[0] == ">") == (yes == "V") else "min"
            out.append(
                Step(
                    pattern.replace("@", sign).replace("YES", yes).replace("NO", no),
                    op,
                    f"a {sign} b ? {_AB[yes]} : {_AB[no]}",
                )
            )
    return tuple(out)


STEPS = (
    *_signs("V @= OTHER;"),
    *_signs("V = V @ OTHER;"),
    Step("V = F(V, OTHER);", "", "F"),
    Step("V = F(OTHER, V);", "", "F"),
    *_choices("V = V @ OTHER ? YES : NO;"),
    *_choices("if (V @ OTHER) V = HELD;"),
)
#: Functions of CUDA and of the standard library, by what they do with two values; `add` by its name.
CALLS = {
    **dict.fromkeys(("max", "fmaxf", "fmax", "umax", "__hmax"), "max"),
    **dict.fromkeys(("min", "fminf", "fmin", "umin", "__hmin"), "min"),
    **dict.fromkeys(("__hadd", "add"), "add"),
}
_GROUPS = ("cg", "cooperative_groups")
_CUB = ("cub", "hipcub")
_STANDARD = ("std", "thrust", "cuda")
_MAX, _MIN = ("max", "a > b ? a : b"), ("min", "a < b ? a : b")
#: Functors of libraries by namespace and name: what they do, and the text for it. `std::less` says which is less.
FUNCTORS: dict[tuple[str, str], tuple[str, str]] = {
    **dict.fromkeys(((n, "plus") for n in (*_GROUPS, *_STANDARD)), ("add", "a + b")),
    **dict.fromkeys(((n, "Sum") for n in _CUB), ("add", "a + b")),
    **dict.fromkeys([(n, "greater") for n in _GROUPS] + [(n, "Max") for n in _CUB], _MAX),
    **dict.fromkeys([(n, "less") for n in _GROUPS] + [(n, "Min") for n in _CUB], _MIN),
    **dict.fromkeys(((n, "maximum") for n in ("thrust", "cuda")), _MAX),
    **dict.fromkeys(((n, "minimum") for n in ("thrust", "cuda")), _MIN),
    **dict.fromkeys(((n, "bit_or") for n in (*_GROUPS, *_STANDARD)), ("or", "a | b")),
    **dict.fromkeys(((n, "bit_and") for n in (*_GROUPS, *_STANDARD)), ("and", "a & b")),
    **dict.fromkeys(((n, "bit_xor") for n in (*_GROUPS, *_STANDARD)), ("xor", "a ^ b")),
}

# --- identities -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Identity:
    """An expression that an operation on any other value leaves as it is. Holes are words or calls of `WORDS`. `types`:
    those of the values, if not all of them: in another type it is another value."""

    op: str
    cuda: str
    types: tuple[str, ...] = ()


IDENTITIES = (
    *(Identity(op, hole) for op in ("add", "or", "xor") for hole in ("NOUGHT", "UNSIGNED_NOUGHT")),
    Identity("mul", "UNIT"),
    Identity("and", "~NOUGHT"),
    Identity("and", "~UNSIGNED_NOUGHT", ("int", "unsigned", "short", "unsigned short", "unsigned char", "bool")),
    Identity("and", "-UNIT"),
    Identity("max", "-GREATEST"),
    Identity("max", "-INFINITE()"),
    Identity("max", "LOWEST()"),
    Identity("max", "LEAST_INTEGER", ("int",)),
    Identity("min", "GREATEST"),
    Identity("min", "INFINITE()"),
    Identity("min", "HIGHEST()"),
    Identity("min", "GREATEST_INTEGER", ("int",)),
    Identity("min", "GREATEST_UNSIGNED", ("unsigned",)),
)
#: What is in such a hole: a literal, a macro, or a function; `HUGE_LITERAL`: a literal that no data reach.
HUGE_LITERAL = "1e15"
WORDS: dict[str, frozenset[str]] = {
    "NOUGHT": frozenset("0 0.0 0. 0.f 0.0f 0.0F 0.F 0ul 0ull 0ULL 0UL 0L false".split()),
    "UNSIGNED_NOUGHT": frozenset({"0u", "0U"}),
    "UNIT": frozenset("1 1.0 1.f 1.0f 1.".split()),
    "GREATEST": frozenset(
        f"INFINITY HUGE_VALF HUGE_VAL FLT_MAX DBL_MAX CUDART_INF_F CUDART_INF {HUGE_LITERAL}".split()
    ),
    "LEAST_INTEGER": frozenset({"INT_MIN"}),
    "GREATEST_INTEGER": frozenset({"INT_MAX"}),
    "GREATEST_UNSIGNED": frozenset({"UINT_MAX"}),
    "INFINITE": frozenset({"infinity"}),
    "LOWEST": frozenset({"numeric_limits::lowest"}),
    "HIGHEST": frozenset({"numeric_limits::max"}),
}
#: Types and functions that convert one value, which may be around an identity.
CONVERSIONS = frozenset("T scalar_t accscalar_t float double int half __float2half __float2half_rn".split())

# --- groups of threads ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Group:
    """A cooperative group: the type of such variables, the function that makes it, with the argument of its template if
    it has one. `means`: a hole of that name in capitals takes it."""

    means: str
    typ: str
    maker: str
    size: int = 0


GROUPS = (
    Group("block", "thread_block", "this_thread_block"),
    Group("tile", "", "tiled_partition", 32),
)

# --- calls that put the values of a warp together ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Collective:
    """A call that puts the values of all lanes of a warp together: of a mask and a value. `op`: the operation; `call`:
    what stands for it, before the value and behind it; `typ`: the type of the result, "" for that of the value, which
    must be an integer of 32 bits then; `promoted`: the value may be of a smaller type."""

    name: str
    op: str
    call: tuple[str, str]
    typ: str = ""
    promoted: bool = False

    @property
    def votes(self) -> bool:
        """Whether it makes true or false of the values."""
        return self.typ == "int"


_LEAST = "[](auto a, auto b) { return a < b ? a : b; }"
_MOST = "[](auto a, auto b) { return a > b ? a : b; }"
_OR, _AND, _XOR = (f"[](auto a, auto b) {{ return a {sign} b; }}" for sign in "|&^")
COLLECTIVES = (
    Collective("__reduce_add_sync", "add", ("sum(", ")"), promoted=True),
    Collective("__reduce_min_sync", "min", ("reduce(", f", {_LEAST})")),
    Collective("__reduce_max_sync", "max", ("reduce(", f", {_MOST})")),
    Collective("__reduce_or_sync", "or", ("reduce(unsigned(", f"), {_OR})"), "unsigned"),
    Collective("__reduce_and_sync", "and", ("reduce(unsigned(", f"), {_AND})"), "unsigned"),
    Collective("__reduce_xor_sync", "xor", ("reduce(unsigned(", f"), {_XOR})"), "unsigned"),
    Collective("__any_sync", "or", ("any(", ")"), "int"),
    Collective("__all_sync", "and", ("all(", ")"), "int"),
)


def collective(e: CallExpr) -> Collective | None:
    """The row of a call."""
    return next((row for row in COLLECTIVES if row.name == callee(e)), None)


# --- forms: what says something of lanes ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Form:
    """Code that says something of lanes. `means`: what; a hole of that name in capitals takes such code. `place`: what
    of it is rewritten: a hole, "ALL", or "TAIL" from the operator on; `text`: as what. `where`: "row" if blocks must
    have one dimension, "plane" if they have two."""

    cuda: str
    means: str
    place: str = ""
    text: str = ""
    where: str = ""


_COUNT = SPACE + "count({})"
FORMS = (
    # the number of the thread in its block
    Form("threadIdx.x", "tid", where="row"),
    Form("BLOCK.thread_rank()", "tid", where="row"),
    Form("threadIdx.y * blockDim.x + threadIdx.x", "tid", where="plane"),
    # of the lane in its warp
    Form("TID % SIZE", "lane", "SIZE", _SIZE),
    Form("TID & (SIZE - ONE)", "lane", "SIZE", _SIZE),
    Form("TID & LAST", "lane", "LAST", f"({_SIZE} - 1)"),
    Form("TID - WARP * SIZE", "lane", "SIZE", _SIZE),
    Form("TILE.thread_rank()", "lane", "ALL", f"(threadIdx.x % {_SIZE})"),
    Form("LANE_INDEX()", "lane", "ALL", f"(threadIdx.x % {_SIZE})", where="row"),
    # of the warp in its block
    Form("TID / SIZE", "warp", "SIZE", _SIZE),
    Form("TID >> FIVE", "warp", "TAIL", f"/ {_SIZE}"),
    Form("TILE.meta_group_rank()", "warp", "ALL", f"(threadIdx.x / {_SIZE})"),
    Form("WARP_INDEX()", "warp", "ALL", f"(threadIdx.x / {_SIZE})", where="row"),
    # how many threads a block has, and how many warps
    Form("blockDim.x", "threads", where="row"),
    Form("blockDim.x * blockDim.y", "threads", where="plane"),
    Form("TILE.meta_group_size()", "count", "ALL", _COUNT.format("blockDim.x")),
    Form("THREADS / SIZE", "count", "ALL", _COUNT),
    Form("THREADS >> FIVE", "count", "ALL", _COUNT),
    Form("(THREADS + WIDE - ONE) / SIZE", "count", "ALL", _COUNT),
    Form("(THREADS + WIDE - ONE) >> FIVE", "count", "ALL", _COUNT),
    Form("(THREADS + TOP) / SIZE", "count", "ALL", _COUNT),
    Form("(THREADS + TOP) >> FIVE", "count", "ALL", _COUNT),
    Form("(THREADS - ONE) / SIZE + ONE", "count", "ALL", _COUNT),
    Form("MANY / SIZE", "count", "ALL", _COUNT),
    Form("MANY >> FIVE", "count", "ALL", _COUNT),
    Form("FEW", "count", "FEW", _COUNT),
    Form("THREADS / FRACTION", "rounded", "ALL", _COUNT),
    Form("COUNT", "rounded"),
    # blocks of one warp at most, of more
    Form("blockDim.x <= UP_TO_32", "small"),
    Form("blockDim.x < UP_TO_33", "small"),
    Form("blockDim.x > UP_TO_32", "large"),
    Form("blockDim.x >= UP_TO_33", "large"),
    # who comes: one thread, lane 0 of each warp, the first warp, the lanes of the first warp that have a warp
    Form("TID == ZERO", "thread"),
    Form("!TID", "thread"),
    Form("TID < ONE", "thread"),
    Form("X_ZERO && Y_ZERO", "thread", where="plane"),
    Form("LEADER && FIRST", "thread"),
    Form("THREAD && THREAD", "thread"),
    Form("THREAD && PLAIN", "thread"),
    Form("LANE == ZERO", "leader"),
    Form("!LANE", "leader"),
    Form("LANE < ONE", "leader"),
    Form("WARP == ZERO", "first"),
    Form("!WARP", "first"),
    Form("WARP < ONE", "first"),
    Form("TID < SIZE", "first", "SIZE", _SIZE),
    Form("TID <= LAST", "first", "LAST", f"{_SIZE} - 1"),
    Form("TID < ROUNDED", "slots"),
    Form("LANE < ROUNDED", "slots"),
    *(
        Form(text.format(axis.lower()), f"{axis}_zero".lower())
        for axis in "XY"
        for text in ("threadIdx.{} == ZERO", "!threadIdx.{}")
    ),
    # slots of warps, read
    Form("SLOTS ? ARRAY[PLACE] : BEYOND", "gathered"),
    Form("if (SLOTS) V = ARRAY[PLACE];", "gathering"),
    Form("if (SLOTS) V = ARRAY[PLACE]; else V = BEYOND;", "gathering"),
    Form("for (int I = FROM; I < BOUND; ++I) V += ARRAY[I];", "serial"),
    # calls of all threads, of all lanes
    Form("__syncthreads()", "barrier"),
    Form("BLOCK.sync()", "barrier"),
    Form("cg::sync(BLOCK)", "barrier"),
    Form("__popc(__ballot_sync(MASK, VOTE))", "counted"),
    Form("__popc(__ballot(VOTE))", "counted"),
    Form("cg::reduce(TILE, VALUE, FUNCTOR())", "tiled"),
)
#: Conditions, by who comes.
WHO = ("thread", "leader", "first", "slots")
