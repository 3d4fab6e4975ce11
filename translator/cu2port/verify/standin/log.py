"""What a session is told: lines of a file, `WORD<tab>PID<tab>TEXT`, by the stand-ins and by the runtime (log.inc)."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

#: The variable that names the file.
LOG = "CU2PORT_SIM_LOG"
_PROBES = ("CMakeTmp", "CMakeScratch", "CompilerId", "TryCompile-", "CMakeDetermineCompilerABI")


def is_probe(path: str) -> bool:
    """Whether CMake asks something of a compiler there: that is no program of the user's."""
    return any(p in path for p in _PROBES)


def note(log: str, word: str, text: str) -> None:
    """Append a line; nothing where there is no session, or it has ended."""
    if not log or not Path(log).parent.is_dir():
        return
    data = f"{word}\t{os.getpid()}\t{' '.join(text.split())}\n".encode("utf-8", "surrogateescape")
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        os.write(file, data)
    finally:
        os.close(file)


@dataclass(frozen=True, slots=True)
class Run:
    """A program that ran: its exit code (None: it ended without one, as by a signal), the waves it launched, and what
    `--check` said of it."""

    program: str
    code: int | None
    waves: tuple[int, ...]
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """All that a session was told. `lacks`: names that are not simulated, with the number of programs. `unwatched`:
    programs and libraries that ran with `--check` and have units that were built without. `torch`: extensions of torch
    that programs loaded."""

    programs: tuple[str, ...]
    libraries: tuple[str, ...]
    objects: int
    failed: tuple[str, ...]
    runs: tuple[Run, ...]
    lacks: tuple[tuple[str, int], ...]
    unwatched: tuple[str, ...] = ()
    torch: tuple[str, ...] = ()


@dataclass(slots=True)
class _Running:
    program: str
    code: int | None = None
    waves: list[int] = field(default_factory=list)
    found: list[str] = field(default_factory=list)


def read(path: Path) -> Told:
    """Read a log; a process number that comes again is another run."""
    built: dict[str, dict[str, None]] = {"program": {}, "library": {}, "torch": {}}
    objects = 0
    failed: list[str] = []
    runs: list[_Running] = []
    running: dict[str, _Running] = {}
    lacks: Counter[str] = Counter()
    unwatched: dict[str, None] = {}
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    for line in lines:
        word, _, rest = line.partition("\t")
        pid, _, text = rest.partition("\t")
        if word in built:
            built[word][text] = None
        elif word == "object":
            objects += 1
        elif word == "failed":
            failed.append(text)
        elif word == "lacks":
            lacks[text] += 1
        elif word == "run":
            running[pid] = _Running(text)
            runs.append(running[pid])
        elif word == "wave" and pid in running:
            running[pid].waves.append(int(text))
        elif word == "check" and pid in running:
            running[pid].found.append(text)
        elif word == "unwatched" and pid in running:
            unwatched[text or running[pid].program] = None
        elif word == "end" and pid in running:
            running[pid].code = int(text)
    ended = tuple(Run(r.program, r.code, tuple(r.waves), tuple(r.found)) for r in runs if not is_probe(r.program))
    names = tuple(sorted(lacks.items()))
    programs, libraries, torch = (tuple(names) for names in built.values())
    return Told(programs, libraries, objects, tuple(failed), ended, names, tuple(unwatched), torch)
