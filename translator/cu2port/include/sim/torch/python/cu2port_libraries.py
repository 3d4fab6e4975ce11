"""The shared libraries of a process that the stand-ins built."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

RUNTIME = "libcu2port_sim"


def loaded() -> Any:
    """The libraries of this process."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [line.split()[-1] for line in lines if ".so" in line]


def is_ours(path: Any) -> Any:
    """Whether a library is one that the stand-ins built."""
    try:
        return RUNTIME.encode() in Path(path).read_bytes()
    except OSError:
        return False


def note(name: Any) -> Any:
    """Tell the session of an extension that was loaded; see log.py."""
    log = os.environ.get("CU2PORT_SIM_LOG")
    if log and Path(log).parent.is_dir():
        with Path(log).open("ab", buffering=0) as f:
            f.write(f"torch\t{os.getpid()}\t{name}\n".encode())
