"""nvcc's links of objects that a Makefile compiles with `-dc`: nvcc links device code by itself, clang when it is told.

NVIDIA's compiler driver links device code in each link (nvcc's manual, "Separate Compilation"). clang's does it with
`-fgpu-rdc --hip-link`, which flags that both steps share bring along.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cu2port.build.make_variables import REFERENCE, reached
from cu2port.build.options import Word
from cu2port.build.pages import SEPARATE
from cu2port.build.table import table
from cu2port.build.words import finding
from cu2port.core.model import Finding, Side, insert

_NO_LINK = re.compile(  # a step before the link, or a question
    r"--?(?:c|dc|dw|dlink|lib|ptx|cubin|fatbin|cuda|E|M\w*|V|compile|device-\w+|preprocess|generate-\w+|version|help)(?![\w-])"
)
_COMPILER = re.compile(r"[@+-]?(?:\$[({]\w+[)}])*(?:[\w./$(){}-]*nvcc|\$[({]\w+[)}])\Z", re.I)
_OBJECTS = re.compile(r"\.(?:o|obj|a)\b|\$[\^+]|\$[({]\w*OBJ\w*", re.I)


class Called(NamedTuple):
    """A command of a Makefile, or the value of the variable `name`. `line`: the text that it is in; `by_nvcc`: its
    options are nvcc's."""

    name: str
    line: str
    words: Sequence[Word]
    by_nvcc: bool


def device_links(every: Sequence[Called]) -> Iterator[Finding]:
    """Findings for links by nvcc without an option for device code, in a file that compiles with `-dc`."""
    if not any(to == "-fgpu-rdc -c" for c in every for to in map(_becomes, c.words)):
        return
    shared = _shared(every)
    for c in every:
        first = c.words[0] if c.words else None
        if first is None or c.name or not c.by_nvcc or _COMPILER.match(first.text) is None:
            continue
        texts = [w.text for w in c.words]
        told = any(map(_is_told, c.words)) or any(m[1] in shared for m in REFERENCE.finditer(c.line))
        if told or any(map(_NO_LINK.match, texts)) or _OBJECTS.search(c.line) is None:
            continue
        message = "device code of objects is linked with `-fgpu-rdc --hip-link`; nvcc does it without an option"
        edits = [insert(first.outer[1], " -fgpu-rdc --hip-link", Side.LEFT)]
        yield finding(SEPARATE, message, first.start, first.end, edits, review=True)


def _shared(every: Sequence[Called]) -> frozenset[str]:
    """Variables with an option for device code of its own, or with such a variable."""
    users: dict[str, list[str]] = {}
    for c in every:
        for m in REFERENCE.finditer(c.line) if c.name else ():
            users.setdefault(m[1], []).append(c.name)
    return reached([c.name for c in every if c.name and any(map(_is_told, c.words))], users)


def _becomes(word: Word) -> str:
    """What the table makes of an option, "" where it is none."""
    row = table()["option"].get(word.text.partition("=")[0])
    return row.to if row is not None else ""


def _is_told(word: Word) -> bool:
    return _becomes(word).startswith("-fgpu-rdc")
