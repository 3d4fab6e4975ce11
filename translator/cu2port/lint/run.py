"""Files in, findings and fixed texts out. Prints and writes nothing but the cache."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from cu2port.catalog import load_catalog
from cu2port.checks import all_checks
from cu2port.checks.include import IncludeHeader
from cu2port.core import edits, file_rules
from cu2port.core.families import LIBRARIES, NAMES
from cu2port.core.locate import Lines, Place, readable
from cu2port.core.model import Finding, Judged, Options, Outcome, Project, Result, Severity, Span, Trust
from cu2port.engine import translate as engine
from cu2port.lint import sense, suppress
from cu2port.lint.baseline import fingerprint
from cu2port.lint.cache import Cache
from cu2port.lint.fixes import is_neutral, with_fixes
from cu2port.lint.select import Selection
from cu2port.project.first_look import graph_of
from cu2port.project.helper_headers import included_helpers, is_helper
from cu2port.project.jobs import Job, Tools
from cu2port.project.plan import Request
from cu2port.project.reach import DOUBT, Reach, included
from cu2port.project.workers import Lost, Pool

_ROUNDS = 10  # of fixing; a fix may reveal what another one fixes
_BOM = "\xef\xbb\xbf"  # as Latin-1; it has no column
MOST_SHOWN = 160  # characters of a source line
_SCOPES = re.compile(r"::|\.")
_ALONE = 4  # files that are not worth worker processes


@dataclass(frozen=True, slots=True)
class Fix:
    """Bytes [start, end) of the input and what should stand there; `trust`: exact (safe) or review."""

    start: Place
    end: Place
    text: str
    trust: str


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A finding to show. `line`: the source line it starts on, or a part of a long one, and `cut`: how many characters
    before that were left out; `mark`: what a baseline knows it by; `fix`: what would fix it; `also`: further places;
    `cuda`, `subject`: as in `Finding`."""

    code: str
    name: str
    severity: str
    message: str
    start: Place
    end: Place
    line: str
    mark: str
    cut: int = 0
    effects: tuple[tuple[str, str], ...] = ()
    why: tuple[str, ...] = ()
    fix: Fix | None = None
    also: tuple[Place, ...] = ()
    cuda: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class FileLint:
    """One file. `output`: its text after fixes, None if nothing changed; `fixed`: how many findings were fixed;
    `alone`: all that was found depends on this file only; else `reach` says what on, see `Reach`. `again`: it was not
    possible without leaving libclang out, so the result is not kept. `helpers`: the helper headers that the text
    includes after fixes; `read`: the sha256 of what was there before them."""

    path: str
    findings: tuple[LintFinding, ...] = ()
    output: bytes | None = None
    fixed: int = 0
    helpers: frozenset[str] = frozenset()
    alone: bool = False
    reach: str = ""
    again: bool = False
    read: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for a whole run. `fix`: the least trust of what is fixed, None to fix nothing; `info`: whether
    findings count that are for information only; `known`: file -> marks of its baseline, which are not fixed."""

    options: Options
    selection: Selection
    fix: Trust | None = None
    info: bool = False
    known: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    limit_s: float = 60.0

    @property
    def key(self) -> str:
        """Everything that changes what is found, as text."""
        return repr((self.options, self.fix, self.info))


def lint(files: Sequence[Job], settings: Settings, workers: int, use_cache: bool = True) -> Iterator[FileLint]:
    """Every file's findings, in the order of `files`, whose `shown` is relative to the tree's root."""
    first = dict(zip(files, _lint(files, settings, workers, use_cache), strict=True))
    again = _with_tree(first, settings, workers)
    done = _lint(again, settings, workers, use_cache) if again else ()
    second = dict(zip((j.index for j in again), done, strict=True))
    for job, found in first.items():
        yield second.get(job.index, found)


def _with_tree(first: Mapping[Job, FileLint], settings: Settings, workers: int) -> list[Job]:
    """Jobs to be done again, with what the other files say: they have findings on names that a file which theirs
    reaches declares itself. Few have such findings, so the tree is read for them alone."""
    cudas = {
        job: {x.cuda for x in f.findings if x.cuda and (NAMES.has(x.code) or LIBRARIES.has(x.code))}
        for job, f in first.items()
    }
    named = {
        job: {part for name in names for part in _SCOPES.split(name)}
        for job, names in cudas.items()
        if names and job.data is None
    }
    if not named:
        return []
    request = Request((), "dry-run", options=settings.options)
    jobs = list(first)
    with Pool(min(workers, max(1, len(jobs) // _ALONE)), settings.limit_s) as pool:
        graph = graph_of(request, jobs, list(named), pool, {})  # what was lost, the first round said
    if graph is None:
        return []
    return [
        replace(job, project=replace(job.project, declared=declared, own=graph.own(job.path)))
        for job, names in named.items()
        if (declared := graph.declared(job.path)) and names & {name.rpartition("::")[2] for name in declared}
    ]


def _lint(files: Sequence[Job], settings: Settings, workers: int, use_cache: bool) -> Iterator[FileLint]:
    cache = Cache.open(settings.key) if use_cache and settings.fix is None else None
    known: dict[int, FileLint] = {}
    todo: list[Job] = []
    texts: dict[int, bytes] = {}
    reach = Reach()
    dirs = settings.options.include_dirs

    def reached(job: Job, data: bytes) -> str:
        found = reach.digest(os.path.abspath(job.path), included(data), dirs)  # noqa: PTH100 - texts all the way
        return "" if found.startswith(DOUBT) else found

    keys: dict[int, str] = {}
    for job in files:
        data = job.data if job.data is not None else _peek(job)
        if cache is not None and data is not None:
            keys[job.index] = cache.key(job.shown, settings.selection.for_file(job.shown), data, _of_tree(job.project))
            content = cache.get(keys[job.index])
            kept = _load(content) if content is not None else None
            if kept is not None and (kept.alone or kept.reach == reached(job, data)):
                known[job.index] = kept
                continue
            texts[job.index] = data
        todo.append(job)
    for job, done in _work(todo, settings, workers):
        known[job.index] = done
        if cache is None or job.index not in keys or done.again:
            continue
        kept = done if done.alone else replace(done, reach=reached(job, texts[job.index]))
        if kept.alone or kept.reach:
            cache.put(keys[job.index], _dump(kept))
    if cache is not None and todo:
        cache.prune()
    for job in files:
        yield known[job.index]


def _of_tree(project: Project) -> str:
    """What a result depends on beside the file, as text that is the same in every run."""
    return repr([project.keeps_warps, project.helper_prefix, sorted(project.declared), sorted(project.own)])


def _work(jobs: Sequence[Job], settings: Settings, workers: int) -> Iterator[tuple[Job, FileLint]]:
    if not jobs:
        return
    load_catalog(settings.options.rules)
    all_checks()
    with Pool(min(workers, max(1, len(jobs) // _ALONE)), settings.limit_s) as pool:
        for job, done in pool.run(partial(lint_job, settings), jobs):
            yield job, _lost(job, done) if isinstance(done, Lost) else done


def _lost(job: Job, lost: Lost) -> FileLint:
    return failed(job.shown, file_rules.lost(lost.reason))


def failed(path: str, found: Judged) -> FileLint:
    """A file or folder that could not be looked at, or whose fixes could not be written."""
    return FileLint(path, tuple(_shown(b"", [found.finding], None)), again=True)


def _peek(job: Job) -> bytes | None:
    try:
        data = Path(job.path).read_bytes()
    except OSError:
        return None  # `lint_job` meets the same error and reports it
    return data if len(data) <= job.max_size else None


def lint_job(settings: Settings, job: Job, tools: Tools) -> FileLint:
    """Lint one file, in a worker."""
    try:
        data = job.data if job.data is not None else Path(job.path).read_bytes()
    except OSError as e:
        return failed(job.shown, file_rules.unread(e))
    if len(data) > job.max_size:
        return failed(job.shown, file_rules.too_large(job.max_size))
    if is_helper(job.path, data):
        return FileLint(job.shown)
    codes = settings.selection.for_file(job.shown)
    known = settings.known.get(job.shown, {})
    first, fixed, helpers = data, 0, frozenset[str]()
    for _ in range(_ROUNDS):
        found, wanted = _examine(data, settings, job, tools, codes)
        done = _apply(found, _fixable(found, wanted, settings.fix, known)) if settings.fix is not None else None
        if done is None or done.output == data:
            break
        fixed += sum(j.outcome is Outcome.APPLIED and j.finding.code != IncludeHeader.code for j in done.findings)
        helpers |= done.helpers
        data = done.output
    alone = found.unit is None or not (found.unit.asked or any(_is_header(i.path) for i in found.unit.includes))
    again = bool(job.lexer_alone) or (found.unit is not None and bool(found.unit.clang_failed))
    shown = tuple(_shown(data, wanted, found))
    if settings.fix is not None:
        helpers |= included_helpers(data, job.project.helper_prefix)
    read = "" if data == first else hashlib.sha256(first).hexdigest()
    return FileLint(job.shown, shown, None if data == first else data, fixed, helpers, alone, again=again, read=read)


def _is_header(name: str) -> bool:
    """Whether what lanes do may be read from an include (`warp.headers` looks into those of the project)."""
    return "." in name and not name.startswith("cuda")


def _examine(
    data: bytes, settings: Settings, job: Job, tools: Tools, codes: frozenset[str]
) -> tuple[engine.Examined, list[Finding]]:
    """Everything in a text, and the findings that are selected and not suppressed, in text order."""
    clang = tools.clang if settings.options.use_clang and not job.lexer_alone else None
    found = engine.examine(data, settings.options, path=job.path, project=job.project, clang=clang, codes=codes)
    selected = [f for f in found.findings if f.code in codes]
    unit = found.unit
    if unit is None:
        return found, selected
    marks: list[suppress.Suppression] = []
    wrong: list[Finding] = []
    if suppress.HINT in unit.text:
        marks, wrong = suppress.read(unit.text, unit.lexed.comments)
    silencer = suppress.Silencer(marks)
    kept = unit.project.keeps_warps or sense.keeps_warps(unit)
    selected = with_fixes(unit, selected, sense.hips(unit), kept)
    groups = sense.folded(sense.narrowed(unit, selected))
    # a comment on one of those that say the same silences them all; every one is asked, so that its use is seen
    wanted = [sense.said(g) for g in groups if not sum(silencer.silences(f) for f in g)]
    more = [f for f in (*suppress.unused(marks, codes), *wrong) if f.code in codes]
    wanted += [f for f in more if not silencer.silences(f)]
    wanted.sort(key=lambda f: (f.start, -f.end, f.code, f.message))
    return found, [f for f in sense.once(unit, wanted) if settings.info or f.severity is not Severity.INFO]


def _fixable(
    found: engine.Examined, wanted: Sequence[Finding], minimum: Trust, known: Mapping[str, int]
) -> list[Finding]:
    """The findings that may be fixed: their edits are trusted enough, and the code is HIP already.

    In CUDA code an edit towards HIP would be half a port; that is `convert`'s work. A line that holds a finding of the
    baseline stays as it is, so that the baseline goes on knowing it.
    """
    if found.unit is None:
        return []
    spans = sense.hips(found.unit)
    able = [f for f in wanted if f.edits and f.trust >= minimum and _may_fix(f, spans)]
    if not able or not known:
        return able
    rows, lines = _rows(found.data), Lines(found.data)
    left = Counter(known)
    kept = set()
    for f in wanted:
        line = lines.place(f.start).line
        mark = fingerprint(f.code, rows[line - 1])
        if left[mark] > 0:
            left[mark] -= 1
            kept.add(line)
    touched = {id(f): range(*_line_range(lines, f)) for f in able}
    return [f for f in able if kept.isdisjoint(touched[id(f)])]


def _may_fix(f: Finding, spans: Sequence[Span]) -> bool:
    """Whether a finding's edits may be made: they mean the same in CUDA, or all are in code that is HIP's (`spans`)."""
    return is_neutral(f) or all(sense.in_spans(e.start, spans) for e in f.edits)


def _line_range(lines: Lines, f: Finding) -> tuple[int, int]:
    """The lines that a finding's edits touch, the last excluded."""
    first = lines.place(min(e.start for e in f.edits)).line
    return first, lines.place(max(e.end for e in f.edits)).line + 1


def _rows(data: bytes) -> list[str]:
    return data.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _apply(found: engine.Examined, wanted: Sequence[Finding]) -> Result | None:
    if not wanted or found.unit is None:
        return None
    least = min(f.trust for f in wanted)
    return engine.settle(replace(found, options=replace(found.options, trust=least)), wanted)


def _shown(data: bytes, findings: Sequence[Finding], found: engine.Examined | None) -> Iterator[LintFinding]:
    lines = Lines(data)
    rows = _rows(data) if findings else []
    whole = data.decode("latin-1")
    texts: dict[int, str] = {}
    spans = sense.hips(found.unit) if found is not None and found.unit is not None else ()
    for f in findings:
        start = lines.place(f.start)
        line = rows[start.line - 1] if f.end or f.start else ""
        if start.line == 1 and lines.place(len(_BOM)).column == 1:
            line = line.removeprefix(_BOM)
        if start.line not in texts:
            texts[start.line] = readable(line)
        text = texts[start.line]
        cut = max(0, start.column - 1 - MOST_SHOWN // 2) if len(text) > MOST_SHOWN else 0
        fixable = f.edits and f.trust >= Trust.REVIEW and _may_fix(f, spans)
        fix = _fix(lines, whole, f) if fixable else None
        mark, shown = fingerprint(f.code, line or f.message), text[cut : cut + MOST_SHOWN]
        yield LintFinding(
            f.code, f.name, f.severity.value, readable(f.message), start, lines.place(f.end), shown, mark, cut,
            f.effects, tuple(map(readable, f.why)), fix, cuda=f.cuda, subject=readable(f.subject),
        )  # fmt: skip


def _fix(lines: Lines, text: str, f: Finding) -> Fix:
    """The smallest stretch that holds all edits of a finding, and what stands there afterwards."""
    start, end = min(e.start for e in f.edits), max(e.end for e in f.edits)
    fixed_text = edits.apply_within(text, start, end, f.edits).encode("latin-1").decode("utf-8", "replace")
    return Fix(lines.place(start), lines.place(end), fixed_text, f.trust.label)


def _dump(done: FileLint) -> bytes:
    values = asdict(done) | {"output": None, "helpers": []}
    return json.dumps(values).encode()


def _load(content: bytes) -> FileLint:
    values = json.loads(content)
    found = tuple(
        LintFinding(
            **{
                **f,
                "start": Place(*f["start"]),
                "end": Place(*f["end"]),
                "effects": tuple((a, b) for a, b in f["effects"]),
                "why": tuple(f["why"]),
                "also": (),
                "fix": _load_fix(f["fix"]) if f["fix"] else None,
            }
        )
        for f in values["findings"]
    )
    return FileLint(values["path"], found, None, values["fixed"], frozenset(), values["alone"], values["reach"])


def _load_fix(values: dict[str, Any]) -> Fix:
    return Fix(Place(*values["start"]), Place(*values["end"]), values["text"], values["trust"])
