"""torch's headers as a build of torch for ROCm has them: those of a wheel, with CUDA's names converted by cu2port.

torch's own build converts the same files. Those that handle HIP themselves, outside of folders for CUDA, stay.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import util
from pathlib import Path

from cu2port.core.data import cache_dir
from cu2port.core.kept import code_digest
from cu2port.core.model import Options
from cu2port.project import convert
from cu2port.project.plan import Request
from cu2port.project.tree import CannotRun

_INSTALL = "pip download --no-deps torch, and give the wheel with --torch"
_API = Path("torch", "csrc", "api", "include")
_CUDA = re.compile(
    rb'^[ \t]*#[ \t]*include[ \t]*[<"](?:cuda|cublas|cusparse|cusolver|cufft|curand|cudnn|nccl|cub/|thrust/)', re.M
)
_TOP = ("torch/", "ATen/", "c10/")
_ONE_AT_A_TIME = threading.Lock()
_OWN = re.compile(rb"USE_ROCM|__HIP")
_RENAMED = re.compile(rb"#[ \t]*include[ \t]*<(?=device_functions\.h>)")  # in code for ROCm: hipify does this one
_VERSION = re.compile(r"^__version__ = '([^']+)'", re.M)


@dataclass(frozen=True, slots=True)
class Torch:
    """`folders`: where its headers are, converted ones first; `version`: torch's."""

    folders: tuple[Path, ...]
    version: str


def find(asked: str) -> Torch:
    """torch's headers. `asked`: a wheel, or the folder that it is unpacked in; else the torch that is installed.

    Raises CannotRun, in one line, where there is none.
    """
    path = Path(asked) if asked else _installed()
    if path is None:
        raise CannotRun(f"it is an extension of torch, whose headers are not on this machine; {_INSTALL}")
    if path.is_file():
        path = _unpacked(path)
    base = path if (path / "include").is_dir() else path / "torch"
    include = base / "include"
    try:
        stated = _VERSION.search((base / "version.py").read_text("utf-8"))
    except OSError:
        stated = None
    if not (include / "ATen").is_dir() or stated is None:
        raise CannotRun(f"--torch {asked}: there are no headers of torch in it; {_INSTALL}")
    ported = _ported(include, stated[1])
    roots = [d for d in (ported, include) if d.is_dir()]
    return Torch((*roots, *(r / _API for r in roots if (r / _API).is_dir())), stated[1])


@lru_cache(maxsize=1)
def _found(asked: str) -> Torch | None:
    return find(asked) if asked or _installed() else None


def asked_for(header: str, asked: str) -> Torch | None:
    """The headers of torch, where a header that a compiler does not find is one of them and torch is on this machine.
    `asked`: as for `find`, whose errors it has."""
    if not header.startswith(_TOP):
        return None
    with _ONE_AT_A_TIME:  # the first converts them
        return _found(asked)


def _installed() -> Path | None:
    """The folder of an installed torch; it is not loaded."""
    spec = util.find_spec("torch")
    return next((Path(p) for p in (spec.submodule_search_locations or ())), None) if spec else None


def _unpacked(wheel: Path) -> Path:
    """The headers in a wheel, unpacked to the cache once."""
    name = hashlib.sha256(f"{wheel.resolve()} {wheel.stat().st_size}".encode()).hexdigest()[:16]
    root = cache_dir() / "torch" / f"{wheel.stem.partition('-cp')[0]}-{name}"
    if root.is_dir():
        return root
    root.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".new-", dir=root.parent) as new, zipfile.ZipFile(wheel) as packed:
            names = [n for n in packed.namelist() if n.startswith("torch/include/") or n == "torch/version.py"]
            packed.extractall(Path(new, "root"), names)
            Path(new, "root").rename(root)
    except (OSError, zipfile.BadZipFile) as e:
        if not root.is_dir():  # else another process was faster
            raise CannotRun(f"--torch {wheel}: {e}; {_INSTALL}") from e
    return root


def wanted(include: Path) -> Iterator[Path]:
    """The headers that are to be converted, as paths below `include`."""
    for path in sorted(include.rglob("*")):
        name = path.relative_to(include)
        if path.suffix not in (".h", ".hpp", ".cuh", ".inl") or not path.is_file():
            continue
        if "cuda" in name.parts[:-1]:
            yield name
            continue
        text = path.read_bytes()
        if _CUDA.search(text) and not _OWN.search(text):
            yield name


def _ported(include: Path, version: str) -> Path:
    """A folder of the cache with the converted headers alone. It is made again when cu2port changes."""
    key = hashlib.sha256(f"{include.resolve()} {version} {code_digest()}".encode()).hexdigest()[:16]
    root = cache_dir() / "torch" / f"hip-{version}-{key}"
    if root.is_dir():
        return root
    root.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".new-", dir=root.parent) as new:
            source, out = Path(new, "include"), Path(new, "out")
            for name in wanted(include):
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(include / name, source / name)
            source.mkdir(exist_ok=True)
            convert.run(Request((str(source),), "out", str(out), Options(), hip_side="convert", build_files=False))
            _below_hip(out)
            _forward(include, out)
            out.rename(root)
    except OSError as e:
        if not root.is_dir():
            raise CannotRun(f"torch's headers could not be converted in {root.parent}: {e.strerror or e}") from e
    return root


def _below_hip(out: Path) -> None:
    """Headers whose names CUDA and HIP share, in code for ROCm: torch for ROCm has them with their folder."""
    for path in out.rglob("*.*h"):
        text = path.read_bytes()
        if _RENAMED.search(text):
            path.write_bytes(_RENAMED.sub(rb"\g<0>hip/", text))


def _forward(include: Path, out: Path) -> None:
    """Headers for device code below `hip`, where torch for ROCm has them and its other headers ask for them."""
    for folder in (Path("ATen"), Path("ATen", "native")):
        for path in (include / folder / "cuda").glob("*.cuh"):
            new = out / folder / "hip" / path.name
            new.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(f"#pragma once\n#include <{(folder / 'cuda' / path.name).as_posix()}>\n", "utf-8")
