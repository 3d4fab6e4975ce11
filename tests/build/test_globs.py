"""Sources that a pattern of CMake's finds: which are marked as HIP, and that CMake finds the same."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cu2port.build.convert import convert
from cu2port.build.globs import _finds
from cu2port.build.words import Asked

TREE = ("a.cu", "a.cpp", "a+b.cu", "k1.cu", "src/b.cu", "src/b.cc", "src/deep/c.cu", "src/deep/c.cuh", "other/d.c")
PATTERNS = (
    *(
        "*.c*",
        "*",
        "*.c[up]*",
        "*.c[^u]*",
        "[!b].c*",
        "?.c?",
        "deep/*.c*",
        "deep/*",
        "d*/*.c*",
        "../*.c*",
        "./deep/../*.c*",
        "../a+*.c*",
    ),
    *("${CMAKE_CURRENT_SOURCE_DIR}/deep/*.c*", "${CMAKE_CURRENT_LIST_DIR}/*.cu*", "../*[0-9].*", "../*/*.c*"),
)
HIP = "set_source_files_properties({} PROPERTIES LANGUAGE HIP)\n"
ONLY_CUDA = 'set(S_HIP ${S})\nlist(FILTER S_HIP INCLUDE REGEX "\\\\.cu$")\n' + HIP.format("${S_HIP}")


def ported(text: str, **asked: Any) -> str:
    return convert(text.encode(), "CMakeLists.txt", Asked("cmake", **asked)).output.decode()


@pytest.mark.skipif(not shutil.which("cmake"), reason="no cmake here")
def test_a_pattern_finds_what_cmake_finds(tmp_path: Path) -> None:
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    kinds = [(kind, p) for p in PATTERNS for kind in ("GLOB", "GLOB_RECURSE")]
    script = tmp_path / "src/x.cmake"
    script.write_text("".join(f'file({kind} X {p})\nmessage("found;${{X}}")\n' for kind, p in kinds))
    said = subprocess.run(["cmake", "-P", script], cwd=script.parent, capture_output=True, text=True, check=True).stderr
    found = [line.split(";")[1:] for line in said.splitlines() if line.startswith("found;")]
    assert len(found) == len(kinds)
    for (kind, pattern), by_cmake in zip(kinds, found, strict=True):
        ours = _finds(pattern, kind == "GLOB_RECURSE", Asked("cmake", "src"), TREE)
        theirs = {os.path.relpath(p, tmp_path) for p in by_cmake if p}
        assert set(ours) == theirs & set(TREE), (kind, pattern)


def test_a_hostile_pattern_takes_no_time() -> None:
    long = f"{'a' * 200}.cu"
    for pattern in ("*a" * 100 + "*b", "[z-a]*.c*", "[*", "[]*", "*[!", "${X" * 50 + "*.c*", "../" * 50 + "*.c*"):
        assert _finds(pattern, True, Asked("cmake", "x"), (long,)) == []


@pytest.mark.parametrize(
    ("command", "added"),
    [
        ("file(GLOB S src/*.c*)\n", ONLY_CUDA),
        ("file(GLOB S src/*)\n", ONLY_CUDA),
        ('file(GLOB S "${PROJECT_SOURCE_DIR}/src/*.c*")\n', ONLY_CUDA),
        ("file(GLOB_RECURSE S CONFIGURE_DEPENDS *.c*)\n", ONLY_CUDA),
        ("file(GLOB S src/*.h*)\n", ""),
        ("file(GLOB S *.c*)\n", ""),
        ("file(GLOB S other/*)\n", ""),
    ],
)
def test_cuda_sources_that_a_pattern_finds_are_marked(command: str, added: str) -> None:
    """Before, CMake would have left them out without a word: it has no language for `.cu` then."""
    asked = {"cuda_sources": frozenset({"src/a.cu"})}
    assert ported(command, **asked) == command + added
    assert ported(command + added, **asked) == command + added
    assert ported(command) == command


def test_a_source_that_is_named_beside_patterns_is_marked() -> None:
    command = "file(GLOB S src/*.cpp src/${N}/a.cu)\n"
    marked = 'set(S_HIP ${S})\nlist(FILTER S_HIP INCLUDE REGEX "\\\\.cu$")\n'
    after = f"{command}{marked}set_source_files_properties(${{S_HIP}} PROPERTIES LANGUAGE HIP)\n"
    assert ported(command) == after
    assert ported(after) == after


def test_sources_that_find_cuda_gives_to_nvcc_are_in_hip() -> None:
    """Whatever their suffix; what a variable lists is marked once."""
    sources = "file(GLOB S src/*.cpp src/*.cu)\n"
    mark = "set_source_files_properties(${S} PROPERTIES %s)\n"
    after = sources + mark % "LANGUAGE HIP"
    assert ported(sources + mark % "CUDA_SOURCE_PROPERTY_FORMAT OBJ") == after
    assert ported(after) == after
    alone = "set_source_files_properties(a.cpp PROPERTIES CUDA_SOURCE_PROPERTY_FORMAT PTX)\n"
    assert ported(alone) == alone


def test_host_sources_that_reach_thrust_are_marked_behind_their_pattern() -> None:
    hosts = frozenset({"lib/src/a.cpp", "lib/b.cpp", "c.cpp"})
    asked = {"folder": "lib", "device_hosts": hosts}
    command = "file(GLOB_RECURSE S *.cpp *.h)\n"
    after = command + HIP.format("b.cpp src/a.cpp")
    assert ported(command, **asked) == after
    assert ported(after, **asked) == after
    assert ported("file(GLOB S *.cpp)\n", **asked) == "file(GLOB S *.cpp)\n" + HIP.format("b.cpp")
    assert ported("file(GLOB S x/*.cpp)\n", **asked) == "file(GLOB S x/*.cpp)\n"
    many = frozenset(f"source_number_{n}.cpp" for n in range(9))
    listed = "".join(f"\n  {name}" for name in sorted(many)) + "\n "
    assert ported("file(GLOB S *.cpp)\n", device_hosts=many) == "file(GLOB S *.cpp)\n" + HIP.format(listed)


def test_renamed_sources_are_still_found() -> None:
    asked = {"renamed": frozenset({"src/a.cu"}), "cuda_sources": frozenset({"src/a.cu"}), "suffix": ".hip"}
    assert ported("file(GLOB S src/*.c* x/*.c*)\n", **asked) == "file(GLOB S src/*.c* src/*.hip x/*.c*)\n"
    assert ported('file(GLOB S "${X}/src/*.c*")\n', **asked) == 'file(GLOB S "${X}/src/*.c*;${X}/src/*.hip")\n'
    for found in ("file(GLOB S src/*)\n", "file(GLOB S src/*.c* src/*.hip)\n", "file(GLOB S src/*.cpp)\n"):
        assert ported(found, **asked) == found


def test_patterns_that_a_function_of_the_project_looks_up_are_marked() -> None:
    text = "function(add t)\n  file(GLOB S ${ARGN})\nendfunction()\nif(CUDA)\n  add(a src/*.cu src/*.cpp)\nendif()\n"
    new = text.replace("  add(", "  file(GLOB_RECURSE HIP_FOUND src/*.cu)\n  " + HIP.format("${HIP_FOUND}") + "  add(")
    assert ported(text.replace("CUDA", "CUDA_FOUND")) == new.replace("CUDA", "hip_FOUND")
    assert ported(new) == new
    for regex in ('add(a ".*\\\\.cu$")', 'list(FILTER S INCLUDE REGEX "a.*.cu")', "install(FILES *.cu)"):
        assert ported(regex) == regex


def test_torch_makes_cuda_a_language() -> None:
    text = "cmake_minimum_required(VERSION 3.5)\nproject(x CXX)\nfind_package(Torch REQUIRED)\nadd_library(a a.cu)\n"
    new = ported(text)
    assert new == (
        "cmake_minimum_required(VERSION 3.21)\nproject(x CXX)\nfind_package(Torch REQUIRED)\nenable_language(HIP)\n"
        + HIP.format("a.cu")
        + "add_library(a a.cu)\n"
    )
    assert ported(new) == new
    assert ported(text.replace("a.cu", "a.cpp")) == text.replace("a.cu", "a.cpp")
    assert ported("enable_language(CUDA)\nfind_package(Torch)\nadd_library(a a.cu)").count("enable_language") == 1
