"""rocWMMA's fragments, which belong to a whole wave."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "rocwmma.hip"


def simulated(path: Path) -> subprocess.CompletedProcess[str]:
    words = (sys.executable, "-m", "cu2port", "simulate", str(path), "--wave", "both")
    return subprocess.run(words, capture_output=True, text=True)


def test_products_of_tiles_are_those_of_loops() -> None:
    done = simulated(PROGRAM)
    assert (done.returncode, done.stdout) == (0, "halves: 0 wrong\nbytes: 0 wrong\n"), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong"),
    [("16, In, col_major> y", "16, In, row_major> y"), ("c + 16 * wave, 32, mem_row", "c + 16 * wave, 32, mem_col")],
)
def test_layouts_make_a_difference(right: str, wrong: str, tmp_path: Path) -> None:
    text = PROGRAM.read_text()
    assert right in text
    (tmp_path / "a.hip").write_text(text.replace(right, wrong))
    assert "halves: 0 wrong" not in simulated(tmp_path / "a.hip").stdout
