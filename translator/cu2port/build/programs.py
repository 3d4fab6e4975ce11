"""Calls of CUDA's compiler in a CMake file, checks of what it takes, and programs in its texts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from cu2port.build.pages import COMMAND
from cu2port.build.syntax import Arg, Command
from cu2port.build.tools import is_tool, tool_stays
from cu2port.build.words import Asked, by_hand, finding, said_by_nvcc, swap
from cu2port.catalog import Catalog, load_catalog
from cu2port.core.model import Edit, Finding, insert, replace

_PROGRAM = re.compile(r"#[ \t]*include\b|\b(?:main|__global__)\b")
_WORD = re.compile(r"#[ \t]*include[ \t]*[<\"](?P<header>[^>\"\\\n]+)|(?P<name>\b[A-Za-z_]\w*)")
_CHECKS = {  # CMake's commands for CUDA, and those that are told the language first
    "check_cuda_compiler_flag": "check_compiler_flag",
    "check_cuda_source_compiles": "check_source_compiles",
    "check_cuda_source_runs": "check_source_runs",
}
_MODULES = {
    "CheckCUDACompilerFlag": "CheckCompilerFlag",
    "CheckCUDASourceCompiles": "CheckSourceCompiles",
    "CheckCUDASourceRuns": "CheckSourceRuns",
}
_HOST_CHECK = re.compile(r"check_c(?:xx)?_source_(?:compiles|runs)")
_LOOKS = re.compile(r"check_(?:include_files?(?:_cxx)?|(?:cxx_)?symbol_exists|type_size|struct_has_member)")
_DEVICE = frozenset({"__global__", "__device__", "__shared__", "threadIdx", "blockIdx", "blockDim", "dim3"})
_RUNTIME = "hip/hip_runtime.h"
_NVCC = ("${CUDA_NVCC_EXECUTABLE}", "${CMAKE_CUDA_COMPILER}")
_ASKS = frozenset({"--version", "-V"})
_READ = re.compile(r"nvcc[ \t]+(?:--version|-V)(?=[ \t]*\|)")  # in a text for a shell


def _is_nvcc(arg: Arg) -> bool:
    return arg.text in ("nvcc", _NVCC[0]) or arg.text.endswith("/nvcc")


def versions(c: Command) -> Iterator[Finding]:
    """Where nvcc is asked for its version there is a text with one of CUDA's: HIP's compilers say theirs."""
    if c.name != "execute_process":
        return
    release, said = said_by_nvcc()
    message = f"nvcc is asked for its version, and HIP counts as CUDA {release}"
    for a, b in itertools.pairwise(c.args):
        if b.text in _ASKS and (_is_nvcc(a) or a.text in _NVCC):
            new = f'${{CMAKE_COMMAND}} -E echo "{said}"'
            yield finding(COMMAND, message, a.start, b.end, [replace(a.start, b.end, new)], True, "nvcc", new)
    for arg in c.args:
        for m in _READ.finditer(arg.text):
            folder = re.search(r"[\w./{}$-]*\Z", arg.text[: m.start()])
            start, end = arg.inner + (folder.start() if folder else m.start()), arg.inner + m.end()
            yield finding(COMMAND, message, start, end, [replace(start, end, f"echo {said}")], True, "nvcc", "echo")


def compilers(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    """Where nvcc is looked up or called."""
    calls = c.name in ("execute_process", "add_custom_command", "add_custom_target")
    names = c.args[1:] if c.name in ("set", "find_program") else ()
    for arg in names:
        if arg.text == "nvcc" or arg.text.endswith("/nvcc"):
            why = "what calls it may have options of nvcc's"
            yield swap(COMMAND, "nvcc", "hipcc", arg.inner + len(arg.text) - len("nvcc"), why, review=True)
    for before, arg in itertools.pairwise(c.args) if calls else ():
        if before.text == "COMMAND" and is_tool(arg.text):
            yield tool_stays(COMMAND, arg.text, arg.start, arg.end)
    for arg in c.args if calls else ():
        if _is_nvcc(arg):
            yield by_hand(COMMAND, arg.text, "nvcc is called by hand", "hipcc with its options", arg.start, arg.end)


def programs(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    """Names of CUDA's in a program that the arguments of a command hold: `check_source_compiles(CUDA "...")`."""
    texts = [a for a in c.args if a.quoted] if c.name != "message" else []
    first = next((i for i, a in enumerate(texts) if _PROGRAM.search(a.text)), len(texts))
    if texts[first:]:
        yield from _program(texts[first:], _is_for_host(c))


def _is_for_host(c: Command) -> bool:
    """Whether a command has the host's compiler check a program: it gets no options of the tree's."""
    return _HOST_CHECK.fullmatch(c.name) is not None or (
        c.name in ("check_source_compiles", "check_source_runs") and c.args[0].text in ("C", "CXX")
    )


def _looks_for(c: Command) -> Iterator[Finding]:
    """Headers and functions of CUDA that a check has the host's compiler look for."""
    if _LOOKS.fullmatch(c.name) is None:
        return
    headers = load_catalog().headers
    for arg in c.args:
        for word in arg.text.split(";"):
            if word in headers and not word.startswith("hip"):
                why = "the host's compiler looks for it, and the check is false without it"
                instead = "hip/hip_runtime.h, with -D__HIP_PLATFORM_AMD__ in CMAKE_REQUIRED_DEFINITIONS"
                yield by_hand(COMMAND, word, why, instead, arg.start, arg.end)


def checks(text: str, c: Command, asked: Asked) -> Iterator[Finding]:
    """Checks for the language CUDA, and the modules that they are in."""
    module = c.args[0] if c.name == "include" and c.args else None
    if module is not None and module.text in _MODULES:
        yield swap(COMMAND, module.text, _MODULES[module.text], module.inner)
    yield from _looks_for(c)
    new = _CHECKS.get(c.name)
    if new is not None and c.args:
        edits = [replace(c.start, c.start + len(c.name), new), insert(c.args[0].start, "HIP ")]
        message = f"`{c.name}` becomes `{new}`, which is told the language"
        yield finding(COMMAND, message, c.start, c.end, edits, old=c.name, new=new)


def _program(texts: Sequence[Arg], host: bool) -> Iterator[Finding]:
    catalog = load_catalog()
    edits: list[Edit] = []
    included, uses = False, False
    for m, at in ((m, arg.inner) for arg in texts for m in _WORD.finditer(arg.text)):
        kind = m.lastgroup or ""
        word, start = m[kind], at + m.start(kind)
        new = _new(catalog, kind, word)
        uses = uses or word in _DEVICE or (kind == "name" and new != word)
        if new is None:
            why = "it is in a program that is a text here, and HIP has no name for it that does the same"
            yield by_hand(COMMAND, word, why, "the program for HIP", start, start + len(word))
        elif new != word:
            included = included or new == _RUNTIME
            edits.append(replace(start, start + len(word), new))
    begin = texts[0].inner + len(texts[0].text) - len(texts[0].text.lstrip())
    added = f"#include <{_RUNTIME}>\n" if uses and not included else ""  # as nvcc includes CUDA's runtime by itself
    if edits and host:
        added = f"#define __HIP_PLATFORM_AMD__ 1\n{added}"  # which hipcc defines by itself
    if added:
        edits.append(insert(begin, added))
    if edits:
        message = "names of CUDA's in a program that is a text here become HIP's"
        yield finding(COMMAND, message, texts[0].start, texts[-1].end, edits, True)


def _new(catalog: Catalog, kind: str, word: str) -> str | None:
    """What a header or name becomes; itself where it is not CUDA's; None where its name alone does not do."""
    if kind == "header":
        new = catalog.headers.get(word, word)
        return None if word in catalog.missing_headers else new or _RUNTIME
    row = catalog.get(word)
    if row is None or word not in catalog.active:
        return word
    return row.hip if row.plain and row.hip else None
