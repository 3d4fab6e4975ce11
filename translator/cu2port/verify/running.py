"""Runs compilers and builds: each in a process group of its own, with limits of time and of what it writes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import NamedTuple

from cu2port.verify import toolchain

_MOST_SAID = 4 << 20  # bytes of messages that are read
_MOST_WRITTEN = 1 << 30  # bytes of a file that a compiler may write

if sys.platform == "linux":
    import resource


class Ended(NamedTuple):
    """How a compiler ended; `code` None: it ran past the limit."""

    code: int | None
    text: str


class Runner:
    """Runs compilers, each in a process group of its own, and ends them all when it is left."""

    def __init__(self, limit_s: float, folder: str, extra: Mapping[str, str] | None = None) -> None:
        self._limit = limit_s
        self._folder = folder
        self._env = {**toolchain.environment(folder), **(extra or {})}
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        self._closed = False

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End what runs, and let nothing begin any more."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for process in running:
            end_group(process)

    def run(self, command: Sequence[str], folder: str = "", said_too: bool = False) -> Ended:
        """Run a command in `folder` to its end or to the time limit. `said_too`: its standard output counts as well."""
        with self._lock:
            if self._closed:
                return Ended(None, "")
            # a file and no pipe: it has a limit, and nothing that a compiler leaves running keeps it open for us
            said = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed below
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=said if said_too else subprocess.DEVNULL,
                    stderr=said,
                    env=self._env,
                    cwd=folder or self._folder,
                    start_new_session=True,
                )
            except OSError:
                said.close()
                raise
            self._running.add(process)
        with said:
            try:
                _limit_files(process)
                code = process.wait(timeout=self._limit)
            except subprocess.TimeoutExpired:
                end_group(process)
                process.wait()
                return Ended(None, "")
            finally:
                with self._lock:
                    self._running.discard(process)
            said.seek(0)
            return Ended(code, said.read(_MOST_SAID).decode("utf-8", "replace"))


def _limit_files(process: subprocess.Popen[bytes]) -> None:
    """Let no file that a compiler writes fill the disk; its system ends one that tries."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (_MOST_WRITTEN, _MOST_WRITTEN))


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group, and all that it started."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
