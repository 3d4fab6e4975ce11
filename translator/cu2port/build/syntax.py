"""CMake files by tree-sitter: commands and their arguments, with the bytes they stand at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from cu2port.core.late import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_BLANKS = re.compile(r"[ \t\r\n]{100,}")
_OPEN, _CLOSE = "#[=======[", "]=======]"


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument at bytes [start, end). `text`: what stands between its quotes or brackets, from `inner` on."""

    text: str
    start: int
    end: int
    inner: int
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A command at bytes [start, end). `name` is in lower case and as long as what is written. `nested`: it is in
    a function or macro."""

    name: str
    start: int
    end: int
    args: tuple[Arg, ...]
    nested: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(a.text for a in self.args)


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter  # both take time to load, and most runs of cu2port need neither
    import tree_sitter_cmake

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cmake.language()))


def _covered(run: re.Match[str]) -> str:
    """A long run of blanks as a comment of its length: the parser's time for blanks grows with their square. What comes
    before it may be a comment of one line, so that the line's end stays."""
    before, newline, after = run[0].partition("\n")
    return _comment(before) + newline + _comment(after)


def _comment(blanks: str) -> str:
    """A comment in brackets that nothing else ends, with a blank on each side, where it fits."""
    inner = len(blanks) - 2 - len(_OPEN) - len(_CLOSE)
    return f"{blanks[0]}{_OPEN}{'x' * inner}{_CLOSE}{blanks[-1]}" if inner > 0 else blanks


def commands(text: str) -> Iterator[Command]:
    """The commands of a CMake file, a text of Latin-1, in order. What cannot be parsed is passed over."""
    data = _BLANKS.sub(_covered, text).encode("latin-1")
    stack: list[tuple[Node, bool]] = [(_parser().parse(data).root_node, False)]
    while stack:
        node, nested = stack.pop()
        if node.type == "normal_command" or node.type.endswith("_command"):
            if not node.has_error and node.child_count:
                yield _command(text, node, nested)
            continue
        inside = nested or node.type in ("function_def", "macro_def")
        stack += [(child, inside) for child in reversed(node.named_children)]


def _command(text: str, node: Node, nested: bool) -> Command:
    word = node.children[0]
    args: list[Arg] = []
    for child in node.children:
        if child.type == "argument_list":
            for a in child.named_children:
                if a.type == "argument":
                    args.append(_arg(text, a))
                    if len(args) > 1 and not args[-2].quoted and args[-2].end == args[-1].start:
                        last, before = args.pop(), args.pop()  # `-Xcompiler="-fPIE"` is one, with its quotes
                        args.append(Arg(text[before.start : last.end], before.start, last.end, before.start))
    return Command(text[word.start_byte : word.end_byte].lower(), node.start_byte, node.end_byte, tuple(args), nested)


def _arg(text: str, node: Node) -> Arg:
    start, end = node.start_byte, node.end_byte
    written = text[start:end]
    if written.startswith('"') and written.endswith('"') and end - start > 1:
        return Arg(written[1:-1], start, end, start + 1, True)
    if written.startswith("[") and written.endswith("]"):
        lead = written.find("[", 1) + 1
        if lead > 1 and not written[1 : lead - 1].strip("="):
            return Arg(written[lead:-lead], start, end, start + lead, True)
    return Arg(written, start, end, start)
