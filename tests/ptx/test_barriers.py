"""Barriers of some of a block's warps: converted, and run on simulated wavefronts of 32 and 64 lanes."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated import quick

from cu2port.core.model import Outcome, Trust
from cu2port.engine.translate import translate
from cu2port.verify import sim_build, sim_compiler, simulate

#: Half of the warps fill a buffer, the other half adds it up, four times over. What other kernels left in shared memory
#: must not matter, nor how often a kernel runs.
PIPELINE = """
constexpr int kHalf = 64, kRounds = 4;
__device__ void meet(int id, int n) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(n) : "memory"); }
__device__ void come(int id, int n) {
    asm volatile("barrier.cta.arrive.aligned %0, %1;" :: "r"(id), "r"(n) : "memory");
}

__global__ void pipeline(const int* in, int* out) {
    __shared__ int buffer[kHalf];
    const int t = threadIdx.x % kHalf;
    int sum = 0;
    for (int round = 0; round < kRounds; ++round) {
        if (threadIdx.x < kHalf) {
            if (round > 0) meet(2, 2 * kHalf);
            buffer[t] = in[kHalf * (round + kRounds * blockIdx.x) + t];
            come(1, 2 * kHalf);
        } else {
            meet(1, 2 * kHalf);
            sum += buffer[kHalf - 1 - t];
            if (round < kRounds - 1) come(2, 2 * kHalf);
        }
    }
    if (threadIdx.x >= kHalf) out[kHalf * blockIdx.x + t] = sum;
}

// Two groups of two warps each meet on their own, in a block whose last warp has 8 threads.
__global__ void groups(int* out) {
    __shared__ int word[4][32];
    const int group = threadIdx.x / 64, t = threadIdx.x % 64;
    if (threadIdx.x < 128) {
        for (int i = 0; i < 3; ++i) {
            if (t < 32) word[group][t] = 100 * group + t + i;
            asm volatile("barrier.sync %0, 64;" :: "r"(group + 3) : "memory");
            out[threadIdx.x] = word[group][63 - t < 32 ? 63 - t : t];
            unsigned yes, any, each;
            asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %4, 0;\\n"
                         "bar.red.popc.u32 %0, %3, 64, p;\\n"
                         "bar.red.or.pred q, %3, 64, p; selp.u32 %1, 1, 0, q;\\n"
                         "bar.red.and.pred q, %3, 64, p; selp.u32 %2, 1, 0, q; }"
                         : "=r"(yes), "=r"(any), "=r"(each)
                         : "r"(group + 3), "r"(t * group % 3 == i % 2 ? 1 : 0) : "memory");
            // of t * group % 3 for t in 0 ... 63, 22 are 0 and 21 are 1; all are 0 in group 0
            const unsigned wanted = group == 0 ? (i % 2 == 0 ? 64 : 0) : i % 2 == 0 ? 22 : 21;
            if (yes != wanted || any != (wanted > 0) || each != (wanted == 64)) out[1000] = 1;
        }
    }
    asm volatile("barrier.sync 15, 160;" ::: "memory");
    if (threadIdx.x == 135) out[128] = word[0][1] + word[1][1];
}
"""

MAIN = """
#include <cstdio>
__global__ void leave(unsigned salt) {
    auto& b = cu2port::ptx::barrier::all().numbered[threadIdx.x % 16];
    b.block = salt * 0x123456789abcdefull, b.state = salt * 77777 + threadIdx.x;
}
int main() {
    int *in, *out;
    (void)hipMallocManaged((void**)&in, 4096 * 4);
    (void)hipMallocManaged((void**)&out, 4096 * 4);
    for (int i = 0; i < 4096; ++i) in[i] = i * i % 1009, out[i] = 0;
    for (unsigned run = 0; run < 3; ++run) {
        if (run < 2) leave<<<3, 16>>>(run + 1);
        pipeline<<<3, 128>>>(in, out);
        (void)hipDeviceSynchronize();
        for (int b = 0; b < 3; ++b)
            for (int t = 0; t < 64; ++t) {
                int sum = 0;
                for (int r = 0; r < 4; ++r) sum += in[64 * (r + 4 * b) + 63 - t];
                if (out[64 * b + t] != sum) return std::printf("pipeline %d %d\\n", b, t), 1;
            }
        groups<<<1, 136>>>(out);
        (void)hipDeviceSynchronize();
        for (int g = 0; g < 2; ++g)
            for (int t = 0; t < 64; ++t)
                if (out[64 * g + t] != 100 * g + (t < 32 ? t : 63 - t) + 2)
                    return std::printf("groups %d %d\\n", g, t), 1;
        if (out[128] != 1 + 101 + 4 || out[1000] != 0) return std::printf("last\\n"), 1;
    }
    std::puts("right");
}
"""


def test_roles_meet(tmp_path: Path) -> None:
    result = translate(PIPELINE, path="a.cu")
    mine = [j for j in result.findings if j.finding.code == "CU401"]
    assert len(mine) == 5
    assert all(j.outcome is Outcome.APPLIED and j.finding.trust is Trust.REVIEW for j in mine)
    assert all("--warp solo" in j.finding.message for j in mine)
    source = tmp_path / "roles.hip"
    source.write_text(result.output.decode() + MAIN)
    found = sim_build.find_program(source)
    built = quick(found)
    binaries = sim_build.build(built, tmp_path / "build", (32, 64), sim_compiler.find_toolchain())
    for wave in (32, 64):
        ran = simulate.run(binaries[wave], (), simulate.Limits(60), capture=True)
        assert ran.code == 0, (wave, ran.output, ran.errors.decode()[-2000:])
        assert ran.output == b"right\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("bar.sync 1, 64;", "cu2port::ptx::bar_sync(1, 64);"),
        ("barrier.cta.sync.aligned 1, 128;", "cu2port::ptx::bar_sync(1, 128);"),
        ("barrier.sync 1, 128;", "cu2port::ptx::barrier_sync(1, 128);"),
        ("bar.arrive 0, 256;", "cu2port::ptx::bar_arrive(0, 256);"),
        ("barrier.arrive 9, 96;", "cu2port::ptx::barrier_arrive(9, 96);"),
        ("bar.sync 1;", "__syncthreads();"),
        ("{ .reg .u32 n; .reg .pred p; bar.red.popc.u32 n, 1, 64, p; }", "bar_red_popc(1, 64, p)"),
        ("{ .reg .pred p, q; barrier.cta.red.or.pred q, 1, 64, !p; }", "bar_red_or(1, 64, !p)"),
    ],
)
def test_texts(text: str, wanted: str) -> None:
    made = translate(f'__device__ void f() {{ asm volatile("{text}" ::: "memory"); }}', path="a.cuh")
    assert wanted in made.output.decode()
