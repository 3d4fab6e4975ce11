"""CMakePresets.json: cache variables of CMake's support for CUDA."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.build import options
from cu2port.build.pages import ARCHITECTURE, VARIABLE
from cu2port.build.table import table
from cu2port.build.words import Asked, by_hand, finding, swap
from cu2port.core.model import Finding, replace

_PAIR = re.compile(r'"(?P<key>(?:CMAKE_CUDA|CUDA|CUDAToolkit)_\w+)"\s*:\s*(?:"(?P<text>(?:\\.|[^"\\])*)")?')
_WORD = re.compile(r"[^\s\"\\]+")


def presets(text: str, asked: Asked) -> Iterator[Finding]:
    """Findings of a file of presets, a text of Latin-1."""
    for m in _PAIR.finditer(text):
        key, start = m["key"], m.start("key")
        row = table()["variable"].get(key)
        if row is None:
            continue
        if row.fate != "rewrite" or row.value:
            yield by_hand(VARIABLE, key, row.why, row.instead or "the file without it", start, start + len(key))
            continue
        yield swap(VARIABLE, key, row.to, start)
        value, at = m["text"], m.start("text")
        if value is None:
            continue
        if key == "CMAKE_CUDA_ARCHITECTURES" and asked.archs:
            new = ";".join(asked.archs)
            message = f"`{value}` becomes `{new}`: the GPUs of --arch"
            yield finding(ARCHITECTURE, message, at, at + len(value), [replace(at, at + len(value), new)])
        elif key == "CMAKE_CUDA_ARCHITECTURES":
            why = "they are GPUs of NVIDIA's"
            yield by_hand(ARCHITECTURE, value, why, "AMD's, such as gfx942;gfx1100", at, at + len(value))
        elif "FLAGS" in key:
            words = [options.Word(w[0], at + w.start(), (at + w.start(), at + w.end())) for w in _WORD.finditer(value)]
            yield from options.changes(text, words, True, None)
