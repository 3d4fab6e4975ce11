"""Execution spaces of functions that headers declare and other files define (`__device__ int f(int a) const;`), read
from the text of a header for the files that include it. Of members the words may be macros; of other functions they
are CUDA's own, at the beginning of a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cu2port.core.late import regex
from cu2port.syntax.types import parameter_types
from cu2port.syntax.words import EXECUTION_SPACES

_PART = regex(  # it begins with a character, which the engine finds fast; blanks that begin a line are taken once
    r"\n(?:[ \t]*+(?:template[ \t]*<[^;(){}]{0,200}>\s*)?(?:class|struct)[ \t]+(?:\w+[ \t]+){0,2}"
    r"(?P<class>(?!final\b)\w+)\b[^;(){}]{0,200}\{"
    r"|[ \t]++(?:template[ \t]*<[^;(){}]{0,200}>\s*)?(?:(?:static|inline|virtual|explicit)\s+){0,3}"
    r"(?P<before>(?:__device__|__host__|__global__|[A-Z][A-Z0-9_]+)\b[\w:<>,*& \t\n]{0,160}[\s*&])"
    r"(?P<name>[A-Za-z_]\w*)[ \t]*\((?P<params>[^;(){}]{0,400})\)\s*(?P<const>const\b)?\s*;"
    r"|(?:extern[ \t]+)?(?P<free_before>__(?:device|host)__\b[\w:<>,*& \t\n]{0,160}[\s*&])"
    r"(?P<free>[A-Za-z_]\w*)[ \t]*\((?P<free_params>[^;(){}]{0,400})\)\s*;)"
)
_NEEDED = ("__device__", "__host__", "class", "struct")  # words that `_PART` finds nothing without
_WORD = regex(r"\w+")
_TOKEN = regex(r"\w+|::|&&|[^\w\s]")
_UPPER = regex(r"[A-Z][A-Z0-9_]+")


def member_sides(text: str) -> frozenset[str]:
    """Functions, members or not, that are declared with an execution space. Each is the key that `member` returns, a
    tab, and the words of the declaration that name execution spaces or may be macros for them."""
    if (");" not in text and "const;" not in text) or not any(word in text for word in _NEEDED):
        return frozenset()
    out: set[str] = set()
    owner = ""
    for m in _PART.finditer(f"\n{text}"):
        if m["class"]:
            owner = m["class"]
        elif m["free"]:
            types = parameter_types(_TOKEN.findall(m["free_params"]))
            out.add(f"{member('', m['free'], types)}\t{_sides_of(m['free_before'])}")
        elif owner:
            types = (*parameter_types(_TOKEN.findall(m["params"])), *filter(None, [m["const"]]))
            out.add(f"{member(owner, m['name'], types)}\t{_sides_of(m['before'])}")
    return frozenset(out)


def _sides_of(before: str) -> str:
    """The words before a name that name execution spaces, or may be macros for them."""
    return " ".join(sorted({w for w in _WORD.findall(before) if w in EXECUTION_SPACES or _UPPER.fullmatch(w)}))


def member(owner: str, name: str, types: Iterable[str]) -> str:
    """The key of a member function: `CLASS::NAME(TYPES)`; `types` ends with `const` where the function is. That of a
    function of no class has no CLASS."""
    return f"{owner}::{name}({', '.join(types)})"


def function_of(said: str) -> str:
    """The name alone of a function in what `member_sides` or `resolved` says."""
    return said.partition("(")[0].rpartition("::")[2]


def resolved(told: Iterable[str], macros: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Those of `member_sides` that are for the device, with execution spaces in place of macros."""
    out: set[str] = set()
    for said in told:
        name, _, words = said.partition("\t")
        sides = frozenset[str]().union(*(macros.get(w, frozenset({w} & EXECUTION_SPACES)) for w in words.split()))
        if "__device__" in sides:
            out.add(f"{name}\t{' '.join(sorted(sides))}")
    return frozenset(out)


def by_member(told: frozenset[str]) -> dict[str, frozenset[str]]:
    """The execution spaces by the key of the member function. Keys that classes of the same name declare with different
    ones are left out."""
    out: dict[str, frozenset[str]] = {}
    for said in told:
        name, _, words = said.partition("\t")
        sides = frozenset(words.split())
        out[name] = sides if out.get(name, sides) == sides else frozenset()
    return {name: sides for name, sides in out.items() if sides}
