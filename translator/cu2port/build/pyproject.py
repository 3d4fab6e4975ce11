"""pyproject.toml: the variables that scikit-build-core gives to CMake. Other lines that name CUDA are reported."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.build.lines import lines
from cu2port.build.presets import entry
from cu2port.build.words import Asked
from cu2port.core.model import Finding

_HEADER = re.compile(r"^[ \t]*\[\[?[ \t]*(?P<name>[^\]\n]+?)[ \t]*\]\]?[ \t]*(?:#.*)?$", re.M)
_KEY = re.compile(
    r"(?<!\w)(?P<key>(?:CMAKE_CUDA|CUDA|CUDAToolkit)_\w+)[\"']?[ \t]*=[ \t]*"
    r"(?:(?P<quote>[\"'])(?P<text>[^\"'\n]*)(?P=quote))?"
)
_PASSED = re.compile(r"-D(?P<key>(?:CMAKE_CUDA|CUDA|CUDAToolkit)_\w+)(?::\w+)?(?:=(?P<text>[^\"'\n]*))?")


def pyproject(text: str, asked: Asked) -> Iterator[Finding]:
    """Findings of a pyproject.toml, a text of Latin-1."""
    covered: list[tuple[int, int]] = []
    for start, end in _sections(text):
        for m in _found(text, start, end):
            value = None if m["text"] is None else (m["text"], m.start("text"))
            for f in entry(text, m["key"], m.start("key"), value, asked):
                covered.append((f.start, f.end))
                yield f
    for f in lines(text):
        if not any(f.start <= b and a <= f.end for a, b in covered):
            yield f


def _sections(text: str) -> Iterator[tuple[int, int]]:
    """Where the tables of scikit-build-core stand."""
    headers = list(_HEADER.finditer(text))
    ends = [m.start() for m in headers[1:]] + [len(text)]
    for m, end in zip(headers, ends, strict=False):
        if re.match(r"tool\s*\.\s*[\"']?scikit-build\b", m["name"]):
            yield m.end(), end


def _found(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    passed = list(_PASSED.finditer(text, start, end))
    yield from passed
    for m in _KEY.finditer(text, start, end):
        comment = "#" in text[text.rfind("\n", 0, m.start()) + 1 : m.start()]
        if not comment and not any(p.start() <= m.start() < p.end() for p in passed):
            yield m
