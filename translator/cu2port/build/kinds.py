"""Which files are build files, told by their names."""

from __future__ import annotations

import os
import re

from cu2port.core.files import read_regular
from cu2port.core.late import regex

MOST_BYTES = 1 << 20  # of a build file that is read

_KINDS: tuple[tuple[str, str], ...] = (
    ("cmake", r"CMakeLists\.txt(?:\.in)?|.*\.cmake(?:\.in)?"),
    ("presets", r"CMake(?:User)?Presets\.json"),
    (
        "make",
        r"[Mm]akefile(?:\.(?!m\Z).*|[_-][\w-]+)?|.*\.(?:mk|mak|make)(?:\.in)?|GNUmakefile|[Mm]ake\.(?:config|conf|inc|include|defs?|common|rules)"
        r"|Makevars(?:\.\w+)?",  # of a package of R
    ),
    ("setup", r"setup(?:[_-][\w-]+)?\.py"),
    ("pyproject", r"pyproject\.toml"),
    (
        "other",
        r"meson\.build|BUILD(?:\.bazel)?|.*\.bzl|WORKSPACE(?:\.bazel)?|MODULE\.bazel|configure\.(?:ac|in)"
        r"|.*\.sln|.*\.vcxproj|(?:.*\.)?[Dd]ockerfile|Dockerfile\..*|(?:[\w-]*[_-])?environment.*\.ya?ml|meta\.ya?ml|requirements.*\.txt"
        r"|build\.rs|.*\.pro|SConstruct|SConscript|wscript|xmake\.lua|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|build\.sbt"
        r"|\.gitlab-ci\.ya?ml|\.travis\.ya?ml|.*\.gypi?|depend\.erb|mex_\w+\.xml|azure-pipelines[\w-]*\.ya?ml|\.?appveyor\.ya?ml|[Jj]enkinsfile"
        r"|.*\.(?:pri|jam|nimble|nix|bat|cmd|ps1)|premake\d?\.lua|conanfile\.(?:py|txt)|Jam(?:file|root)|[Rr]akefile|mix\.exs"
        r"|build\.zig|dub\.(?:json|sdl)|dune|BUCK|[Jj]ustfile|Taskfile\.ya?ml|package\.json|vcpkg\.json|pixi\.toml|tox\.ini"
        r"|Containerfile(?:\..*)?|Singularity(?:\..*)?|(?i:apptainer|singularity)[\w.-]*\.def|(?:docker-)?compose[\w.-]*\.ya?ml|devcontainer\.json"
        r"|bitbucket-pipelines\.ya?ml|CMakeSettings\.json|tasks\.json|c_cpp_properties\.json|compile_flags\.txt|\.clangd",
    ),
    ("go", r".*\.go"),
    ("python", r".*\.py"),
    (
        "binding",
        r".*\.(?:rs|rb|pyx|pxd|jl|java|scala|kt|cs|ipynb|lua|p[lm]"
        r"|[ch]\+\+|cppm|cuda|cup|erb|gpu|i|icc|ixx|j2|jinja2?|kernel|krn|mako|mpp|swg|te?mpl(?:ate)?|tpl)",
    ),
    ("fortran", r".*\.(?:[fF](?:90|95|03|08|or)?|cuf|CUF)"),
    ("script", r".*\.(?:(?:ba|c|fi|k|tc|z)?sh|slurm|sbatch|slm|pbs|lsf|qsub|job|sub)"),  # also jobs of a cluster
    ("workflow", r".*\.ya?ml"),
    ("m4", r"(?!aclocal\.|libtool\.|lt[\w~-]*\.).*\.m4"),  # these come from libtool, and know nvcc by its name
    ("matlab", r".*\.m"),
    ("bare", r"(?!log\b)[\w-]+(?:\.(?:arch|conf|config|default|example|in|inc|local|opts?|sys|template|user|\d+))?"),
)
#: Kinds of files that are build files only if their text says so, or their folder.
BY_TEXT = frozenset({"bare", "binding", "fortran", "matlab", "python", "script", "workflow"})
_BINDS = re.compile(
    rb"\bname[ \t]*=[ \t]*[\"'](?-i:cu(?:da|blas|fft|rand|sparse|solver|dnn)?|nccl)(?-i:[A-Z])"
    rb"|^[ \t]*use[ \t]+(?:cudafor|cublas|cufft|curand|cusparse|cusolverdn)"
    rb"|\battributes[ \t]*\([ \t]*(?:global|device)\b|^[ \t]*!\$cuf\b",
    re.I | re.M,
)
_WORKFLOWS = ("/.github/workflows/", "/.circleci/")
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
_MOST_BARE = 1 << 16  # bytes of a file whose name says nothing
#: Of a script for a cluster, a line that loads NVIDIA's toolkit.
LOADS_MODULE = r"^\s*module\s+(?:load|add|swap|switch)\s[^#\n]{0,200}?\b(?:cuda|cudatoolkit|cudnn|nvhpc)\b"
_HINTS = (b"nvcc", b"nvidia-smi", b"nvprof", b"cuda-memcheck", b"compute-sanitizer", b"cuda-gdb", b"module ")
_TOOLS = regex(  # `nvidia-smi -L | wc -l`: nothing that only looks whether it is there
    rb"(?:^|[;&|(`]|\b(?:then|do|else|time|exec|sudo)\s)\s*(?:\w+=[^\s\"';&|(]*\s+)*"
    rb"(?:nvidia-smi|nvprof|cuda-memcheck|compute-sanitizer|cuda-gdb)(?=[\s)`]|$)"
    rb"|" + LOADS_MODULE.encode()
)
_NAMES = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS))


def kind_of(name: str) -> str:
    """What kind of build file a name stands for: "cmake", "presets", "make", "setup", "pyproject", "go", "m4", "other",
    or "". "python" is a module, which is a build file where `builds_extensions` says so or `written_kernels` finds
    some, "script" a shell's, where `calls_nvidia` says so, "fortran" where `binds_cuda` says so, "matlab" where
    `builds_mex` does, "binding" one of another language, where lines of it use CUDA (as of "python"), "workflow" a
    file that is one in GitHub's folder, and "bare" one that `is_bare` tells."""
    found = _NAMES.fullmatch(name)
    return found.lastgroup or "" if found else ""


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


def is_build_file(path: str) -> bool:
    """Whether a file is a build file by its name, by its text for kinds in BY_TEXT, or by its folder for a workflow.
    One that cannot be read is none: who copies it says so."""
    kind = kind_of(os.path.basename(path))  # noqa: PTH119 - a Path for each file of a tree costs too much
    if kind not in BY_TEXT:
        return kind != ""
    if kind == "workflow":
        return any(folder in path.replace(os.sep, "/") for folder in _WORKFLOWS)
    try:
        data = read_regular(path, _MOST_BARE if kind == "bare" else MOST_BYTES)
    except OSError:
        return False
    if kind == "bare":
        return is_bare(data)
    if kind == "matlab":
        return builds_mex(data)
    if kind == "python" and (builds_extensions(data) or written_kernels(data)):
        return True
    if kind in ("binding", "python"):
        from cu2port.build.languages import uses  # most trees have no such file

        return next(uses(path, data.decode("latin-1")), None) is not None
    return binds_cuda(data) if kind == "fortran" else calls_nvidia(data)
