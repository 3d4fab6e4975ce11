"""What an estimate is made of: findings, names left, build files, other languages, and building and testing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cu2port.audit import effort
from cu2port.build.languages import may_use
from cu2port.cli import cli

#: A line of each language that uses CUDA, and one that only looks like it.
LINES = {
    ("a.go", "Go (cgo)"): ("#cgo LDFLAGS: -lcudart -lcublas", "// about cuda"),
    ("build.rs", "Rust"): ('println!("cargo:rustc-link-lib=cudart");', "let cuda = 1;"),
    ("b.f90", "Fortran"): ("  use cudafor", "  ! use of cuda"),
    ("c.cuf", "Fortran"): ("attributes(global) subroutine k(x)", "subroutine k(x)"),
    ("d.py", "Python (ctypes)"): ('lib = ctypes.CDLL("libcudart.so")', 'lib = ctypes.CDLL("libm.so")'),
    ("e.py", "Python (cupy, numba, pycuda, cuda-python)"): ("import cupy as cp", "import occupy"),
    ("f.pyx", "Cython"): ('cdef extern from "cuda_runtime.h":', 'cdef extern from "math.h":'),
    ("g.jl", "Julia"): ("using CUDA", "using CUDAless_"),
    ("H.java", "Java"): ("import jcuda.runtime.JCuda;", "import java.util.List;"),
    ("i.cs", "C#"): ('[DllImport("cudart64_12")]', '[DllImport("kernel32")]'),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audited(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(cli, ["audit", ".", "--format", "json", *words])
    document: dict[str, Any] = json.loads(done.stdout)
    return {**document, "exit": done.exit_code}


def part(document: dict[str, Any], start: str) -> dict[str, Any]:
    (found,) = (p for p in document["effort"]["parts"] if p["what"].startswith(start))
    return dict(found)


@pytest.mark.parametrize(("name", "language"), LINES)
def test_another_language_that_uses_cuda_is_named_and_counted(folder: Path, name: str, language: str) -> None:
    sign, other = LINES[name, language]
    assert may_use(name)
    (folder / name).write_text(f"\n{other}\n")
    assert audited()["bindings"] == []
    (folder / name).write_text(f"\n{other}\n{sign}\n")
    document = audited()
    assert [(b["path"], b["line"], b["language"], b["text"]) for b in document["bindings"]] == [
        (name, 3, language, sign.strip())
    ]
    assert part(document, "files of other languages") == {
        "what": "files of other languages that use CUDA", "count": 1, "minutes": effort.LANGUAGE_MIN,
    }  # fmt: skip
    assert document["exit"] == 1 and "nothing to do" not in document["effort"]["words"]
    assert f"{language}: 1 file, first {name}:3 -> " in CliRunner().invoke(cli, ["audit", "."]).stdout


def test_build_files_are_part_of_the_sum(folder: Path) -> None:
    (folder / "CMakeLists.txt").write_text("project(x LANGUAGES CUDA)\nenable_language(CUDA)\nfind_package(CUDA)\n")
    document = audited()
    kinds = 2 * effort.BUILD_KIND_MIN + effort.BUILD_LINE_MIN
    assert part(document, "lines of build files") == {"what": "lines of build files", "count": 3, "minutes": kinds}
    assert document["effort"]["minutes"] == kinds


def test_names_left_and_names_taken_for_the_projects_own_cost_time(folder: Path) -> None:
    (folder / "a.cu").write_text("#include <cuda_runtime.h>\nvoid f() { cudaNeverHeardOfThis(); }\n")
    document = audited()
    left = [n["name"] for n in document["names"] if n["way"] == "hand"]
    told = [x["cuda"] for x in document["findings"] if x["minutes"]]
    assert left == ["cudaNeverHeardOfThis"]
    assert left[0] in told or part(document, "names that look")["count"] == 1
    assert effort.minutes("CU113", "note") == 5 and effort.minutes("CU101", "note") == 0
    assert effort.minutes("CU207", "none") == 480 and effort.minutes("CU103", "none") == effort.NONE_MIN
    assert effort.minutes("CU102", "hand") == 2 and effort.minutes("CU999", "hand") == effort.HAND_MIN


def test_building_and_testing_grow_slower_than_the_code() -> None:
    def testing(lines: int) -> float:
        (found,) = effort.parts((), 0, (), (), lines)
        return found.minutes

    assert testing(1_000) == effort.LINES_MIN
    assert testing(100) == effort.LINES_MIN / 10
    assert testing(100_000) == pytest.approx(10 * effort.LINES_MIN)
    assert effort.parts((), 0, (), (), 0) == []


def test_a_tree_without_cuda_has_nothing_to_do(folder: Path) -> None:
    (folder / "a.cpp").write_text("int x;\n")
    document = audited()
    assert document["effort"]["words"] == "nothing to do: no CUDA was found" and document["exit"] == 0


def test_the_estimate_covers_ports_that_were_made() -> None:
    """The table of docs/audit.md: a day with commits is a lower bound, and two projects count more than the port."""
    rows = [
        r for r in Path(__file__).parents[2].joinpath("docs", "audit.md").read_text("utf-8").splitlines() if " to " in r
    ]
    ports = [[c.strip() for c in r.strip("| ").split("|")] for r in rows if r.startswith("| ") and r.count("|") == 7]
    assert len(ports) >= 5
    covered = 0
    for _, _, _, days, _, estimate in ports:
        low, _, high = estimate.partition(" to ")
        covered += float(low) <= float(days) <= float(high)
    assert covered >= 5
