"""What cu2port remembers of an output folder in `OUT/.cu2port`: input of a stranger until it has been looked at.

`manifest.json` maps each path that was written to [digest, input]. While a run goes on, `journal` has a line of JSON
for each file before it gets its place, so that a run that is cut short still knows its files. Each part of a run that
is divided (`--shard`) has a manifest and a journal of its own; a run that is not takes them over.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from cu2port.core.disk import digest_of, real_folder, sweep_folder, write
from cu2port.core.late import regex
from cu2port.project.tree import STATE, CannotRun

_SCHEMA = "cu2port-manifest/1"
_MOST_BYTES = 256 << 20
_LONGEST = 4096  # characters of a path
_PATIENCE_S = 2.0  # with the workers of a run that was killed
_PART = regex(r"(?:manifest(?:-\d+-of-\d+)?\.json|journal(?:-\d+-of-\d+)?)")
_DIGEST = regex(r"[0-9a-f]{64}|link:.*", re.S)
Known = dict[str, tuple[str, str]]  # path -> (digest, input)


class Manifest:
    """The state of an output folder. Raises CannotRun for a folder or file that is not as cu2port makes it."""

    def __init__(self, out: Path, shard: tuple[int, int] | None = None) -> None:
        part = f"-{shard[0]}-of-{shard[1]}" if shard else ""
        self._shard = shard
        self._out = out
        self._folder = out / STATE
        self._path = self._folder / f"manifest{part}.json"
        self._journal = self._folder / f"journal{part}"
        self._log: BinaryIO | None = None
        self._saved: bytes | None = None  # its content

    def load(self) -> Known:
        """What earlier runs wrote. Every name leads to a place inside the folder, as it is written; what a run that
        was cut short left behind is cleared away."""
        if not os.path.lexists(self._folder):
            return {}
        if not real_folder(self._folder):
            raise CannotRun(f"{self._folder} must be a folder of cu2port's, and it is a link or a file; remove it")
        known: Known = {}
        data = self._saved = self._read(self._path)
        if data is not None:
            known = self._parse(data)
        for path in self._others():
            data = self._read(path) if path.suffix == ".json" else None
            for target, entry in self._parse(data).items() if data is not None else ():
                if known.get(target, entry) == entry or digest_of(self._out / target) == entry[0]:
                    known[target] = entry
        journals = [self._journal] if self._shard else [p for p in (self._journal, *self._others()) if not p.suffix]
        interrupted = [data for data in map(self._read, journals) if data is not None]
        for line in (line for data in interrupted for line in data.split(b"\n")):
            self._resume(line, known)
        if interrupted and not self._shard:  # beside other parts, on other machines, nobody can tell whose is at work
            for folder, _, _ in os.walk(self._out):
                sweep_folder(folder)
        return known

    def _others(self) -> list[Path]:
        """The manifests and journals of other parts, and of runs that were not divided."""
        with contextlib.suppress(OSError):
            return sorted(p for p in self._folder.iterdir() if _PART.fullmatch(p.name) and p != self._path)
        return []

    def begin(self) -> None:
        """Begin to note files. Raises OSError."""
        self._folder.mkdir(exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        self._log = open(os.open(self._journal, flags, 0o666), "ab", buffering=0)  # noqa: SIM115, PTH123 - see `close`
        if self._shard:
            with contextlib.suppress(ImportError):
                _flock(self._log.fileno(), self._folder, f"another run of part {self._shard[0]} of {self._shard[1]}")

    def note(self, target: str, digest: str, root: str) -> None:
        """Remember a file that is about to get its place. Raises OSError."""
        if self._log is not None:
            line = json.dumps((target, digest, root)).encode() + b"\n"
            if self._log.write(line) != len(line):
                raise OSError(28, os.strerror(28), str(self._journal))

    def save(self, content: Known) -> None:
        """Write down the end of a run. Raises OSError, and then the journal stays."""
        text = json.dumps({"schema": _SCHEMA, "files": dict(sorted(content.items()))}, indent=0)
        data = text.encode() + b"\n"
        if data != self._saved:
            write(self._path, data)
            self._saved = data
        self._journal.unlink(missing_ok=True)
        self.close()
        for path in () if self._shard else self._others():
            path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def _read(self, path: Path) -> bytes | None:
        """A file of ours; None when there is none."""
        try:
            mode = os.lstat(path)
            if not stat.S_ISREG(mode.st_mode):
                raise CannotRun(f"{path} must be a file of cu2port's, and it is a link or something else; remove it")
            if mode.st_size > _MOST_BYTES:
                raise CannotRun(f"{path} is larger than {_MOST_BYTES >> 20} MB and so not cu2port's; remove it")
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as e:
            raise CannotRun(f"{path}: {e.strerror}") from e

    def _parse(self, data: bytes) -> Known:
        again = "remove it, then use --force to replace what it stood for"
        try:
            content = json.loads(data)
        except (ValueError, RecursionError) as e:
            raise CannotRun(f"{self._path} is damaged: not JSON; {again}") from e
        files = content.get("files") if isinstance(content, dict) and content.get("schema") == _SCHEMA else None
        if not isinstance(files, dict):
            raise CannotRun(f"{self._path} is damaged: no {_SCHEMA}; {again}")
        known: Known = {}
        for target, entry in files.items():
            if not _is_inside(target):
                raise CannotRun(
                    f"{self._path} is not cu2port's: {target[:100]!r} is no path inside {self._out}; remove it"
                )
            if not _is_entry(entry):
                raise CannotRun(f"{self._path} is damaged: the entry of {target[:100]!r} is no pair of texts; {again}")
            if _DIGEST.fullmatch(entry[0]):
                known[target] = (entry[0], entry[1])
        return known

    def _resume(self, line: bytes, known: Known) -> None:
        """A line of the journal: the file is known if it got as far as its place. What is no line claims nothing."""
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(entry, list) or len(entry) != 3 or not isinstance(entry[0], str):
            return
        target = entry[0]
        if not _is_inside(target) or not _is_entry(entry[1:]) or not reachable(self._out, target):
            return
        path = self._out / target
        with contextlib.suppress(OSError):
            if _DIGEST.fullmatch(entry[1]) and digest_of(path) == entry[1]:
                known[target] = (entry[1], entry[2])


def reachable(out: Path, target: str) -> bool:
    """Whether each folder on the way to a target is there and is no link."""
    path = out
    for part in target.split("/")[:-1]:
        path = path / part
        if not real_folder(path):
            return False
    return True


def _is_inside(target: str) -> bool:
    """Whether a name is one that we write: relative, normalised, below the folder and not in its state."""
    parts = target.split("/")
    strange = "\0" in target or len(target) > _LONGEST or os.path.isabs(target) or os.path.splitdrive(target)[0]  # noqa: PTH117
    return not strange and parts[0] != STATE and not {"", ".", ".."} & set(parts)


def _is_entry(entry: object) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and all(isinstance(x, str) for x in entry)


@contextlib.contextmanager
def locked(folders: Sequence[Path], together: bool = False) -> Iterator[list[int]]:
    """Folders that no other run of cu2port writes to; their descriptors. Raises CannotRun when another one does.
    `together`: other parts of the same run may.

    A lock ends with its process, however that ends. Where there are none, there is nothing to wait for.
    """
    with contextlib.ExitStack() as stack:
        held = []
        for folder in sorted(folders):
            with contextlib.suppress(ImportError):
                descriptor = _lock(folder, together)
                stack.callback(os.close, descriptor)
                held.append(descriptor)
        yield held


def _lock(folder: Path, together: bool) -> int:
    import fcntl  # noqa: F401 - not on Windows

    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as e:
        raise CannotRun(f"{folder}: {e.strerror}") from e
    try:
        _flock(descriptor, folder, "another run of cu2port", together)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _flock(descriptor: int, folder: Path, who: str, together: bool = False) -> None:
    """Lock an open file, where its file system can. Raises CannotRun when somebody else holds it."""
    import fcntl

    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if together else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise CannotRun(f"{folder}: {who} writes there; start again when it has ended") from None
            time.sleep(0.05)
        except OSError:
            return  # a file system without locks
        else:
            return
