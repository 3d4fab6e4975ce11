"""What kernels with a row for each warp write: variables of a row, sums over its elements, elements themselves."""

from __future__ import annotations

from collections.abc import Callable

from cu2port.warp.native.idioms import CALLS, Refused, callee_of
from cu2port.warp.native.lanes import IDEMPOTENT, without
from cu2port.warp.native.numbers import is_identity
from cu2port.warp.native.row_lanes import ELEMENT, PLAIN, ROW, Kind, T
from cu2port.warp.native.row_values import INDICES, RowValues, is_name
from cu2port.warp.native.types import bits_of, canonical, declared_type, is_integer, is_unsigned
from cu2port.warp.tree import (
    Assign,
    Binary,
    CallExpr,
    Expr,
    Index,
    Member,
    Name,
    Num,
    Other,
    Ternary,
    Unary,
    callee,
    root,
    walk,
)

_GATHERS = {"+=": "add", "-=": "add", "*=": "mul", "|=": "or", "&=": "and", "^=": "xor"}
_PRODUCTS = frozenset({"fma", "fmaf", "__fmaf_rn", "__fma_rn"})


class RowStores(RowValues):
    """Assignments in the walk over one kernel. Raises Refused."""

    def _set(self, name: str, e: Expr) -> T:
        """The type of a variable that is set to an expression."""
        t = self._value(e, lanes=True)
        if t.kind not in PLAIN:
            self.numbers.add(name)
            if not self._is_wide(self.types.get(name, "")):
                raise Refused(e.at, f"`{name}` may be too narrow")
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
        self.views.discard(name)
        self.memory.version[name] = e.at
        self.memory.made(name, e.value, False)
        if name not in self.env:
            raise Refused(target.at, f"`{name}` is not known here")
        if self.leader and name not in self.local:
            raise Refused(target.at, f"`{name}` is set by one lane of each warp")
        if self.inside and name not in self.local:
            op, value = self._operation(e, name)
            if op is None or value is None:
                raise Refused(e.at, f"`{name}` is set by the lane that comes to an element")
            self._gathers(name, op, value, e.at)
            return
        self.memory.element.pop(name, None)
        if e.op == "+=" and not self.inside and not self.leader and self.env[name].kind is Kind.ROW:
            form = self.memory.form(target)
            if (start := self._start(e.value)) is not None:
                self.env[name] = T(Kind.START, f"{start.op}|{form}")
                return
        if e.op != "=":
            if self.env[name].kind is Kind.FIRST and not self.inside:
                self._plain(e.value)
                return
            self._plain(target)
            self._plain(e.value)
            self.env[name] = ELEMENT if self.inside else ROW
            return
        edits = dict(self.edits)
        self.env[name] = self._set(name, e.value)
        if self.env[name].kind is Kind.TILE:
            raise Refused(e.at, "a tile is set")
        value = e.value
        if isinstance(value, CallExpr) and value.at in self.done and any(is_name(x, name) for x in value.args):
            edit = without(self.unit, target.at)  # `sum = __shfl_sync(~0u, sum, 0);` has nothing left to do
            at = self.unit.lexed.at(edit.start)
            if self.unit.t[at] != name or callee_of(value) not in ("__shfl_sync", "__shfl"):
                return
            self.edits = {**edits, (edit.start, edit.end): edit}

    def _gathers(self, name: str, op: str, value: Expr, at: int) -> None:
        """`sum += x`, `most = max(most, x)` in a loop over lanes."""
        if name not in self.env or self.leader:
            raise Refused(at, f"`{name}` is not known here")
        self.changed.add(name)
        self.views.discard(name)
        self.memory.version[name] = at
        self._plain(value)
        kind = self.types.get(name, "")
        if op in ("add", "mul") and is_integer(kind) and not self._is_whole_number(value):
            raise Refused(at, f"`{name}` is an integer and gathers what may be none")
        if kind == "bool" and op != "or":
            raise Refused(at, f"`{name}` holds no number")
        if op in ("max", "min") and is_integer(kind) and bits_of(kind) < max(32, self._widest(value)):
            raise Refused(at, f"`{name}` ({kind}) may be too narrow")
        if op in ("max", "min") and is_integer(kind) and not is_unsigned(kind) and self._is_unsigned(value, at):
            raise Refused(at, f"`{name}` ({kind}) and what it gathers may be told apart in different ways")
        if op in ("or", "and", "xor") and not is_integer(kind) and (op, kind) != ("or", "bool"):
            raise Refused(at, f"`{name}` is not seen to be an integer")
        t = self.env[name]
        if t.kind is Kind.PART and t.op == op:
            return
        starts = t.kind is Kind.ROW and t.node is not None and is_identity(self.unit, op, t.node)
        if not starts and not (t.kind is Kind.ROW and op in IDEMPOTENT):
            raise Refused(at, f"`{name}` does not start from nothing")
        self.env[name] = T(Kind.PART, op)

    def _widest(self, e: Expr) -> int:
        """The bits of the widest integer that is seen in a value."""
        return max((bits_of(self.types.get(root(x), "")) for x in walk(e)), default=0)

    def _operation(self, e: Assign, name: str) -> tuple[str | None, Expr | None]:
        """The operation that puts a value together with a variable, and the value."""

        def is_it(x: Expr) -> bool:
            if isinstance(x, Name) and x.text == name:
                self.spots.add(x.at)
                return True
            return False

        v = e.value
        if e.op in _GATHERS:
            return _GATHERS[e.op], v
        if e.op != "=":
            return None, None
        if isinstance(v, Binary) and v.op == "+":
            return ("add", v.b) if is_it(v.a) else ("add", v.a) if is_it(v.b) else (None, None)
        if isinstance(v, Ternary) and isinstance(v.cond, Binary) and v.cond.op in ("<", "<=", ">", ">="):
            return self._chosen(v.cond, v.a, v.b, is_it)
        if not isinstance(v, CallExpr) or not isinstance(v.callee, Name) or v.callee.text in self.unit.macros:
            return None, None
        if v.callee.text in {f.name for f in self.unit.functions}:
            return None, None
        if v.callee.text in _PRODUCTS and len(v.args) == 3 and is_it(v.args[2]):
            return "add", Other(v.at, v.args[:2])
        op = CALLS.get(v.callee.text)
        if op in ("max", "min") and len(v.args) == 2:
            for a, b in (v.args, v.args[::-1]):
                if is_it(a):
                    return op, b
        return None, None

    def _chosen(self, c: Binary, a: Expr, b: Expr, is_it: Callable[[Expr], bool]) -> tuple[str | None, Expr | None]:
        """`x > most ? x : most`"""
        for own, value, first in ((a, b, True), (b, a, False)):
            same = self.memory.form(own)
            if not isinstance(own, Name) or not is_it(own):
                continue
            left = self.memory.form(c.a) == same and self.memory.form(c.b) == self.memory.form(value)
            right = self.memory.form(c.b) == same and self.memory.form(c.a) == self.memory.form(value)
            if not (left or right):
                return None, None
            self.spots.add((c.a if left else c.b).at)
            self._plain(c.b if left else c.a)
            more = (c.op[0] == ">") == left  # the variable is taken where it is more
            return ("max" if more == first else "min"), value
        return None, None

    def _stored(self, target: Expr, value: Expr, reads: bool, at: int) -> None:
        """A store through a pointer."""
        if self._is_own(target):
            self._plain(target)
            self._plain(value)
            return
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

    def _is_own(self, e: Expr) -> bool:
        """Whether a place is part of a variable that an element has for itself: `v.x`, `v[k]`."""
        if self._is_held(e):
            return True
        while isinstance(e, Member) and self.unit.tok(e.at - 1) == "." and e.name in ("x", "y", "z", "w"):
            e = e.base
            if isinstance(e, Name) and e.text in self.values and e.text in self.local:
                return True
        depth = 0
        while isinstance(e, Index):
            e, depth = e.base, depth + 1
        if not isinstance(e, Name) or e.text not in self.local:
            return False
        if e.text in self.arrays:
            return depth == self.arrays[e.text]
        return depth == 1 and e.text in self.views

    def _is_unsigned(self, e: Expr, at: int) -> bool:
        """Whether a value, or a cast in its statement, may be of an unsigned type of 32 bits or more."""
        first = next(k for k in range(at, 0, -1) if self.unit.t[k] in (";", "{", "}"))
        stop = next(k for k in range(at, len(self.unit.t)) if self.unit.t[k] in (";", "}"))
        names = {x.text for x in walk(e) if isinstance(x, Name)}
        kinds = {self.types.get(x, "") for x in names} | set(self.unit.t[first:stop])
        kinds |= {declared_type(self.unit, f.name_at) for f in self.unit.functions if f.name in names}
        numbers = any(w[0].isdigit() and "u" in w.lower() for w in self.unit.t[first:stop])
        return numbers or bool(names & INDICES) or any(is_unsigned(canonical(x)) and x != "char" for x in kinds)

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
        if isinstance(e, CallExpr) and (own := [f for f in self.unit.functions if f.name == callee(e)]):
            return all(is_integer(declared_type(self.unit, f.name_at)) for f in own)
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
