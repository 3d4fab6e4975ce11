"""Functions that put several values of each thread together, behind a pointer: over a warp, or over a block.

A function is matched as a whole, statement by statement; nothing in it is left unread. Over a warp:

    for (i < N) for (o = 16; o > 0; o >>= 1) v[i] += shfl_xor(v[i], o);

Over a block: that, a slot for each warp and value, a barrier, the slots in the lanes that have a warp, and that again.
Its caller gets what counts in the first thread or the first warp alone.
"""

from __future__ import annotations

from typing import Any

from cu2port.model import Edit, Span
from cu2port.unit import Unit
from cu2port.warp.model import Device
from cu2port.warp.native.groups import is_barrier
from cu2port.warp.native.idioms import Idioms, Refused
from cu2port.warp.native.lanes import IDEMPOTENT, Here, Listed, Look, Summary
from cu2port.warp.native.numbers import is_identity
from cu2port.warp.native.types import declared_type, is_integer
from cu2port.warp.native.values import Kind, T
from cu2port.warp.native.walk import Walk
from cu2port.warp.tree import (
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
    Name,
    Num,
    Stmt,
    Ternary,
    Unary,
    callee,
    walk,
)


class Lists:
    """One function whose only parameter is a pointer."""

    def __init__(self, unit: Unit, idioms: Idioms, d: Device, look: Look) -> None:
        self.unit, self.idioms, self.d, self.look = unit, idioms, d, look
        self.list = d.params[0].name if len(d.params) == 1 and d.params[0].pointer else ""
        self.walk = Walk(unit, idioms, d, look)
        self.number = ""  # how many values, as text
        self.array: Decl | None = None
        self.by_warp = False  # its first index is the warp
        self.mask: dict[str, Expr] = {}  # variables that say whether a lane has a warp
        self.op = ""
        self.sites: list[CallExpr] = []

    def summary(self) -> Summary | None:
        """What the function does, if it is one of these. Raises Refused where a part of it stands in the way."""
        words = self.unit.t[self.d.fn.params[0] : self.d.fn.params[1]]
        if not self.list or self.d.kernel or "const" in words or "volatile" in words or "**" in "".join(words):
            return None
        self.walk._look_before()
        if self.walk.rows:
            return None
        for p in self.d.tparams:
            self.walk.env[p.name] = T(Kind.SAME, uniform=True)
        body = self._statements(self.d.body)
        if body and isinstance(body[-1], Jump) and body[-1].kind == "return" and self._is_constant(body[-1].value):
            body = body[:-1]
        if len(body) == 1 and (got := self._over_warp(body[0])) is not None:
            return Summary(T(Kind.PART, got.op), meets=True, lists=got)
        return self._over_block(body)

    def _is_constant(self, e: Expr | None) -> bool:
        types = {p.name for p in self.d.tparams}
        return e is None or not any(
            (isinstance(x, CallExpr) and callee(x) not in types)
            or (isinstance(x, Name) and x.text in (self.list, *self.walk.own) and x.text not in types)
            for x in walk(e)
        )

    def _statements(self, s: Stmt) -> list[Stmt]:
        """The statements of a block, without those that say how to unroll a loop."""
        body = s.body if isinstance(s, Block) else (s,)
        return [x for x in body if not (isinstance(x, Eval) and x.end < 0 and self.idioms.is_hint(x.expr))]

    def _each(self, s: Stmt) -> tuple[str, Stmt] | None:
        """`for (int i = 0; i < N; i++) one statement`: i and the statement."""
        if not isinstance(s, Loop) or s.kind != "for" or not isinstance(s.init, Decl) or s.init.init is None:
            return None
        i, c, step = s.init.name, s.cond, s.step
        if self.idioms.fold(s.init.init) != 0 or not (isinstance(c, Binary) and c.op == "<" and _is(c.a, i)):
            return None
        if not (isinstance(step, Unary) and step.op in ("++", "p++") and _is(step.x, i)):
            return None
        number = self.unit.t[c.b.at] if isinstance(c.b, (Name, Num)) else ""
        known = isinstance(c.b, Num) or number in {p.name for p in self.d.tparams}
        if not known or (self.number and number != self.number):
            return None
        body = self._statements(s.body)
        if len(body) != 1:
            return None
        self.number = number
        return i, body[0]

    # --- over a warp ----------------------------------------------------------------------------------------------

    def _over_warp(self, s: Stmt) -> Listed | None:
        got = self._each(s)
        if got is None:
            return None
        i, inner = got
        value = f"{self.list}[{i}]"
        r = self.idioms.reduction([_renamed(inner, self.list, i)], 0)
        if r is None or r.size != 1 or [f.name for f in r.found] != [value]:
            return None
        names = [p.name for p in self.d.tparams]
        at = names.index(self.number) if self.number in names else -1
        return Listed(r.found[0].op, value, r.found[0].call, at, self.number)

    # --- over a block ---------------------------------------------------------------------------------------------

    def _over_block(self, body: list[Stmt]) -> Summary | None:
        steps = [self._reduced, self._stored, self._barrier, self._gathered, self._reduced]
        k = 0
        for s in body:
            if isinstance(s, Decl):
                if not self._declared(s):
                    return None
            elif k < len(steps) and steps[k](s):
                k += 1
            else:
                return None
        if k < len(steps) or self.array is None:
            return None
        kind = declared_type(self.unit, self.d.params[0].at)
        if not kind or kind != declared_type(self.unit, self.array.at):
            raise Refused(self.array.at, f"`{self.array.name}` has another type than the values")
        return Summary(T(Kind.SAME), self.walk.edits, meets=True, lends=True, syncs=True)

    def _declared(self, s: Decl) -> bool:
        if s.shared:
            if self.array is not None or len(s.dims) != 2 or s.init is not None:
                return False
            self.array = s
            return True
        if s.init is None or s.dims or s.pointer or self.unit.tok(s.at - 1) == "&":
            return False
        t = self.walk._of_lanes(s.init)
        if t is not None and t.kind in (Kind.LANE, Kind.WARP):
            self.walk.env[s.name] = t
            return True
        tag, edits = self.walk._condition(s.init, Here())
        if tag != "slots" or self.unit.tok(s.at - 1) not in ("bool", "auto"):
            return False
        self.walk.edits.update(edits)
        self.mask[s.name] = s.init
        return True

    def _reduced(self, s: Stmt) -> bool:
        """A call of the function that puts the list together over the warp."""
        e = s.expr if isinstance(s, Eval) and s.end >= 0 else None
        if not (isinstance(e, CallExpr) and isinstance(e.callee, Name) and not e.callee.qualified):
            return False
        own = self.look(callee(e))
        listed = own.lists if own is not None else None
        call = self.unit.call(e.at)
        if listed is None or call is None or len(e.args) != 1 or not _is(e.args[0], self.list):
            return False
        number = listed.number
        if listed.position >= 0:
            given = e.callee.targs
            if len(given) <= listed.position or not isinstance(given[listed.position], (Name, Num)):
                return False
            number = self.unit.t[given[listed.position].at]
        if (self.op and self.op != listed.op) or (self.number and self.number != number):
            return False
        self.op, self.number = listed.op, number
        first = listed.call[0]
        assert isinstance(first, str)
        text = first.replace(listed.value, f"{self.list}[i]", 1)
        start, end = self.unit.p[e.at], self.unit.end(s.end) if isinstance(s, Eval) else -1
        line = self.unit.text.rfind("\n", 0, start) + 1
        indent = self.unit.text[line:start]
        hint = "#pragma unroll\n" + indent if not indent.strip() else ""
        head = f"{hint}for (int i = 0; i < {number}; i++) {self.list}[i] = cu2port::wave::{text}"
        self.walk.edits[start, end] = Edit(start, end, (head, *listed.call[1:], ";"))
        return True

    def _stored(self, s: Stmt) -> bool:
        """`if (lane == 0) for (i < N) slots[i][warp] = v[i];`"""
        if not isinstance(s, If) or s.other is not None:
            return False
        tag, edits = self.walk._condition(s.cond, Here())
        inner = self._statements(s.then)
        got = self._each(inner[0]) if len(inner) == 1 else None
        if tag != "leader" or got is None or self.array is None:
            return False
        self.walk.edits.update(edits)
        i, one = got
        e = one.expr if isinstance(one, Eval) else None
        if not (isinstance(e, Assign) and e.op == "=" and _is_element(e.value, self.list, i)):
            return False
        places = self._places(e.target)
        if places is None:
            return False
        a, b = places
        self.by_warp = _is(b, i)
        warp = a if self.by_warp else b
        edits = self.walk._warp(warp) or {}
        if not _is(b if self.by_warp else a, i) or self.walk._warp(warp) is None:
            return False
        self.walk.edits.update(edits)
        return True

    def _places(self, e: Expr) -> tuple[Expr, Expr] | None:
        """The indices of an element of the slots."""
        if not (isinstance(e, Index) and isinstance(e.base, Index) and self.array is not None):
            return None
        return (e.base.inner, e.inner) if _is(e.base.base, self.array.name) else None

    def _barrier(self, s: Stmt) -> bool:
        return isinstance(s, Eval) and is_barrier(self.unit, s.expr)

    def _gathered(self, s: Stmt) -> bool:
        """`for (i < N) v[i] = has_warp ? slots[i][lane] : 0;`"""
        got = self._each(s)
        e = got[1].expr if got is not None and isinstance(got[1], Eval) else None
        if got is None or not (isinstance(e, Assign) and e.op == "=" and _is_element(e.target, self.list, got[0])):
            return False
        v = e.value
        if not isinstance(v, Ternary):
            return False
        cond = self.mask.get(v.cond.text) if isinstance(v.cond, Name) else None
        if cond is None:
            tag, edits = self.walk._condition(v.cond, Here())
            if tag != "slots":
                return False
            self.walk.edits.update(edits)
        places = self._places(v.a)
        if places is None or self.array is None:
            return False
        lane, i = places if self.by_warp else places[::-1]
        edits = self.walk._lane(lane) or {}
        if not _is(i, got[0]) or self.walk._lane(lane) is None:
            return False
        self.walk.edits.update(edits)
        self._beyond(v, got[0])
        return True

    def _beyond(self, v: Ternary, i: str) -> None:
        """What lanes without a warp put in, as `Reductions._beyond` has it."""
        unit, other = self.unit, v.b
        assert self.array is not None
        if is_identity(unit, self.op, other):
            kind = declared_type(unit, self.array.at)
            if isinstance(other, Num) and other.value is None and is_integer(kind):
                raise Refused(other.at, "lanes without a warp have a value of another type")
            return
        if self.op not in IDEMPOTENT or not self.walk._plain(other).uniform:
            raise Refused(other.at, "lanes without a warp have a value that may count")
        before = self.walk._colon(v.at)
        last = before + 1
        while unit.t[last + 1] != ";":
            last = max(last + 1, unit.match[last + 1])
        start, end = unit.p[before + 1], unit.end(last)
        slot = f"{self.array.name}[0][{i}]" if self.by_warp else f"{self.array.name}[{i}][0]"
        self.walk.edits[start, end] = Edit(start, end, (f"(blockDim.x > 992 ? {slot} : ", Span(start, end), ")"))


def _is(e: Expr, name: str) -> bool:
    return isinstance(e, Name) and e.text == name and not e.qualified and not e.targs


def _is_element(e: Expr, name: str, i: str) -> bool:
    return isinstance(e, Index) and _is(e.base, name) and _is(e.inner, i)


def _renamed(node: Any, name: str, i: str) -> Any:
    """A tree in which the element `name[i]` is a variable."""
    if isinstance(node, Index) and _is_element(node, name, i):
        return Name(node.base.at, f"{name}[{i}]")
    if isinstance(node, tuple):
        kids = [_renamed(x, name, i) for x in node]
        return type(node)(*kids) if hasattr(node, "_fields") else tuple(kids)
    return node
