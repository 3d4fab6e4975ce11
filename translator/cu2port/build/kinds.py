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
_WORKFLOWS = ("/.github/workflows/", "/.circleci/")
_MOST_BARE = 1 << 16  # bytes of a file whose name says nothing
_NAMES = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS))


def kind_of(name: str) -> str:
    """What kind of build file a name stands for: "cmake", "presets", "make", "setup", "pyproject", "go", "m4", "other",
    or "". "python" is a module, which is a build file where `builds_extensions` says so or `written_kernels` finds
    some, "script" a shell's, where `calls_nvidia` says so, "fortran" where `binds_cuda` says so, "matlab" where
    `builds_mex` does, "binding" one of another language, where lines of it use CUDA (as of "python"), "workflow" a
    file that is one in GitHub's folder, and "bare" one that `is_bare` tells."""
    found = _NAMES.fullmatch(name)
    return found.lastgroup or "" if found else ""


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
    from cu2port.build.by_text import builds

    return builds(kind, path, data)
