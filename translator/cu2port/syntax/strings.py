"""What string literals hold."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(\r\n|[0-7]{1,3}|x[0-9A-Fa-f]+|[\s\S])")
_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f", "a": "\a", "b": "\b", "e": "\x1b"}
_RAW = re.compile(r'(?:u8|[uUL])?R"([^ ()\\\t\v\f\n\r]{0,16})\(([\s\S]*)\)\1"\Z')


def decode(literal: str) -> str:
    """What a string literal, plain or raw, holds."""
    raw = _RAW.match(literal)
    if raw is not None:
        return raw.group(2)
    body = literal[literal.index('"') + 1 :].removesuffix('"')
    return _ESCAPE.sub(_unescape, body) if "\\" in body else body


def _unescape(m: re.Match[str]) -> str:
    code = m.group(1)
    if code[0] in "\r\n":  # a line continuation
        return ""
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16) & 0xFF)
    return _SIMPLE_ESCAPES.get(code, code)
