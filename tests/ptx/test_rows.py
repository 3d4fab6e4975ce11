"""Every row: its examples hold, and the interpreter and the emitted C++ agree."""

from __future__ import annotations

import pytest

from cu2port.ptx import interp
from cu2port.ptx.ir import Const, Instruction, Place, Reg
from cu2port.ptx.table import Row, find, rows

EXAMPLES = [
    pytest.param(row, opcode, inputs, wanted, id=f"{opcode}-{i}")
    for row in rows()
    for opcode, examples in row.examples.items()
    for i, (inputs, wanted) in enumerate(examples)
]


@pytest.mark.parametrize(("row", "opcode", "inputs", "wanted"), EXAMPLES)
def test_example(row: Row, opcode: str, inputs: tuple[int, ...], wanted: int | tuple[int, ...]) -> None:
    match = find(opcode, len(row.sources) + bool(row.targets))
    assert match is not None
    assert match.row is row
    places, registers, operands = {}, {}, []
    for slot, number in zip(row.sources, inputs, strict=True):
        if slot.form == "imm":
            operands.append(Const(number))
            continue
        places[slot.name] = Place(slot.name, row.type_of(slot, match.bindings))
        registers[slot.name] = number
        operands.append(Reg(slot.name))
    types = [row.type_of(slot, match.bindings) for slot in row.targets]
    results = wanted if isinstance(wanted, tuple) else (wanted,)
    target = Reg("%0")
    for i, t in enumerate(types):
        places[f"%{i}"] = Place(f"out{i}", t)
    from cu2port.ptx.ir import Pair

    written = Pair(target, Reg("%1")) if len(results) > 1 else target
    (lane,) = interp.run([Instruction(opcode, (written, *operands))], places, [registers])
    assert tuple(lane[f"%{i}"] for i in range(len(results))) == results
