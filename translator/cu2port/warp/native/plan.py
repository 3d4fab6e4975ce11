"""Which functions of a file become native, and with which edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from cu2port.core.model import Edit, Span, Trust
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.tree import callee
from cu2port.syntax.types import type_parameters
from cu2port.warp.functions import is_device
from cu2port.warp.native import Kept, Native
from cu2port.warp.native.graph import LANE_GROUPS, Graph, graph
from cu2port.warp.native.host import SOURCES, in_rows, in_whole_warps, shown
from cu2port.warp.native.ladders import Facts
from cu2port.warp.native.patterns import SPACE
from cu2port.warp.native.proofs import Proofs
from cu2port.warp.native.reasons import Reason, Refused
from cu2port.warp.native.state import Kind, Proved, Site
from cu2port.warp.native.widths import meant, type_given

_DEVICE = frozenset({"__global__", "__device__"})
_EXACT = "sums in another order are no exact edit (`--trust exact`)"


def plan(unit: Unit) -> Native:
    """What becomes native in a file, and what does not."""
    if unit.words.isdisjoint(_DEVICE) and not any(is_device(unit, f) for f in unit.functions):
        return Native()
    facts = Facts(unit)
    operations = [i for i in facts.cudas if unit.t[i] != "__syncwarp"]
    if not operations and unit.words.isdisjoint(LANE_GROUPS):
        return Native()
    calls = graph(unit, operations)
    return _Plan(unit, calls, Proofs(unit, facts, calls)).chosen()


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan for one file, from the proofs of its functions."""

    unit: Unit
    graph: Graph
    proofs: Proofs

    def chosen(self) -> Native:
        """What becomes native."""
        functions, options = self.graph.functions, self.unit.options
        modes_of = dict(options.kernels)
        whole = options.warp == "native"
        kernels = [f for f in functions if "__global__" in f.sides and f in self.graph.warps]
        asked = [f for f in kernels if modes_of.get(f.name, "native" if whole else "") == "native"]
        if options.trust > Trust.REVIEW:
            return Native(kept=tuple(Kept(f, f.name_at, _EXACT) for f in asked))
        if options.warp == "solo":
            solo = self.graph.reached(*(f for f in functions if "__global__" in f.sides and f not in asked))
        else:
            solo = self.graph.reached(*(f for f in functions if modes_of.get(f.name) == "solo"))
        misused = self._misused()
        reasons = {f: self._refusal(f, solo, misused) for f in asked}
        done = tuple(f for f, refused in reasons.items() if refused is None)
        kept = [Kept(f, refused.at, refused.why) for f, refused in reasons.items() if refused is not None]
        wanted = frozenset(functions) if whole else self.graph.reached(*done)
        users = [f for f in done if self._direct(f)]
        called = self.graph.reached(*kernels)
        spoilt = self.graph.leading(misused)
        for f in functions:
            if f in self.graph.warps and f in wanted and f not in solo and "__global__" not in f.sides:
                s = self.proofs.of(f)
                hides = isinstance(s, Proved) and s.result.kind in (Kind.SAME, Kind.WHOLE) and not (s.line or s.plane)
                if hides and f not in spoilt and self._direct(f):
                    users.append(f)
                elif isinstance(s, Refused) and whole and f not in called:
                    kept.append(Kept(f, s.at, s.why))
        return self._written(users, done, kept)

    # --- which ----------------------------------------------------------------------------------------------------

    def _misused(self) -> frozenset[Function]:
        """Functions whose answer counts in the first thread or warp alone, and that code calls of which it is not known
        what it does with the others'."""
        return frozenset(
            f
            for f in self.graph.functions
            if "__global__" not in f.sides
            for s in self.proofs.proved(f)
            if s.result.kind is Kind.WHOLE and not s.result.everywhere
            if any(isinstance(self.proofs.of(g), Refused) for g in self.graph.callers.get(f, ()))
        )

    def _refusal(self, f: Function, solo: frozenset[Function], misused: frozenset[Function]) -> Refused | None:
        """Why a kernel keeps CUDA's warps; None if it becomes native."""
        reached = sorted(self.graph.reached(f), key=lambda g: g.first)
        if not solo.isdisjoint(reached):
            return Refused(f.name_at, Reason.SOLO)
        s = self.proofs.of(f)
        if isinstance(s, Refused):
            return s
        if (s.line or s.plane) and (refused := in_rows(self.unit, f, 1 if s.line else 2)) is not None:
            return refused
        if (refused := in_whole_warps(self.unit, self.proofs.facts, f)) is not None:
            return refused
        if (other := next((g for g in reached if g in misused), None)) is not None:
            return Refused(f.name_at, Reason.MISUSED, (other.name,))
        if not any(self._direct(g) and not self._is_part(g) for g in reached):
            return Refused(f.name_at, Reason.NOTHING)
        return None

    def _is_part(self, f: Function) -> bool:
        """Whether a function returns what the warp's lanes come to; it stays as it is."""
        return any(s.result.kind is Kind.PART for s in self.proofs.proved(f))

    def _direct(self, f: Function) -> bool:
        """Whether a function works with warps itself, and not only through functions that hide them."""
        return any((s.edits or s.sites) and (not s.scratch or self._fits(f)) for s in self.proofs.proved(f))

    def _fits(self, f: Function) -> bool:
        """Whether all calls of a function are seen, and give it arrays of their own for slots."""
        unit = self.unit
        if PurePosixPath(unit.path).suffix.lower() not in SOURCES or shown(unit, f) is not None:
            return False
        known = {i for s in self.proofs.proved(*self.graph.warps) for i in s.scratch_calls}
        calls = [i for i in unit.find(f.name) if i != f.name_at]
        return len(self.graph.named[f.name]) == 1 and bool(calls) and known.issuperset(calls)

    # --- what is written --------------------------------------------------------------------------------------------

    def _written(self, users: Sequence[Function], done: tuple[Function, ...], kept: Sequence[Kept]) -> Native:
        """The edits of native functions."""
        out = []
        for f in users:
            for s in self.proofs.proved(f):
                edits = dict(s.edits)
                for site in s.sites:
                    edits.update(self._by_hand(site, f))
                out.append((f, tuple(edits.values())))
        reached = {k: tuple(sorted(self.graph.reached(k) - {k}, key=lambda g: g.first)) for k in done}
        return Native(tuple(sorted(out, key=lambda x: x[0].first)), done, tuple(kept), reached)

    def _by_hand(self, at: Site, caller: Function) -> dict[tuple[int, int], Edit]:
        """The call of a function that reduces over a warp, as one of `cu2port::wave`."""
        unit, site, mode = self.unit, at.call, at.kind
        call = unit.call(site.at)
        named = meant(unit, self.graph.named.get(callee(site), ()), mode)
        s = self.proofs.look(callee(site), mode)
        if not isinstance(s, Proved) or not s.reduces:
            return {}
        assert call is not None
        name, tail = self.proofs.call_of(s)
        given = type_given(unit, site, s)
        arg = unit.text[call.args[0].start : call.args[0].end]
        kind = self._type_of(named[0]) if named else s.kinds[0] if len(s.kinds) == 1 else ""
        if given:
            kind = given
        elif len(named) > 1:
            kind = ""
        if kind and not self._is_of(arg, kind, caller):
            name += f"<{kind}>"
        start, end = unit.p[unit.qualifier(site.at)], unit.end(call.close)
        return {(start, end): Edit(start, end, (f"{SPACE}{name}(", Span(call.args[0].start, call.args[0].end), tail))}

    def _type_of(self, f: Function) -> str:
        """The type of a function's first parameter; "" where it is one of its template's."""
        unit = self.unit
        stop = unit.lexed.at(unit.split_args(f.params[0] + 1, f.params[1])[0].end)
        words = [w for w in unit.t[f.params[0] + 1 : stop - 1] if w not in ("const", "__restrict__")]
        own = type_parameters(unit.t, unit.declarations.scope_at(f.first))
        return "" if any(name in words for name in own) else " ".join(words)

    def _is_of(self, arg: str, kind: str, caller: Function) -> bool:
        """Whether an argument is a variable of that very type."""
        unit = self.unit
        found = [i for i in unit.find(arg) if caller.first < i < caller.body[1] and unit.declares(i)]
        return bool(found) and all(unit.t[i - 1] == kind for i in found)
