"""`verify` of a tree that CMake builds: configure it outside of the tree, and read its compile commands.

This runs the tree's own CMake code, which can run any program.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cu2port.project.tree import CannotRun
from cu2port.verify import commands
from cu2port.verify.rocm_root import RocmRoot
from cu2port.verify.running import Runner
from cu2port.verify.units import Tree, Unit

_ERROR = re.compile(
    r"^CMake Error(?: \(dev\))?(?: at (?P<file>.+?):(?P<line>\d+) \(.*\)| in (?P<within>\S+))?:"
    r"(?P<text>[^\n]*(?:\n(?:  .*)?)*)",
    re.M,
)
_NOT_FOUND = re.compile(r"^(?:/\S*/)?(\w+)(?: \(ADVANCED\))?\n\s+(used as include|linked)?", re.M)
_PACKAGE = re.compile(
    r'package configuration file provided by\s+"(\w[\w+.-]*)"|Could NOT find (\w[\w+.-]*)'
    r'|By not providing "Find(\w+)\.cmake"'
)
ALONE = "or give --no-build, which compiles each file by itself"


class Built(NamedTuple):
    """What a build says: its units, and notes on how that was found."""

    units: list[Unit]
    notes: list[str]


def configure(
    tree: Tree, folder: Path, root: RocmRoot, runner: Runner, archs: Sequence[str], extra: Sequence[str] = ()
) -> Built:
    """Configure a CMake project into `folder` and read its units. `extra`: arguments for cmake.

    Raises CannotRun in one line: cmake is missing, or the first error of the configuration with its file and line.
    """
    cmake = shutil.which("cmake")
    if cmake is None:
        raise CannotRun(
            f"{tree.given}: it is built by CMake, and cmake is not on PATH; pip install cmake ninja, {ALONE}"
        )
    ninja = shutil.which("ninja")
    if ninja is None and shutil.which("make") is None:
        raise CannotRun(f"{tree.given}: CMake needs ninja or make on PATH; pip install ninja, {ALONE}")
    build = folder / "build"
    words = [cmake, "-S", str(tree.asked), "-B", str(build), "-G", "Ninja" if ninja else "Unix Makefiles"]
    words += [f"-D{name}={value}" for name, value in _cache(root, archs)]
    ended = runner.run([*words, *extra], str(folder), said_too=True)
    if ended.code is None:
        raise CannotRun(f"{tree.given}: CMake did not end in time (--time-limit)")
    if ended.code != 0:
        raise CannotRun(
            f"{tree.given}: CMake does not configure it: {first_error(ended.text, str(tree.asked))}; {ALONE}"
        )
    file = build / "compile_commands.json"
    if not file.is_file():
        raise CannotRun(f"{tree.given}: CMake has configured it, but there is nothing to compile in it")
    units, notes = commands.read(file, tree, build)
    languages = ", ".join(f"{sum(u.language == of for u in units)} {name}" for of, name in commands.NAMES)
    notes.insert(0, f"built by CMake ({Path(cmake).name} on PATH) with stub packages for ROCm: {languages}")
    return Built(units, notes)


def _cache(root: RocmRoot, archs: Sequence[str]) -> list[tuple[str, str]]:
    """Cache entries. The compilers of C and C++ are the same clang, so that all flags are for one compiler."""
    entries = [
        ("CMAKE_C_COMPILER", root.c),
        ("CMAKE_CXX_COMPILER", root.cxx),
        ("CMAKE_HIP_COMPILER", root.hip),
        ("CMAKE_HIP_COMPILER_ROCM_ROOT", str(root.path)),
        ("CMAKE_HIP_PLATFORM", "amd"),
        ("CMAKE_HIP_ARCHITECTURES", archs[0]),
        ("CMAKE_PREFIX_PATH", str(root.path)),
        ("CMAKE_CUDA_COMPILER", "NOTFOUND"),  # one on this machine is not for the port
        ("CMAKE_EXPORT_COMPILE_COMMANDS", "ON"),
        ("CMAKE_SUPPRESS_DEVELOPER_WARNINGS", "ON"),
        ("ROCM_PATH", str(root.path)),
    ]
    return entries if root.links else [*entries, ("CMAKE_TRY_COMPILE_TARGET_TYPE", "STATIC_LIBRARY")]


def first_error(text: str, folder: str) -> str:
    """The first error in what CMake says, in one line with its place; a package that is missing by its name."""
    found = _ERROR.search(text)
    if found is None:
        return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it says nothing")
    file = found["file"] or ""
    place = f"{file.removeprefix(folder).lstrip('/')}:{found['line']}: " if file else ""
    place = f"{found['within']}: " if found["within"] else place
    if place and file.startswith("/") and not file.startswith(folder):
        place = _called_from(text[found.end() :], folder) or place
    said = " ".join(found["text"].split("Call Stack")[0].split())
    lost = _NOT_FOUND.search(text, found.end()) if "set to NOTFOUND" in said else None
    if lost:
        if (lost[2] or "").startswith("used"):
            return f"{lost[1]} is a folder of headers, and none was found for it; see its find_path"
        return f"{lost[1]} is linked, and no library was found for it; see its find_library"
    package = _PACKAGE.search(said)
    if package:
        name = next(g for g in package.groups() if g)
        return (
            f"{place}the package {name} is not on this machine, and there is no stub for it; install it, or name it "
            f"with --build-arg=-D{name}_DIR=..."
        )
    return place + (said[:300] or "no reason is given")


def _called_from(text: str, folder: str) -> str:
    """The place in the project that led to an error in a module of CMake's own."""
    for m in re.finditer(r"^  (?P<file>\S+?):(?P<line>\d+) \(", text.partition("\n\n\n")[0], re.M):
        if not m["file"].startswith("/") or m["file"].startswith(folder):
            return f"{m['file'].removeprefix(folder).lstrip('/')}:{m['line']}: "
    return ""
