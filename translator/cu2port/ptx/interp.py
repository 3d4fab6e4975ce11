"""The interpreter: what statements compute, for one lane or a warp of 32 in lockstep.

Registers hold bit patterns. Lanes that branch apart meet again as hardware's do in the simplest case: the lanes
furthest behind in the text run first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cu2port.ptx import ops
from cu2port.ptx.bind import CARRY, bind, register_places
from cu2port.ptx.ir import Directive, Instruction, Label, Operation, Place, Scope, Statement, Variable
from cu2port.ptx.ops import Value

Registers = dict[str, int]
Lanes = tuple[int, ...]


class StuckError(RuntimeError):
    """The interpreter cannot go on: an endless loop, an address that no memory has, an operation it cannot run."""


# where generic addresses of shared memory begin; all others are global memory's
SHARED_WINDOW = 0x7F00_0000_0000


@dataclass
class Machine:
    """Memory and lanes. `memory`: bytes from address 0 on, by space; local and constant data lie in "global".

    `special` answers for special registers, by how C++ spells them; `lanes` are the registers of what runs.
    """

    memory: dict[str, bytearray] = field(default_factory=lambda: {"global": bytearray(4096), "shared": bytearray(4096)})
    special: Mapping[str, Callable[[int], int]] = field(default_factory=dict)
    steps: int = 100_000
    lanes: list[Registers] = field(default_factory=list)

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
) -> list[Registers]:
    """Runs statements with `lanes[i]` the registers of lane i (changed in place and returned).

    `places` gives the types of names that the statements do not declare. Raises StuckError, UntranslatableError,
    OutOfRangeError.
    """
    machine = machine or Machine()
    program = _flatten(statements, dict(places))
    walker = _Walker(lanes, machine)
    labels = {step.name: i for i, step in enumerate(program) if isinstance(step, Label)}
    at = dict.fromkeys(range(len(lanes)), 0)
    for _ in range(machine.steps):
        running = {lane: pc for lane, pc in at.items() if pc < len(program)}
        if not running:
            return lanes
        pc = min(running.values())
        active = tuple(lane for lane, p in running.items() if p == pc)
        step = program[pc]
        for lane in active:
            at[lane] = pc + 1
        if isinstance(step, Label):
            continue
        guard = step.operation.instruction.guard
        if guard is not None:
            active = tuple(lane for lane in active if lanes[lane].get(guard.name, 0) != guard.negated)
        if active:
            for lane, goal in walker.operation(step, active).items():
                at[lane] = len(program) if goal is None else labels[goal]
    raise StuckError(f"no end after {machine.steps} steps")


@dataclass(frozen=True)
class _Step:
    operation: Operation
    places: Mapping[str, Place]


def _flatten(statements: Sequence[Statement], places: dict[str, Place]) -> list[_Step | Label]:
    out: list[_Step | Label] = []
    for statement in statements:
        if isinstance(statement, Instruction):
            known = {CARRY: Place("cc", ops.PRED), **places}
            out.append(_Step(bind(statement, known), known))
        elif isinstance(statement, Label):
            out.append(statement)
        elif isinstance(statement, Variable):
            places.update(register_places((statement,)))
        elif isinstance(statement, Scope):
            out.extend(_flatten(statement.body, dict(places)))
        else:
            assert isinstance(statement, Directive)
    return out


class _Walker:
    def __init__(self, lanes: list[Registers], machine: Machine) -> None:
        self.lanes, self.machine = lanes, machine
        machine.lanes = lanes

    def operation(self, step: _Step, active: Lanes) -> dict[int, str | None]:
        """Runs one operation; lane -> label it jumps to, None to end."""
        operation = step.operation
        memo: dict[int, dict[int, int]] = {}
        results = [self.value(v, active, memo) for v in operation.values]
        for target, value, result in zip(operation.targets, operation.values, results, strict=False):
            if target.name is not None:
                place = step.places[target.name]
                for lane in active:
                    wide = ops.read(result[lane], value.type) & place.type.mask
                    self.lanes[lane][target.name] = wide
        return {}

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
            return {lane: self.lanes[lane].get(str(v.attr), 0) & v.type.mask for lane in active}
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
