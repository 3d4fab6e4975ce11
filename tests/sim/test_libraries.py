"""hipSOLVER and hipSPARSE on the CPU: programs/solver.cu and sparse.cu hold their numbers to plain products."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cu2port.verify import simulate

PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.parametrize("name", ["solver", "sparse"])
def test_libraries_have_the_numbers_of_plain_products(name: str, build: Callable[[Path, int], Path]) -> None:
    ran = simulate.run(build(PROGRAMS / f"{name}.cu", 64), (), simulate.Limits(60), capture=True)
    assert (ran.code, ran.output) == (0, b"0 failed\n"), ran.output.decode() + ran.errors.decode()


def test_what_a_library_has_not_says_so_once(simulated: Callable[..., simulate.Ran]) -> None:
    ran = simulated("""#include <hipsolver/hipsolver.h>
int main() {
    hipsolverSpHandle_t h;
    const int bad = hipsolverSpCreate(&h) + hipsolverSpCreate(&h) - 2 * HIPSOLVER_STATUS_NOT_SUPPORTED;
    hipsolverHandle_t none = nullptr;
    const int gone = hipsolverDnDgetrf(none, 1, 1, nullptr, 1, nullptr, nullptr, nullptr);
    return bad + gone - HIPSOLVER_STATUS_NOT_INITIALIZED;
}
""")
    assert ran.code == 0 and ran.errors.count(b"hipsolverSpCreate") == 1, ran.errors.decode()


def test_a_copy_of_cub_declares_nothing_of_the_programs(build: Callable[[Path, int], Path], tmp_path: Path) -> None:
    """`CubDebug` of the copy was the program's own, and stayed where hipCUB's headers have another name."""
    copy = tmp_path / "cub-1.8.0" / "cub"
    copy.mkdir(parents=True)
    (copy / "cub.cuh").write_text('#include "util_ptx.cuh"\n#define CubDebug(e) (e)\n')
    (copy / "util_ptx.cuh").write_text("#error the copy\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.cu").write_text("""#include "../cub-1.8.0/cub/cub.cuh"
int main() {
    int *a, *b;
    size_t size = 0;
    CubDebug(cudaMallocManaged(&a, 8));
    CubDebug(cudaMallocManaged(&b, 4));
    a[0] = 3, a[1] = 4;
    CubDebug(cub::DeviceReduce::Sum(nullptr, size, a, b, 2));
    void* t;
    cudaMalloc(&t, size);
    CubDebug(cub::DeviceReduce::Sum(t, size, a, b, 2));
    cudaDeviceSynchronize();
    return *b - 7;
}
""")
    assert simulate.run(build(tmp_path / "src" / "main.cu", 64), (), simulate.Limits(60), capture=True).code == 0
