"""PTX of clusters: a cluster is one block. Who asks for another block's shared memory gets none of its own instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated import quick

from cu2port.core.model import Outcome, Trust
from cu2port.engine.translate import translate
from cu2port.verify import sim_build, sim_compiler, simulate

#: The threads of a cluster's blocks add up a word of each block.
PROGRAM = """
__global__ void sum(unsigned blocks, unsigned* out) {
    __shared__ unsigned mine;
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) mine = 40 + rank;
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    unsigned total = threadIdx.x;
    for (unsigned k = 0; k < blocks; ++k) {
        unsigned there, word;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                     : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(&mine)), "r"(k));
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(word) : "r"(there) : "memory");
        total += word;
    }
    out[threadIdx.x] = total;
}
"""
MAIN = """
#include <cstdio>
int main(int count, char**) {
    unsigned* out;
    (void)hipMallocManaged((void**)&out, 64 * 4);
    sum<<<1, 64>>>(count, out);
    (void)hipDeviceSynchronize();
    for (unsigned t = 0; t < 64; ++t)
        if (out[t] != t + 40) return std::printf("wrong %u\\n", t), 3;
    std::puts("right");
}
"""


def test_one_block_works_and_more_trap(tmp_path: Path) -> None:
    result = translate(PROGRAM, path="a.cu")
    source = tmp_path / "sum.hip"
    source.write_text(result.output.decode() + MAIN)
    found = sim_build.find_program(source)
    built = quick(found)
    binaries = sim_build.build(built, tmp_path / "build", (32, 64), sim_compiler.find_toolchain())
    for wave in (32, 64):
        ran = simulate.run(binaries[wave], (), simulate.Limits(60), capture=True)
        assert (ran.code, ran.output) == (0, b"right\n"), ran.errors.decode()[-2000:]
        ran = simulate.run(binaries[wave], ("more",), simulate.Limits(60), capture=True)
        assert ran.code not in (0, 3) and b"right" not in ran.output


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("mov.u32 %0, %%cluster_ctarank;", "d = 0;"),
        ("mov.u32 %0, %%cluster_nctarank;", "d = 1;"),
        ("barrier.cluster.wait;", "__syncthreads();"),
        ("mapa.shared::cluster.u32 %0, %1, %1;", "d = cu2port::ptx::mapa<std::uint32_t>(a, a);"),
        ("mapa.shared::cluster.u32 %0, %1, 0;", "d = a;"),
        ("getctarank.shared::cluster.u32 %0, %1;", "d = 0;"),
    ],
)
def test_what_is_of_clusters_needs_review(text: str, wanted: str) -> None:
    made = translate(f'__device__ void f(unsigned d, unsigned a) {{ asm volatile("{text}" : "=r"(d) : "r"(a)); }}')
    (mine,) = (j for j in made.findings if j.finding.code == "CU401")
    assert mine.outcome is Outcome.APPLIED and mine.finding.trust is Trust.REVIEW
    assert "a cluster is one block here" in mine.finding.message and wanted in made.output.decode()


def test_another_block_by_its_number_is_refused() -> None:
    text = "mapa.shared::cluster.u32 %0, %1, 1;"
    made = translate(f'__device__ void f(unsigned d, unsigned a) {{ asm volatile("{text}" : "=r"(d) : "r"(a)); }}')
    (mine,) = (j for j in made.findings if j.finding.code == "CU401")
    assert mine.outcome is Outcome.MANUAL and "shared memory of another block" in mine.finding.message
