"""Function templates that a file declares without `static`, also for those who include it, and those that it defines
with that word.

gcc takes such a definition, and the template is one for all files; clang refuses it, as the standard does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from cu2port.core.late import regex
from cu2port.syntax.declarations import Declarations
from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.types import parameter_types, parameters

_TEMPLATE = regex(  # a head, the words before a name, parameters
    r"template\s*+<(?P<head>[^;{}()<>]*+(?:<[^;{}()<>]*+>[^;{}()<>]*+){0,20}+)>(?P<before>[\w:<>,*&\s]{1,200})"
    r"(?<![\w:])(?P<name>[A-Za-z_]\w*+)\s*+\((?P<params>[^;{}()]{0,400}+)\)\s*+(?P<end>[;{])"
)
_TOKEN = regex(r"\w+|::|&&|[^\w\s]")
_NO_PROMISE = frozenset({"friend", "return"})
_KINDS = frozenset({"class", "typename"})


class Template(NamedTuple):
    """A function template in a text that is `defined` with `static`, or declared without it. `at`: the offset of its
    name; `key`: the kinds of its parameters and the types of the function's, by number where they are those."""

    name: str
    key: str
    defined: bool
    at: int


def templates(text: str) -> list[Template]:
    """The function templates that a text declares, or defines with `static`, and that can be read without a parser."""
    out = []
    for m in _TEMPLATE.finditer(text) if "template" in text else ():
        words = frozenset(_TOKEN.findall(m["before"]))
        defined = m["end"] == "{"
        if ("static" in words) == defined and _NO_PROMISE.isdisjoint(words):
            key = _key(_TOKEN.findall(m["head"]), _TOKEN.findall(m["params"]))
            out.append(Template(m["name"], key, defined, m.start("name")))
    return out


def _key(head: Sequence[str], params: Sequence[str]) -> str:
    kinds, numbers = list[str](), dict[str, str]()
    for words in parameters(head):
        kind = words[: words.index("=")] if "=" in words else words
        if len(kind) > 1 and is_identifier(kind[-1]):
            numbers[kind[-1]] = str(len(kinds))
            kind = kind[:-1]
        kinds.append("class" if kind and kind[0] in _KINDS else " ".join(kind))
    types = parameter_types([numbers.get(w, w) for w in params])
    return f"(template {', '.join(kinds)} {', '.join(types)})"


def path_of(declarations: Declarations, x: Template) -> str:
    """Where others know a template by its key, "" for one that is in a class or a function."""
    i = declarations.lexed.at(x.at)
    d = declarations.declared_at(i)
    if d is None or d.kind != "function" or d.qualified or d.scope.local:
        return ""
    scope = d.scope
    while scope.kind == "template" and scope.parent is not None:
        scope = scope.parent
    return f"{scope.path}::{x.key}" if scope.kind in ("file", "namespace") else ""


def promised(found: Iterable[Template], read: Callable[[], Declarations]) -> Iterator[tuple[str, str]]:
    """The name and the path of each that is declared for others."""
    for x in found:
        path = path_of(read(), x) if not x.defined else ""
        if path:
            yield x.name, path
