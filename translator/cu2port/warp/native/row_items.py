"""Rows of which each lane holds a fixed number of elements: `x[i]` is the element `lane + i * 32`, for i below N.

On more lanes the same elements are held by fewer turns of the loop: as many as hold N * 32 elements, with nothing in
the lanes above where N is odd. So `x[i]` is the element `lane + i * lanes`, and arrays of N are long enough.
"""

from __future__ import annotations

from cu2port.model import Edit, Span
from cu2port.warp.native.idioms import Refused
from cu2port.warp.native.row_lanes import ELEMENT, MIXED, Kind, RowLanes, T
from cu2port.warp.native.values import SPACE
from cu2port.warp.tree import Assign, Binary, Block, Decl, Expr, Index, Loop, Name, Unary, expressions


class RowItems(RowLanes):
    """The elements that lanes hold. Raises Refused."""

    def _item(self, e: Expr) -> T | None:
        """An element's number, its place in memory or its value, in a loop over what lanes hold."""
        if not self.item:
            return None
        if isinstance(e, Binary) and e.op == "+":
            terms = summands(e)
            strides = [x for x in terms if self._is_stride(x)]
            starts = [t for x in terms if x not in strides and (t := self._start(x)) is not None]
            if len(strides) == len(starts) == 1 and self._side_by_side(starts[0]):
                rest = [x for x in terms if x not in strides and not self._is_start(x)]
                if not all(self._row_alone(x) for x in rest):
                    return None
                self._special_stride(strides[0])
                self.memory.items[e.at] = "|".join([starts[0].op, *(str(self.memory.form(x)) for x in rest)])
                return ELEMENT
        if isinstance(e, Index) and isinstance(e.base, Name):
            t = self.env.get(e.base.text, MIXED)
            if t.kind is Kind.ITEMS and isinstance(e.inner, Name) and e.inner.text == self.item:
                if t.op != self.held:
                    raise Refused(e.at, f"`{e.base.text}` has another size than the loop")
                self.spots |= {e.base.at, e.inner.at}
                return ELEMENT
            if t.kind is Kind.START and self._side_by_side(t) and self._is_stride(e.inner):
                self._special_stride(e.inner)
                self.spots.add(e.base.at)
                self.memory.items[e.at] = t.op
                if e is not self.target:
                    self.memory.note(e, False)
                return ELEMENT
        return None

    def _is_start(self, e: Expr) -> bool:
        return self._peek(lambda: self._start(e) is not None)

    @staticmethod
    def _side_by_side(start: T) -> bool:
        return not start.op.partition("|")[0]

    def _is_stride(self, e: Expr) -> bool:
        """`i * 32`"""
        if not isinstance(e, Binary) or e.op != "*":
            return False
        return self._peek(lambda: self._special_stride(e))

    def _special_stride(self, e: Expr) -> bool:
        if isinstance(e, Binary):
            for a, b in ((e.a, e.b), (e.b, e.a)):
                if isinstance(a, Name) and a.text == self.item and self._special(b, Kind.SIZE):
                    self.spots.add(a.at)
                    return True
        return False

    def _is_held(self, e: Expr) -> bool:
        """Whether a place is one of what lanes hold: `x[i]`."""
        return isinstance(e, Index) and isinstance(e.base, Name) and self.env.get(e.base.text, MIXED).kind is Kind.ITEMS

    def _over_items(self, s: Loop) -> str:
        """The variable of a loop over what lanes hold, whose head is then edited; "" if it is no such loop."""
        if s.kind != "for" or not isinstance(s.init, Decl) or s.init.init is None or self.idioms.fold(s.init.init) != 0:
            return ""
        i, c = s.init.name, s.cond
        if not (isinstance(c, Binary) and c.op == "<" and isinstance(c.a, Name) and c.a.text == i):
            return ""
        one_more = isinstance(s.step, Unary) and s.step.op in ("++", "p++")
        one_more = one_more or (
            isinstance(s.step, Assign) and s.step.op == "+=" and self.idioms.fold(s.step.value) == 1
        )
        if not one_more or not any(self._holds(x, i) for x in expressions(s.body)):
            return ""
        if self._is_inner_arm(s.at) or self.unit.t[s.at + 1] != "(":
            raise Refused(s.at, "a loop over what lanes hold that is not understood")
        if not self._row_alone(c.b):
            raise Refused(s.at, "lanes hold different numbers of elements")
        self.spots |= {s.init.at, c.a.at}
        self.spots |= {x.at for x in expressions(Loop(s.at, "for", None, None, s.step, Block(s.at, ())))}
        first = c.at + 1
        stop = first
        while self.unit.t[stop] != ";":
            stop = max(stop, self.unit.match[stop]) + 1
        number = Span(self.unit.p[first], self.unit.end(stop - 1))
        self.edits[number.start, number.end] = Edit(number.start, number.end, (f"{SPACE}items(", number, ")"))
        n = self._number(c.b)
        if n is None or n % 2:
            at = self.unit.p[self.unit.match[s.at + 1] + 1]
            text = self.unit.text[number.start : number.end]
            self.edits[at, at] = Edit(at, at, (f"if ({SPACE}holds({i}, {text})) ",))
        return i

    def _holds(self, e: Expr, i: str) -> bool:
        """Whether an expression speaks of what a lane holds."""
        if isinstance(e, Binary) and e.op == "*":
            for a, b in ((e.a, e.b), (e.b, e.a)):
                if isinstance(a, Name) and a.text == i and self._is_size(b):
                    return True
        if not isinstance(e, Index) or not isinstance(e.base, Name):
            return False
        return self._is_held(e) and isinstance(e.inner, Name) and e.inner.text == i

    def _is_size(self, e: Expr) -> bool:
        return self._peek(lambda: self._special(e, Kind.SIZE))

    def _is_inner_arm(self, at: int) -> bool:
        """Whether a loop is an arm of a branch without braces."""
        k = at - 1
        while (d := self.unit.in_directive(k)) is not None:
            k = d.first - 1
        return self.unit.t[k] in (")", "else")


def summands(e: Expr) -> list[Expr]:
    """What a sum is made of."""
    return [*summands(e.a), *summands(e.b)] if isinstance(e, Binary) and e.op == "+" else [e]
