"""What macros put into functions that may become native: all words that a name leads to, through other macros too."""

from __future__ import annotations

from collections.abc import Sequence

from cu2port.facts.unit import Unit
from cu2port.syntax.lexer import is_identifier
from cu2port.warp.native.reasons import Reason, Refused


def words_of(unit: Unit, headers: Sequence[Unit], name: str) -> frozenset[str]:
    """The words that a macro of the file or of a header leads to, less its parameters; none for what is no macro. A
    definition of the file holds, where headers have one too."""
    seen: set[str] = set()
    found: set[str] = set()
    todo = [name]
    while todo:
        word = todo.pop()
        if word in seen:
            continue
        seen.add(word)
        for u in (unit,) if word in unit.macros else headers:
            for m in u.macros.get(word, ()):
                inside = [w for w in u.t[m.first : m.stop] if w not in (m.params or ())]
                found.update(inside)
                todo += [w for w in inside if is_identifier(w)]
    return frozenset(found)


def check_names(
    unit: Unit, headers: Sequence[Unit], first: int, stop: int, names: frozenset[str] | set[str]
) -> Refused | None:
    """Why not, where a macro between two tokens leads to one of some names, or puts names together; else None."""
    known = unit.macros.keys() | {n for u in headers for n in u.macros}
    for name in sorted(known & set(unit.t[first:stop])):
        words = words_of(unit, headers, name)
        at = unit.t.index(name, first, stop)
        if not words.isdisjoint(names):
            return Refused(at, Reason.MACRO_LANES, (name,))
        if "##" in words:
            return Refused(at, Reason.MACRO_PASTES, (name,))
    return None
