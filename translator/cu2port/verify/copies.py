"""A copy of a file with edits, whose lines keep the numbers that they have in the user's file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import BOM

_LINE_END = re.compile(r"\\?\r?\n")


class Copy:
    """Edits of one file: insertions and replacements that do not overlap, in the order they were asked for."""

    def __init__(self, unit: Unit, lines: Sequence[int] = ()) -> None:
        self.unit = unit
        self._lines = lines
        self._edits: list[tuple[int, int, int, str]] = []  # start, end, rank, text

    def before(self, i: int, text: str) -> None:
        """Insert before token i, inside what was inserted there earlier."""
        self._edits.append((self.unit.p[i], self.unit.p[i], len(self._edits) + 1, text))

    def after(self, i: int, text: str) -> None:
        """Insert after token i, inside what was inserted there earlier."""
        at = self.unit.end(i)
        self._edits.append((at, at, -len(self._edits) - 1, text))

    def replace(self, first: int, stop: int, text: str) -> None:
        """Replace tokens [first, stop); their line ends are kept."""
        start, end = self.unit.p[first], self.unit.end(stop - 1)
        ends = "".join(_LINE_END.findall(self.unit.text, start, end))  # continued lines stay continued
        self._edits.append((start, end, len(self._edits) + 1, text + ends))

    def line(self, offset: int) -> str:
        """A directive that says which of the user's lines the text at an offset is on."""
        number = self.unit.text.count("\n", 0, offset)
        number = self._lines[number] if number < len(self._lines) else number + 1
        name = self.unit.path.replace("\\", "\\\\").replace('"', '\\"')
        return f'#line {number} "{name}"\n'

    def _moved(self) -> None:
        """Say the user's line wherever lines were added or taken out before it."""
        start = 0
        for was, now in pairwise(self._lines):
            end = self.unit.text.find("\n", start)
            if end < 0:
                return
            if now != was + 1 and not self.unit.text.endswith(("\\", "\\\r"), start, end):
                self._edits.append((end + 1, end + 1, -len(self._edits) - 1, self.line(end + 1)))
            start = end + 1

    def text(self) -> str:
        """The copy, without a byte order mark: what it begins with is written in front of it."""
        self._moved()
        out = []
        position = 0
        # at one offset: what closes the left neighbour (negative ranks, latest innermost), then what opens the right
        for start, end, _, text in sorted(self._edits, key=lambda e: (e[0], e[2])):
            if start < position:
                continue
            out.append(self.unit.text[position:start])
            out.append(text)
            position = end
        out.append(self.unit.text[position:])
        return "".join(out).removeprefix(BOM)


def on_one_line(unit: Unit, first: int, stop: int) -> str:
    """The text of some tokens without line ends, continued lines of a macro among them."""
    return " ".join(_LINE_END.sub(" ", unit.source(first, stop)).split())
