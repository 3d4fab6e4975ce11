"""Expressions to abstract values. Literals that meet a thread, a lane or a warp on the way get their roles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cu2port.unit import Unit
from cu2port.warp import builtins
from cu2port.warp.arith import Role, binary, is_size, negate
from cu2port.warp.events import Event, Frame, Store
from cu2port.warp.model import Device, constants, is_statement, macro_body, macro_expression
from cu2port.warp.parse import Parser
from cu2port.warp.substitute import substituted
from cu2port.warp.tree import (
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
    callee,
    root,
)
from cu2port.warp.values import (
    GROUP_NAME,
    LANES,
    NOTHING,
    UNIFORM,
    VARY,
    WARPS,
    Kind,
    Step,
    V,
    by_name,
    is_block_size,
    is_weak,
    join,
    join_all,
    named_constant,
)

_WIDE = 32
_WATCHED = frozenset({32, 31, 5})


class Use(NamedTuple):
    """One use of a literal. `lane`: whether it counts lanes; None: only if the function works with warps.
    `hint`: the variable that the result goes to; `function`: where."""

    role: Role
    lane: bool | None
    other: Kind
    why: Step | None
    hint: str
    function: str


@dataclass(slots=True)
class Array:
    """An array in shared memory: the literals in its sizes, and what it is indexed with, by dimension."""

    at: int
    name: str
    dims: list[V]
    used: list[set[Kind]] = field(default_factory=list)


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
        self.constants = constants(unit)
        self._bodies: dict[int, Expr | Block] = {}
        self._open: set[str] = set()
        self.site = -1  # the token where the macro that is being expanded stands in the function
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

    # --- what is found out ----------------------------------------------------------------------------------------

    def use(self, b: V, role: Role, lane: bool | None, other: V) -> None:
        """A literal's role."""
        name = self.device.name if self.device is not None else ""
        u = Use(role, lane, other.kind, other.why, self.hint, name)
        for at in b.src:
            self.uses.setdefault(at, {})[u] = None

    def event(self, kind: str, at: int, name: str, values: tuple[V, ...] = (), node: CallExpr | None = None) -> None:
        """Something lanes must agree on."""
        if self.device is None:
            return
        place = self.site if self.site >= 0 else at
        old = self.device.events.get((kind, place))
        if old is not None and place != at and [f[:2] for f in old.frames] != [f[:2] for f in self.frames]:
            place = at  # a macro that meets lanes in several branches of its own
        self.device.events[kind, place] = Event(kind, place, name, self.frames, self.loops, values, node)

    def statements(self, body: Block) -> None:
        """Interpret statements (of a macro, of a lambda)."""
        raise NotImplementedError

    # --- expressions ----------------------------------------------------------------------------------------------

    def value(self, e: Expr | None) -> V:
        """The value of an expression."""
        handler = self._handlers.get(type(e))
        return handler(e) if handler is not None else NOTHING

    def _num(self, e: Num) -> V:
        n = e.value
        return V(Kind.NUMBER, UNIFORM, n, (e.at,) if n in _WATCHED else ())

    def _binary(self, e: Binary) -> V:
        hint = self.hint
        if e.op in _COMPARING:
            self.hint = ""
        a, b = self.value(e.a), self.value(e.b)
        self.hint = hint
        v = binary(e.op, a, b, e.at, self.use)
        if v.kind is Kind.LANE_BIT and e.op == "<<":
            self.event("lane-bit", e.at, e.op, (b,))
        return v

    def _ternary(self, e: Ternary) -> V:
        cond = self.value(e.cond)
        a, b = self.value(e.a), self.value(e.b)
        out = join(a, b)
        return out._replace(vary=max(out.vary, cond.vary), num=None if cond.vary else out.num)

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
        constant = self._constant(text, e.at)
        if constant is not None:
            return constant
        for t in e.targs:
            self.value(t)
        return NOTHING

    def _constant(self, text: str, at: int) -> V | None:
        """What a name outside the function is: a macro, a constant of the file, or one known by its name."""
        if text in self._open:
            return None
        self._open.add(text)
        try:
            v: V | None = None
            macros = self.unit.macros.get(text, ())
            if macros:
                site, self.site = self.site, self.site if self.site >= 0 else at
                values = [self.value(self._macro(m.first)) for m in macros if m.params is None and m.stop > m.first]
                v = join_all(values) if values else None
                self.site = site
            elif text in self.constants:
                first = self.constants[text]
                if first not in self._bodies:
                    stop = min(len(self.unit.t), first + 60)
                    self._bodies[first] = Parser(self.unit, first, stop, jump=False).expr(stop)
                body = self._bodies[first]
                v = self.value(body) if not isinstance(body, Block) else None
        finally:
            self._open.discard(text)
        meaning = named_constant(text)
        if meaning == "size" and is_weak(text) and (v is None or v.num != _WIDE):
            return v
        if meaning == "size" and (v is None or v.num in (None, _WIDE)):
            return V(Kind.SIZE, UNIFORM, 32, (*(v.src if v else ()), at), Step(at, f"`{text}` is the warp size", None))
        if meaning == "mask" and v is not None and v.num == 31:
            return V(Kind.SIZE, UNIFORM, 31, (*v.src, at), Step(at, f"`{text}` is the warp size less one", None))
        if meaning == "log" and (v is None or v.num in (None, 5)):
            return V(Kind.SIZE, UNIFORM, 5, (*(v.src if v else ()), at), Step(at, f"`{text}` is its logarithm", None))
        if v is not None:
            if v.num in (32, 31, 5) and v.kind in (Kind.NUMBER, Kind.SIZE):
                v = v._replace(src=(*v.src, at))
            if v.kind in (Kind.NUMBER, Kind.PRODUCT) and is_block_size(text):
                v = v._replace(kind=Kind.BLOCK)
            return v
        if by_name(text) is Kind.COUNT:
            return V(Kind.COUNT)
        return V(Kind.BLOCK) if is_block_size(text) and text.isupper() else None

    def _macro(self, first: int) -> Expr:
        body = self._bodies.get(first)
        if body is None or isinstance(body, Block):
            m = next(m for ms in self.unit.macros.values() for m in ms if m.first == first)
            body = macro_expression(self.unit, m)
            self._bodies[first] = body
        return body

    def _member(self, e: Member) -> V:
        if isinstance(e.base, Name):
            name, axis = e.base.text, e.name
            if name == "threadIdx" and name not in self.env:
                kind = Kind.THREAD if axis == "x" else Kind.THREAD_Y
                return V(
                    kind, LANES, None, (), Step(e.at, f"`threadIdx.{axis}` is the thread's index in its block", None)
                )
            if name == "blockIdx":
                return V(Kind.BLOCK_ID)
            if name == "blockDim":
                return V(Kind.BLOCK)
            if name == "gridDim":
                return V(Kind.UNKNOWN)
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
            return V(Kind.NUMBER, UNIFORM, -v.num)
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

    def _stored(self, at: int, target: Expr) -> None:
        name = root(target)
        if self.device is not None and name:
            self.device.stores[at] = Store(at, name, target, self.frames, self.loops)

    def _assign(self, e: Assign) -> V:
        outer = self.hint
        if isinstance(e.target, Name):
            self.hint = e.target.text
        v = self.value(e.value)
        self.hint = outer
        if e.op != "=":
            old = self.value(e.target)
            if isinstance(e.target, Name) and e.op == "+=" and v.num is not None and v.src and v.num == _WIDE:
                self._step(old, v)
            v = binary(e.op[:-1], old, v, e.at, self.use)
        elif not isinstance(e.target, Name):
            self.value(e.target)
        if isinstance(e.target, Name) and not self._in_memory(e.target.text):
            self.bind(e.target.text, v, e.target.at)
        else:
            self._stored(e.at, e.target)
        return v

    def _in_memory(self, name: str) -> bool:
        """Whether a plain name is memory that other threads see: a shared variable, or one from outside."""
        v = self.env.get(name)
        return v.shared and v.kind is not Kind.DATA if v is not None else name not in self._open

    def _step(self, old: V, step: V) -> None:
        """`i += 32` in a loop."""
        if old.kind in (Kind.LANE, Kind.INDEX):
            self.use(step, Role.STRIDE, True if old.kind is Kind.LANE else None, old)

    def bind(self, name: str, v: V, at: int) -> None:
        """Give a variable a value."""
        vary = v.vary
        why = v.why
        if v.kind in _TOLD and (why is None or why.before is None or not why.text.startswith("kept")):
            why = Step(at, f"kept as `{name}`, {v.kind.value}", v.why)
        known = by_name(name) if v.kind in (Kind.UNKNOWN, Kind.DATA, Kind.PART) and v.num is None else Kind.UNKNOWN
        if known is not Kind.UNKNOWN and (v.kind is not Kind.DATA or known is not Kind.LINEAR):
            v = V(known, max(vary, VARY[known]), None, v.src, Step(at, f"`{name}` is {known.value} by its name", None))
        elif v.kind is Kind.THREAD_Y and known is Kind.UNKNOWN and by_name(name) is Kind.WARP:
            v = V(Kind.WARP, WARPS, None, (), Step(at, f"`{name}` is a warp id by its name", v.why))
        elif v.kind in (Kind.NUMBER, Kind.UNKNOWN) and v.vary == UNIFORM and is_block_size(name):
            v = v._replace(kind=Kind.BLOCK)
        elif v.num in _WATCHED and v.kind is Kind.NUMBER and v.src and named_constant(name):
            v = v._replace(kind=Kind.SIZE)
        self.env[name] = v._replace(vary=max(vary, v.vary), why=why if v.why is None or v.kind in _TOLD else v.why)

    # --- calls ----------------------------------------------------------------------------------------------------

    def _call(self, e: CallExpr) -> V:
        name = callee(e)
        if isinstance(e.callee, Name) and e.callee.qualified and self.unit.tok(e.at - 2) == "warp":
            name = builtins.OURS.get(name, name)  # converted code
        hint, self.hint = self.hint, ""
        known = self._known(e, name)
        self.hint = hint
        if known is not None:
            return known
        macros = self.unit.macros.get(name) if isinstance(e.callee, Name) else None
        if macros and name not in self._open:
            return self._expand(name, e)
        self.hint = ""
        values = tuple(self.value(a) for a in e.args)
        base = self.value(e.callee.base) if isinstance(e.callee, Member) else NOTHING
        tvalues = tuple(self.value(t) for t in getattr(e.callee, "targs", ()))
        self.hint = hint
        self._widths(name, values, tvalues)
        self.event("call", e.at, name, values, e)
        if isinstance(e.callee, Name) and e.callee.qualified and "amedbarrier" in self.unit.tok(e.at - 2).lower():
            self.event("named-barrier", e.at, f"{self.unit.tok(e.at - 2)}::{name}", values, e)
        devices = self.devices.get(name)
        if devices is not None:
            return self._enter(devices, e, values, tvalues)
        if name in ("min", "max", "umin", "umax") and len(values) == 2:
            return self._smaller(values)
        if builtins.LANE_GETTERS.match(name):
            return V(Kind.LANE, LANES, None, (), Step(e.at, f"`{name}` gives the lane id by its name", None))
        if builtins.WARP_GETTERS.match(name):
            return V(Kind.WARP, WARPS, None, (), Step(e.at, f"`{name}` gives the warp id by its name", None))
        if name in builtins.BIT_COUNTS:
            v = values[0] if values else NOTHING
            if v.kind is Kind.MASK and not name.endswith("ll") and not isinstance(e.args[0], CallExpr):
                self.event("mask-bits", e.at, name, (v,))
            # of a mask of lanes: the same for the warp, and what is counted is lanes
            return V(Kind.BITS, max(WARPS, v.vary) if v.kind is Kind.MASK else v.vary, None, (), v.why)
        if values and values[0].kind is Kind.TILE and name in builtins.GROUP_FUNCTIONS:
            self.event("lanes", e.at, name, values, e)
            return V(Kind.DATA, WARPS)
        vary = max((v.vary for v in (*values, base)), default=UNIFORM)
        if builtins.ATOMIC.match(name) or name in builtins.TAKES:
            return V(Kind.DATA, LANES, None, (), None, base.shared or any(v.shared for v in values[:1]))
        if builtins.SIZE_GETTERS.match(name):
            return V(Kind.SIZE, UNIFORM, 32, (e.at,))
        why = next((v.why for v in (*values, base) if v.vary == vary and v.why), None)
        return V(Kind.UNKNOWN, vary, None, (), why)

    def _smaller(self, values: tuple[V, ...]) -> V:
        a, b = values
        out = join(a, b)
        return out._replace(src=tuple(dict.fromkeys((*a.src, *b.src))), num=None)

    def _known(self, e: CallExpr, name: str) -> V | None:
        """The value of a cross-lane operation, barrier or group method; None for other calls."""
        if name in builtins.SHUFFLES and name not in self.devices:
            return self._shuffle(e, name)
        if name in builtins.LANE_OPERATIONS and name not in self.devices:
            values = tuple(self.value(a) for a in e.args)
            self.event("lanes", e.at, name, values, e)
            if name in builtins.BALLOTS:
                step = Step(e.at, f"`{name}` gives a mask of lanes", None)
                vary = LANES if "match" in name else WARPS
                return V(Kind.MASK, vary, None, (), step)
            return V(Kind.DATA if name in builtins.REDUCES else Kind.FIRST, WARPS)
        if name in builtins.BARRIERS:
            values = tuple(self.value(a) for a in e.args)
            self.event("barrier", e.at, name, values, e)
            return NOTHING
        if isinstance(e.callee, Member):
            base = self.value(e.callee.base)
            if base.kind in (Kind.TILE, Kind.GROUP):
                return self._group(e, name, base)
            if name in builtins.SURELY_LANES:
                return self._group(e, name, V(Kind.TILE))
            if name == "thread_rank":
                return self._group(e, name, V(Kind.GROUP, UNIFORM, 0))
            return None
        if name in ("thread_rank", "size", "num_threads") and isinstance(e.callee, Name) and e.callee.qualified:
            owner = self.unit.tok(e.at - 2).lower()
            if "group" in owner or "block" in owner or "cta" in owner:
                return self._group(e, name, V(Kind.GROUP, UNIFORM, 0))
        if name in builtins.TILE_MAKERS or name in ("this_thread_block", "this_grid", "coalesced_threads"):
            values = tuple(self.value(a) for a in e.args)
            targs = getattr(e.callee, "targs", ())
            tvalues = [self.value(t) for t in targs[:1]] or list(values[1:2])
            for v in tvalues:
                self.use(v, Role.WIDTH, True, NOTHING)
            if name == "coalesced_threads":
                self.event("coalesced", e.at, name, values, e)
            if name in ("this_thread_block", "this_grid"):
                return V(Kind.GROUP, UNIFORM, 1 if name == "this_grid" else 0)
            return V(Kind.TILE, UNIFORM, tvalues[0].num if tvalues else None)
        return None

    def _shuffle(self, e: CallExpr, name: str) -> V:
        _, data, lane, width = builtins.SHUFFLES[name]
        values = tuple(self.value(a) for a in e.args)
        self.event("lanes", e.at, name, values, e)
        for k in (lane, width):
            if 0 <= k < len(values):
                self.use(values[k], Role.WIDTH, True, NOTHING)
        v = values[data] if data < len(values) else NOTHING
        uniform = "_" not in name.replace("__shfl", "").replace("_sync", "")
        vary = LANES
        if uniform and lane < len(values) and values[lane].vary <= WARPS:
            vary = WARPS
        return V(v.kind if v.kind in _MOVED else Kind.DATA, vary, None, (), v.why)

    def _group(self, e: CallExpr, name: str, base: V) -> V:
        values = tuple(self.value(a) for a in e.args)
        block = base.kind is Kind.GROUP
        if name == "sync":
            if block and base.num == 0:
                self.event("barrier", e.at, "sync", values, e)
            elif not block:
                self.event("lanes", e.at, "sync", values, e)
            return NOTHING
        if name in ("thread_rank", "thread_index"):
            if block:
                step = Step(e.at, "`thread_rank()` is the thread's index in its group", None)
                return V(Kind.GLOBAL if base.num == 1 else Kind.LINEAR, LANES, None, (), step)
            return V(Kind.LANE, LANES, None, (), Step(e.at, "`thread_rank()` is the lane in the tile", None))
        if name in ("size", "num_threads"):
            return V(Kind.BLOCK) if block else V(Kind.SIZE)
        if name == "meta_group_rank":
            return V(Kind.WARP, WARPS, None, (), Step(e.at, "`meta_group_rank()` is the tile's id, a warp id", None))
        if name == "meta_group_size":
            return V(Kind.COUNT)
        if name in builtins.GROUP_LANES:
            self.event("lanes", e.at, name, values, e)
            for v in values[1:] if "shfl" in name else ():
                self.use(v, Role.WIDTH, True, NOTHING)
            return V(
                Kind.MASK if name in ("ballot", "match_any") else Kind.DATA, WARPS if name != "shfl_down" else LANES
            )
        return V(Kind.UNKNOWN, LANES if not block else UNIFORM)

    def _widths(self, name: str, values: tuple[V, ...], tvalues: tuple[V, ...]) -> None:
        """Literals passed to something with `warp`, `lane` or `shfl` in its name are widths."""
        if GROUP_NAME.match(name) or "tile" in name:
            for v in (*values, *tvalues):
                if v.src and v.num == _WIDE and (v.kind is Kind.SIZE or "tile" not in name):
                    self.use(v, Role.WIDTH, True if name not in self.devices else None, NOTHING)

    def _expand(self, name: str, e: CallExpr) -> V:
        """A function-like macro, expanded where it is used: its body sees the names of the place."""
        out: list[V] = []
        values = [self.value(a) for a in e.args]
        self._widths(name, tuple(values), ())
        self._open.add(name)
        site, self.site = self.site, self.site if self.site >= 0 else e.at
        try:
            for m in self.unit.macros[name]:
                if m.params is None or m.stop <= m.first:
                    continue
                if is_statement(self.unit, m):
                    body = self._bodies.get(-m.first - 1)
                    if not isinstance(body, Block):
                        body = macro_body(self.unit, m)
                        self._bodies[-m.first - 1] = body
                    self.statements(substituted(body, dict(zip(m.params, e.args, strict=False)), self.site))
                    continue
                outer = {p: self.env[p] for p in m.params if p in self.env}
                self.env.update(zip(m.params, values, strict=False))
                out.append(self.value(self._macro(m.first)))
                for p in m.params:
                    self.env.pop(p, None)
                self.env.update(outer)
        finally:
            self._open.discard(name)
            self.site = site
        return join_all(out) if out else NOTHING

    def _enter(self, devices: list[Device], e: CallExpr, values: tuple[V, ...], tvalues: tuple[V, ...]) -> V:
        """A call of a function of this file: its parameters learn of the arguments."""
        out: list[V] = []
        fits = _fitting(devices, e)
        for d in fits:
            before = dict(d.given)
            pairs = [*zip(d.params, values, strict=False), *zip(d.tparams, tvalues, strict=False)]
            for p, v in pairs:
                if p.name:
                    if v.kind in _TOLD:
                        v = v._replace(why=Step(e.at, f"passed to `{d.name}` as `{p.name}`", v.why))
                    old = d.given.get(p.name)
                    d.given[p.name] = v if old is None else _wider(old, v)
            caller = self.device.name if self.device is not None else ""
            d.callers[caller, e.at] = None
            if d.given != before:
                self.dirty[d.name] = None
            if d.returns:
                out.append(d.result)
        return join_all(out) if out else V(Kind.UNKNOWN, max((v.vary for v in values), default=UNIFORM))


def _fitting(devices: list[Device], e: CallExpr) -> list[Device]:
    """The functions of one name that a call may mean: by the number of arguments, then by arguments that are named
    like the parameters (both sides of an `#if` may define one)."""
    fits = [d for d in devices if len(d.params) >= len(e.args)] or devices
    if len(fits) < 2:
        return fits
    scores = [
        sum(isinstance(a, Name) and a.text == p.name for a, p in zip(e.args, d.params, strict=False)) for d in fits
    ]
    return [d for d, score in zip(fits, scores, strict=True) if score == max(scores)]


def _wider(old: V, new: V) -> V:
    """The join of arguments, keeping the first chain so that joining comes to an end."""
    v = join(old, new)
    return v._replace(why=old.why or v.why)


_MOVED = frozenset({Kind.MASK, Kind.LANE, Kind.BLOCK, Kind.WARP, Kind.GLOBAL_WARP, Kind.COUNT, Kind.LINEAR})
_COMPARING = frozenset("< > <= >= == != && ||".split())
_TOLD = frozenset(
    {
        Kind.LANE,
        Kind.WARP,
        Kind.GLOBAL_WARP,
        Kind.MASK,
        Kind.COUNT,
        Kind.THREAD,
        Kind.LINEAR,
        Kind.GLOBAL,
        Kind.LANE_BIT,
    }
)
