"""Which functions of a file become native, and with which edits."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from cu2port.core.model import Edit, Span, Trust
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import declares, modes
from cu2port.syntax.tree import callee
from cu2port.warp.model import is_device, make_device
from cu2port.warp.native import Kept, Native
from cu2port.warp.native.host import SOURCES, in_rows, in_whole_warps, shown
from cu2port.warp.native.ladders import Facts
from cu2port.warp.native.patterns import SPACE
from cu2port.warp.native.read import index_of
from cu2port.warp.native.reasons import Reason, Refused
from cu2port.warp.native.reductions import by_width
from cu2port.warp.native.state import SAME, Fn, Kind, Proved, Site, alike, start
from cu2port.warp.native.walk import check, made, prove
from cu2port.warp.native.widths import meant, type_given

_GROUPS = ("tiled_partition", "coalesced_threads")
_DEVICE = frozenset({"__global__", "__device__"})


@dataclass(slots=True)
class Plan:
    """The plan for one file."""

    unit: Unit
    facts: Facts = field(init=False)
    named: dict[str, list[Function]] = field(default_factory=dict)
    calls: dict[Function, tuple[Function, ...]] = field(default_factory=dict)
    callers: dict[Function, list[Function]] = field(default_factory=dict)
    warps: set[Function] = field(default_factory=set)
    summaries: dict[Function, Proved | Refused] = field(default_factory=dict)
    open: set[Function] = field(default_factory=set)

    def made(self) -> Native:
        unit = self.unit
        if unit.words.isdisjoint(_DEVICE) and not any(is_device(unit, f) for f in unit.functions):
            return Native()
        self.facts = Facts(unit)
        ops = [i for i in self.facts.cudas if unit.t[i] != "__syncwarp"]
        if not ops and unit.words.isdisjoint(_GROUPS):
            return Native()
        functions = self._read(ops)
        return self._chosen(functions)

    def _read(self, ops: list[int]) -> list[Function]:
        """The device functions of the file, and what they call."""
        unit = self.unit
        mode = modes(unit)
        functions = [f for f in unit.functions if is_device(unit, f) and mode(f.name_at) != "flag"]
        for f in functions:
            self.named.setdefault(f.name, []).append(f)
        for f in functions:
            words = set(unit.t[f.body[0] : f.body[1]]) & self.named.keys()
            self.calls[f] = tuple(g for w in sorted(words) for g in self.named[w] if g is not f)
        ops += [i for i in unit.find(*_GROUPS) if not unit.is_member(i)]
        in_macros = {unit.t[d.first + 2] for i in ops if (d := unit.in_directive(i)) is not None}
        ops += [i for i in unit.find(*in_macros) if unit.in_directive(i) is None]
        for f in functions:
            for g in self.calls[f]:
                self.callers.setdefault(g, []).append(f)
        ops.sort()
        self.warps = self._leading([f for f in functions if bisect(ops, f.body[0]) < bisect(ops, f.body[1])])
        return functions

    def _leading(self, goals: Iterable[Function]) -> set[Function]:
        """Functions whose calls lead to one of some, and those."""
        todo = list(goals)
        found = set(todo)
        while todo:
            for f in self.callers.get(todo.pop(), ()):
                if f not in found:
                    found.add(f)
                    todo.append(f)
        return found

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
        misused = self._misused(functions)
        for f in asked:
            refused = self._refusal(f, solo)
            if refused is None and (other := next((g for g in self._reached([f]) if g in misused), None)) is not None:
                refused = Refused(f.name_at, Reason.MISUSED, (other.name,))
            if refused is None and not any(self._direct(g) and not self.is_part(g) for g in self._reached([f])):
                refused = Refused(f.name_at, Reason.NOTHING)
            if refused is not None:
                kept.append(Kept(f, refused.at, refused.why))
            else:
                done[f] = None
        wanted = self._reached(list(done)) if not whole else set(functions)
        users = [f for f in done if self._direct(f)]
        called = self._reached(kernels)
        spoilt = self._leading(misused)
        for f in functions:
            if f in self.warps and f in wanted and f not in solo and "__global__" not in f.sides:
                s = self._summary(f)
                hides = isinstance(s, Proved) and s.result.kind in (Kind.SAME, Kind.WHOLE) and not (s.line or s.plane)
                if hides and f not in spoilt and self._direct(f):
                    users.append(f)
                elif isinstance(s, Refused) and whole and f not in called:
                    kept.append(Kept(f, s.at, s.why))
        return self._written(users, tuple(done), kept)

    def _misused(self, functions: list[Function]) -> set[Function]:
        """Functions whose answer counts in the first thread or warp alone, and that code calls of which it is not known
        what it does with the others'."""
        out: set[Function] = set()
        for f in functions:
            s = self._summary(f) if "__global__" not in f.sides else None
            partial = isinstance(s, Proved) and s.result.kind is Kind.WHOLE and not s.result.everywhere
            if partial and any(isinstance(self._summary(g), Refused) for g in self.callers.get(f, ())):
                out.add(f)
        return out

    def _written(self, users: list[Function], done: tuple[Function, ...], kept: list[Kept]) -> Native:
        """The edits of native functions."""
        out = []
        for f in users:
            s = self._summary(f)
            assert isinstance(s, Proved)
            edits = dict(s.edits)
            for site in s.sites:
                edits.update(self._by_hand(site, f))
            out.append((f, tuple(edits.values())))
        reached = {k: self.reached(k) for k in done}
        return Native(tuple(sorted(out, key=lambda x: x[0].first)), done, tuple(kept), reached)

    def _by_hand(self, at: Site, caller: Function) -> dict[tuple[int, int], Edit]:
        """The call of a function that reduces over a warp, as one of `cu2port::wave`."""
        unit, site, mode = self.unit, at.call, at.kind
        call = unit.call(site.at)
        named = meant(unit, self.named.get(callee(site), []), mode)
        s = self._look(callee(site), mode)
        if not isinstance(s, Proved) or not s.reduces:
            return {}
        assert call is not None
        name, tail = self._call_of(s)
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
        mine = unit.t[f.first : f.name_at] if unit.t[f.first] == "template" else []
        return (
            ""
            if any(w in mine[2:] and mine[mine.index(w) - 1] in ("typename", "class") for w in words)
            else " ".join(words)
        )

    def _is_of(self, arg: str, kind: str, caller: Function) -> bool:
        """Whether an argument is a variable of that very type."""
        unit = self.unit
        found = [i for i in unit.find(arg) if caller.first < i < caller.body[1] and declares(unit, i)]
        return bool(found) and all(unit.t[i - 1] == kind for i in found)

    def _call_of(self, s: Proved) -> tuple[str, str]:
        """The function of `cu2port::wave` that does what a function does, and what follows its argument."""
        text = "".join(x if isinstance(x, str) else self.unit.text[x.start : x.end] for x in s.reduction)
        name, _, rest = text.partition("(")
        rest = rest[:-1].partition(",")[2]
        return name, f",{rest})" if rest else ")"

    # --- what functions do ----------------------------------------------------------------------------------------

    def reached(self, f: Function) -> tuple[Function, ...]:
        """The functions that a function's calls lead to, in text order."""
        return tuple(sorted(self._reached([f]) - {f}, key=lambda g: g.first))

    def _reached(self, start: list[Function]) -> set[Function]:
        found, todo = set(start), list(start)
        while todo:
            for g in self.calls.get(todo.pop(), ()):
                if g not in found:
                    found.add(g)
                    todo.append(g)
        return found

    def is_part(self, f: Function) -> bool:
        """Whether a function returns what the warp's lanes come to; it stays as it is."""
        s = self.summaries.get(f)
        return isinstance(s, Proved) and s.result.kind is Kind.PART

    def _direct(self, f: Function) -> bool:
        """Whether a kernel works with warps itself, and not only through functions that hide them."""
        s = self.summaries.get(f)
        if not isinstance(s, Proved) or not (s.edits or s.sites):
            return False
        return not s.scratch or self._fits(f)

    def _fits(self, f: Function) -> bool:
        """Whether all calls of a function are seen, and lend it arrays of their own for slots."""
        unit = self.unit
        if PurePosixPath(unit.path).suffix.lower() not in SOURCES or shown(unit, f) is not None:
            return False
        known = {i for g in self.warps if isinstance(s := self._summary(g), Proved) for i in s.loans}
        calls = [i for i in unit.find(f.name) if i != f.name_at]
        return len(self.named[f.name]) == 1 and bool(calls) and known.issuperset(calls)

    def _refusal(self, f: Function, solo: set[Function]) -> Refused | None:
        reached = self._reached([f])
        if reached & solo:
            return Refused(f.name_at, Reason.SOLO)
        s = self._summary(f)
        if isinstance(s, Refused):
            return s
        refused = in_rows(self.unit, f, 1 if s.line else 2) if s.line or s.plane else None
        found = [self.summaries.get(g) for g in reached]
        floors = any(isinstance(x, Proved) and x.floors for x in found)
        return refused or (in_whole_warps(self.unit, self.facts, f) if floors else None)

    def _summary(self, f: Function) -> Proved | Refused:
        if f in self.open:
            return Refused(f.name_at, Reason.ITSELF, (f.name,))
        if f not in self.summaries:
            fn = made(self.unit, self.facts, make_device(self.unit, f), self._look)
            self.open.add(f)
            self.summaries[f] = self._proved(fn) if f in self.warps else Proved(SAME, index=index_of(start(fn)))
            self.open.discard(f)
        return self.summaries[f]

    @staticmethod
    def _proved(fn: Fn) -> Proved | Refused:
        got = prove(fn)
        if isinstance(got, Proved) and (got.reduces or got.result.kind is not Kind.PART):
            return got
        return (by_width(fn) if check(fn) is None else None) or got

    def _is_elsewhere(self, name: str, found: list[Function]) -> bool:
        """Whether headers have functions of a name that the file defines, with parameters that none of its own has."""
        known = {tuple(self.unit.t[f.params[0] : f.params[1]]) for f in found}
        there = ((u, f) for u in self.facts.headers if name in u.words for f in u.functions if f.name == name)
        return any(tuple(u.t[f.params[0] : f.params[1]]) not in known for u, f in there)

    def _alike(self, s: Proved) -> tuple[object, ...]:
        """What functions of one name must have in common."""
        parts = s.reduces, s.low, s.index, s.scratch, s.widths, s.typed
        return s.result, *parts, self._call_of(s)

    def _look(self, name: str, kind: str = "") -> Proved | Refused | None:
        """What the file's functions of a name do; None if it has none, refused where they differ. `kind`: the type of
        a call's only argument."""
        found = self.named.get(name)
        if not found:
            return None
        if self._is_elsewhere(name, found):
            return Refused(found[0].name_at, Reason.HEADERS_HAVE, (name,))
        all_of = list[Proved]()
        for f in meant(self.unit, found, kind):
            s = self._summary(f)
            if isinstance(s, Refused):
                return s
            all_of.append(s)
        if all(self._alike(s) == self._alike(all_of[0]) for s in all_of):
            return alike(all_of)
        if not all(s.result.plain for s in all_of):
            return Refused(found[0].name_at, Reason.DIFFERENT, (name,))
        line, meets, plane = (any(x) for x in zip(*((s.line, s.meets, s.plane) for s in all_of), strict=True))
        return Proved(SAME, line=line, meets=meets, plane=plane)
