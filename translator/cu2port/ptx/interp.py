"""The interpreter: what statements compute, for one lane or a warp of 32 in lockstep.

Registers hold bit patterns. Lanes that branch apart meet again as hardware's do in the simplest case: the lanes
furthest behind in the text run first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cu2port.ptx import integers, ops
from cu2port.ptx.bind import CARRY, bind, register_places
from cu2port.ptx.ir import Directive, Instruction, Label, Operation, Place, Reg, Scope, Statement, Variable
from cu2port.ptx.ops import Value

Registers = dict[str, int]
Lanes = tuple[int, ...]


class StuckError(RuntimeError):
    """The interpreter cannot go on: an endless loop, an address that no memory has, an operation it cannot run."""


# where generic addresses of shared memory begin; all others are global memory's
SHARED_WINDOW = 0x7F00_0000_0000


@dataclass
class Machine:
    """Memory and lanes. `memory`: bytes from address 0 on, by space; local and constant data are in "global".

    `special` answers for special registers, by how C++ spells them; `lanes` are the registers of what runs.
    """

    memory: dict[str, bytearray] = field(default_factory=lambda: {"global": bytearray(4096), "shared": bytearray(4096)})
    special: Mapping[str, Callable[[int], int]] = field(default_factory=dict)
    steps: int = 100_000
    lanes: list[Registers] = field(default_factory=list)
    jumps: dict[int, str | None] = field(default_factory=dict)  # lane -> label, None to end, of the last instruction
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def _find(self, space: str, address: int, size: int) -> tuple[bytearray, int]:
        if space != "shared" and address >> 32 == SHARED_WINDOW >> 32:
            space = "shared"
        name = "shared" if space == "shared" else "global"
        at = address & 0xFFFFFFFF if space == "shared" else address
        if at + size > len(self.memory[name]):
            raise StuckError(f"no {name} memory at {at:#x}")
        return self.memory[name], at

    def read(self, space: str, address: int, size: int) -> int:
        """`size` bytes; `space` "" takes generic addresses. Raises StuckError where there is no memory."""
        memory, at = self._find(space, address, size)
        return int.from_bytes(memory[at : at + size], "little")

    def write(self, space: str, address: int, size: int, value: int) -> None:
        memory, at = self._find(space, address, size)
        memory[at : at + size] = value.to_bytes(size, "little")


def evaluate(value: Value, registers: Mapping[str, int], machine: Machine | None = None) -> int:
    """The bits of a tree for one lane. Raises OutOfRangeError where C++ would have no defined result."""
    return _Walker([dict(registers)], machine or Machine()).value(value, (0,), {})[0]


def run(
    statements: Sequence[Statement],
    places: Mapping[str, Place],
    lanes: list[Registers],
    machine: Machine | None = None,
    here: Sequence[int] | None = None,
) -> list[Registers]:
    """Runs statements with `lanes[i]` the registers of lane i (changed in place and returned), of `here` or all.

    `places` gives the types of names that the statements do not declare; registers that they declare are found under
    their names, with `#2` and so on for those that another scope declared before. Raises StuckError,
    UntranslatableError, OutOfRangeError.
    """
    return execute(prepare(statements, places), lanes, machine, here)


def prepare(statements: Sequence[Statement], places: Mapping[str, Place]) -> Program:
    """Statements that are run more than once. Raises UntranslatableError."""
    program = Program()
    program.add(statements, dict(places), {}, {})
    return program


def execute(
    program: Program, lanes: list[Registers], machine: Machine | None = None, here: Sequence[int] | None = None
) -> list[Registers]:
    """Runs what was prepared, as `run` does."""
    machine = machine or Machine()
    walker = _Walker(lanes, machine)
    at = dict.fromkeys(range(len(lanes)) if here is None else here, 0)
    for _ in range(machine.steps):
        running = {lane: pc for lane, pc in at.items() if pc < len(program.steps)}
        if not running:
            return lanes
        pc = min(running.values())
        active = tuple(lane for lane, p in running.items() if p == pc)
        step = program.steps[pc]
        for lane in active:
            at[lane] = pc + 1
        guard = step.instruction.guard
        if guard is not None:
            name = step.keys.get(guard.name, guard.name)
            active = tuple(lane for lane in active if lanes[lane].get(name, 0) != guard.negated)
        if active:
            machine.jumps.clear()
            machine.tables = program.tables
            walker.operation(step, active)
            for lane, goal in machine.jumps.items():
                at[lane] = len(program.steps) if goal is None else step.labels[goal]
    raise StuckError(f"no end after {machine.steps} steps")


@dataclass
class Step:
    """An instruction, what its names mean there, and where its labels lead."""

    instruction: Instruction
    operation: Operation
    places: Mapping[str, Place]
    keys: Mapping[str, str]  # declared names that another scope has taken -> where the lane keeps them
    labels: Mapping[str, int]


class Program:
    """Statements whose instructions are understood."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.tables: dict[str, list[str]] = {}
        self.taken: set[str] = set()

    def add(
        self,
        statements: Sequence[Statement],
        places: dict[str, Place],
        keys: dict[str, str],
        labels: dict[str, int],
    ) -> None:
        """Appends the statements of a scope; instructions see its labels, also those that come later."""
        for statement in statements:
            if isinstance(statement, Instruction):
                known = {CARRY: Place("", ops.PRED), **places}
                step = Step(statement, bind(statement, known), known, dict(keys), labels)
                self.steps.append(step)
            elif isinstance(statement, Label):
                labels[statement.name] = len(self.steps)
            elif isinstance(statement, Variable):
                for name, place in register_places((statement,)).items():
                    places[name] = place
                    n = 1
                    while (key := name if n == 1 else f"{name}#{n}") in self.taken:
                        n += 1
                    self.taken.add(key)
                    keys[name] = key
            elif isinstance(statement, Scope):
                self.add(statement.body, dict(places), dict(keys), _Chain(labels))
            else:
                assert isinstance(statement, Directive)
                self.tables[statement.label] = [o.name for o in statement.operands if isinstance(o, Reg)]


class _Chain(dict[str, int]):
    """Labels of a scope, over those around it."""

    def __init__(self, outer: Mapping[str, int]) -> None:
        super().__init__()
        self.outer = outer

    def __missing__(self, name: str) -> int:
        return self.outer[name]


class _Walker:
    def __init__(self, lanes: list[Registers], machine: Machine) -> None:
        self.lanes, self.machine = lanes, machine
        self.keys: Mapping[str, str] = {}
        machine.lanes = lanes

    def operation(self, step: Step, active: Lanes) -> None:
        """Runs one operation in the active lanes."""
        operation = step.operation
        self.keys = step.keys
        memo: dict[int, dict[int, int]] = {}
        results = [self.value(v, active, memo) for v in operation.values]
        for target, value, result in zip(operation.targets, operation.values, results, strict=False):
            if target.name is not None:
                place = step.places[target.name]
                key = self.keys.get(target.name, target.name)
                for lane in active:
                    self.lanes[lane][key] = integers.read(result[lane], value.type) & place.type.mask

    def value(self, v: Value, active: Lanes, memo: dict[int, dict[int, int]]) -> dict[int, int]:
        """Lane -> bits."""
        known = memo.setdefault(id(v), {})
        missing = tuple(lane for lane in active if lane not in known)
        if missing:
            known.update(self.compute(v, missing, memo))
        return known

    def compute(self, v: Value, active: Lanes, memo: dict[int, dict[int, int]]) -> dict[int, int]:
        op = v.op
        if op is ops.CONST:
            assert isinstance(v.attr, int)
            return dict.fromkeys(active, v.attr)
        if op is ops.REG:
            return {
                lane: self.lanes[lane].get(self.keys.get(str(v.attr), str(v.attr)), 0) & v.type.mask for lane in active
            }
        if op is ops.SELECT:
            condition = self.value(v.args[0], active, memo)
            out: dict[int, int] = {}
            for arm, truth in ((v.args[1], 1), (v.args[2], 0)):
                taken = tuple(lane for lane in active if condition[lane] == truth)
                if taken:
                    values = self.value(arm, taken, memo)
                    out.update((lane, values[lane]) for lane in taken)
            return out
        if op is ops.EXTRACT:
            assert isinstance(v.attr, int)
            whole = self.value(v.args[0], active, memo)
            shift, mask = v.attr * v.type.bits, v.type.mask
            return {lane: whole[lane] >> shift & mask for lane in active}
        arguments = [self.value(a, active, memo) for a in v.args]
        if op.run is not None:
            return op.run(self.machine, v, active, arguments)
        return {lane: op.meaning(v, *(a[lane] for a in arguments)) for lane in active}
