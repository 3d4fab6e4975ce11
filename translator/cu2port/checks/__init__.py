"""The checks, one file each; `all_checks` finds them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from functools import lru_cache

from cu2port.engine.check import Check


@lru_cache(maxsize=1)
def all_checks() -> tuple[Check, ...]:
    """Every check of this folder, by code. A code or name used twice is an error of ours."""
    found: dict[str, Check] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for item in vars(module).values():
            if inspect.isclass(item) and issubclass(item, Check) and item.__module__ == module.__name__:
                check = item()
                clash = next((c for c in found.values() if c.code == check.code or c.name == check.name), None)
                if clash is not None:
                    raise ValueError(f"{check.code} {check.name} and {clash.code} {clash.name} clash")
                found[check.code] = check
    return tuple(found[c] for c in sorted(found))


@lru_cache(maxsize=1)
def by_code() -> Mapping[str, Check]:
    """Every check by its code."""
    return {c.code: c for c in all_checks()}
