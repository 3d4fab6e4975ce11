"""HIP's runtime header in front of units, compiled once: what is kept, and that nothing but the time differs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cu2port.core.data import cache_dir
from cu2port.verify import cccl, sim_build, sim_compiler, simulate

FIRST = '#include <cstdio>\n#define kWave 7\nint main() { printf("%d %d\\n", kWave, warpSize == 64); }\n'
TEXT = ["-include", "hip/hip_runtime.h"]


@pytest.fixture
def gcc(toolchain: sim_compiler.Toolchain) -> sim_compiler.Toolchain:
    if toolchain.is_clang:
        pytest.skip("the C++ compiler here is not gcc")
    return toolchain


def made_by(words: list[str]) -> Path:
    assert words[0] == "-include"
    return Path(words[1] + ".gch")


def second(gcc: sim_compiler.Toolchain, *words: str) -> list[str]:
    gcc.runtime_first(words)
    return gcc.runtime_first(words)


@pytest.mark.slow
def test_one_header_for_all_folders_and_macros(gcc: sim_compiler.Toolchain) -> None:
    plain = second(gcc, *gcc.flags(64), "-O0")
    assert made_by(plain).is_file()
    assert gcc.runtime_first([*gcc.flags(64), "-O0", "-I/nowhere", "-DN=4", "-lm"]) == plain
    assert second(gcc, *gcc.flags(32), "-O0") != plain


def test_words_that_come_once_have_no_header(
    gcc: sim_compiler.Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path))
    assert gcc.runtime_first([*gcc.flags(64), "-O0"]) == TEXT
    assert [p.suffix for p in (tmp_path / "sim").iterdir()] == [""]
    assert gcc.runtime_first([*gcc.flags(32), "-O0"]) == TEXT


def test_words_under_which_the_header_does_not_compile(gcc: sim_compiler.Toolchain) -> None:
    assert second(gcc, *gcc.flags(64), "-fno-such-option") == TEXT


def test_the_runtime_comes_first(simulated: Callable[..., simulate.Ran]) -> None:
    """As with nvcc and hipcc: what a unit defines before it includes the header does not change what that declares."""
    assert simulated(FIRST + "#include <hip/hip_runtime.h>\n").output == b"7 1\n"


def test_a_macro_that_the_header_depends_on(gcc: sim_compiler.Toolchain, tmp_path: Path) -> None:
    """gcc takes no precompiled header then; the unit sees what the macro makes of the header."""
    (tmp_path / "p.hip").write_text("static_assert(sizeof(dim4) == 12);\nint main() {}\n")
    program = sim_build.Program((tmp_path / "p.hip",), defines=("dim3=dim4",), flags=("-O0",))
    built = sim_build.build(program, tmp_path / "built", (64,), gcc)
    assert simulate.run(built[64], (), simulate.Limits(60)).code == 0


def test_headers_that_were_installed_again_are_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """clang includes a header of the same text and another date twice: once from the precompiled one."""
    own = tmp_path / "own" / "h.h"
    own.parent.mkdir()
    own.write_text("#pragma once\n")
    monkeypatch.setattr(sim_compiler, "HEADERS", tmp_path)
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sim_compiler.Toolchain, "call", lambda self, words: Path(words[-1]).touch())
    clang = sim_compiler.Toolchain(("clang++",), "clang 1")
    made = [clang.precompiled("a", "text", ["-O1"], ["own"])[-1] for _ in range(2)]
    os.utime(own, (1, 1))
    later = clang.precompiled("a", "text", ["-O1"], ["own"])[-1]
    assert made[0] == made[1] != later


def test_the_headers_not_used_for_longest_go(tmp_path: Path) -> None:
    for age in range(sim_compiler._MOST_PRECOMPILED + 3):
        path = tmp_path / f"first-{age}.h.gch"
        path.touch()
        os.utime(path, (1e9 - age, 1e9 - age))
    (tmp_path / "runtime-1.o").touch()
    sim_compiler._remove_oldest(tmp_path)
    left = {p.name for p in tmp_path.iterdir()}
    assert left == {"runtime-1.o", *(f"first-{age}.h.gch" for age in range(sim_compiler._MOST_PRECOMPILED))}


@pytest.mark.slow
def test_a_header_that_another_process_removed(
    gcc: sim_compiler.Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*gcc.flags(64), "-O0"]
    text = second(gcc, *words)
    monkeypatch.setattr(sim_compiler.Toolchain, "kept", lambda *_: tmp_path / "gone.h.gch")
    gone = gcc.runtime_first(words)
    assert gone != text and Path(gone[1]).read_text() == "#include <hip/hip_runtime.h>\n"


def test_what_is_used_is_marked_as_used(gcc: sim_compiler.Toolchain) -> None:
    words = [*gcc.flags(64), "-O0"]
    made = made_by(second(gcc, *words))
    os.utime(made, (1e9, 1e9))
    gcc.runtime_first(words)
    assert made.stat().st_mtime > 1e9
    assert made.parent == cache_dir() / "sim"


@pytest.mark.skipif(cccl.find_cccl() is None, reason="Thrust is not installed")
def test_headers_of_thrust_are_put_in_front_where_nothing_else_decides_what_they_hold(tmp_path: Path) -> None:
    asks = "#include <thrust/sort.h>\n"
    assert "#include <thrust/sort.h>" in cccl.common_headers([asks, "int n;"], [tmp_path])
    assert not cccl.common_headers(["#include <hip/hip_runtime.h>\n// thrust/sort.h"], [tmp_path])
    assert not cccl.common_headers([asks, "#define THRUST_NS_QUALIFIER own\n"], [tmp_path])
    (tmp_path / "thrust").mkdir()
    assert not cccl.common_headers([asks], [tmp_path])


@pytest.mark.slow
@pytest.mark.skipif(cccl.find_cccl() is None, reason="Thrust is not installed")
def test_thrust_is_compiled_once_beside_the_runtime(gcc: sim_compiler.Toolchain) -> None:
    words, also = [*gcc.flags(64), "-O0"], cccl.common_headers(["#include <thrust/sort.h>\n"], [])
    plain = second(gcc, *words)
    gcc.runtime_first(words, also)
    with_thrust = gcc.runtime_first(words, also)
    assert with_thrust != plain
    assert made_by(with_thrust).is_file()
