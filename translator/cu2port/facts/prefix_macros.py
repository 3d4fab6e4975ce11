"""Macros that make a name of the CUDA runtime of their argument (`#define CALL(f) check(cuda##f)`), as a file's text
has them: for those who include it."""

from __future__ import annotations

import re
from collections.abc import Iterable

PREFIX = "cuda"  # to which HIP's functions have `hip`
_DEFINITION = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([\w \t,.]*)\)((?:\\\r?\n|[^\r\n])*\bcuda[ \t]*##(?:\\\r?\n|[^\r\n])*)", re.M
)
_PASTE = re.compile(rf"\b{PREFIX}[ \t]*##[ \t]*(\w+)")


def prefix_macros(text: str) -> frozenset[str]:
    """The macros that a text defines so, each as `NAME 0`, with the number of the argument."""
    if "##" not in text or PREFIX not in text or _PASTE.search(text) is None:
        return frozenset()
    found = set()
    for m in _DEFINITION.finditer(text):
        params = [p.strip() for p in m[2].split(",")]
        found |= {f"{m[1]} {params.index(p[1])}" for p in _PASTE.finditer(m[3]) if p[1] in params}
    return frozenset(found)


def by_name(macros: Iterable[str]) -> dict[str, int]:
    """What `prefix_macros` says, by the names of the macros."""
    return {name: int(index) for name, _, index in (said.partition(" ") for said in sorted(macros))}
