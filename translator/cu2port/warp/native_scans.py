"""Scans in native code: over a warp, over the slots of a block's warps, and the two put together.

A thread's value in a scan over the warp depends on the number of lanes, and so does what the earlier warps come to. The
two put together do not: they are what the block's threads up to this one come to. Both carry the token of the scan that
they come from, so that only what belongs together is put together; what is the same for any number of lanes may be
added to either.
"""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.model import Edit, Span
from cu2port.warp.native_idioms import CALLS, Reduced, Reduction, Refused
from cu2port.warp.native_lanes import FUNCTORS, Here, Summary
from cu2port.warp.native_numbers import is_identity
from cu2port.warp.native_reductions import Reductions
from cu2port.warp.native_scan_idioms import Questions, ScanMatcher, shifted
from cu2port.warp.native_types import REAL, bits_of
from cu2port.warp.native_values import MIXED, SAME, SPACE, UNIFORM, Kind, T, is_plain
from cu2port.warp.tree import (
    Assign,
    Binary,
    CallExpr,
    Decl,
    Expr,
    Index,
    Member,
    Name,
    Num,
    Stmt,
    Ternary,
    Unary,
    callee,
    statements,
    walk,
)
from cu2port.warpnames import declares

#: Comparisons with a number: 1 where what is compared is not 0, -1 where it is.
SIDES = {(">", 0): 1, ("!=", 0): 1, (">=", 1): 1, ("==", 0): -1, ("<", 1): -1, ("<=", 0): -1}
OPERATORS = {"+": "add", "*": "mul", "|": "or", "&": "and", "^": "xor"}
_SHUFFLES = frozenset({"__shfl_up_sync", "__shfl_up", "shfl_up", "inclusive_scan", "exclusive_scan"})
UP = frozenset({Kind.PREFIX, Kind.UPTO, Kind.RANK})
_BELOW = {Kind.PREFIX: Kind.SHIFTED, Kind.SCANNED: Kind.SHIFTED_SLOTS}
_MENDED = {Kind.SHIFTED: Kind.UPTO, Kind.SHIFTED_SLOTS: Kind.BELOW_SLOTS}
Edits = dict[tuple[int, int], Edit]
#: Types in which the sum of 64 lanes may not have room where that of 32 has.
_NARROW = frozenset("char short int8_t uint8_t int16_t uint16_t uchar ushort u8 u16 half __half bool".split())


class Scans(Reductions):
    """What scans make of values, in the walk over one function. Raises Refused."""

    behind = False  # the thread's warp is not the first
    guarded = False  # lanes that have a slot
    scanning: bool | None = None  # whether the function has scans at all

    def _argument_type(self, e: CallExpr, kinds: tuple[str, ...], t: T) -> str:
        """The type in which a function puts its argument together."""
        raise NotImplementedError

    # --- over a warp ----------------------------------------------------------------------------------------------

    def _has_scans(self) -> bool:
        if self.scanning is None:
            first, stop = self.d.fn.body
            self.scanning = not _SHUFFLES.isdisjoint(self.unit.t[first:stop])
        return self.scanning

    def _scan(self, body: Sequence[Stmt], k: int, here: Here) -> int:
        """How many statements are a scan over the warp that starts with a statement of a list; 0 if none does."""
        if not self._has_scans():
            return 0
        got = ScanMatcher(self.idioms, self._questions(here)).match(body, k)
        if got is None or not all(self._is_spare(name, got) for name in got.loose):
            return 0
        types = [self._scanned(f.name, f.op, self.env.get(f.name, SAME), f.at, here) for f in got.found]
        for f, t in zip(got.found, types, strict=True):
            self._see_room(f)
            t = t._replace(typ=self.types.get(f.name, "") or f"? {f.name}") if t.kind is Kind.PREFIX else t
            self._set(f.name, t, Name(f.at, f.name), here)
        self.done |= got.shuffles
        self.spots |= {i for i in range(got.first, got.last + 1) if self.unit.t[i] in self.tracked}
        edit = self.idioms.in_place(got)
        self.edits[edit.start, edit.end] = edit
        return got.size

    def _questions(self, here: Here) -> Questions:
        def lane(e: Expr) -> bool:
            return self._lane(e) is not None or (here.role == "first" and self._is_tid(e))

        return Questions(lane, self._is_full, self._is_tile)

    def _is_full(self, e: Expr) -> bool:
        if self.idioms.full(e):
            return True
        v = self._constant(e) if isinstance(e, Name) else None
        return v is not None and v & 0xFFFFFFFF == 0xFFFFFFFF

    def _is_tile(self, e: Expr) -> bool:
        return isinstance(e, Name) and self.env.get(e.text, SAME).kind is Kind.TILE

    def _is_spare(self, name: str, got: Reduction) -> bool:
        """Whether a variable is used by a scan alone, and declared without a value."""
        unit, (first, stop) = self.unit, self.d.fn.body
        others = [i for i in range(first, stop) if unit.t[i] == name and not got.first <= i <= got.last]
        return all(declares(unit, i) and unit.t[i + 1] in (";", ",") for i in others)

    def _see_room(self, f: Reduced) -> None:
        """Refuses sums in types so narrow that they may be made for 32 lanes."""
        unit = self.unit
        declared = [x.at for x in statements(self.d.body) if isinstance(x, Decl) and x.name == f.name]
        for at in (*declared, *(p.at for p in self.d.params if p.name == f.name)):
            k = at - 1
            while unit.t[k] not in (";", "{", "}", "(") and not (unit.t[k] == "," and k < self.d.fn.params[1]):
                if unit.t[k] in _NARROW:
                    raise Refused(f.at, f"sums of more lanes may not fit into `{unit.t[k]}`")
                k -= 1

    def _scanned(self, name: str, op: str, t: T, at: int, here: Here) -> T:
        """What a value becomes that is scanned over the warp."""
        self.meets = True
        if not here.together or self.gone or here.role not in ("", "first"):
            raise Refused(at, "some lanes may be elsewhere when the warp's values are put together")
        if t.kind is Kind.GATHERED:
            if t.op != op:
                raise Refused(at, f"`{name}` is put together by another operation than before")
            return T(Kind.SCANNED, op, everywhere=t.everywhere and here.role == "", typ=t.typ, scan=t.scan)
        if not is_plain(t):
            raise Refused(at, f"`{name}` is {t.kind.value} already")
        if here.role == "first":
            raise Refused(at, f"only the first warp puts `{name}` together")
        for other, was in self.env.items():  # of the same scan, when the loop around it came here before
            if was.scan == at:
                self.env[other] = MIXED
        return T(Kind.PREFIX, op, scan=at)

    # --- values put together --------------------------------------------------------------------------------------

    def _joint(self, e: Expr, types: tuple[T, ...]) -> T | None:
        """The type of a sum of what a scan has made; None if an expression is none that is known."""
        if len(types) != 2 or not any(t.scan >= 0 for t in types):
            return None
        sign = e.op.removesuffix("=") if isinstance(e, (Binary, Assign)) else ""
        op = CALLS.get(callee(e)) if isinstance(e, CallExpr) else OPERATORS.get(sign)
        a, b = types
        if sign == "-":
            own = (a.kind, b.kind) == (Kind.SCANNED, Kind.GATHERED) and (a.op, a.scan) == ("add", b.scan)
            if own:
                return a._replace(kind=Kind.BELOW_SLOTS)
            return self._with(a, self._operand(e, 1)) if is_plain(b) and a.op == "add" else None
        if op is None or op not in (a.op, b.op):
            return None
        if {a.kind, b.kind} & UP and Kind.BEFORE in (a.kind, b.kind):
            return SAME if (a.op, a.scan, a.typ) == (b.op, b.scan, b.typ) else None
        if is_plain(b):
            return self._with(a, self._operand(e, 1))
        return self._with(b, self._operand(e, 0)) if is_plain(a) else None

    @staticmethod
    def _operand(e: Expr, n: int) -> Expr:
        if isinstance(e, Assign):
            return e.value if n else e.target
        if isinstance(e, CallExpr):
            return e.args[n]
        assert isinstance(e, Binary)
        return e.b if n else e.a

    def _with(self, t: T, other: Expr) -> T | None:
        """The type of a scan's value with a value that is the same for any number of lanes."""
        if t.kind not in UP and t.kind is not Kind.BEFORE:
            return None
        if not self._no_wider(other, t.typ):
            raise Refused(other.at, f"a value of another type is put together with {t.kind.value}")
        return t._replace(kind=Kind.UPTO) if t.kind in UP else t

    def _no_wider(self, e: Expr, typ: str) -> bool:
        """Whether a value of a type stays one when an expression is put together with it."""
        if typ in REAL:
            return True
        for x in walk(e):
            if isinstance(x, CallExpr) or (
                isinstance(x, Num) and (x.value is None or "ll" in self.unit.t[x.at].lower())
            ):
                return False
            if isinstance(x, Name) and x.text not in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
                own = self.types.get(x.text, "")
                if own != typ and not 0 < bits_of(own) <= bits_of(typ):
                    return False
        return True

    # --- slots of warps that have been scanned --------------------------------------------------------------------

    def _is_array(self, e: Expr) -> str:
        """The name of the shared array that an element is of; "" for anything else."""
        known = isinstance(e, Index) and isinstance(e.base, Name) and e.base.text in self.arrays
        return e.base.text if known and isinstance(e, Index) and isinstance(e.base, Name) else ""

    def _slot(self, e: Index) -> T | None:
        """What is read from the slots of warps: of the earlier warps, of all, the lane's; None if they are no slots."""
        name = self._is_array(e)
        t = self.env.get(name, SAME)
        if t.kind not in (Kind.SUMS, Kind.SUMS_BELOW) and not (t.kind is Kind.SLOTS and self.guarded):
            return None
        if not t.seen:
            raise Refused(e.at, f"there is no barrier before `{name}` is read")
        inner = e.inner
        less = inner.a if isinstance(inner, Binary) and inner.op == "-" and self.idioms.fold(inner.b) == 1 else None
        got: T | None = None
        edits: Edits | None = None
        if t.kind is Kind.SLOTS:
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
            if t.kind in _BELOW:
                self._come(e)
                self._call_of_wave(e, "below", up.value.text)
                return t._replace(kind=_BELOW[t.kind])
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
        if self.idioms.number(lane) == 31:
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
        typ = self._argument_type(e, own.kinds, value)
        if value.kind is Kind.GATHERED:
            value = self._kept(value, typ, callee(e), e.at)
        t = self._scanned(callee(e), own.scans, value, e.at, self.here)
        t = t._replace(typ=typ) if t.kind is Kind.PREFIX else t
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
                elif place == "lane" and isinstance(yes, Name) and self.env.get(yes.text, SAME).kind in _MENDED:
                    was = self.env[yes.text]
                    t = was._replace(kind=_MENDED[was.kind])
                    self.spots.add(yes.at)
                else:
                    continue
                if not is_identity(self.unit, t.op, no):
                    raise Refused(no.at, f"the first {place} has a value that may count")
                self.edits.update(edits)
                self._spot(e.cond)
                return t
        return super()._gathered(e, here)
