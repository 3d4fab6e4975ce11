"""The second half of `include/cu2port/ptx.hpp`: a function for every form of a row that asks for one, from its own
tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.ptx.emit import function_body, helper_name
from cu2port.ptx.printer import cxx_type
from cu2port.ptx.table import forms, rows

MARK = "// --- instructions, generated from cu2port's table by tools/ptx_header.py "


_SHORT = re.compile(r"std::(u?)int(8|16|32|64)_t")
_WIDTH = 118


def functions() -> Iterator[str]:
    """The text of each function, in the order of the rows."""
    for row in rows():
        if not row.helper:
            continue
        yield f"// {row.syntax}\n"
        for opcode, match in forms(row):
            types = [(slot.name, row.type_of(slot, match.bindings)) for slot in row.sources]
            params = ", ".join(f"{cxx_type(t)} {name}" for name, t in types)
            result, lines = function_body(opcode, types)
            head = _short(f"CU2PORT_PTX {result} {helper_name(opcode)}({params}) {{")
            lines = tuple(map(_short, lines))
            if len(lines) == 1 and len(head) + len(lines[0]) + 3 <= _WIDTH:
                yield f"{head} {lines[0]} }}\n"
            else:
                yield head + "".join(f"\n    {part}" for line in lines for part in _wrapped(line)) + "\n}\n"


def _short(line: str) -> str:
    """Fixed-width types by the header's own names for them."""
    return _SHORT.sub(lambda m: f"{m[1] or 's'}{m[2]}", line)


def _wrapped(line: str) -> Iterator[str]:
    """A long line broken before the operators that bracket least."""
    indent = ""
    while len(line) + len(indent) > _WIDTH:
        depth, best = 0, (99, 0)
        for i, c in enumerate(line[: _WIDTH - len(indent)]):
            depth += (c in "([{") - (c in ")]}")
            if (i > 20 and line[i : i + 3] in (" + ", " | ", " ? ", " : ", " & ", " * ")) or (
                i > 20 and c == " " and line[i - 1] == ","
            ):
                best = min(best, (depth, -i))
        if best == (99, 0):
            break
        yield indent + line[: -best[1]]
        line, indent = line[-best[1] + 1 :], "    "
    yield indent + line


def rewritten(header: str) -> str:
    """The header's text with its generated part as the rows give it now."""
    start = header.index("\n", header.index(MARK)) + 1
    end = header.index("}  // namespace ptx", start)
    return header[:start] + "\n" + "".join(functions()) + "\n" + header[end:]
