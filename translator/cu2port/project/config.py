"""`[tool.cu2port]` of a pyproject.toml, or a cu2port.toml: found from the working folder upwards, every key checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Literal

from cu2port.core.files import read_json, read_regular
from cu2port.core.late import dataclass
from cu2port.project.tree import CannotRun

if TYPE_CHECKING:
    from cu2port.project.sides import Asked

_OWN, _PYPROJECT = "cu2port.toml", "pyproject.toml"
_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Config:
    """What a tree says about itself. `root`: the folder of the file, or where the tree begins without one; paths and
    globs are relative to it. `source`: the file's name for messages, "" when there is none. None: not set."""

    root: Path
    source: str = ""
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()  # rule files of the project's own
    rocm: str = ""
    arch: tuple[str, ...] = ()
    baseline: str = ""
    warp: str = ""
    hip_side: Asked | Literal[""] = ""
    kernels: Mapping[str, str] = field(default_factory=dict)  # kernel -> its mode, in place of `warp`


HIP_SIDES = ("auto", "convert", "leave")
WARP_MODES = ("logical", "native", "solo", "flag")
KERNEL_MODES = ("solo", "native")
_STRINGS = frozenset({"select", "ignore", "extend-select", "exclude", "include-dirs", "defines", "rules", "arch"})
_STRING = frozenset({"rocm", "baseline", "warp", "hip-side"})
_KEYS = _STRINGS | _STRING | {"per-file-ignores", "kernels"}


def find_config(start: Path) -> Config:
    """The nearest configuration at or above a folder, not above a git tree's top. Raises CannotRun for a bad one."""
    start = start.resolve()
    top = start
    for folder in (start, *start.parents):
        for name in (_OWN, _PYPROJECT):
            path = folder / name
            if path.is_file():
                found = _table(path)
                if found is not None:
                    return _read(path, found)
        if (folder / ".git").exists():
            top = folder
            break
    return Config(top)


def load_config(path: Path) -> Config:
    """The configuration in a file that was named. Raises CannotRun when it is none."""
    if not path.is_file():
        raise CannotRun(f"--config {path}: no such file")
    found = _table(path)
    if found is None:
        raise CannotRun(f"--config {path}: it has no table [tool.cu2port]")
    return _read(path, found)


def _table(path: Path) -> Mapping[str, Any] | None:
    import tomllib  # most trees have no configuration, and compiling its expressions takes a while

    try:
        content = tomllib.loads(read_regular(path, _MAX_BYTES).decode("utf-8"))
    except OSError as e:
        raise CannotRun(f"{path}: {e.strerror}") from e
    except (ValueError, RecursionError) as e:  # also a number of more digits than Python reads
        raise CannotRun(f"{path}: not TOML ({' '.join(str(e).split())})") from e
    if path.name != _PYPROJECT:
        return content
    tool = content.get("tool")
    found = tool.get("cu2port") if isinstance(tool, dict) else None
    if found is not None and not isinstance(found, dict):
        raise CannotRun(f"{path}: tool.cu2port must be a table")
    return found


def _read(path: Path, table: Mapping[str, Any]) -> Config:
    for key in table:
        if key not in _KEYS:
            import difflib

            near = difflib.get_close_matches(key, _KEYS, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there is {', '.join(sorted(_KEYS))}"
            raise CannotRun(f"{path}: unknown key {key!r}{hint}")
    lists = {k: _strings(path, k, table[k]) for k in _STRINGS & table.keys()}
    for key in _STRING & table.keys():
        if not isinstance(table[key], str):
            raise CannotRun(f"{path}: {key} must be a string")
    per_file = table.get("per-file-ignores", {})
    if not isinstance(per_file, dict):
        raise CannotRun(f"{path}: per-file-ignores must be a table of globs and rules")
    for glob in (*lists.get("exclude", ()), *per_file):
        _check_glob(path, glob)
    kernels = table.get("kernels", {})
    if not isinstance(kernels, dict) or not all(v in KERNEL_MODES for v in kernels.values()):
        raise CannotRun(f'{path}: kernels must be a table of kernels\' names and modes, such as `name = "solo"`')
    if table.get("hip-side", "auto") not in HIP_SIDES:
        raise CannotRun(f"{path}: hip-side must be one of {', '.join(HIP_SIDES)}")
    if table.get("warp", "logical") not in WARP_MODES:
        raise CannotRun(f"{path}: warp must be one of {', '.join(WARP_MODES)}")
    baseline = table.get("baseline", "")
    if baseline:
        inside(baseline, f"{path}: baseline")
    for key in ("include-dirs", "rules"):
        for name in lists.get(key, ()):
            inside(name, f"{path}: {key}")
    return Config(
        root=path.resolve().parent,
        source=str(path),
        select=lists.get("select"),
        ignore=lists.get("ignore", ()),
        extend_select=lists.get("extend-select", ()),
        per_file_ignores={g: _strings(path, f"per-file-ignores {g!r}", v) for g, v in per_file.items()},
        exclude=lists.get("exclude", ()),
        include_dirs=lists.get("include-dirs", ()),
        defines=lists.get("defines", ()),
        rules=lists.get("rules", ()),
        rocm=table.get("rocm", ""),
        arch=lists.get("arch", ()),
        baseline=baseline,
        warp=table.get("warp", ""),
        hip_side=table.get("hip-side", ""),
        kernels=dict(kernels),
    )


def _strings(path: Path, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise CannotRun(f"{path}: {key} must be a list of strings")
    return tuple(value)


def _check_glob(path: Path, glob: str) -> None:
    from cu2port.project.ignore import patterns

    try:
        patterns((glob,))
    except ValueError as e:
        raise CannotRun(f"{path}: {glob!r} is no glob ({e})") from e


def read_document(option: str, path: Path, most: int, advice: str = "") -> Any:
    """A JSON file that an option names. Raises CannotRun; `advice`: what to do where there is none."""
    try:
        return read_json(path, most)
    except OSError as e:
        raise CannotRun(f"{option} {path}: {e.strerror}{advice}") from e
    except ValueError as e:
        raise CannotRun(f"{option} {path}: {e}") from e


def inside(text: str, where: str) -> PurePosixPath:
    """A path that a file of the tree names: relative, and not leading out. Raises CannotRun for any other."""
    posix = PurePosixPath(text.replace("\\", "/"))
    strange = posix.is_absolute() or PureWindowsPath(text).drive or "://" in text or "\0" in text
    if strange or ".." in posix.parts or not text:
        raise CannotRun(f"{where}: {text!r} must be a relative path inside the tree")
    return posix
