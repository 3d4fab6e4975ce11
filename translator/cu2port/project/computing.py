"""Functions of headers that only compute, of those that files with products of matrices call.

Only such files are asked about it, and headers are read for it when one is: another tree takes no time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cu2port.catalog import load_catalog
from cu2port.core.files import HEADER_SUFFIXES
from cu2port.facts.computing import is_computed_only, may_compute
from cu2port.facts.unit import Unit
from cu2port.project.graph import Graph

_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


class Computing:
    """What the headers of a tree say. `names(file)`: of those that a file reaches."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._texts: dict[str, str] = {}
        self._offered: dict[str, frozenset[str]] = {}
        self._verdicts: dict[tuple[str, str], bool] = {}

    def names(self, file: str) -> frozenset[str]:
        """Names that a file calls and that mean such functions in all headers that it reaches, if it multiplies."""
        if not self._graph.multiplies(file):
            return frozenset()
        headers = [f for f in self._reached(file) if f.lower().endswith(HEADER_SUFFIXES)]
        offered = frozenset[str]().union(*map(self._offers, headers))
        called = offered.intersection(_CALLED.findall(self._text(file))) if offered else ()
        return frozenset(name for name in called if all(self._agrees(f, name) for f in headers))

    def _reached(self, file: str) -> Iterator[str]:
        seen = {file}
        todo = [file]
        for f in todo:
            for to in self._graph.targets(f) - seen:
                seen.add(to)
                todo.append(to)
                yield to

    def _text(self, file: str) -> str:
        if file not in self._texts:
            try:
                self._texts[file] = Path(file).read_bytes().decode("latin-1")
            except OSError:
                self._texts[file] = ""
        return self._texts[file]

    def _offers(self, file: str) -> frozenset[str]:
        if file not in self._offered:
            self._offered[file] = may_compute(self._text(file))
        return self._offered[file]

    def _agrees(self, file: str, name: str) -> bool:
        """Whether a header does not name anything else so."""
        if name not in self._text(file):
            return True
        key = file, name
        if key not in self._verdicts:
            unit = Unit(self._text(file), load_catalog())
            self._verdicts[key] = is_computed_only(unit, name)
            unit.forget()
        return self._verdicts[key]
