"""Which of several functions a call means, by the type of its argument, and over how many lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.tree import CallExpr, Expr, Name
from cu2port.syntax.types import type_parameters
from cu2port.warp.model import Device
from cu2port.warp.native.state import Proved
from cu2port.warp.native.types import canonical


def is_wide(number: Callable[[Expr], int | None], e: CallExpr, own: Proved) -> bool:
    """Whether a call of a function of one value is for 32 lanes. Where that is said by none, it always is."""
    given = e.callee.targs if isinstance(e.callee, Name) else ()
    if not own.widths:
        return True
    return all(number(given[n]) == 32 if n < len(given) else default for n, default in own.widths)


def type_given(unit: Unit, e: CallExpr, own: Proved) -> str:
    """The type that a call gives a function's template, as text; "" if it gives none."""
    call = unit.call(e.at)
    if call is None or unit.tok(e.at + 1) != "<":
        return ""
    found = unit.split_args(e.at + 2, call.open - 1)
    return unit.text[found[own.typed].start : found[own.typed].end] if 0 <= own.typed < len(found) else ""


def parameter_type(unit: Unit, f: Function) -> str:
    """The type of a function's only parameter, by the words; "" where it is one of its template's, where there are more
    parameters without a default, or none."""
    spans = unit.split_args(f.params[0] + 1, f.params[1])
    if not spans or any("=" not in unit.text[x.start : x.end] for x in spans[1:]):
        return ""
    words = unit.t[unit.lexed.at(spans[0].start) : unit.lexed.at(spans[0].end)]
    words = [w for w in words[: words.index("=") if "=" in words else len(words)][:-1] if w != "const"]
    own = type_parameters(unit.t, unit.declarations.scope_at(f.first))
    return "" if any(name in words for name in own) else canonical(" ".join(words))


def argument_kind(e: CallExpr, types: Mapping[str, str], d: Device) -> str:
    """The type of a call's only argument, if that is a variable of the function and no array or pointer; else ""."""
    a = e.args[0] if len(e.args) == 1 else None
    if not isinstance(a, Name) or a.qualified or a.targs:
        return ""
    declared: list[tuple[bool, tuple[Expr, ...]]] = [(p.pointer, ()) for p in d.params if p.name == a.text]
    declared += [(s.pointer, s.dims) for s in d.declarations(a.text)]
    return types.get(a.text, "") if declared and not any(pointer or dims for pointer, dims in declared) else ""


def meant(unit: Unit, found: Sequence[Function], kind: str) -> Sequence[Function]:
    """Of functions of a name those that a call with an argument of that very type may mean."""
    exact = [f for f in found if kind and parameter_type(unit, f) == kind]
    return exact if len(exact) == 1 else found
