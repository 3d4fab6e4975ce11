"""What build files say of a tree is read between the answers of workers, and only what may say something."""

from __future__ import annotations

from pathlib import Path

import pytest

from cu2port.core.model import Options
from cu2port.project import build_files
from cu2port.project.convert import run
from cu2port.project.plan import Request
from cu2port.project.sides import Builds, read_builds


def test_macros_of_a_file_that_says_nothing_of_hip_count_where_another_one_has_them(tmp_path: Path) -> None:
    of_hip = "if(USE_ROCM)\n  add_definitions(-DWIDE)\n  add_definitions(-DOWN)\nendif()\n"
    (tmp_path / "CMakeLists.txt").write_text(of_hip)
    (tmp_path / "a.cmake").write_text("add_definitions(-DWIDE)\n")
    (tmp_path / "Makefile").write_text("CC = HIPCC\nall:\n\thipcc a.cu\n")
    files = [(str(path), path.name) for path in tmp_path.iterdir()]
    assert read_builds(files) == Builds("Makefile", frozenset({"OWN"}))


def test_lines_of_a_build_file_without_hip_are_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "CMakeLists.txt").write_text("project(a CUDA)\nadd_definitions(-DWIDE)\n")
    monkeypatch.setattr(build_files, "lines_of", None)
    assert read_builds([(str(tmp_path / "CMakeLists.txt"), "CMakeLists.txt")]) == Builds()


@pytest.mark.parametrize("sources", (1, 2, 40))
def test_build_files_are_read_however_many_sources_there_are(tmp_path: Path, sources: int) -> None:
    tree = tmp_path / "in"
    for k in range(20):
        (tree / f"d{k}").mkdir(parents=True)
        (tree / f"d{k}" / "Makefile").write_text("a: a.cu\n\tnvcc -G a.cu\n")
    for k in range(sources):
        (tree / f"a{k}.cu").write_text("int main() { cudaDeviceReset(); }\n")
    run(Request((str(tree),), "out", str(tmp_path / "out"), Options(use_clang=False), workers=2))
    outputs = [(tmp_path / "out" / f"d{k}" / "Makefile").read_text() for k in range(20)]
    assert all("hipcc" in text for text in outputs)
