"""Work that this process shares with a copy of itself: what both need is in memory already, and only results travel."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import select
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
_MANY = 500  # fewer are done sooner than a copy begins
_OURS = 1 / 3  # of the work: this process has also to do something with all results
_AT_ONCE = 64  # results that travel together, and that are made here before a look at the copy's
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031  # Linux


def with_copy(work: Callable[[Sequence[T]], Iterable[R]], things: Sequence[T], share: bool) -> Iterator[R]:
    """`work` on all things, one result each, in no order.

    `share`: a copy of this process may do a part, where a fork is safe. What it does not get done is done here, so that
    an error is met here.
    """
    if not share or len(things) < _MANY or sys.platform != "linux":
        yield from work(things)
        return
    ours = int(len(things) * _OURS)
    context = multiprocessing.get_context("fork")
    pipe, theirs = context.Pipe(duplex=False)
    copy = context.Process(target=_copy, args=(theirs, pipe, work, things[ours:]), name="cu2port-copy")
    copy.start()
    theirs.close()
    came = ours
    try:
        for n, result in enumerate(work(things[:ours])):
            yield result
            if n % _AT_ONCE == 0:
                for batch in _waiting(pipe):
                    came += len(batch)
                    yield from batch
        with contextlib.suppress(EOFError, OSError):
            while came < len(things):
                batch = pipe.recv()
                came += len(batch)
                yield from batch
    finally:
        copy.kill()
        copy.join()
        pipe.close()
    if came < len(things):
        yield from work(things[came:])


def _waiting(pipe: Connection) -> Iterator[list[Any]]:
    """What the copy has sent so far."""
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    with contextlib.suppress(EOFError, OSError):
        while any(found & select.POLLIN for _, found in ready.poll(0)):
            yield pipe.recv()


def _copy(pipe: Connection, other: Connection, work: Callable[[Sequence[T]], Iterable[R]], things: Sequence[T]) -> None:
    """The copy's life: results in batches, in order. At an error, or when its parent has gone, it ends silently."""
    other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    gc.freeze()
    with contextlib.suppress(OSError, ImportError):
        import fcntl

        fcntl.fcntl(pipe.fileno(), _F_SETPIPE_SZ, _PIPE_BYTES)
    try:
        batch: list[R] = []
        for result in work(things):
            batch.append(result)
            if len(batch) == _AT_ONCE:
                pipe.send(batch)
                batch = []
        pipe.send(batch)
    finally:
        os._exit(0)  # nothing of the parent's is ended or written here
