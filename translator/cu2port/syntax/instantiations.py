"""Explicit instantiations of function templates: `template float f<float>(float) const;` (C++17, [temp.explicit])."""

from __future__ import annotations

from typing import NamedTuple

from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.source import Source

_LONGEST = 120  # tokens of an explicit instantiation
_NO_STATEMENT = frozenset({".", "->", "::", ",", "<"})  # what is before `template` elsewhere
_OTHERS = frozenset({"<", "class", "struct", "union"})  # templates, and instantiations of classes


class Instantiation(NamedTuple):
    """Tokens: `at`: the function's name; `opener`, `close`: the brackets of its parameters. `name`: as written, without
    template arguments (`n::A::f`)."""

    at: int
    name: str
    opener: int
    close: int


def explicit_instantiation(source: Source, i: int, end: int = 0) -> Instantiation | None:
    """What `template` at token i instantiates; None where that is no function. `end`: where the macro's body ends that
    it is in; its last semicolon may stand where the macro is used."""
    t, match = source.t, source.match
    if t[i + 1 : i + 2] == [] or t[i + 1] in _OTHERS or (i and t[i - 1] in _NO_STATEMENT):
        return None
    most = min(i + _LONGEST, end or len(t))
    stop = next((k for k in range(i + 1, most) if t[k] in (";", "{", "}", "=")), end if most == end else -1)
    if stop < 0 or (stop != end and t[stop] != ";"):
        return None
    close = next((k for k in range(stop - 1, i, -1) if t[k] == ")"), -1)
    opener = match[close] if close > 0 else -1
    if opener <= i or not {"const", "noexcept"}.issuperset(t[close + 1 : stop]):
        return None
    at, depth = opener - 1, 0
    while at > i and (depth or t[at] in (">", ">>")):
        depth += (t[at] == ">") + 2 * (t[at] == ">>") - (t[at] == "<")
        at -= 1
    if at <= i or not is_identifier(t[at]):
        return None
    first = at
    while t[first - 1] == "::" and is_identifier(t[first - 2]):
        first -= 2
    return Instantiation(at, "".join(t[first : at + 1]), opener, close)
