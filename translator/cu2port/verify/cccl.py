"""Thrust for simulated programs: NVIDIA's CCCL headers, with their back end in plain C++, where they are laid out."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from functools import cache
from importlib import util
from pathlib import Path

FOLDER = "CU2PORT_SIM_CCCL"
_IN_WHEELS = ("cuda_cccl/include", "cu13/include/cccl")  # below the package `nvidia`
_MARK = "thrust/version.h"
_COMMON = (  # headers, below thrust/, that programs include most
    "copy count device_ptr device_vector execution_policy extrema fill for_each functional host_vector"
    " iterator/constant_iterator iterator/counting_iterator iterator/transform_iterator iterator/zip_iterator pair"
    " reduce scan sequence sort transform transform_reduce tuple unique"
).split()
_OWN = re.compile(r"#[ \t]*define[ \t]+_?(?:THRUST|CUB|CCCL|LIBCUDACXX)_")
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


def common_headers(texts: Iterable[str], folders: Iterable[Path]) -> str:
    """The includes of Thrust that may be in front of all text of a program with these sources and folders of includes;
    "" where it includes none, has a Thrust of its own, or sets macros that Thrust's headers ask for."""
    found = find_cccl()
    every = list(texts)
    if found is None or not any(_ASKED.search(text) for text in every) or any(_OWN.search(text) for text in every):
        return ""
    if any((folder / "thrust").is_dir() for folder in folders):
        return ""
    version = hashlib.sha256((found / _MARK).read_bytes()).hexdigest()[:16]
    return "".join((f"// {version}\n", *(f"#include <thrust/{name}.h>\n" for name in _COMMON)))


def missing(texts: Iterable[str]) -> str:
    """What to do, where a program that includes Thrust does not compile since it is not there; else nothing."""
    if find_cccl() is not None or not any(_ASKED.search(text) for text in texts):
        return ""
    return f"Thrust is not here; if needed: pip install 'cu2port[simulate]', or {FOLDER}: the folder that has thrust/"
