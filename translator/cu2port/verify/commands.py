"""Units from compile commands of a build that was just configured: all flags are kept but those that say what to
write, which language and which GPU, for `verify` says these itself.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from cu2port.verify.units import CXX, HIP, C, Tree, Unit

NAMES = ((HIP, "units in HIP"), (CXX, "in C++"), (C, "in C"))
_WITH_VALUE = frozenset({"-o", "-MF", "-MT", "-MQ", "-x", "--offload-arch", "-arch"})
_ALONE = frozenset(
    {"-c", "-MD", "-MMD", "-MP", "-MG", "-S", "-E", "-save-temps", "--save-temps", "--hip-link", "-M", "-MM", "--genco"}
)
_JOINED = ("--offload-arch=", "-save-temps=", "--save-temps=", "--cuda-gpu-arch=", "-parallel-jobs=", "--rocm-path=")
_HIP_COMPILERS = frozenset({"hipcc", "amdclang++"})
_C_COMPILERS = frozenset({"clang", "gcc", "cc", "amdclang", "mpicc"})
_HOST_COMPILERS = frozenset({"g++", "c++", "gcc", "cc", "mpicxx", "mpic++", "mpiCC", "mpicc"})
_C_SUFFIXES = (".c",)
_LINKED = re.compile(r"[^-].*\.(?:o|obj|lo|a|so(?:\.\d+)*)\Z")  # one command may compile and link


def read(file: Path, tree: Tree, build: Path) -> tuple[list[Unit], list[str]]:
    """The units of compile_commands.json that CMake wrote to `build`, each once, and notes."""
    found: dict[Unit, None] = {}
    fetched = 0
    for row in json.loads(file.read_bytes()):
        path = os.path.realpath(os.path.join(row["directory"], row["file"]))  # noqa: PTH118
        built = path.startswith(f"{build}{os.sep}") and not path.startswith(f"{build}{os.sep}_deps{os.sep}")
        if not built and not tree.holds(path):
            fetched += 1
        else:
            found[unit(shlex.split(row["command"]), path, row["file"], row["directory"])] = None
    notes = [f"{fetched} files outside of the tree, of what the build fetches, were left out"] if fetched else []
    return list(found), notes


def unit(words: Sequence[str], path: str, written: str, folder: str, own_host: bool = False) -> Unit:
    """A compile command as a unit. `written`: the source as the command has it. `own_host`: code for the host alone is
    compiled by the compiler that the command names, where this machine has it and it is not clang. hipcc and nvcc take
    a `.c` for C."""
    program = os.path.basename(words[0]) if words else ""  # noqa: PTH119
    device = program in _HIP_COMPILERS
    language = C if (device or program in _C_COMPILERS) and path.endswith(_C_SUFFIXES) else HIP if device else CXX
    flags: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word in _WITH_VALUE:
            value = next(rest, "")
            if word == "-x" and value == "hip":
                language = HIP
        elif word not in _ALONE and not word.startswith(_JOINED) and word != written and not _LINKED.match(word):
            flags.append(word)
    own = shutil.which(words[0]) if own_host and language != HIP and program in _HOST_COMPILERS else None
    return Unit(path, language, tuple(flags), folder, own or "")
