"""Where cu2port's data is (checkout or wheel), and where it may keep caches."""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from cu2port.core.version import __version__

_DAY_S = 24 * 60 * 60
_OLD_S = 30 * _DAY_S
_MOST = 16  # files of a kind: who works on the rules makes a new one with every edit
_MOST_WRITTEN = 10_000  # what `output.write_single` remembers, a place each
_SUM = 4  # bytes of the checksum before what is kept
_KINDS = (
    "catalog-*.bin",
    "build-*.bin",
    "checks-*.bin",
    "grammar-*.bin",
    "grammar-*.sum",
    "shim-*.h",
    "pch-*.pch",
    "reach-*.bin",
    "sim/runtime-*.o",
    "sim/runtime-*.so",
)


class DataError(FileNotFoundError):
    """A data folder of cu2port's own is missing. The message is one line for the user."""


def data_path(name: str) -> Path:
    """The folder `rules` or `grammars`: inside the installed package, else at the root of a checkout.

    Raises DataError with what to do when neither is there.
    """
    package = Path(__file__).parent.parent
    for candidate in (package / name, package.parent.parent / name):
        if candidate.is_dir():
            return candidate
    raise DataError(f"cu2port's data folder `{name}` is missing; install cu2port again")


def cache_dir() -> Path:
    """The user's cache folder for cu2port (CU2PORT_CACHE_DIR, else the platform's convention). It may not exist."""
    override = os.environ.get("CU2PORT_CACHE_DIR")
    if override:
        return Path(override)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        if not Path(base).is_absolute():  # to be ignored, says the XDG specification; it could be a stranger's tree
            base = str(Path.home() / ".cache")
    return Path(base) / "cu2port"


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """A folder of the cache, which `make` writes below another name when it is not there. It is never half-written."""
    if folder.is_dir():
        return folder
    import tempfile  # most runs make none

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        make(made)
        try:
            made.rename(folder)
        except OSError:  # another process was first
            if not folder.is_dir():
                raise
    return folder


def computed_from(kind: str, files: Iterable[Path | os.DirEntry[str]], make: Callable[[], Any]) -> Any:
    """What `make` makes of files of ours, as `marshal` takes it. It is kept in the cache until one of them changes; a
    damaged one is made again."""
    stamp = hashlib.sha256(__version__.encode())
    for f in files:
        st = f.stat()
        stamp.update(f"{f.name} {st.st_size} {st.st_mtime_ns}\n".encode())
    kept = cache_dir() / f"{kind}-{stamp.hexdigest()[:20]}.bin"
    try:
        data = kept.read_bytes()
        if zlib.crc32(data[_SUM:]) == int.from_bytes(data[:_SUM], "little"):
            return marshal.loads(data[_SUM:])
    except (OSError, ValueError, EOFError, TypeError):
        pass  # not there, or unreadable
    value = make()
    data = marshal.dumps(value)
    _store(kept, zlib.crc32(data).to_bytes(_SUM, "little") + data)
    prune_cache()  # now, since a new one means a new version of everything
    return value


def _store(path: Path, data: bytes) -> None:
    """Write a cache file whole or not at all; a cache that cannot be written is no error."""
    import tempfile

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".new-", delete=False) as f:
            f.write(data)
        Path(f.name).replace(path)
    except OSError:
        return


def prune_cache(now_s: float | None = None) -> None:
    """Drop what other versions left in the cache: files not read for 30 days, and of each kind all but the 16 newest.

    A run that still uses one rebuilds it, and what cannot be dropped stays: nothing is raised. `now_s`: the time,
    in seconds since 1970.
    """
    folder = cache_dir()
    now = time.time() if now_s is None else now_s
    for kind in _KINDS:
        used = sorted(((_last_used(path), path) for path in folder.glob(kind)), reverse=True)
        for rank, (then, path) in enumerate(used):
            if rank >= _MOST or now - then > _OLD_S:
                _drop(path)
    known = sorted(((_last_used(path), path) for path in (folder / "written").glob("*")), reverse=True)
    for _, path in known[_MOST_WRITTEN:]:
        _drop(path)
    for path in folder.glob(".new-*"):  # of a run that was killed while it wrote
        if now - _last_used(path) > _DAY_S:
            _drop(path)


def _last_used(path: Path) -> float:
    """When a file was written or, as far as the file system notes it, last read; seconds since 1970."""
    try:
        st = path.stat()
    except OSError:
        return 0.0  # another run has just dropped it
    return max(st.st_ctime, st.st_atime)  # not its own time: that is fixed for a shim, so that libclang trusts its PCH


def _drop(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
