"""Byte offsets to lines and columns for people and editors, and bytes of a source to text that they can read."""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from itertools import accumulate
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"


class Place(NamedTuple):
    """A position: line and column from 1, column in Unicode characters, offset in bytes from 0."""

    line: int
    column: int
    offset: int


class Lines:
    """Where the lines of a file begin. CR, LF and CRLF end a line; UTF-8, else Latin-1.

    A byte order mark has no column. An offset inside a character counts as that character, one past the end of the
    file as its end.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = [0, *accumulate(map(len, data.splitlines(keepends=True)))]
        if data and not data.endswith((b"\n", b"\r")):
            self._starts.pop()  # a line that nothing ends has none behind it
        self._bytes_are_characters = data.isascii() or not _is_utf8(data)
        self._text_start = len(_BOM) if not self._bytes_are_characters and data.startswith(_BOM) else 0

    @property
    def count(self) -> int:
        """How many lines there are; one that nothing ends counts too."""
        return len(self._starts) - (self._starts[-1] == len(self._data))

    def place(self, offset: int) -> Place:
        """The place of a byte offset."""
        offset = max(0, min(offset, len(self._data)))
        line = bisect_right(self._starts, offset)
        start = self._starts[line - 1]
        if self._bytes_are_characters:
            return Place(line, offset - start + 1, offset)
        if line == 1:
            start = self._text_start
        before = self._data[start : max(start, offset)]
        return Place(line, len(before.decode("utf-8", "ignore")) + 1, offset)


def readable(text: str) -> str:
    """Text that holds bytes of a source as Latin-1, as people read it: UTF-8 where it is that.

    Control and bidirectional characters, which a terminal or page would obey, become U+FFFD.
    """
    if text.isascii() and text.isprintable():
        return text
    with contextlib.suppress(UnicodeError):  # Latin-1 it is, or words of our own with characters beyond it
        text = text.encode("latin-1").decode("utf-8")
    return "".join(c if c == "\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
