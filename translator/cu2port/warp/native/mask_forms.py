"""How CUDA code writes what it does with masks of lanes: lower lanes, ranks, counts, leaders; and where it stands."""

from __future__ import annotations

from cu2port.lexer import is_identifier
from cu2port.model import Edit, Span
from cu2port.unit import Unit
from cu2port.warp.model import Device
from cu2port.warp.native.idioms import Idioms, Refused
from cu2port.warp.native.lanes import Look
from cu2port.warp.native.types import COUNT
from cu2port.warp.native.values import SAME, Kind, T
from cu2port.warp.native.votes import Predicates, Votes
from cu2port.warp.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Eval,
    Expr,
    If,
    Index,
    Member,
    Name,
    Num,
    Stmt,
    Unary,
    callee,
    walk,
)

_FULL = 0xFFFFFFFF
COUNTS = frozenset({"__popc", "__popcll"})
_FIRSTS = frozenset({"__ffs", "__ffsll"})
_LASTS = frozenset({"__clz"})
_WIDE = frozenset(
    "int unsigned long uint int32_t uint32_t int64_t uint64_t size_t ptrdiff_t std :: const auto".split()
) | {COUNT}
#: What values may be that masks are behind; those of other walks are not made here.
OWN = frozenset({Kind.MASK, Kind.LOWER, Kind.GROUP, Kind.RANK, Kind.COUNTED, Kind.ELECTED, Kind.LEADER, Kind.BASE,
                 Kind.PLACE})  # fmt: skip
SIZES = frozenset({"size", "num_threads"})
_BELOW = {"LaneMaskLt": "lt", "LaneMaskLe": "le"}


class MaskForms(Predicates):
    """Matches over trees at a place of the walk. They change nothing but the spots of what they understand."""

    def __init__(self, unit: Unit, idioms: Idioms, d: Device, look: Look) -> None:
        super().__init__(unit, idioms, d, look)
        self.masks: dict[int, Votes] = {}  # by the tokens that make them

    # --- places ---------------------------------------------------------------------------------------------------

    def _between(self, e: Expr) -> tuple[int, int]:
        """The first and the last token of an expression, with the brackets that its parts stand in."""
        unit = self.unit
        spots = [x.at for x in walk(e)]
        for x in walk(e):
            if isinstance(x, CallExpr):
                spots += [x.close, unit.qualifier(x.at)]
            elif isinstance(x, Name):
                spots.append(unit.qualifier(x.at))
            elif isinstance(x, Index):
                k = x.at if unit.t[x.at] == "[" else x.base.at + 1
                spots.append(unit.match[k] if unit.t[k] == "[" else k)
        lo, hi = min(spots), max(spots)
        grown = True
        while grown:
            grown = False
            for k in range(lo, hi + 1):
                if unit.match[k] >= 0 and not lo <= unit.match[k] <= hi:
                    lo, hi, grown = min(lo, unit.match[k]), max(hi, unit.match[k]), True
        return lo, hi

    def _instead(self, e: Expr, *parts: str | Span) -> None:
        """Other code for an expression."""
        first, last = self._between(e)
        start, end = self.unit.p[first], self.unit.end(last)
        self.edits[start, end] = Edit(start, end, parts)
        self._spot(e)

    def _text(self, e: Expr) -> Span:
        """An expression as it stands, with the edits inside it."""
        first, last = self._between(e)
        return Span(self.unit.p[first], self.unit.end(last))

    def _argument_text(self, e: CallExpr, n: int) -> Span:
        call = self.unit.call(e.at)
        if call is None or n >= len(call.args):
            raise Refused(e.at, "a call that is not understood")
        return Span(call.args[n].start, call.args[n].end)

    def _casts(self, e: Expr) -> list[list[str]]:
        """The types, by their words, that an expression is cast to in C's way where it stands."""
        unit = self.unit
        out: list[list[str]] = []
        lo, hi = self._between(e)
        while True:
            before = unit.tok(lo - 1)
            if before == "(" and unit.match[lo - 1] == hi + 1 and not is_identifier(unit.tok(lo - 2)):
                lo, hi = lo - 1, hi + 1
                if unit.tok(lo - 1) == ">":
                    opener = unit.angle_open(lo - 1)
                    if opener <= 0 or not unit.t[opener - 1].endswith("_cast"):
                        return out
                    out.append(unit.t[opener + 1 : lo - 1])
                    lo = opener - 1
            elif before == ")" and unit.match[lo - 1] >= 0 and not is_identifier(unit.tok(unit.match[lo - 1] - 1)):
                out.append(unit.t[unit.match[lo - 1] + 1 : lo - 1])
                lo = unit.match[lo - 1]
            else:
                return out

    def _is_wide(self, words: list[str]) -> bool:
        """Whether a type holds any number of lanes, and any place."""
        return _WIDE.issuperset(words) or (len(words) == 1 and words[0] in {p.name for p in self.d.tparams})

    def _is_cut(self, e: Expr) -> bool:
        """Whether a value is cast to a type that may not hold it."""
        return not all(map(self._is_wide, self._casts(e)))

    # --- lanes ----------------------------------------------------------------------------------------------------

    def _is_lane(self, e: Expr) -> bool:
        """Whether an expression is the lane's number in its warp."""
        if self._lane(e) is None or self._is_cut(e):
            return False
        return not isinstance(e, Name) or self.types.get(e.text) != "bool"

    def _is_full(self, e: Expr) -> bool:
        """Whether a mask names all 32 lanes: a constant, or a variable that holds one."""
        node = self._kind(e).node
        return self.idioms.full(e) or (node is not None and self.idioms.full(node))

    def _counted_up(self, e: Expr) -> Expr | None:
        """What a condition holds to be more than zero, or not to be zero: `x`, `x != 0`, `x > 0`, `x >= 1`."""
        if isinstance(e, Binary):
            if (e.op in ("!=", ">") and self._is_zero(e.b)) or (
                e.op == ">=" and isinstance(e.b, Num) and e.b.value == 1
            ):
                return e.a
            return e.b if e.op in ("!=", "<") and self._is_zero(e.a) else None
        return e if isinstance(e, (Name, CallExpr)) else None

    # --- masks ----------------------------------------------------------------------------------------------------

    def _kind(self, e: Expr) -> T:
        """The type of a variable; SAME for anything else."""
        t = self._raw(e)
        return SAME if t.kind in OWN and self._is_cut(e) else t

    def _raw(self, e: Expr) -> T:
        return self.env.get(e.text, SAME) if isinstance(e, Name) and not e.qualified else SAME

    def _is_cudas(self, e: CallExpr, names: frozenset[str]) -> bool:
        """Whether a call is one of CUDA's functions of some names."""
        name = callee(e)
        if name not in names or not isinstance(e.callee, Name) or name in self.unit.macros or name in self.env:
            return False
        return not any(f.name == name for f in self.unit.functions)

    def _is_mask(self, e: Expr) -> bool:
        return self._kind(e).kind is Kind.MASK

    def _lower(self, e: Expr) -> str:
        """ "lt" for a mask of the lanes below this one, "le" for one with this lane too; else ""."""
        if self._kind(e).kind is Kind.LOWER:
            return self._kind(e).op
        fold = self.idioms.fold
        if isinstance(e, Binary) and e.op == "-" and fold(e.b) == 1:
            s = e.a
            if isinstance(s, Binary) and s.op == "<<" and isinstance(s.a, Num):
                if s.a.value in (1, 2) and self._is_lane(s.b):
                    return "lt" if s.a.value == 1 else "le"
                up = s.b
                if s.a.value == 1 and isinstance(up, Binary) and up.op == "+" and fold(up.b) == 1:
                    return "le" if self._is_lane(up.a) else ""
        if isinstance(e, Unary) and e.op == "~" and isinstance(e.x, Binary) and e.x.op == "<<":
            bits = fold(e.x.a)
            if bits is not None and bits & _FULL == _FULL and self._is_lane(e.x.b):
                return "lt"
        if isinstance(e, Binary) and e.op == ">>" and isinstance(e.b, Binary) and e.b.op == "-":
            bits, top = fold(e.a), self.idioms.number(e.b.a)
            if bits == _FULL and top in (31, 32) and self._is_lane(e.b.b):
                return "le" if top == 31 else "lt"
        if isinstance(e, CallExpr) and not e.args and isinstance(e.callee, Name) and e.callee.qualified:
            return _BELOW.get(callee(e), "") if self.unit.tok(self.unit.qualifier(e.at)) in ("cub", "::") else ""
        return ""

    def _below(self, e: Expr) -> tuple[Expr, str] | None:
        """The mask and the kind of lower lanes, of `mask & lower`."""
        if isinstance(e, Binary) and e.op == "&" and not self._is_cut(e):
            for m, low in ((e.a, e.b), (e.b, e.a)):
                if self._is_mask(m) and not self._is_cut(low) and (op := self._lower(low)):
                    return m, op
        return None

    def _own_bit(self, e: Expr) -> Expr | None:
        """The mask of `(m >> lane) & 1`, which is whether this lane is in it."""
        if isinstance(e, Binary) and e.op == "&" and isinstance(e.b, Num) and e.b.value == 1:
            s = e.a
            if isinstance(s, Binary) and s.op == ">>" and self._is_mask(s.a) and self._is_lane(s.b):
                return s.a
        return None

    def _own_bits(self, e: Expr) -> Expr | None:
        """The mask of a condition that asks for this lane's bit: `m & (1u << lane)`, `... != 0`."""
        if isinstance(e, Binary) and e.op == "!=" and self._is_zero(e.b):
            e = e.a
        if isinstance(e, Binary) and e.op == "&":
            for m, bit in ((e.a, e.b), (e.b, e.a)):
                one = isinstance(bit, Binary) and bit.op == "<<" and isinstance(bit.a, Num) and bit.a.value == 1
                if one and isinstance(bit, Binary) and self._is_mask(m) and self._is_lane(bit.b):
                    return m
        return self._own_bit(e)

    def _count_of(self, e: Expr) -> int:
        """The mask whose lanes an expression counts; -1 for anything else."""
        t = self._kind(e)
        if self._is_cut(e):
            return -1
        if t.kind in (Kind.PART, Kind.COUNTED):
            return t.mask
        if isinstance(e, CallExpr):
            name = callee(e)
            if self._is_cudas(e, COUNTS) and len(e.args) == 1 and self._is_mask(e.args[0]):
                return self._kind(e.args[0]).mask
            if name in SIZES and not e.args and (g := self._group_of(e)) is not None:
                return self._kind(g).mask
        return -1

    def _group_of(self, e: CallExpr) -> Expr | None:
        """The group whose method is called."""
        if isinstance(e.callee, Member) and self._kind(e.callee.base).kind is Kind.GROUP:
            return e.callee.base
        return None

    def _leader(self, e: Expr) -> T | None:
        """`__ffs(m) - 1` and `31 - __clz(m)` of a mask, and variables that hold them."""
        t = self._kind(e)
        if t.kind is Kind.LEADER:
            return t
        if isinstance(e, Binary) and e.op == "-":
            one, call = isinstance(e.b, Num) and e.b.value == 1, e.a
            if one and isinstance(call, CallExpr) and self._is_cudas(call, _FIRSTS) and len(call.args) == 1:
                return self._leads(call.args[0], "first")
            call = e.b
            if isinstance(e.a, Num) and e.a.value == 31 and isinstance(call, CallExpr) and len(call.args) == 1:
                return self._leads(call.args[0], "last") if self._is_cudas(call, _LASTS) else None
        return None

    def _leads(self, m: Expr, op: str) -> T | None:
        return T(Kind.LEADER, op, mask=self._kind(m).mask) if self._is_mask(m) else None

    # --- leaders --------------------------------------------------------------------------------------------------

    def _elects(self, c: Expr) -> T | None:
        """Which lane a condition chooses: the first or the last of a mask, or lane 0 ("zero")."""
        t = self._kind(c)
        if t.kind is Kind.ELECTED:
            return t
        if isinstance(c, Binary) and c.op == "==":
            for lane, who in ((c.a, c.b), (c.b, c.a)):
                leader = self._leader(who)
                if leader is not None and self._is_lane(lane):
                    return leader
        zero = self._zeroed(c)
        if zero is None:
            return None
        if self._is_lane(zero):
            return T(Kind.LEADER, "zero")
        mask = -1
        t = self._kind(zero)
        if t.kind is Kind.RANK and not t.few:
            mask = t.mask
        elif isinstance(zero, CallExpr):
            if callee(zero) == "thread_rank" and (g := self._group_of(zero)) is not None:
                mask = self._kind(g).mask
            elif self._is_cudas(zero, COUNTS) and len(zero.args) == 1:
                below = self._below(zero.args[0])
                mask = self._kind(below[0]).mask if below is not None and below[1] == "lt" else -1
        if mask >= 0 and self.masks[mask].yes is None:
            return T(Kind.LEADER, "first", mask=mask)
        return None


def atomic_calls(s: Stmt) -> list[tuple[Name | None, CallExpr, Expr | None]] | None:
    """The calls of a branch that does nothing but add to places: what gets the old value, the call, and the condition
    that it stands behind. None for anything else."""
    out: list[tuple[Name | None, CallExpr, Expr | None]] = []
    for x in s.body if isinstance(s, Block) else (s,):
        if isinstance(x, If) and x.other is None:
            inner = atomic_calls(x.then)
            if inner is None or any(c is not None for _, _, c in inner):
                return None
            out += [(a, b, x.cond) for a, b, _ in inner]
        elif isinstance(x, Eval) and x.end >= 0:
            e = x.expr
            target: Name | None = None
            if isinstance(e, Assign) and e.op == "=" and isinstance(e.target, Name):
                target, e = e.target, e.value
            if not (isinstance(e, CallExpr) and isinstance(e.callee, Name) and len(e.args) == 2):
                return None
            out.append((target, e, None))
        else:
            return None
    return out or None
