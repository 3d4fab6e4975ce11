"""What the parser of this room asks of a file, such as `facts.unit.Unit`."""

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

    @property
    def lexed(self) -> Lexed: ...
    @property
    def t(self) -> list[str]: ...
    @property
    def p(self) -> list[int]: ...
    @property
    def match(self) -> list[int]: ...
    @property
    def directives(self) -> tuple[Directive, ...]: ...
    @property
    def macros(self) -> Mapping[str, Sequence[MacroBody]]: ...
    @property
    def launch_ends(self) -> Mapping[int, int]: ...
    def angle_close(self, i: int, limit: int = 2000) -> int: ...
    def split_args(self, first: int, stop: int) -> tuple[Span, ...]: ...
