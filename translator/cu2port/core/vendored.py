"""Headers that projects keep copies of: libraries of NVIDIA's for which AMD has libraries, and those with code for HIP;
headers of CUDA's toolkit."""

from __future__ import annotations

import os
from typing import NamedTuple

from cu2port.core.files import read_regular
from cu2port.core.late import regex


class Library(NamedTuple):
    """A library of headers. `folder`: as includes name it; `headers`: some that tell it from a folder of that name;
    `hip`: what HIP has in its place, "" where it is the library itself."""

    name: str
    folder: str
    headers: tuple[str, ...]
    hip: str


LIBRARIES = (
    Library("CUB", "cub", ("cub.cuh", "util_ptx.cuh"), "hipCUB"),
    Library("NVTX", "nvtx3", ("nvToolsExt.h", "nvtxDetail/nvtxImpl.h"), "ROCTX"),
    Library("Thrust", "thrust", ("version.h", "device_vector.h", "system/cuda/config.h"), "rocThrust"),
)

#: Libraries with code for CUDA and for HIP, each by its own macros: if CUDA's became HIP's, both would be taken.
FOR_BOTH = (Library("Eigen", "Eigen", ("src/Core/util/Macros.h", "src/Core/arch/HIP/hcc/math_constants.h"), ""),)

_MOST_BYTES, _HEAD = 4 << 20, 16 << 10
_GUARD = regex(rb"#[ \t]*if(?:ndef[ \t]+|[ \t]*![ \t]*defined[ \t]*\(?[ \t]*)(\w+)")


def is_of_toolkit(path: str) -> bool:
    """Whether a file on this machine is a copy of the header of CUDA's toolkit whose name it has: by NVIDIA's notice
    and the guard, which is made of the name (`__VECTOR_TYPES_H__`)."""
    try:
        head = read_regular(path, _MOST_BYTES)[:_HEAD]
    except OSError:
        return False
    guard = _GUARD.search(head)
    if guard is None or b"NVIDIA" not in head:
        return False
    name = path.replace(os.sep, "/").rpartition("/")[2]
    plain = name.replace("_", "").replace(".", "").lower()
    return guard[1].decode("ascii").replace("_", "").lower().endswith(plain)


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
