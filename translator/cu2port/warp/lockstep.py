"""Code that trusts the lanes of a warp to run in step: shared memory written, then read by others, with no fence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cu2port.facts.unit import Unit
from cu2port.syntax.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Decl,
    Eval,
    Expr,
    If,
    Index,
    Loop,
    Member,
    Name,
    Stmt,
    callee,
    expressions,
    root,
    statements,
    walk,
)
from cu2port.warp import builtins
from cu2port.warp.analyse import WarpFacts
from cu2port.warp.model import Device, is_statement, macro_body
from cu2port.warp.substitute import substituted

_SYNCS = builtins.LANE_OPERATIONS | builtins.BARRIERS | frozenset({"sync", "syncwarp"})
_FEW = 2
_TREE = frozenset({">>=", "<<=", "/=", "*="})


class Tail(NamedTuple):
    """Steps of a warp-synchronous tail. `name`: the array; `steps`: the first token of each, and its `;`; `loop`: the
    body of a loop without braces that has to get some (its first token, the token of its `;`), or (-1, -1);
    `before`: whether the statement in front of the first step refers to the array."""

    name: str
    first: int
    last: int
    steps: tuple[tuple[int, int], ...]
    loop: tuple[int, int]
    volatile: bool
    before: bool = False


def tails(unit: Unit, facts: WarpFacts) -> Iterator[Tail]:
    """Warp-synchronous tails of the device functions, each once."""
    seen: set[int] = set()
    for d in facts.devices:
        memory = _memory(d)
        for s in statements(d.body):
            if isinstance(s, Block):
                yield from _row(d, s, memory, seen)
            elif isinstance(s, Eval) and isinstance(s.expr, CallExpr) and callee(s.expr) in unit.macros:
                for m in unit.macros[callee(s.expr)]:
                    if m.params is not None and is_statement(unit, m):
                        given = dict(zip(m.params, s.expr.args, strict=False))
                        yield from _row(d, substituted(macro_body(unit, m), given, s.at), memory, seen)
            elif isinstance(s, Loop):
                tail = _looped(d, s, memory)
                if tail is not None and tail.first not in seen:
                    seen.add(tail.first)
                    yield tail


def _memory(d: Device) -> dict[str, bool]:
    """Names of arrays in shared memory, or reached by volatile pointers: whether they are volatile."""
    out = {p.name: p.volatile for p in d.params if p.pointer and (p.volatile or _given_shared(d, p.name))}
    for s in statements(d.body):
        if not isinstance(s, Decl):
            continue
        if s.shared and s.dims:
            out[s.name] = s.volatile
        elif s.pointer and s.init is not None and (s.volatile or root(s.init) in out):
            out[s.name] = s.volatile or out.get(root(s.init), False)
    return out


def _given_shared(d: Device, name: str) -> bool:
    v = d.given.get(name)
    return v is not None and v.shared


def _row(d: Device, block: Block, memory: dict[str, bool], seen: set[int]) -> Iterator[Tail]:
    """Statements in a row that each add what another lane wrote in the one before."""
    run: list[tuple[Eval, str]] = []
    before: Stmt | None = None
    last_other: Stmt | None = None
    for s in (*block.body, None):
        step = _step(d, s, memory) if s is not None else None
        if step is not None and (not run or _place(run[-1][0]) == _place(step[0])):
            before = before if run else last_other
            run.append(step)
            continue
        if len(run) >= _FEW and run[0][0].at not in seen and all(x.end >= 0 for x, _ in run):
            seen.add(run[0][0].at)
            first, last = run[0][0], run[-1][0]
            name = run[0][1]
            steps = tuple((x.at, x.end) for x, _ in run)
            yield Tail(name, first.at, last.end, steps, (-1, -1), memory[name], _is_used(before, name))
        before, last_other = None, s
        run = [step] if step is not None else []


def _is_used(s: Stmt | None, name: str) -> bool:
    """Whether a plain statement refers to an array."""
    if not isinstance(s, Eval | Decl):
        return False
    e = s.expr if isinstance(s, Eval) else s.init
    return e is not None and any(isinstance(x, Name) and x.text == name for x in walk(e))


def _step(d: Device, s: Stmt, memory: dict[str, bool]) -> tuple[Eval, str] | None:
    """`a[i] += a[i + n];`, also behind an `if` without `else`: the statement, and the array with its index."""
    while isinstance(s, If) and s.other is None:
        inner = s.then
        if isinstance(inner, Block):
            if len(inner.body) != 1:
                return None
            inner = inner.body[0]
        s = inner
    if isinstance(s, Eval):
        name = _accumulates(d, s.expr, memory)
        if name:
            return s, name
    return None


def _accumulates(d: Device, e: Expr, memory: dict[str, bool]) -> str:
    """The array of `a[i] op= f(a[j])`, i and j different indices; "" for anything else."""
    if not isinstance(e, Assign) or not isinstance(e.target, Index) or not isinstance(e.target.base, Name):
        return ""
    name = e.target.base.text
    if name not in memory or not (memory[name] or e.target.at in d.spread):
        return ""
    index = _shape(e.target.inner)
    if not index:
        return ""
    for x in walk(e.value):
        if isinstance(x, CallExpr) and callee(x) in _SYNCS:
            return ""
    others = [x for x in walk(e.value) if isinstance(x, Index) and root(x) == name]
    return name if any(_shape(x.inner) != index for x in others) else ""


def _shape(e: Expr) -> tuple[object, ...]:
    """An expression without its places, to compare by."""
    out: list[object] = []
    for x in walk(e):
        if isinstance(x, Name):
            out.append(x.text)
        elif isinstance(x, Member):
            out.append(x.name)
        else:
            out.append((type(x).__name__, getattr(x, "op", ""), getattr(x, "value", None)))
    return tuple(map(str, out))


def _place(s: Eval) -> tuple[object, ...]:
    """What a step writes to."""
    return _shape(s.expr.target) if isinstance(s.expr, Assign) else ()


def _halves(s: Loop) -> bool:
    """Whether a loop's variable is halved or doubled from round to round."""
    if not isinstance(s.step, Assign):
        return False
    value = s.step.value
    return s.step.op in _TREE or (isinstance(value, Binary) and f"{value.op}=" in _TREE)


def _looped(d: Device, s: Loop, memory: dict[str, bool]) -> Tail | None:
    """A loop whose body is one such step, inside a branch of the first warp or on volatile memory."""
    body = s.body
    braces = isinstance(body, Block)
    if isinstance(body, Block):
        if len(body.body) != 1:
            return None
        body = body.body[0]
    step = _step(d, body, memory) if _halves(s) else None
    if step is None or step[0].end < 0 or any(isinstance(x, CallExpr) and callee(x) in _SYNCS for x in
                                              expressions(s.body)):  # fmt: skip
        return None
    seen = d.loops.get(s.at)
    if seen is None or not (memory[step[1]] or any(f.cond.vary for f in seen.frames)):
        return None
    e = step[0]
    return Tail(step[1], e.at, e.end, ((e.at, e.end),), (-1, -1) if braces else (body.at, e.end), memory[step[1]])
