"""Helper headers, `cu2port/*.hpp`: the ones that converted code includes, copied next to it."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from cu2port.core import file_rules
from cu2port.core.disk import ABSENT, Refused, digest_of, real_folder, replacing
from cu2port.core.late import regex
from cu2port.core.model import Judged
from cu2port.project.tree import CannotRun

HELPERS = "cu2port"  # the folder of helper headers
FIRST_BYTES = b"// cu2port "  # the first bytes of each of them
_INCLUDE = regex(rb'^(?:\xef\xbb\xbf)?[ \t]*#[ \t]*include[ \t]*"(?:cu2port/)?([\w.]+)"', re.M)


def included_helpers(data: bytes, prefix: str) -> frozenset[str]:
    """The helper headers that a converted text includes. `prefix`: how it reaches them, see `helper_prefix`."""
    mark = f'"{prefix}'.encode()
    if mark not in data:
        return frozenset()
    return frozenset(n.decode() for n in _written(mark).findall(data) if n in _package())


@lru_cache(maxsize=64)
def _written(mark: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*#[ \t]*include[ \t]*" + re.escape(mark) + rb"(\w+\.hpp)\"", re.M)


@lru_cache(maxsize=1)
def known_helpers() -> frozenset[str]:
    """The names of all helper headers."""
    return frozenset(map(os.fsdecode, _package()))


@lru_cache(maxsize=1)
def _package() -> frozenset[bytes]:
    return frozenset(os.fsencode(p.name) for p in (Path(__file__).parent.parent / "include" / HELPERS).glob("*.hpp"))


class HelperHeaders:
    """Copies the helper headers of the package to folders that need them, each once per folder."""

    def __init__(self, durable: bool = False) -> None:
        self._folder = Path(__file__).parent.parent / "include" / HELPERS
        self._durable = durable
        self._there: set[tuple[Path, str]] = set()

    def closure(self, names: frozenset[str]) -> dict[str, bytes]:
        """The headers and those they include, name -> content. Raises CannotRun for a name the package lacks."""
        found: dict[str, bytes] = {}
        todo = sorted(names)
        while todo:
            name = todo.pop().removeprefix(f"{HELPERS}/")
            if name in found:
                continue
            path = self._folder / name
            if not path.is_file():
                raise CannotRun(f"internal error: the helper header {name} is not in the package; please report it")
            found[name] = path.read_bytes()
            todo += [m.decode() for m in _INCLUDE.findall(found[name]) if (self._folder / m.decode()).is_file()]
        return found

    @property
    def brought(self) -> frozenset[str]:
        """The headers that were asked for, with those they include."""
        return frozenset(name for _, name in self._there)

    def put(self, folder: Path, names: frozenset[str]) -> tuple[list[Path], list[tuple[Path, Judged]]]:
        """Copy headers to `folder/cu2port/`. Returns the files written and the foreign files in the way, each once.
        Raises OSError."""
        written: list[Path] = []
        blocked: list[tuple[Path, Judged]] = []
        if all((folder, name) in self._there for name in names):
            return written, blocked
        for name, data in sorted(self.closure(names).items()):
            if (folder, name) in self._there:
                continue
            path = folder / HELPERS / name
            try:
                self._put(path, data)
                written.append(path)
            except Refused as e:
                message = f"{e}, but converted code needs cu2port's own {name} at this place; rename or move it"
                blocked.append((path, file_rules.FOREIGN_HEADER.on_file(message)))
            self._there.add((folder, name))
        return written, blocked

    def _put(self, path: Path, data: bytes) -> None:
        if not os.path.lexists(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        if not real_folder(path.parent):
            if path.is_file() and path.read_bytes() == data:
                return  # the user has it through a link
            raise Refused(f"`{HELPERS}` is a link or no folder")
        there = digest_of(path)
        if there != ABSENT:
            if not is_helper_file(path):
                raise Refused("not cu2port's")
            if path.read_bytes() == data:
                return
        try:
            with replacing(path, over=there, durable=self._durable) as f:
                f.write(data)
        except Refused:
            if not is_helper_file(path) or path.read_bytes() != data:  # unless another run has just written it
                raise


def is_helper(path: str, data: bytes) -> bool:
    """Whether a file is one of the helper headers: nobody has to port or judge it."""
    return data.startswith(FIRST_BYTES) and os.path.basename(os.path.dirname(path)) == HELPERS  # noqa: PTH119, PTH120


def is_helper_file(path: Path) -> bool:
    """Whether a file is a header that is_helper with converted code."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as f:
        return f.readline().startswith(FIRST_BYTES)
