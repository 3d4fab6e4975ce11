"""Branches and loops of native code: who comes to a place, and what variables are behind it."""

from __future__ import annotations

from cu2port.syntax.tree import Assign, Block, Decl, Eval, Expr, If, Loop, Name, Other, Stmt, Unary, single
from cu2port.warp.native.read import Found, accept, is_sure, read, who
from cu2port.warp.native.reasons import Reason
from cu2port.warp.native.state import MIXED, SAME, Here, Kind, State, T
from cu2port.warp.native.stores import assigned
from cu2port.warp.native.sums import all_set, slot_read
from cu2port.warp.native.valued import plain

_ROUNDS = 4


def has_barrier(s: State, x: Stmt | None) -> bool:
    """Whether a barrier is one of the statements of a block."""
    body = x.body if isinstance(x, Block) else (x,)
    return any(isinstance(y, Eval) and read(s, y.expr, "barrier") is not None for y in body)


def branch(s: State, x: If, here: Here) -> State:
    """An `if`."""
    comes = who(s, x.cond)
    if comes is None:
        return _arms(s, x, here, "")
    tag, found = comes
    told = accept(s, found).understand(x.cond)
    if tag == "thread":
        if (rest := found.bound.get("PLAIN")) is not None:
            told, _ = plain(told, rest)
        return _arms(told, x, here, tag)
    by_lanes = _if_lanes(told, x, tag, here, found)
    if by_lanes.refused is None or tag != "first" or s.is_tracked(x.cond):
        return by_lanes
    edited = {(e.start, e.end) for e in s.found("edit")}
    if not edited.isdisjoint((e.start, e.end) for e in found.edits):
        return by_lanes  # in the turn before it changed
    return _arms(s, x, here, "")  # the first 32 threads, whatever they are


def _arms(s: State, x: If, here: Here, tag: str) -> State:
    """A branch to which one thread comes ("thread"), or threads that lanes do not decide."""
    if tag != "thread":
        s, cond = plain(s, x.cond)
        tag = "uniform" if cond.uniform else ""
    if here.by_lanes and tag != "thread":
        return s.refuse(x.at, Reason.BRANCH)
    role = "thread" if tag == "thread" or here.role == "thread" else here.role
    before, together = s.env, here.together and tag == "uniform"
    small, large = (read(s, x.cond, y) is not None for y in ("small", "large"))
    s = _arm(s, x.then, Here(together, role, small or here.small), tag, here)
    then = s.env
    s = s._replace(env=before)
    if x.other is not None:
        if tag == "thread" and here.role == "first":
            return s.refuse(x.at, Reason.WHO_COMES)
        s = _arm(s, x.other, Here(together, here.role, large or here.small), tag, here)
    s = s.merge(then)
    if tag == "thread" and is_sure(s._replace(here=Here()), x.cond):
        for name in s.arrays:  # what the first thread leaves in shared memory is there
            if then.get(name, SAME).kind is Kind.FIRST_SET:
                s = s.set(name, then[name])
    return s


def _arm(s: State, x: Stmt, here: Here, tag: str, outer: Here) -> State:
    if tag != "thread" and outer.together and not here.together and has_barrier(s, x) and not s.gone:
        here = Here(True, here.role)  # CUDA requires all threads at a barrier
    return s.fn.statement(s, x, here)


def _if_lanes(s: State, x: If, tag: str, here: Here, found: Found) -> State:
    """A branch to which the number of lanes decides who comes."""
    if here.role in ("leader", "slots", "thread"):
        return s.refuse(x.at, Reason.BRANCH_INSIDE)
    if tag == "slots":
        return _if_slots(s, x)
    if x.other is not None:
        return s.refuse(x.at, Reason.OTHER_ARM)
    if not here.together or s.gone:
        return s.refuse(x.at, Reason.ELSEWHERE)
    if here.role == "first" and tag == "first":
        return s.refuse(x.at, Reason.BRANCH_INSIDE)
    before = s.env
    s = s.fn.statement(s, x.then, Here(tag == "first", tag))
    for name in s.env.keys() | before.keys():
        a, b = s.get(name), before.get(name, SAME)
        if name in s.arrays or a == b:
            continue
        if tag == "first" and a.kind is Kind.WHOLE:
            s = s.set(name, a._replace(everywhere=False))
        else:
            s = s.set(name, MIXED).track(name)
    return s


def _if_slots(s: State, x: If) -> State:
    """`if (tid < warps) v = slots[lane];`, v having been set before, or in the other arm."""
    found = read(s, x, "gathering")
    if found is None:
        return s.refuse(x.at, Reason.WHO_DOES)
    v, bound = found.bound["V"], found.bound
    assert isinstance(v, Name)
    was, before = s.get(v.text), -s.fn.facts.end(x)
    if x.other is not None:
        arm = single(x.other)
        assert isinstance(arm, Eval) and isinstance(arm.expr, Assign)
        before = arm.expr.at
        s = s.note("understood", arm.expr.target.at)
    else:
        other = v if was.kind is Kind.PART else was.node
        if other is None:
            return s.refuse(x.at, Reason.NO_VALUE, v.text)
        bound = {**bound, "BEYOND": other}
    then = bound["ARRAY"]
    s = s.note("understood", v.at)
    s, t = slot_read(s, bound, before, v.text)
    return s.assign(v.text, t, then)


def loop(s: State, x: Loop, here: Here) -> State:
    """A loop."""
    if (serial := _serial(s, x)) is not None:
        return serial
    if here.by_lanes:
        return s.refuse(x.at, Reason.LOOP)
    outer, s = s.broken, s._replace(broken=False)
    inits = x.init.body if isinstance(x.init, Block) else (x.init,) if x.init is not None else ()
    old = {y.name: s.env.get(y.name) for y in inits if isinstance(y, Decl)}
    for y in inits:
        s = s.fn.statement(s, y, here)
    for _ in range(_ROUNDS):
        before, s = s, s._replace(here=here)
        same = True
        if x.cond is not None:
            s, t = plain(s, x.cond)
            same = t.uniform
        together = here.together and same and not s.broken
        if here.together and not together and has_barrier(s, x.body) and not s.gone and not s.broken:
            together = True  # CUDA requires all threads at a barrier
        s = s.fn.statement(s, x.body, Here(together, here.role))
        s = _stepped(s._replace(here=Here(together, here.role)), x.step)
        s = s.merge(before.env)
        if s.refused is not None or (s.env, s.broken, s.gone, len(s.aliased)) == (
            before.env, before.broken, before.gone, len(before.aliased)
        ):  # fmt: skip
            break
    else:
        s = s.refuse(x.at, Reason.UNSETTLED)
    env = {n: t for n, t in s.env.items() if old.get(n, t) is not None}
    return s._replace(broken=outer, here=here, env=env | {n: t for n, t in old.items() if t is not None})


def _stepped(s: State, e: Expr | None) -> State:
    if e is None:
        return s
    for x in e.parts if isinstance(e, Other) else (e,):
        if isinstance(x, Assign):
            s = assigned(s, x)
        elif isinstance(x, Unary) and isinstance(x.x, Name):
            s, t = plain(s, x.x)
            s = s.assign(x.x.text, T(Kind.SAME, uniform=t.uniform), x)
        else:
            s, _ = plain(s, x)
    return s


def _serial(s: State, x: Loop) -> State | None:
    """`for (i = 0; i < warps; ++i) v += slots[i];` by one thread, or by all; None if it is another loop."""
    found = read(s, x, "serial")
    if found is None:
        return None
    v, array = found.bound["V"], found.bound["ARRAY"]
    slots = s.kind(array)
    if slots is not Kind.SLOTS or not isinstance(v, Name) or not isinstance(array, Name):
        return None
    t, bound = s.env[array.text], read(s, found.bound["BOUND"], "count")
    if bound is None or s.fn.facts.number(found.bound["FROM"]) != 0 or t.op != "add" or not t.seen:
        return s.refuse(x.at, Reason.LOOP_READ, array.text)
    acc = s.get(v.text)
    if not acc.plain or s.here.by_lanes:
        return s.refuse(x.at, Reason.WHO_DOES)
    s = all_set(s, array.text, found.bound["BOUND"])
    s, _ = s.kept(t, s.types.get(v.text, ""), v.text, x.at)
    s = accept(s, bound).note("understood", array.at, v.at).understand(found.bound["BOUND"])
    body = single(x.body)
    assert isinstance(body, Eval)
    return s.assign(v.text, T(Kind.SAME, uniform=acc.uniform), body.expr)
