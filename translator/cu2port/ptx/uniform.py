"""Whether no lane leaves a loop, or a part of it, before the others that began it: by the conditions around a place.

A name is uniform if all lanes that are together give it the same value: each value it gets is made of uniform names
and of what a block has once (`blockIdx`, the arguments of a kernel), where conditions of uniform names alone choose.
What is read from memory, given by a function, or not understood is not uniform.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from cu2port.facts.computing import OF_A_BLOCK, computes, is_constant
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.ptx.controls import OF_VALUES, UNKNOWN, Controls, Seen, key_at, read
from cu2port.syntax.tree import (
    Assign,
    Binary,
    CallExpr,
    Expr,
    Index,
    Member,
    Name,
    Num,
    Operator,
    Param,
    Ternary,
    Unary,
    Unread,
    walk,
)


def stays_together(unit: Unit, f: Function, region: range | None, places: Collection[int]) -> bool:
    """Whether the lanes that begin a part of a function (None: all of it) come to each of these statements in it."""
    known = _known(unit, f, places if region is None else ())
    return known.seen is not None and _come(unit, known.seen, known.varying, region, places)


def all_alike(unit: Unit, f: Function, values: Collection[Expr], elements: frozenset[int]) -> bool:
    """Whether values are the same for all lanes of a warp that use them together. `elements`: elements in them, and
    names of other files, by token, which may be what they are.

    Here what a pointer of all lanes has at a place of all lanes is a value too: lanes of a warp read it together.
    """
    if all(isinstance(e, Num) for e in values):
        return True
    known = _known(unit, f, ())
    if known.seen is None:
        return False
    if known.read_too is None:
        known.read_too = _varying(unit, f, known.seen, _Values(unit, known.seen, known.varying))
    return all(map(_Values(unit, known.seen, known.read_too, elements).same, values))


@dataclass
class _Known:
    """What a function does, and its variables that are not uniform. `read_too`: those where memory may be read."""

    seen: Seen | None
    varying: set[int]
    read_too: set[int] | None = None


def _all_known(unit: Unit) -> dict[tuple[int, frozenset[int]], _Known]:
    return {}


def _known(unit: Unit, f: Function, places: Collection[int]) -> _Known:
    """What is looked at once for a function, which may have many loops. Only `if constexpr` makes places matter."""
    wanted = frozenset(places if places and "constexpr" in unit.t[f.body[0] : f.body[1]] else ())
    known = unit.once(_all_known)
    if (f.body[0], wanted) not in known:
        seen = read(unit, f, wanted)
        known[f.body[0], wanted] = _Known(seen, set() if seen is None else _varying(unit, f, seen))
    return known[f.body[0], wanted]


def of_other_files(unit: Unit, chosen: Collection[Expr]) -> frozenset[int]:
    """Names in expressions that may be constants of other files, if the function has none of that name."""
    names = (x for e in chosen for x in walk(e) if isinstance(x, Name))
    return frozenset(x.at for x in names if x.text != "threadIdx" and x.text not in unit.macros)


def _come(unit: Unit, seen: Seen, varying: set[int], region: range | None, places: Collection[int]) -> bool:
    def inside(controls: Controls) -> Controls:
        if region is None:
            return controls
        first = next((n for n, c in enumerate(controls) if c.at in region), len(controls))
        return controls[first:]

    if any(place not in seen.within for place in places) or any(inside(controls) for controls in seen.returns):
        return False
    values = _Values(unit, seen, varying)
    return all(
        values.same(e)
        for place in places
        for controls in seen.within[place]
        for control in inside(controls)
        for e in control.conditions()
    )


# --- What differs ----------------------------------------------------------------------------------------------------


def _varying(unit: Unit, f: Function, seen: Seen, choice: _Values | None = None) -> set[int]:
    """Variables that are not uniform, by key. With `choice`, by which conditions are uniform, they may be read."""
    out = {key for key, p in seen.params if not _is_argument(f, p)} | seen.lost
    span = range(f.body[0], f.body[1])
    for name in set(seen.locals.values()):  # what is named where nothing was read may change there
        unseen = (i for i in unit.find(name) if i in span and i not in seen.names and not unit.is_member(i))
        meant = {key_at(unit, name, i) for i in unseen}
        of_name = (key for key, text in seen.locals.items() if text == name and key in seen.variables)
        out |= {key for key in of_name if key in meant or UNKNOWN in meant}
    values = _Values(unit, seen, out, None if choice is None else frozenset())
    changed = True
    while changed:
        changed = False
        for key, made_of, controls in seen.assigned:
            if key in out or key not in seen.variables:
                continue
            chosen = (e for c in seen.chosen(key, controls) for e in c.conditions())
            if not all(map(values.same, made_of)) or not all(map((choice or values).same, chosen)):
                out.add(key)
                changed = True
    return out


def _is_argument(f: Function, p: Param) -> bool:
    """Whether a parameter is the same for a whole grid."""
    return "__global__" in f.sides and not p.reference and not p.volatile and p.at >= 0


@dataclass(frozen=True)
class _Values:
    """What is the same for all lanes, where these variables are not. `elements`: what may differ all the same; None:
    nothing may, and nothing is read from memory."""

    unit: Unit
    seen: Seen
    varying: set[int]
    elements: frozenset[int] | None = field(default=None)

    def same(self, e: Expr) -> bool:
        if any(isinstance(x, Unread) for x in e.around):
            return False
        if isinstance(e, Num):
            return True
        if isinstance(e, Name):
            if e.text in self.seen.hidden and not e.qualified:
                return False
            key = UNKNOWN if e.qualified else key_at(self.unit, e.text, e.at)
            if key in self.seen.locals:
                return key not in self.varying
            return key == UNKNOWN and (e.at in (self.elements or ()) or is_constant(self.unit, e))
        if isinstance(e, Member):
            own = {*self.seen.locals.values(), *self.seen.hidden}
            of_block = isinstance(e.base, Name) and e.base.text in OF_A_BLOCK - own
            return of_block or (self.unit.tok(e.at - 1) == "." and isinstance(e.base, Name) and self.same(e.base))
        if isinstance(e, Unary):
            return e.op not in ("&", "*") and self.same(e.x)
        if isinstance(e, Binary):
            return self.same(e.a) and self.same(e.b)
        if isinstance(e, Ternary):
            return self.same(e.cond) and self.same(e.a) and self.same(e.b)
        if isinstance(e, Assign):
            return isinstance(e.target, Name) and self.same(e.value) and (e.op == "=" or self.same(e.target))
        if isinstance(e, Index):
            return self._read(e)
        if isinstance(e, CallExpr):
            name = e.callee.text if isinstance(e.callee, Name) else ""
            return name not in self.seen.lambdas and _computes(self.unit, name) and all(map(self.same, e.args))
        return isinstance(e, Operator) and e.word == "sizeof"

    def _read(self, e: Index) -> bool:
        """Of `p[i]`, with a pointer p."""
        if self.elements is None or e.at in self.elements:
            return self.elements is not None
        if not isinstance(e.base, Name) or any(isinstance(x, Index) and x.at in self.elements for x in walk(e.inner)):
            return False
        d = self.unit.declarations.visible(e.base.text, e.base.at)
        return d is not None and d.pointers > 0 and d.arrays == 0 and self.same(e.base) and self.same(e.inner)


def _computes(unit: Unit, name: str) -> bool:
    """Whether a function is one of the language's, or only computes, here or in a header."""
    known = computes(unit, name)
    return known if known is not None else name in OF_VALUES or name in unit.project.computing
