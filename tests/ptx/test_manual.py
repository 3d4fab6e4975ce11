"""Every form that computes, three times: by a reference written from the manual apart from the converter
(tests/lib/ptx_integers.py, ptx_floats.py), by the interpreter, and by the converted kernels in the simulator."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from ptx_forms import FAMILIES, forms
from ptx_kernels import Form, executed, interpreted, together, wrong

from cu2port.ptx import ops


def mistakes(family: str, step: int, count: int, seed: int) -> list[str]:
    """What the interpreter computes otherwise, of every so many forms."""
    chosen = forms(family)[seed % step :: step]
    together(chosen, count, Random(seed))
    return [text for f in chosen if (text := wrong(f, interpreted(f)))]


def printed_mistakes(groups: list[list[Form]], folder: Path) -> list[str]:
    if shutil.which("g++") is None and shutil.which("clang++") is None:
        pytest.skip("no C++ compiler")
    return [text for f, got in executed(groups, folder) if (text := wrong(f, got))]


def test_how_many_forms_there_are() -> None:
    counts = {family: len(forms(family)) for family in FAMILIES}
    assert counts["integer"] == 161
    assert counts["convert"] == 850
    assert sum(counts.values()) == 7822
    assert [str(f) for family in FAMILIES for f in forms(family) if f.meaning() is None] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_interpreter(family: str) -> None:
    assert not mistakes(family, 12, 6, 1)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_interpreter_of_every_form(family: str) -> None:
    assert not mistakes(family, 1, 12, 2)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_printed(family: str, tmp_path: Path) -> None:
    """What is printed; of comparisons and video instructions, which are many of the same kind, each third."""
    step = 3 if family in ("compare", "video") else 1
    assert not printed_mistakes(together(forms(family)[::step], 40, Random(3)), tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("family", FAMILIES)
def test_printed_of_every_form(family: str, tmp_path: Path) -> None:
    groups = together(forms(family), 400, Random(4))
    for at in range(0, len(groups), 200):
        assert not printed_mistakes(groups[at : at + 200], tmp_path)


def test_a_planted_bug_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong_shift = replace(ops.SHL_ANY, meaning=lambda v, a, n: a << (n & 31) & v.type.mask)
    monkeypatch.setattr(ops, "SHL_ANY", wrong_shift)
    assert any(text.startswith("shl.b32") for text in mistakes("logic", 1, 20, 1))
