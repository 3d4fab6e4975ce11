"""`case` labels of a switch over CUDA's enumerators, such as the tables of error names in many helper headers, and
comparisons with such a status.

A label that HIP has no value for is never reached, and two labels that become the same HIP value do not compile.
Such a label goes; the one statement behind it too, where nothing else can run into it. A status that HIP never returns
equals none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from cu2port.catalog import target
from cu2port.catalog.findings import Kind, RowFinding
from cu2port.catalog.uses import Use
from cu2port.core.late import regex
from cu2port.core.model import Edit, replace
from cu2port.facts.conditionals import Nested
from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit
from cu2port.syntax.around import around
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.operands import own_tokens
from cu2port.syntax.tree import Binary, Expr, Member, Name

_STATUS = regex(r"cudaError[A-Z]\w*|CUDA_ERROR_\w+|CU[A-Z]+_STATUS_\w+")


def label_findings(unit: Unit, found: Collection[Use]) -> dict[int, RowFinding]:
    """Findings for labels that must go, by the index of the label's name."""
    made = _label_macros(unit) if found else frozenset()
    labels = [
        u
        for u in found
        if (unit.tok(u.last + 1) == ":" and _keyword(unit, u) >= 0) or (made and _call(unit, u, made) >= 0)
    ]
    if not labels:
        return {}
    opened = [k for i in unit.find("switch") if (k := _body(unit, i)) >= 0]
    bodies = Nested((k, unit.match[k]) for k in opened)
    taken: dict[tuple[int, str], str] = {}
    out: dict[int, RowFinding] = {}
    for use in labels:
        switch = next(bodies.around(use.first), None)
        if switch is None:
            continue
        body = opened[switch]
        hip, _ = target(use.row, unit.options.rocm)
        first = taken.setdefault((body, hip), use.row.cuda) if hip else ""
        if first == use.row.cuda:
            continue
        edit = _removal(unit, use) if unit.tok(use.last + 1) == ":" else _call_removal(unit, use, made)
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


def _label_macros(unit: Unit) -> frozenset[str]:
    """The macros of a file that make a label of their only parameter and leave the switch: `case x: return #x`."""
    if "case" not in unit.words:
        return frozenset()
    return frozenset(name for name, every in unit.macros.items() if all(_makes_label(unit, m) for m in every))


def _makes_label(unit: Unit, m: Macro) -> bool:
    if m.params is None or len(m.params) != 1:
        return False
    body = unit.t[m.first : m.stop]
    leaves = body[3:4] == ["return"] or body[-1:] == ["break"] or body[-2:] == ["break", ";"]
    return body[:3] == ["case", m.params[0], ":"] and leaves


def _call(unit: Unit, use: Use, made: frozenset[str]) -> int:
    """Index of the macro's name where a use is the argument of a macro that makes a label of it, or -1."""
    k = use.first - 2
    around = unit.tok(use.first - 1) == "(" and unit.tok(use.last + 1) == ")"
    return k if around and unit.tok(k) in made and unit.in_directive(k) is None else -1


def _call_removal(unit: Unit, use: Use, made: frozenset[str]) -> Edit | None:
    """The edit that takes a call out that makes a label; None where the statement before it could run into it."""
    start, last = _call(unit, use, made), use.last + 1
    before = start - 1 - (unit.tok(start - 1) == ";")
    opened = unit.match[before] if unit.tok(before) == ")" else -1
    if not (opened > 0 and unit.t[opened - 1] in made) and not _cannot_fall_in(unit, start):
        return None
    return _cut(unit, start, last + (unit.tok(last + 1) == ";"))


def comparison_findings(unit: Unit, found: Iterable[Use]) -> dict[int, RowFinding]:
    """Findings for comparisons of a variable with a status that HIP never returns, by the index of its name."""
    out: dict[int, RowFinding] = {}
    for use in found:
        if use.row.mapping != "unsupported" or not _STATUS.fullmatch(use.row.cuda):
            continue
        span = _compared(unit, use)
        if span is None:
            continue
        first, last, equal = span
        start, end, new = unit.p[first], unit.end(last), "false" if equal else "true"
        out[use.first] = RowFinding(
            Kind.LABEL,
            f"`{' '.join(unit.text[start:end].split())}` becomes `{new}`: HIP never returns `{use.row.cuda}`",
            start,
            end,
            edits=(replace(start, end, new),),
            cuda=use.row.cuda,
        )
    return out


def _compared(unit: Unit, use: Use) -> tuple[int, int, bool] | None:
    """The first and last token of a comparison with a variable or a member, and whether it is `==`."""
    name, whole, *_ = (*around(unit, use.last), None, None)
    if not isinstance(name, Name) or not isinstance(whole, Binary) or whole.op not in ("==", "!="):
        return None
    if not _is_object(whole.b if whole.a is name else whole.a):
        return None
    first, last = own_tokens(whole)
    return first, last, whole.op == "=="


def _is_object(e: Expr) -> bool:
    """Whether an expression is `a`, `a.b` or `a->b`: it can be removed without losing a side effect."""
    while isinstance(e, Member):
        e = e.base
    return isinstance(e, Name)


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
    """The edit that takes the label out; None where the text ends too early."""
    start = _keyword(unit, use)
    after = use.last + 2
    alone = _cut(unit, start, use.last + 1)  # what is behind it is never jumped to, and is still run into
    if not _cannot_fall_in(unit, start) or unit.tok(after) not in ("return", "break"):
        return alone
    k = after
    while k < len(unit.t) and unit.t[k] != ";":
        if unit.t[k] in ("(", "[", "{"):
            k = max(k, unit.match[k])
        elif unit.t[k] in ("}", "case", "#"):
            return alone
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
