"""Calls: CUDA's cross-lane operations and groups, macros that are expanded, functions of the same file."""

from __future__ import annotations

import re

from cu2port.facts.structure import Macro
from cu2port.syntax.tree import (
    CallExpr,
    Expr,
    Member,
    Name,
    callee,
    root,
)
from cu2port.warp import builtins
from cu2port.warp.arith import binary
from cu2port.warp.evaluate import Evaluator
from cu2port.warp.model import Device, is_statement
from cu2port.warp.roles import Role
from cu2port.warp.substitute import substituted
from cu2port.warp.uses import TOLD, WIDE
from cu2port.warp.values import (
    GROUP_NAME,
    LANES,
    NOTHING,
    SHUFFLE_NAME,
    UNIFORM,
    VARY,
    WARPS,
    Kind,
    Step,
    V,
    is_block_size,
    join,
    join_all,
)

_PASSES = re.compile(r"(?i)uniform|broadcast|readfirst|min|max|cast|int\Z")
_WIDTH_NAME = re.compile(r"(?i)warp|lane|width|threads")
_MOVED = frozenset({Kind.MASK, Kind.LANE, Kind.BLOCK, Kind.WARP, Kind.GLOBAL_WARP, Kind.COUNT, Kind.LINEAR})


class Caller(Evaluator):
    """Values of calls; statements are `Interpreter`'s."""

    # --- calls ----------------------------------------------------------------------------------------------------

    def _call(self, e: CallExpr) -> V:
        name = callee(e)
        if isinstance(e.callee, Name) and e.callee.qualified and self.unit.tok(e.at - 2) == "warp":
            name = builtins.CONVERTED.get(name, name)  # converted code
        hint, self.hint = self.hint, ""
        known = self._known(e, name)
        self.hint = hint
        if known is not None:
            return known
        macros = self.unit.macros.get(name) if isinstance(e.callee, Name) else None
        if macros and self.outer.looks_into(name):
            return self._expand(name, e)
        self.hint = hint if len(e.args) == 1 and _PASSES.search(name) else ""  # the variable gets the argument
        values = tuple(self.value(a) for a in e.args)
        self.hint = ""
        base = self.value(e.callee.base) if isinstance(e.callee, Member) else NOTHING
        tvalues = tuple(self.value(t) for t in getattr(e.callee, "targs", ()))
        self.hint = hint
        self._widths(name, values, tvalues)
        self._pass(name, values)
        self.event("call", e.at, name, values, e)
        if isinstance(e.callee, Name) and e.callee.qualified and "amedbarrier" in self.unit.tok(e.at - 2).lower():
            self.event("named-barrier", e.at, f"{self.unit.tok(e.at - 2)}::{name}", values, e)
        if builtins.ARRIVALS.match(name) or (name in ("init", "arrive") and "bar" in root(e.callee).lower()):
            for v in values:
                self.use(v, Role.BLOCK, None, NOTHING)
        devices = self.devices.get(name)
        if devices is not None:
            return self._enter(devices, e, values, tvalues)
        for given, positions in zip((values, tvalues), self.widths.get(name, ()), strict=False):
            for k, v in enumerate(given):
                if k in positions and v.num == WIDE:
                    self.use(v, Role.WIDTH, True, NOTHING)
        if name in self.results and isinstance(e.callee, Name):
            kind = self.results[name]
            return V(kind, VARY.get(kind, LANES), None, (), Step(e.at, f"`{name}` gives {kind.value}", None))
        return self._by_name(e, name, values, base, hint)

    def _by_name(self, e: CallExpr, name: str, values: tuple[V, ...], base: V, hint: str) -> V:
        """The value of a call of a function that the file and its headers do not define."""
        if name in ("min", "max", "umin", "umax", "clamp") and len(values) in (2, 3):
            return self._smaller(values)
        if len(values) == 2 and (op := builtins.rounding(name)):
            self.hint, self._sides = hint, (values[0], e.args[0], values[1], e.args[1])
            v = binary(op, values[0], values[1], e.at, self.use)
            self._sides = None
            return v if op == "/" else values[0]._replace(num=None)
        if builtins.LANE_GETTERS.match(name):
            return V(Kind.LANE, LANES, None, (), Step(e.at, f"`{name}` gives the lane id by its name", None))
        if builtins.WARP_GETTERS.match(name):
            return V(Kind.WARP, WARPS, None, (), Step(e.at, f"`{name}` gives the warp id by its name", None))
        if name in builtins.BIT_COUNTS:
            v = values[0] if values else NOTHING
            if v.kind is Kind.MASK and not name.endswith("ll") and not isinstance(e.args[0], CallExpr):
                self.event("mask-bits", e.at, name, (v,))
            # of a mask of lanes: the same for the warp, and what is counted is lanes
            if v.kind is Kind.MASK:
                return V(Kind.LANE_BITS, max(WARPS, v.vary), None, (), v.why)
            return V(Kind.BITS, v.vary, None, (), v.why)
        if values and values[0].kind is Kind.TILE and name in builtins.GROUP_FUNCTIONS:
            self.event("lanes", e.at, name, values, e)
            return V(Kind.DATA, WARPS)
        vary = max((v.vary for v in (*values, base)), default=UNIFORM)
        if builtins.ATOMIC.match(name) or name in builtins.TAKES:
            return V(Kind.DATA, LANES, None, (), None, base.shared or any(v.shared for v in values[:1]))
        if builtins.SIZE_GETTERS.match(name):
            return V(Kind.SIZE, UNIFORM, 32, (e.at,))
        # nobody knows whether what it returns varies as its arguments do: no chain of reasons comes through
        return V(Kind.UNKNOWN, vary)

    def _smaller(self, values: tuple[V, ...]) -> V:
        for v in values:
            if v.num == WIDE and v.src and any(x.kind in (Kind.LANE, Kind.LANE_PLUS) for x in values):
                self.use(v, Role.SIZE, True, NOTHING)  # `min(32, n - i + lane)`
        return join_all(values)._replace(src=tuple(dict.fromkeys(at for v in values for at in v.src)), num=None)

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
            if 0 <= k < len(values) and (k == width or values[k].kind is not Kind.QUOTIENT):
                self.use(values[k], Role.WIDTH, True, NOTHING)
        v = values[data] if data < len(values) else NOTHING
        uniform = "_" not in name.replace("__shfl", "").replace("_sync", "")
        vary = LANES
        if uniform and lane < len(values) and values[lane].vary <= WARPS:
            vary = min(WARPS, v.vary)
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
                if v.src and v.num == WIDE and (v.kind is Kind.SIZE or "tile" not in name):
                    self.use(v, Role.WIDTH, True if name not in self.devices else None, NOTHING)
                elif v.src and v.num == WIDE - 1 and SHUFFLE_NAME.search(name) and name not in self.devices:
                    self.use(v, Role.LAST, True, NOTHING)
            for v in values[1:] if SHUFFLE_NAME.search(name) else ():
                if v.src and v.kind in (Kind.RESIDUE, Kind.LANE_PLUS):
                    self.use(v, Role.MASK, True, V(Kind.LANE))  # `shuffle(x, (n + t) & 31)`
            for d in self.devices.get(name, ()):
                for p, v in zip(d.tparams, tvalues, strict=False):
                    if v.src and v.num == WIDE and (is_block_size(p.name) or _WIDTH_NAME.search(p.name)):
                        self.use(v, Role.WIDTH, True, NOTHING)

    def _pass(self, name: str, values: tuple[V, ...]) -> None:
        """Remember which positions of a function are given lanes, and which are given literals."""
        for k, v in enumerate(values):
            if v.kind is Kind.LANE:
                self.lanes_of.add((name, k))
                after = values[k + 1] if k + 1 < len(values) else NOTHING
                if after.num == WIDE and after.kind is Kind.NUMBER:
                    self.use(after, Role.SIZE, True, v)  # `copy(to, from, lane, 32)`
            elif v.src and v.num in (WIDE, WIDE - 1) and v.kind is Kind.NUMBER:
                function = self.device.name if self.device is not None else ""
                self.numbers_of.setdefault((name, k), {})[v, function] = None

    def settle(self) -> None:
        """Literals that stand where other calls of the same function have a lane are lanes: `slot(p, 31)`."""
        for place, found in self.numbers_of.items():
            for v, _ in found if place in self.lanes_of else ():
                self.use(v, Role.LAST, True, V(Kind.LANE))

    def _expand(self, name: str, e: CallExpr) -> V:
        """A function-like macro, expanded where it is used: its body sees the names of the place."""
        out: list[V] = []
        values = [self.value(a) for a in e.args]
        self._widths(name, tuple(values), ())
        with self.outer.expanding(name, e.at):
            for m in self.unit.macros[name]:
                if m.params is None or m.stop <= m.first:
                    continue
                if is_statement(self.unit, m):
                    self._run_macro(m, dict(zip(m.params, e.args, strict=False)))
                    continue
                hidden = {p: self.env[p] for p in m.params if p in self.env}
                self.env.update(zip(m.params, values, strict=False))
                out.append(self.value(self.outer.macro(m)))
                for p in m.params:
                    self.env.pop(p, None)
                self.env.update(hidden)
        return join_all(out) if out else NOTHING

    def _run_macro(self, m: Macro, given: dict[str, Expr]) -> None:
        """The statements of a macro, its parameters replaced."""
        self.statements(substituted(self.outer.macro_statements(m), given, self.outer.site))

    def statement_macro(self, e: Name) -> bool:
        """Run a macro without parameters that is a statement; False if the name is none."""
        found = [m for m in self.unit.macros.get(e.text, ()) if m.params is None and is_statement(self.unit, m)]
        if not found or not self.outer.looks_into(e.text):
            return False
        with self.outer.expanding(e.text, e.at):
            for m in found:
                self._run_macro(m, {})
        return True

    def _enter(self, devices: list[Device], e: CallExpr, values: tuple[V, ...], tvalues: tuple[V, ...]) -> V:
        """A call of a function of this file: its parameters learn of the arguments."""
        out: list[V] = []
        fits = _fitting(devices, e)
        for d in fits:
            before = dict(d.given)
            pairs = [*zip(d.params, values, strict=False), *zip(d.tparams, tvalues, strict=False)]
            for p, v in pairs:
                if p.name:
                    if v.kind in (Kind.THREAD, Kind.LINEAR) and self.in_first_warp():
                        v = v._replace(kind=Kind.LANE)
                    if v.kind in TOLD:
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
