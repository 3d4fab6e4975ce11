"""Expressions to abstract values. Literals that meet a thread, a lane or a warp on the way get their roles."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cu2port.facts.unit import Unit
from cu2port.syntax import constants
from cu2port.syntax.tree import (
    Assign,
    Binary,
    Block,
    CallExpr,
    Expr,
    Index,
    Lambda,
    Member,
    Name,
    Num,
    Other,
    Ternary,
    Unary,
    root,
)
from cu2port.warp.arith import binary
from cu2port.warp.conditions import negate
from cu2port.warp.events import Event, Frame, Store
from cu2port.warp.model import Device
from cu2port.warp.outer_names import OuterNames
from cu2port.warp.roles import Role, is_size
from cu2port.warp.uses import WATCHED, WIDE, Array, Use, names_in
from cu2port.warp.values import (
    LANES,
    NOTHING,
    UNIFORM,
    VARY,
    Kind,
    Step,
    V,
    by_name,
    join,
    join_all,
    named_constant,
)
from cu2port.warp.variables import held

OF_BITS = re.compile(r"(?i)bits?(?:\b|_|\Z)|(?-i:Bits?)|word|digit|radix")
_ORDER = frozenset("< > <= >=".split())
_LANES = frozenset({Kind.LANE, Kind.LANE_PLUS})
#: What lanes may start from, or walk over.
_STARTS = frozenset({Kind.UNKNOWN, Kind.DATA, Kind.PART, Kind.NUMBER, Kind.STEP})
_SPREAD = frozenset({Kind.LANE, Kind.THREAD})
_PLAIN = frozenset({Kind.UNKNOWN, Kind.NUMBER, Kind.DATA})
_COMPARING = frozenset("< > <= >= == != && ||".split())


class Evaluator:
    """Values of expressions in one file; statements are `Interpreter`'s."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.devices: dict[str, list[Device]] = {}
        self.uses: dict[int, dict[Use, None]] = {}
        self.arrays: dict[int, Array] = {}
        self.shared: dict[str, Array] = {}
        self.env: dict[str, V] = {}
        self.device: Device | None = None
        self.frames: tuple[Frame, ...] = ()
        self.loops: tuple[int, ...] = ()
        self.hint = ""
        self.dirty: dict[str, None] = {}
        self.extents: set[tuple[str, str]] = set()  # function and names of what lanes are compared with
        self._sides: tuple[V, Expr, V, Expr] | None = None  # of the operator that is being evaluated
        self.widths: dict[str, tuple[frozenset[int], frozenset[int]]] = {}  # parameters of headers' functions
        self.results: dict[str, Kind] = {}
        self.lanes_of: set[tuple[str, int]] = set()  # functions and positions that lanes are passed to
        self.numbers_of: dict[tuple[str, int], dict[tuple[V, str], None]] = {}  # and that literals are passed to
        self.masks: set[str] = set()  # members that hold masks of lanes
        self.outer = OuterNames(unit, self.value)
        self._handlers: dict[type, Callable[[Any], V]] = {
            Num: self._num,
            Name: self._name,
            Binary: self._binary,
            Member: self._member,
            Index: self._index,
            CallExpr: self._call,
            Unary: self._unary,
            Assign: self._assign,
            Ternary: self._ternary,
            Lambda: self._lambda,
            Other: self._other,
        }

    def outside(self) -> None:
        """Look at constants of classes and of the file, which no function may have used."""
        for name, first in self.outer.constants.items():
            if any(t[0].isdigit() and constants.integer(t) in WATCHED for t in self.unit.t[first : first + 12]):
                self.device, self.hint = None, name
                self.bind(name, self.outer.at(first), first)
        self.hint = ""
        self.env = {}

    # --- what is found out ----------------------------------------------------------------------------------------

    def use(self, b: V, role: Role, lane: bool | None, other: V) -> None:
        """A literal's role."""
        if not b.src:
            return
        name = self.device.name if self.device is not None else ""
        about = ""
        if self._sides is not None:
            va, a, vb, side = self._sides
            about = names_in(a if other is va else side if other is vb else Other(0))
        named = any(not self.unit.t[at][0].isdigit() for at in b.src)
        u = Use(role, lane, other.kind, other.why, self.hint, name, about, named, self.in_first_warp())
        for at in b.src:
            self.uses.setdefault(at, {})[u] = None

    def in_first_warp(self) -> bool:
        """Whether only one warp comes here: the branch of `if (threadIdx.x < 32)`."""
        return any(f.cond.num == (WIDE, -WIDE)[f.arm] for f in self.frames if f.arm in (0, 1))

    def event(self, kind: str, at: int, name: str, values: tuple[V, ...] = (), node: CallExpr | None = None) -> None:
        """Something lanes must agree on."""
        if self.device is None:
            return
        place = self.outer.site if self.outer.site >= 0 else at
        old = self.device.events.get((kind, place))
        if old is not None and place != at and [f[:2] for f in old.frames] != [f[:2] for f in self.frames]:
            place = at  # a macro that meets lanes in several branches of its own
        self.device.events[kind, place] = Event(kind, place, name, self.frames, self.loops, values, node)

    def statements(self, body: Block) -> None:
        """Interpret statements of a macro or a lambda: `Interpreter` does."""
        raise NotImplementedError

    def bind(self, name: str, v: V, at: int) -> None:
        """Give a variable a value."""
        self.env[name] = held(name, v, at, self.use)

    # --- expressions -----------------------------------------------------------------------------------------------

    def value(self, e: Expr | None) -> V:
        """The value of an expression."""
        handler = self._handlers.get(type(e))
        return handler(e) if handler is not None else NOTHING

    def _num(self, e: Num) -> V:
        n = e.value
        return V(Kind.NUMBER, UNIFORM, n, (e.at,) if n in WATCHED else (), type=e.type)

    def _binary(self, e: Binary) -> V:
        hint = self.hint
        if e.op in _COMPARING:
            self.hint = ""
        a, b = self.value(e.a), self.value(e.b)
        self.hint = hint
        self._sides = (a, e.a, b, e.b)
        if e.op == "/" and a.num == WIDE and a.src and b.num != WIDE and "per_warp" in names_in(e.b).lower():
            self.use(a, Role.SIZE, True, b)  # `32 / ROWS_PER_WARP` lanes a row
        if e.op == "/" and b.num == WIDE and a.kind in _PLAIN and OF_BITS.search(names_in(e.a)):
            self.use(b, Role.BITS, False, a)  # `HASH_BITS / 32` words
            self._sides = None
            return V(Kind.UNKNOWN, a.vary, None, (), a.why)
        if e.op in _COMPARING:
            for x, node in ((a, e.b), (b, e.a)):
                if x.kind is Kind.QUOTIENT and isinstance(node, Name) and by_name(node.text) is Kind.COUNT:
                    self.use(x, Role.COUNT, True, V(Kind.COUNT))  # `static_assert(warps == threads / 32)`
        v = binary(e.op, a, b, e.at, self.use)
        self._sides = None
        if e.op == "*" and self.device is not None:
            for x, node in ((a, e.b), (b, e.a)):
                if x.kind in _SPREAD and isinstance(node, Name):
                    self.extents.add((self.device.name, f"*{node.text}"))  # so many values for each lane
                elif x.num == WIDE and x.src and isinstance(node, Name):
                    self.factor(x, node)
        if e.op in "/%" and a.kind is Kind.QUOTIENT and isinstance(e.b, Name):
            self.factor(a, e.b)
        if e.op == "+" and self.device is not None:
            for x, node in ((a, e.b), (b, e.a)):
                if x.kind is Kind.LANE and isinstance(node, Name):
                    self.extents.add((self.device.name, f"+{node.text}"))  # lanes start from there
        if e.op in _ORDER and self.device is not None:
            for x, y, node in ((a, b, e.b), (b, a, e.a)):
                if x.kind in _LANES and y.num is None and y.vary == UNIFORM and (about := names_in(node)):
                    self.extents.add((self.device.name, about))
        if v.kind is Kind.LANE_BIT and e.op == "<<":
            self.event("lane-bit", e.at, e.op, (b,))
        return v

    def factor(self, x: V, node: Name) -> None:
        """Note that a literal is multiplied by a name: what it counts is told by what else is."""
        self._sides = (x, Name(node.at, f"*{node.text}"), x, node)
        self.use(x, Role.COUNT, None, x)
        self._sides = None

    def _ternary(self, e: Ternary) -> V:
        cond = self.value(e.cond)
        a, b = self.value(e.a), self.value(e.b)
        self._sentinel(e, a, b)
        out = join(a, b)
        return out._replace(vary=max(out.vary, cond.vary), num=None if cond.vary else out.num)

    def _sentinel(self, e: Ternary, a: V, b: V) -> None:
        """`n == 32 ? 0xffffffff : (1u << n) - 1`, a mask of n lanes; `i < 32 ? i : lane`, 32 for no lane."""
        if not isinstance(e.cond, Binary) or e.cond.op not in _COMPARING:
            return
        limit = self.value(e.cond.b)
        if not limit.src or limit.num != WIDE:
            return
        full = {x.num for x in (a, b)} & {-1, 0xFFFFFFFF}
        if e.cond.op in ("==", ">=") and full and not OF_BITS.search(names_in(e)):
            self.use(limit, Role.SIZE, None, V(Kind.SHIFTED))
        for x, other in ((a, e.b), (b, e.a)):
            if x.kind is Kind.LANE and names_in(other) == names_in(e.cond.a):
                self.use(limit, Role.SIZE, True, x)

    def _lambda(self, e: Lambda) -> V:
        outer = self.env
        self.env = {**outer, **{p.name: NOTHING for p in e.params}}
        self.statements(e.body)
        self.env = outer
        return NOTHING

    def _other(self, e: Other) -> V:
        return join_all([self.value(p) for p in e.parts])._replace(num=None) if e.parts else NOTHING

    def _name(self, e: Name) -> V:
        text = e.text
        v = self.env.get(text)
        if v is not None:
            if v.num in (32, 31, 5) and v.kind in (Kind.NUMBER, Kind.SIZE):
                return v._replace(src=(*v.src, e.at) if e.at not in v.src else v.src)
            return v
        if text in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            return NOTHING
        if text == "warpSize" or (text == "size" and e.qualified and self.unit.tok(e.at - 2) == "warp"):
            return V(Kind.SIZE, UNIFORM, None, (e.at,))
        constant = self.outer.constant(text, e.at, self.device is not None)
        if constant is not None:
            return constant
        if e.qualified and by_name(self.unit.tok(e.at - 2)) is Kind.COUNT:  # `WarpCount::kCount`
            return V(Kind.COUNT)
        for t in e.targs:
            self.value(t)
        known = by_name(text) if text not in self.devices and not text.isupper() else Kind.UNKNOWN
        if known in (Kind.LANE, Kind.WARP):  # a class's member, say
            return V(known, VARY[known], None, (), Step(e.at, f"`{text}` is {known.value} by its name", None))
        return NOTHING

    def _member(self, e: Member) -> V:
        if isinstance(e.base, Name):
            name, axis = e.base.text, e.name
            if name == "threadIdx" and name not in self.env:
                if self.device is not None and self.device.rows and axis in ("x", "y"):
                    kind = Kind.LANE if axis == "x" else Kind.WARP
                    text = f"`threadIdx.{axis}` is {kind.value}: the block's rows have 32 threads"
                    return V(kind, VARY[kind], None, (), Step(e.at, text, None))
                kind = Kind.THREAD if axis == "x" else Kind.THREAD_Y
                return V(
                    kind, LANES, None, (), Step(e.at, f"`threadIdx.{axis}` is the thread's index in its block", None)
                )
            if name == "blockIdx":
                return V(Kind.BLOCK_ID)
            if name == "blockDim":
                return V(Kind.BLOCK)
            if name == "gridDim":  # of blocks of one row or of several warps each
                return V(Kind.COUNT if self.device is not None and self.device.rows else Kind.UNKNOWN)
        base = self.value(e.base)
        if e.name in ("warpSize", "warp_size"):
            return V(Kind.SIZE)
        known = by_name(e.name)
        if known is not Kind.UNKNOWN and base.kind is Kind.UNKNOWN:
            step = Step(e.at, f"`{e.name}` is {known.value} by its name", None)
            return V(known, VARY[known], None, (), step)
        meaning = named_constant(e.name)
        if meaning:
            return V(Kind.SIZE, UNIFORM, {"size": 32, "mask": 31, "log": 5}[meaning], (e.at,))
        if base.kind in (Kind.TILE, Kind.GROUP):
            return base
        return V(Kind.UNKNOWN, base.vary, None, (), base.why, base.shared, base.volatile)

    def _index(self, e: Index) -> V:
        outer, self.hint = self.hint, ""
        base = self.value(e.base)
        index = self.value(e.inner)
        self.hint = outer
        if index.kind is Kind.LANE and isinstance(e.base, Name) and self.device is not None:
            self.extents.add((self.device.name, f"+{e.base.text}"))  # its lanes walk over it
        depth, node = 0, e.base
        while isinstance(node, Index):
            depth, node = depth + 1, node.base
        if isinstance(node, Name) and node.text in self.shared:
            array = self.shared[node.text]
            while len(array.used) <= depth:
                array.used.append(set())
            array.used[depth].add(index.kind)
        vary = max(base.vary, index.vary)
        if self.device is not None and index.vary == LANES:
            self.device.spread.add(e.at)
        kind = Kind.MASK if base.kind is Kind.MASK else Kind.DATA
        if isinstance(e.base, Member) and e.base.name in self.masks:
            kind = Kind.MASK
            if index.kind is Kind.QUOTIENT:
                self.use(index, Role.COUNT, True, V(Kind.MASK))  # `masks[i / 32]`, one a warp
        return V(kind, vary, None, (), index.why or base.why, base.shared, base.volatile)

    def _unary(self, e: Unary) -> V:
        v = self.value(e.x)
        if e.op == "!":
            return negate(v)
        if e.op in ("++", "--", "p++", "p--"):
            if isinstance(e.x, Name) and not self._in_memory(e.x.text):
                self.env[e.x.text] = v._replace(num=None)
            else:
                self._stored(e.at, e.x)
            return v._replace(num=None)
        if e.op == "-" and v.num is not None:
            if v.num == WIDE:
                return V(Kind.PRODUCT, UNIFORM, -32, v.src)
            known = constants.unary("-", v.constant) if v.constant is not None else None
            return V(Kind.NUMBER, UNIFORM, known.value, type=known.type) if known else V(Kind.NUMBER, UNIFORM)
        if e.op == "~" and v.num == 0:
            return V(Kind.NUMBER, UNIFORM, -1)  # `~0u`, a mask of all lanes
        if e.op == "~":
            if is_size(v._replace(num=v.num + 1 if v.num is not None else None)) and v.num == 31:
                # `x & ~31`, `x & ~(warpSize - 1)`: what is left is whole warps
                return V(Kind.PRODUCT, UNIFORM, -32, v.src)
            return V(v.kind if v.kind in (Kind.MASK, Kind.LANE_BIT) else Kind.UNKNOWN, v.vary, None, (), v.why)
        if e.op == "*":
            return V(Kind.DATA, v.vary, None, (), v.why, v.shared, v.volatile)
        if e.op == "&":
            return v._replace(num=None, src=())
        return v

    def _stored(self, at: int, target: Expr, value: int | None = None) -> None:
        name = root(target)
        if self.device is not None and name:
            self.device.stores[at] = Store(at, name, target, self.frames, self.loops, value)

    def _assign(self, e: Assign) -> V:
        outer = self.hint
        if isinstance(e.target, Name):
            self.hint = e.target.text
        v = self.value(e.value)
        self.hint = outer
        if e.op != "=":
            old = self.value(e.target)
            if isinstance(e.target, Name) and e.op == "+=" and v.src and (v.num == WIDE or v.kind is Kind.PRODUCT):
                self._step(old, v)
                if v.num == WIDE and old.kind in _STARTS:
                    self._sides = (old, Name(e.target.at, f"+{e.target.text}"), v, e.value)
                    self.use(v, Role.PLAIN, False, old)
                    self._sides = None
            v = binary(e.op[:-1], old, v, e.at, self.use)
        elif not isinstance(e.target, Name):
            self.value(e.target)
        if isinstance(e.target, Name) and not self._in_memory(e.target.text):
            self.bind(e.target.text, v, e.target.at)
        else:
            self._stored(e.at, e.target, v.num)
            self._kept(e.target, v)
        return v

    def _kept(self, target: Expr, v: V) -> None:
        """An array that is given masks of lanes holds such."""
        if v.kind is Kind.MASK and isinstance(target, Index) and isinstance(target.base, Name):
            old = self.env.get(target.base.text)
            if old is not None and old.kind is Kind.UNKNOWN:
                self.env[target.base.text] = old._replace(kind=Kind.MASK, why=v.why)
        elif v.kind is Kind.MASK and isinstance(target, Index) and isinstance(target.base, Member):
            self.masks.add(target.base.name)

    def _in_memory(self, name: str) -> bool:
        """Whether a plain name is memory that other threads see: a shared variable, or one from outside."""
        v = self.env.get(name)
        return v.shared and v.kind is not Kind.DATA if v is not None else not self.outer.is_open(name)

    def _step(self, old: V, step: V) -> None:
        """`i += 32` in a loop."""
        if old.kind in (Kind.LANE, Kind.LANE_PLUS, Kind.LANE_MULTIPLE, Kind.INDEX):
            self.use(step, Role.STRIDE, None if old.kind is Kind.INDEX else True, old)

    def _call(self, e: CallExpr) -> V:
        """The value of a call: `Caller`'s."""
        raise NotImplementedError
