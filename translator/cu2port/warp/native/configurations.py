"""Functions with `#if` inside: each way to compile them is proven by itself, and all must agree.

For each group of functions that call each other, the conditionals in them are taken apart: a text for each way, in
which what is not compiled is blank, so that bytes stay where they are. A kernel is native if it is in each of them. An
edit is made where all texts have it that have its place; if they differ, the group keeps its warps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cu2port.model import Edit
from cu2port.structure import Function
from cu2port.unit import Unit
from cu2port.warp.native import Kept, Native
from cu2port.warp.native.conditionals import Chain, Conditionals, Key
from cu2port.warp.native.plan import Plan

_MOST = 8  # ways to compile a group of functions
_IF = frozenset({"if", "ifdef", "ifndef"})


@dataclass(frozen=True, slots=True)
class Way:
    """One way to compile a group: its text, the bytes that are blank in it, and what becomes native."""

    unit: Unit
    gone: tuple[tuple[int, int], ...]
    made: Native

    def has(self, e: Edit) -> bool:
        """Whether the place of an edit is compiled."""
        return not any(a <= e.start < b or a < e.end <= b for a, b in self.gone)

    def cuts(self, e: Edit) -> bool:
        """Whether an edit would reach over what is blank."""
        return any(a < e.end and e.start < b for a, b in self.gone)

    def token(self, at: int) -> int:
        """The byte at which a token stands."""
        return self.unit.p[at] if 0 <= at < len(self.unit.p) else 0


class DisagreeError(Exception):
    """Ways to compile a group of functions want different edits."""


@dataclass(slots=True)
class Configurations:
    """What becomes of a file's functions, with all ways to compile them."""

    unit: Unit
    plan: Plan = field(init=False)
    conditionals: Conditionals = field(init=False)
    texts: dict[str, Way | None] = field(default_factory=dict)

    def made(self) -> Native:
        """The plan for the file."""
        self.plan = Plan(self.unit)
        base = self.plan.made()
        if not self.plan.warps or not any(d.keyword in _IF for d in self.unit.directives):
            return base
        self.conditionals = Conditionals(self.unit)
        for group in self._groups():
            ways = self._ways(group)
            if ways:
                try:
                    base = self._joined(base, group, ways)
                except DisagreeError:
                    continue
        return base

    # --- groups of functions ----------------------------------------------------------------------------------------

    def _is_apart(self, f: Function) -> bool:
        """Whether all that a function does is a reduction over the warp, in one way: nothing is written for it, and its
        callers have nothing else in common."""
        return self.plan.is_part(f) and not self._inside(f)

    def _groups(self) -> list[list[Function]]:
        """Functions that work with warps, those together that reach each other by calls."""
        warps = sorted((f for f in self.plan.warps if not self._is_apart(f)), key=lambda f: f.first)
        leader = {f: f for f in warps}

        def top(f: Function) -> Function:
            while leader[f] is not f:
                f = leader[f]
            return f

        for f in warps:
            for g in self.plan.calls.get(f, ()):
                if g in leader:
                    leader[top(g)] = top(f)
        out: dict[Function, list[Function]] = {}
        for f in warps:
            out.setdefault(top(f), []).append(f)
        return list(out.values())

    def _inside(self, f: Function) -> list[Chain]:
        """The conditionals that begin in a function."""
        ds = self.unit.directives
        return [c for c in self.conditionals.chains if f.body[0] < ds[c[0]].first < f.body[1]]

    def _defining(self, group: Sequence[Function]) -> list[Chain]:
        """The conditionals outside of functions that define macros which the functions use, or functions of a name
        that the group has several of."""
        unit, names = self.unit, [f.name for f in group]
        words = {w for f in group for w in unit.t[f.first : f.body[1]]} & unit.macros.keys()
        places = [m.directive.start for w in words for m in unit.macros[w]]
        places += [unit.p[f.name_at] for f in group if names.count(f.name) > 1]
        out = []
        for c in self.conditionals.chains:
            start, end = unit.directives[c[0]].start, unit.directives[c[-1]].end
            inside = unit.function_at(unit.directives[c[0]].first) is not None
            if not inside and not self._is_guard(c) and any(start < at < end for at in places):
                out.append(c)
        return out

    def _is_guard(self, c: Chain) -> bool:
        return bool(self.unit.guard) and c[0] == 0

    def _ways(self, group: Sequence[Function]) -> list[Way]:
        """All ways to compile a group; none where it has no conditionals, or too many."""
        inner = {f: self._inside(f) for f in group}
        more = self._defining(group)
        if not more and not any(inner.values()):
            return []
        opened = sorted(
            group, key=lambda f: (len({self.conditionals.condition(k) for c in inner[f] for k in c[:-1]}), f.first)
        )
        while True:
            chains = sorted({c for f in opened for c in inner[f]} | {*more})
            found = self.conditionals.configurations(chains, _MOST)
            if found is not None:
                break
            if more:
                more = []
            else:  # that one keeps its warps
                opened.pop()
        if not chains:
            return []
        ways = [self._way(held) for held in found if not self._fails(chains, held)]
        return [w for w in ways if w is not None] if None not in ways else []

    def _fails(self, chains: Sequence[Chain], held: Mapping[Key, bool]) -> bool:
        """Whether a way to compile meets an `#error`."""
        gone = self.conditionals.gone(held)
        errors = [d.start for d in self.unit.directives if d.keyword == "error"]
        ds = self.unit.directives
        spans = [(ds[c[0]].start, ds[c[-1]].end) for c in chains]
        return any(any(a < at < b for a, b in spans) and not any(a <= at < b for a, b in gone) for at in errors)

    def _way(self, held: Mapping[Key, bool]) -> Way | None:
        """The plan for one way to compile."""
        unit = self.unit
        gone = tuple(self.conditionals.gone(held))
        text = blank(unit.text, gone)
        if text not in self.texts:
            other = Unit(text, unit.catalog, unit.options, path=unit.path, project=unit.project)
            self.texts[text] = Way(other, gone, Plan(other).made())
            unit.asked = unit.asked or other.asked
        return self.texts[text]

    # --- what they have in common -------------------------------------------------------------------------------------

    def _joined(self, base: Native, group: Sequence[Function], ways: Sequence[Way]) -> Native:
        """A plan with a group's functions as all ways to compile them have it. Raises DisagreeError."""
        unit = self.unit
        mine = {unit.p[f.name_at]: f for f in group}
        kernels, through, kept = [], [], []
        for at, f in mine.items():
            refused = [(w, k) for w in ways for k in w.made.kept if w.token(k.kernel.name_at) == at]
            if refused:
                w, k = refused[0]
                kept.append(Kept(f, unit.lexed.at(w.token(k.at)), k.why))
            elif any(w.token(k.name_at) == at for w in ways for k in w.made.kernels):
                kernels.append(f)
            elif any(w.token(k.name_at) == at for w in ways for k in w.made.through):
                through.append(f)
        stay = {k.kernel for k in kept if "__global__" in k.kernel.sides}
        found: list[dict[int, tuple[Edit, ...]]] = []
        for w in ways:
            edits = {w.token(f.name_at): e for f, e in w.made.rewritten}
            found.append({at: edits.get(at, ()) for at, f in mine.items() if f not in stay})
        rewritten = []
        for at, f in mine.items():
            every = dict.fromkeys(e for x in found for e in x.get(at, ()))
            for e in every:
                for w, x in zip(ways, found, strict=True):
                    if (e in x[at] and w.cuts(e)) or (w.has(e) != (e in x[at])):
                        raise DisagreeError
            if every:
                rewritten.append((f, tuple(every)))
        others = [x for x in base.rewritten if x[0] not in group]
        parts = {w.token(f.name_at) for w in ways for f in w.made.partly}
        partly = base.partly - {*group} | {f for at, f in mine.items() if at in parts}
        every_kernel = [k for k in base.kernels if k not in group] + kernels
        return Native(
            tuple(sorted((*others, *rewritten), key=lambda x: x[0].first)),
            tuple(sorted(every_kernel, key=lambda f: f.first)),
            (*(k for k in base.kept if k.kernel not in group), *kept),
            (*(k for k in base.through if k not in group), *through),
            {k: base.reached[k] if k in base.reached else self.plan.reached(k) for k in every_kernel},
            partly,
        )


def blank(text: str, gone: Sequence[tuple[int, int]]) -> str:
    """A text with spaces in place of bytes; lines stay."""
    out, at = [], 0
    for start, end in sorted(gone):
        if end > at:
            start = max(start, at)
            out += [text[at:start], "".join(c if c == "\n" else " " for c in text[start:end])]
            at = end
    return "".join((*out, text[at:]))
