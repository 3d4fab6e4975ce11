"""A compiler that writes down its words. It is a program of its own:

    python record_compiler.py LOG COPY NAME REAL WORDS...

A source of HIP or CUDA becomes an empty object or program, so that a build goes on. One for the host is compiled by
REAL, and what does not compile or link becomes empty too. What asks about the compiler, outside of COPY or in a test of
autotools or CMake, is REAL's alone.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence

_SOURCE = re.compile(r"\.(?:hip|cu|cpp|cc|cxx|c\+\+|c)\Z", re.I)
_OBJECT = re.compile(r"\.(?:o|obj|a|so(?:\.\d+)*|lo)\Z")
_PROBE = re.compile(r"conftest|CMakeTmp|CMakeScratch|CompilerId|TryCompile-|CMakeDetermineCompilerABI")
_DEVICE = ("hipcc", "amdclang++", "nvcc")
_ASKS = frozenset({"-E", "-M", "-MM"})
_MOST_NESTED = 8


def main(log: str, copy: str, name: str, real: str, words: Sequence[str]) -> int:
    """Act as `name`; returns the exit code."""
    read = list(_expanded(words, 0))
    inputs = [w for w in read if not w.startswith("-")]
    sources = [w for w in inputs if _SOURCE.search(w)]
    here = os.path.realpath(os.getcwd())  # noqa: PTH109
    inside = (here + os.sep).startswith(os.path.realpath(copy) + os.sep)
    known = sources or any(_OBJECT.search(w) for w in inputs)
    if not inside or not known or _ASKS & set(read) or any(_PROBE.search(t) for t in (here, *read)):
        return subprocess.call([real, *words])
    if sources:
        _note(log, here, [name, *read])
    device = name in _DEVICE or ("-x", "hip") in itertools.pairwise(read)
    if not device and subprocess.call([real, *words, "-w"], stderr=subprocess.DEVNULL) == 0:
        return 0
    return _empty(read, sources, real)


def _expanded(words: Sequence[str], depth: int) -> Sequence[str]:
    """The words with those of response files."""
    out: list[str] = []
    for word in words:
        if word.startswith("@") and os.path.isfile(word[1:]) and depth < _MOST_NESTED:  # noqa: PTH113
            with open(word[1:], encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
                out += _expanded(shlex.split(file.read()), depth + 1)
        else:
            out.append(word)
    return out


def _note(log: str, folder: str, words: Sequence[str]) -> None:
    data = json.dumps({"folder": folder, "words": list(words)}) + "\n"
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, data.encode("utf-8", "surrogateescape"))
    finally:
        os.close(file)


def _empty(words: Sequence[str], sources: Sequence[str], real: str) -> int:
    """Write what the command would write, with nothing in it."""
    output = next((b for a, b in itertools.pairwise(words) if a == "-o"), "")
    output = output or next((w[2:] for w in words if w.startswith("-o") and len(w) > 2), "")
    depends = [b for a, b in itertools.pairwise(words) if a == "-MF"]
    for path in depends:
        open(path, "w").close()  # noqa: PTH123
    compiles = "-c" in words or "-dc" in words
    if not compiles and "-shared" not in words:
        path = output or "a.out"
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write("#!/bin/sh\n")
        os.chmod(path, 0o755)  # noqa: PTH101
        return 0
    stems = [os.path.splitext(os.path.basename(s))[0] + ".o" for s in sources]  # noqa: PTH119, PTH122
    how = ["-c"] if compiles else ["-shared"]
    outputs = [output] if output else stems or ["a.out"]
    return max(subprocess.call([real, "-x", "c", *how, os.devnull, "-o", o]) for o in outputs)


if __name__ == "__main__":
    _, given_log, given_copy, given_name, given_real, *given = sys.argv
    sys.exit(main(given_log, given_copy, given_name, given_real, given))
