"""Loads, stores, atomics and instructions between lanes against the manual's reference, as in test_manual.py."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import ptx_accesses
import ptx_warps
import pytest
from ptx_kernels import MAIN

needs_compiler = pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="no C++ compiler")


def accesses(step: int, count: int) -> tuple[list[ptx_accesses.Access], list[list[ptx_accesses.Vector]]]:
    rng = Random(7)
    chosen = [a for kind in ptx_accesses.PATTERNS for a in ptx_accesses.accesses(kind)][::step]
    return chosen, [ptx_accesses.vectors(a, count, rng) for a in chosen]


def access_mistakes(step: int, count: int) -> list[str]:
    pairs = zip(*accesses(step, count), strict=True)
    return [text for a, rows in pairs if (text := ptx_accesses.wrong(a, rows, ptx_accesses.interpreted(a, rows)))]


def test_how_many_there_are() -> None:
    assert [len(ptx_accesses.accesses(kind)) for kind in ptx_accesses.PATTERNS] == [748, 471, 277]
    assert len(ptx_warps.forms()) == 50


def test_accesses_interpreted() -> None:
    assert not access_mistakes(8, 4)


@pytest.mark.slow
def test_every_access_interpreted() -> None:
    assert not access_mistakes(1, 20)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("part", range(2))
def test_accesses_printed(part: int, tmp_path: Path) -> None:
    chosen, tries = accesses(3, 20)
    chosen, tries = chosen[part::2], tries[part::2]
    results = zip(chosen, tries, ptx_accesses.executed(chosen, tries, tmp_path), strict=True)
    assert not [text for a, rows, got in results if (text := ptx_accesses.wrong(a, rows, got))]


@pytest.mark.exhaustive
@needs_compiler
def test_every_access_printed(tmp_path: Path) -> None:
    chosen, tries = accesses(1, 60)
    for at in range(0, len(chosen), 200):
        some, rows = chosen[at : at + 200], tries[at : at + 200]
        results = zip(some, rows, ptx_accesses.executed(some, rows, tmp_path), strict=True)
        assert not [text for a, mine, got in results if (text := ptx_accesses.wrong(a, mine, got))]


def warps(count: int) -> list[list[ptx_warps.Warp]]:
    rng = Random(8)
    return [ptx_warps.warps(f, count, rng) for f in ptx_warps.forms()]


def test_warps_interpreted() -> None:
    pairs = zip(ptx_warps.forms(), warps(8), strict=True)
    assert not [text for f, found in pairs if (text := ptx_warps.wrong(f, found, ptx_warps.interpreted(f, found)))]


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("wave", (32, 64))
def test_warps_printed(wave: int, tmp_path: Path) -> None:
    chosen, tries = ptx_warps.forms(), warps(24)
    results = zip(chosen, tries, ptx_warps.executed(chosen, tries, tmp_path, wave, MAIN), strict=True)
    assert not [text for f, found, got in results if (text := ptx_warps.wrong(f, found, got))]


def test_planted_bugs_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the reference is changed: a sign that is not extended, a shuffle's lower edge."""
    with monkeypatch.context() as m:
        m.setattr(ptx_accesses, "read", lambda code, t: code)
        assert any(text.startswith("ld") and ".s8" in text for text in access_mistakes(8, 4))
    found = [f for f in ptx_warps.forms() if str(f).startswith("shfl.sync.up.b32 %r1, ")]
    assert found
    lanes = ptx_warps.warps(found[0], 8, Random(1))
    got = ptx_warps.interpreted(found[0], lanes)
    assert not ptx_warps.wrong(found[0], lanes, got)
    got[5] = got[4]
    assert ptx_warps.wrong(found[0], lanes, got)
