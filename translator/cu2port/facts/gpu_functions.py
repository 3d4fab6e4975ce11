"""Functions that run on the GPU, and operators in them that become calls."""

from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Edit, insert, replace
from cu2port.facts.branches import skipped_by_nvcc
from cu2port.facts.side_macros import by_name
from cu2port.facts.structure import Function
from cu2port.facts.unit import Unit
from cu2port.syntax.operands import tokens
from cu2port.syntax.tree import Binary

ON_GPU = frozenset({"__device__", "__global__"})


def gpu_functions(unit: Unit) -> Iterator[Function]:
    """The functions for the GPU that nvcc reads, in text order."""
    if unit.words.isdisjoint(ON_GPU.union(by_name(unit.project.side_macros))):
        return  # before anything is lexed
    for f in unit.functions:
        if not f.sides.isdisjoint(ON_GPU) and not skipped_by_nvcc(unit, unit.p[f.name_at]):
            yield f


def as_call(unit: Unit, e: Binary, function: str) -> tuple[Edit, ...]:
    """`a op b` as `function(a, b)`, inside the brackets and casts around it."""
    (first, left), last = tokens(e.a), tokens(e.b)[1]
    gap, stop = unit.text[unit.end(left) : unit.p[e.at]], unit.p[e.at] + len(e.op)  # `>>` may be two tokens
    return (
        insert(unit.p[first], f"{function}("),
        replace(unit.p[e.at] if gap.strip() else unit.end(left), stop, ","),
        insert(unit.end(last), ")"),
    )
