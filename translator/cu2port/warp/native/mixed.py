"""Functions in which some things are done by whole wavefronts, and the rest as CUDA's warps do it.

What `--warp logical` makes of a cross-lane operation gives what CUDA gives, whatever the wavefront. So where all that
such an operation gets is the same for any number of lanes, so is what comes out of it, and it may stay in native code.
This walk takes a reduction for the wavefront's only where all that becomes of it is understood; if not, it stays a
warp's and the walk starts anew. Variables that hold lanes, warps or counts of warps stay CUDA's; where native code
wants the wavefront's, it gets them spelled out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cu2port.model import Edit, Span
from cu2port.unit import Unit
from cu2port.warp.builtins import LANE_OPERATIONS
from cu2port.warp.model import Device
from cu2port.warp.native.branches import State
from cu2port.warp.native.idioms import Idioms, Reduction, Refused, callee_of, is_whole
from cu2port.warp.native.lanes import Here, Look, Summary
from cu2port.warp.native.values import SAME, SPACE, Kind, T, is_plain
from cu2port.warp.native.walk import Walk
from cu2port.warp.tree import Assign, CallExpr, Decl, Expr, Index, Jump, Loop, Name, Stmt, Ternary, callee, parts, walk

_ROUNDS = 40
_STAY = LANE_OPERATIONS - {"__activemask", "__hip_ds_swizzle", "__syncwarp"}
_ROW = "threadIdx.x"
_PLANE = "(threadIdx.y * blockDim.x + threadIdx.x)"
Edits = dict[tuple[int, int], Edit]


def mixed(unit: Unit, idioms: Idioms, d: Device, look: Look) -> Summary | None:
    """What a function does, if some of it is done by whole wavefronts; None if nothing can be."""
    stay: frozenset[int] = frozenset()
    for _ in range(_ROUNDS):
        one = Mixed(unit, idioms, d, look, stay)
        try:
            found = one.run()
        except Refused as why:
            more = why.made if why.made >= 0 and why.made not in stay else one.last()
            if more < 0:
                return None
            stay |= {more}
            continue
        return replace(found, partly=True) if one.made else None
    return None


class Mixed(Walk):
    """The walk over one function. Raises Refused. `stay`: tokens of the reductions that stay a warp's."""

    logical = True

    def __init__(self, unit: Unit, idioms: Idioms, d: Device, look: Look, stay: frozenset[int]) -> None:
        super().__init__(unit, idioms, d, look)
        self.stay = stay
        self.made: list[int] = []  # reductions that are the wavefront's, as the walk meets them
        self.scanning = False
        self.choices: dict[int, bool] = {}  # places that could be native, and whether they are

    def last(self) -> int:
        """The last reduction that the walk took for the wavefront's; -1 if there is none."""
        return self.made[-1] if self.made else -1

    # --- what stays a warp's --------------------------------------------------------------------------------------

    def _reduces(self) -> tuple[str, tuple[str | Span, ...], bool]:
        return "", (), False

    def _pure_scan(self) -> Summary | None:
        return None

    def _whole_warp(self, body: Sequence[Stmt], k: int) -> Reduction | None:
        got = super()._whole_warp(body, k)
        return None if got is not None and any(f.at in self.stay for f in got.found) else got

    def _call(self, e: CallExpr) -> T:
        own = self.look(callee(e)) if isinstance(e.callee, Name) and e.at not in self.idioms.cudas else None
        part = own is not None and own.result.kind in (Kind.PART, Kind.PREFIX, Kind.UPTO)
        if not part and e.at not in self.idioms.cudas and not self._is_reduce(e):
            return super()._call(e)
        if e.at not in self.stay:
            kept = self._state()
            try:
                t = super()._call(e)
                self._chosen(e.at, True)
                if t.kind is Kind.PART and t.made < 0:
                    self.made.append(e.at)
                    t = t._replace(made=e.at)
                return t
            except Refused as why:
                if why.made >= 0:
                    raise
                self._restore(kept)
        self._chosen(e.at, False)
        return self._stays(e, part)

    def _is_reduce(self, e: CallExpr) -> bool:
        """Whether a call is `cooperative_groups::reduce(tile, ...)`."""
        return callee(e) == "reduce" and len(e.args) == 3 and self._is_tile(e.args[0])

    def _stays(self, e: CallExpr, own: bool) -> T:
        """A call that the threads of a warp make together, as CUDA has it."""
        name = callee(e)
        if self.here.role not in ("", "low") or (e.at in self.idioms.cudas and name not in _STAY):
            raise Refused(e.at, f"`{name}` where the number of lanes decides who comes")
        for x in e.args:
            t = self._argument(name, x) if own else self._value(x)
            if not is_plain(t):
                raise Refused(e.at, f"`{name}` gets {t.kind.value}", t.made)
        if isinstance(e.callee, Name):
            self.spots.add(e.callee.at)
            for x in e.callee.targs:
                self._value(x)
        self.done.add(e.at)
        return SAME

    # --- lanes, warps, counts and tiles ---------------------------------------------------------------------------

    def _declared(self, s: Decl, here: Here) -> None:
        if s.init is None or callee_of(s.init) != "tiled_partition":
            super()._declared(s, here)
            return
        self.spots.add(s.at)
        self.types[s.name] = ""
        whole = not self.rows and is_whole(self.idioms, s.init)
        self.double.add(s.name)
        self.env[s.name] = T(Kind.SAME, dual="tile" if whole else "")

    def _is_tile(self, e: Expr) -> bool:
        return isinstance(e, Name) and self.env.get(e.text, SAME).dual == "tile"

    def _of_tile(self, e: Expr, method: str, text: str) -> Edits | None:
        got = super()._of_tile(e, method, text)
        self.line = self.line or got is not None
        return got

    def _of_lanes(self, e: Expr) -> T | None:
        edits, spots = dict(self.edits), set(self.spots)
        t = super()._of_lanes(e)
        if t is None:
            return None
        made = {k: x for k, x in self.edits.items() if k not in edits}
        self.edits, self.spots = edits, spots
        self._plain(e)
        self.line = self.line or any(callee_of(x) == "thread_rank" for x in walk(e))
        if t.kind is not Kind.COUNT:
            return T(Kind.SAME, dual=t.kind.name.lower())
        text = next(iter(made.values())).parts if len(made) == 1 else ()
        return T(Kind.SAME, uniform=True, dual=str(text[0]) if len(text) == 1 else "")

    def _set(self, name: str, t: T, value: Expr, here: Here) -> None:
        super()._set(name, t, value, here)
        if self.env[name].dual:
            self.double.add(name)

    def _spelled(self, e: Expr, dual: str, text: str) -> Edits | None:
        """The edits that put a text in place of a variable that holds CUDA's lane or the like; None if it does not."""
        if not isinstance(e, Name) or e.qualified or e.targs or self.env.get(e.text, SAME).dual != dual:
            return None
        self.spots.add(e.at)
        start, end = self.unit.p[e.at], self.unit.end(e.at)
        return {(start, end): Edit(start, end, (text,))}

    def _lane(self, e: Expr) -> Edits | None:
        text = f"({_PLANE if self.rows else _ROW} % {SPACE}size())"
        got = self._spelled(e, "lane", text)
        return super()._lane(e) if got is None else got

    def _warp(self, e: Expr) -> Edits | None:
        text = f"({_PLANE if self.rows else _ROW} / {SPACE}size())"
        got = self._spelled(e, "warp", text)
        return super()._warp(e) if got is None else got

    def _count(self, e: Expr, rounds: bool = False) -> Edits | None:
        dual = self.env.get(e.text, SAME).dual if isinstance(e, Name) else ""
        if dual.startswith(SPACE):
            return self._spelled(e, dual, dual)
        return super()._count(e, rounds)

    # --- what may be done by wavefronts, or stays -----------------------------------------------------------------

    def _state(self) -> State:
        known, names, places = super()._state()
        return known, names, (*places, dict(self.choices), list(self.made))

    def _restore(self, state: State) -> None:
        super()._restore(state)
        self.choices, self.made = state[2][3:]

    def _may_stay(self, cond: Expr, tag: str) -> bool:
        return True

    def _may_change(self, at: int, here: Here) -> bool:
        return at not in self.stay and here.role != "low"

    def _chosen(self, at: int, native: bool) -> None:
        if self.choices.setdefault(at, native) != native:
            raise Refused(at, "in one turn of a loop it is understood, in another one it is not", at)

    def _gathered(self, e: Expr, here: Here) -> T | None:
        if not isinstance(e, Ternary):
            return None
        if self._may_change(e.at, here):
            kept = self._state()
            try:
                t = super()._gathered(e, here)
                if t is not None:
                    self._chosen(e.at, True)
                    return t
            except Refused as why:
                if why.made == e.at:
                    raise
                self._restore(kept)
        self._chosen(e.at, False)
        return None

    def _assigned(self, e: Assign, here: Here) -> None:
        target = e.target
        if not isinstance(target, Index):
            super()._assigned(e, here)
            return
        if self._may_change(e.at, here):
            kept = self._state()
            try:
                super()._assigned(e, here)
                self._chosen(e.at, True)
                return
            except Refused as why:
                if why.made >= 0 or here.role in ("leader", "first", "slots"):
                    raise
                self._restore(kept)
        if here.role in ("leader", "first", "slots"):
            raise Refused(e.at, "the number of lanes decides who writes this")
        self._chosen(e.at, False)
        for x in parts(target):
            if not isinstance(x, Name):
                self._plain(x)
        self._plain(target.inner)
        self._touched(target)
        self._needed(e.value, here)

    def _serial(self, s: Loop, here: Here) -> bool:
        got = super()._serial(s, here)
        self._chosen(s.at, got)
        return got

    # --- the first 32 threads -------------------------------------------------------------------------------------

    def _low(self, inner: Here, outer: Here, first: bool) -> Here:
        together = outer.together and not outer.role and not self.gone
        return Here(True, "low") if first and together else inner

    def _condition(self, e: Expr, here: Here) -> tuple[str, Edits]:
        tag, edits = super()._condition(e, here)
        if here.role == "low" and tag == "leader":
            return "thread", {}  # lane 0 of the block's first warp is the first thread
        return tag, edits

    def _reduced(self, name: str, op: str, t: T, at: int, here: Here, low: bool = False) -> T:
        if here.role != "low":
            got = super()._reduced(name, op, t, at, here, low)
            self.made.append(at)
            return got
        if not here.together or self.gone or not is_plain(t):
            raise Refused(at, "some lanes may be elsewhere when the warp's values are put together", t.made)
        self.made.append(at)
        self.meets = True
        self.line, self.plane = self.line or not self.rows, True
        return T(Kind.WHOLE, op, made=at) if low else SAME

    def _reduction(self, r: Reduction, here: Here) -> None:
        try:
            super()._reduction(r, here)
        except Refused as why:
            raise Refused(why.at, why.why, why.made if why.made >= 0 else r.found[0].at) from None

    def _jump(self, s: Jump, here: Here) -> None:
        super()._jump(s, Here(False) if here.role == "low" else here)

    def _barrier(self, at: int, here: Here) -> None:
        if here.role == "low":
            raise Refused(at, "a barrier for some threads")
        super()._barrier(at, here)
