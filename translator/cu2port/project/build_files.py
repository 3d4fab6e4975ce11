"""Build files of a tree: their names, and which of the tree's files they name."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

_MAX_BYTES = 4 << 20
_NAMES = re.compile(
    r"CMakeLists\.txt|.*\.cmake|[Mm]akefile(?:\..*)?|.*\.mk|GNUmakefile|setup\.py|pyproject\.toml|meson\.build|BUILD(?:\.bazel)?"
    r"|.*\.bzl|configure\.ac|.*\.sln|.*\.vcxproj|Dockerfile(?:\..*)?|environment\.ya?ml|requirements.*\.txt\Z"
)
_FILE_NAME = re.compile(r"[\w.+-]+")


def is_build_file(name: str) -> bool:
    """Whether a file's name is one that builds use."""
    return _NAMES.fullmatch(name) is not None


def named(path: str, files: Collection[str]) -> list[tuple[str, list[int]]]:
    """The names of `files` that a build file holds, sorted, each with its lines."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(lines_of(path), 1):
        for word in _FILE_NAME.findall(line):
            if word in files:
                found.setdefault(word, []).append(number)
    return sorted(found.items())


def lines_of(path: str) -> list[str]:
    """The lines of a build file; none of one that is very large or cannot be read."""
    file = Path(path)
    try:
        return file.read_bytes().decode("utf-8", "replace").splitlines() if file.stat().st_size <= _MAX_BYTES else []
    except OSError:
        return []  # who copies it meets the same error and reports it
