"""The checks, one file each; `all_checks` finds them.

Loading them all takes longer than converting a file, so `applicable` loads those that a file needs: what decides that
is kept in the user's cache, as long as no module changes that they are made of.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from collections.abc import Iterator, Mapping, Set
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from cu2port.core.data import computed_from
from cu2port.engine.check import Check, Gate, open_gates
from cu2port.facts.unit import Unit


@lru_cache(maxsize=1)
def all_checks() -> tuple[Check, ...]:
    """Every check of this folder, by code. A code or name used twice is an error of ours."""
    found: dict[str, Check] = {}
    for info in pkgutil.iter_modules(__path__):
        for check in _of_module(info.name).values():
            clash = next((c for c in found.values() if c.code == check.code or c.name == check.name), None)
            if clash is not None:
                raise ValueError(f"{check.code} {check.name} and {clash.code} {clash.name} clash")
            found[check.code] = check
    return tuple(found[c] for c in sorted(found))


@lru_cache(maxsize=1)
def by_code() -> Mapping[str, Check]:
    """Every check by its code."""
    return {c.code: c for c in all_checks()}


def applicable(unit: Unit, codes: Set[str] | None = None) -> list[Check]:
    """The checks that may find something in a file, by code. `codes`: no others are asked for."""
    chosen = (g for g in open_gates(gates(), unit) if codes is None or g.code in codes)
    return [_of_module(g.module)[g.code] for g in chosen]


@lru_cache(maxsize=1)
def true_of_hip() -> frozenset[str]:
    """The rules whose findings hold for code that is HIP's already."""
    return frozenset(g.code for g in gates() if g.true_of_hip)


@lru_cache(maxsize=1)
def gates() -> tuple[Gate, ...]:
    """What decides whether a check is called, for every check, by code."""
    return tuple(Gate(*row) for row in computed_from("checks", _made_of(), lambda: [*map(_row, all_checks())]))


def _row(check: Check) -> tuple[Any, ...]:
    module = type(check).__module__.rpartition(".")[2]
    return check.code, module, check.triggers, check.modes, check.true_of_hip, check.of_headers, check.texts


@cache
def _of_module(name: str) -> Mapping[str, Check]:
    """The checks of a module, by code."""
    module = importlib.import_module(f"{__name__}.{name}")
    classes = (x for x in vars(module).values() if inspect.isclass(x) and issubclass(x, Check))
    return {c.code: c for c in (x() for x in classes if x.__module__ == module.__name__)}


def _made_of() -> Iterator[os.DirEntry[str]]:
    """The modules of the rooms that a check may import."""
    rooms = ("checks", "engine", "warp", "ptx", "catalog", "facts", "syntax", "core")
    package = Path(__file__).parent.parent
    todo = [str(package / room) for room in rooms]
    while todo:
        with os.scandir(todo.pop()) as inside:
            for entry in sorted(inside, key=lambda e: e.name):
                if entry.name.endswith(".py"):
                    yield entry
                elif "." not in entry.name and entry.name != "__pycache__":
                    todo.append(entry.path)
