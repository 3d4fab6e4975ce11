"""What a file's includes lead to: a result holds as long as that stays the same.

A conversion reads more than its file: libclang, and the rules that count lanes, look into headers of the project. All
of them look beside the file that includes, in the include folders, beside the first file and in folders above it. Here
all of these places are taken, and what is found at any of them counts: more than is read, and never less.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cu2port.core.circles import components
from cu2port.core.files import may_include, read_regular
from cu2port.core.late import regex

#: Every place where a text may name a file for the preprocessor to look at; what precedes the word decides.
_WORD = regex(rb"(?:include|import|embed)(?:_next)?\b[ \t]*\(?[ \t]*(?:([\"<])([^\">\r\n]+)[\">])?")
_ODD_START = (b"*/", b"%:", b"?" + b"?=", b"\\\n", b"\\\r\n", b"\v", b"\f")  # of a directive that is written otherwise
_ODD = regex(rb"#[ \t]*(?:/\*|(?:[ie][a-z_]*)?\\\r?\n|[\v\f])")
_FAR = 80  # bytes before a word that are looked at
_MOST_FILES = 2_000  # that one file leads to
_EACH = 64  # headers that a run looks at for each of its files, on average; CUTLASS needs 25
_MOST_BYTES = 64 << 20
_ABOVE = 5  # folders above the file's own
_NO_NAMES = ("", ".", "..")
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


class _Node(NamedTuple):
    """A header as it is reached: its file, and the folder that its includes begin at, both with links resolved."""

    real: str
    here: str


class _Hit(NamedTuple):
    """A file that is where an include may mean it: as it is opened, where it really is, and as it is reached."""

    file: str
    real: str
    nodes: tuple[_Node, ...]


class _Texts(NamedTuple):
    """What some includes of one folder may mean. `parts`: what is found at which place, and the node of what is read;
    `doubt`: a macro names some of them; `known`: whether all are known."""

    parts: tuple[tuple[str, _Node | None], ...] = ()
    doubt: bool = False
    known: bool = True


class _Around:
    """What the files of one folder share: the places where an include may be found, and digests of headers."""

    def __init__(self, home: str, dirs: Sequence[str]) -> None:
        self.home, self.dirs = home, dirs
        self.all: list[_Place] = []  # but for those of the folder that an include is in
        self.fronts: tuple[str, ...] = ()  # how names begin of what is in the folder, or in one of -I
        self.places: dict[str, list[_Place]] = {}
        self.inner: dict[_Node, _Texts] = {}
        self.digests: dict[_Node, str] = {}  # of all that a header leads to; "" where that is not known


class Reach:
    """Digests of what files include, each header read once in a run. `known`: texts that were read already, by absolute
    path."""

    def __init__(self, known: Callable[[str], Text | None] = lambda path: None) -> None:
        self._known = known
        self._listings: dict[str, dict[str, bool]] = {}
        self._links: dict[str, bool | None] = {}
        self._real: dict[str, str] = {}
        self._parents: dict[str, list[_Place]] = {}
        self._plain: dict[str, bool] = {}
        self._texts: dict[str, Text | None] = {}
        self._hits: dict[tuple[str, str, bool], _Hit | None] = {}
        self._around: dict[tuple[str, Sequence[str]], _Around] = {}
        self._left = _MOST_FILES  # how many headers may still be looked at

    def digest(self, path: str, names: Names, dirs: Sequence[str]) -> str:
        """A digest of every header that a file may reach; "" when that is not known. It begins with DOUBT where a macro
        names one of them, so that only a compiler knows. `path`: absolute; `names`: what the file includes; `dirs`: the
        folders of -I.

        Headers that reach each other have one digest, made of theirs and of those of what they lead to: what a header
        leads to is looked at once for all files of a folder.
        """
        self._left += _EACH
        home = os.path.dirname(path)  # noqa: PTH120 - for every file of a tree
        around = self._around.get((home, dirs))
        if around is None:
            around = self._around[home, dirs] = _Around(home, dirs)
            around.all = self._all_places(home, dirs)
            around.fronts = tuple(f"{self._real_folder(f)}{os.sep}" for f in (home, *dirs))
        first = self._look(around, home, names)
        nodes = [node for _, node in first.parts if node is not None]
        if not first.known or not self._complete(around, nodes):
            return ""
        below = {node: around.digests[node] for node in nodes}
        if "" in below.values():
            return ""
        parts = [f"{d}{os.sep}{self._text_of_folder(d, home)}" for d in dirs]
        parts += [f"{text}\0{below[node] if node else ''}" for text, node in first.parts]
        return _digest(first.doubt or any(d.startswith(DOUBT) for d in below.values()), parts)

    def _complete(self, around: _Around, nodes: Sequence[_Node]) -> bool:
        """Find the digests of some headers; whether that could be done. It ends at too many headers."""
        new: dict[_Node, None] = dict.fromkeys(n for n in nodes if n not in around.digests)
        todo = list(new)
        while todo:
            node = todo.pop()
            if node not in around.inner:
                if not self._left:
                    return False
                self._left -= 1
                text = self._texts[node.real]
                around.inner[node] = self._look(around, node.here, text.names if text is not None else None)
            for _, to in around.inner[node].parts:
                if to is not None and to not in around.digests and to not in new:
                    new[to] = None
                    todo.append(to)
            if len(new) > _MOST_FILES:
                return False

        def targets(node: _Node) -> Iterator[_Node]:
            return (to for _, to in around.inner[node].parts if to is not None and to not in around.digests)

        for group in components(new, targets):
            found = _of_group(around, group)
            around.digests.update(dict.fromkeys(group, found))
        return True

    def _look(self, around: _Around, here: str, names: Names) -> _Texts:
        """What the includes of a text in a folder may mean."""
        if names is None:
            return _Texts(known=False)
        parts: list[tuple[str, _Node | None]] = []
        front = f"{self._real_folder(here)}{os.sep}"
        for label, hit in self._found(around, here, names):
            allowed = hit.real.startswith((front, *around.fronts)) or self._may_include(hit.file)
            text = self._text(hit.file, hit.real) if allowed else None
            said = f"{label}\0{_shown(hit.real, around.home)}\0{text.digest.hex() if text else allowed}"
            parts += [(said, None if text is None else node) for node in hit.nodes]
        return _Texts(tuple(parts), "" in names)

    def _found(self, around: _Around, here: str, names: Iterable[str]) -> Iterator[tuple[str, _Hit]]:
        """What tells the place, and what is there, of all that some names may mean."""
        places = around.places.get(here)
        if places is None:
            inner = self._with_inner("here", here, self._listing(here))
            near = {place.folder for place in inner}
            places = around.places[here] = [*inner, *(p for p in around.all if p.folder not in near)]
        for name in names:
            for label, where, names_there in places:
                key = (where, name, names_there is None)
                if key not in self._hits:
                    self._hits[key] = self._hit(where, name, names_there)
                hit = self._hits[key]
                if hit is not None:
                    yield f"{label}\0{name}", hit

    def _hit(self, where: str, name: str, names_there: dict[str, bool] | None) -> _Hit | None:
        """What a name means in one place."""
        folder, _, last = name.rpartition("/")
        if not last:
            return None
        if not folder:
            file = f"{where}/{last}"
            is_link = self._is_link(file) if names_there is None else names_there.get(last)
        elif self._is_link(f"{where}/{folder.partition('/')[0]}") is None:
            return None
        else:
            where = self._inside(where, folder)
            file = f"{where}/{last}"
            is_link = self._is_link(file)
        if is_link is None:
            return None
        real = os.path.realpath(file) if is_link else f"{self._real_folder(where)}{os.sep}{last}"
        if not is_link and not folder:
            return _Hit(file, real, (_Node(real, self._real_folder(where)),))
        # beside the name that a link has, and beside the file: not all readers resolve links
        folders = dict.fromkeys(self._real_folder(os.path.dirname(f)) for f in (file, real))  # noqa: PTH120
        return _Hit(file, real, tuple(_Node(real, folder) for folder in folders))

    def _inside(self, where: str, folder: str) -> str:
        """A folder as named from another. `..` is taken off where no link is on the way, so that each folder has one
        name however it is reached, and is looked at once."""
        if folder.startswith("..") and self._real_folder(where) == where:
            up, _, rest = folder.partition("/")
            while up == "..":
                where = os.path.dirname(where)  # noqa: PTH120
                up, _, rest = rest.partition("/")
            folder = f"{up}/{rest}" if rest else up
        return f"{where}/{folder}" if folder else where

    def _all_places(self, home: str, dirs: Sequence[str]) -> list[_Place]:
        """Where includes of any file may be found: in the first file's folder, in those of -I, and above."""
        parent = os.path.dirname(home)  # noqa: PTH120
        if not dirs and parent != home:  # as for most trees: files of many folders share those above
            if parent not in self._parents:
                self._parents[parent] = [
                    place
                    for n, folder in enumerate(self._folders_above(home), 1)
                    for place in self._with_inner(str(n), folder, None)
                ]
            return [*self._with_inner("0", home, self._listing(home)), *self._parents[parent]]
        found = []
        for n, folder in enumerate(dict.fromkeys((home, *dirs, *self._folders_above(home)))):
            # others than its own may be nobody's business: they are asked for names, not opened
            found += self._with_inner(str(n), folder, None if n else self._listing(folder))
        return found

    @staticmethod
    def _folders_above(home: str) -> dict[str, None]:
        found: dict[str, None] = {}
        for _ in range(_ABOVE):
            home = os.path.dirname(home)  # noqa: PTH120
            found[home] = None
        return found

    def _with_inner(self, label: str, folder: str, names: dict[str, bool] | None) -> list[_Place]:
        inner = ((f"{label}{name}", f"{folder}/{name}") for name in _INNER)
        here = (_Place(x, path, None) for x, path in inner if self._is_link(path) is not None)
        return [_Place(label, folder, names), *here]

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
        """A folder with links resolved: below one that is known only its own name is looked at."""
        new: list[tuple[str, str]] = []  # folders may be deeper than functions may call each other
        while (found := self._real.get(folder)) is None:
            above, _, name = folder.rpartition(os.sep)
            if not above or name in _NO_NAMES or self._is_link(folder) is not False:
                found = self._real[folder] = os.path.realpath(folder)
                break
            new.append((folder, name))
            folder = above
        for inner, name in reversed(new):
            found = self._real[inner] = f"{found.rstrip(os.sep)}{os.sep}{name}"
        return found

    def _text_of_folder(self, folder: str, home: str) -> str:
        """What counts of a folder of -I itself: where it is, and whether it is a toolkit's."""
        toolkit = self._is_link(f"{folder}/{_TOOLKIT}") is not None
        return f"{os.path.relpath(self._real_folder(folder), home)}{os.sep}{toolkit}"

    def _may_include(self, file: str) -> bool:
        """Whether a file may be read because another includes it, if it is in none of the folders."""
        if file not in self._plain:
            self._plain[file] = may_include(Path(file), ())
        return self._plain[file]

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


def _of_group(around: _Around, group: Sequence[_Node]) -> str:
    """The digest of headers that reach each other; "" where not all that they lead to is known."""
    texts = [around.inner[node] for node in group]
    outer = {to: around.digests.get(to) for t in texts for _, to in t.parts if to is not None}  # None: in the group
    if not all(t.known for t in texts) or "" in outer.values():
        return ""
    parts = []
    for node, found in zip(group, texts, strict=True):
        inner = [f"{text}\0{(outer[to] or _shown(to.here, around.home)) if to else ''}" for text, to in found.parts]
        parts.append("\n".join((_shown(node.real, around.home), _shown(node.here, around.home), *inner)))
    doubt = any(t.doubt for t in texts) or any(d.startswith(DOUBT) for d in outer.values() if d)
    return _digest(doubt, sorted(parts))


def _digest(doubt: bool, parts: Sequence[str]) -> str:
    return DOUBT * doubt + hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _shown(real: str, home: str) -> str:
    """A path as seen from a folder, the same on every machine."""
    up = ""
    while not real.startswith(f"{home}{os.sep}") and home not in (real, os.sep, ""):
        home = os.path.dirname(home)  # noqa: PTH120
        up += "^"
    return up + real[len(home) :]
