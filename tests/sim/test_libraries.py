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
