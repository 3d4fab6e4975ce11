"""What there is to compile in a converted tree, with which flags, and which CUDA file each of its files came from."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cu2port.core import file_rules
from cu2port.core.files import suffix
from cu2port.project.compile_db import CompileDb, Flags
from cu2port.project.graph import scan_includes
from cu2port.project.tree import SOURCE_SUFFIXES, STATE, CannotRun, make_roots, walk

HIP, CXX, C = "hip", "c++", "c"
_LANGUAGES: Mapping[str, str] = {
    **dict.fromkeys((".hip", ".cu"), HIP),
    **dict.fromkeys((".cpp", ".cc", ".cxx", ".c++"), CXX),
    ".c": C,
}
_DEVICE = re.compile(rb"__global__|<<<|\bhipLaunchKernelGGL\b|__device__")
_INSTANCES = 5  # folders a note lists before it counts the rest


@dataclass(frozen=True, slots=True)
class Source:
    """A CUDA file: where it is, and how the user would write that."""

    path: str
    shown: str


@dataclass(frozen=True)
class Tree:
    """A converted tree. Paths are real ones.

    `asked`: what is to be verified, `root` or something in it, which the user calls `given`. `moved`: folders of CUDA
    code with where their files went. `sources`: file of the tree -> the CUDA file it came from, where that is known.
    `lost`: files and folders in what is asked, as the user would write them, that cannot be looked at, each with why.
    """

    root: Path
    asked: Path
    given: str
    moved: tuple[tuple[Path, Path], ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    lost: tuple[tuple[str, str], ...] = ()

    def holds(self, path: str) -> bool:
        """Whether a real path is in the tree."""
        return _inside(path, str(self.root))

    def shown(self, path: str) -> str:
        """A file of the tree as the user would write it."""
        if path == str(self.asked):
            return self.given
        relative = os.path.relpath(path, self.asked if self.asked.is_dir() else self.asked.parent).replace(os.sep, "/")
        base = self.given if self.asked.is_dir() else os.path.dirname(self.given)  # noqa: PTH120
        return relative if base in (".", "") else os.path.normpath(f"{base}/{relative}").replace(os.sep, "/")

    def unconverted(self, path: str) -> bool:
        """Whether a real path is a file of the CUDA code that this tree was made from."""
        return not self.holds(path) and any(_inside(path, str(old)) for old, _ in self.moved)

    def ending(self, name: str) -> list[str]:
        """Files of the tree whose path ends as an include is spelled."""
        tail = "/" + os.path.normpath(name).replace(os.sep, "/").lstrip("./")
        return [f for f in self.files if f.replace(os.sep, "/").endswith(tail)]


@dataclass(frozen=True, slots=True)
class Unit:
    """A translation unit: `path` is real, `flags` are those of the user's build that we keep, `folder` is where it
    runs the compiler, "" where that does not matter; `compiler` is the build's own for the host, "" for ours."""

    path: str
    language: str
    flags: tuple[str, ...] = ()
    folder: str = ""
    compiler: str = ""


def open_tree(given: str, sources: Sequence[tuple[str, str]] = ()) -> Tree:
    """The tree that `given`, a file or folder, belongs to. `sources`: (output, CUDA file) as a convert run wrote them.

    Raises CannotRun when there is nothing of that name.
    """
    (start,) = make_roots((given,), into_one=False)
    asked = start.path
    base = asked if asked.is_dir() else asked.parent
    root = next((p for p in (base, *base.parents) if (p / STATE / "manifest.json").is_file()), None)
    known = {os.path.realpath(out): Source(os.path.realpath(cuda), cuda) for out, cuda in sources if out and cuda}
    known = {out: s for out, s in known.items() if out != s.path and os.path.isfile(s.path)}  # noqa: PTH113
    if root is None:
        items = list(walk(make_roots((start.given,), into_one=False)[0])) if asked.is_dir() else []
        files = tuple(sorted(str(asked / i.relative) for i in items if i.kind in ("source", "copy")))
        unread = [(i.shown, j.finding) for i in items for j in i.found if j.finding.code == file_rules.UNREADABLE.code]
        return Tree(base, asked, start.given, (), known, files, tuple((shown, f.message) for shown, f in unread))
    written = _manifest(root)
    names = {name: key for name, key in written.items() if (root / name).is_file()}
    moved, found = _origins(root, names)
    files = tuple(sorted(str(root / name) for name in names))
    tree = Tree(root, asked, start.given, moved, {**found, **known}, files)
    gone = [str(root / name) for name in written if name not in names]
    within = sorted(f for f in gone if _language(f) and asked.is_dir() and _inside(f, str(asked)))
    return replace(
        tree, lost=tuple((tree.shown(f), f"{_why_gone(f)}, and convert wrote it; convert again") for f in within)
    )


def _why_gone(file: str) -> str:
    try:
        os.lstat(file)
    except FileNotFoundError:
        return "it is not there"
    except OSError as e:
        return f"it cannot be read ({e.strerror})"
    return "it is no file"


def _manifest(root: Path) -> dict[str, str]:
    """The files that convert wrote to a folder, with the input each came from; links are left out."""
    path = root / STATE / "manifest.json"
    try:
        content = json.loads(path.read_bytes())
        files = {str(k): (str(v[0]), str(v[1])) for k, v in content["files"].items()}
    except OSError as e:
        raise CannotRun(f"{path}: {e.strerror}") from e
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as e:
        raise CannotRun(f"{path} is damaged; remove it, or convert again") from e
    return {k: key for k, (digest, key) in files.items() if not digest.startswith("link:")}


def _origins(root: Path, names: Mapping[str, str]) -> tuple[tuple[tuple[Path, Path], ...], dict[str, Source]]:
    """From the manifest's (file, input): which folders went where, and the CUDA file of each file."""
    moved: dict[tuple[Path, Path], None] = {}
    found: dict[str, Source] = {}
    for name, key in names.items():
        if not key:
            continue
        base = Path(os.path.realpath(root / key))
        if base.is_file():
            found[str(root / name)] = _source(base)
            continue
        for under in ("", f"{base.name}/"):
            path = _before_rename(base, name[len(under) :]) if name.startswith(under) else None
            if path is not None:
                found[str(root / name)] = _source(path)
                moved[base, root / under] = None
                break
    return tuple(moved), found


def _before_rename(base: Path, name: str) -> Path | None:
    """The input of an output file, which --rename may have given another suffix."""
    if (base / name).is_file():
        return base / name
    folder, _, last = name.rpartition("/")
    for stem in (last[:i] for i, c in enumerate(last) if c == "."):
        for cuda in (".cu", ".CU"):
            if (base / folder / (stem + cuda)).is_file():
                return base / folder / (stem + cuda)
    return None


def _source(path: Path) -> Source:
    here = os.path.relpath(path)
    return Source(str(path), str(path) if here.startswith(os.pardir) else here.replace(os.sep, "/"))


def units_of(
    tree: Tree,
    include_dirs: Sequence[str],
    defines: Sequence[str],
    commands: CompileDb | None,
    std: str = "",
) -> tuple[list[Unit], list[str]]:
    """The translation units to compile, and notes on what was left out.

    Those are the files that the compile commands name; without commands all of .hip, .cu, .cpp and .c that no other
    file of the tree includes. Include folders in the CUDA code become those of the tree.
    """
    notes: list[str] = []
    dropped: dict[str, str] = {}
    if tree.asked.is_dir():
        files = [f for f in tree.files if _inside(f, str(tree.asked)) and _language(f)]
    else:
        files = [str(tree.asked)]
    flags = {f: _flags_of(tree, f, commands) for f in files}
    named = [f for f in files if flags[f][1]]
    if named and tree.asked.is_dir():
        if len(named) < len(files):
            notes.append(f"{len(files) - len(named)} files that compile_commands.json does not name were left out")
        files = named
    elif commands is not None and files and not named:
        notes.append("compile_commands.json names none of these files")
    own = [d for d in (_own_folder(tree, d, dropped) for d in include_dirs) if d]
    folders = {
        f: [*own, *(d for d in (_own_folder(tree, d, dropped) for d in flags[f][0].include_dirs) if d)] for f in files
    }
    if not named and tree.asked.is_dir():
        included = _included(tree, {d for ds in folders.values() for d in ds})
        files = [f for f in files if f not in included]
    units = []
    for f in files:
        language = _language_of(f)
        words = _words(tree, flags[f][0], folders[f], defines, dropped)
        asked = flags[f][0].std or (std if language != C else "")
        units.append(Unit(f, language, (*words, f"-std={asked}") if asked else words))
    for folder, why in list(dropped.items())[:_INSTANCES]:
        notes.append(f"{folder} is left out: {why}")
    if len(dropped) > _INSTANCES:
        notes.append(f"{len(dropped) - _INSTANCES} more folders are left out for such reasons")
    return units, notes


def _flags_of(tree: Tree, file: str, commands: CompileDb | None) -> tuple[Flags, bool]:
    """The build's flags for a file of the tree, and whether the build names it or its CUDA file."""
    if commands is None:
        return Flags(), False
    source = tree.sources.get(file)
    names = (file, source.path) if source else (file,)
    for name in names:
        if name in commands.by_file:
            return commands.by_file[name], True
    return commands.flags(names[-1]), False


def _language(file: str) -> str:
    return _LANGUAGES.get(suffix(file), "")


def _language_of(file: str) -> str:
    """A .cpp is host code, as it is for nvcc, unless it holds device code or a launch, as it may in HIP."""
    language = _language(file)
    if language in (HIP, C):
        return language
    try:
        text = Path(file).read_bytes()
    except OSError:
        return CXX  # the compiler says what is wrong with it
    return HIP if not language or _DEVICE.search(text) else CXX


def _words(
    tree: Tree, flags: Flags, folders: Sequence[str], defines: Sequence[str], dropped: dict[str, str]
) -> tuple[str, ...]:
    words = [f"-I{d}" for d in dict.fromkeys(folders)]
    words += [f"-D{d}" for d in (*flags.defines, *defines)] + [f"-U{d}" for d in flags.undefines]
    for file in flags.forced:
        mapped = _own_folder(tree, file, dropped)
        words += ["-include", mapped] if mapped else []
    return tuple(words)


def _own_folder(tree: Tree, path: str, dropped: dict[str, str]) -> str:
    """An include path of the build as one of the output's own; "" when it has none there."""
    real = os.path.realpath(path)
    if tree.holds(real):
        return real
    for old, new in tree.moved:
        if _inside(real, str(old)):
            return os.path.normpath(new / os.path.relpath(real, old))
        if _inside(str(old), real):
            dropped[path] = "it holds the CUDA code, which would replace what is converted"
            return ""
    if any(os.path.isfile(f"{real}/{name}") for name in ("cuda_runtime.h", "cuda.h", "cuda_runtime_api.h")):  # noqa: PTH113
        dropped[path] = "it holds CUDA's own headers"
        return ""
    return real


def _included(tree: Tree, folders: set[str]) -> frozenset[str]:
    """Files of the tree that another one includes: they are compiled with that one."""
    files = frozenset(tree.files)
    found: set[str] = set()
    for file in tree.files:
        if not _language(file) and suffix(file) not in SOURCE_SUFFIXES:
            continue
        try:
            includes = scan_includes(Path(file).read_bytes())
        except OSError:
            continue
        here = os.path.dirname(file)  # noqa: PTH120
        for name, _ in includes:
            if _language(name):
                found.update(p for base in (here, *folders) if (p := os.path.normpath(f"{base}/{name}")) in files)
    return frozenset(found)


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
