"""Calls in native code: of functions of the file, of CUDA's cross-lane operations, of anything else."""

from __future__ import annotations

from cu2port.core.model import Edit, Span
from cu2port.facts.arithmetic import simple_type
from cu2port.syntax.tree import CallExpr, Expr, Member, Name, callee, root, walk
from cu2port.warp.native.numbers import is_own_space
from cu2port.warp.native.patterns import SPACE, Collective, collective
from cu2port.warp.native.read import Found, is_cudas, read
from cu2port.warp.native.reasons import Reason, Refused
from cu2port.warp.native.state import MIXED, SAME, Kind, Proved, Site, State, T, Valued
from cu2port.warp.native.sums import reduced
from cu2port.warp.native.types import COUNT, canonical
from cu2port.warp.native.valued import lift, plain, value
from cu2port.warp.native.widths import argument_kind, is_wide, type_given

MATH = frozenset(
    "sqrtf sqrt rsqrtf rsqrt __fsqrt_rn expf exp __expf logf log __logf fabsf fabs abs max min fmaxf fminf fmax fmin "
    "__fdividef __frcp_rn __frsqrt_rn powf pow float double int half __float2half __half2float __float2bfloat16 "
    "static_cast".split()
)
ATOMICS = {
    "atomicAdd": "add", "atomicMax": "max", "atomicMin": "min", "atomicOr": "or", "atomicAnd": "and",
    "atomicXor": "xor", "atomicAdd_block": "add", "atomicAdd_system": "add",
}  # fmt: skip


def call(s: State, e: CallExpr) -> Valued:
    """What a call returns."""
    name = callee(e)
    if read(s, e, "tid") is not None:
        return s.understand(e), T(Kind.TID)
    if (found := read(s, e, "counted")) is not None and is_cudas(s, e):
        return _counted(s, e, found)
    if e.at in s.fn.facts.cudas:
        row = collective(e)
        if row is not None and len(e.args) == 2 and s.fn.facts.full(e.args[0]):
            return _collective(s, e, row)
        return s.refuse(e.at, Reason.NO_IDIOM, name), MIXED
    if (found := read(s, e, "tiled")) is not None:
        return _tiled(s, e, found)
    s = s.note("understood", *(x.at for x in walk(e.callee) if isinstance(x, Name)))
    if not isinstance(e.callee, Name):
        s, _ = plain(s, e.callee.base if isinstance(e.callee, Member) else e.callee)
    kind = argument_kind(e, s.types, s.fn.d)
    own = s.fn.look(name, kind)
    if isinstance(own, Refused):
        return s.refuse(own.at, own.reason, *own.names), MIXED
    if own is not None and own.reduces:
        narrow = len(e.args) != 1 or not is_wide(s.constant, e, own)
        if narrow or s.here.small:
            own = None  # it is not replaced, and gives each thread what it does in CUDA
    if own is not None and (own.reduces or own.meets) and _is_other(s, e):
        return s.refuse(e.at, Reason.ANOTHER, name), MIXED
    known = own.reduces if own is not None else name in MATH or name in {p.name for p in s.fn.d.tparams}
    if s.here.by_lanes and not known:
        return s.refuse(e.at, Reason.WHO_CALLS, name), MIXED
    return _reduction(s, e, own, kind) if own is not None and own.reduces else _other(s, e, own)


def _reduction(s: State, e: CallExpr, own: Proved, kind: str) -> Valued:
    """A call of a function that puts the values of a warp together."""
    name = callee(e)
    if isinstance(e.callee, Name) and len(e.callee.targs) > 1 and not own.widths:
        return s.refuse(e.at, Reason.TEMPLATE, name), MIXED
    s, t = value(s, e.args[0])
    s, typ = _argument_type(s, e, own.kinds, t, type_given(s.fn.unit, e, own))
    if t.kind is Kind.GATHERED:
        s, t = s.kept(t, typ, name, e.at)
    s, t = reduced(s, name, own.reduces, t, e.at, own.low)
    return s.note("site", Site(e, kind)), t._replace(typ=typ) if t.kind is Kind.PART else t


def _other(s: State, e: CallExpr, own: Proved | None) -> Valued:
    """A call of a function that is no reduction."""
    name, types = callee(e), list[T]()
    s, references = _scratch_given(s, e, own)
    for n, x in enumerate(e.args):
        if n not in references:
            s, t = _argument(s, name, x)
            types.append(t)
    odd = next((t for t in types if not t.plain), None)
    if own is None and name in MATH:
        return lift(s, e, *types)
    if own is not None and own.result.kind is Kind.PART:
        return s.refuse(e.at, Reason.MORE_THAN, name), MIXED
    if odd is not None:
        return s.refuse(e.at, Reason.GETS, name, odd.kind.value), MIXED
    if own is None:
        return s, SAME
    if own.meets or not own.result.plain:
        s = _meet(s, e, own.syncs)
    for what, holds in (("line", own.line), ("plane", own.plane)):
        s = s.note(what, True) if holds else s
    return (s, SAME) if own.result.plain else (s.note("site", Site(e)), own.result)


def _argument_type(s: State, e: CallExpr, kinds: tuple[str, ...], t: T, given: str) -> tuple[State, str]:
    """The type in which a function puts its only argument together. `kinds`: those it may have; `given`: the one
    that the call names."""
    if s.fn.unit.call(e.at) is None:
        return s.refuse(e.at, Reason.CALL), ""
    if given or (len(kinds) == 1 and kinds[0]):
        return s, canonical(given) or kinds[0]
    arg = e.args[0]
    typ = t.typ if t.kind is Kind.GATHERED else _simple_type(s, e, 0)
    if isinstance(arg, Name):
        typ = s.types.get(arg.text, "")
    if set(kinds) != {""} and typ not in kinds:
        s = s.refuse(e.at, Reason.WHICH, callee(e))
    return s, typ or f"? {e.at}"


def _simple_type(s: State, e: CallExpr, n: int) -> str:
    """The type of a call's argument n, as tokens tell it; "" if they don't."""
    found = s.fn.unit.call(e.at)
    return canonical(simple_type(s.fn.unit, found.args[n]).removeprefix("?")) if found is not None else ""


def _scratch_given(s: State, e: CallExpr, own: Proved | None) -> tuple[State, frozenset[int]]:
    """The arguments of a call that are arrays of the function's own, for the slots of a function that is called."""
    nothing = s, frozenset[int]()
    if own is None or not own.scratch:
        return nothing
    given = {n: e.args[n] for n in own.scratch if n < len(e.args)}
    references = [x for x in given.values() if isinstance(x, Name) and x.text in s.arrays]
    names = [x.text for x in references]
    others = {root(y) for n, x in enumerate(e.args) if n not in given for y in walk(x)}
    if len(names) != len(own.scratch) or len({*names}) < len(names) or not others.isdisjoint(names):
        return nothing
    if any(len(s.arrays[x].dims) != 1 or s.arrays[x].pointer for x in names):
        return nothing
    for x in references:
        s = s.note("understood", x.at).track(x.text).set(x.text, MIXED)
    return s.note("scratch_call", e.at), frozenset(given)


def _is_other(s: State, e: CallExpr) -> bool:
    """Whether a call may mean another function than the file's of that name: a member, a variable, another
    library's."""
    if not isinstance(e.callee, Name) or e.callee.text in s.env:
        return True
    return e.callee.qualified and not is_own_space(s.fn.unit, e.at)


def _argument(s: State, name: str, e: Expr) -> Valued:
    s, t = value(s, e)
    if not isinstance(e, Name) or name in MATH or name in ATOMICS or e.text not in s.env or not t.plain:
        return s, t
    if e.text not in s.fixed and e.text not in s.arrays:  # it may be taken by reference
        uniform = t.uniform and e.text in {p.name for p in s.fn.d.params}
        s = s.set(e.text, T(Kind.SAME, uniform=uniform))
    return s, t


def _meet(s: State, e: CallExpr, syncs: bool = False) -> State:
    """All lanes of a wavefront come to a call together; `syncs`: CUDA requires it, since there is a barrier in it."""
    s = s.note("meets", True)
    if not (s.here.together or syncs) or s.gone or s.here.role:
        return s.refuse(e.at, Reason.MEET_IN, callee(e))
    return s


# --- calls of the table -----------------------------------------------------------------------------------------------


def _counted(s: State, e: CallExpr, found: Found) -> Valued:
    """`__popc(__ballot_sync(~0u, p))`: the number of lanes with p."""
    ballot = e.args[0]
    inner = s.fn.unit.call(ballot.at)
    if not isinstance(ballot, CallExpr) or inner is None:
        return s.refuse(e.at, Reason.CALL), MIXED
    s, _ = plain(_meet(s, ballot), found.bound["VOTE"])
    start, end = s.fn.unit.p[e.at], s.fn.unit.end(e.close)
    s = s.note("done", ballot.at).edit(Edit(start, end, (SPACE + "popc(", inner.args[-1], ")")))
    return s, T(Kind.PART, "add", typ=COUNT)


def _tiled(s: State, e: CallExpr, found: Found) -> Valued:
    """`cooperative_groups::reduce(tile, v, plus<T>())`"""
    functor_call, v, unit = found.bound["FUNCTOR"], found.bound["VALUE"], s.fn.unit
    functor = (
        functor_call.callee if isinstance(functor_call, CallExpr) and isinstance(functor_call.callee, Name) else None
    )
    op, text = (s.fn.facts.functor(functor) if functor is not None else None) or ("", "")
    outer = unit.call(e.at)
    if not op or outer is None or functor is None:
        return s.refuse(e.at, Reason.OPERATION), MIXED
    s, t = value(s, v)
    kind = functor.targs[0] if functor.targs else None
    typ = canonical(kind.text) if isinstance(kind, Name) else f"? {e.at}"
    if t.kind is Kind.GATHERED:
        s, t = s.kept(t, typ, "reduce", e.at)
    s, t = reduced(s, "the value", op, t, e.at)
    start, end = unit.p[unit.qualifier(e.at)], unit.end(e.close)
    name, tail = ("sum", ")") if op == "add" else ("reduce", f", [](auto a, auto b) {{ return {text}; }})")
    s = s.edit(Edit(start, end, (f"{SPACE}{name}(", Span(outer.args[1].start, outer.args[1].end), tail)))
    return s.understand(found.bound["TILE"]), t._replace(typ=typ) if t.kind is Kind.PART else t


def _collective(s: State, e: CallExpr, row: Collective) -> Valued:
    """A call that puts the values of a warp together."""
    outer = s.fn.unit.call(e.at)
    if outer is None:
        return s.refuse(e.at, Reason.CALL), MIXED
    s, t = value(s, e.args[1])
    typ, (before, behind) = row.typ or t.typ or _simple_type(s, e, 1), row.call
    if typ not in ("int", "unsigned"):
        if not row.promoted:
            return s.refuse(e.at, Reason.UNKNOWN_TYPE, row.name), MIXED
        typ, before, behind = "int", before + "+(", ")" + behind  # CUDA makes an int of a bool or a char
    if t.kind is Kind.GATHERED:
        if row.votes:
            return s.refuse(e.at, Reason.OF, row.name, t.kind.value), MIXED
        s, t = s.kept(t, typ, row.name, e.at)
    s, t = reduced(s, "the value", row.op, t, e.at)
    start, end = s.fn.unit.p[e.at], s.fn.unit.end(e.close)
    s = s.edit(Edit(start, end, (SPACE + before, outer.args[1], behind))).note("done", e.at)
    return s, t._replace(typ=typ) if t.kind is Kind.PART else t
