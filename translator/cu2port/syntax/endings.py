"""A quick look at a text that need not be lexed for anything else: whether it ends all that it begins."""

from __future__ import annotations

# What holds no `#` that could begin a directive. A character after a digit or with a prefix, what may be a raw string,
# and the other spelling of `#` are left to the lexer.
from cu2port.core.late import regex

_PLAIN = regex(
    r"(?:[^\"'/#%]++"
    r"|%(?!:)"
    r'|(?<!R)"(?:[^"\\\n\r]|\\(?:\r\n|[\s\S]))*+"(?![A-Za-z_$\x80-\xff])'
    r"|(?<![\w$\x80-\xff])'(?:[^'\\\n\r]|\\(?:\r\n|[\s\S]))++'"
    r"|//(?:[^\n\r\\]|\\(?:\r\n|[\s\S])?)*+"
    r"|/\*(?:[^*]|\*(?!/))*+\*/"
    r"|/(?![/*]))*+"
)
_KEYWORD = regex(r"#[ \t\f\v]*+(?![/\\])([A-Za-z]*)(?![\w$\x80-\xff])")
_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "endif"})
_BLANK = " \t\f\v"


def is_orderly(text: str) -> bool:
    """Whether every comment, string and conditional of a text certainly ends, no `#endif` is without an `#if`, and no
    name stands right behind a string. False where it takes the lexer to tell."""
    depth = at = 0
    while True:
        m = _PLAIN.match(text, at)
        at = m.end() if m is not None else at
        if at == len(text):
            return depth == 0
        found = _KEYWORD.match(text, at)
        if found is None:
            return False
        word = found[1]
        if word in _CONDITIONS:
            if not _begins_line(text, at):
                return False
            depth += -1 if word == "endif" else 1
            if depth < 0:
                return False
        at = found.end()


def _begins_line(text: str, at: int) -> bool:
    """Whether nothing but blanks is before a place on its line, and the line before does not go on in this one."""
    end = at
    while end and text[end - 1] in _BLANK:
        end -= 1
    if end == 0 or text[end - 1] not in "\r\n":
        return end == 0
    end -= 2 if text[end - 2 : end] == "\r\n" else 1
    return end == 0 or text[end - 1] != "\\"
