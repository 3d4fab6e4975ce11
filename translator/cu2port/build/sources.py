"""The sources that CMake's commands name: the suffix of --rename, and the language HIP for `.cu`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from cu2port.build import globs
from cu2port.build.layout import break_of
from cu2port.build.pages import HAZARD, HOST_SOURCE, RENAMED, SOURCE
from cu2port.build.properties import OF_SOURCES
from cu2port.build.syntax import Arg, Command
from cu2port.build.words import INFO, Asked, finding, swap
from cu2port.core.files import CXX_SUFFIXES
from cu2port.core.model import Finding, insert

_NAME = re.compile(r"(?:\$\{\w+\}|@\w+@|[\w./+*?\[\]-])*\.cu(?![\w.])", re.I)
_OF_HOST = "|".join(re.escape(s) for s in sorted(CXX_SUFFIXES))
_HOST = re.compile(rf"(?:\$\{{\w+\}}|@\w+@|[\w./+-])*(?:{_OF_HOST})(?![\w.])")
_REFERENCE = re.compile(r"\$\{(\w+)\}")
_PATTERN = re.compile(r"\\\\\.cu(?![\w.])")
_NO_SOURCES = frozenset(
    "message if elseif while configure_file add_custom_command add_custom_target execute_process install string file"
    " get_filename_component source_group include find_file find_path find_program math add_test function macro endif"
    " else endforeach endfunction endmacro endwhile set_source_files_properties set_property get_property"
    " get_source_file_property cmake_path return option unset mark_as_advanced set_target_properties".split()
)
_NO_LISTS = frozenset({"filter", "remove_item", "find", "transform"})


def known(commands: Collection[Command]) -> globs.Known:
    """What the commands of a file say of sources."""
    marked: set[str] = set()
    given: set[str] = set()
    used: set[str] = set()
    for c in commands:
        sets = c.name in ("set_source_files_properties", "set_property")
        if sets and ("LANGUAGE" in c.words or OF_SOURCES in c.words):
            marked.update(piece for word in c.words for piece in word.split(";"))
        names = {m[1] for word in c.words for m in _REFERENCE.finditer(word)}
        if c.name in _NO_SOURCES or c.name in ("foreach", "list"):
            used |= names | ({*c.words} if c.name == "foreach" else set())
        else:
            given |= names
    return globs.Known(frozenset(marked), frozenset(used - given))


def renamed(c: Command, asked: Asked) -> Iterator[Finding]:
    """Names of sources that get another suffix, also in patterns."""
    if not asked.renamed or c.name == "message":
        return
    for arg in c.args:
        for m in _NAME.finditer(arg.text):
            new = asked.new_name(m[0])
            if new != m[0]:
                yield swap(RENAMED, m[0], new, arg.inner + m.start())
        for m in _PATTERN.finditer(arg.text):
            yield swap(RENAMED, m[0], f"\\\\{asked.suffix}", arg.inner + m.start(), review=True, why="a pattern")
    yield from globs.renamed(c, asked)


def python_module(c: Command) -> Iterator[Finding]:
    """pybind11's link-time optimisation, which `NO_EXTRAS` turns off. It is the host compiler's, and CMake links with
    HIP's where a library of the target is in HIP; that linker drops what it cannot read, `PyInit_` too."""
    if c.name != "pybind11_add_module" or not c.args or "NO_EXTRAS" in c.words:
        return
    name = c.args[0]
    message = "`NO_EXTRAS` is added: with link-time optimisation a HIP module loses its function for Python"
    edits = [insert(name.end, " NO_EXTRAS")]
    yield finding(HAZARD, message, c.start, c.end, edits, new="NO_EXTRAS", severity=INFO)


_TARGETS = frozenset({"add_executable", "add_library", "target_sources"})


def languages(text: str, c: Command, asked: Asked, known: globs.Known) -> Iterator[Finding]:
    """The property LANGUAGE for `.cu` sources that a command names."""
    if c.name == "file":
        yield from globs.globbed(text, c, asked, known)
        return
    if c.name in _NO_SOURCES or (c.name == "list" and c.args and c.args[0].text.lower() in _NO_LISTS):
        return
    yield from _hosts(text, c, asked, known)
    names = [new for arg in c.args for new in _cuda_sources(arg, asked)]
    behind = asked.suffix or ".cu"
    bare = [a for a in c.args[1:] if asked.is_bare(a.text)] if c.name in _TARGETS and "ALIAS" not in c.words else []
    if bare:
        edits = [insert(a.inner + len(a.text), behind) for a in bare]
        message = f"{globs.several([a.text for a in bare])}: CMake completes no name of a source from 3.20 on"
        yield finding(SOURCE, message, c.start, c.end, edits)
        names += [a.text + behind for a in bare if behind != ".hip"]
    names = [n for n in dict.fromkeys(names) if n not in known.marked]
    if names:
        line = f"set_source_files_properties({' '.join(names)} PROPERTIES LANGUAGE HIP)"
        message = f"{globs.several(names)}: {globs.FOR_CUDA}"
        yield finding(SOURCE, message, c.start, c.end, [insert(c.start, line + break_of(text, c.start))])


def _hosts(text: str, c: Command, asked: Asked, known: globs.Known) -> Iterator[Finding]:
    """The property LANGUAGE for sources of the host that only the compiler of HIP takes."""
    if not asked.device_hosts:
        return
    found = (m[0] for arg in c.args for m in _HOST.finditer(arg.text) if asked.reaches_device(m[0]))
    names = [n for n in dict.fromkeys(found) if n not in known.marked]
    if names:
        line = f"set_source_files_properties({' '.join(names)} PROPERTIES LANGUAGE HIP)"
        message = f"{globs.several(names)}: {globs.FOR_THRUST}"
        edits = [insert(c.start, line + break_of(text, c.start))]
        yield finding(HOST_SOURCE, message, c.start, c.end, edits, review=True)


def _cuda_sources(arg: Arg, asked: Asked) -> Iterator[str]:
    for m in _NAME.finditer(arg.text):
        new = asked.new_name(m[0])
        if not set("*?[") & set(new) and not new.endswith(".hip") and new[:-3].strip("./"):
            yield new
