"""Execution spaces of members that classes declare and other files define (`__device__ int f(int a) const;`), as a
file's text has them: for those who include it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.types import BASIC
from cu2port.syntax.words import CV, EXECUTION_SPACES

_PART = re.compile(
    r"^[ \t]*(?:template[ \t]*<[^;(){}]{0,200}>\s*)?(?:class|struct)[ \t]+(?:\w+[ \t]+){0,2}(?P<class>(?!final\b)\w+)\b"
    r"[^;(){}]{0,200}\{"
    r"|^[ \t]+(?P<before>[A-Za-z_][\w:<>,*& \t\n]{0,160}[\s*&])(?P<name>[A-Za-z_]\w*)[ \t]*"
    r"\((?P<params>[^;(){}]{0,400})\)\s*(?P<const>const\b)?\s*;",
    re.M,
)
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\w+|::|&&|[^\w\s]")
_UPPER = re.compile(r"[A-Z][A-Z0-9_]+")


def member_sides(text: str) -> frozenset[str]:
    """The members with sides that classes promise, each as `CLASS::NAME(TYPES)CONST WORDS`, of which some may be macros
    for sides."""
    if not ((");" in text or "const;" in text) and ("class" in text or "struct" in text)):
        return frozenset()
    out: set[str] = set()
    owner = ""
    for m in _PART.finditer(text):
        if m["class"]:
            owner = m["class"]
        elif owner:
            words = {w for w in _WORD.findall(m["before"]) if w in EXECUTION_SPACES or _UPPER.fullmatch(w)}
            if words:
                types = parameter_types(_parameters(_TOKEN.findall(m["params"])))
                out.add(f"{member(owner, m['name'], (*types, *filter(None, [m['const']])))}\t{' '.join(sorted(words))}")
    return frozenset(out)


def member(owner: str, name: str, types: Iterable[str]) -> str:
    """How a member is told from others: by its class, its name and the types of its parameters, and `const`."""
    return f"{owner}::{name}({', '.join(types)})"


def parameter_types(parameters: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The types of parameters as written, without names, values that they have by default, and `const` of a copy."""
    out = []
    for words in parameters:
        if "=" in words:
            words = words[: words.index("=")]
        rest = [w for w in words if w not in CV]
        if len(rest) > 1 and is_identifier(rest[-1]) and rest[-1] not in BASIC and rest[-2] not in ("::", "unsigned"):
            words = words[: len(words) - 1 - words[::-1].index(rest[-1])]
        if not {"*", "&", "&&", "["}.intersection(words):
            words = [w for w in words if w not in CV]
        out.append(" ".join(words))
    return () if out in (["void"], [""]) else tuple(out)


def _parameters(words: Sequence[str]) -> Iterator[list[str]]:
    """The words of each parameter; commas of template arguments separate none."""
    depth, parameter = 0, list[str]()
    for word in words:
        depth += (word == "<") - (word == ">")
        if word == "," and depth <= 0:
            yield parameter
            parameter = []
        else:
            parameter.append(word)
    yield parameter


def resolved(told: Iterable[str], macros: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """What `member_sides` says with the sides that macros stand for, of members that are for the device."""
    out: set[str] = set()
    for said in told:
        name, _, words = said.partition("\t")
        sides = frozenset[str]().union(*(macros.get(w, frozenset({w} & EXECUTION_SPACES)) for w in words.split()))
        if "__device__" in sides:
            out.add(f"{name}\t{' '.join(sorted(sides))}")
    return frozenset(out)


def by_member(told: frozenset[str]) -> dict[str, frozenset[str]]:
    """The sides by what `member` makes of a function; those that several classes of a name declare otherwise are left
    out."""
    out: dict[str, frozenset[str]] = {}
    for said in told:
        name, _, words = said.partition("\t")
        sides = frozenset(words.split())
        out[name] = sides if out.get(name, sides) == sides else frozenset()
    return {name: sides for name, sides in out.items() if sides}
