"""Tools of CUDA's toolkit and driver beside its compiler, which a build or a shell's script calls."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from cu2port.build.make_variables import NVCC_VARIABLE, REFERENCE
from cu2port.build.options import Word
from cu2port.build.pages import ARCHITECTURE, COMPILER
from cu2port.build.rule import BuildRule
from cu2port.build.words import by_hand, finding, said_by_nvcc
from cu2port.core.model import Edit, Finding

#: What there is for AMD GPUs.
INSTEAD = {
    "compute-sanitizer": "rocgdb, or a build with -fsanitize=address",
    "cuda-gdb": "rocgdb",
    "cuda-memcheck": "rocgdb, or a build with -fsanitize=address",
    "cuobjdump": "llvm-objdump of ROCm's compiler",
    "fatbinary": "clang-offload-bundler",
    "ncu": "rocprof-compute",
    "nsys": "rocprofv3",
    "nv-nsight-cu-cli": "rocprof-compute",
    "nvdisasm": "llvm-objdump of ROCm's compiler",
    "nvidia-cuda-mps-control": "nothing, since processes share AMD's GPUs without a server",
    "nvidia-smi": "amd-smi, whose options and answers are others",
    "nvlink": "the link by hipcc with -fgpu-rdc",
    "nvprof": "rocprofv3",
    "ptxas": "nothing, since clang makes the GPU's code",
}
_BY_PATH = frozenset({"ncu", "nsys"})  # too short to mean anything alone
#: What a line with one of them holds.
HINT = r"cuda-(?:gdb|memcheck)|compute-sanitizer|cuobjdump|nvdisasm|nvprof|nv-nsight|nvidia-smi|/n(?:cu|sys)\b"

_NVCC = re.compile(r"(?:^|/)nvcc")
# what is behind a command whose output is read
_READ = re.compile(r"(?:[ \t]*[12]?>{1,2}&?[\w/.]{1,99})?[ \t]*[|)`]")
# nvcc tells its version in the fourth of five lines, and `echo` says that one
_FOURTH = re.compile(
    r"[^|`)]{0,40}\|[ \t]*(?:sed[ \t]+(?:-n[ \t]+)?[\"']?(?P<sed>4)(?:p|!d)\b"
    r"|awk[ \t]+[\"']\{?[ \t]*(?:if[ \t]*\()?NR[ \t]*==[ \t]*(?P<awk>4)\b)"
)
_ASKED = re.compile(r"--?h(?:elp)?\b[^|\n]{0,40}\|[ \t]*(?:e|f)?grep\b[^|)`\n]{0,40}?\b(?P<gpu>(?:sm|compute)_\d\w*)")


def cuda_tool(word: Word) -> tuple[Finding, ...]:
    """What a word says that names such a tool, alone or by its path."""
    folder, _, name = word.text.strip("\"'").rpartition("/")
    if name not in INSTEAD or (name in _BY_PATH and not folder) or not re.fullmatch(r"[\w./$(){}-]*", folder):
        return ()
    return (tool_stays(COMPILER, name, word.start, word.start + len(word.text)),)


def is_tool(word: str) -> bool:
    """Whether the first word of a command is such a tool."""
    return word.rpartition("/")[2] in INSTEAD


def tool_stays(rule: BuildRule, word: str, start: int, end: int) -> Finding:
    """What is told of a tool."""
    return by_hand(rule, word, "it is a tool of NVIDIA's", INSTEAD[word.rpartition("/")[2]], start, end)


def version_calls(text: str, start: int, words: list[Word], compiles: Collection[str]) -> Iterator[Finding]:
    """The calls of a line at `start` that ask nvcc for its version and read what it says; their words are taken out of
    `words`. hipcc says neither `release` nor a version of CUDA's. `compiles`: variables that name nvcc."""
    if "--version" not in text and " -V" not in text:
        return
    release, text_said = said_by_nvcc()
    said = f"echo {text_said}"
    message = f"nvcc is asked for its version, and HIP counts as CUDA {release}"
    for a, b in list(pairwise(words)):
        if b.text in ("--version", "-V") and _READ.match(text, b.end - start) and _is_nvcc(a, compiles):
            words[:] = [w for w in words if w not in (a, b)]
            first, last = a.outer[0], b.outer[1]
            edits = [Edit(first, last, (said,))]
            if picked := _FOURTH.match(text, b.end - start):
                at = start + picked.start(picked.lastgroup or 0)
                edits.append(Edit(at, at + 1, ("1",)))
            yield finding(COMPILER, message, first, last, edits, True, "nvcc", said)


def gpus_in_help(text: str, start: int) -> Iterator[Finding]:
    """Where a line at `start` looks for a GPU in what nvcc's help says: `nvcc --help | grep sm_80`."""
    for m in _ASKED.finditer(text) if "grep" in text else ():
        why = "hipcc's help names no GPUs, so that it is never found"
        instead = "what depends on it without the question"
        yield by_hand(ARCHITECTURE, m["gpu"], why, instead, start + m.start("gpu"), start + m.end())


def _is_nvcc(word: Word, compiles: Collection[str]) -> bool:
    named = REFERENCE.fullmatch(word.text.strip("\"'"))
    if named:
        return named[1] in compiles or NVCC_VARIABLE.fullmatch(named[1]) is not None
    found = _NVCC.search(word.text)
    return found is not None and word.text[found.end() :] in ("", '"', "'")
