"""Programs that threads of a pool run: where the pool is left before its end, they are ended and no others begin."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock, local
from typing import TypeVar

from cu2port.project.tree import CannotRun
from cu2port.verify.running import end_group

_T = TypeVar("_T")
_R = TypeVar("_R")


class _Running:
    """What the threads of a pool run now."""

    def __init__(self) -> None:
        self.processes: set[subprocess.Popen[bytes]] = set()
        self.lock = Lock()
        self.is_over = False

    def end(self) -> None:
        with self.lock:
            self.is_over = True
            for process in self.processes:
                end_group(process)


class _OfThread(local):
    running: _Running | None = None  # outside of a pool


_OF_THREAD = _OfThread()


def in_threads(work: Callable[[_T], _R], items: Iterable[_T], count: int) -> Generator[_R, None, None]:
    """What `work` makes of each item, in order, by so many threads. What they run with `run_child` ends when the
    results are not wanted any more, as after SIGTERM or where one fails."""
    running = _Running()

    def enter() -> None:
        _OF_THREAD.running = running

    with ThreadPoolExecutor(max_workers=count, initializer=enter) as pool:
        try:
            yield from pool.map(work, items)
        except BaseException:  # also where the caller wants no more
            pool.shutdown(wait=False, cancel_futures=True)
            running.end()
            raise


def run_child(
    command: Sequence[str], env: Mapping[str, str], cwd: Path | None, limit_s: float, pass_fds: Sequence[int] = ()
) -> subprocess.CompletedProcess[bytes]:
    """`subprocess.run` with the output captured. Raises CannotRun where the pool of this thread was left."""
    running = _OF_THREAD.running
    if running is None:
        return subprocess.run(command, env=env, cwd=cwd, capture_output=True, timeout=limit_s, pass_fds=pass_fds)
    with running.lock:
        if running.is_over:
            raise CannotRun("stopped")
        process = subprocess.Popen(
            command,
            env=env,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=pass_fds,
            start_new_session=True,  # a group of its own: a compiler starts others
        )
        running.processes.add(process)
    with process:
        try:
            said, errors = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired as e:
            end_group(process)
            e.stdout, e.stderr = process.communicate()
            raise
        finally:
            with running.lock:
                running.processes.discard(process)
    return subprocess.CompletedProcess(command, process.returncode, said, errors)
