"""Lines of build files that name CUDA and must change in a build for HIP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cu2port.build.lines import spoken
from cu2port.project.build_files import lines_of


class BuildLine(NamedTuple):
    """A line of a build file that refers to CUDA."""

    path: str
    line: int
    what: str
    instead: str
    text: str


def look(path: str, shown: str) -> Iterator[BuildLine]:
    """The lines of a build file that refer to CUDA, each once, at most 40."""
    for s in spoken("\n".join(lines_of(path))):
        yield BuildLine(shown, s.number, s.what, s.instead, s.text.strip()[:200])
