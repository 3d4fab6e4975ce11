"""Macros of a command line or of a program that are out of sight while headers of cu2port are read.

CUDA's headers give their parameters names that no program has as macros. Those of the simulator, and the helper headers
that the converted code includes, have names such as `N`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from cu2port.catalog import load_catalog
from cu2port.verify.sim_compiler import HEADERS, INCLUDE_DIR

# what headers of the system ask for, names that no header of ours has, and macros that helper headers ask for
_KEPT = re.compile(r"_|NDEBUG\b|CU2PORT_")
_INNER = ("cu2port_sim", "cu2port_trial", "cuda")  # included by our own headers alone
_SYSTEM = frozenset(  # macros of the system's headers that ours use
    "CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID EINTR FE_DOWNWARD FE_TOWARDZERO FE_UPWARD INFINITY INT_MAX M_PI NAN "
    "SEEK_CUR SEEK_END SEEK_SET WEXITSTATUS WIFEXITED WIFSIGNALED WTERMSIG errno stderr stdout".split()
)
_WORD = re.compile(r"[A-Za-z]\w*")
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)


def shields(defines: Iterable[str], folder: Path, texts: Iterable[str] = ()) -> list[str]:
    """Words that come before all other folders of includes; none where no macro meets a name of a header of ours.

    `defines`: NAME, NAME=VALUE, NAME(ARGS)=VALUE; `texts`: files that may define more. For each header of ours that a
    program can include there is one of the same name below `folder` then, which takes the macros away and gives them
    back.
    """
    names = {m[0] for d in defines if (m := _WORD.match(d))}
    names.update(name for text in texts for name in _DEFINED.findall(text))
    asked = {name for name in names if not _KEPT.match(name)} - _SYSTEM
    asked = {name for name in asked if load_catalog().get(name) is None}  # with CUDA's headers `-D dim3=own` works
    met = sorted(_met(asked)) if asked else []
    if not met:
        return []
    away = "".join(f'#pragma push_macro("{n}")\n#undef {n}\n' for n in met)
    back = "".join(f'#pragma pop_macro("{n}")\n' for n in met)
    for root, header in _headers():
        name = header.relative_to(root)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{away}#include_next <{name}>\n{back}", encoding="utf-8")
    return [f"-I{folder}"]


def _met(asked: set[str]) -> set[str]:
    """Those that are names in our headers, and no macros of theirs."""
    found: set[str] = set()
    own: set[str] = set()
    for folder in (HEADERS, INCLUDE_DIR / "cu2port"):
        for path in folder.rglob("*"):
            if path.is_file():
                text = path.read_text("latin-1")
                found.update(asked.intersection(_WORD.findall(text)))
                own.update(asked.intersection(_DEFINED.findall(text)))
    return found - own


def _headers() -> Iterator[tuple[Path, Path]]:
    """The folder of includes and the header."""
    for folder in HEADERS.iterdir():
        if folder.is_dir() and folder.name not in _INNER:
            yield from ((HEADERS, p) for p in folder.rglob("*") if p.is_file())
    yield from ((INCLUDE_DIR, p) for p in (INCLUDE_DIR / "cu2port").iterdir())
