"""What a file's includes lead to: results that libclang had a part in hold as long as that stays the same."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from cu2port.core.files import may_include, read_regular

_INCLUDE = re.compile(
    rb"(?:^|[\r\n])[ \t]*#[ \t]*(?:include|include_next|import)\b[ \t]*(?:([\"<])([^\">\r\n]+)[\">])?"
)
_MOST_FILES = 2_000
_Includes = tuple[tuple[bool, str], ...]  # (whether in quotes, name)
_Header = tuple[bytes, _Includes | None]  # a digest of its bytes, and what it includes in turn
_MOST_BYTES = 64 << 20


class Reach:
    """Digests of what files include, each header read once in a run."""

    def __init__(self, include_dirs: Sequence[str]) -> None:
        self._dirs = tuple(include_dirs)
        self._files: dict[str, _Header | None] = {}
        self._allowed: dict[tuple[str, str], bool] = {}
        self._around: dict[str, list[Path]] = {}

    def digest(self, path: str, data: bytes) -> str:
        """A digest of every header that a file reaches, and of those that are not there; "" when that is not known
        (an include by macro, or more than 2,000 files)."""
        seen: dict[str, bytes] = {}
        start = _includes(data)
        if start is None:
            return ""
        above = [str(p) for p in Path(path).parents[:5]]
        home = os.path.dirname(path)  # noqa: PTH120
        todo = [(home, start)]
        total = 0
        while todo:
            folder, includes = todo.pop()
            for quoted, name in includes:
                places = (folder, *self._dirs) if quoted else self._dirs
                wider = [f"{p}{inner}" for p in (folder, *self._dirs, *above) for inner in ("", "/include")]
                for order in (places, wider):  # as libclang looks for it, and as `warp.headers` does
                    file, found = self._first([f"{place}/{name}" for place in order], home, seen)
                    if found is None:
                        continue
                    total += 1
                    if total > _MOST_FILES or found[1] is None:
                        return ""
                    todo.append((os.path.dirname(file), found[1]))  # noqa: PTH120
        text = b"".join(f"{file}\0".encode("utf-8", "surrogateescape") + mark for file, mark in sorted(seen.items()))
        return hashlib.sha256(text).hexdigest()

    def _first(self, paths: Iterable[str], home: str, seen: dict[str, bytes]) -> tuple[str, _Header | None]:
        """The first of some paths that has a header; None for it where there is none, or where it was seen before."""
        for path in paths:
            file = os.path.normpath(path)
            if file not in seen:
                found = self._read(file) if self._may(file, home) else None
                seen[file] = found[0] if found is not None else b""
                if found is not None:
                    return file, found
            elif seen[file]:
                break
        return "", None

    def _may(self, file: str, home: str) -> bool:
        """Whether sources of a folder may include a file."""
        known = self._allowed.get((file, home))
        if known is None:
            if home not in self._around:
                self._around[home] = [Path(os.path.realpath(d)) for d in (home, *self._dirs)]
            known = self._allowed[file, home] = may_include(Path(file), self._around[home])
        return known

    def _read(self, file: str) -> _Header | None:
        if file not in self._files:
            self._files[file] = _look(file)
        return self._files[file]


def _look(file: str) -> _Header | None:
    path = Path(file)
    try:
        data = read_regular(path, _MOST_BYTES)
    except (OSError, ValueError):
        return None
    return hashlib.sha256(data).digest(), _includes(data)


def _includes(data: bytes) -> _Includes | None:
    """(quoted, name) of every include; None if one is named by a macro."""
    out = []
    for m in _INCLUDE.finditer(data):
        if m[1] is None:
            return None
        out.append((m[1] == b'"', m[2].decode("latin-1")))
    return tuple(dict.fromkeys(out))
