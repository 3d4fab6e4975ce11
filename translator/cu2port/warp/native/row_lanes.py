"""Lanes, warps and numbers of rows in kernels with a row for each warp; what is known at a place of such a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from cu2port.model import Edit
from cu2port.unit import Unit
from cu2port.warp.model import Device
from cu2port.warp.native.idioms import Idioms
from cu2port.warp.native.lanes import Look
from cu2port.warp.native.row_memory import Memory
from cu2port.warp.native.types import REAL, bits_of
from cu2port.warp.native.values import SPACE
from cu2port.warp.tree import Binary, CallExpr, Expr, Member, Name, Num

#: Words of types that do not hold the number of a thread.
NARROW = frozenset("char short int8_t uint8_t int16_t uint16_t ushort uchar bool float half double".split())
_WIDE = frozenset("int unsigned uint size_t int32_t uint32_t int64_t uint64_t long".split())


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
    TOTAL = "the number of warps in the grid"
    TILE = "a tile of threads"
    FIRST = "a value of a row that lane 0 alone has"
    START = "where a lane starts in a row"
    ITEM = "the number of an element among those of a lane"
    ITEMS = "the elements of a lane"
    THREAD = "a thread's number in its block"
    THREADS = "the number of threads in a block"
    BLOCK = "the number of a block"
    MIXED = "one of several values"


class T(NamedTuple):
    """A type. `op`: of a PART; of a START what is between two lanes, "" for 1, `|`, and where the row starts;
    of ITEMS how many; `node`: the constant that a variable was set to; `number`: the row's own number."""

    kind: Kind
    op: str = ""
    node: Expr | None = None
    number: bool = False


ROW, ELEMENT, FIRST, MIXED = T(Kind.ROW), T(Kind.ELEMENT), T(Kind.FIRST), T(Kind.MIXED)


#: What a variable of any type may hold.
PLAIN = frozenset({Kind.ROW, Kind.ELEMENT, Kind.PART, Kind.FIRST, Kind.TILE})


class Shape(Enum):
    """What a kernel's blocks are: a line of warps; one warp; a row of 32 threads for each warp, by `threadIdx.y`."""

    LINE = "line"
    ONE = "one"
    PLANE = "plane"


_HELD = {"threadIdx": Kind.THREAD, "blockDim": Kind.THREADS, "blockIdx": Kind.BLOCK}
_AXES = {kind: name for name, kind in _HELD.items()}


@dataclass(slots=True)
class RowsFound:
    """A kernel whose rows may be done by wavefronts. `bound`: the number of rows, by the kernel's parameters; None if
    it is not seen. `exact`: there must be as many wavefronts as CUDA has warps; else as many as there are rows, or any
    number where the kernel goes on until all are done. `warps`: of a block, if the kernel knows the number, else 0."""

    edits: dict[tuple[int, int], Edit]
    bound: Expr | None
    shape: Shape
    exact: bool
    warps: int
    sites: tuple[CallExpr, ...] = ()


@dataclass(slots=True)
class RowLanes:
    """What is known at a place of a kernel; lanes, warps and rows there. Raises Refused."""

    unit: Unit
    idioms: Idioms
    d: Device
    look: Look
    shape: Shape = Shape.LINE
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
    strided: bool = False  # the kernel goes on until all rows are done
    striding: bool = False  # here
    exact: bool = False  # something is done by each warp, whether it has a row or not
    warps: int = 0  # of a block, as the kernel has them for a constant
    changed: set[str] = field(default_factory=set)
    inside: bool = False  # a loop over lanes
    leader: bool = False
    loops: int = 0  # inside of that
    item: str = ""  # the variable of a loop over what lanes hold, and how many that is
    held: str = ""
    local: set[str] = field(default_factory=set)  # variables of the loop's body
    types: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, int] = field(default_factory=dict)  # of an element, and their dimensions
    values: set[str] = field(default_factory=set)  # of an element: no pointers, no references
    views: set[str] = field(default_factory=set)  # pointers to one of these
    numbers: set[str] = field(default_factory=set)  # variables that hold lanes, warps, threads
    set_anew: set[str] = field(default_factory=set)  # variables of the kernel that do not stay what they are
    memory: Memory = field(init=False)
    target: Expr | None = None  # what is stored to

    def __post_init__(self) -> None:
        self.memory = Memory(self.unit)

    def _sure(self, test: Callable[[], bool]) -> bool:
        """A test; what it has noted is forgotten where it fails."""
        edits, spots, warps = dict(self.edits), set(self.spots), self.warps
        if test():
            return True
        self.edits, self.spots, self.warps = edits, spots, warps
        return False

    def _peek(self, test: Callable[[], bool]) -> bool:
        """A test of which nothing is kept."""
        edits, spots, warps = dict(self.edits), set(self.spots), self.warps
        found = test()
        self.edits, self.spots, self.warps = edits, spots, warps
        return found

    def _is_wide(self, kind: str) -> bool:
        """Whether a type holds numbers of elements, and some more: it is not seen to be a narrow integer's."""
        if (bits := bits_of(kind)) or kind in REAL or kind == "bool":
            return bits >= 32
        at = [i for i in self.unit.find(kind.split(" ")[-1]) if {"typedef", "using"} & set(self.unit.t[i - 5 : i])]
        said = {w for i in at for w in self.unit.t[i - 5 : i + 6]}
        said |= {w for m in self.unit.macros.get(kind, ()) for w in self.unit.t[m.first : m.stop]}
        return said.isdisjoint(NARROW)

    def _tile(self, e: Expr) -> bool:
        if isinstance(e, Name) and self.env.get(e.text, MIXED) == T(Kind.TILE, "32"):
            self.spots.add(e.at)
            return True
        return False

    def _axis(self, e: Expr, name: str, axis: str = "x") -> bool:
        """`threadIdx.x` and the like, or a variable that holds it."""
        e = uncast(e)
        if isinstance(e, Name) and axis == "x" and self.env.get(e.text, MIXED).kind is _HELD.get(name):
            self.spots.add(e.at)
            return True
        if isinstance(e, Member) and e.name == axis and isinstance(e.base, Name) and e.base.text == name:
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
            return self._is_of_tile(e, e.callee, kind)
        if kind in _AXES:
            here = self.shape is Shape.LINE or (kind is Kind.BLOCK and self.shape is Shape.PLANE)
            return here and self._axis(e, _AXES[kind])
        if kind is Kind.SIZE:
            if self.shape is not Shape.LINE and self._axis(e, "blockDim"):
                return True
            return self._size(e, 32, f"{SPACE}size()")
        if kind is Kind.LANE and self.shape is not Shape.LINE and self._axis(e, "threadIdx"):
            return True
        if kind in (Kind.WARP, Kind.COUNT) and self.shape is Shape.PLANE:
            return self._axis(e, "threadIdx" if kind is Kind.WARP else "blockDim", "y")
        if not isinstance(e, Binary):
            return False
        if kind is Kind.LANE and e.op in ("%", "&") and (self._axis(e.a, "threadIdx") or self._is_global(e.a)):
            if e.op == "%":
                return self._size(e.b, 32, f"{SPACE}size()")
            if isinstance(e.b, Binary) and e.b.op == "-" and self.idioms.fold(e.b.b) == 1:
                return self._size(e.b.a, 32, f"{SPACE}size()")
            return self._size(e.b, 31, f"({SPACE}size() - 1)")
        if kind in (Kind.WARP, Kind.COUNT) and self._axis(e.a, "threadIdx" if kind is Kind.WARP else "blockDim"):
            return self._divided(e)
        return False

    def _is_of_tile(self, e: CallExpr, method: Member, kind: Kind) -> bool:
        """`warp.thread_rank()` and the like."""
        found = {"thread_rank": Kind.LANE, "meta_group_rank": Kind.WARP, "meta_group_size": Kind.COUNT,
                 "size": Kind.SIZE, "num_threads": Kind.SIZE}.get(method.name)  # fmt: skip
        if found is not kind or not self._tile(method.base):
            return False
        text = {Kind.LANE: f"(threadIdx.x % {SPACE}size())", Kind.WARP: f"(threadIdx.x / {SPACE}size())",
                Kind.COUNT: f"{SPACE}count(blockDim.x)", Kind.SIZE: f"{SPACE}size()"}[kind]  # fmt: skip
        if self.shape is Shape.PLANE:
            text = {Kind.LANE: "threadIdx.x", Kind.WARP: "threadIdx.y", Kind.COUNT: "blockDim.y"}.get(kind, text)
        start, end = self.unit.p[self._first(e)], self.unit.end(e.close)
        self.edits[start, end] = Edit(start, end, (text,))
        self.spots.add(e.at)
        return True

    def _first(self, e: CallExpr) -> int:
        """The first token of a call."""
        if isinstance(e.callee, Member) and isinstance(e.callee.base, Name):
            return e.callee.base.at
        return self.unit.qualifier(e.at)

    def _divided(self, e: Binary) -> bool:
        """Division of threads by 32, whole wavefronts."""
        if e.op == "/":
            return self._size(e.b, 32, f"{SPACE}size()")
        if e.op == ">>" and self._number(e.b) == 5 and isinstance(e.b, (Num, Name)):
            start, end = self.unit.p[e.at], self.unit.end(e.b.at)
            self.edits[start, end] = Edit(start, end, (f"/ {SPACE}size()",))
            self.spots.add(e.b.at)
            return True
        return False

    def _number(self, e: Expr) -> int | None:
        """The value of a constant, of the file or of the kernel itself."""
        if isinstance(e, Name) and e.text in self.env:
            return self.idioms.local.get(e.text)
        return self.idioms.number(e)

    def _size(self, e: Expr, number: int, text: str) -> bool:
        if not isinstance(e, (Num, Name)) or self._number(e) != number or getattr(e, "qualified", False):
            return False
        self._replace(e.at, e.at, text)
        self.spots.add(e.at)
        return True

    def _replace(self, first: int, last: int, text: str) -> None:
        """Tokens become something else."""
        start, end = self.unit.p[first], self.unit.end(last)
        self.edits[start, end] = Edit(start, end, (text,))

    def _start(self, e: Expr | None) -> T | None:
        """Where a lane starts in a row: `lane`, `lane * 4`, `first + lane`."""
        found: list[T] = []

        def test() -> bool:
            t = self._started(e) if e is not None else None
            if t is not None:
                found.append(t)
            return t is not None

        return found[0] if self._sure(test) else None

    def _started(self, e: Expr) -> T | None:
        e = uncast(e)
        if isinstance(e, Name) and self.env.get(e.text, MIXED).kind is Kind.START:
            self.spots.add(e.at)
            return self.env[e.text]
        if self._special(e, Kind.LANE):
            return T(Kind.START)
        if not isinstance(e, Binary):
            return None
        if e.op in ("*", "<<"):
            for a, b in ((e.a, e.b), (e.b, e.a)) if e.op == "*" else ((e.a, e.b),):
                between = self._between(b) if e.op == "*" else str(1 << (self._number(b) or 0))
                if between and self._special(a, Kind.LANE):
                    return T(Kind.START, between) if self._row_alone(b) else None
        if e.op == "+":
            for a, b in ((e.a, e.b), (e.b, e.a)):
                t = self._started(a)
                if t is not None:
                    return T(Kind.START, f"{t.op}|{self.memory.form(b)}") if self._row_alone(b) else None
        return None

    def _between(self, e: Expr) -> str:
        """What a lane's number is multiplied by, as one word for one number."""
        n = self._number(e)
        return str(n) if n is not None else str(self.memory.form(e)) if isinstance(e, (Name, Binary, Member)) else ""

    def _row_alone(self, e: Expr) -> bool:
        """Whether an expression is a value of the row."""
        raise NotImplementedError

    def _count(self, e: Expr) -> bool:
        """The number of warps in a block: counted, or a constant, which the launches must then give."""
        return self._special(e, Kind.COUNT) or self._fixed(e, 1, self._counted())

    def _counted(self) -> str:
        return "blockDim.y" if self.shape is Shape.PLANE else f"{SPACE}count(blockDim.x)"

    def _fixed(self, e: Expr, threads: int, text: str) -> bool:
        """A constant number of warps in a block, `threads` for each, or of threads."""
        n = self._number(e)
        if isinstance(e, Binary) and isinstance(e.a, (Num, Name)) and isinstance(e.b, (Num, Name)) and e.op == "/":
            a, b = self._number(e.a), self._number(e.b)
            n = a // b if a and b else None
            first, last = e.a.at, e.b.at
        elif isinstance(e, (Num, Name)):
            first = last = e.at
        else:
            return False
        if not n or n % threads or self.warps not in (0, n // threads):
            return False
        self.warps = n // threads
        self._replace(first, last, text)
        self.spots |= set(range(first, last + 1))
        return True

    def _is_global(self, e: Expr) -> bool:
        """`blockIdx.x * blockDim.x + threadIdx.x`"""
        e = uncast(e)
        if isinstance(e, Name):
            return self._special(e, Kind.GLOBAL)
        if self.shape is not Shape.LINE or not (isinstance(e, Binary) and e.op == "+"):
            return False
        for a, b in ((e.a, e.b), (e.b, e.a)):
            if isinstance(a, Binary) and a.op == "*" and self._axis(b, "threadIdx"):
                for x, y in ((a.a, a.b), (a.b, a.a)):
                    if self._axis(x, "blockIdx") and (self._axis(y, "blockDim") or self._fixed(y, 32, "blockDim.x")):
                        return True
        return False

    def _is_row(self, e: Expr) -> bool:
        """The number of a warp in the grid."""
        e = uncast(e)
        if not isinstance(e, Binary):
            return False
        if e.op in ("/", ">>") and self._is_global(e.a):
            return self._divided(e)
        if e.op != "+":
            return False
        for a, b in ((e.a, e.b), (e.b, e.a)):
            if isinstance(a, Binary) and a.op == "*":
                for x, y in ((a.a, a.b), (a.b, a.a)):
                    if self._axis(x, "blockIdx") and self._count(y) and self._special(b, Kind.WARP):
                        return True
        return False

    def _is_total(self, e: Expr) -> bool:
        """The number of warps in the grid."""
        if isinstance(e, Name):
            return self._special(e, Kind.TOTAL)
        if not isinstance(e, Binary):
            return False
        if e.op in ("/", ">>") and isinstance(e.a, Binary) and e.a.op == "*" and self.shape is Shape.LINE:
            for x, y in ((e.a.a, e.a.b), (e.a.b, e.a.a)):
                if self._axis(x, "gridDim") and self._axis(y, "blockDim"):
                    return self._divided(e)
        if e.op == "*":
            for x, y in ((e.a, e.b), (e.b, e.a)):
                if self._axis(x, "gridDim") and self._count(y):
                    return True
        return False


def uncast(e: Expr) -> Expr:
    """A number without casts to integers that hold as much."""
    while isinstance(e, CallExpr) and len(e.args) == 1 and isinstance(e.callee, Name):
        if e.callee.text == "static_cast" and len(e.callee.targs) == 1 and isinstance(e.callee.targs[0], Name):
            kind = e.callee.targs[0].text
        else:
            kind = e.callee.text
        if kind not in _WIDE:
            break
        e = e.args[0]
    return e
