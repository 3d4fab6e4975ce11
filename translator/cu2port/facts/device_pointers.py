"""How names of a file lead to a `CUdeviceptr`: variables, what they point to and hold, and what functions return."""

from __future__ import annotations

from typing import NamedTuple

from cu2port.facts.unit import Unit
from cu2port.syntax.scopes import Declaration
from cu2port.syntax.tree import CallExpr, Cast, Expr, Index, Member, Unary
from cu2port.syntax.types import alias_of, written

TYPES = frozenset({"CUdeviceptr", "CUdeviceptr_v2"})
_OBJECTS = frozenset({"variable", "parameter", "member"})
_HOLDERS = frozenset(
    "array deque initializer_list list map optional shared_ptr span unique_ptr unordered_map valarray vector".split()
)
_ELEMENTS = frozenset({"at", "back", "front", "value"})  # members that give what a container holds
_POINTERS = frozenset({"data", "get"})  # members that give a pointer to it


class Shape(NamedTuple):
    """How a name leads to a device pointer. `depth`: stars, brackets and containers; `called`: by a call."""

    depth: int
    called: bool


def names_of_type(unit: Unit) -> frozenset[str]:
    """The names of the type, the file's own among them."""
    found = set(TYPES)
    for i in unit.find(*TYPES):
        for at in (i - 2, i + 1):  # `using P = CUdeviceptr;`, and the older form
            d = unit.declarations.declared_at(at) if at >= 0 and unit.may_be_declared(at) else None
            if (
                d is not None
                and d.kind == "type"
                and not (d.pointers or d.arrays)
                and alias_of(unit.t, d) == (i, i + 1)
            ):
                found.add(d.name)
    return frozenset(found)


def shape(unit: Unit, d: Declaration) -> Shape | None:
    """How a declared name leads to a device pointer."""
    if d.kind not in _OBJECTS and d.kind != "function":
        return None
    types, depth = unit.once(names_of_type), d.pointers + d.arrays
    if written(unit.t, d).name in types:
        return Shape(depth, d.kind == "function")
    words = [w for w in unit.t[d.type_first : d.type_stop] if w not in ("std", "::", "const", "&")]
    if len(words) > 3 and words[0] in _HOLDERS and words[1] == "<" and words[-1] == ">":
        held = words[-2] if "map" in words[0] else words[2]
        if held in types and words[3] in (">", ",") and words.count("<") == 1:
            return Shape(depth + 1, d.kind == "function")
    return None


def shape_at(unit: Unit, name: str, i: int) -> Shape | None:
    """How the name at token i leads to a device pointer; None if it does not."""
    if unit.is_member(i):
        found = [d for d in unit.declarations.named(name) if d.kind in _OBJECTS or d.kind == "function"]
    else:
        d = unit.declarations.visible(name, i)
        found = [d] if d is not None else []
    shapes = {shape(unit, d) for d in found}
    return shapes.pop() if len(shapes) == 1 else None


def value_at(path: tuple[Expr, ...], shape: Shape) -> tuple[Expr, Expr | None] | None:
    """The device pointer that a path of its name comes to, and the expression around it."""
    if not path:
        return None
    x, depth, called, k = path[0], shape.depth, shape.called, 1
    while k < len(path) and (depth or called) and not any(isinstance(w, Cast) for w in x.around):
        e, after = path[k], path[k + 1] if k + 1 < len(path) else None
        if isinstance(e, CallExpr) and e.callee is x and called:
            called = False
        elif depth and ((isinstance(e, Index) and e.base is x) or (isinstance(e, Unary) and e.op == "*")):
            depth -= 1
        elif isinstance(e, Member) and e.base is x and isinstance(after, CallExpr) and after.callee is e:
            if e.name not in _ELEMENTS | _POINTERS:
                return None
            depth -= e.name in _ELEMENTS
            e, k = after, k + 1
        else:
            return None
        x, k = e, k + 1
    return (x, path[k] if k < len(path) else None) if depth == 0 and not called else None
