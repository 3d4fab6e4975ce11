"""Reading files that a stranger wrote: no pipe to wait at, no device without an end."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

CUDA_SUFFIXES = frozenset({".cu", ".cuh"})
SOURCE_SUFFIXES = CUDA_SUFFIXES | frozenset(
    {".h", ".hpp", ".hxx", ".hh", ".inl", ".inc", ".c", ".cc", ".cpp", ".cxx"}
    | {".ipp", ".tcc", ".tpp", ".txx", ".impl", ".tcu", ".cui"}  # templates and parts of sources
)


def read_regular(path: Path | str, most: int | None = None) -> bytes:
    """The content of a regular file of at most `most` bytes. Raises OSError with a `strerror` for anything else.

    It is looked at before it is opened, since opening alone can block (a pipe) or act (a device).
    """
    _check(os.stat(path), path, most)  # noqa: PTH116
    with open(path, "rb") as f:  # noqa: PTH123
        _check(os.fstat(f.fileno()), path, most)
        return f.read() if most is None else f.read(most)


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
    """The suffix of a path's last part, lower case."""
    name = path.replace("\\", "/").rpartition("/")[2]
    at = name.rfind(".")
    return name[at:].lower() if 0 < at < len(name) - 1 else ""


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
