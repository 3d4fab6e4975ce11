"""`--warp solo`: code whose warps wait for each other runs on wavefronts of 64 lanes as it does on 32.

Each program counts on warps that make progress alone. With `--warp logical` it hangs or computes something else on
wavefronts of 64 in the simulator, which tells that the programs do count on it; with `--warp solo` it does not.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cu2port.engine import translate
from cu2port.model import Options, Outcome
from cu2port.verify import sim_build, simulate

INCLUDE = Path(__file__).resolve().parents[2] / "translator" / "cu2port" / "include" / "cu2port"
HEAD = """#include <cstdio>
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
"""
#: Kernels whose warps wait for each other.
WAITING = ("a_lock<<<2, 128>>>(d)", "roles<<<1, 64>>>(d)", "divided_barrier<<<1, 64>>>(d)")
#: Shapes of blocks: all threads must be there once, with CUDA's numbers.
SHAPES = (
    "count<<<3, 96>>>(d)",
    "count<<<2, 100>>>(d)",
    "count<<<dim3(2, 2), dim3(32, 3, 2)>>>(d)",
    "count<<<1, 1>>>(d)",
)
RAGGED = "count<<<1, dim3(16, 4)>>>(d)"
LAUNCHES = (*WAITING, *SHAPES, RAGGED)
Answers = dict[tuple[str, int, str], tuple[int, str]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """(mode, wave size, launch) -> exit code and output. Two programs, run once for each launch."""
    toolchain = sim_build.find_toolchain()
    cases = "".join(f"        case {n}: {launch}; break;\n" for n, launch in enumerate(LAUNCHES))
    out: Answers = {}
    for mode in ("logical", "solo"):
        made = translate(HEAD + KERNELS + MAIN.replace("CASES", cases), Options(warp=mode), path="p.cu")
        assert all(j.outcome is Outcome.APPLIED for j in made.findings if j.finding.code == "CU330")
        folder = tmp_path_factory.mktemp(mode)
        (folder / "cu2port").mkdir()
        for helper in made.helpers:
            shutil.copy(INCLUDE / helper, folder / "cu2port")
        path = folder / "p.hip"
        path.write_bytes(made.output)
        found = sim_build.find_program(path)
        program = sim_build.Program(found.units, found.include_dirs, found.defines, ("-O0",))
        for wave, binary in sim_build.build(program, folder / "build", (32, 64), toolchain).items():
            for n, launch in enumerate(LAUNCHES):
                ran = simulate.run(binary, (str(n),), simulate.Limits(10), capture=True)
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
