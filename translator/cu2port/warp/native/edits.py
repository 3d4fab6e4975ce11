"""What is written in place of ladders and declarations."""

from __future__ import annotations

import re

from cu2port.core.model import Edit, Span
from cu2port.facts.unit import Unit
from cu2port.syntax.tree import Name
from cu2port.warp.native.ladders import Facts, Reduction
from cu2port.warp.native.patterns import SPACE
from cu2port.warp.native.reasons import Reason, Refused

_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)


def in_place(facts: Facts, r: Reduction) -> Edit | Refused:
    """The calls that stand for the statements of a reduction; refused where it cannot be told what stands before
    them."""
    unit = facts.unit
    first, start, end = r.first, unit.p[r.first], unit.end(r.last)
    if unit.in_directive(first - 1) is None and facts.is_hint(Name(first - 1, unit.tok(first - 1))):
        first, start = first - 1, unit.p[first - 1]
    line = unit.text.rfind("\n", 0, start) + 1
    indent = unit.text[line:start]
    alone = not indent.strip()
    before = unit.in_directive(first - 1)
    if before is None and unit.tok(first - 1) not in (";", "{", "}"):
        lone = len(r.found) == 1 and unit.tok(first - 1) == ")"
        if not lone or unit.tok(unit.match[first - 1] - 1) != "if":
            return Refused(first, Reason.BEFORE)
    gap = "\n" + indent if alone else " "
    head: tuple[str, ...] = ()
    while before is not None and "unroll" in unit.t[before.first : before.stop] and alone:
        start = unit.text.rfind("\n", 0, before.start) + 1
        head = (indent,)
        before = unit.in_directive(before.first - 1) if before.first else None
    out: list[str | Span] = [*head, *(x + gap for x in _comments(unit, r.first, r.last))]
    for n, f in enumerate(r.found):
        out += [gap] if n else []
        out += [f"{f.name} = {SPACE}{f.call[0]}", *f.call[1:], ";"]
    return Edit(start, end, tuple(out))


def _comments(unit: Unit, first: int, last: int) -> list[str]:
    """The comments between tokens, as whole lines or in brackets."""
    gaps = (unit.text[unit.end(k) : unit.p[k + 1]] for k in range(first, last) if unit.in_directive(k) is None)
    found = [x for gap in gaps for x in _COMMENT.findall(gap)]
    alone = "\n" in unit.text[unit.p[first] : unit.end(last)]
    return [x if alone or x.startswith("/*") else f"/* {x[2:].strip()} */" for x in found]


def without(unit: Unit, at: int) -> Edit:
    """Takes out the declaration whose variable is token `at`, with its line if it has one of its own."""
    first = last = at
    while unit.t[first - 1] not in (";", "{", "}"):
        first -= 1
    while unit.t[last] != ";":
        last = max(last, unit.match[last]) + 1
    start, end = unit.p[first], unit.end(last)
    line = unit.text.rfind("\n", 0, start) + 1
    if not unit.text[line:start].strip() and unit.text[end : end + 1] == "\n":
        start, end = line, end + 1
    return Edit(start, end, ())
