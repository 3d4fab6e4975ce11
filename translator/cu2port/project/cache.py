"""What the next run need not do again: first looks at files, and finished conversions.

A first look depends on the text and the rules of the project alone. A conversion depends on the text, on its job (name,
options, what the tree says of it), and on every header that it may read (`reach`). The key is a digest of all of that
and of cu2port itself, so an answer is never out of date. What comes out of the cache is checked like a stranger's
input: it holds no place to write to.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from sys import intern
from typing import Any

from cu2port.core.entry import Findings, checked, pack
from cu2port.core.files import read_regular
from cu2port.core.kept import Kept, code_digest
from cu2port.core.model import Options, Project
from cu2port.facts.hipcode import SideFacts
from cu2port.project.copies import with_copy
from cu2port.project.graph import Scan
from cu2port.project.helper_headers import known_helpers
from cu2port.project.jobs import Done, Job
from cu2port.project.reach import DOUBT, Reach, Text, look
from cu2port.warp.native.asked import is_asked

There = Callable[[Job], str]
_AT_ONCE = 256  # results that are read or written in one step
_AT_ONCE_BYTES = 16 << 20
_STATUS = frozenset({"converted", "copied"})  # of results that are kept: the others may end otherwise the next time
_OUTSIDE = frozenset({"index", "path", "data", "size", "lexer_alone", "not_scanned"})  # of a job, not in a key


class Cache:
    """The cache of one run."""

    def __init__(self, kept: Kept | None = None) -> None:
        self._kept = kept or Kept()
        self._texts: dict[str, Text] = {}
        self._code = code_digest() + _libclang()
        self._reach = Reach(self._texts.get)
        self._wrote = False
        self._doubtful: set[bytes] = set()  # keys of results that hold only if libclang was not asked
        self._plain: dict[Options | Project, str] = {}

    def scans(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Scan | None]]:
        """Each job with the first look at its file, None where that is still to be taken."""
        texts: dict[str, bytes] = {}
        for job in jobs:
            try:
                data = read_regular(job.path, job.max_size)
            except OSError:
                continue
            texts[job.path] = hashlib.sha256(data).digest()
        keys = {path: self._scan_key(digest, jobs[0].options) for path, digest in texts.items()} if jobs else {}
        found = self._kept.get(keys.values())
        decoded: dict[bytes, tuple[Scan, tuple[str, ...] | None]] = {}
        for job in jobs:
            key = keys.get(job.path, b"")
            if key not in decoded and key in found:
                value = _load_scan(found[key])
                if value is not None:
                    decoded[key] = value
            known = decoded.get(key)
            if known is None:
                yield job, None
                continue
            self._texts[job.path] = Text(texts[job.path], known[1])
            yield job, known[0]

    def keep_scans(self, done: Iterable[tuple[Job, Scan]]) -> None:
        """Keep first looks that were taken."""
        new: dict[bytes, bytes] = {}
        for job, found in done:
            text = self._look(job)
            if text is not None and found.digest == text.digest:
                new[self._scan_key(text.digest, job.options)] = _dump_scan(found, text.names)
        self._put(new)

    def results(
        self, jobs: Sequence[Job], there: There = lambda _: "", share: bool = False
    ) -> Iterator[tuple[Job, Done | bytes]]:
        """Each job with its result or, where there is none, with the key to keep it under (b"": it is not kept).

        `there`: the sha256 of what is at the place of a job's output; an output that is there already is not read.
        `share`: whether a second process may do a part.
        """
        by_index = {job.index: job for job in jobs}
        for index, known, doubtful in with_copy(lambda some: self._results(some, there), jobs, share):
            if doubtful and isinstance(known, bytes):
                self._doubtful.add(known)
            yield by_index[index], known

    def _results(self, jobs: Sequence[Job], there: There) -> Iterator[tuple[int, Done | bytes, bool]]:
        """For each job's index what `results` gives, and whether the result holds only if libclang is not asked."""
        for part in _parts(jobs):
            keys = [self._key(job, self._reach) for job in part]
            found = self._kept.get(k for k in keys if k)
            loaded = [self._loaded(job, found.get(key)) for job, key in zip(part, keys, strict=True)]
            digests = ["" if d is None else there(job) for job, d in zip(part, loaded, strict=True)]
            done = [
                d._replace(written=digest) if d is not None and not d.written and digest == d.read else d
                for d, digest in zip(loaded, digests, strict=True)
            ]
            away = [d is not None and d.written not in ("", x) for d, x in zip(done, digests, strict=True)]
            outputs = self._kept.get(_of_output(key) for key, a in zip(keys, away, strict=True) if a)
            for job, key, known, is_away in zip(part, keys, done, away, strict=True):
                if known is not None and is_away:
                    output = outputs.get(_of_output(key))
                    known = None if output is None else known._replace(output=output)
                yield job.index, key if known is None else known, key in self._doubtful

    def _loaded(self, job: Job, content: bytes | None) -> Done | None:
        text = self._texts.get(job.path)
        return None if content is None or text is None else _load(content, text.digest.hex())

    def keep(self, done: Iterable[tuple[Job, bytes, Done]]) -> None:
        """Keep results, each under the key that `results` gave, if nothing that it depends on has changed meanwhile."""
        reach = Reach()
        new: dict[bytes, bytes] = {}
        for job, key, result in done:
            text = self._look(job)  # a copy of this process may have read it
            able = key and result.status in _STATUS and not result.notes
            able = able and not (result.asked and key in self._doubtful)
            able = able and (result.output is None) == (not result.written)
            if able and text is not None and result.read == text.digest.hex() and self._key(job, reach) == key:
                new[key] = _dump(result)
                if result.output is not None:
                    new[_of_output(key)] = result.output
        self._put(new)

    def close(self) -> None:
        """Drop what is too much."""
        if self._wrote:
            self._kept.prune()

    def _put(self, new: Mapping[bytes, bytes]) -> None:
        self._wrote = self._wrote or bool(new)
        self._kept.put(new)

    def _look(self, job: Job) -> Text | None:
        if job.path not in self._texts:
            try:
                self._texts[job.path] = look(read_regular(job.path, job.max_size))
            except OSError:
                return None
        return self._texts[job.path]

    def _scan_key(self, digest: bytes, options: Options) -> bytes:
        return _digest("scan", self._code, digest, repr(options.rules))

    def _said(self, value: Options | Project) -> str:
        """`_plain` of what many jobs share."""
        text = self._plain.get(value)
        if text is None:
            text = self._plain[value] = _plain(value)
        return text

    def _key(self, job: Job, reach: Reach) -> bytes:
        """The key of a job; b"" where not all that it depends on is known."""
        if job.data is not None or job.lexer_alone or job.not_scanned or is_asked(job.options):
            return b""
        text = self._look(job)
        if text is None:
            return b""
        around = ""
        if job.build is None:
            around = reach.digest(os.path.abspath(job.shown), text.names, job.options.include_dirs)  # noqa: PTH100
            if not around:
                return b""
        told = [*job.path.rsplit(os.sep, 2)[-2:], *(_plain(getattr(job, f)) for f in _JOB_FIELDS)]
        shared = (self._said(job.options), self._said(job.project))
        key = _digest("convert", self._code, text.digest, around, *shared, *told)
        if around.startswith(DOUBT):
            self._doubtful.add(key)
        return key


_ATOMS = frozenset({str, int, bool, bytes, type(None)})
_JOB_FIELDS = tuple(f.name for f in dataclasses.fields(Job) if f.name not in _OUTSIDE | {"options", "project"})


def _parts(jobs: Sequence[Job]) -> Iterator[Sequence[Job]]:
    """Jobs in parts of a bounded size, so that memory does not grow with the tree."""
    part: list[Job] = []
    size = 0
    for job in jobs:
        part.append(job)
        size += job.size
        if len(part) >= _AT_ONCE or size >= _AT_ONCE_BYTES:
            yield part
            part, size = [], 0
    yield part


def _libclang() -> str:
    """Which libclang answers."""
    from cu2port.facts._libclang import library_path

    try:
        path = library_path()
        st = path.stat()
    except OSError:
        return "none"
    return f"{path} {st.st_size} {st.st_mtime_ns}"


def _plain(value: object) -> str:
    """A value as text that is the same in every process: sets are sorted."""
    if type(value) in _ATOMS:
        return repr(value)
    if isinstance(value, (set, frozenset)):
        return f"{{{','.join(sorted(map(_plain, value)))}}}"
    if isinstance(value, (tuple, list)):
        return f"({','.join(map(_plain, value))})"
    if isinstance(value, Enum):
        return str(value)
    if dataclasses.is_dataclass(value):
        inner = (f"{f.name}={_plain(getattr(value, f.name))}" for f in dataclasses.fields(value))
        return f"{type(value).__name__}({','.join(inner)})"
    raise TypeError(f"no key can be made of a {type(value).__name__}")


def _digest(*parts: str | bytes) -> bytes:
    said: list[bytes] = []
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape")
        said += (len(data).to_bytes(8, "little"), data)
    return hashlib.sha256(b"".join(said)).digest()


# --- what is kept, as JSON --------------------------------------------------------------------------------------------


def _dump_scan(found: Scan, names: Sequence[str] | None) -> bytes:
    side = [sorted(v) if isinstance(v, frozenset) else v for v in found.side]
    asked = None if found.asked is None else sorted(found.asked)
    own, promised = sorted(found.declared), sorted(found.promised)
    macros = sorted(found.side_macros), sorted(found.prefix_macros), sorted(found.member_sides), sorted(found.aliases)
    told = sorted(found.carry), sorted(found.products), found.multiplies, *macros, sorted(found.asm_keywords)
    return json.dumps([own, found.includes, side, promised, names, asked, *told, sorted(found.text_macros)]).encode()


def _load_scan(content: bytes) -> tuple[Scan, tuple[str, ...] | None] | None:
    try:
        declared, includes, side, promised, names, asked, carry, products, multiplies, *macros = json.loads(content)
        sides, prefixes, members, aliases, keywords, texts = map(_shared, macros)
        facts = _side(*(_shared(v) if isinstance(v, list) else v for v in side))
        known = tuple((intern(a), bool(b)) for a, b in includes)
        wanted = None if asked is None else _shared(asked)
        told = _shared(carry), _shared(products), bool(multiplies), sides, prefixes, members, aliases, keywords, texts
        scan = Scan(_shared(declared), known, facts, _shared(promised), b"", wanted, *told)
        return scan, None if names is None else tuple(map(intern, names))
    except (ValueError, TypeError, RecursionError):
        return None


def _shared(names: Iterable[str]) -> frozenset[str]:
    """Names that many files have: each text is in memory once."""
    return frozenset(map(intern, names))


def _side(*values: Any) -> SideFacts:
    return SideFacts(*values)


def _of_output(key: bytes) -> bytes:
    """The key of a result's output."""
    return _digest("output", key)


def _dump(done: Done) -> bytes:
    """A result without its output: its length, what is known of it as JSON, then its findings and the diff."""
    found = done.entries if isinstance(done.entries, Findings) else pack(done.entries)
    parts = (*found.packed, done.diff)
    head = [done.status, [sorted(done.seen), sorted(done.left), sorted(done.helpers)], done.written, *map(len, parts)]
    text = json.dumps(head, separators=(",", ":")).encode()
    return b"".join((len(text).to_bytes(8, "little"), text, *parts))


def _load(content: bytes, read: str) -> Done | None:
    """A result, None for what is none. `read`: the digest of the text that it is of."""
    try:
        at = 8 + int.from_bytes(content[:8], "little")
        status, (seen, left, helpers), written, *sizes = json.loads(content[8:at])
        parts = []
        for size in sizes:
            parts.append(content[at : at + size])
            at += size
        kinds, rows, diff = parts
        if status not in _STATUS or not known_helpers().issuperset(helpers):
            return None
        return Done(
            status,
            diff=diff,
            entries=checked(kinds, rows),
            seen=_shared(seen),
            left=_shared(left),
            helpers=_shared(helpers),
            read=read,
            written=str(written),
        )
    except (ValueError, TypeError, IndexError, RecursionError):
        return None
