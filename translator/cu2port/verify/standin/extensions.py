"""Extensions of torch: compiled with torch's own headers for the CPU, and with ours where those lack CUDA's part.

torch is the one of the Python that runs the build, made for the CPU. Its headers declare `at::cuda` and `c10::cuda`,
whose library is not there, so include/sim/torch has headers of these names. cu2port_torch/host.h there has macros for
the extension's code, and torch's headers must not see them. So each of these has one of its name in front of it, which
takes the macros away and brings them back. Python's part is in include/sim/torch/python.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from cu2port.core.data import cache_dir, made_once
from cu2port.core.version import __version__
from cu2port.verify.sim_compiler import HEADERS
from cu2port.verify.standin.toolkit import CUDA_NUMBER
from cu2port.verify.standin.words import CommandLine

_TORCH = HEADERS / "torch"
PYTHON = _TORCH / "python"
#: The variable that tells Python's part of the GPU: CUDA's release, the compute capability and the name.
GPU = "CU2PORT_SIM_GPU"
_PARTS = ("ATen", "c10", "torch")
_HEADER = frozenset({".h", ".cuh", ".hpp"})
_IN_FRONT = """#ifdef CU2PORT_IN_TORCH
#include_next <{name}>
#else
#define CU2PORT_IN_TORCH
#undef is_cuda
#undef kCUDA
#undef CUDA
#include_next <{name}>
#undef CU2PORT_IN_TORCH
#include <cu2port_torch/host.h>
#endif
"""


def is_torch(folder: str) -> bool:
    """Whether a folder of includes is torch's: the first of two, or that of its C++ interface below it."""
    path = Path(folder)
    return (path / "torch" / "extension.h").is_file() or path.parts[-4:] == ("torch", "csrc", "api", "include")


def prepare(line: CommandLine) -> bool:
    """Give the folders of torch among those of a command line the place of a system's, behind ours, so that its headers
    are read as they are. Returns whether there are any.

    Some packages compare the version that an extension was compiled with to `torch.version.cuda`. `CUDA_VERSION` as a
    value becomes `HIP_VERSION` in the converted copy, so that one is CUDA's release here.
    """
    folders = [d for d in line.include_dirs if is_torch(d)]
    folders += [d for d in line.flags if not d.startswith("-") and is_torch(d)]
    if not folders:
        return False
    line.include_dirs = [d for d in line.include_dirs if d not in folders]
    line.flags = [
        f for f in line.flags if f != "-g"
    ]  # Python's own flags have it, and torch's headers take twice as long
    line.flags += [
        f"-DHIP_VERSION={CUDA_NUMBER}",
        f"-I{_TORCH}",
        f"-I{in_front(folders)}",
        *(x for d in folders for x in ("-isystem", d)),
    ]
    return True


def in_front(folders: Sequence[str]) -> Path:
    """The folder with a header in front of each of torch's, made once for a torch."""
    marks = [(str(Path(d).resolve()), Path(d).stat().st_mtime_ns if Path(d).is_dir() else 0) for d in folders]
    key = hashlib.sha256(repr((__version__, _IN_FRONT, marks)).encode()).hexdigest()[:16]
    return made_once(cache_dir() / "sim" / f"torch-{key}", lambda made: _write(folders, made))


def _write(folders: Sequence[str], made: Path) -> None:
    made.mkdir()
    for folder in map(Path, folders):
        for path in (p for part in _PARTS for p in (folder / part).rglob("*")):
            name = path.relative_to(folder)
            if path.suffix in _HEADER and "include" not in name.parts and not (_TORCH / name).is_file():
                (made / name).parent.mkdir(parents=True, exist_ok=True)
                (made / name).write_text(_IN_FRONT.format(name=name.as_posix()))
