"""Names in parsed statements: which are mentioned, and statements with other names in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from cu2port.ptx.ir import (
    Address,
    Directive,
    Group,
    Instruction,
    Label,
    Neg,
    Not,
    Operand,
    Pair,
    Reg,
    Scope,
    Statement,
    Sum,
    Variable,
    Vector,
)
from cu2port.ptx.table import find


def instructions(statements: Iterable[Statement]) -> Iterator[Instruction]:
    """All instructions, also those in scopes, in text order."""
    for s in statements:
        if isinstance(s, Instruction):
            yield s
        elif isinstance(s, Scope):
            yield from instructions(s.body)


def labels(statements: Iterable[Statement]) -> Iterator[str]:
    """All labels, also those in scopes and those of tables of targets."""
    for s in statements:
        if isinstance(s, Label):
            yield s.name
        elif isinstance(s, Directive) and s.label:
            yield s.label
        elif isinstance(s, Scope):
            yield from labels(s.body)


def directives(statements: Iterable[Statement]) -> Iterator[Directive]:
    """All directives, also those in scopes."""
    for s in statements:
        if isinstance(s, Directive):
            yield s
        elif isinstance(s, Scope):
            yield from directives(s.body)


def declared(statements: Iterable[Statement]) -> Iterator[str]:
    """All registers and variables that statements declare, also in scopes."""
    for s in statements:
        if isinstance(s, Variable):
            yield from s.names
        elif isinstance(s, Scope):
            yield from declared(s.body)


def mentioned(operand: Operand) -> Iterator[Reg]:
    """Names that an operand is made of."""
    if isinstance(operand, Reg):
        yield operand
    elif isinstance(operand, Address):
        if operand.base is not None:
            yield operand.base
        for item in operand.rest:
            yield from mentioned(item)
    elif isinstance(operand, (Vector, Group)):
        for item in operand.items:
            yield from mentioned(item)
    elif isinstance(operand, Pair):
        yield from mentioned(operand.first)
        yield from mentioned(operand.second)
    elif isinstance(operand, (Not, Neg)):
        yield from mentioned(operand.item)
    elif isinstance(operand, Sum):
        yield operand.base


def has_target(i: Instruction) -> bool:
    """Whether an instruction's first operand is written."""
    match = find(i.opcode, len(i.operands))
    return match is not None and bool(match.row.targets)


@dataclass(frozen=True, slots=True)
class Renamer:
    """Gives registers other names: `name(old, written)` is the new one."""

    name: Callable[[str, bool], str]

    def statements(self, body: Iterable[Statement]) -> tuple[Statement, ...]:
        return tuple(self.statement(s) for s in body)

    def statement(self, s: Statement) -> Statement:
        if isinstance(s, Scope):
            return replace(s, body=self.statements(s.body))
        if not isinstance(s, Instruction):
            return s
        target = has_target(s)
        return replace(s, operands=tuple(self.operand(o, target and k == 0) for k, o in enumerate(s.operands)))

    def operand(self, o: Operand, written: bool) -> Operand:
        if isinstance(o, Reg):
            return self.register(o, written)
        if isinstance(o, Address):
            base = self.register(o.base, False) if o.base is not None else None
            return replace(o, base=base, rest=tuple(self.operand(x, False) for x in o.rest))
        if isinstance(o, (Vector, Group)):
            return replace(o, items=tuple(self.operand(x, written) for x in o.items))
        if isinstance(o, Pair):
            return Pair(self.operand(o.first, written), self.operand(o.second, written))
        if isinstance(o, (Not, Neg)):
            return replace(o, item=self.operand(o.item, written))
        if isinstance(o, Sum):
            return Sum(self.register(o.base, False), o.offset)
        return o

    def register(self, r: Reg, written: bool) -> Reg:
        return Reg(self.name(r.name, written), r.select)
