"""Work handed to a dask.distributed cluster in batches of files (`--scheduler`, extra `cu2port[dask]`).

The cluster's workers read the inputs under the same paths and give results back; only the run that asked writes. dask
does a batch again when the worker that had it dies. A batch that ends so more than once is taken apart, and its files
are done again without libclang, each by itself; what fails then comes back as `Lost`. Each job has one result.
"""

from __future__ import annotations

import pickle
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, TypeVar

from cu2port.catalog import load_catalog
from cu2port.core.version import __version__
from cu2port.project.jobs import Job, Tools
from cu2port.project.tree import CannotRun
from cu2port.project.workers import Lost, collect_between, collect_seldom, describe, in_chunks

R = TypeVar("R")
_PATIENCE_S = 20.0  # for the scheduler to answer
_BATCH_FILES = 128
_BATCH_BYTES = 512 << 10  # a batch costs the scheduler milliseconds, however small it is
_BATCHES = 8  # for each worker, at least, where there are bytes enough: so that all end at the same time
_RETRIES = 2  # of a batch that raises; dask counts workers that die by itself
_here = threading.local()  # what a thread of a worker keeps between batches


class Cluster:
    """A pool of workers elsewhere, with the `run` of `Pool`. Use as a context manager. Raises CannotRun."""

    def __init__(self, address: str) -> None:
        try:
            import distributed  # an extra; it takes long to load
        except ImportError as e:
            raise CannotRun("--scheduler needs dask: pip install 'cu2port[dask]'") from e
        self._dask: Any = distributed
        try:
            self._client: Any = self._dask.Client(address, timeout=_PATIENCE_S, set_as_default=False)
            found = self._client.run(version_here)
        except (OSError, ValueError, TypeError, RuntimeError, AttributeError) as e:
            text = " ".join(str(e).split())[:200] or type(e).__name__
            raise CannotRun(f"--scheduler {address}: no dask scheduler whose workers have cu2port ({text})") from e
        self._workers = len(found)
        other = sorted(set(found.values()) - {__version__})
        if other or not found:
            self._client.close()
            what = f"its workers have cu2port {other[0]}, and this is {__version__}" if other else "it has no workers"
            raise CannotRun(f"--scheduler {address}: {what}")

    @property
    def shares(self) -> bool:
        return False

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._client.close()

    def run(self, work: Callable[[Job, Tools], R], jobs: Sequence[Job]) -> Iterator[tuple[Job, R | Lost]]:
        """Do `work` on every job; results come as they are ready, each job exactly once."""
        waiting = self._dask.as_completed(loop=self._client.loop, with_results=True, raise_errors=False)
        batches: dict[str, list[Job]] = {}
        again: set[int] = set()  # jobs that failed once

        def submit(batch: list[Job]) -> None:
            future = self._client.submit(done_here, work, batch, pure=False, retries=_RETRIES)
            batches[future.key] = batch
            waiting.add(future)

        for batch in batches_of(jobs, self._workers):
            submit(batch)
        for future, results in waiting:  # a result travels while the one before it is taken
            batch = batches.pop(future.key)
            if future.status == "finished":
                yield from zip(batch, pickle.loads(results), strict=True)
                continue
            reason = _reason(future)
            for job in batch:
                if job.index in again:
                    yield job, Lost(reason)
                else:
                    again.add(job.index)
                    submit([job.without_clang(reason)])


def batches_of(jobs: Sequence[Job], workers: int) -> Iterator[list[Job]]:
    """Batches as large as pays, and smaller ones where some workers would have few."""
    workers = max(1, workers)
    most = min(_BATCH_BYTES, max(1, sum(job.size for job in jobs) // (_BATCHES * workers)))
    return in_chunks(jobs, workers, _BATCH_FILES, most)


def done_here(work: Callable[[Job, Tools], R], batch: Sequence[Job]) -> bytes:
    """Do a batch, in a worker of the cluster. An exception of ours is a result, so that it costs no other file. The
    list of results is pickled here: dask asks each object of a list how large it is, and of bytes only their number."""
    if not hasattr(_here, "tools"):
        load_catalog()
        collect_seldom()
        _here.tools = Tools()
    out: list[R | Lost] = []
    for job in batch:
        try:
            out.append(work(job, _here.tools))
        except Exception as e:  # our bug: it is reported for this file, and the others go on
            out.append(Lost(describe(e), "".join(traceback.format_exception(e))))
        collect_between()
    return pickle.dumps(out, pickle.HIGHEST_PROTOCOL)


def version_here() -> str:
    """The version of cu2port in a worker."""
    return __version__


def _reason(future: Any) -> str:
    error = future.exception() if future.status == "error" else None
    return f"a worker of the cluster died ({type(error).__name__ if error else future.status})"
