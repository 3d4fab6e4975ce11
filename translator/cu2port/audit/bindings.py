"""Files of other languages that use CUDA, as an audit counts them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cu2port.build.languages import uses

_MAX_BYTES = 4 << 20


class Binding(NamedTuple):
    """A line of another language that uses CUDA."""

    path: str
    line: int
    language: str
    instead: str
    text: str


def look(path: str, shown: str) -> Iterator[Binding]:
    """The first lines of a file that use CUDA, at most 5."""
    file = Path(path)
    try:
        if file.stat().st_size > _MAX_BYTES:
            return
        text = file.read_bytes().decode("utf-8", "replace")
    except OSError:
        return  # who reads the tree says so
    for use in uses(path, text):
        said = text[use.start : use.end].strip()[:200]
        yield Binding(shown, use.line, use.language.name, use.language.instead, said)
