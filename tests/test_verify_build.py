"""`verify` of trees with a build: stub packages, compile commands, errors of CMake; CMake itself where it is here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cu2port.build.table import table
from cu2port.cli import cli
from cu2port.project.tree import CannotRun
from cu2port.verify import build, commands, configure, dry_run, packages, recorded, rocm_root, running
from cu2port.verify.units import CXX, HIP, C, Tree, Unit

NO_STUB = "is not on this machine, and there is no stub for it; install it, or name it with --build-arg="
PROJECT = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.18)
project(waves LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
set(CMAKE_CUDA_STANDARD 14)
add_library(waves STATIC src/waves.cu src/host.cpp)
target_include_directories(waves PUBLIC include)
target_compile_features(waves PUBLIC cuda_std_14)
set_target_properties(waves PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
target_compile_options(waves PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -DDAMPING=2>)
target_link_libraries(waves PUBLIC CUDA::cudart)
add_executable(show app/main.cu)
target_link_libraries(show PRIVATE waves)
""",
    "include/waves.h": """#pragma once
#include <cuda_runtime.h>
void step(float* d, int n, cudaStream_t s);
int gpus();
""",
    "src/waves.cu": """#include "waves.h"
__global__ void damp(float* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d[i] /= DAMPING;
}
void step(float* d, int n, cudaStream_t s) { damp<<<(n + 255) / 256, 256, 0, s>>>(d, n); }
""",
    "src/host.cpp": '#include "waves.h"\nint gpus() { int n = 0; cudaGetDeviceCount(&n); return n; }\n',
    "app/main.cu": """#include "waves.h"
int main() {
  float* d;
  cudaMalloc(&d, 64);
  step(d, 16, 0);
  return cudaFree(d);
}
""",
}


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_every_target_of_the_table_has_a_stub() -> None:
    stubs = {target: p.name for p in packages.PACKAGES for target in p.targets}
    rows = table()
    wanted = [(row.to, row.package) for row in rows["target"].values() if row.fate == "rewrite"]
    wanted += [(row.target, row.package) for row in rows["library"].values() if row.fate == "rewrite"]
    wanted += [(row.to, row.package) for row in rows["variable"].values() if row.value and "::" in row.to]
    assert len(wanted) > 40
    for text, package in wanted:
        for target in text.split(";"):
            if target != "roctx64":  # a plain library
                assert stubs[target] in (package.split() or ["hip"]), target


def test_every_package_of_the_table_has_a_stub() -> None:
    names = {p.name for p in packages.PACKAGES}
    assert {n for row in table()["package"].values() for n in row.to.split()} <= names


def test_a_stub_makes_its_targets_once() -> None:
    texts = dict(packages.configs("7.1.0"))
    blas = texts["hipblas/hipblas-config.cmake"]
    assert "add_library(roc::hipblas INTERFACE IMPORTED)" in blas
    assert "lib/libhipblas.so" in blas
    assert "../hip/hip-config.cmake" in blas
    assert blas.count("if(NOT TARGET") == blas.count("add_library(") == blas.count("endif()")
    assert 'set(PACKAGE_VERSION "7.1.0")' in texts["hip/hip-config-version.cmake"]
    assert 'set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET "hip-lang::device")' in texts["hip-lang/hip-lang-config.cmake"]


def test_a_command_keeps_the_build_s_flags() -> None:
    line = "/r/bin/amdclang++ -DA=1 -Iinc -fgpu-rdc --offload-arch=gfx942 -std=gnu++17 -MD -MF x.d -o x.o"
    line += " -x hip -c /t/x.cu"
    found = commands.unit(line.split(), "/t/x.cu", "/t/x.cu", "/b")
    assert found == Unit("/t/x.cu", HIP, ("-DA=1", "-Iinc", "-fgpu-rdc", "-std=gnu++17"), "/b")
    found = commands.unit(["/r/bin/clang++", "-O2", "-c", "y.cpp", "-o", "y.o"], "/t/y.cpp", "y.cpp", "/t")
    assert (found.language, found.flags) == (CXX, ("-O2",))
    found = commands.unit("hipcc -O2 x.cu y.o lib/libz.a -lz -o x".split(), "/t/x.cu", "x.cu", "/t")  # links too
    assert (found.language, found.flags) == (HIP, ("-O2", "-lz"))
    assert commands.unit(["hipcc", "-std=c99", "-c", "y.c"], "/t/y.c", "y.c", "/t").language == C


def test_commands_of_fetched_projects_are_left_out(tmp_path: Path) -> None:
    root = _write(tmp_path / "tree", {"a.cpp": "", "b.cpp": ""})
    folder = _write(tmp_path / "build", {"gen.cpp": "", "_deps/x/y.cpp": ""})
    files = [root / "a.cpp", root / "a.cpp", folder / "gen.cpp", folder / "_deps/x/y.cpp", tmp_path / "other.cpp"]
    rows = [{"directory": str(folder), "file": str(f), "command": f"clang++ -c {f}"} for f in files]
    (folder / "compile_commands.json").write_text(json.dumps(rows))
    found, notes = commands.read(folder / "compile_commands.json", Tree(root, root, "tree"), folder)
    assert [Path(u.path).name for u in found] == ["a.cpp", "gen.cpp"]
    assert notes == ["2 files outside of the tree, of what the build fetches, were left out"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "-- Ok\nCMake Error at src/CMakeLists.txt:7 (message):\n  We want\n  more.\n\n\n-- Bad",
            "src/CMakeLists.txt:7: We want more.",
        ),
        (
            "CMake Error in lib/CMakeLists.txt:\n  HIP_ARCHITECTURES is empty.\n\n",
            "lib/CMakeLists.txt: HIP_ARCHITECTURES is empty.",
        ),
        ("CMake Error: Could not open\n", "Could not open"),
        (
            'CMake Error at /t/CMakeLists.txt:3 (find_package):\n  By not providing "FindEigen9.cmake" in\n  CMAKE_M\n',
            f"CMakeLists.txt:3: the package Eigen9 {NO_STUB}-DEigen9_DIR=...",
        ),
        (
            "CMake Error at /usr/share/cmake/Modules/X.cmake:230 (message):\n  Could NOT find Foo (missing: A)\n"
            "Call Stack (most recent call first):\n  /usr/share/cmake/Y.cmake:9 (z)\n  src/CMakeLists.txt:12 (y)\n",
            f"src/CMakeLists.txt:12: the package Foo {NO_STUB}-DFoo_DIR=...",
        ),
        (
            "CMake Error: The following variables are used in this project, but they are set to NOTFOUND.\n"
            "Please set them or make sure they are set:\nDEVRT_LIB (ADVANCED)\n    linked by target x\n",
            "DEVRT_LIB is linked, and no library was found for it; see its find_library",
        ),
        (
            "CMake Error: The following variables are used in this project, but they are set to NOTFOUND.\n"
            "Please set them or make sure they are set and tested correctly in the CMake files:\n/t/b/BLAS_DIR\n"
            "   used as include directory in directory /t\n",
            "BLAS_DIR is a folder of headers, and none was found for it; see its find_path",
        ),
        ("killed\n\n", "killed"),
    ],
)
def test_the_first_error_of_cmake_is_one_line(text: str, said: str) -> None:
    assert configure.first_error(text, "/t") == said


def test_commands_that_make_prints(tmp_path: Path) -> None:
    root = _write(tmp_path.resolve(), {"Makefile": "", "a.cu": "", "sub/b.cu": "", "sub/c.cpp": "", "d.c": ""})
    text = f"""make: Entering directory '{root}'
mkdir -p obj; echo "hipcc a.cu"
/opt/rocm/bin/hipcc -O3 \\
  -Iinc -c a.cu -o obj/a.o
make[1]: Entering directory '{root}/sub'
hipcc -DX="a b" -c b.cu && g++ -c c.cpp missing.cpp
make[1]: Leaving directory '{root}/sub'
cd sub && hipcc -c b.cu
mpicxx -c sub/c.cpp > log 2>&1
g++ -M d.c >> d.d
ld -o x a.o
"""
    found = list(dry_run.units(text, Tree(root, root, str(root))))
    assert [(os.path.relpath(u.path, root), u.language, u.folder) for u in found] == [
        ("a.cu", HIP, str(root)),
        ("sub/b.cu", HIP, f"{root}/sub"),
        ("sub/c.cpp", CXX, f"{root}/sub"),
        ("sub/b.cu", HIP, f"{root}/sub"),
        ("sub/c.cpp", CXX, str(root)),
    ]
    assert found[0].flags == ("-O3", "-Iinc")
    assert found[-1].flags == ()  # a redirection is the shell's


def test_names_that_the_shell_expands(tmp_path: Path) -> None:
    root = _write(tmp_path.resolve(), {"b.cu": "", "a.cu": "", "sub/c.cu": "", "sub/c.cuh": "", "d.cpp": ""})
    text = f"make: Entering directory '{root}'\nhipcc *.cu ./sub/*.c* -DX=[1] none*.cpp d.cpp -o a.out\n"
    found = list(dry_run.units(text, Tree(root, root, str(root))))
    assert [os.path.relpath(u.path, root) for u in found] == ["a.cu", "b.cu", "sub/c.cu", "d.cpp"]
    assert {u.flags for u in found} == {("-DX=[1]",)}


def test_what_builds_a_tree(tmp_path: Path) -> None:
    tree = Tree(tmp_path, tmp_path, ".")
    assert build.kind(tree) == ""
    (tmp_path / "Makefile").write_text("")
    assert build.kind(tree) == "make"
    (tmp_path / "CMakeLists.txt").write_text("")
    assert build.kind(tree) == "cmake"


needs_cmake = pytest.mark.skipif(
    not (shutil.which("cmake") and (shutil.which("ninja") or shutil.which("make"))), reason="no cmake here"
)


@pytest.mark.slow
@needs_cmake
def test_a_converted_project_configures_and_compiles(tmp_path: Path) -> None:
    source = _write(tmp_path / "waves", PROJECT)
    out = tmp_path / "hip"
    run = CliRunner().invoke(cli, ["convert", str(source), "-o", str(out), "--report", str(tmp_path / "r.json")])
    assert run.exit_code == 0, run.output
    words = ["verify", str(out), "--arch", "gfx942,gfx1100", "--report", str(tmp_path / "r.json"), "-v"]
    rocm = os.environ.get("CU2PORT_TEST_ROCM")
    run = CliRunner().invoke(cli, [*words, *(["--rocm-path", rocm] if rocm else [])])
    if "no compiler for AMD GPUs" in run.output or "no HIP headers" in run.output:
        pytest.skip(run.output)
    assert run.exit_code == 0, run.output
    units = json.loads((tmp_path / "r.json").read_text())["verify"]["units"]
    assert sorted(Path(u["path"]).name for u in units) == ["host.cpp", "main.cu", "waves.cu"]
    assert "2 units in HIP, 1 in C++" in run.output
    broken = (out / "CMakeLists.txt").read_text().replace("find_package(hip ", "find_package(hipsomething ")
    (out / "CMakeLists.txt").write_text(broken)
    run = CliRunner().invoke(cli, words)
    assert run.exit_code == 2
    assert re.search(r"CMakeLists\.txt:\d+: the package hipsomething is not on this machine", run.output)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_make_n_writes_nothing(tmp_path: Path) -> None:
    """The recipes are not run; what they would compile is."""
    text = "all: x.o\nx.o: x.hip\n\techo > made\n\t$(HIPCC) -c x.hip -o x.o\n"
    root = _write(tmp_path / "t", {"Makefile": text, "x.hip": "int f() { return UNKNOWN; }\n"})
    run = subprocess.run(
        [sys.executable, "-m", "cu2port", "verify", str(root), "--arch", "gfx942"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "no compiler for AMD GPUs" in run.stderr or "no HIP headers" in run.stderr:
        pytest.skip(run.stderr)
    assert run.returncode == 1, run.stderr
    assert "UNKNOWN" in run.stdout + run.stderr
    assert sorted(p.name for p in root.iterdir()) == ["Makefile", "x.hip"]


def test_a_missing_cmake_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = _write(tmp_path / "t", {"CMakeLists.txt": "", "x.hip": ""})
    monkeypatch.setattr(configure.shutil, "which", lambda name: None)  # type: ignore[attr-defined]  # the module's own
    with pytest.raises(CannotRun, match=r"cmake is not on PATH; pip install cmake ninja, or give --no-build"):
        configure.configure(Tree(root, root, "t"), tmp_path, None, None, ("gfx942",))  # type: ignore[arg-type]  # unused


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_what_a_dry_run_does_not_show_is_said(tmp_path: Path) -> None:
    root = _write(tmp_path / "t", {"Makefile": "all:\n\tmake --directory gpu\n"})
    with running.Runner(30, str(tmp_path)) as runner:
        rocm = rocm_root.RocmRoot(tmp_path / "rocm", links=False)
        with pytest.raises(
            CannotRun, match=r"no compile command: it stops at `make --directory gpu`, give that folder"
        ):
            dry_run.commands_of(Tree(root, root, "t"), tmp_path, rocm, runner)


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_a_tree_of_two_builds_takes_the_one_that_is_asked_for(tmp_path: Path) -> None:
    root = _write(tmp_path / "t", {"CMakeLists.txt": "", "Makefile": "all:\n\techo none\n", "x.hip": ""})
    for asked, said in (("make", "make -n shows no compile command"), ("cmake", "CMake")):
        run = CliRunner().invoke(cli, ["verify", str(root), "--arch", "gfx942", f"--build-with={asked}"])
        if "no compiler for AMD GPUs" in run.output or "no HIP headers" in run.output:
            pytest.skip(run.output)
        assert run.exit_code == 2
        assert said in run.output


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
@pytest.mark.parametrize("call", ["$(MAKE) -C gpu", "make -j 4 -C gpu", "cd gpu && make", "(cd gpu; V=1; make -s)"])
def test_units_of_nested_makes_are_found_in_their_folders(tmp_path: Path, call: str) -> None:
    files = {"Makefile": f"all:\n\t{call}\n", "gpu/Makefile": "x.o: x.hip\n\thipcc -c x.hip\n", "gpu/x.hip": ""}
    root = _write(tmp_path / "t", files)
    with running.Runner(30, str(tmp_path)) as runner:
        built = dry_run.commands_of(
            Tree(root, root, "t"), tmp_path, rocm_root.RocmRoot(tmp_path / "rocm", False), runner
        )
    assert [(u.path, u.folder) for u in built.units] == [(str(root / "gpu/x.hip"), str(root / "gpu"))]


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_folders_that_the_build_makes_first_are_left_out(tmp_path: Path) -> None:
    """What a library that is fetched first would build is not there; the rest is compiled, and a note counts it."""
    text = "all:\n\tcd build/lib && make -s\n\tcd build/gen && hipcc -c ../../x.hip\n\thipcc -c x.hip\n"
    root = _write(tmp_path / "t", {"Makefile": text, "x.hip": ""})
    with running.Runner(30, str(tmp_path)) as runner:
        built = dry_run.commands_of(
            Tree(root, root, "t"), tmp_path, rocm_root.RocmRoot(tmp_path / "rocm", False), runner
        )
    assert [u.folder for u in built.units] == [str(root)]
    assert any("1 of 1 makes" in note for note in built.notes)


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_a_make_that_is_called_by_name_gets_its_variables(tmp_path: Path) -> None:
    """Each call once, also of one that calls itself; a folder outside of the tree is left alone."""
    text = "all:\n\texport KIND=A; make -C gpu S=x.hip\n\tKIND=B make -C gpu S=x.hip\n\tmake\n\tcd ..; make -C other\n"
    files = {"t/Makefile": text, "t/gpu/Makefile": "x.o: $(S)\n\thipcc -D$(KIND) -c $(S)\n", "t/gpu/x.hip": ""}
    root = _write(tmp_path, {**files, "other/Makefile": "all:\n\thipcc -c ../t/gpu/x.hip\n"}) / "t"
    with running.Runner(30, str(tmp_path)) as runner:
        built = dry_run.commands_of(
            Tree(root, root, "t"), tmp_path, rocm_root.RocmRoot(tmp_path / "rocm", False), runner
        )
    assert [u.flags for u in built.units] == [("-DB",), ("-DA",)]


@pytest.mark.skipif(not (shutil.which("make") and shutil.which("g++")), reason="no make or no g++ here")
def test_a_command_that_builds_a_tree_tells_its_units(tmp_path: Path) -> None:
    """Scripts, variables of the shell and makes by name are followed; what is linked of nothing runs; headers that the
    build makes are found; the tree is left as it was."""
    files = {
        "build.sh": "set -e\nexport KIND=3\nmake -C gpu\nnvcc -o x gpu/k.cu && ./x\n",
        "gpu/Makefile": "HIPCC = none\nall: app\n\t./app\nk.o: k.cu\n\t$(HIPCC) -DK=$(KIND) -I. -c k.cu -o $@\n"
        "made.h:\n\techo 'int f();' > $@\nmain.o: made.h\n\tg++ -I. -c main.cpp -o $@\n"
        "app: main.o k.o\n\tg++ main.o k.o -lamdhip64 -o $@\n",
        "gpu/k.cu": "",
        "gpu/main.cpp": '#include "made.h"\nint main() { return f(); }\n',
    }
    root = _write(tmp_path / "t", files)
    rocm = rocm_root.RocmRoot(tmp_path / "rocm", links=False)
    compiler = f'#!/bin/sh\nexec {shutil.which("g++")} "$@"\n'
    _write(rocm.path, {"bin/hipcc": compiler})
    (rocm.path / "bin/hipcc").chmod(0o755)
    with running.Runner(60, str(tmp_path), build.environment(str(tmp_path))) as runner:
        built = recorded.units_of(Tree(root, root, "t"), tmp_path, rocm, runner, ("sh", "build.sh"))
        with pytest.raises(CannotRun, match="`echo lost` compiles no source of the tree: lost"):
            recorded.units_of(
                Tree(root, root, "t"),
                _write(tmp_path / "2", {"a": ""}),
                rocm_root.RocmRoot(_write(tmp_path / "r2", {"bin/x": ""}), False),
                runner,
                ("echo", "lost"),
            )
    gpu = str(root / "gpu")
    made = f"-I{tmp_path / 'copy/gpu'}"
    assert [(u.path, u.language, u.flags, u.folder) for u in built.units] == [
        (f"{gpu}/main.cpp", CXX, ("-I.", made), gpu),
        (f"{gpu}/k.cu", HIP, ("-DK=3", "-I.", made), gpu),
    ]
    assert "built by `sh build.sh`" in built.notes[0]
    assert built.notes[1:] == ["the build still calls nvcc for gpu/k.cu; no unit was made of that"]
    assert sorted(p.name for p in (root / "gpu").iterdir()) == ["Makefile", "k.cu", "main.cpp"]


def test_a_tree_that_cannot_be_copied_is_one_line(tmp_path: Path) -> None:
    root = _write(tmp_path / "t", {"a.cu": ""})
    os.mkfifo(root / "pipe")
    with running.Runner(30, str(tmp_path)) as runner, pytest.raises(CannotRun, match=r"cannot be copied: .*pipe"):
        recorded.units_of(Tree(root, root, "t"), tmp_path, rocm_root.RocmRoot(tmp_path, False), runner, ("true",))


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_units_are_listed_and_chosen(tmp_path: Path) -> None:
    files = {"Makefile": "all:\n\thipcc -c src/a.cu\n\thipcc -c src/b.cu\n\tg++ -c c.cpp\n", "src/a.cu": "bad"}
    root = _write(tmp_path / "t", {**files, "src/b.cu": "", "c.cpp": ""})
    words = ["verify", str(root), "--arch", "gfx942"]
    run = CliRunner().invoke(cli, [*words, "--list"])
    if "no compiler for AMD GPUs" in run.output or "no HIP headers" in run.output:
        pytest.skip(run.output)
    assert run.output.splitlines() == [f"c++   {root}/c.cpp", f"hip   {root}/src/a.cu", f"hip   {root}/src/b.cu"]
    run = CliRunner().invoke(cli, [*words, "-v", "--only", "c*"])
    assert run.exit_code == 0, run.output
    assert "2 units are not among those of --only" in run.output
    run = CliRunner().invoke(cli, [*words, "--only", "src/z.cu"])
    assert run.exit_code == 2
    assert "--only src/z.cu: none of the 3 units is called so" in run.output


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_makes_by_name_inherit_the_variables_of_the_command_line(tmp_path: Path) -> None:
    files = {"Makefile": "all:\n\tmake -C gpu\n", "gpu/Makefile": "K = 1\nall:\n\thipcc -DK=$(K) -c x.hip\n"}
    root = _write(tmp_path / "t", {**files, "gpu/x.hip": ""})
    with running.Runner(30, str(tmp_path)) as runner:
        rocm = rocm_root.RocmRoot(tmp_path / "rocm", False)
        built = dry_run.commands_of(Tree(root, root, "t"), tmp_path, rocm, runner, ("K=2",))
    assert [u.flags for u in built.units] == [("-DK=2",)]
