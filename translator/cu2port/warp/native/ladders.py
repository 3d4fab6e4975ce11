"""Statements that put the values of a warp's lanes together: ladders of steps, a step for each distance.

A loop is read by running it: whatever it is written like, its distances must come to 1, 2, 4, 8 and 16, each once. What
a step does is in the table, `patterns.STEPS`; the other lane's value may come through a variable of its own, through a
function of one line, or both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import tokens
from cu2port.syntax.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Decl,
    Eval,
    Expr,
    If,
    Loop,
    Member,
    Name,
    Num,
    Stmt,
    Unary,
    callee,
    expressions,
    single,
    walk,
)
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.native.groups import group
from cu2port.warp.native.lines import Lines
from cu2port.warp.native.match import matches_statement, statement
from cu2port.warp.native.numbers import Numbers
from cu2port.warp.native.patterns import STEPS, Parts, Step
from cu2port.warp.native.types import declared_type, is_cast, is_integer

DISTANCES = frozenset({1, 2, 4, 8, 16})
_COUNTERS = frozenset({"auto", "long", "unsigned long"})
_MOST_TURNS = 8
_MOST_STATEMENTS = 80  # of a ladder without a loop
_HINT = re.compile(r"\w*(?:UNROLL|Unroll|unroll)\w*\Z")
_SHUFFLES = {"__shfl_xor_sync": "xor", "__shfl_down_sync": "down", "__shfl_xor": "xor", "__shfl_down": "down",
             "shfl_xor": "xor", "shfl_down": "down"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reduced:
    """One variable that statements reduce over the warp. `call`: what follows `wave::` instead; `types`: those that
    its values have on the way, in variables and parameters."""

    name: str
    at: int
    op: str
    call: Parts
    types: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reduction:
    """Statements [first token, last token] that reduce variables over the warp; `size`: how many statements;
    `shuffles`: the tokens of the cross-lane operations in them; `low`: only lane 0 has the result."""

    first: int
    last: int
    found: tuple[Reduced, ...]
    size: int
    shuffles: frozenset[int]
    low: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """The value that a variable has in another lane. `at`: the token of the operation; `types`: those of parameters and
    variables that hold it on the way."""

    of: Expr
    distance: int | None
    at: frozenset[int]
    low: bool
    types: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Progress:
    """What some statements have done: variables and their distances, variables that hold another lane's value (`held`),
    and all that a reduction is made of."""

    done: Mapping[str, tuple[Reduced, frozenset[int]]] = field(default_factory=dict)
    held: Mapping[str, Moved] = field(default_factory=dict)
    shuffles: frozenset[int] = frozenset()
    low: bool = False
    last: int = -1


def _cudas(unit: Unit) -> frozenset[int]:
    return frozenset(tokens(unit, LANE_OPERATIONS))


@dataclass(frozen=True, slots=True)
class Facts(Lines):
    """What the text of one file says: constants, functions of one line, ladders."""

    @property
    def cudas(self) -> frozenset[int]:
        """The tokens that are CUDA's cross-lane operations."""
        return self.unit.once(_cudas)

    # --- ladders ----------------------------------------------------------------------------------------------------

    def reduction(self, body: Sequence[Stmt], k: int) -> Reduction | None:
        """The reduction over a whole warp that starts with a statement of a list."""
        s = body[k]
        return self._loop(s) if isinstance(s, Loop) else self._listed(body, k)

    def _loop(self, s: Loop) -> Reduction | None:
        """A loop over distances."""
        turns = self.turns(s)
        last = self.end(s)
        if not turns or last < 0 or not isinstance(s.init, Decl):
            return None
        first: Progress | None = None
        distances: dict[str, frozenset[int]] = {}
        for value in turns:
            progress: Progress | None = Progress()
            for x in s.body.body if isinstance(s.body, Block) else (s.body,):
                progress = (
                    self._next(progress, x, self.assuming({s.init.name: value})) if progress is not None else None
                )
            if progress is None:
                return None
            first = first or progress
            for name, (_, done) in progress.done.items():
                if len(done) != 1 or done <= distances.get(name, frozenset()):
                    return None
                distances[name] = distances.get(name, frozenset()) | done
        if first is None or not distances or any(x != DISTANCES for x in distances.values()):
            return None
        return Reduction(s.at, last, tuple(r for r, _ in first.done.values()), 1, first.shuffles, first.low)

    def turns(self, s: Loop) -> list[int]:
        """The values of a `for` loop's variable, in order; empty where they are not known, or where there are many."""
        if s.kind != "for" or not isinstance(s.init, Decl) or s.init.init is None or s.cond is None:
            return []
        name, out = s.init.name, list[int]()
        if (typ := declared_type(self.unit, s.init.at)) not in _COUNTERS and not is_integer(typ):
            return []
        now = self.number(s.init.init)
        while now is not None and now >= 0 and len(out) < _MOST_TURNS:
            at = self.assuming({name: now})
            holds = _compared(at, s.cond)
            if holds is None and isinstance(s.cond, Assign):  # for (o = 32; o >>= 1;)
                now = holds = _stepped(at, s.cond, name)
            if holds is None or now is None:
                return []
            if not holds:
                return out
            out.append(now)
            if s.step is not None:
                now = _stepped(self.assuming({name: now}), s.step, name)
        return out if now is not None and now < 0 and _below_zero(s.cond, name) else []

    def _listed(self, body: Sequence[Stmt], k: int) -> Reduction | None:
        """A statement for each distance."""
        progress: Progress | None = Progress()
        for i in range(k, min(len(body), k + _MOST_STATEMENTS + 1)):
            progress = self._next(progress, body[i], self) if progress is not None else None
            if progress is None:
                return None
            if progress.done and all(x == DISTANCES for _, x in progress.done.values()):
                after = (x for s in body[i + 1 :] for x in expressions(s) if isinstance(x, Name))
                if progress.held and any(x.text in progress.held for x in after):
                    return None  # what came from one other lane is used again
                s = body[k]
                first = s.at if isinstance(s, Eval) else self._start(s)
                found = tuple(r for r, _ in progress.done.values())
                return Reduction(first, progress.last, found, i + 1 - k, progress.shuffles, progress.low)
        return None

    def _next(self, progress: Progress, s: Stmt, numbers: Numbers) -> Progress | None:
        """What has been done after one more statement of a ladder; None if it is none. `numbers`: constants there, and
        the loop's variable."""
        if isinstance(s, Decl):
            if s.init is None or s.dims or s.pointer or s.reference:
                return None
            moved = self._moved(progress, s.init, numbers)
            typ = declared_type(self.unit, s.at) or "?"
            return None if moved is None or is_cast(s.init) else _held(progress, s.name, moved, typ)
        e = s.expr if isinstance(s, Eval) and s.end >= 0 else None
        if isinstance(e, Name) and progress.done and e.text not in self.unit.macros:  # (void)lane; changes nothing
            return replace(progress, last=s.end if isinstance(s, Eval) else -1)
        if isinstance(e, Assign) and isinstance(e.target, Name) and e.target.text in progress.held and e.op == "=":
            moved = self._moved(progress, e.value, numbers)
            return None if moved is None else _held(progress, e.target.text, moved, *progress.held[e.target.text].types)
        last = self.end(s)
        if isinstance(s, If) and last >= 0 and (holds := _compared(numbers, s.cond)) is not None:
            dead = frozenset(i for i in self.cudas if s.at < i <= last)
            passed = replace(progress, shuffles=progress.shuffles | dead)
            guarded = self._next(progress, single(s.then), numbers) if holds else passed  # if (BLOCK >= 256) v += ...
            return replace(guarded, last=last) if guarded is not None and guarded.done else None
        for row in STEPS if last >= 0 else ():
            for way in matches_statement(statement(row.cuda), s):
                if (got := self._step(progress, row, way, numbers, last)) is not None:
                    return got if not any(is_cast(x) for x in expressions(s)) else None
        return None

    def _step(
        self, progress: Progress, row: Step, way: Sequence[tuple[str, Expr]], numbers: Numbers, last: int
    ) -> Progress | None:
        """With a variable that was put together with another lane's value; None if what is in a row's holes may
        not stand there."""
        v = next(x for hole, x in way if hole == "V")
        if not isinstance(v, Name) or v.text in progress.held:
            return None
        op, parts, types, used = row.op, row.call, frozenset[str](), list[Moved]()
        for hole, x in way:
            if hole == "V" and not self.same(x, v):
                return None
            if hole in ("OTHER", "HELD"):
                m = self._moved(progress, x, numbers) if hole == "OTHER" or isinstance(x, Name) else None
                if m is None or not self.same(m.of, v):
                    return None
                used.append(m)
            if hole == "F":
                known = self.function(x) if isinstance(x, CallExpr) else None
                if known is None:
                    return None
                op, types = known[0], known[2]
                parts = ("reduce", ", ", *known[1], ")")
        now = frozenset(m.distance for m in used if m.distance is not None)
        if len(now) != 1 or len({m.distance for m in used}) != 1:
            return None
        call = (f"{parts[0]}({v.text}", *parts[1:])
        types = types.union(*(m.types for m in used))
        before, done = progress.done.get(v.text, (Reduced(v.text, v.at, op, call, types), frozenset[int]()))
        if (before.op, self._text(before.call)) != (op, self._text(call)) or now <= done:
            return None
        merged = replace(before, types=before.types | types)
        held = {n: _stale(m) if self.same(m.of, v) else m for n, m in progress.held.items()}
        shuffles = progress.shuffles.union(*(m.at for m in used))
        low = progress.low or any(m.low for m in used)
        return Progress({**progress.done, v.text: (merged, done | now)}, held, shuffles, low, last)

    def _text(self, call: Parts) -> str:
        text = self.unit.text
        return "".join(x if isinstance(x, str) else text[x.start : x.end] for x in call)

    # --- shuffles and functions of one line -------------------------------------------------------------------------

    def _moved(self, progress: Progress, e: Expr, numbers: Numbers) -> Moved | None:
        """What another lane has, as an expression gives it: a shuffle of a variable that this step has not set yet."""
        if isinstance(e, Name) and e.text in progress.held and not (e.targs or e.qualified or is_cast(e)):
            return progress.held[e.text]
        got = self.shuffled(e, numbers)
        return got if got is not None and isinstance(got.of, Name) and got.distance in DISTANCES else None

    def shuffled(self, e: Expr, numbers: Numbers, inside: bool = False) -> Moved | None:
        """The value that a shuffle of the whole warp moves, by itself or through a function of one line. `inside`: in
        such a function."""
        if not isinstance(e, CallExpr) or any(is_cast(x) for x in walk(e)):
            return None
        if callee(e) not in _SHUFFLES:
            return None if inside else self._of_wrapper(e, numbers)
        if e.at not in self.cudas and not (
            isinstance(e.callee, Member) and len(e.args) == 2 and group(self.unit, self.number, e.callee.base) == "tile"
        ):
            return None
        args = list(e.args)
        if callee(e).endswith("_sync") and (not args or not numbers.full(args.pop(0))):
            return None
        if len(args) == 3 and numbers.number(args.pop()) != 32:
            return None
        if len(args) != 2:
            return None
        return Moved(args[0], numbers.number(args[1]), frozenset({e.at}), _SHUFFLES[callee(e)] == "down")

    def _of_wrapper(self, e: CallExpr, numbers: Numbers) -> Moved | None:
        """The value that a function of one line moves, which is nothing but a shuffle of one of its parameters."""
        line = self.line(e)
        if line is None or not isinstance(line.value, CallExpr):
            return None
        given = {p.name: a for p, a in zip(line.params, e.args, strict=True)}
        free = [x for a in line.value.args for x in walk(a) if isinstance(x, Name) and x.text not in given]
        if any(x.text in numbers.local or self.fold(x) is None for x in free):
            return None
        n = 1 if callee(line.value).endswith("_sync") else 0
        moved = line.value.args[n] if len(line.value.args) > n else None
        got = self.shuffled(_filled(line.value, given), numbers, inside=True)
        if got is None or not isinstance(moved, Name) or moved.text not in given:
            return None
        return replace(got, types=got.types | line.types_of({moved.text}))

    # --- places -----------------------------------------------------------------------------------------------------

    def is_hint(self, e: Expr) -> bool:
        """Whether a name tells the compiler how to unroll the loop behind it, as its macro or its name says."""
        if not isinstance(e, Name) or e.targs or e.qualified:
            return False
        ms = self.unit.macros.get(e.text, ())
        if ms:
            return all(m.params is None and self.unit.tok(m.first) == "_Pragma" for m in ms)
        return _HINT.match(e.text) is not None

    def _start(self, s: Stmt) -> int:
        """The first token of a statement."""
        at = s.at
        while at > 0 and self.unit.t[at - 1] not in (";", "{", "}", ")") and self.unit.in_directive(at - 1) is None:
            at -= 1
        return at

    def end(self, s: Stmt) -> int:
        """The last token of a `for` or an `if` whose end is certain, else -1."""
        unit = self.unit
        if not isinstance(s, (Loop, If)):
            return s.end if isinstance(s, Eval) else -1
        k = s.at + 1 + (isinstance(s, If) and unit.tok(s.at + 1) == "constexpr")
        if unit.tok(k) != "(" or unit.match[k] < 0 or (isinstance(s, If) and s.other is not None):
            return -1
        k = unit.match[k] + 1
        if unit.in_directive(k) is not None:
            return -1
        return unit.match[k] if unit.tok(k) == "{" else self.end(s.body if isinstance(s, Loop) else s.then)


def _held(progress: Progress, name: str, moved: Moved, *types: str) -> Progress | None:
    """With a variable that holds what another lane has."""
    if not isinstance(moved.of, Name) or name == moved.of.text or name in progress.done:
        return None
    through = replace(moved, types=moved.types | (frozenset(types) - {"auto"}))
    return replace(progress, held={**progress.held, name: through})


def _stale(m: Moved) -> Moved:
    """A value that has been used: no other step may use it again."""
    return replace(m, of=Num(-1, None), distance=None)


def _filled(e: Expr, given: Mapping[str, Expr]) -> Expr:
    """A function's value with arguments in place of its parameters."""
    if isinstance(e, Name):
        return given.get(e.text, e) if not e.targs and not e.qualified else e
    if isinstance(e, CallExpr):
        return e._replace(args=tuple(_filled(x, given) for x in e.args))
    if isinstance(e, Binary):
        return e._replace(a=_filled(e.a, given), b=_filled(e.b, given))
    if isinstance(e, Unary):
        return e._replace(x=_filled(e.x, given))
    return e


def _compared(numbers: Numbers, e: Expr) -> int | None:
    """Whether a loop's condition holds, as a number; None where it is not known."""
    if isinstance(e, Binary) and e.op in ("<", "<=", ">", ">=", "!="):
        a, b = numbers.number(e.a), numbers.number(e.b)
        if a is None or b is None:
            return None
        return int({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "!=": a != b}[e.op])
    return numbers.number(e)


def _stepped(numbers: Numbers, e: Expr, name: str) -> int | None:
    """The value of a loop's variable after its step; None where it is not known, -1 where it is below zero."""
    if isinstance(e, Unary) and isinstance(e.x, Name) and e.x.text == name and e.op in ("++", "--", "p++", "p--"):
        now = numbers.number(e.x)
        return None if now is None else now + (1 if "+" in e.op else -1)
    if not isinstance(e, Assign) or not isinstance(e.target, Name) or e.target.text != name:
        return None
    op = e.op.removesuffix("=")
    return numbers.number(Binary(e.at, op, e.target, e.value) if op else e.value)


def _below_zero(cond: Expr, name: str) -> bool:
    """Whether a loop ends where its variable is below zero: `i >= 0`."""
    zero = isinstance(cond, Binary) and isinstance(cond.b, Num) and cond.b.value == 0
    return zero and isinstance(cond, Binary) and cond.op == ">=" and isinstance(cond.a, Name) and cond.a.text == name
