"""Extensions of torch: compiled with torch's own headers for the CPU, and with ours where those lack CUDA's part.

torch is the one of the Python that runs the build, made for the CPU. Its headers declare `at::cuda` and `c10::cuda`,
whose library is not there, so include/sim/torch has headers of these names. Its sitecustomize.py is Python's part.
"""

from __future__ import annotations

import re
from pathlib import Path

from cu2port.verify.sim_compiler import HEADERS
from cu2port.verify.standin.words import CommandLine, Source

_TORCH = HEADERS / "torch"
PYTHON = _TORCH / "python"
_CUDA = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:ATen|c10|torch/csrc)/cuda/", re.M)


def is_torch(folder: str) -> bool:
    """Whether a folder of includes is torch's: the first of two, or that of its C++ interface below it."""
    path = Path(folder)
    return (path / "torch" / "extension.h").is_file() or path.parts[-4:] == ("torch", "csrc", "api", "include")


def prepare(line: CommandLine) -> bool:
    """Give the folders of torch among those of a command line the place of a system's, behind ours, so that its headers
    are read as they are. Returns whether there are any."""
    folders = [d for d in line.include_dirs if is_torch(d)]
    folders += [d for d in line.flags if not d.startswith("-") and is_torch(d)]
    if not folders:
        return False
    line.include_dirs = [d for d in line.include_dirs if d not in folders]
    line.flags += [f"-I{_TORCH}", *(x for d in folders for x in ("-isystem", d))]
    return True


def names_cuda(source: Source) -> bool:
    """Whether a source includes headers of torch that are about CUDA."""
    try:
        text = source.path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return _CUDA.search(text) is not None
