"""What is read of scans in native code: slots of warps, shuffles, calls, and choices between them."""

from __future__ import annotations

from cu2port.model import Edit, Span
from cu2port.warp.native.idioms import Refused
from cu2port.warp.native.lanes import FUNCTORS, Here, Summary
from cu2port.warp.native.numbers import is_identity
from cu2port.warp.native.scan_idioms import shifted
from cu2port.warp.native.scans import BELOW, MENDED, SIDES, UP, Edits, Scans
from cu2port.warp.native.values import SAME, SPACE, UNIFORM, Kind, T
from cu2port.warp.native.widths import type_given
from cu2port.warp.tree import (
    Binary,
    CallExpr,
    Expr,
    Index,
    Member,
    Name,
    Ternary,
    Unary,
    callee,
)


class ScanReads(Scans):
    """What expressions read of scans, in the walk over one function. Raises Refused."""

    behind = False  # the thread's warp is not the first
    guarded = False  # lanes that have a slot

    # --- slots of warps that have been scanned --------------------------------------------------------------------

    def _is_array(self, e: Expr) -> str:
        """The name of the shared array that an element is of; "" for anything else."""
        known = isinstance(e, Index) and isinstance(e.base, Name) and e.base.text in self.arrays
        return e.base.text if known and isinstance(e, Index) and isinstance(e.base, Name) else ""

    def _slot(self, e: Index) -> T | None:
        """What is read from the slots of warps: of the earlier warps, of all, the lane's; None if they are no slots."""
        name = self._is_array(e)
        t = self.env.get(name, SAME)
        bare = t.kind is Kind.SLOTS and self.here.role == "first" and not self.guarded and self._is_bare(e)
        if t.kind not in (Kind.SUMS, Kind.SUMS_BELOW) and not (t.kind is Kind.SLOTS and self.guarded) and not bare:
            return None
        if not t.seen:
            raise Refused(e.at, f"there is no barrier before `{name}` is read")
        inner = e.inner
        less = inner.a if isinstance(inner, Binary) and inner.op == "-" and self.idioms.fold(inner.b) == 1 else None
        got: T | None = None
        edits: Edits | None = None
        if bare:
            at, words = self.unit.p[inner.base.at if isinstance(inner, Member) else inner.at], self._words(inner)
            text = f"{words} < {SPACE}count(blockDim.x) ? {words} : 0"
            edits = {(at, at + len(words)): Edit(at, at + len(words), (text,))}
            got = T(Kind.LOOSE, t.op, typ=t.typ, scan=t.scan)
        elif t.kind is Kind.SLOTS:
            edits = self._own_slot(inner)
            got = T(Kind.GATHERED, t.op, typ=t.typ, scan=t.scan)
        elif t.kind is Kind.SUMS_BELOW:
            edits, got = self._warp(inner), T(Kind.BEFORE, t.op, typ=t.typ, scan=t.scan)
        elif less is not None and (edits := self._warp(less)) is not None:
            if not self.behind:
                raise Refused(e.at, f"`{name}` is read where the first warp has no slot")
            got = T(Kind.BEFORE, t.op, typ=t.typ, scan=t.scan)
        elif less is not None and (edits := self._count(less)) is not None:
            got = UNIFORM
        if edits is None or got is None:
            raise Refused(e.at, f"`{name}` is read at a place that is not understood")
        self.edits.update(edits)
        self._spot(e)
        return got

    def _is_bare(self, e: Index) -> bool:
        """Whether all lanes of the first warp read their slot, by a variable or `threadIdx.x`."""
        simple = isinstance(e.inner, Name) or (isinstance(e.inner, Member) and isinstance(e.inner.base, Name))
        return simple and self._own_slot(e.inner) is not None and not self.rows and self.here.together

    def _words(self, e: Expr) -> str:
        """The text of a name or of `threadIdx.x`."""
        if isinstance(e, Member):
            return f"{self.unit.t[e.base.at]}.{e.name}"
        return self.unit.t[e.at]

    def _own_slot(self, e: Expr) -> Edits | None:
        """The lane's slot, in the first warp."""
        edits = self._lane(e)
        return {} if edits is None and self.here.role == "first" and self._is_tid(e) else edits

    def _is_before(self, e: Expr) -> bool:
        """Whether an expression looks like what the earlier warps come to."""
        if name := self._is_array(e):
            return self.env.get(name, SAME).kind is Kind.SUMS
        got = self._shuffled(e)
        return got is not None and self.env.get(got[0].text, SAME).kind is Kind.SCANNED

    def _before(self, e: Expr) -> T:
        """What the earlier warps come to, where the thread's warp is not the first."""
        self.behind = True
        t = self._value(e)
        self.behind = False
        return t

    # --- shuffles -------------------------------------------------------------------------------------------------

    def _shuffled(self, e: Expr) -> tuple[Name, Expr] | None:
        """The variable that a shuffle of the whole warp reads, and the lane."""
        if not isinstance(e, CallExpr):
            return None
        args = list(e.args)
        if isinstance(e.callee, Member):
            if callee(e) != "shfl" or not self._is_tile(e.callee.base):
                return None
        else:
            synced = callee(e) == "__shfl_sync"
            if e.at not in self.idioms.cudas or not (synced or callee(e) == "__shfl"):
                return None
            if synced and (not args or not self._is_full(args.pop(0))):
                return None
        if len(args) == 3 and self.idioms.number(args.pop()) != 32:
            return None
        return (args[0], args[1]) if len(args) == 2 and isinstance(args[0], Name) else None

    def _scan_call(self, e: CallExpr) -> T | None:
        """The type of a call that has to do with scans; None if it has not."""
        if not self._has_scans() and not any(self._is_scanned(x) for x in e.args):
            return None
        got = self._shuffled(e)
        if got is not None and self._is_scanned(got[0]):
            return self._read(e, *got)
        up = shifted(self.idioms, e, self._questions(self.here))
        if up is not None and isinstance(up.value, Name) and self.idioms.number(up.distance) == 1:
            t = self.env.get(up.value.text, SAME)
            if t.kind in BELOW:
                self._come(e)
                self._call_of_wave(e, "below", up.value.text)
                return t._replace(kind=BELOW[t.kind])
        if callee(e) in ("inclusive_scan", "exclusive_scan") and e.args and self._is_tile(e.args[0]):
            return self._tile_scan(e)
        return None

    def _is_scanned(self, e: Expr) -> bool:
        return isinstance(e, Name) and self.env.get(e.text, SAME).kind in (Kind.PREFIX, Kind.SCANNED)

    def _come(self, e: Expr) -> None:
        self.meets = True
        if not self.here.together or self.gone or self.here.role not in ("", "first"):
            raise Refused(e.at, "some lanes may be elsewhere")

    def _read(self, e: CallExpr, value: Name, lane: Expr) -> T:
        """A shuffle that reads the last lane of a scan, or of a scan of slots that of the warp before."""
        t = self.env[value.text]
        if self.idioms.number(lane) == 31 and t.kind is Kind.PREFIX:
            self._come(e)
            self._call_of_wave(e, "last", value.text)
            return T(Kind.PART, t.op, typ=t.typ, scan=t.scan)
        if self.idioms.number(lane) == 31 and not t.few:
            self._come(e)
            self._call_of_wave(e, "last", value.text)
            return T(Kind.WHOLE, t.op, everywhere=t.everywhere)
        less = lane.a if isinstance(lane, Binary) and lane.op == "-" and self.idioms.fold(lane.b) == 1 else None
        edits = self._warp(less) if less is not None else None
        if edits is None or t.kind is not Kind.SCANNED or not t.everywhere or not self.behind:
            raise Refused(e.at, f"`{callee(e)}` reads a lane that is not understood")
        self._come(e)
        self.edits.update(edits)
        call = self.unit.call(e.at)
        if call is None:
            raise Refused(e.at, "a call that is not understood")
        n = 0 if isinstance(e.callee, Member) or callee(e) == "__shfl" else 1
        value_at, lane_at = (Span(x.start, x.end) for x in call.args[n : n + 2])
        start, end = self._span(e)
        self.edits[start, end] = Edit(start, end, (f"{SPACE}shfl(", value_at, ", ", lane_at, ")"))
        self._spot(e)
        self.done.add(e.at)
        return T(Kind.BEFORE, t.op, typ=t.typ, scan=t.scan)

    def _span(self, e: CallExpr) -> tuple[int, int]:
        """Where a call's text is, with the object of a method."""
        unit = self.unit
        at = e.callee.base.at if isinstance(e.callee, Member) else unit.qualifier(e.at)
        return unit.p[at], unit.end(e.close)

    def _call_of_wave(self, e: CallExpr, name: str, value: str) -> None:
        start, end = self._span(e)
        self.edits[start, end] = Edit(start, end, (f"{SPACE}{name}({value})",))
        self._spot(e)
        self.done.add(e.at)

    def _tile_scan(self, e: CallExpr) -> T:
        """`cooperative_groups::inclusive_scan(tile, v, plus<T>())`"""
        call = self.unit.call(e.at)
        functor = e.args[2] if len(e.args) == 3 else None
        known = FUNCTORS.get(callee(functor), ("", "")) if isinstance(functor, CallExpr) else ("", "")
        op, text = ("add", "") if len(e.args) == 2 else known
        inclusive = callee(e) == "inclusive_scan"
        if not op or call is None or len(e.args) > 3 or (text and not inclusive):
            raise Refused(e.at, "an operation that is not known")
        value = self._gathered(e.args[1], self.here) or self._value(e.args[1])
        t = self._scanned("the value", op, value, e.at, self.here)
        if t.kind is Kind.PREFIX:
            arg = e.args[1]
            t = t._replace(typ=(self.types.get(arg.text, "") if isinstance(arg, Name) else "") or f"? {e.at}")
        tail = f", [](auto a, auto b) {{ return {text}; }})" if text else ")"
        name = ("inclusive" if inclusive else "exclusive") + ("_scan(" if text else "_sum(")
        start, end = self._span(e)
        self.edits[start, end] = Edit(start, end, (SPACE + name, Span(call.args[1].start, call.args[1].end), tail))
        self._spot(e)
        return t if inclusive else t._replace(kind=Kind.UPTO if t.kind is Kind.PREFIX else Kind.BELOW_SLOTS)

    def _own_scan(self, e: CallExpr, own: Summary | None) -> T | None:
        """A call of the file's function that is nothing but a scan; None if it is none."""
        if own is None or own.result.kind not in UP:
            return None
        if isinstance(e.callee, Name) and len(e.callee.targs) > 1:
            raise Refused(e.at, f"`{callee(e)}` has arguments of its template that are not understood")
        if len(e.args) != own.arguments or not all(self._questions(self.here).lane(x) for x in e.args[1:]):
            raise Refused(e.at, f"`{callee(e)}` gets something else than a value and the lane")
        value = self._gathered(e.args[0], self.here) or self._value(e.args[0])
        typ = self._argument_type(e, own.kinds, value, type_given(self.unit, e, own))
        if value.kind is Kind.GATHERED:
            value = self._kept(value, typ, callee(e), e.at)
        t = self._scanned(callee(e), own.scans, value, e.at, self.here)
        t = t._replace(typ=typ, own=self._steady(e.args[0])) if t.kind is Kind.PREFIX else t
        for x in e.args[1:]:
            self._spot(x)
        self._spot(e.callee)
        self.sites.append(e)
        if own.result.kind is Kind.PREFIX:
            return t
        return t._replace(kind=Kind.UPTO if t.kind is Kind.PREFIX else Kind.BELOW_SLOTS)

    # --- conditions -----------------------------------------------------------------------------------------------

    def _sides(self, e: Expr, place: str) -> tuple[int, Edits]:
        """1 where a warp (or a lane) is not the first, -1 where it is, 0 for another condition; and the edits."""
        if isinstance(e, Unary) and e.op == "!":
            side, inner = self._sides(e.x, place)
            return -side, inner
        find = self._warp if place == "warp" else self._lane
        if (edits := find(e)) is not None:
            return 1, edits
        if not isinstance(e, Binary):
            return 0, {}
        if place == "warp" and self._is_tid(e.a) and e.op in (">=", "<") and self.idioms.number(e.b) == 32:
            return (1 if e.op == ">=" else -1), self._size(e.b) or {}
        found, n = find(e.a), self.idioms.fold(e.b)
        return (SIDES.get((e.op, n), 0), found) if found is not None and n is not None else (0, {})

    def _gathered(self, e: Expr, here: Here) -> T | None:
        """`warp > 0 ? slots[warp - 1] : 0`, `lane > 0 ? below : 0`, and what reductions know."""
        if isinstance(e, Ternary):
            for place in ("warp", "lane"):
                side, edits = self._sides(e.cond, place)
                yes, no = (e.a, e.b) if side > 0 else (e.b, e.a)
                if not side:
                    continue
                if place == "warp" and self._is_before(yes):
                    t = self._before(yes)
                elif place == "lane" and isinstance(yes, Name) and self.env.get(yes.text, SAME).kind in MENDED:
                    was = self.env[yes.text]
                    t = was._replace(kind=MENDED[was.kind])
                    self.spots.add(yes.at)
                else:
                    continue
                if not is_identity(self.unit, t.op, no):
                    raise Refused(no.at, f"the first {place} has a value that may count")
                self.edits.update(edits)
                self._spot(e.cond)
                return t
        return super()._gathered(e, here)
