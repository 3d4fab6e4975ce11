"""Reductions in native code: over a warp, and over the slots of a block's warps."""

from __future__ import annotations

from cu2port.model import Edit, Span
from cu2port.warp.native_conditions import Conditions
from cu2port.warp.native_idioms import Reduction, Refused
from cu2port.warp.native_lanes import IDEMPOTENT, SPACE, Here
from cu2port.warp.native_numbers import is_identity
from cu2port.warp.native_types import COUNT, is_integer
from cu2port.warp.native_values import SAME, Kind, T, is_plain
from cu2port.warp.tree import (
    Binary,
    Expr,
    Index,
    Name,
    Num,
    Ternary,
)


class Reductions(Conditions):
    """What values become that are put together over a warp or over the slots of all warps. Raises Refused."""

    def _value(self, e: Expr) -> T:
        """The type of an expression."""
        raise NotImplementedError

    def _gathered(self, e: Expr, here: Here) -> T | None:
        """`tid < warps ? slots[lane] : 0`."""
        if not isinstance(e, Ternary):
            return None
        tag, edits = self._condition(e.cond, here)
        if tag != "slots":
            return None
        self.edits.update(edits)
        return self._slot_read(e.cond, e.a, e.b, here)

    def _slot_read(self, cond: Expr, read: Expr, other: Expr, here: Here) -> T:
        if not here.together or self.gone:
            raise Refused(cond.at, "some lanes may be elsewhere")
        if not (isinstance(read, Index) and isinstance(read.base, Name)):
            raise Refused(read.at, "the number of lanes decides who reads this")
        slots = self.env.get(read.base.text, SAME)
        if slots.kind is not Kind.SLOTS:
            raise Refused(read.at, f"`{read.base.text}` holds no value of each warp")
        if not slots.seen:
            raise Refused(read.at, f"there is no barrier before `{read.base.text}` is read")
        assert isinstance(cond, Binary)
        by_lane = not self._is_tid(cond.a)
        edits = self._lane(read.inner)
        if edits is None and not (self._is_tid(read.inner) and (not by_lane or here.role == "first")):
            raise Refused(read.at, f"`{read.base.text}` is read at another place than the lane's")
        n = self._constant(cond.b)
        few = n is not None and n < 32 and slots.op in IDEMPOTENT
        if not is_identity(self.unit, slots.op, other) and not (few and self._is_constant(other)):
            raise Refused(other.at, "lanes without a warp have a value that may count")
        self._plain(other)
        self.edits.update(edits or {})
        self._spot(read)
        if isinstance(other, Num) and other.value is None and (slots.typ == COUNT or is_integer(slots.typ)):
            raise Refused(other.at, "lanes without a warp have a value of another type")
        return T(Kind.GATHERED, slots.op, everywhere=by_lane, typ=slots.typ, scan=slots.scan)

    # --- reductions -----------------------------------------------------------------------------------------------

    def _reduction(self, r: Reduction, here: Here) -> None:
        unit = self.unit
        types = []
        for f in r.found:
            t = self._reduced(f.name, f.op, self.env.get(f.name, SAME), f.at, here, r.low)
            types.append(t._replace(typ=self.types.get(f.name, "") or f"? {f.name}") if t.kind is Kind.PART else t)
        for f, t in zip(r.found, types, strict=True):
            self._set(f.name, t, Name(f.at, f.name), here)
        self.done |= r.shuffles
        self.spots |= {i for i in range(r.first, r.last + 1) if unit.t[i] in self.tracked}
        edit = self._in_place(r)
        self.edits[edit.start, edit.end] = edit

    def _reduced(self, name: str, op: str, t: T, at: int, here: Here, low: bool = False) -> T:
        """What a value becomes that is reduced over the warp. `low`: lane 0 alone gets it."""
        self.meets = True
        if not here.together or self.gone or here.role in ("leader", "slots", "thread"):
            raise Refused(at, "some lanes may be elsewhere when the warp's values are put together")
        if t.kind is Kind.GATHERED:
            if t.op != op:
                raise Refused(at, f"`{name}` is put together by another operation than before")
            return T(Kind.WHOLE, op, everywhere=t.everywhere and here.role == "" and not low)
        if not is_plain(t):
            raise Refused(at, f"`{name}` is {t.kind.value} already")
        if here.role == "first":
            raise Refused(at, f"only the first warp puts `{name}` together")
        return T(Kind.PART, op)

    def _in_place(self, r: Reduction) -> Edit:
        """The calls that stand for the statements of a reduction."""
        unit = self.unit
        start, end = unit.p[r.first], unit.end(r.last)
        line = unit.text.rfind("\n", 0, start) + 1
        indent = unit.text[line:start]
        alone = not indent.strip()
        before = unit.in_directive(r.first - 1)
        if before is None and unit.tok(r.first - 1) not in (";", "{", "}"):
            single = len(r.found) == 1 and unit.tok(r.first - 1) == ")"
            if not single or unit.tok(unit.match[r.first - 1] - 1) not in ("if",):
                raise Refused(r.first, "something stands before the loop that is not understood")
        gap = "\n" + indent if alone else " "
        head: tuple[str, ...] = ()
        while before is not None and "unroll" in unit.t[before.first : before.stop] and alone:
            start = unit.text.rfind("\n", 0, before.start) + 1
            head = (indent,)
            before = unit.in_directive(before.first - 1) if before.first else None
        out: list[str | Span] = [*head, *(x + gap for x in self.idioms.comments(r.first, r.last))]
        for n, f in enumerate(r.found):
            out += [gap] if n else []
            out += [f"{f.name} = {SPACE}{f.call[0]}", *f.call[1:], ";"]
        return Edit(start, end, tuple(out))
