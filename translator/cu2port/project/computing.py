"""What files with products of matrices are told of the headers that they reach: functions that only compute, names of
numbers, and functions that hand accumulators on to those that multiply.

Only such files are asked about it, and headers are read for it when one is: another tree takes no time.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cu2port.catalog import load_catalog
from cu2port.core.late import regex
from cu2port.core.model import Project
from cu2port.facts.computing import (
    is_computed_only,
    is_silent,
    may_be_numbers,
    may_compute,
    may_take_values,
    number_in,
    takes_values,
)
from cu2port.facts.product_functions import in_its_namespace, names_by_macros
from cu2port.facts.unit import Unit
from cu2port.project.graph import Graph, Told

_WORD = regex(r"[A-Za-z_]\w*")


class _Said(NamedTuple):
    """What a header says of a name."""

    nothing: bool
    computes: bool
    number: int | None
    by_value: bool


_NOTHING = _Said(True, True, None, True)
_MOST_HEADERS = 8  # that have a word, if it is looked at for what it takes: others are common words


class _Header(NamedTuple):
    """The text of a header, its words, and what it may define, told without the lexer; macros that stand for a name.
    `known`: what it says of words."""

    text: str
    words: frozenset[str]
    functions: frozenset[str]
    numbers: frozenset[str]
    values: frozenset[str]
    names: frozenset[tuple[str, str]]
    known: dict[str, _Said]

    def learn(self, names: frozenset[str]) -> None:
        """Look at names, all in one reading."""
        fresh = names & self.words - self.known.keys()
        if fresh:
            unit = Unit(self.text, load_catalog())
            for name in fresh:
                quiet = is_silent(unit, name)
                computes, number = is_computed_only(unit, name), number_in(unit, name)
                self.known[name] = _Said(quiet, computes, number, quiet or takes_values(unit, name))
            unit.forget()

    def says(self, name: str) -> _Said:
        return self.known.get(name, _NOTHING)


class Multiplied:
    """What the headers of a tree say. `told(file)`: to a file, if it multiplies."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._headers: dict[str, _Header] = {}
        self._handing_on: dict[str, frozenset[str]] = {}

    def told(self, file: str) -> Told:
        """What a file is told."""
        products = self._products(file)
        if not products and not self._graph.multiplies(file):
            return Told()
        words = self._header(file).words.union(*map(_WORD.findall, products))
        headers = [self._header(f) for f in self._graph.headers(file)]
        functions = words.intersection(frozenset[str]().union(*(h.functions for h in headers)))
        numbers = words.intersection(frozenset[str]().union(*(h.numbers for h in headers)))
        taking = words.intersection(frozenset[str]().union(*(h.values for h in headers)))
        taking = frozenset(name for name in taking if sum(name in h.words for h in headers) <= _MOST_HEADERS)
        for h in headers:
            h.learn(functions | numbers | taking)
        computing = frozenset(name for name in functions if all(h.says(name).computes for h in headers))
        values = {name: {said.number for h in headers if not (said := h.says(name)).nothing} for name in numbers}
        alike = ((name, next(iter(found))) for name, found in values.items() if len(found) == 1)
        by_value = frozenset(name for name in taking if all(h.says(name).by_value for h in headers))
        return Told(products, computing, frozenset((name, n) for name, n in alike if n is not None), by_value)

    def _products(self, file: str) -> frozenset[str]:
        """Functions that multiply, and that hand accumulators on to those, of the headers that a file reaches."""
        direct = self._graph.products(file)
        if not direct:
            return direct
        names: dict[str, set[str]] = {}
        for h in map(self._header, (file, *self._graph.headers(file))):
            for name, meant in h.names:
                names.setdefault(name, set()).add(meant)
        alike = {name: next(iter(meant)) for name, meant in names.items() if len(meant) == 1}
        found = direct.union(*map(self._carriers, self._graph.headers(file)))
        return frozenset(in_its_namespace(text, alike) for text in found)

    def _carriers(self, file: str) -> frozenset[str]:
        if file not in self._handing_on:
            self._handing_on[file] = frozenset()  # headers that include each other
            header = self._header(file)
            names = {text.partition(" ")[0] for text in self._products(file)}
            own = {text.partition(" ")[0] for text in self._graph.own_products(file)}
            if not names.isdisjoint(header.words) or any(header.text.count(name) > 1 for name in own):
                from cu2port.ptx.wrappers import carriers

                told = self.told(file)
                project = Project(**told._asdict())
                unit = Unit(header.text, load_catalog(), path=file, project=project)
                self._handing_on[file] = carriers(unit, False)
                unit.forget()
        return self._handing_on[file]

    def _header(self, file: str) -> _Header:
        if file not in self._headers:
            try:
                text = Path(file).read_bytes().decode("latin-1")
            except OSError:
                text = ""
            words = frozenset(_WORD.findall(text))
            offers = may_compute(text), may_be_numbers(text), may_take_values(text)
            self._headers[file] = _Header(text, words, *offers, names_by_macros(text), {})
        return self._headers[file]
