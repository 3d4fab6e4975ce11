"""Worker processes that may die or hang without taking the run with them.

A job that kills its worker, or runs past the time limit, is done again without libclang in a fresh worker; if that
fails too it comes back as `Lost`. Jobs are sent in chunks, results one by one. A worker that was forked for a run has
its chunks already and is told their numbers; the next one is told before it needs it, so that it never waits for us.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import select
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from cu2port.core.late import dataclass
from cu2port.project.jobs import Job, Tools

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext, SpawnContext

R = TypeVar("R")
Chunks: TypeAlias = tuple[list[Job], ...]
Todo: TypeAlias = deque[int | list[Job]]  # chunks by their number, and jobs that are done again
_CHUNK_FILES = 32
_MANY = 64  # jobs: some of so many need what is loaded late
_SHARED = 16  # jobs: of so many each of several workers gets one that does
_CHUNK_BYTES = 128 << 10
_MOST_OF_A_FILE = 2_000_000  # objects that a worker makes of one file without looking for garbage
_MOST_LEFT = 200_000  # objects that files may leave behind before it looks for garbage


@dataclass(frozen=True, slots=True)
class Lost:
    """A job that could not be done. `reason`: one line; `trace`: the traceback, when there was one."""

    reason: str
    trace: str = ""


@dataclass(frozen=True, slots=True)
class _Failure:
    """What a worker says before it dies of an exception."""

    reason: str
    trace: str


@dataclass(slots=True)
class _Worker:
    """`has`: the chunks that it was forked with. `newest`: how many jobs the chunk has that it was given last."""

    process: BaseProcess
    pipe: Connection
    has: Chunks
    pending: deque[Job] = field(default_factory=deque)
    newest: int = 0
    since: float = 0.0
    last: _Failure | None = None

    def give(self, work: Callable[..., object], chunks: Chunks, number: int | list[Job]) -> None:
        """Send a chunk: one of `chunks`, or jobs that are done again."""
        chunk = chunks[number] if isinstance(number, int) else number
        if not self.pending:
            self.since = time.monotonic()
        self.pending.extend(chunk)
        self.newest = len(chunk)
        with contextlib.suppress(OSError):  # it died while idle: the next wait finds out
            self.pipe.send((work, number if self.has is chunks else chunk))

    def takes_more(self, chunks: Chunks) -> bool:
        """Whether it is at its last chunk. A number fits in a pipe that nobody reads yet; jobs may not."""
        return self.has is chunks and len(self.pending) <= self.newest

    def kill(self) -> None:
        """End the worker and the libclang process it holds."""
        pid = self.process.pid
        if hasattr(os, "killpg") and pid is not None:
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.join()
        self.pipe.close()


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Workers(Protocol):
    """Who does jobs: processes of this machine, or a cluster. `shares`: whether there are several on this machine."""

    @property
    def shares(self) -> bool: ...

    def run(self, work: Callable[[Job, Tools], R], jobs: Sequence[Job]) -> Iterator[tuple[Job, R | Lost]]:
        """Do `work` on every job; results come as they are ready, each job exactly once."""


class Pool:
    """Up to `size` worker processes. Use as a context manager; leaving it ends them.

    `held`: descriptors that they close, where they inherit any: a lock must end with this process. `load`: loads what
    most jobs need, here, so that a fork shares it; few jobs load what they need themselves. `light`: work that needs
    nothing of it: it is loaded while workers do that, and others are forked for the work that follows.
    """

    def __init__(
        self,
        size: int,
        limit_s: float = 60.0,
        held: Sequence[int] = (),
        load: Callable[[], None] = lambda: None,
        light: Callable[..., object] | None = None,
    ) -> None:
        # fork shares the catalogue that the parent has loaded; elsewhere it is unsafe or missing
        self._context: ForkContext | SpawnContext
        if sys.platform == "linux":
            self._context = multiprocessing.get_context("fork")
        else:
            self._context = multiprocessing.get_context("spawn")
        self._size = max(1, size)
        self._limit = limit_s
        self._held = tuple(held)
        self._load = load
        self._light = light if sys.platform == "linux" else None
        self._loaded = False
        self._workers: list[_Worker] = []

    @property
    def shares(self) -> bool:
        return self._size > 1

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._end()

    def _end(self) -> None:
        for w in self._workers:
            w.kill()
        self._workers.clear()

    def run(self, work: Callable[[Job, Tools], R], jobs: Sequence[Job]) -> Iterator[tuple[Job, R | Lost]]:
        """Do `work` on every job; results come as they are ready, each job exactly once."""
        to_load = len(jobs) >= (_SHARED if self.shares else _MANY) and not self._loaded
        ahead = to_load and work is self._light
        if to_load and not ahead:
            self._load()
        self._loaded |= to_load
        chunks = tuple(in_chunks(jobs, self._size))
        todo: Todo = deque(range(len(chunks)))
        again: set[int] = set()  # jobs that failed once
        while todo or any(w.pending for w in self._workers):
            self._hand_out(work, chunks, todo)
            if to_load and ahead:
                self._load()
                to_load = False
            busy = [w for w in self._workers if w.pending]
            ready = _readable([w.pipe for w in busy], self._patience(busy))
            for w in busy:
                if w.pipe in ready:
                    yield from self._drain(w, todo, again)
                elif time.monotonic() - w.since > self._limit and not w.pipe.poll():
                    lost = f"took longer than {self._limit:g} s"
                    yield from self._bury(w, lost, todo, again)
        if ahead:
            self._end()

    def _hand_out(self, work: Callable[..., object], chunks: Chunks, todo: Todo) -> None:
        """Give a chunk to each worker that has none, and the next one to those that would soon have none. The last
        chunks go to who is done first."""
        for w in self._idle(len(todo), chunks):
            w.give(work, chunks, todo.popleft())
        for w in self._workers:
            if len(todo) > self._size and isinstance(todo[0], int) and w.takes_more(chunks):
                w.give(work, chunks, todo.popleft())

    def _drain(self, w: _Worker, todo: Todo, again: set[int]) -> Iterator[tuple[Job, Any]]:
        """All results that wait in a worker's pipe."""
        while True:
            try:
                message = w.pipe.recv()
            except (EOFError, OSError):
                yield from self._bury(w, "", todo, again)
                return
            if isinstance(message, _Failure):
                w.last = message
                continue
            job = w.pending.popleft()
            w.since = time.monotonic()
            yield job, message
            if not _readable([w.pipe], 0):
                return

    def _bury(self, w: _Worker, reason: str, todo: Todo, again: set[int]) -> Iterator[tuple[Job, Lost]]:
        """A worker is gone or must go: its first job did it, the others go back to the queue."""
        w.kill()
        self._workers.remove(w)
        if not w.pending:
            return
        job = w.pending.popleft()
        if w.pending:
            todo.append(list(w.pending))
        trace = w.last.trace if w.last else ""
        if not reason:
            code = w.process.exitcode
            reason = w.last.reason if w.last else f"the worker died ({_signal(code)})"
        if job.index in again:
            yield job, Lost(reason, trace)
        else:
            again.add(job.index)
            todo.appendleft([job.without_clang(reason)])

    def _patience(self, busy: list[_Worker]) -> float:
        """How long to wait before the next time limit could be over; seconds."""
        first = min(w.since for w in busy)
        return max(0.01, first + self._limit - time.monotonic() + 0.01)

    def _idle(self, wanted: int, chunks: Chunks) -> list[_Worker]:
        """Workers without a job, new ones if there may be more; at most `wanted`."""
        idle = [w for w in self._workers if not w.pending]
        while len(idle) < wanted and len(self._workers) < self._size:
            w = self._start(chunks)
            self._workers.append(w)
            idle.append(w)
        return idle[:wanted]

    def _start(self, chunks: Chunks) -> _Worker:
        own_end, child_end = self._context.Pipe()
        # a forked child inherits our ends of all pipes; open there, they would keep siblings from seeing our death
        inherited = [own_end, *(w.pipe for w in self._workers)] if sys.platform == "linux" else []
        held = self._held if sys.platform == "linux" else ()
        has: Chunks = chunks if sys.platform == "linux" else ()
        process = self._context.Process(target=_serve, args=(child_end, inherited, held, has), name="cu2port-worker")
        process.start()
        child_end.close()
        return _Worker(process, own_end, has)


def in_chunks(
    jobs: Sequence[Job], size: int, most_files: int = _CHUNK_FILES, most_bytes: int = _CHUNK_BYTES
) -> Iterator[list[Job]]:
    """Jobs in chunks, large files first so that no worker is left with one at the end."""
    many = max(1, min(most_files, len(jobs) // (4 * size)))
    chunk: list[Job] = []
    total = 0
    for job in sorted(jobs, key=lambda j: (-j.size, j.index)):
        chunk.append(job)
        total += job.size
        if len(chunk) >= many or total >= most_bytes:
            yield chunk
            chunk, total = [], 0
    if chunk:
        yield chunk


def _readable(pipes: Sequence[Connection], timeout_s: float) -> list[Connection]:
    """The pipes that can be read, or have ended; none after some seconds. `multiprocessing` makes a selector each
    time, which takes longer than to read a result."""
    if sys.platform == "win32":
        return [x for x in wait(pipes, timeout_s) if isinstance(x, Connection)]
    by_number = {pipe.fileno(): pipe for pipe in pipes}
    ready = select.poll()
    for number in by_number:
        ready.register(number, select.POLLIN)
    return [by_number[number] for number, _ in ready.poll(timeout_s * 1000)]


def _signal(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


class _LastWords:
    """Tells the parent of an exception that ends the worker. An exception is our bug; the parent reports it."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> bool:
        if kind is None or error is None:
            return False
        with contextlib.suppress(OSError):  # the parent is gone: nobody to tell
            self._pipe.send(_Failure(describe(error), "".join(traceback.format_exception(error))))
        return True


def describe(error: BaseException) -> str:
    """`KeyError in checks/warp_mask.py:31`: the exception and the last place of ours it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f"{os.sep}cu2port{os.sep}" in f.filename]
    if not own:
        return type(error).__name__
    path = own[-1].filename.replace(os.sep, "/").rpartition("/cu2port/")[2]
    return f"{type(error).__name__} in {path}:{own[-1].lineno}"


def collect_seldom() -> None:
    """Have Python look for garbage between files, by `collect_between`, and in no file of a usual size. The catalogue
    stays, and what is known of a file is freed as a whole: looking through both again and again is a tenth of a run."""
    gc.freeze()
    gc.set_threshold(_MOST_OF_A_FILE, 20, 20)


def collect_between() -> None:
    """Between two files: look for garbage where much was left."""
    if gc.get_count()[0] > _MOST_LEFT:
        gc.collect()


def _serve(pipe: Connection, inherited: list[Connection], held: Sequence[int], has: Chunks) -> None:
    """A worker's life: chunks in, results out, until the parent closes the pipe."""
    for other in inherited:
        other.close()
    for descriptor in held:
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    collect_seldom()
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # so that the parent can end us together with libclang's process
    with _LastWords(pipe), contextlib.closing(Tools()) as tools:
        while True:
            try:
                work, given = pipe.recv()
            except EOFError:
                return
            for job in has[given] if isinstance(given, int) else given:
                pipe.send(work(job, tools))
                collect_between()
