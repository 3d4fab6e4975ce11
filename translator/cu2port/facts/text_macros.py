"""Macros that are parts of PTX's texts (`#define HEAD ".reg .u32 t; mov.u32 t, %1;"`), as a file's text has them: for
those who include it."""

from __future__ import annotations

import re
import string
from collections import defaultdict

from cu2port.core.late import regex

_STRING = r'"(?:[^"\\\r\n]|\\.)*"'
_DEFINITION = regex(r"^[ \t]*#[ \t]*define[ \t]+(\w+(?:\([\w \t,]*\))?[ \t](?:\\\r?\n|[^\\\r\n]|\\)*)", re.M)
# what is not closed goes to the end, so that no place is looked at twice
_COMMENT = regex(rf"(?P<text>{_STRING}?)|//[^\n]*|/\*(?:.*?\*/|.*)", re.S)
_LINE_END = regex(r"\\\r?\n")
#: strings, names, parameters by `#`, and calls of other such macros
_BODY = regex(rf"\w+(?:\([\w \t,]*\))?(?:{_STRING}|[\w#(),\s])*")
_NAME = regex(r"\b[A-Za-z_]\w*")
_TEXT = regex(rf"{_STRING}?")
_WORD = f"{string.ascii_letters}{string.digits}_."


def text_macros(text: str) -> frozenset[str]:
    """The definitions of the macros of a text that are made of strings, each as one line, if there is PTX in one."""
    lines = [m[1] for m in _DEFINITION.finditer(text)]
    if not any(_has_opcode(line) for line in lines):
        return frozenset()
    lines = [_LINE_END.sub(" ", line) for line in lines]
    bodies = {_COMMENT.sub(lambda m: m["text"] or " ", line).strip() for line in lines}
    bodies = {body for body in bodies if _BODY.fullmatch(body)}
    found = {body for body in bodies if '"' in body}
    if not any(_has_opcode(body) for body in found):
        return frozenset()
    # a macro that only calls such macros is a part of texts too
    callers = defaultdict(list)
    names = {body: _NAME.findall(body) for body in bodies}
    for body in bodies - found:
        for name in names[body][1:]:
            callers[name].append(body)
    todo = list(found)
    while todo:
        more = callers.pop(names[todo.pop()][0], ())
        todo += (body for body in more if body not in found)
        found.update(more)
    return frozenset(found)


def _has_opcode(line: str) -> bool:
    """Whether a string of a line has an opcode (`add.u32 `) and a statement's end or an operand; those beside a
    parameter (`"add.u32 "#a", "#b";"`) are one."""
    strings = [m[0] for m in _TEXT.finditer(line)] if '"' in line and "." in line else []
    if "#" in line:
        strings = ["".join(strings)]
    return any((";" in s or "%" in s) and any(_is_opcode(word) for word in s.split()[:-1]) for s in strings)


def _is_opcode(word: str) -> bool:
    """Whether what a blank follows ends as an opcode does, in a name and what is behind a dot: `{mov.u32`."""
    *before, last = word[len(word.rstrip(_WORD)) :].split(".")
    return bool(last and before and before[-1][:1].islower())
