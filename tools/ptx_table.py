"""Writes docs/ptx-instructions.md again: every row of the instruction table, with the C++ of one of its forms."""

from __future__ import annotations

import re
from pathlib import Path

from cu2port.ptx.bind import CARRY, UntranslatableError
from cu2port.ptx.emit import emit
from cu2port.ptx.ir import TYPES, Address, Const, Instruction, Operand, Pair, Place, Reg
from cu2port.ptx.table import Row, Slot, find, rows

PAGE = Path(__file__).parent.parent / "docs" / "ptx-instructions.md"
_MANUAL = re.compile(r"-instructions?\b.*")
_HEAD = """# PTX instructions that become C++

Made from the instruction table by `tools/ptx_table.py`; [ptx.md](ptx.md) tells how to read it. In a syntax `{.x}` may
be missing, `.{a|b}` is one of several. The second column is the C++ of the first form, with operands named as in the
manual; `cu2port ptx -e 'TEXT'` shows that of any other.
"""


def page() -> str:
    """The page."""
    sections: dict[str, list[Row]] = {}
    for row in rows():
        sections.setdefault(_MANUAL.sub("", row.ref).replace("-", " "), []).append(row)
    out = [_HEAD]
    for title in sorted(sections):
        out.append(f"\n## {title.capitalize()}\n\n| syntax | C++ |\n| --- | --- |\n")
        out.extend(f"| {_code(shown(row))} | {'<br>'.join(map(_code, example(row)))} |\n" for row in sections[title])
    return "".join(out)


def shown(row: Row) -> str:
    """The syntax as the manual would write it: without names of modifiers and types of operands."""
    opcode, _, operands = row.syntax.partition(" ")
    opcode = re.sub(r"\{\.\{?(?:\w+:)?([^{}]*)\}?\}", r"{.\1}", opcode)
    opcode = re.sub(r"(?<!\{)\.\{(?:\w+:)?([^{}]*)\}", r".{\1}", opcode)
    operands = re.sub(r":[\w()]+(?:\?pred)?", "", operands)
    operands = re.sub(r"(\||, )\?(\w+)", r"{\1\2}", operands)
    return f"{opcode} {operands}".strip()


def _code(text: str) -> str:
    return "`" + text.replace("|", r"\|") + "`" if text else ""


def example(row: Row) -> tuple[str, ...]:
    """C++ for the row's first form; empty where it needs more around it than an instruction."""
    opcode = re.sub(r"\{\.(?:\{[^{}]*\}|[^{}]*)\}", "", row.syntax.partition(" ")[0])
    opcode = re.sub(r"\.\{(?:\w+:)?([^{}|]+)[^{}]*\}", r".\1", opcode)
    match = find(opcode)
    if match is None or match.row is not row:
        return ()
    places: dict[str, Place] = {CARRY: Place("carry", TYPES["pred"])}
    results = [_operand(s, row, match.bindings, places) for s in row.targets if not s.optional]
    operands = [_operand(s, row, match.bindings, places) for s in row.sources if not s.optional]
    if results:
        operands.insert(0, results[0] if len(results) == 1 else Pair(results[0], results[1]))
    try:
        lines = emit((Instruction(opcode, tuple(operands)),), places).lines
        return tuple(line for line in lines if not line.startswith("bool carry"))
    except UntranslatableError:
        return ()


def _operand(slot: Slot, row: Row, bindings: object, places: dict[str, Place]) -> Operand:
    assert isinstance(bindings, dict)
    name = f"%{slot.name}"
    if slot.form == "imm":
        return Const(1)
    type_ = row.type_of(slot, bindings) if slot.type in bindings or slot.type != "t" else TYPES["u32"]
    places[name] = Place(slot.name, TYPES["u64"] if slot.form == "[" else type_)
    if slot.form == "[":
        return Address(Reg(name))
    return Reg(name)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
