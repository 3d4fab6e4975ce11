"""Macros for execution space specifiers (`#define HD __host__ __device__`), as a file's text has them: for those who
include it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cu2port.core.late import regex
from cu2port.syntax.words import EXECUTION_SPACES

_DEFINITION = regex(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+((?:[\w \t()]|\\\r?\n){3,200})", re.M)
_WORD = regex(r"\w+")
_MOST_WORDS = 12


def side_macros(text: str) -> frozenset[str]:
    """The macros that a text defines for sides, each as `NAME __device__ __host__`."""
    if "define" not in text or not any(side in text for side in EXECUTION_SPACES):
        return frozenset()
    words: dict[str, set[str]] = {}
    for m in _DEFINITION.finditer(text):
        found = _WORD.findall(m[2])
        if len(found) <= _MOST_WORDS:
            words.setdefault(m[1], set()).update(found)
    return frozenset(" ".join((name, *sorted(sides))) for name, sides in through_others(words).items())


def through_others(words: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    """The sides that macros stand for, also by others of them (`#define FN HD inline`). `words`: of their bodies."""
    out = {name: frozenset(of & EXECUTION_SPACES) for name, of in words.items() if of & EXECUTION_SPACES}
    known = 0
    while known < len(out):
        known = len(out)
        for name in words.keys() - out.keys():
            sides = frozenset[str]().union(*(out[w] for w in words[name] if w in out))
            if sides:
                out[name] = sides
    return out


def by_name(macros: frozenset[str]) -> dict[str, frozenset[str]]:
    """What `side_macros` says, by the names of the macros."""
    out: dict[str, frozenset[str]] = {}
    for said in macros:
        name, *sides = said.split()
        out[name] = out.get(name, frozenset()) | frozenset(sides)
    return out
