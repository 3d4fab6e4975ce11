"""The `lint` command: options and configuration in, findings and exit code out."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from cu2port.cli.console import echo, echo_document
from cu2port.cli.options import shared
from cu2port.cli.reports import format_of, report_paths, write_reports, write_text
from cu2port.core import file_rules
from cu2port.core.disk import sweep_folder
from cu2port.core.model import Judged, Options, Project, Severity, Trust
from cu2port.facts.warpnames import WARP_HEADERS
from cu2port.lint import baseline
from cu2port.lint.run import FileLint, Settings, failed, lint
from cu2port.lint.select import make_selection, matches
from cu2port.lint.sense import folded_names
from cu2port.project.config import Config, find_config, inside, load_config
from cu2port.project.helper_headers import HELPERS, is_helper_file
from cu2port.project.inplace import InPlace
from cu2port.project.jobs import Job, patch
from cu2port.project.manifest import locked
from cu2port.project.tree import (
    CUDA_SUFFIXES,
    SOURCE_SUFFIXES,
    CannotRun,
    helper_prefix,
    make_roots,
    parse_size,
    suffix_of,
    walk,
)
from cu2port.project.workers import available_cores
from cu2port.report import formats
from cu2port.report.formats.text import statistics_lines, text_lines

_HIP_SUFFIXES = frozenset({".hip"})
_LOST = frozenset({file_rules.UNREADABLE.code, file_rules.INTERNAL.code})  # what no baseline may hide
_PASSES = 4  # over files that include each other
_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}


def command(paths: tuple[str, ...], asked: Mapping[str, Any]) -> int:
    """Run `lint`; returns the exit code."""
    try:
        return _run(paths, asked)
    except CannotRun as e:
        echo(f"cu2port: {e}", err=True)
        return 2


def _run(paths: tuple[str, ...], asked: Mapping[str, Any]) -> int:
    out = asked["output"]
    chosen = asked["format"] or ""
    chosen = format_of(Path(out), "lint", "-o", chosen, "text") if out else chosen or "text"
    reports = report_paths(asked["reports"], "lint")
    _check_options(paths, asked, chosen)
    config = load_config(Path(asked["config"])) if asked["config"] else _tree(paths, asked["isolated"])
    known = _baseline(config, asked)
    settings = _settings(config, asked, known)
    jobs, unread, ignored = _jobs(paths, config, asked, settings)
    workers = asked["jobs"] or available_cores()

    def examine(jobs: Sequence[Job]) -> list[FileLint]:
        return list(lint(jobs, settings, workers, use_cache=not asked["no_cache"]))

    def shown(files: Sequence[FileLint]) -> list[FileLint]:
        left = (_without_known(f, known) for f in files)
        return [replace(f, findings=folded_names(f.findings)) for f in left]

    files = examine(jobs)
    if asked["write_baseline"]:
        path = Path(asked["write_baseline"])
        count = baseline.save(path, {f.path: [x.mark for x in f.findings if x.code not in _LOST] for f in files})
        echo(f"{path}: it keeps {_count(count, 'finding')}", err=True)
        lost = [replace(f, findings=tuple(x for x in f.findings if x.code in _LOST)) for f in (*files, *unread)]
        _show(lost, asked, chosen, on_error=True)
        return 1 if any(f.findings for f in lost) else 0
    files = shown(files)
    if asked["diff"]:
        _show_diff(jobs, files)
    elif settings.fix is not None and paths != ("-",):
        folders = [r.path for r in make_roots(paths or (".",), into_one=False) if r.folder]
        files = _fix(config, folders, jobs, files, lambda again: shown(examine(again)))
    elif settings.fix is not None:
        data = jobs[0].data or b""
        sys.stdout.buffer.write(data if files[0].output is None else files[0].output)
    named = [*files, *unread]
    if chosen == "text":
        files = _as_seen_from_here(files, jobs, config)
    files += unread
    if ignored and not asked["quiet"]:
        echo(f"left out, since git ignores it: {_count(ignored, 'file or folder', 'files and folders')}", err=True)
    _show(files, asked, chosen, on_error=asked["diff"] or (settings.fix is not None and paths == ("-",)))
    write_reports(reports, "lint", named)
    left = any(f.findings for f in files)
    changed = asked["diff"] and any(f.output is not None for f in files)
    return 0 if asked["exit_zero"] else 1 if left or changed else 0


def _check_options(paths: tuple[str, ...], asked: Mapping[str, Any], chosen: str) -> None:
    """Refuse what would be passed over in silence."""
    if asked["stdin_filename"] and paths != ("-",):
        raise CannotRun("--stdin-filename says what `-` is called, and `-` is not among the inputs")
    if asked["statistics"] and chosen != "text":
        raise CannotRun(f"--statistics is text; --format {chosen} has counts of its own")
    if asked["write_baseline"] and (asked["fix"] or asked["unsafe_fixes"] or asked["diff"]):
        raise CannotRun("--write-baseline keeps what there is; fix first, then write")


def _tree(paths: tuple[str, ...], isolated: bool) -> Config:
    """The configuration, and with it the tree: that of the working folder, or of the inputs if all are outside it."""
    read = Config if isolated else find_config
    here = read(Path.cwd().resolve())
    top = here.root.resolve()
    named = [Path(p).absolute() for p in paths if p != "-"]
    folders = [(p if p.is_dir() else p.parent).resolve() for p in named]
    if any(f.is_relative_to(top) for f in folders) or not folders:
        return here
    return read(Path(os.path.commonpath(folders)))


def _settings(config: Config, asked: Mapping[str, Any], known: Mapping[str, Counter[str]]) -> Settings:
    where = config.source or "command line"
    selection = make_selection(
        _words(asked["select"]) or config.select,
        (*config.ignore, *_words(asked["ignore"])),
        (*config.extend_select, *_words(asked["extend_select"])),
        config.per_file_ignores,
        where,
    )
    fix = Trust.REVIEW if asked["unsafe_fixes"] else Trust.EXACT if asked["fix"] or asked["diff"] else None
    common = shared(asked, config)
    options = Options(
        rocm=common.rocm,
        warp="flag",
        archs=common.archs,
        include_dirs=common.include_dirs,
        defines=common.defines,
        rules=common.rules,
    )
    return Settings(options, selection, fix, bool(asked["info"]), known if fix is not None else {})


def _words(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(w for text in texts for w in text.split(",") if w.strip())


def _jobs(
    paths: tuple[str, ...], config: Config, asked: Mapping[str, Any], settings: Settings
) -> tuple[list[Job], list[FileLint], int]:
    """The files to look at: those that are named, and the CUDA and HIP sources of folders that are named.

    Also what could not be read, and how many files and folders git ignores.
    """
    size = parse_size(asked["max_size"])
    if paths == ("-",):
        name = asked["stdin_filename"] or "stdin.cu"
        shown = _relative(Path(name).absolute(), config.root, name)
        return [Job(0, name, shown, settings.options, max_size=size, data=sys.stdin.buffer.read())], [], 0
    if "-" in paths:
        raise CannotRun("`-` is standard input; it cannot be mixed with other inputs")
    exclude = (*config.exclude, *asked["exclude"])
    jobs: dict[str, Job] = {}
    unread: list[FileLint] = []
    ignored = 0
    top = config.root.resolve()
    for root in make_roots(paths or (".",), into_one=False):
        if root.folder:
            _relative(root.path.absolute(), top, str(root.path))
        for item in walk(root):
            ignored += item.kind == "ignored"
            unread += [failed(item.shown, j) for j in item.found if j.finding.severity is Severity.ERROR]
            if item.kind not in ("source", "copy") or (root.folder and not _is_source(item.name)):
                continue
            real = Path(item.name).resolve()  # a link is read and fixed as the file that it refers to
            if root.folder and not real.is_relative_to(top):
                continue
            shown = _relative(real, top, item.shown)
            if any(matches(glob, shown) for glob in exclude):
                continue
            project = Project(helper_prefix=helper_prefix(shown), keeps_warps=_keeps_warps(real.parent, top))
            jobs[str(real)] = Job(len(jobs), str(real), shown, settings.options, project, max_size=size)
    return list(jobs.values()), unread, ignored


@lru_cache(maxsize=4096)
def _keeps_warps(folder: Path, top: Path) -> bool:
    """Whether a folder or one above it, up to `top`, holds headers of ours that keep CUDA's warps."""
    inside = folder.is_relative_to(top)
    above = [f for f in folder.parents if f.is_relative_to(top)] if inside else []
    return any(_has_warp_headers(f) for f in (folder, *above))


@lru_cache(maxsize=4096)
def _has_warp_headers(folder: Path) -> bool:
    return any(is_helper_file(folder / HELPERS / name) for name in WARP_HEADERS)


def _is_source(name: str) -> bool:
    """Whether a folder's file is looked at: CUDA and HIP sources, and C++ that refers to either."""
    suffix = suffix_of(name)
    if suffix in CUDA_SUFFIXES | _HIP_SUFFIXES:
        return True
    if suffix not in SOURCE_SUFFIXES:
        return False
    try:
        data = Path(name).read_bytes()
    except OSError:
        return True  # so that it is reported
    return any(mark in data for mark in (b"cuda", b"hip", b"__global__", b"__device__", b"cub::", b"nccl"))


def _relative(path: Path, root: Path, given: str) -> str:
    """A file's path from the tree's root. Raises CannotRun for a file outside, whose name no report could carry."""
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        pass
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        raise CannotRun(f"{given} is outside {root}; name it in a run of its own") from None


def _baseline(config: Config, asked: Mapping[str, Any]) -> dict[str, Counter[str]]:
    if asked["write_baseline"]:
        return {}
    if asked["baseline"]:
        return baseline.load(Path(asked["baseline"]))
    if config.baseline:
        path = config.root / inside(config.baseline, "baseline")
        if not path.resolve().is_relative_to(config.root.resolve()):
            raise CannotRun(f"{config.source}: baseline {config.baseline!r} is a link that leads out of the tree")
        return baseline.load(path)
    return {}


def _without_known(f: FileLint, known: Mapping[str, Counter[str]]) -> FileLint:
    """A file's findings that its baseline does not hold; of equal ones the first are the known."""
    if f.path not in known:
        return f
    counts = known[f.path].copy()
    left = []
    for x in f.findings:
        if counts[x.mark] > 0:
            counts[x.mark] -= 1
        else:
            left.append(x)
    return replace(f, findings=tuple(left))


def _as_seen_from_here(files: Sequence[FileLint], jobs: Sequence[Job], config: Config) -> list[FileLint]:
    """Files under the names that the working folder gives them, as editors and terminals look them up."""
    here = Path.cwd().resolve()
    if here == config.root.resolve():
        return list(files)
    seen = [f.path if j.data is not None else os.path.relpath(j.path, here) for f, j in zip(files, jobs, strict=True)]
    return [replace(f, path=name.replace(os.sep, "/")) for f, name in zip(files, seen, strict=True)]


def _fix(
    config: Config,
    folders: Sequence[Path],
    jobs: Sequence[Job],
    files: Sequence[FileLint],
    examine: Callable[[Sequence[Job]], list[FileLint]],
) -> list[FileLint]:
    """Write what was fixed, and `examine` the files with findings left again: what is wrong in them may be a header's
    matter, and that header was fixed."""
    done = dict(zip(jobs, files, strict=True))
    changed = done
    top = config.root.resolve()
    for _ in range(_PASSES):
        with locked(folders):
            written = _write(config, list(changed), list(changed.values()))
        for job, f in zip(changed, written, strict=True):
            done[job] = replace(f, fixed=f.fixed + done[job].fixed) if changed is not done else f
        if all(f.output is None for f in written):
            break
        _keeps_warps.cache_clear()
        left = [job for job, f in done.items() if f.findings and not _LOST & {x.code for x in f.findings}]
        known = [
            replace(j, project=replace(j.project, keeps_warps=_keeps_warps(Path(j.path).parent, top))) for j in left
        ]
        changed = dict(zip(left, examine(known), strict=True)) if left else {}
        if not changed:
            break
    return list(done.values())


def _write(config: Config, jobs: Sequence[Job], files: Sequence[FileLint]) -> list[FileLint]:
    """Write the headers that texts include, then fixed texts. Returns the files, those that had to be left with why."""
    writer = InPlace()
    for folder in {os.path.dirname(job.path) for job in jobs} | {str(config.root / HELPERS)}:  # noqa: PTH120
        sweep_folder(folder)  # of a run that was killed
    for header, found in _headers(writer, config.root, files):
        echo(f"cu2port: {header}: {found.finding.message}", err=True)
    out = []
    for job, f in zip(jobs, files, strict=True):
        left: Judged | None = None
        if f.output is not None:
            try:
                left = writer.put(job.path, f.output, f.read)
            except OSError as e:
                left = file_rules.UNREADABLE.on_file(f"could not be written ({e.strerror}); it was left as it is")
        out.append(f if left is None else failed(f.path, left))
    writer.finish()
    return out


def _headers(writer: InPlace, folder: Path, files: Sequence[FileLint]) -> list[tuple[Path, Judged]]:
    names = frozenset[str]().union(*(f.helpers for f in files))
    try:
        return writer.put_headers(folder, names)
    except OSError as e:
        raise CannotRun(f"{folder / HELPERS}: {e.strerror}; nothing was fixed") from e


def _show_diff(jobs: Sequence[Job], files: Sequence[FileLint]) -> None:
    out = []
    for job, f in zip(jobs, files, strict=True):
        if f.output is not None:
            before = job.data if job.data is not None else Path(job.path).read_bytes()
            out.append(patch(f.path, f.path, before, f.output))
    sys.stdout.buffer.write(b"".join(out))
    sys.stdout.buffer.flush()


def _show(files: Sequence[FileLint], asked: Mapping[str, Any], chosen: str, on_error: bool) -> None:
    """The findings where they are asked for: on the terminal in colour, or as a document in a format."""
    if chosen == "text" and not asked["output"]:
        _show_text(files, asked, on_error)
    elif not asked["output"]:
        echo_document(formats.render(chosen, "lint", files), err=on_error)
    else:
        write_text(Path(asked["output"]), formats.render(chosen, "lint", files), "-o")


def _show_text(files: Sequence[FileLint], asked: Mapping[str, Any], err: bool) -> None:
    if asked["statistics"]:
        for line in statistics_lines(files):
            echo(line, err=err)
    elif not asked["quiet"]:
        for f in files:
            for severity, line in text_lines(f, True):
                echo(line, fg=_COLOURS.get(severity), err=err)
    if not asked["quiet"]:
        echo(_summary(files, asked["diff"]), err=True)


def _summary(files: Sequence[FileLint], diff: bool) -> str:
    """The last line: what was found and what can be done about it."""
    left, fixed = sum(len(f.findings) for f in files), sum(f.fixed for f in files)
    looked_at = _count(len(files), "file")
    if not left and not fixed:
        return f"nothing found in {looked_at}"
    words = [f"{_count(left, 'finding')} in {sum(bool(f.findings) for f in files)} of {looked_at}"]
    if not left:
        words = [f"nothing left in {looked_at}"]
    if fixed:
        words.append(f"{fixed} {'would be ' if diff else ''}fixed")
    trusts = Counter(x.fix.trust for f in files for x in f.findings if x.fix is not None)
    if trusts["exact"]:
        words.append(f"{trusts['exact']} fixed by --fix [*]")
    if trusts["review"]:
        words.append(f"{trusts['review']} {'more ' if trusts['exact'] else 'fixed '}by --unsafe-fixes [~]")
    return "; ".join(words)


def _count(n: int, what: str, many: str = "") -> str:
    return f"{n} {what if n == 1 else many or what + 's'}"
