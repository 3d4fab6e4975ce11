"""Which names of a device function may have different values in the lanes of a warp, by names and assignments alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cu2port.facts.unit import Unit
from cu2port.syntax.tree import Assign, CallExpr, Decl, Expr, Member, Name, Unary, expressions, root, statements, walk
from cu2port.warp.model import Device

_LANES = re.compile(
    r"(?i:\w*(?:lane|thread_?id|thread_?rank|threadidx|leader|elect|warp_?master)\w*|_*ffs(?:ll)?|__cl?tz(?:ll)?)"
    r"|\w*tid\w*|id|t[xyz]"
)


def names_lane(e: Expr, divergent: Iterable[str]) -> bool:
    """Whether an expression is a name of a lane or thread index, or one of `divergent`."""
    if isinstance(e, Name):
        return e.text in divergent or _LANES.fullmatch(e.text) is not None
    return isinstance(e, Member) and _LANES.fullmatch(e.name) is not None


def divergent_names(unit: Unit, device: Device) -> frozenset[str]:
    """Names whose values may differ between lanes, because a value that they are computed from may."""
    out = set() if device.kernel else {p.name for p in device.params}
    words = set(unit.t[device.fn.body[0] : device.fn.body[1]])
    for name in words & unit.macros.keys():
        if any(_LANES.fullmatch(w) for m in unit.macros[name] for w in unit.t[m.first : m.stop]):
            out.add(name)
    assigned: list[tuple[str, Expr]] = []
    for s in statements(device.body):
        if isinstance(s, Decl) and s.init is not None:
            assigned.append((s.name, s.init))
    for e in expressions(device.body):
        if isinstance(e, Assign):
            assigned.append((root(e.target), e.value))
        elif isinstance(e, CallExpr):
            assigned += [(root(x), e) for x in e.args if isinstance(x, Unary) and x.op == "&"]
    users: dict[str, list[str]] = {}
    todo = list(out)
    for name, e in assigned:
        for x in walk(e):
            if isinstance(x, Name):
                users.setdefault(x.text, []).append(name)
            if names_lane(x, ()):
                todo.append(name)
    while todo:
        name = todo.pop()
        if name not in out or name in users:
            out.add(name)
            todo += users.pop(name, ())
    return frozenset(out)
