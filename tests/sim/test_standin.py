"""Stand-in compilers: command lines, projects with builds of their own, and what a session tells of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import util
from pathlib import Path

import pytest

from cu2port.project.tree import CannotRun
from cu2port.verify.cccl import find_cccl
from cu2port.verify.sim_compiler import find_toolchain
from cu2port.verify.standin import driver, log, session, toolkit
from cu2port.verify.standin.words import _COMMON, _HIPCC, _NVCC, Job, Source, read

PROJECTS = Path(__file__).parent / "projects"
COMMAND = (sys.executable, "-m", "cu2port")
KERNEL = """
__device__ int twice(int x) { return 2 * x; }
__global__ void k(int* p) { p[threadIdx.x] = __shfl_down_sync(~0u, twice(threadIdx.x), 1); }
int run() {
    int *p, x[32];
    cudaMalloc(&p, sizeof x);
    k<<<1, 32>>>(p);
    cudaMemcpy(x, p, sizeof x, cudaMemcpyDeviceToHost);
    return x[FROM] == 2 * FROM + 2 ? 0 : 1;
}
"""
MAIN = """
#include <cstdio>
#include <cuda_runtime.h>
#include "run.h"
int main() { cudaStream_t none = nullptr; std::puts("ran"); return cudaStreamSynchronize(none) + run(); }
"""


def called(*words: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], cwd=cwd, capture_output=True, text=True, timeout=600, env={**os.environ, **variables}
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.cu").write_text(KERNEL)
    (tmp_path / "main.cpp").write_text(MAIN)
    (tmp_path / "run.h").write_text("int run();\n")
    return tmp_path


def sources(words: Sequence[str], mode: str = "nvcc") -> list[tuple[str, str]]:
    return [(str(s.path), s.language) for s in read(mode, words).sources]


def test_words_of_nvcc() -> None:
    line = read(
        "nvcc",
        "-std=c++17 -O3 -gencode arch=compute_80,code=sm_80 --generate-code=arch=compute_90,code=[sm_90] -arch sm_70 "
        "-Xcompiler -Wall,-fPIC --compiler-options=-march=native -Xptxas -v -lineinfo --expt-relaxed-constexpr -I a,b "
        "--include-path c -isystem d -DX=1 -D Y -maxrregcount=32 -L/l -lcudart -lm --threads 4 -rdc=true "
        "-D__CUDA_NO_HALF_OPERATORS__ -Xlinker -z,now --use_fast_math -G -ccbin g++ "
        "--forward-unknown-to-host-linker -o t x.cu y.o z.cpp libz.a".split(),
    )
    assert line.job is Job.LINK and line.output == "t" and line.separate
    assert line.flags == ["-std=c++17", "-O3", "-Wall", "-fPIC", "-march=native", "-isystem", "d"]
    assert line.include_dirs == ["a", "b", "c"]
    assert line.defines == ["X=1", "Y", "__CUDA_NO_HALF_OPERATORS__"]
    assert [x for x in line.link if not str(x).startswith(("-O", "-f", "-m"))] == [
        *("-Wl,--start-group", Source(Path("x.cu"), "cu"), "y.o", Source(Path("z.cpp"), "c++"), "libz.a"),
        *("-L/l", "-Xlinker", "-z", "-Xlinker", "now", "-lcudart", "-lm", "-Wl,--end-group"),
    ]


@pytest.mark.parametrize(
    ("words", "linked"),
    [
        ("-lm -Xlinker -la x.o", "-Wl,--start-group x.o -Xlinker -la -lm -Wl,--end-group"),
        ("x.o -shared", "x.o -shared"),
        ("-Wl,--whole-archive -lx -Wl,--no-whole-archive x.o", "-Wl,--whole-archive -lx -Wl,--no-whole-archive x.o"),
    ],
)
def test_libraries_before_what_needs_them(words: str, linked: str) -> None:
    """nvcc gives the linker one group, libraries last; a compiler of the host keeps its order."""
    assert " ".join(map(str, read("nvcc", words.split()).link)) == linked
    assert " ".join(map(str, read("g++", words.split()).link)) == words


@pytest.mark.parametrize(
    "written", ['"-Wl,-rpath=\\\\$ORIGIN/lib"', "-Wl,-rpath=\\$ORIGIN/lib", "-Wl,-rpath=$ORIGIN/lib"]
)
def test_dollars_that_a_shell_would_see(written: str) -> None:
    line = read("nvcc", ["-shared", "x.o", "-Xcompiler", written])
    assert "-Wl,-rpath=$ORIGIN/lib" in line.link


def test_commas_of_nvccs_macros() -> None:
    """As `nvcc -dryrun` shows it; other compilers take the comma as a part of the value."""
    given = ["-DA=1\\,2", "-DB=3,C=4", '-DD="x,y"', "-D", "E", "-c", "x.cu"]
    assert read("nvcc", given).defines == ["A=1,2", "B=3", "C=4", 'D="x,y"', "E"]
    assert read("hipcc", ["-DB=3,C=4", "-c", "x.hip"]).defines == ["B=3,C=4"]


def test_options_that_clang_alone_has() -> None:
    """`-ccbin=clang` is the host's compiler of a build; the simulator's may be g++."""
    words = "-ccbin=clang -Xcompiler -Wall,-ferror-limit=3,-fcolor-diagnostics -x cu x.cpp".split()
    assert read("nvcc", words).flags == ["-Wall"]
    assert read("clang", "-Weverything -ferror-limit=3 -c x.cpp".split()).flags == []


def test_words_of_hipcc_and_languages() -> None:
    line = read("hipcc", "--offload-arch=gfx942 -fgpu-rdc -Xclang -x -mllvm -y -c a.hip -fPIC".split())
    assert line.job is Job.OBJECT and line.separate and line.flags == ["-fPIC"]
    assert not read("hipcc", "--cuda-host-only --offload-host-only -c a.hip".split()).flags  # CMake's test of HIP
    assert sources(["a.hip", "b.cpp", "c.cu"], "hipcc") == [("a.hip", "hip"), ("b.cpp", "hip"), ("c.cu", "hip")]
    assert sources(["a.c", "-x", "c", "b.c"], "g++") == [("a.c", "c++"), ("b.c", "c")]
    assert sources(["a.c"], "gcc") == [("a.c", "c")]
    assert sources(["-x", "cu", "a.cpp", "-x", "c++", "b.cu", "-x", "none", "c.cu"]) == [
        *(("a.cpp", "cu"), ("b.cu", "c++"), ("c.cu", "cu")),
    ]


def test_jobs_and_dependencies() -> None:
    assert read("nvcc", ["-dc", "a.cu"]).separate
    assert read("nvcc", ["-dlink", "a.o"]).job is Job.DEVICE_LINK
    assert read("nvcc", ["--lib", "a.o", "-o", "x.a"]).job is Job.ARCHIVE
    line = read("nvcc", ["-MD", "-MT", "t", "--dependency-output", "d", "-c", "a.cu"])
    assert line.depends == ["-MD", "-MT", "t", "-MF", "d"]


def test_response_files(tmp_path: Path) -> None:
    (tmp_path / "o.rsp").write_text('-DA="b c" -I x\n')
    assert read("nvcc", ["--options-file", str(tmp_path / "o.rsp"), "a.cu"]).defines == ["A=b c"]
    assert read("nvcc", [f"-optf={tmp_path / 'o.rsp'}", "a.cu"]).include_dirs == ["x"]
    assert read("hipcc", [f"@{tmp_path / 'o.rsp'}", "a.hip"]).defines == ["A=b c"]
    (tmp_path / "loop").write_text(f"@{tmp_path / 'loop'}")
    with pytest.raises(CannotRun, match="include each other"):
        read("hipcc", [f"@{tmp_path / 'loop'}"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o"], "-o: a value is missing"),
        (["-ptx", "k.cu"], "-ptx: code for GPUs is not made here"),
        (["-c", "-o", "x.o", "k.cu", "main.cpp"], "one output for 2 sources"),
        (["-x", "fortran", "a.f"], "-x fortran: no such language"),
        (["k.ptx"], "k.ptx: code for GPUs cannot be linked"),
        (["--options-file", "nowhere"], "nowhere: No such file"),
        (["-Xcompiler", "'", "k.cu"], "no closing quotation"),
        (["-c", "nowhere.cu"], "nowhere.cu: no such file"),
        (["-c", "\udcff.cu"], "no such file"),
        ([], "no input file"),
        (["-", "-x", "cu"], "sources come from files"),
    ],
)
def test_hostile_lines(
    words: list[str], said: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", os.environ["PATH"])  # `main` takes the stand-ins out of it
    assert driver.main("nvcc", words) == 1
    told = capsys.readouterr().err
    assert said in told and len(told.splitlines()) == 1, told


def test_versions(tmp_path: Path) -> None:
    said = called("sim-cc", "--version", cwd=tmp_path).stdout
    assert re.search(r"release ([0-9]+)\.([0-9]+),", said) and re.search(r"V([0-9]+)\.([0-9]+)\.([0-9]+)", said)
    assert "cu2port" in said
    assert re.search(r"HIP version: ([0-9.]+)", called("sim-cc", "--as", "hipcc", "--version", cwd=tmp_path).stdout)
    assert "CU2PORT_SIM_WAVE" in called("sim-cc", "--help", cwd=tmp_path).stdout
    dry = called("sim-cc", "-dryrun", "none.cu", cwd=tmp_path)
    assert dry.returncode == 0 and "-lcudart_static" in (dry.stdout + dry.stderr).splitlines()[-1]
    wrong = called("sim-cc", "-c", "none.cu", cwd=tmp_path, CU2PORT_SIM_WARP="all")
    assert wrong.returncode and "CU2PORT_SIM_WARP=all: say logical, native, flag" in wrong.stderr


@pytest.mark.slow
def test_separate_compilation(folder: Path) -> None:
    """Objects of one compiler linked by another, a program that fails, and what is said of it."""
    build = "nvcc -O0 -DFROM=3 -c k.cu -o k.o && g++ -I$CUDA_HOME/include -c main.cpp -o main.o && "
    build += "g++ main.o k.o -lcudart -o good && nvcc -O0 -DFROM=31 k.cu main.o -o bad && ./good && ./bad"
    done = called("simulate", "--wave", "32", "--", "sh", "-c", build, cwd=folder)
    assert done.stdout == "ran\nran\n" and done.returncode == 1, done.stderr
    told = done.stderr.splitlines()
    assert told[0] == (
        "cu2port simulate: wave 32: 2 programs, 0 libraries and 2 objects built, 0 commands failed; "
        "2 programs run, 1 failed"
    )
    assert told[1].endswith("/bad: exit code 1") and len(told) == 2
    alone = subprocess.run([folder / "good"], capture_output=True, text=True)  # outside of the session, too
    assert (alone.returncode, alone.stdout) == (0, "ran\n")
    other = called("simulate", "--wave", "64", "--", "./good", cwd=folder)
    assert "built for another wave size than 64" in other.stderr


@pytest.mark.slow
def test_sources_of_the_host_are_not_the_device_compilers(folder: Path) -> None:
    """g++ and nvcc do not define `__CUDACC__` for C++: a header that needs nvcc's own is left out there."""
    guard = "#include <cuda_runtime.h>\n#ifdef __CUDACC__\n#include <math_functions.hpp>\nint nvcc() { return %d; }\n"
    sides = "#ifdef __CUDA_ARCH__\nint host() { return 2; }\n#else\nint host() { return 1; }\n#endif\n"
    (folder / "host.cpp").write_text(guard % 1 + "#error not for the host\n#endif\n" + sides)
    (folder / "device.cu").write_text(guard % 0 + "#else\n#error for nvcc\n#endif\nint host();\n" + KERNEL)
    (folder / "main.cpp").write_text("int run(); int host(); int main() { return run() + host() - 1; }\n")
    build = "g++ -I$CUDA_HOME/include -c host.cpp -o a.o && nvcc -c host.cpp -o b.o && nvcc -DFROM=3 -c device.cu"
    done = called("simulate", "--", "sh", "-c", f"{build} && nvcc main.cpp a.o device.o -o main && ./main", cwd=folder)
    assert done.returncode == 0 and "side" not in done.stderr, done.stderr


@pytest.mark.slow
def test_c_that_includes_cudas_headers(folder: Path) -> None:
    """It is compiled as C++, and what it defines and calls has the names of C."""
    (folder / "run.h").write_text('#ifdef __cplusplus\nextern "C"\n#endif\nint run(void);\n')
    (folder / "k.cu").write_text('#include "run.h"\n' + KERNEL)
    (folder / "own.c").write_text("int own(void) { return 3; }\n")  # the host's compiler takes it as it is
    (folder / "main.c").write_text(
        '#include <stdlib.h>\n#include <cuda_runtime.h>\n#include "run.h"\nint own(void);\n'
        "int main(void) { struct cudaDeviceProp prop; int *p = malloc(4); *p = own();\n"
        "return run() + (cudaGetDeviceProperties(&prop, 0) != cudaSuccess) + *p; }\n"
    )
    build = (
        "gcc -c main.c -o main.o && gcc -c own.c -o own.o && nvcc -DFROM=3 -c k.cu -o k.o && nvcc main.o own.o k.o -o t"
    )
    done = called("simulate", "--wave", "64", "--", "sh", "-c", f"{build} && ./t", cwd=folder, CXX="g++")
    assert done.returncode == 3, done.stderr


@pytest.mark.slow
def test_c_that_takes_vectors_alone_stays_c(folder: Path) -> None:
    """What its headers have for C++ may not compile; a struct with vectors is laid out as in the units with kernels."""
    folder = folder / "vectors"
    folder.mkdir()
    (folder / "point.h").write_text(
        "#ifdef WITH_HIP\n#include <hip/hip_runtime.h>\n#else\n#include <vector_types.h>\n#endif\n"
        "#ifdef __cplusplus\n#error for C++ of another kind\n#endif\n"
        "struct point { float3 at; uchar4 colour; float4 sum; double2 pair; };\n"
    )
    (folder / "own.c").write_text(
        '#include "point.h"\nint own(struct point *class) { return sizeof *class == 48 && class->pair.y == 2.5; }\n'
    )
    (folder / "main.cu").write_text(
        "#include <cuda_runtime.h>\nstruct point { float3 at; uchar4 colour; float4 sum; double2 pair; };\n"
        'extern "C" int own(point*);\n__global__ void k(point* p) { p->pair = make_double2(1, 2.5); }\n'
        "int main() { point* p; cudaMallocManaged(&p, sizeof *p); k<<<1, 1>>>(p); cudaDeviceSynchronize();\n"
        "return own(p) ? 3 : 4; }\n"
    )
    build = "gcc -c own.c -o own.o && nvcc -c main.cu -o main.o && nvcc main.o own.o -o t"
    done = called("simulate", "--wave", "64", "--", "sh", "-c", f"{build} && ./t", cwd=folder, CXX="g++")
    assert done.returncode == 3, done.stderr
    assert called("simulate", ".", "--wave", "64", cwd=folder, CXX="g++").returncode == 3


@pytest.mark.slow
def test_headers_of_nvidias_toolkit_are_not_the_projects(folder: Path) -> None:
    """A build may name the folder of an installed toolkit: what is declared there is converted as ever."""
    include = folder / "cuda" / "include"
    (include / "crt").mkdir(parents=True)
    (include / "crt" / "host_defines.h").write_text("#pragma once\n#define __device__ __attribute__((device))\n")
    (include / "cuda_runtime.h").write_text('#pragma once\n#include "cuda_runtime_api.h"\n')
    (include / "cuda_runtime_api.h").write_text(
        "#pragma once\n#include <crt/host_defines.h>\nenum cudaError_t { cudaSuccess };\n"
        "cudaError_t cudaMalloc(void** p, unsigned long size);\n"
    )
    (folder / "in.cuh").write_text("inline cudaError_t get(void** p) { return cudaMalloc(p, 4); }\n")
    (folder / "k.cu").write_text('#include <cuda_runtime.h>\n#include "in.cuh"\n' + KERNEL)
    build = "g++ -Icuda/include -c main.cpp -o main.o && nvcc -Icuda/include -DFROM=3 k.cu main.o -o t"
    done = called("simulate", "--wave", "64", "--", "sh", "-c", f"{build} && ./t", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


def test_dependencies_name_the_users_files(folder: Path) -> None:
    (folder / "k.cu").write_text('#include "run.h"\n#include "sub/in.cuh"\n' + KERNEL)
    (folder / "sub").mkdir()
    (folder / "sub" / "in.cuh").write_text("#pragma once\nthis is no C++;\n")  # only what is included counts
    done = called("sim-cc", "-MM", "-DFROM=1", "k.cu", cwd=folder)
    assert done.stdout.split() == ["k.o:", *(str(folder / n) for n in ("k.cu", "run.h", "sub/in.cuh"))], done.stderr


def test_a_session_that_builds_nothing_says_so(tmp_path: Path) -> None:
    done = called("simulate", "--", "true", cwd=tmp_path)
    assert done.returncode == 0 and "no compiler of CUDA or HIP was called" in done.stderr
    done = called("simulate", "--", str(tmp_path / "nowhere"), cwd=tmp_path)
    assert done.returncode == 125 and done.stderr.count("\n") == 1
    done = called("simulate", "--check", "--", "true", cwd=tmp_path)
    assert done.returncode == 0 and "no kernel ran, so nothing was checked" in done.stderr
    for words, said in ((("--cflags",), "--cflags is for"), (("--wave", "both"), "a build has one wave size")):
        done = called("simulate", *words, "--", "true", cwd=tmp_path)
        assert done.returncode == 125 and said in done.stderr


def test_a_header_of_types_that_nothing_uses(folder: Path) -> None:
    """HIP has none of that name, so the include stays as it is."""
    for name in ("k.cu", "main.cpp"):
        (folder / name).write_text("#include <cudaTypedefs.h>\n" + (folder / name).read_text())
        assert called("sim-cc", "-DFROM=1", "-c", name, cwd=folder).returncode == 0
    assert (toolkit.lay_out(find_toolchain("")) / "include" / "cudaTypedefs.h").is_file()


def test_a_makefiles_own_nvcc_keeps_its_flags(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("NVCC ?= nvcc -Xcompiler -fPIC\nall:\n\t@echo $(NVCC)\n")
    unset = {k: v for k, v in os.environ.items() if k != "NVCC"}
    words = [*COMMAND, "simulate", "--", "make"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, env=unset)
    assert done.stdout == "nvcc -Xcompiler -fPIC\n"
    set_ = {**unset, "NVCC": "/usr/local/cuda/bin/nvcc"}
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, env=set_)
    assert done.stdout.endswith("/bin/nvcc\n") and "/usr/local" not in done.stdout


@pytest.mark.slow
def test_a_shell_has_the_stand_ins(folder: Path) -> None:
    """Commands typed into the shell build and run; its exit code is the last one's."""
    typed = "nvcc -O0 -DFROM=3 k.cu -x c++ -I$CUDA_HOME/include main.cpp -o good && ./good\nexit 7\n"
    done = subprocess.run(
        [*COMMAND, "simulate", "--wave", "32", "--shell"],
        cwd=folder,
        input=typed,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "SHELL": "/bin/sh"},
    )
    assert done.returncode == 7, done.stderr
    assert done.stdout == "ran\n"
    told = done.stderr.splitlines()
    assert told[0] == "cu2port simulate: nvcc and hipcc build for the CPU at wave 32; exit ends it"
    assert (
        "wave 32: 1 programs, 0 libraries and 0 objects built, 0 commands failed; 1 programs run, 0 failed" in told[1]
    )


def test_the_simulated_gpu_is_named_to_who_asks_nvidia_smi() -> None:
    """Builds take its compute capability, and tests look whether it is there."""
    program = toolkit.lay_out(find_toolchain("")) / "bin" / "nvidia-smi"

    def said(*words: str) -> str:
        environment = {**os.environ, "CU2PORT_SIM_DEVICES": "2"}
        return subprocess.check_output([program, *words], text=True, env=environment)

    assert said("--query-gpu=index,compute_cap", "--format=csv,noheader") == "0, 8.0\n1, 8.0\n"
    assert said("--query-gpu=gpu_name", "--format=csv").startswith("gpu_name\ncu2port simulated GPU\n")
    assert [x.partition("(")[0] for x in said("-L").splitlines()] == [
        f"GPU {i}: cu2port simulated GPU " for i in (0, 1)
    ]
    assert "CUDA Version: 12." in said()


@pytest.mark.parametrize("tool", toolkit.SANITIZERS)
def test_programs_run_by_a_sanitizer(tool: str, tmp_path: Path) -> None:
    """Tests of a build say `cuda-memcheck ./program`: it runs, with its arguments and its exit code."""
    program = toolkit.lay_out(find_toolchain("")) / "bin" / tool
    (tmp_path / "run").write_text('#!/bin/sh\necho "$@"\nexit 3\n')
    (tmp_path / "run").chmod(0o755)
    options = ["--tool", "racecheck", "--error-exitcode=1", "--leak-check", "full", "--log-file", "x.log"]
    for name in ("./run", "run", str(tmp_path / "run")):
        done = subprocess.run([program, *options, name, "-a", "b"], cwd=tmp_path, capture_output=True, text=True)
        assert (done.stdout, done.returncode) == ("-a b\n", 3)
    done = subprocess.run([program, *options], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and f"{tool}: no program to run" in done.stderr


def test_log(tmp_path: Path) -> None:
    """A number that is used again is another process; a program without an end was ended by a signal."""
    (tmp_path / "log").write_text(
        "run\t7\t/a\nwave\t7\t32\nlacks\t7\thipFoo\nend\t7\t0\nrun\t7\t/b\nend\t7\t3\nrun\t8\t/c\nobject\t1\tx\n"
        "run\t9\t/x/CMakeFiles/CMakeTmp/a.out\n"
    )
    told = log.read(tmp_path / "log")
    assert told.runs == (log.Run("/a", 0, (32,)), log.Run("/b", 3, ()), log.Run("/c", None, ()))
    assert told.lacks == (("hipFoo", 1),) and told.objects == 1


def test_what_a_check_found_of_several_runs(tmp_path: Path) -> None:
    """One finding is said once; of a race that is known, what was not written yet is a part."""
    (tmp_path / "log").write_text(
        "run\t7\t/a\nwave\t7\t64\ncheck\t7\tbounds|0|0|far away\ncheck\t7\trace|5|0|x | y\n"
        "check\t7\tuninitialised|5|0|z\nrun\t8\t/b\ncheck\t8\tbounds|0|0|far away\nunwatched\t8\t\n"
        "unwatched\t8\t/lib.so\ncheck\t9\tbounds|0|0|no run\n"
    )
    told = log.read(tmp_path / "log")
    found = [(v.kind, v.message, n) for v, n in session.findings(told)]
    assert found == [("bounds", "out of bounds: far away", 2), ("race", "race between threads of a kernel: x | y", 1)]
    assert told.unwatched == ("/b", "/lib.so")


def test_stubs_are_those_of_the_rules() -> None:
    assert {"cudart", "cudart_static", "cublas", "hipblas", "amdhip64"} <= set(toolkit.libraries())


@pytest.mark.slow
@pytest.mark.parametrize("wave", ["32", "64"])
def test_make_project(wave: str, tmp_path: Path) -> None:
    shutil.copytree(PROJECTS / "maker", tmp_path / "maker")
    done = called("simulate", "--wave", wave, "--", "make", "test", cwd=tmp_path / "maker")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok: sum") == 3
    assert (
        f"wave {wave}: 3 programs, 1 libraries and 3 objects built, 0 commands failed; 3 programs run, 0 failed"
        in done.stderr
    )
    again = called("simulate", "--wave", wave, "--", "make", "-q", "all", cwd=tmp_path / "maker")
    assert again.returncode == 0  # the dependencies that were written are right
    os.utime(tmp_path / "maker" / "include" / "warp_sum.cuh")
    assert called("simulate", "--", "make", "-q", "all", cwd=tmp_path / "maker").returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("wave", ["32", "64"])
def test_cmake_project(wave: str, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake here")
    shutil.copytree(PROJECTS / "cmaker", tmp_path / "cmaker")
    build = "cmake -S . -B build && cmake --build build && cd build && ctest --output-on-failure"
    done = called("simulate", "--wave", wave, "--", "sh", "-c", build, cwd=tmp_path / "cmaker")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100% tests passed, 0 tests failed out of 2" in done.stdout
    assert "2 programs run, 0 failed" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(util.find_spec("pybind11") is None, reason="no pybind11 here")
def test_python_extensions(tmp_path: Path) -> None:
    """A library for ctypes and a module of pybind11, both in one process, with one runtime."""
    shutil.copytree(PROJECTS / "extension", tmp_path / "extension")
    words = ("simulate", "--wave", "64", "--", "make", "-s", "test", f"PYTHON={sys.executable}")
    done = called(*words, cwd=tmp_path / "extension")
    assert (done.returncode, done.stdout) == (0, "ok: sums by ctypes and pybind11\n"), done.stderr
    told = "wave 64: 0 programs, 2 libraries and 1 objects built, 0 commands failed; 1 programs run, 0 failed"
    assert told in done.stderr


CHECKED = ("simulate", "--check", "--", "make", "-s", f"PYTHON={sys.executable}")
FLAGS = "NVCCFLAGS=-O2 -Xcompiler -fPIC"


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_session_checks_what_it_builds_and_runs(compiler: str, tmp_path: Path) -> None:
    """A program and a library that Python loads; each finding has its line, a clean twin has none."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    shutil.copytree(PROJECTS / "checked", tmp_path / "checked")
    done = called(*CHECKED, "test", cwd=tmp_path / "checked", CXX=compiler)
    assert done.returncode == 1, done.stderr
    found = [line for line in done.stderr.splitlines() if "rows.cu:" in line]
    assert {line.rpartition(": ")[0].partition(": out")[0].partition(": relies")[0] for line in found} == {
        "lockstep: rows.cu:7",
        "lockstep: rows.cu:11",
        "bounds: rows.cu:20",
    }, done.stderr
    assert len(found) == 3 and found[-1].endswith(" (in 2 runs)")
    shutil.rmtree(tmp_path / "checked" / "build")
    done = called(*CHECKED, f"{FLAGS} -DFIXED", "test", cwd=tmp_path / "checked", CXX=compiler)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[1:] == ["cu2port simulate: nothing found"]
    done = called("simulate", "--", "./build/main", cwd=tmp_path / "checked", CXX=compiler)  # harmless without
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)


@pytest.mark.slow
def test_objects_that_were_built_without_check_are_named(tmp_path: Path) -> None:
    """Silence would be wrong: nobody saw what their kernels do."""
    folder = tmp_path / "checked"
    shutil.copytree(PROJECTS / "checked", folder)
    assert called("simulate", "--", "make", "-s", "build/rows.o", cwd=folder).returncode == 0
    (folder / "own.cu").write_text(
        "__global__ void own(const int* p, int* q) { *q = *p; }\n"
        "int main() { int *p; cudaMalloc(&p, 8); cudaMemset(p, 0, 8); own<<<1, 1>>>(p, p + 1);\n"
        "return cudaDeviceSynchronize(); }\n"
    )
    build = "nvcc own.cu build/rows.o -o own && ./own && make -s build/librows.so && $PYTHON use.py"
    done = called("simulate", "--check", "--", "sh", "-c", build, cwd=folder, PYTHON=sys.executable)
    assert done.returncode == 0, done.stderr
    said = "cu2port simulate: has units that were built without --check and are not checked; clean the build first: "
    assert done.stderr.splitlines()[1:] == [f"{said}{folder}/own", f"{said}{folder}/build/librows.so"]


def test_every_option_is_one_word_that_begins_with_a_dash() -> None:
    for rows in (_COMMON, _NVCC, _HIPCC):
        assert not [name for name in rows if name[:1] != "-" or name[-1:] == "-"]


@pytest.mark.parametrize(("warp", "call"), [("flag", "__shfl_down_sync("), ("logical", "cu2port::warp::shfl_down(")])
def test_renamed_only(warp: str, call: str, folder: Path) -> None:
    done = called("sim-cc", "-E", "-DFROM=30", "k.cu", cwd=folder, CU2PORT_SIM_WARP=warp)
    kernel = done.stdout.partition("int twice")[2]
    assert call in kernel, kernel[:500] + done.stderr


def test_unknown_warp(folder: Path) -> None:
    done = called("sim-cc", "-c", "k.cu", cwd=folder, CU2PORT_SIM_WARP="both")
    said = "nvcc: CU2PORT_SIM_WARP=both: say logical, native, flag (cu2port sim-cc)\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_builds_that_look_for_thrust_find_it(folder: Path) -> None:
    if find_cccl() is None:
        pytest.skip("no CCCL here")
    include = toolkit.lay_out(find_toolchain("")) / "include"
    for name in ("thrust/version.h", "cub/version.cuh", "cuda/std/version"):
        assert (include / name).is_file(), name
    assert not (include / "cub" / "*").exists()
    (folder / "t.cu").write_text("#include <thrust/device_vector.h>\nint x = THRUST_DEVICE_SYSTEM;\n")
    words = ("-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CUDA", "-E", "t.cu")
    done = called("sim-cc", *words, cwd=folder)
    said = [x for line in done.stdout.splitlines()[-20:] if not line.startswith("#") for x in line.split()]
    assert said[-4:] == ["x", "=", "4", ";"], done.stdout[-200:] + done.stderr  # the one in plain C++


def test_a_stand_in_that_outlives_its_session_says_nothing(tmp_path: Path) -> None:
    """The time limit ends a session, whose folder goes; a compiler may still run."""
    log.note(str(tmp_path / "gone" / "log"), "object", "a.cu")
    log.note(str(tmp_path / "log"), "object", "a.cu")
    assert log.read(tmp_path / "log").objects == 1


def test_options_that_variables_of_the_environment_hold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = []
    monkeypatch.setenv("PATH", os.environ["PATH"])  # put back: the stand-ins are taken out of it
    monkeypatch.setattr(driver, "_act", lambda line, settings: lines.append(line))
    monkeypatch.setenv("NVCC_PREPEND_FLAGS", "-DA='1 2' -O1")
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-DC -O3")
    monkeypatch.setenv("HIPCC_COMPILE_FLAGS_APPEND", "-DD")
    monkeypatch.setenv("HIPCC_LINK_FLAGS_APPEND", "-lz")
    assert driver.main("nvcc", ["-DB", "-c", "k.cu"]) == driver.main("hipcc", ["-DB", "k.hip"]) == 0
    nvcc, hipcc = lines
    assert nvcc.defines == ["A=1 2", "B", "C"] and nvcc.flags == ["-O1", "-O3"]
    assert hipcc.defines == ["B", "D"] and "-lz" in hipcc.link
    assert driver.main("nvcc", []) == 0 and not lines[-1].sources
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "'")
    assert driver.main("nvcc", ["-c", "k.cu"]) == 1
