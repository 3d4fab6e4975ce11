"""The parts of `verify`: lines, messages, compile commands, compilers and headers; then real compilers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cu2port.core import verified
from cu2port.core.model import Options
from cu2port.core.verified import COMPILES, FAILS, MISSING, UNFINISHED, TargetRecord, UnitRecord, VerifyRecord
from cu2port.engine.effects import wave_size
from cu2port.engine.translate import translate
from cu2port.project.compile_db import Flags, parse
from cu2port.project.tree import CannotRun
from cu2port.verify import compile as compiling
from cu2port.verify import headers, toolchain
from cu2port.verify.lines import source_lines
from cu2port.verify.messages import diagnostics, left_of_cuda
from cu2port.verify.sim_compiler import INCLUDE_DIR
from cu2port.verify.units import open_tree

ROOT = Path(__file__).resolve().parent.parent
CASES = sorted(p.parent for p in (ROOT / "samples").glob("*/input.cu"))

# lines


@pytest.mark.parametrize(
    ("source", "output", "lines"),
    [
        (b"a\nb\nc", b"a\nb\nc", [1, 2, 3]),
        (b"", b"", [1]),
        (b"a\nb", b"x\na\nb", [1, 1, 2]),
        (b"#include <cuda.h>\n#include <x>\ncudaFree(p);\n", b"#include <x>\nhipFree(p);\n", [2, 3, 4]),
        (b"cublasCreate(&h);\nCUresult r;\n", b"#include <h>\nhipblasCreate(&h);\nhipError_t r;\n", [1, 1, 2, 3]),
        (b"a\nfirst\nz", b"a\none\ntwo\nz", [1, 2, 2, 3]),
    ],
)
def test_source_lines(source: bytes, output: bytes, lines: list[int]) -> None:
    assert source_lines(source, output) == lines


@given(st.lists(st.sampled_from(["}", "", "cudaFree(p);", "f();", "g();"])), st.integers(0, 9), st.data())
def test_an_added_line_moves_no_other(lines: list[str], at: int, data: st.DataObject) -> None:
    """With one line of its own added, every other line of the output leads back to where it was."""
    at = min(at, len(lines))
    source = "\n".join(lines).encode()
    marked = [line.replace("cuda", "hip") for line in lines]
    marked.insert(at, "#include <hip/new.h>")
    output = "\n".join(marked).encode()
    found = source_lines(source, output)
    assert len(found) == len(marked)
    assert found == sorted(found)
    assert [n for i, n in enumerate(found) if i != at] == list(range(1, len(lines) + 1))


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_lines_of_samples_lead_to_their_like(case: Path) -> None:
    source, output = (case / "input.cu").read_bytes(), (case / "expected.hip").read_bytes()
    old, new = source.split(b"\n"), output.split(b"\n")
    found = source_lines(source, output)
    assert len(found) == len(new)
    assert all(1 <= n <= len(old) for n in found)
    same = [(i, n) for i, n in enumerate(found) if new[i].strip() and new[i] in old]
    assert sum(old[n - 1] == new[i] for i, n in same) >= 0.97 * len(same)


# messages


def test_messages_of_clang() -> None:
    found = diagnostics(
        "In file included from /t/a.hip:3:\n"
        "In file included from /t/b.h:4:\n"
        "/lib/c.h:5:6: error: no matching function for call to 'f'\n"
        "/t/b.h:9:2: note: in instantiation of function template specialization 'g<int>' requested here\n"
        "/lib/c.h:1:1: note: candidate function\n"
        "/t/a.hip:7:8: fatal error: 'x/y.h' file not found\n"
        "/t/a.hip:8:8: error: 'z.h' file not found with <angled> include; use \"quotes\" instead\n"
        "<unknown>:0:0: error: local memory (160000) exceeds limit (65536) in 'k()'\n"
        "clang++-22: error: unsupported option '-x'\n"
        "/t/a b:c.hip:1:35: error: invalid instruction\n"
        "<inline asm>:1:2: note: instantiated into assembly here\n"
        "fatal error: too many errors emitted, stopping now [-ferror-limit=]\n"
        "4 errors generated when compiling for gfx942.\n"
    )
    assert [(d.text, d.missing_header, [tuple(p) for p in d.places]) for d in found] == [
        (
            "no matching function for call to 'f'",
            "",
            [("/lib/c.h", 5, 6), ("/t/b.h", 9, 2), ("/lib/c.h", 1, 1), ("/t/b.h", 4, 1), ("/t/a.hip", 3, 1)],
        ),
        ("'x/y.h' file not found", "x/y.h", [("/t/a.hip", 7, 8)]),
        ("'z.h' file not found with <angled> include; use \"quotes\" instead", "z.h", [("/t/a.hip", 8, 8)]),
        ("local memory (160000) exceeds limit (65536) in 'k()'", "", [("<unknown>", 0, 0)]),
        ("unsupported option '-x'", "", []),
        ("invalid instruction", "", [("/t/a b:c.hip", 1, 35), ("<inline asm>", 1, 2)]),
    ]


@given(st.text())
def test_any_text_has_messages_or_none(text: str) -> None:
    assert len(diagnostics(text)) <= len(text.splitlines())


@pytest.mark.parametrize(
    ("header", "left"),
    [
        ("cuda_runtime.h", True),
        ("cub/cub.cuh", True),
        ("cuda/atomic", True),
        ("thrust/sort.h", False),
        ("hipcub/hipcub.hpp", False),
        ("boost/any.hpp", False),
        ("custom.h", False),
    ],
)
def test_left_of_cuda(header: str, left: bool) -> None:
    assert left_of_cuda(header) is left


# the record


def _record(*units: tuple[str, ...]) -> VerifyRecord:
    names = ("host", "gfx942")
    made = (
        UnitRecord(f"u{i}", "", tuple(TargetRecord(t, v) for t, v in zip(names, u, strict=False)))
        for i, u in enumerate(units)
    )
    return VerifyRecord("c", "path", "1", "/r", "rocm", "7.1", ("gfx942",), tuple(made))


@pytest.mark.parametrize(
    ("units", "code"),
    [
        (((COMPILES, COMPILES),), 0),
        (((COMPILES, COMPILES), (MISSING, MISSING)), 0),
        (((COMPILES, FAILS),), 1),
        (((COMPILES, UNFINISHED),), 1),
        (((MISSING, MISSING), (FAILS, COMPILES)), 1),
        (((MISSING, MISSING),), 2),
    ],
)
def test_exit_code(units: tuple[tuple[str, ...], ...], code: int) -> None:
    record = _record(*units)
    assert record.exit_code == code
    assert sum(record.counts.values()) == len(units)
    assert list(verified.summary(record))


# compile commands


def test_words_of_a_command_that_are_kept() -> None:
    words = (
        "nvcc -Ia -I b -isystem c -isystemd -DX -D Y=1 -DX=2 -UY -U Z --std=c++17 -std c++20 -std=evil;rm "
        "-include f.h -includeg.h -includes -Xcompiler -fopenmp -o out @rsp -I"
    )
    assert parse(words.split(), Path("/b")) == Flags(
        include_dirs=("/b/a", "/b/b", "/b/c", "/b/d", "/b"),
        defines=("X=2",),
        undefines=("Y", "Z"),
        forced=("/b/f.h", "/b/g.h", "/b/s"),
        std="c++20",
    )


# compilers and headers


def _program(path: Path, version: str, probe: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"#!{sys.executable}\nimport sys\nif '--version' in sys.argv: print('''{version}''')\nelse:\n  pass\n{probe}\n"
    )
    path.chmod(0o755)
    return path


def test_the_order_of_compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ROCm's own before the newest clang on PATH, that before the wheels; what cannot compile for the GPU is passed."""
    monkeypatch.setattr(toolchain, "_package", lambda name: None)
    monkeypatch.setattr(toolchain, "rocm_roots", lambda: iter([tmp_path / "rocm"]))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def kind() -> tuple[str, str]:
        found = toolchain.find("", ["gfx942"], str(tmp_path))
        return found.kind, found.version

    with pytest.raises(CannotRun, match="no compiler for AMD GPUs found"):
        kind()
    _program(tmp_path / "bin/clang++", "Debian clang version 14.0.6")
    assert kind() == ("path", "Debian clang version 14.0.6")
    _program(tmp_path / "bin/clang++-21", "clang version 21.1.0")
    assert kind() == ("path", "clang version 21.1.0")
    _program(tmp_path / "bin/clang++-22", "clang version 22.1.8", "if '-' in sys.argv: sys.exit('error: no amdgcn')")
    assert kind() == ("path", "clang version 21.1.0")
    _program(tmp_path / "rocm/bin/amdclang++", "AMD clang version 20.0.0git (x)")
    assert kind() == ("rocm", "AMD clang version 20.0.0git (x)")
    _program(tmp_path / "rocm/bin/hipcc", "HIP version: 7.1.1\nAMD clang version 20.0.0git (x)")
    assert kind() == ("rocm", "HIP version: 7.1.1, AMD clang version 20.0.0git (x)")
    asked = toolchain.find("clang++-21", ["gfx942"], str(tmp_path))
    assert (asked.kind, asked.version) == ("given", "clang version 21.1.0")


def test_wheels_of_two_clangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resources = tmp_path / "tidy/data/lib/clang/22"
    (resources / "include").mkdir(parents=True)
    (resources / "include/__clang_hip_runtime_wrapper.h").touch()
    zig = _program(tmp_path / "ziglang/zig", "clang version 22.1.8")
    folders = {"ziglang": tmp_path / "ziglang", "clang_tidy": tmp_path / "tidy"}
    monkeypatch.setattr(toolchain, "_package", folders.get)
    found = toolchain.find("wheels", ["gfx942"], str(tmp_path))
    assert found.command[:4] == (str(zig), "clang", "-resource-dir", str(resources))
    _program(tmp_path / "ziglang/zig", "clang version 21.1.0")
    with pytest.raises(CannotRun, match="is clang 21, but clang-tidy's wheel has the headers of clang 22"):
        toolchain.find("wheels", ["gfx942"], str(tmp_path))
    folders.pop("clang_tidy")
    with pytest.raises(CannotRun, match="not installed"):
        toolchain.find("wheels", ["gfx942"], str(tmp_path))


def test_headers_out_of_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Laid out once, whole, under the version's name; an own ROCm goes first."""
    hip = tmp_path / "site/triton/backends/amd/include/hip"
    hip.mkdir(parents=True)
    (hip / "hip_runtime.h").write_text("// runtime\n")
    defines = "".join(f"#define HIP_VERSION_{k} {v}\n" for k, v in (("MAJOR", 7), ("MINOR", 1), ("PATCH", 25424)))
    (hip / "hip_version.h").write_text(defines)
    monkeypatch.setattr(headers, "_triton", lambda: (hip.parent, "triton-3.9.0"))
    monkeypatch.setattr(headers, "rocm_roots", lambda: iter(()))
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    found = headers.find("", None)
    assert found.root == tmp_path / "cache/hip/triton-3.9.0-hip-7.1.25424-1"
    assert (found.origin, found.version, found.want_wave_macro) == ("wheel triton-3.9.0", "7.1.25424", False)
    version = (found.root / "share/hip/version").read_text()
    assert version == "HIP_VERSION_MAJOR=7\nHIP_VERSION_MINOR=1\nHIP_VERSION_PATCH=25424\n"
    before = (found.include / "hip/hip_runtime.h").stat().st_ino
    assert (headers.find("", None).include / "hip/hip_runtime.h").stat().st_ino == before
    assert [p.name for p in found.root.parent.iterdir()] == [found.root.name]
    own = tmp_path / "rocm"
    (own / "include/hip").mkdir(parents=True)
    (own / "include/hip/hip_runtime.h").touch()
    assert headers.find("", own) == headers.Headers(own, "rocm")
    monkeypatch.setattr(headers, "_triton", lambda: None)
    with pytest.raises(CannotRun, match="no HIP headers found"):
        headers.find("", None)


def test_wave_size() -> None:
    sizes = {a: wave_size(a) for a in "gfx803 gfx906 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201".split()}
    assert [a for a, n in sizes.items() if n == 32] == ["gfx1030", "gfx1100", "gfx1201"]


def test_a_damaged_manifest(tmp_path: Path) -> None:
    (tmp_path / ".cu2port").mkdir()
    (tmp_path / ".cu2port/manifest.json").write_text("[")
    with pytest.raises(CannotRun, match="is damaged"):
        open_tree(str(tmp_path))


# real compilers


@pytest.fixture
def small_hip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A HIP of a dozen lines, for compilers without the real headers."""
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    hip = tmp_path / "rocm/include/hip"
    hip.mkdir(parents=True)
    (hip / "hip_version.h").write_text("#define HIP_VERSION_MAJOR 7\n#define HIP_VERSION_MINOR 1\n")
    (hip / "hip_runtime.h").write_text(
        "#pragma once\n#ifndef __global__\n#define __global__ __attribute__((global))\n"
        "#define __shared__ __attribute__((shared))\n#endif\n"
        'typedef int hipError_t;\nextern "C" hipError_t hipFree(void*);\n'
    )
    share = tmp_path / "rocm/share/hip"
    share.mkdir(parents=True)
    (share / "version").write_text("HIP_VERSION_MAJOR=7\nHIP_VERSION_MINOR=1\nHIP_VERSION_PATCH=0\n")
    return tmp_path / "rocm"


def _real(rocm: Path, path: Path, compiler: str = "") -> VerifyRecord:
    try:
        toolchain.find(compiler, ["gfx942"], str(rocm))
    except CannotRun as e:
        pytest.skip(f"no compiler for AMD GPUs here: {e}")
    return compiling.run(compiling.Request(str(path), ("gfx942", "gfx1100"), compiler, str(rocm), workers=1))


@pytest.mark.slow
def test_a_real_compiler(small_hip: Path, tmp_path: Path) -> None:
    """Machine code is made: what only the assembler or the back end sees is seen."""
    write = tmp_path.joinpath
    head = "#include <hip/hip_runtime.h>\n"
    (tmp_path / "out").mkdir()
    write("out/good.hip").write_text(
        head + "__global__ void k(int* p) { *p = 1; }\nint main() { return hipFree(0); }\n"
    )
    write("out/asm.hip").write_text(head + '__global__ void k() {\n  asm volatile("mov.u32 %tid");\n}\n')
    write("out/lds.hip").write_text(
        head + "__global__ void k(int* p, int i) {\n  __shared__ int x[40000];\n  x[i] = 1;\n  p[0] = x[p[1]];\n}\n"
    )
    write("out/host.hip").write_text(head + "int main() { return hipFre(0); }\n")
    write("out/plain.cpp").write_text(head + "#include <vector>\nint main() { return hipFree(0); }\n")
    record = _real(small_hip, tmp_path / "out")
    found = {Path(u.path).name: u for u in record.units}
    assert {name: u.verdict for name, u in found.items()} == {
        "good.hip": COMPILES,
        "asm.hip": FAILS,
        "lds.hip": FAILS,
        "host.hip": FAILS,
        "plain.cpp": COMPILES,
    }
    asm = {t.target: t for t in found["asm.hip"].targets}
    assert asm["host"].verdict == COMPILES
    assert (asm["gfx942"].errors[0].line, asm["gfx942"].verdict) == (3, FAILS)
    assert "exceeds limit (65536)" in found["lds.hip"].targets[1].errors[0].message
    assert found["host.hip"].targets[0].errors[0].line == 2


# Samples that show what a port leaves to a person, and so do not compile as they come out.
LEFT_TO_A_PERSON = {
    "cuda_std_atomic": "std::span is of C++20",
    "textures": "gfx942 has no texture units",
}


@pytest.fixture
def sample_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The converted samples as a tree."""
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    for case in CASES:
        (tmp_path / "out" / case.name).mkdir(parents=True)
        for path in case.glob("expected.*"):
            name = "main.hip" if path.name == "expected.hip" else path.name.removeprefix("expected.")
            (tmp_path / "out" / case.name / name).write_bytes(path.read_bytes())
            if b"cu2port/" in path.read_bytes():
                shutil.copytree(INCLUDE_DIR / "cu2port", tmp_path / "out" / case.name / "cu2port", dirs_exist_ok=True)
    return tmp_path / "out"


@pytest.mark.slow
def test_samples_compile(sample_tree: Path, tmp_path: Path) -> None:
    """Every sample whose headers are here, except for those that show what is left to a person; then the wheels and a
    clang say the same of those with messages, and of every third of the others. With CU2PORT_TEST_ROCM against that
    ROCm, else against triton's headers."""
    rocm = os.environ.get("CU2PORT_TEST_ROCM", "")
    try:
        toolchain.find("wheels", ["gfx942", "gfx1100"], str(tmp_path))
        headers.find(rocm, None)
    except CannotRun as e:
        pytest.skip(f"the wheels of cu2port[verify] are not here: {e}")
    asked = compiling.Request(str(sample_tree), ("gfx942", "gfx1100"), "wheels", rocm, std="c++17", limit_s=900)
    record = compiling.run(asked)
    assert record.compiler_kind == "wheels"
    found = {Path(u.path).parent.name: u.verdict for u in record.units}
    assert found.keys() == {case.name for case in CASES}
    assert {name for name, v in found.items() if v in (FAILS, UNFINISHED)} <= LEFT_TO_A_PERSON.keys()
    assert {name for name in LEFT_TO_A_PERSON if found[name] == COMPILES} == set(), "strike what compiles now"
    assert record.counts[COMPILES] >= 10
    clang = shutil.which("clang++-22")
    if clang is None:
        pytest.skip("no clang++-22 here")  # what the wheels say is tested
    twice = [u for n, u in enumerate(record.units) if n % 3 == 0 or u.verdict != COMPILES]
    for case in {*sample_tree.iterdir()} - {sample_tree / Path(u.path).parent.name for u in twice}:
        shutil.rmtree(case)
    assert {u.verdict for u in twice} >= {COMPILES, FAILS}
    assert list(compiling.run(replace(asked, compiler=clang)).units) == twice


#: Helper headers that are parts of `ptx.hpp` and `mma.hpp`, which include them.
PARTS = ("ptx_", "mma_")


@pytest.mark.parametrize("whole", ["ptx", "mma"])
def test_helper_headers_include_their_parts(whole: str) -> None:
    parts = sorted((INCLUDE_DIR / "cu2port").glob(f"{whole}_*"))
    text = "".join(p.read_text() for p in (INCLUDE_DIR / "cu2port" / f"{whole}.hpp", *parts))
    assert parts and [p.name for p in parts if f'#include "{p.name}"' not in text] == []


@pytest.mark.slow
def test_helper_headers_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each helper header, alone; with CU2PORT_TEST_ROCM against that ROCm."""
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    rocm = os.environ.get("CU2PORT_TEST_ROCM", "")
    try:
        toolchain.find("", ["gfx942", "gfx1100"], str(tmp_path))
        headers.find(rocm, None)
    except CannotRun as e:
        pytest.skip(f"the wheels of cu2port[verify] are not here: {e}")
    tree = tmp_path / "out"
    shutil.copytree(INCLUDE_DIR / "cu2port", tree / "cu2port")
    alone = [p for p in (tree / "cu2port").iterdir() if not p.name.startswith(PARTS)]
    for path in alone:
        (tree / f"{path.stem}.hip").write_text(f'#include "cu2port/{path.name}"\n__global__ void k() {{}}\n')
    asked = compiling.Request(str(tree), ("gfx942", "gfx1100"), rocm_path=rocm, std="c++17", limit_s=900)
    record = compiling.run(asked)
    assert len(record.units) == len(alone)
    assert not record.counts[FAILS] and not record.counts[UNFINISHED], list(verified.lines(record, 0))
    assert record.counts[COMPILES] >= 1


@pytest.mark.slow
def test_without_headers_of_the_system(small_hip: Path, tmp_path: Path) -> None:
    """A machine with neither C nor C++ headers: libclang-ng's and ziglang's are in."""
    try:
        wheels = toolchain.find("wheels", ["gfx942"], str(tmp_path))
    except CannotRun as e:
        pytest.skip(f"the wheels of cu2port[verify] are not here: {e}")
    bare = tmp_path / "clang-without-headers"
    empty = tmp_path / "empty"
    empty.mkdir()
    words = " ".join(f"'{w}'" for w in (*wheels.command, f"--sysroot={empty}"))
    bare.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    bare.chmod(0o755)
    assert subprocess.run(
        [bare, "-x", "c", "-E", "-"], input="#include <stdio.h>\n", text=True, capture_output=True
    ).returncode
    (tmp_path / "a.hip").write_text(
        "#include <hip/hip_runtime.h>\n#include <algorithm>\n#include <cstdio>\n#include <vector>\n"
        '__global__ void k(int* p) { *p = 1; }\nint main() { std::vector<int> v(3); std::printf("%zu", v.size()); }\n'
    )
    record = _real(small_hip, tmp_path / "a.hip", str(bare))
    assert "-nostdinc++" in record.compiler
    assert record.counts[COMPILES] == 1, list(verified.lines(record, 1))


def test_convert_leads_back_to_the_line(tmp_path: Path) -> None:
    """The lines of a conversion with includes dropped and added."""
    source = b"#include <cuda.h>\n#include <cuda_runtime.h>\n#include <stdio.h>\nint f() { return cudaFree(0); }\n"
    output = translate(source, Options(), path="a.cu").output
    at = output.split(b"\n").index(b"int f() { return hipFree(0); }")
    assert source_lines(source, output)[at] == 4
