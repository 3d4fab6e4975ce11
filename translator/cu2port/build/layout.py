"""Lines of a build file: what stands around an edit, so that it leaves no empty line and keeps the indent."""

from __future__ import annotations

from functools import lru_cache

from cu2port.core.model import Edit


def break_of(text: str, start: int) -> str:
    """A line break as the text has them, with the indent of the line that holds `start`."""
    return _break_in(text) + indent_of(text, start)


@lru_cache(maxsize=1)
def _break_in(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def indent_of(text: str, start: int) -> str:
    """The space before the first word of a line."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line[: len(line) - len(line.lstrip(" \t"))]


def without(text: str, start: int, end: int) -> Edit:
    """Takes bytes out, and their lines where nothing else is in them."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last + 1
    if not text[first:start].strip(" \t") and not text[end:last].strip():
        return Edit(first, last, ())
    return Edit(start, end, ())


def with_gap(text: str, start: int, end: int) -> Edit:
    """Takes an argument out with the space before it, and its line where nothing else is in it."""
    gap = start
    while gap and text[gap - 1] in " \t":
        gap -= 1
    if gap and text[gap - 1] != "\n":
        return Edit(gap, end, ())
    return without(text, start, end) if text[end : end + 1] in ("\n", "\r") else Edit(gap, end, ())
