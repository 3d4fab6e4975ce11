"""Commits and folders from git's object store, loose or packed (gitformat-pack). Nothing is run or written."""

from __future__ import annotations

import os
import re
import struct
import zlib
from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from cu2port.core.files import read_regular
from cu2port.core.late import dataclass

_MOST = 256 << 20  # bytes of a commit or a folder
_MOST_INDEX = 1 << 30
_BLOCK = 64 << 10
_LONGEST = 5_000  # deltas, one on another; git makes at most 4,095
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_BY_OFFSET, _BY_DIGEST = 6, 7


class GitError(Exception):
    """A repository that cannot be read. The message is one line: which file, and what is wrong with it."""


@dataclass(frozen=True)
class _Pack:
    """A pack: the table of its digests, and the file they are in."""

    table: bytes
    path: Path
    width: int

    def find(self, digest: bytes) -> int | None:
        """Where an object begins; None when it is not in this pack."""
        counts = struct.unpack_from(">256I", self.table, 8)
        low, high, total = counts[digest[0] - 1] if digest[0] else 0, counts[digest[0]], counts[255]
        names, w = 8 + 1024, self.width
        at = bisect_left(range(low, high), digest, key=lambda i: self.table[names + i * w : names + (i + 1) * w]) + low
        if at >= high or self.table[names + at * w : names + (at + 1) * w] != digest:
            return None
        offsets = names + total * (w + 4)
        (offset,) = struct.unpack_from(">I", self.table, offsets + 4 * at)
        if offset & 0x80000000:
            (offset,) = struct.unpack_from(">Q", self.table, offsets + 4 * total + 8 * (offset & 0x7FFFFFFF))
        return int(offset)


@dataclass
class Objects:
    """A folder `objects`. `width`: bytes of a digest."""

    folder: Path
    width: int

    def root_tree(self, commit: bytes) -> bytes:
        """The digest of a commit's top folder; empty for no commit. Raises GitError."""
        if not commit:
            return b""
        m = re.match(rb"tree ([0-9a-f]+)\n", self._read(commit, "commit"))
        if m is None:
            raise GitError(f"{self.folder}: {commit.hex()} is no commit")
        return bytes.fromhex(m[1].decode())

    def entries(self, tree: bytes) -> dict[str, bytes]:
        """Name -> digest of what a folder holds; names of folders end in `/`. Raises GitError."""
        data, at, found = self._read(tree, "tree"), 0, {}
        try:
            while at < len(data):
                end = data.index(b"\0", at)
                mode, _, name = data[at:end].partition(b" ")
                at = end + 1 + self.width
                found[os.fsdecode(name) + ("/" if mode == b"40000" else "")] = data[end + 1 : at]
        except ValueError as e:
            raise GitError(f"{self.folder}: {tree.hex()} is no folder") from e
        return found

    def _read(self, digest: bytes, kind: str) -> bytes:
        try:
            found, data = self._loose(digest) or self._packed(digest)
        except OSError as e:
            raise GitError(f"{e.filename or self.folder}: {e.strerror}") from e
        except (ValueError, IndexError, struct.error, zlib.error) as e:
            raise GitError(f"{self.folder}: {digest.hex()} is damaged") from e
        if found != kind:
            raise GitError(f"{self.folder}: {digest.hex()} is no {kind}")
        return data

    def _loose(self, digest: bytes) -> tuple[str, bytes] | None:
        name = digest.hex()
        for folder in self._folders:
            path = folder / name[:2] / name[2:]
            if path.is_file():
                with path.open("rb") as f:
                    head, _, data = _inflated(f, _MOST).partition(b"\0")
                return head.decode("ascii").partition(" ")[0], data
        return None

    def _packed(self, digest: bytes) -> tuple[str, bytes]:
        """An object of a pack: deltas down to a whole object, then up again."""
        deltas: list[bytes] = []
        pack, offset = self._place(digest)
        while True:
            with pack.path.open("rb") as f:
                f.seek(offset)
                kind, size, base, data = self._head(f.read(64), offset)
                f.seek(data)
                content = _inflated(f, size)
            if len(content) != size:
                raise ValueError
            if kind in _KINDS:
                break
            deltas.append(content)
            if len(deltas) > _LONGEST:
                raise ValueError
            if isinstance(base, int):
                offset = base
            else:
                loose = self._loose(base)
                if loose is not None:
                    return loose[0], _built(loose[1], deltas)
                pack, offset = self._place(base)
        return _KINDS[kind], _built(content, deltas)

    def _head(self, head: bytes, offset: int) -> tuple[int, int, int | bytes, int]:
        """Of an object in a pack: kind, size, the base of a delta, where its data begins."""
        at, shift = 1, 4
        kind, size = head[0] >> 4 & 7, head[0] & 15
        while head[at - 1] & 128:
            size |= (head[at] & 127) << shift
            shift += 7
            at += 1
        base: int | bytes = 0
        if kind == _BY_OFFSET:
            back = head[at] & 127
            while head[at] & 128:
                at += 1
                back = back + 1 << 7 | head[at] & 127
            at += 1
            base = offset - back
            if not 0 < base < offset:
                raise ValueError
        elif kind == _BY_DIGEST:
            base = head[at : at + self.width]
            at += self.width
        elif kind not in _KINDS:
            raise ValueError
        if size > _MOST:
            raise ValueError
        return kind, size, base, offset + at

    def _place(self, digest: bytes) -> tuple[_Pack, int]:
        for pack in self._packs:
            offset = pack.find(digest)
            if offset is not None:
                return pack, offset
        raise GitError(f"{self.folder}: the object {digest.hex()} is not there")

    @cached_property
    def _folders(self) -> list[Path]:
        """This store, and those that it borrows from."""
        path = self.folder / "info" / "alternates"
        lines = read_regular(path, 1 << 20).splitlines() if path.is_file() else []
        return [self.folder, *(self.folder / os.fsdecode(line) for line in lines if line and line[:1] != b"#")]

    @cached_property
    def _packs(self) -> list[_Pack]:
        found = []
        for path in sorted(p for folder in self._folders for p in (folder / "pack").glob("*.idx")):
            table, pack = read_regular(path, _MOST_INDEX), path.with_suffix(".pack")
            if table[:8] != b"\xfftOc\0\0\0\2" or len(table) < 8 + 1024:
                raise GitError(f"{path}: cu2port does not read this form of packs")
            if pack.is_file():
                found.append(_Pack(table, pack, self.width))
        return found


def _inflated(f: BinaryIO, most: int) -> bytes:
    """What is compressed in a file from here on; no more than `most` bytes of it."""
    stream, out = zlib.decompressobj(), bytearray()
    while len(out) <= most and not stream.eof:
        data = stream.unconsumed_tail or f.read(_BLOCK)
        if not data:
            raise ValueError
        out += stream.decompress(data, most + 1 - len(out))
    return bytes(out[:most])


def _built(base: bytes, deltas: list[bytes]) -> bytes:
    """An object from its base and the deltas on it, the last one first."""
    for delta in reversed(deltas):
        base = _applied(base, delta)
    return base


def _applied(base: bytes, delta: bytes) -> bytes:
    """What a delta makes of its base: parts of the base, and bytes of its own."""
    at = _skip(delta, _skip(delta, 0))  # the sizes before and after
    out = bytearray()
    while at < len(delta):
        op = delta[at]
        at += 1
        if op & 128:  # copy: the low bits say which bytes of offset and length follow
            start, at = _number(delta, at, op & 15)
            length, at = _number(delta, at, op >> 4 & 7)
            length = length or 0x10000
            if start + length > len(base):
                raise ValueError
            out += base[start : start + length]
        else:
            out += delta[at : at + op]
            at += op
        if not op or len(out) > _MOST:
            raise ValueError
    return bytes(out)


def _number(delta: bytes, at: int, given: int) -> tuple[int, int]:
    """A number with only some of its bytes written, the lowest first, and where the next one begins."""
    value = 0
    for k in range(4):
        if given >> k & 1:
            value |= delta[at] << 8 * k
            at += 1
    return value, at


def _skip(data: bytes, at: int) -> int:
    """Past a number of variable length."""
    while data[at] & 128:
        at += 1
    return at + 1
