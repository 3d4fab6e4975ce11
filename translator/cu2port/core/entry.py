"""A finding with its outcome as plain data; and the findings of a file as bytes: what they share once, and a row of
numbers for each.

A run of thousands of files has findings by the hundred thousand, of a few thousand kinds. As bytes they go from a
worker to its parent, to the cache and back, and only what a report shows is ever unpacked.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, overload

from cu2port.core.locate import Place
from cu2port.core.model import Outcome, Severity

_NUMBER = "Q"
_ROW = 7  # numbers: the kind, then line, column and offset of both ends
_NOWHERE = Place(0, 0, 0)


class Entry(NamedTuple):
    """A finding with its outcome and places. Enumerations are spelled as in the report."""

    code: str
    name: str
    severity: str
    message: str
    outcome: str
    trust: str
    start: Place
    end: Place
    effects: tuple[tuple[str, str], ...]
    why: tuple[str, ...]
    cuda: str
    hip: str

    @property
    def open(self) -> bool:
        """Whether a person still has to act."""
        return self.outcome != Outcome.APPLIED.value and self.severity != Severity.INFO.value


class Packed(NamedTuple):
    """What `Findings` are made of. `kinds`: a line of JSON each; `rows`: the numbers of all findings."""

    kinds: bytes
    rows: bytes


class Findings(Sequence[Entry]):
    """The findings of a file in their order, unpacked when they are asked for."""

    __slots__ = ("_counted", "packed")

    def __init__(self, packed: Packed) -> None:
        self.packed = packed
        self._counted: tuple[tuple[Entry, int], ...] | None = None

    def __reduce__(self) -> tuple[type[Findings], tuple[Packed]]:
        return Findings, (self.packed,)

    def __len__(self) -> int:
        return len(self.packed.rows) // (_ROW * array(_NUMBER).itemsize)

    def __iter__(self) -> Iterator[Entry]:
        kinds = _kinds(self.packed.kinds)
        numbers = iter(_numbers(self.packed.rows))
        for n, *at in zip(*[numbers] * _ROW, strict=True):
            kind = kinds[n]
            yield Entry._make((*kind[:6], Place._make(at[:3]), Place._make(at[3:]), *kind[8:]))

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, (Findings, tuple)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.packed)

    def counted(self) -> tuple[tuple[Entry, int], ...]:
        """Each kind of finding, at no place, and how many there are."""
        if self._counted is None:
            count = Counter(_numbers(self.packed.rows)[::_ROW])
            self._counted = tuple((kind, count[n]) for n, kind in enumerate(_kinds(self.packed.kinds)))
        return self._counted


def pack(found: Iterable[Entry]) -> Findings:
    """Findings as bytes."""
    kinds: dict[tuple[object, ...], int] = {}  # all of an entry but its places
    rows = array(_NUMBER)
    for e in found:
        rows.extend((kinds.setdefault((*e[:6], *e[8:]), len(kinds)), *e.start, *e.end))
    lines = (json.dumps(kind, separators=(",", ":")) for kind in kinds)
    return Findings(Packed("\n".join(lines).encode(), rows.tobytes()))


def checked(kinds: bytes, rows: bytes) -> Findings:
    """Findings of bytes that somebody may have changed. Raises ValueError, TypeError or IndexError."""
    first = _numbers(rows)[::_ROW]
    if len(rows) % (_ROW * first.itemsize):
        raise ValueError("half a row")
    if max(first, default=-1) >= len(_kinds(kinds)):
        raise IndexError("no such kind")
    return Findings(Packed(kinds, rows))


def counted(found: Sequence[Entry]) -> Iterable[tuple[Entry, int]]:
    """Each kind of finding and how many there are; what is not packed is a kind each."""
    return found.counted() if isinstance(found, Findings) else ((e, 1) for e in found)


def has_code(found: Sequence[Entry], code: str) -> bool:
    """Whether a rule has a finding; most packed ones do not hold its text."""
    if isinstance(found, Findings) and code.encode() not in found.packed.kinds:
        return False
    return any(e.code == code for e, _ in counted(found))


def _numbers(rows: bytes) -> array[int]:
    numbers = array(_NUMBER)
    numbers.frombytes(rows)
    return numbers


def _kinds(lines: bytes) -> list[Entry]:
    return list(map(_kind, lines.split(b"\n"))) if lines else []


@lru_cache(maxsize=1 << 15)
def _kind(line: bytes) -> Entry:
    """A kind of finding, at no place; files share most of theirs."""
    *first, effects, why, cuda, hip = json.loads(line)
    if len(first) != 6 or not all(isinstance(t, str) for t in (*first, *why, cuda, hip)):
        raise ValueError("no finding")
    pairs = tuple((str(a), str(b)) for a, b in effects)
    return Entry._make((*first, _NOWHERE, _NOWHERE, pairs, tuple(why), cuda, hip))
