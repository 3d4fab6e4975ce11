"""Values of kernels in which each warp has a row of its own: of the row, of an element, of a lane, or neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from cu2port.model import Edit, Span
from cu2port.unit import Unit
from cu2port.warp.model import Device
from cu2port.warp.native.idioms import Idioms, Reduction, Refused, is_whole
from cu2port.warp.native.lanes import FUNCTORS, IDEMPOTENT, MATH, Summary
from cu2port.warp.native.numbers import is_own_space
from cu2port.warp.native.row_memory import Memory
from cu2port.warp.native.types import AUTO, canonical, keeps
from cu2port.warp.native.values import SPACE
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

_LOADS = frozenset("__ldg __ldcs __ldcg __ldca __float2half_rn __half22float2 make_float2 make_float4 exp2f ceilf "
                   "floorf tanhf erff sinf cosf assert fma fmaf __fmaf_rn isnan isinf".split())  # fmt: skip
INDICES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})


class Kind(Enum):
    """What a value is."""

    ROW = "a value of a row"
    ELEMENT = "a value of an element"
    PART = "what a lane has of a row"
    LANE = "a lane id"
    WARP = "a warp id"
    COUNT = "a count of warps"
    SIZE = "the number of lanes"
    GLOBAL = "a thread's number in the grid"
    TILE = "a tile of threads"
    FIRST = "a value of a row that lane 0 alone has"
    MIXED = "one of several values"


class T(NamedTuple):
    """A type. `op`: of a PART; `node`: the constant that a variable was set to; `number`: the row's own number."""

    kind: Kind
    op: str = ""
    node: Expr | None = None
    number: bool = False


ROW, ELEMENT, FIRST, MIXED = T(Kind.ROW), T(Kind.ELEMENT), T(Kind.FIRST), T(Kind.MIXED)


@dataclass(slots=True)
class RowsFound:
    """A kernel whose rows may be done by wavefronts. `bound`: the number of rows, by the kernel's parameters, which the
    launches must cover; None if the kernel goes on until all are done. `single`: each block is one warp."""

    edits: dict[tuple[int, int], Edit]
    bound: Expr | None
    single: bool
    sites: tuple[CallExpr, ...] = ()


@dataclass(slots=True)
class RowValues:
    """What is known at a place of a kernel, and what expressions are there. Raises Refused."""

    unit: Unit
    idioms: Idioms
    d: Device
    look: Callable[[str], Summary | None]
    single: bool = False  # each block is one warp
    env: dict[str, T] = field(default_factory=dict)
    edits: dict[tuple[int, int], Edit] = field(default_factory=dict)
    spots: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    sites: list[CallExpr] = field(default_factory=list)
    bound: Expr | None = None
    rows: bool = False  # the row's number has been seen, and is below the bound
    seen: bool = False  # the number of a row
    over: bool = False  # what follows is for more than the rows
    changed: set[str] = field(default_factory=set)
    inside: bool = False  # a loop over lanes
    leader: bool = False
    loops: int = 0  # inside of that
    local: set[str] = field(default_factory=set)  # variables of the loop's body
    types: dict[str, str] = field(default_factory=dict)
    memory: Memory = field(init=False)
    target: Expr | None = None  # what is stored to

    def __post_init__(self) -> None:
        self.memory = Memory(self.unit)

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
        if lanes:
            for kind in (Kind.LANE, Kind.WARP, Kind.COUNT, Kind.SIZE):
                if self._special(e, kind):
                    return T(kind)
            if self._sure(lambda: self._is_global(e)):
                return T(Kind.GLOBAL)
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
                if self.single and (e.base.text, e.name) == ("blockIdx", "x"):
                    self.spots.add(e.base.at)
                    self.rows = True
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
        own = self.look(name)
        foreign = own is not None and isinstance(e.callee, Name) and e.callee.qualified
        if not isinstance(e.callee, Name) or name in self.env or (foreign and not is_own_space(self.unit, e.at)):
            raise Refused(e.at, f"what `{name}` does is not known")
        if own is not None and own.reduces and len(e.args) == 1:
            if isinstance(e.callee, Name) and len(e.callee.targs) > 1:
                raise Refused(e.at, f"`{name}` has arguments of its template that are not understood")
            self._same_type(e, own.kinds, own.reduces)
            t = self._reduced(name, own.reduces, self._value(e.args[0], lanes=True), e.at, own.low)
            self.sites.append(e)
            return t
        if own is not None or (name not in MATH and name not in _LOADS):
            raise Refused(e.at, f"what `{name}` does is not known")
        return self._mixed([self._first_too(x, lanes) for x in e.args])

    def _same_type(self, e: CallExpr, kinds: tuple[str, ...], op: str) -> None:
        """Raises Refused where a function may take a variable as another type than it has."""
        arg = e.args[0]
        typ = self.types.get(arg.text, "") if isinstance(arg, Name) else ""
        given = e.callee.targs if isinstance(e.callee, Name) else ()
        if len(kinds) == 1 and (kinds[0] or not given):
            if kinds[0] and not keeps(op, typ, kinds[0]):
                raise Refused(e.at, f"`{callee(e)}` takes {kinds[0]}")
        elif not typ or (typ not in kinds and set(kinds) != {""}):
            raise Refused(e.at, f"which `{callee(e)}` is called is not certain")
        elif given and not (isinstance(given[0], Name) and keeps(op, typ, canonical(given[0].text))):
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

    def _first(self, e: CallExpr) -> int:
        """The first token of a call."""
        if isinstance(e.callee, Member) and isinstance(e.callee.base, Name):
            return e.callee.base.at
        return self.unit.qualifier(e.at)

    def _sure(self, test: Callable[[], bool]) -> bool:
        """A test; what it has noted is forgotten where it fails."""
        edits, spots = dict(self.edits), set(self.spots)
        if test():
            return True
        self.edits, self.spots = edits, spots
        return False

    # --- lanes, warps and rows ------------------------------------------------------------------------------------

    def _tile(self, e: Expr) -> bool:
        if isinstance(e, Name) and self.env.get(e.text, MIXED) == T(Kind.TILE, "32"):
            self.spots.add(e.at)
            return True
        return False

    def _axis(self, e: Expr, name: str) -> bool:
        if isinstance(e, Member) and e.name == "x" and isinstance(e.base, Name) and e.base.text == name:
            self.spots.add(e.base.at)
            return True
        return False

    def _special(self, e: Expr, kind: Kind) -> bool:
        """Whether an expression is a lane, a warp, a count of warps, the number of lanes; then its edits are made."""
        return self._sure(lambda: self._is_special(e, kind))

    def _is_special(self, e: Expr, kind: Kind) -> bool:
        if isinstance(e, Name) and self.env.get(e.text, MIXED).kind is kind:
            self.spots.add(e.at)
            return True
        if isinstance(e, CallExpr) and isinstance(e.callee, Member) and not e.args:
            method = {"thread_rank": Kind.LANE, "meta_group_rank": Kind.WARP, "meta_group_size": Kind.COUNT,
                      "size": Kind.SIZE, "num_threads": Kind.SIZE}.get(e.callee.name)  # fmt: skip
            if method is not kind or not self._tile(e.callee.base):
                return False
            text = {Kind.LANE: f"(threadIdx.x % {SPACE}size())", Kind.WARP: f"(threadIdx.x / {SPACE}size())",
                    Kind.COUNT: f"{SPACE}count(blockDim.x)", Kind.SIZE: f"{SPACE}size()"}[kind]  # fmt: skip
            start, end = self.unit.p[self._first(e)], self.unit.end(e.close)
            self.edits[start, end] = Edit(start, end, (text,))
            self.spots.add(e.at)
            return True
        if kind is Kind.SIZE:
            if self.single and self._axis(e, "blockDim"):
                return True
            return self._size(e, 32, f"{SPACE}size()")
        if kind is Kind.LANE and self.single:
            return self._axis(e, "threadIdx")
        if not isinstance(e, Binary):
            return False
        if kind is Kind.LANE and e.op in ("%", "&") and self._axis(e.a, "threadIdx"):
            if e.op == "%":
                return self._size(e.b, 32, f"{SPACE}size()")
            if isinstance(e.b, Binary) and e.b.op == "-" and self.idioms.fold(e.b.b) == 1:
                return self._size(e.b.a, 32, f"{SPACE}size()")
            return self._size(e.b, 31, f"({SPACE}size() - 1)")
        if kind in (Kind.WARP, Kind.COUNT) and self._axis(e.a, "threadIdx" if kind is Kind.WARP else "blockDim"):
            return self._divided(e)
        return False

    def _divided(self, e: Binary) -> bool:
        """Division of threads by 32, whole wavefronts."""
        if e.op == "/":
            return self._size(e.b, 32, f"{SPACE}size()")
        if e.op == ">>" and self.idioms.number(e.b) == 5 and isinstance(e.b, (Num, Name)):
            start, end = self.unit.p[e.at], self.unit.end(e.b.at)
            self.edits[start, end] = Edit(start, end, (f"/ {SPACE}size()",))
            return True
        return False

    def _size(self, e: Expr, number: int, text: str) -> bool:
        if not isinstance(e, (Num, Name)) or self.idioms.number(e) != number or getattr(e, "qualified", False):
            return False
        start, end = self.unit.p[e.at], self.unit.end(e.at)
        self.edits[start, end] = Edit(start, end, (text,))
        self.spots.add(e.at)
        return True

    def _is_global(self, e: Expr) -> bool:
        """`blockIdx.x * blockDim.x + threadIdx.x`"""
        if isinstance(e, Name):
            return self._special(e, Kind.GLOBAL)
        if not (isinstance(e, Binary) and e.op == "+"):
            return False
        for a, b in ((e.a, e.b), (e.b, e.a)):
            if isinstance(a, Binary) and a.op == "*" and self._axis(b, "threadIdx"):
                for x, y in ((a.a, a.b), (a.b, a.a)):
                    if self._axis(x, "blockIdx") and self._axis(y, "blockDim"):
                        return True
        return False

    def _is_row(self, e: Expr) -> bool:
        """The number of a warp in the grid."""
        if not isinstance(e, Binary):
            return False
        if e.op in ("/", ">>") and self._is_global(e.a):
            return self._divided(e)
        if e.op != "+":
            return False
        for a, b in ((e.a, e.b), (e.b, e.a)):
            if isinstance(a, Binary) and a.op == "*":
                for x, y in ((a.a, a.b), (a.b, a.a)):
                    if self._axis(x, "blockIdx") and self._special(y, Kind.COUNT) and self._special(b, Kind.WARP):
                        return True
        return False

    def _is_total(self, e: Expr) -> bool:
        """The number of warps in the grid."""
        if not isinstance(e, Binary):
            return False
        if e.op in ("/", ">>") and isinstance(e.a, Binary) and e.a.op == "*":
            for x, y in ((e.a.a, e.a.b), (e.a.b, e.a.a)):
                if self._axis(x, "gridDim") and self._axis(y, "blockDim"):
                    return self._divided(e)
        if e.op == "*":
            for x, y in ((e.a, e.b), (e.b, e.a)):
                if self._axis(x, "gridDim") and self._special(y, Kind.COUNT):
                    return True
        return False


def is_name(e: Expr, name: str) -> bool:
    return isinstance(e, Name) and e.text == name
