"""Header libraries of NVIDIA that projects keep copies of, and for which AMD has libraries."""

from __future__ import annotations

import os
from typing import NamedTuple


class Library(NamedTuple):
    """A library of headers. `folder`: as includes name it; `headers`: some that tell it from a folder of that name;
    `hip`: what HIP has in its place."""

    name: str
    folder: str
    headers: tuple[str, ...]
    hip: str


LIBRARIES = (
    Library("CUB", "cub", ("cub.cuh", "util_ptx.cuh"), "hipCUB"),
    Library("NVTX", "nvtx3", ("nvToolsExt.h", "nvtxDetail/nvtxImpl.h"), "ROCTX"),
    Library("Thrust", "thrust", ("version.h", "device_vector.h", "system/cuda/config.h"), "rocThrust"),
)


def as_installed(path: str) -> str:
    """An include's path without the folders of a copy (`../external/cub/cub/cub.cuh`), "" where it names none."""
    for library in LIBRARIES:
        before, _, inside = path.rpartition(f"/{library.folder}/")
        if before and inside:
            return f"{library.folder}/{inside}"
    return ""


def is_in_copy(path: str) -> bool:
    """Whether a file on this machine is in a copy of such a library."""
    for library in LIBRARIES:
        before, found, _ = path.replace(os.sep, "/").rpartition(f"/{library.folder}/")
        folder = before + found
        if found and all(os.path.isfile(folder + name) for name in library.headers):  # noqa: PTH113 - as the caller
            return True
    return False
