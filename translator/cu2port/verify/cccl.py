"""Thrust for simulated programs: NVIDIA's CCCL headers, with their back end in plain C++, where they are laid out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from importlib import util
from pathlib import Path

FOLDER = "CU2PORT_SIM_CCCL"
_IN_WHEELS = ("cuda_cccl/include", "cu13/include/cccl")  # below the package `nvidia`
_MARK = "thrust/version.h"
_ASKED = re.compile(r'^(?:\xef\xbb\xbf)?[ \t]*#[ \t]*include[ \t]*[<"]thrust/', re.MULTILINE)


@cache
def find_cccl() -> Path | None:
    """The folder that has `thrust/`: what the environment's CU2PORT_SIM_CCCL names, else the wheel's; None without."""
    spec = util.find_spec("nvidia")
    folders = [Path(d, inner) for d in (spec.submodule_search_locations or () if spec else ()) for inner in _IN_WHEELS]
    if os.environ.get(FOLDER):
        folders.insert(0, Path(os.environ[FOLDER]))
    return next((f for f in folders if (f / _MARK).is_file()), None)


def flags() -> tuple[str, ...]:
    """Flags under which programs find Thrust; none where it is not there."""
    folder = find_cccl()
    if folder is None:
        return ()
    return ("-isystem", str(folder), "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP")


def missing(texts: Iterable[str]) -> str:
    """What to do, where a program that includes Thrust does not compile since it is not there; else nothing."""
    if find_cccl() is not None or not any(_ASKED.search(text) for text in texts):
        return ""
    return f"Thrust is not here; if needed: pip install 'cu2port[simulate]', or {FOLDER}: the folder that has thrust/"
