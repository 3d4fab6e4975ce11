"""Macros and small functions of PTX that touch the carry flag, as a file's text has them: for those who include it."""

from __future__ import annotations

import re
from pathlib import PurePath

from cu2port.core.late import regex

_DEFINITION = regex(r"^[ \t]*#[ \t]*define[ \t]+\w+\((?:\\\r?\n|[^\r\n])*", re.M)
_TEXT = r'"(?:[^"\\\n]|\\.)*"'
_COMMENT = regex(rf"(?P<text>{_TEXT})|//[^\n]*|/\*.*?\*/", re.S)
_OF_PTX = regex(r"\.cc|(?:add|sub|mad)c(?:\.|[ \t]*\")")  # a type follows; `addc %0,%1` is another processor's
_FUNCTION = regex(rf"\b\w+\s*\([^(){{}};\"]*\)\s*\{{(?:[^{{}}\"]|{_TEXT})*\}}")


def has_carry(text: str) -> bool:
    """Whether a text may touch the carry flag."""
    return any(word in text for word in (".cc", "addc", "subc", "madc"))


def carry_definitions(text: str) -> frozenset[str]:
    """The definitions of macros and of functions without blocks that touch the flag, each as one line."""
    if "asm" not in text or not has_carry(text):
        return frozenset()
    lines = [" ".join(re.split(r"\\\r?\n", m[0])).strip() for m in _DEFINITION.finditer(text)]
    code = _COMMENT.sub(lambda m: m["text"] or " ", text)
    functions = (" ".join(m[0].split()) for m in _FUNCTION.finditer(code))
    lines += (f"__device__ unsigned {found}" for found in functions if "#" not in found)
    return frozenset(line for line in lines if "asm" in line and _OF_PTX.search(line) is not None)


def carry_flag(path: str) -> str:
    """The C++ flag that the macros of a file name: one for each file, so that no function has another one's."""
    return "cu2port_carry_" + re.sub(r"\W", "_", PurePath(path).stem)
