"""Memory that a program maps by hand: a vector that grows in place, one handle at two places, and what nothing maps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cu2port.verify import sim_build, sim_check, sim_compiler, simulate

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).parent / "programs" / "mapped.cu"
HAZARDS = """
#include <hip/hip_runtime.h>
#include <cstdlib>
__global__ void k(int* p, int write) {
    if (write) p[threadIdx.x] = 1;
    else if (p[threadIdx.x] == 12345) __builtin_trap();
}
int main(int, char** argv) {
    const int what = atoi(argv[1]);
    const size_t n = 2 << 20;
    hipMemAllocationProp prop = {};
    prop.type = hipMemAllocationTypePinned;
    prop.location.type = hipMemLocationTypeDevice;
    const auto rights = what == 1 ? hipMemAccessFlagsProtRead : hipMemAccessFlagsProtReadWrite;
    const hipMemAccessDesc access = {prop.location, rights};
    void* p;
    hipMemGenericAllocationHandle_t h;
    int e = hipMemAddressReserve(&p, n, 0, nullptr, 0) + hipMemCreate(&h, n, &prop, 0) + hipMemMap(p, n, 0, h, 0);
    if (what != 0) e += hipMemSetAccess(p, n, &access, 1);
    if (what >= 2) e += hipMemUnmap(p, n);
    if (e) return 3;
    if (what == 3) ((int*)p)[5] = 1;
    k<<<1, 64>>>((int*)p, 0);
    k<<<1, 64>>>((int*)p, what == 1);
    return hipDeviceSynchronize();
}
"""


@pytest.mark.parametrize("wave", [32, 64])
def test_a_vector_that_grows_in_place(wave: int, build: Callable[..., Path]) -> None:
    ran = simulate.run(build(PROGRAM, wave), (), simulate.Limits(60), capture=True)
    assert (ran.code, ran.output.decode().splitlines()) == (
        0,
        [
            "supported 1, sum 244650, 1 of memory in use, granule 2",
            "copied 244650",
            "same 1 1010101, no access 0, type 1 at 0",
            "refused 1 1 1 1 1 1 1 1 1 1, 2",
            "unmapped 1",
            "released 1 1",
        ],
    ), ran.errors.decode()


def test_check_knows_what_is_mapped(tmp_path: Path, toolchain: sim_compiler.Toolchain) -> None:
    """Nothing is said of a vector that moves and of memory at two places; of what was unmapped, that it was freed."""
    binaries = sim_build.build(sim_build.find_program(PROGRAM), tmp_path, (64,), toolchain, check=True)
    runs, good = sim_check.check(binaries, ("clean",), simulate.Limits(60))
    assert (runs[64].code, [v.text for v in good]) == (0, []), runs[64].errors.decode()
    runs, bad = sim_check.check(binaries, (), simulate.Limits(60))
    assert sorted(v.kind for v in bad) == ["bounds", "lifetime"], [v.text for v in bad]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (0, " in a kernel, address 0x* (mapped, and hipMemSetAccess gives no access)"),
        (1, " in a kernel, address 0x* (mapped for reading only)"),
        (2, " in a kernel, address 0x* (reserved by hipMemAddressReserve; nothing is mapped there)"),
        (3, "memory access by the host or a copy that is not allowed, address 0x* (reserved by hipMemAddressReserve"),
    ],
)
def test_what_cannot_be_touched_is_named(what: int, said: str, simulated: Callable[..., simulate.Ran]) -> None:
    ran = simulated(HAZARDS, 64, str(what))
    text = ran.errors.decode()
    before, after = said.split("*")
    assert ran.code != 0 and before in text and after in text, text
