"""Tools of CUDA's toolkit beside its compiler, which a Makefile or a shell's script calls."""

from __future__ import annotations

import re

from cu2port.build.options import Word
from cu2port.build.pages import COMPILER
from cu2port.build.words import by_hand
from cu2port.core.model import Finding

_INSTEAD = {
    "compute-sanitizer": "rocgdb, or a build with -fsanitize=address",
    "cuda-gdb": "rocgdb",
    "cuda-memcheck": "rocgdb, or a build with -fsanitize=address",
    "cuobjdump": "llvm-objdump of ROCm's compiler",
    "ncu": "rocprof-compute",
    "nsys": "rocprofv3",
    "nv-nsight-cu-cli": "rocprof-compute",
    "nvdisasm": "llvm-objdump of ROCm's compiler",
    "nvprof": "rocprofv3",
}
_BY_PATH = frozenset({"ncu", "nsys"})  # too short to mean anything alone
#: What a line with one of them holds.
HINT = r"cuda-(?:gdb|memcheck)|compute-sanitizer|cuobjdump|nvdisasm|nvprof|nv-nsight|/n(?:cu|sys)\b"


def cuda_tool(word: Word) -> tuple[Finding, ...]:
    """What a word says that names such a tool, alone or by its path."""
    folder, _, name = word.text.strip("\"'").rpartition("/")
    if name not in _INSTEAD or (name in _BY_PATH and not folder) or not re.fullmatch(r"[\w./$(){}-]*", folder):
        return ()
    return (by_hand(COMPILER, name, "it is a tool of CUDA's", _INSTEAD[name], word.start, word.start + len(word.text)),)
