"""Text to statements. The only module that knows lark; the shapes are in grammars/ptx.lark.

`parse_inline` takes the text of an asm statement after C++ has read its literals; `parse_module` a whole file.
Both raise `PtxSyntaxError` with line and column (from 1) and what was expected there, on anything they cannot read.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, UnexpectedToken
from lark.exceptions import VisitError
from lark.lexer import Lexer, PatternStr

from cu2port.core.data import cache_dir, data_path
from cu2port.core.disk import write
from cu2port.ptx.build import Build, number, short
from cu2port.ptx.ir import (
    Function,
    Group,
    Module,
    Statement,
)
from cu2port.ptx.tokens import PtxSyntaxError, lexed, master


@lru_cache(maxsize=1024)
def parse_inline(text: str) -> tuple[Statement, ...]:
    """The statements of an asm text: `%0` and `%[x]` are its operands, `%%r` is the name `%r`, `%=` stays in names.

    A last statement may lack its semicolon, as assemblers allow. Raises PtxSyntaxError.
    """
    stripped = text.rstrip()
    ended = not stripped or stripped[-1] in ";}:"
    try:
        result = _parse(text if ended else text + "\n;", "body")
    except PtxSyntaxError as error:
        line, column = _end_of(text)
        if error.line <= line:
            raise
        raise PtxSyntaxError(error.message, line, column) from None
    assert isinstance(result, tuple)
    return result


def parse_module(text: str) -> Module:
    """A whole .ptx file. Raises PtxSyntaxError."""
    result = _parse(_SECTION.sub(lambda m: "\n" * m.group().count("\n"), text), "module")
    assert isinstance(result, Module)
    return result


#: debug information: `.section .debug_info { .b8 1 ... }`, and what older compilers wrote in front of it
_SECTION = re.compile(r"\.section\s+[\w.]+\s*\{[^{}]*\}|^[ \t]*@@DWARF[^\n]*", re.MULTILINE)


class _Lexer(Lexer):
    """What lark asks for tokens. Lark hands over a text to a lexer that does not say `__future_interface__`; its own
    stubs know only the other way."""

    def __init__(self, conf: Any) -> None:
        terminals = [
            (t.name, t.pattern.to_regexp(), t.priority, isinstance(t.pattern, PatternStr)) for t in conf.terminals
        ]
        self.pattern = master(terminals, list(conf.ignore))

    def lex(self, text: str) -> Iterator[Token]:  # type: ignore[override]  # lark hands the text itself to a lexer of its own
        return lexed(text, self.pattern, Token)


@cache
def _parser() -> Lark:
    grammar = (data_path("grammars") / "ptx.lark").read_text(encoding="utf-8")
    kept = cache_dir() / f"grammar-{hashlib.sha256(grammar.encode()).hexdigest()[:20]}.bin"
    with _sound(kept):
        return _built(grammar, kept)


@contextlib.contextmanager
def _sound(kept: Path) -> Iterator[None]:
    """Lark keeps a grammar's tables in a file, since making them takes longer than most sources, and trusts that file.
    So it gets one only if the file holds to its checksum, and the checksum is written when the file is new."""
    checksum = kept.with_suffix(".sum")
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        if not (checksum.exists() and checksum.read_bytes() == hashlib.sha256(kept.read_bytes()).digest()):
            checksum.unlink(missing_ok=True)
            kept.unlink(missing_ok=True)
    yield
    with contextlib.suppress(OSError):
        if not checksum.exists():
            write(checksum, hashlib.sha256(kept.read_bytes()).digest())


def _built(grammar: str, kept: Path) -> Lark:
    return Lark(
        grammar,
        parser="lalr",
        lexer=_Lexer,
        start=["body", "module"],
        transformer=Build(),
        maybe_placeholders=False,
        cache=str(kept),
    )


def _parse(text: str, start: str) -> Any:
    try:
        return _parser().parse(text, start=start)
    except UnexpectedToken as error:
        line, column = _end_of(text) if error.token.type == "$END" else (error.line, error.column)
        raise PtxSyntaxError(_explain(error), line, column) from None
    except VisitError as error:
        if isinstance(error.orig_exc, PtxSyntaxError):
            raise error.orig_exc from None
        raise


def _end_of(text: str) -> tuple[int, int]:
    return text.count("\n") + 1, len(text) - text.rfind("\n")


# what may stand somewhere, by the tokens that may: the first that fits is said, with an example
_EXPECTED: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"WORD", "NUMBER", "LSQB"}), "an operand, as `%r1`, `0x10`, `[%rd1+4]` or `{%r1, %r2}`"),
    (frozenset({"SEMICOLON", "COMMA"}), "`,` and another operand, or `;`"),
    (frozenset({"SEMICOLON", "COLON"}), "operands and `;` of an instruction, or `:` of a label"),
    (frozenset({"RBRACE", "WORD", "SPACE"}), "an instruction, as `add.u32 %r1, %r2, 3;`, or `}`"),
    (frozenset({"WORD", "SPACE", "LBRACE"}), "an instruction, as `add.u32 %r1, %r2, 3;`, or a declaration"),
    (frozenset({"RBRACE"}), "`}`"),
    (frozenset({"RSQB"}), "`]`"),
    (frozenset({"RPAR"}), "`)`"),
    (frozenset({"SEMICOLON"}), "`;`"),
    (frozenset({"NUMBER"}), "a number"),
    (frozenset({"ENTRY", "FUNC"}), "`.entry name(...)`, `.func name(...)` or a variable, as `.global .u32 x;`"),
    (frozenset({"MOD", "WORD"}), "a type and a name, as `.u32 %r<4>`"),
    (frozenset({"WORD"}), "a name"),
)


def _explain(error: UnexpectedToken) -> str:
    """What was found and what could have stood there."""
    allowed = set(error.accepts or error.expected)
    wanted = next((words for tokens, words in _EXPECTED if tokens <= allowed), "something else")
    found = "the end of the text" if error.token.type == "$END" else f"`{short(error.token)}`"
    if {"SEMICOLON", "COMMA"} <= allowed and error.token.type in ("WORD", "NUMBER"):
        return f"`,` or `;` is missing before {found}"
    return f"{found} where {wanted} is expected"


__all__ = ["Function", "Group", "PtxSyntaxError", "number", "parse_inline", "parse_module"]
