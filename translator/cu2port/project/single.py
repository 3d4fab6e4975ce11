"""Single files whose place the user names: code (`write_single`) and reports (`write_named`).

Neither replaces a file that cu2port did not write. What it wrote is remembered in the user's cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from cu2port.core.data import cache_dir
from cu2port.core.disk import ABSENT, Refused, digest_of, write
from cu2port.core.late import regex
from cu2port.core.model import Judged
from cu2port.project.helper_headers import HelperHeaders
from cu2port.project.tree import SOURCE_SUFFIXES, CannotRun, suffix_of

_START = 4096  # bytes of a report that say what it is
_REPORT = regex(rb'"schema":\s*"cu2port-|"name":\s*"cu2port"|<testsuite name="cu2port')


def write_single(
    option: str, path: Path, data: bytes, helpers: frozenset[str], mode: int | None, force: bool | None
) -> list[tuple[Path, Judged]]:
    """Write code where the user says, after the headers that it includes. Returns foreign files in their way.

    A file that is there is replaced when cu2port wrote it and nobody changed it since, which the user's cache knows, or
    with `force` (None: the command has no such option). Raises CannotRun.
    """
    try:
        if _written_to(option, path, data):
            return []
        now, new = digest_of(path), hashlib.sha256(data).hexdigest()
        if now not in (ABSENT, new) and not force and now not in _recorded(path):
            other = "choose another name" if force is None else "--force replaces it"
            raise CannotRun(f"{option} {path}: cu2port did not write this file, or it was changed since; {other}")
        _, blocked = HelperHeaders().put(path.parent, helpers)
        _record(path, (now, new))
        if now != new:
            write(path, data, mode, over=now)
        elif mode is not None:
            path.chmod(mode)
    except Refused as e:
        raise CannotRun(f"{option} {path}: {e} and was left as it is; look at it, then run again") from e
    except OSError as e:
        raise CannotRun(f"{option} {path}: {e.strerror}") from e
    return blocked


def check_named(option: str, path: Path) -> None:
    """Raises CannotRun where a report would replace a file that cu2port did not write, or one that was changed since.

    What it wrote is known by the user's cache, and by what the formats for machines say of themselves. A file that is
    empty is nobody's work.
    """
    try:
        if not path.is_file() or path.is_symlink():
            return
        if suffix_of(path.name) in SOURCE_SUFFIXES | {".hip", ".py"}:
            raise CannotRun(f"{option} {path}: it is a source file and is not replaced; choose another name")
        with path.open("rb") as f:
            start = f.read(_START)
        if start and _REPORT.search(start) is None and digest_of(path) not in _recorded(path):
            raise CannotRun(
                f"{option} {path}: cu2port did not write this file, or it was changed since; "
                "remove it or choose another name"
            )
    except OSError as e:
        raise CannotRun(f"{option} {path}: {e.strerror}") from e


def write_named(option: str, path: Path, data: bytes) -> None:
    """Write a report or the like where the user says, over an earlier one. Raises CannotRun.

    A link stays a link and is not followed, another's file is not replaced, and a pipe or device is written to.
    """
    try:
        if _written_to(option, path, data):
            return
        check_named(option, path)
        _record(path, (digest_of(path), hashlib.sha256(data).hexdigest()))
        write(path, data)
    except OSError as e:
        raise CannotRun(f"{option} {path}: {e.strerror}") from e


def _written_to(option: str, path: Path, data: bytes) -> bool:
    """Whether the place is a pipe or a device, which got the data. Raises CannotRun for a link to anything else."""
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as f:
            f.write(data)
        return True
    if path.is_symlink():
        raise CannotRun(f"{option} {path}: it is a link; name the file that it leads to")
    return False


def _recorded(path: Path) -> list[str]:
    """The digests of what cu2port wrote to a place last, and before."""
    try:
        return _record_of(path).read_text("ascii").split()
    except (OSError, UnicodeDecodeError):
        return []


def _record(path: Path, digests: Sequence[str]) -> None:
    """Remember what is written to a place. A cache that cannot be written is no reason to stop."""
    known = _record_of(path)
    with contextlib.suppress(OSError):
        known.parent.mkdir(parents=True, exist_ok=True)
        write(known, " ".join(digests).encode())


def _record_of(path: Path) -> Path:
    place = os.fsencode(path.parent.resolve() / path.name)
    return cache_dir() / "written" / hashlib.sha256(place).hexdigest()
