"""Functions that are nothing but a reduction of their first parameter over the warp, which they return.

`template <typename T, int W = 32> T sum(T v)` and `T sum(T v, int width = 32)` are one where the parameter is 32. Calls
for other widths stay as they are: what is not replaced gives each thread what it does in CUDA.
"""

from __future__ import annotations

from collections.abc import Mapping

from cu2port.syntax.tree import CallExpr, Eval, Jump, Name, Stmt, callee
from cu2port.warp.native.ladders import Reduced
from cu2port.warp.native.patterns import Parts, collective
from cu2port.warp.native.state import Fn, Kind, Proved, Site, State, T
from cu2port.warp.native.types import declared_type

_INTEGERS = frozenset({"int", "unsigned", "size_t"})
_NONE: tuple[str, Parts, bool] = ("", (), False)


def _body(fn: Fn) -> list[Stmt]:
    """The statements of a function, less what only tells how to unroll loops."""
    return [x for x in fn.d.body.body if not (isinstance(x, Eval) and x.end < 0 and fn.facts.is_hint(x.expr))]


def _ladder(fn: Fn, assumed: Mapping[str, int]) -> tuple[Reduced, bool] | None:
    """The reduction that a function is, and whether lane 0 alone has the result; None if it is none, or more."""
    body, name = _body(fn), fn.d.params[0].name
    last = body[-1] if len(body) > 1 else None
    if not isinstance(last, Jump) or last.kind != "return" or not isinstance(last.value, Name):
        return None
    got = fn.facts.assuming(assumed).reduction(body, 0)
    if got is None or got.size != len(body) - 1 or [f.name for f in got.found] != [name] or last.value.text != name:
        return None
    return got.found[0], got.low


def _type(fn: Fn) -> str:
    """The type of a function's first parameter, which it gets by value and which is that of its result; else ""."""
    p, unit = fn.d.params[0], fn.unit
    kind = declared_type(unit, p.at) if p.at > 0 else ""
    by_value = not p.pointer and "&" not in unit.t[fn.d.fn.params[0] : fn.d.fn.params[1]]
    return kind if by_value and declared_type(unit, fn.d.fn.name_at) in (kind, "auto") else ""


def parameter_alone(s: State) -> tuple[str, Parts, bool]:
    """The operation, its call and whether lane 0 alone has the result, if a function is a reduction of its only
    parameter: by statements of its own, or by one call."""
    fn, body = s.fn, _body(s.fn)
    if len(fn.d.params) != 1 or len(fn.d.tparams) > 1:
        return _NONE
    kind = _type(fn)
    if not kind or any(x.name != kind for x in fn.d.tparams):
        return _NONE
    if len(body) == 1 and isinstance(body[0], Jump) and isinstance(body[0].value, CallExpr):
        return _called(s, body[0].value, fn.d.params[0].name, kind)
    got = _ladder(fn, {})
    return (got[0].op, got[0].call, got[1]) if got is not None else _NONE


def _called(s: State, e: CallExpr, name: str, kind: str) -> tuple[str, Parts, bool]:
    """The same of a call that puts a parameter together."""
    given = e.args[-1] if e.args else None
    if not isinstance(given, Name) or given.text != name:
        return _NONE
    if (row := collective(e)) is not None and e.at in s.found("done"):
        known = kind == row.typ or (not row.typ and kind in ("int", "unsigned"))
        return (row.op, (row.call[0] + name, row.call[1]), False) if known else _NONE
    sites: list[Site] = s.found("site")
    own = s.fn.look(callee(e)) if len(e.args) == 1 and e in [x.call for x in sites] else None
    if not isinstance(own, Proved) or not own.reduces or own.widths or not {*own.kinds} <= {"", kind}:
        return _NONE
    return own.reduces, own.reduction, own.low


def by_width(fn: Fn) -> Proved | None:
    """What a function does that is a reduction over 32 lanes if parameters that have a default or belong to its
    template say that there are as many; None if it is none."""
    d, unit = fn.d, fn.unit
    kind = _type(fn) if d.params and not d.kernel else ""
    widths = [(n, p) for n, p in enumerate(d.tparams) if declared_type(unit, p.at) in _INTEGERS]
    others = [(n, p) for n, p in enumerate(d.tparams) if (n, p) not in widths]
    if not kind or len(others) > 1 or any(p.name != kind for _, p in others) or not (widths or d.params[1:]):
        return None
    values = {p.name: fn.facts.number(p.default) if p.default is not None else None for p in d.params[1:]}
    assumed = {n: v for n, v in values.items() if v is not None}
    if len(assumed) != len(values):
        return None
    got = _ladder(fn, {p.name: 32 for _, p in widths} | assumed)
    if got is None or got[0].types - {kind}:
        return None
    return Proved(
        T(Kind.PART, got[0].op),
        reduces=got[0].op,
        reduction=got[0].call,
        low=got[1],
        meets=True,
        kinds=("" if others else kind,),
        widths=tuple((n, p.default is not None and fn.facts.number(p.default) == 32) for n, p in widths),
        typed=others[0][0] if others else -1,
    )
