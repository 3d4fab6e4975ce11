"""compile_commands.json: include folders and macros of each file, and nothing else."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cu2port.core.files import read_json
from cu2port.project.tree import CannotRun

_KEPT = ("-isystem", "-include", "--std", "-std", "-I", "-D", "-U")
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # half a character, which no byte stands for
_MAX_BYTES = 1 << 30
_STD = re.compile(r"(?:c|gnu)(?:\+\+)?\w{2}\Z")


@dataclass(frozen=True, slots=True)
class Flags:
    """What one compile command says. `include_dirs` are absolute; `defines` are NAME or NAME=VALUE.

    `undefines`: macros it takes away; `forced`: files it includes before all else, absolute; `std`: such as c++17.
    """

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()
    std: str = ""


@dataclass(frozen=True)
class CompileDb:
    """Compile commands by absolute file."""

    by_file: dict[str, Flags]
    by_folder: dict[str, Flags] = field(default_factory=dict)

    def flags(self, file: str) -> Flags:
        """The flags of a file; for a header those of the first command in its folder or the nearest one above."""
        found = self.by_file.get(file)
        folder = os.path.dirname(file)  # noqa: PTH120 - asked for every file
        while found is None:
            found = self.by_folder.get(folder)
            above = os.path.dirname(folder)  # noqa: PTH120
            if above == folder:
                break
            folder = above
        return found or Flags()


def load(folder: Path) -> CompileDb:
    """Read `folder/compile_commands.json` (or that file itself). Raises CannotRun with what to do."""
    path = folder / "compile_commands.json" if folder.is_dir() else folder
    try:
        rows = read_json(path, _MAX_BYTES)
    except OSError as e:
        hint = "cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON writes it"
        raise CannotRun(f"{path}: {e.strerror or e}; {hint}") from e
    except ValueError as e:
        raise CannotRun(f"{path}: {e}") from e
    if not isinstance(rows, list):
        raise CannotRun(f"{path}: not a list of compile commands")
    by_file: dict[str, Flags] = {}
    by_folder: dict[str, Flags] = {}
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("file"), str):
            raise CannotRun(f"{path}: an entry names no file")
        if any("\0" in text or _HALF.search(text) for text in (*map(str, row.values()), *_words(row))):
            raise CannotRun(f"{path}: an entry holds what no name can: {str(row['file'])!r}")
        base = Path(path.parent, str(row.get("directory", ".")))
        file = os.path.realpath(base / row["file"])
        flags = parse(_words(row), base)
        by_file.setdefault(file, flags)
        by_folder.setdefault(os.path.dirname(file), flags)  # noqa: PTH120
    return CompileDb(by_file, by_folder)


def _words(row: dict[str, object]) -> list[str]:
    arguments = row.get("arguments")
    if isinstance(arguments, list):
        return [str(a) for a in arguments]
    try:
        return shlex.split(str(row.get("command", "")))
    except ValueError:  # an open quote: the words we can see are better than none
        return str(row.get("command", "")).split()


def is_standard(text: str) -> bool:
    """Whether a word is what compilers take after -std=."""
    return _STD.match(text) is not None


def parse(words: Sequence[str], base: Path) -> Flags:
    """Includes, macros and the language's version of a command run in `base`; no other flag is looked at.

    `-I -isystem -D -U -include`, joined or as two words, and `-std` as clang and nvcc spell it. The last word about a
    macro holds.
    """
    dirs: dict[str, None] = {}
    macros: dict[str, tuple[str, bool]] = {}
    forced: dict[str, None] = {}
    std = ""
    rest = iter(words)
    for word in rest:
        flag = next((f for f in _KEPT if word.startswith(f)), "")
        if not flag:
            continue
        value = word[len(flag) :].removeprefix("=") or next(rest, "")
        if flag in ("-isystem", "-I"):
            dirs[os.path.normpath(base / value)] = None
        elif flag in ("-D", "-U"):
            name = value.partition("=")[0]
            macros.pop(name, None)
            if name:
                macros[name] = (value, flag == "-D")
        elif flag == "-include":
            forced[os.path.normpath(base / value)] = None
        elif is_standard(value):
            std = value
    return Flags(
        tuple(dirs),
        tuple(text for text, on in macros.values() if on),
        tuple(text for text, on in macros.values() if not on),
        tuple(forced),
        std,
    )
