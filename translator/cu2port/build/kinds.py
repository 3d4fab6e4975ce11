"""Which files are build files, told by their names."""

from __future__ import annotations

import re

MOST_BYTES = 1 << 20  # of a build file that is read

_KINDS: tuple[tuple[str, str], ...] = (
    ("cmake", r"CMakeLists\.txt(?:\.in)?|.*\.cmake(?:\.in)?"),
    ("presets", r"CMake(?:User)?Presets\.json"),
    (
        "make",
        r"[Mm]akefile(?:\..*)?|.*\.(?:mk|mak|make)(?:\.in)?|GNUmakefile|[Mm]ake\.(?:config|conf|inc|include|defs?|common|rules)",
    ),
    ("setup", r"setup\.py"),
    ("pyproject", r"pyproject\.toml"),
    (
        "other",
        r"meson\.build|BUILD(?:\.bazel)?|.*\.bzl|WORKSPACE(?:\.bazel)?|MODULE\.bazel|configure\.(?:ac|in)"
        r"|.*\.sln|.*\.vcxproj|(?:.*\.)?[Dd]ockerfile|Dockerfile\..*|environment.*\.ya?ml|meta\.ya?ml|requirements.*\.txt"
        r"|build\.rs|.*\.go|.*\.pro|SConstruct|SConscript|wscript|xmake\.lua",
    ),
)
_NAMES = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS))


def kind_of(name: str) -> str:
    """What kind of build file a name stands for: "cmake", "presets", "make", "setup", "pyproject", "other", or ""."""
    found = _NAMES.fullmatch(name)
    return found.lastgroup or "" if found else ""
