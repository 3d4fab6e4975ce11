"""Loops that wait for another thread: locks being taken, flags being polled, and who waits there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

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
    Loop,
    Member,
    Name,
    Num,
    Unary,
    callee,
    root,
    statements,
    walk,
)
from cu2port.warp import builtins
from cu2port.warp.analyse import WarpFacts
from cu2port.warp.events import Frame, LoopSeen
from cu2port.warp.locks import Lock, changed_names, lock_of, names_of
from cu2port.warp.model import Device
from cu2port.warp.values import LANES, NOTHING, UNIFORM, Kind, V

_DEPTH = 4


class _Found(NamedTuple):
    """The memory that a loop looks at, how the place varies, whether it is shared, and `lock` and `on` of a wait."""

    name: str
    vary: int
    shared: bool
    lock: Lock | None = None
    on: tuple[str, int] | None = None


class Wait(NamedTuple):
    """A loop that waits. `lock`: it takes a lock (else it polls). `name`: the memory it looks at. `vary`: how the
    place, or what is waited for, varies; `frames`: the branches around it, through `calls` (tokens, outermost first);
    `on`: it goes on while what it reads compares so with a number, None if that is not known."""

    device: Device
    at: int
    lock: Lock | None
    name: str
    vary: int
    shared: bool
    frames: tuple[Frame, ...]
    calls: tuple[int, ...]
    on: tuple[str, int] | None


def who(frames: tuple[Frame, ...], wide: bool) -> Kind:
    """Who gets through a row of branches: ONE, LEADER, FIRST (whole warps), TEST (some lanes), UNKNOWN (all)."""
    found = {f.who for f in frames if f.cond.vary}
    if Kind.ONE in found:
        sure = any(f.who is Kind.ONE and f.cond.num == 1 for f in frames)
        return Kind.ONE if sure or not wide or len(found) > 1 else Kind.LEADER
    if Kind.LEADER in found:
        return Kind.LEADER
    if found & {Kind.TEST, Kind.SOME, Kind.ROW}:
        return Kind.TEST
    return Kind.FIRST if Kind.FIRST in found else Kind.UNKNOWN


def waits(facts: WarpFacts) -> Iterator[Wait]:
    """All loops that wait, once for each way to get there through calls in the file."""
    for d in facts.devices:
        for seen in d.loops.values():
            found = _waiting(facts, d, seen)
            if found is None:
                continue
            name, vary, shared, lock, on = found
            if name in d.given:
                shared = shared or d.given[name].shared
            for frames, calls in contexts(facts, d, seen.frames):
                yield Wait(d, seen.node.at, lock, name, vary, shared, frames, calls, on)


def contexts(
    facts: WarpFacts, d: Device, frames: tuple[Frame, ...], calls: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[Frame, ...], tuple[int, ...]]]:
    """The branches around a place, for each way to it through calls seen in the file."""
    callers = [(name, at) for name, at in d.callers if name] if len(calls) < _DEPTH and not d.kernel else []
    if not callers:
        yield frames, calls
        return
    for name, at in callers:
        for up in facts.named(name):
            e = up.events.get(("call", at))
            if e is not None and at not in calls and up is not d:
                yield from contexts(facts, up, (*e.frames, *frames), (at, *calls))


def _waiting(facts: WarpFacts, d: Device, seen: LoopSeen) -> _Found | None:
    """Whether a loop waits, and how."""
    loop = seen.node
    if any(isinstance(s, Loop) for s in statements(loop.body)) and not _retries(loop):
        return None
    lock = lock_of(facts, d, seen)
    if lock is not None:
        shared = any(v.shared for v in seen.values.values())
        return _Found(root(lock.where), _vary(seen, lock.where), shared, lock=lock)
    return _poll(d, loop, changed_names(loop.body, loop), seen)


def _retries(loop: Loop) -> bool:
    """Whether a loop tries until a flag of its own is set: `while (!done) { if (take()) { ...; done = true; } }`."""
    return loop.cond is not None and any(isinstance(x, Name) for x in walk(loop.cond))


def _vary(seen: LoopSeen, e: Expr) -> int:
    """How an expression's names vary at the loop."""
    found = [seen.values.get(x.at, NOTHING).vary for x in walk(e) if isinstance(x, Name)]
    for x in walk(e):
        if isinstance(x, Member) and isinstance(x.base, Name) and x.base.text == "threadIdx":
            found.append(LANES)
    return max(found, default=UNIFORM)


def _poll(d: Device, loop: Loop, changed: dict[str, Expr | None], seen: LoopSeen) -> _Found | None:
    """Whether the loop does nothing but read some memory until it changes."""
    tests: list[Expr] = [loop.cond] if loop.cond is not None and not isinstance(loop.cond, Num) else []
    own = [s for s in statements(loop.body) if isinstance(s, If) and _only_leaves(s)]
    tests += [s.cond for s in own]
    if not tests or not _idle(loop, own):
        return None
    for test in tests:
        for x in walk(test):
            if isinstance(x, Name) and x.text in changed:
                again = changed[x.text]
                if again is None:
                    continue
                read = _read(d, again, changed, seen)
                if read is not None:
                    return _polled(read, test, test is not loop.cond, seen)
        read = _read(d, test, changed, seen)
        if read is not None:
            return _polled(read, test, test is not loop.cond, seen)
    return None


def _polled(read: Expr, test: Expr, leaves: bool, seen: LoopSeen) -> _Found:
    name = root(read)
    shared = any(seen.values.get(x.at, NOTHING).shared for x in walk(read) if isinstance(x, Name))
    return _Found(name, max(_vary(seen, read), _vary(seen, test)), shared, on=_goes_on(test, leaves, seen))


def _goes_on(test: Expr, leaves: bool, seen: LoopSeen) -> tuple[str, int] | None:
    """How what is read compares with a number while the loop goes on. `leaves`: the test is one to leave it."""
    while isinstance(test, Unary) and test.op == "!":
        test, leaves = test.x, not leaves
    op, number = "!=", 0
    if isinstance(test, Binary):
        sides = [seen.values.get(x.at, NOTHING).num if not isinstance(x, Num) else x.value for x in (test.a, test.b)]
        found = [n for n in sides if n is not None]
        if test.op not in _OTHER or len(found) != 1:
            return None
        op, number = test.op, found[0]
    return (_OTHER[op] if leaves else op), number


_OTHER = {"==": "!=", "!=": "=="}


def _only_leaves(s: If) -> bool:
    return s.other is None and all(
        isinstance(x, (Jump, Block)) or (isinstance(x, Eval) and _harmless(x.expr)) for x in statements(s.then)
    )


def _read(d: Device, e: Expr, changed: dict[str, Expr | None], seen: LoopSeen) -> Expr | None:
    """A read of memory at a place that the loop does not change; None if there is none."""
    elsewhere: set[int] = set()  # names of arrays that are read at another element on each round
    for x in walk(e):
        place: Expr | None = None
        where: set[str] = set()  # names that say which place it is
        if isinstance(x, Unary) and x.op == "*":
            place = x.x
        elif isinstance(x, Index):
            place = None if _is_private(d, x) else x
        elif isinstance(x, CallExpr):
            name = callee(x)
            if builtins.READS.match(name) or builtins.WAITS.match(name) or name in builtins.TAKES:
                member = isinstance(x.callee, Member)
                place = x.callee.base if isinstance(x.callee, Member) else (x.args[0] if x.args else None)
                if not member and place is None:
                    return x
                if name not in builtins.TAKES and not builtins.WAITS.match(name):
                    where = {n for a in x.args for n in names_of(a)}
        elif isinstance(x, Name) and x.at not in elsewhere and x.text not in changed:
            place = x if _seen_by_others(seen.values.get(x.at, NOTHING)) else None
        if place is None:
            continue
        if not (names_of(place) | where) & changed.keys():
            return place
        elsewhere.update(y.at for y in walk(place) if isinstance(y, Name))
    return None


def _is_private(d: Device, e: Index) -> bool:
    """Whether an element is one of an array that each thread has for itself."""
    base: Expr = e
    while isinstance(base, Index):
        base = base.base
    declared = d.declarations(base.text) if isinstance(base, Name) else []
    return bool(declared) and all(x.dims and not (x.shared or x.volatile or x.pointer) for x in declared)


def _seen_by_others(v: V) -> bool:
    """Whether a plain variable can change although this thread does not write it."""
    return v.shared or v.volatile


def _harmless(e: Expr) -> bool:
    """Whether an expression statement of a waiting loop does nothing for anyone else."""
    if isinstance(e, CallExpr):
        name = callee(e)
        return name in builtins.QUIET or bool(builtins.READS.match(name)) or "sleep" in name or "fence" in name.lower()
    if isinstance(e, Assign):
        return isinstance(e.target, Name)
    if isinstance(e, Unary):
        return e.op in ("++", "--", "p++", "p--") and isinstance(e.x, Name)
    return isinstance(e, (Name, Num))


def _idle(loop: Loop, own: list[If]) -> bool:
    """Whether the body does no work: waiting, reading again, counting rounds."""
    mine = {x for s in own for x in statements(s)} if own else set()
    for s in statements(loop.body):
        if isinstance(s, (Block, Jump, Asm)) or s in mine:
            continue
        if isinstance(s, Eval) and _harmless(s.expr):
            continue
        if isinstance(s, Decl) and not s.dims:
            continue
        if isinstance(s, If) and all(
            isinstance(x, (Block, Jump)) or (isinstance(x, Eval) and _harmless(x.expr)) for x in statements(s)[1:]
        ):
            continue
        return False
    counted = {x.text for x in walk(loop.step) if isinstance(x, Name)} if loop.step is not None else set()
    return loop.cond is None or not counted & names_of(loop.cond)
