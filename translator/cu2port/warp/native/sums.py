"""Reductions in native code: over a warp, and over the slots of a block's warps."""

from __future__ import annotations

from collections.abc import Callable

from cu2port.core.model import Edit, Span
from cu2port.syntax.tree import (
    Binary,
    CallExpr,
    Expr,
    Index,
    Name,
    Num,
    Ternary,
    root,
    walk,
)
from cu2port.warp.native.forms import Forms
from cu2port.warp.native.lanes import IDEMPOTENT, Here, Known
from cu2port.warp.native.numbers import is_identity
from cu2port.warp.native.steps import Reduction, Refused
from cu2port.warp.native.types import COUNT, is_integer
from cu2port.warp.native.values import SAME, Kind, T, is_plain


class Sums:
    """What values become that are put together over a warp or over the slots of all warps. Raises Refused."""

    def __init__(self, k: Known, forms: Forms, plain: Callable[[Expr], T]) -> None:
        self.k, self.forms, self.plain = k, forms, plain

    # --- slots of warps -------------------------------------------------------------------------------------------

    def gathered(self, e: Expr, here: Here) -> T | None:
        """`tid < warps ? slots[lane] : 0`."""
        if not isinstance(e, Ternary):
            return None
        tag, edits = self.forms.condition(e.cond, here)
        if tag != "slots":
            return None
        self.k.edits.update(edits)
        return self.slot_read(e.cond, e.a, e.b, here, self._colon(e.at))

    def _colon(self, at: int) -> int:
        """The `:` that belongs to a `?`."""
        deep, k = 1, at
        while deep:
            k = max(k, self.k.unit.match[k]) + 1
            deep += {"?": 1, ":": -1}.get(self.k.unit.t[k], 0)
        return k

    def slot_read(self, cond: Expr, read: Expr, other: Expr, here: Here, before: int, name: str = "") -> T:
        """The type of slots read by the lanes that have a warp. `other`: what other lanes get, behind token `before`.
        If that is negative, the variable `name` has it before an `if` whose last token is -`before`."""
        if not here.together or self.k.gone:
            raise Refused(cond.at, "some lanes may be elsewhere")
        if not (isinstance(read, Index) and isinstance(read.base, Name)):
            raise Refused(read.at, "the number of lanes decides who reads this")
        slots = self.k.env.get(read.base.text, SAME)
        if slots.kind is not Kind.SLOTS:
            raise Refused(read.at, f"`{read.base.text}` holds no value of each warp")
        if not slots.seen:
            raise Refused(read.at, f"there is no barrier before `{read.base.text}` is read")
        assert isinstance(cond, Binary)
        self.all_set(read.base.text, cond.b)
        by_lane = not self.forms.is_tid(cond.a)
        edits = self.forms.lane(read.inner)
        if edits is None and not (self.forms.is_tid(read.inner) and (not by_lane or here.role == "first")):
            raise Refused(read.at, f"`{read.base.text}` is read at another place than the lane's")
        self._beyond(cond.b, read.base.text, other, before, name)
        self.k.edits.update(edits or {})
        self.k.spot(read)
        if isinstance(other, Num) and other.value is None and (slots.typ == COUNT or is_integer(slots.typ)):
            raise Refused(other.at, "lanes without a warp have a value of another type")
        return T(Kind.GATHERED, slots.op, everywhere=by_lane, typ=slots.typ)

    def _beyond(self, warps: Expr, array: str, other: Expr, before: int, name: str) -> None:
        """What lanes without a warp put in: nothing that counts, or what counts in CUDA too.

        With fewer than 32 warps, some lane of CUDA's first warp puts the value in, and some lane of a wavefront does;
        for an operation that may take a value twice it is all one how many. With 32 warps none does, and a slot
        stands in for it.
        """
        slots, mine = self.k.env[array], self.k.env.get(other.text, SAME) if isinstance(other, Name) else SAME
        if is_identity(self.k.unit, slots.op, other):
            self.plain(other)
            return
        if slots.op not in IDEMPOTENT:
            raise Refused(other.at, "lanes without a warp have a value that may count")
        if isinstance(other, Name) and mine.kind is Kind.PART and slots.source == other.text:
            self.k.spots.add(other.at)  # their own warp's value, which is in a slot too
            return
        known = self.k.env.get(name, SAME) if before < 0 else self.plain(other)
        if not known.uniform:
            raise Refused(other.at, "lanes without a warp have values of their own")
        n = self.k.constant(warps)
        if n is not None and n < 32:
            return
        unit, threads = self.k.unit, self._threads()
        if not threads:
            raise Refused(other.at, "lanes without a warp have a value that may count")
        if before == 1:
            raise Refused(other.at, "lanes without a warp have a value that may count")
        if before < 0:
            end = unit.end(-before)
            self.k.edits[end, end] = Edit(end, end, (f" else if ({threads} > 992) {name} = {array}[0];",))
            return
        last = before + 1
        while unit.t[last + 1] not in (";", ",", ")", "]", "}", ":"):
            last = max(last + 1, unit.match[last + 1])
        if "<" in unit.t[before:last]:
            raise Refused(other.at, "lanes without a warp have a value that may count")
        start, end = unit.p[before + 1], unit.end(last)
        text = f"({threads} > 992 ? {array}[0] : "
        self.k.edits[start, end] = Edit(start, end, (text, Span(start, end), ")"))

    def _threads(self) -> str:
        """How many threads the block has, as text; "" where that is not known."""
        return "blockDim.x" if not self.k.rows else "blockDim.x * blockDim.y" if not self.k.deep else ""

    def all_set(self, name: str, count: Expr) -> None:
        """Raises Refused where more slots may be read than there are warps, and hold something else."""
        known = isinstance(count, CallExpr) or any(root(x) == "blockDim" for x in walk(count))
        known = known or (isinstance(count, Name) and self.k.env.get(count.text, SAME).kind is Kind.COUNT)
        if not known and name in self.k.plainly:
            raise Refused(count.at, f"`{name}` may hold something else where there is no warp")

    # --- reductions -----------------------------------------------------------------------------------------------

    def reduction(self, r: Reduction, here: Here) -> None:
        unit = self.k.unit
        types = []
        for f in r.found:
            if odd := sorted(f.types - {self.k.types.get(f.name, "")}):
                raise Refused(f.at, f"what other lanes have of `{f.name}` becomes {odd[0]}")
            t = self.reduced(f.name, f.op, self.k.env.get(f.name, SAME), f.at, here, r.low)
            types.append(t._replace(typ=self.k.types.get(f.name, "") or f"? {f.name}") if t.kind is Kind.PART else t)
        for f, t in zip(r.found, types, strict=True):
            self.k.assign(f.name, t, Name(f.at, f.name), here)
        self.k.done |= r.shuffles
        self.k.spots |= {i for i in range(r.first, r.last + 1) if unit.t[i] in self.k.tracked}
        edit = self.k.steps.in_place(r)
        self.k.edits[edit.start, edit.end] = edit

    def reduced(self, name: str, op: str, t: T, at: int, here: Here, low: bool = False) -> T:
        """What a value becomes that is reduced over the warp. `low`: lane 0 alone gets it."""
        self.k.meets = True
        if not here.together or self.k.gone or here.role in ("leader", "slots", "thread"):
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
