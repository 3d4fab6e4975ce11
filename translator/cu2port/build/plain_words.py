"""Names of CUDA's that are plain words in CMake files: the language in tests, macros in definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from cu2port.build.pages import LANGUAGE, OPTION
from cu2port.build.syntax import Command
from cu2port.build.words import Asked, swap
from cu2port.core.model import Finding
from cu2port.facts.header_macros import HEADER_MACROS

_ASKS = re.compile(r"(?i:get_property|get_cmake_property)\s*\(\s*(\w+)\s+(?:GLOBAL\s+PROPERTY\s+)?ENABLED_LANGUAGES\b")
_DEFINE = frozenset({"add_compile_definitions", "target_compile_definitions"})
_CONDITIONS = frozenset({"if", "elseif", "while"})


def plain_words(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    """What a command names of CUDA's without a sign of its own."""
    yield from _languages(text, c)
    if c.name in _DEFINE or "COMPILE_DEFINITIONS" in c.words:
        yield from _macros(c)


def _macros(c: Command) -> Iterator[Finding]:
    """Macros that CUDA's headers ask for, and HIP's by another name."""
    for arg in c.args:
        name = arg.text.partition("=")[0]
        if name in HEADER_MACROS:
            yield swap(OPTION, name, HEADER_MACROS[name], arg.inner)


def _languages(text: str, c: Command) -> Iterator[Finding]:
    """`CUDA IN_LIST languages`, where a list has the languages: else it is false in the build for HIP, which then goes
    without what depends on it."""
    words = c.words
    if "CUDA" not in words or not (c.name in _CONDITIONS or (c.name == "list" and words[0] == "FIND")):
        return
    lists = _lists(text)
    for i, arg in enumerate(c.args):
        before, after = words[max(i - 2, 0) : i], words[i + 1 : i + 3]
        contained = len(after) == 2 and after[0] == "IN_LIST" and after[1] in lists
        matched = len(before) == 2 and before[1] in ("MATCHES", "STREQUAL") and before[0].strip("${}") in lists
        found = c.name == "list" and i == 2 and words[1] in lists
        if arg.text == "CUDA" and (contained or matched or found):
            yield swap(LANGUAGE, "CUDA", "HIP", arg.inner)


@lru_cache(maxsize=4)
def _lists(text: str) -> frozenset[str]:
    """The variables of a file that get the languages of the build."""
    return frozenset(m[1] for m in _ASKS.finditer(text))
