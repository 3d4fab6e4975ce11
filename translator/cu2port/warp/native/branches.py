"""Branches and loops of native code: who comes to a place, and what variables are behind it."""

from __future__ import annotations

from typing import Any

from cu2port.model import Edit
from cu2port.warp.native.lanes import ROUNDS, Env, Here
from cu2port.warp.native.steps import Refused
from cu2port.warp.native.stores import Stores
from cu2port.warp.native.values import MIXED, SAME, Kind, T, is_plain
from cu2port.warp.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Decl,
    Expr,
    If,
    Index,
    Loop,
    Name,
    Other,
    Stmt,
    Unary,
)

State = tuple[
    tuple[Env, dict[tuple[int, int], Edit], dict[str, Decl], list[CallExpr]],
    tuple[set[int], set[str], set[int], set[str], set[int], set[int]],
    tuple[Any, ...],  # types, where it is, whether some have left the loop; and what a kind of walk adds
]


class Branches(Stores):
    """Control flow in the walk over one function. Raises Refused."""

    def _statement(self, s: Stmt, here: Here) -> None:
        """Any statement: `Walk`'s."""
        raise NotImplementedError

    # --- what is tried and taken back -----------------------------------------------------------------------------

    def _state(self) -> State:
        """What is known here, to come back to."""
        known = dict(self.env), dict(self.edits), dict(self.arrays), list(self.sites)
        names = set(self.spots), set(self.tracked), set(self.done), set(self.slots), set(self.scratch), set(self.loans)
        return known, names, (self.types, self.here, self.broken)

    def _restore(self, state: State) -> None:
        known, names, (self.types, self.here, self.broken, *_) = state
        self.env, self.edits, self.arrays, self.sites = known
        self.spots, self.tracked, self.done, self.slots, self.scratch, self.loans = names

    # --- branches and loops ---------------------------------------------------------------------------------------

    def _if(self, s: If, here: Here) -> None:
        kept = self._state()
        tag, edits = self._condition(s.cond, here)
        if tag in ("first", "leader", "slots"):
            try:
                self.edits.update(edits)
                self._if_lanes(s, tag, here)
                return
            except Refused:
                if tag != "first" or self._is_tracked(s.cond):
                    raise
                self._restore(kept)
                if not self.edits.keys().isdisjoint(edits):
                    raise  # in the turn before it changed
        self.edits.update(edits if tag == "thread" else {})
        if tag != "thread":
            tag = "uniform" if self._plain(s.cond).uniform else ""
        role = "thread" if tag == "thread" or here.role == "thread" else here.role
        if here.role in ("first", "leader", "slots") and tag != "thread":
            raise Refused(s.at, "a branch where the number of lanes decides who comes")
        before, small = dict(self.env), self._small(s.cond)
        self._arm(s.then, Here(here.together and tag == "uniform", role, small > 0 or here.small), tag, here)
        then = self.env
        self.env = dict(before)
        if s.other is not None:
            if tag == "thread" and here.role == "first":
                raise Refused(s.at, "the number of lanes decides who comes to the other arm")
            other = here.role
            self._arm(s.other, Here(here.together and tag == "uniform", other, small < 0 or here.small), tag, here)
        self._merge(then)
        if tag == "thread" and self._is_sure(s.cond):  # what the first thread leaves in shared memory is there
            for name in self.arrays:
                if then.get(name, SAME).kind is Kind.SPOT:
                    self.env[name] = then[name]

    def _arm(self, s: Stmt, here: Here, tag: str, outer: Here) -> None:
        if tag != "thread" and outer.together and not here.together and self._has_barrier(s) and not self.gone:
            here = Here(True, here.role)  # CUDA wants all threads at a barrier
        self._statement(s, here)

    def _if_lanes(self, s: If, tag: str, here: Here) -> None:
        """A branch to which the number of lanes decides who comes."""
        if here.role in ("leader", "slots", "thread"):
            raise Refused(s.at, "a branch of lanes inside another")
        if tag == "slots":
            self._if_slots(s, here)
            return
        if s.other is not None:
            raise Refused(s.at, "the other arm of a branch of lanes")
        if not here.together or self.gone:
            raise Refused(s.at, "some lanes may be elsewhere")
        if here.role == "first" and tag == "first":
            raise Refused(s.at, "a branch of lanes inside another")
        before = dict(self.env)
        self._statement(s.then, Here(tag == "first", tag))
        for name in self.env.keys() | before.keys():
            a, b = self.env.get(name, SAME), before.get(name, SAME)
            if name in self.arrays or a == b:
                continue
            if tag == "first" and a.kind is Kind.WHOLE:
                self.env[name] = a._replace(everywhere=False)
            else:
                self.env[name] = MIXED
                self.tracked.add(name)

    def _if_slots(self, s: If, here: Here) -> None:
        """`if (tid < warps) v = slots[lane];`, v having been set before, or in the other arm."""
        then = self._single(s.then)
        if not (isinstance(then, Assign) and then.op == "=" and isinstance(then.target, Name)):
            raise Refused(s.at, "the number of lanes decides who does this")
        name = then.target.text
        was = self.env.get(name, SAME)
        other: Expr | None = then.target if was.kind is Kind.PART else was.node
        before = -self.steps.end(s)
        if s.other is not None:
            arm = self._single(s.other)
            if not (isinstance(arm, Assign) and arm.op == "=" and isinstance(arm.target, Name)):
                raise Refused(s.at, "the number of lanes decides who does this")
            if arm.target.text != name:
                raise Refused(s.at, "the number of lanes decides who does this")
            other, before = arm.value, arm.at
            self.spots.add(arm.target.at)
        if other is None:
            raise Refused(s.at, f"`{name}` has no known value in other lanes")
        self.spots.add(then.target.at)
        self._set(name, self._slot_read(s.cond, then.value, other, here, before, name), then.value, here)

    def _loop(self, s: Loop, here: Here) -> None:
        if self._serial(s, here):
            return
        if here.role in ("first", "leader", "slots"):
            raise Refused(s.at, "a loop where the number of lanes decides who comes")
        outer, self.broken = self.broken, False
        inits = s.init.body if isinstance(s.init, Block) else (s.init,) if s.init is not None else ()
        old = {x.name: self.env.get(x.name) for x in inits if isinstance(x, Decl)}
        for x in inits:
            self._statement(x, here)
        for _ in range(ROUNDS):
            before = (dict(self.env), self.broken, self.gone, len(self.aliased))
            self.here = here
            same = s.cond is None or self._plain(s.cond).uniform
            together = here.together and same and not self.broken
            if here.together and not together and self._has_barrier(s.body) and not self.gone and not self.broken:
                together = True  # CUDA wants all threads at a barrier
            self._statement(s.body, Here(together, here.role))
            if s.step is not None:
                self.here = Here(together, here.role)
                self._step(s.step, self.here)
            self._merge(before[0])
            if (self.env, self.broken, self.gone, len(self.aliased)) == before:
                break
        else:
            raise Refused(s.at, "a loop that does not settle")
        self.broken = outer
        for name, was in old.items():
            if was is not None:
                self.env[name] = was
            else:
                self.env.pop(name, None)

    def _step(self, e: Expr, here: Here) -> None:
        for x in e.parts if isinstance(e, Other) else (e,):
            if isinstance(x, Assign):
                self._assigned(x, here)
            elif isinstance(x, Unary) and isinstance(x.x, Name):
                t = self._plain(x.x)
                self._set(x.x.text, T(Kind.SAME, uniform=t.uniform), x, here)
            else:
                self._plain(x)

    def _serial(self, s: Loop, here: Here) -> bool:
        """`for (i = 0; i < warps; ++i) v += slots[i];` by one thread, or by all."""
        if s.kind != "for" or not isinstance(s.init, Decl) or s.init.init is None or not isinstance(s.cond, Binary):
            return False
        i, body = s.init.name, self._single(s.body)
        if not (isinstance(body, Assign) and body.op == "+=" and isinstance(body.target, Name)):
            return False
        read = body.value
        if not (isinstance(read, Index) and isinstance(read.base, Name) and isinstance(read.inner, Name)):
            return False
        slots = self.env.get(read.base.text, SAME)
        step = isinstance(s.step, Unary) and s.step.op in ("++", "p++") and isinstance(s.step.x, Name)
        if slots.kind is not Kind.SLOTS or not step or read.inner.text != i:
            return False
        if not (s.cond.op == "<" and isinstance(s.cond.a, Name) and s.cond.a.text == i):
            return False
        bound = self._count(s.cond.b)
        if bound is None or self.steps.number(s.init.init) != 0 or slots.op != "add" or not slots.seen:
            raise Refused(s.at, f"`{read.base.text}` is read in a loop that is not understood")
        acc = self.env.get(body.target.text, SAME)
        if not is_plain(acc) or here.role in ("leader", "slots", "first"):
            raise Refused(s.at, "the number of lanes decides who does this")
        self._all_set(read.base.text, s.cond.b)
        self._kept(slots, self.types.get(body.target.text, ""), body.target.text, s.at)
        self.edits.update(bound)
        self.spots |= {read.base.at, body.target.at}
        self._set(body.target.text, T(Kind.SAME, uniform=acc.uniform), body, here)
        return True
