"""Folders in the cache for the files of one run: gone when it ends, or when another one starts if it was killed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows, where folders of killed runs stay
    fcntl = None  # type: ignore[assignment]

_HELD = "held-"  # a folder of this name has been locked by its run before it got the name


@contextmanager
def scratch_folder(home: Path, kind: str) -> Iterator[Path]:
    """A folder below `home`, removed in the end. Raises OSError when it cannot be made."""
    home.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=home))
    lock = None
    try:
        if fcntl:
            lock = _locked(folder)
        if lock is not None:
            _remove_left(home)
            folder = folder.rename(home / f"{_HELD}{folder.name}")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked(folder: Path) -> int | None:
    """A descriptor that holds a folder as long as its process lives; None where another one does, or nothing can."""
    lock = None
    try:
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if lock is not None:
            os.close(lock)
        return None
    return lock


def _remove_left(home: Path) -> None:
    """Remove the folders whose runs have ended without doing so."""
    for folder in home.glob(f"{_HELD}*"):
        with suppress(OSError):
            lock = _locked(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)
