"""Files of other languages that use CUDA: a port must change them too, and `convert` ports Go's cgo alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_MAX_BYTES = 4 << 20
_MOST = 5  # lines of one file
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
_SUFFIXES = frozenset(s for language in LANGUAGES for s in language.suffixes)


class Binding(NamedTuple):
    """A line of another language that uses CUDA."""

    path: str
    line: int
    language: str
    instead: str
    text: str


def may_bind(name: str) -> bool:
    """Whether a file's name is one of a language that binds CUDA."""
    return Path(name).suffix.lower() in _SUFFIXES


def look(path: str, shown: str) -> Iterator[Binding]:
    """The first lines of a file that use CUDA, at most 5."""
    file = Path(path)
    try:
        if file.stat().st_size > _MAX_BYTES:
            return
        text = file.read_bytes().decode("utf-8", "replace")
    except OSError:
        return  # who reads the tree says so
    asked = [language for language in LANGUAGES if file.suffix.lower() in language.suffixes]
    count = 0
    for number, line in enumerate(text.splitlines(), 1):
        found = next((x for x in asked if x.sign.search(line[:2_000])), None)
        if found is not None:
            yield Binding(shown, number, found.name, found.instead, line.strip()[:200])
            count += 1
            if count >= _MOST:
                return
