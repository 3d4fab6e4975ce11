"""Tests in CMake files of whether CUDA is among the languages of the build."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from cu2port.build.pages import LANGUAGE
from cu2port.build.syntax import Command
from cu2port.build.words import Asked, swap
from cu2port.core.model import Finding

_ASKS = re.compile(r"(?i:get_property|get_cmake_property)\s*\(\s*(\w+)\s+(?:GLOBAL\s+PROPERTY\s+)?ENABLED_LANGUAGES\b")
_CONDITIONS = frozenset({"if", "elseif", "while"})


def enabled(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
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
