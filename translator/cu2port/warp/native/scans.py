"""Scans in native code: over a warp, over the slots of a block's warps, and the two put together.

A thread's value in a scan over the warp depends on the number of lanes, and so does what the earlier warps come to. The
two put together do not: they are what the block's threads up to this one come to. Both carry the token of the scan that
they come from, so that only what belongs together is put together; what is the same for any number of lanes may be
added to either.
"""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.model import Edit
from cu2port.warp.native.idioms import CALLS, Reduced, Reduction, Refused
from cu2port.warp.native.lanes import MATH, Here
from cu2port.warp.native.reductions import Reductions
from cu2port.warp.native.scan_idioms import Questions, ScanMatcher
from cu2port.warp.native.types import REAL, bits_of
from cu2port.warp.native.values import MIXED, SAME, Kind, T, is_plain
from cu2port.warp.tree import (
    Assign,
    Binary,
    CallExpr,
    Expr,
    Lambda,
    Name,
    Num,
    Stmt,
    Unary,
    callee,
    expressions,
    root,
    walk,
)
from cu2port.warpnames import declares

#: Comparisons with a number: 1 where what is compared is not 0, -1 where it is.
SIDES = {(">", 0): 1, ("!=", 0): 1, (">=", 1): 1, ("==", 0): -1, ("<", 1): -1, ("<=", 0): -1}
OPERATORS = {"+": "add", "*": "mul", "|": "or", "&": "and", "^": "xor"}
_SHUFFLES = frozenset({"__shfl_up_sync", "__shfl_up", "shfl_up", "inclusive_scan", "exclusive_scan"})
UP = frozenset({Kind.PREFIX, Kind.UPTO, Kind.RANK})
BELOW = {Kind.PREFIX: Kind.SHIFTED, Kind.SCANNED: Kind.SHIFTED_SLOTS}
MENDED = {Kind.SHIFTED: Kind.UPTO, Kind.SHIFTED_SLOTS: Kind.BELOW_SLOTS}
Edits = dict[tuple[int, int], Edit]
#: Types in which the sum of 64 lanes may not have room where that of 32 has.
_NARROW = frozenset("char short int8_t uint8_t int16_t uint16_t uchar ushort u8 u16 half __half bool".split())


class Scans(Reductions):
    """What scans make of values, in the walk over one function. Raises Refused."""

    scanning: bool | None = None  # whether the function has scans at all

    def _argument_type(self, e: CallExpr, kinds: tuple[str, ...], t: T, given: str) -> str:
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
        nodes = [self.env.get(f.name, SAME).node for f in got.found]
        types = [self._scanned(f.name, f.op, self.env.get(f.name, SAME), f.at, here) for f in got.found]
        for f, t, node in zip(got.found, types, nodes, strict=True):
            self._see_room(f)
            t = t._replace(own=self._steady(node)) if t.kind is Kind.PREFIX else t
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

    def _is_spare(self, name: str, got: Reduction) -> bool:
        """Whether a variable is used by a scan alone, and declared without a value."""
        unit, (first, stop) = self.unit, self.d.fn.body
        others = [i for i in range(first, stop) if unit.t[i] == name and not got.first <= i <= got.last]
        return all(declares(unit, i) and unit.t[i + 1] in (";", ",") for i in others)

    def _see_room(self, f: Reduced) -> None:
        """Refuses sums in types so narrow that they may be made for 32 lanes."""
        unit = self.unit
        declared = [x.at for x in self.d.declarations(f.name)]
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
        if t.kind is Kind.LOOSE and t.op == op:
            return T(Kind.SCANNED, op, few=True, typ=t.typ, scan=t.scan)
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
            if (a.kind, a.op, a.scan) == (Kind.SCANNED, "add", b.scan) and b.kind in (Kind.GATHERED, Kind.LOOSE):
                return a._replace(kind=Kind.BELOW_SLOTS)
            if a.kind is Kind.PREFIX and a.op == "add" and self._is_own(self._operand(e, 1), a):
                return a._replace(kind=Kind.UPTO)
            return self._with(a, self._operand(e, 1)) if is_plain(b) and a.op == "add" else None
        if op is None or op not in (a.op, b.op):
            return None
        if {a.kind, b.kind} & UP and Kind.BEFORE in (a.kind, b.kind):
            return SAME if (a.op, a.scan, a.typ) == (b.op, b.scan, b.typ) else None
        for n, (x, y) in enumerate(((a, b), (b, a))):
            if (x.kind, x.op, x.scan) == (Kind.BELOW_SLOTS, "add", y.scan) and y.kind in (Kind.GATHERED, Kind.LOOSE):
                return x._replace(kind=Kind.SCANNED)
            if x.kind is Kind.UPTO and x.op == "add" and self._is_own(self._operand(e, 1 - n), x):
                return x._replace(kind=Kind.PREFIX)
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
        return t._replace(kind=Kind.UPTO, own="") if t.kind in UP else t

    @staticmethod
    def _is_own(e: Expr, t: T) -> bool:
        """Whether an expression is the variable that was scanned."""
        return bool(t.own) and isinstance(e, Name) and e.text == t.own and not e.qualified and not e.targs

    def _steady(self, e: Expr | None) -> str:
        """The name of a variable that is declared once and never changed; "" for anything else."""
        if not isinstance(e, Name) or e.text not in self.own or e.text in self.lent or e.qualified or e.targs:
            return ""
        name = e.text
        params = [p.name for p in self.d.params if p.name == name]
        declared = self.d.declarations(name)
        if len(params) + len(declared) != 1 or any(x.dims or x.shared or x.pointer for x in declared):
            return ""
        if any(self.unit.tok(x.at - 1) in ("&", "&&", "*") or x.init is None for x in declared):
            return ""
        for x in expressions(self.d.body):
            if isinstance(x, Assign) and root(x.target) == name:
                return ""
            if isinstance(x, Unary) and x.op in ("&", "++", "--", "p++", "p--") and root(x.x) == name:
                return ""
            if isinstance(x, Lambda):
                return ""
            given = isinstance(x, CallExpr) and any(isinstance(y, Name) and y.text == name for y in x.args)
            if given and isinstance(x, CallExpr) and not (self._takes_values(x) or x.at in self.idioms.cudas):
                return ""
        return name

    def _takes_values(self, e: CallExpr) -> bool:
        """Whether a function surely changes none of its arguments."""
        own = self.look(callee(e)) if isinstance(e.callee, Name) else None
        return bool(own.reduces or own.scans) if own is not None else callee(e) in MATH

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
