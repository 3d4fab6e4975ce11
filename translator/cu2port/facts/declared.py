"""Which CUDA-looking names a text declares itself, found without lexing: the first look at every file of a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BEGINS = tuple(b"cu CU nv nccl npp __ NV half thrust wmma make_ atomic surf tex llm ullm uma umi fdiv".split())
_MATH = re.compile(rb"h2?(?:exp|log|sin|cos|r?sqrt|rcp|tanh|floor|ceil|rint|trunc)")
_FIRST = frozenset({w[:2] for w in _BEGINS} | {b"h" + bytes([c]) for c in b"2elscrtf"})  # how such words begin
_BETWEEN = bytes(c if chr(c).isalnum() or c == 0x5F else 0x20 for c in range(256))  # what is no part of a word: a blank
_NEXT = re.compile(r"\s*(?:([({;:])|(=)(?!=))")
_BODY = re.compile(r"\s*\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)\s*(?:(?:const|noexcept|override)\b\s*)*\{")
# `#define cudaFree hipFree` declares nothing: it is HIP under CUDA's name, as we would write it
_DEFINE = re.compile(r"#[ \t]*define[ \t]+(\w+)\b(?!(?:\([^)\n]*\))?[ \t]+(?:make_)?(?:hip|HIP|miopen|roc|rccl)\w+)")
_ENUM = re.compile(r"enum\b[^;{}()]*\{([^{}]*)\}")
_WORD = re.compile(r"\w+")
_STAND_IN = re.compile(
    r"typedef\s+(?:(?:const|unsigned|long)\s+)*"
    r"(?:void|int|long|short|char|bool|u?int\d+_t|size_t|(?:struct\s+)?CU\w+_st|(?:struct\s+)?cu\w+Context)\b[\s*]*\Z"
)
# `constexpr auto cudaSuccess = hipSuccess;` and kin declare nothing either
_HIP_VALUE = re.compile(r"\s*=\s*(?:::\s*)?(?:hip|HIP|miopen|roc|rccl)\w+\s*;")
_STAND_IN_TYPE = re.compile(
    r"(?:using[ \t]+(?:cuda(?:Error|Stream|Event)_t|CU(?:result|stream|event|context))[ \t]*=[ \t]*"
    r"|typedef[ \t]+(?=[^;{}()\n]*\b(?:cuda(?:Error|Stream|Event)_t|CU(?:result|stream|event|context))[ \t]*;))"
    r"(?:(?:const|unsigned|long)[ \t]+)*(?:void|int|long|short|char|bool|u?int\d+_t|size_t)\b"
)
_OWN_SPACE = re.compile(r"\bnamespace\s+(?:\w+\s*::\s*)*(cuda|rmm)\s*(?:\{|::\s*(?!std\b)\w+(?:\s*::\s*\w+)*\s*\{)")
_NAMESPACE = re.compile(r"\bnamespace\s+\w+(?:::\w+)*\s*\{")
_MANY = 200  # names, of which each costs a search of the text
_NO_TYPES = frozenset(
    "return else new delete throw case goto typedef using define namespace ifdef ifndef defined operator explicit "
    "const".split()
)
_CLASSES = frozenset("class struct enum union".split())


def stands_in(text: str) -> bool:
    """Whether a file takes the place of CUDA where there is none: `using cudaError_t = int;`, outside of any namespace.

    Next to CUDA's headers it could not stand, so the functions and enumerators in it are CUDA's under their names.
    """
    for word in ("using", "typedef"):
        at = text.find(word)
        while at >= 0:
            if _STAND_IN_TYPE.match(text, at) and not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t"):
                if _NAMESPACE.search(text, 0, at) is None:
                    return True
                break
            at = text.find(word, at + len(word))
    return False


def declared_names(text: str) -> frozenset[str]:
    """CUDA-looking names that a text declares: functions with a body, variables, classes, enumerators, macros.

    `cuda` and `rmm` are among them where the text opens a namespace of this name.

    Cheap (regular expressions over the raw text); it may name too much, since libclang has the last word.
    """
    words = set(text.encode("latin-1").translate(_BETWEEN).split())
    first = [w for w in words if w[:2] in _FIRST]
    looks = {w.decode("latin-1") for w in first if w.startswith(_BEGINS) or _MATH.match(w)}
    if not looks and b"rmm" not in words:
        return frozenset()
    found = set(_defined(text, looks)) if b"define" in words else set()
    fake = stands_in(text)
    left = looks - found
    places = _all_places(text, left) if len(left) > _MANY else {}
    outside = _first_namespace(text) if b"namespace" in words else len(text)
    for w in left:
        if any(_declares(text, at, at + len(w), fake, outside) for at in places.get(w) or _places(text, w)):
            found.add(w)
    if b"enum" in words and not fake:
        for m in filter(None, (_ENUM.match(text, at) for at in _places(text, "enum"))):
            for word in _WORD.finditer(m.group(1)):
                if word.group() in looks and not _is_value(text, m.start(1) + word.start()):
                    found.add(word.group())
    if b"namespace" in words and (b"cuda" in words or b"rmm" in words):
        found.update(_OWN_SPACE.findall(text))
    return frozenset(found)


def _defined(text: str, names: set[str]) -> Iterator[str]:
    """Those of some names that are macros."""
    for m in _DEFINE.finditer(text):
        if m.group(1) in names and not text[text.rfind("\n", 0, m.start()) + 1 : m.start()].strip(" \t"):
            yield m.group(1)


def _places(text: str, word: str) -> Iterator[int]:
    """Where a word stands as a word."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (at and _is_part(text[at - 1])) and not (end < len(text) and _is_part(text[end])):
            yield at
        at = text.find(word, end)


def _first_namespace(text: str) -> int:
    """Where the first namespace with a name opens; the text's end if none does."""
    opened = filter(None, (_NAMESPACE.match(text, at) for at in _places(text, "namespace")))
    return min((m.end() for m in opened), default=len(text))


def _all_places(text: str, words: set[str]) -> dict[str, list[int]]:
    """Where some words stand, found in one pass: for each of many, another one would be slow."""
    found: dict[str, list[int]] = {w: [] for w in words}
    for m in _WORD.finditer(text):
        if m.group() in found:
            found[m.group()].append(m.start())
    return found


def _is_part(c: str) -> bool:
    return c.isalnum() or c == "_"


def _declares(text: str, start: int, end: int, fake: bool, outside: int) -> bool:
    """Whether the name at [start, end) is declared there; functions of a file that takes the place of CUDA are not.

    `outside`: where the first namespace opens.
    """
    after = _NEXT.match(text, end)
    if after is None:
        return False
    before = _type_before(text, start)
    if not before or before in _NO_TYPES or before[0].isdigit():
        return False
    mark = after.group(1) or after.group(2)
    if before in _CLASSES:
        declares = mark in "{:"
    elif mark == "(":
        declares = not fake and _BODY.match(text, end) is not None
    else:
        declares = mark in "={;" and not _stands_in(text, start, outside) and _HIP_VALUE.match(text, end) is None
    return declares and not _is_prose(text, start)


def _is_prose(text: str, at: int) -> bool:
    """Whether a place is in a comment, a string or an `#if`, or what stands before it is in a comment."""
    line = text.rfind("\n", 0, at) + 1
    before = text[line:at]
    if not before.strip():  # what stands before the name is on the line above
        end = len(text[max(0, line - 200) : line].rstrip()) + max(0, line - 200)
        return "//" in text[text.rfind("\n", 0, end) + 1 : end]
    start = before.lstrip()
    return "//" in before or start.startswith(("* ", "/*", "#if", "#el", "# if", "# el")) or before.count('"') % 2 == 1


def _stands_in(text: str, start: int, outside: int) -> bool:
    """Whether the name at `start` is the user's word for CUDA's type where CUDA is not: `typedef void *cudaStream_t;`.

    Next to CUDA's own header it could not stand, so all uses mean CUDA's type, and all follow. Not so in a namespace.
    `typedef struct CUstream_st *cudaStream_t;`, which could, is CUDA's own declaration said again.
    """
    line = text.rfind("\n", 0, start) + 1
    return line <= outside and _STAND_IN.match(text, line, start) is not None


def _type_before(text: str, at: int) -> str:
    """The word (or `>`) that stands before a name, blanks, `*` and `&` between them; "" when it is none."""
    end = len(text[max(0, at - 80) : at].rstrip(" \t\r\n*&")) + max(0, at - 80)
    if end == at or not end:
        return ""
    start = end
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    if start < end:
        return text[start:end]
    return ">" if text[end - 1] == ">" and text[end - 2 : end] != "->" else ""


def _is_value(text: str, at: int) -> bool:
    """Whether a word in an enumeration stands after `=`: a value, not an enumerator."""
    return text[max(0, at - 8) : at].rstrip().endswith(("=", "|", "+", "-", "("))
