"""Macros that make a name of CUDA's of their argument (`#define CALL(f) check(cuda##f)`), as a file's text has them:
for those who include it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cu2port.core.late import regex

PREFIX = "cuda"  # to which HIP's functions have `hip`
_DEFINITION = regex(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([\w \t,.]*)\)((?:\\\r?\n|[^\r\n])*)", re.M)
_PASTE = regex(r"\b([cC][uU]\w*)[ \t]*##[ \t]*(\w+)\b(?![ \t]*##)")
_MAY_PASTE = regex(r"\b[cC][uU]\w*[ \t]*##")


def prefix_macros(text: str) -> frozenset[str]:
    """The macros that a text defines so, each as `NAME 0 cuda`, with the number of the argument and what is before."""
    if "##" not in text or _MAY_PASTE.search(text) is None:
        return frozenset()
    found = set()
    for m in _DEFINITION.finditer(text):
        params = [p.strip() for p in m[2].split(",")]
        found |= {f"{m[1]} {params.index(p[2])} {p[1]}" for p in _PASTE.finditer(m[3]) if p[2] in params}
    return frozenset(found)


def by_name(macros: Iterable[str]) -> dict[str, tuple[int, str]]:
    """What `prefix_macros` says, by the names of the macros."""
    return {name: (int(index), first) for name, index, first in (said.split() for said in sorted(macros))}
