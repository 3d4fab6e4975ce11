"""Files that are build files by their text: scripts of a shell, modules of Python, programs of other languages."""

from __future__ import annotations

import re

from cu2port.core.late import regex
from cu2port.facts.environment import LOADS_MODULE

_BINDS = re.compile(
    rb"\bname[ \t]*=[ \t]*[\"'](?-i:cu(?:da|blas|fft|rand|sparse|solver|dnn)?|nccl)(?-i:[A-Z])"
    rb"|^[ \t]*use[ \t]+(?:cudafor|cublas|cufft|curand|cusparse|cusolverdn)"
    rb"|\battributes[ \t]*\([ \t]*(?:global|device)\b|^[ \t]*!\$cuf\b",
    re.I | re.M,
)
_MEX = regex(rb"(?<![\w-])nvcc\b|\bmexcuda\b|-lcu(?:da|dart|blas|fft|rand|sparse|solver)\b")
_LOADS = re.compile(
    rb"\bcpp_extension(?:\.|\s+import\s*(?:\([^)]{0,400}?|[^\n(]{0,400}?))\b(?:load(?:_inline)?|CUDA_HOME)\b"
)
_CALLS_ITSELF = regex(rb"[\"'](?:[\w./-]*/)?nvcc(?:\.exe)?[\"']")
_BUILDS = regex(rb"\b(?:build_ext|distutils|setuptools)\b")
_WRITES = re.compile(rb"__(?:global|device)__[ \t]+[\w \t:*&<>]{1,200}\(")  # the head of a function, in a text
_CALLS = re.compile(  # `nvcc -O3 a.cu`, or a variable that names nvcc: nothing that only looks whether nvcc is there
    rb"(?:^|[;&|(]|\{(?=\s)|\b(?:then|do|else|time|exec)\s)\s*(?:\w+=[^\s\"';&|]*\s+)*[\"']?(?:[\w./${}~-]*/)?nvcc[\"']?\s+"
    rb"(?!--?(?:V|h|version|help)\b)[\w$./\"'-]|\b\w+=[\"']?(?:[\w./${}~-]*/)?nvcc\b"
    rb"|\$\{\w+:[-=]nvcc\}"
)
_SHEBANG = regex(rb"#![^\n]{0,80}\b(?:ba|da|k|z)?sh\b")
_SETS_NVCC = regex(  # as Make does, of a program that no quotes are around
    rb"^[ \t]*(?:(?:export|override)[ \t]+)?\w+[ \t]*[:?+]{0,2}=[ \t]*(?:[\w./${}()~-]*/)?nvcc[ \t]*\r?(?:#.*)?$", re.M
)
_BEGINS_WITH_IT = regex(rb"(?:[ \t]*(?:#[^\n]{0,400})?\r?\n)*(?:[\w./${}~-]{0,80}/)?nvcc[ \t]+[\w$./\"'-]")
_HINTS = (b"nvcc", b"nvidia-smi", b"nvprof", b"cuda-memcheck", b"compute-sanitizer", b"cuda-gdb", b"module ")
_TOOLS = regex(  # `nvidia-smi -L | wc -l`: nothing that only looks whether it is there
    rb"(?:^|[;&|(`]|\b(?:then|do|else|time|exec|sudo)\s)\s*(?:\w+=[^\s\"';&|(]*\s+)*"
    rb"(?:nvidia-smi|nvprof|cuda-memcheck|compute-sanitizer|cuda-gdb)(?=[\s)`]|$)"
    rb"|" + LOADS_MODULE.encode()
)
_MEANS = regex(
    rb"(?i:cuda|nvcc|nvidia|-lcu|--gpus|cupy|whl/cu)|\bsm_\d|\bncu\b|nsys|cuobjdump|nvdisasm|ptxas|nvlink|fatbinary"
    rb"|nv(?:c\+\+|fortran)"
)


def builds(kind: str, path: str, data: bytes) -> bool:
    """Whether the text of a file of such a kind says that it is a build file."""
    if kind == "bare":
        return is_bare(data)
    if kind == "matlab":
        return builds_mex(data)
    if kind == "python" and (builds_extensions(data) or written_kernels(data)):
        return True
    if kind in ("binding", "python"):
        from cu2port.build.languages import uses  # most trees have no such file

        return next(uses(path, data.decode("latin-1")), None) is not None
    return binds_cuda(data) if kind == "fortran" else calls_nvidia(data) or means_cuda(data)


def builds_extensions(data: bytes) -> bool:
    """Whether a module of Python has extensions compiled: by torch, or for a setup.py by nvcc, which it names."""
    by_nvcc = b"nvcc" in data and _BUILDS.search(data) is not None and _CALLS_ITSELF.search(data) is not None
    return by_nvcc or loads_extensions(data)


def loads_extensions(data: bytes) -> bool:
    """Whether a module of Python has torch compile extensions while it runs (`torch.utils.cpp_extension.load`), or asks
    torch for CUDA's folder."""
    return b"cpp_extension" in data and _LOADS.search(data) is not None


def written_kernels(data: bytes) -> list[int]:
    """Where functions for the GPU begin in the texts of a program, which compiles them or writes them to a file."""
    return [m.start() for m in _WRITES.finditer(data)]


def calls_nvidia(data: bytes) -> bool:
    """Whether a shell's script has nvcc compile something, or calls another program of NVIDIA's."""
    hints = [x for x in _HINTS if x in data]
    lines = data.split(b"\n") if hints else ()
    named = (x for x in lines if any(hint in x for hint in hints) and not x.lstrip().startswith(b"#"))
    return any(_CALLS.search(x) is not None or _TOOLS.search(x) is not None for x in named)


def means_cuda(data: bytes) -> bool:
    """Whether a line of a shell's script means CUDA in some other way: an option of cmake for it, its folder, a
    library, an image or a package, or a variable that only its tools read."""
    if not _MEANS.search(data):
        return False
    from cu2port.build.lines import anywhere
    from cu2port.build.make_lines import logical_lines
    from cu2port.build.shell import cache_options, unread
    from cu2port.build.words import Asked

    text, asked = data.decode("latin-1"), Asked("script")
    found = (*anywhere(text), *unread(text, ()))
    return bool(found) or any(True for line in logical_lines(text, True) for _ in cache_options(text, line, asked))


def is_script(data: bytes) -> bool:
    """Whether the first line of a file names a shell."""
    return _SHEBANG.match(data) is not None


def is_bare(data: bytes) -> bool:
    """Whether a file whose name does not say so is a shell's script that calls nvcc, by its first line or its first
    command, or sets a variable of Make's to it: a part of a Makefile, such as one for each machine."""
    if b"nvcc" not in data:
        return False
    return (
        calls_nvidia(data) if is_script(data) else (_BEGINS_WITH_IT.match(data) or _SETS_NVCC.search(data)) is not None
    )


def binds_cuda(data: bytes) -> bool:
    """Whether a Fortran file binds C functions by names that may be CUDA's, or is CUDA Fortran."""
    return _BINDS.search(data) is not None


def builds_mex(data: bytes) -> bool:
    """Whether a script of MATLAB's, whose suffix is Objective-C's too, calls nvcc or links CUDA's libraries."""
    lines = data.split(b"\n") if b"nvcc" in data or b"mexcuda" in data or b"-lcu" in data else ()
    return any(_MEX.search(x) is not None and not x.lstrip().startswith(b"%") for x in lines)
