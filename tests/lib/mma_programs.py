"""Texts of kernels with `mma`, and what converts them and runs them in the simulator."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from simulated import quick

from cu2port.core.model import Options
from cu2port.engine.translate import translate
from cu2port.verify import sim_build, sim_compiler, simulate

ASM = (
    'asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"'
    ' : "+f"(C[0]), "+f"(C[1]), "+f"(C[2]), "+f"(C[3])'
    ' : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));'
)
LOOP = "for (int k = 0; k < n; ++k) {\n        load(a, b);\n        %s\n    }"


def product(place: str) -> str:
    return ASM.replace("C[", f"{place}[")


ONE = product("acc[0]")
MULTIPLY = "auto multiply = [&](int j) { for (int i = 0; i < 2; ++i) { " + product("acc[i]") + " } };"


HEAD = """#include <hip/hip_runtime.h>
#include <cu2port/mma.hpp>
#include <cstdio>
#include <cstdlib>
template <class T> __device__ void get(T& to, unsigned long long from) { __builtin_memcpy(&to, &from, sizeof to); }
"""


#: what programs of tests read: 64 words
DATA = b"".join((0x9E3779B97F4A7C15 * (i + 1) % 2**64).to_bytes(8, "little") for i in range(64))


# Products into six tiles: of numbers whose sums are exact, with Inf and NaN in one warp, of zeros of either sign.
STEPS = """
__device__ void load(unsigned* a, unsigned* b, float* c, int k, int mode, bool odd) {
    const unsigned lane = threadIdx.x;
    for (int i = 0; i < 4; ++i) a[i] = (lane * 2654435761u >> (3 * i + k)) & 0x40004000u;
    for (int i = 0; i < 2; ++i) b[i] = (lane * 2246822519u >> (5 * i + k)) & 0x3c003c00u;
    for (int i = 0; i < 4; ++i) c[i] = float(lane + i) - 16 * k;
    if (mode == 1 && odd) a[k & 3] = lane % 3 ? 0x7c00fc00u : 0x7e003c00u, c[1] = lane % 5 ? c[1] : __builtin_inff();
    if (mode == 2) {  // -0 in a warp, +0 in the other
        for (int i = 0; i < 4; ++i) a[i] = odd ? 0x80008000u : 0, c[i] = odd ? -0.f : 0.f;
        for (int i = 0; i < 2; ++i) b[i] = 0x3c003c00u;
    }
}
__global__ void k(float* out, int n, int mode, int odd, int here) {
    if (!(here >> (threadIdx.x / 32) & 1)) return;
    const bool mine = (threadIdx.x / 32) == odd;
    float acc[6][4], e[4];
    unsigned a[4], b[2];
    for (int j = 0; j < 6; ++j) { load(a, b, e, j, mode, mine); for (int i = 0; i < 4; ++i) acc[j][i] = e[i]; }
    for (int k = 0; k < n; ++k) {
        load(a, b, e, k, mode, mine);
        STEP
    }
    for (int i = 0; i < 24; ++i) out[threadIdx.x * 24 + i] = acc[i / 4][i % 4];
}
"""
STEPS_MAIN = """
int main(int, char** names) {
    float* out;
    (void)hipMallocManaged((void**)&out, 6144);
    std::FILE* to = std::fopen(names[2], "wb");
    for (int mode = 0; mode < MODES; ++mode)
        for (int odd = 0; odd < 2; ++odd)
            for (int here = 1; here < 4; ++here) {
                for (int i = 0; i < 1536; ++i) out[i] = 7;
                k<<<1, 64>>>(out, 3, mode, odd, here);
                if (hipDeviceSynchronize() != hipSuccess) return 3;
                for (int i = 0; i < 1536; ++i) if (out[i] != out[i]) out[i] = 1e30f;
                std::fwrite(out, 4, 1536, to);
            }
    std::fclose(to);
}
"""


def whole(kernel: str, main: str, kept: bool) -> str:
    """A program of converted kernels, whose sums stay in tiles or do not."""
    assert ("in_tiles<" in kernel) == kept
    return re.sub(r'#include "(cu2port/[\w.]+)"', r"#include <\1>", HEAD + kernel + main)


def converted(text: str) -> str:
    return translate(text, Options(), path="a.cu").output.decode()


def run_simulated(source: str, data: bytes, wave: int, folder: Path) -> bytes:
    (folder / "mma.hip").write_text(source)
    (folder / "in").write_bytes(data)
    found = sim_build.find_program(folder / "mma.hip")
    built = quick(found)
    binary = sim_build.build(built, folder / "build", (wave,), sim_compiler.find_toolchain())[wave]
    ran = simulate.run(binary, (str(folder / "in"), str(folder / "out")), simulate.Limits(100), capture=True)
    assert ran.code == 0, ran.errors.decode()[-2000:]
    return (folder / "out").read_bytes()


def with_and_without_tiles(program: Callable[[bool], str], data: bytes, wave: int, folder: Path) -> list[bytes]:
    """What a program prints that keeps sums in tiles, and what it prints without. `program`: its text."""
    answers = []
    for kept in (True, False):
        inside = folder / str(kept)
        inside.mkdir()
        answers.append(run_simulated(program(kept), data, wave, inside))
    return answers
