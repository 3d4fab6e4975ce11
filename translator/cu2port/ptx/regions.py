"""Parts of a function's text that edits can go around: loops, and statements in a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cu2port.core.model import Edit, Side, insert
from cu2port.facts.unit import Unit
from cu2port.syntax.operands import tokens
from cu2port.syntax.tree import Asm, Eval, Loop, Stmt


def follows(unit: Unit, a: range, b: range) -> bool:
    """Whether nothing but pragmas is between two statements."""
    gap = (unit.lexed.directive_at(i) for i in range(a.stop, b.start))
    return a.stop <= b.start and all(d is not None and d.keyword == "pragma" for d in gap)


def extent_of(unit: Unit, s: Stmt) -> range | None:
    """The tokens of a statement that edits can go around; None of others."""
    if isinstance(s, Loop):
        return extent(unit, s)
    if isinstance(s, Eval):
        return range(tokens(s.expr)[0], s.end + 1) if s.end >= 0 else None
    if isinstance(s, Asm):
        end = _end(unit, s.at)
        return range(s.at, end) if end > s.at else None
    return None


def extent(unit: Unit, s: Loop) -> range | None:
    """The tokens of a loop; None of `do`."""
    end = _end(unit, s.at) if s.kind in ("for", "while") else -1
    return range(s.at, end) if end > s.at else None


def _end(unit: Unit, k: int) -> int:
    """The token after a statement that is a block, a loop or ends with a semicolon; -1 of others."""
    d = unit.lexed.directive_at(k)
    while d is not None:
        k = d.stop
        d = unit.lexed.directive_at(k) if k < len(unit.t) else None
    if unit.tok(k) == "{":
        return unit.match[k] + 1
    if unit.tok(k) in ("for", "while") and unit.tok(k + 1) == "(" and unit.match[k + 1] > k:
        return _end(unit, unit.match[k + 1] + 1)
    if unit.tok(k) in ("if", "do", "switch", "else", "try"):
        return -1
    while k < len(unit.t) and unit.t[k] not in (";", "}"):
        k = unit.match[k] + 1 if unit.t[k] in ("(", "[", "{") and unit.match[k] > k else k + 1
    return k + 1 if unit.tok(k) == ";" else -1


# --- Edits -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Around:
    """Lines before a part, with the pragmas that belong to it, and behind it."""

    region: range
    before: tuple[str, ...]
    behind: tuple[str, ...]


def around(unit: Unit, parts: Iterable[Around]) -> Iterator[Edit]:
    """One edit for each place: of parts that begin or end together, the smaller one is inside, or the later one."""
    outer_first = sorted(parts, key=lambda x: (x.region.start, -x.region.stop))
    before: dict[int, list[str]] = {}
    behind: dict[int, list[str]] = {}
    for x in outer_first:
        before.setdefault(x.region.start, []).extend(x.before)
        behind[x.region.stop] = [*x.behind, *behind.get(x.region.stop, ())]
    indents = {x.region.stop: _indent(unit, x.region.start) for x in outer_first}
    for at, lines in before.items():
        start, indent = at, _indent(unit, at)
        while start > 0 and (d := unit.lexed.directive_at(start - 1)) is not None and d.keyword == "pragma":
            start = d.first
        yield insert(unit.p[start], f"\n{indent}".join(lines) + "\n" + ("" if start != at else indent))
    for at, lines in behind.items():
        end = unit.end(at - 1)
        yield Edit(end, end, ("".join(f"\n{indents[at]}{x}" for x in lines),), Side.LEFT)


def _indent(unit: Unit, at: int) -> str:
    line = unit.line_start(unit.p[at])
    ahead = unit.text[line : unit.p[at]]
    return ahead[: len(ahead) - len(ahead.lstrip(" \t"))]


def one_more(unit: Unit, wanted: Iterable[tuple[int, str]]) -> Iterator[Edit]:
    """Parameters or arguments more, before the closing brackets of some."""
    by_close: dict[int, list[str]] = {}
    for close, text in wanted:
        by_close.setdefault(close, []).append(text)
    for close, texts in by_close.items():
        some = unit.tok(close - 1) != "("
        yield insert(unit.p[close], (", " if some else "") + ", ".join(texts), Side.LEFT)


def end_of_branch(unit: Unit, k: int) -> int:
    """The token behind a statement of a branch."""
    while unit.tok(k) == "if":
        opener = k + 1 + (unit.tok(k + 1) == "constexpr")
        if unit.tok(opener) != "(" or unit.match[opener] < 0:
            return k
        end = end_of_branch(unit, unit.match[opener] + 1)
        if unit.tok(end) != "else":
            return end
        k = end + 1
    if unit.tok(k) == "{":
        return unit.match[k] + 1
    while k < len(unit.t) and unit.t[k] not in (";", "}"):
        k = unit.match[k] + 1 if unit.t[k] in ("(", "[", "{") and unit.match[k] > k else k + 1
    return k + 1
