"""`--warp solo`: code whose warps wait for each other runs on wavefronts of 64 lanes as it does on 32.

Each program counts on warps that make progress alone. With `--warp logical` it hangs or computes something else on
wavefronts of 64 in the simulator, which tells that the programs do count on it; with `--warp solo` it does not.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from simulated import quick

from cu2port.catalog import load_catalog
from cu2port.core.model import Options, Outcome
from cu2port.engine.translate import translate
from cu2port.facts.blocks import dimensions, threads
from cu2port.facts.unit import Unit
from cu2port.verify import sim_build, sim_compiler, simulate

INCLUDE = Path(__file__).resolve().parents[2] / "translator" / "cu2port" / "include" / "cu2port"
HEAD = """#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
"""
#: A program runs the launch whose number is its argument.
MAIN = """
int main(int, char** argv) {
    int *d, h[8] = {0};
    cudaMalloc(&d, 4096);
    cudaMemset(d, 0, 4096);
    switch (atoi(argv[1])) {
CASES    }
    if (cudaDeviceSynchronize() != cudaSuccess) printf("failed ");
    cudaMemcpy(h, d, 32, cudaMemcpyDeviceToHost);
    for (int x : h) printf("%d ", x);
}
"""
KERNELS = """
__global__ void a_lock(int* p) {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(p, 0, 1) != 0) {}
        p[1] += 1;
        __threadfence();
        atomicExch(p, 0);
    }
}

__device__ int lane() { return threadIdx.x & 31; }
__global__ void roles(int* p) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x / 32 == 0) {
        if (lane() == 0) {
            while (atomicAdd(&flag, 0) == 0) {}
        }
        __syncwarp();
        if (lane() == 0) p[2] = flag;
    } else {
        const int value = __shfl_sync(~0u, lane() + 7, 0);
        if (lane() == 0) atomicExch(&flag, value);
    }
}

__global__ void divided_barrier(int* p) {
    __shared__ int s[64];
    s[threadIdx.x] = 1;
    if (threadIdx.x < 32) {
        s[threadIdx.x] = 2;
        __syncthreads();
        atomicAdd(p, s[threadIdx.x + 32]);
    } else {
        s[threadIdx.x] = 3;
        __syncthreads();
        atomicAdd(p + 1, s[threadIdx.x - 32]);
    }
}

__global__ void count(int* p) {
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    atomicAdd(p, 1);
    atomicAdd(p + 1, t);
    atomicAdd(p + 2, t % 32 == 31 ? 1 : 0);
    atomicAdd(p + 3, __popc(__activemask()));
    if (t == 0) { p[4] = blockDim.x; p[5] = blockDim.y * 10 + blockDim.z; }
    __syncthreads();
    if (t % warpSize == 0) atomicAdd(p + 6, __reduce_add_sync(__activemask(), t / 32));
}

namespace cg = cooperative_groups;
__device__ int in_tile(const cg::thread_block& block) {
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    return tile.shfl(block.thread_rank(), 31) + tile.thread_rank();
}
__global__ void groups(int* p) {
    cg::thread_block block = cg::this_thread_block();
    auto grid = cg::this_grid();
    atomicAdd(p, in_tile(block));
    cg::sync(block);
    atomicAdd(p + 1, block.thread_index().x * block.group_dim().x + block.size());
    block.sync();
    atomicAdd(p + 2, static_cast<int>(grid.thread_rank()));
    if (block.thread_rank() == 0) p[3] = static_cast<int>(grid.size());
}

__global__ void assembly(int* p) {
    unsigned x, n, warp;
    asm("mov.u32 %0, %%tid.x;" : "=r"(x));
    asm("mov.u32 %0, %%ntid.x;" : "=r"(n));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    atomicAdd(p, x);
    atomicAdd(p + 1, n);
    atomicAdd(p + 2, warp);
}
"""
#: Kernels whose warps wait for each other.
WAITING = ("a_lock<<<2, 128>>>(d)", "roles<<<1, 64>>>(d)", "divided_barrier<<<1, 64>>>(d)")
#: Shapes of blocks: all threads must be there once, with CUDA's numbers.
SHAPES = (
    "count<<<3, 96>>>(d)",
    "count<<<2, 100>>>(d)",
    "count<<<dim3(2, 2), dim3(32, 3, 2)>>>(d)",
    "count<<<1, 1>>>(d)",
    "groups<<<2, 96>>>(d)",
    "groups<<<2, dim3(32, 4)>>>(d)",
    "assembly<<<2, 160>>>(d)",
)
RAGGED = "count<<<1, dim3(16, 4)>>>(d)"
LAUNCHES = (*WAITING, *SHAPES, RAGGED)
Answers = dict[tuple[str, int, str], tuple[int, str]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """(mode, wave size, launch) -> exit code and output. Two programs, run once for each launch."""
    toolchain = sim_compiler.find_toolchain()
    cases = "".join(f"        case {n}: {launch}; break;\n" for n, launch in enumerate(LAUNCHES))
    out: Answers = {}
    for mode in ("logical", "solo"):
        made = translate(HEAD + KERNELS + MAIN.replace("CASES", cases), Options(warp=mode), path="p.cu")
        assert all(j.outcome is Outcome.APPLIED for j in made.findings if j.finding.code == "CU330")
        folder = tmp_path_factory.mktemp(mode)
        (folder / "cu2port").mkdir()
        for path in INCLUDE.iterdir():
            shutil.copy(path, folder / "cu2port")
        path = folder / "p.hip"
        path.write_bytes(made.output)
        found = sim_build.find_program(path)
        program = quick(found)
        for wave, binary in sim_build.build(program, folder / "build", (32, 64), toolchain).items():
            for n, launch in enumerate(LAUNCHES):
                hangs = (mode, wave) == ("logical", 64) and launch in WAITING  # one takes a lock for ever, and computes
                ran = simulate.run(binary, (str(n),), simulate.Limits(1 if hangs else 10), capture=True)
                out[mode, wave, launch] = (ran.code, ran.output.decode())
    return out


@pytest.mark.parametrize("launch", WAITING)
def test_warps_that_wait_for_each_other(launch: str, answers: Answers) -> None:
    right = answers["logical", 32, launch]
    assert right[0] == 0
    assert answers["logical", 64, launch] != right, "the program does not count on it"
    assert answers["solo", 32, launch] == right
    assert answers["solo", 64, launch] == right


@pytest.mark.parametrize("launch", SHAPES)
def test_threads_are_counted_as_in_cuda(launch: str, answers: Answers) -> None:
    right = answers["logical", 32, launch]
    assert right[0] == 0
    assert [answers["solo", wave, launch] for wave in (32, 64)] == [right, right]


def test_blocks_that_cannot_be_solo_fail_loudly(answers: Answers) -> None:
    assert answers["solo", 32, RAGGED] == answers["logical", 32, RAGGED]
    code, output = answers["solo", 64, RAGGED]
    assert code != 0 or output.startswith(("failed", "0 0"))


@pytest.mark.parametrize(
    "text, said",
    [
        ("void f(int* p) { k<<<1, 1024>>>(p); }", "blocks of 1024 threads"),
        ("#define N 32\nvoid f(int* p) { dim3 b(N, N); dim3 g(n / b.x); k<<<g, b>>>(p); }", "blocks of 1024 threads"),
        ("__global__ void __launch_bounds__(768) k(int* p) {}", "blocks of up to 768 threads"),
        ("__global__ void k(int* p) { p[0] = cub::BlockReduce<int, 256>(t).Sum(p[1]); }", "counts lanes"),
        ("namespace cg = cooperative_groups;\n__global__ void k(cg::thread_group g) {}", "counts lanes"),
        ("#define ME cooperative_groups::this_thread_block()", "counts lanes"),
    ],
)
def test_what_cannot_be_solo_is_named(text: str, said: str) -> None:
    made = translate(text.encode(), Options(warp="solo"), path="p.cu")
    assert any(said in j.finding.message and j.open for j in made.findings)


@pytest.mark.parametrize(
    "block, size",
    [
        ("const int n = 16;\nvoid f() { k<<<1, n * n>>>(); }", 256),
        ("#define N (2 * M)\n#define M 300u\nvoid f() { k<<<1, N>>>(); }", 600),
        ("void f() { dim3 b = dim3(8, 8, 8); k<<<1, b>>>(); }", 512),
        ("void f() { int t = 1 << 9, u; k<<<1, dim3(t, 2)>>>(); }", 1024),
        ("void f() { dim3 b(32); b.y = 4; k<<<1, b>>>(); }", None),
        ("void f() { int t = 64; t *= 2; k<<<1, t>>>(); }", None),
        ("constexpr dim_t n = 256;\nvoid f() { k<<<1, n>>>(); }", 256),
        ("constexpr double n = 256;\nvoid f() { k<<<1, n>>>(); }", None),
        ("dim_t n = 256;\nvoid f() { k<<<1, n>>>(); }", None),
        ("void f(int t) { k<<<1, t>>>(); }", None),
        ("void f() { unsigned int t = atoi(x); k<<<1, t>>>(); }", None),
    ],
)
def test_sizes_of_blocks(block: str, size: int | None) -> None:
    unit = Unit(block, load_catalog())
    launch = unit.launches[0]
    assert threads(unit, unit.split_args(launch.config_first, launch.close)[1]) == size


@pytest.mark.parametrize(
    "block, count",
    [
        ("void g(dim3 n) {} void f(int n) { k<<<1, n>>>(); }", 1),
        ("void f(double n) { k<<<1, static_cast<unsigned>(n) * 32>>>(); }", 1),
        ("#define N 32\nvoid f() { k<<<1, dim3(N, 8, 1)>>>(); }", 2),
        ("void f(int n) { dim3 b(n, n, n); k<<<1, b>>>(); }", 3),
        ("void f(int n) { auto b = dim3{n}; k<<<1, dim3(b)>>>(); }", 1),
        ("void f(dim3 n) { k<<<1, n>>>(); }", None),
        ("void f(dim3 n) { k<<<1, dim3(n)>>>(); }", None),
        ("void f(int n) { dim3 b(n); b.y = 4; k<<<1, b>>>(); }", None),
        ("void f(int n) { dim3 b(n); g(b); k<<<1, b>>>(); }", None),
        ("void f(S s) { k<<<1, s.block>>>(); }", None),
        ("#define N n\nvoid f(dim3 n) { k<<<1, N>>>(); }", None),
        ("void f() { k<<<1, elsewhere>>>(); }", None),
        ("void f(int *n) { k<<<1, n>>>(); k<<<1, n[1]>>>(); }", None),
    ],
)
def test_dimensions_of_blocks(block: str, count: int | None) -> None:
    unit = Unit(block, load_catalog())
    launch = unit.launches[0]
    assert dimensions(unit, unit.split_args(launch.config_first, launch.close)[1]) == count
