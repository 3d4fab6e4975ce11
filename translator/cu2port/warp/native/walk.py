"""Whether a device function does the same with wavefronts of any size in place of warps: a walk over its statements.

Each value is either the same for any number of lanes or has a type that says how it depends on it. What changes with
the number may only be used in the ways listed here; they end in values that do not. Anything else is refused, and the
function keeps CUDA's warps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.tree import (
    Asm,
    Assign,
    Block,
    CallExpr,
    Decl,
    Eval,
    If,
    Index,
    Jump,
    Loop,
    Name,
    Operator,
    Other,
    Stmt,
    Switch,
    Unary,
    callee,
    root,
    walk,
)
from cu2port.syntax.words import STATEMENTS
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.model import Device
from cu2port.warp.native import flow
from cu2port.warp.native.calls import call
from cu2port.warp.native.edits import without
from cu2port.warp.native.ladders import Facts
from cu2port.warp.native.read import read
from cu2port.warp.native.reasons import Reason, Refused
from cu2port.warp.native.reductions import parameter_alone
from cu2port.warp.native.spelled import check_names, words_of
from cu2port.warp.native.state import SAME, Fn, Here, Kind, Look, Proved, State, T, Valued, join, make_fn, start
from cu2port.warp.native.stores import assigned, assigned_value, done_by_lanes, taken
from cu2port.warp.native.sums import reduction
from cu2port.warp.native.types import AUTO, declared_type
from cu2port.warp.native.valued import plain, value
from cu2port.warp.native.values import VALUES

_GROUPS = frozenset("coalesced_threads labeled_partition binary_partition".split())
_CUB = re.compile(r"Warp(?:Reduce|Scan|Exchange|MergeSort|Load|Store)\Z")
_LEAVES = STATEMENTS | {"__syncthreads"}


# --- the whole --------------------------------------------------------------------------------------------------------


def prepared(unit: Unit, facts: Facts, d: Device, look: Look) -> Fn:
    """A function with the tables of the walk."""
    values: dict[type, Callable[[State, Any], Valued]] = {**VALUES, CallExpr: call, Assign: assigned_value}
    return replace(make_fn(unit, facts, d, look), values=values, statement=statement)


def prove(fn: Fn) -> Proved | Refused:
    """What a function does, for any number of lanes."""
    if (refused := check(fn)) is not None:
        return refused
    s = _list(start(fn), fn.d.body.body, Here()).handed_back(fn.d.fn.name_at)
    if (refused := s.refused or _overlooked(s)) is not None:
        return refused
    results = s.found("result") or [SAME]
    result = results[0]
    for r in results[1:]:
        result = join(result, r)
    if not result.plain and result.kind not in (Kind.PART, Kind.WHOLE):
        return Refused(fn.d.fn.name_at, Reason.RETURNS, (fn.d.name,))
    op, reduces, low = parameter_alone(s)
    own = fn.d.params[0].name if op else ""
    template = {p.name for p in fn.d.tparams}
    return Proved(
        result,
        {(e.start, e.end): e for e in s.found("edit")},
        tuple(dict.fromkeys(s.found("site"))),
        op,
        reduces,
        low,
        kinds=("" if not op or s.types[own] in template else s.types[own],),
        line=bool(s.found("line")),
        plane=bool(s.found("plane")),
        meets=bool(s.found("meets")),
        syncs=flow.has_barrier(s, fn.d.body),
        scratch=frozenset(s.found("scratch")),
        scratch_calls=frozenset(s.found("scratch_call")),
    )


def check(fn: Fn) -> Refused | None:
    """Why a function is not looked at; None if it is."""
    unit, t, (first, stop) = fn.unit, fn.unit.t, fn.d.fn.body
    for d in unit.directives:
        if first < d.first < stop and d.keyword != "pragma":
            return Refused(d.first, Reason.CONDITIONAL)
    leaves = _LEAVES | unit.asm_words
    for i in range(first, stop):
        tok = t[i]
        if tok in _GROUPS or _CUB.match(tok):
            return Refused(i, Reason.FIXED_SIZE, (tok,))
        if tok == "goto" or tok in unit.asm_words:
            return Refused(i, Reason.GOTO if tok == "goto" else Reason.ASSEMBLY)
        if is_identifier(tok) and tok in unit.macros and not unit.is_member(i):
            words = words_of(unit, (), tok)
            if not LANE_OPERATIONS.isdisjoint(words):
                return Refused(i, Reason.MACRO_OPERATION, (tok,))
            if not leaves.isdisjoint(words) or "{" in words:
                return Refused(i, Reason.MACRO_STATEMENTS, (tok,))
    return None


def _overlooked(s: State) -> Refused | None:
    """What is in the way that the walk did not see; None if nothing does."""
    unit, (first, stop) = s.fn.unit, s.fn.d.fn.body
    for name, at in s.aliased.items():
        if name in s.tracked:
            return Refused(at, Reason.REACHED, (name,))
    understood, done = set(s.found("understood")), set(s.found("done"))
    for i in range(first, stop):
        tok = unit.t[i]
        if tok in s.tracked and i not in understood and not unit.is_member(i):
            return Refused(i, Reason.USED, (tok,))
        if i in s.fn.facts.cudas and i not in done and tok != "__syncwarp":
            return Refused(i, Reason.NO_IDIOM, (tok,))
    return check_names(unit, s.fn.facts.headers, first, stop, s.tracked)


# --- statements -------------------------------------------------------------------------------------------------------


def _list(s: State, body: Sequence[Stmt], here: Here) -> State:
    """Statements one after the other; what they declare ends behind them."""
    before: dict[str, T | None] = {}
    outer, k = s.types, 0
    while k < len(body) and s.refused is None:
        x = body[k]
        s = s._replace(here=here)
        if (got := s.fn.facts.reduction(body, k)) is not None:
            s = reduction(s, got)
            k += got.size
            continue
        if isinstance(x, Decl):
            before.setdefault(x.name, s.env.get(x.name))
        types = s.types
        s = statement(s, x, here)
        s = s if isinstance(x, Decl) else s._replace(types=types)
        k += 1
    gone = {n for n, t in before.items() if t is None and n not in s.arrays}
    env = {n: t for n, t in s.env.items() if n not in gone} | {n: t for n, t in before.items() if t is not None}
    return s._replace(types=outer, env=env)


def statement(s: State, x: Stmt, here: Here) -> State:
    """One statement, where it stands."""
    if s.refused is not None:
        return s
    s = s._replace(here=here)
    if isinstance(x, Block):
        s = _list(s, x.body, here)
    elif isinstance(x, Decl):
        s = _declared(s, x)
    elif isinstance(x, Eval):
        s = _evaluated(s, x, here)
    elif isinstance(x, If):
        s = flow.branch(s, x, here)
    elif isinstance(x, Loop):
        alone = s.fn.facts.reduction((x,), 0)  # without braces around it: `if (warp == 0) for (...) v += ...`
        s = reduction(s, alone) if alone is not None else flow.loop(s, x, here)
    elif isinstance(x, Jump):
        s = _jump(s, x, here)
    elif isinstance(x, Switch):
        s, _ = plain(s, x.cond)
        s = statement(s, x.body, Here(False, here.role)).merge(s.env)
    elif isinstance(x, Asm):
        s = s.refuse(x.at, Reason.ASSEMBLY)
    return s._replace(here=here)


def _jump(s: State, x: Jump, here: Here) -> State:
    if here.by_lanes:
        return s.refuse(x.at, Reason.JUMP, x.kind)
    if x.kind == "return":
        s = s.handed_back(x.at)
        if x.value is not None:
            s, t = value(s, x.value)
            s = s.note("result", SAME if here.role == "thread" and t.kind is Kind.WHOLE else t)
        return s if here.together else s._replace(gone=True)
    if x.kind in ("break", "continue") and not here.together:
        return s._replace(broken=True)
    return plain(s, x.value)[0] if x.value is not None else s


def _declared(s: State, x: Decl) -> State:
    unit = s.fn.unit
    s = _typed(s.note("understood", x.at), x, SAME)
    for y in x.dims:
        s, _ = plain(s, y)
    if x.shared:
        return s._replace(arrays={**s.arrays, x.name: x}).set(x.name, SAME)
    if x.init is None or x.dims:
        return (plain(s, x.init)[0] if x.init is not None else s).set(x.name, SAME)
    if isinstance(x.init, CallExpr) and callee(x.init) == "tiled_partition":
        targs = x.init.callee.targs if isinstance(x.init.callee, Name) else ()
        if s.fn.rows or [s.fn.facts.number(y) for y in targs] != [32]:
            return s.refuse(x.at, Reason.TILE)
        return s.set(x.name, T(Kind.TILE)).track(x.name).note("line", True).edit(without(unit, x.at))
    refers = x.reference or x.pointer
    for y in walk(x.init) if refers else ():
        if isinstance(y, Name):
            s = s.lost(y.text, y.at)
    k = x.at - 1
    while k > 0 and unit.t[k] not in (";", "{", "}", "("):
        k -= 1
    words = unit.t[k : x.at]
    if "const" in words or "constexpr" in words:
        s = s._replace(fixed=s.fixed | {x.name})
    constant = "constexpr" in words or "static" in words
    s, t = value(s, x.init) if constant else taken(s, x.init)
    if refers and not t.plain:
        return s.refuse(x.at, Reason.REFERS, x.name, t.kind.value)
    return _typed(s, x, t).assign(x.name, t, x.init)


def _typed(s: State, x: Decl, t: T) -> State:
    """With a variable's type; for `auto` that of the value, or of the variable or array that it comes from, or none but
    its own."""
    typ = declared_type(s.fn.unit, x.at) or f"? {x.name}"
    if typ == AUTO and x.init is not None:
        direct = isinstance(x.init, Name) or (isinstance(x.init, Index) and isinstance(x.init.base, Name))
        typ = t.typ or (s.types.get(root(x.init), "") if direct else "") or f"auto {x.name}"
    return s._replace(types={**s.types, x.name: typ})


def _evaluated(s: State, x: Eval, here: Here) -> State:
    e, unit = x.expr, s.fn.unit
    if x.end < 0 and s.fn.facts.is_hint(e):
        return s
    if isinstance(e, CallExpr):
        name = callee(e)
        if read(s, e, "barrier") is not None:
            return _barrier(s, e.at, here)
        if name == "__syncwarp":
            return s
        if here.by_lanes:
            return done_by_lanes(s, e, here)
        known = name in unit.macros or any(f.name == name for f in unit.functions)
        if x.end < 0 or (name.isupper() and not known):
            return s.refuse(e.at, Reason.MAY_HOLD, name)
        return plain(s, e)[0]
    if isinstance(e, Assign):
        return assigned(s, e)
    if x.end < 0 and not isinstance(e, (Unary, Operator, Other)):
        return s.refuse(x.at, Reason.SEMICOLON)
    if isinstance(e, Name) and e.text in s.env:  # (void)lane;
        return s.note("understood", e.at)
    if here.by_lanes:
        return s.refuse(x.at, Reason.WHO_DOES)
    s, _ = plain(s, e.x if isinstance(e, Unary) and isinstance(e.x, Name) and e.op[-2:] in ("++", "--") else e)
    if isinstance(e, Unary) and isinstance(e.x, Name) and e.op[-2:] in ("++", "--"):
        s = s.assign(e.x.text, SAME, e)
    return s


def _barrier(s: State, at: int, here: Here) -> State:
    if here.by_lanes:
        return s.refuse(at, Reason.BARRIER)
    if not here.together or s.gone:
        return s
    return s._replace(env={n: t._replace(seen=True) if t.kind is Kind.SLOTS else t for n, t in s.env.items()})
