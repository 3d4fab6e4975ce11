"""Writing: whole files or none, and nothing that is not ours is lost.

`TreeOutput` fills an output folder and remembers in `OUT/.cu2port/manifest.json` what it wrote there. `InPlace` writes
changed files back. Both put the travelling headers beside what needs them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from cu2port import troubles
from cu2port.jobs import OURS
from cu2port.model import Judged
from cu2port.project import STATE, CannotRun, Item, Root

HELPERS = "cu2port"  # the folder of travelling headers
_MANIFEST = "cu2port-manifest/1"
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"(?:cu2port/)?([\w.]+)"', re.M)
_UNKNOWN = "*"  # written by a run that did not end: ours, whatever it holds


@contextlib.contextmanager
def replacing(path: Path | str, mode: int | None = None) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends without an error, and leaves no trace otherwise."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name[:200]}.{os.getpid()}.cu2port")  # noqa: PTH118 - see Item.name
    done = False
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as f:
            yield f
        if mode is not None:
            os.chmod(temporary, mode)  # noqa: PTH101
        os.replace(temporary, path)  # noqa: PTH105
        done = True
    finally:
        if not done:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)  # noqa: PTH108


def write(path: Path | str, data: bytes, mode: int | None = None) -> None:
    """Write a file whole or not at all; `mode` None: as the umask has it."""
    with replacing(path, mode) as f:
        f.write(data)


def digest_of(path: Path | str) -> str:
    """What the manifest says of a thing: the sha256 of a file, or where a link leads."""
    if os.path.islink(path):  # noqa: PTH114
        return f"link:{os.readlink(path)}"  # noqa: PTH115
    return _sha256(str(path))


def _sha256(name: str) -> str:
    with open(name, "rb") as f:  # noqa: PTH123 - asked for every file of a tree
        return hashlib.file_digest(f, "sha256").hexdigest()


def _mode(name: Path | str) -> int:
    return stat.S_IMODE(os.stat(name).st_mode)  # noqa: PTH116


class Helpers:
    """The headers that travel with converted code, taken from the package."""

    def __init__(self) -> None:
        self._folder = Path(__file__).parent / "include" / HELPERS

    def closure(self, names: frozenset[str]) -> dict[str, bytes]:
        """The headers and those they include. A name the package lacks is a fault of ours: CannotRun."""
        found: dict[str, bytes] = {}
        todo = sorted(names)
        while todo:
            name = todo.pop().removeprefix(f"{HELPERS}/")
            if name in found:
                continue
            path = self._folder / name
            if not path.is_file():
                raise CannotRun(f"internal error: the travelling header {name} is not in the package; please report it")
            found[name] = path.read_bytes()
            todo += [m.decode() for m in _INCLUDE.findall(found[name]) if (self._folder / m.decode()).is_file()]
        return found

    def put(self, folder: Path, names: frozenset[str]) -> tuple[list[Path], list[tuple[Path, Judged]]]:
        """Write the headers to `folder/cu2port/`. Returns what stands there now, and foreign files in the way."""
        written: list[Path] = []
        blocked: list[tuple[Path, Judged]] = []
        for name, data in sorted(self.closure(names).items()):
            path = folder / HELPERS / name
            if os.path.lexists(path) and not _is_ours(path):
                message = f"not cu2port's, but converted code needs its own {name} at this place; rename or move it"
                blocked.append((path, troubles.FOREIGN_HEADER.on_file(message)))
                continue
            if not path.exists() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                write(path, data)
            written.append(path)
        return written, blocked


def _is_ours(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as f:
        return f.readline().startswith(OURS)


@dataclass
class TreeOutput:
    """An output folder.

    The manifest maps each path we wrote to [digest, input]: a file that still has its digest may be replaced, or
    removed when that input no longer has it. A file with another digest was edited by someone and is theirs.
    """

    out: Path
    force: bool = False
    _known: dict[str, tuple[str, str]] = field(default_factory=dict)
    _now: dict[str, tuple[str, str]] = field(default_factory=dict)
    _ready: set[str] = field(default_factory=set)
    _keys: dict[Path, str] = field(default_factory=dict)

    def prepare(self, items: Sequence[Item]) -> None:
        """Look before the first write. Raises CannotRun when files that are not ours stand in the way."""
        if os.path.lexists(self.out) and not self.out.is_dir():
            raise CannotRun(f"{self.out}: -o must name a folder here, and this is a file")
        self._known = self._load()
        blocked = []
        fresh = []
        for item in items:
            if item.kind == "none":
                continue
            if not os.path.lexists(f"{self.out}{os.sep}{item.target}"):
                fresh.append(item)
                continue
            path = self.out / item.target
            if item.target in self._known and not path.is_dir():
                continue
            if path.is_dir() and not path.is_symlink():
                if item.kind != "folder" and not self._all_ours(path):
                    blocked.append(item.target)
            elif item.kind == "folder" or (not self.force and not self._same(item, path)):
                blocked.append(item.target)
        if blocked:
            some = ", ".join(blocked[:5]) + (f" and {len(blocked) - 5} more" if len(blocked) > 5 else "")
            raise CannotRun(
                f"{self.out} holds files that cu2port did not write and would replace: {some}; "
                "choose another folder, or --force"
            )
        self.out.mkdir(parents=True, exist_ok=True)
        coming = {i.target: (_UNKNOWN, self._root_key(i.root)) for i in fresh if i.target not in self._known}
        self._save({**self._known, **coming})  # so that a run that is cut short still knows its files

    def put(self, item: Item, data: bytes | None) -> Judged | None:
        """Write one item; `data` None: as it is in the input. Returns what stood in the way."""
        path = f"{self.out}{os.sep}{item.target}"
        self._make_room(item)
        if item.kind == "folder":
            Path(path).mkdir(exist_ok=True)
            return None
        try:
            there = os.lstat(path).st_mode
        except FileNotFoundError:
            there = 0
        if stat.S_ISDIR(there):
            shutil.rmtree(path)  # `prepare` saw that all in it is ours
            there = 0
        new = hashlib.sha256(data).hexdigest() if data is not None else self._input_digest(item)
        old = self._known.get(item.target, ("", ""))[0]
        now = digest_of(path) if there else None
        if now != new and now is not None and not self.force and old not in (now, _UNKNOWN):
            self._now[item.target] = (old, self._root_key(item.root))
            if old == new:
                return None  # edited since, and we have nothing new to say: theirs stays
            return troubles.IN_THE_WAY.on_file(
                f"{path} was changed since cu2port wrote it, and its source changed too; merge by hand, or --force"
            )
        if now == new and not old:
            return None  # there before us and the same: it stays theirs
        self._now[item.target] = (new, self._root_key(item.root))
        if item.kind == "link":
            if now != new:
                Path(path).unlink(missing_ok=True)
                Path(path).symlink_to(item.link, target_is_directory=item.path.is_dir())
            return None
        mode = _mode(item.name)
        if now == new:
            if stat.S_IMODE(there) != mode:
                os.chmod(path, mode)  # noqa: PTH101
        elif data is not None:
            write(path, data, mode)
        else:
            with open(item.name, "rb") as source, replacing(path, mode) as f:  # noqa: PTH123
                shutil.copyfileobj(source, f, 1 << 20)
        return None

    def lost(self, item: Item) -> None:
        """An item that could not be read: what an earlier run wrote for it stays ours and stays there."""
        if item.target in self._known:
            self._now[item.target] = self._known[item.target]

    def finish(self, roots: Sequence[Root], helpers: Sequence[Path] = ()) -> None:
        """Remove what earlier runs wrote for these inputs and this one did not; then write the manifest."""
        for path in helpers:
            self._now[path.relative_to(self.out).as_posix()] = (digest_of(path), "")
        current = {self._root_key(r) for r in roots}
        for target, (digest, root) in self._known.items():
            path = self.out / target
            if target in self._now or not os.path.lexists(path):
                continue
            if root not in current:
                self._now[target] = (digest, root)
            elif not path.is_dir() and digest in (_UNKNOWN, digest_of(path)):
                path.unlink()
                self._prune(path.parent)
        self._save(self._now)

    def keep(self) -> None:
        """Write the manifest of a run that was cut short."""
        self._save({**self._known, **self._now})

    def _load(self) -> dict[str, tuple[str, str]]:
        path = self.out / STATE / "manifest.json"
        try:
            content = json.loads(path.read_bytes())
            return {str(k): (str(v[0]), str(v[1])) for k, v in content["files"].items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as e:
            raise CannotRun(f"{path} is damaged; remove it, then use --force to replace what it stood for") from e

    def _save(self, content: dict[str, tuple[str, str]]) -> None:
        path = self.out / STATE / "manifest.json"
        path.parent.mkdir(exist_ok=True)
        text = json.dumps({"schema": _MANIFEST, "files": dict(sorted(content.items()))}, indent=0)
        write(path, text.encode() + b"\n")

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
        return f"link:{item.link}" if item.kind == "link" else _sha256(item.name)

    def _same(self, item: Item, path: Path) -> bool:
        """Whether a foreign file holds what we would write; of a source nobody knows yet."""
        return item.kind != "source" and digest_of(path) == self._input_digest(item)

    def _make_room(self, item: Item) -> None:
        """The folder of an item. A link or file of ours where a folder must be gives way; a foreign link does not."""
        folder = item.target.rpartition("/")[0]
        if folder in self._ready:
            return
        path = self.out
        for part in item.target.split("/")[:-1]:
            path = path / part
            if os.path.lexists(path) and (path.is_symlink() or not path.is_dir()):
                target = path.relative_to(self.out).as_posix()
                if self._known.get(target, ("", ""))[0] not in (_UNKNOWN, digest_of(path)):
                    raise CannotRun(f"{path} is not a folder of cu2port's, and {item.target} must lie in it; remove it")
                path.unlink()
        (self.out / folder).mkdir(parents=True, exist_ok=True)
        self._ready.add(folder)

    def _all_ours(self, folder: Path) -> bool:
        """Whether a folder holds nothing but what earlier runs wrote, unchanged."""
        for path in folder.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                continue
            known = self._known.get(path.relative_to(self.out).as_posix(), ("", ""))[0]
            if not path.is_symlink() and not path.is_file():
                return False
            if known not in (_UNKNOWN, digest_of(path)):
                return False
        return True

    def _prune(self, folder: Path) -> None:
        while folder != self.out:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent


class InPlace:
    """Writes changed files back where they were read."""

    def put(self, item: Item, data: bytes | None) -> None:
        """Write one changed file, or give it its new name. The old name goes last, so that no moment lacks both."""
        new = item.path.with_name(item.target.rpartition("/")[2])
        if item.kind == "link":
            if new != item.path:
                new.symlink_to(item.link)
                item.path.unlink()
            elif item.link != os.readlink(item.path):  # noqa: PTH115
                temporary = item.path.with_name(f".{item.path.name}.{os.getpid()}.cu2port")
                temporary.symlink_to(item.link)
                temporary.replace(item.path)
        elif data is not None:
            write(new, data, _mode(item.path))
            if new != item.path:
                item.path.unlink()
        elif new != item.path:
            item.path.rename(new)
