"""What a tree's own build compiles: CMake configured, or make asked for its commands, setup.py run."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from cu2port.project.tree import CannotRun
from cu2port.verify import configure, dry_run, extensions, recorded, rocm_root
from cu2port.verify.headers import WAVE_MACRO, Headers
from cu2port.verify.running import Runner
from cu2port.verify.toolchain import Compiler
from cu2port.verify.units import Tree, Unit

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the order in which GNU make looks for them


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks of a build: GPUs, arguments of cmake, make or setup.py, and -I and -D for all units.
    `by`: what builds the tree, "" for what `kind` finds."""

    archs: tuple[str, ...]
    by: str = ""
    torch: str = ""  # a wheel of torch, or the folder it is unpacked in
    build_args: tuple[str, ...] = ()
    command: tuple[str, ...] = ()  # a command that builds the tree; then it is run
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()


def kind(tree: Tree) -> str:
    """What builds a tree: "setup.py" (extensions of torch), "cmake", "make", or "" where it is one file or has no such
    build file. A tree with torch's extensions may have a CMakeLists.txt too, for those who link to it. A setup.py below
    the top counts where nothing is at the top."""
    if not tree.asked.is_dir() or os.name != "posix":
        return ""
    if extensions.at_top(tree.asked):
        return "setup.py"
    if (tree.asked / "CMakeLists.txt").is_file():
        return "cmake"
    if any((tree.asked / name).is_file() for name in _MAKEFILES):
        return "make"
    return "setup.py" if extensions.scripts(tree.asked) else ""


def environment(folder: str) -> dict[str, str]:
    """The environment of a build: ROCm is our folder."""
    root = f"{folder}/rocm"
    path = f"{root}/bin{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {"PATH": path, "ROCM_PATH": root, "HIP_PATH": root, "HIP_PLATFORM": "amd"}


def units(
    tree: Tree, folder: Path, compiler: Compiler, headers: Headers, runner: Runner, asked: Asked
) -> tuple[list[Unit], list[str]]:
    """The units of a tree's build, and notes. Raises CannotRun with what to do."""
    wave = f"{WAVE_MACRO}=64" if not compiler.defines_wave and headers.want_wave_macro else ""
    root = rocm_root.lay_out(folder / "rocm", compiler, headers, runner, wave)
    by = asked.by or kind(tree)
    if asked.command:
        built = recorded.units_of(tree, folder, root, runner, asked.command)
    elif by == "setup.py":
        built = extensions.units_of(tree, folder, root, runner, asked.torch, asked.build_args)
    elif by == "cmake":
        built = configure.configure(tree, folder, root, runner, asked.archs, asked.build_args)
    else:
        built = dry_run.commands_of(tree, folder, root, runner, asked.build_args)
    if not built.units:
        raise CannotRun(
            f"{tree.given}: its build compiles nothing in the tree; --no-build compiles each file by itself"
        )
    more = tuple(f"-I{os.path.abspath(d)}" for d in asked.include_dirs)  # noqa: PTH100
    more += tuple(f"-D{d}" for d in asked.defines)
    return [replace(u, flags=(*u.flags, *more)) for u in built.units], built.notes
