"""What a worker process does with one file: read, look, translate, and pack what the parent needs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, NamedTuple

from cu2port.build.kinds import MOST_BYTES
from cu2port.catalog import load_catalog
from cu2port.catalog.uses import declared_names
from cu2port.core import file_rules
from cu2port.core.entry import Entry, pack
from cu2port.core.files import read_open
from cu2port.core.late import dataclass, regex
from cu2port.core.model import Judged, Options, Project, Result
from cu2port.core.record import entries
from cu2port.engine import translate as engine
from cu2port.facts.carry_definitions import carry_definitions
from cu2port.facts.hipcode import SideFacts, may_ask, plain_facts, side_facts
from cu2port.facts.member_sides import member_sides
from cu2port.facts.namespace_aliases import namespace_aliases
from cu2port.facts.prefix_macros import prefix_macros
from cu2port.facts.product_functions import foreign_keywords, may_multiply, product_texts
from cu2port.facts.side_macros import side_macros
from cu2port.facts.unit import Unit
from cu2port.project.graph import Scan, scan_includes
from cu2port.project.helper_headers import included_helpers, is_helper
from cu2port.project.tree import CUDA_SUFFIXES, suffix_of

if TYPE_CHECKING:
    from cu2port.build.words import Asked
    from cu2port.facts.clang import ClangService

_CUDA_MARK = regex(rb"<<<|__(?:global|device|host|shared|constant)__|\b(?:cuda|cu[A-Z]|CU[A-Z]?_|nccl|cub::|thrust)")


@dataclass(frozen=True, slots=True)
class Job:
    """One file to convert. `data` holds the text of standard input; else `path` is read.

    `diff`: the two names of a unified diff; then the diff comes back in place of the output. `lexer_alone`: why this
    is the second attempt at a file, without libclang. `not_scanned`: why the first look at it failed.
    `build`: it is a build file, and this is what the tree says of it.
    """

    index: int
    path: str
    shown: str
    options: Options
    project: Project = field(default_factory=Project)
    max_size: int = 8 << 20
    size: int = 0
    data: bytes | None = None
    diff: tuple[str, str] | None = None
    lexer_alone: str = ""
    not_scanned: str = ""
    build: Asked | None = None

    def without_clang(self, reason: str) -> Job:
        """The same job for a second attempt. `reason`: how the first one failed."""
        return replace(self, options=replace(self.options, use_clang=False), lexer_alone=reason)


class Done(NamedTuple):
    """What happened to a job.

    `output` None: the input, byte for byte; with `written`, the sha256 of what is at the place of the output already.
    `read`: the sha256 of the input; `helpers`: the helper headers that the output includes, new or not; `asked`:
    whether libclang was asked.
    """

    status: str
    output: bytes | None = None
    diff: bytes = b""
    entries: Sequence[Entry] = ()
    seen: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    helpers: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    read: str = ""
    asked: bool = False
    written: str = ""


class Tools:
    """What a worker keeps between files: the libclang service, and what it learnt about texts it has seen."""

    def __init__(self) -> None:
        self._clang: ClangService | None = None
        self.scans: dict[bytes, Scan] = {}

    @property
    def clang(self) -> ClangService:
        if self._clang is None:
            from cu2port.facts.clang import ClangService

            self._clang = ClangService()
        return self._clang

    def close(self) -> None:
        if self._clang is not None:
            self._clang.close()


def scan(job: Job, tools: Tools) -> Scan:
    """The first look at a file; trees hold many copies of a header, so it is kept by content."""
    try:
        data = _read(job)
    except OSError:
        return Scan()  # `convert` meets the same error and reports it
    if data is None:
        return Scan()
    key = hashlib.sha256(data).digest()
    found = tools.scans.get(key)
    if found is None:
        found = tools.scans[key] = scan_text(data, job.options.rules, key)
    return found


def scan_text(data: bytes, rules: tuple[tuple[str, str], ...] = (), digest: bytes = b"") -> Scan:
    """What a first look at a text tells."""
    text = data.decode("latin-1")
    own, promised, asked = declared_names(text, rules)
    side = side_of_text(data)
    told = carry_definitions(text), _products(text), may_multiply(text)
    macros = side_macros(text), prefix_macros(text), member_sides(text), namespace_aliases(text), _asm_keywords(text)
    return Scan(own, scan_includes(data), side, promised, digest, asked, *told, *macros, _text_macros(text))


def _asm_keywords(text: str) -> frozenset[str]:
    """The macros that stand for `asm`."""
    if "asm" not in text or "define" not in text:
        return frozenset()
    from cu2port.facts.asm_keywords import asm_keywords

    return asm_keywords(text)


def _text_macros(text: str) -> frozenset[str]:
    """The macros that are parts of PTX's texts."""
    if "define" not in text or '"' not in text:
        return frozenset()
    from cu2port.facts.text_macros import text_macros

    return text_macros(text)


def _products(text: str) -> frozenset[str]:
    """The functions that multiply by PTX's `mma`."""
    if not may_multiply(text):
        return frozenset()
    words = frozenset(f"{word} asm volatile" for word in foreign_keywords(text))
    unit = Unit(text, load_catalog(), project=Project(asm_keywords=words))
    texts = product_texts(unit)
    unit.forget()
    return texts


def side_of_text(data: bytes) -> SideFacts:
    """What a text says of the side it is on."""
    if not may_ask(data) or b"\0" in data:
        return plain_facts(data, load_catalog().active)
    unit = Unit(data.decode("latin-1"), load_catalog())
    facts = side_facts(unit)
    unit.forget()
    return facts


def convert(job: Job, tools: Tools) -> Done:
    """Translate a file, or say why it was not."""
    if job.build is not None:
        job = replace(job, max_size=min(job.max_size, MOST_BYTES))
    try:
        data = _read(job)
    except OSError as e:
        reason = e.strerror or type(e).__name__
        message = f"could not be read ({reason}); fix that and convert again"
        return refused(job, "failed", file_rules.UNREADABLE.on_file(message))
    if data is None:
        return refused(job, "copied", _too_large(job))
    if job.build is not None:
        from cu2port.build import convert as build  # files that are converted alone need none of it

        return _pack(job, build.convert(data, job.shown, job.build, job.options.trust))
    if is_helper(job.path, data) or job.project.side == "kept":
        return Done("copied", read=hashlib.sha256(data).hexdigest())
    if b"\0" in data and not _is_cuda(job) and not _CUDA_MARK.search(data.replace(b"\0", b"")):
        return Done("copied", read=hashlib.sha256(data).hexdigest())
    result = engine.translate(
        data,
        job.options,
        path=job.shown,
        project=job.project,
        clang=tools.clang if job.options.use_clang else None,
    )
    return _pack(job, result)


def refused(job: Job, status: str, *found: Judged, notes: tuple[str, ...] = ()) -> Done:
    """A job that ends with its input as output, and why."""
    return Done(status, diff=_diff(job, b"", b""), entries=entries(b"", found), notes=notes)


def _pack(job: Job, result: Result) -> Done:
    found = result.findings
    status = result.status
    if job.lexer_alone or status == "partial":
        status = "partial"
        reason = job.lexer_alone or (result.notes[0] if result.notes else "it did not finish")
        lexer_alone = file_rules.LEXER_ALONE.on_file(f"converted without libclang ({reason}); review its changes")
        found = (*found, lexer_alone)
    if job.not_scanned:
        found = (file_rules.not_scanned(job.not_scanned), *found)
    output = result.output if result.output != result.data and job.diff is None else None
    return Done(
        status=status,
        output=output,
        diff=_diff(job, result.data, result.output),
        entries=pack(entries(result.data, found)),
        seen=result.seen,
        left=result.left,
        helpers=result.helpers | included_helpers(result.output, job.project.helper_prefix),
        notes=result.notes,
        read=hashlib.sha256(result.data).hexdigest(),
        asked=result.asked,
        written="" if output is None else hashlib.sha256(output).hexdigest(),
    )


def _read(job: Job) -> bytes | None:
    """The text of a job; None when it is too large."""
    if job.data is not None:
        return job.data if len(job.data) <= job.max_size else None
    descriptor = os.open(job.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        size = os.fstat(descriptor).st_size
        return read_open(descriptor, size) if size <= job.max_size else None
    finally:
        os.close(descriptor)


def _is_cuda(job: Job) -> bool:
    return suffix_of(os.path.basename(job.path)) in CUDA_SUFFIXES  # noqa: PTH119


def _too_large(job: Job) -> Judged:
    if job.build is not None:
        from cu2port.build.convert import too_large

        return too_large()
    message = f"larger than --max-size ({job.max_size} bytes), copied as it is; raise --max-size to convert it"
    return file_rules.TOO_LARGE.on_file(message)


def _diff(job: Job, before: bytes, after: bytes) -> bytes:
    return b"" if job.diff is None else patch(*job.diff, before, after)


def patch(old: str, new: str, before: bytes, after: bytes) -> bytes:
    """A diff that `git apply` and `patch -p1` take. Bytes stay bytes; only LF ends a line, as git has it."""
    if before == after and old == new:
        return b""
    head = f"diff --git {_quoted(f'a/{old}')} {_quoted(f'b/{new}')}\n"
    if old != new:
        head += f"rename from {_quoted(old)}\nrename to {_quoted(new)}\n"
    if before == after:
        return os.fsencode(head)
    from cu2port.project import linediff  # it loads difflib

    lines = linediff.unified(_lines(before), _lines(after), _quoted(f"a/{old}"), _quoted(f"b/{new}"))
    names = (os.fsencode(head), os.fsencode(next(lines)), os.fsencode(next(lines)))
    body = (x if x.endswith("\n") else x + "\n\\ No newline at end of file\n" for x in lines)
    return b"".join(names) + "".join(body).encode("latin-1")


def _quoted(name: str) -> str:
    """A file's name as git writes it, so that none can end its line and begin another."""
    if name.isprintable() and not {'"', "\\"} & set(name):
        return name
    data = os.fsencode(name)
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in data) + '"'


def _lines(data: bytes) -> list[str]:
    parts = data.decode("latin-1").split("\n")
    return [p + "\n" for p in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
