"""Loops of kernels with a row for each warp: over the elements of a row, over rows, and others."""

from __future__ import annotations

from cu2port.warp.native.idioms import Refused
from cu2port.warp.native.lanes import IDEMPOTENT
from cu2port.warp.native.numbers import is_identity
from cu2port.warp.native.row_lanes import ELEMENT, MIXED, NARROW, ROW, Kind, T
from cu2port.warp.native.row_stores import RowStores
from cu2port.warp.native.types import declared_type
from cu2port.warp.native.values import SPACE
from cu2port.warp.tree import (
    Assign,
    Binary,
    Block,
    Decl,
    Eval,
    Expr,
    Jump,
    Loop,
    Name,
    Num,
    Other,
    Stmt,
    Unary,
    statements,
)


class RowLoops(RowStores):
    """Loops in the walk over one kernel. Raises Refused."""

    def _statement(self, s: Stmt) -> None:
        raise NotImplementedError

    def _joined(self, a: T, b: T) -> T:
        if a == b:
            return a
        for x, y in ((a, b), (b, a)):
            if x.kind is Kind.PART and y.kind is Kind.ROW:
                if x.op in IDEMPOTENT or (y.node is not None and is_identity(self.unit, x.op, y.node)):
                    return x
                return MIXED
            if x.kind is Kind.ROW and y.kind is Kind.ELEMENT:
                return ELEMENT
        return T(a.kind) if a.kind is b.kind and a.op == b.op and not a.number else MIXED

    def _loop(self, s: Loop) -> None:
        if self.leader:
            raise Refused(s.at, "a loop of one lane")
        if not self.inside and self._over_rows(s):
            return
        if not self.inside and self._over_lanes(s):
            return
        if not self.inside and (item := self._over_items(s)):
            self._elements(s, s.body, item, T(Kind.ITEM))
            return
        inits = s.init.body if isinstance(s.init, Block) else (s.init,) if s.init is not None else ()
        old = {x.name: self.env.get(x.name) for x in inits if isinstance(x, Decl)}
        for x in inits:
            self._statement(x)
        self.loops += 1
        for _ in range(4):
            before = dict(self.env)
            t = self._plain(s.cond) if s.cond is not None else ROW
            if t.kind is Kind.ELEMENT and not self.inside:
                raise Refused(s.at, "some lanes may leave the loop before others")
            self._statement(s.body)
            for step in (s.step.parts if isinstance(s.step, Other) else (s.step,)) if s.step is not None else ():
                self._step(step)
            for name in self.env.keys() | before.keys():
                self.env[name] = self._joined(self.env.get(name, MIXED), before.get(name, MIXED))
            if self.env == before:
                break
        else:
            raise Refused(s.at, "a loop that does not settle")
        self.loops -= 1
        for name, was in old.items():
            self.env.pop(name)
            if was is not None:
                self.env[name] = was

    def _step(self, e: Expr) -> None:
        if isinstance(e, Assign):
            self._assigned(e)
            return
        if not (isinstance(e, Unary) and isinstance(e.x, Name)):
            raise Refused(e.at, "a loop that is not understood")
        t = self._plain(e.x)
        self.memory.version[e.x.text] = e.at
        self.memory.element.pop(e.x.text, None)
        if self.inside and e.x.text not in self.local:
            raise Refused(e.at, f"`{e.x.text}` is changed by the lane that comes to an element")
        self.env[e.x.text] = T(t.kind)

    def _over_lanes(self, s: Loop) -> bool:
        """`for (i = lane; i < n; i += 32)`; from a place of the row on, in steps of several elements, as `while`."""
        i, start = self._from(s)
        if start is None:
            return False
        body, step = s.body, s.step
        if s.kind == "while" and isinstance(body, Block) and body.body:
            last = body.body[-1]
            step = last.expr if isinstance(last, Eval) else None
            body = Block(body.at, body.body[:-1])
        if s.kind == "do" or s.cond is None or any(leaves(x) for x in statements(body) if s.kind == "while"):
            raise Refused(s.at, "a loop over lanes that is not understood")
        if not (
            isinstance(step, Assign) and step.op == "+=" and isinstance(step.target, Name) and step.target.text == i
        ):
            raise Refused(s.at, "a loop over lanes that is not understood")
        if not self._is_below(s.cond, i) or not self._strides(step.value, start):
            raise Refused(s.at, "a loop over lanes that is not understood")
        self.spots.add(step.target.at)
        self.names.add(i)
        kind = declared_type(self.unit, s.init.at) if isinstance(s.init, Decl) else self.types.get(i, "")
        first = self.unit.t[s.at : step.at] if kind == "auto" else ()
        if not self._is_wide(kind) or not NARROW.isdisjoint(first):
            raise Refused(s.at, f"`{i}` may be too narrow")
        self._elements(s, body, i, start)
        return True

    def _elements(self, s: Loop, body: Stmt, i: str, t: T) -> None:
        """The body of a loop over a row's elements; `t`: where a lane starts, or the number among what it holds."""
        was, outer, around = self.env.get(i), set(self.local), self.loops
        self.names.add(i)
        self.inside, self.loops = True, 0
        if t.kind is Kind.ITEM:
            assert isinstance(s.cond, Binary)
            self.item, self.held, kind = i, str(self.memory.form(s.cond.b)), t
        else:
            self.memory.element[i], kind = t.op, ELEMENT
        self.env[i] = kind
        for _ in range(3):
            before = dict(self.env)
            self._statement(body)
            for name in self.env.keys() | before.keys():
                self.env[name] = self._joined(self.env.get(name, MIXED), before.get(name, MIXED))
            if self.env[i] != kind or not (self.item or (s.cond is not None and self._is_below(s.cond, i))):
                raise Refused(s.at, f"`{i}` or its bound is changed in the loop")
            if self.env == before:
                break
        else:
            raise Refused(s.at, "a loop that does not settle")
        for name in self.local - outer:
            self.memory.element.pop(name, None)
        self.inside, self.local, self.loops, self.item = False, outer, around, ""
        self.memory.element.pop(i, None)
        if isinstance(s.init, Decl):
            self.env.pop(i)
            if was is not None:
                self.env[i] = was
        else:
            self.env[i] = MIXED

    def _from(self, s: Loop) -> tuple[str, T | None]:
        """The variable of a loop over lanes, and where it starts; None if it is no such loop."""
        if isinstance(s.init, Decl):
            start = self._start(s.init.init) if s.init.init is not None else None
            if start is not None:
                self.spots.add(s.init.at)
            return s.init.name, start
        if isinstance(s.init, Eval) and isinstance(s.init.expr, Assign) and isinstance(s.init.expr.target, Name):
            target = s.init.expr.target
            start = self._start(s.init.expr.value) if s.init.expr.op == "=" else None
            if start is not None:
                self.spots.add(target.at)
            return target.text, start
        c = s.cond
        if s.init is not None or not isinstance(c, Binary) or not isinstance(c.a, Name):
            return "", None
        t = self.env.get(c.a.text, MIXED)
        return c.a.text, self._start(c.a) if t.kind in (Kind.LANE, Kind.START) else None

    def _is_below(self, e: Expr, i: str) -> bool:
        """`i < n`, `n > i`, `i + k < n`: whether the loop goes on for elements up to a place of the row."""
        if not isinstance(e, Binary):
            return False
        if e.op == "&&":
            return self._is_below(e.a, i) and self._is_below(e.b, i)
        if e.op not in ("<", "<=", ">", ">="):
            return False
        low, high = (e.a, e.b) if e.op[0] == "<" else (e.b, e.a)
        if isinstance(low, Binary) and low.op == "+" and (self._number(low.b) or -1) >= 0:
            self._plain(low.b)  # more than that may wrap round, so that some lanes leave at once
            low = low.a
        if not (isinstance(low, Name) and low.text == i) or self._plain(high).kind is not Kind.ROW:
            return False
        self.spots.add(low.at)
        return True

    def _strides(self, e: Expr, start: T) -> bool:
        """Whether a loop's variable goes on by all lanes: by 32 times what is between two of them."""
        between = start.op.partition("|")[0]
        if not between:
            return self._special(e, Kind.SIZE)
        if between.isdigit() and isinstance(e, (Num, Name)) and self._number(e) == 32 * int(between):
            return self._size(e, 32 * int(between), f"({SPACE}size() * {between})")
        if isinstance(e, Binary) and e.op == "*":
            for a, b in ((e.a, e.b), (e.b, e.a)):
                if self._between(b) == between and self._special(a, Kind.SIZE):
                    return self._plain(b).kind is Kind.ROW
        return False

    def _over_rows(self, s: Loop) -> bool:
        """`for (row = ...; row < n; row += all warps)`: each row is done once, whatever the number of wavefronts."""
        if (
            s.kind != "for"
            or not isinstance(s.init, Decl)
            or s.init.init is None
            or self.rows
            or self.over
            or self.loops
        ):
            return False
        c, step, row = s.cond, s.step, s.init.name
        init = s.init.init
        known = isinstance(init, Name) and self.env.get(init.text, MIXED).number
        if not known and not self._sure(lambda: self._is_row(init)):
            return False
        self.seen = True
        if known and isinstance(init, Name):
            self.spots.add(init.at)
        if not (isinstance(c, Binary) and c.op == "<" and isinstance(c.a, Name) and c.a.text == row):
            raise Refused(s.at, "a loop over rows that is not understood")
        if not (
            isinstance(step, Assign) and step.op == "+=" and isinstance(step.target, Name) and step.target.text == row
        ):
            raise Refused(s.at, "a loop over rows that is not understood")
        if self._plain(c.b).kind is not Kind.ROW or not self._is_total(step.value):
            raise Refused(s.at, "a loop over rows that is not understood")
        self.spots |= {s.init.at, c.a.at, step.target.at}
        self.names.add(row)
        outside = set(self.env)
        self.changed.clear()
        self.env[row] = T(Kind.ROW)
        self.rows = self.strided = self.striding = True
        for _ in range(4):
            before = dict(self.env)
            self._statement(s.body)
            for name in self.env.keys() | before.keys():
                self.env[name] = self._joined(self.env.get(name, MIXED), before.get(name, MIXED))
            if self.env == before:
                if carried := sorted(self.changed & outside):
                    raise Refused(s.at, f"`{carried[0]}` goes from one row to the next that its warp does")
                self.rows, self.over, self.striding = False, True, False
                return True
        raise Refused(s.at, "a loop that does not settle")


def leaves(s: Stmt) -> bool:
    """Whether a statement goes to a loop's next turn, past what stands at its end."""
    return isinstance(s, Jump) and s.kind == "continue"
