"""compile_commands.json: include folders and macros of each file, and nothing else.

A database that was found, not named, is a stranger's: what it says of places outside of its tree does not count.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path

from cu2port.core.files import read_json
from cu2port.core.late import dataclass, regex
from cu2port.project.compile_words import split, words_of
from cu2port.project.tree import CannotRun

_KEPT = ("-isystem", "-include", "--std", "-std", "-I", "-D", "-U", "--x", "-x")
_HALF = regex("[\ud800-\udc7f\udd00-\udfff]")  # half a character, which no byte stands for
_MAX_BYTES = 1 << 30
_NAME = "compile_commands.json"
_BUILDS = ("build*", "cmake-build*", "out*", "build*/*")
_STD = regex(r"(?:c|gnu)(?:\+\+)?\w{2}\Z")


@dataclass(frozen=True, slots=True)
class Flags:
    """What one compile command says. `include_dirs` are absolute; `defines` are NAME or NAME=VALUE.

    `undefines`: macros it takes away; `forced`: files it includes before all else, absolute; `std`: such as c++17;
    `as_cuda`: the file is CUDA whatever its name says (`-x cu`).
    """

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()
    std: str = ""
    differ: tuple[str, ...] = ()  # macros that several commands for one file set in different ways
    as_cuda: bool = False


@dataclass(frozen=True)
class CompileDb:
    """Compile commands by absolute file. `all_of`: those of a file that has several, made one."""

    by_file: dict[str, Flags]
    by_folder: dict[str, Flags] = field(default_factory=dict)
    all_of: dict[str, Flags] = field(default_factory=dict)

    def merged(self, file: str) -> Flags:
        """What all commands for a file say together: a macro that they set in different ways is not known."""
        found = self.all_of.get(file)
        return self.flags(file) if found is None else found

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


def near(root: Path) -> Path | None:
    """The database of a tree: right in it, or in the newest of its build folders. Links are not followed."""
    found: list[tuple[float, str]] = []
    for name in ("", *_BUILDS):
        for path in root.glob(f"{name}/{_NAME}" if name else _NAME):
            if path.is_file() and os.path.realpath(path) == str(path):
                found.append((float("inf") if not name else path.stat().st_mtime, str(path)))
    return Path(max(found)[1]) if found else None


def load(folder: Path, tree: Path | None = None) -> CompileDb:
    """Read `folder/compile_commands.json` (or that file itself). `tree`: nothing outside of this folder (links
    resolved) counts, since the user did not name the database. Raises CannotRun with what to do."""
    path = folder / _NAME if folder.is_dir() else folder
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
    every: defaultdict[str, dict[Flags, None]] = defaultdict(dict)
    home = Path(os.path.realpath(path.parent))
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("file"), str):
            raise CannotRun(f"{path}: an entry names no file")
        if any("\0" in text or _HALF.search(text) for text in (*map(str, row.values()), *_words(row))):
            raise CannotRun(f"{path}: an entry holds what no name can: {str(row['file'])!r}")
        base = Path(path.parent, str(row.get("directory", ".")))
        file = os.path.realpath(base / row["file"])
        inside = (tree,) if tree is not None else (home, Path(os.path.realpath(base)))
        flags = parse(words_of(_words(row), base, inside), base)
        if tree is not None:
            flags = _within(flags, tree)
        every[file][flags] = None
        by_file.setdefault(file, flags)
        by_folder.setdefault(os.path.dirname(file), replace(flags, as_cuda=False))  # noqa: PTH120 - of headers
    return CompileDb(by_file, by_folder, {f: _merged(list(flags)) for f, flags in every.items() if len(flags) > 1})


def _within(flags: Flags, tree: Path) -> Flags:
    """Flags without folders and files outside of a tree."""

    def inner(paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(p for p in paths if Path(os.path.realpath(p)).is_relative_to(tree))

    return replace(flags, include_dirs=inner(flags.include_dirs), forced=inner(flags.forced))


def _merged(found: Sequence[Flags]) -> Flags:
    """Several commands for one file as one."""

    def said(f: Flags) -> dict[str, str]:
        on = {text.partition("=")[0]: text for text in f.defines}
        return on | {name: f"-U{name}" for name in f.undefines}

    macros = [said(f) for f in found]
    names = dict.fromkeys(name for m in macros for name in m)
    differ = {name for name in names if len({m.get(name, "") for m in macros}) > 1}
    first = found[0]
    return Flags(
        tuple(dict.fromkeys(d for f in found for d in f.include_dirs)),
        tuple(text for text in first.defines if text.partition("=")[0] not in differ),
        tuple(name for name in first.undefines if name not in differ),
        tuple(dict.fromkeys(f for flags in found for f in flags.forced)),
        first.std,
        tuple(sorted(differ)),
        any(f.as_cuda for f in found),
    )


def _words(row: dict[str, object]) -> list[str]:
    arguments = row.get("arguments")
    if isinstance(arguments, list):
        return [str(a) for a in arguments]
    return split(str(row.get("command", "")))


def is_standard(text: str) -> bool:
    """Whether a word is what compilers take after -std=."""
    return _STD.match(text) is not None


def parse(words: Sequence[str], base: Path) -> Flags:
    """Includes, macros and the language's version of a command run in `base`; no other flag is looked at.

    `-I -isystem -D -U -include -x`, joined or as two words, and `-std` as clang and nvcc spell it. The last word about
    a macro holds.
    """
    dirs: dict[str, None] = {}
    macros: dict[str, tuple[str, bool]] = {}
    forced: dict[str, None] = {}
    std = ""
    as_cuda = False
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
        elif flag in ("-x", "--x"):
            as_cuda = value in ("cu", "cuda")
        elif is_standard(value):
            std = value
    return Flags(
        tuple(dirs),
        tuple(text for text, on in macros.values() if on),
        tuple(text for text, on in macros.values() if not on),
        tuple(forced),
        std,
        as_cuda=as_cuda,
    )
