"""Sources of C++ in Makefiles: those that nvcc compiles as CUDA, and those that the host's compiler cannot compile in
ROCm."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath

from cu2port.build import globs
from cu2port.build.make_lines import Line, logical_lines
from cu2port.build.make_variables import REFERENCE
from cu2port.build.pages import HOST_SOURCE
from cu2port.build.words import Asked, finding
from cu2port.core.files import CXX_SUFFIXES
from cu2port.core.model import Finding

_AS_CUDA = re.compile(r"(?<!\S)--?x[= ]?\s*cu(?!\S)")
_HOST_SUFFIX = "|".join(re.escape(s) for s in sorted(CXX_SUFFIXES))
_HOST_SOURCE = re.compile(rf"[\w./%+-]*[\w%](?:{_HOST_SUFFIX})(?![\w.])")
_SUFFIX_RULE = re.compile(rf"^({_HOST_SUFFIX})\.\w+[ \t]*:")
_COMPILES = re.compile(
    r"^[@-]*(?:\$[({](?:CXX|CC|MPICXX|MPICC|CPP)[)}]|(?:\S*/)?(?:g\+\+|c\+\+|clang\+\+|mpicxx|mpic\+\+))(?=\s)"
)


def host_sources(lines: Sequence[Line], by_nvcc: Collection[int], asked: Asked) -> Iterator[Finding]:
    """A finding for the first command that has the host's compiler compile sources of C++, where some of these are
    such as only the compiler of HIP takes. `by_nvcc`: where the lines begin whose commands are nvcc's.

    Where nvcc compiles sources with such names, too, nothing tells which compiler a source is for."""
    here = f"{asked.folder}/" if asked.folder else ""
    ours = sorted(f.removeprefix(here) for f in asked.device_hosts if f.startswith(here)) if lines else []
    if not ours:
        return
    rule = ""
    place: tuple[int, int] | None = None
    for line in lines:
        if line.rule:
            rule = line.text
        command = line.text.rpartition(";")[2] if line.rule else line.text
        sources = [m[0] for m in _HOST_SOURCE.finditer(command)]
        if line.name or not (sources or _HOST_SOURCE.search(rule) or _SUFFIX_RULE.match(rule)):
            continue
        if line.start in by_nvcc:
            return
        m = _COMPILES.search(command.lstrip()) if "-c" in command.split() else None
        if m is not None and place is None:
            start = line.start + line.text.index(m[0].lstrip("@-"))
            place = start, start + len(m[0].lstrip("@-"))
    named = [f for f in ours if _is_named(PurePosixPath(f), lines)]
    if place is not None and named:
        shown = globs.several(named)
        message = f"{shown}: Thrust or CUB is included, which the compiler of HIP takes alone; have hipcc compile that"
        yield finding(HOST_SOURCE, message, *place)


def _is_named(file: PurePosixPath, lines: Sequence[Line]) -> bool:
    """Whether a Makefile names a source or its object, or looks sources up by a pattern."""
    ends = re.compile(rf"(?<![\w-]){re.escape(file.stem)}(?:{_HOST_SUFFIX}|\.o)\b|\*(?:{_HOST_SUFFIX})\b")
    return any(ends.search(line.text) for line in lines)


def as_cuda(text: str) -> frozenset[str]:
    """Patterns of sources with names for the host's compiler that a Makefile has nvcc compile as CUDA: in commands with
    `-x cu`, by themselves or in a variable, and in the rules of these commands."""
    if _AS_CUDA.search(text) is None:
        return frozenset()
    lines = list(logical_lines(text))
    flags = {line.name for line in lines if line.name and _AS_CUDA.search(line.text)}
    found: set[str] = set()
    rule = ""
    for line in lines:
        if line.rule:
            rule = line.text.partition(";")[0]
        used = not line.name and (
            _AS_CUDA.search(line.text) or any(m[1] in flags for m in REFERENCE.finditer(line.text))
        )
        for text in (rule, line.text) if used else ():
            found |= {name[0].replace("%", "*") for name in _HOST_SOURCE.finditer(text)}
            found |= {f"*{m[1]}" for m in _SUFFIX_RULE.finditer(text)}
    return frozenset(found)
