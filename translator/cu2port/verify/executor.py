"""Programs as machine code of AMD GPUs on the CPU, by an executor that the user has laid out: no part of cu2port.

Its folder has `amdemu/build.sh ARCH IN OUT [flag or more sources]...`, which compiles HIP sources to a shared library,
and `amdemu/run.py OUT [argument]...`, which `venv/bin/python` runs: the program with its launches. It prints what the
program prints, and ends with its exit code.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from cu2port.project.tree import CannotRun
from cu2port.verify.sim_build import C_UNITS, Program, absolute_path, mirrored, sources
from cu2port.verify.sim_compiler import INCLUDE_DIR, CannotBuild

WHERE = "CU2PORT_EXECUTOR"
#: The targets, and how many lanes a wave has there.
WAVES: Mapping[str, int] = MappingProxyType({"gfx942": 64, "gfx1100": 32})
_BUILD, _RUN, _PYTHON = "amdemu/build.sh", "amdemu/run.py", "venv/bin/python"


@dataclass(frozen=True, slots=True)
class Executor:
    """An executor, by its folder."""

    folder: Path

    def build(self, target: str, sources: Sequence[Path], out: Path, flags: Sequence[str]) -> None:
        """Compile a program. Raises CannotBuild with what the compiler said."""
        first, *more = map(str, sources)
        command = [str(self.folder / _BUILD), target, first, str(out), *flags, *more]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        except OSError as e:
            raise CannotRun(f"{command[0]}: {e.strerror}") from e
        if done.returncode:
            raise CannotBuild((done.stderr or done.stdout).rstrip() or f"{command[0]} failed")

    @property
    def python(self) -> Path:
        return self.folder / _PYTHON

    @property
    def script(self) -> Path:
        return self.folder / _RUN


def find_executor(folder: str) -> Executor:
    """The executor in a folder. Raises CannotRun where there is none."""
    if not folder:
        raise CannotRun(f"no executor of GPU code: name its folder with --executor-dir or {WHERE}")
    root = absolute_path(Path(folder))
    for part in (_BUILD, _RUN, _PYTHON):
        if not (root / part).is_file():
            raise CannotRun(f"{folder}: no executor of GPU code: it has no {part}")
    return Executor(root)


def build(program: Program, folder: Path, target: str, executor: Executor, standard: str = "") -> Path:
    """Convert a program and compile it for a GPU. Raises CannotBuild, CannotRun."""
    if c := [u for u in program.units if u.suffix in C_UNITS]:
        raise CannotRun(f"{c[0]}: sources in C are not compiled for an executor")
    texts = folder / "src"
    for real, text in sources(program).items():
        copy = mirrored(texts, real)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(text.hip.encode("latin-1"))
    flags = [f"-I{x}" for d in program.include_dirs for x in (mirrored(texts, d), d.absolute())]
    flags += [f"-idirafter{INCLUDE_DIR}", *(f"-D{d}" for d in program.defines), *program.flags]
    flags += [f"-idirafter{d}" for d in dict.fromkeys(absolute_path(u).parent for u in program.units)]
    out = folder / f"{target}.so"
    units = [mirrored(texts, absolute_path(u)) for u in program.units]
    executor.build(target, units, out, [*flags, *([f"-std={standard}"] if standard else [])])
    return out
