"""Files of other languages that use CUDA: a port must change them too, and `convert` ports Go's and Fortran's names
alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from cu2port.build.pages_languages import BINDING
from cu2port.build.words import finding
from cu2port.core.model import Finding

_MOST = 5  # lines of one file
_LONGEST = 2_000  # characters of a line that are read
_SHOWN = 100  # characters of a line in a message
_LIBRARIES = r"(?:cuda|cudart|cublas|cufft|curand|cusparse|cusolver|cudnn|nccl|nvrtc)"


class Language(NamedTuple):
    """A way to use CUDA from another language: file suffixes, the sign in a line, and what there is for AMD GPUs."""

    name: str
    suffixes: tuple[str, ...]
    sign: re.Pattern[str]
    instead: str


LANGUAGES = (
    Language(
        "Go (cgo)",
        (".go",),
        re.compile(rf"#\s*cgo\b.*(?:-l{_LIBRARIES}\b|\bcuda\b|/cuda)|#\s*include\s*[<\"]{_LIBRARIES}"),
        "`convert` ports the flags and the names behind C.; build, and fix what Go's types refuse",
    ),
    Language(
        "Rust",
        (".rs",),
        re.compile(
            rf"\b(?:cust|cudarc|rustacuda|cuda_sys|cuda_runtime_sys|cuda_std)\b(?:::|;)|rustc-link-lib=\w*=?{_LIBRARIES}\b"
            rf"|\.cuda\(true\)|#\[link\(name\s*=\s*\"{_LIBRARIES}"
        ),
        "link amdhip64 and declare HIP's functions; build scripts call hipcc in place of nvcc",
    ),
    Language(
        "Fortran",
        (".f90", ".f95", ".f03", ".f08", ".f", ".for", ".cuf"),
        re.compile(
            r"\buse\s+(?:cudafor|cublas|cufft|curand|cusparse|cusolverdn)\b|\battributes\s*\(\s*(?:global|device)"
            r"|^\s*!\$cuf\b|\bname\s*=\s*['\"]cu(?:da)?[A-Z]",
            re.I,
        ),
        "hipfort has HIP's interfaces for Fortran; CUDA Fortran kernels must be written in C++ or OpenMP",
    ),
    Language(
        "Python (ctypes)",
        (".py",),
        re.compile(rf"\b(?:CDLL|LoadLibrary|find_library|dlopen)\b.*{_LIBRARIES}"),
        "load libamdhip64.so and its kin, and call HIP's names",
    ),
    Language(
        "Python (cupy, numba, pycuda, cuda-python)",
        (".py",),
        re.compile(
            r"^\s*(?:import|from)\s+(?:cupy|pycuda|cuda\.bindings|skcuda|cuquantum)\b|^\s*from\s+numba\s+import.*\bcuda\b"
            r"|\bnumba\.cuda\b|^\s*from\s+cuda\s+import"
        ),
        "CuPy has builds for ROCm; for the others hip-python, or numba-hip where it covers the code",
    ),
    Language(
        "Cython",
        (".pyx", ".pxd"),
        re.compile(rf"cdef\s+extern\s+from\s+['\"<]*{_LIBRARIES}"),
        "name HIP's headers and functions in the extern blocks",
    ),
    Language("Julia", (".jl",), re.compile(r"^\s*(?:using|import)\s+CUDA\b|@cuda\b"), "AMDGPU.jl"),
    Language(
        "Java", (".java", ".scala", ".kt"), re.compile(r"\bjcuda\b|org\.bytedeco\.cuda"), "no binding of HIP is kept"
    ),
    Language("C#", (".cs",), re.compile(r"\bManagedCuda\b|DllImport\(\"(?:nv)?cuda"), "declare HIP's functions"),
)
_ASKED = frozenset(s for language in LANGUAGES for s in language.suffixes)


class Use(NamedTuple):
    """A line that uses CUDA, counted from 1, and where it begins and ends in its text."""

    line: int
    start: int
    end: int
    language: Language


def may_use(name: str) -> bool:
    """Whether a file's name is one of a language that can use CUDA."""
    return PurePath(name).suffix.lower() in _ASKED


def uses(name: str, text: str) -> Iterator[Use]:
    """The first lines of a file that use CUDA, at most 5."""
    suffix = PurePath(name).suffix.lower()
    asked = [language for language in LANGUAGES if suffix in language.suffixes]
    count = end = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        start, end = end, end + len(line)
        found = next((x for x in asked if x.sign.search(line[:_LONGEST])), None)
        if found is not None:
            yield Use(number, start, end, found)
            count += 1
            if count >= _MOST:
                return


def other_language(name: str, text: str) -> Iterator[Finding]:
    """A finding for the first line of a file that uses CUDA by another language."""
    first = next(uses(name, text), None)
    if first is not None:
        line = text[first.start : first.end]
        start = first.start + len(line) - len(line.lstrip())
        shown = line.strip()[:_SHOWN]
        message = f"{first.language.name}: `{shown}` uses CUDA, and is not converted: {first.language.instead}"
        yield finding(BINDING, message, start, first.start + len(line.rstrip()))
