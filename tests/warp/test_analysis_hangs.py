"""Hazards between lanes: none of our kernels is missed, none of their neighbours is accused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from loading import load

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.warp.analyse import analyse
from cu2port.warp.hazards import hazards

if TYPE_CHECKING:
    from tests.warp.hangs import Seed

SEEDS = load(Path(__file__).with_name("hangs.py"))


def _found(text: str, hazards_only: bool) -> frozenset[str]:
    unit = Unit(text, load_catalog(), path="a.cu")
    return frozenset(h.kind.value for h in hazards(analyse(unit, hazards_only=hazards_only)))


@pytest.mark.parametrize("hazards_only", [True, False], ids=["convert", "lint"])
@pytest.mark.parametrize("seed", SEEDS.LOUD, ids=lambda s: s.name)
def test_a_hazard_is_found(seed: Seed, hazards_only: bool) -> None:
    assert _found(seed.text, hazards_only) == seed.hazards


@pytest.mark.parametrize("hazards_only", [True, False], ids=["convert", "lint"])
@pytest.mark.parametrize("seed", SEEDS.QUIET, ids=lambda s: s.name)
def test_a_neighbour_is_left_alone(seed: Seed, hazards_only: bool) -> None:
    assert not _found(seed.text, hazards_only)


def test_there_are_thirty() -> None:
    assert len(SEEDS.LOUD) >= 30
