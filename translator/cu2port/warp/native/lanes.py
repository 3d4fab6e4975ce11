"""What all parts of the proof share: summaries of functions, and what is known of variables at a place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from cu2port.core.model import Edit, Span
from cu2port.facts.unit import Unit
from cu2port.syntax.tree import (
    Block,
    CallExpr,
    Decl,
    Eval,
    Expr,
    Member,
    Name,
    Num,
    Stmt,
    Unary,
    statements,
    walk,
)
from cu2port.warp.model import Device
from cu2port.warp.native.groups import is_barrier
from cu2port.warp.native.steps import Refused, Steps
from cu2port.warp.native.types import COUNT, declared_type, keeps
from cu2port.warp.native.values import MIXED, SAME, Kind, T, is_plain, join

ROUNDS = 4
IDEMPOTENT = frozenset({"max", "min", "or", "and"})
MATH = frozenset(
    "sqrtf sqrt rsqrtf rsqrt __fsqrt_rn expf exp __expf logf log __logf fabsf fabs abs max min fmaxf fminf fmax fmin "
    "__fdividef __frcp_rn __frsqrt_rn powf pow float double int half __float2half __half2float __float2bfloat16 "
    "static_cast".split()
)
ATOMICS = {
    "atomicAdd": "add", "atomicMax": "max", "atomicMin": "min", "atomicOr": "or", "atomicAnd": "and",
    "atomicXor": "xor", "atomicAdd_block": "add", "atomicAdd_system": "add",
}  # fmt: skip
GROUPS = frozenset("coalesced_threads labeled_partition binary_partition".split())
CUB = re.compile(r"Warp(?:Reduce|Scan|Exchange|MergeSort|Load|Store)\Z")
LEAVES = frozenset(
    "return break continue goto for while do if else switch case asm __asm__ __asm __syncthreads".split()
)
#: What a variable may be in the first warp alone.
OF_SLOTS = frozenset({Kind.GATHERED, Kind.WHOLE, Kind.PART})
Env = dict[str, T]


@dataclass(frozen=True, slots=True)
class Here:
    """Where a statement stands. `together`: all threads of the block that exist come here at once (or all of the first
    warp); `role`: the threads that come, if their choice depends on the number of lanes or is one thread."""

    together: bool = True
    role: str = ""  # "leader", "first", "slots", "thread"; "" for any choice that does not depend on lanes
    small: bool = False  # the block has no more threads than a warp of CUDA's: its functions may stay as they are


@dataclass(slots=True)
class Summary:
    """What a device function does: `result` when it returns, `edits` that make it native, `reduces`: it is nothing but
    a reduction of its first argument, by this operation. `line`: its blocks must have one row of threads.
    `sites`: its calls of functions that reduce over the warp; `reduction`: the call that does what it does."""

    result: T
    edits: dict[tuple[int, int], Edit] = field(default_factory=dict)
    reduces: str = ""
    line: bool = False
    sites: tuple[CallExpr, ...] = ()
    reduction: tuple[str | Span, ...] = ()
    meets: bool = False  # all lanes of a wavefront that exist must call it together
    plane: bool = False  # its blocks may have two dimensions, no more
    floors: bool = False  # it leaves a part of a warp out of the count of warps
    low: bool = False  # a reduction whose result lane 0 alone has
    kinds: tuple[str, ...] = ()  # types of the only parameter of all functions of this name; "" for a template's
    index: str = ""  # it returns the "lane" or the "warp", and does nothing else
    scratch: frozenset[int] = frozenset()  # parameters that point to slots of warps
    loans: frozenset[int] = frozenset()  # its calls that give a shared array of its own for such
    syncs: bool = False  # all threads that call it come to a barrier in it
    widths: tuple[
        tuple[int, bool], ...
    ] = ()  # its template's parameters that must be 32, and whether they are if not given
    typed: int = 0  # its template's parameter that is the type


class Look(Protocol):
    """What the functions of a name do; None if there is none. `kind`: the type of a call's only argument, if known."""

    def __call__(self, name: str, kind: str = "") -> Summary | None: ...


def alike(all_of: Sequence[Summary]) -> Summary:
    """What functions of one name do that do the same, whichever of them is called."""
    return replace(
        all_of[0],
        line=any(s.line for s in all_of),
        meets=any(s.meets for s in all_of),
        plane=any(s.plane for s in all_of),
        floors=any(s.floors for s in all_of),
        syncs=all(s.syncs for s in all_of),
        kinds=tuple(k for s in all_of for k in s.kinds),
    )


def axis_of(e: Expr, name: str) -> str:
    """The axis of `threadIdx.x` and the like; "" for anything else."""
    return e.name if isinstance(e, Member) and isinstance(e.base, Name) and e.base.text == name else ""


def without(unit: Unit, at: int) -> Edit:
    """Takes out the declaration whose variable is token `at`, with its line if it has one of its own."""
    first = last = at
    while unit.t[first - 1] not in (";", "{", "}"):
        first -= 1
    while unit.t[last] != ";":
        last = max(last, unit.match[last]) + 1
    start, end = unit.p[first], unit.end(last)
    line = unit.text.rfind("\n", 0, start) + 1
    if not unit.text[line:start].strip() and unit.text[end : end + 1] == "\n":
        start, end = line, end + 1
    return Edit(start, end, ())


class Known:
    """What is known at a place of a function while it is walked over."""

    def __init__(self, unit: Unit, steps: Steps, d: Device, look: Look) -> None:
        self.unit, self.steps, self.d, self.look = unit, steps, d, look
        self.env: Env = {}
        self.edits: dict[tuple[int, int], Edit] = {}
        self.spots: set[int] = set()  # tokens of names that were understood
        self.done: set[int] = set()  # tokens of cross-lane operations that were understood
        self.tracked: set[str] = set()
        self.aliased: dict[str, int] = {}
        self.arrays: dict[str, Decl] = {}
        self.slots: set[str] = set()
        self.gone = False  # some threads may have returned
        self.line = self.plane = self.floors = False
        self.plainly: set[str] = set()  # arrays that hold other things than slots at some time
        self.sites: list[CallExpr] = []
        self.results: list[T] = []
        self.broken = False  # some threads may have left the loop
        self.fixed: set[str] = set()
        self.here = Here()
        self.rows = self.deep = False  # blocks have a second dimension, a third one
        self.scratch: set[int] = set()  # parameters that point to slots of warps
        self.loans: set[int] = set()
        self.meets = False  # lanes meet in it, or in what it calls
        self.types = {p.name: declared_type(unit, p.at) or f"? {p.name}" for p in d.params if p.at > 0}
        self.bound: set[str] = set()  # `auto [a, b] = ...`
        self.own = {p.name for p in d.params}  # variables that nobody else sees before the function returns
        self.own |= {x.name for x in statements(d.body) if isinstance(x, Decl) and not self.is_static(x)}
        self.lent = {p.name for p in d.params if p.at > 0 and unit.t[p.at - 1] in ("&", "&&")}

    # --- what is tried and taken back -----------------------------------------------------------------------------

    def snapshot(self) -> dict[str, object]:
        """What is known here, to come back to."""
        return {n: x.copy() if isinstance(x, (dict, set, list)) else x for n, x in vars(self).items()}

    def restore(self, kept: dict[str, object]) -> None:
        """Come back to what was known; once only."""
        vars(self).update(kept)

    # --- variables ---------------------------------------------------------------------------------------------------

    def merge(self, other: Env) -> None:
        for name in self.env.keys() | other.keys():
            self.env[name] = join(self.env.get(name, SAME), other.get(name, SAME))

    def lost(self, name: str, at: int) -> None:
        """A variable may be changed through another name."""
        self.aliased.setdefault(name, at)
        if name in self.env and name not in self.fixed and is_plain(self.env[name]):
            self.env[name] = SAME

    def kept(self, t: T, typ: str, name: str, at: int) -> T:
        """A value that depends on the number of lanes, as one of a type."""
        if not keeps(t.op, t.typ, typ):
            raise Refused(
                max(at, 0), f"`{name}` ({typ or 'of unknown type'}) gets {t.kind.value} ({t.typ or 'unknown'})"
            )
        return t if t.typ == COUNT else t._replace(typ=typ)

    def is_static(self, s: Decl) -> bool:
        k = s.at
        while self.unit.t[k - 1] not in (";", "{", "}"):
            k -= 1
        return not s.shared and "static" in self.unit.t[k : s.at]

    def handed_back(self, at: int) -> None:
        """What the caller sees in variables of its own when the function returns."""
        for name in sorted(self.lent):
            t = self.env.get(name, SAME)
            if not is_plain(t) and not (t.kind is Kind.WHOLE and t.everywhere):
                raise Refused(at, f"the caller gets {t.kind.value} in `{name}`")

    def assign(self, name: str, t: T, value: Expr, here: Here) -> None:
        everywhere = is_plain(t) or (t.kind is Kind.WHOLE and t.everywhere)
        if not everywhere and name not in self.own:
            raise Refused(value.at if value.at >= 0 else 0, f"`{name}`, which other functions see, gets {t.kind.value}")
        if here.role == "first":
            if t.kind not in OF_SLOTS:
                t = MIXED if not is_plain(t) or name in self.env else t._replace(uniform=False)
        elif here.role in ("leader", "slots"):
            raise Refused(value.at if value.at >= 0 else 0, f"`{name}` is set by some lanes of each warp")
        if t.kind is Kind.SAME:
            constant = isinstance(value, (Num, Name, Unary, CallExpr)) or self.steps.fold(value) is not None
            t = t._replace(node=value if constant else None, uniform=t.uniform and here.together and not here.role)
        if t.kind in (Kind.PART, Kind.GATHERED):
            t = self.kept(t, self.types.get(name, ""), name, value.at)
        if not is_plain(t):
            self.tracked.add(name)
        elif name in self.aliased and name not in self.fixed:
            t = SAME  # another name may change it
        self.env[name] = t
        for array in self.slots:
            if self.env.get(array, SAME).source == name:
                self.env[array] = self.env[array]._replace(source="")

    # --- small questions ------------------------------------------------------------------------------------------

    def spot(self, e: Expr) -> None:
        """The names of an expression are understood where they stand."""
        self.spots |= {x.at for x in walk(e) if isinstance(x, Name)}

    def constant(self, e: Expr) -> int | None:
        """The value of a constant of the file, or of a variable that holds one here."""
        if isinstance(e, Name) and e.text in self.env:
            node = self.env[e.text].node
            return self.steps.fold(node) if node is not None else None
        return self.steps.fold(e)

    def is_constant(self, e: Expr) -> bool:
        x = e.x if isinstance(e, Unary) and e.op == "-" else e
        return isinstance(x, Num) or self.steps.fold(x) is not None

    def is_tracked(self, e: Expr) -> bool:
        return any(isinstance(x, Name) and not is_plain(self.env.get(x.text, SAME)) for x in walk(e))

    @staticmethod
    def only(s: Stmt) -> Expr | None:
        if isinstance(s, Block) and len(s.body) == 1:
            s = s.body[0]
        return s.expr if isinstance(s, Eval) else None

    def has_barrier(self, s: Stmt | None) -> bool:
        body = s.body if isinstance(s, Block) else (s,)
        return any(isinstance(x, Eval) and is_barrier(self.unit, x.expr) for x in body)
