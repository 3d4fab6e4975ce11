"""Loops that take a lock: an atomic that asks for the same place with the same values on every round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cu2port.syntax.tree import (
    Assign,
    CallExpr,
    Decl,
    Eval,
    Expr,
    If,
    Jump,
    Loop,
    Member,
    Name,
    Num,
    Stmt,
    callee,
    expressions,
    root,
    statements,
    walk,
)
from cu2port.warp import builtins
from cu2port.warp.analyse import WarpFacts
from cu2port.warp.events import LoopSeen
from cu2port.warp.loops import assigned
from cu2port.warp.model import Device

#: Functions between a loop and the atomic that it asks.
_DEPTH = 3
_HOLDS = 4  # variables between the atomic and the operation that hands its result on
_LETS_GO = frozenset("atomicExch atomicCAS atomicSub atomicAdd atomicAnd atomicExch_block atomicExch_system".split())
_METHODS = frozenset({"exchange", "try_lock", "test_and_set"})  # of atomics and locks; a function may be anything


class Lock(NamedTuple):
    """`where`: the lock; `inside`: the loop lets it go too; `handed`: an operation of the warp's lanes gives all of
    them the answer that one got."""

    where: Expr
    inside: bool
    handed: bool


class _Take(NamedTuple):
    """An atomic that may take a lock, or the call that leads to one, as a function sees it. `given`: names on which it
    depends; `handed`: a function on the way hands the answer on to all lanes of the warp."""

    call: CallExpr
    where: Expr
    given: frozenset[str]
    handed: bool


def lock_of(facts: WarpFacts, d: Device, seen: LoopSeen) -> Lock | None:
    """The lock that a loop takes; None if it takes none."""
    loop = seen.node
    changed = changed_names(loop.body, loop)
    decides = [loop.cond] if loop.cond is not None else []
    for take in _takes(facts, d, _asked(loop.body, decides), _sources(loop.body, decides), changed, _DEPTH):
        if not (names_of(take.where) | take.given) & changed.keys():
            handed = take.handed or _hands_on(facts, d, loop, take.call)
            return Lock(take.where, _lets_go(loop, root(take.where)), handed)
    return None


def changed_names(body: Stmt, loop: Loop | None = None) -> dict[str, Expr | None]:
    """Names set or declared in statements (and a loop's head), with what to (None: counted)."""
    out = assigned(loop if loop is not None else Loop(-1, "do", None, None, None, body))
    for s in statements(body):
        if isinstance(s, Decl):
            out[s.name] = s.init
        elif isinstance(s, Eval) and isinstance(s.expr, CallExpr) and isinstance(s.expr.callee, Member):
            out.setdefault(root(s.expr.callee.base), None)  # `it.next();`
    return out


def names_of(e: Expr) -> set[str]:
    """The names in an expression."""
    return {x.text for x in walk(e) if isinstance(x, Name)}


def _asked(body: Stmt, decides: Sequence[Expr]) -> list[Expr]:
    """The expressions that decide: those given, tests inside, and what the names in them were set to."""
    return _sources(body, [*decides, *(s.cond for s in statements(body) if isinstance(s, If))])


def _sources(body: Stmt, asked: list[Expr]) -> list[Expr]:
    """Expressions, and what the names in them were set to."""
    names = {x.text for e in asked for x in walk(e) if isinstance(x, Name)}
    out = list(asked)
    for s in statements(body):
        if isinstance(s, Decl) and s.init is not None and s.name in names:
            out.append(s.init)
    for e in expressions(body):
        if isinstance(e, Assign) and isinstance(e.target, Name) and e.target.text in names:
            out.append(e.value)
    return out


def _takes(
    facts: WarpFacts, d: Device, asked: list[Expr], direct: list[Expr], changed: dict[str, Expr | None], depth: int
) -> Iterator[_Take]:
    """Atomics that take a lock, in expressions that decide or in functions of the file that these call. `direct`:
    those that decide by themselves."""
    plain = {x.at for e in direct for x in walk(e)}
    for e in asked:
        inner: set[int] = set()  # what is passed to an atomic is no atomic that decides
        for x in walk(e):
            if not isinstance(x, CallExpr) or x.at in inner:
                continue
            functions = facts.named(callee(x)) if depth else ()
            if functions:
                for g in functions:
                    if g is not d:
                        yield from _through(facts, g, x, depth)
            elif callee(x) in builtins.TAKES:
                inner.update(y.at for a in x.args for y in walk(a))
                take = _take(x, changed, x.at in plain)
                if take is not None:
                    yield take


def _through(facts: WarpFacts, g: Device, call: CallExpr, depth: int) -> Iterator[_Take]:
    """The atomics that a called function's result depends on, in the caller's terms."""
    returned = [s.value for s in statements(g.body) if isinstance(s, Jump) and s.kind == "return" and s.value]
    if not returned or any(isinstance(s, Loop) for s in statements(g.body)):
        return
    handed = any(e.kind == "lanes" and e.name not in ("__syncwarp", "sync") for e in g.events.values())
    arguments = {p.name: a for p, a in zip(g.params, call.args, strict=False) if p.name}
    base = names_of(call.callee.base) if isinstance(call.callee, Member) else set()
    changed = changed_names(g.body)
    for take in _takes(facts, g, _asked(g.body, returned), _sources(g.body, returned), changed, depth - 1):
        if (names_of(take.where) | take.given) & changed.keys():
            continue
        where = arguments.get(root(take.where), take.where)
        given = [names_of(arguments[n]) if n in arguments else {n} for n in take.given | names_of(take.where)]
        yield _Take(call, where, frozenset(base.union(*given)), handed or take.handed)


def _take(take: CallExpr, changed: dict[str, Expr | None], direct: bool) -> _Take | None:
    """Whether an atomic takes a lock: it asks for something, and does not write what it read or computed."""
    name = callee(take)
    args: list[Expr] = list(take.args)
    if isinstance(take.callee, Member):
        args.insert(0, take.callee.base)
    if not args:
        return None
    where, rest = args[0], args[1:]
    given = frozenset(n for x in rest for n in names_of(x))
    if name.startswith("compare_exchange"):
        if rest and isinstance(rest[0], Name) and rest[0].text not in changed:
            return None  # it gets what it found instead, and tries with that: some lane always succeeds
        expects = bool(rest) and not isinstance(rest[-1], (Num, Name)) and len(rest) < 2
        return None if expects else _Take(take, where, frozenset(), False)
    if "CAS" in name and (len(rest) != 2 or _shape(rest[0]) == _shape(rest[1])):
        return None  # a read
    if name in ("atomicOr", "atomicAnd") and not direct:
        return None
    if name in _METHODS and not isinstance(take.callee, Member):
        return None
    return _Take(take, where, given, False)


def _shape(e: Expr) -> list[object]:
    """An expression without its places, to compare by."""
    return [(type(x).__name__, getattr(x, "text", getattr(x, "value", getattr(x, "op", "")))) for x in walk(e)]


def _lets_go(loop: Loop, place: str) -> bool:
    """Whether the loop lets go of the lock that it takes."""
    asked = {x.at for x in walk(loop.cond)} if loop.cond is not None else set()
    for e in expressions(loop.body):
        if isinstance(e, CallExpr) and e.args and root(e.args[0]) == place and callee(e) in _LETS_GO:
            if e.at not in asked and not _same_take(e):
                return True
        elif isinstance(e, CallExpr) and isinstance(e.callee, Member) and root(e.callee.base) == place:
            if callee(e) in ("store", "clear", "unlock"):
                return True
        elif isinstance(e, Assign) and not isinstance(e.target, Name) and root(e.target) == place:
            return True
    return False


def _same_take(e: CallExpr) -> bool:
    """Whether an atomic takes rather than lets go: it writes something else than 0."""
    last = e.args[-1] if e.args else None
    return not (isinstance(last, Num) and last.value == 0) and callee(e) not in ("atomicSub", "atomicAnd", "atomicAdd")


def _hands_on(facts: WarpFacts, d: Device, loop: Loop, take: CallExpr) -> bool:
    """Whether a shuffle or a vote in the loop gives the answer to all lanes: `old = __shfl_sync(mask, old, 0)`."""
    everything = [*expressions(loop.body), *(walk(loop.cond) if loop.cond is not None else ())]
    held: set[str] = set()

    def holds(e: Expr) -> bool:
        return any(x.at == take.at or (isinstance(x, Name) and x.text in held) for x in walk(e))

    sets: list[tuple[str, Expr]] = [
        (s.name, s.init) for s in statements(loop.body) if isinstance(s, Decl) and s.init is not None
    ]
    sets += [(e.target.text, e.value) for e in everything if isinstance(e, Assign) and isinstance(e.target, Name)]
    for _ in range(_HOLDS):
        more = {name for name, value in sets if name not in held and holds(value)}
        if not more:
            break
        held |= more
    for x in everything:
        if isinstance(x, CallExpr) and any(holds(a) for a in x.args) and x.at != take.at:
            event = d.events.get(("lanes", x.at))
            meets = event is not None and event.name not in ("__syncwarp", "sync")
            if meets or any(e.kind == "lanes" for g in facts.named(callee(x)) for e in g.events.values()):
                return True
    return False
