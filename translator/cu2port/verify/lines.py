"""Which line of the CUDA file a line of the output came from."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

# What convert changes most: a line that differs in this alone is the same line.
_PREFIX = re.compile(rb"(?i:cuda|hip)|\b[Cc][Uu](?=[A-Z_])|\bcu(?=blas|dnn|fft|rand|sparse|solver)")
_LARGE = 20_000  # lines; beyond, a diff costs more than it tells


def source_lines(source: bytes, output: bytes) -> list[int]:
    """For each line of `output`, from the first, the line of `source` it came from; lines count from 1.

    Convert edits inside lines and adds or drops whole ones (includes), so a diff that takes CUDA's and HIP's prefixes
    for the same distinguishes them. An added line belongs to the line before it.
    """
    old = [_PREFIX.sub(b"", line) for line in source.split(b"\n")]
    new = [_PREFIX.sub(b"", line) for line in output.split(b"\n")]
    if max(len(old), len(new)) > _LARGE:
        return [min(i, len(old)) for i in range(1, len(new) + 1)]
    found: list[int] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            found += range(i1 + 1, i2 + 1)
        else:
            found += [min(i1 + k + 1, i2) if i2 > i1 else max(i1, 1) for k in range(j2 - j1)]
    return found
