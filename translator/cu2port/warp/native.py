"""`--warp native`: which kernels of a file work with whole wavefronts, what is written for it, and why others don't.

A device function whose answer does not depend on the number of lanes (the sum of a block) may be rewritten whoever
calls it. A function that puts the values of a warp together is rewritten where all that call it are native; else its
native callers call `cu2port::wave` themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from cu2port.model import Edit, Finding, Span, Trust
from cu2port.structure import Function
from cu2port.unit import Unit
from cu2port.warp.model import Device, is_device, make_device
from cu2port.warp.native_grid import grid_edits
from cu2port.warp.native_host import in_one_row
from cu2port.warp.native_idioms import Idioms, Refused
from cu2port.warp.native_lanes import SPACE, Summary
from cu2port.warp.native_rows import NO_ROW, Rows
from cu2port.warp.native_values import SAME, Kind, is_plain
from cu2port.warp.native_walk import Walk
from cu2port.warp.tree import CallExpr, callee
from cu2port.warpnames import modes

HEADER = "wave.hpp"
CODE = "CU356"  # the rule that rewrites
_HEADERS = frozenset({".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".inc"})


@dataclass(frozen=True, slots=True)
class Kept:
    """A kernel that keeps CUDA's warps, or a function that no kernel of the file calls: the place and the reason."""

    kernel: Function
    at: int
    why: str


@dataclass(frozen=True, slots=True)
class Native:
    """What becomes of the kernels of a file that work with warps. `rewritten`: functions and their edits; `kernels`:
    those that are native, and what they reach (`reached`); `kept`:
    those that are not."""

    rewritten: tuple[tuple[Function, tuple[Edit, ...]], ...] = ()
    kernels: tuple[Function, ...] = ()
    kept: tuple[Kept, ...] = ()
    reached: Mapping[Function, tuple[Function, ...]] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[tuple[Function, tuple[Edit, ...]], ...]:
        """Kernels with all that is written anew for them, then functions that only other kernels call."""
        own = dict(self.rewritten)
        out = []
        for k in self.kernels:
            mine = [e for f in (k, *self.reached.get(k, ())) for e in own.get(f, ())]
            out.append((k, tuple(mine)))
        seen = {f for k in self.kernels for f in (k, *self.reached.get(k, ()))}
        return (*out, *((f, edits) for f, edits in self.rewritten if f not in seen))


_NOTHING = Native()


def is_asked(unit: Unit) -> bool:
    """Whether some code of a file shall be native."""
    o = unit.options
    return o.warp == "native" or any(mode == "native" for _, mode in o.kernels)


def native(unit: Unit) -> Native:
    """What native code a file gets. Nothing where nothing is asked for."""
    return _native(unit) if is_asked(unit) else _NOTHING


def apart(unit: Unit, findings: list[Finding]) -> list[Finding]:
    """The findings on code that native code does not replace."""
    gone: list[tuple[int, int]] = []
    for _, edits in native(unit).rewritten:
        for e in edits:
            at = e.start
            for part in e.parts:
                if isinstance(part, Span) and e.start <= part.start <= part.end <= e.end:
                    gone.append((at, part.start))
                    at = part.end
            gone.append((at, e.end))
    if not gone:
        return findings

    def stays(f: Finding) -> bool:
        spans = [(x.start, x.end) for x in f.edits] or [(f.start, f.end)]
        return f.code == CODE or not any(a < end and start < b for start, end in spans for a, b in gone)

    return [f for f in findings if stays(f)]


@lru_cache(maxsize=2)
def _native(unit: Unit) -> Native:
    return _Plan(unit).made()


@dataclass(slots=True)
class _Plan:
    unit: Unit
    idioms: Idioms = field(init=False)
    named: dict[str, list[Function]] = field(default_factory=dict)
    calls: dict[Function, tuple[Function, ...]] = field(default_factory=dict)
    warps: set[Function] = field(default_factory=set)
    summaries: dict[Function, Summary | Refused] = field(default_factory=dict)
    open: set[Function] = field(default_factory=set)

    def made(self) -> Native:
        unit = self.unit
        self.idioms = Idioms(unit)
        ops = [i for i in self.idioms.cudas if unit.t[i] != "__syncwarp"]
        if not ops and "tiled_partition" not in unit.words:
            return _NOTHING
        mode = modes(unit)
        functions = [f for f in unit.functions if is_device(unit, f) and mode(f.name_at) != "flag"]
        for f in functions:
            self.named.setdefault(f.name, []).append(f)
        for f in functions:
            words = set(unit.t[f.body[0] : f.body[1]]) & self.named.keys()
            self.calls[f] = tuple(g for w in sorted(words) for g in self.named[w] if g is not f)
        ops += unit.find("tiled_partition")
        self.warps = {f for f in functions if any(f.body[0] < i < f.body[1] for i in ops)}
        grown = True
        while grown:
            more = {f for f in functions if f not in self.warps and not self.warps.isdisjoint(self.calls[f])}
            self.warps |= more
            grown = bool(more)
        return self._chosen(functions)

    def _chosen(self, functions: list[Function]) -> Native:
        unit = self.unit
        kernels = [f for f in functions if "__global__" in f.sides and f in self.warps]
        modes_of = dict(unit.options.kernels)
        whole = unit.options.warp == "native"
        asked = [f for f in kernels if modes_of.get(f.name, "native" if whole else "") == "native"]
        solo = self._reached([f for f in functions if modes_of.get(f.name) == "solo"])
        if unit.options.warp == "solo":
            solo = self._reached([f for f in functions if "__global__" in f.sides and f not in asked])
        if unit.options.trust > Trust.REVIEW:
            why = "sums in another order are no exact edit (`--trust exact`)"
            return Native(kept=tuple(Kept(f, f.name_at, why) for f in asked))
        done: dict[Function, None] = {}
        kept: list[Kept] = []
        for f in asked:
            refused = self._refusal(f, solo)
            if refused is None and not any(self._direct(g) for g in self._reached([f])):
                refused = Refused(f.name_at, "what it does with warps is not understood")
            if refused is None:
                done[f] = None
            else:
                kept.append(Kept(f, refused.at, refused.why))
        wanted = self._reached(list(done)) if not whole else set(functions)
        users = [f for f in done if self._direct(f)]
        called = self._reached(kernels)
        for f in functions:
            if f in self.warps and f in wanted and f not in solo and "__global__" not in f.sides:
                s = self._summary(f)
                hides = isinstance(s, Summary) and s.result.kind in (Kind.SAME, Kind.WHOLE) and not s.line
                if hides and self._direct(f):
                    users.append(f)
                elif isinstance(s, Refused) and whole and f not in called:
                    kept.append(Kept(f, s.at, s.why))
        return self._written(users, tuple(done), kept, functions)

    def _written(
        self, users: list[Function], done: tuple[Function, ...], kept: list[Kept], functions: list[Function]
    ) -> Native:
        """The edits of native functions and of those that put a warp's values together for them."""
        parts = [f for f in self.warps if f not in users and self._is_part(f)]
        header = PurePosixPath(self.unit.path).suffix.lower() in _HEADERS
        native = set(users) | set(parts)
        grown = True
        while grown:  # a part may call another
            away = {
                p
                for p in native.intersection(parts)
                if header or any(p in self.calls[f] and f not in native for f in functions)
            }
            away |= {p for p in native.intersection(parts) if any(x not in native for x in self._others(p))}
            if not any(p in self.calls[f] for p in native for f in native):
                away |= native.intersection(parts)
            native -= away
            grown = bool(away)
        places = [f for f in parts if f in native and any(f in self.calls[g] for g in native)]
        lost = {f for f in users for g in self.calls[f] if g in parts and g not in places and not self._reduces(g)}
        if lost:
            kept += [
                Kept(f, f.name_at, "it shares a function with kernels that stay logical") for f in done if f in lost
            ]
            return self._written(
                [f for f in users if f not in lost], tuple(f for f in done if f not in lost), kept, functions
            )
        out = []
        for f in (*users, *places):
            s = self._summary(f)
            assert isinstance(s, Summary)
            edits = dict(s.edits)
            for site in s.sites:
                for g in self.named.get(callee(site), ()):
                    if g in parts and g not in places:
                        edits.update(self._by_hand(site, g))
            if edits:
                out.append((f, tuple(edits.values())))
        reached = {k: tuple(sorted(self._reached([k]) - {k}, key=lambda f: f.first)) for k in done}
        return Native(tuple(sorted(out, key=lambda x: x[0].first)), done, tuple(kept), reached)

    def _others(self, f: Function) -> list[Function]:
        """Other functions of the same name: a call may mean each."""
        return [g for g in self.named[f.name] if g is not f]

    def _by_hand(self, site: CallExpr, g: Function) -> dict[tuple[int, int], Edit]:
        """The call of a function that reduces over a warp, as one of `cu2port::wave`."""
        unit = self.unit
        s = self._summary(g)
        assert isinstance(s, Summary)
        call = unit.call(site.at)
        if call is None or not s.reduction:
            raise AssertionError(f"no call at {site.at}")
        start, end = unit.p[unit.qualifier(site.at)], unit.end(call.close)
        text = "".join(x if isinstance(x, str) else unit.text[x.start : x.end] for x in s.reduction)
        name, _, rest = text.partition("(")
        rest = rest[:-1].partition(",")[2]
        tail = f",{rest})" if rest else ")"
        return {(start, end): Edit(start, end, (f"{SPACE}{name}(", Span(call.args[0].start, call.args[0].end), tail))}

    # --- what functions do ----------------------------------------------------------------------------------------

    def _reached(self, start: list[Function]) -> set[Function]:
        found, todo = set(start), list(start)
        while todo:
            for g in self.calls.get(todo.pop(), ()):
                if g not in found:
                    found.add(g)
                    todo.append(g)
        return found

    def _is_part(self, f: Function) -> bool:
        s = self.summaries.get(f)
        return isinstance(s, Summary) and s.result.kind is Kind.PART

    def _reduces(self, f: Function) -> bool:
        s = self.summaries.get(f)
        return isinstance(s, Summary) and bool(s.reduces)

    def _direct(self, f: Function) -> bool:
        """Whether a kernel works with warps itself, and not only through functions that hide them."""
        s = self.summaries.get(f)
        return isinstance(s, Summary) and bool(s.edits or s.sites)

    def _refusal(self, f: Function, solo: set[Function]) -> Refused | None:
        reached = self._reached([f])
        if reached & solo:
            return Refused(f.name_at, "it runs solo, or shares a function with one that does")
        s = self._summary(f)
        if isinstance(s, Refused):
            return self._by_rows(f, s)
        if s.line:
            return in_one_row(self.unit, f)
        return None

    def _by_rows(self, f: Function, why: Refused) -> Refused | None:
        """Whether a kernel is native because each warp has a row of its own; else why it is not."""
        d = make_device(self.unit, f)
        for single in (False, True):
            try:
                found = Rows(self.unit, self.idioms, d, self._look, single).run()
            except Refused as e:
                if not single and e.why != NO_ROW and e.at > why.at:
                    why = e
                continue
            try:
                edits = grid_edits(self.unit, self.idioms, d, found)
            except Refused as e:
                return e
            self.summaries[f] = Summary(SAME, {**found.edits, **edits}, sites=found.sites)
            return None
        return why

    def _summary(self, f: Function) -> Summary | Refused:
        if f not in self.summaries:
            if f not in self.warps:
                self.summaries[f] = Summary(SAME)
            elif f in self.open:
                return Refused(f.name_at, f"`{f.name}` calls itself")
            else:
                self.open.add(f)
                try:
                    self.summaries[f] = self._walked(make_device(self.unit, f))
                except Refused as e:
                    self.summaries[f] = e
                self.open.discard(f)
        return self.summaries[f]

    def _walked(self, d: Device) -> Summary:
        """A function's summary. Raises Refused."""
        return Walk(self.unit, self.idioms, d, self._look).run()

    def _look(self, name: str) -> Summary | None:
        """What the file's functions of a name do; None if it has none. Raises Refused where they differ."""
        found = self.named.get(name)
        if not found:
            return None
        all_of = []
        for f in found:
            s = self._summary(f)
            if isinstance(s, Refused):
                raise Refused(s.at, s.why)
            all_of.append(s)
        first = all_of[0]
        if any((s.result, s.reduces) != (first.result, first.reduces) for s in all_of):
            if all(is_plain(s.result) for s in all_of):
                return Summary(SAME, line=any(s.line for s in all_of))
            raise Refused(found[0].name_at, f"functions named `{name}` do different things")
        return first
