"""Files of other languages that use CUDA: a port must change them too, and `convert` ports Go's and Fortran's names
alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePath
from typing import NamedTuple

from cu2port.build.pages_languages import BINDING
from cu2port.build.words import finding
from cu2port.core.model import Finding

_MOST = 5  # lines of one file
_SHOWN = 100  # characters of a line in a message
_REST = r".{0,300}"  # of a line: bounded, as lines may be long
_LIBRARIES = r"(?:cuda|cudart|cublas|cufft|curand|cusparse|cusolver|cudnn|nccl|nvrtc)"


class Language(NamedTuple):
    """A way to use CUDA from another language: file suffixes, the sign in a line, and what there is for AMD GPUs.
    `hints`: a text without any of these words has no sign, as most have none; () where that cannot be said."""

    name: str
    suffixes: tuple[str, ...]
    sign: re.Pattern[str]
    instead: str
    hints: tuple[str, ...] = ()


LANGUAGES = (
    Language(
        "Go (cgo)",
        (".go",),
        re.compile(rf"#[ \t]*cgo\b{_REST}(?:-l{_LIBRARIES}\b|\bcuda\b|/cuda)|#[ \t]*include[ \t]*[<\"]{_LIBRARIES}"),
        "`convert` ports the flags and the names behind C.; build, and fix what Go's types refuse",
    ),
    Language(
        "Rust",
        (".rs",),
        re.compile(
            rf"\b(?:cust|cudarc|rustacuda|cuda_sys|cuda_runtime_sys|cuda_std)\b(?:::|;)|rustc-link-lib=\w*=?{_LIBRARIES}\b"
            rf"|\.cuda\(true\)|#\[link\(name[ \t]*=[ \t]*\"{_LIBRARIES}"
        ),
        "link amdhip64 and declare HIP's functions; build scripts call hipcc in place of nvcc",
    ),
    Language(
        "Fortran",
        (".f90", ".f95", ".f03", ".f08", ".f", ".for", ".cuf"),
        re.compile(
            r"\buse[ \t]+(?:cudafor|cublas|cufft|curand|cusparse|cusolverdn)\b"
            r"|\battributes[ \t]*\([ \t]*(?:global|device)|^[ \t]*!\$cuf\b|\bname[ \t]*=[ \t]*['\"]cu(?:da)?[A-Z]",
            re.I | re.M,
        ),
        "hipfort has HIP's interfaces for Fortran; CUDA Fortran kernels must be written in C++ or OpenMP",
    ),
    Language(
        "Python (ctypes)",
        (".py",),
        re.compile(rf"\b(?:CDLL|LoadLibrary|find_library|dlopen)\b{_REST}{_LIBRARIES}"),
        "load libamdhip64.so and its kin, and call HIP's names",
        ("CDLL", "LoadLibrary", "find_library", "dlopen"),
    ),
    Language(
        "Python (cupy, numba, pycuda, cuda-python)",
        (".py",),
        re.compile(
            r"^[ \t]*(?:(?:import|from)[ \t]+(?:cupyx?|pycuda|cuda\.(?:bindings|core)|skcuda|cuquantum)\b"
            rf"|from[ \t]+(?:cuda import\b|numba[ \t]+import{_REST}\bcuda\b))|\bnumba\.cuda\b",
            re.M,
        ),
        "CuPy has builds for ROCm; for the others hip-python, or numba-hip where it covers the code",
        ("cupy", "numba", "pycuda", "cuda.bindings", "cuda.core", "skcuda", "cuquantum", "cuda import"),
    ),
    Language(
        "Python (libraries of NVIDIA's)",
        (".py",),
        re.compile(
            r"^[ \t]*(?:import|from)[ \t]+(?:tensorrt|cudf|cuml|cugraph|cuspatial|cucim|pylibraft|raft_dask|rmm|nvmath"
            r"|nvidia\.dali|cutlass|warp[ \t]+as[ \t]+wp|triton\.language\.extra\.cuda)\b",
            re.M,
        ),
        "use AMD's own where there is one: hipDF for cuDF, MIGraphX for TensorRT, rocAL for DALI",
        (
            *("tensorrt", "cudf", "cuml", "cugraph", "cuspatial", "cucim", "pylibraft", "raft_dask", "rmm", "nvmath"),
            *("nvidia.dali", "cutlass", "warp as", "extra.cuda"),
        ),
    ),
    Language(
        "Python (nvidia-smi, NVML)",
        (".py",),
        re.compile(r"[\"']nvidia-smi\b|^[ \t]*(?:import|from)[ \t]+(?:py3?nvml|nvidia_smi)\b", re.M),
        "ask amd-smi, the package amdsmi, or torch.cuda.mem_get_info, which torch for ROCm has too",
        ("nvidia-smi", "nvml", "nvidia_smi"),
    ),
    Language(
        "Python (nvcc)",
        (".py",),
        re.compile(
            rf"(?:\b(?:call|check_call|check_output|execute|getoutput|popen|Popen|run|sh|spawn|system)[ \t]*\({_REST}?"
            r"|^[ \t]*\w+[ \t]*\+?=[ \t]*\[?[ \t]*)[rf]?[\"'](?:[\w./-]{0,80}/)?nvcc"
            r"(?:[\"']?,?[ \t]+[\"']?(?!--?(?:V|version)\b)[\w{-]|[\"'][ \t]*$)"
            r"|\bwhich\([ \t]*[\"']nvcc[\"']",
            re.M,
        ),
        "call hipcc, and give it its own options: --offload-arch for -arch",
        ("nvcc",),
    ),
    Language(
        "notebook",
        (".ipynb",),
        re.compile(
            r"(?:^|[\[,])[ \t]*\"(?:[!%]{1,2}[ \t]*(?:nvcc\b|cu(?:da)?\b|cuda_\w+|load_ext nvcc"
            r"|writefile [\w./-]{1,80}\.cuh?\b)"
            r"|[^\"#]{0,80}\b__global__[ ]+)",
            re.M,
        ),
        "write its cells to files and convert these, and call hipcc",
        ("nvcc", "%cu", "%%cu", ".cu", "__global__"),
    ),
    Language(
        "template or other suffix",
        tuple(
            (
                ".c++ .cppm .cuda .cup .erb .gpu .h++ .i .icc .ixx .j2 .jinja .jinja2 .kernel .krn .mako .mpp .swg"
                " .template .tmpl .tpl"
            ).split()
        ),
        re.compile(
            r"^(?![ \t]*(?://|\*|#))[^\n\"']{0,200}"
            r"(?:\b__global__[ \t]|\bcuda[A-Z]\w{1,40}[ \t]*\(|\b[a-z]\w{0,60}[ \t]*<<<)",
            re.M,
        ),
        "convert what is made of it, or name it .cu or .cuh, and convert again",
        ("__global__", "cuda", "<<<"),
    ),
    Language(
        "Lua, Perl",
        (".lua", ".pl", ".pm"),
        re.compile(
            rf"^(?![ \t]*(?:--|#)){_REST}?\b(?:execute|popen|system|exec)\b{_REST}?[\"'`](?:[\w./-]{{0,80}}/)?nvcc\s",
            re.M,
        ),
        "call hipcc, and give it its own options: --offload-arch for -arch",
        ("nvcc",),
    ),
    Language(
        "Cython",
        (".pyx", ".pxd"),
        re.compile(rf"cdef[ \t]+extern[ \t]+from[ \t]+['\"<]*{_LIBRARIES}"),
        "name HIP's headers and functions in the extern blocks",
    ),
    Language(
        "Ruby",
        (".rb",),
        re.compile(
            rf"^(?![ \t]*#){_REST}?(?:\b(?:(?:have|find)_(?:library|header)|ffi_lib)\b{_REST}?{_LIBRARIES}(?:\.h)?['\"]"
            rf"|(?<!require )(?<!_relative )['\"`]nvcc[\s'\"`]|['\"` ]-l{_LIBRARIES}\b)",
            re.M,
        ),
        "look for amdhip64, hipblas and hip/hip_runtime.h with -D__HIP_PLATFORM_AMD__, and call hipcc",
        ("_library", "_header", "ffi_lib", "nvcc", "-lcu"),
    ),
    Language("Julia", (".jl",), re.compile(r"^[ \t]*(?:using|import)[ \t]+CUDA\b|@cuda\b", re.M), "AMDGPU.jl"),
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
    found: dict[int, Use] = {}
    for language in LANGUAGES:
        if suffix in language.suffixes and (not language.hints or any(h in text for h in language.hints)):
            for use in islice(_lines(text, language), _MOST):
                found.setdefault(use.start, use)
    yield from (found[start] for start in sorted(found)[:_MOST])


def _lines(text: str, language: Language) -> Iterator[Use]:
    """The lines with a sign of a language. A sign is in one line."""
    end = 0
    for m in language.sign.finditer(text):
        if m.start() >= end:
            start = text.rfind("\n", 0, m.start()) + 1
            end = text.find("\n", m.end()) + 1 or len(text)
            yield Use(text.count("\n", 0, start) + 1, start, end, language)


def other_language(name: str, text: str) -> Iterator[Finding]:
    """A finding for the first line of a file that uses CUDA by another language."""
    first = next(uses(name, text), None)
    if first is not None:
        line = text[first.start : first.end]
        start = first.start + len(line) - len(line.lstrip())
        shown = line.strip()[:_SHOWN]
        message = f"{first.language.name}: `{shown}` uses CUDA, and is not converted: {first.language.instead}"
        yield finding(BINDING, message, start, first.start + len(line.rstrip()))
