"""What native code writes: variables, the slots of warps in shared memory, one atomic operation for each warp."""

from __future__ import annotations

from cu2port.syntax.tree import (
    Assign,
    Binary,
    CallExpr,
    Decl,
    Expr,
    Index,
    Name,
    Num,
    Unary,
    callee,
    parts,
    root,
    walk,
)
from cu2port.warp.native.calls import ATOMICS
from cu2port.warp.native.read import accept, read
from cu2port.warp.native.reasons import Reason
from cu2port.warp.native.state import SAME, Here, Kind, State, T, Valued
from cu2port.warp.native.types import COUNT, casts, declared_type, is_cast
from cu2port.warp.native.valued import lift, needed, plain, value


def assigned_value(s: State, e: Assign) -> Valued:
    """An assignment inside of an expression, which may be evaluated or not."""
    before = s.env
    return assigned(s, e).merge(before), SAME


def taken(s: State, e: Expr) -> Valued:
    """What a variable becomes that is set to an expression: lanes, warps, counts of warps, slots, or a plain value."""
    for means, kind in (("lane", Kind.LANE), ("warp", Kind.WARP)):
        if (found := read(s, e, means)) is not None:
            return accept(s, found).understand(e), T(kind)
    of_block = isinstance(e, CallExpr) or (isinstance(e, Binary) and "blockDim" in {root(x) for x in walk(e)})
    if of_block and (found := read(s, e, "count")) is not None:
        return accept(s, found).understand(e), T(Kind.COUNT)
    return value(s, e)


def assigned(s: State, e: Assign) -> State:
    """An assignment."""
    if s.refused is not None:
        return s
    target = e.target
    s = _scratch(s, target)
    if isinstance(target, Index) and isinstance(target.base, Name) and target.base.text in s.arrays:
        stored = _stored(s, e, target, target.base)
        if stored is not None:
            return stored
    if not isinstance(target, Name):
        return _elsewhere(s, e, target)
    s = s.note("understood", target.at)
    name = target.text
    if e.op == "=":
        s, t = taken(s, e.value)
        if s.here.role == "thread" and t.kind is Kind.WHOLE:
            t = SAME
        return s.assign(name, t, e.value)
    if s.here.role in ("leader", "slots"):
        return s.refuse(e.at, Reason.SET_BY_SOME, name)
    old = s.get(name)
    s, t = value(s, e.value)
    s, t = lift(s, e, old, t)
    return s.assign(name, t, e)


def _elsewhere(s: State, e: Assign, target: Expr) -> State:
    """A store through something that is no plain variable."""
    if s.here.by_lanes:
        return s.refuse(e.at, Reason.WHO_WRITES)
    for x in parts(target):
        if not isinstance(x, Name):
            s, _ = plain(s, x)
    name = root(target)
    if e.op == "=" and _is_all(s, target) and not s.here.role:
        return needed(s, e.value).understand(target).set(name, SAME)  # whatever it was
    s = s._replace(plainly=s.plainly | {name})
    kind = s.get(name).kind
    if not s.get(name).plain and kind is not Kind.FIRST_SET:
        s = s.refuse(target.at, Reason.HOLDS, name, kind.value)
    s = s.note("understood", *(x.at for x in walk(target) if isinstance(x, Name) and x.text == name))
    if kind is Kind.FIRST_SET:
        s = s.refuse(target.at, Reason.AGAIN, name)
    return needed(s, e.value)


def _scratch(s: State, target: Expr) -> State:
    """A parameter that points to slots of warps: it is used for nothing else than its elements."""
    if s.here.role != "leader" or not isinstance(target, Index) or not isinstance(target.base, Name):
        return s
    fn, name, (first, stop) = s.fn, target.base.text, s.fn.d.fn.body
    params = {p.name: n for n, p in enumerate(fn.d.params) if p.pointer and p.name not in fn.references}
    if name not in params or name in s.arrays or fn.d.kernel or read(s, target.inner, "warp") is None:
        return s
    if all(fn.unit.tok(i + 1) == "[" for i in fn.unit.between(first, stop, name) if not fn.unit.is_member(i)):
        at = fn.d.params[params[name]].at
        array = Decl(at, name, (Num(at, None),), None, True, False, True)
        return s._replace(arrays={**s.arrays, name: array}).note("scratch", params[name])
    return s


def _is_all(s: State, target: Expr) -> bool:
    """Whether an element is the only one of an array of the function's own that holds what a block came to."""
    facts = s.fn.facts
    if not isinstance(target, Index) or not isinstance(target.base, Name) or facts.fold(target.inner) != 0:
        return False
    name = target.base.text
    if s.kind(target.base) is not Kind.WHOLE:
        return False
    found = s.fn.d.declarations(name)
    one = len(found) == 1 and [facts.fold(x) for x in found[0].dims] == [1] and not found[0].shared
    return one and name in s.fn.own and name not in s.aliased and not found[0].pointer


def _stored(s: State, e: Assign, target: Index, base: Name) -> State | None:
    """A store to shared memory that native code knows: of a warp's value to its slot, of the first element. None if it
    is neither."""
    name, index, here = base.text, target.inner, s.here
    all_come = here.role == "leader" or (here.role == "" and here.together)
    slot = read(s, index, "warp") if e.op == "=" and all_come else None
    if slot is not None:
        s, t = value(accept(s, slot).understand(index), e.value)
        if t.kind is not Kind.PART:
            return s.refuse(e.at, Reason.SLOT_ELSE if here.role == "" and t.plain else Reason.SLOT_GETS, name)
        if len(s.arrays[name].dims) != 1 and not _is_lone_extern(s, name):
            return s.refuse(e.at, Reason.DIMENSIONS, name)
        s = s.note("understood", base.at)._replace(slots=s.slots | {name}).track(name)
        s, t = s.kept(t, s.types.get(name, ""), name, e.at)
        return s.set(name, T(Kind.SLOTS, t.op, typ=t.typ, source=e.value.text if isinstance(e.value, Name) else ""))
    first = isinstance(index, Num) and index.value == 0 and s.get(name).kind in (Kind.SLOTS, Kind.FIRST_SET)
    if e.op == "=" and here.role == "thread" and first:
        return needed(s, e.value).note("understood", base.at).set(name, T(Kind.FIRST_SET))
    return None


def _is_lone_extern(s: State, name: str) -> bool:
    """Whether an array is the function's only one of a size that the launch gives."""
    unit, (first, stop) = s.fn.unit, s.fn.d.fn.body
    dynamic = [i for i in unit.find("extern") if "__shared__" in unit.t[i + 1 : i + 4]]
    inside = [i for i in dynamic if first < i < stop]
    for i in dynamic:  # all such arrays of a kernel and of what it calls are one
        f = unit.function_at(i)
        if i not in inside and (not s.fn.d.kernel or f is None or "__global__" not in f.sides):
            return False
    return not s.arrays[name].dims and len(inside) == 1


def done_by_lanes(s: State, e: CallExpr, here: Here) -> State:
    """A call by one lane of each warp: an atomic operation that puts the warps' values together."""
    unit, name = s.fn.unit, callee(e)
    op = ATOMICS.get(name)
    if name in unit.macros or any(f.name == name for f in unit.functions):
        op = None
    if op is None or here.role != "leader" or len(e.args) != 2 or s.gone:
        return s.refuse(e.at, Reason.WHO_DOES)
    s, t = value(s, e.args[1])
    if t.kind is not Kind.PART or t.op != op:
        return s.refuse(e.at, Reason.OF_ELSE, name)
    if t.typ != COUNT:
        s, _ = s.kept(t, _pointee(s, e.args[0]), name, e.at)
    s, place = value(s, e.args[0])
    if not place.uniform:
        s = s.refuse(e.at, Reason.PLACES, name)
    return (s if s.fn.rows else s.note("line", True)).note("plane", True)


def _pointee(s: State, e: Expr) -> str:
    """The type of what an expression points to; "" where it is not certain."""
    while not (isinstance(e, Name) or is_cast(e)):  # `out + blockIdx.x`, `&out[i]`
        if isinstance(e, Binary) and e.op == "+":
            e = e.a
        elif isinstance(e, Index):
            e = e.base
        elif isinstance(e, Unary) and e.op == "&":
            e = e.x
        else:
            return ""
    unit = s.fn.unit
    if is_cast(e) or not isinstance(e, Name):
        return casts(unit, e)[-1]
    if e.text in s.types:
        return s.types[e.text]
    found = {declared_type(unit, i) for i in unit.find(e.text) if unit.declares(i)}
    return found.pop() if len(found) == 1 else ""
