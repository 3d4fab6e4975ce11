"""Names that a file gives to namespaces of CUDA's libraries (`namespace cg = cooperative_groups;`), as its text has
them: for those who include it."""

from __future__ import annotations

from collections.abc import Iterable

from cu2port.core.late import regex

_ALIAS = regex(  # it begins with text, which is found fast
    r"namespace(?<!\wnamespace)\s+(\w+)\s*=\s*(?:::\s*)?((?:cooperative_groups|cub|cuda|nvcuda|thrust)(?:\s*::\s*\w+)*)\s*;"
)


def namespace_aliases(text: str) -> frozenset[str]:
    """The names that a text gives so, each as `cg cooperative_groups`."""
    if "namespace" not in text:
        return frozenset()
    return frozenset(f"{m[1]} {''.join(m[2].split())}" for m in _ALIAS.finditer(text))


def by_name(aliases: Iterable[str]) -> dict[str, str]:
    """What `namespace_aliases` says, by the names; those with two meanings are left out."""
    found: dict[str, set[str]] = {}
    for said in aliases:
        name, _, space = said.partition(" ")
        found.setdefault(name, set()).add(space)
    return {name: spaces.pop() for name, spaces in found.items() if len(spaces) == 1}
