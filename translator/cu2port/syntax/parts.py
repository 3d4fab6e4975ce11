"""Parameters whose types may have commas: `<` begins template arguments in a list of declarations."""

from __future__ import annotations

from collections.abc import Iterator

from cu2port.syntax.lexer import is_identifier
from cu2port.syntax.source import Source
from cu2port.syntax.tree import Param
from cu2port.syntax.types import BASIC


def parameters_with_types(source: Source, opener: int, close: int) -> Iterator[Param]:
    """The parameters between two brackets, without default values; also `float (*name)[8]`."""
    return (_parameter(source, a, b) for a, b in _parts(source, opener + 1, close))


def _parts(source: Source, first: int, stop: int) -> Iterator[tuple[int, int]]:
    """The tokens of each part of [first, stop): commas in brackets of any kind end none."""
    k = begin = first
    while k <= stop and begin < stop:
        tok = source.t[k]
        if k == stop or tok == ",":
            yield begin, k
            begin = k + 1
        elif tok == "<" and k < (close := source.angle_close(k)) < stop:
            k = close
        elif tok in ("(", "[", "{") and k < source.match[k] < stop:
            k = source.match[k]
        k += 1


def _parameter(source: Source, first: int, stop: int) -> Param:
    stop = next((i for i in range(first, stop) if source.t[i] == "="), stop)
    words = source.t[first:stop]
    k = stop - 1
    while k > first and source.t[k] == "]" and first < source.match[k]:
        k = source.match[k] - 1
    if source.t[k] == ")" and source.match[k] == k - 3 > first:  # (*name)[8]
        k -= 1
    name = source.t[k] if k > first and is_identifier(source.t[k]) and source.t[k] not in BASIC else ""
    reference = bool(name) and source.t[k - 1] in ("&", "&&")
    return Param(k if name else -1, name, None, "*" in words or "[" in words, "volatile" in words, reference)
