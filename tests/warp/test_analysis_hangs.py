"""Hazards between lanes: none of our kernels is missed, none of their neighbours is accused."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from cu2port.catalog import load_catalog
from cu2port.unit import Unit
from cu2port.warp.analyse import analyse
from cu2port.warp.hazards import hazards


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SEEDS = _load("hangs")


def _found(text: str) -> frozenset[str]:
    unit = Unit(text, load_catalog(), path="a.cu")
    return frozenset(h.trouble.value for h in hazards(analyse(unit, hazards_only=True)))


@pytest.mark.parametrize("seed", SEEDS.LOUD, ids=lambda s: s.name)
def test_a_hazard_is_found(seed: object) -> None:
    assert _found(seed.text) == seed.trouble  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", SEEDS.QUIET, ids=lambda s: s.name)
def test_a_neighbour_is_left_alone(seed: object) -> None:
    assert not _found(seed.text)  # type: ignore[attr-defined]


def test_there_are_thirty() -> None:
    assert len(SEEDS.LOUD) >= 30
