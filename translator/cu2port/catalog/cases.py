"""`case` labels of a switch over CUDA's enumerators, such as the tables of error names in many helper headers.

A label that HIP has no value for is never reached, and two labels that become the same HIP value do not compile.
Where nothing else can run into such a label, it goes, with the one statement behind it.
"""

from __future__ import annotations

from collections.abc import Iterable

from cu2port.catalog import target
from cu2port.catalog.findings import Kind, RowFinding
from cu2port.catalog.uses import Use
from cu2port.core.model import Edit, replace
from cu2port.facts.conditionals import Nested
from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier


def label_findings(unit: Unit, found: Iterable[Use]) -> dict[int, RowFinding]:
    """Findings for labels that must go, by the index of the label's name."""
    labels = [u for u in found if unit.tok(u.last + 1) == ":" and _keyword(unit, u) >= 0]
    if not labels:
        return {}
    opened = [k for i in unit.find("switch") if (k := _body(unit, i)) >= 0]
    bodies = Nested((k, unit.match[k]) for k in opened)
    taken: dict[tuple[int, str], str] = {}
    out: dict[int, RowFinding] = {}
    for use in labels:
        around = next(bodies.around(use.first), None)
        if around is None:
            continue
        body = opened[around]
        hip, _ = target(use.row, unit.options.rocm)
        first = taken.setdefault((body, hip), use.row.cuda) if hip else ""
        if first == use.row.cuda:
            continue
        edit = _removal(unit, use)
        if edit is None:
            continue
        why = f"`{hip}` as `{first}` is" if hip else "unknown to HIP, which never returns it"
        out[use.first] = RowFinding(
            Kind.LABEL,
            f"the label `{use.row.cuda}` goes: it is {why}",
            edit.start,
            edit.end,
            edits=(edit,),
            cuda=use.row.cuda,
            hip=hip,
        )
    return out


def _body(unit: Unit, i: int) -> int:
    """Index of the `{` of the switch statement at token i, or -1."""
    if unit.tok(i + 1) != "(" or unit.match[i + 1] < 0:
        return -1
    k = unit.match[i + 1] + 1
    return k if unit.tok(k) == "{" and unit.match[k] > k else -1


def _keyword(unit: Unit, use: Use) -> int:
    """Index of the `case` before a label, which may name its enumeration (`case cudaError_t::cudaSuccess:`), or -1."""
    k = use.first - 1
    while unit.tok(k) == "::":
        k -= 2 if is_identifier(unit.tok(k - 1) or ";") and unit.tok(k - 1) != "case" else 1
    return k if unit.tok(k) == "case" else -1


def _removal(unit: Unit, use: Use) -> Edit | None:
    """The edit that takes the label out, or None where that is not sure."""
    start = _keyword(unit, use)
    after = use.last + 2
    if unit.tok(after) in ("case", "default", "#"):
        if unit.tok(after) == "#":
            return None
        return _cut(unit, start, use.last + 1)
    if not _cannot_fall_in(unit, start) or unit.tok(after) not in ("return", "break"):
        return None
    k = after
    while k < len(unit.t) and unit.t[k] != ";":
        if unit.t[k] in ("(", "[", "{"):
            k = max(k, unit.match[k])
        elif unit.t[k] in ("}", "case", "#"):
            return None
        k += 1
    return _cut(unit, start, k) if k < len(unit.t) else None


def _cannot_fall_in(unit: Unit, start: int) -> bool:
    """Whether the statement before the label leaves the switch, or there is none."""
    last = start - 1
    if unit.in_directive(start) is None:
        while last > 0 and (d := unit.in_directive(last)) is not None:
            last = d.first - 1
    before = unit.tok(last)
    if before == "{":
        return True
    k = last - 1
    while k > 0 and before == ";" and unit.t[k] not in (";", "{", "}", ":"):
        k -= 1
    return before == ";" and unit.tok(k + 1) in ("return", "break", "goto", "throw", "continue")


def _cut(unit: Unit, first: int, last: int) -> Edit:
    """Remove tokens [first, last] with their line, if nothing else stands on it."""
    text = unit.text
    start, end = unit.p[first], unit.end(last)
    line = unit.line_start(start)
    if not text[line:start].strip():
        stop = end
        while stop < len(text) and text[stop] in " \t":
            stop += 1
        if text.startswith("\r\n", stop):
            return replace(line, stop + 2, "")
        if stop < len(text) and text[stop] in "\r\n":
            return replace(line, stop + 1, "")
    return replace(start, end, "")
