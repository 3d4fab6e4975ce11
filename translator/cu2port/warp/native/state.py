"""What the proof knows at a place of a function, as frozen values: each step of the walk makes a new one of the old."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from cu2port.core.model import Edit
from cu2port.facts.unit import Unit
from cu2port.syntax.tree import CallExpr, Decl, Expr, Name, Num, Stmt, Unary, statements, walk
from cu2port.warp.model import Device
from cu2port.warp.native.ladders import Facts
from cu2port.warp.native.patterns import Parts
from cu2port.warp.native.reasons import Reason, Refused
from cu2port.warp.native.types import COUNT, declared_type, is_narrow, keeps


class Kind(Enum):
    """What a value is when warps become wavefronts. All but SAME, TID and SPOT change with the number of lanes."""

    SAME = "the same value in the same thread"
    TID = "threadIdx.x"
    LANE = "a lane id"
    WARP = "a warp id"
    COUNT = "a count of warps"
    PART = "what a warp's lanes come to"  # over all lanes of the thread's warp
    SLOTS = "an array with a value for each warp"
    GATHERED = "a warp's value in each lane"  # and an identity in the lanes beyond
    WHOLE = "what the block's threads come to"  # in the first warp, or everywhere
    TILE = "a tile of 32 threads"
    FIRST_SET = "an array whose first element is set"
    MIXED = "one of several values"


class T(NamedTuple):
    """The type of a value. `op`: what put it together; `everywhere`: a WHOLE that all threads have; `uniform`: the same
    in all threads of the block; `seen`: SLOTS behind a barrier; `node`: the constant that a variable was set to;
    `typ`: the C++ type of what depends on the number of lanes; `source`: the variable whose value of each warp SLOTS
    hold."""

    kind: Kind
    op: str = ""
    everywhere: bool = False
    uniform: bool = False
    seen: bool = False
    node: Expr | None = None
    typ: str = ""
    source: str = ""

    @property
    def plain(self) -> bool:
        """Whether it is the same for any number of lanes."""
        return self.kind in (Kind.SAME, Kind.TID)


SAME = T(Kind.SAME)
UNIFORM = T(Kind.SAME, uniform=True)
MIXED = T(Kind.MIXED)
_ASIDE: dict[str, Any] = {"node": None, "source": ""}
#: What a variable may be in the first warp alone.
_OF_SLOTS = frozenset({Kind.GATHERED, Kind.WHOLE, Kind.PART})


def join(a: T, b: T) -> T:
    """The type of a value that is a or b."""
    if a == b:
        return a
    if a.plain and b.plain:
        return T(Kind.SAME, uniform=a.uniform and b.uniform)
    if Kind.WHOLE in (a.kind, b.kind) and (a.plain or b.plain):  # right wherever the block's is
        return T(Kind.WHOLE, everywhere=a.everywhere or b.everywhere)
    if a.kind is b.kind and a._replace(**_ASIDE) == b._replace(**_ASIDE):
        return a._replace(node=None, source=a.source if a.source == b.source else "")
    return MIXED


class Here(NamedTuple):
    """Where a statement stands. `together`: all threads of the block that exist come here at once (or all of the first
    warp); `role`: the threads that come, if their choice depends on the number of lanes or is one thread: "leader",
    "first", "slots", "thread", else ""; `small`: the block has no more threads than a CUDA warp, whose functions
    may stay as they are."""

    together: bool = True
    role: str = ""
    small: bool = False

    @property
    def by_lanes(self) -> bool:
        """Whether the number of lanes decides who comes."""
        return self.role in ("leader", "first", "slots")


class Site(NamedTuple):
    """A call of a function that reduces over the warp. `kind`: the type of its argument, where that tells which."""

    call: CallExpr
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Proved:
    """What a device function does, for any number of lanes: `result` when it returns, `edits` that make it native.
    `reduces`: it is nothing but a reduction of its first argument, by this operation, and `reduction` is the call that
    does the same."""

    result: T
    edits: Mapping[tuple[int, int], Edit] = field(default_factory=dict)
    sites: tuple[Site, ...] = ()
    reduces: str = ""
    reduction: Parts = ()
    low: bool = False  # a reduction whose result lane 0 alone has
    kinds: tuple[str, ...] = ()  # types of the only parameter of all functions of this name; "" for a template's
    widths: tuple[tuple[int, bool], ...] = ()  # its template's parameters that must be 32, whether they are by default
    typed: int = 0  # its template's parameter that is the type
    index: str = ""  # it returns the "lane" or the "warp", and does nothing else
    line: bool = False  # its blocks must have one row of threads
    plane: bool = False  # its blocks may have two dimensions, no more
    meets: bool = False  # all lanes of a wavefront that exist must call it together
    syncs: bool = False  # all threads that call it come to a barrier in it
    scratch: frozenset[int] = frozenset()  # parameters that point to slots of warps
    scratch_calls: frozenset[int] = frozenset()  # its calls that give a shared array of its own for such


def alike(all_of: Sequence[Proved]) -> Proved:
    """What functions of one name do that do the same, whichever of them is called."""
    return replace(
        all_of[0],
        line=any(s.line for s in all_of),
        meets=any(s.meets for s in all_of),
        plane=any(s.plane for s in all_of),
        syncs=all(s.syncs for s in all_of),
        kinds=tuple(k for s in all_of for k in s.kinds),
    )


class Look(Protocol):
    """What the functions of a name do; None if there is none. `kind`: the type of a call's only argument, if known."""

    def __call__(self, name: str, kind: str = "") -> Proved | Refused | None: ...


@dataclass(frozen=True, slots=True)
class Fn:
    """A function that is walked over. `rows`, `deep`: its blocks have a second dimension, a third one; `bound`: names
    of `auto [a, b] = ...`; `own`: variables that nobody else sees before it returns; `references`: the caller's."""

    unit: Unit
    facts: Facts
    d: Device
    look: Look
    rows: bool = False
    deep: bool = False
    bound: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()
    values: Mapping[type, Callable[[State, Any], Valued]] = field(default_factory=dict)  # what expressions are
    statement: Callable[[State, Stmt, Here], State] = lambda s, _x, _here: s

    @property
    def threads(self) -> str:
        """How many threads the block has, as text; "" where that is not known."""
        return "blockDim.x" if not self.rows else "blockDim.x * blockDim.y" if not self.deep else ""


class Note(NamedTuple):
    """Something found on the way, and what was found before it."""

    what: str  # edit, understood, done, site, result, scratch, scratch_call, line, plane, meets
    value: Any
    before: Note | None


Valued = tuple["State", T]
_NONE: Mapping[Any, Any] = MappingProxyType({})


class State(NamedTuple):
    """What is known at a place. `env`: variables; `types`: their types in C++; `tracked`: those that ever depend on
    the number of lanes; `aliased`: those that have other names too, and where; `arrays`: in shared memory; `slots`:
    those with a value for each warp; `plainly`: those that hold other things at some time; `fixed`: constants;
    `gone`, `broken`: some threads may have returned, or left the loop; `notes`: what was found so far. Behind a
    refusal nothing else is looked at."""

    fn: Fn
    here: Here = Here()
    env: Mapping[str, T] = _NONE
    types: Mapping[str, str] = _NONE
    arrays: Mapping[str, Decl] = _NONE
    aliased: Mapping[str, int] = _NONE
    tracked: frozenset[str] = frozenset()
    slots: frozenset[str] = frozenset()
    plainly: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    gone: bool = False
    broken: bool = False
    notes: Note | None = None
    refused: Refused | None = None

    # --- what was found -------------------------------------------------------------------------------------------

    def refuse(self, at: int, reason: Reason, *names: str) -> State:
        """Refused, unless it was before."""
        return self if self.refused is not None else self._replace(refused=Refused(max(at, 0), reason, names))

    def note(self, what: str, *values: Any) -> State:
        """With things found."""
        notes = self.notes
        for x in values:
            notes = Note(what, x, notes)
        return self._replace(notes=notes)

    def found(self, what: str) -> list[Any]:
        """The things found so far, in order."""
        out, n = [], self.notes
        while n is not None:
            if n.what == what:
                out.append(n.value)
            n = n.before
        return out[::-1]

    def edit(self, *edits: Edit) -> State:
        """With rewritten text."""
        return self.note("edit", *edits)

    def understand(self, e: Expr) -> State:
        """The names of an expression are understood where they are."""
        return self.note("understood", *(x.at for x in walk(e) if isinstance(x, Name)))

    # --- variables ------------------------------------------------------------------------------------------------

    def get(self, name: str) -> T:
        """What a variable is."""
        return self.env.get(name, SAME)

    def kind(self, e: Expr) -> Kind:
        """What an expression is that names a variable; SAME for any other."""
        return self.get(e.text).kind if isinstance(e, Name) else Kind.SAME

    def set(self, name: str, t: T) -> State:
        """With a variable, whatever it was."""
        return self._replace(env={**self.env, name: t})

    def track(self, *names: str) -> State:
        """With variables that depend on the number of lanes."""
        return self._replace(tracked=self.tracked.union(names))

    def merge(self, other: Mapping[str, T]) -> State:
        """With what variables are if another way may have led here."""
        if self.env == other:
            return self
        names = self.env.keys() | other.keys()
        return self._replace(env={n: join(self.get(n), other.get(n, SAME)) for n in names})

    def alias(self, name: str, at: int) -> State:
        """A variable has another name too."""
        return self if name in self.aliased else self._replace(aliased={**self.aliased, name: at})

    def lost(self, name: str, at: int) -> State:
        """A variable may be changed through another name."""
        s = self.alias(name, at)
        return s.set(name, SAME) if name in s.env and name not in s.fixed and s.env[name].plain else s

    def kept(self, t: T, typ: str, name: str, at: int) -> tuple[State, T]:
        """A value that depends on the number of lanes, as one of a type."""
        if not keeps(t.op, t.typ, typ):
            given = (name, typ or "of unknown type", t.kind.value, t.typ or "unknown")
            return self.refuse(at, Reason.TYPE, *given), t
        return self, t if t.typ == COUNT else t._replace(typ=typ)

    def handed_back(self, at: int) -> State:
        """What the caller sees in variables of its own when the function returns."""
        s = self
        for name in sorted(self.fn.references):
            t = self.get(name)
            if not t.plain and not (t.kind is Kind.WHOLE and t.everywhere):
                s = s.refuse(at, Reason.CALLER_GETS, t.kind.value, name)
        return s

    def assign(self, name: str, t: T, value: Expr) -> State:
        """A variable is set to a value."""
        s, here = self, self.here
        if not (t.plain or (t.kind is Kind.WHOLE and t.everywhere)) and name not in s.fn.own:
            return s.refuse(value.at, Reason.SEEN, name, t.kind.value)
        if here.role == "first":
            if t.kind not in _OF_SLOTS:
                t = MIXED if not t.plain or name in s.env else t._replace(uniform=False)
        elif here.by_lanes:
            return s.refuse(value.at, Reason.SET_BY_SOME, name)
        if t.kind is Kind.SAME:
            constant = isinstance(value, (Num, Name, Unary, CallExpr)) or s.fn.facts.fold(value) is not None
            t = t._replace(node=value if constant else None, uniform=t.uniform and here.together and not here.role)
        typ = s.types.get(name, "")
        if t.kind in (Kind.PART, Kind.GATHERED):
            s, t = s.kept(t, typ, name, value.at)
        elif t.kind is Kind.TID and is_narrow(typ):
            t = SAME
        elif t.kind in (Kind.LANE, Kind.WARP, Kind.COUNT) and typ == "bool":
            return s.refuse(value.at, Reason.TYPE, name, typ, t.kind.value, "int")
        if not t.plain:
            s = s.track(name)
        elif name in s.aliased and name not in s.fixed:
            t = SAME  # another name may change it
        old = {a: x._replace(source="") for a in s.slots if (x := s.get(a)).source == name}
        return s._replace(env={**s.env, name: t, **old})

    def constant(self, e: Expr) -> int | None:
        """The value of a constant of the file, or of a variable that holds one here."""
        if isinstance(e, Name) and e.text in self.env:
            node = self.env[e.text].node
            return self.fn.facts.fold(node) if node is not None else None
        return self.fn.facts.fold(e)

    def is_tracked(self, e: Expr) -> bool:
        """Whether an expression names a variable that depends on the number of lanes here."""
        return any(isinstance(x, Name) and not self.get(x.text).plain for x in walk(e))


def start(fn: Fn) -> State:
    """What is known where a function begins."""
    params = [p for p in fn.d.params if p.name]
    env = {p.name: T(Kind.SAME, uniform=fn.d.kernel) for p in params} | {
        p.name: UNIFORM for p in fn.d.tparams if p.name
    }
    types = {p.name: declared_type(fn.unit, p.at) or f"? {p.name}" for p in fn.d.params if p.at > 0}
    return State(fn, env=env, types=types)


def make_fn(unit: Unit, facts: Facts, d: Device, look: Look) -> Fn:
    """A function, with what its text says of its blocks and variables."""
    t, (first, stop) = unit.t, d.fn.body
    axes = {t[i + 2] for i in unit.between(first, stop, "threadIdx", "blockDim") if unit.tok(i + 1) == "."}
    bound = {
        x
        for i in unit.between(first, stop, "[")
        if "auto" in (unit.tok(i - 1), unit.tok(i - 2)) and unit.match[i] > 0
        for x in t[i + 1 : unit.match[i]]
    }
    own = {p.name for p in d.params}
    own |= {x.name for x in statements(d.body) if isinstance(x, Decl) and not _is_static(unit, x)}
    references = {p.name for p in d.params if p.reference}
    sets = frozenset(bound), frozenset(own), frozenset(references)
    return Fn(unit, facts, d, look, not axes <= {"x"}, "z" in axes, *sets)


def _is_static(unit: Unit, s: Decl) -> bool:
    k = s.at
    while unit.t[k - 1] not in (";", "{", "}"):
        k -= 1
    return not s.shared and "static" in unit.t[k : s.at]
