"""The suite of small kernels whose answers are known by reasoning, at both wave sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cu2port.verify import simulate

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.hip"))
LEAST = 60  # answers that the suite must check


@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_answers(path: Path, wave: int, build: Callable[[Path, int], Path]) -> None:
    ran = simulate.run(build(path, wave), (), simulate.Limits(60), capture=True)
    lines = ran.output.decode().splitlines()
    assert ran.code == 0, ran.errors.decode() + ran.output.decode()
    assert [x for x in lines if x.startswith("FAIL")] == []
    assert sum(x.startswith("ok ") for x in lines) >= 10


def test_the_suite_is_large_enough() -> None:
    assert sum(p.read_text().count("say(") for p in KERNELS) >= LEAST


def test_a_folder_with_c_and_included_sources(tmp_path: Path, build: Callable[[Path, int], Path]) -> None:
    (tmp_path / "kernel.cu").write_text("__global__ void twice(int* d) { d[threadIdx.x] *= 2; }\n")
    (tmp_path / "main.cu").write_text(
        '#include <hip/hip_runtime.h>\n#include <cstdio>\n#include "kernel.cu"\n'
        'extern "C" int seven(void);\n'
        'int main() { int* d; (void)hipMallocManaged(&d, 4); *d = seven(); twice<<<1, 1>>>(d); printf("%d\\n", *d); }\n'
    )
    (tmp_path / "seven.c").write_text("int seven(void) { int class = 7; return class; }\n")
    ran = simulate.run(build(tmp_path, 64), (), simulate.Limits(60), capture=True)
    assert (ran.code, ran.output) == (0, b"14\n"), ran.errors


def test_a_store_behind_an_allocation_names_kernel_and_distance(simulated: Callable[..., simulate.Ran]) -> None:
    ran = simulated(
        "#include <hip/hip_runtime.h>\n"
        "__global__ void far(int* d) { d[2000 + threadIdx.x] = 1; }\n"
        "int main() { int* d; (void)hipMalloc(&d, 4000); far<<<1, 32>>>(d); }\n",
        64,
        time_s=60,
    )
    assert ran.code == 128 + 11
    assert b"(4000 bytes behind an allocation of 4000)" in ran.errors
    assert b"kernel far launched at" in ran.errors
