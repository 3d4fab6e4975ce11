"""Whether no lane leaves a loop, or a part of it, before the others that began it: by the conditions around a place.

A name is uniform if all lanes that are together give it the same value: each value it gets is made of uniform names
and of what a block has once (`blockIdx`, the arguments of a kernel), where conditions of uniform names alone choose.
What is read from memory, given by a function, or not understood is not uniform. A lambda that is called and nothing
else (`lambdas`) is read at each call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from cu2port.facts.blocks import named_number
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.lambdas import LocalFunction, local_functions
from cu2port.syntax.scopes import Declaration
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
    parts,
    root,
    walk,
)
from cu2port.syntax.words import CONDITIONS, LEAVING

_OF_A_BLOCK = frozenset({"blockIdx", "blockDim", "gridDim"})
_CONSTANTS = frozenset({"true", "false", "nullptr", "warpSize"})
_OF_VALUES = frozenset({"min", "max", "abs"})
_COUNTS = frozenset({"++", "--", "p++", "p--"})
_CHOOSE = frozenset({"&&", "||"})
_MOST_CALLS = 200  # of lambdas, those in them too
_HIDES = CONDITIONS | LEAVING | frozenset("do case = ++ -- += -= asm".split())  # in a macro


@dataclass
class _Control:
    """What chooses lanes: a statement or a call of a lambda, its condition, and what chooses at each `break`,
    `continue` or `return` of it."""

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
    """What was seen in a function's body; variables are known by the token that declares them (`_key`). `assigned`:
    with their values, and what chooses there. `lost`: those that something else may change. `names`: tokens that were
    understood. `within`: statements by token, with what chooses there, each time. `returns`: what chooses at each
    `return`. `locals`: names of variables. `unread`: what may do anything. `called`: tokens of calls of lambdas."""

    assigned: list[tuple[int, tuple[Expr, ...], _Controls]] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    names: set[int] = field(default_factory=set)
    within: dict[int, list[_Controls]] = field(default_factory=dict)
    returns: list[_Controls] = field(default_factory=list)
    locals: dict[int, str] = field(default_factory=dict)
    unread: list[int] = field(default_factory=list)
    lambdas: Mapping[str, LocalFunction] = field(default_factory=dict)
    called: list[int] = field(default_factory=list)

    def lose(self, unit: Unit, name: str, at: int) -> None:
        """What a name means at a token may change."""
        self.lost.add(_key(unit, name, at))

    def declare(self, unit: Unit, name: str, at: int) -> int:
        """The key of the variable that token `at` declares."""
        key = _key_of(unit.declaration(at), name)
        self.locals[key] = name
        if key == _UNKNOWN:
            self.unread.append(at)
        return key


def stays_together(unit: Unit, f: Function, loop: range | None, places: Collection[int]) -> bool:
    """Whether the lanes that begin a loop (None: the function) all come to each of these statements in it."""
    body = read_body(unit, f.body[0] + 1, f.body[1])
    if any(_may_hide(unit, i) for i in range(f.body[0], f.body[1])):
        return False
    seen = _Body(lambdas=local_functions(unit, f, body))
    params = [p for p in parameters(unit, *f.params) if p.at >= 0]
    keys = [seen.declare(unit, p.name, p.at) for p in params]
    _statement(unit, body, (), seen)
    uncalled = (i for g in seen.lambdas.values() for i in g.calls if i not in seen.called)
    if seen.unread or any(uncalled) or any(place not in seen.within for place in places):
        return False
    varying = _varying(unit, f, seen, {k for k, p in zip(keys, params, strict=True) if not _is_argument(f, p)})

    def inside(controls: _Controls) -> _Controls:
        if loop is None:
            return controls
        first = next((n for n, c in enumerate(controls) if c.at == loop.start), len(controls))
        return controls[first:]

    if any(inside(controls) for controls in seen.returns):
        return False
    return all(
        _is_uniform(unit, e, seen, varying)
        for place in places
        for controls in seen.within[place]
        for control in inside(controls)
        for e in control.conditions()
    )


_UNKNOWN = -1  # the key of what is no variable of the function


def _key_of(d: Declaration | None, name: str) -> int:
    """One for all declarations of a name in a scope, as in the branches of an `#if`."""
    return _UNKNOWN if d is None or not d.scope.local else min(x.at for x in d.scope.names[name])


def _key(unit: Unit, name: str, at: int) -> int:
    """The variable that a name means at a token."""
    return _key_of(unit.declarations.visible(name, at), name)


def _may_hide(unit: Unit, i: int) -> bool:
    """Whether a name is a macro with a statement in it."""
    return unit.t[i] in unit.macros and any(
        not _HIDES.isdisjoint(unit.t[m.first : m.stop]) for m in unit.macros[unit.t[i]]
    )


# --- What a body does ------------------------------------------------------------------------------------------------


def _statement(unit: Unit, s: Stmt | None, controls: _Controls, seen: _Body) -> None:
    if s is None:
        return
    seen.within.setdefault(s.at, []).append(controls)
    if isinstance(s, Block):
        for x in s.body:
            _statement(unit, x, controls, seen)
    elif isinstance(s, If):
        inner = controls if unit.t[s.at + 1] == "constexpr" else (*controls, _Control(s.at, "if", s.cond))
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
        for e in s.outs:
            seen.lose(unit, root(e), s.at)
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
    """What chooses at a `break` chooses who is in the rest of the loop, at a `return` in the rest of the function."""
    kinds = {"return": ("call",), "continue": ("loop",), "break": ("loop", "switch")}.get(s.kind, ())
    last = max((n for n, c in enumerate(controls) if c.kind in kinds), default=-1)
    if last >= 0:
        controls[last].left.extend(controls[last + 1 :])
    elif s.kind == "return":
        seen.returns.append(controls)
    elif s.kind == "goto":
        seen.unread.append(s.at)


def _declaration(unit: Unit, s: Decl, controls: _Controls, seen: _Body) -> None:
    key = seen.declare(unit, s.name, s.at)
    seen.names.add(s.at)
    if s.name in seen.lambdas:
        return
    if s.dims or s.shared or s.volatile or s.reference:
        seen.lost.add(key)
    if s.init is not None:
        seen.assigned.append((key, (s.init,), controls))
        if s.reference or s.pointer:
            seen.lose(unit, root(s.init), s.at)
    for head in heads(s):
        _expression(unit, head, controls, seen)


def _expression(unit: Unit, whole: Expr, controls: _Controls, seen: _Body) -> None:
    todo = [(whole, controls)]
    for e, here in todo:
        if isinstance(e, Ternary) or (isinstance(e, Binary) and e.op in _CHOOSE):
            first, *others = parts(e)
            inner = (*here, _Control(e.at, "if", first))
            todo += [(first, here), *((x, inner) for x in others)]
            continue
        todo += [(x, here) for x in parts(e)]
        if isinstance(e, Name):
            seen.names.add(e.at)
        elif isinstance(e, (Lambda, Launch)) or (isinstance(e, Operator) and e.word != "sizeof"):
            seen.unread.append(e.at)
        elif isinstance(e, Assign):
            _changed(unit, e.target, (e.value,) if e.op == "=" else (e.value, e.target), here, seen)
        elif isinstance(e, Unary) and e.op in _COUNTS:
            _changed(unit, e.x, (e.x,), here, seen)
        elif isinstance(e, Unary) and e.op == "&":
            seen.lose(unit, root(e.x), e.at)
        elif isinstance(e, CallExpr) and isinstance(e.callee, Name) and e.callee.text in seen.lambdas:
            _lambda(unit, seen.lambdas[e.callee.text], e, here, seen)
        elif isinstance(e, (CallExpr, Other)):
            for name, at in _given_away(unit, e):
                seen.lose(unit, name, at)


def _changed(unit: Unit, target: Expr, value: tuple[Expr, ...], controls: _Controls, seen: _Body) -> None:
    if isinstance(target, Name):
        seen.assigned.append((_key(unit, target.text, target.at), value, controls))
    else:
        seen.lose(unit, root(target), target.at)


def _lambda(unit: Unit, g: LocalFunction, call: CallExpr, controls: _Controls, seen: _Body) -> None:
    """What a call of a lambda does."""
    seen.called.append(call.at)
    if len(seen.called) > _MOST_CALLS or call.at in g.span or len(call.args) > len(g.made.params):
        seen.unread.append(call.at)
        return
    for n, p in enumerate(g.made.params):
        if p.at < 0:
            continue
        key = seen.declare(unit, p.name, p.at)
        seen.names.add(p.at)
        value = call.args[n] if n < len(call.args) else p.default
        if p.reference or p.volatile or value is None:
            seen.lost.add(key)
        if value is not None:
            seen.assigned.append((key, (value,), controls))
            if p.reference or p.pointer:
                seen.lose(unit, root(value), call.at)
    _statement(unit, g.made.body, (*controls, _Control(call.at, "call", None)), seen)


def _given_away(unit: Unit, e: CallExpr | Other) -> Iterator[tuple[str, int]]:
    """Names that a call, or what is not understood, may change."""
    if isinstance(e, Other):
        yield from ((x.text, x.at) for x in e.parts if isinstance(x, Name))
        return
    if isinstance(e.callee, Member):
        yield root(e.callee), e.at
    if callee(e) in _OF_VALUES:
        return
    known = [parameters(unit, *f.params) for f in unit.functions if f.name == callee(e)]
    for n, x in enumerate(e.args):
        by_value = known and all(n < len(ps) and not ps[n].reference and ps[n].at >= 0 for ps in known)
        if isinstance(x, Name) and not by_value:
            yield x.text, x.at


# --- What differs ----------------------------------------------------------------------------------------------------


def _varying(unit: Unit, f: Function, seen: _Body, out: set[int]) -> set[int]:
    """Variables that are not uniform: these parameters, and which else."""
    out |= seen.lost
    span = range(f.body[0], f.body[1])
    for name in set(seen.locals.values()):
        if any(i in span and i not in seen.names and not unit.is_member(i) for i in unit.find(name)):
            out |= {key for key, text in seen.locals.items() if text == name}
    changed = True
    while changed:
        changed = False
        for key, values, controls in seen.assigned:
            if key in out:
                continue
            chosen = (e for c in controls for e in c.conditions())
            if not all(_is_uniform(unit, e, seen, out) for e in (*values, *chosen)):
                out.add(key)
                changed = True
    return out


def _is_argument(f: Function, p: Param) -> bool:
    """Whether a parameter is the same for a whole grid."""
    return "__global__" in f.sides and not p.reference and not p.volatile and p.at >= 0


def _is_uniform(unit: Unit, e: Expr, seen: _Body, varying: set[int]) -> bool:
    if any(isinstance(x, Unread) for x in e.around):
        return False

    def all_of(*parts: Expr) -> bool:
        return all(_is_uniform(unit, x, seen, varying) for x in parts)

    if isinstance(e, Num):
        return True
    if isinstance(e, Name):
        key = _key(unit, e.text, e.at)
        return key not in varying if key in seen.locals else key == _UNKNOWN and _is_constant(unit, e)
    if isinstance(e, Member):
        of_block = isinstance(e.base, Name) and e.base.text in _OF_A_BLOCK - set(seen.locals.values())
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
        computes = name not in seen.lambdas and (name in _OF_VALUES or _computes(unit, name))
        return computes and all_of(*e.args)
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
        if (
            len(body) != 1
            or not isinstance(body[0], Jump)
            or body[0].value is None
            or any(p.reference or p.at < 0 for p in params)
        ):
            return False
        of = _Body()
        for p in params:
            of.declare(unit, p.name, p.at)
        whole = walk(body[0].value)
        if any(isinstance(x, (CallExpr, Index, Assign)) for x in whole) or not _is_uniform(
            unit, body[0].value, of, set()
        ):
            return False
    return bool(found)
