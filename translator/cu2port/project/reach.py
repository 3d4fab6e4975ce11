"""What a file's includes lead to: a result holds as long as that stays the same.

A conversion reads more than its file: libclang, and the rules that count lanes, look into headers of the project. All
of them look beside the file that includes, in the include folders, beside the first file and in folders above it. Here
all of these places are taken, and what is found at any of them counts: more than is read, and never less.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cu2port.core.files import may_include, read_regular

#: Every place where a text may name a file for the preprocessor to look at; what precedes the word decides.
_WORD = re.compile(rb"(?:include|import|embed)(?:_next)?\b[ \t]*\(?[ \t]*(?:([\"<])([^\">\r\n]+)[\">])?")
_ODD_START = (b"*/", b"%:", b"?" + b"?=", b"\\\n", b"\\\r\n", b"\v", b"\f")  # of a directive that is written otherwise
_ODD = re.compile(rb"#[ \t]*(?:/\*|(?:[ie][a-z_]*)?\\\r?\n|[\v\f])")
_FAR = 80  # bytes before a word that are looked at
_MOST_FILES = 2_000
_MOST_BYTES = 64 << 20
_ABOVE = 5  # folders above the file's own
_INNER = ("include", "includes")
DOUBT = "?"
_TOOLKIT = "cuda_runtime_api.h"  # a folder that holds it is no folder of the project's

Names = tuple[str, ...] | None  # what a text includes; None: that is not known


class Text(NamedTuple):
    """The content of a file: the sha256 of its bytes, and what it includes."""

    digest: bytes
    names: Names


class _Place(NamedTuple):
    """A folder in which an include may be found. `label`: what it is to the file, the same on every machine; `names`:
    what is in it, each with whether it is a link; None for one that is not opened."""

    label: str
    folder: str
    names: dict[str, bool] | None


def look(data: bytes) -> Text:
    """What a text says."""
    return Text(hashlib.sha256(data).digest(), included(data))


def included(data: bytes) -> Names:
    """The names in every include of a text, in all branches, "" for those that a macro gives; None if some directive is
    written in an odd way."""
    if _ODD.search(data) is not None:
        return None
    found: dict[bytes, None] = {}
    for m in _WORD.finditer(data):
        start = m.start()
        before = data[max(0, start - _FAR) : start].rstrip(b" \t")
        if before.endswith(_ODD_START) or (not before and start >= _FAR):
            return None
        if not before.endswith((b"#", b"__has_")):
            continue  # a word in a comment or string
        name = m[2] or b""
        if m[0].startswith(b"embed") or b"\0" in name or name.startswith(b"/"):
            return None
        found[name] = None
    return tuple(map(os.fsdecode, found))


class Reach:
    """Digests of what files include, each header read once in a run. `known`: texts that were read already, by absolute
    path."""

    def __init__(self, known: Callable[[str], Text | None] = lambda path: None) -> None:
        self._known = known
        self._listings: dict[str, dict[str, bool]] = {}
        self._links: dict[str, bool | None] = {}
        self._real: dict[str, str] = {}
        self._texts: dict[str, Text | None] = {}
        self._places: dict[tuple[str, str, Sequence[str]], list[_Place]] = {}

    def digest(self, path: str, names: Names, dirs: Sequence[str]) -> str:
        """A digest of every header that a file may reach; "" when that is not known. It begins with DOUBT where a macro
        names one of them, so that only a compiler knows. `path`: absolute; `names`: what the file includes; `dirs`: the
        folders of -I."""
        if names is None:
            return ""
        home = os.path.dirname(path)  # noqa: PTH120 - for every file of a tree
        parts = [f"{d}{os.sep}{self._text_of_folder(d, home)}" for d in dirs]
        seen: set[str] = {path}
        doubt = ""
        todo = [(home, names)]
        while todo:
            here, wanted = todo.pop()
            doubt = DOUBT if "" in wanted else doubt
            for label, file, real in self._found(here, home, dirs, wanted):
                allowed = self._allowed(file, real, here, home, dirs)
                text = self._text(file, real) if allowed else None
                shown = real[len(home) :] if real.startswith(home) else os.path.relpath(real, home)
                parts.append(f"{label}\0{shown}\0{text.digest.hex() if text else allowed}")
                if text is None or real in seen:
                    continue
                seen.add(real)
                if text.names is None or len(seen) > _MOST_FILES:
                    return ""
                todo.append((os.path.dirname(file), text.names))  # noqa: PTH120
        return doubt + hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()

    def _found(self, here: str, home: str, dirs: Sequence[str], names: Iterable[str]) -> Iterator[tuple[str, str, str]]:
        """(what tells the place, file as it is opened, where that really is) of all that some names may mean."""
        places = self._places_of(here, home, dirs)
        for name in names:
            folder, _, last = name.rpartition("/")
            if not last:
                continue
            for label, where, names_there in places:
                if folder:
                    where = f"{where}/{folder}"
                    names_there = None
                file = f"{where}/{last}"
                is_link = self._is_link(file) if names_there is None else names_there.get(last)
                if is_link is not None:
                    real = os.path.realpath(file) if is_link else f"{self._real_folder(where)}{os.sep}{last}"
                    yield f"{label}\0{name}", file, real

    def _places_of(self, here: str, home: str, dirs: Sequence[str]) -> list[_Place]:
        key = (here, home, dirs)
        found = self._places.get(key)
        if found is None:
            folders = [here, home, *dirs]
            above = home
            for _ in range(_ABOVE):
                above = os.path.dirname(above)  # noqa: PTH120
                folders.append(above)
            found = []
            for n, folder in enumerate(dict.fromkeys(folders)):
                own = folder in (here, home)  # others may be nobody's business: they are asked for names, not opened
                found.append(_Place(str(n), folder, self._listing(folder) if own else None))
                inner = [(f"{n}{name}", f"{folder}/{name}") for name in _INNER]
                found += [_Place(label, path, None) for label, path in inner if self._is_link(path) is not None]
            self._places[key] = found
        return found

    def _is_link(self, path: str) -> bool | None:
        """Whether something is a link; None if there is nothing."""
        if path not in self._links:
            try:
                self._links[path] = stat.S_ISLNK(os.lstat(path).st_mode)
            except (OSError, ValueError):
                self._links[path] = None
        return self._links[path]

    def _listing(self, folder: str) -> dict[str, bool]:
        """The names in a folder, each with whether it is a link; none if there is no such folder."""
        found = self._listings.get(folder)
        if found is None:
            try:
                with os.scandir(folder) as entries:
                    found = {e.name: e.is_symlink() for e in entries}
            except (OSError, ValueError):
                found = {}
            self._listings[folder] = found
        return found

    def _real_folder(self, folder: str) -> str:
        found = self._real.get(folder)
        if found is None:
            found = self._real[folder] = os.path.realpath(folder)
        return found

    def _text_of_folder(self, folder: str, home: str) -> str:
        """What counts of a folder of -I itself: where it is, and whether it is a toolkit's."""
        toolkit = self._is_link(f"{folder}/{_TOOLKIT}") is not None
        return f"{os.path.relpath(self._real_folder(folder), home)}{os.sep}{toolkit}"

    def _allowed(self, file: str, real: str, here: str, home: str, dirs: Sequence[str]) -> bool:
        """Whether a file may be read because one in `here` includes it."""
        around = [self._real_folder(f) for f in (here, home, *dirs)]
        if any(real.startswith(f"{f}{os.sep}") for f in around):
            return True  # `may_include` says the same, and a Path for each of them costs more than all the rest
        return may_include(Path(file), map(Path, around))

    def _text(self, file: str, real: str) -> Text | None:
        if real not in self._texts:
            text = self._known(real)
            if text is None:
                try:
                    text = look(read_regular(file, _MOST_BYTES))
                except (OSError, ValueError):
                    text = None
            self._texts[real] = text
        return self._texts[real]
