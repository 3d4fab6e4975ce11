"""How CUDA code writes what it does with masks of lanes: lower lanes, ranks, counts, leaders; and where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from cu2port.model import Edit, Span
from cu2port.unit import Unit
from cu2port.warp.model import Device
from cu2port.warp.native_idioms import Idioms, Refused
from cu2port.warp.native_lanes import MATH, Lanes, Look
from cu2port.warp.native_values import SAME, Kind, T
from cu2port.warp.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Eval,
    Expr,
    If,
    Index,
    Jump,
    Loop,
    Member,
    Name,
    Num,
    Stmt,
    Switch,
    Unary,
    callee,
    heads,
    statements,
    walk,
)

_FULL = 0xFFFFFFFF
_CHANGES = frozenset("= += -= *= /= %= <<= >>= |= &= ^= ++ --".split())
COUNTS = frozenset({"__popc", "__popcll"})
_FIRSTS = frozenset({"__ffs", "__ffsll"})
SIZES = frozenset({"size", "num_threads"})
_BELOW = {"LaneMaskLt": "lt", "LaneMaskLe": "le"}


@dataclass(frozen=True, slots=True)
class Votes:
    """A mask that token `at` made of the lanes that are in `region` together: those for which `yes` holds, or all.
    `whole`: whole warps came there; `together`: all threads of the block; `key`: the variable of the value by which
    lanes were matched."""

    at: int
    region: int
    yes: Expr | None = None
    whole: bool = False
    key: str = ""
    together: bool = False


def conjuncts(e: Expr) -> list[Expr]:
    """What must hold for a condition to hold."""
    return [*conjuncts(e.a), *conjuncts(e.b)] if isinstance(e, Binary) and e.op == "&&" else [e]


def escapes(s: Stmt, loop: bool = False, switch: bool = False) -> bool:
    """Whether a statement may leave more than itself. `loop`, `switch`: it stands in one that it may leave."""
    if isinstance(s, Jump):
        return s.kind in ("return", "goto") or (s.kind == "break" and not (loop or switch)) or (
            s.kind == "continue" and not loop
        )  # fmt: skip
    if isinstance(s, Block):
        return any(escapes(x, loop, switch) for x in s.body)
    if isinstance(s, If):
        return escapes(s.then, loop, switch) or (s.other is not None and escapes(s.other, loop, switch))
    if isinstance(s, Loop):
        return escapes(s.body, True, switch)
    if isinstance(s, Switch):
        return escapes(s.body, loop, True)
    return False


class MaskForms(Lanes):
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

    def _is_cast(self, e: Expr) -> bool:
        """Whether an expression stands behind a type in brackets."""
        first, _ = self._between(e)
        return self.unit.tok(first - 1) == ")"

    # --- lanes ----------------------------------------------------------------------------------------------------

    def _is_lane(self, e: Expr) -> bool:
        """Whether an expression is the lane's number in its warp."""
        return self._lane(e) is not None

    def _is_full(self, e: Expr) -> bool:
        """Whether a mask names all 32 lanes: a constant, or a variable that holds one."""
        node = self._kind(e).node
        return self.idioms.full(e) or (node is not None and self.idioms.full(node))

    def _is_zero(self, e: Expr) -> bool:
        return isinstance(e, Num) and e.value == 0

    def _zeroed(self, e: Expr) -> Expr | None:
        """What a condition holds to be zero."""
        if isinstance(e, Unary) and e.op == "!":
            return e.x
        if isinstance(e, Binary) and e.op == "==":
            return e.a if self._is_zero(e.b) else e.b if self._is_zero(e.a) else None
        return None

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
        return self.env.get(e.text, SAME) if isinstance(e, Name) and not e.qualified else SAME

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
        if isinstance(e, Binary) and e.op == "&":
            for m, low in ((e.a, e.b), (e.b, e.a)):
                if self._is_mask(m) and (op := self._lower(low)):
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
        if t.kind in (Kind.PART, Kind.COUNTED):
            return t.mask
        if isinstance(e, CallExpr):
            name = callee(e)
            if name == "static_cast" and len(e.args) == 1:
                return self._count_of(e.args[0])
            if name in COUNTS and len(e.args) == 1 and self._is_mask(e.args[0]):
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
            if one and isinstance(call, CallExpr) and callee(call) in _FIRSTS and len(call.args) == 1:
                return self._leads(call.args[0], "first")
            call = e.b
            if isinstance(e.a, Num) and e.a.value == 31 and isinstance(call, CallExpr) and callee(call) == "__clz":
                return self._leads(call.args[0], "last") if len(call.args) == 1 else None
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
        if t.kind is Kind.RANK and t.op == "lt":
            mask = t.mask
        elif isinstance(zero, CallExpr):
            if callee(zero) == "thread_rank" and (g := self._group_of(zero)) is not None:
                mask = self._kind(g).mask
            elif callee(zero) in COUNTS and len(zero.args) == 1:
                below = self._below(zero.args[0])
                mask = self._kind(below[0]).mask if below is not None and below[1] == "lt" else -1
        if mask >= 0 and self.masks[mask].yes is None:
            return T(Kind.LEADER, "first", mask=mask)
        return None

    # --- predicates -----------------------------------------------------------------------------------------------

    def _form(self, e: Expr) -> object:
        """An expression without its place; None where it may have effects."""
        if isinstance(e, Unary) and e.op in ("!", "-", "~", "*"):
            x = self._form(e.x)
            return None if x is None else (e.op, x)
        if isinstance(e, Binary):
            a, b = self._form(e.a), self._form(e.b)
            return None if a is None or b is None else (e.op, a, b)
        if isinstance(e, Index):
            a, b = self._form(e.base), self._form(e.inner)
            return None if a is None or b is None else ("[]", a, b)
        return self.idioms.shape(e)

    def _stays(self, e: Expr, first: int, stop: int) -> bool:
        """Whether an expression has the same value at two tokens, one behind the other: what it is made of is not
        changed between them."""
        unit = self.unit
        for x in walk(e):
            if not isinstance(x, Name):
                continue
            if x.text in self.aliased:
                return False
            for i in range(first, stop):
                if unit.t[i] != x.text or unit.is_member(i):
                    continue
                before, after = unit.tok(i - 1), unit.tok(i + 1)
                if after in _CHANGES or before in ("++", "--", "&") or (after in "<>" and unit.tok(i + 3) == "="):
                    return False
                if before in ("(", ",") and after in (")", ",") and not self._takes_value(i):
                    return False
        deep = any(isinstance(x, Index) or (isinstance(x, Unary) and x.op == "*") for x in walk(e))
        return not (deep and self._stores(first, stop))

    def _takes_value(self, i: int) -> bool:
        """Whether what is called with a variable, token i, surely leaves it as it is."""
        unit = self.unit
        k = i
        while k > 0 and not (unit.t[k] == "(" and unit.match[k] > i):
            k -= 1
        name = unit.tok(k - 1)
        return name in MATH or name.startswith("__") or name in ("if", "while") or not name.isidentifier()

    def _stores(self, first: int, stop: int) -> bool:
        """Whether memory may be written between two tokens of the function, other than by CUDA's atomic operations."""
        for s in statements(self.d.body):
            for h in heads(s):
                for x in walk(h):
                    if isinstance(x, Assign) and first <= x.at < stop and not isinstance(x.target, Name):
                        return True
        return False

    def _is_yes(self, e: Expr, v: Votes, no: bool = False) -> bool:
        """Whether a condition is that by which lanes voted for a mask (`no`: by which they did not)."""
        if v.yes is None:
            return False
        if no:
            x = self._zeroed(e)
            return x is not None and self._is_yes(x, v)
        want = self._form(v.yes)
        return want is not None and self._form(e) == want and self._stays(v.yes, v.at, e.at)


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
