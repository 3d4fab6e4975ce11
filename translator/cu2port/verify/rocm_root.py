"""A folder shaped like a ROCm install, for builds on machines without one: HIP's headers, compilers under ROCm's
names, stub packages for CMake and empty libraries. A package that the real install has stays that one.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cu2port.verify import packages
from cu2port.verify.headers import Headers
from cu2port.verify.running import Runner
from cu2port.verify.toolchain import Compiler

_HIP = """#!/bin/sh
export ROCM_PATH={root}
for word in "$@"; do
  case "$word" in
    hip|*.hip|*.cu) exec {command} --rocm-path={root} -nogpulib{wave} "$@" ;;
  esac
done
exec {command} "$@"
"""
_HIPCC = """#!/bin/sh
exec {root}/bin/amdclang++ -x hip "$@"
"""
_CONFIG = """#!/bin/sh
case "$1" in
  --platform|-P) printf amd ;;
  --rocmpath|-R|--path|-p) printf %s {root} ;;
  --hipclangpath|-l) printf %s {root}/bin ;;
  --version|-v) printf %s {version} ;;
esac
"""


@dataclass(frozen=True, slots=True)
class RocmRoot:
    """`path`: the folder. `links`: whether its libraries are there, so that programs link."""

    path: Path
    links: bool

    @property
    def hip(self) -> str:
        """The compiler of HIP."""
        return str(self.path / "bin" / "amdclang++")

    @property
    def cxx(self) -> str:
        """The compiler of C++."""
        return str(self.path / "bin" / "clang++")

    @property
    def c(self) -> str:
        """The compiler of C."""
        return str(self.path / "bin" / "clang")


def lay_out(folder: Path, compiler: Compiler, headers: Headers, runner: Runner, wave: str = "") -> RocmRoot:
    """Write the folder. `wave`: the macro that these headers want, as NAME=VALUE."""
    (folder / "bin").mkdir(parents=True)
    (folder / "lib" / "cmake").mkdir(parents=True)
    for name in ("include", "share", "amdgcn"):
        if (headers.root / name).is_dir():
            (folder / name).symlink_to(headers.root / name)
    real = headers.root / "lib" / "cmake"
    for path in sorted(real.iterdir()) if real.is_dir() else ():
        (folder / "lib" / "cmake" / path.name).symlink_to(path)
    for name, text in packages.configs(headers.version):
        path = folder / "lib" / "cmake" / name
        if not (real / name.partition("/")[0]).exists():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    command = shlex.join(compiler.command)
    root = shlex.quote(str(folder))
    more = f" -D{wave}" if wave else ""
    _program(folder / "bin" / "amdclang++", _HIP.format(root=root, command=command, wave=more))
    _program(folder / "bin" / "clang++", f'#!/bin/sh\nexec {command} "$@"\n')
    _program(folder / "bin" / "clang", f'#!/bin/sh\nexec {shlex.join(_of_c(compiler.command))} "$@"\n')
    _program(folder / "bin" / "hipcc", _HIPCC.format(root=root))
    _program(folder / "bin" / "hipconfig", _CONFIG.format(root=root, version=shlex.quote(headers.version)))
    return RocmRoot(folder, _libraries(folder, compiler, headers, runner))


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _of_c(command: Sequence[str]) -> tuple[str, ...]:
    """The driver for C beside that for C++; they differ in what they link."""
    beside = command[0].replace("clang++", "clang")
    return (beside if shutil.which(beside) else command[0], *command[1:])


def _libraries(folder: Path, compiler: Compiler, headers: Headers, runner: Runner) -> bool:
    """Empty libraries, one for each that a package names; False where the compiler cannot link one."""
    source = folder / "empty.c"
    source.write_text("")
    empty = folder / "lib" / "libamdhip64.so"
    real = headers.root / "lib" / empty.name
    if not real.exists():
        words = [*compiler.command, "-x", "c", "-shared", "-nostdlib", "-o", str(empty), str(source)]
        if runner.run(words).code != 0 or not empty.is_file():
            return False
    for package in packages.PACKAGES:
        path = folder / "lib" / f"lib{package.library}.so"
        if package.library and not path.exists():
            there = headers.root / "lib" / path.name
            path.symlink_to(there if there.exists() else empty)
    return True
