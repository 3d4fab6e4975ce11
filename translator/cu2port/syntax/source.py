"""What the parser of this room asks of a file, and the place in its tokens where it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from cu2port.core.model import Span
from cu2port.syntax.lexer import Directive, Lexed


class MacroBody(Protocol):
    """A definition of a macro: its parameters (None: like an object), and its body, tokens [first, stop)."""

    @property
    def params(self) -> tuple[str, ...] | None: ...
    @property
    def first(self) -> int: ...
    @property
    def stop(self) -> int: ...


class Source(Protocol):
    """The tokens of a file, and what is known of them by shape alone: see `Lexed` and `facts.unit.Unit`."""

    lexed: Lexed
    t: list[str]
    p: list[int]
    match: list[int]

    @property
    def directives(self) -> tuple[Directive, ...]: ...
    @property
    def macros(self) -> Mapping[str, Sequence[MacroBody]]: ...
    def angle_close(self, i: int, limit: int = 2000) -> int: ...
    def split_args(self, first: int, stop: int) -> tuple[Span, ...]: ...


class Cursor:
    """A place in tokens [first, stop) of a file; directives between them are stepped over. `depth`: of nesting."""

    def __init__(self, source: Source, first: int, stop: int, jump: bool = True, depth: int = 0) -> None:
        self.source, self.t, self.match = source, source.t, source.match
        self.stop = stop
        self.skip = {d.first: d.stop for d in source.directives if first <= d.first < stop} if jump else {}
        self.back = {b: a for a, b in self.skip.items()}
        self.i = first
        self.depth = depth
        if self.skip:
            self._settle()

    def _settle(self) -> None:
        while self.i in self.skip:
            self.i = self.skip[self.i]

    def _next(self) -> None:
        self.i += 1
        if self.i in self.skip:
            self._settle()

    def _tok(self, stop: int) -> str:
        return self.t[self.i] if self.i < stop else ""

    def _to(self, i: int) -> None:
        """Go on at token i (never backwards)."""
        self.i = max(self.i, i)
        if self.skip:
            self._settle()

    def _partner(self, i: int, stop: int) -> int:
        """The closing bracket of i, `stop` if it has none before."""
        m = self.match[i]
        return m if i < m < stop else stop

    def _behind(self, close: int, stop: int) -> int:
        """Go on behind a closing bracket that `_partner` told. The last token that was read."""
        self._to(min(close + 1, stop))
        return close if close < stop else self._last()

    def _last(self) -> int:
        """The token before this place, past directives."""
        k = self.i
        while k in self.back:
            k = self.back[k]
        return k - 1

    def _is(self, i: int, stop: int, tok: str) -> bool:
        return i < stop and self.t[i] == tok
