"""Counters of branches: each condition of a text says which way it went, and how near it came to the other one.

Those are the conditions of `if`, `for`, `while`, `do` and `?:`, and the left sides of `&&` and `||`."""

from __future__ import annotations

from collections.abc import Iterator, Set

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import tokens
from cu2port.syntax.statements import read_body
from cu2port.syntax.tree import Asm, Binary, Ternary, heads, statements, walk
from cu2port.syntax.words import BEFORE_VALUE, BUILTIN_TYPES, CV, PLACEHOLDERS
from cu2port.verify.statements import Statements
from cu2port.verify.trial.nearness import nearness

_HEADS = frozenset({"if", "while", "for"})
_INLINE = frozenset("inline constexpr consteval static friend __forceinline__ __inline__ __inline _inline".split())
_NO_VALUES = BUILTIN_TYPES | PLACEHOLDERS | CV  # before `&&` in a declaration


def counted(unit: Unit, first: int, macros: Set[str] = frozenset()) -> tuple[str, list[int]]:
    """The text with counters numbered from `first` on, and the line of each. Device functions become inline, so that
    the compiler leaves out those that the kernel does not call. `macros`: of other files, which may say that already.
    """
    spans: list[tuple[int, int]] = []
    for f in unit.functions:
        if unit.in_directive(f.name_at) is not None or "constexpr" in unit.t[f.first : f.name_at]:
            continue
        spans += {*_conditions(unit, f.body[0] + 1, f.body[1]), *_operands(unit, f.body[0] + 1, f.body[1])}
    spans.sort(key=lambda s: (s[0], -s[1]))  # an outer one opens first
    edits: list[tuple[int, int, int, str]] = [(unit.p[i], 0, 0, "inline ") for i in _outlined(unit, macros)]
    lines: list[int] = []
    line, behind = 1, 0
    for start, stop in spans:
        near = nearness(unit, start, stop)
        opening = f"CU2PORT_NEAR({first + len(lines)}, {near}, " if near else f"CU2PORT_BRANCH({first + len(lines)}, "
        edits.append((unit.p[start], 1, len(lines), opening))
        edits.append((unit.end(stop - 1), 0, -len(lines), ")"))
        line, behind = line + unit.text.count("\n", behind, unit.p[start]), unit.p[start]
        lines.append(line)
    out, at = [], 0
    for offset, _, _, text in sorted(edits):
        out += [unit.text[at:offset], text]
        at = offset
    return "".join([*out, unit.text[at:]]), lines


def _outlined(unit: Unit, macros: Set[str]) -> Iterator[int]:
    """Where `inline` may be added to a device function."""
    for f in unit.functions:
        marks = unit.between(f.first, f.name_at, "__device__")
        if not marks or unit.in_directive(f.name_at) is not None or "__global__" in f.sides:
            continue
        words = {x for i, x in enumerate(unit.t[f.first : f.name_at], f.first) if unit.in_directive(i) is None}
        if words.isdisjoint(_INLINE) and words.isdisjoint(macros) and words.isdisjoint(unit.macros):
            yield marks[0]


def _operands(unit: Unit, first: int, stop: int) -> Iterator[tuple[int, int]]:
    """What decides inside of expressions: conditions of `?:`, and what `&&` and `||` ask first."""
    if not {"?", "&&", "||"} & set(unit.t[first:stop]):
        return
    for stmt in statements(read_body(unit, first, stop)):
        if isinstance(stmt, Asm):
            continue
        for e in (x for head in heads(stmt) for x in walk(head)):
            if isinstance(e, Ternary):
                a, b = tokens(e.cond)
            elif isinstance(e, Binary) and e.op in ("&&", "||"):
                a, b = tokens(e.a)
            else:
                continue
            known = first <= a <= b < stop and unit.t[a] not in _NO_VALUES
            if known and not any(unit.in_directive(k) for k in range(a, b + 1)):
                yield a, b + 1


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
