"""Values of kernels in which each warp has a row of its own: of the row, of an element, of a lane, or neither."""

from __future__ import annotations

from cu2port.model import Edit, Span
from cu2port.warp.native.assembly import Own, is_asm, known
from cu2port.warp.native.idioms import Reduction, Refused, is_whole
from cu2port.warp.native.lanes import FUNCTORS, IDEMPOTENT, MATH
from cu2port.warp.native.numbers import is_own_space
from cu2port.warp.native.pure import LOADS, READS, is_pure
from cu2port.warp.native.row_items import RowItems
from cu2port.warp.native.row_lanes import ELEMENT, FIRST, MIXED, ROW, Kind, Shape, T
from cu2port.warp.native.types import AUTO, canonical, keeps
from cu2port.warp.native.values import SPACE
from cu2port.warp.native.widths import argument_kind, is_wide, type_given
from cu2port.warp.tree import (
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
    walk,
)

INDICES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_SPECIAL = (Kind.LANE, Kind.WARP, Kind.COUNT, Kind.SIZE, Kind.THREAD, Kind.THREADS, Kind.BLOCK)


class RowValues(RowItems):
    """What expressions are in such a kernel. Raises Refused."""

    # --- reductions -----------------------------------------------------------------------------------------------

    def _reduction(self, r: Reduction) -> None:
        for f in r.found:
            if f.aside not in ("", AUTO, self.types.get(f.name, "")):
                raise Refused(f.at, f"what other lanes have of `{f.name}` becomes {f.aside}")
            self.env[f.name] = self._reduced(f.name, f.op, self.env.get(f.name, MIXED), f.at, r.low)
        self.done |= r.shuffles
        self.spots |= set(range(r.first, r.last + 1))
        if self.unit.tok(r.first - 1) == ")":
            raise Refused(r.first, "something stands before the loop that is not understood")
        edit = self.idioms.in_place(r)
        self.edits[edit.start, edit.end] = edit

    def _reduced(self, name: str, op: str, t: T, at: int, low: bool = False) -> T:
        if self.inside or self.leader:
            raise Refused(at, "some lanes may be elsewhere when the warp's values are put together")
        if (t.kind is Kind.PART and t.op == op) or (t.kind is Kind.ROW and op in IDEMPOTENT):
            return FIRST if low else ROW
        raise Refused(at, f"`{name}` is {t.kind.value} and put together over the warp")

    # --- expressions ----------------------------------------------------------------------------------------------

    def _row_alone(self, e: Expr) -> bool:
        return self._plain(e).kind is Kind.ROW

    def _plain(self, e: Expr) -> T:
        t = self._value(e)
        if t.kind not in (Kind.ROW, Kind.ELEMENT):
            raise Refused(e.at, f"{t.kind.value} is used where it may differ")
        if t.kind is Kind.ELEMENT and not self.inside:
            raise Refused(e.at, "an element's value is used for the row")
        return t

    def _value(self, e: Expr, lanes: bool = False) -> T:
        """The type of an expression. `lanes`: it may be a lane, a warp, a row's number."""
        if isinstance(e, Num):
            return ROW
        if isinstance(e, Name):
            self.spots.add(e.at)
            for x in e.targs:
                self._value(x)
            t = self.env.get(e.text, ROW)
            if t.kind is Kind.FIRST and self.leader:
                return ROW
            if t.kind in (Kind.ROW, Kind.ELEMENT) or lanes:
                return t if lanes else t._replace(number=False, node=None)
            raise Refused(e.at, f"`{e.text}` is {t.kind.value}, used where it may differ")
        if (item := self._item(e)) is not None:
            return item
        if lanes:
            for kind in _SPECIAL:
                if self._special(e, kind):
                    return T(kind)
            if (start := self._start(e)) is not None:
                return start
            if self._sure(lambda: self._is_global(e)):
                return T(Kind.GLOBAL)
            if not isinstance(e, Name) and self._sure(lambda: self._is_total(e)):
                return T(Kind.TOTAL)
            if self._sure(lambda: self._is_row(e)):
                self.seen = True
                return T(Kind.ROW, number=True)
            if isinstance(e, CallExpr) and callee(e) == "tiled_partition":
                if is_whole(self.idioms, e):
                    self.spots |= set(range(e.at, e.close))
                    return T(Kind.TILE, "32")
                raise Refused(e.at, "a tile of another size")
            if isinstance(e, CallExpr) and callee(e) == "this_thread_block":
                return T(Kind.TILE, "block")
        if isinstance(e, Member):
            if isinstance(e.base, Name) and e.base.text in INDICES:
                if self.shape is Shape.ONE and (e.base.text, e.name) == ("blockIdx", "x"):
                    self.spots.add(e.base.at)
                    self.rows = True
                    return ROW
                if e.base.text in ("blockIdx", "gridDim") and (e.name in "yz" or self.shape is Shape.ONE):
                    self.spots.add(e.base.at)
                    return ROW
                raise Refused(e.at, f"`{e.base.text}.{e.name}` is used in a way that is not understood")
            return T(self._plain(e.base).kind)
        if isinstance(e, CallExpr):
            return self._call(e, lanes)
        if isinstance(e, Unary) and e.op in ("++", "--", "p++", "p--"):
            raise Refused(e.at, "a change inside an expression")
        if (isinstance(e, Index) or (isinstance(e, Unary) and e.op == "*")) and e is not self.target:
            self.memory.note(e, False)
        if isinstance(e, (Binary, Unary, Index, Ternary)):
            kids = {Binary: ("a", "b"), Unary: ("x",), Index: ("base", "inner"), Ternary: ("cond", "a", "b")}[type(e)]
            types = [self._first_too(getattr(e, k), lanes) for k in kids]
            return self._mixed(types)
        if isinstance(e, Other) and e.parts:
            types = [self._plain(x) for x in e.parts]
            return ELEMENT if any(t.kind is Kind.ELEMENT for t in types) else ROW
        raise Refused(e.at, "an expression that is not understood")

    def _call(self, e: CallExpr, lanes: bool = False) -> T:
        name = callee(e)
        if isinstance(e.callee, Name) and not isinstance(e.callee, Member):
            self.spots.add(e.at)
        if name == "reduce" and len(e.args) == 3 and self._tile(e.args[0]) and isinstance(e.callee, Name):
            op, text = FUNCTORS.get(callee(e.args[2]) if isinstance(e.args[2], CallExpr) else "", ("", ""))
            if not op:
                raise Refused(e.at, "an operation that is not known")
            t = self._value(e.args[1], lanes=True)
            self._replaced(e, 1, "reduce" if text else "sum", text)
            return self._reduced("the value", op, t, e.at)
        if isinstance(e.callee, Member) and name == "shfl" and len(e.args) == 2 and self._tile(e.callee.base):
            kind = self._value(e.args[0], lanes=True).kind
            if self.idioms.fold(e.args[1]) == 0 and kind in (Kind.ROW, Kind.FIRST) and not self.inside:
                self._bare(e, 0)
                return ROW
            raise Refused(e.at, "a lane's value is asked for")
        if e.at in self.idioms.cudas:
            if name in ("__shfl_sync", "__shfl") and not self.inside and not self.leader:
                n = 1 if name.endswith("_sync") else 0
                zero = len(e.args) > n + 1 and self.idioms.fold(e.args[n + 1]) == 0
                wide = len(e.args) == n + 2 or (len(e.args) == n + 3 and self.idioms.number(e.args[n + 2]) == 32)
                if (
                    zero
                    and wide
                    and (n == 0 or self.idioms.full(e.args[0]))
                    and self._value(e.args[n], lanes=True).kind in (Kind.ROW, Kind.FIRST)
                ):
                    self._bare(e, n)
                    return ROW
            raise Refused(e.at, f"`{name}` is no part of a proven idiom")
        if isinstance(e.callee, Name) and len(e.args) == 1 and name in {p.name for p in self.d.tparams}:
            return self._mixed([self._first_too(e.args[0], lanes)])  # a value of that type
        if is_asm(e):
            return self._asm(e)
        typ = argument_kind(e, self.types, self.d)
        own = self.look(name, typ)
        foreign = own is not None and isinstance(e.callee, Name) and e.callee.qualified
        if (
            not isinstance(e.callee, Name)
            or name in self.env
            or (foreign and own is not None and not is_own_space(self.unit, e.at, own.spaces))
        ):
            raise Refused(e.at, f"what `{name}` does is not known")
        if own is not None and own.reduces and len(e.args) == 1:
            given = type_given(self.unit, e, own)
            if not is_wide(self.idioms.number, e, own) or (len(e.callee.targs) > 1 and not own.widths):
                raise Refused(e.at, f"`{name}` has arguments of its template that are not understood")
            self.idioms.kinds[e.at] = typ
            self._same_type(e, own.kinds, own.reduces, given)
            t = self._reduced(name, own.reduces, self._value(e.args[0], lanes=True), e.at, own.low)
            self.sites.append(e)
            return t
        if own is not None and not foreign and name not in self.unit.macros:
            known = is_pure(self.unit, self.idioms, name)
        else:
            known = own is None and (name in MATH or name in LOADS)
        if not known:
            raise Refused(e.at, f"what `{name}` does is not known")
        for x in e.args if own is not None else ():
            self.memory.note(x, False)
        for x in e.args if own is None and name in READS else ():
            if not (isinstance(x, Unary) and x.op == "&"):  # else it is an element, which is noted
                self.memory.note(Unary(x.at, "*", x), False)
        return self._mixed([self._first_too(x, lanes) for x in e.args])

    def _asm(self, e: CallExpr) -> T:
        """An asm statement that does nothing but compute and read memory."""
        own = known(self.unit).get(e.at)
        if not isinstance(own, Own) or not own.pure or own.shared:
            raise Refused(e.at, "inline assembly that does more than compute")
        if own.reads:
            for x in e.args:
                self.memory.note(Unary(x.at, "*", x), False)
        return self._mixed([self._plain(x) for x in e.args])

    def _same_type(self, e: CallExpr, kinds: tuple[str, ...], op: str, given: str) -> None:
        """Raises Refused where a function may take a variable as another type than it has."""
        arg = e.args[0]
        typ = self.types.get(arg.text, "") if isinstance(arg, Name) else ""
        if len(kinds) == 1 and (kinds[0] or not given):
            if kinds[0] and not keeps(op, typ, kinds[0]):
                raise Refused(e.at, f"`{callee(e)}` takes {kinds[0]}")
        elif not typ or (typ not in kinds and set(kinds) != {""}):
            raise Refused(e.at, f"which `{callee(e)}` is called is not certain")
        elif given and not keeps(op, typ, canonical(given)):
            raise Refused(e.at, f"`{callee(e)}` takes another type")

    def _first_too(self, e: Expr, lanes: bool) -> T:
        """A value, which lane 0 alone may have where `lanes`."""
        first = lanes and not self.inside and isinstance(e, (Name, Binary, Unary, CallExpr))
        if first and any(isinstance(x, Name) and self.env.get(x.text, ROW).kind is Kind.FIRST for x in walk(e)):
            t = self._value(e, lanes=True)
            if t.kind is Kind.FIRST:
                return t
        return self._plain(e)

    @staticmethod
    def _mixed(types: list[T]) -> T:
        """What is made of several values."""
        return next((t for kind in (ELEMENT, FIRST) for t in types if t.kind is kind.kind), ROW)

    def _bare(self, e: CallExpr, n: int) -> None:
        """A call gives way to one of its arguments."""
        self._arguments(e)
        call = self.unit.call(e.at)
        assert call is not None
        first = self._first(e)
        start, end = self.unit.p[first], self.unit.end(e.close)
        self.edits[start, end] = Edit(start, end, (Span(call.args[n].start, call.args[n].end),))

    def _replaced(self, e: CallExpr, n: int, name: str, text: str) -> None:
        self._arguments(e)
        call = self.unit.call(e.at)
        assert call is not None
        start, end = self.unit.p[self._first(e)], self.unit.end(e.close)
        tail = f", [](auto a, auto b) {{ return {text}; }})" if text else ")"
        self.edits[start, end] = Edit(start, end, (f"{SPACE}{name}(", Span(call.args[n].start, call.args[n].end), tail))

    def _arguments(self, e: CallExpr) -> None:
        if self.unit.call(e.at) is None:
            raise Refused(e.at, "a call that is not understood")
        self.done.add(e.at)
        self.spots |= set(range(self._first(e), e.close))


def is_name(e: Expr, name: str) -> bool:
    return isinstance(e, Name) and e.text == name
