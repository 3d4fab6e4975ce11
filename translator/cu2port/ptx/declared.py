"""What is declared with brackets around the name, as `float (*name)[8]`; and parameters whose types have commas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.parts import parameters_with_types
from cu2port.syntax.statements import read_expression
from cu2port.syntax.tree import Expr, Param


def row_pointers(unit: Unit, span: tuple[int, int], name: str) -> Iterator[tuple[int, Expr]]:
    """Those of a name that are set where they are declared: the name's token and the value."""
    for i in unit.find(name):
        if span[0] < i < span[1] and (value := set_to(unit, i)) is not None:
            yield i, value


def set_to(unit: Unit, at: int) -> Expr | None:
    """What a pointer to rows is set to where token `at` declares it."""
    if unit.t[at - 2 : at] != ["(", "*"] or unit.tok(at + 1) != ")" or not unit.declares(at):
        return None
    k = at + 2
    while unit.tok(k) == "[" and unit.match[k] > k:
        k = unit.match[k] + 1
    if k == at + 2 or unit.tok(k) != "=":
        return None
    stop = k
    while stop < len(unit.t) and unit.t[stop] not in (";", "}"):
        stop = unit.match[stop] + 1 if unit.t[stop] in ("(", "[", "{") and unit.match[stop] > stop else stop + 1
    return read_expression(unit, k + 1, stop)


def parameters_of(unit: Unit, f: Function) -> list[Param]:
    """The parameters of a function, without their default values."""
    return list(parameters_with_types(unit, *f.params))


def numbers_by_default(unit: Unit, params: Iterable[Param]) -> tuple[str, ...]:
    """Of each parameter the number that it has by default; "" for no value and for any other."""
    at = (p.at for p in params)
    return tuple(
        unit.t[i + 2]
        if i >= 0 and unit.tok(i + 1) == "=" and unit.tok(i + 2).isdigit() and unit.tok(i + 3) in (",", ")")
        else ""
        for i in at
    )
