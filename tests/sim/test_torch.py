"""Extensions of torch in a session: what is compiled for them, and with a torch for the CPU a whole one.

CU2PORT_TEST_TORCH is a Python that has torch for the CPU, numpy, setuptools and pytest.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cu2port.verify.standin import extensions
from cu2port.verify.standin.compiling import kind
from cu2port.verify.standin.words import Source, read

PROJECT = Path(__file__).parent / "projects" / "torch_rows"
PYTHON = os.environ.get("CU2PORT_TEST_TORCH", "")
COMMAND = (sys.executable, "-m", "cu2port")
#: A torch that has a tensor and nothing else. Converted, its function would have HIP's name.
TORCH = """#pragma once
namespace torch {
struct Tensor {
    bool is_cuda() const { return false; }
    bool is_cpu() const { return true; }
};
enum Kind { kCPU, kCUDA };
inline int cudaGetDeviceCount() { return 5; }
}  // namespace torch
#define TORCH_COUNT torch::cudaGetDeviceCount()
"""
SOURCE = """#include <torch/extension.h>
#include <cuda_fp16.h>
#include <cstdio>
struct Half {  // as torch's, which is compared as a float
    float x;
    operator float() const { return x; }
    operator __half() const { return __half(x); }
};
__global__ void k(int* p) { p[threadIdx.x] = __shfl_down_sync(~0u, threadIdx.x, 1); }
int main() {
    int* p;
    cudaMallocManaged(&p, 32 * sizeof(int));
    k<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    if (!(Half{1} < Half{2}) || Half{1} == Half{2}) return 1;
    const torch::Tensor t, u;
    if (!t.is_cuda() || t.is_cuda() != u.is_cuda()) return 1;
    std::printf("%d %d %d %d\\n", t.is_cuda(), torch::kCUDA == torch::kCPU, TORCH_COUNT, p[30]);
}
"""


@pytest.fixture
def torch(tmp_path: Path) -> Path:
    folder = tmp_path / "torch-include"
    (folder / "torch").mkdir(parents=True)
    (folder / "torch" / "extension.h").write_text(TORCH)
    return folder


def test_torchs_folders_are_a_systems_behind_ours(torch: Path, tmp_path: Path) -> None:
    below = torch / "torch" / "csrc" / "api" / "include"
    line = read("nvcc", [f"-I{tmp_path}", f"-I{torch}", "-isystem", str(below), "-c", "k.cu"])
    assert extensions.prepare(line) and line.include_dirs == [str(tmp_path)]
    ours = line.flags.index(f"-I{extensions.PYTHON.parent}")
    front = Path(line.flags[ours + 1].removeprefix("-I"))
    assert line.flags[ours + 2 : ours + 4] == ["-isystem", str(torch)]
    assert "#include_next <torch/extension.h>" in (front / "torch" / "extension.h").read_text()
    line = read("nvcc", [f"-I{tmp_path}", "-c", "k.cu"])
    assert not extensions.prepare(line) and not line.flags


@pytest.mark.parametrize(
    ("text", "cuda"),
    [
        ("#include <ATen/cuda/CUDAContext.h>\n", True),
        ("  # include <c10/cuda/CUDAGuard.h>\n", True),
        ('#include "own.h"\n', True),
        ("#include <torch/extension.h>\n// #include <c10/cuda/CUDAGuard.h>\n", None),
        ('#include "own/cuda/x.h"\n', None),
    ],
)
def test_a_source_is_cudas_by_torchs_headers_about_cuda(text: str, cuda: bool | None, tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("#include <ATen/cuda/CUDAContext.h>\n")
    (tmp_path / "a.cpp").write_text(text)
    assert kind(Source(tmp_path / "a.cpp", "c++"), read("g++", ["-c", str(tmp_path / "a.cpp")])) is cuda


def test_torchs_headers_stay_and_its_tensors_are_on_the_gpu(torch: Path, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)
    words = ["sim-cc", f"-I{torch}", "k.cu", "-o", "k", "-L/nowhere", "-lc10_cuda", "-ltorch_cuda", "-lcudart"]
    built = subprocess.run([*COMMAND, *words], cwd=tmp_path, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    assert subprocess.run([tmp_path / "k"], capture_output=True, text=True).stdout == "1 1 5 31\n"


def session(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(Path(PYTHON).parent), os.environ["PATH"]))
    return subprocess.run(
        [*COMMAND, "simulate", *words], cwd=folder, capture_output=True, text=True, env={**os.environ, "PATH": path}
    )


needs_torch = pytest.mark.skipif(not PYTHON, reason="no torch: CU2PORT_TEST_TORCH is not set")


@needs_torch
@pytest.mark.slow
def test_tensors_are_where_a_program_puts_them(tmp_path: Path) -> None:
    done = session(tmp_path, "--", PYTHON, str(PROJECT / "run_places.py"))
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr


@needs_torch
@pytest.mark.slow
def test_an_extension_and_its_tests_are_run_unmodified(tmp_path: Path) -> None:
    folder = tmp_path / "rows"
    shutil.copytree(PROJECT, folder)
    build = (PYTHON, "setup.py", "build_ext", "--inplace")
    built = session(folder, "--", *build)
    assert built.returncode == 0 and "1 libraries and 2 objects built" in built.stderr, built.stdout + built.stderr
    tests = (PYTHON, "-m", "pytest", "-q", "run_rows.py")
    done = session(folder, "--", *tests)
    assert done.returncode == 0 and "7 passed" in done.stdout, done.stdout
    assert "extensions of torch: rows; the GPU of torch is the host" in done.stderr
    done = session(folder, "--", PYTHON, "run_library.py")
    assert done.returncode == 0 and "extensions of torch: rows" in done.stderr, done.stderr
    kernel = folder / "rows.cu"
    kernel.write_text(kernel.read_text().replace("d = 16", "d = 8"))
    assert session(folder, "--", *build).returncode == 0
    done = session(folder, "--", *tests)
    assert done.returncode == 1 and "5 failed" in done.stdout, done.stdout
