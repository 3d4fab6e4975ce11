"""The sources that CMake's commands name: the suffix of --rename, and the language HIP for `.cu`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from cu2port.build import globs
from cu2port.build.layout import break_of
from cu2port.build.pages import HAZARD, HOST_SOURCE, LANGUAGE, RENAMED, SOURCE
from cu2port.build.properties import OF_SOURCES
from cu2port.build.syntax import Arg, Command
from cu2port.build.words import INFO, Asked, finding, swap
from cu2port.core.files import CXX_SUFFIXES
from cu2port.core.model import Finding, Side, insert

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
_MAKES = ("add_library", "add_executable", "cuda_add_")
_NO_LISTS = frozenset({"filter", "remove_item", "find", "transform"})


def known(commands: Collection[Command]) -> globs.Known:
    """What the commands of a file say of sources."""
    marked: set[str] = set()
    fallback: set[str] = set()
    given: set[str] = set()
    used: set[str] = set()
    depth = 0  # of conditions
    for c in commands:
        depth += (c.name == "if") - (c.name == "endif")
        sets = c.name in ("set_source_files_properties", "set_property")
        if sets and ("LANGUAGE" in c.words or OF_SOURCES in c.words):
            others = fallback if depth and c.words[-2:] in (("LANGUAGE", "CXX"), ("LANGUAGE", "C")) else marked
            others.update(piece for word in c.words for piece in word.split(";"))
        names = {m[1] for word in c.words for m in _REFERENCE.finditer(word)}
        if c.name in _NO_SOURCES or c.name in ("foreach", "list"):
            used |= names | ({*c.words} if c.name == "foreach" else set())
        else:
            given |= names
    made = frozenset(c.words[0] for c in commands if c.words and c.name.startswith(_MAKES))
    found = frozenset(word for c in commands if c.name == "file" for word in c.words)
    return globs.Known(frozenset(marked), frozenset(used - given), made, found, _handed(commands), frozenset(fallback))


def _handed(commands: Collection[Command]) -> dict[int, tuple[Arg, ...]]:
    """The words of lists that a file hands to the folder above, `set(SOURCES ${SOURCES} PARENT_SCOPE)`, by where that
    command begins. Those of functions go to who calls them."""
    words: dict[str, list[Arg]] = {}
    out: dict[int, tuple[Arg, ...]] = {}
    depth = 0
    for c in commands:
        depth += (c.name in ("function", "macro")) - (c.name in ("endfunction", "endmacro"))
        at = 1 if c.name == "list" and c.words[:1] in (("APPEND",), ("PREPEND",)) else 0
        if depth or c.name not in ("set", "list") or len(c.args) <= at or (c.name == "list" and not at):
            continue
        values = words.setdefault(c.args[at].text, [])
        named = {m[1] for a in c.args[at + 1 :] for m in _REFERENCE.finditer(a.text)} - {c.args[at].text}
        values += [a for name in sorted(named) for a in words.get(name, ())] + list(c.args[at + 1 :])
        if c.name == "set" and c.words[-1:] == ("PARENT_SCOPE",):
            out[c.start] = tuple(values)
    return out


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


def enabler(every: Collection[Command]) -> Command | None:
    """The command that finds torch, where that alone makes CUDA a language of the build: torch's package does, and for
    ROCm it does not make HIP one. Only where the file names `.cu` itself."""
    if any(c.name in ("project", "enable_language") and {"CUDA", "HIP"} & set(c.words) for c in every):
        return None
    found = next((c for c in every if c.name == "find_package" and c.words[:1] in (("Torch",), ("Caffe2",))), None)
    named = found and any(_NAME.search(w) for c in every if c.name not in _NO_SOURCES for w in c.words)
    return found if named else None


def enabled(text: str, c: Command) -> Finding:
    """The language HIP behind the command that finds torch."""
    message = "torch's package makes CUDA a language of the build; HIP is made one here"
    edits = [insert(c.end, f"{break_of(text, c.start)}enable_language(HIP)", Side.LEFT)]
    return finding(LANGUAGE, message, c.start, c.end, edits, review=True)


_ABOVE = """get_directory_property(HIP_SCOPE PARENT_DIRECTORY)
while(HIP_SCOPE)
  set_source_files_properties({names} DIRECTORY ${{HIP_SCOPE}} PROPERTIES LANGUAGE HIP)
  get_directory_property(HIP_SCOPE DIRECTORY ${{HIP_SCOPE}} PARENT_DIRECTORY)
endwhile()
"""
_TARGETS = frozenset({"add_executable", "add_library", "target_sources"})


def languages(text: str, c: Command, asked: Asked, known: globs.Known) -> Iterator[Finding]:
    """The property LANGUAGE for `.cu` sources that a command names."""
    if c.name == "file":
        yield from globs.globbed(text, c, asked, known)
        return
    if c.name in _NO_SOURCES or (c.name == "list" and c.args and c.args[0].text.lower() in _NO_LISTS):
        return
    yield from _hosts(text, c, asked, known)
    yield from globs.passed_on(text, c, asked, known)
    names = [new for arg in c.args for new in _cuda_sources(arg, asked)]
    behind = asked.suffix or ".cu"
    bare = [a for a in c.args[1:] if asked.is_bare(a.text)] if c.name in _TARGETS and "ALIAS" not in c.words else []
    if bare:
        edits = [insert(a.inner + len(a.text), behind) for a in bare]
        message = f"{globs.several([a.text for a in bare])}: CMake completes no name of a source from 3.20 on"
        yield finding(SOURCE, message, c.start, c.end, edits)
        names += [a.text + behind for a in bare if behind != ".hip"]
    names = [n for n in dict.fromkeys(names) if n not in known.marked]
    lead = break_of(text, c.start)
    lines = ""
    if names:
        other = c.name == "target_sources" and c.words[0] not in known.made  # properties are of a folder
        scope = f" TARGET_DIRECTORY {c.words[0]}" if other else ""
        lines = f"set_source_files_properties({' '.join(names)}{scope} PROPERTIES LANGUAGE HIP){lead}"
        if known.fallback.intersection(names):  # C++ without a GPU, as the file says above
            lines = f"if(CMAKE_HIP_COMPILER){lead}  {lines}endif(){lead}"
    here = asked.folder.rpartition("/")[2] + "/"
    above = (new for arg in known.handed.get(c.start, ()) for new in _cuda_sources(arg, asked))
    # who gets `here/a.cu` is in the folder above
    above = (n.removeprefix(here) for n in above if n not in known.marked)
    handed = list(dict.fromkeys(above)) if asked.folder else []
    if handed:
        lines += _ABOVE.format(names=" ".join(handed)).replace("\n", lead)
    if lines:
        message = f"{globs.several(names or handed)}: {globs.FOR_CUDA}"
        message += ", in the folders above too, where the target is made" if handed else ""
        yield finding(SOURCE, message, c.start, c.end, [insert(c.start, lines)])


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
