"""The user's cache: what older versions left goes, what is in use stays or is rebuilt."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cu2port.core.data import prune_cache

ROOT = Path(__file__).resolve().parent.parent
DAY_S = 24 * 60 * 60


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache" / "sim").mkdir(parents=True)
    return tmp_path / "cache"


def make(cache: Path, *names: str) -> None:
    for name in names:
        (cache / name).write_bytes(b"x")


def left(cache: Path) -> set[str]:
    return {p.relative_to(cache).as_posix() for p in cache.rglob("*") if p.is_file()}


OURS = ("catalog-a.bin", "shim-a.h", "pch-a-0.pch", "sim/runtime-a.o", ".new-a.pch")


def test_young_files_stay(cache: Path) -> None:
    make(cache, *OURS, "other")
    prune_cache()
    assert left(cache) == {*OURS, "other"}


def test_old_files_go_and_what_is_not_of_these_kinds_stays(cache: Path) -> None:
    make(cache, *OURS, "other", "catalog-a.txt")
    prune_cache(time.time() + 31 * DAY_S)
    assert left(cache) == {"other", "catalog-a.txt"}


def test_a_file_that_was_read_lately_stays(cache: Path) -> None:
    """A shim's own time is fixed, so it says nothing."""
    make(cache, "shim-a.h", "shim-b.h")
    later = time.time() + 31 * DAY_S
    os.utime(cache / "shim-a.h", (later - DAY_S, 1_000_000_000))
    os.utime(cache / "shim-b.h", (1_000_000_000, 1_000_000_000))
    prune_cache(later)
    assert left(cache) == {"shim-a.h"}


def test_of_many_files_the_newest_stay(cache: Path) -> None:
    names = [f"catalog-{i:02}.bin" for i in range(20)]
    make(cache, *names)
    soon = time.time() + 60
    for i, name in enumerate(names):
        os.utime(cache / name, (soon + i, soon))
    prune_cache(soon)
    assert left(cache) == set(names[4:])


def test_a_file_that_cannot_go_stays(cache: Path) -> None:
    (cache / "catalog-a.bin").mkdir()
    make(cache, "shim-a.h")
    prune_cache(time.time() + 31 * DAY_S)
    assert (cache / "catalog-a.bin").is_dir()
    assert left(cache) == set()


def test_no_cache_is_no_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(cache / "none"))
    prune_cache()


def test_runs_that_use_the_cache_while_it_is_emptied_all_succeed(cache: Path, tmp_path: Path) -> None:
    """Each run reads or makes what the others drop."""
    (tmp_path / "a.cu").write_text("void cudaFree(int); void f(cudaMemLocation x) { cudaMemAdvise(p, 1, a, x); }\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    words = [sys.executable, "-m", "cu2port", "convert", "a.cu", "-q", "-o"]
    runs = [
        subprocess.Popen([*words, f"{i}.hip"], env=env, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        for i in range(2)
    ]
    while any(r.poll() is None for r in runs):
        prune_cache(time.time() + 31 * DAY_S)
        time.sleep(0.1)
    assert [(r.communicate()[1], r.returncode) for r in runs] == [("", 0)] * 2
    assert len({(tmp_path / f"{i}.hip").read_bytes() for i in range(2)}) == 1
    assert b"hipMemAdvise_v2" in (tmp_path / "0.hip").read_bytes()
