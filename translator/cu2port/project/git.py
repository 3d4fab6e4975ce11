"""What git knows of a tree, read from git's own files.

git itself is never run. The configuration of a repository names programs (`core.fsmonitor`, hooks, clean filters of any
name, a promisor's transport), so running git in a stranger's tree may run the stranger's programs, and no fixed set of
flags turns all of them off. The index and the few objects that we ask for are small, documented formats
(gitformat-index, gitformat-pack); here they are only read.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from cu2port.core.files import read_regular
from cu2port.core.late import dataclass, regex
from cu2port.project.git_objects import GitError, Objects

_MOST_INDEX = 1 << 30
_SMALL = 1 << 20
_SHA256 = regex(rb"(?im)^\s*objectformat\s*=\s*\"?sha256")
_HEAD = struct.Struct(">4sII")
_STAT = struct.Struct(">10I")
_FOLLOWED = 5  # symbolic references, one after another


class Entry(NamedTuple):
    """A file in the index: `stat` as git stored it (ctime s, ns, mtime s, ns, device, inode, mode, owner, group, size);
    `stage` above 0 is one side of a merge that is not done."""

    name: str
    digest: bytes
    stat: tuple[int, ...]
    stage: int


@dataclass(eq=False)
class Repository:
    """A work tree and its repository. `top`: the work tree; `folder`: `.git`, or what the file `.git` leads to."""

    top: Path
    folder: Path
    _tree: dict[str, dict[str, bytes]] = field(default_factory=dict)

    @cached_property
    def index(self) -> dict[str, Entry]:
        """The files that git tracks, by name from the top; of a merge that is not done, one side. Raises GitError."""
        path = self.folder / "index"
        if not os.path.lexists(path):
            return {}  # nothing was ever added
        try:
            return {e.name: e for e in _entries(read_regular(path, _MOST_INDEX), self._width)}
        except OSError as e:
            raise GitError(f"{path}: {e.strerror}") from e
        except (struct.error, IndexError, ValueError) as e:
            raise GitError(f"{path}: not an index that cu2port can read") from e

    def tracked(self, folder: Path) -> frozenset[str]:
        """The tracked files below a folder of the work tree, relative to it, and the folders that hold them."""
        base = "" if folder == self.top else f"{folder.relative_to(self.top).as_posix()}/"
        found: set[str] = set()
        for name in self.index:
            name = name[len(base) :] if name.startswith(base) else ""
            while name and name not in found:
                found.add(name)
                name = name.rpartition("/")[0]
        return frozenset(found)

    @property
    def exclude(self) -> Path:
        """Patterns of files that git ignores, beside those of the tree."""
        return self._common / "info" / "exclude"

    def committed(self, path: Path) -> bool:
        """Whether git can bring a file back as it is: it is in the last commit, and neither staged nor changed since.

        Raises GitError where the repository cannot be read.
        """
        name = path.relative_to(self.top).as_posix()
        entry = self.index.get(name)
        return (
            entry is not None
            and entry.stage == 0
            and self._in_head(name) == entry.digest
            and (self._as_added(path, entry) or self._digest(path) == entry.digest)
        )

    def _as_added(self, path: Path, entry: Entry) -> bool:
        """Whether a file is certainly the one that was added, by what git stored of it: a clean filter or `autocrlf`
        makes the stored text another one. A file as young as the index may have changed within the clock's tick."""
        try:
            st, index = path.lstat(), (self.folder / "index").stat()
        except OSError:
            return False
        seconds, rest = divmod(st.st_mtime_ns, 10**9)
        changed, changed_rest = divmod(st.st_ctime_ns, 10**9)
        now = tuple(v & 0xFFFFFFFF for v in (changed, changed_rest, seconds, rest, st.st_size))
        return now == (*entry.stat[:4], entry.stat[9]) and st.st_mtime_ns < index.st_mtime_ns

    def _digest(self, path: Path) -> bytes:
        try:
            data = read_regular(path)
        except OSError:
            return b""
        return hashlib.new(self._hash, b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()

    def _in_head(self, name: str) -> bytes:
        """The digest of a file in the last commit; empty when it has none."""
        folder, _, last = name.rpartition("/")
        return self._files(folder).get(last, b"")

    def _files(self, folder: str) -> dict[str, bytes]:
        """The entries of a folder in the last commit."""
        if folder not in self._tree:
            if folder:
                outer, _, last = folder.rpartition("/")
                digest = self._files(outer).get(f"{last}/", b"")
            else:
                digest = self._objects.root_tree(self._last_commit())
            self._tree[folder] = self._objects.entries(digest) if digest else {}
        return self._tree[folder]

    def _last_commit(self) -> bytes:
        """The digest of HEAD's commit; empty before the first one."""
        if (self._common / "reftable").exists():
            raise GitError(f"{self._common / 'reftable'}: cu2port does not read this form of references")
        name = "HEAD"
        for _ in range(_FOLLOWED):
            text = self._reference(name)
            if not text.startswith("ref:"):
                break
            name = text[4:].strip()
            if not name.startswith("refs/") or ".." in name.split("/"):
                raise GitError(f"{self.folder / 'HEAD'}: {name!r} is not a branch")
        if not text:
            return b""
        if not re.fullmatch(rf"[0-9a-f]{{{2 * self._width}}}", text):
            raise GitError(f"{self.folder}: {name} names no commit")
        return bytes.fromhex(text)

    def _reference(self, name: str) -> str:
        for folder in (self.folder, self._common):
            text = _small(folder / name)
            if text:
                return text
        packed = re.search(rf"(?m)^([0-9a-f]+) {re.escape(name)}$", _small(self._common / "packed-refs"))
        return packed[1] if packed else ""

    @cached_property
    def _objects(self) -> Objects:
        return Objects(self._common / "objects", self._width)

    @cached_property
    def _common(self) -> Path:
        """Where what several work trees share is."""
        return self.folder / (_small(self.folder / "commondir") or ".")

    @cached_property
    def _hash(self) -> str:
        try:
            config = read_regular(self._common / "config", _SMALL)
        except OSError:
            config = b""
        return "sha256" if _SHA256.search(config) else "sha1"

    @property
    def _width(self) -> int:
        """Bytes of a digest."""
        return 32 if self._hash == "sha256" else 20


def repository_at(folder: Path) -> Repository | None:
    """The repository whose work tree begins at a folder; None where `.git` is none."""
    path = folder / ".git"
    if not os.path.lexists(path):
        return None
    if path.is_file():  # of a submodule, or of a second work tree
        text = _small(path)
        if not text.startswith("gitdir:"):
            return None
        path = folder / text[7:].strip()
    found = Repository(folder, path)
    parts = (path / "HEAD", found._common / "objects", found._common / "refs")
    return found if all(map(os.path.lexists, parts)) else None


def repository_of(folder: Path) -> Repository | None:
    """The repository that a folder (absolute, links resolved) is in."""
    return next(filter(None, map(repository_at, (folder, *folder.parents))), None)


def uncommitted(paths: Iterable[Path]) -> tuple[set[Path], set[Path]]:
    """Of these files (absolute, links resolved): those that git could not bring back, and those in no git tree.

    Raises GitError for a repository that cannot be read.
    """
    homes: dict[Path, Repository | None] = {}
    dirty, outside = set(), set()
    for path in paths:
        if path.parent not in homes:
            homes[path.parent] = _home(path.parent, homes)
        repository = homes[path.parent]
        if repository is None:
            outside.add(path)
        elif not repository.committed(path):
            dirty.add(path)
    return dirty, outside


def _home(folder: Path, homes: dict[Path, Repository | None]) -> Repository | None:
    """The repository of a folder; one that a neighbour is in is not read twice."""
    found = repository_of(folder)
    return next((r for r in homes.values() if r is not None and found is not None and r.top == found.top), found)


def _small(path: Path) -> str:
    """The text of a small file of git's, without the white space around it; empty where it cannot be read."""
    try:
        return os.fsdecode(read_regular(path, 64 * _SMALL).strip())
    except (OSError, ValueError):
        return ""


def _entries(data: bytes, width: int) -> Iterator[Entry]:
    """The entries of an index. Raises ValueError, IndexError or struct.error for what is none, or is split in two."""
    magic, version, count = _HEAD.unpack_from(data)
    if magic != b"DIRC" or not 2 <= version <= 4:
        raise ValueError
    at, name = _HEAD.size, b""
    for _ in range(count):
        start = at
        stat = _STAT.unpack_from(data, at)
        at += _STAT.size
        digest = data[at : at + width]
        at += width
        (flags,) = struct.unpack_from(">H", data, at)
        at += 4 if flags & 0x4000 else 2
        if version == 4:
            cut, at = _number(data, at)
            end = data.index(b"\0", at)
            name = name[: len(name) - cut] + data[at:end]
            at = end + 1
        else:
            end = data.index(b"\0", at)
            name = data[at:end]
            at = start + (end - start + 8) // 8 * 8
        yield Entry(os.fsdecode(name), digest, stat, flags >> 12 & 3)
    if at > len(data) - width:
        raise ValueError
    while at < len(data) - width:
        if data[at : at + 4] == b"link":  # most entries are in another file
            raise ValueError
        at += 8 + struct.unpack_from(">I", data, at + 4)[0]


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, as in packs' offsets, and where it ends."""
    value = data[at] & 127
    while data[at] & 128:
        at += 1
        value = value + 1 << 7 | data[at] & 127
    return value, at + 1
