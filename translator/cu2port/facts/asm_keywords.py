"""Macros that stand for the keyword of an asm statement, as a file's text has them: for the file and those who include
it. `#define ASSEMBLY asm volatile` is one, and so is `#define PTX(...) asm volatile(__VA_ARGS__)`: both are written
before brackets with a text and operands, and mean what `asm` means there."""

from __future__ import annotations

from collections.abc import Iterable

from cu2port.core.late import dataclass, regex
from cu2port.syntax.words import ASM, ASM_QUALIFIERS, VOLATILE

_DEFINITION = regex(
    r"define[ \t]+(\w+)(\([ \t]*(?:\w+[ \t]*)?(?:\.\.\.)?[ \t]*\))?((?:(?!//|/\*)[^\\\r\n]|\\(?:\r\n|\r|\n)|\\)*)"
)
_TOKEN = regex(r"\w+|[^\w\s\\]")
_MOST = 200  # letters of a body: it is a few words
_NOT_KNOWN = "?"


@dataclass(frozen=True, slots=True)
class AsmKeyword:
    """What a macro stands for. `call`: it has brackets of its own; `ends`: it has the semicolon too."""

    volatile: bool
    call: bool = False
    ends: bool = False


def asm_keywords(text: str) -> frozenset[str]:
    """The macros that a text defines so, each as its name and the words of the body. One that the text defines
    otherwise too is `NAME ?`."""
    if "define" not in text or "asm" not in text:
        return frozenset()
    bodies: dict[str, set[tuple[str, ...]]] = {}
    for m in _DEFINITION.finditer(text):
        if text[text.rfind("\n", 0, m.start()) + 1 : m.start()].strip(" \t\r") != "#":
            continue
        words = tuple(_TOKEN.findall(m[3])) if len(m[3]) <= _MOST else (_NOT_KNOWN,)
        if m[2] is None:
            # brackets make it something else: a whole statement, or a macro with other parameters, which are read here
            bodies.setdefault(m[1], set()).add((_NOT_KNOWN,) if "(" in words else words)
        else:
            bodies.setdefault(m[1], set()).add(_of_arguments(m[2], words))
    known: dict[str, set[str]] = {}
    while more := {name: said for name, of in bodies.items() if name not in known and (said := _said(of, known))}:
        known |= more
    return frozenset(f"{name} {said}" for name, of in known.items() for said in of)


def _of_arguments(params: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """The body of a macro that is a call by itself: the words before the brackets, `(`, and `;` if it has one."""
    named = params.strip("() \t").removesuffix("...").strip()
    if not named and "..." not in params:
        return (_NOT_KNOWN,)
    ends = words[-1:] == (";",)
    words = words[:-1] if ends else words
    if words[-3:] != ("(", named or "__VA_ARGS__", ")"):
        return (_NOT_KNOWN,)
    return (*words[:-3], "(", *((";",) if ends else ()))


def _said(bodies: set[tuple[str, ...]], known: dict[str, set[str]]) -> set[str]:
    """What the definitions of a macro say, also by others of the text; nothing if none is an asm's keyword."""
    found = {_words(body, known) for body in bodies}
    return {said or _NOT_KNOWN for said in found} if any(found) else set()


def _words(body: tuple[str, ...], known: dict[str, set[str]]) -> str:
    first = body[0] if body else ""
    if first in known and len(known[first]) == 1:
        body = (*next(iter(known[first])).split(), *body[1:])
    end = body.index("(") if "(" in body else len(body)
    if body[:1] and body[0] in ASM and ASM_QUALIFIERS.issuperset(body[1:end]) and "goto" not in body:
        return " ".join(body)
    return ""


def by_name(macros: Iterable[str]) -> dict[str, AsmKeyword]:
    """What `asm_keywords` says, by the names of the macros: without those that are something else too."""
    said: dict[str, set[str]] = {}
    for name, _, words in (x.partition(" ") for x in macros):
        said.setdefault(name, set()).add(words)
    return {
        name: AsmKeyword(
            all(not VOLATILE.isdisjoint(words.split()) for words in of),
            any("(" in words for words in of),
            any(";" in words for words in of),
        )
        for name, of in said.items()
        if not any(_NOT_KNOWN in words for words in of)
    }
