"""`verify` of a tree that a command builds: the command is run in a copy, with compilers that write down their words.

This is for builds that make and CMake do not show: scripts, scons, autotools, Makefiles that need a shell's variables.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from cu2port.facts.environment import TOOLKITS
from cu2port.project.tree import STATE, CannotRun
from cu2port.verify import commands, record_compiler
from cu2port.verify.configure import ALONE, Built
from cu2port.verify.dry_run import COMPILERS, SOURCE, with_root
from cu2port.verify.rocm_root import RocmRoot
from cu2port.verify.running import Runner
from cu2port.verify.units import Tree, Unit

_HIP = ("hipcc", "amdclang++")
_NVCC = "nvcc"
_SHOWN = 60  # characters of a command
_HOSTS = ("g++", "gcc", "c++", "cc", "clang++", "clang", "mpicxx", "mpic++", "mpiCC", "mpicc")
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".inl")
_PROGRAM = """#!/bin/sh
exec {python} -I -S {recorder} {log} {copy} {name} {real} "$@"
"""


def units_of(tree: Tree, folder: Path, root: RocmRoot, runner: Runner, command: Sequence[str]) -> Built:
    """The units that a command compiles, run where the tree is asked for. Raises CannotRun in one line."""
    copy, log = folder / "copy", folder / "commands.jsonl"
    try:
        shutil.copytree(tree.root, copy, symlinks=True, ignore=shutil.ignore_patterns(STATE, ".git"))
    except shutil.Error as e:  # of each file: where it is, where it goes, what is wrong
        raise CannotRun(f"{tree.given}: the tree cannot be copied: {e.args[0][0][2]}"[:300]) from e
    _lay_out(root, log, copy)
    # make takes these for words of its command line, which win over what a Makefile says
    names = sorted({"ROCM_PATH", "HIP_PATH", *TOOLKITS})
    sets = [f"HIPCC={root.path}/bin/hipcc", *(f"{name}={root.path}" for name in names)]
    here = copy / tree.asked.relative_to(tree.root)
    ended = runner.run(["env", *sets, f"MAKEFLAGS= -- {' '.join(sets)}", *command], str(here), said_too=True)
    written = " ".join(" ".join(command).split())
    written = written if len(written) <= _SHOWN else f"{written[:_SHOWN]}..."
    if ended.code is None:
        raise CannotRun(f"{tree.given}: `{written}` did not end in time (--time-limit)")
    found = list(dict.fromkeys(_units(log, tree, copy, root)))
    if not found:
        last = next((t.strip() for t in reversed(ended.text.splitlines()) if t.strip()), f"it ends with {ended.code}")
        raise CannotRun(f"{tree.given}: `{written}` compiles no source of the tree: {last[:300]}; {ALONE}")
    languages = ", ".join(f"{sum(u.language == of for u in found)} {name}" for of, name in commands.NAMES)
    notes = [f"built by `{written}` with compilers that write down their words: {languages}"]
    left = _of_nvcc(log)
    if left:
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        notes.append(f"the build still calls nvcc for {left[0]}{more}; no unit was made of that")
    if ended.code:
        notes.append(f"the command ends with {ended.code}; what it compiled until then was compiled")
    return Built(found, notes)


def _lay_out(root: RocmRoot, log: Path, copy: Path) -> None:
    """Put programs that record first on the build's PATH, in place of those of ROCm's folder."""
    real = root.path / "real"
    real.mkdir()
    path = os.pathsep.join(p for p in os.environ.get("PATH", os.defpath).split(os.pathsep) if p)
    for name in (*_HIP, *_HOSTS, _NVCC):
        ours = root.path / "bin" / name
        if ours.exists():
            below = str(real / name)
            text = ours.read_text().replace(f"{root.path}/bin/", f"{real}/")  # no program there calls one of ours
            Path(below).write_text(text)
            Path(below).chmod(0o755)
        else:
            below = shutil.which(name, path=path) or ("" if name != _NVCC else str(root.path / "bin" / "clang"))
        if below:
            words = {"python": sys.executable, "recorder": record_compiler.__file__, "log": log, "copy": copy}
            text = _PROGRAM.format(
                name=name, real=shlex.quote(below), **{k: shlex.quote(str(v)) for k, v in words.items()}
            )
            ours.write_text(text)
            ours.chmod(0o755)


def _rows(log: Path) -> Iterator[tuple[str, list[str]]]:
    """The folder and words of each command."""
    for line in log.read_text("utf-8", "surrogateescape").splitlines() if log.is_file() else []:
        row = json.loads(line)
        yield row["folder"], row["words"]


def _of_nvcc(log: Path) -> list[str]:
    """Sources that are compiled by nvcc still."""
    return [w for _, words in _rows(log) if words[0] == _NVCC for w in words[1:] if SOURCE.search(w)]


def _units(log: Path, tree: Tree, copy: Path, root: RocmRoot) -> Iterator[Unit]:
    made = _made(copy, tree.root)
    for where, written_words in _rows(log):
        words = [with_root(w, root) for w in written_words]
        if not COMPILERS.fullmatch(words[0]):
            continue
        sources = [w for w in words[1:] if SOURCE.search(w) and not w.startswith("-")]
        for written in sources:
            path = os.path.realpath(os.path.join(where, written))  # noqa: PTH118
            if Path(path).is_relative_to(copy.resolve()) and os.path.isfile(path):  # noqa: PTH113
                kept = [w for w in words if w == written or w not in sources]
                unit = commands.unit(kept, _own(path, tree, copy), written, where, own_host=True)
                flags = tuple(_own_word(w, tree, copy) for w in unit.flags)
                more = _made_folders(unit, where, path, copy, made)
                yield Unit(unit.path, unit.language, (*flags, *more), _own(where, tree, copy), unit.compiler)


def _own(path: str, tree: Tree, copy: Path) -> str:
    """A path of the copy as the tree's, where the tree has it."""
    for base in (str(copy), str(copy.resolve())):
        if path == base or path.startswith(base + os.sep):
            own = str(tree.root) + path[len(base) :]
            return own if os.path.lexists(own) else path
    return path


def _own_word(word: str, tree: Tree, copy: Path) -> str:
    at = word.find(str(copy))
    return word if at < 0 else word[:at] + _own(word[at:], tree, copy)


def _made(copy: Path, root: Path) -> frozenset[str]:
    """Folders of the copy, and those above, in which the build has made headers."""
    found: set[str] = set()
    for folder, _, files in os.walk(copy):
        below = os.path.relpath(folder, copy)
        headers = [f for f in files if f.lower().endswith(_HEADERS)]
        if any(not os.path.lexists(root / below / f) for f in headers):
            found.update(str(p) for p in (Path(below), *Path(below).parents))
    return frozenset(found)


def _made_folders(unit: Unit, where: str, path: str, copy: Path, made: frozenset[str]) -> Iterator[str]:
    """Folders of the copy to look for made headers in, behind the tree's own."""
    folders = [os.path.dirname(path)]  # noqa: PTH120
    folders += [os.path.join(where, f[2:]) for f in unit.flags if f.startswith("-I") and len(f) > 2]  # noqa: PTH118
    for folder in dict.fromkeys(os.path.normpath(f) for f in folders):
        if os.path.relpath(folder, copy) in made:
            yield f"-I{folder}"
