"""Macros that are parts of PTX's texts (`#define HEAD ".reg .u32 t; mov.u32 t, %1;"`), as a file's text has them: for
those who include it."""

from __future__ import annotations

import re

from cu2port.core.late import regex

_STRING = r'"(?:[^"\\\r\n]|\\.)*"'
_DEFINITION = regex(r"^[ \t]*#[ \t]*define[ \t]+(\w+(?:\([\w \t,]*\))?[ \t](?:\\\r?\n|[^\\\r\n]|\\)*)", re.M)
_COMMENT = regex(rf"(?P<text>{_STRING})|//[^\n]*|/\*.*?\*/", re.S)
_LINE_END = regex(r"\\\r?\n")
#: strings, names, parameters by `#`, and calls of other such macros
_BODY = regex(rf"\w+(?:\([\w \t,]*\))?(?:{_STRING}|[\w#(),\s])*")
_NAME = regex(r"\b[A-Za-z_]\w*")
_OPCODE = regex(r'"[^"\n]*\b[a-z]\w*(?:\.\w+)+\s[^"\n]*[;%]')


def text_macros(text: str) -> frozenset[str]:
    """The definitions of the macros of a text that are made of strings, each as one line, if there is PTX in one."""
    if "define" not in text or '"' not in text or not _OPCODE.search(text):
        return frozenset()
    lines = (_LINE_END.sub(" ", m[1]) for m in _DEFINITION.finditer(text))
    bodies = {_COMMENT.sub(lambda m: m["text"] or " ", line).strip() for line in lines}
    bodies = {body for body in bodies if _BODY.fullmatch(body)}
    found = {body for body in bodies if '"' in body}
    if not any(_OPCODE.search(body) for body in found):
        return frozenset()
    # a macro that only calls such macros is a part of texts too
    names = {_NAME.findall(body)[0] for body in found}
    while more := {body for body in bodies - found if not names.isdisjoint(_NAME.findall(body)[1:])}:
        found |= more
        names |= {_NAME.findall(body)[0] for body in more}
    return frozenset(found)
