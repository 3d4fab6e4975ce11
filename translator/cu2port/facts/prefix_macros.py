"""Macros that make a name of CUDA's of their argument (`#define CALL(f) check(cuda##f)`), as a file's text has them:
for those who include it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cu2port.core.late import regex

PREFIX = "cuda"  # to which HIP's functions have `hip`
_DEFINITION = regex(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([\w \t,.]*)\)((?:\\\r?\n|[^\r\n])*)", re.M)
_PASTE = regex(r"\b([cC][uU]\w*)[ \t]*##[ \t]*(\w+)\b(?![ \t]*##)")
_IN_WORDS = "".join(c for c in map(chr, range(256)) if c.isalnum() or c == "_")


def prefix_macros(text: str) -> frozenset[str]:
    """The macros that a text defines so, each as `NAME 0 cuda`, with the number of the argument and what is before."""
    if "##" not in text or not _may_paste(text):
        return frozenset()
    found = set()
    for m in _DEFINITION.finditer(text):
        params = [p.strip() for p in m[2].split(",")]
        found |= {f"{m[1]} {params.index(p[2])} {p[1]}" for p in _PASTE.finditer(m[3]) if p[2] in params}
    return frozenset(found)


def _may_paste(text: str) -> bool:
    """Whether a word before a `##` begins as CUDA's names do."""
    before = (part.rstrip(" \t") for part in text.split("##")[:-1])
    return any(word[len(word.rstrip(_IN_WORDS)) :][:2].lower() == "cu" for word in before)


def by_name(macros: Iterable[str]) -> dict[str, tuple[int, str]]:
    """What `prefix_macros` says, by the names of the macros."""
    return {name: (int(index), first) for name, index, first in (said.split() for said in sorted(macros))}
