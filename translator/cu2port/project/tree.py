"""A tree of input files: what is there, which of it is source, and where each file goes."""

from __future__ import annotations

import errno
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from cu2port.core import file_rules
from cu2port.core.disk import is_temporary
from cu2port.core.files import CUDA_SUFFIXES as CUDA_SUFFIXES
from cu2port.core.files import SOURCE_SUFFIXES as SOURCE_SUFFIXES
from cu2port.core.late import dataclass
from cu2port.core.model import Judged
from cu2port.project.ignore import VCS, Ignores

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

STATE = ".cu2port"  # the folder in an output tree where we remember what we wrote


class CannotRun(Exception):  # noqa: N818 - it is what the message says
    """The command cannot be run as asked. The message is one line for the user; exit code 2."""


@dataclass(frozen=True, slots=True)
class Root:
    """One input of the command line.

    `given`: as the user wrote it, with forward slashes; `path`: absolute, links resolved; `under`: where its files go
    below OUT ("" or a name); `folder`: whether it is a folder.
    """

    given: str
    path: Path
    under: str
    folder: bool

    def shown(self, relative: str) -> str:
        """A path below this root as the user would write it."""
        if not self.folder:
            return self.given
        return relative if self.given == "." else f"{self.given.rstrip('/')}/{relative}"


Kind = Literal["source", "build", "copy", "link", "folder", "none", "ignored"]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing in the input.

    `kind`: `source` goes through the translator, `build` is a build file that is ported, `copy` is copied, `link` is
    rebuilt with text `link`, `folder` is an empty folder, `none` has no output, nor has what git ignores, `ignored`.
    `target`: where it goes, relative to OUT (in-place: to the root).
    """

    root: Root
    relative: str
    kind: Kind
    target: str
    link: str = ""
    found: tuple[Judged, ...] = ()

    @property
    def converts(self) -> bool:
        """Whether its output is made by a job."""
        return self.kind in ("source", "build")

    @property
    def path(self) -> Path:
        return self.root.path / self.relative if self.root.folder else self.root.path

    @property
    def name(self) -> str:
        """`path` as text: a tree has many files, and making a Path costs more than opening most of them."""
        return f"{self.root.path}{os.sep}{self.relative}" if self.root.folder else str(self.root.path)

    @property
    def shown(self) -> str:
        return self.root.shown(self.relative)


def suffix_of(name: str) -> str:
    """The suffix that says what a file is, lower case: `.cu` for `a.CU` and for the template `a.cu.in`, `.cpp` for
    `a.cpp.Cuda`, which a build links to `a.cpp`."""
    name = name.lower().removesuffix(".in")
    suffix = os.path.splitext(name)[1]  # noqa: PTH122 - a Path for each file of a tree costs more than the walk
    if suffix == ".cuda":
        inner = os.path.splitext(name[:-5])[1]  # noqa: PTH122
        return inner if inner in SOURCE_SUFFIXES else suffix
    return suffix


def make_roots(inputs: Iterable[str], into_one: bool) -> tuple[Root, ...]:
    """The inputs of the command line; `into_one`: all go to one output folder.

    Raises CannotRun for a missing path, inputs that hold each other, and two of one name that go to one folder.
    """
    given = list(dict.fromkeys(inputs))
    roots: list[Root] = []
    for text in given:
        path = Path(text)
        if not path.exists():
            raise CannotRun(f"{text}: no such file or folder")
        real = path.resolve()
        if path.is_dir():
            roots.append(Root(_posix(text), real, real.name if into_one and len(given) > 1 else "", True))
        elif real.is_file():
            roots.append(Root(_posix(text), real, "", False))
        else:
            raise CannotRun(f"{text}: not a file and not a folder")
    names: dict[str, Root] = {}
    for root in roots:
        key = root.under if root.folder else PurePosixPath(root.given).name
        if into_one and key in names:
            raise CannotRun(f"{names[key].given} and {root.given} would both become `{key}`; convert them one by one")
        names[key] = root
    folders = {root.path: root for root in roots if root.folder}
    for root in roots:
        outer = next((folders[p] for p in root.path.parents if p in folders), None)
        if outer is not None:
            raise CannotRun(f"{root.given} is in {outer.given}; name one of the two")
    return tuple(roots)


def walk(root: Root, leave_out: frozenset[Path] = frozenset(), exclude: GitIgnoreSpec | None = None) -> Iterator[Item]:
    """Everything in a root in a fixed order, without version control and `leave_out` (real paths).

    Files that match `exclude` are `copy`. What git ignores is named and not looked into; in an output of an earlier
    run nothing is ignored, for what is there was chosen then. Links are not followed, as git has it: a link stays
    one. Nothing here raises for what is in the tree.
    """
    if not root.folder:
        name = PurePosixPath(root.given).name
        yield Item(root, name, "source", name)
        return
    ignores = Ignores(root.path)
    everything = (root.path / STATE).is_dir()
    stack = [""]
    while stack:
        folder = stack.pop()
        try:
            with os.scandir(root.path / folder) as found:
                entries = sorted(found, key=lambda e: e.name)
        except OSError as e:
            message = f"the folder could not be read ({e.strerror}); give yourself the right to read it"
            yield _item(root, folder or ".", "none", file_rules.UNREADABLE.on_file(message))
            continue
        ignores.enter(folder, {entry.name for entry in entries})
        inner: list[str] = []
        kept = False
        for entry in entries:
            if entry.name in VCS or entry.name == STATE:
                continue
            relative = f"{folder}/{entry.name}" if folder else entry.name
            if is_temporary(entry.name):  # of a run that was killed, or goes on
                yield _item(root, relative, "none")
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and leave_out and (root.path / relative) in leave_out:
                continue
            if not everything and ignores.ignored(folder, entry.name, is_folder):
                yield _item(root, relative, "ignored")
                continue
            kept = True
            if is_folder:
                inner.append(relative)
                if suffix_of(entry.name) in CUDA_SUFFIXES:
                    yield _item(root, relative, "none", file_rules.SOURCE_FOLDER.on_file("a folder, its files convert"))
            else:
                item = _link(root, relative) if entry.is_symlink() else _file(root, relative, entry)
                if item.kind == "source" and exclude is not None and exclude.match_file(relative):
                    item = replace(item, kind="copy")
                yield item
        if not kept and folder:
            yield _item(root, folder, "folder")
        stack.extend(reversed(inner))


def _item(root: Root, relative: str, kind: Kind, *found: Judged, link: str = "") -> Item:
    target = f"{root.under}/{relative}" if root.under else relative
    return Item(root, relative, kind, target, link, found)


def _kind(relative: str) -> Kind:
    return "source" if suffix_of(relative.rpartition("/")[2]) in SOURCE_SUFFIXES else "copy"


def _file(root: Root, relative: str, entry: os.DirEntry[str]) -> Item:
    if entry.is_file(follow_symlinks=False):
        return _item(root, relative, _kind(relative))
    return _item(root, relative, "none", file_rules.SPECIAL.on_file("a pipe, socket or device; it is left out"))


def _link(root: Root, relative: str) -> Item:
    path = root.path / relative
    text = os.readlink(path)  # noqa: PTH115 - as it is, `./` and all
    real = Path(os.path.realpath(path))
    try:
        mode = path.stat().st_mode
    except OSError as e:
        what = "leads to itself" if e.errno == errno.ELOOP else f"leads to nothing ({text})"
        return _item(root, relative, "link", file_rules.LINK_LOOP.on_file(f"the link {what}; it is kept"), link=text)
    if real.is_relative_to(root.path):
        base = path.parent
        way = Path(os.path.normpath(f"{relative}/../{text}"))
        if Path(text).is_absolute() or way.parts[:1] == ("..",):
            text = os.path.relpath(real, base)  # as written it would lead back from OUT into the input
        if path.is_relative_to(real):
            message = f"the link leads to a folder that holds it ({text}); it is kept and not followed"
            return _item(root, relative, "link", file_rules.LINK_LOOP.on_file(message), link=text)
        return _item(root, relative, "link", link=text)
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        message = "a link to a pipe, socket or device; it is left out"
        return _item(root, relative, "none", file_rules.SPECIAL.on_file(message))
    message = (
        f"the link leaves the input ({text}) and is kept as it is; put what it leads to in the input if you need it"
    )
    return _item(root, relative, "link", file_rules.LEAVES_TREE.on_file(message), link=text)


def rename(items: list[Item], suffix: str, in_place: bool = False) -> list[Item]:
    """Give `.cu` items the new suffix, and links to them. An item whose new name is taken keeps its own; `in_place`:
    also by a file that is no item."""
    taken = {item.target for item in items}
    moved: dict[str, str] = {}
    for item in items:
        if item.kind in ("source", "link") and item.target.lower().endswith(".cu"):
            new = item.target[:-3] + suffix
            beside = item.path.with_name(new.rpartition("/")[2]) if in_place else None
            if new not in taken and not (beside is not None and os.path.lexists(beside)):
                taken.add(new)
                moved[item.target] = new
    out: list[Item] = []
    for item in items:
        target = moved.get(item.target, item.target)
        link = item.link
        if link and _join(item.target, link) in moved:
            link = link[:-3] + suffix
        found = item.found
        if item.kind == "source" and target == item.target and target.lower().endswith(".cu"):
            name = PurePosixPath(target).stem + suffix
            found = (*found, file_rules.NAME_TAKEN.on_file(f"`{name}` is another file, so the name stays; rename one"))
        out.append(replace(item, target=target, link=link, found=found))
    return out


def _join(source: str, link: str) -> str:
    """Where a relative link leads, as a target path."""
    return os.path.normpath(f"{source}/../{link}").replace(os.sep, "/")


def helper_prefix(target: str) -> str:
    """How a file of the output reaches the helper headers: `../cu2port/` for `a/b.cu`."""
    return "../" * target.count("/") + "cu2port/"


def part_of(target: str, parts: int) -> int:
    """Which of so many parts of a run, from 1, writes a file: its name alone tells, so every part says the same."""
    return zlib.crc32(target.encode("utf-8", "surrogateescape")) % parts + 1


def parse_size(text: str, option: str = "--max-size") -> int:
    """`8M` -> bytes. Raises CannotRun, which names the option."""
    m = re.fullmatch(r"(\d+)\s*([kKmMgG]?)(?:i?[bB])?", text.strip())
    if not m:
        raise CannotRun(f"{option} {text}: a number with K, M or G, such as 8M")
    return int(m[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[m[2].lower()]


def _posix(text: str) -> str:
    shown = text.replace(os.sep, "/") if os.sep != "/" else text
    while shown.startswith("./") and len(shown) > 2:
        shown = shown[2:]
    return shown.rstrip("/") or "/"
