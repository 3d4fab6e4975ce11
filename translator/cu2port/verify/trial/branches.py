"""Counters of branches: each condition of `if`, `for`, `while` and `do` of a text says which way it went."""

from __future__ import annotations

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.words import BEFORE_VALUE
from cu2port.verify.statements import Statements

_HEADS = frozenset({"if", "while", "for"})


def counted(unit: Unit, first: int) -> tuple[str, list[int]]:
    """The text with counters numbered from `first` on, and the line of each."""
    edits: list[tuple[int, str]] = []
    lines: list[int] = []
    for f in unit.functions:
        if unit.in_directive(f.name_at) is not None or "constexpr" in unit.t[f.first : f.name_at]:
            continue
        for start, stop in _conditions(unit, f.body[0] + 1, f.body[1]):
            edits.append((unit.p[start], f"::cu2port_trial::branch({first + len(lines)}, static_cast<bool>("))
            edits.append((unit.end(stop - 1), "))"))
            lines.append(unit.text.count("\n", 0, unit.p[start]) + 1)
    out, at = [], 0
    for offset, text in sorted(edits, key=lambda e: e[0]):
        out += [unit.text[at:offset], text]
        at = offset
    return "".join([*out, unit.text[at:]]), lines


def _conditions(unit: Unit, first: int, stop: int) -> list[tuple[int, int]]:
    body = Statements(unit, first, stop)
    out = []
    for i in body.tokens(first, stop):
        if unit.t[i] not in _HEADS or unit.tok(i + 1) == "constexpr":
            continue
        head = body.head(i)
        if head is None:
            continue
        a, b = head[0] + 1, head[1]
        ends = [k for k in _top(unit, a, b) if unit.t[k] == ";"]
        if unit.t[i] == "for":
            if len(ends) != 2:
                continue
            a, b = ends[0] + 1, ends[1]
        elif ends:
            a = ends[-1] + 1
        if a < b and not _declares(unit, a, b) and not any(unit.in_directive(k) for k in range(a, b)):
            out.append((a, b))
    return out


def _top(unit: Unit, first: int, stop: int) -> list[int]:
    out, k = [], first
    while k < stop:
        out.append(k)
        k = unit.match[k] if unit.t[k] in ("(", "[", "{") and k < unit.match[k] < stop else k + 1
    return out


def _declares(unit: Unit, a: int, b: int) -> bool:
    """Whether a condition is a declaration: `int v = f()`."""
    names = [k for k in range(a, b) if is_identifier(unit.t[k])]
    return (
        len(names) > 1
        and names[0] == a
        and unit.t[a] not in BEFORE_VALUE
        and any(unit.t[k] == "=" for k in _top(unit, a, b))
        and all(unit.t[k] in ("*", "&", "::", "const") or is_identifier(unit.t[k]) for k in range(a, names[1] + 1))
    )
