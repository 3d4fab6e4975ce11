"""A compiler's messages, brought to the user's files."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cu2port.catalog import load_catalog
from cu2port.catalog.includes import CUDA_HEADER
from cu2port.core.verified import CompileError
from cu2port.verify.lines import source_lines
from cu2port.verify.units import Tree

_MESSAGE = re.compile(
    r"(?:(?P<path>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? )?(?:\S+: )?(?P<kind>fatal error|error|note): (?P<text>.*)"
)
_FROM = re.compile(r"In file included from (?P<path>.+?):(?P<line>\d+)[:,]")
_NOT_FOUND = re.compile(r"'(?P<header>[^']+)' file not found|(?P<gcc>\S+): No such file or directory")
_ANGLED = " with <angled> include"  # clang goes on with what quotes would find
_TOO_MANY = "too many errors emitted"
_CRASH = re.compile(r"^(?:\d+\.\s|PLEASE submit a bug report|.*\bfrontend command failed|Stack dump)", re.M)


class Place(NamedTuple):
    """A place as a compiler names it; line and column from 1."""

    path: str
    line: int
    column: int


@dataclass(slots=True)
class Diagnostic:
    """An error and the places that belong to it. `includes` begins with the outermost."""

    text: str
    fatal: bool = False
    own: tuple[Place, ...] = ()
    includes: tuple[Place, ...] = ()
    notes: list[Place] = field(default_factory=list)

    @property
    def places(self) -> list[Place]:
        """Where a user may look, best first: the place itself, what led there, what included it."""
        return [*self.own, *self.notes, *reversed(self.includes)]

    @property
    def missing_header(self) -> str:
        """The header that was not found, if that is the error."""
        found = _NOT_FOUND.search(self.text)
        return (found["header"] or found["gcc"]) if found and (self.fatal or _ANGLED in self.text) else ""


def diagnostics(text: str) -> list[Diagnostic]:
    """The errors in what clang wrote with -fno-caret-diagnostics."""
    found: list[Diagnostic] = []
    includes: list[Place] = []
    for line in text.splitlines():
        came = _FROM.match(line)
        if came:
            includes.append(Place(came["path"], int(came["line"]), 1))
            continue
        said = _MESSAGE.fullmatch(line)
        if said is None:
            continue
        place = (Place(said["path"], int(said["line"]), int(said["column"] or 1)),) if said["path"] else ()
        if said["kind"] != "note":
            found.append(Diagnostic(said["text"], said["kind"] == "fatal error", place, tuple(includes)))
        elif found:
            found[-1].notes += place
        includes.clear()
    return [d for d in found if _TOO_MANY not in d.text]


def crashed(code: int, text: str) -> bool:
    """Whether the compiler itself broke down."""
    return code < 0 or code > 128 or _CRASH.search(text) is not None


class Places:
    """Brings compilers' places to files of the tree and to the CUDA files behind them."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._maps: dict[str, list[int]] = {}

    def error(self, found: Diagnostic, unit: str) -> CompileError:
        """An error at the first of its places that is in the tree, else at the unit's first line."""
        real = [p._replace(path=os.path.realpath(p.path)) for p in found.places if not p.path.startswith("<")]
        best = next((p for p in real if self._tree.holds(p.path)), Place(unit, 1, 1))
        inside = "" if not real or self._tree.holds(real[0].path) else f"{real[0].path}:{real[0].line}"
        return self.at(best, found.text, inside)

    def at(self, place: Place, message: str, inside: str = "") -> CompileError:
        """An error at a place of the tree; `inside`: where outside it the compiler stood."""
        path, line, column = place
        source = self._tree.sources.get(path)
        before = 0
        if source is not None:
            lines = self._lines(path, source.path)
            before = lines[line - 1] if 0 < line <= len(lines) else 0
        shown = source.shown if source is not None and before else ""
        return CompileError(message, self._tree.shown(path), line, column, shown, before, inside)

    def _lines(self, path: str, source: str) -> list[int]:
        if path not in self._maps:
            try:
                self._maps[path] = source_lines(Path(source).read_bytes(), Path(path).read_bytes())
            except OSError:
                self._maps[path] = []
        return self._maps[path]


def replaced_header(header: str) -> bool:
    """Whether this is the full name of a CUDA header that has another name in HIP, or none."""
    names = load_catalog().headers
    return names.get(header, header) != header


@cache
def left_of_cuda(header: str) -> bool:
    """Whether an include spells a header of CUDA's own, which converted code has no use for."""
    names = load_catalog().headers
    if header in names:
        return names[header] != header
    folder = header
    while "/" in folder:
        folder = folder.rpartition("/")[0]
        if f"{folder}/*" in names:
            return names[f"{folder}/*"] != f"{folder}/*"
    return CUDA_HEADER.match(header) is not None
