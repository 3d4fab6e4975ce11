"""First looks at the files of a run, and the graph that comes of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cu2port.core.files import may_include
from cu2port.project.graph import Graph, Scan, scan_includes
from cu2port.project.jobs import Job, scan
from cu2port.project.workers import Lost, Workers

if TYPE_CHECKING:
    from cu2port.project.cache import Cache
    from cu2port.project.plan import Request

_CUDA = "cuda_runtime_api.h"
_MOST_HEADERS = 200  # that are looked at for files given alone


def graph_of(
    request: Request,
    jobs: Sequence[Job],
    alone: Sequence[Job],
    pool: Workers,
    lost: dict[str, str],
    cache: Cache | None = None,
    between: Iterator[None] | None = None,
    included: Callable[[Mapping[str, Scan]], list[Job]] = lambda _: [],
) -> Graph | None:
    """What the files say of each other, and the headers that files given `alone` include; None: there are no others.

    Files that could not be read are added to `lost`, with the reason. `between`: work of this process; one step of it
    is done after each answer of a worker. `included`: more jobs, of files that those just looked at include.
    """
    dirs = [d for d in request.options.include_dirs if not (Path(d) / _CUDA).is_file()]  # CUDA's headers are no project
    names = {job.path for job in jobs}
    headers: list[Job] = []

    def reached(file: str, includes: Iterable[tuple[str, bool]]) -> list[Job]:
        """Jobs for headers that are there, beside the file or in a folder of -I, and were not met before."""
        found = []
        around = [Path(os.path.realpath(d)) for d in (os.path.dirname(file), *dirs)]  # noqa: PTH120
        for name, quoted in includes:
            folders = (os.path.dirname(file), *dirs) if quoted else dirs  # noqa: PTH120
            paths = (os.path.normpath(os.path.abspath(f"{d}/{name}")) for d in folders)  # noqa: PTH100
            path = next((p for p in paths if may_include(Path(p), around)), None)
            if path is not None and path not in names and len(names) < len(jobs) + _MOST_HEADERS:
                names.add(path)
                found.append(Job(-1, path, path, request.options, max_size=request.max_size, size=size_of(path)))
        return found

    level = [header for job in alone for header in reached(job.path, includes_of(job))]
    if len(jobs) < 2 and not level:
        level = included({job.path: Scan(includes=includes_of(job)) for job in jobs})
        if not level:
            return None
    scans = dict(_scans(pool, jobs, lost, cache, between))
    level += included(scans)
    while level:
        headers += level
        more = dict(_scans(pool, level, lost, cache))
        scans |= more
        level = [h for path, found in more.items() for h in reached(path, found.includes)] if alone else []
        level += included(more)
    return Graph([job.path for job in (*jobs, *headers)], scans, dirs)


def _scans(
    pool: Workers, jobs: Sequence[Job], lost: dict[str, str], cache: Cache | None, between: Iterator[None] | None = None
) -> Iterator[tuple[str, Scan]]:
    todo = list(jobs)
    if cache is not None:
        known = list(cache.scans(jobs))
        yield from ((job.path, found) for job, found in known if found is not None)
        todo = [job for job, found in known if found is None]
    new: list[tuple[Job, Scan]] = []
    for job, found in pool.run(scan, todo):
        if between is not None:
            next(between, None)
        if isinstance(found, Lost):
            lost[job.path] = found.reason
        else:
            new.append((job, found))
            yield job.path, found
    if cache is not None:
        cache.keep_scans(new)


def includes_of(job: Job) -> tuple[tuple[str, bool], ...]:
    """The includes of a file as written, none where it cannot be read."""
    try:
        return scan_includes(Path(job.path).read_bytes()) if job.size <= job.max_size else ()
    except OSError:
        return ()  # `convert` meets the same error and reports it


def size_of(name: str) -> int:
    """The size of a file in bytes, 0 where it cannot be told."""
    try:
        return os.stat(name).st_size  # noqa: PTH116
    except OSError:
        return 0
