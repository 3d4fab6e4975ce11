"""Jobs to results: from the cache, or by workers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cu2port.catalog import load_catalog
from cu2port.checks import all_checks, gates
from cu2port.core import file_rules
from cu2port.project.jobs import Done, Job, convert, refused, scan
from cu2port.project.plan import Request
from cu2port.project.workers import Lost, Pool, Workers, available_cores

if TYPE_CHECKING:
    from cu2port.project.cache import Cache, There

Tick = Callable[[int, int], None]
_KEPT_AT_ONCE = 128  # results that go to the cache in one step


def results(
    jobs: Sequence[Job], pool: Workers, tick: Tick, cache: Cache | None = None, there: There = lambda _: ""
) -> Iterator[tuple[Job, Done]]:
    """Every job's result, as they come: first those that an earlier run kept. `there`: as for `Cache.results`."""
    total, count = len(jobs), 0
    todo: list[Job] = list(jobs) if cache is None else []
    keys: dict[int, bytes] = {}
    for job, known in cache.results(jobs, there, pool.shares) if cache is not None else ():
        if isinstance(known, bytes):
            keys[job.index] = known
            todo.append(job)
        else:
            yield job, known
            count += 1
            tick(count, total)
    with _keeping(cache, keys) as keep:
        for job, done in pool.run(convert, todo):
            result = _lost(job, done) if isinstance(done, Lost) else done
            keep(job, result)
            yield job, result
            count += 1
            tick(count, total)


@contextlib.contextmanager
def _keeping(cache: Cache | None, keys: Mapping[int, bytes]) -> Iterator[Callable[[Job, Done], None]]:
    """A function that keeps results for later runs, some at a time."""
    waiting: list[tuple[Job, bytes, Done]] = []

    def flush() -> None:
        if cache is not None:
            cache.keep(waiting)
        waiting.clear()

    def keep(job: Job, done: Done) -> None:
        if cache is not None and keys.get(job.index):
            waiting.append((job, keys[job.index], done))
            if len(waiting) >= _KEPT_AT_ONCE:
                flush()

    try:
        yield keep
    finally:
        flush()
        if cache is not None:
            cache.close()


def _lost(job: Job, lost: Lost) -> Done:
    found = file_rules.lost(lost.reason, "; copied as it is")
    return refused(job, "failed", found, notes=(lost.trace,) if lost.trace else ())


def new_pool(request: Request, sources: int, held: Sequence[int] = ()) -> contextlib.AbstractContextManager[Workers]:
    """Workers for a run. `held`: descriptors of locks, which must not outlive this process in them."""
    load_catalog(request.options.rules)
    if request.scheduler:
        from cu2port.project.cluster import Cluster  # it loads dask

        return Cluster(request.scheduler)
    return Pool(min(request.workers or available_cores(), max(1, sources)), request.limit_s, held, _load, scan)


def _load() -> None:
    """What most sources need."""
    import cu2port.facts.clang
    import cu2port.ptx.rewrite  # noqa: F401

    all_checks()
    gates()
