"""Base classes: those that a class names, and what it has from the ones that depend on a template's parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.scopes import Declaration, Scope
from cu2port.syntax.types import is_class

if TYPE_CHECKING:
    from cu2port.facts.structure import Function
    from cu2port.facts.unit import Unit

_BEFORE_BASE = frozenset({"public", "protected", "private", "virtual", ":", ","})
_LONGEST = 60  # tokens of a class's head


def bases(unit: Unit, d: Declaration) -> list[int]:
    """The first word of each base of a class, without access and `virtual`."""
    found: list[int] = []
    for k in range(d.at + 1, min(d.stop, d.at + _LONGEST)):
        if unit.t[k] in ("{", "("):
            break
        if is_identifier(unit.t[k]) and unit.t[k] not in _BEFORE_BASE and unit.tok(k - 1) in _BEFORE_BASE:
            before = unit.text[unit.p[d.at] : unit.p[k]]
            found += [k] if before.count("<") == before.count(">") else []  # else it is a template's argument
    return found


def own_class(unit: Unit, f: Function) -> Declaration | None:
    """The class whose member a function is, where this file has it."""
    scope: Scope | None = unit.declarations.scope_at(f.params[0])
    while scope is not None and scope.kind not in ("namespace", "file"):
        owner = scope.name if scope.kind == "class" else scope.owner
        if owner:
            return _class(unit, owner.rpartition("::")[2], f.name_at)
        scope = scope.parent
    return None


def from_dependent_base(unit: Unit, cls: Declaration, name: str) -> bool:
    """Whether a name that nothing but classes declares is a class's own for a base alone that depends on parameters of
    its template."""
    if unit.declarations.members(cls, name):
        return False
    elsewhere = any(d.scope.kind != "class" and not d.qualified for d in unit.declarations.named(name))
    return not elsewhere and _inherited(unit, cls, name, {cls.at}) == {True}


def _inherited(unit: Unit, cls: Declaration, name: str, seen: set[int]) -> set[bool]:
    """For each base that a class has a name from: whether it depends on parameters of the class's template."""
    parameters: set[str] = set()
    scope: Scope | None = unit.declarations.scope_at(cls.at)
    while scope is not None:
        parameters.update(n for n, found in scope.names.items() if found[0].kind == "template parameter")
        scope = scope.parent
    out: set[bool] = set()
    for k in bases(unit, cls):
        while unit.tok(k + 1) == "::" and is_identifier(unit.tok(k + 2)):
            k += 2
        base = _class(unit, unit.t[k], k)
        if base is None or base.at in seen:
            continue
        seen.add(base.at)
        close = unit.angle_close(k + 1) if unit.tok(k + 1) == "<" else -1
        dependent = bool(parameters.intersection(unit.t[k + 2 : close])) if close > 0 else False
        if unit.declarations.members(base, name):
            out.add(dependent)
        else:
            out |= {dependent or inner for inner in _inherited(unit, base, name, seen)}
    return out


def _class(unit: Unit, name: str, at: int) -> Declaration | None:
    """The definition of a class that a name means at a token."""
    d = unit.declarations.visible(name, at)
    for x in (d, *unit.declarations.alternatives(d)) if d is not None else ():
        if x.defines and x.kind == "type" and is_class(unit.t, x):
            return x
    return None
