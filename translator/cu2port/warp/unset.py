"""Locals of device functions that only some lanes give a value, and that are handed on by value all the same.

    int base;
    if (lane == 0) base = atomicAdd(n, 32);
    base = broadcast(base);

clang marks parameters and results that are numbers or pointers as never undefined, so it may take the other way
through the branch for one that is never taken. It does so before calls are inlined. What one function shows is
therefore all that there is to see, and this is a definite assignment analysis of one function at a time.
"""

from __future__ import annotations

import re
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
    expressions,
    parts,
    root,
    statements,
    walk,
)
from cu2port.warp.model import Device
from cu2port.warp.valueless import Suspect, is_macro, read

_MOST = 256  # variables of one function that are followed; the time that joins of branches take grows with them
_LANES = re.compile(
    r"(?i:\w*(?:lane|thread_?id|thread_?rank|threadidx|leader|elect|warp_?master)\w*|_*ffs(?:ll)?|__cl?tz(?:ll)?)"
    r"|\w*tid\w*|id|t[xyz]"
)


class Has(IntEnum):
    """What a place holds where the analysis has come to."""

    NOTHING = 0
    ONCE = 1  # a value on some way here, and each way is taken by all lanes or none
    MIXED = 2  # a value in some lanes
    VALUE = 3


class Place(NamedTuple):
    """A variable by its declaration's token, or a part of it (`.x`, `[0]`)."""

    decl: int
    part: str = ""


class HandedOn(NamedTuple):
    """A variable whose value some lanes lack, or that of a part of it. `at`: the token where it is read; `to`: the
    function it goes to, `return` or `asm`; `stuck`: a jump could pass over an initialiser."""

    decl: Decl
    part: str
    at: int
    to: str
    stuck: bool


State = dict[Place, Has]


def handed_on(unit: Unit, f: Suspect, ours: frozenset[str]) -> list[HandedOn]:
    """Variables of a function that are handed on by value where some lanes have not set them, each once.

    `ours`: functions whose parameters may be without a value."""
    found = _Walk(unit, read(unit, f.fn, f.names), f.decls, ours, None).found
    if found:  # rare; now ask who takes which way
        device = read(unit, f.fn)
        found = _Walk(unit, device, f.decls, ours, _divided_names(unit, device)).found
    return [found[decl] for decl in sorted(found)]


def _shape(e: Expr) -> object:
    """An expression without its place in the file."""
    if isinstance(e, Name):
        return e.text
    if isinstance(e, Num):
        return e.value
    return (type(e).__name__, getattr(e, "op", getattr(e, "name", "")), *map(_shape, parts(e)))


def _conjuncts(e: Expr) -> list[object]:
    if isinstance(e, Binary) and e.op in ("&&", "and"):
        return [_shape(e), *_conjuncts(e.a), *_conjuncts(e.b)]
    return [_shape(e)]


def _join(a: State | None, b: State | None, divided: Callable[[], bool]) -> State | None:
    """What holds where two ways meet. `divided`: whether lanes may have gone both."""
    if a is None or b is None:
        return a if b is None else b
    if a == b:
        return a
    out = dict(a)
    for place in a.keys() | b.keys():
        whole = Place(place.decl)
        x = max(a.get(place, Has.NOTHING), a.get(whole, Has.NOTHING))
        y = max(b.get(place, Has.NOTHING), b.get(whole, Has.NOTHING))
        out[place] = x if x is y else Has.MIXED if Has.MIXED in (x, y) or divided() else Has.ONCE
    return out


def _always() -> bool:
    return True


class _Walk:
    """Goes through a function once, in the order in which it runs."""

    def __init__(
        self, unit: Unit, device: Device, wanted: set[int], ours: frozenset[str], divided: frozenset[str] | None
    ) -> None:
        """`divided`: names whose values may differ between lanes; None: any may."""
        self.unit, self.ours, self.divided = unit, ours, divided
        self.found: dict[int, HandedOn] = {}
        self.decls: dict[int, Decl] = {}
        self.scope: dict[str, int] = {p.name: -1 for p in device.params}
        self.wanted = set(sorted(wanted)[:_MOST])
        names = {unit.t[decl] for decl in self.wanted}
        self.uses = sorted(k for name in names for k in unit.lexed.places[name])
        self.state: State | None = {}
        self.known: Counter[object] = Counter()  # conditions that hold here
        self.learnt: list[object] = []  # those of them that hold up to the end of a block
        self.when: dict[Place, set[object]] = {}  # conditions on which a place has a value
        self.made_of: dict[Place, Place] = {}  # variables with the value of one that some lanes lack
        self.source: Place | None = None  # such a one, read since the statement began
        self.exits: list[tuple[list[State], list[State]]] = []  # of the loops and switches around: break, continue
        self.stuck = "goto" in unit.t[device.fn.body[0] : device.fn.body[1]]
        self.in_switch: set[int] = set()
        self.stmt(device.body)

    # --- places ---------------------------------------------------------------------------------------------------

    def place(self, e: Expr) -> Place | None:
        """The variable, or the part of one, that an expression names, if it is followed."""
        part, base = "", e
        if isinstance(e, Member) and self.unit.t[e.at - 1] == ".":
            part, base = "." + e.name, e.base
        elif isinstance(e, Index) and isinstance(e.inner, Num):
            part, base = f"[{e.inner.value}]", e.base
        if not isinstance(base, Name) or base.qualified:
            return None
        decl = self.scope.get(base.text, -1)
        if decl not in self.decls:
            return Place(decl) if not part and Place(decl) in self.made_of else None
        return Place(decl, part) if not part or (part[0] == "[") == bool(self.decls[decl].dims) else None

    def give(self, place: Place | None, source: Place | None = None) -> None:
        """A place gets a value, perhaps one made of another that some lanes lack."""
        if place is None or self.state is None:
            return
        self.made_of.pop(place, None)
        self.state[place] = Has.VALUE
        if source is not None:
            self.state[place] = Has.MIXED
            self.made_of[place] = source

    def read(self, place: Place, at: int, to: str) -> None:
        """A place is read; `to`: where its value is handed on to, "" if it is not."""
        if self.state is None:
            return
        has = max(self.state.get(place, Has.NOTHING), self.state.get(Place(place.decl), Has.NOTHING))
        if has is not Has.MIXED or any(self.known[c] > 0 for c in self.when.get(place, ())):
            return
        source = self.made_of.get(place, place)
        decl = self.decls[source.decl]
        if decl.dims and not source.part:  # an array's address
            return
        self.source = source
        if to and source.decl not in self.found:
            stuck = self.stuck or source.decl in self.in_switch
            self.found[source.decl] = HandedOn(decl, source.part, at, to, stuck)

    # --- expressions ----------------------------------------------------------------------------------------------

    def expr(self, e: Expr, to: str = "") -> None:
        """`to`: where the expression's value is handed on to."""
        place = self.place(e)
        if place is not None:
            self.read(place, e.at, to)
        elif isinstance(e, Assign):
            self.assign(e)
        elif isinstance(e, CallExpr):
            self.call(e)
        elif isinstance(e, Unary) and e.op == "&":
            decl = self.scope.get(root(e.x), -1)
            self.give(Place(decl) if decl in self.decls else None)
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
            for x in parts(e):  # of an object or a pointer it is another value that is handed on
                self.expr(x, "" if isinstance(e, (Member, Index)) or (isinstance(e, Unary) and e.op == "*") else to)

    def under(self, conditions: Iterable[object], e: Expr, to: str) -> None:
        """An expression that is only reached if conditions hold."""
        self.known.update(conditions)
        self.expr(e, to)
        self.known.subtract(conditions)

    def assign(self, e: Assign) -> None:
        before, self.source = self.source, None
        self.expr(e.value)
        source, self.source = self.source, before
        place = self.place(e.target)
        if place is not None and e.op == "=":
            self.give(place, source)
        else:
            self.expr(e.target)

    def call(self, e: CallExpr) -> None:
        before, self.source = self.source, None
        name = callee(e)
        if isinstance(e.callee, Member):
            self.expr(e.callee.base)
        macro = is_macro(self.unit, name)
        quiet = macro or name in self.ours or self.is_ours(e.callee)
        given = []
        for x in e.args:
            self.expr(x, "" if quiet else name)
            place = self.place(x)
            if place is not None and not (quiet and not macro):
                given.append(place)
        for place in given:  # it may be a reference
            self.give(place)
        self.source = before  # what a call gives is a value of its own

    def is_ours(self, e: Expr) -> bool:
        """Whether a function is one of `cu2port`, which take values that are not set."""
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
            self.source = None
            if s.init is not None:
                self.expr(s.init)
            self.scope[s.name] = s.at
            if s.init is not None and self.source is not None:
                self.give(Place(s.at), self.source)
            elif s.at in self.wanted and s.init is None and not s.shared:
                self.decls[s.at] = s
                if self.state is not None:
                    self.state[Place(s.at)] = Has.NOTHING
        elif isinstance(s, Eval):
            if self.made_of or s.end < 0 or self.is_used(s.at, s.end):
                self.source = None
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
                self.give(self.place(written))
        elif isinstance(s, Jump):
            self.jump(s)

    def is_used(self, first: int, last: int) -> bool:
        """Whether one of the variables may be named between two tokens."""
        n = bisect_left(self.uses, first)
        return n < len(self.uses) and self.uses[n] <= last

    def block(self, body: Iterable[Stmt]) -> None:
        scope, count = dict(self.scope), len(self.learnt)
        for x in body:
            self.stmt(x)
        self.scope = scope
        self.known.subtract(self.learnt[count:])
        del self.learnt[count:]

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
        ways = []
        for conditions, arm in ((_conjuncts(s.cond), s.then), ([negated], s.other)):
            self.state = dict(before)
            self.known.update(conditions)
            self.stmt(arm)
            self.known.subtract(conditions)
            ways.append(self.state)
            for place in self.state or ():
                if self.state is not None and self.state[place] is Has.VALUE is not before.get(place):
                    self.when.setdefault(place, set()).add(conditions[0])
        then, other = ways
        if then is None or other is None:  # the rest of the block is for those who did not leave
            rest = [negated] if then is None else _conjuncts(s.cond)
            self.learnt += rest
            self.known.update(rest)
        self.state = _join(then, other, partial(self.is_divided, s.cond))

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
            self.state = _join(self.state, state, _always)
        for e in (s.step, s.cond if s.kind == "do" else None):
            if e is not None:
                self.expr(e)
        endless = s.cond is None or _shape(s.cond) in (1, "true")
        after = None if endless else self.state
        if not endless and s.kind != "do" and s.cond is not None and self.is_divided(s.cond):
            after = _join(after, before, _always)  # other loops are taken to run
        for state in breaks:
            after = _join(after, state, _always)
        self.state, self.scope = after, scope

    def switch(self, s: Switch) -> None:
        self.expr(s.cond)
        before = self.state
        if before is None:
            return
        divided, default = partial(self.is_divided, s.cond), False
        self.exits.append(([], self.exits[-1][1] if self.exits else []))
        scope, self.state = dict(self.scope), None
        for x in s.body.body if isinstance(s.body, Block) else (s.body,):
            if isinstance(x, Jump) and x.kind in ("case", "default"):
                default |= x.kind == "default"
                self.state = dict(_join(self.state, before, divided) or before)
            else:
                if isinstance(x, (Decl, Block)):
                    self.in_switch.update(d.at for d in statements(x) if isinstance(d, Decl) and d in _level(x))
                self.stmt(x)
        after = self.state
        for state in self.exits.pop()[0]:
            after = _join(after, state, divided)
        self.state = after if default and after is not None else _join(after, before, divided)
        self.scope = scope

    def is_divided(self, cond: Expr) -> bool:
        return self.divided is None or any(_names_lane(x, self.divided) for x in walk(cond))


def _level(s: Decl | Block) -> tuple[Stmt, ...]:
    """The variables that one declaration declares."""
    return (s,) if isinstance(s, Decl) else s.body if s.at < 0 else ()


def _names_lane(e: Expr, divided: Iterable[str]) -> bool:
    if isinstance(e, Name):
        return e.text in divided or _LANES.fullmatch(e.text) is not None
    return isinstance(e, Member) and _LANES.fullmatch(e.name) is not None


def _divided_names(unit: Unit, device: Device) -> frozenset[str]:
    """Names whose values may differ from lane to lane, by all that they are made of."""
    out = set() if device.kernel else {p.name for p in device.params}
    words = set(unit.t[device.fn.body[0] : device.fn.body[1]])
    for name in words & unit.macros.keys():
        if any(_LANES.fullmatch(w) for m in unit.macros[name] for w in unit.t[m.first : m.stop]):
            out.add(name)
    made: list[tuple[str, Expr]] = []
    for s in statements(device.body):
        if isinstance(s, Decl) and s.init is not None:
            made.append((s.name, s.init))
    for e in expressions(device.body):
        if isinstance(e, Assign):
            made.append((root(e.target), e.value))
        elif isinstance(e, CallExpr):
            made += [(root(x), e) for x in e.args if isinstance(x, Unary) and x.op == "&"]
    users: dict[str, list[str]] = {}
    todo = list(out)
    for name, e in made:
        for x in walk(e):
            if isinstance(x, Name):
                users.setdefault(x.text, []).append(name)
            if _names_lane(x, ()):
                todo.append(name)
    while todo:
        name = todo.pop()
        if name not in out or name in users:
            out.add(name)
            todo += users.pop(name, ())
    return frozenset(out)
