"""Which files are build files, told by their names."""

from __future__ import annotations

import os
import re

from cu2port.core.files import read_regular

MOST_BYTES = 1 << 20  # of a build file that is read

_KINDS: tuple[tuple[str, str], ...] = (
    ("cmake", r"CMakeLists\.txt(?:\.in)?|.*\.cmake(?:\.in)?"),
    ("presets", r"CMake(?:User)?Presets\.json"),
    (
        "make",
        r"[Mm]akefile(?:\..*|[_-][\w-]+)?|.*\.(?:mk|mak|make)(?:\.in)?|GNUmakefile|[Mm]ake\.(?:config|conf|inc|include|defs?|common|rules)",
    ),
    ("setup", r"setup(?:[_-][\w-]+)?\.py"),
    ("pyproject", r"pyproject\.toml"),
    (
        "other",
        r"meson\.build|BUILD(?:\.bazel)?|.*\.bzl|WORKSPACE(?:\.bazel)?|MODULE\.bazel|configure\.(?:ac|in)"
        r"|.*\.sln|.*\.vcxproj|(?:.*\.)?[Dd]ockerfile|Dockerfile\..*|environment.*\.ya?ml|meta\.ya?ml|requirements.*\.txt"
        r"|build\.rs|.*\.pro|SConstruct|SConscript|wscript|xmake\.lua",
    ),
    ("go", r".*\.go"),
    ("python", r".*\.py"),
)
_LOADS = re.compile(rb"\bcpp_extension(?:\.|\s+import\s*(?:\([^)]{0,400}?|[^\n(]{0,400}?))\bload(?:_inline)?\b")
_NAMES = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS))


def kind_of(name: str) -> str:
    """What kind of build file a name stands for: "cmake", "presets", "make", "setup", "pyproject", "go", "other", or
    "".
    "python" is a module, which is a build file where `builds_extensions` says so."""
    found = _NAMES.fullmatch(name)
    return found.lastgroup or "" if found else ""


def builds_extensions(data: bytes) -> bool:
    """Whether a module of Python has torch compile extensions while it runs (`torch.utils.cpp_extension.load`)."""
    return b"cpp_extension" in data and _LOADS.search(data) is not None


def is_build_file(path: str) -> bool:
    """Whether a file is a build file by its name, or by its text for a module of Python. One that cannot be read is
    none: who copies it says so."""
    kind = kind_of(os.path.basename(path))  # noqa: PTH119 - a Path for each file of a tree costs too much
    try:
        return builds_extensions(read_regular(path, MOST_BYTES)) if kind == "python" else kind != ""
    except OSError:
        return False
