"""Libraries that a CMake file links by their plain names: in the commands that link, and in lists which these name."""

from __future__ import annotations

from functools import lru_cache

from cu2port.build.table import table
from cu2port.build.variables import REFERENCE
from cu2port.core.late import regex

#: The commands that link; a target is their first word, but for the last one. UseSWIG's links a module for a script.
LINKING = ("target_link_libraries", "swig_link_libraries", "link_libraries")
_LINKS = regex(r"(?i:target_link_libraries|link_libraries)\s*\(([^()]*)\)")
_SETS = regex(r"\b(?i:set|list)\s*\(\s*(?:(?i:APPEND|PREPEND)\s+)?(\w+)([^()]*)\)")
_EXTENDS = regex(
    r"\b(?i:set|list)\s*\(\s*(?P<list>(?i:APPEND|PREPEND|INSERT)\s+)?(?P<name>CUDA_\w+)(?P<values>[^()]*)\)"
)


@lru_cache(maxsize=1)
def lists(text: str) -> frozenset[str]:
    """The variables for libraries that the commands of a file link. What is before the first blank is a target."""
    found = (name for m in _LINKS.finditer(text) for name in REFERENCE.findall(m[1].lstrip().partition(" ")[2]))
    return frozenset(name for name in found if "lib" in name.lower())


def words(text: str) -> frozenset[str]:
    """The words of commands that link, and those of such lists."""
    of = lists(text)
    sets = (m[2] for m in _SETS.finditer(text) if m[1] in of) if of else ()
    parts = (*(m[1] for m in _LINKS.finditer(text)), *sets)
    return frozenset(word.strip('"') for part in parts for word in part.split())


def extended(text: str) -> frozenset[str]:
    """FindCUDA's variables for libraries to which a file gives more than FindCUDA does: what links them links that too.
    One that gets a path alone is none: the path is that of CUDA's library."""
    rows = table()
    found = set()
    for m in _EXTENDS.finditer(text):
        row = rows["variable"].get(m["name"])
        if row is not None and row.value:
            known = any(r.value for r in map(rows["variable"].get, REFERENCE.findall(m[3])) if r)
            known |= any(word.strip('"') in rows["library"] for word in m[3].split())
            found |= {m["name"]} if m["list"] or known else set()
    return frozenset(found)
