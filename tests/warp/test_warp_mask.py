"""`simulate --check` looks at the masks of warp.hpp: the lanes that one names come to the call, with the same mask."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cu2port.verify import sim_build, sim_check, sim_compiler, simulate

HEADER = Path(__file__).resolve().parents[2] / "translator" / "cu2port" / "include" / "cu2port" / "warp.hpp"
#: Statements of a kernel of 56 threads; whether their masks are right.
KERNELS = {
    "d[t] = w::shfl(~0u, t, 1);": True,  # threads of a block that do not exist may be named
    "if (t % 2) d[t] = w::shfl_xor(0xaaaaaaaau, t, 2); else d[t] = w::any(0x55555555u, t);": True,
    "if (t > 40) return; d[t] = w::reduce_add(~0u, t);": True,  # and those that have ended
    "d[t] = w::ballot(t % 3 ? 0xb6db6db6u : 0x49249249u, t % 5) + w::match_any(w::activemask(), t);": False,
    "if (t % 2) d[t] = w::shfl_down(~0u, t, 2); else d[t] = 3; __syncwarp();": False,
    "w::syncwarp(1u); d[t] = t;": False,
}


@pytest.mark.slow
def test_masks(tmp_path: Path) -> None:
    (tmp_path / "cu2port").mkdir()
    shutil.copy(HEADER, tmp_path / "cu2port")
    kernels = "".join(
        f"__global__ void k{n}(int* d) {{\n    int t = threadIdx.x;\n    {body}\n}}\n" for n, body in enumerate(KERNELS)
    )
    cases = "".join(f"        case {n}: k{n}<<<1, 56>>>(d); break;\n" for n in range(len(KERNELS)))
    path = tmp_path / "kernels.hip"
    path.write_text(
        '#include <hip/hip_runtime.h>\n#include <cstdlib>\n#include "cu2port/warp.hpp"\nnamespace w = cu2port::warp;\n'
        f"{kernels}int main(int, char** argv) {{\n    int* d;\n    (void)hipMalloc(&d, 256);\n"
        f"    switch (atoi(argv[1])) {{\n{cases}    }}\n    return hipDeviceSynchronize();\n}}\n"
    )
    toolchain = sim_compiler.find_toolchain()
    binaries = sim_build.build(sim_build.find_program(path), tmp_path / "build", (64,), toolchain, check=True)
    lines = path.read_text().splitlines()
    for n, (body, right) in enumerate(KERNELS.items()):
        found = [v for v in sim_check.check(binaries, (str(n),), simulate.Limits(30))[1] if v.kind == "mask"]
        assert (not found) is right, (body, [v.text for v in found])
        line = next(i for i, text in enumerate(lines, 1) if text.strip() == body)
        assert all(f"kernels.hip:{line}" in f"{v.where} {v.text}" for v in found)
