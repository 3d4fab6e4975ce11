"""What converters of build files share: what a tree says of them, and findings of family CU8xx."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from cu2port.build.pages import LIBRARY, TOOLKIT
from cu2port.build.rule import BuildRule
from cu2port.build.table import Row, table
from cu2port.core.late import dataclass, regex
from cu2port.core.model import Edit, Finding, Severity, Trust, replace

_BLOCK = regex(r"(?im:^[ \t]*(if|elseif|else|endif))\s*\(([^()]*)")
_OLD_CMAKE = regex(r"\s*[\"{$]*CMAKE_VERSION[\"}]*\s+VERSION_LESS\s+\"?(\d+)\.(\d+)[\d.]*\"?\s*")
_OTHER_SYSTEM = regex(
    r"\s*(?:WIN32|MSVC|MINGW|APPLE|\"?(?:CMAKE_SYSTEM_NAME|\$\{CMAKE_SYSTEM_NAME\})\"?\s+(?:STREQUAL|MATCHES)"
    r"\s+\"?(?:Windows|Darwin)\"?)\s*"
)
#: the folder where CUDA's toolkit is as a rule, in a path or alone
HOME = regex(  # the version may be a variable's: `cuda-$(ver)`
    r"/(?:usr/local|usr/lib|opt)/cuda(?:-[\d.]+\d|-\d+|-\$(?:\(\w+\)|\{\w+\}|\w+))?"
    r"(?=/(?:include|lib(?:64)?|bin|targets)\b|/\$|/?(?:[\s\"':;),}]|$))"
)
# of HOME: what is below it
INNER = regex(r"(?:/targets/[\w-]+)?(?:/lib(?:64)?(?:/stubs(?!/))?|(?P<include>/include))(?![\w-])")
_NOT_THERE = regex(
    r"/(?:usr/local|usr/lib|opt)/cuda[-.\d]*/(?!(?:include|lib(?:64)?|bin|targets)\b)\w[\w.-]*|/opt/nvidia/\w[\w./-]*"
    r"|(?<=[})e]/)cuda(?:_runtime(?:_api)?)?\.h\b"  # below a folder of headers
)
_LIBRARY_FILE = regex(r"(?P<folder>/lib(?:64)?)?(?P<stubs>/stubs)?/(?P<file>lib(?P<name>[\w-]+)\.(?:a|so))(?![\w.])")
HIP_SINCE = (3, 21)  # the first version of CMake that has the language HIP


def never_reached(text: str) -> tuple[tuple[int, int], ...]:
    """The bytes of branches of a CMake file that no build for HIP takes: those for a CMake without the language HIP,
    and those for Windows and macOS."""
    found: list[tuple[int, int]] = []
    open_blocks: list[int] = []  # where the branch that is read starts, -1 for one that may be taken
    for m in _BLOCK.finditer(text):
        word = m[1].lower()
        if word != "if" and open_blocks:
            start = open_blocks.pop()
            found += [(start, m.start())] if start >= 0 else []
        if word != "endif":
            open_blocks.append(m.end() if word != "else" and _other(m[2]) else -1)
    return tuple(found)


def _other(condition: str) -> bool:
    """Whether a condition of CMake is false in each build for HIP."""
    old = _OLD_CMAKE.fullmatch(condition)
    return (old is not None and (int(old[1]), int(old[2])) <= HIP_SINCE) or bool(_OTHER_SYSTEM.fullmatch(condition))


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for of one build file, and what the tree around it says.

    `folder`: where it is, from the root of the input ("" or `a/b`). `renamed`: paths from that root of sources that
    get the suffix `suffix`. `archs`: the GPUs of --arch. `packages`: what find_package must find for libraries that
    this file and those below it use; `alone`: no file above it finds any. `stand_ins`: variables of CUDA's that it
    sets for the tree; `known`: all that the tree sets; `extended`: those for libraries that it adds to, which stay
    lists. `host_headers`: it lets the host's compiler find HIP's headers. `own_hip`: the tree builds for HIP already;
    `converts`: sources of it for CUDA are converted all the same. `defined`: variables for CUDA's folder that some
    Makefile of the tree sets. `old_standard`: the tree asks for a C++ before C++17, with none of CUDA's own, which
    CMake's language HIP would take over. `device_hosts`: paths from that root of sources for the host that reach
    headers which only the compiler of HIP takes; `cuda_sources`: of those that end in `.cu`, for a file that looks
    sources up by patterns. `modules`: packages that the tree has modules of its own for, `FindNCCL.cmake`.
    `listed_patterns`: a list of the tree holds patterns of `.cu`, and a command looks sources up by a variable.
    `own_flags`: CUDA_NVCC_FLAGS is a variable of the tree's own there, which no FindCUDA reads. `rules`: the
    project's own rule files, as in Options; `rocm`: the version of ROCm.
    """

    kind: str
    folder: str = ""
    renamed: frozenset[str] = frozenset()
    suffix: str = ""
    archs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    alone: bool = False
    stand_ins: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    extended: frozenset[str] = frozenset()
    host_headers: bool = False
    own_hip: bool = False
    converts: bool = False
    defined: frozenset[str] = frozenset()
    old_standard: bool = False
    device_hosts: frozenset[str] = frozenset()
    cuda_sources: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    own_flags: bool = False
    bare_sources: frozenset[str] = frozenset()
    listed_patterns: bool = False
    rules: tuple[tuple[str, str], ...] = ()
    rocm: tuple[int, int] = (7, 1)

    def is_bare(self, word: str) -> bool:
        """Whether a word names a source by its path without `.cu`."""
        if not self.bare_sources or not word or word.startswith(("/", "$")):
            return False
        return plain_path(PurePosixPath(self.folder, word)) in self.bare_sources

    def new_name(self, word: str) -> str:
        """What a word that names a source becomes with --rename, itself where nothing is known of it.

        A path is looked up from the file's folder; one behind a variable or in another folder by how it ends.
        """
        if not self.renamed or not word.lower().endswith(".cu") or self.suffix in ("", ".cu"):
            return word
        new = word[:-3] + self.suffix
        tail = re.split(r"[$@][({<]?[^)}>@]*[)}>@]|[*?%\]]", word)[-1]
        if word.lower() == ".cu":  # a suffix: of all sources
            return self.suffix
        if tail != word and "/" not in tail:  # `${name}.cu`, `$(DIR)x.cu`, `*.cu`: all that ends so
            ends = tail
        else:
            path = PurePosixPath(self.folder, word) if tail == word else PurePosixPath(tail.lstrip("/"))
            plain = plain_path(path)
            if plain in self.renamed:
                return new
            ends = "/" + plain.lstrip("/") if tail != word else "/" + PurePosixPath(word).as_posix().lstrip("./")
        return new if any(f"/{path}".endswith(ends) for path in self.renamed) else word

    def reaches_device(self, word: str) -> bool:
        """Whether a word that names a source of the host names one of `device_hosts`; one behind a variable by its
        end."""
        tail = re.split(r"[$@][({<]?[^)}>@]*[)}>@]", word)[-1]
        if tail == word:
            return plain_path(PurePosixPath(self.folder, word)) in self.device_hosts
        return any(f"/{path}".endswith(f"/{tail.lstrip('/')}") for path in self.device_hosts)


def plain_path(path: PurePosixPath) -> str:
    """A path without `.` and `..` where they can be resolved."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def finding(
    rule: BuildRule,
    message: str,
    start: int,
    end: int,
    edits: Iterable[Edit] = (),
    review: bool = False,
    old: str = "",
    new: str = "",
    severity: Severity | None = None,
) -> Finding:
    """A finding of a build file at bytes [start, end)."""
    trust = Trust.REVIEW if review else Trust.EXACT
    how = severity or rule.severity
    return Finding(rule.code, rule.name, how, message, start, end, tuple(edits), trust, cuda=old, hip=new)


def swap(rule: BuildRule, old: str, new: str, start: int, why: str = "", review: bool = False) -> Finding:
    """`old`, which stands at `start`, becomes `new`."""
    message = f"`{old}` becomes `{new}`" + (f": {why}" if why else "")
    return finding(rule, message, start, start + len(old), [replace(start, start + len(old), new)], review, old, new)


def by_hand(rule: BuildRule, word: str, why: str, instead: str, start: int, end: int) -> Finding:
    """`word` stays, and manual work is needed."""
    return finding(rule, f"`{word}` stays: {why}; write {instead}", start, end, old=word)


def not_there(text: str, start: int) -> Iterator[Finding]:
    """Paths of CUDA's toolkit, in a text that begins at `start`, for which ROCm has none."""
    for m in _NOT_THERE.finditer(text) if "cuda" in text or "/nvidia" in text else ():
        header = m[0].endswith(".h")
        instead = "hip/hip_version.h, or hip/hip_runtime.h" if header else "where ROCm or the system has it"
        yield by_hand(TOOLKIT, m[0], "it is NVIDIA's, and not in ROCm", instead, start + m.start(), start + m.end())


def said_by_nvcc() -> tuple[str, str]:
    """The release of CUDA that HIP counts as, and what nvcc says of its version there."""
    version = table()["variable"]["CMAKE_CUDA_COMPILER_VERSION"].set
    release = version.rpartition(".")[0]
    return release, f"Cuda compilation tools, release {release}, V{version}"


def library_flag(row: Row, word: str, start: int, removal: Edit) -> Finding:
    """What a linker's option for a library of NVIDIA's, `-lcublas`, becomes. `removal`: the edit that takes it out."""
    end = start + len(word)
    if row.fate == "rewrite":
        return swap(LIBRARY, word, f"-l{row.to}", start, row.why, row.review)
    if row.fate == "drop":
        return finding(LIBRARY, f"`{word}` is taken out: {row.why}", start, end, [removal], old=word)
    return by_hand(LIBRARY, word, row.why, row.instead, start, end)


def library_files(text: str, start: int, moved: bool, at: int = -1) -> Iterator[Finding]:
    """What paths of libraries' files become, in a text that begins at `start`; `at`: only the one that goes on there.
    `moved`: another edit changes the folder."""
    for m in _LIBRARY_FILE.finditer(text) if at < 0 else filter(None, (_LIBRARY_FILE.match(text, at),)):
        if row := table()["library"].get(m["name"]):
            yield _library_file(row, m, start, moved)


def _library_file(row: Row, found: re.Match[str], word: int, moved: bool) -> Finding:
    """What the path of a library's file becomes, in the word at `word`. ROCm's libraries are shared ones, in no
    `lib64`, and have no stubs."""
    old = found["file"]
    if row.fate != "rewrite":
        start = word + found.start("file")
        return by_hand(LIBRARY, old, row.why, row.instead or "the link without it", start, start + len(old))
    new, start = f"lib{row.to}.so", found.start("file")
    if found["folder"] and not moved:
        old, new, start = found[0], f"/lib/{new}", found.start()
    elif found["stubs"]:
        start = found.start("stubs")
        old, new = found.string[start : found.end()], f"/{new}"
    return swap(LIBRARY, old, new, word + start, row.why, True)


INFO = Severity.INFO
WARNING = Severity.WARNING
