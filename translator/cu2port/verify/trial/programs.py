"""What a trial of a folder tries: its programs, where their includes are, which files tell of a kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

from cu2port.facts.unit import Unit
from cu2port.project.graph import Graph, Scan, scan_includes
from cu2port.project.tree import CannotRun
from cu2port.verify import sim_build
from cu2port.verify.reach import read
from cu2port.verify.sim_build import Program, Text, absolute_path

_HEADERS = frozenset({".cuh", ".h", ".hpp", ".hxx", ".inl", ".hu"})
SOURCES = sim_build.UNITS | _HEADERS
_MOST_FILES = 24  # that tell of a kernel's launches
_MOST_DEFINERS = 4
_PROTOTYPE = re.compile(r"__device__[^;{}()]{0,200}\b(\w+)[ \t]{0,8}\([^;{}]{0,2000}\)\s{0,80};")


def find_programs(path: Path, like: Program) -> Iterator[Program]:
    """What to try: one file, or each unit below a folder that defines or includes kernels, and headers with kernels
    that no unit includes. `like`: folders of includes, macros and flags; folders that the includes of a tree tell of
    are added."""
    if path.is_file():
        yield replace(like, units=(path,))
        return
    if not path.is_dir():
        raise CannotRun(f"{path}: no such file or folder")
    files = sorted(p for p in path.rglob("*") if p.suffix in SOURCES and p.is_file())
    graph = _graph(files, like)
    included = {to for p in files for to in graph.targets(str(absolute_path(p)))}
    reached: set[Path] = set()
    # units first, but those last that others include: they may need what is there
    for p in sorted(files, key=lambda p: (p.suffix in _HEADERS, str(absolute_path(p)) in included)):
        real = absolute_path(p)
        if p.suffix in _HEADERS and (real in reached or "__global__" not in p.read_text("latin-1")):
            continue
        told = (Path(d) for d in graph.folders(str(real)))
        program = replace(like, units=(p,), include_dirs=(*like.include_dirs, *told))
        texts = sim_build.plain_sources(program)
        new = [q for q, text in texts.items() if "__global__" in text.hip and q not in reached]
        reached |= texts.keys()
        if new:
            yield program


def with_definitions(program: Program, texts: Mapping[Path, Text], root: Path | None) -> Program:
    """A program with the files below a folder that define functions of the GPU which it only declares: a build with
    `-rdc=true` links them."""
    declared = {m[1] for t in texts.values() for m in _PROTOTYPE.finditer(t.hip)} if root else set()
    if not declared:
        return program
    declared -= {f.name for path, t in texts.items() for f in _read(t.hip, str(path)).functions}
    found = []
    for path, text in _texts(root) if root and declared else ():
        if absolute_path(path) not in texts and "__device__" in text and any(name in text for name in declared):
            functions = {f.name for f in _read(text, str(path)).functions if "__device__" in f.sides}
            if not declared.isdisjoint(functions):
                declared -= functions
                found.append(path)
    return replace(program, units=(*program.units, *found[:_MOST_DEFINERS]))


def _graph(files: Sequence[Path], like: Program) -> Graph:
    scans = {str(absolute_path(p)): Scan(includes=scan_includes(p.read_bytes())) for p in files}
    return Graph(list(scans), scans, [str(absolute_path(d)) for d in like.include_dirs])


def naming(root: Path | None, name: str) -> list[Unit]:
    """The files below a folder that call or launch something of that name."""
    use = re.compile(rf"\b{re.escape(name)}\s*[<(]")
    found = (_read(text, str(path)) for path, text in _texts(root) if name in text and use.search(text)) if root else ()
    return list(islice(found, _MOST_FILES))


@lru_cache(maxsize=1)
def _texts(root: Path) -> list[tuple[Path, str]]:
    files = sorted(p for p in root.rglob("*") if p.suffix in SOURCES and p.is_file())
    return [(p, p.read_text("latin-1")) for p in files]


@lru_cache(maxsize=64)
def _read(text: str, path: str) -> Unit:
    return read(text, path)
