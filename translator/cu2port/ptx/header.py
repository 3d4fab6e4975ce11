"""The second half of `include/cu2port/ptx.hpp`: a function for every form of a row that asks for one, from its own
tree."""

from __future__ import annotations

from collections.abc import Iterator

from cu2port.ptx.emit import function_body, helper_name
from cu2port.ptx.printer import cxx_type
from cu2port.ptx.table import forms, rows

MARK = "// --- instructions, generated from cu2port's table by tools/ptx_header.py "


def functions() -> Iterator[str]:
    """The text of each function, in the order of the rows."""
    for row in rows():
        if not row.helper:
            continue
        first = True
        for opcode, match in forms(row):
            types = [(slot.name, row.type_of(slot, match.bindings)) for slot in row.sources]
            params = ", ".join(f"{cxx_type(t)} {name}" for name, t in types)
            result, lines = function_body(opcode, types)
            comment = f"// {row.syntax}\n" if first else ""
            body = f" {lines[0]} " if len(lines) == 1 else "\n    " + "\n    ".join(lines) + "\n"
            yield f"{comment}CU2PORT_PTX {result} {helper_name(opcode)}({params}) {{{body}}}\n"
            first = False


def rewritten(header: str) -> str:
    """The header's text with its generated part as the rows want it now."""
    start = header.index("\n", header.index(MARK)) + 1
    end = header.index("}  // namespace ptx")
    return header[:start] + "\n" + "\n".join(functions()) + "\n" + header[end:]
