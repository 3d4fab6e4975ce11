"""nvcc's links of objects that a Makefile compiles with `-dc`: nvcc links device code by itself, clang when it is told.

NVIDIA's compiler driver links device code in each link (nvcc's manual, "Separate Compilation"). clang's does it with
`-fgpu-rdc --hip-link`, which flags that both steps share bring along.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cu2port.build.options import Word
from cu2port.build.pages import SEPARATE
from cu2port.build.words import finding
from cu2port.core.model import Finding, Side, insert

_APART = re.compile(r"--?(?:dc|device-c)(?![\w-])")
_SHARED = re.compile(r"--?(?:rdc|relocatable-device-code)(?![\w-])|--?(?:dc|device-c)(?![\w-])")
_NO_LINK = re.compile(  # a step before the link, or a question
    r"--?(?:c|dc|dw|dlink|lib|ptx|cubin|fatbin|cuda|E|M\w*|V|compile|device-\w+|preprocess|generate-\w+|version|help)(?![\w-])"
)
_COMPILER = re.compile(r"[@+-]?(?:\$[({]\w+[)}])*(?:[\w./$(){}-]*nvcc|\$[({]\w+[)}])\Z", re.I)
_OBJECTS = re.compile(r"\.(?:o|obj|a)\b|\$[\^+]|\$[({]\w*OBJ\w*", re.I)
_REFERENCE = re.compile(r"\$[({](\w+)[)}]")


class Called(NamedTuple):
    """A command of a Makefile, or the value of the variable `name`. `line`: the text that it is in; `by_nvcc`: its
    options are nvcc's."""

    name: str
    line: str
    words: Sequence[Word]
    by_nvcc: bool


def device_links(text: str, every: Sequence[Called]) -> Iterator[Finding]:
    """Findings for links by nvcc without an option for device code, in a file that compiles with `-dc`."""
    if _APART.search(text) is None:
        return
    shared = _shared(every)
    for c in every:
        first = c.words[0] if c.words else None
        if first is None or c.name or not c.by_nvcc or _COMPILER.match(first.text) is None:
            continue
        texts = [w.text for w in c.words]
        told = any(_SHARED.match(x) for x in texts) or any(m[1] in shared for m in _REFERENCE.finditer(c.line))
        if told or any(map(_NO_LINK.match, texts)) or _OBJECTS.search(c.line) is None:
            continue
        message = "device code of objects is linked with `-fgpu-rdc --hip-link`; nvcc does it without an option"
        edits = [insert(first.outer[1], " -fgpu-rdc --hip-link", Side.LEFT)]
        yield finding(SEPARATE, message, first.start, first.end, edits, review=True)


def _shared(every: Sequence[Called]) -> frozenset[str]:
    """Variables with an option for device code of its own, or with such a variable."""
    of = {c.name: c for c in every if c.name}
    found = {name for name, c in of.items() if any(_SHARED.match(w.text) for w in c.words)}
    users: dict[str, list[str]] = {}
    for c in every:
        for m in _REFERENCE.finditer(c.line) if c.name else ():
            users.setdefault(m[1], []).append(c.name)
    todo = list(found)
    while todo:
        for user in users.get(todo.pop(), ()):
            if user not in found:
                found.add(user)
                todo.append(user)
    return frozenset(found)
