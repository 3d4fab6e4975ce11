"""What edits write in C++, as C has it: for sources that the host's C compiler compiles."""

from __future__ import annotations

import re
from dataclasses import replace

from cu2port.core.late import regex
from cu2port.core.model import Edit, Finding

_CPP = regex(r"\b(?:static|reinterpret|const)_cast<(?P<type>[^<>]*)>(?=\()|\b(?:nullptr|false|true)\b")


def in_c(f: Finding) -> Finding:
    """A finding whose edits have no casts, null pointers and truth values of C++."""
    edits = tuple(_in_c(e) for e in f.edits)
    return f if edits == f.edits else replace(f, edits=edits)


def _in_c(e: Edit) -> Edit:
    return replace(e, parts=tuple(_CPP.sub(_word, p) if isinstance(p, str) else p for p in e.parts))


def _word(m: re.Match[str]) -> str:
    return f"({m['type']})" if m["type"] is not None else "1" if m[0] == "true" else "0"
