"""Which CUDA-looking names a text declares itself, found without lexing: the first look at every file of a tree."""

from __future__ import annotations

import re

_LOOK = (
    r"(?:cu|CU|nv|nccl|__|NV|half|thrust|wmma|make_|atomic|surf|tex|u?llm|um[ai]|fdiv"
    r"|h2?(?:exp|log|sin|cos|r?sqrt|rcp|tanh|floor|ceil|rint|trunc))\w*"
)
_WORD = re.compile(rf"\b{_LOOK}")
_NEXT = re.compile(r"\s*([({=;:])")
_BODY = re.compile(r"\s*\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)\s*(?:(?:const|noexcept|override)\b\s*)*\{")
# `#define cudaFree hipFree` declares nothing: it is HIP under CUDA's name, as we would write it
_DEFINE = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+({_LOOK})\b(?!(?:\([^)\n]*\))?[ \t]+hip[A-Z]\w*)", re.M)
_ENUM = re.compile(r"\benum\b[^;{}()]*\{([^{}]*)\}")
_NO_TYPES = frozenset(
    "return else new delete throw case goto typedef using define namespace ifdef ifndef defined".split()
)
_CLASSES = frozenset("class struct enum union".split())


def declared_names(text: str) -> frozenset[str]:
    """CUDA-looking names that a text declares: functions with a body, variables, classes, enumerators, macros.

    Cheap (regular expressions over the raw text); it may name too much, since libclang has the last word.
    """
    found = set(_DEFINE.findall(text))
    for m in _WORD.finditer(text):
        after = _NEXT.match(text, m.end())
        if after is None or m.group() in found:
            continue
        before = _type_before(text, m.start())
        if not before or before in _NO_TYPES:
            continue
        if before in _CLASSES:
            declares = after.group(1) in "{:"
        elif after.group(1) == "(":
            declares = _BODY.match(text, m.end()) is not None
        else:
            declares = after.group(1) in "={;"
        if declares:
            found.add(m.group())
    for m in _ENUM.finditer(text):
        found.update(w.group() for w in _WORD.finditer(m.group(1)) if not _is_value(text, m.start(1) + w.start()))
    return frozenset(found)


def _type_before(text: str, at: int) -> str:
    """The word (or `>`) that stands before a name, blanks, `*` and `&` between them; "" when it is none."""
    end = len(text[max(0, at - 80) : at].rstrip(" \t\r\n*&")) + max(0, at - 80)
    if end == at or not end:
        return ""
    start = end
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:end] if start < end else text[end - 1] if text[end - 1] == ">" else ""


def _is_value(text: str, at: int) -> bool:
    """Whether a word in an enumeration stands after `=`: a value, not an enumerator."""
    return text[max(0, at - 8) : at].rstrip().endswith(("=", "|", "+", "-", "("))
