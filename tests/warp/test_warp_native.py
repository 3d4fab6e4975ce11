"""`--warp native`: kernels that become native give CUDA's answers on wavefronts of 32 and 64 lanes; others stay.

All kernels run in the simulator, converted with `--warp logical` for wavefronts of 32 lanes and with `--warp native`
for both sizes, with blocks of 32, 96 and 256 threads. All outputs must be the same.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cu2port.core.model import Options, Trust
from cu2port.engine.translate import translate

Answers = dict[tuple[str, int], dict[str, str]]
Verdicts = Callable[[str], dict[str, str]]
HEAD = """#include <climits>
#include <cstdio>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
#define LANES 32
__device__ int warp_sum(int v) {
    #pragma unroll
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);
    return v;
}
__device__ int warp_max(int v) {
    for (int o = LANES / 2; o > 0; o /= 2) v = max(v, __shfl_xor_sync(FULL, v, o));
    return v;
}
__device__ int block_sum(int v) {
    static __shared__ int s[32];
    const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    v = warp_sum(v);
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = (threadIdx.x < blockDim.x / warpSize) ? s[lane] : 0;
    if (warp == 0) v = warp_sum(v);
    return v;
}
__device__ int block_total(int v) {
    static __shared__ int s[32];
    const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    v = warp_sum(v);
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = (threadIdx.x < blockDim.x / warpSize) ? s[lane] : 0;
    if (warp == 0) v = warp_sum(v);
    return v;
}
"""
#: Kernels that become native: a body each, of `(const int* in, int* out)`.
NATIVE = {
    "block_function": "int v = block_sum(in[threadIdx.x]); if (threadIdx.x == 0) out[0] = v;",
    "flags_by_some": """
        __shared__ int s[32], f[32];
        if (threadIdx.x < 32) f[threadIdx.x] = 0;
        __syncthreads();
        if (in[threadIdx.x] > 90) f[threadIdx.x / 32] = 1;
        int v = warp_max(in[threadIdx.x]);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
        __syncthreads();
        v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
        if (threadIdx.x < 32) v = warp_max(v);
        if (threadIdx.x == 0) out[0] = v;
        out[1 + threadIdx.x] = f[threadIdx.x & 15];""",
    "in_a_plane": """
        __shared__ int s[32];
        const int tid = threadIdx.y * blockDim.x + threadIdx.x;
        if (tid < 32) s[tid] = 1000;
        __syncthreads();
        int v = warp_sum(in[tid]);
        if (tid % 32 == 0) s[tid / 32] = v;
        __syncthreads();
        v = tid < blockDim.x * blockDim.y / 32 ? s[tid] : 0;
        if (tid < 32) v = warp_sum(v);
        if (tid == 0) out[0] = v;""",
    "in_place": """
        __shared__ int s[LANES];
        int v = in[threadIdx.x];
        for (int o = 1; o < 32; o *= 2) v += __shfl_xor_sync(~0u, v, o);
        if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = v;
        __syncthreads();
        if (threadIdx.x < 32) {
            v = threadIdx.x < (blockDim.x + 31) / 32 ? s[threadIdx.x] : 0;
            v = warp_sum(v);
            if (threadIdx.x == 0) s[0] = v;
        }
        __syncthreads();
        out[threadIdx.x] = in[threadIdx.x] - s[0];""",
    "every_warp_finishes": """
        __shared__ int s[32];
        const int lane = threadIdx.x & (LANES - 1), warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
        int most = -2147483647;
        for (int i = threadIdx.x; i < 500; i += blockDim.x) most = max(most, in[i] - 200);
        most = warp_max(most);
        if (lane == 0) s[warp] = most;
        __syncthreads();
        most = lane < warps ? s[lane] : INT_MIN;
        most = warp_max(most);
        out[threadIdx.x] = most;""",
    "preset": """
        extern __shared__ int s[];
        int v = in[threadIdx.x];
        v = warp_sum(v);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
        __syncthreads();
        int total = 0;
        if (threadIdx.x < blockDim.x / 32) total = s[threadIdx.x];
        if (threadIdx.x < 32) total = warp_sum(total);
        if (threadIdx.x == 0) out[0] = total;""",
    "serial": """
        __shared__ int s[32], all;
        int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
        int c = __popc(__ballot_sync(FULL, in[threadIdx.x] % 3 == 0));
        if (lane == 0) s[w] = c;
        __syncthreads();
        if (threadIdx.x == 0) {
            int t = 0;
            for (int i = 0; i < blockDim.x / 32; i++) t += s[i];
            all = t;
        }
        __syncthreads();
        out[threadIdx.x] = all;""",
    "atomics": """
        int v = in[threadIdx.x], m = v;
        v += __shfl_down_sync(FULL, v, 16);
        v += __shfl_down_sync(FULL, v, 8);
        v += __shfl_down_sync(FULL, v, 4);
        v += __shfl_down_sync(FULL, v, 2);
        v += __shfl_down_sync(FULL, v, 1);
        m = warp_max(m);
        if (threadIdx.x % 32 == 0) { atomicAdd(out, v); atomicMax(&out[1], m); }""",
    "reduce_instruction": """
        unsigned n = __reduce_add_sync(FULL, (unsigned)in[threadIdx.x]);
        if (!(threadIdx.x % LANES)) atomicAdd(out, (int)n);""",
    "rows_of_blocks": """
        __shared__ int s[8];
        for (int row = blockIdx.x; row < 3; row += gridDim.x) {
            int a = in[threadIdx.x + row], b = in[row] * a;
            for (int o = 16; o >= 1; o >>= 1) {
                a += __shfl_xor_sync(FULL, a, o);
                int t = __shfl_xor_sync(FULL, b, o);
                b = b > t ? b : t;
            }
            if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = a;
            __syncthreads();
            int sum = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
            sum = warp_sum(sum);
            if (threadIdx.x == 0) out[row] = sum;
            __syncthreads();
        }""",
}
#: Kernels that look like it and stay as they are.
LOGICAL = {
    "last_lane": """
        int v = warp_max(in[threadIdx.x]);
        if ((threadIdx.x & 31) == 31) out[threadIdx.x / 32] = v;""",
    "per_warp_answer": """
        int v = warp_max(in[threadIdx.x]);
        if ((threadIdx.x & 31) == 0) out[threadIdx.x / 32] = v;""",
    "odd_mask": """
        int v = in[threadIdx.x];
        if (threadIdx.x % 32 < 16)
            for (int o = 8; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffu, v, o);
        if (threadIdx.x % 32 == 0) atomicAdd(out, v);""",
    "half_a_warp": """
        int v = in[threadIdx.x];
        for (int o = 8; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
        if (threadIdx.x % 32 == 0) atomicAdd(out, v);""",
    "narrow": """
        int v = in[threadIdx.x];
        for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o, 16);
        if (threadIdx.x % 32 == 0) atomicAdd(out, v);""",
    "lane_bit": """
        unsigned b = __ballot_sync(FULL, in[threadIdx.x] & 1);
        out[threadIdx.x] = (b & (1u << (threadIdx.x % 32))) ? 1 : 0;""",
    "rank": """
        const int lane = threadIdx.x % 32;
        unsigned b = __ballot_sync(FULL, in[threadIdx.x] & 1);
        out[threadIdx.x] = __popc(b & ((1u << lane) - 1));""",
    "scan": """
        int v = in[threadIdx.x];
        for (int o = 1; o < 32; o *= 2) {
            int t = __shfl_up_sync(FULL, v, o);
            if (threadIdx.x % 32 >= o) v += t;
        }
        out[threadIdx.x] = v;""",
    "neighbour": "out[threadIdx.x] = __shfl_sync(FULL, in[threadIdx.x], (threadIdx.x + 1) % 32);",
    "two_roles": """
        const int n = 32;
        int v = warp_sum(in[threadIdx.x]);
        int lane = threadIdx.x % n;
        if (lane == 0) atomicAdd(out, v);
        out[1 + threadIdx.x] = in[threadIdx.x] >> (n - 1 - lane);""",
    "lane_as_data": """
        int lane = threadIdx.x & 31;
        int v = warp_sum(in[threadIdx.x] * lane);
        if (lane == 0) atomicAdd(out, v);""",
    "some_threads": """
        int v = 0;
        if (in[0] + threadIdx.x > 40) v = warp_sum(in[threadIdx.x]);
        if (threadIdx.x % 32 == 0) atomicAdd(out, v & 1);""",
    "early_return": """
        if (threadIdx.x >= 64) return;
        int v = warp_sum(in[threadIdx.x]);
        if (threadIdx.x % 32 == 0) atomicAdd(out, v);""",
    "place_by_warp": """
        int v = warp_sum(in[threadIdx.x]);
        if (threadIdx.x % 32 == 0) atomicAdd(&out[threadIdx.x / 32], v);""",
    "old_value": """
        int v = warp_sum(in[threadIdx.x]), was = 0;
        if (threadIdx.x % 32 == 0) was = atomicAdd(out, v);
        out[1 + threadIdx.x] = was >= 0;""",
    "other_operation": """
        __shared__ int s[32];
        int v = warp_max(in[threadIdx.x]);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
        __syncthreads();
        v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
        if (threadIdx.x < 32) v = warp_sum(v);
        if (threadIdx.x == 0) out[0] = v;""",
    "counts_in_lanes_beyond": """
        __shared__ int s[32];
        int v = warp_sum(in[threadIdx.x]);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
        __syncthreads();
        v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 1;
        if (threadIdx.x < 32) v = warp_sum(v);
        if (threadIdx.x == 0) out[0] = v;""",
    "slots_read_by_warp": """
        __shared__ int s[32];
        int v = warp_sum(in[threadIdx.x]);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x / 32];""",
    "through_a_pointer": """
        __shared__ int s[32];
        int* p = s;
        int v = warp_sum(in[threadIdx.x]);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
        __syncthreads();
        v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
        if (threadIdx.x < 32) v = warp_sum(v);
        if (threadIdx.x == 0) { out[0] = v; out[1] = p[0]; }""",
    "no_barrier": """
        volatile __shared__ int s[32];
        int v = warp_sum(in[threadIdx.x]);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
        if (blockDim.x == 32) v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
        if (threadIdx.x == 0 && blockDim.x == 32) out[0] = v;""",
    "all_of_the_first_warp": """
        int v = block_total(in[threadIdx.x]);
        if (threadIdx.x < 32) v = warp_max(v);
        if (threadIdx.x < 32) out[threadIdx.x] = 1;""",
    "conditional_code": """
        int v = in[threadIdx.x];
#ifdef NEVER
        v += threadIdx.x & 31;
        v = __shfl_up_sync(FULL, v, 1);
#endif
        v = warp_sum(v);
        if (threadIdx.x % 32 == 0) atomicAdd(out, v);""",
    "row_for_each_warp": """
        const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
        if (row >= 5) return;
        int sum = 0;
        for (int i = lane; i < 40; i += 32) sum += in[row * 40 + i];
        sum = warp_sum(sum);
        if (lane == 0) out[row] = sum;""",
    "own_ptx": """
        int v = in[threadIdx.x], w;
        asm("add.s32 %0, %1, 1;" : "=r"(w) : "r"(v));
        v = warp_sum(w);
        if (threadIdx.x % 32 == 0) atomicAdd(out, v);""",
    "beside_a_neighbour": """
        __shared__ int s[32];
        int v = in[threadIdx.x], q = __shfl_xor_sync(FULL, v, 3);
        v = warp_sum(v);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
        __syncthreads();
        v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
        if (threadIdx.x < 32) v = warp_sum(v);
        if (threadIdx.x == 0) out[0] = v;
        out[1 + threadIdx.x] = q;""",
    "asks_for_size": """
        int v = warp_sum(in[threadIdx.x]);
        if (threadIdx.x % 32 == 0) atomicAdd(out, v / 32);""",
}
NAMES = (*NATIVE, *LOGICAL)
SIZES = (32, 96, 256)
MAIN = """
int main() {
    int *in, *out;
    cudaMallocManaged(&in, 4096);
    cudaMallocManaged(&out, 4096);
    for (int i = 0; i < 1024; i++) in[i] = i * 37 % 101 + 1;
    const int sizes[] = {SIZES};
    for (int size : sizes) {
CASES    }
}
"""
CASE = """        for (int i = 0; i < 1024; i++) out[i] = 0;
        { LAUNCH }
        printf("NAME %d %d:", size, int(cudaDeviceSynchronize()));
        for (int i = 0; i < 260; i++) printf(" %d", out[i]);
        printf("\\n");
"""


def _program() -> str:
    kernels = (f"__global__ void {n}(const int* in, int* out) {{{b}\n}}\n" for n, b in {**NATIVE, **LOGICAL}.items())
    launches = dict.fromkeys((*NATIVE, *LOGICAL), "NAME<<<2, size, 256>>>(in, out);")
    launches["in_a_plane"] = "NAME<<<2, dim3(16, size / 16)>>>(in, out);"
    cases = "".join(CASE.replace("LAUNCH", launches[n]).replace("NAME", n) for n in NAMES)
    sizes = ", ".join(map(str, SIZES))
    return HEAD + "".join(kernels) + MAIN.replace("SIZES", sizes).replace("CASES", cases)


@pytest.fixture(scope="module")
def answers(native_answers: Callable[[str], Answers]) -> Answers:
    return native_answers(_program())


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_cudas(name: str, size: int, answers: Answers) -> None:
    right = answers["logical", 32][f"{name} {size} 0"]
    assert answers["native", 32][f"{name} {size} 0"] == right
    assert answers["native", 64][f"{name} {size} 0"] == right


def test_an_order_of_sums_is_no_exact_edit() -> None:
    exact = translate(_program(), Options(warp="native", trust=Trust.EXACT), path="p.cu")
    assert exact.output == translate(_program(), Options(trust=Trust.EXACT), path="p.cu").output
    assert not [j for j in exact.findings if j.finding.code == "CU356"]


def test_one_kernel_of_many() -> None:
    made = translate(_program(), Options(kernels=(("in_place", "native"),)), path="p.cu")
    found = [j.finding.message for j in made.findings if j.finding.code in ("CU356", "CU357")]
    assert found == ["`in_place` works with whole wavefronts"]


def test_what_becomes_native(native_verdicts: Verdicts) -> None:
    found = native_verdicts(_program())
    assert {n for n in NAMES if found.get(n) == "CU356"} == {*NATIVE}
    assert {n for n in NAMES if found.get(n) == "CU357"} == {*LOGICAL}
