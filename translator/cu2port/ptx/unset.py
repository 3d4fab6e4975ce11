"""Which names of a text have no value on some way through it: behind a guard, or where a branch passes over a write.

Such a register has some value in PTX. In C++ it has none, and clang takes what is passed to a function for set: it
drops the guard or the branch that it depends on. This is a definite assignment analysis over the text's ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cu2port.ptx.asm import Operand as AsmOperand
from cu2port.ptx.bind import CARRY
from cu2port.ptx.ir import Address, Group, Instruction, Label, Operand, Reg, Scope, Statement, Variable
from cu2port.ptx.rename import Renamer, directives, mentioned
from cu2port.ptx.table import find

#: A name, and the number of the declaration that it belongs to: they count from 1 in text order; 0 has none.
Name = tuple[int, str]
#: A predicate, and whether it must be false.
Condition = tuple[Name, bool]
_ENDS = frozenset({"ret", "exit", "trap"})
_JUMPS = frozenset({"bra", "brx"})


@dataclass(frozen=True, slots=True)
class Unset:
    """What has no value on some way: registers where they are read, and outputs where they are read or at an end."""

    registers: frozenset[Name] = frozenset()
    read: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()


def unset(statements: Sequence[Statement], outputs: Iterable[str] = ()) -> Unset:
    """What lacks a value of registers that the statements declare, the carry flag, and `outputs`, which begin unset."""
    return _Text(statements, frozenset(outputs)).result()


def outputs_unset(statements: Sequence[Statement], operands: Sequence[AsmOperand]) -> Unset:
    """The same for the outputs of an asm statement, by number (`%0`)."""
    numbers = {f"%[{o.name}]": f"%{i}" for i, o in enumerate(operands) if o.name}
    renamed = Renamer(lambda name, written: numbers.get(name, name)).statements(statements)
    return unset(renamed, (f"%{i}" for i, o in enumerate(operands) if o.output and not o.read))


def has_ways(statements: Iterable[Statement]) -> bool:
    """Whether there is more than one way through statements: a guard, or a label to branch to."""
    return any(
        isinstance(s, Label)
        or (isinstance(s, Instruction) and s.guard is not None)
        or (isinstance(s, Scope) and has_ways(s.body))
        for s in statements
    )


@dataclass(slots=True)
class _Step:
    """One instruction. `goals`: labels that it may branch to; `falls`: the next one may follow."""

    reads: tuple[Name, ...]
    writes: tuple[Name, ...]
    guard: Condition | None
    goals: tuple[Name, ...] = ()
    falls: bool = True
    ends: bool = False


@dataclass
class _Text:
    """The instructions of a text in order, and what can be said at each: a bit for each name that has a value, and for
    each that has one where a predicate holds, or where it does not."""

    statements: Sequence[Statement]
    outputs: frozenset[str]
    steps: list[_Step] = field(default_factory=list)
    labels: dict[Name, int] = field(default_factory=dict)  # by the number of the scope
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    bits: dict[Name, int] = field(default_factory=dict)
    held: dict[tuple[Name, Condition], int] = field(default_factory=dict)
    about: dict[Name, int] = field(default_factory=dict)  # those of `held` that a predicate is part of
    variables: int = 0
    scopes: int = 0

    def __post_init__(self) -> None:
        names: dict[str, Name] = {name: (0, name) for name in (*self.outputs, CARRY)}
        for name in names.values():
            self.bit(name)
        self.tables = {
            d.label: tuple(o.name for o in d.operands if isinstance(o, Reg)) for d in directives(self.statements)
        }
        self.scope(self.statements, names, {})

    def bit(self, name: Name) -> int:
        return self.bits.setdefault(name, 1 << len(self.bits) + len(self.held))

    def when(self, name: Name, condition: Condition) -> int:
        """The bit for a name that has a value where a condition holds."""
        bit = self.held.setdefault((name, condition), 1 << len(self.bits) + len(self.held))
        self.about[condition[0]] = self.about.get(condition[0], 0) | bit
        return bit

    # --- reading --------------------------------------------------------------------------------------------------

    def scope(self, statements: Sequence[Statement], names: dict[str, Name], labels: Mapping[str, Name]) -> None:
        self.scopes += 1
        number = self.scopes
        labels = {**labels, **{s.name: (number, s.name) for s in statements if isinstance(s, Label)}}
        for s in statements:
            if isinstance(s, Variable):
                self.variables += 1
                if s.space == "reg":
                    names.update((name, (self.variables, name)) for name in s.names)
                else:
                    for name in s.names:
                        names.pop(name, None)
            elif isinstance(s, Label):
                self.labels[labels[s.name]] = len(self.steps)
            elif isinstance(s, Scope):
                self.scope(s.body, dict(names), labels)
            elif isinstance(s, Instruction):
                self.steps.append(self.step(s, names, labels))

    def step(self, i: Instruction, names: Mapping[str, Name], labels: Mapping[str, Name]) -> _Step:
        def found(operands: Iterable[Operand]) -> tuple[Name, ...]:
            return tuple(names[r.name] for o in operands for r in mentioned(o) if r.name in names)

        guard = i.guard
        held = (names[guard.name], guard.negated) if guard is not None and guard.name in names else None
        match = find(i.opcode, len(i.operands))
        first = i.operands[0] if i.operands else None
        written: tuple[Operand, ...] = ()
        if i.opcode.startswith("st.param") and isinstance(first, Address) and first.base is not None:
            written = (first.base,)
        elif (match is not None and match.row.targets) or (i.name == "call" and isinstance(first, Group)):
            written = i.operands[:1]
        reads, writes = found(i.operands[len(written) :]), found(written)
        if match is not None:
            reads = (*reads, (0, CARRY)) if match.row.reads else reads
            writes = (*writes, (0, CARRY)) if match.row.writes else writes
        if i.name in _JUMPS:
            listed = [o.name for o in i.operands if isinstance(o, Reg)]
            listed = [name for o in listed for name in self.tables.get(o, (o,))]
            return _Step(reads, (), held, tuple(labels[x] for x in listed if x in labels), guard is not None)
        if i.name in _ENDS:
            return _Step(reads, (), held, (), guard is not None, i.name == "ret")
        return _Step(reads, writes, held)

    # --- following ------------------------------------------------------------------------------------------------

    def after(self, step: _Step, state: int) -> int:
        for name in step.writes:
            bit = self.bit(name)
            if step.guard is None:
                state |= bit
            elif not state & bit:
                predicate, negated = step.guard
                other = self.when(name, (predicate, not negated))
                state |= bit if state & other else self.when(name, step.guard)
        for name in step.writes:
            state &= ~self.about.get(name, 0)
        return state

    def ways(self, at: int) -> list[int]:
        """Where lanes may be behind a step."""
        step = self.steps[at]
        goals = [self.labels[g] for g in step.goals if g in self.labels]
        return [*goals, at + 1] if step.falls else goals

    def result(self) -> Unset:
        end = len(self.steps)
        starts = {0, *self.labels.values()}
        starts |= {n + 1 for n, s in enumerate(self.steps) if s.goals or not s.falls}
        states = {0: 0}  # what holds at the start of a block, on each way to it
        todo = [0]
        while todo:
            at = todo.pop()
            state = states[at]
            while at < end:
                state, ways = self.after(self.steps[at], state), self.ways(at)
                at += 1
                if ways != [at] or at in starts:
                    break
            else:
                continue
            for way in ways:
                known = states.get(way)
                if known is None or known & state != known:
                    states[way] = state if known is None else known & state
                    if way < end:
                        todo.append(way)
        return self.lacking(states, starts)

    def lacking(self, states: Mapping[int, int], starts: Iterable[int]) -> Unset:
        read: set[Name] = set()
        left: set[str] = set()
        end, begins = len(self.steps), set(starts)
        state: int | None = None
        for at, step in enumerate(self.steps):
            if at in begins:
                state = states.get(at)
            if state is None:  # nothing leads here
                continue
            for name in step.reads:
                if not state & self.bit(name) and not (step.guard and state & self.held.get((name, step.guard), 0)):
                    read.add(name)
            if step.guard is not None and not state & self.bit(step.guard[0]):
                read.add(step.guard[0])
            if step.ends:
                left |= {name for name in self.outputs if not state & self.bit((0, name))}
            state = self.after(step, state)
        last = states.get(end) if end in begins else state
        if last is not None:
            left |= {name for name in self.outputs if not last & self.bit((0, name))}
        return Unset(frozenset(read), frozenset(name for _, name in read).intersection(self.outputs), frozenset(left))
