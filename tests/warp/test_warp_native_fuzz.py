"""Random kernels: what `--warp native` rewrites gives CUDA's answer on wavefronts of 32 lanes and of 64; what lanes do
in branches and loops is the same with `--warp logical` and `solo`.

CU2PORT_FUZZ_KERNELS says how many kernels the slow runs try, CU2PORT_FUZZ_SEED where they begin.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from loading import load

HERE = Path(__file__).parent
fuzz, warps = load(HERE / "native_fuzz.py"), load(HERE / "warp_fuzz.py")
COUNT = int(os.environ.get("CU2PORT_FUZZ_KERNELS", "24"))
SEED = int(os.environ.get("CU2PORT_FUZZ_SEED", "1000"))


def _natives(seed: int, count: int) -> list[object]:
    """The next kernels, from a seed on, that become native."""
    out: list[object] = []
    while len(out) < count:
        c = fuzz.case(seed)
        seed += 1
        if fuzz.is_native(c):
            out.append(c)
    return out


def _compared(seed: int, count: int, folder: Path) -> None:
    wrong, compared = fuzz.compare(_natives(seed, count), folder)
    assert [c.source for c in wrong] == []
    assert compared >= count // 3  # others do not compile, or trap


def _same(seed: int, count: int, folder: Path) -> None:
    cases = [fuzz.Case(f"seed{s}", warps.Writer(s).kernel()) for s in range(seed, seed + count)]
    logical = fuzz.answers(cases, "logical", (32, 64), folder / "logical")
    solo = fuzz.answers(cases, "solo", (64,), folder / "solo")
    assert len(cases) == count
    for c in cases:
        right = logical[32][c.name]
        assert right.startswith("0 ") and logical[64][c.name] == right, c.source
        assert solo[64][c.name] == right, c.source


@pytest.mark.slow
def test_native(tmp_path: Path) -> None:
    _compared(0, 10, tmp_path)


@pytest.mark.slow
def test_lanes_part_and_meet(tmp_path: Path) -> None:
    _same(0, 6, tmp_path)


@pytest.mark.slow
def test_native_for_long(tmp_path: Path) -> None:
    for k in range(0, COUNT, 50):
        _compared(SEED + 1000 * k, min(50, COUNT - k), tmp_path / str(k))


@pytest.mark.slow
def test_lanes_for_long(tmp_path: Path) -> None:
    for k in range(0, COUNT, 50):
        _same(SEED + k, min(50, COUNT - k), tmp_path / str(k))
