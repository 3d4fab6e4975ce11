"""Reading files that a stranger wrote: no pipe to wait at, no device without an end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_regular(path: Path | str, most: int | None = None) -> bytes:
    """The content of a regular file of at most `most` bytes. Raises OSError with a `strerror` for anything else.

    It is looked at before it is opened, since opening alone can block (a pipe) or act (a device).
    """
    _check(os.stat(path), path, most)  # noqa: PTH116
    with open(path, "rb") as f:  # noqa: PTH123
        _check(os.fstat(f.fileno()), path, most)
        return f.read() if most is None else f.read(most)


def _check(st: os.stat_result, path: Path | str, most: int | None) -> None:
    if stat.S_ISDIR(st.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(st.st_mode):
        raise OSError(errno.EINVAL, "a pipe, socket or device", str(path))
    if most is not None and st.st_size > most:
        raise OSError(errno.EFBIG, f"larger than {most} bytes", str(path))
