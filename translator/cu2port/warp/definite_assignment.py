"""Local variables of device functions that only some lanes set, and that are passed by value.

    int base;
    if (lane == 0) base = atomicAdd(n, 32);
    base = broadcast(base);

clang marks parameters and results that are numbers or pointers as never undefined, so it may assume that the other
path through the branch is never taken. It does so before calls are inlined. So one function at a time is enough, and
this is a definite assignment analysis of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from enum import IntEnum
from functools import partial
from typing import NamedTuple

from cu2port.facts.unit import Unit
from cu2port.syntax.tree import (
    Asm,
    Assign,
    Binary,
    Block,
    CallExpr,
    Decl,
    Eval,
    Expr,
    If,
    Index,
    Jump,
    Lambda,
    Loop,
    Member,
    Name,
    Num,
    Stmt,
    Switch,
    Ternary,
    Unary,
    callee,
    parts,
    root,
    statements,
    walk,
)
from cu2port.warp.divergence import divergent_names, names_lane
from cu2port.warp.model import Device, read_function
from cu2port.warp.uninitialized import Candidate, is_macro

_MAX_VARIABLES = 256  # variables of one function that are analysed: the time of each join grows with them


class Status(IntEnum):
    """What a place holds at a point of the program."""

    UNSET = 0
    SOME_PATHS = 1  # set on some paths, and each path is taken by all lanes or none
    SOME_LANES = 2  # set in some lanes
    SET = 3


class Place(NamedTuple):
    """A variable, by the token of its declaration, or a part of it (`.x`, `[0]`)."""

    decl: int
    part: str = ""


class UnsetUse(NamedTuple):
    """A variable, or a part of one, that some lanes have not set where it is passed by value. `at`: the token where it
    is read; `to`: the function it is passed to, `return` or `asm`; `jumped_over`: a jump could skip an initializer."""

    decl: Decl
    part: str
    at: int
    to: str
    jumped_over: bool


State = dict[Place, Status]
Sources = dict[Place, None]  # in the order in which they were read


def unset_uses(unit: Unit, f: Candidate, tolerant: frozenset[str]) -> list[UnsetUse]:
    """Variables of a function that are passed by value where some lanes have not set them, each once.

    `tolerant`: names of functions that accept arguments without a value."""
    found = _Walk(unit, read_function(unit, f.fn, f.names), f.decls, tolerant, None).found
    if found:  # rare: the second pass knows which branches are divergent
        device = read_function(unit, f.fn)
        found = _Walk(unit, device, f.decls, tolerant, divergent_names(unit, device)).found
    return [found[decl] for decl in sorted(found)]


def _shape(e: Expr) -> object:
    """The structure of an expression, without its position in the file."""
    if isinstance(e, Name):
        return e.text
    if isinstance(e, Num):
        return e.value
    return (type(e).__name__, getattr(e, "op", getattr(e, "name", "")), *map(_shape, parts(e)))


def _conjuncts(e: Expr) -> list[object]:
    if isinstance(e, Binary) and e.op in ("&&", "and"):
        return [_shape(e), *_conjuncts(e.a), *_conjuncts(e.b)]
    return [_shape(e)]


def _join(a: State | None, b: State | None, divergent: Callable[[], bool]) -> State | None:
    """The state where two paths meet. `divergent`: whether lanes of one warp may have taken different ones."""
    if a is None or b is None:
        return a if b is None else b
    if a == b:
        return a
    out = dict(a)
    for place in a.keys() | b.keys():
        whole = Place(place.decl)
        x = max(a.get(place, Status.UNSET), a.get(whole, Status.UNSET))
        y = max(b.get(place, Status.UNSET), b.get(whole, Status.UNSET))
        diverges = Status.SOME_LANES in (x, y) or divergent()
        out[place] = x if x is y else Status.SOME_LANES if diverges else Status.SOME_PATHS
    return out


class _Walk:
    """Visits a function once, in the order of execution."""

    def __init__(
        self, unit: Unit, device: Device, wanted: set[int], tolerant: frozenset[str], divergent: frozenset[str] | None
    ) -> None:
        """`divergent`: names whose values may differ between lanes; None: any may."""
        self.unit, self.tolerant, self.divergent = unit, tolerant, divergent
        self.found: dict[int, UnsetUse] = {}
        self.decls: dict[int, Decl] = {}
        self.scope: dict[str, int] = {p.name: -1 for p in device.params}
        self.wanted = set(sorted(wanted)[:_MAX_VARIABLES])
        names = {unit.t[decl] for decl in self.wanted}
        self.uses = sorted(k for name in names for k in unit.lexed.places[name])
        self.state: State | None = {}
        self.known: Counter[object] = Counter()  # conditions that hold here
        self.block_known: list[object] = []  # those of them that hold to the end of a block
        self.when: dict[Place, set[object]] = {}  # conditions on which a place has a value
        self.derived_from: dict[Place, Sources] = {}  # variables computed from some that some lanes have not set
        self.sources: Sources = {}  # such variables, read since the statement began
        self.exits: list[tuple[list[State], list[State]]] = []  # states at break, at continue
        self.jumped_over = "goto" in unit.t[device.fn.body[0] : device.fn.body[1]]
        self.in_switch: set[int] = set()
        self.stmt(device.body)

    # --- places ---------------------------------------------------------------------------------------------------

    def place(self, e: Expr) -> Place | None:
        """The variable, or the part of one, that an expression names, if it is analysed."""
        part, base = "", e
        if isinstance(e, Member) and self.unit.t[e.at - 1] == ".":
            part, base = "." + e.name, e.base
        elif isinstance(e, Index) and isinstance(e.inner, Num):
            part, base = f"[{e.inner.value}]", e.base
        if not isinstance(base, Name) or base.qualified:
            return None
        decl = self.scope.get(base.text, -1)
        if decl not in self.decls:
            return Place(decl) if not part and Place(decl) in self.derived_from else None
        return Place(decl, part) if not part or (part[0] == "[") == bool(self.decls[decl].dims) else None

    def set_place(self, place: Place | None, sources: Sources | None = None) -> None:
        """Set a place. `sources`: places that some lanes have not set, and that the value is computed from."""
        if place is None or self.state is None:
            return
        self.derived_from.pop(place, None)
        self.state[place] = Status.SET
        if sources:
            self.state[place] = Status.SOME_LANES
            self.derived_from[place] = sources

    def read(self, place: Place, at: int, to: str) -> None:
        """Read a place; `to`: what its value is passed to, "" for nothing."""
        if self.state is None:
            return
        has = max(self.state.get(place, Status.UNSET), self.state.get(Place(place.decl), Status.UNSET))
        if has is not Status.SOME_LANES or any(self.known[c] > 0 for c in self.when.get(place, ())):
            return
        for source in self.derived_from.get(place, {place: None}):
            decl = self.decls[source.decl]
            if decl.dims and not source.part:  # an array's address
                continue
            self.sources[source] = None
            if to and source.decl not in self.found:
                jumped_over = self.jumped_over or source.decl in self.in_switch
                self.found[source.decl] = UnsetUse(decl, source.part, at, to, jumped_over)

    # --- expressions ----------------------------------------------------------------------------------------------

    def expr(self, e: Expr, to: str = "") -> None:
        """`to`: what the value of the expression is passed to."""
        place = self.place(e)
        if place is not None:
            self.read(place, e.at, to)
        elif isinstance(e, Assign):
            self.assign(e)
        elif isinstance(e, CallExpr):
            self.call(e)
        elif isinstance(e, Unary) and e.op == "&":
            decl = self.scope.get(root(e.x), -1)
            self.set_place(Place(decl) if decl in self.decls else None)
        elif isinstance(e, Ternary):
            self.expr(e.cond)
            self.under(_conjuncts(e.cond), e.a, to)
            self.expr(e.b, to)
        elif isinstance(e, Binary):
            self.expr(e.a, to)
            self.under(_conjuncts(e.a) if e.op in ("&&", "and") else (), e.b, to)
        elif isinstance(e, Lambda):
            scope, state = dict(self.scope), self.state
            self.scope.update({p.name: -1 for p in e.params})
            self.stmt(e.body)
            self.scope, self.state = scope, state if self.state is None else self.state
        else:
            for x in parts(e):  # of an object or a pointer, another value is passed
                self.expr(x, "" if isinstance(e, (Member, Index)) or (isinstance(e, Unary) and e.op == "*") else to)

    def under(self, conditions: Iterable[object], e: Expr, to: str) -> None:
        """An expression that is only evaluated if conditions hold."""
        self.known.update(conditions)
        self.expr(e, to)
        self.known.subtract(conditions)

    def assign(self, e: Assign) -> None:
        before, self.sources = self.sources, {}
        self.expr(e.value)
        sources, self.sources = self.sources, before
        place = self.place(e.target)
        if place is not None and e.op == "=":
            self.set_place(place, sources)
        else:
            self.expr(e.target)

    def call(self, e: CallExpr) -> None:
        before, self.sources = self.sources, {}
        name = callee(e)
        if isinstance(e.callee, Member):
            self.expr(e.callee.base)
        macro = is_macro(self.unit, name)
        accepted = macro or name in self.tolerant or self.is_own_function(e.callee)
        by_reference = []
        for x in e.args:
            self.expr(x, "" if accepted else name)
            place = self.place(x)
            if place is not None and not (accepted and not macro):
                by_reference.append(place)
        for place in by_reference:  # it may be a reference
            self.set_place(place)
        self.sources = before  # the result of a call is a new value

    def is_own_function(self, e: Expr) -> bool:
        """Whether a function is one of `cu2port`, which accept values that are not set."""
        return isinstance(e, Name) and e.qualified and self.unit.t[self.unit.qualifier(e.at)] == "cu2port"

    # --- statements -----------------------------------------------------------------------------------------------

    def stmt(self, s: Stmt | None) -> None:
        if isinstance(s, Block):
            if s.at < 0:  # the variables of one declaration
                for x in s.body:
                    self.stmt(x)
            else:
                self.block(s.body)
        elif isinstance(s, Decl):
            self.sources = {}
            if s.init is not None:
                self.expr(s.init)
            self.scope[s.name] = s.at
            if s.init is not None and self.sources:
                self.set_place(Place(s.at), self.sources)
            elif s.at in self.wanted and s.init is None and not s.shared:
                self.decls[s.at] = s
                if self.state is not None:
                    self.state[Place(s.at)] = Status.UNSET
        elif isinstance(s, Eval):
            if self.derived_from or s.end < 0 or self.is_used(s.at, s.end):
                self.sources = {}
                self.expr(s.expr)
        elif isinstance(s, If):
            self.branch(s)
        elif isinstance(s, Loop):
            self.loop(s)
        elif isinstance(s, Switch):
            self.switch(s)
        elif isinstance(s, Asm):
            for read in s.ins:
                self.expr(read, "asm")
            for written in s.outs:
                self.set_place(self.place(written))
        elif isinstance(s, Jump):
            self.jump(s)

    def is_used(self, first: int, last: int) -> bool:
        """Whether a variable may be named between two tokens."""
        n = bisect_left(self.uses, first)
        return n < len(self.uses) and self.uses[n] <= last

    def block(self, body: Iterable[Stmt]) -> None:
        scope, count = dict(self.scope), len(self.block_known)
        for x in body:
            self.stmt(x)
        self.scope = scope
        self.known.subtract(self.block_known[count:])
        del self.block_known[count:]

    def jump(self, s: Jump) -> None:
        if s.value is not None:
            self.expr(s.value, "return" if s.kind == "return" else "")
        if s.kind in ("break", "continue") and self.exits and self.state is not None:
            self.exits[-1][s.kind == "continue"].append(self.state)
        if s.kind in ("return", "break", "continue", "goto"):
            self.state = None

    def branch(self, s: If) -> None:
        self.expr(s.cond)
        before = self.state
        if before is None:
            return
        negated = ("not", _shape(s.cond))
        paths = []
        for conditions, arm in ((_conjuncts(s.cond), s.then), ([negated], s.other)):
            self.state = dict(before)
            self.known.update(conditions)
            self.stmt(arm)
            self.known.subtract(conditions)
            paths.append(self.state)
            for place in self.state or ():
                if self.state is not None and self.state[place] is Status.SET is not before.get(place):
                    self.when.setdefault(place, set()).add(conditions[0])
        then, other = paths
        if then is None or other is None:  # only lanes that did not leave reach the rest of the block
            rest = [negated] if then is None else _conjuncts(s.cond)
            self.block_known += rest
            self.known.update(rest)
        self.state = _join(then, other, partial(self.is_divergent, s.cond))

    def loop(self, s: Loop) -> None:
        scope = dict(self.scope)
        self.stmt(s.init)
        if s.cond is not None and s.kind != "do":
            self.expr(s.cond)
        before = self.state
        if before is None:
            self.scope = scope
            return
        self.exits.append(([], []))
        self.state = dict(before)
        self.stmt(s.body)
        breaks, continues = self.exits.pop()
        for state in continues:
            self.state = _join(self.state, state, lambda: True)
        for e in (s.step, s.cond if s.kind == "do" else None):
            if e is not None:
                self.expr(e)
        endless = s.cond is None or _shape(s.cond) in (1, "true")
        after = None if endless else self.state
        if not endless and s.kind != "do" and s.cond is not None and self.is_divergent(s.cond):
            after = _join(after, before, lambda: True)  # other loops are assumed to run at least once
        for state in breaks:
            after = _join(after, state, lambda: True)
        self.state, self.scope = after, scope

    def switch(self, s: Switch) -> None:
        self.expr(s.cond)
        before = self.state
        if before is None:
            return
        divergent, default = partial(self.is_divergent, s.cond), False
        self.exits.append(([], self.exits[-1][1] if self.exits else []))
        scope, self.state = dict(self.scope), None
        for x in s.body.body if isinstance(s.body, Block) else (s.body,):
            if isinstance(x, Jump) and x.kind in ("case", "default"):
                default |= x.kind == "default"
                self.state = dict(_join(self.state, before, divergent) or before)
            else:
                if isinstance(x, (Decl, Block)):
                    self.in_switch.update(d.at for d in statements(x) if isinstance(d, Decl) and d in _level(x))
                self.stmt(x)
        after = self.state
        for state in self.exits.pop()[0]:
            after = _join(after, state, divergent)
        self.state = after if default and after is not None else _join(after, before, divergent)
        self.scope = scope

    def is_divergent(self, cond: Expr) -> bool:
        return self.divergent is None or any(names_lane(x, self.divergent) for x in walk(cond))


def _level(s: Decl | Block) -> tuple[Stmt, ...]:
    """The variables that one declaration declares."""
    return (s,) if isinstance(s, Decl) else s.body if s.at < 0 else ()
