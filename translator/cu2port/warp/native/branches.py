"""Branches and loops of native code: who comes to a place, and what variables are behind it."""

from __future__ import annotations

from collections.abc import Callable

from cu2port.syntax.tree import (
    Assign,
    Binary,
    Block,
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
from cu2port.warp.native.lanes import ROUNDS, Here, Known
from cu2port.warp.native.steps import Refused
from cu2port.warp.native.stores import Stores
from cu2port.warp.native.values import MIXED, SAME, Kind, T, is_plain


class Branches:
    """Control flow in the walk over one function. Raises Refused. `statement`: what a statement inside does."""

    def __init__(self, k: Known, stores: Stores, statement: Callable[[Stmt, Here], None]) -> None:
        self.k, self.stores, self.statement = k, stores, statement
        self.values, self.forms, self.sums = stores.values, stores.forms, stores.sums

    # --- branches and loops ---------------------------------------------------------------------------------------

    def branch(self, s: If, here: Here) -> None:
        kept = self.k.snapshot()
        tag, edits = self.forms.condition(s.cond, here)
        if tag in ("first", "leader", "slots"):
            try:
                self.k.edits.update(edits)
                self._if_lanes(s, tag, here)
                return
            except Refused:
                if tag != "first" or self.k.is_tracked(s.cond):
                    raise
                self.k.restore(kept)
                if not self.k.edits.keys().isdisjoint(edits):
                    raise  # in the turn before it changed
        self.k.edits.update(edits if tag == "thread" else {})
        if tag != "thread":
            tag = "uniform" if self.values.plain(s.cond).uniform else ""
        role = "thread" if tag == "thread" or here.role == "thread" else here.role
        if here.role in ("first", "leader", "slots") and tag != "thread":
            raise Refused(s.at, "a branch where the number of lanes decides who comes")
        before, small = dict(self.k.env), self.forms.small(s.cond)
        self._arm(s.then, Here(here.together and tag == "uniform", role, small > 0 or here.small), tag, here)
        then = self.k.env
        self.k.env = dict(before)
        if s.other is not None:
            if tag == "thread" and here.role == "first":
                raise Refused(s.at, "the number of lanes decides who comes to the other arm")
            other = here.role
            self._arm(s.other, Here(here.together and tag == "uniform", other, small < 0 or here.small), tag, here)
        self.k.merge(then)
        if tag == "thread" and self.forms.is_sure(s.cond):  # what the first thread leaves in shared memory is there
            for name in self.k.arrays:
                if then.get(name, SAME).kind is Kind.SPOT:
                    self.k.env[name] = then[name]

    def _arm(self, s: Stmt, here: Here, tag: str, outer: Here) -> None:
        if tag != "thread" and outer.together and not here.together and self.k.has_barrier(s) and not self.k.gone:
            here = Here(True, here.role)  # CUDA wants all threads at a barrier
        self.statement(s, here)

    def _if_lanes(self, s: If, tag: str, here: Here) -> None:
        """A branch to which the number of lanes decides who comes."""
        if here.role in ("leader", "slots", "thread"):
            raise Refused(s.at, "a branch of lanes inside another")
        if tag == "slots":
            self._if_slots(s, here)
            return
        if s.other is not None:
            raise Refused(s.at, "the other arm of a branch of lanes")
        if not here.together or self.k.gone:
            raise Refused(s.at, "some lanes may be elsewhere")
        if here.role == "first" and tag == "first":
            raise Refused(s.at, "a branch of lanes inside another")
        before = dict(self.k.env)
        self.statement(s.then, Here(tag == "first", tag))
        for name in self.k.env.keys() | before.keys():
            a, b = self.k.env.get(name, SAME), before.get(name, SAME)
            if name in self.k.arrays or a == b:
                continue
            if tag == "first" and a.kind is Kind.WHOLE:
                self.k.env[name] = a._replace(everywhere=False)
            else:
                self.k.env[name] = MIXED
                self.k.tracked.add(name)

    def _if_slots(self, s: If, here: Here) -> None:
        """`if (tid < warps) v = slots[lane];`, v having been set before, or in the other arm."""
        then = self.k.only(s.then)
        if not (isinstance(then, Assign) and then.op == "=" and isinstance(then.target, Name)):
            raise Refused(s.at, "the number of lanes decides who does this")
        name = then.target.text
        was = self.k.env.get(name, SAME)
        other: Expr | None = then.target if was.kind is Kind.PART else was.node
        before = -self.k.steps.end(s)
        if s.other is not None:
            arm = self.k.only(s.other)
            if not (isinstance(arm, Assign) and arm.op == "=" and isinstance(arm.target, Name)):
                raise Refused(s.at, "the number of lanes decides who does this")
            if arm.target.text != name:
                raise Refused(s.at, "the number of lanes decides who does this")
            other, before = arm.value, arm.at
            self.k.spots.add(arm.target.at)
        if other is None:
            raise Refused(s.at, f"`{name}` has no known value in other lanes")
        self.k.spots.add(then.target.at)
        self.k.assign(name, self.sums.slot_read(s.cond, then.value, other, here, before, name), then.value, here)

    def loop(self, s: Loop, here: Here) -> None:
        if self._serial(s, here):
            return
        if here.role in ("first", "leader", "slots"):
            raise Refused(s.at, "a loop where the number of lanes decides who comes")
        outer, self.k.broken = self.k.broken, False
        inits = s.init.body if isinstance(s.init, Block) else (s.init,) if s.init is not None else ()
        old = {x.name: self.k.env.get(x.name) for x in inits if isinstance(x, Decl)}
        for x in inits:
            self.statement(x, here)
        for _ in range(ROUNDS):
            before = (dict(self.k.env), self.k.broken, self.k.gone, len(self.k.aliased))
            self.k.here = here
            same = s.cond is None or self.values.plain(s.cond).uniform
            together = here.together and same and not self.k.broken
            if here.together and not together and self.k.has_barrier(s.body) and not self.k.gone and not self.k.broken:
                together = True  # CUDA wants all threads at a barrier
            self.statement(s.body, Here(together, here.role))
            if s.step is not None:
                self.k.here = Here(together, here.role)
                self._step(s.step, self.k.here)
            self.k.merge(before[0])
            if (self.k.env, self.k.broken, self.k.gone, len(self.k.aliased)) == before:
                break
        else:
            raise Refused(s.at, "a loop that does not settle")
        self.k.broken = outer
        for name, was in old.items():
            if was is not None:
                self.k.env[name] = was
            else:
                self.k.env.pop(name, None)

    def _step(self, e: Expr, here: Here) -> None:
        for x in e.parts if isinstance(e, Other) else (e,):
            if isinstance(x, Assign):
                self.stores.assigned(x, here)
            elif isinstance(x, Unary) and isinstance(x.x, Name):
                t = self.values.plain(x.x)
                self.k.assign(x.x.text, T(Kind.SAME, uniform=t.uniform), x, here)
            else:
                self.values.plain(x)

    def _serial(self, s: Loop, here: Here) -> bool:
        """`for (i = 0; i < warps; ++i) v += slots[i];` by one thread, or by all."""
        if s.kind != "for" or not isinstance(s.init, Decl) or s.init.init is None or not isinstance(s.cond, Binary):
            return False
        i, body = s.init.name, self.k.only(s.body)
        if not (isinstance(body, Assign) and body.op == "+=" and isinstance(body.target, Name)):
            return False
        read = body.value
        if not (isinstance(read, Index) and isinstance(read.base, Name) and isinstance(read.inner, Name)):
            return False
        slots = self.k.env.get(read.base.text, SAME)
        step = isinstance(s.step, Unary) and s.step.op in ("++", "p++") and isinstance(s.step.x, Name)
        if slots.kind is not Kind.SLOTS or not step or read.inner.text != i:
            return False
        if not (s.cond.op == "<" and isinstance(s.cond.a, Name) and s.cond.a.text == i):
            return False
        bound = self.forms.count(s.cond.b)
        if bound is None or self.k.steps.number(s.init.init) != 0 or slots.op != "add" or not slots.seen:
            raise Refused(s.at, f"`{read.base.text}` is read in a loop that is not understood")
        acc = self.k.env.get(body.target.text, SAME)
        if not is_plain(acc) or here.role in ("leader", "slots", "first"):
            raise Refused(s.at, "the number of lanes decides who does this")
        self.sums.all_set(read.base.text, s.cond.b)
        self.k.kept(slots, self.k.types.get(body.target.text, ""), body.target.text, s.at)
        self.k.edits.update(bound)
        self.k.spots |= {read.base.at, body.target.at}
        self.k.assign(body.target.text, T(Kind.SAME, uniform=acc.uniform), body, here)
        return True
