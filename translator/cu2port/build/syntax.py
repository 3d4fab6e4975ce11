"""CMake files by tree-sitter: commands and their arguments, with the bytes they stand at."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cu2port.core.late import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_BLANKS = re.compile(r"[ \t\r\n]{100,}")
_BLOCK = re.compile(
    r"(?im)^([ \t]*)(if|elseif|else|endif|foreach|endforeach|while|endwhile|function|endfunction|macro|endmacro|block"
    r"|endblock)(?=[ \t]*\()"
)
_OPENS, _CLOSES = frozenset({"function", "macro"}), frozenset({"endfunction", "endmacro"})
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


def commands(text: str) -> tuple[list[Command], str]:
    """The commands of a CMake file, a text of Latin-1, in order; and what of the text cannot be parsed, with blanks for
    the rest of it, "" if all of it can."""
    data = _BLANKS.sub(_covered, _BLOCK.sub(_plain, text)).encode("latin-1")
    tree = _parser().parse(data).root_node
    out: list[Command] = []
    read: list[Node] = []
    depth = 0
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.type != "normal_command":
            read += [node] if node.type.endswith("comment") else []
            stack += reversed(node.named_children)
        elif not node.has_error and node.child_count:
            read.append(node)
            name = text[node.start_byte : node.children[0].end_byte].lower()
            depth += name in _OPENS
            out.append(_command(text, node, depth > 0))
            depth = max(0, depth - (name in _CLOSES))
    return out, _without(text, read) if tree.has_error else ""


def _plain(m: re.Match[str]) -> str:
    """The name of a block's command as one of no meaning. The parser takes none of a file's commands where its blocks
    are not as it expects them, as with `elseif()`; CMake finds out only when it comes there."""
    return m[1] + "x" * len(m[2])


def _without(text: str, read: list[Node]) -> str:
    """A text with blanks for what was read."""
    out, at = [], 0
    for node in read:
        out += [text[at : node.start_byte], re.sub(r"[^\n]", " ", text[node.start_byte : node.end_byte])]
        at = node.end_byte
    return "".join((*out, text[at:]))


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
