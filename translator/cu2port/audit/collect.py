"""What an audit wants to know of one file. Runs in a worker; everything here is plain data that crosses processes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from cu2port.audit.requirements import Requirement, found_in
from cu2port.catalog.api import api_facts
from cu2port.checks import by_code
from cu2port.core import edits, file_rules
from cu2port.core.locate import Lines, readable
from cu2port.core.model import Finding, Judged, Outcome, Severity, Trust
from cu2port.core.record import Entry, entry
from cu2port.engine import translate as engine
from cu2port.facts.unit import Unit
from cu2port.project.helper_headers import is_helper
from cu2port.project.jobs import Job, Tools
from cu2port.project.tree import CUDA_SUFFIXES, suffix_of
from cu2port.ptx import handled
from cu2port.syntax.lexer import is_identifier

SELF, REVIEW, HAND, NONE, NOTE = "self", "review", "hand", "none", "note"
# what is in every file that has to do with CUDA; others are only counted
_MARK = re.compile(
    rb"<<<|__(?:global|device|shared|constant|managed|launch_bounds)__|__CUDA|__NVCC__|__shfl|__ballot|__syncwarp|__half|__nv_"
    rb"|[<\"/](?:cuda|cu[a-z]+(?:_v2)?\.h|nccl|cub/|thrust/|nvtx)|\b(?:cuda[A-Z_:]|CUDA_|cu[A-Z][a-z]|CU[A-Z]*_[A-Z]|nccl[A-Z]|cub::|thrust::"
    rb"|nv(?:tx|ml|rtc)[A-Z]|NV_I[FS]|threadIdx|blockIdx|make_(?:u?int|float|double)[1-4]|half2\b|wmma|asm\b|__asm"
    rb"|half\b[ \t]*(?:[*&>,)]|\w+[ \t]*[=;,(\[]))"
)
# a file with the first and nothing of the second is HIP's (or SYCL's) already, and there is nothing to port
_OTHERS = re.compile(rb"#[ \t]*include[ \t]*[<\"](?:hip/|hip[a-z]+[./]|roc[a-z]+[./]|rccl|sycl/|CL/sycl)")
_CUDAS = re.compile(
    rb"#[ \t]*include[ \t]*[<\"](?:cu|nv|thrust/|nccl)|__CUDA|__NVCC__"
    rb"|\b(?:cuda[A-Z_:]|cu[A-Z][a-z]|CU[A-Z]*_|nv(?:tx|ml|rtc)[A-Z]|asm\b|__asm)"
)
_MAX_EXCERPT = 200  # characters of a source line
_LONG_LINE = 2_000  # bytes before and after a finding
_TO_END = re.compile(r"[^\r\n]*")


class Found(NamedTuple):
    """A finding as an audit shows it. `way`: self (certainly right), review, hand, none (no counterpart) or note;
    `before`, `after`: the source line, and what it becomes where that is known, as text."""

    entry: Entry
    way: str
    before: str
    after: str
    subject: str = ""


class Kernel(NamedTuple):
    """A `__global__` function: its lines, and the worst way of what was found in it."""

    name: str
    line: int
    end_line: int
    way: str


@dataclass(frozen=True, slots=True)
class FileAudit:
    """One file. `lines`: all lines; `other`: it is HIP's or SYCL's code already; `ways`: lines that hold findings, by
    their worst way; `names`: CUDA names and how often each stands there; `ptx`: (instruction, how it is multiplied or
    why it stays, whether it becomes C++) and how often; `defines`, `calls`: functions with a body here, and names that
    are called."""

    path: str
    lines: int = 0
    cuda: bool = False
    other: bool = False
    found: tuple[Found, ...] = ()
    ways: tuple[tuple[str, int], ...] = ()
    names: tuple[tuple[str, int], ...] = ()
    kernels: tuple[Kernel, ...] = ()
    ptx: tuple[tuple[str, str, bool, int], ...] = ()
    requirements: tuple[Requirement, ...] = ()
    defines: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    failed: str = ""


_RANK = {SELF: 0, NOTE: 0, REVIEW: 1, HAND: 2, NONE: 3}


def audit_job(job: Job, tools: Tools) -> FileAudit | None:
    """Look at one file, in a worker. None: it is a header that is_helper with converted code, and nobody's work."""
    try:
        with open(job.path, "rb") as f:  # noqa: PTH123 - a Path a file costs more than the call
            data = f.read(job.max_size + 1)
    except OSError as e:
        return failed(job.shown, file_rules.unread(e))
    if len(data) > job.max_size:
        return failed(job.shown, file_rules.too_large(job.max_size))
    if is_helper(job.path, data):
        return None
    if suffix_of(job.path) not in CUDA_SUFFIXES and not _MARK.search(data):
        return FileAudit(job.shown, lines=_lines(data))
    if job.project.side in ("hip", "kept") or (_OTHERS.search(data) and not _CUDAS.search(data)):
        return FileAudit(job.shown, lines=_lines(data), other=True)
    clang = tools.clang if job.options.use_clang else None
    examined = engine.examine(data, job.options, path=job.path, project=job.project, clang=clang)
    result = engine.settle(examined)
    unit = examined.unit
    if unit is None:
        return failed(job.shown, result.findings[0], data.count(b"\n"))
    lines = Lines(data)
    found = tuple(_found(unit.text, lines, j) for j in result.findings)
    if job.lexer_alone:
        message = f"looked at without libclang ({job.lexer_alone}); more may be left than is said here"
        found = (_found("", Lines(b""), file_rules.LEXER_ALONE.on_file(message)), *found)
    if job.not_scanned:
        found = (_found("", Lines(b""), file_rules.not_scanned(job.not_scanned)), *found)
    kernels = tuple(_kernels(unit, lines, found))
    names = {n: len(unit.find(re.split(r"::|\.", n)[-1])) for n in api_facts(unit).seen}
    return FileAudit(
        path=job.shown,
        lines=lines.count,
        cuda=bool(found or kernels),
        found=found,
        ways=tuple(_line_ways(found)),
        names=tuple(sorted(names.items())),
        kernels=kernels,
        ptx=tuple(_ptx(unit)),
        requirements=tuple(found_in(unit, lines)),
        defines=frozenset(f.name for f in unit.functions),
        calls=frozenset(_calls(unit)),
    )


def failed(path: str, why: Judged, lines: int = 0) -> FileAudit:
    """What could not be looked at: the reason is a finding, so that it is in every sum and in the exit status."""
    found = _found("", Lines(b""), why)
    return FileAudit(path, lines, found=(found,), failed=found.entry.message)


def _lines(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def way_of(j: Judged) -> str:
    """How a finding is dealt with."""
    f = j.finding
    if j.outcome is Outcome.APPLIED:
        return SELF if f.trust is Trust.EXACT else REVIEW
    if f.severity is Severity.INFO:
        return NOTE
    check = by_code().get(f.code)
    return NONE if not f.edits and check is not None and not check.counterpart else HAND


def _found(text: str, lines: Lines, j: Judged) -> Found:
    f = j.finding
    way = way_of(j)
    before = after = ""
    if way != SELF:
        before, after = _excerpt(text, f)
    return Found(entry(lines, j), way, before, after, readable(f.subject))


def _excerpt(text: str, f: Finding) -> tuple[str, str]:
    """The line of a finding, or what is around it in a long one, and what the line becomes if its edits stay on it."""
    first, stop = max(0, f.start - _LONG_LINE), f.start + _LONG_LINE
    start = max(text.rfind("\n", first, f.start), text.rfind("\r", first, f.start)) + 1
    m = _TO_END.match(text, max(start, f.start), stop)
    end = m.end() if m else f.start
    if (first and not start) or end == stop:
        return _readable(text[max(start, f.start - _MAX_EXCERPT // 3) : min(end, f.start + _MAX_EXCERPT)]), ""
    before = _readable(text[start:end])
    if not f.edits or any(e.start < start or e.end > end for e in f.edits):
        return before, ""
    return before, _readable(edits.apply_within(text, start, end, f.edits))


def _readable(line: str) -> str:
    """Bytes as Latin-1 to text for people; what is no text is spelled out."""
    text = "".join(readable(part) + "\n" for part in line.split("\n"))[:-1].strip()
    return text if len(text) <= _MAX_EXCERPT else text[:_MAX_EXCERPT] + " \N{HORIZONTAL ELLIPSIS}"


def _line_ways(found: tuple[Found, ...]) -> list[tuple[str, int]]:
    """(way, how many lines have that as the worst of their findings)."""
    worst: dict[int, str] = {}
    for x in found:
        first = x.entry.start.line
        for line in range(first, min(x.entry.end.line, first + 200) + 1):
            if x.way != NOTE and _RANK[x.way] >= _RANK.get(worst.get(line, SELF), 0):
                worst[line] = x.way
    counts = dict.fromkeys((SELF, REVIEW, HAND, NONE), 0)
    for way in worst.values():
        counts[way] += 1
    return list(counts.items())


def _kernels(unit: Unit, lines: Lines, found: tuple[Found, ...]) -> list[Kernel]:
    out = []
    ordered = sorted(found, key=lambda x: x.entry.start.line)
    for f in unit.functions:
        if "__global__" not in f.sides:
            continue
        first, last = lines.place(unit.p[f.first]).line, lines.place(unit.p[f.body[1]]).line
        begin = bisect_left(ordered, first, key=lambda x: x.entry.start.line)
        ways = [x.way for x in ordered[begin : bisect_right(ordered, last, key=lambda x: x.entry.start.line)]]
        out.append(
            Kernel(
                readable(f.name),
                lines.place(unit.p[f.name_at]).line,
                last,
                max(ways, key=_RANK.__getitem__, default=SELF),
            )
        )
    return out


def _calls(unit: Unit) -> Iterator[str]:
    """Names that function bodies call or launch; prototypes are none."""
    for f in unit.functions:
        first, last = f.body
        for name, after in zip(unit.t[first:last], unit.t[first + 1 : last + 1], strict=True):
            if (after == "(" or after == "<<<") and is_identifier(name):
                yield name


def _ptx(unit: Unit) -> list[tuple[str, str, bool, int]]:
    """(instruction, how it is multiplied or why it stays, whether it becomes C++, how many)."""
    counts: dict[tuple[str, str, bool], int] = {}
    for one in handled(unit):
        products = dict(one.products)
        for name in one.instructions or ("(a text built by macros)",):
            how = products.get(name, "") if one.refused is None else one.refused.why
            key = (readable(name), readable(how), one.refused is None)
            counts[key] = counts.get(key, 0) + 1
    return [(*key, n) for key, n in sorted(counts.items())]
