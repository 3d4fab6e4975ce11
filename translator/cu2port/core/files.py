"""Reading files that a stranger wrote: no pipe to wait at, no device without an end."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_PART = 1 << 20  # bytes that are read in one step
CUDA_SUFFIXES = frozenset({".cu", ".cuh"})
HEADER_SUFFIXES = (".h", ".hpp", ".hh", ".hxx", ".cuh", ".hu", ".inl", ".ipp", ".inc", ".clh")
CXX_SUFFIXES = frozenset({".cc", ".cpp", ".cxx"})
HOST_SUFFIXES = CXX_SUFFIXES | {".c"}  # of sources that nvcc gives to the host's compiler
SOURCE_SUFFIXES = (CUDA_SUFFIXES | HOST_SUFFIXES) | frozenset(
    {".h", ".hpp", ".hxx", ".hh", ".hu", ".inl", ".inc", ".def"}
    | {".ipp", ".tcc", ".tpp", ".txx", ".impl", ".tcu", ".cui"}  # templates and parts of sources
)


def read_regular(path: Path | str, most: int | None = None) -> bytes:
    """The content of a regular file of at most `most` bytes. Raises OSError with a `strerror` for anything else.

    It is looked at before it is opened, since opening alone can block (a pipe) or act (a device).
    """
    _check(os.stat(path), path, most)  # noqa: PTH116
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        found = os.fstat(descriptor)
        _check(found, path, most)
        return read_open(descriptor, found.st_size, most)
    finally:
        os.close(descriptor)


def read_open(descriptor: int, size: int, most: int | None = None) -> bytes:
    """What is left to read of an open file, at most `most` bytes. `size`: how many bytes there should be; a file object
    costs more than reading a source."""
    wanted = size + 1 if most is None else min(size + 1, most)
    data = os.read(descriptor, wanted)
    if len(data) == size or len(data) == most:
        return data
    parts = [data]
    total = len(data)
    while data and total != most:  # it grows, or is read in parts
        data = os.read(descriptor, _PART if most is None else min(_PART, most - total))
        parts.append(data)
        total += len(data)
    return b"".join(parts)


def read_json(path: Path | str, most: int) -> Any:
    """A JSON document. Raises OSError with a `strerror`, or ValueError whose text is one line."""
    import json  # not every command reads some

    data = read_regular(path, most)
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("not JSON: too deep") from None
    except ValueError as e:
        raise ValueError(f"not JSON: {e}") from e


def suffix(path: str) -> str:
    """The suffix of a path's last part, lower case; of `a.C`, which is C++ to compilers, that of C++."""
    name = path.replace("\\", "/").rpartition("/")[2]
    at = name.rfind(".")
    found = name[at:] if 0 < at < len(name) - 1 else ""
    return ".cc" if found == ".C" else found.lower()


def may_include(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a file may be read because a source includes it by a relative name: a regular file in one of the folders
    (links resolved), or beside them where no link is on the way and the name is that of a source.

    A stranger's source may include a device without an end, or what is no header and none of its business.
    """
    if not path.is_file():
        return False
    real = Path(os.path.realpath(path))
    plain = os.path.normpath(path) == str(real) and real.suffix.lower() in SOURCE_SUFFIXES
    return plain or any(real.is_relative_to(f) for f in folders)


def _check(st: os.stat_result, path: Path | str, most: int | None) -> None:
    if stat.S_ISDIR(st.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(st.st_mode):
        raise OSError(errno.EINVAL, "a pipe, socket or device", str(path))
    if most is not None and st.st_size > most:
        raise OSError(errno.EFBIG, f"larger than {most} bytes", str(path))
