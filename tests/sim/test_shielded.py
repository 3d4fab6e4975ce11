"""Macros of a command line that have the name of a parameter in the simulator's headers or in helper headers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cu2port.verify.shielded import shields

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


def test_a_program_has_them_and_our_headers_do_not(folder: Path) -> None:
    done = called("simulate", "a.cu", "-D", "N=5", "-D", "T=float", "-D", "n=2", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "7 10\n"), done.stderr  # the rewritten `min` saw that N is an int


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
