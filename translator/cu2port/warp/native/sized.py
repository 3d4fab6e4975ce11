"""Functions that put together as many lanes as a parameter says.

`template <typename T, int W = 32> T sum(T v)` and `T sum(T v, int width = 32)` are a reduction over the warp where the
parameter is 32. Calls for other widths stay as they are: what is not replaced gives each thread what it does in CUDA.
"""

from __future__ import annotations

from cu2port.facts.unit import Unit
from cu2port.syntax.tree import Eval, Jump, Name
from cu2port.warp.model import Device
from cu2port.warp.native.lanes import Look, Summary
from cu2port.warp.native.steps import Steps
from cu2port.warp.native.types import declared_type
from cu2port.warp.native.values import Kind, T
from cu2port.warp.native.walk import Walk

_INTEGERS = frozenset({"int", "unsigned", "size_t", "uint32_t", "int32_t"})


def by_width(unit: Unit, steps: Steps, d: Device, look: Look) -> Summary | None:
    """What a function does that is nothing but a reduction of its first parameter over 32 lanes, if parameters that
    have a default or belong to its template say that there are as many. Raises Refused."""
    if d.kernel or not d.params or d.params[0].pointer or "&" in unit.t[d.fn.params[0] : d.fn.params[1]]:
        return None
    given, rest = d.params[0].name, d.params[1:]
    kind, made = declared_type(unit, d.params[0].at), declared_type(unit, d.fn.name_at)
    widths = [(n, p) for n, p in enumerate(d.tparams) if unit.tok(p.at - 1) in _INTEGERS]
    others = [(n, p) for n, p in enumerate(d.tparams) if (n, p) not in widths]
    if not kind or made not in (kind, "auto") or len(others) > 1 or any(p.name != kind for _, p in others):
        return None
    if not (widths or rest) or any(p.default is None for p in rest):
        return None
    assumed = {p.name: 32 for _, p in widths}
    for p in rest:
        value = steps.number(p.default) if p.default is not None else None
        if value is None:
            return None
        assumed[p.name] = value
    Walk(unit, steps, d, look).check()
    body = [s for s in d.body.body if not (isinstance(s, Eval) and s.end < 0 and steps.is_hint(s.expr))]
    last = body[-1] if body else None
    if not isinstance(last, Jump) or last.kind != "return" or not isinstance(last.value, Name):
        return None
    got = steps.assuming(assumed).reduction(body, 0)
    if got is None or got.size != len(body) - 1 or [f.name for f in got.found] != [given] or last.value.text != given:
        return None
    if got.found[0].types - {kind}:
        return None
    return Summary(
        T(Kind.PART, got.found[0].op),
        reduces=got.found[0].op,
        reduction=got.found[0].call,
        low=got.low,
        meets=True,
        kinds=("" if others else kind,),
        widths=tuple((n, p.default is not None and steps.number(p.default) == 32) for n, p in widths),
        typed=others[0][0] if others else -1,
    )
