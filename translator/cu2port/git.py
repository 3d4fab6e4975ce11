"""The two questions we ask git. It may be missing, or refuse: then there is no answer."""

from __future__ import annotations

import os
from pathlib import Path


def tracked(folder: Path) -> frozenset[str]:
    """Files that git tracks below a folder, relative to it, and the folders that hold them; empty without git."""
    listing = _ask(folder, "ls-files", "-z", "--cached", "--", ".")
    found: set[str] = set()
    for name in (listing or "").split("\0"):
        while name and name not in found:
            found.add(name)
            name = name.rpartition("/")[0]
    return frozenset(found)


def uncommitted(folder: Path) -> frozenset[Path] | None:
    """Files below a folder that git could not bring back: changed, staged or never added. None: not a git tree."""
    top = _ask(folder, "rev-parse", "--show-toplevel")
    listing = _ask(folder, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", ".")
    if top is None or listing is None:
        return None
    base = Path(top.rstrip("\n"))
    return frozenset((base / entry[3:]).resolve() for entry in listing.split("\0") if entry)


def _ask(folder: Path, *words: str) -> str | None:
    import subprocess  # a single file asks git nothing

    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None
