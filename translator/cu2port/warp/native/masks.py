"""Masks of votes that are kept, and what is made of them: ranks, leaders, places that one lane reserves for many.

Why it is right: where a leader adds the number of its lanes to a counter, two warps do so one after the other, in an
order that CUDA leaves open. A wavefront that holds both adds both numbers at once, and the places that it hands out are
those of the order in which the warps come next to each other. So a place, which is the counter's old value and a rank,
is one that CUDA may give as well; the old value alone and the rank alone are not, and may only be put together.
"""

from __future__ import annotations

from cu2port.model import Edit
from cu2port.warp.native.idioms import Refused
from cu2port.warp.native.lanes import Here, Summary
from cu2port.warp.native.masked_branches import MaskedBranches
from cu2port.warp.native.values import SPACE, Kind
from cu2port.warp.native.votes import escapes
from cu2port.warp.tree import Assign, Decl, Expr, If, Jump, Loop, Name, Stmt, Switch, single, walk

_INTEGERS = frozenset("const auto unsigned int uint uint32_t long uint64_t u32 u64 std ::".split())
Edits = dict[tuple[int, int], Edit]
_HOLDS = (Kind.MASK, Kind.LOWER, Kind.GROUP)


class Masks(MaskedBranches):
    """The walk over one function, with masks of lanes. Raises Refused."""

    def run(self) -> Summary:
        s = super().run()
        s.needs, s.fits = frozenset(self.needs), frozenset(self.fits)
        if len(s.needs) == 1 and not self.apart:
            s.apart = self._told_apart(*s.needs)
        return s

    def _told_apart(self, n: int) -> Edits:
        """What a function needs whose callers are not all seen: the lanes that it gets to count in one place are found
        when it is called, by the parameter that says which. Nothing where that is not known."""
        p = self.d.params[n]
        refers = self.unit.tok(p.at - 1) == "&"
        if not (p.pointer or refers):
            return {}
        again = Masks(self.unit, self.idioms, self.d, self.look)
        again.apart = ("&" if refers else "") + p.name
        try:
            return again.run().edits
        except Refused:
            return {}

    # --- variables that hold masks --------------------------------------------------------------------------------

    def _declared(self, s: Decl, here: Here) -> None:
        self.declared.setdefault(s.name, set()).add(s.at)
        if not (s.shared or s.volatile or s.dims or s.pointer or self.unit.t[s.at - 1] in ("&", "&&")):
            self.locals.add(s.name)
        super()._declared(s, here)
        self._typed(s.name, s.at)

    def _assigned(self, e: Assign, here: Here) -> None:
        super()._assigned(e, here)
        if isinstance(e.target, Name):
            self._typed(e.target.text, e.target.at)

    def _touched(self, target: Expr) -> None:
        for x in walk(target):
            if isinstance(x, Name) and self._raw(x).kind is Kind.PLACE:
                self._plain(x)
        super()._touched(target)

    def _typed(self, name: str, at: int) -> None:
        """A variable that holds a mask gets its type, if all that it is used for is that."""
        kind = self.env[name].kind if name in self.env else Kind.SAME
        if kind in _HOLDS:
            places = self.declared.get(name, set())
            if at not in places and len(places) != 1:
                raise Refused(at, f"it is not known where `{name}` is declared")
            self.retyped[at if at in places else min(places)] = (name, kind)
            self.uses.add(at)

    def _look_after(self) -> None:
        unit, (first, stop) = self.unit, self.d.fn.body
        for at, (name, kind) in self.retyped.items():
            for i in range(first, stop):
                if unit.t[i] == name and i not in self.uses and not unit.is_member(i) and i not in self.declared[name]:
                    raise Refused(i, f"`{name}` is used as a number")
            self._retype(name, at, "group" if kind is Kind.GROUP else "mask")
        for i in range(first, stop):
            if unit.t[i] in self.later and i not in self.done:
                raise Refused(i, f"`{unit.t[i]}` is no part of a proven idiom")
        super()._look_after()

    def _retype(self, name: str, at: int, kind: str) -> None:
        unit = self.unit
        first, stop = at, at
        while unit.tok(first - 1) not in (";", "{", "}", "(", ":") and unit.in_directive(first - 1) is None:
            first = unit.match[first - 1] if unit.t[first - 1] in (")", "]") else first - 1
        while unit.t[stop] not in (";", ")"):
            stop = max(stop, unit.match[stop]) + 1
        places = {i for of in self.declared.values() for i in of if first <= i < stop}
        if any(self.retyped.get(i, ("", None))[1] is not self.retyped[at][1] for i in places):
            raise Refused(at, f"`{name}` is declared together with others")
        at = min(places)
        words = unit.t[first:at]
        if "auto" in words and _INTEGERS.issuperset(words):
            return
        first += words[:1] == ["const"]
        last = at - (2 if words[-1:] == ["const"] else 1)
        known = words[-1:] == ["coalesced_group"] if kind == "group" else _INTEGERS.issuperset(words)
        if not known or first > last:
            raise Refused(at, f"`{name}` is of a type that is not understood")
        start, end = unit.p[first], unit.end(last)
        self.edits[start, end] = Edit(start, end, (SPACE + kind,))

    # --- who is here ----------------------------------------------------------------------------------------------

    def _statement(self, s: Stmt, here: Here) -> None:
        if id(s) not in self.turns:
            super()._statement(s, here)
        else:
            kept = self._go(frozenset())
            try:
                super()._statement(s, here)
            finally:
                self._back(kept)
        if isinstance(s, (If, Loop, Switch)) and escapes(s):
            old, present = self.region, self.present
            ids = self._without(s)
            self._go(ids)
            self.present = frozenset(i for i in ids if i in present or self.masks[i].region == old)

    def _without(self, s: Stmt) -> frozenset[int]:
        """The masks in which each lane is that is still here after `if (!p) return;`."""
        if isinstance(s, If) and s.other is None and isinstance(single(s.then), Jump):
            return frozenset(i for i, v in self.masks.items() if self._is_yes(s.cond, v, no=True))
        return frozenset()

    def _arm(self, s: Stmt, here: Here, tag: str, outer: Here) -> None:
        ids = self.into.pop(id(s), frozenset())
        if tag == "uniform":
            super()._arm(s, here, tag, outer)
            return
        kept = self._go(ids)
        try:
            super()._arm(s, here, tag, outer)
        finally:
            self._back(kept)

    def _apart(self, s: Stmt, here: Here) -> None:
        self.blocked += 1
        try:
            super()._apart(s, here)
        finally:
            self.blocked -= 1

    def _loop(self, s: Loop, here: Here) -> None:
        self.turns.add(id(s.body))
        for x in (s.cond, s.step):
            if x is not None:
                self.closed |= {y.at for y in walk(x)}
        if not self._votes_on(s, here):
            super()._loop(s, here)

    def _if(self, s: If, here: Here) -> None:
        if not here.role and not self.blocked:
            self.here = here
            if self._elected(s, here) or self._voted(s, here):
                return
            ids = self._who_votes(s.cond)
            if ids:
                self.into[id(s.then)] = ids
        super()._if(s, here)
