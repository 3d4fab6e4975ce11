"""`cu2port convert`: from inputs to outputs and a record of the run. Prints nothing; `cli_convert` does."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from cu2port import __version__, git, troubles
from cu2port.catalog import load_catalog
from cu2port.check import all_checks
from cu2port.compile_db import CompileDb
from cu2port.graph import Graph, Scan, scan_includes
from cu2port.ignore import patterns
from cu2port.jobs import Done, Job, convert, refused, scan
from cu2port.model import Judged, Options, Project
from cu2port.output import Helpers, InPlace, TreeOutput, write
from cu2port.project import CannotRun, Item, Root, helper_prefix, make_roots, rename, walk
from cu2port.report.record import Entry, FileRecord, RunRecord, entries
from cu2port.workers import Lost, Pool

Mode = Literal["out", "in-place", "diff", "dry-run"]
Tick = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for. `out` is empty unless `mode` is `out`; there `-` is standard output."""

    inputs: tuple[str, ...]
    mode: Mode
    out: str = ""
    options: Options = field(default_factory=Options)
    commands: CompileDb | None = None
    exclude: tuple[str, ...] = ()
    workers: int = 0  # 0: as many as there are cores
    max_size: int = 8 << 20
    limit_s: float = 60.0
    force: bool = False


@dataclass(slots=True)
class Ran:
    """A finished run. `stdout`: bytes for standard output; `in_the_way`: outputs left alone, so exit code 2."""

    record: RunRecord
    stdout: bytes = b""
    in_the_way: bool = False
    notes: list[str] = field(default_factory=list)


def run(request: Request, stdin: bytes | None = None, tick: Tick = lambda done, total: None) -> Ran:
    """Convert. `tick(done, total)` is called after each source file. Raises CannotRun before anything is written."""
    _check_inputs(request)
    if request.inputs == ("-",):
        return _stream(request, stdin or b"")
    roots = make_roots(request.inputs, into_one=request.mode == "out")
    if request.mode == "out" and len(roots) == 1 and not roots[0].folder and not _names_folder(request.out):
        return _one_file(request, roots[0])
    if request.mode == "out" and request.out == "-":
        raise CannotRun("-o -: standard output takes one file")
    notes: list[str] = []
    items = _items(request, roots)
    if request.mode == "out":
        return _into_tree(request, roots, items, tick)
    if request.mode == "in-place" and not request.force:
        notes = _safe_in_place(roots, items)
    ran = _in_place(request, roots, items, tick)
    ran.notes[:0] = notes
    return ran


def _check_inputs(request: Request) -> None:
    if "-" in request.inputs:
        if len(request.inputs) > 1:
            raise CannotRun("`-` is standard input; it cannot be mixed with other inputs")
        if request.mode == "in-place":
            raise CannotRun("`-` is standard input; it has no place for --in-place")


def _names_folder(out: str) -> bool:
    return out != "-" and (out.endswith(("/", os.sep)) or Path(out).is_dir())


def _items(request: Request, roots: Sequence[Root]) -> list[Item]:
    """The whole input, with targets as they will be."""
    leave_out: frozenset[Path] = frozenset()
    if request.mode == "out":
        out = Path(request.out).resolve()
        for root in roots:
            base = root.path if root.folder else root.path.parent
            if root.folder and out == root.path:
                raise CannotRun(f"-o {request.out} is the input itself; --in-place converts it where it is")
            if root.folder and base.is_relative_to(out):
                raise CannotRun(f"-o {request.out} holds the input {root.given}; choose another folder")
            if not root.folder and out == base:
                raise CannotRun(f"-o {request.out} holds the input {root.given}; choose another folder, or --in-place")
        leave_out = frozenset({out})
    try:
        exclude = patterns(request.exclude) if request.exclude else None
    except ValueError as e:
        raise CannotRun(f"--exclude: {e}") from e
    items = [item for root in roots for item in walk(root, leave_out, exclude)]
    if request.mode != "out":
        items = [_leave_outside(item) for item in items]
    return rename(items, request.options.rename) if request.options.rename else items


def _leave_outside(item: Item) -> Item:
    """Where nothing is copied, a link to a file outside the input stays a link, and that file stays as it is."""
    if all(j.finding.code != troubles.LINKED_FILE.code for j in item.found):
        return item
    message = "the link leaves the input for a file that is not converted; pass that file as an input too"
    return replace(item, kind="none", found=(troubles.LEAVES_TREE.on_file(message),))


def _safe_in_place(roots: Sequence[Root], items: Sequence[Item]) -> list[str]:
    """Refuse what git could not bring back; say so where there is no git to do it."""
    notes = []
    for root in roots:
        dirty = git.uncommitted(root.path if root.folder else root.path.parent)
        if dirty is None:
            notes.append(f"{root.given} is not in a git tree, so the old files cannot be brought back")
            continue
        ours = [i.shown for i in items if i.root is root and i.kind == "source" and i.path in dirty]
        if ours:
            some = ", ".join(ours[:5]) + (f" and {len(ours) - 5} more" if len(ours) > 5 else "")
            raise CannotRun(f"not committed to git: {some}; commit first, or --force")
    return notes


def _jobs(request: Request, items: Sequence[Item], pool: Pool) -> list[Job]:
    """A job for every source item, with what the rest of the tree says about it. `index` is that of the item."""
    sources = [(i, item) for i, item in enumerate(items) if item.kind == "source"]
    bare = [
        Job(i, item.name, item.shown, request.options, max_size=request.max_size, size=_size(item.name))
        for i, item in sources
    ]
    graph = _graph(request, bare, pool)
    moved = frozenset(item.name for _, item in sources if not item.target.endswith(item.relative))
    jobs = []
    for job, (_, item) in zip(bare, sources, strict=True):
        options = job.options
        if request.commands is not None:
            flags = request.commands.flags(os.path.realpath(job.path))
            dirs = dict.fromkeys((*options.include_dirs, *flags.include_dirs))
            options = replace(options, include_dirs=tuple(dirs), defines=(*flags.defines, *options.defines))
        project = Project(
            declared=graph.declared(job.path) if graph else frozenset(),
            own=graph.own(job.path) if graph else frozenset(),
            renamed=graph.spelled(job.path, moved) if graph else _renamed_beside(job),
            helper_prefix=helper_prefix(item.target),
        )
        names = None
        if request.mode == "diff":
            names = (item.shown.lstrip("/"), _output_of(request, item).lstrip("/"))
        jobs.append(replace(job, options=options, project=project, diff=names))
    return jobs


def _graph(request: Request, jobs: Sequence[Job], pool: Pool) -> Graph | None:
    """What the files say of each other; a single file has no others."""
    if len(jobs) < 2:
        return None
    scans = {job.path: found for job, found in pool.run(scan, jobs) if isinstance(found, Scan)}
    return Graph([job.path for job in jobs], scans, request.options.include_dirs)


def _renamed_beside(job: Job) -> frozenset[str]:
    """For a file converted alone: its includes of .cu files that are there, which --rename means too."""
    if not job.options.rename:
        return frozenset()
    folder = Path(job.path).parent
    try:
        names = [name for name, quoted in scan_includes(Path(job.path).read_bytes()) if quoted]
    except OSError:
        return frozenset()  # `convert` meets the same error and reports it
    return frozenset(n for n in names if n.lower().endswith(".cu") and (folder / n).is_file())


def _size(name: str) -> int:
    try:
        return os.stat(name).st_size  # noqa: PTH116
    except OSError:
        return 0


def _results(jobs: Sequence[Job], pool: Pool, tick: Tick) -> Iterator[tuple[Job, Done]]:
    """Every job's result, as they come."""
    total = len(jobs)
    for count, (job, done) in enumerate(pool.run(convert, jobs), 1):
        yield job, _lost(job, done) if isinstance(done, Lost) else done
        tick(count, total)


def _lost(job: Job, lost: Lost) -> Done:
    message = f"cu2port failed on this file ({lost.reason}), also without libclang; copied as it is; please report"
    return refused(job, "failed", troubles.INTERNAL.on_file(message), notes=(lost.trace,) if lost.trace else ())


def _pool(request: Request, sources: int) -> Pool:
    """Workers for a run. What all of them need is loaded first, so that a fork shares it."""
    load_catalog()
    all_checks()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Pool(min(request.workers or cores, max(1, sources)), request.limit_s)


def _into_tree(request: Request, roots: Sequence[Root], items: list[Item], tick: Tick) -> Ran:
    """Input folders, or several inputs, to an output folder."""
    tree = TreeOutput(Path(request.out), request.force)
    records: dict[int, FileRecord] = {}
    helpers: frozenset[str] = frozenset()
    in_the_way = False
    with _pool(request, sum(i.kind == "source" for i in items)) as pool:
        tree.prepare(items)
        with contextlib.ExitStack() as stack:
            stack.callback(tree.keep)
            for index, item in enumerate(items):
                if item.kind != "source":
                    blocked = _put(tree, item, None)
                    in_the_way |= _edited(blocked)
                    if blocked or item.found:
                        records[index] = _plain(request, item, blocked)
            for job, done in _results(_jobs(request, items, pool), pool, tick):
                item = items[job.index]
                found: tuple[Judged, ...] = ()
                if _unread(done.entries):
                    tree.lost(item)
                else:
                    found = _put(tree, item, done.output)
                in_the_way |= _edited(found)
                helpers |= done.helpers
                records[job.index] = _record(request, item, done, found)
            written, foreign = Helpers().put(tree.out, helpers)
            stack.pop_all()
        tree.finish(roots, written)
    more = _foreign(foreign)
    return Ran(_run_record(request, records, more), in_the_way=in_the_way)


def _unread(found: Sequence[Entry]) -> bool:
    return any(e.code == troubles.UNREADABLE.code for e in found)


def _edited(found: Sequence[Judged]) -> bool:
    return any(j.finding.code == troubles.IN_THE_WAY.code for j in found)


def _foreign(blocked: Sequence[tuple[Path, Judged]]) -> list[FileRecord]:
    """Records of travelling headers whose place is taken."""
    return [FileRecord(p.as_posix(), p.as_posix(), "failed", entries(b"", (j,))) for p, j in blocked]


def _put(tree: TreeOutput, item: Item, data: bytes | None) -> tuple[Judged, ...]:
    """Write an item; a file that cannot be read or written is a finding, and the others go on."""
    if item.kind == "none":
        return ()
    try:
        blocked = tree.put(item, data)
    except OSError as e:
        tree.lost(item)
        where = e.filename if isinstance(e.filename, str) else item.shown
        message = f"could not be copied ({where}: {e.strerror}); mend that and convert again"
        return (troubles.UNREADABLE.on_file(message),)
    return (blocked,) if blocked else ()


def _in_place(request: Request, roots: Sequence[Root], items: list[Item], tick: Tick) -> Ran:
    """--in-place, --diff and --dry-run: the same work, and only the first of them writes."""
    writing = request.mode == "in-place"
    writer = InPlace()
    records: dict[int, FileRecord] = {}
    diffs: dict[int, bytes] = {}
    helpers: dict[Root, frozenset[str]] = dict.fromkeys(roots, frozenset())
    for index, item in enumerate(items):
        if item.found and item.kind != "source":
            records[index] = _plain(request, item, ())
    with _pool(request, sum(i.kind == "source" for i in items)) as pool:
        for job, done in _results(_jobs(request, items, pool), pool, tick):
            item = items[job.index]
            found = _put_back(writer, item, done.output) if writing and not _unread(done.entries) else ()
            diffs[job.index] = done.diff
            helpers[item.root] |= done.helpers
            records[job.index] = _record(request, item, done, found)
    more = []
    notes = []
    for root, names in helpers.items():
        folder = root.path if root.folder else root.path.parent
        if names and writing:
            _, blocked = Helpers().put(folder, names)
            more += _foreign(blocked)
        elif names:
            notes.append(_helper_note(names))
    if writing:
        for item in items:
            if item.kind == "link":
                _put_back(writer, item, None)
    return Ran(_run_record(request, records, more), b"".join(diffs[i] for i in sorted(diffs)), notes=notes)


def _put_back(writer: InPlace, item: Item, data: bytes | None) -> tuple[Judged, ...]:
    try:
        writer.put(item, data)
    except OSError as e:
        return (troubles.UNREADABLE.on_file(f"could not be written ({e.strerror}); mend that and convert again"),)
    return ()


def _one_file(request: Request, root: Root) -> Ran:
    """One input file to a named file or to standard output."""
    out = Path(request.out)
    if request.out != "-" and out.resolve() == root.path:
        raise CannotRun(f"-o {request.out} is the input itself; --in-place converts it where it is")
    if request.out != "-" and not out.parent.is_dir():
        raise CannotRun(f"-o {request.out}: there is no folder {out.parent}")
    item = next(walk(root))
    with _pool(request, 1) as pool:
        _, done = next(_results(_jobs(request, [item], pool), pool, lambda done, total: None))
    record = _record(request, item, done, ())
    if record.output:
        record = record._replace(output=out.as_posix())
    ran = Ran(_run_record(request, {0: record}, []))
    if done.output is None and done.status == "failed" and not os.access(root.path, os.R_OK):
        return ran
    data = done.output if done.output is not None else root.path.read_bytes()
    _deliver(request, ran, data, done.helpers, root.path.stat().st_mode & 0o7777)
    return ran


def _stream(request: Request, data: bytes) -> Ran:
    """Standard input to standard output, a file or a diff."""
    names = ("stdin", "stdin") if request.mode == "diff" else None
    job = Job(0, "-", "<stdin>", request.options, max_size=request.max_size, data=data, diff=names)
    with _pool(request, 1) as pool:
        _, done = next(_results([job], pool, lambda done, total: None))
    record = FileRecord("-", request.out or "-", done.status, done.entries, done.seen, done.left, done.notes)
    ran = Ran(_run_record(request, {0: record}, []))
    if request.mode == "diff":
        ran.stdout = done.diff
    elif request.mode == "out":
        _deliver(request, ran, data if done.output is None else done.output, done.helpers, None)
    return ran


def _deliver(request: Request, ran: Ran, data: bytes, helpers: frozenset[str], mode: int | None) -> None:
    """Bring one file's output to where it was asked for, travelling headers beside it."""
    if request.out in ("", "-"):
        ran.stdout = data
        if helpers:
            ran.notes.append(_helper_note(helpers))
        return
    out = Path(request.out)
    try:
        write(out, data, mode)
    except OSError as e:
        raise CannotRun(f"-o {request.out}: {e.strerror}") from e
    _, blocked = Helpers().put(out.parent, helpers)
    ran.record = replace(ran.record, files=(*ran.record.files, *_foreign(blocked)))


def _helper_note(names: frozenset[str]) -> str:
    listed = ", ".join(f"cu2port/{n}" for n in sorted(names))
    return f"the converted code includes {listed}; -o and --in-place write them"


def _output_of(request: Request, item: Item) -> str:
    """Where an item's output stands, as the user would write it."""
    if request.mode != "out":
        if item.root.folder:
            return item.root.shown(item.target)
        return item.shown[: len(item.shown) - len(item.relative)] + item.target
    return f"{Path(request.out).as_posix()}/{item.target}"


def _plain(request: Request, item: Item, found: tuple[Judged, ...]) -> FileRecord:
    """The record of an item that is no source."""
    judged = (*item.found, *found)
    bad = any(j.finding.code == troubles.UNREADABLE.code for j in judged)
    output = "" if item.kind == "none" else _output_of(request, item)
    return FileRecord(item.shown, output, "failed" if bad else "copied", entries(b"", judged))


def _record(request: Request, item: Item, done: Done, found: tuple[Judged, ...]) -> FileRecord:
    """The record of a source: troubles with the file first, then what was found in it."""
    every = (*entries(b"", (*item.found, *found)), *done.entries)
    failed = _unread(every)
    return FileRecord(
        path=item.shown,
        output="" if failed else _output_of(request, item),
        status="failed" if failed else done.status,
        entries=every,
        seen=done.seen,
        left=done.left,
        notes=done.notes,
    )


def _run_record(request: Request, records: dict[int, FileRecord], more: Sequence[FileRecord]) -> RunRecord:
    o = request.options
    options = {
        "rocm": f"{o.rocm[0]}.{o.rocm[1]}",
        "trust": o.trust.label,
        "launch": o.launch,
        "rename": o.rename,
        "skip_inactive": o.skip_inactive,
        "comments": o.comments,
        "include_dirs": list(o.include_dirs),
        "defines": list(o.defines),
    }
    return RunRecord(__version__, options, (*(records[i] for i in sorted(records)), *more))
