"""What a run found, as plain data: it crosses processes, and every report is made from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cu2port.core.entry import Entry as Entry
from cu2port.core.entry import counted
from cu2port.core.late import dataclass
from cu2port.core.locate import Lines, readable
from cu2port.core.model import Judged, Outcome, Trust
from cu2port.core.verified import VerifyRecord


class FileRecord(NamedTuple):
    """One file of a run. `path` and `output` are as given on the command line, with forward slashes."""

    path: str
    output: str
    status: str  # converted, copied, partial, failed
    entries: Sequence[Entry] = ()
    seen: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


class TreeRecord(NamedTuple):
    """What a tree with code for HIP is, and what that means for the run: one record for all of its files.

    `decision`: `mixed` (code for HIP is left alone, the rest is converted) or `both` (the project builds for HIP
    itself); `message`: that in words; `macros`, `folders`: what its HIP side hangs on; `files`: (path, side, reason) of
    those that are left alone or have branches for HIP; `mixed_widths`: (converted file, file for HIP that it reaches),
    where both count lanes.
    """

    decision: str
    message: str
    macros: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    files: tuple[tuple[str, str, str], ...] = ()
    mixed_widths: tuple[tuple[str, str], ...] = ()

    def document(self) -> dict[str, object]:
        """The record as JSON values."""
        return {
            "decision": self.decision,
            "message": self.message,
            "macros": list(self.macros),
            "folders": list(self.folders),
            "mixed_widths": [{"converted": a, "hip": b} for a, b in self.mixed_widths],
            "files": [{"path": p, "side": s, "reason": r} for p, s, r in self.files],
        }


class PartRecord(NamedTuple):
    """Which part of a run this is: number `part`, from 1, of `of`. `order`: the places that the first of its files have
    among those of all parts."""

    part: int
    of: int
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A whole run. `options` are those that change the output, ready for JSON; `verify`: what compiling it told;
    `ignored`: files and folders that were left out because git ignores them; `hip`: where the tree has code for HIP;
    `shard`: of `--shard`."""

    version: str
    options: Mapping[str, object]
    files: tuple[FileRecord, ...]
    verify: VerifyRecord | None = None
    ignored: tuple[str, ...] = ()
    hip: TreeRecord | None = None
    shard: PartRecord | None = None

    @property
    def kinds(self) -> Iterator[tuple[Entry, int]]:
        """What findings of a file share, and how many there are, for each file; the places are left out."""
        return (kind for f in self.files for kind in counted(f.entries))

    @property
    def by_outcome(self) -> dict[str, int]:
        """How many findings ended as applied, manual and conflict; all three always stand."""
        counts: Counter[str] = Counter()
        for e, n in self.kinds:
            counts[e.outcome] += n
        return {o.value: counts[o.value] for o in Outcome}

    @property
    def by_code(self) -> dict[str, int]:
        """Findings by code, sorted by code."""
        counts: Counter[str] = Counter()
        for e, n in self.kinds:
            counts[e.code] += n
        return dict(sorted(counts.items()))

    @property
    def seen(self) -> frozenset[str]:
        """CUDA names in any file."""
        return frozenset().union(*(f.seen for f in self.files))

    @property
    def left(self) -> frozenset[str]:
        """CUDA names that some file still holds."""
        return frozenset().union(*(f.left for f in self.files))

    @property
    def open(self) -> int:
        """How many findings are left for manual work; two widths of warps in one program are one."""
        return sum(n for e, n in self.kinds if e.open) + bool(self.hip and self.hip.mixed_widths)


def entries(data: bytes, judged: Iterable[Judged]) -> tuple[Entry, ...]:
    """The findings of a file in text order, with the places they have in its input `data`."""
    found = sorted(judged, key=lambda j: (j.finding.start, j.finding.end, j.finding.code, j.finding.message))
    if not found:
        return ()
    lines = Lines(data)
    return tuple(entry(lines, j) for j in found)


def entry(lines: Lines, judged: Judged) -> Entry:
    """A finding as records have it."""
    f = judged.finding
    return Entry(
        code=f.code,
        name=f.name,
        severity=f.severity.value,
        message=readable(f.message),
        outcome=judged.outcome.value,
        trust=f.trust.label if f.edits else Trust.MANUAL.label,
        start=lines.place(f.start),
        end=lines.place(f.end),
        effects=f.effects,
        why=tuple(map(readable, f.why)),
        cuda=f.cuda,
        hip=f.hip,
    )
