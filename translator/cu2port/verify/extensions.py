"""`verify` of a tree whose setup.py builds extensions of torch: what setup.py asks for, as torch for ROCm compiles it.

setup.py is run, in a copy of the tree, with a stand-in for torch that keeps the extensions and builds nothing. Where
the tree has none at its top, those of its folders are.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cu2port.build.kinds import kind_of
from cu2port.project.tree import STATE, CannotRun
from cu2port.verify import commands, torch_headers
from cu2port.verify.configure import ALONE, Built
from cu2port.verify.record_setup import FOR_ALL, FOR_DEVICE
from cu2port.verify.rocm_root import RocmRoot
from cu2port.verify.running import Runner
from cu2port.verify.torch_headers import Torch
from cu2port.verify.units import CXX, HIP, Tree, Unit

_AT_TOP = "setup.py"
_PROGRAM = Path(__file__).with_name("record_setup.py")
_TORCH = re.compile(rb"torch\.utils\.cpp_extension|\bcpp_extension\b")
_PYTHON = ("-DNDEBUG",)  # of CPython's own flags, which setuptools gives to the host's compiler, and torch to it alone
_CXX20 = (2, 12)  # the first torch whose headers need C++20
_HIP_SUFFIXES = (".cu", ".hip")
_CYTHON = ".pyx"  # what a tool makes C++ of, which is no compiler's


def at_top(tree: Path) -> bool:
    """Whether the setup.py at the top of a tree builds extensions of torch."""
    return _is_one(tree / _AT_TOP)


def scripts(tree: Path) -> list[Path]:
    """Each setup.py that builds extensions of torch, relative to a tree: the one at the top, or else all below it and
    those with names such as setup_cuda.py."""
    if at_top(tree):
        return [Path(_AT_TOP)]
    out = []
    for top, below, files in os.walk(tree):
        below[:] = sorted(name for name in below if not name.startswith(".") and name != STATE)
        found = (Path(top, name) for name in sorted(files) if kind_of(name) == "setup")
        out += [file.relative_to(tree) for file in found if _is_one(file)]
    return out


def _is_one(file: Path) -> bool:
    """Whether a file is a setup.py that builds extensions of torch."""
    return file.is_file() and not file.is_symlink() and _TORCH.search(file.read_bytes()) is not None


def units_of(tree: Tree, folder: Path, root: RocmRoot, runner: Runner, asked: str, args: Sequence[str] = ()) -> Built:
    """The units of a tree's extensions. `asked`: where torch is; `args`: words for setup.py. Raises CannotRun in one
    line where no setup.py runs."""
    torch = torch_headers.find(asked)
    copy = folder / "copy"
    shutil.copytree(tree.asked, copy, symlinks=True, ignore=shutil.ignore_patterns(STATE, ".git"))
    all_units: dict[Unit, None] = {}
    extensions: list[Any] = []
    failed: list[str] = []
    for script in scripts(tree.asked):
        at = script.parent
        result = folder / f"extensions{len(extensions)}.json"
        result.unlink(missing_ok=True)
        words = [sys.executable, str(_PROGRAM), script.name, str(root.path), torch.version, str(result), *args]
        ended = runner.run(words, str(copy / at), said_too=True)
        if not result.is_file():
            lines = [line.strip() for line in ended.text.splitlines() if line.strip()]
            late = "it did not end in time (--time-limit)"
            said = late if ended.code is None else lines[-1] if lines else "it says nothing"
            failed.append(f"{script.as_posix()} does not run: {said[:300]}")
            continue
        found = json.loads(result.read_bytes())
        extensions += found
        for extension in found:
            all_units.update(dict.fromkeys(units(extension, tree, copy, at, torch, root.path / "include")))
    if failed and not all_units:
        raise CannotRun(f"{tree.given}: {failed[0]}; {ALONE}")
    languages = ", ".join(f"{sum(u.language == of for u in all_units)} {name}" for of, name in commands.NAMES[:2])
    notes = [f"built by setup.py with a stand-in for torch {torch.version}: {len(extensions)} extensions, {languages}"]
    made = sorted({w for e in extensions for w in e["sources"] if w.endswith(_CYTHON)})
    if made:
        notes.append(f"not compiled, as Cython makes C++ of it: {', '.join(made[:4])}{', ...' * (len(made) > 4)}")
    return Built(list(all_units), notes + failed)


def units(extension: Mapping[str, Any], tree: Tree, copy: Path, at: Path, torch: Torch, rocm: Path) -> list[Unit]:
    """The units of one extension, as torch calls the compilers. `at`: the folder of its setup.py in the tree; `rocm`:
    ROCm's headers, which the host's code needs."""
    common = [f"-I{_own(Path(d), tree, copy, at)}" for d in extension["include_dirs"]]
    common += _folders(torch, rocm)
    common += [f"-D{k}" if v is None else f"-D{k}={v}" for k, v in extension["defines"]]
    common += [f"-U{name}" for name in extension["undefines"]]
    common += _names(extension["name"].rpartition(".")[2])
    out = []
    for written in (w for w in extension["sources"] if not w.endswith(_CYTHON)):
        device = written.endswith(_HIP_SUFFIXES)
        own = _args(extension["args"], device)
        said = [] if any(w.startswith(("-std=", "--std=")) for w in own) else [_standard(torch)]
        of_side = extension.get("for_device", FOR_DEVICE) if device else _PYTHON
        flags = [*(FOR_ALL if extension["device"] else ()), *of_side, *common, *own, *said]
        path = _own(Path(written), tree, copy, at)
        out.append(Unit(str(path), HIP if device else CXX, tuple(flags), str(tree.asked / at)))
    return out


def alone(unit: Unit, torch: Torch, rocm: Path) -> tuple[str, ...]:
    """The options for a unit that no build file names, as `torch.utils.cpp_extension.load` has them. `rocm`: ROCm's
    headers."""
    said = [] if any(w.startswith("-std=") for w in unit.flags) else [_standard(torch)]
    of_side = FOR_DEVICE if unit.language == HIP else _PYTHON
    return (*FOR_ALL, *of_side, *_folders(torch, rocm), *_names(Path(unit.path).stem), *said)


def _folders(torch: Torch, rocm: Path) -> list[str]:
    return [f"-I{d}" for d in (*torch.folders, rocm, sysconfig.get_paths()["include"])]


def _names(extension: str) -> tuple[str, ...]:
    return ("-DTORCH_API_INCLUDE_EXTENSION_H", f"-DTORCH_EXTENSION_NAME={extension}")


def _standard(torch: Torch) -> str:
    numbers = tuple(int(p) for p in torch.version.partition("+")[0].split(".")[:2] if p.isdigit())
    return "-std=c++20" if numbers >= _CXX20 else "-std=c++17"


def _args(args: Any, device: bool) -> Sequence[str]:
    """extra_compile_args: one list for both compilers, or one for each."""
    return tuple(args.get("nvcc" if device else "cxx", ())) if isinstance(args, dict) else tuple(args)


def _own(path: Path, tree: Tree, copy: Path, at: Path) -> Path:
    """A path of the copy, relative to a folder of it, as that of the tree."""
    full = (copy / at / path).resolve()
    real = copy.resolve()
    return tree.asked / full.relative_to(real) if full.is_relative_to(real) else full
