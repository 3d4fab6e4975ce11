"""The words of a compile command as one dialect: nvcc's long and listed forms as clang spells them, response files as
what they hold. They are read as text, inside the tree only."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cu2port.core.files import read_regular

_DEPTH = 4  # of response files that name others
_MOST_BYTES = 1 << 20  # of one of them
_MOST_WORDS = 100_000
_RESPONSE = ("--options-file", "-optf")  # of nvcc, and `@file`
#: nvcc's names -> clang's. Their values are lists with commas.
_NVCC = {
    "--include-path": "-I",
    "--system-include": "-isystem",
    "--define-macro": "-D",
    "--undefine-macro": "-U",
    "--pre-include": "-include",
    "--std": "-std=",
}
_HOST = ("-Xcompiler", "--compiler-options", "-Xpreprocessor", "-Xclang")  # what follows is for another program
_OTHERS = {"-iquote": "-I", "-idirafter": "-isystem", "--include": "-include", "-imacros": "-include"}


def words_of(words: Sequence[str], base: Path, inside: Iterable[Path]) -> list[str]:
    """The words of a command that runs in `base`. `inside`: folders (links resolved) whose files may be read."""
    found: list[str] = []
    for word in _plain(iter(_expanded(words, base, tuple(inside), _DEPTH))):
        found.append(word)
        if len(found) >= _MOST_WORDS:
            break
    return found


def split(text: str) -> list[str]:
    """A command line as words; one with an open quote at its blanks."""
    try:
        return shlex.split(text)
    except ValueError:  # the words we can see are better than none
        return text.split()


def _expanded(words: Iterable[str], base: Path, inside: Sequence[Path], depth: int) -> Iterator[str]:
    """Words, those of response files in place of their names."""
    rest = iter(words)
    for word in rest:
        name = word[1:] if word.startswith("@") else ""
        for option in _RESPONSE:
            if word.startswith(f"{option}="):
                name = word[len(option) + 1 :]
            elif word == option:
                name = next(rest, "")
        inner = _response(base / name, inside) if name and depth else None
        if inner is None:
            if not name:
                yield word
            continue
        yield from _expanded(inner, base, inside, depth - 1)


def _response(path: Path, inside: Sequence[Path]) -> list[str] | None:
    """The words of a response file; None for one that may not be read."""
    real = Path(os.path.realpath(path))
    if not any(real.is_relative_to(folder) for folder in inside):
        return None
    try:
        return split(read_regular(real, _MOST_BYTES).decode("utf-8", "surrogateescape"))
    except (OSError, ValueError):
        return None


def _plain(rest: Iterator[str]) -> Iterator[str]:
    """Words as clang spells them."""
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _HOST or word in _HOST:
            value = value if equals else next(rest, "")
            if name != "-Xclang":
                yield from _plain(iter(value.split(",")))
        elif name in _NVCC:
            for part in (value if equals else next(rest, "")).split(","):
                yield f"{_NVCC[name]}{part}" if _NVCC[name].endswith(("=", "I", "D", "U")) else _NVCC[name]
                if not _NVCC[name].endswith(("=", "I", "D", "U")):
                    yield part
        elif word in _OTHERS:
            yield from (_OTHERS[word], next(rest, ""))
        elif word.startswith("-I") and "," in word:
            yield from (f"-I{part}" for part in word[2:].removeprefix("=").split(",") if part)
        else:
            yield word
