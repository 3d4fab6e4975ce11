"""Comments that silence findings.

    x = f();  // cu2port: ignore[warp-mask-width] the mask is built for 64 lanes
    // cu2port: ignore-next-line[CU310, CU312] reason
    // cu2port: ignore-begin[CU3] reason   ...   // cu2port: ignore-end
    // cu2port: ignore-file[CU401] reason

Rules are named by code, prefix or name; without brackets all are meant. A comment that silences nothing is a finding
of its own, and so is one that names no rule or that opens a block which nothing closes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cu2port.core.file_rules import BAD_SUPPRESSION, UNUSED_SUPPRESSION, FileRule
from cu2port.core.model import Finding
from cu2port.facts.conditionals import Nested
from cu2port.lint.select import known_rules, resolve
from cu2port.project.tree import CannotRun

_MARK = re.compile(r"cu2port:[ \t]*ignore(?P<kind>-next-line|-begin|-end|-file)?(?P<rules>\[[^\]\r\n]*\]?)?(?![\w-])")
HINT = "cu2port:"


@dataclass(slots=True)
class Suppression:
    """A comment's [start, end) as bytes, the codes it means and the bytes it covers. `line`: these are those of a line;
    `used`: codes it silenced."""

    start: int
    end: int
    codes: frozenset[str]
    covers: tuple[int, int]
    line: bool
    used: set[str] = field(default_factory=set)


def read(text: str, comments: Iterable[tuple[int, int]]) -> tuple[list[Suppression], list[Finding]]:
    """The suppressions in a file's comments, and what is wrong with them. Offsets are bytes."""
    lines = [0, *(m.end() for m in re.finditer(r"\r\n|\n|\r", text))]
    found: list[Suppression] = []
    wrong: list[Finding] = []
    blocks: list[Suppression] = []
    for first, last in comments:
        for m in _MARK.finditer(text, first, last):
            kind = m["kind"] or ""
            if kind == "-end":
                if blocks:
                    block = blocks.pop()
                    block.covers = (block.start, m.end())
                else:
                    wrong.append(_finding(BAD_SUPPRESSION, m.span(), "`ignore-end` closes no block"))
                continue
            try:
                codes = _codes(m["rules"])
            except CannotRun as e:
                wrong.append(_finding(BAD_SUPPRESSION, m.span(), str(e)))
                continue
            line = bisect_right(lines, m.start()) - 1
            covers = _covered(kind, lines, line, last, len(text))
            suppression = Suppression(m.start(), m.end(), codes, covers, kind in ("", "-next-line"))
            found.append(suppression)
            if kind == "-begin":
                blocks.append(suppression)
    for block in blocks:
        wrong.append(_finding(BAD_SUPPRESSION, (block.start, block.end), "this block is never closed by `ignore-end`"))
    unclosed = {id(block) for block in blocks}
    return [s for s in found if id(s) not in unclosed], wrong


def _codes(rules: str | None) -> frozenset[str]:
    if rules is None:
        return frozenset(known_rules())
    if not rules.endswith("]"):
        raise CannotRun("the bracket is not closed")
    words = [w for w in rules[1:-1].split(",") if w.strip()]
    if not words:
        raise CannotRun("the brackets name no rule")
    return resolve(words, "this comment")


def _covered(kind: str, lines: Sequence[int], line: int, comment_end: int, size: int) -> tuple[int, int]:
    """The bytes that a comment of a kind on line `line` (from 0) refers to."""
    if kind in ("-file", "-begin"):
        return (0, size + 1) if kind == "-file" else (0, 0)
    if kind == "-next-line":
        line = bisect_right(lines, max(0, comment_end - 1))
        if line >= len(lines):
            return 0, 0
    return lines[line], lines[line + 1] if line + 1 < len(lines) else size + 1


class Silencer:
    """Suppressions, asked which findings they silence."""

    def __init__(self, suppressions: Sequence[Suppression]) -> None:
        self._parts = [_Level([s for s in suppressions if s.line == line]) for line in (True, False)]

    def silences(self, f: Finding) -> bool:
        """Whether a comment silences a finding, which counts where it starts; every one that does is marked as used."""
        return sum(part.silences(f) for part in self._parts) > 0


class _Level:
    """Suppressions whose bytes are in one another or apart: those of lines, or those of blocks and files."""

    def __init__(self, suppressions: Sequence[Suppression]) -> None:
        self._suppressions = suppressions
        self._covers = Nested(s.covers for s in suppressions)
        self._silent: dict[tuple[int, str], bool] = {}  # whether one, or one around it, silences a code

    def silences(self, f: Finding) -> bool:
        silent = False
        new: list[int] = []
        for k in self._covers.around(f.start):
            known = self._silent.get((k, f.code))
            if known is not None:
                silent = known
                break
            new.append(k)
        for k in reversed(new):
            if f.code in self._suppressions[k].codes:
                self._suppressions[k].used.add(f.code)
                silent = True
            self._silent[k, f.code] = silent
        return silent


def unused(suppressions: Iterable[Suppression], selected: frozenset[str]) -> list[Finding]:
    """Findings for comments that silence nothing, as far as their rules are looked for at all."""
    return [
        _finding(UNUSED_SUPPRESSION, (s.start, s.end), "this comment silences nothing; remove it")
        for s in suppressions
        if not s.used and s.codes & selected
    ]


def _finding(rule: FileRule, span: tuple[int, int], message: str) -> Finding:
    return rule.finding(message, *span)
