"""`cu2port convert`: from inputs to outputs and a record of the run. Prints nothing; `cli/convert.py` does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cu2port.core import file_rules
from cu2port.core.disk import is_temporary, sweep, sweep_folder
from cu2port.core.entry import Entry, has_code
from cu2port.core.late import dataclass
from cu2port.core.model import Judged
from cu2port.core.record import FileRecord, PartRecord, RunRecord, entries
from cu2port.core.version import __version__
from cu2port.project.helper_headers import HELPERS
from cu2port.project.inplace import InPlace, check_links, safe_in_place
from cu2port.project.jobs import Done, Job
from cu2port.project.manifest import locked
from cu2port.project.output import TreeOutput
from cu2port.project.plan import (
    Plan,
    Request,
    as_planned,
    check_inputs,
    check_kernels,
    names_folder,
    output_of,
    plan_items,
    plan_jobs,
)
from cu2port.project.results import Tick, new_pool
from cu2port.project.results import results as results
from cu2port.project.single import write_single
from cu2port.project.tree import STATE, CannotRun, Item, Root, make_roots, part_of, walk
from cu2port.warp.native.asked import is_asked

if TYPE_CHECKING:
    from cu2port.project.cache import Cache


@dataclass(slots=True)
class Ran:
    """A finished run. `stdout`: bytes for standard output; `in_the_way`: outputs left alone, so exit code 2."""

    record: RunRecord
    stdout: bytes = b""
    in_the_way: bool = False
    notes: list[str] = field(default_factory=list)


def run(request: Request, stdin: bytes | None = None, tick: Tick = lambda done, total: None) -> Ran:
    """Convert. `tick(done, total)` is called after each source file. Raises CannotRun before anything is written."""
    check_inputs(request)
    if request.inputs == ("-",):
        return _stream(request, stdin or b"")
    roots = make_roots(request.inputs, into_one=request.mode == "out")
    if request.mode == "out" and len(roots) == 1 and not roots[0].folder and not names_folder(request.out):
        if request.shard:
            raise CannotRun("--shard divides the files of a folder, and the input is one file")
        return _one_file(request, roots[0])
    if request.mode == "out" and request.out == "-":
        raise CannotRun("-o -: standard output takes one file")
    notes: list[str] = []
    if request.mode == "in-place":
        check_links(roots)
    planned = plan_items(request, roots)
    items = [item for item in planned if item.kind != "ignored"]
    check_kernels(request, items)
    if request.mode == "in-place" and not request.force:
        notes = safe_in_place(roots, items)
    ran = (_into_tree if request.mode == "out" else _in_place)(request, roots, items, tick)
    ran.notes[:0] = [*request.notes, *notes]
    ran.record = replace(ran.record, ignored=tuple(item.shown for item in planned if item.kind == "ignored"))
    return ran


def _into_tree(request: Request, roots: Sequence[Root], items: list[Item], tick: Tick) -> Ran:
    """Input folders, or several inputs, to an output folder."""
    tree = TreeOutput(Path(request.out), request.force, request.shard)
    tree.make()
    records: dict[int, FileRecord] = {}
    more: list[FileRecord] = []
    in_the_way = False
    sources = sum(i.converts for i in items)
    part, parts = request.shard or (1, 1)
    mine = frozenset(i for i, item in enumerate(items) if part_of(item.target, parts) == part)
    lock = locked([tree.out], together=request.shard is not None)
    with lock as held, new_pool(request, sources, held) as pool, contextlib.closing(tree):
        tree.prepare([item for i, item in enumerate(items) if i in mine])
        with contextlib.ExitStack() as stack:
            stack.callback(tree.keep)
            cache = _cache() if request.cache else None
            plan = plan_jobs(request, items, pool, cache)
            _as_sources(items, plan)
            jobs = [job for job in plan.jobs if job.index in mine]
            others = [i for i, item in enumerate(items) if i in mine and not item.converts]
            share = len(others) // max(1, len(jobs)) + 1  # copied after each result, while the workers go on

            def copy(count: int) -> None:
                nonlocal in_the_way
                for index in others[:count]:
                    blocked = _put(tree, items[index], None)
                    in_the_way |= _edited(blocked)
                    if blocked or items[index].found:
                        records[index] = _plain(request, items[index], blocked)
                del others[:count]

            for job, done in results(jobs, pool, tick, cache, lambda job: tree.there(items[job.index])):
                copy(share)
                item = items[job.index]
                found: tuple[Judged, ...] = ()
                if _unread(done.entries):
                    tree.lost(item)
                else:
                    found = _put(tree, item, done, more)
                in_the_way |= _edited(found)
                records[job.index] = _record(request, item, done, found)
            copy(len(others))
            stack.pop_all()
        try:
            tree.finish(roots, frozenset(item.target for item in items))
        except OSError as e:
            message = f"could not be written ({e.strerror}); the next run takes up what this one wrote"
            more.append(_broken(f"{tree.out.as_posix()}/{STATE}", file_rules.UNREADABLE.on_file(message)))
    return Ran(_run_record(request, records, more, plan), in_the_way=in_the_way)


def _as_sources(items: list[Item], plan: Plan) -> None:
    """Put the items that are sources after all in their places."""
    for index, item in plan.parts.items():
        items[index] = item


def _cache() -> Cache:
    from cu2port.project.cache import Cache  # for files of a tree

    return Cache()


def _unread(found: Sequence[Entry]) -> bool:
    return has_code(found, file_rules.UNREADABLE.code)


def _edited(found: Sequence[Judged]) -> bool:
    return any(j.finding.code == file_rules.IN_THE_WAY.code for j in found)


def _foreign(blocked: Sequence[tuple[Path, Judged]]) -> list[FileRecord]:
    """Records of helper headers whose place is taken."""
    return [_broken(p.as_posix(), j) for p, j in blocked]


def _broken(path: str, judged: Judged) -> FileRecord:
    return FileRecord(path, path, "failed", entries(b"", (judged,)))


def _put(tree: TreeOutput, item: Item, done: Done | None, more: list[FileRecord] | None = None) -> tuple[Judged, ...]:
    """Write an item, `done` None: as it is, after the headers it includes; a file that cannot be read or written is a
    finding, and the others go on. `more`: gets the records of headers whose place is taken."""
    if item.kind == "none":
        return ()
    try:
        if done is not None and more is not None:
            more += _foreign(tree.put_headers(done.helpers))
        if done is not None:
            there = done.written if done.output is None and done.written else None  # the cache has looked
            blocked = tree.put(item, done.output, done.read, done.written, there)
        else:
            blocked = tree.put(item, None)
    except OSError as e:
        tree.lost(item)
        where = e.filename if isinstance(e.filename, str) else item.shown
        message = f"could not be copied ({where}: {e.strerror}); fix that and convert again"
        return (file_rules.UNREADABLE.on_file(message),)
    return (blocked,) if blocked else ()


def _in_place(request: Request, roots: Sequence[Root], items: list[Item], tick: Tick) -> Ran:
    """--in-place, --diff and --dry-run: the same work, and only the first of them writes."""
    writer = InPlace(request.force) if request.mode == "in-place" else None
    records: dict[int, FileRecord] = {}
    diffs: dict[int, bytes] = {}
    helpers: frozenset[str] = frozenset()
    more: list[FileRecord] = []
    whole = True  # whether every text that changes could be written
    for index, item in enumerate(items):
        if item.found and not item.converts:
            records[index] = _plain(request, item, ())
    with contextlib.ExitStack() as stack:
        held = stack.enter_context(locked([r.path for r in roots if r.folder])) if writer else []
        pool = stack.enter_context(new_pool(request, sum(i.converts for i in items), held))
        if writer is not None:
            stack.callback(writer.finish)
            _sweep(roots, items)
        cache = _cache() if request.cache else None
        plan = plan_jobs(request, items, pool, cache)
        _as_sources(items, plan)
        if writer is not None and plan.parts and not request.force:
            safe_in_place(roots, [*plan.parts.values()])
        found_results: Iterable[tuple[Job, Done]] = results(plan.jobs, pool, tick, cache)
        if is_asked(request.options):
            found_results = list(
                found_results
            )  # files read the headers they include: none is written before all are read
        for job, done in found_results:
            item = items[job.index]
            found = _put_back(writer, item, done, more) if writer and not _unread(done.entries) else ()
            whole = whole and not found
            diffs[job.index] = done.diff
            helpers |= {n for n in done.helpers if not (_folder(item.root) / HELPERS / n).is_file()}
            records[job.index] = _record(request, item, done, found)
        notes = [_helper_note(helpers)] if helpers and writer is None else []
        if writer is not None and request.options.rename:
            if whole:
                _rename(request, writer, items, records)
            else:
                notes.append("no file has a new name, since includes of it could not all be written; convert again")
                records |= {i: r._replace(output=r.output and items[i].shown) for i, r in records.items()}
    return Ran(_run_record(request, records, more, plan), b"".join(diffs[i] for i in sorted(diffs)), notes=notes)


def _sweep(roots: Sequence[Root], items: Sequence[Item]) -> None:
    """Remove what a run that was killed left beside the files it was about to write."""
    for item in items:
        if is_temporary(item.relative.rpartition("/")[2]):
            sweep(item.path)
    for root in roots:
        if not root.folder:
            sweep_folder(root.path.parent)
            sweep_folder(root.path.parent / HELPERS)


def _put_back(writer: InPlace, item: Item, done: Done, more: list[FileRecord]) -> tuple[Judged, ...]:
    """Write a source back, after the headers that it includes. `more`: as for `_put`."""
    try:
        more += _foreign(writer.put_headers(_folder(item.root), done.helpers))
        found = writer.put(item.name, done.output, done.read) if done.output is not None else None
    except OSError as e:
        found = file_rules.UNREADABLE.on_file(f"could not be written ({e.strerror}); fix that and convert again")
    return (found,) if found else ()


def _folder(root: Root) -> Path:
    """The folder that helper headers of an input belong in, where nothing is copied."""
    return root.path if root.folder else root.path.parent


def _rename(request: Request, writer: InPlace, items: Sequence[Item], records: dict[int, FileRecord]) -> None:
    """Give files their new names, when all texts are written."""
    links = [(i, item, True) for i, item in enumerate(items) if item.kind == "link"]
    files = [(i, item, False) for i, item in enumerate(items) if item.kind in ("source", "link")]
    for index, item, leads in (*links, *files):
        try:
            found = writer.lead(item, request.options.rename) if leads else writer.rename(item)
        except OSError as e:
            found = file_rules.UNREADABLE.on_file(f"could not be renamed ({e.strerror}); fix that and convert again")
        if found is not None:
            record = records.get(index, _plain(request, item, ()))
            records[index] = record._replace(output=item.shown, entries=(*entries(b"", (found,)), *record.entries))


def _one_file(request: Request, root: Root) -> Ran:
    """One input file to a named file or to standard output."""
    out = Path(request.out)
    if request.out != "-" and out.resolve() == root.path:
        raise CannotRun(f"-o {request.out} is the input itself; --in-place converts it where it is")
    if request.out != "-" and not out.parent.is_dir():
        raise CannotRun(f"-o {request.out}: there is no folder {out.parent}")
    item = as_planned(request, next(walk(root)))
    check_kernels(request, [item])
    with new_pool(request, 1) as pool:
        jobs = plan_jobs(request, [item], pool).jobs
        _, done = next(results(jobs, pool, lambda done, total: None))
    record = _record(request, item, done, ())
    if record.output:
        record = record._replace(output=out.as_posix())
    ran = Ran(_run_record(request, {0: record}, []))
    if _unread(done.entries):
        return ran
    try:
        data = done.output if done.output is not None else root.path.read_bytes()
        mode = root.path.stat().st_mode & 0o7777
    except OSError as e:
        raise CannotRun(f"{root.given}: {e.strerror}") from e
    _deliver(request, ran, data, done.helpers, mode)
    return ran


def _stream(request: Request, data: bytes) -> Ran:
    """Standard input to standard output, a file or a diff."""
    names = ("stdin", "stdin") if request.mode == "diff" else None
    job = Job(0, "-", "<stdin>", request.options, max_size=request.max_size, data=data, diff=names)
    with new_pool(request, 1) as pool:
        _, done = next(results([job], pool, lambda done, total: None))
    record = FileRecord("-", request.out or "-", done.status, done.entries, done.seen, done.left, done.notes)
    ran = Ran(_run_record(request, {0: record}, []))
    if request.mode == "diff":
        ran.stdout = done.diff
    elif request.mode == "out":
        _deliver(request, ran, data if done.output is None else done.output, done.helpers, None)
    return ran


def _deliver(request: Request, ran: Ran, data: bytes, helpers: frozenset[str], mode: int | None) -> None:
    """Bring one file's output to where it was asked for, helper headers beside it."""
    if request.out in ("", "-"):
        ran.stdout = data
        if helpers:
            ran.notes.append(_helper_note(helpers))
        return
    blocked = write_single("-o", Path(request.out), data, helpers, mode, request.force)
    ran.record = replace(ran.record, files=(*ran.record.files, *_foreign(blocked)))


def _helper_note(names: frozenset[str]) -> str:
    listed = ", ".join(f"cu2port/{n}" for n in sorted(names))
    return f"the converted code includes {listed}; -o and --in-place write them"


def _plain(request: Request, item: Item, found: tuple[Judged, ...]) -> FileRecord:
    """The record of an item that is no source."""
    judged = (*item.found, *found)
    bad = any(j.finding.code == file_rules.UNREADABLE.code for j in judged)
    output = "" if item.kind == "none" else output_of(request, item)
    return FileRecord(item.shown, output, "failed" if bad else "copied", entries(b"", judged))


def _record(request: Request, item: Item, done: Done, found: tuple[Judged, ...]) -> FileRecord:
    """The record of a source: findings on the file first, then those in its text. Of a file that was left as it
    is there is nothing else to say: what was found was not applied."""
    left = any(j.finding.code in (file_rules.NOT_REPLACED.code, file_rules.UNREADABLE.code) for j in found)
    own = entries(b"", (*item.found, *found))
    every = (*own, *(() if left else done.entries)) if own else done.entries
    failed = left or _unread(every)
    return FileRecord(
        path=item.shown,
        output="" if failed else output_of(request, item),
        status="failed" if failed else done.status,
        entries=every,
        seen=done.seen,
        left=done.left,
        notes=done.notes,
    )


def _run_record(
    request: Request, records: dict[int, FileRecord], more: Sequence[FileRecord], plan: Plan | None = None
) -> RunRecord:
    o = request.options
    hip = plan.hip if plan is not None else None
    options = {
        "rocm": f"{o.rocm[0]}.{o.rocm[1]}",
        "warp": o.warp,
        "kernels": dict(o.kernels),
        "archs": list(o.archs),
        "trust": o.trust.label,
        "launch": o.launch,
        "ptx": o.ptx,
        "ptx_fp": o.ptx_fp,
        **({"cuda_arch": o.cuda_arch} if o.cuda_arch else {}),
        "rename": o.rename,
        "skip_inactive": o.skip_inactive,
        "comments": o.comments,
        "include_dirs": list(o.include_dirs),
        "defines": list(o.defines),
        "rules": [name for name, _ in o.rules],
        **({"hip_side": request.hip_side} if request.hip_side != "auto" else {}),
    }
    order = tuple(sorted(records))
    shard = PartRecord(*request.shard, order) if request.shard else None
    more = sorted(dict.fromkeys(more), key=lambda f: f.path)
    return RunRecord(__version__, options, (*(records[i] for i in order), *more), hip=hip, shard=shard)
