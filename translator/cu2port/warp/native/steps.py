"""Statements that put the values of a warp's lanes together: ladders of steps, a step for each distance.

A loop is read by running it: whatever it is written like, its distances must come to 1, 2, 4, 8 and 16, each once. What
a step does is in the table, `patterns.STEPS`; the other lane's value may come through a variable of its own, through a
function of one line, or both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from cu2port.core.model import Edit, Span
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
    walk,
)
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.native.groups import is_tile
from cu2port.warp.native.lines import Lines
from cu2port.warp.native.numbers import Numbers
from cu2port.warp.native.patterns import Combined, Parts, read_step
from cu2port.warp.native.types import declared_type, is_integer
from cu2port.warp.native.values import SPACE

DISTANCES = frozenset({1, 2, 4, 8, 16})
_COUNTERS = frozenset({"auto", "long", "unsigned long"})
_MOST_TURNS = 8
_MOST_STATEMENTS = 80  # of a ladder without a loop
_HINT = re.compile(r"\w*(?:UNROLL|Unroll|unroll)\w*\Z")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_SHUFFLES = {"__shfl_xor_sync": "xor", "__shfl_down_sync": "down", "__shfl_xor": "xor", "__shfl_down": "down",
             "shfl_xor": "xor", "shfl_down": "down"}  # fmt: skip


class Refused(Exception):  # noqa: N818 - no error: the code stays as it is
    """A place that native code cannot be proven right for."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at, self.why = at, why


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
class Gone:
    """What some statements have done: variables and their distances, asides, and all that a reduction is made of."""

    done: Mapping[str, tuple[Reduced, frozenset[int]]] = field(default_factory=dict)
    asides: Mapping[str, Moved] = field(default_factory=dict)
    shuffles: frozenset[int] = frozenset()
    low: bool = False
    last: int = -1


class Steps(Lines):
    """Reads the trees of one file."""

    @cached_property
    def cudas(self) -> frozenset[int]:
        """The tokens that are CUDA's cross-lane operations."""
        return frozenset(tokens(self.unit, LANE_OPERATIONS))

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
        body = s.body.body if isinstance(s.body, Block) else (s.body,)
        first: Gone | None = None
        distances: dict[str, set[int]] = {}
        for value in turns:
            gone = Gone()
            for x in body:
                nxt = self._statement(gone, x, self.assuming({s.init.name: value}))
                if nxt is None:
                    return None
                gone = nxt
            first = first or gone
            for name, (_, done) in gone.done.items():
                if len(done) != 1 or not distances.setdefault(name, set()).isdisjoint(done):
                    return None
                distances[name] |= done
        if first is None or not distances or any(x != DISTANCES for x in distances.values()):
            return None
        found = tuple(r for r, _ in first.done.values())
        return Reduction(s.at, last, found, 1, first.shuffles, first.low)

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
        gone = Gone()
        for i in range(k, len(body)):
            nxt = self._statement(gone, body[i], self)
            if nxt is None:
                return None
            gone = nxt
            if i - k > _MOST_STATEMENTS:
                return None
            if gone.done and all(x == DISTANCES for _, x in gone.done.values()):
                if gone.asides and not self._unused(gone.asides, body[i + 1 :]):
                    return None  # what came from one other lane is used again
                s = body[k]
                first = s.at if isinstance(s, Eval) else self._start(s)
                found = tuple(r for r, _ in gone.done.values())
                return Reduction(first, gone.last, found, i + 1 - k, gone.shuffles, gone.low)
        return None

    @staticmethod
    def _unused(names: Mapping[str, Moved], body: Sequence[Stmt]) -> bool:
        """Whether statements name no variable of some."""
        return not any(isinstance(x, Name) and x.text in names for s in body for x in expressions(s))

    def _statement(self, gone: Gone, s: Stmt, numbers: Numbers) -> Gone | None:
        """What has been done after one more statement of a ladder; None if it is none. `numbers`: constants there, and
        the loop's variable."""
        place = _Place(self, numbers, gone)
        if isinstance(s, Decl):
            if s.init is None or s.dims or s.pointer or self.unit.tok(s.at - 1) in ("&", "*", "&&"):
                return None
            moved = place.moved(s.init)
            typ = declared_type(self.unit, s.at) or "?"
            return None if moved is None or self.casts(s.at, s.at) else place.aside(s.name, moved, typ)
        e = s.expr if isinstance(s, Eval) and s.end >= 0 else None
        if isinstance(e, Name) and gone.done and e.text not in self.unit.macros:  # (void)lane; changes nothing
            return _with(gone, last=s.end if isinstance(s, Eval) else -1)
        if isinstance(e, Assign) and isinstance(e.target, Name) and e.target.text in gone.asides and e.op == "=":
            moved = place.moved(e.value)
            known = gone.asides[e.target.text].types
            return None if moved is None else place.aside(e.target.text, moved, *known)
        got = read_step(place, s)
        last = self.end(s)
        if got is None or last < 0 or self.casts(s.at, last):
            return None
        return place.combined(got, last)

    # --- shuffles and functions of one line -------------------------------------------------------------------------

    def shuffled(self, e: Expr, numbers: Numbers, inside: bool = False) -> Moved | None:
        """The value that a shuffle of the whole warp moves, by itself or through a function of one line. `inside`: in
        such a function."""
        if not isinstance(e, CallExpr):
            return None
        if callee(e) not in _SHUFFLES:
            return None if inside else self._of_wrapper(e, numbers)
        if e.at not in self.cudas and not (
            isinstance(e.callee, Member) and len(e.args) == 2 and is_tile(self.unit, self.number, e.callee.base)
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
        return _through(got, line.types_of({moved.text}))

    # --- text and places --------------------------------------------------------------------------------------------

    def comments(self, first: int, last: int) -> list[str]:
        """The comments between tokens, as whole lines or in brackets."""
        unit = self.unit
        gaps = (unit.text[unit.end(k) : unit.p[k + 1]] for k in range(first, last) if unit.in_directive(k) is None)
        found = [x for gap in gaps for x in _COMMENT.findall(gap)]
        alone = "\n" in unit.text[unit.p[first] : unit.end(last)]
        return [x if alone or x.startswith("/*") else f"/* {x[2:].strip()} */" for x in found]

    def is_hint(self, e: Expr) -> bool:
        """Whether a name tells the compiler how to unroll the loop behind it, as its macro or its name says."""
        if not isinstance(e, Name) or e.targs or e.qualified:
            return False
        ms = self.unit.macros.get(e.text, ())
        if ms:
            return all(m.params is None and self.unit.tok(m.first) == "_Pragma" for m in ms)
        return _HINT.match(e.text) is not None

    def in_place(self, r: Reduction) -> Edit:
        """The calls that stand for the statements of a reduction. Raises Refused where it cannot be told what stands
        before them."""
        unit = self.unit
        first, start, end = r.first, unit.p[r.first], unit.end(r.last)
        if unit.in_directive(first - 1) is None and self.is_hint(Name(first - 1, unit.tok(first - 1))):
            first, start = first - 1, unit.p[first - 1]
        line = unit.text.rfind("\n", 0, start) + 1
        indent = unit.text[line:start]
        alone = not indent.strip()
        before = unit.in_directive(first - 1)
        if before is None and unit.tok(first - 1) not in (";", "{", "}"):
            lone = len(r.found) == 1 and unit.tok(first - 1) == ")"
            if not lone or unit.tok(unit.match[first - 1] - 1) not in ("if",):
                raise Refused(first, "something stands before the loop that is not understood")
        gap = "\n" + indent if alone else " "
        head: tuple[str, ...] = ()
        while before is not None and "unroll" in unit.t[before.first : before.stop] and alone:
            start = unit.text.rfind("\n", 0, before.start) + 1
            head = (indent,)
            before = unit.in_directive(before.first - 1) if before.first else None
        out: list[str | Span] = [*head, *(x + gap for x in self.comments(r.first, r.last))]
        for n, f in enumerate(r.found):
            out += [gap] if n else []
            out += [f"{f.name} = {SPACE}{f.call[0]}", *f.call[1:], ";"]
        return Edit(start, end, tuple(out))

    def _start(self, s: Stmt) -> int:
        """The first token of a statement."""
        at = s.at
        while at > 0 and self.unit.t[at - 1] not in (";", "{", "}", ")") and self.unit.in_directive(at - 1) is None:
            at -= 1
        return at

    def end(self, s: Stmt) -> int:
        """The last token of a `for` or an `if` whose end is certain, else -1."""
        unit = self.unit
        if isinstance(s, (Loop, If)):
            k = s.at + 1
            if unit.tok(k) != "(" or unit.match[k] < 0 or (isinstance(s, If) and s.other is not None):
                return -1
            k = unit.match[k] + 1
            if unit.in_directive(k) is not None:
                return -1
            if unit.tok(k) == "{":
                return unit.match[k]
            inner = s.body if isinstance(s, Loop) else s.then
            return self.end(inner)
        return s.end if isinstance(s, Eval) else -1


class _Place:
    """A place in a ladder, for the rows of the table to ask of."""

    def __init__(self, steps: Steps, numbers: Numbers, gone: Gone) -> None:
        self.steps, self.numbers, self.gone = steps, numbers, gone
        self.used: list[Moved] = []
        self.types: frozenset[str] = frozenset()

    def same(self, a: Expr, b: Expr) -> bool:
        return self.steps.same(a, b)

    def moved(self, e: Expr) -> Moved | None:
        """What another lane has, as an expression gives it: a shuffle of a variable that this step has not set yet."""
        if isinstance(e, Name) and e.text in self.gone.asides and not (e.targs or e.qualified):
            return self.gone.asides[e.text]
        got = self.steps.shuffled(e, self.numbers)
        if got is None or not isinstance(got.of, Name) or got.distance not in DISTANCES:
            return None
        return got

    def is_other(self, e: Expr, v: Name) -> bool:
        got = self.moved(e)
        if got is None or not self.steps.same(got.of, v):
            return False
        self.used.append(got)
        return True

    def function(self, e: CallExpr) -> tuple[str, Parts] | None:
        got = self.steps.function(e)
        if got is None:
            return None
        self.types |= got[2]
        return got[:2]

    def aside(self, name: str, moved: Moved, *types: str) -> Gone | None:
        """With a variable that holds what another lane has."""
        of = moved.of
        if not isinstance(of, Name) or name == of.text or name in self.gone.done:
            return None
        held = _through(moved, frozenset(types) - {"auto"})
        return _with(self.gone, asides={**self.gone.asides, name: held})

    def combined(self, got: Combined, last: int) -> Gone | None:
        """With a variable that was put together with another lane's value."""
        distances = {m.distance for m in self.used}
        name, gone = got.target.text, self.gone
        if len(distances) != 1 or None in distances or name in gone.asides:
            return None
        types = self.types.union(*(m.types for m in self.used))
        one = Reduced(name, got.target.at, got.op, got.call, types)
        before, done = gone.done.get(name, (one, frozenset[int]()))
        now = frozenset(x for x in distances if x is not None)
        alike = (before.op, self._text(before.call)) == (one.op, self._text(one.call))
        if not alike or not done.isdisjoint(now):
            return None
        merged = Reduced(name, before.at, before.op, before.call, before.types | types)
        asides = {n: _stale(m) if self.steps.same(m.of, got.target) else m for n, m in gone.asides.items()}
        return Gone(
            {**gone.done, name: (merged, done | now)},
            asides,
            gone.shuffles.union(*(m.at for m in self.used)),
            gone.low or any(m.low for m in self.used),
            last,
        )

    def _text(self, call: Parts) -> str:
        text = self.steps.unit.text
        return "".join(x if isinstance(x, str) else text[x.start : x.end] for x in call)


def _with(gone: Gone, last: int = -1, asides: Mapping[str, Moved] | None = None) -> Gone:
    return replace(gone, asides=gone.asides if asides is None else asides, last=max(last, gone.last))


def _through(m: Moved, types: frozenset[str]) -> Moved:
    """A value that goes through a variable or a function."""
    return Moved(m.of, m.distance, m.at, m.low, m.types | types)


def _stale(m: Moved) -> Moved:
    """A value that has been used: no other step may use it again."""
    return Moved(Num(-1, None), None, m.at, m.low, m.types)


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


def callee_of(e: Expr) -> str:
    """The name of what an expression calls; "" if it is no call."""
    return callee(e) if isinstance(e, CallExpr) else ""


def is_whole(steps: Steps, e: Expr) -> bool:
    """Whether `tiled_partition<N>(...)` makes tiles of a warp."""
    return isinstance(e, CallExpr) and isinstance(e.callee, Name) and [steps.number(x) for x in e.callee.targs] == [32]
