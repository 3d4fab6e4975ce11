"""Loops of kernels with a row for each warp: over the elements of a row, over rows, and others."""

from __future__ import annotations

from cu2port.warp.native.idioms import Refused
from cu2port.warp.native.lanes import IDEMPOTENT
from cu2port.warp.native.numbers import is_identity
from cu2port.warp.native.row_lanes import ELEMENT, MIXED, ROW, Kind, T
from cu2port.warp.native.row_stores import RowStores
from cu2port.warp.tree import Assign, Binary, Block, Decl, Expr, Loop, Name, Other, Stmt, Unary


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
        if self.inside and e.x.text not in self.local:
            raise Refused(e.at, f"`{e.x.text}` is changed by the lane that comes to an element")
        self.env[e.x.text] = T(t.kind)

    def _over_lanes(self, s: Loop) -> bool:
        """`for (i = lane; i < n; i += 32)`"""
        if s.kind != "for" or not isinstance(s.init, Decl) or s.init.init is None or s.step is None:
            return False
        i = s.init.name
        c, step = s.cond, s.step
        if not self._special(s.init.init, Kind.LANE):
            return False
        if not (isinstance(c, Binary) and c.op == "<" and isinstance(c.a, Name) and c.a.text == i):
            raise Refused(s.at, "a loop over lanes that is not understood")
        if not (
            isinstance(step, Assign) and step.op == "+=" and isinstance(step.target, Name) and step.target.text == i
        ):
            raise Refused(s.at, "a loop over lanes that is not understood")
        if self._plain(c.b).kind is not Kind.ROW or not self._special(step.value, Kind.SIZE):
            raise Refused(s.at, "a loop over lanes that is not understood")
        self.spots |= {s.init.at, c.a.at, step.target.at}
        self.names.add(i)
        was, outer = self.env.get(i), set(self.local)
        self.env[i] = ELEMENT
        self.inside = True
        self.memory.element.add(i)
        for _ in range(3):
            before = dict(self.env)
            self._statement(s.body)
            for name in self.env.keys() | before.keys():
                self.env[name] = self._joined(self.env.get(name, MIXED), before.get(name, MIXED))
            if self.env[i] != ELEMENT:
                raise Refused(s.at, f"`{i}` is changed in the loop")
            if self.env == before:
                break
        else:
            raise Refused(s.at, "a loop that does not settle")
        self.inside, self.local = False, outer
        self.memory.element.discard(i)
        self.env.pop(i)
        if was is not None:
            self.env[i] = was
        return True

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
        self.rows = self.strided = True
        for _ in range(4):
            before = dict(self.env)
            self._statement(s.body)
            for name in self.env.keys() | before.keys():
                self.env[name] = self._joined(self.env.get(name, MIXED), before.get(name, MIXED))
            if self.env == before:
                if carried := sorted(self.changed & outside):
                    raise Refused(s.at, f"`{carried[0]}` goes from one row to the next that its warp does")
                self.rows, self.over = False, True
                return True
        raise Refused(s.at, "a loop that does not settle")
