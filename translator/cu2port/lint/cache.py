"""Results of earlier runs, kept in the user's cache folder under everything that they depend on.

A result is one small file, written whole and named by a digest of: the text, its name, the options, the rules that
count, the catalogue, and the code of this package. It begins with the checksum of what follows; a file that does
not hold to it is dropped and rebuilt. Old entries go when there are too many.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from cu2port.core.data import cache_dir
from cu2port.core.disk import write
from cu2port.core.kept import code_digest

_FORMAT = 4
_MOST = 5_000  # entries
_MOST_BYTES = 64 << 20
_KEEP = 0.75  # of those limits when entries are dropped
_SUM = 32


@dataclass(frozen=True, slots=True)
class Cache:
    """Entries in a folder; `settings`: all that is the same for every file of a run, as text."""

    folder: Path
    settings: str

    @classmethod
    def open(cls, settings: str) -> Cache:
        """The user's cache for a run with these settings."""
        return cls(cache_dir() / "lint", f"{_FORMAT} {code_digest()}\n{settings}")

    def key(self, path: str, codes: frozenset[str], data: bytes, project: str = "") -> str:
        """The name of a file's entry. `project`: what its tree says of it, as text."""
        h = hashlib.sha256(self.settings.encode("utf-8", "surrogateescape"))
        for part in (path.encode("utf-8", "surrogateescape"), ",".join(sorted(codes)).encode(), project.encode(), data):
            h.update(len(part).to_bytes(8, "little"))
            h.update(part)
        return h.hexdigest()

    def get(self, key: str) -> bytes | None:
        """What an earlier run kept, or None."""
        path = self.folder / key
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if hashlib.sha256(content[_SUM:]).digest() != content[:_SUM]:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # so that what is used stays
        return content[_SUM:]

    def put(self, key: str, content: bytes) -> None:
        """Keep a result. A cache that cannot be written is no reason to stop."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write(self.folder / key, hashlib.sha256(content).digest() + content)

    def prune(self) -> None:
        """Drop what was not used for longest when there is too much."""
        try:
            with os.scandir(self.folder) as found:
                entries = [(e.stat().st_mtime_ns, e.stat().st_size, e.path) for e in found if e.is_file()]
        except OSError:
            return
        total = sum(size for _, size, _ in entries)
        if len(entries) <= _MOST and total <= _MOST_BYTES:
            return
        count = len(entries)
        for _, size, path in sorted(entries):
            if count <= _MOST * _KEEP and total <= _MOST_BYTES * _KEEP:
                return
            with contextlib.suppress(OSError):
                Path(path).unlink()
            count, total = count - 1, total - size
