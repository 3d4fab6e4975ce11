"""Options that several commands have: text in, values out, CannotRun for what is none. Loads little."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cu2port.catalog import load_catalog, own_settings
from cu2port.catalog.rulefile import CatalogError
from cu2port.core.files import read_regular
from cu2port.core.late import dataclass
from cu2port.project.config import Config
from cu2port.project.tree import CannotRun

if TYPE_CHECKING:
    from cu2port.project.compile_db import CompileDb

_OLDEST = (5, 0)
_NEWEST = (10, 0)  # that a row of the catalogue names
_DEFAULT = "7.1"
_MAX_BYTES = 1 << 20  # of a rule file


@dataclass(frozen=True, slots=True)
class Shared:
    """What several commands are asked for. The command line goes before the configuration; lists hold both."""

    rocm: tuple[int, int]
    archs: tuple[str, ...]
    include_dirs: tuple[str, ...]
    defines: tuple[str, ...]
    exclude: tuple[str, ...]
    rules: tuple[tuple[str, str], ...]


def shared(asked: Mapping[str, Any], config: Config) -> Shared:
    """The options of a command line, with what the configuration says where it says nothing. Raises CannotRun."""
    rules = rule_files([*(config.root / r for r in config.rules), *map(Path, asked.get("rules", ()))])
    macros, left_alone = own_settings(rules) if rules else ((), ())
    return Shared(
        rocm=rocm_version(asked.get("rocm") or config.rocm or _DEFAULT),
        archs=gpus(asked.get("archs") or ",".join(config.arch)),
        include_dirs=(
            *(folder("-I", d) for d in asked.get("include_dirs", ())),
            *(str(config.root / d) for d in config.include_dirs),
        ),
        defines=tuple(macro(d) for d in (*macros, *config.defines, *asked.get("defines", ()))),
        exclude=(*left_alone, *config.exclude, *asked.get("exclude", ())),
        rules=rules,
    )


def rule_files(paths: Sequence[Path]) -> tuple[tuple[str, str], ...]:
    """(name for messages, text) of a project's rule files, read and checked. Raises CannotRun."""
    out: list[tuple[str, str]] = []
    for path in paths:
        try:
            out.append((str(path), read_regular(path, _MAX_BYTES).decode("utf-8")))
        except OSError as e:
            raise CannotRun(f"--rules {path}: {e.strerror}") from e
        except UnicodeDecodeError as e:
            raise CannotRun(f"--rules {path}: not UTF-8 ({e.reason} at byte {e.start})") from e
    found = tuple(out)
    if not found:
        return ()
    try:
        load_catalog(found)
    except CatalogError as e:
        raise CannotRun(str(e)) from e
    return found


def gpus(text: str) -> tuple[str, ...]:
    """The GPUs of --arch. Raises CannotRun for what is no GPU's name."""
    if not text:
        return ()
    from cu2port.verify.toolchain import check_archs

    return check_archs(text)


def rocm_version(text: str) -> tuple[int, int]:
    """The version of --rocm. Raises CannotRun when it is none, or too old."""
    m = re.fullmatch(r"(\d{1,3})(?:\.(\d{1,3}))?(?:\.\d+)*", text)
    if not m:
        raise CannotRun(f"--rocm {text}: a version such as 7.1")
    version = (int(m[1]), int(m[2] or 0))
    if version < _OLDEST:
        raise CannotRun(f"--rocm {text}: the oldest ROCm that cu2port knows is {_OLDEST[0]}.{_OLDEST[1]}")
    if version > _NEWEST:
        raise CannotRun(f"--rocm {text}: the newest ROCm that cu2port knows is {_NEWEST[0]}.{_NEWEST[1]}")
    return version


def folder(option: str, text: str) -> str:
    """A folder named on the command line. Raises CannotRun when there is none."""
    if not Path(text).is_dir():
        raise CannotRun(f"{option} {text}: no such folder")
    return text


def commands_of(given: str | None, inputs: Sequence[str]) -> tuple[CompileDb | None, str]:
    """The compile commands of -p or, without it, those in the tree; and a note on them. Raises CannotRun for
    a database that was named; one that was found and cannot be read counts for nothing."""
    from cu2port.project import compile_db

    if given == "none":
        return None, ""
    if given:
        found = compile_db.load(Path(given))
        return found, _differing(found)
    root = Path(inputs[0]).resolve() if len(inputs) == 1 and Path(inputs[0]).is_dir() else None
    path = compile_db.near(root) if root is not None else None
    if path is None or root is None:
        return None, ""
    try:
        found = compile_db.load(path, root)
    except CannotRun as e:
        return None, f"{e}; it is not used"
    where = path.relative_to(root).as_posix()
    return found, f"{where} gives include folders and macros; `-p none` leaves it alone{_differing(found, '; ')}"


def _differing(found: CompileDb, before: str = "") -> str:
    """What is to be said of files that several commands compile in different ways."""
    macros = sorted({name for flags in found.all_of.values() for name in flags.differ})
    if not macros:
        return ""
    some = ", ".join(macros[:5]) + (f" and {len(macros) - 5} more" if len(macros) > 5 else "")
    files = sum(bool(flags.differ) for flags in found.all_of.values())
    what = "file is" if files == 1 else "files are"
    return f"{before}{files} {what} compiled in several ways, which differ in {some}: all branches count there"


def macro(text: str) -> str:
    """A macro as after -D. Raises CannotRun when it is none."""
    if not re.match(r"[A-Za-z_]\w*(?:=|\(|\Z)", text):
        raise CannotRun(f"-D {text}: a macro's name, or NAME=VALUE")
    return text
