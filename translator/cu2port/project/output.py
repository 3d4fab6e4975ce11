"""Writing: whole files or none, and nothing that is not ours is lost.

`TreeOutput` fills an output folder and remembers in `OUT/.cu2port` what it wrote there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import BinaryIO

from cu2port.core import file_rules
from cu2port.core.disk import ABSENT, CHANGED, Refused, digest_of, put_link, real_folder, replacing, write
from cu2port.core.files import read_open
from cu2port.core.late import dataclass
from cu2port.core.model import Judged
from cu2port.project.helper_headers import HELPERS, HelperHeaders
from cu2port.project.manifest import Known, Manifest, reachable
from cu2port.project.tree import STATE, CannotRun, Item, Root, part_of

_AT_ONCE = 8 << 20  # bytes of a file that is read whole


@dataclass
class TreeOutput:
    """An output folder.

    The manifest maps each path we wrote to (digest, input): a file that still has its digest may be replaced, or
    removed when that input no longer has it. A file with another digest was edited by someone and is theirs. No way
    to a file leads through a link.
    """

    out: Path
    force: bool = False
    shard: tuple[int, int] | None = None
    _known: Known = field(default_factory=dict)
    _now: Known = field(default_factory=dict)
    _ready: set[str] = field(default_factory=set)
    _keys: dict[Path, str] = field(default_factory=dict)
    _folders: dict[str, str] = field(default_factory=dict)
    _headers: set[str] = field(default_factory=set)
    _helpers: HelperHeaders = field(default_factory=HelperHeaders)
    _manifest: Manifest = field(init=False)

    def __post_init__(self) -> None:
        self._manifest = Manifest(self.out, self.shard)

    def make(self) -> None:
        """Make the folder itself. Raises CannotRun."""
        if os.path.lexists(self.out) and not self.out.is_dir():
            raise CannotRun(f"{self.out}: -o must name a folder here, and this is a file")
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise CannotRun(f"-o {self.out}: {e.filename}: {e.strerror}") from e

    def prepare(self, items: Sequence[Item]) -> None:
        """Look before the first write. Raises CannotRun when files that are not ours are in the way."""
        self._known = self._manifest.load()
        blocked = []
        for item in items:
            if item.kind == "none":
                continue
            folder = item.target.rpartition("/")[0]
            state = self._state_of(folder) if folder else "folder"
            if state == "foreign":
                raise CannotRun(
                    f"{self.out / folder} is not a folder of cu2port's, and {item.target} must be in it; remove it"
                )
            if state == "folder" and self._blocks(item):
                blocked.append(item.target)
        if blocked:
            some = ", ".join(blocked[:5]) + (f" and {len(blocked) - 5} more" if len(blocked) > 5 else "")
            raise CannotRun(
                f"{self.out} holds files that cu2port did not write and would replace: {some}; "
                "choose another folder, or --force"
            )
        try:
            self._manifest.begin()
        except OSError as e:
            raise CannotRun(f"{e.filename}: {e.strerror}") from e

    def there(self, item: Item) -> str:
        """The digest of what is at an item's place; "" where that cannot be told, and `put` says why."""
        self._make_room(item.target.rpartition("/")[0])
        try:
            return digest_of(f"{self.out}{os.sep}{item.target}")
        except OSError:
            return ""

    def put(
        self, item: Item, data: bytes | None, read: str = "", written: str = "", there: str | None = None
    ) -> Judged | None:
        """Write one item; `data` None: as it is in the input, which had the digest `read` (a link and a file that is
        only copied have none). `written`: the digest of what is to be there, and `data` may be None if that is there;
        `there`: what `there` said. Returns what stood in the way. Raises OSError."""
        if item.target in self._headers:
            return None  # a helper header of this version is there
        path = f"{self.out}{os.sep}{item.target}"
        self._make_room(item.target.rpartition("/")[0])
        root = self._root_key(item.root)
        if item.kind == "folder":
            Path(path).mkdir(exist_ok=True)
            return None
        mode = _kind(path)
        if stat.S_ISDIR(mode):
            if not self._remove_ours(Path(path)):
                return file_rules.IN_THE_WAY.on_file(f"{path} is a folder with files that are not cu2port's; remove it")
            mode = 0
        now = ABSENT if not mode else digest_of(path) if there is None else there
        new = written or (read if data is None else "")
        if written and data is None and now != written:
            self.lost(item)
            return file_rules.NOT_REPLACED.on_file(f"{path} was changed while cu2port ran; convert again")
        if data is None and item.kind != "link" and (not new or now != new):
            data = _whole(item.name)
            if read and data is not None and hashlib.sha256(data).hexdigest() != read:
                self.lost(item)
                return file_rules.NOT_REPLACED.on_file(f"{CHANGED}, so its output is not made; convert again")
        if not new:
            new = hashlib.sha256(data).hexdigest() if data is not None else self._input_digest(item)
        old = self._known.get(item.target, ("", ""))[0]
        if now not in (new, ABSENT) and not self.force and old != now:
            self._now[item.target] = (old, root)
            if old == new:
                return None  # edited since, and we have nothing new to say: theirs stays
            return file_rules.IN_THE_WAY.on_file(
                f"{path} was changed since cu2port wrote it, and its source changed too; merge by hand, or --force"
            )
        if now == new and not old:
            return None  # there before us and the same: it stays theirs
        try:
            self._place(item, path, data, now, new, mode)
        except Refused:
            self.lost(item)
            return file_rules.IN_THE_WAY.on_file(f"{path} was changed while cu2port ran; merge by hand, or --force")
        return None

    def _place(self, item: Item, path: str, data: bytes | None, now: str, new: str, there: int) -> None:
        root = self._root_key(item.root)
        if item.kind == "link":
            if now != new:
                self._manifest.note(item.target, new, root)
                put_link(path, item.link, over=now, is_folder=item.path.is_dir())
        else:
            mode = stat.S_IMODE(os.stat(item.name).st_mode)  # noqa: PTH116
            if now == new:
                if stat.S_IMODE(there) != mode:
                    os.chmod(path, mode)  # noqa: PTH101
            elif data is not None:
                self._manifest.note(item.target, new, root)
                write(path, data, mode, over=now)
            else:
                with replacing(path, mode, over=now) as f:
                    new = _copy(item.name, f)
                    self._manifest.note(item.target, new, root)
        self._now[item.target] = (new, root)

    def put_headers(self, names: frozenset[str]) -> list[tuple[Path, Judged]]:
        """Bring helper headers, before what includes them. Returns foreign files in the way. Raises OSError."""
        written, blocked = self._helpers.put(self.out, names)
        for path in written:
            target = path.relative_to(self.out).as_posix()
            self._headers.add(target)
            if reachable(self.out, target):
                self._now[target] = (digest_of(path), "")
        return blocked

    def lost(self, item: Item) -> None:
        """An item that could not be read: what an earlier run wrote for it stays ours and stays there."""
        if item.target in self._known:
            self._now[item.target] = self._known[item.target]

    def finish(self, roots: Sequence[Root], planned: frozenset[str] = frozenset()) -> None:
        """Remove what earlier runs wrote for these inputs and this one did not; then write the manifest. `planned`: the
        targets of all parts of a run."""
        current = {self._root_key(r) for r in roots}
        others = planned if self.shard else frozenset[str]()
        for target, (digest, root) in self._known.items():
            if target in self._now or target in others or not reachable(self.out, target):
                continue
            if self.shard and part_of(target, self.shard[1]) != self.shard[0]:
                continue
            if root in current:
                self._remove(target, digest)
            elif os.path.lexists(self.out / target):
                self._now[target] = (digest, root)
        for target in self._unused_headers():  # once the files that named them are gone
            digest, _ = self._now.pop(target)
            self._remove(target, digest)
        self._manifest.save(self._now)

    def _remove(self, target: str, digest: str) -> None:
        """Remove a file that we wrote, unless somebody has edited it."""
        path = self.out / target
        if digest_of(path) == digest:
            path.unlink()
            self._prune(path.parent)

    def _unused_headers(self) -> set[str]:
        """Helper headers of earlier runs that nothing in the output names any more: no file of this run, no one of
        another input, and none that somebody has edited or put there. Where that cannot be told there are none."""
        brought = {f"{HELPERS}/{name}" for name in self._helpers.brought}
        unused = {target for target, (_, root) in self._now.items() if not root} - brought
        if not unused or self.shard:  # a part of a run does not know what the others bring
            return set()
        try:
            todo = [path for path in self._files_there() if path.relative_to(self.out).as_posix() not in unused]
            while todo and unused:
                data = _text(todo.pop())
                named = {t for t in unused if any(q + os.path.basename(t).encode() in data for q in (b'"', b"/"))}  # noqa: PTH119
                todo += [self.out / target for target in named]
                unused -= named
        except OSError:
            return set()
        return unused

    def _files_there(self) -> Iterator[Path]:
        """All regular files in the output except our state. Raises OSError."""
        for folder, folders, names in os.walk(self.out, onerror=_refuse):
            here = Path(folder)
            if here == self.out and STATE in folders:
                folders.remove(STATE)
            yield from (here / name for name in names if stat.S_ISREG(_kind(f"{folder}{os.sep}{name}")))

    def keep(self) -> None:
        """Write the manifest of a run that was cut short; where that cannot be, its journal stays."""
        with contextlib.suppress(OSError):
            self._manifest.save({**self._known, **self._now})

    def close(self) -> None:
        self._manifest.close()

    def _blocks(self, item: Item) -> bool:
        """Whether something that is not ours is at an item's place."""
        path = f"{self.out}{os.sep}{item.target}"
        mode = _kind(path)
        if not mode:
            return False
        if stat.S_ISDIR(mode):
            return item.kind != "folder" and not self._all_ours(Path(path))
        if item.target in self._known:
            return False
        return item.kind == "folder" or (not self.force and not self._same(item, path))

    def _state_of(self, folder: str) -> str:
        """What a folder of the output is: "folder", "absent", "ours" (a file of ours that gives way) or "foreign"."""
        new: list[str] = []
        while folder and folder not in self._folders:
            new.append(folder)
            folder = folder.rpartition("/")[0]
        state = self._folders.get(folder, "folder")
        for name in reversed(new):
            if state == "folder":
                state = self._state_inside(name)
            self._folders[name] = state
        return state

    def _state_inside(self, folder: str) -> str:
        """The state of a folder whose parent is a folder."""
        path = f"{self.out}{os.sep}{folder}"
        mode = _kind(path)
        if not mode:
            return "absent"
        if stat.S_ISDIR(mode):
            return "folder"
        return "ours" if self._known.get(folder, ("", ""))[0] == digest_of(path) else "foreign"

    def _root_key(self, root: Root) -> str:
        """Names an input in the manifest without a machine's absolute path."""
        key = self._keys.get(root.path)
        if key is None:
            try:
                key = os.path.relpath(root.path, self.out.resolve()).replace(os.sep, "/")
            except ValueError:  # another drive
                key = root.path.as_posix()
            self._keys[root.path] = key
        return key

    def _input_digest(self, item: Item) -> str:
        if item.kind == "link":
            return f"link:{item.link}"
        with open(item.name, "rb") as f:  # noqa: PTH123
            return hashlib.file_digest(f, "sha256").hexdigest()

    def _same(self, item: Item, path: str) -> bool:
        """Whether a foreign file holds what we would write; of a source nobody knows yet."""
        return not item.converts and digest_of(path) == self._input_digest(item)

    def _make_room(self, folder: str) -> None:
        """The folder of an item. A link or file of ours where a folder must be gives way; a foreign one does not."""
        if folder in self._ready:
            return
        path = self.out
        for part in folder.split("/") if folder else ():
            path = path / part
            if real_folder(path):
                continue
            if os.path.lexists(path) and not real_folder(path):  # another part of this run may have made it just now
                target = path.relative_to(self.out).as_posix()
                if self._known.get(target, ("", ""))[0] != digest_of(path):
                    raise CannotRun(f"{path} is not a folder of cu2port's, and {folder} must be in it; remove it")
                path.unlink(missing_ok=True)  # another part of this run may be first
            path.mkdir(exist_ok=True)
        self._ready.add(folder)

    def _all_ours(self, folder: Path) -> bool:
        """Whether a folder holds nothing but what earlier runs wrote, unchanged."""
        for path in folder.rglob("*"):
            if real_folder(path):
                continue
            known = self._known.get(path.relative_to(self.out).as_posix(), ("", ""))[0]
            if known != digest_of(path):
                return False
        return True

    def _remove_ours(self, folder: Path) -> bool:
        """Remove a folder that holds nothing but files of ours; False: somebody has put another one there."""
        if not self._all_ours(folder):
            return False
        inner = sorted(folder.rglob("*"), reverse=True)
        for path in inner:
            if not real_folder(path):
                path.unlink()
        try:
            for path in (*(p for p in inner if real_folder(p)), folder):
                path.rmdir()
        except OSError:
            return False
        return True

    def _prune(self, folder: Path) -> None:
        while folder != self.out:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent


def _kind(path: str) -> int:
    """The mode of what is at a path, links not followed; 0 for nothing."""
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _refuse(error: OSError) -> None:
    raise error


def _text(path: Path) -> bytes:
    """What a file says; nothing for one that is too large to be a source."""
    return path.read_bytes() if path.stat().st_size <= _AT_ONCE else b""


def _whole(name: str) -> bytes | None:
    """The bytes of a file; None for a large one."""
    descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        size = os.fstat(descriptor).st_size
        return read_open(descriptor, size) if size <= _AT_ONCE else None
    finally:
        os.close(descriptor)


def _copy(name: str, to: BinaryIO) -> str:
    """Copy a file; the digest of what was copied."""
    found = hashlib.sha256()
    with open(name, "rb") as f:  # noqa: PTH123
        while part := f.read(1 << 20):
            found.update(part)
            to.write(part)
    return found.hexdigest()
