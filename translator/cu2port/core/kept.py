"""Results of earlier runs in the user's cache folder: bytes under digests, in one SQLite file of bounded size.

A key is a digest of everything that a result depends on, so nothing here is ever out of date. An entry begins with the
checksum of what follows. A cache that cannot be read or written is no reason to stop, and a damaged one is rebuilt.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cu2port.core.data import cache_dir, data_path
from cu2port.core.version import __version__

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")
MOST_BYTES = 1 << 30  # of entries; the longest unused go first
_KEEP = 0.75  # of that limit when entries are dropped
_FORMAT = 1
_SUM = 16
_AT_ONCE = 400  # keys in a question to SQLite
_DAY_S = 24 * 60 * 60
_PATIENCE_S = 10.0  # with other runs that write
_SCHEMA = (
    "DROP TABLE IF EXISTS kept",
    "CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, used INTEGER, size INTEGER, value BLOB)",
    "CREATE INDEX IF NOT EXISTS by_use ON kept (used, size)",
    f"PRAGMA user_version = {_FORMAT}",
)
_LIBRARIES = ("lark", "libcst", "tree-sitter", "tree-sitter-cmake")


@lru_cache(maxsize=1)
def code_digest() -> str:
    """A digest that changes with this package's code and rules, and with what else decides results: libraries,
    libclang, Python."""
    h = hashlib.sha256(f"{_FORMAT} {__version__} {sys.version} {sys.byteorder}".encode())
    package = Path(__file__).parent.parent
    for folder in (package, data_path("rules"), data_path("grammars")):
        for path in sorted(p for p in folder.rglob("*") if p.suffix != ".pyc" and p.is_file()):
            data = path.read_bytes()
            h.update(f"{path.relative_to(folder).as_posix()} {len(data)}\n".encode("utf-8", "surrogateescape"))
            h.update(data)
    for line in _tools():
        h.update(f"{line}\n".encode("utf-8", "surrogateescape"))
    return h.hexdigest()


def _tools() -> Iterator[str]:
    from importlib import metadata

    for name in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            yield f"{name} {metadata.version(name)}"


class Kept:
    """Entries of the user's cache. Many processes may use it at once; a connection is open no longer than a call."""

    def __init__(self, path: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        self._path = path or cache_dir() / "results.sqlite"
        self._most = most_bytes
        self._usable = True

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """What is there for some keys."""
        wanted = list(dict.fromkeys(keys))
        if not wanted or not self._path.is_file():
            return {}
        return self._with(lambda base: _found(base, wanted)) or {}

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep entries, in one step."""
        if not entries:
            return
        now = int(time.time())
        rows = [(key, now, len(value), _sum(value) + value) for key, value in entries.items()]
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
        self._with(
            lambda base: base.executemany(
                "INSERT OR REPLACE INTO kept (key, used, size, value) VALUES (?, ?, ?, ?)", rows
            )
        )

    def prune(self) -> None:
        """Drop what was not used for longest when there is too much."""
        if self._path.is_file():
            self._with(self._dropped)

    def _dropped(self, base: sqlite3.Connection) -> None:
        total = base.execute("SELECT sum(size) FROM kept").fetchone()[0] or 0
        if total <= self._most:
            return
        gone: list[tuple[int]] = []
        for row, size in base.execute("SELECT rowid, size FROM kept ORDER BY used"):
            gone.append((row,))
            total -= size
            if total <= self._most * _KEEP:
                break
        base.executemany("DELETE FROM kept WHERE rowid = ?", gone)

    def _with(self, step: Callable[[sqlite3.Connection], T]) -> T | None:
        """One step with a connection; None where there can be none. An error of SQLite ends the use of the cache."""
        if not self._usable:
            return None
        try:
            import sqlite3  # a run without a cache has no use for it, and some Pythons lack it
        except ImportError:
            self._usable = False
            return None
        base = None
        try:
            base = sqlite3.connect(self._path, timeout=_PATIENCE_S)
            base.execute("PRAGMA trusted_schema = OFF")
            with base:
                if base.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
                    for statement in _SCHEMA:
                        base.execute(statement)
                return step(base)
        except sqlite3.Error as e:
            self._usable = False
            if not isinstance(e, sqlite3.OperationalError):
                self._drop(base)
            return None
        finally:
            if base is not None:
                with contextlib.suppress(sqlite3.Error):
                    base.close()

    def _drop(self, base: sqlite3.Connection | None) -> None:
        """Remove a damaged cache, so that the next run makes one."""
        if base is not None:
            base.close()
        for path in (self._path, Path(f"{self._path}-journal")):
            with contextlib.suppress(OSError):
                if path.is_file() and os.access(path, os.W_OK):
                    path.unlink()


def _found(base: sqlite3.Connection, wanted: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    old: list[bytes] = []
    now = int(time.time())
    for at in range(0, len(wanted), _AT_ONCE):
        part = wanted[at : at + _AT_ONCE]
        marks = ",".join("?" * len(part))
        for key, used, value in base.execute(f"SELECT key, used, value FROM kept WHERE key IN ({marks})", part):
            content = _checked(value)
            if content is not None:
                found[bytes(key)] = content
                if now - int(used or 0) > _DAY_S:
                    old.append(bytes(key))
    if old:  # so that what is used stays
        base.executemany("UPDATE kept SET used = ? WHERE key = ?", [(now, key) for key in old])
    return found


def _sum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_SUM).digest()


def _checked(value: object) -> bytes | None:
    """An entry without its checksum; None for one that does not hold to it."""
    if not isinstance(value, bytes) or _sum(value[_SUM:]) != value[:_SUM]:
        return None
    return value[_SUM:]
