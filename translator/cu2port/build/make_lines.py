"""The logical lines of Makefiles and of shells' scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(r"(?:[^\n\\]|\\\r\n|\\(?s:.)|\\\Z)+")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*", re.S)
_ASSIGNED = re.compile(r"[ \t]*(?:(?:export|override)[ \t]+)?([\w.-]+)[ \t]*(?:[:?+!]|::)?=")
_IN_ONE = re.compile(r"""[ \t]*(["'])(?P<inner>[^"'\n]*)\1\s*\Z""")
_CONDITIONAL = re.compile(r"[ \t]*(?:ifn?(?:eq|def)|else|endif)\b")


@dataclass(frozen=True, slots=True)
class Line:
    """A logical line without its comment. `name`: the variable that it sets; `rule`: it has targets of a rule."""

    text: str
    start: int
    name: str
    value: int  # where the value of the variable begins in `text`
    rule: bool


def of_shell(kind: str, text: str) -> bool:
    """Whether a file of that kind is a shell's script, and no part of a Makefile."""
    return kind == "script" or (kind == "bare" and text.startswith("#!"))


def logical_lines(text: str, script: bool = False) -> Iterator[Line]:
    """The lines that say something. `script`: of a shell, which has no rules, and a value with blanks in quotes."""
    recipe = False  # a rule is open: a line that begins with a tab is the shell's (GNU make's manual, "Recipe Syntax")
    for m in _LINE.finditer(text):
        line = _COMMENT.sub("", m[0]) if "#" in m[0] else m[0]
        if not line or line.isspace():
            continue
        of_recipe = recipe and line.startswith("\t")
        assigned = None if of_recipe or "=" not in line else _ASSIGNED.match(line)
        rule = assigned is None and ":" in line and not line[0].isspace() and not line.startswith(("ifeq", "ifneq"))
        rule = rule and not script
        if not of_recipe and (rule or not _CONDITIONAL.match(line)):
            recipe = rule
        value = assigned.end() if assigned else 0
        quoted = _IN_ONE.match(line, value) if script and assigned else None
        if quoted:
            line, value = line[: quoted.end("inner")], quoted.start("inner")
        yield Line(line, m.start(), assigned[1] if assigned else "", value, rule)
