"""HIP's headers: those of a ROCm install, else those that triton's wheel carries, laid out once in the user's cache."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata, util
from pathlib import Path

from cu2port.core.data import cache_dir
from cu2port.project.tree import CannotRun

_RUNTIME = Path("include", "hip", "hip_runtime.h")
_LAYOUT = 1  # raise when what `_lay_out` makes changes: old layouts in caches are then left alone
_VERSION = re.compile(r"^[ \t]*#[ \t]*define[ \t]+HIP_VERSION_(MAJOR|MINOR|PATCH)[ \t]+(\d+)", re.M)
WAVE_MACRO = "__AMDGCN_WAVEFRONT_SIZE"
_EXTRA = "pip install 'cu2port[verify]'"


@dataclass(frozen=True)
class Headers:
    """A folder shaped like a ROCm install. `origin`: `rocm`, or the wheel and its version."""

    root: Path
    origin: str

    @property
    def include(self) -> Path:
        return self.root / "include"

    @cached_property
    def version(self) -> str:
        """HIP's version as its headers state it, or "unknown"."""
        parts = _stated(self.include)
        return ".".join(parts) if parts else "unknown"

    @cached_property
    def want_wave_macro(self) -> bool:
        """Whether these headers use the macro for the wavefront's size, which clang 22 does not define any more.

        Headers before HIP 7 do. A real ROCm install has a compiler of its own age, and asks for nothing.
        """
        name = WAVE_MACRO.encode()
        folder = self.include / "hip" / "amd_detail"
        return any(name in p.read_bytes() for p in sorted(folder.glob("*.h")) if p.is_file())


def find(rocm_path: str, beside: Path | None) -> Headers:
    """The headers to use: --rocm-path, the ROCm that the compiler is in (`beside`), any other, then the wheel.

    Raises CannotRun with what to do when there are none.
    """
    if rocm_path:
        if not (Path(rocm_path) / _RUNTIME).is_file():
            raise CannotRun(f"--rocm-path {rocm_path}: there is no {_RUNTIME.as_posix()} in it")
        return Headers(Path(rocm_path).resolve(), "rocm")
    for root in (*((beside,) if beside else ()), *rocm_roots()):
        if (root / _RUNTIME).is_file():
            return Headers(root, "rocm")
    package = _triton()
    if package is None:
        raise CannotRun(f"no HIP headers found; install ROCm (ROCM_PATH or --rocm-path names it), or {_EXTRA}")
    return _lay_out(package)


def rocm_roots() -> Iterator[Path]:
    """Where ROCm is on this machine, most wanted first. Each exists; not each has headers."""
    named = [os.environ[name] for name in ("ROCM_PATH", "HIP_PATH") if os.environ.get(name)]
    versions = sorted(Path("/opt").glob("rocm-*"), reverse=True)
    for root in dict.fromkeys([*map(Path, named), Path("/opt/rocm"), *versions, Path("/usr")]):
        if root.is_dir():
            yield root


def _triton() -> tuple[Path, str] | None:
    """The include folder in triton's wheel, and the wheel's name with its version. triton itself is not loaded."""
    spec = util.find_spec("triton")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        include = Path(place, "backends", "amd", "include")
        if (include / "hip" / "hip_runtime.h").is_file():
            for name in ("triton", "pytorch-triton-rocm", "triton-rocm"):
                try:
                    return include, f"{name}-{metadata.version(name)}"
                except metadata.PackageNotFoundError:
                    continue
            return include, "triton"
    return None


def _lay_out(package: tuple[Path, str]) -> Headers:
    """Copy a wheel's headers to where clang expects them. Whole or not at all; another process may do it too."""
    include, name = package
    version = _stated(include) or ("0", "0", "0")
    root = cache_dir() / "hip" / f"{name}-hip-{'.'.join(version)}-{_LAYOUT}"
    found = Headers(root, f"wheel {name}")
    if root.is_dir():
        return found
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=root.parent) as new:
            laid = Path(new, "root")
            shutil.copytree(include, laid / "include")
            (laid / "share" / "hip").mkdir(parents=True)
            stated = zip(("MAJOR", "MINOR", "PATCH"), version, strict=True)
            (laid / "share" / "hip" / "version").write_text("".join(f"HIP_VERSION_{k}={v}\n" for k, v in stated))
            laid.rename(root)
    except OSError as e:
        if not root.is_dir():  # else another process was faster, and has made the same
            raise CannotRun(f"HIP headers could not be laid out in {root}: {e.strerror or e}") from e
    return found


def _stated(include: Path) -> tuple[str, ...]:
    """Major, minor and patch of hip_version.h; () when it does not say."""
    try:
        text = (include / "hip" / "hip_version.h").read_text("utf-8", "replace")
    except OSError:
        return ()
    found = dict(_VERSION.findall(text))
    return (found["MAJOR"], found["MINOR"], found.get("PATCH", "0")) if {"MAJOR", "MINOR"} <= found.keys() else ()
