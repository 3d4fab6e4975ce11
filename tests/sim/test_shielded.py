"""Macros of a command line that have the name of a parameter in the simulator's headers or in helper headers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cu2port.verify.shielded import _KEPT, _SYSTEM, _headers, _met, shields
from cu2port.verify.sim_compiler import INCLUDE_DIR, find_toolchain

PROGRAM = """
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <mma.h>
#include <cstdio>
#include "own.h"
__global__ void k(unsigned* p) { p[threadIdx.x] = min(threadIdx.x, N) + __shfl_sync(~0u, n, 3); }
int main() {
    unsigned *p, h[32];
    cudaMalloc(&p, sizeof h);
    k<<<1, 32>>>(p);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
    std::printf("%u %u\\n", h[31], own(2.5f));
    return 0;
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.cu").write_text(PROGRAM)
    (tmp_path / "own.h").write_text("inline unsigned own(T v) { return unsigned(2 * v) + N; }\n")
    return tmp_path


def called(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cu2port", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, env={**os.environ})


@pytest.mark.slow
def test_a_program_has_them_and_our_headers_do_not(folder: Path) -> None:
    done = called("simulate", "a.cu", "-D", "N=5", "-D", "T=float", "-D", "n=2", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "7 10\n"), done.stderr  # the rewritten `min` saw that N is an int


@pytest.mark.slow
def test_stand_ins_take_them_and_dependencies_name_none_of_it(folder: Path) -> None:
    done = called("sim-cc", "-DN=5", "-DT=float", "-Dn=2", "-MD", "-MF", "a.d", "-c", "a.cu", "-o", "a.o", cwd=folder)
    assert done.returncode == 0, done.stderr
    named = (folder / "a.d").read_text().split()
    assert "a.o:" in named and {Path(n).name for n in named if "hields" in n} == set()
    assert str(folder / "own.h") in named


def test_only_what_meets_a_name_of_ours_is_hidden(tmp_path: Path) -> None:
    settings = ("_GNU_SOURCE", "NDEBUG", "NOT_A_NAME_OF_OURS=1", "CU2PORT_SIMULATED=1", "1=2")
    assert shields(settings, tmp_path / "none") == [] and not (tmp_path / "none").exists()
    assert shields(("N", "F(x)=x", *settings), tmp_path / "some") == [f"-I{tmp_path / 'some'}"]
    text = (tmp_path / "some" / "hip" / "hip_runtime.h").read_text()
    assert text.splitlines() == [
        *('#pragma push_macro("F")', "#undef F", '#pragma push_macro("N")', "#undef N"),
        *("#include_next <hip/hip_runtime.h>", '#pragma pop_macro("F")', '#pragma pop_macro("N")'),
    ]


def test_a_program_of_sources_in_c_has_them(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("#include <stdio.h>\nint N(void) { return T; }\nint main(void) { return N() - 3; }\n")
    done = called("simulate", "a.c", "-D", "T=3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_c_that_includes_cudas_headers_is_a_unit_of_a_folder(tmp_path: Path) -> None:
    """It is compiled as C++ with the names of C; C without them stays C."""
    (tmp_path / "run.h").write_text('#ifdef __cplusplus\nextern "C"\n#endif\nint run(int *p);\n')
    (tmp_path / "k.cu").write_text(
        '#include "run.h"\n__global__ void k(int* p) { *p = 4; }\n'
        "int run(int* p) { k<<<1, 1>>>(p); return cudaDeviceSynchronize(); }\n"
    )
    (tmp_path / "plain.c").write_text("int class(int new) { return new + 1; }\n")
    (tmp_path / "main.c").write_text(
        '#include <stdlib.h>\n#include <math.h>\n#include "cublas_v2.h"\n#include <cuda_runtime_api.h>\n'
        '#include "run.h"\n'
        'extern int class_(int) __asm__("class");\n'
        "int main(void) { struct cudaDeviceProp prop; int *p; int *h = malloc(4); cublasHandle_t b;\n"
        "cudaMalloc((void **)&p, 4); run(p); cudaMemcpy(h, p, 4, cudaMemcpyDeviceToHost);\n"
        "return *h + class_(1) + (cublasCreate(&b) != 0) + (cudaGetDeviceProperties(&prop, 0) != cudaSuccess); }\n"
    )
    done = called("simulate", ".", "--compiler", "g++", cwd=tmp_path)
    assert done.returncode == 6, done.stderr


MACROS = """
#define N 7
#define T float
#define M 3
#define ITEMS 4
#define W(x) x
#include "own.h"
#include <cub/cub.cuh>
#include <cooperative_groups.h>
#include <curand_kernel.h>
#include <mma.h>
#include <cstdio>
__global__ void k(int* p) {
    using Sum = cub::BlockReduce<int, 64>;
    __shared__ typename Sum::TempStorage storage;
    int sum = Sum(storage).Sum(W(N) + M + MORE);
    if (threadIdx.x == 0) *p = sum + ITEMS;
}
int main() {
    int *p, h;
    cudaMalloc(&p, 4);
    k<<<1, 64>>>(p);
    cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost);
    std::printf("%d %d\\n", h, INT_MAX > 0);
    return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", [("simulate", "b.cu"), ("simulate", "--", "sh", "-c", "nvcc b.cu -o b && ./b")])
def test_macros_of_a_program_do_not_meet_our_headers(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "b.cu").write_text(MACROS)
    (tmp_path / "own.h").write_text(
        "#define MORE 1\n#define K 2\n#define storage storage_\n#ifndef M_PI\n#define M_PI 3\n#endif\n"
    )
    done = called(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{64 * 11 + 4} 1\n"), done.stderr


def test_macros_of_the_system_that_our_headers_use_stay() -> None:
    """`#ifndef M_PI` of a program does not take the system's away."""
    toolchain = find_toolchain()
    names = [
        p.relative_to(root)
        for root, p in _headers()
        if p.suffix in (".h", ".hpp") and not {"thrust", "torch"} & {*p.parts}
    ]
    text = "#include <hip/hip_runtime.h>\n" + "".join(f"#include <{n}>\n" for n in names)
    words = [*toolchain.command, *toolchain.flags(64), f"-I{INCLUDE_DIR}", "-dM", "-E", "-x", "c++", "-"]
    done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=600)
    defined = {m for m in re.findall(r"#define (\w+)", done.stdout) if not _KEPT.match(m)}
    assert len(defined) > 500, done.stderr
    assert _met(defined) == set(_SYSTEM)


def test_what_helper_headers_ask_for_is_in_sight(tmp_path: Path) -> None:
    """A program or a command line chooses with these, as `-D CU2PORT_WMMA_FAST`."""
    for names in (["CU2PORT_MMA_FULL_WAVES", "CU2PORT_WMMA_FAST=1"], []):
        assert shields(names, tmp_path, ["#define CU2PORT_MMA_FULL_WAVES\n"]) == []
