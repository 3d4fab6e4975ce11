"""What the functions of one file do, each proved once, when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from cu2port.core.model import Span
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.warp.model import make_device
from cu2port.warp.native.graph import Graph
from cu2port.warp.native.ladders import Facts
from cu2port.warp.native.read import index_of
from cu2port.warp.native.reasons import Reason, Refused
from cu2port.warp.native.reductions import by_width
from cu2port.warp.native.state import SAME, Fn, Kind, Proved, alike, start
from cu2port.warp.native.walk import check, prepared, prove
from cu2port.warp.native.widths import meant


@dataclass(frozen=True, slots=True)
class Proofs:
    """The proofs of a file's device functions. `open`: functions whose proofs ask for this one; `_known`: a cache."""

    unit: Unit
    facts: Facts
    graph: Graph
    open: frozenset[Function] = frozenset()
    _known: dict[Function, Proved | Refused] = field(default_factory=dict)

    def of(self, f: Function) -> Proved | Refused:
        """What a function does, for any number of lanes, or why that is not known."""
        if f in self.open:
            return Refused(f.name_at, Reason.ITSELF, (f.name,))
        if f not in self._known:
            inner = replace(self, open=self.open | {f})
            fn = prepared(self.unit, self.facts, make_device(self.unit, f), inner.look)
            self._known[f] = _proved(fn) if f in self.graph.warps else Proved(SAME, index=index_of(start(fn)))
        return self._known[f]

    def proved(self, *functions: Function) -> Iterator[Proved]:
        """The proofs of those functions that have one."""
        return (s for f in functions if isinstance(s := self.of(f), Proved))

    def look(self, name: str, kind: str = "") -> Proved | Refused | None:
        """What the file's functions of a name do; None if it has none, refused where they differ. `kind`: the type of
        a call's only argument."""
        found = self.graph.named.get(name)
        if not found:
            return None
        if self._is_elsewhere(name, found):
            return Refused(found[0].name_at, Reason.HEADERS_HAVE, (name,))
        all_of = list[Proved]()
        for f in meant(self.unit, found, kind):
            s = self.of(f)
            if isinstance(s, Refused):
                return s
            all_of.append(s)
        if all(self._common(s) == self._common(all_of[0]) for s in all_of):
            return alike(all_of)
        if not all(s.result.plain for s in all_of):
            return Refused(found[0].name_at, Reason.DIFFERENT, (name,))
        line, meets, plane = (any(x) for x in zip(*((s.line, s.meets, s.plane) for s in all_of), strict=True))
        return Proved(SAME, line=line, meets=meets, plane=plane)

    def call_of(self, s: Proved) -> tuple[str, str]:
        """The function of `cu2port::wave` that does what a function does, and what follows its argument."""
        text = "".join(self.unit.text[x.start : x.end] if isinstance(x, Span) else x for x in s.reduction)
        name, _, rest = text.partition("(")
        rest = rest[:-1].partition(",")[2]
        return name, f",{rest})" if rest else ")"

    def _is_elsewhere(self, name: str, found: tuple[Function, ...]) -> bool:
        """Whether headers have functions of a name that the file defines, with parameters that none of its own has."""
        known = {tuple(self.unit.t[f.params[0] : f.params[1]]) for f in found}
        there = ((u, f) for u in self.facts.headers if name in u.words for f in u.functions if f.name == name)
        return any(tuple(u.t[f.params[0] : f.params[1]]) not in known for u, f in there)

    def _common(self, s: Proved) -> tuple[object, ...]:
        """What functions of one name must have in common."""
        parts = s.reduces, s.low, s.index, s.scratch, s.widths, s.typed
        return s.result, *parts, self.call_of(s)


def _proved(fn: Fn) -> Proved | Refused:
    got = prove(fn)
    if isinstance(got, Proved) and (got.reduces or got.result.kind is not Kind.PART):
        return got
    return (by_width(fn) if check(fn) is None else None) or got
