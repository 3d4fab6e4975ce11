"""CUDA's ways to write a reduction over a warp."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from cu2port.model import Edit, Span
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.native.groups import is_tile
from cu2port.warp.native.numbers import Numbers
from cu2port.warp.native.types import declared_type
from cu2port.warp.native.values import SPACE
from cu2port.warp.tree import (
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
    Stmt,
    Ternary,
    callee,
    expressions,
)
from cu2port.warpnames import tokens

_FULL = 0xFFFFFFFF
_HINT = re.compile(r"\w*(?:UNROLL|Unroll|unroll)\w*\Z")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STEPS = {"__shfl_xor_sync": "xor", "__shfl_down_sync": "down", "__shfl_xor": "xor", "__shfl_down": "down",
          "shfl_xor": "xor", "shfl_down": "down"}  # fmt: skip
_OPERATORS = {"+": "add", "*": "mul", "|": "or", "&": "and", "^": "xor"}
CALLS = {
    **dict.fromkeys(("max", "fmaxf", "fmax", "umax", "__hmax"), "max"),
    **dict.fromkeys(("min", "fminf", "fmin", "umin", "__hmin"), "min"),
    **dict.fromkeys(("__hadd", "add"), "add"),
}


class Refused(Exception):  # noqa: N818 - no error: the code stays as it is
    """A place that native code cannot be proven right for."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at, self.why = at, why


@dataclass(frozen=True, slots=True)
class Reduced:
    """One variable that a statement reduces over the warp. `parts`: what follows `wave::` instead."""

    name: str
    at: int
    op: str
    call: tuple[str | Span, ...]
    aside: str = ""  # the type of the variable that holds the other lane's value, if there is one


@dataclass(frozen=True, slots=True)
class Reduction:
    """Statements [first token, last token] that reduce variables over the warp; `size`: how many statements;
    `shuffles`: the tokens of the cross-lane operations in it."""

    first: int
    last: int
    found: tuple[Reduced, ...]
    size: int
    shuffles: frozenset[int]
    low: bool = False  # only lane 0 has it, as `shfl_down` leaves it


class Idioms(Numbers):
    """Matches over the trees of one file."""

    @cached_property
    def cudas(self) -> frozenset[int]:
        """The tokens that are CUDA's cross-lane operations."""
        return frozenset(tokens(self.unit, LANE_OPERATIONS))

    # --- reductions -----------------------------------------------------------------------------------------------

    def reduction(self, body: Sequence[Stmt], k: int) -> Reduction | None:
        """The reduction over a whole warp that starts with a statement of a list."""
        s = body[k]
        if isinstance(s, Loop):
            return self._loop(s)
        return self._unrolled(body, k)

    def _loop(self, s: Loop) -> Reduction | None:
        if s.kind != "for" or not isinstance(s.init, Decl) or s.init.init is None or s.cond is None or s.step is None:
            return None
        o = s.init.name
        first = self.number(s.init.init)
        if not self._walks(o, first, s.cond, s.step):
            return None
        body = s.body.body if isinstance(s.body, Block) else (s.body,)
        found: list[Reduced] = []
        shuffles: set[int] = set()
        k = 0
        while k < len(body):
            got = self._step(body, k, o)
            if got is None:
                return None
            one, size, _, _, at = got
            found.append(one)
            shuffles |= at
            k += size
        last = self.end(s)
        if not found or len({f.name for f in found}) < len(found) or last < 0:
            return None
        return Reduction(s.at, last, tuple(found), 1, frozenset(shuffles), self._is_low(shuffles))

    def _walks(self, o: str, first: int | None, cond: Expr, step: Expr) -> bool:
        """Whether a loop's variable takes just the values 16, 8, 4, 2, 1, in this order or the other."""

        def is_o(e: Expr) -> bool:
            return isinstance(e, Name) and e.text == o

        change = ""
        if isinstance(step, Assign) and is_o(step.target):
            op, by = step.op.removesuffix("="), step.value
            if not op and isinstance(by, Binary) and is_o(by.a):
                op, by = by.op, by.b
            change = f"{op}{self.fold(by)}"
        bound: int | None = None
        if isinstance(cond, Binary) and is_o(cond.a):
            bound = self.number(cond.b)
        if change in (">>1", "/2") and first == 16:
            if is_o(cond):
                return True
            if isinstance(cond, Binary) and cond.op in ("<", "<=") and is_o(cond.b):
                return (cond.op, self.fold(cond.a)) in (("<", 0), ("<=", 1))
            return isinstance(cond, Binary) and (cond.op, bound) in ((">", 0), (">=", 1), ("!=", 0))
        if change in ("<<1", "*2") and first == 1:
            return isinstance(cond, Binary) and (cond.op, bound) in (("<", 32), ("<=", 16), ("<=", 31), ("<", 17))
        return False

    def _unrolled(self, body: Sequence[Stmt], k: int) -> Reduction | None:
        """Five statements, one for each distance."""
        seen: dict[int, None] = {}
        shuffles: set[int] = set()
        head: Reduced | None = None
        i, last = k, -1
        while i < len(body) and len(seen) < 5:
            got = self._step(body, i, "")
            if got is None:
                return None
            one, size, distance, last, at = got
            if distance not in (16, 8, 4, 2, 1) or distance in seen:
                return None
            if head is not None and (one.name, one.op, one.aside) != (head.name, head.op, head.aside):
                return None
            head = head or one
            seen[distance] = None
            shuffles |= at
            i += size
        if head is None or len(seen) < 5 or last < 0:
            return None
        s = body[k]
        first = s.at if isinstance(s, Eval) else self._start(s)
        aside = {x.name for x in body[k:i] if isinstance(x, Decl)}
        if any(isinstance(x, Name) and x.text in aside for rest in body[i:] for x in expressions(rest)):
            return None  # what came from one other lane is used again
        return Reduction(first, last, (head,), i - k, frozenset(shuffles), self._is_low(shuffles))

    def _is_low(self, shuffles: set[int]) -> bool:
        """Whether a reduction with these operations leaves its result in lane 0 alone."""
        return any(_STEPS[self.unit.t[i]] == "down" for i in shuffles)

    def _step(
        self, body: Sequence[Stmt], k: int, o: str
    ) -> tuple[Reduced, int, int | None, int, frozenset[int]] | None:
        """`v += shfl(v, o)` or the like: what is reduced, the number of statements, the distance, the last token, the
        operations. `o`: the loop's variable, "" where distances are constants."""
        s = body[k]
        aside: Decl | None = None
        size = 1
        if isinstance(s, Decl) and s.init is not None and not s.dims and k + 1 < len(body):
            if self.unit.tok(s.at - 1) in ("&", "*") or s.pointer:
                return None
            aside, s, size = s, body[k + 1], 2
        shuffles: list[CallExpr] = []

        def other(e: Expr, v: Name) -> bool:
            """Whether an expression is the value that v has in the other lane."""
            if aside is not None:
                if not (isinstance(e, Name) and e.text == aside.name and not e.targs):
                    return False
                e = aside.init if aside.init is not None else e
            got = self._shuffle(e, o)
            if got is None or not self.same(got[0], v):
                return False
            shuffles.append(got[1])
            return True

        if isinstance(s, If) and aside is not None and s.other is None:  # if (other > v) v = other;
            inner = s.then.body[0] if isinstance(s.then, Block) and len(s.then.body) == 1 else s.then
            c = s.cond
            if not (isinstance(inner, Eval) and isinstance(inner.expr, Assign) and inner.expr.op == "="):
                return None
            v = inner.expr.target
            if not (isinstance(v, Name) and isinstance(c, Binary) and c.op in ("<", ">", "<=", ">=")):
                return None
            forward = self.same(c.a, v) and other(c.b, v)
            backward = not forward and self.same(c.b, v) and other(c.a, v)
            if not (forward or backward) or not other(inner.expr.value, v):
                return None
            less = c.op[0] == "<"
            op = "max" if less == forward else "min"
            sign = c.op if forward else {"<": ">", ">": "<"}[c.op[0]] + c.op[1:]
            call: tuple[str | Span, ...] = (f"reduce({v.text}, [](auto a, auto b) {{ return a {sign} b ? b : a; }})",)
            last = self.end(s)
        elif isinstance(s, Eval) and isinstance(s.expr, Assign) and isinstance(s.expr.target, Name):
            v, value = s.expr.target, s.expr.value
            got = self._combined(v, s.expr.op, value, other)
            if got is None:
                return None
            op, call = got
            last = s.end
        else:
            return None
        if last < 0 or not shuffles:
            return None
        distances = {self.number(self._distance(x)) for x in shuffles}
        at = frozenset(x.at for x in shuffles)
        distance = distances.pop() if len(distances) == 1 else None
        if not o and distance is None:
            return None
        typ = declared_type(self.unit, aside.at) or "?" if aside is not None else ""
        return Reduced(v.text, v.at, op, call, typ), size, distance, last, at

    def _combined(self, v: Name, sign: str, value: Expr, other: object) -> tuple[str, tuple[str | Span, ...]] | None:
        """The operation of an assignment to v, and the call that does it over a wavefront."""
        is_other = other
        assert callable(is_other)
        start = f"reduce({v.text}, [](auto a, auto b) {{ return "
        if sign != "=":
            op = _OPERATORS.get(sign.removesuffix("="))
            if op is None or not is_other(value, v):
                return None
            sign = sign.removesuffix("=")
        elif isinstance(value, Binary) and value.op in _OPERATORS:
            pair = (value.a, value.b)
            if not any(self.same(a, v) and is_other(b, v) for a, b in (pair, pair[::-1])):
                return None
            op, sign = _OPERATORS[value.op], value.op
        elif isinstance(value, CallExpr) and isinstance(value.callee, Name) and len(value.args) == 2:
            pair = (value.args[0], value.args[1])
            op = CALLS.get(value.callee.text)
            if op is None or not (self._is_known(value.callee) or value.callee.text == "add"):
                return None
            if not any(self.same(a, v) and is_other(b, v) for a, b in (pair, pair[::-1])):
                return None
            at = self.unit.qualifier(value.at) if value.callee.qualified else value.at
            text = Span(self.unit.p[at], self.unit.p[self._opener(value)])
            return op, (start, text, "(a, b); })")
        elif isinstance(value, Ternary) and isinstance(value.cond, Binary) and value.cond.op[0] in "<>":
            c = value.cond
            if c.op not in ("<", ">", "<=", ">="):
                return None
            forward = self.same(c.a, v) and is_other(c.b, v)
            if not forward and not (self.same(c.b, v) and is_other(c.a, v)):
                return None
            keeps = self.same(value.a, v) and is_other(value.b, v)
            if not keeps and not (self.same(value.b, v) and is_other(value.a, v)):
                return None
            x, y = ("a", "b") if forward else ("b", "a")
            yes, no = ("a", "b") if keeps else ("b", "a")
            op = "max" if (c.op[0] == ">") == (forward == keeps) else "min"
            return op, (f"{start}{x} {c.op} {y} ? {yes} : {no}; }})",)
        else:
            return None
        if op == "add":
            return op, (f"sum({v.text})",)
        return op, (f"{start}a {sign} b; }})",)

    def _opener(self, call: CallExpr) -> int:
        return self.unit.match[call.close]

    def _is_known(self, name: Name) -> bool:
        """Whether a function's name is CUDA's or the standard library's, not the file's."""
        if name.qualified and self.unit.tok(self.unit.qualifier(name.at)) not in ("std", "::"):
            return False
        return name.text not in self.unit.macros and not any(f.name == name.text for f in self.unit.functions)

    def _shuffle(self, e: Expr, o: str) -> tuple[Expr, CallExpr] | None:
        """The value that a shuffle of the whole warp moves by distance `o` (or by a constant)."""
        if not isinstance(e, CallExpr) or callee(e) not in _STEPS:
            return None
        if e.at not in self.cudas and not (
            isinstance(e.callee, Member) and len(e.args) == 2 and is_tile(self.unit, self.number, e.callee.base)
        ):
            return None
        args = list(e.args)
        if callee(e).endswith("_sync") and (not args or not self.full(args.pop(0))):
            return None
        if len(args) == 3 and self.number(args.pop()) != 32:
            return None
        if len(args) != 2:
            return None
        if o and not (isinstance(args[1], Name) and args[1].text == o):
            return None
        return args[0], e

    def _distance(self, e: CallExpr) -> Expr:
        return e.args[2 if callee(e).endswith("_sync") else 1]

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
            single = len(r.found) == 1 and unit.tok(first - 1) == ")"
            if not single or unit.tok(unit.match[first - 1] - 1) not in ("if",):
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

    # --- places ---------------------------------------------------------------------------------------------------

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


def callee_of(e: Expr) -> str:
    """The name of what an expression calls; "" if it is no call."""
    return callee(e) if isinstance(e, CallExpr) else ""


def is_whole(idioms: Idioms, e: Expr) -> bool:
    """Whether `tiled_partition<N>(...)` makes tiles of a warp."""
    return isinstance(e, CallExpr) and isinstance(e.callee, Name) and [idioms.number(x) for x in e.callee.targs] == [32]
