"""Whether no lane leaves a loop, or a part of it, before the others that began it: by the conditions around a place.

A name is uniform if all lanes that are together give it the same value: each value it gets is made of uniform names
and of what a block has once (`blockIdx`, the arguments of a kernel), where conditions of uniform names alone choose.
What is read from memory, given by a function, or not understood is not uniform.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from cu2port.facts.blocks import named_number
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.statements import parameters, read_body
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
    Launch,
    Loop,
    Member,
    Name,
    Num,
    Operator,
    Other,
    Param,
    Stmt,
    Switch,
    Ternary,
    Unary,
    Unread,
    callee,
    heads,
    root,
    walk,
)
from cu2port.syntax.words import CONDITIONS, LEAVING

_OF_A_BLOCK = frozenset({"blockIdx", "blockDim", "gridDim"})
_CONSTANTS = frozenset({"true", "false", "nullptr", "warpSize"})
_OF_VALUES = frozenset({"min", "max", "abs"})
_COUNTS = frozenset({"++", "--", "p++", "p--"})
_HIDES = CONDITIONS | LEAVING | frozenset("do case = ++ -- += -= asm".split())  # in a macro


@dataclass
class _Control:
    """A statement that chooses lanes: its condition, and what chooses at each `break` and `continue` of it."""

    at: int
    kind: str
    condition: Expr | None
    left: list[_Control] = field(default_factory=list)

    def conditions(self) -> Iterator[Expr]:
        if self.condition is not None:
            yield self.condition
        for control in self.left:
            yield from control.conditions()


_Controls = tuple[_Control, ...]


@dataclass(frozen=True)
class _Body:
    """What was seen in a function's body. `assigned`: names, their values, and what chooses there. `lost`: names
    that something else may change. `names`: tokens that were understood. `within`: statements by token, with what
    chooses there. `returns`: what chooses at each `return`. `unread`: what may do anything."""

    assigned: list[tuple[str, tuple[Expr, ...], _Controls]] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    names: set[int] = field(default_factory=set)
    within: dict[int, _Controls] = field(default_factory=dict)
    returns: list[_Controls] = field(default_factory=list)
    locals: set[str] = field(default_factory=set)
    unread: list[int] = field(default_factory=list)


def stays_together(unit: Unit, f: Function, loop: range | None, places: Collection[int]) -> bool:
    """Whether the lanes that begin a loop (None: the function) all come to each of these statements in it."""
    body = read_body(unit, f.body[0] + 1, f.body[1])
    if any(_may_hide(unit, i) for i in range(f.body[0], f.body[1])):
        return False
    seen = _Body()
    _statement(unit, body, (), seen)
    if seen.unread or any(place not in seen.within for place in places):
        return False
    varying = _varying(unit, f, seen)

    def inside(controls: _Controls) -> _Controls:
        return controls if loop is None else tuple(c for c in controls if c.at in loop)

    if any(inside(controls) for controls in seen.returns):
        return False
    return all(
        _is_uniform(unit, e, seen, varying)
        for place in places
        for control in inside(seen.within[place])
        for e in control.conditions()
    )


def _may_hide(unit: Unit, i: int) -> bool:
    """Whether a name is a macro with a statement in it."""
    return unit.t[i] in unit.macros and any(
        not _HIDES.isdisjoint(unit.t[m.first : m.stop]) for m in unit.macros[unit.t[i]]
    )


# --- What a body does ------------------------------------------------------------------------------------------------


def _statement(unit: Unit, s: Stmt | None, controls: _Controls, seen: _Body) -> None:
    if s is None:
        return
    seen.within[s.at] = controls
    if isinstance(s, Block):
        for x in s.body:
            _statement(unit, x, controls, seen)
    elif isinstance(s, If):
        inner = (*controls, _Control(s.at, "if", s.cond))
        _expression(unit, s.cond, controls, seen)
        _statement(unit, s.then, inner, seen)
        _statement(unit, s.other, inner, seen)
    elif isinstance(s, Loop):
        inner = (*controls, _Control(s.at, "loop", s.cond))
        if s.kind == "for" and ";" not in unit.t[s.at : unit.match[s.at + 1]]:
            seen.unread.append(s.at)
        _statement(unit, s.init, controls, seen)
        for head in heads(s):
            _expression(unit, head, inner, seen)
        _statement(unit, s.body, inner, seen)
    elif isinstance(s, Switch):
        inner = (*controls, _Control(s.at, "switch", s.cond))
        _expression(unit, s.cond, controls, seen)
        _statement(unit, s.body, inner, seen)
    elif isinstance(s, Jump):
        _jump(s, controls, seen)
        for head in heads(s):
            _expression(unit, head, controls, seen)
    elif isinstance(s, Asm):
        seen.lost.update(root(e) for e in s.outs)
        for e in (*s.outs, *s.ins):
            _expression(unit, e, controls, seen)
    elif isinstance(s, Decl):
        _declaration(unit, s, controls, seen)
    else:
        if s.end < 0 or _is_unknown_macro(unit, s):
            seen.unread.append(s.at)
        _expression(unit, s.expr, controls, seen)


def _is_unknown_macro(unit: Unit, s: Eval) -> bool:
    """Whether a statement is the call of what may be a macro of another file, with a jump in it."""
    return isinstance(s.expr, CallExpr) and callee(s.expr).isupper() and callee(s.expr) not in unit.macros


def _jump(s: Jump, controls: _Controls, seen: _Body) -> None:
    """What chooses at a `break` chooses who is in the rest of the loop."""
    if s.kind == "return":
        seen.returns.append(controls)
    elif s.kind in ("break", "continue"):
        kinds = ("loop",) if s.kind == "continue" else ("loop", "switch")
        last = max((n for n, c in enumerate(controls) if c.kind in kinds), default=-1)
        if last >= 0:
            controls[last].left.extend(controls[last + 1 :])
    elif s.kind == "goto":
        seen.unread.append(s.at)


def _declaration(unit: Unit, s: Decl, controls: _Controls, seen: _Body) -> None:
    seen.locals.add(s.name)
    seen.names.add(s.at)
    if s.dims or s.shared or s.volatile or s.reference:
        seen.lost.add(s.name)
    if s.init is not None:
        seen.assigned.append((s.name, (s.init,), controls))
        if s.reference or s.pointer:
            seen.lost.add(root(s.init))
    for head in heads(s):
        _expression(unit, head, controls, seen)


def _expression(unit: Unit, whole: Expr, controls: _Controls, seen: _Body) -> None:
    for e in walk(whole):
        if isinstance(e, Name):
            seen.names.add(e.at)
        elif isinstance(e, (Lambda, Launch)) or (isinstance(e, Operator) and e.word != "sizeof"):
            seen.unread.append(e.at)
        elif isinstance(e, Assign):
            if isinstance(e.target, Name):
                value = (e.value,) if e.op == "=" else (e.value, e.target)
                seen.assigned.append((e.target.text, value, controls))
            else:
                seen.lost.add(root(e.target))
        elif isinstance(e, Unary) and e.op in _COUNTS:
            if isinstance(e.x, Name):
                seen.assigned.append((e.x.text, (e.x,), controls))
            else:
                seen.lost.add(root(e.x))
        elif isinstance(e, Unary) and e.op == "&":
            seen.lost.add(root(e.x))
        elif isinstance(e, (CallExpr, Other)):
            seen.lost.update(_given_away(unit, e))


def _given_away(unit: Unit, e: CallExpr | Other) -> Iterator[str]:
    """Names that a call, or what is not understood, may change."""
    if isinstance(e, Other):
        yield from (x.text for x in e.parts if isinstance(x, Name))
        return
    yield root(e.callee) if isinstance(e.callee, Member) else ""
    if callee(e) in _OF_VALUES:
        return
    known = [parameters(unit, *f.params) for f in unit.functions if f.name == callee(e)]
    for n, x in enumerate(e.args):
        by_value = known and all(n < len(ps) and not ps[n].reference and ps[n].at >= 0 for ps in known)
        if isinstance(x, Name) and not by_value:
            yield x.text


# --- What differs ----------------------------------------------------------------------------------------------------


def _varying(unit: Unit, f: Function, seen: _Body) -> set[str]:
    """Locals and parameters that are not uniform."""
    params = parameters(unit, *f.params)
    mine = seen.locals | {p.name for p in params}
    out = {name for name in seen.lost if name in mine}
    out |= {p.name for p in params if not _is_argument(f, p)}
    span = range(f.body[0], f.body[1])
    out |= {x for x in mine if any(i in span and i not in seen.names and not unit.is_member(i) for i in unit.find(x))}
    seen.locals.update(mine)
    changed = True
    while changed:
        changed = False
        for name, values, controls in seen.assigned:
            if name in out:
                continue
            chosen = (e for c in controls for e in c.conditions())
            if not all(_is_uniform(unit, e, seen, out) for e in (*values, *chosen)):
                out.add(name)
                changed = True
    return out


def _is_argument(f: Function, p: Param) -> bool:
    """Whether a parameter is the same for a whole grid."""
    return "__global__" in f.sides and not p.reference and not p.volatile and p.at >= 0


def _is_uniform(unit: Unit, e: Expr, seen: _Body, varying: set[str]) -> bool:
    if any(isinstance(x, Unread) for x in e.around):
        return False

    def all_of(*parts: Expr) -> bool:
        return all(_is_uniform(unit, x, seen, varying) for x in parts)

    if isinstance(e, Num):
        return True
    if isinstance(e, Name):
        return e.text not in varying if e.text in seen.locals else _is_constant(unit, e)
    if isinstance(e, Member):
        of_block = isinstance(e.base, Name) and e.base.text in _OF_A_BLOCK - seen.locals
        return of_block or (unit.tok(e.at - 1) == "." and isinstance(e.base, Name) and all_of(e.base))
    if isinstance(e, Unary):
        return e.op not in ("&", "*") and all_of(e.x)
    if isinstance(e, Binary):
        return all_of(e.a, e.b)
    if isinstance(e, Ternary):
        return all_of(e.cond, e.a, e.b)
    if isinstance(e, Assign):
        return isinstance(e.target, Name) and all_of(e.value) and (e.op == "=" or all_of(e.target))
    if isinstance(e, CallExpr):
        name = e.callee.text if isinstance(e.callee, Name) else ""
        return (name in _OF_VALUES or _computes(unit, name)) and all_of(*e.args)
    return isinstance(e, Operator) and e.word == "sizeof"


def _is_constant(unit: Unit, e: Name) -> bool:
    """Whether a name from outside of a function is a number, or an argument of a template."""
    if e.text in _CONSTANTS or named_number(unit, e.text) is not None:
        return True
    d = unit.declarations.visible(e.text, e.at)
    return d is not None and (
        d.kind in ("template parameter", "enumerator") or "constexpr" in unit.t[d.type_first : d.type_stop]
    )


def _computes(unit: Unit, name: str) -> bool:
    """Whether a function of the file is one `return` of what its arguments alone make."""
    found = [f for f in unit.functions if f.name == name]
    for f in found:
        body = read_body(unit, f.body[0] + 1, f.body[1]).body
        params = parameters(unit, *f.params)
        if len(body) != 1 or not isinstance(body[0], Jump) or body[0].value is None or any(p.reference for p in params):
            return False
        of = _Body(locals={p.name for p in params})
        whole = walk(body[0].value)
        if any(isinstance(x, (CallExpr, Index, Assign)) for x in whole) or not _is_uniform(
            unit, body[0].value, of, set()
        ):
            return False
    return bool(found)
