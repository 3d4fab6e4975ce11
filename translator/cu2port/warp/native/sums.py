"""Reductions in native code: over a warp, and over the slots of a block's warps."""

from __future__ import annotations

from collections.abc import Mapping

from cu2port.core.model import Edit, Span
from cu2port.syntax.tree import CallExpr, Expr, Name, Num, Ternary, root, walk
from cu2port.warp.native.edits import in_place
from cu2port.warp.native.ladders import Reduction
from cu2port.warp.native.read import accept, is_identity, read, who
from cu2port.warp.native.reasons import Reason, Refused
from cu2port.warp.native.state import MIXED, Kind, State, T, Valued
from cu2port.warp.native.types import COUNT, is_integer
from cu2port.warp.native.valued import plain

_IDEMPOTENT = frozenset({"max", "min", "or", "and"})


# --- slots of warps ---------------------------------------------------------------------------------------------------


def gathered(s: State, e: Expr) -> Valued | None:
    """`tid < warps ? slots[lane] : 0`; None if it is nothing of the kind."""
    if not isinstance(e, Ternary):
        return None
    if (found := read(s, e, "gathered")) is not None:
        return slot_read(accept(s, found), found.bound, _colon(s, e.at))
    comes = who(s, e.cond)
    if comes is None or comes[0] != "slots":
        return None
    return s.refuse(e.a.at, Reason.WHO_READS), MIXED


def _colon(s: State, at: int) -> int:
    """The `:` that belongs to a `?`."""
    deep, k = 1, at
    while deep:
        k = max(k, s.fn.unit.match[k]) + 1
        deep += {"?": 1, ":": -1}.get(s.fn.unit.t[k], 0)
    return k


def slot_read(s: State, bound: Mapping[str, Expr], before: int, name: str = "") -> Valued:
    """What slots become that are read by the lanes that have a warp; `BEYOND` is what other lanes get, behind token
    `before`. If that is negative, the variable `name` has it before an `if` whose last token is -`before`."""
    array, place, other, warps = (bound[x] for x in ("ARRAY", "PLACE", "BEYOND", "ROUNDED"))
    assert isinstance(array, Name)
    if not s.here.together or s.gone:
        return s.refuse(warps.at, Reason.ELSEWHERE), MIXED
    slots = s.get(array.text)
    if slots.kind is not Kind.SLOTS:
        return s.refuse(array.at, Reason.NO_SLOTS, array.text), MIXED
    if not slots.seen:
        return s.refuse(array.at, Reason.NO_BARRIER, array.text), MIXED
    s = all_set(s, array.text, warps)
    by_lane, lane = "LANE" in bound, read(s, place, "lane")
    if lane is None and not (read(s, place, "tid") is not None and (not by_lane or s.here.role == "first")):
        return s.refuse(array.at, Reason.OTHER_PLACE, array.text), MIXED
    s = _beyond(s, warps, array.text, other, before, name)
    s = (accept(s, lane) if lane is not None else s).understand(array).understand(place)
    s = s.understand(bound["LANE"] if by_lane else bound["TID"]).understand(warps)
    if isinstance(other, Num) and other.value is None and (slots.typ == COUNT or is_integer(slots.typ)):
        s = s.refuse(other.at, Reason.BEYOND_TYPE)
    return s, T(Kind.GATHERED, slots.op, everywhere=by_lane, typ=slots.typ)


def _beyond(s: State, warps: Expr, array: str, other: Expr, before: int, name: str) -> State:
    """What lanes without a warp put in: nothing that counts, or what counts in CUDA too.

    With fewer than 32 warps, some lane of CUDA's first warp puts the value in, and some lane of a wavefront does;
    for an operation that may take a value twice it is all one how many. With 32 warps none does, and a slot
    replaces it.
    """
    unit, slots = s.fn.unit, s.env[array]
    if is_identity(unit, slots.op, other, slots.typ):
        return plain(s, other)[0]
    if slots.op not in _IDEMPOTENT:
        return s.refuse(other.at, Reason.BEYOND_COUNTS)
    if isinstance(other, Name) and s.kind(other) is Kind.PART and slots.source == other.text:
        return s.note("understood", other.at)  # their own warp's value, which is in a slot too
    if before < 0:
        known = s.get(name)
    else:
        s, known = plain(s, other)
    if not known.uniform:
        return s.refuse(other.at, Reason.BEYOND_OWN)
    n, threads = s.constant(warps), s.fn.threads
    if n is not None and n < 32:
        return s
    if not threads or before == 1:
        return s.refuse(other.at, Reason.BEYOND_COUNTS)
    if before < 0:
        end = unit.end(-before)
        return s.edit(Edit(end, end, (f" else if ({threads} > 992) {name} = {array}[0];",)))
    last = before + 1
    while unit.t[last + 1] not in (";", ",", ")", "]", "}", ":"):
        last = max(last + 1, unit.match[last + 1])
    if "<" in unit.t[before:last]:
        return s.refuse(other.at, Reason.BEYOND_COUNTS)
    start, end = unit.p[before + 1], unit.end(last)
    return s.edit(Edit(start, end, (f"({threads} > 992 ? {array}[0] : ", Span(start, end), ")")))


def all_set(s: State, name: str, count: Expr) -> State:
    """Refused where more slots may be read than there are warps, and hold something else."""
    known = isinstance(count, CallExpr) or any(root(x) == "blockDim" for x in walk(count))
    if known or s.kind(count) is Kind.COUNT or name not in s.plainly:
        return s
    return s.refuse(count.at, Reason.PLAINLY, name)


# --- reductions -------------------------------------------------------------------------------------------------------


def reduction(s: State, r: Reduction) -> State:
    """Statements that put variables together over a warp."""
    unit, types = s.fn.unit, []
    for f in r.found:
        typ = s.types.get(f.name, "")
        if odd := sorted(f.types - {typ}):
            s = s.refuse(f.at, Reason.BECOMES, f.name, odd[0])
        s, t = reduced(s, f.name, f.op, s.get(f.name), f.at, r.low)
        types.append(t._replace(typ=typ or f"? {f.name}") if t.kind is Kind.PART else t)
    for f, t in zip(r.found, types, strict=True):
        s = s.assign(f.name, t, Name(f.at, f.name))
    s = s.note("done", *r.shuffles).note(
        "understood", *(i for i in range(r.first, r.last + 1) if unit.t[i] in s.tracked)
    )
    edit = in_place(s.fn.facts, r)
    return s.refuse(edit.at, edit.reason) if isinstance(edit, Refused) else s.edit(edit)


def reduced(s: State, name: str, op: str, t: T, at: int, low: bool = False) -> Valued:
    """What a value becomes that is put together over the warp. `low`: lane 0 alone gets it."""
    s, here = s.note("meets", True), s.here
    if not here.together or s.gone or here.role in ("leader", "slots", "thread"):
        return s.refuse(at, Reason.MEET), MIXED
    if t.kind is Kind.GATHERED:
        if t.op != op:
            s = s.refuse(at, Reason.OTHER_OPERATION, name)
        return s, T(Kind.WHOLE, op, everywhere=t.everywhere and here.role == "" and not low)
    if not t.plain:
        return s.refuse(at, Reason.ALREADY, name, t.kind.value), MIXED
    if here.role == "first":
        return s.refuse(at, Reason.ONLY_FIRST, name), MIXED
    return s, T(Kind.PART, op)
