"""Cache variables of CMake's support for CUDA, in CMakePresets.json and as options of cmake."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.build import options
from cu2port.build.pages import ARCHITECTURE, COMPILER, VARIABLE
from cu2port.build.table import table
from cu2port.build.variables import OLD_STANDARD
from cu2port.build.words import Asked, by_hand, finding, swap
from cu2port.core.model import Finding, replace

_PAIR = re.compile(r'"(?P<key>(?:CMAKE_CUDA|CUDA|CUDAToolkit)_\w+)"\s*:\s*(?:"(?P<text>(?:\\.|[^"\\])*)")?')


def presets(text: str, asked: Asked) -> Iterator[Finding]:
    """Findings of a file of presets, a text of Latin-1."""
    for m in _PAIR.finditer(text):
        value = None if m["text"] is None else (m["text"], m.start("text"))
        yield from entry(text, m["key"], m.start("key"), value, asked)


def entry(
    text: str, key: str, start: int, value: tuple[str, int] | None, asked: Asked, between: str = ";"
) -> Iterator[Finding]:
    """Findings of a cache variable `key` at `start` that is given a value: its text and place, where it is a text.
    `between`: what parts the items of a list there."""
    row = table()["variable"].get(key)
    if row is None:
        return
    if row.fate != "rewrite" or row.value:
        yield by_hand(VARIABLE, key, row.why, row.instead or "the file without it", start, start + len(key))
        return
    yield swap(VARIABLE, key, row.to, start)
    if value is None or not value[0]:  # something else gives it the value
        return
    said, at = value
    if key == "CMAKE_CUDA_ARCHITECTURES" and asked.archs:
        new = between.join(asked.archs)
        message = f"`{said}` becomes `{new}`: the GPUs of --arch"
        yield finding(ARCHITECTURE, message, at, at + len(said), [replace(at, at + len(said), new)])
    elif key == "CMAKE_CUDA_ARCHITECTURES":
        why = "they are GPUs of NVIDIA's"
        yield by_hand(ARCHITECTURE, said, why, "AMD's, such as gfx942;gfx1100", at, at + len(said))
    elif key == "CMAKE_CUDA_COMPILER" and "nvcc" in said:
        new, why = "/opt/rocm/lib/llvm/bin/clang++", "CMake takes no hipcc for the compiler of HIP"
        yield swap(COMPILER, said, new, at, why, review=True)
    elif key == "CMAKE_CUDA_STANDARD" and said in OLD_STANDARD:
        yield swap(
            VARIABLE, said, "17", at, "rocPRIM, which rocThrust and hipCUB are made of, needs C++17", review=True
        )
    elif "FLAGS" in key:
        found = options.QUOTED_WORD.finditer(said)
        words = [options.Word(w[0], at + w.start(), (at + w.start(), at + w.end())) for w in found]
        yield from options.changes(text, words, True, None)
