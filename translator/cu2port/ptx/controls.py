"""What a function's body does to its variables, and what chooses the lanes that do it.

A lambda that is called and nothing else (`lambdas`) is read at each call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from cu2port.facts.asm_macros import is_asm_of_parameters
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.declared import parameters_of, set_to
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
    Jump,
    Lambda,
    Launch,
    Loop,
    Member,
    Name,
    Operator,
    Other,
    Param,
    Stmt,
    Switch,
    Ternary,
    Unary,
    callee,
    heads,
    parts,
    root,
    statements,
    walk,
)
from cu2port.syntax.words import CONDITIONS, LEAVING, QUALIFIERS

OF_VALUES = frozenset(  # functions that only compute
    "min max abs fminf fmaxf fabsf fmin fmax fabs expf exp2f logf log2f tanhf sqrtf rsqrtf fmaf floorf ceilf rintf"
    " truncf roundf __expf __logf __fmul_rn __fadd_rn __fsub_rn __fmaf_rn __fdividef".split()
)
_COUNTS = frozenset({"++", "--", "p++", "p--"})
_CHOOSE = frozenset({"&&", "||"})
_MOST_CALLS = 200  # of lambdas, those in them too
_HIDES = CONDITIONS | LEAVING | frozenset("do case = ++ -- += -= asm".split())  # in a macro


@dataclass
class Control:
    """What chooses lanes: a statement or a call of a lambda, its condition, and what chooses at each `break`,
    `continue` or `return` of it."""

    at: int
    kind: str
    condition: Expr | None
    left: list[Control] = field(default_factory=list)

    def conditions(self) -> Iterator[Expr]:
        if self.condition is not None:
            yield self.condition
        for control in self.left:
            yield from control.conditions()


Controls = tuple[Control, ...]


@dataclass(frozen=True)
class Seen:
    """What was seen in a function's body; variables are known by the token that declares them (`key_at`). `assigned`:
    with their values, and what chooses there. `lost`: those that something else may change. `names`: tokens that were
    understood. `within`: statements by token, with what chooses there, each time. `returns`: what chooses at each
    `return`. `locals`: names of variables. `unread`: what may do anything. `called`: tokens of calls of lambdas.
    `params`: the function's, by key. `under`: what chose who has a variable at all. `variables`: the locals but those
    that the compiler computes. `left_out`: statements that are not looked at. `hidden`: names of
    parameters whose declarations were not read."""

    assigned: list[tuple[int, tuple[Expr, ...], Controls]] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    names: set[int] = field(default_factory=set)
    within: dict[int, list[Controls]] = field(default_factory=dict)
    returns: list[Controls] = field(default_factory=list)
    locals: dict[int, str] = field(default_factory=dict)
    unread: list[int] = field(default_factory=list)
    lambdas: Mapping[str, LocalFunction] = field(default_factory=dict)
    called: list[int] = field(default_factory=list)
    params: list[tuple[int, Param]] = field(default_factory=list)
    under: dict[int, Controls] = field(default_factory=dict)
    variables: set[int] = field(default_factory=set)
    left_out: frozenset[int] = frozenset()
    hidden: set[str] = field(default_factory=set)

    def lose(self, unit: Unit, name: str, at: int) -> None:
        """What a name means at a token may change."""
        self.lost.add(key_at(unit, name, at))

    def declare(self, unit: Unit, name: str, at: int, controls: Controls = ()) -> int:
        """The key of the variable that token `at` declares."""
        d = unit.declaration(at)
        key = _key_of(d, name)
        self.locals[key] = name
        words = unit.t[d.type_first : d.type_stop] if d is not None else []
        stays = "static" in words
        if "constexpr" not in words:
            self.variables.add(key)
        self.under[key] = () if stays else controls
        if key == UNKNOWN:
            self.unread.append(at)
        return key

    def chosen(self, key: int, controls: Controls) -> Controls:
        """What chooses lanes at a place, among those that have the variable there."""
        known = self.under.get(key, ())
        return tuple(c for n, c in enumerate(controls) if c.kind == "switch" or n >= len(known) or c is not known[n])


UNKNOWN = -1  # the key of what is no variable of the function


def _key_of(d: Declaration | None, name: str) -> int:
    """One for all declarations of a name in a scope, as in the branches of an `#if`."""
    return UNKNOWN if d is None or not d.scope.local else min(x.at for x in d.scope.names[name])


def key_at(unit: Unit, name: str, at: int) -> int:
    """The variable that a name means at a token."""
    return _key_of(unit.declarations.visible(name, at), name)


def read(unit: Unit, f: Function, places: Collection[int] = ()) -> Seen | None:
    """What a function's body does; None where something in it may do anything.

    With `places`, statements by token: what it does where a template has one of them.
    """
    body = read_body(unit, f.body[0] + 1, f.body[1])
    if any(_may_hide(unit, i) for i in range(f.body[0], f.body[1])):
        return None
    seen = Seen(lambdas=local_functions(unit, f, body), left_out=left_out(unit, body, places))
    for p in parameters_of(unit, f):
        if p.at >= 0 and unit.declaration(p.at) is None:
            seen.hidden.add(p.name)
        elif p.at >= 0:
            seen.params.append((seen.declare(unit, p.name, p.at), p))
    _statement(unit, body, (), seen)
    uncalled = (i for g in seen.lambdas.values() for i in g.calls if i not in seen.called)
    return None if seen.unread or any(uncalled) else seen


def left_out(unit: Unit, body: Block, places: Collection[int]) -> frozenset[int]:
    """Branches of `if constexpr` that no template has which has one of these places: all are in other branches."""
    out: set[int] = set()
    beside: dict[int, frozenset[int]] = {}  # of a branch: places in branches that are not there when it is
    choices = [s for s in statements(body) if isinstance(s, If) and unit.tok(s.at + 1) == "constexpr"] if places else []
    for s in choices:
        branches = [(b, frozenset(x.at for x in statements(b) if x.at in places)) for b in (s.then, s.other) if b]
        around = beside.get(s.at, frozenset())
        for b, _ in branches:
            others = around.union(*(held for other, held in branches if other is not b))
            beside[b.at] = others
            if others.issuperset(places):
                out.add(b.at)
    return frozenset(out)


def _may_hide(unit: Unit, i: int) -> bool:
    """Whether a name is a macro with a statement in it, other than an asm of what it is given."""
    return (
        unit.t[i] in unit.macros
        and unit.t[i] not in unit.asm_keywords
        and any(
            not _HIDES.isdisjoint(unit.t[m.first : m.stop]) and not is_asm_of_parameters(unit, m)
            for m in unit.macros[unit.t[i]]
        )
    )


# --- What a body does ------------------------------------------------------------------------------------------------


def _statement(unit: Unit, s: Stmt | None, controls: Controls, seen: Seen) -> None:
    if s is None:
        return
    if s.at in seen.left_out:
        seen.names.update(x.at for inner in statements(s) for e in heads(inner) for x in walk(e) if isinstance(x, Name))
        return
    seen.within.setdefault(s.at, []).append(controls)
    if isinstance(s, Block):
        for x in s.body:
            _statement(unit, x, controls, seen)
    elif isinstance(s, If):
        inner = controls if unit.t[s.at + 1] == "constexpr" else (*controls, Control(s.at, "if", s.cond))
        _expression(unit, s.cond, controls, seen)
        _statement(unit, s.then, inner, seen)
        _statement(unit, s.other, inner, seen)
    elif isinstance(s, Loop):
        inner = (*controls, Control(s.at, "loop", s.cond))
        if s.kind == "for" and ";" not in unit.t[s.at : unit.match[s.at + 1]]:
            seen.unread.append(s.at)
        _statement(unit, s.init, controls, seen)
        for d in statements(s.init):
            if isinstance(d, Decl):  # who has left the loop has it no more
                seen.declare(unit, d.name, d.at, inner)
        for head in heads(s):
            _expression(unit, head, inner, seen)
        _statement(unit, s.body, inner, seen)
    elif isinstance(s, Switch):
        inner = (*controls, Control(s.at, "switch", s.cond))
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
    elif not _rows(unit, s, controls, seen):
        if s.end < 0 or _is_unknown_macro(unit, s):
            seen.unread.append(s.at)
        _expression(unit, s.expr, controls, seen)


def _rows(unit: Unit, s: Eval, controls: Controls, seen: Seen) -> bool:
    """Reads a pointer to rows whose type was read by itself (`half __restrict__ (*p)[8] = q;`), if it is one."""
    k = s.at + 1
    while unit.tok(k) in QUALIFIERS:
        k += 1
    value = set_to(unit, k + 2) if s.end < 0 and isinstance(s.expr, Name) else None
    if value is None:
        return False
    seen.lost.add(seen.declare(unit, unit.t[k + 2], k + 2, controls))
    seen.names.add(k + 2)
    seen.lose(unit, root(value), s.at)
    _expression(unit, value, controls, seen)
    return True


def _is_unknown_macro(unit: Unit, s: Eval) -> bool:
    """Whether a statement is the call of what may be a macro of another file, with a jump in it."""
    name = callee(s.expr) if isinstance(s.expr, CallExpr) else ""
    return name.isupper() and name not in unit.macros and name not in unit.once(_functions)


def _functions(unit: Unit) -> frozenset[str]:
    """Names that are functions of the file, or of headers that multiply."""
    return frozenset((*(f.name for f in unit.functions), *(x.partition(" ")[0] for x in unit.project.products)))


def _jump(s: Jump, controls: Controls, seen: Seen) -> None:
    """What chooses at a `break` chooses who is in the rest of the loop, at a `return` in the rest of the function."""
    kinds = {"return": ("call",), "continue": ("loop",), "break": ("loop", "switch")}.get(s.kind, ())
    last = max((n for n, c in enumerate(controls) if c.kind in kinds), default=-1)
    if last >= 0:
        controls[last].left.extend(controls[last + 1 :])
    elif s.kind == "return":
        seen.returns.append(controls)
    elif s.kind == "goto":
        seen.unread.append(s.at)


def _declaration(unit: Unit, s: Decl, controls: Controls, seen: Seen) -> None:
    key = seen.declare(unit, s.name, s.at, controls)
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


def _expression(unit: Unit, whole: Expr, controls: Controls, seen: Seen) -> None:
    todo = [(whole, controls)]
    for e, here in todo:
        if isinstance(e, Ternary) or (isinstance(e, Binary) and e.op in _CHOOSE):
            first, *others = parts(e)
            inner = (*here, Control(e.at, "if", first))
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
                if not _is_const(unit, name, at):
                    seen.lose(unit, name, at)


def _changed(unit: Unit, target: Expr, value: tuple[Expr, ...], controls: Controls, seen: Seen) -> None:
    if isinstance(target, Name):
        seen.assigned.append((key_at(unit, target.text, target.at), value, controls))
    else:
        seen.lose(unit, root(target), target.at)


def _lambda(unit: Unit, g: LocalFunction, call: CallExpr, controls: Controls, seen: Seen) -> None:
    """What a call of a lambda does."""
    seen.called.append(call.at)
    if len(seen.called) > _MOST_CALLS or call.at in g.span or len(call.args) > len(g.made.params):
        seen.unread.append(call.at)
        return
    inner = (*controls, Control(call.at, "call", None))
    for n, p in enumerate(g.made.params):
        if p.at < 0:
            continue
        key = seen.declare(unit, p.name, p.at, inner)
        seen.names.add(p.at)
        value = call.args[n] if n < len(call.args) else p.default
        if p.reference or p.volatile or value is None:
            seen.lost.add(key)
        if value is not None:
            seen.assigned.append((key, (value,), controls))
            if p.reference or p.pointer:
                seen.lose(unit, root(value), call.at)
    _statement(unit, g.made.body, inner, seen)


def _is_const(unit: Unit, name: str, at: int) -> bool:
    """Whether nothing may change what a name means at a token."""
    d = unit.declarations.visible(name, at)
    return d is not None and d.pointers == 0 and "const" in unit.t[d.type_first : d.type_stop]


def _given_away(unit: Unit, e: CallExpr | Other) -> Iterator[tuple[str, int]]:
    """Names that a call, or what is not understood, may change."""
    if isinstance(e, Other):
        yield from ((x.text, x.at) for x in e.parts if isinstance(x, Name))
        return
    if isinstance(e.callee, Member):
        yield root(e.callee), e.at
    known = [parameters(unit, *f.params) for f in unit.functions if f.name == callee(e)]
    told = unit.project.computing | unit.project.by_value
    if not known and (callee(e) in OF_VALUES or callee(e) in told):
        return
    for n, x in enumerate(e.args):
        by_value = known and all(n < len(ps) and not ps[n].reference and ps[n].at >= 0 for ps in known)
        if isinstance(x, Name) and not by_value:
            yield x.text, x.at
