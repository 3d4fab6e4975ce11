"""Files put in their place whole or not at all, and over nothing but what is expected there.

A new file is written beside its place under a name of its own and then changes places with what is there. What comes
out is looked at once more: when somebody saved a file in between, that one goes back.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, TypeVar

from cu2port.core.late import regex

T = TypeVar("T")
_PART = 1 << 18  # bytes that are read in one step
ABSENT = ""  # the digest of nothing
_OTHER = "other"  # that of a folder, a pipe, a device
_HERE = -100  # AT_FDCWD: names are relative to the working folder
_NEW_NAME, _EXCHANGE = 1, 2  # flags of renameat2
_TEMPORARY = regex(r"\..*\.(\d+)(?:-\d+)?\.cu2port\Z", re.S)


class Refused(Exception):  # noqa: N818 - it is what the message says
    """A file was left as it is. The message says what is there."""


CHANGED = "it was changed while cu2port ran"


def digest_of(path: Path | str) -> str:
    """What is at a path, links not followed: the sha256 of a file, where a link leads, ABSENT. Raises OSError."""
    name = str(path)
    try:
        found = os.lstat(name)
        if stat.S_ISLNK(found.st_mode):
            return f"link:{os.readlink(name)}"  # noqa: PTH115
        if not stat.S_ISREG(found.st_mode):
            return _OTHER
        descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        try:
            return _digest_of_open(descriptor, found.st_size)
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT


def _digest_of_open(descriptor: int, size: int) -> str:
    """The sha256 of an open file of about this size; `hashlib.file_digest` clears a large buffer for each file."""
    found = hashlib.sha256()
    while part := os.read(descriptor, min(size + 1, _PART)):
        found.update(part)
    return found.hexdigest()


@contextlib.contextmanager
def replacing(
    path: Path | str,
    mode: int | None = None,
    *,
    over: str | None = None,
    like: bool = False,
    force: bool = False,
    durable: bool = False,
) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends without an error, and leaves no trace otherwise.

    `mode` None: as the umask has it. `over`: the digest that what is there must have, None for anything; else Refused
    is raised and it stays. `like`: owner, mode, extended attributes and names are those of the file that is there, or
    Refused; with `force`, as far as that can be. `durable`: the bytes are on the disk before the name is.
    """
    descriptor, temporary = _new_file(path, 0o600 if like or mode is not None else 0o666)
    left = True
    try:
        with os.fdopen(descriptor, "wb") as f:
            yield f
            f.flush()
            if mode is not None:
                os.chmod(temporary, mode)  # noqa: PTH101 - Windows has no fchmod
            if like:
                _keep_attributes(temporary, str(path), force)
            if durable:
                os.fsync(f.fileno())
        left = settle(temporary, path, over)
    finally:
        if left:
            _remove(temporary)


def write(path: Path | str, data: bytes, mode: int | None = None, *, over: str | None = None) -> None:
    """Write a file whole or not at all; see `replacing`, which costs more."""
    descriptor, temporary = _new_file(path, 0o600 if mode is not None else 0o666)
    left = True
    try:
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        finally:
            os.close(descriptor)
        if mode is not None:
            os.chmod(temporary, mode)  # noqa: PTH101 - Windows has no fchmod
        left = settle(temporary, path, over)
    finally:
        if left:
            _remove(temporary)


def put_link(path: Path | str, text: str, *, over: str | None, is_folder: bool = False) -> None:
    """Make a link in the place of what is expected there. Raises Refused."""
    _, temporary = _temporary(path, lambda name: os.symlink(text, name, is_folder))  # noqa: PTH211
    left = True
    try:
        left = settle(temporary, path, over)
    finally:
        if left:
            _remove(temporary)


def settle(temporary: str, path: Path | str, over: str | None) -> bool:
    """Give a file its place when what is there has the digest `over`. Returns whether what was there has the other name
    now, as where the system can exchange two names. Raises Refused, and then all is as it was."""
    name = str(path)
    if over is None:
        os.replace(temporary, name)  # noqa: PTH105
        return False
    if over == ABSENT:
        move(temporary, name)
        return False
    with _uninterrupted():
        if digest_of(name) != over:
            raise Refused(CHANGED)
        if not _rename(temporary, name, _EXCHANGE):
            os.replace(temporary, name)  # noqa: PTH105
            return False
        if digest_of(temporary) != over:
            expected = os.lstat(name)
            _rename(temporary, name, _EXCHANGE)
            if not os.path.samestat(expected, os.lstat(temporary)):  # saved once more: that is the newest
                _rename(temporary, name, _EXCHANGE)
            raise Refused(CHANGED)
    return True


def move(old: Path | str, new: Path | str) -> None:
    """Give a file a name that nobody has. Raises Refused when somebody has it."""
    try:
        if not _rename(str(old), str(new), _NEW_NAME):
            if os.path.lexists(new):
                raise FileExistsError
            os.rename(old, new)  # noqa: PTH104
    except FileExistsError:
        raise Refused(f"`{os.path.basename(new)}` is there already") from None  # noqa: PTH119


def sweep(path: Path | str) -> None:
    """Remove what a run left that was killed while it wrote; the file of a run that goes on stays."""
    found = _TEMPORARY.fullmatch(os.path.basename(path))  # noqa: PTH119
    if found is None or _runs(int(found[1])):
        return
    with contextlib.suppress(OSError):
        os.unlink(path)  # noqa: PTH108


def sweep_folder(folder: Path | str) -> None:
    """`sweep` each file in a folder, if there is one."""
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            if is_temporary(entry.name):
                sweep(entry.path)


def is_temporary(name: str) -> bool:
    """Whether a file's name is one that `replacing` gives."""
    return name.endswith(".cu2port") and _TEMPORARY.fullmatch(name) is not None


def sync_folder(folder: Path | str) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def real_folder(path: Path | str) -> bool:
    """Whether a folder is there, and not a link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _new_file(path: Path | str, mode: int) -> tuple[int, str]:
    """A new file beside a path: its descriptor and name."""
    return _temporary(path, lambda name: os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))


def _remove(name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name)  # noqa: PTH108


def _temporary(path: Path | str, make: Callable[[str], T]) -> tuple[T, str]:
    """Make something beside a path under a name that nothing has; what `make` returns, and the name."""
    folder, name = os.path.split(path)
    short = os.fsdecode(os.fsencode(name)[:180])  # a name has 255 bytes at most
    for n in range(1000):
        mark = f"{os.getpid()}-{n}" if n else str(os.getpid())
        temporary = os.path.join(folder, f".{short}.{mark}.cu2port")  # noqa: PTH118 - see Item.name
        try:
            return make(temporary), temporary
        except FileExistsError:  # left by a run that was killed
            continue
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)


def _runs(pid: int) -> bool:
    if pid == os.getpid():
        return False  # an earlier process had our number: who asks has not begun to write
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _keep_attributes(temporary: str, name: str, force: bool) -> None:
    """Give a new file the owner, mode and extended attributes of the one that it is to replace. Raises Refused."""
    try:
        was, now = os.lstat(name), os.lstat(temporary)
    except FileNotFoundError:
        raise Refused(CHANGED) from None
    if was.st_nlink > 1 and not force:
        raise Refused(f"it is one file under {was.st_nlink} names (hard links), which would no longer be one")
    if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
        try:
            os.chown(temporary, was.st_uid, was.st_gid)
        except OSError:
            if not force:
                raise Refused("it belongs to another user or group, and a new file would not") from None
    os.chmod(temporary, stat.S_IMODE(was.st_mode))  # noqa: PTH101 - after chown, which clears bits
    if not hasattr(os, "listxattr"):
        return
    try:
        for key in os.listxattr(name, follow_symlinks=False):
            value = os.getxattr(name, key, follow_symlinks=False)
            if _attribute(temporary, key) != value:
                os.setxattr(temporary, key, value, follow_symlinks=False)
    except OSError as e:
        if e.errno != errno.ENOTSUP and not force:
            raise Refused(f"its extended attributes cannot be kept ({e.strerror})") from None


def _attribute(name: str, key: str) -> bytes | None:
    try:
        return os.getxattr(name, key, follow_symlinks=False)
    except OSError:
        return None


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the block has ended."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _rename(old: str, new: str, flag: int) -> bool:
    """Rename as the flag says; False where the system or the file system cannot. Raises OSError."""
    call = _renameat2()
    if call is None:
        return False
    failed = call(os.fsencode(old), os.fsencode(new), flag)
    if failed in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM):
        return False
    if failed:
        raise OSError(failed, os.strerror(failed), old, None, new)
    return True


@lru_cache(maxsize=1)
def _renameat2() -> Callable[[bytes, bytes, int], int] | None:
    """Linux' renameat2 as a function that returns the error's number, or 0."""
    if sys.platform != "linux":
        return None
    import ctypes  # a run that writes nothing has no use for it

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return lambda old, new, flag: ctypes.get_errno() if call(_HERE, old, _HERE, new, flag) else 0
