"""What kernels with a row for each warp write: variables of a row, sums over its elements, elements themselves."""

from __future__ import annotations

from cu2port.warp.native.idioms import CALLS, Refused, callee_of
from cu2port.warp.native.lanes import IDEMPOTENT, without
from cu2port.warp.native.numbers import is_identity
from cu2port.warp.native.row_lanes import ELEMENT, ROW, Kind, T
from cu2port.warp.native.row_values import INDICES, RowValues, is_name
from cu2port.warp.native.types import is_integer
from cu2port.warp.tree import (
    Assign,
    Binary,
    CallExpr,
    Expr,
    Index,
    Member,
    Name,
    Num,
    Ternary,
    Unary,
    callee,
    root,
    walk,
)


class RowStores(RowValues):
    """Assignments in the walk over one kernel. Raises Refused."""

    def _set(self, e: Expr) -> T:
        """The type of a variable that is set to an expression."""
        t = self._value(e, lanes=True)
        if t.kind is Kind.ROW and not self.inside and isinstance(e, (Num, Name, Unary, CallExpr)):
            return t._replace(node=e)
        return t

    def _assigned(self, e: Assign) -> None:
        target = e.target
        if not isinstance(target, Name):
            self._stored(target, e.value, e.op != "=", e.at)
            return
        self.spots.add(target.at)
        name = target.text
        self.changed.add(name)
        if name not in self.env:
            raise Refused(target.at, f"`{name}` is not known here")
        if self.leader and name not in self.local:
            raise Refused(target.at, f"`{name}` is set by one lane of each warp")
        if self.inside and name not in self.local:
            self._gathers(e, name)
            return
        self.memory.element.discard(name)
        if e.op != "=":
            if self.env[name].kind is Kind.FIRST and not self.inside:
                self._plain(e.value)
                return
            self._plain(target)
            self._plain(e.value)
            self.env[name] = ELEMENT if self.inside else ROW
            return
        edits = dict(self.edits)
        self.env[name] = self._set(e.value)
        if self.env[name].kind is Kind.TILE:
            raise Refused(e.at, "a tile is set")
        value = e.value
        if isinstance(value, CallExpr) and value.at in self.done and any(is_name(x, name) for x in value.args):
            edit = without(self.unit, target.at)  # `sum = __shfl_sync(~0u, sum, 0);` has nothing left to do
            at = self.unit.lexed.at(edit.start)
            if self.unit.t[at] != name or callee_of(value) not in ("__shfl_sync", "__shfl"):
                return
            self.edits = {**edits, (edit.start, edit.end): edit}

    def _gathers(self, e: Assign, name: str) -> None:
        """`sum += x`, `most = max(most, x)` in a loop over lanes."""
        op, value = self._operation(e, name)
        if op is None or value is None:
            raise Refused(e.at, f"`{name}` is set by the lane that comes to an element")
        self._plain(value)
        if op == "add" and is_integer(self.types.get(name, "")) and not self._is_whole_number(value):
            raise Refused(e.at, f"`{name}` is an integer and gathers what may be none")
        t = self.env[name]
        if t.kind is Kind.PART and t.op == op:
            return
        starts = t.kind is Kind.ROW and t.node is not None and is_identity(self.unit, op, t.node)
        if not starts and not (t.kind is Kind.ROW and op in IDEMPOTENT):
            raise Refused(e.at, f"`{name}` does not start from nothing")
        self.env[name] = T(Kind.PART, op)

    def _operation(self, e: Assign, name: str) -> tuple[str | None, Expr | None]:
        """The operation that puts a value together with a variable, and the value."""

        def is_it(x: Expr) -> bool:
            if isinstance(x, Name) and x.text == name:
                self.spots.add(x.at)
                return True
            return False

        if e.op == "+=":
            return "add", e.value
        v = e.value
        if e.op == "=" and isinstance(v, Binary) and v.op == "+" and is_it(v.a):
            return "add", v.b
        if e.op == "=" and isinstance(v, CallExpr) and len(v.args) == 2 and isinstance(v.callee, Name):
            op = CALLS.get(v.callee.text)
            if (
                op in ("max", "min")
                and v.callee.text not in self.unit.macros
                and v.callee.text not in {f.name for f in self.unit.functions}
            ):
                for a, b in (v.args, v.args[::-1]):
                    if is_it(a):
                        return op, b
        return None, None

    def _stored(self, target: Expr, value: Expr, reads: bool, at: int) -> None:
        """A store through a pointer."""
        self.exact = self.exact or not self.rows
        self.target = target
        where = self._plain(target)
        self._plain(value)
        if self.inside and where.kind is not Kind.ELEMENT:
            raise Refused(at, "all elements of a row are written to one place")
        if self.inside:
            rows = {n for n, t in self.env.items() if t.kind is Kind.ROW and n not in self.local}
            rows |= {x.text for x in walk(target) if isinstance(x, Name) and x.text not in self.env}
            if not self.memory.apart(target, rows):
                raise Refused(at, "two elements may be written to one place")
            self.memory.note(target, True)
        if not self.inside and not self.leader and reads:
            raise Refused(at, "every lane of the warp adds to one place")

    def _is_whole_number(self, e: Expr) -> bool:
        """Whether an expression is an integer for sure."""
        if isinstance(e, Num):
            return e.value is not None
        if isinstance(e, Binary):
            return self._is_whole_number(e.a) and self._is_whole_number(e.b)
        if isinstance(e, Member) and isinstance(e.base, Name) and e.base.text in INDICES:
            return True
        if isinstance(e, (Ternary,)):
            return self._is_whole_number(e.a) and self._is_whole_number(e.b)
        if isinstance(e, CallExpr):
            return callee(e) in ("__popc", "__popcll", "int", "__ldg", "abs", "min", "max") and all(
                self._is_whole_number(x) for x in e.args
            )
        if isinstance(e, Unary) and e.op in ("-", "~", "+"):
            return self._is_whole_number(e.x)
        if isinstance(e, Unary) and e.op == "!":
            return True
        if isinstance(e, (Name, Index)) or (isinstance(e, Unary) and e.op in ("*", "&")):
            return is_integer(self.types.get(root(e), ""))
        return False
