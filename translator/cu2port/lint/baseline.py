"""Findings that are known: a file of counts, keyed by rule and by what stands on the line, not by its number.

    {"schema": "cu2port-baseline/1", "files": {"src/a.cu": {"<fingerprint>": 2}}}

A finding that moves with its line stays known; one more on an equal line is new.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from cu2port.project.config import inside, read_document
from cu2port.project.single import write_named
from cu2port.project.tree import CannotRun

SCHEMA = "cu2port-baseline/1"
_MAX_BYTES = 64 << 20
_HEX = 16
_LONG = 2_000  # characters


def fingerprint(code: str, line: str) -> str:
    """What identifies a finding whatever is around it: 16 hexadecimal digits of its rule and its line's words."""
    return hashlib.sha256(f"{code}\0{_words(line)}".encode("utf-8", "surrogateescape")).hexdigest()[:_HEX]


@lru_cache(maxsize=8)
def _words(line: str) -> str:
    """A line without regard to its blanks; a long one by its digest: generated lines hold thousands of findings."""
    words = " ".join(line.split())
    if len(words) <= _LONG:
        return words
    return hashlib.sha256(words.encode("utf-8", "surrogateescape")).hexdigest()


def load(path: Path) -> dict[str, Counter[str]]:
    """Path -> fingerprint -> how many are known. Raises CannotRun for what is no baseline."""
    content = read_document("--baseline", path, _MAX_BYTES, "; --write-baseline makes one")
    files = content.get("files") if isinstance(content, dict) and content.get("schema") == SCHEMA else None
    if not isinstance(files, dict):
        raise CannotRun(f"--baseline {path}: no {SCHEMA}; --write-baseline makes one")
    known: dict[str, Counter[str]] = {}
    for name, counts in files.items():
        inside(name, f"--baseline {path}")
        if not isinstance(counts, dict) or not all(_is_count(k, n) for k, n in counts.items()):
            raise CannotRun(f"--baseline {path}: the entry of {name!r} must map fingerprints to counts")
        known[name] = Counter(counts)
    return known


def _is_baseline(path: Path) -> bool:
    """Whether a file is one that may be rewritten."""
    try:
        load(path)
    except CannotRun:
        return False
    return True


def _is_count(key: object, n: object) -> bool:
    if not isinstance(key, str) or not isinstance(n, int) or isinstance(n, bool) or n < 1:
        return False
    return len(key) == _HEX and all(c in "0123456789abcdef" for c in key)


def save(path: Path, found: Mapping[str, Iterable[str]]) -> int:
    """Write a baseline of the fingerprints of each file; returns how many findings it holds. Raises CannotRun."""
    files = {name: dict(sorted(Counter(marks).items())) for name, marks in sorted(found.items())}
    files = {name: counts for name, counts in files.items() if counts}
    text = json.dumps({"schema": SCHEMA, "files": files}, indent=1, ensure_ascii=False)
    if path.is_file() and not path.is_symlink() and path.stat().st_size and not _is_baseline(path):
        raise CannotRun(f"--write-baseline {path}: the file that is there is no baseline; choose another name")
    write_named("--write-baseline", path, text.encode("utf-8", "surrogateescape") + b"\n")
    return sum(sum(c.values()) for c in files.values())
