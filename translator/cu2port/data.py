"""Where cu2port's data lies (checkout or wheel), and where it may keep caches."""

from __future__ import annotations

import os
import sys
from importlib.resources import files
from pathlib import Path


class DataError(FileNotFoundError):
    """A data folder of cu2port's own is missing. The message is one line for the user."""


def data_path(name: str) -> Path:
    """The folder `rules` or `grammars`: inside the installed package, else at the root of a checkout.

    Raises DataError with what to do when neither is there.
    """
    package = Path(str(files("cu2port")))
    for candidate in (package / name, package.parent.parent / name):
        if candidate.is_dir():
            return candidate
    raise DataError(f"cu2port's data folder `{name}` is missing; install cu2port again")


def cache_dir() -> Path:
    """The user's cache folder for cu2port (CU2PORT_CACHE_DIR, else the platform's convention). It may not exist."""
    override = os.environ.get("CU2PORT_CACHE_DIR")
    if override:
        return Path(override)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "cu2port"
