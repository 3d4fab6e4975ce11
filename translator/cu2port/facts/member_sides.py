"""Execution spaces of members that classes declare and other files define (`__device__ int f(int a) const;`), as a
file's text has them: for those who include it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from cu2port.syntax.words import EXECUTION_SPACES

_PART = re.compile(
    r"^[ \t]*(?:template[ \t]*<[^;(){}]{0,200}>\s*)?(?:class|struct)[ \t]+(?:\w+[ \t]+){0,2}(?P<class>(?!final\b)\w+)\b"
    r"[^;(){}]{0,200}\{"
    r"|^[ \t]+(?P<before>[A-Za-z_][\w:<>,*& \t\n]{0,160}[\s*&])(?P<name>[A-Za-z_]\w*)[ \t]*"
    r"\((?P<params>[^;(){}]{0,400})\)\s*(?:const\b)?\s*;",
    re.M,
)
_WORD = re.compile(r"\w+")
_UPPER = re.compile(r"[A-Z][A-Z0-9_]+")


def member_sides(text: str) -> frozenset[str]:
    """The members that classes promise, each as `CLASS::NAME ARITY WORDS`, of which some are macros for sides; those
    that one says nothing for have no words."""
    if not ((");" in text or "const;" in text) and ("class" in text or "struct" in text)):
        return frozenset()
    found: dict[str, set[str]] = {}
    speak: set[str] = set()
    owner = ""
    for m in _PART.finditer(text):
        if m["class"]:
            owner = m["class"]
        elif owner:
            name = f"{owner}::{m['name']}"
            words = {w for w in _WORD.findall(m["before"]) if w in EXECUTION_SPACES or _UPPER.fullmatch(w)}
            speak |= {name} if words else set()
            found.setdefault(name, set()).add(" ".join((name, str(_arity(m["params"])), *sorted(words))))
    return frozenset(said for name in speak for said in found[name])


def _arity(params: str) -> int:
    """How many parameters a list has, with commas of template arguments passed over."""
    if params.strip() in ("", "void"):
        return 0
    depth, count = 0, 1
    for ch in params:
        depth += (ch == "<") - (ch == ">")
        count += ch == "," and depth <= 0
    return count


def resolved(told: Iterable[str], macros: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """What `member_sides` says with the sides that macros stand for, of members that are for the device."""
    out: set[str] = set()
    for said in told:
        name, arity, *words = said.split()
        sides = frozenset[str]().union(*(macros.get(w, frozenset({w} & EXECUTION_SPACES)) for w in words))
        if "__device__" in sides:
            out.add(" ".join((name, arity, *sorted(sides))))
        else:  # an overload for the host
            out.add(f"{name} {arity} __host__")
    return frozenset(out)


def by_member(told: frozenset[str]) -> dict[tuple[str, int], frozenset[str]]:
    """The sides by a member's name and number of parameters; members whose declarations differ are left out."""
    out: dict[tuple[str, int], frozenset[str]] = {}
    for said in told:
        name, arity, *sides = said.split()
        key = name, int(arity)
        out[key] = frozenset(sides) if out.get(key, frozenset(sides)) == frozenset(sides) else frozenset()
    return {key: sides for key, sides in out.items() if "__device__" in sides}
