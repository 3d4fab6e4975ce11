"""`--warp native` where some of a kernel's operations stay a warp's: the answers are CUDA's on wavefronts of any size.

All kernels run in the simulator, converted with `--warp logical` for wavefronts of 32 lanes and with `--warp native`
for both sizes, with blocks of 32, 96 and 256 threads.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

Answers = dict[tuple[str, int], dict[str, str]]
Verdicts = Callable[[str], dict[str, str]]
HEAD = """#include <climits>
#include <cstdio>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
#define TURN(v) __shfl_sync(FULL, v, (threadIdx.x + 1) & 31)
#define NEXT lane = (lane + 1) & 31
__device__ int warp_sum(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
    return v;
}
__device__ int warp_low(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);
    return v;
}
__device__ int place_of_max(int v) {
    int at = threadIdx.x % 32;
    for (int o = 16; o > 0; o >>= 1) {
        int w = __shfl_xor_sync(FULL, v, o), b = __shfl_xor_sync(FULL, at, o);
        if (w > v || (w == v && b < at)) { v = w; at = b; }
    }
    return at * 1000 + v;
}
__device__ int block_sum(int v) {
    __shared__ int s[32];
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
    if (threadIdx.x < 32) v = warp_sum(v);
    return v;
}
__device__ int block_sum(int v, unsigned m) { return __match_any_sync(m, v); }
__device__ void count_up(int& n) { n = (n + 1) & 31; }
"""
#: The sum of `v` over the block, which the first thread writes.
BLOCK = """
        if (lane == 0) s[warp] = v;
        __syncthreads();
        v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0;
        if (warp == 0) v = warp_sum(v);
        if (threadIdx.x == 0) out[0] = v;"""
NAMES_OF_LANES = """__shared__ int s[32];
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        int v = in[threadIdx.x];"""
TREE = """__shared__ int s[256];
        const unsigned tid = threadIdx.x;
        int v = in[tid];
        s[tid] = v;
        __syncthreads();
        for (unsigned n = 128; n > 32; n >>= 1) {
            if (tid < n && tid + n < blockDim.x) s[tid] = v = v + s[tid + n];
            __syncthreads();
        }
        if (TAIL) {
            if (blockDim.x >= 64) v += s[threadIdx.x + 32];
            for (int o = 16; o > 0; o >>= 1) v += STEP;
            IN
        }
        OUT"""


def _tree(tail: str, step: str, inside: str, behind: str) -> str:
    return TREE.replace("TAIL", tail).replace("STEP", step).replace("IN", inside).replace("OUT", behind)


_DOWN, _XOR = "__shfl_down_sync(FULL, v, o)", "__shfl_xor_sync(FULL, v, o)"
#: Kernels that become native in part: a body each, of `(const int* in, int* out)`.
PART = {
    "neighbours": NAMES_OF_LANES + "const int q = __shfl_xor_sync(FULL, v, 3); v = warp_sum(v + q);" + BLOCK
    + "out[1 + threadIdx.x] = q;",
    "lane_is_data": NAMES_OF_LANES + "v = warp_sum(v * lane + warp);" + BLOCK
    + "out[1 + threadIdx.x] = lane + 100 * warp;",
    "count_is_data": NAMES_OF_LANES + "const int warps = blockDim.x / 32; v = warp_sum(v * warps);" + BLOCK.replace(
        "blockDim.x / 32", "warps"
    ) + "out[1 + threadIdx.x] = warps;",
    "its_own_warps": NAMES_OF_LANES + "const int w = warp_sum(v * 3); if (lane == 0) out[1 + warp] = w;"
    "v = warp_sum(v);"
    + BLOCK,
    "stored_votes": NAMES_OF_LANES + "const unsigned m = __ballot_sync(FULL, v > 50); if (lane == 0) out[1 + warp] = m;"
    "v = warp_sum(v);" + BLOCK,
    "read_from_lane": NAMES_OF_LANES + "v += __shfl_sync(FULL, v, 5) + __shfl_up_sync(FULL, v, 1, 8); v = warp_sum(v);"
    + BLOCK,
    "in_a_macro": NAMES_OF_LANES + "v += TURN(v); v = warp_sum(v);" + BLOCK,
    "other_function": NAMES_OF_LANES + "out[1 + threadIdx.x] = place_of_max(v); v = warp_sum(v);" + BLOCK,
    "scan_of_a_warp": NAMES_OF_LANES + """
        int x = v;
        for (int o = 1; o < 32; o <<= 1) { int t = __shfl_up_sync(FULL, x, o); if (lane >= o) x += t; }
        out[1 + threadIdx.x] = x;
        v = warp_sum(x);""" + BLOCK,
    "first_warp_stores": NAMES_OF_LANES + "if (warp == 0) out[1 + lane] = lane * 7; v = warp_sum(v);" + BLOCK,
    "linear": """__shared__ int s[32];
        const int tid = threadIdx.y * blockDim.x + threadIdx.x, lane = tid % 32, warp = tid / 32;
        int v = warp_sum(in[tid]);
        if (lane == 0) s[warp] = v;
        __syncthreads();
        v = tid < blockDim.x * blockDim.y / 32 ? s[lane] : 0;
        if (warp == 0) v = warp_sum(v);
        if (tid == 0) out[0] = v;
        out[1 + tid] = lane + 100 * warp;""",
    "tiles": """__shared__ int s[32];
        auto block = cg::this_thread_block();
        auto tile = cg::tiled_partition<32>(block);
        int v = in[threadIdx.x];
        const int q = tile.shfl(v, 7);
        v = cg::reduce(tile, v + q, cg::plus<int>());
        if (tile.thread_rank() == 0) s[tile.meta_group_rank()] = v;
        block.sync();
        if (block.thread_rank() == 0) {
            int sum = 0;
            for (int i = 0; i < tile.meta_group_size(); i++) sum += s[i];
            out[0] = sum;
        }
        out[1 + threadIdx.x] = q;""",
    "tail_down": _tree("tid < 32", _DOWN, "", "if (tid == 0) out[0] = v;"),
    "tail_all": _tree("tid < 32", _XOR, "out[1 + tid] = v;", "if (tid < 40) out[40 + tid] = v;"),
    "tail_by_warp": _tree("threadIdx.x / 32 == 0", _DOWN, "if (threadIdx.x % 32 == 0) out[0] = v;", ""),
    "tail_of_block": _tree("cg::this_thread_block().thread_rank() < 32", _DOWN, "", "if (tid == 0) out[0] = v;"),
    "tail_in_loop": """__shared__ int s[256];
        for (int j = 0; j < 3; j++) {
            int v = in[threadIdx.x + j];
            s[threadIdx.x] = v;
            __syncthreads();
            if (threadIdx.x < 32) {
                for (int i = threadIdx.x + 32; i < blockDim.x; i += 32) v += s[i];
                v = warp_low(v);
                if (threadIdx.x == 0) out[j] = v;
            }
            __syncthreads();
        }""",
}  # fmt: skip
#: Kernels that look like them, in which what is told apart there is the same.
LIKE = {
    "leader_in_tail": NAMES_OF_LANES + "v = warp_sum(v); if (threadIdx.x < 32) { if (lane == 0) atomicAdd(out, v); }",
    "tail_stores_down": _tree("tid < 32", _DOWN, "out[1 + tid] = v;", "if (tid == 0) out[0] = v;"),
    "tail_read_behind": _tree("tid < 32", _DOWN, "", "out[1 + tid] = v;"),
    "tail_lane_one": _tree("tid < 32", _DOWN, "if (tid % 32 == 1) out[0] = v;", ""),
    "tail_of_more": TREE.replace("n > 32", "n > 64").replace("TAIL", "tid < 64").replace("STEP", _XOR).replace(
        "s[threadIdx.x + 32]", "s[threadIdx.x]").replace("IN", "out[1 + tid] = v;").replace("OUT", ""),
    "tail_of_another_warp": _tree("threadIdx.x / 32 == blockDim.x / 64", _XOR, "out[1 + tid] = v;", "").replace(
        "if (blockDim.x >= 64) v += s[threadIdx.x + 32];", ""),
    "lane_goes_on": NAMES_OF_LANES + "lane = (lane + 1) & 31; v = warp_sum(v);" + BLOCK,
    "lane_by_macro": NAMES_OF_LANES + "NEXT; v = warp_sum(v);" + BLOCK,
    "lane_by_reference": NAMES_OF_LANES + "count_up(lane); v = warp_sum(v); if (lane == 0) atomicAdd(out, v);",
    "lane_by_pointer": NAMES_OF_LANES + "int* p = &lane; *p = 3; v = warp_sum(v); if (lane == 0) atomicAdd(out, v);",
    "lane_in_a_branch": NAMES_OF_LANES + "if (in[3] > 5) lane = 31 - lane; v = warp_sum(v);" + BLOCK,
    "lane_in_a_loop": NAMES_OF_LANES + """
        for (int j = 0; j < 2; j++) {
            int w = warp_sum(v + j);
            if (lane == 0) atomicAdd(out, w);
            lane = 31 - lane;
        }""",
    "another_lane": NAMES_OF_LANES
    + "{ int lane = threadIdx.x % 16; int w = warp_sum(v); if (lane == 0) atomicAdd(out, w); }",
    "warp_turned": NAMES_OF_LANES + "warp = warp ^ 1; v = warp_sum(v); if (lane == 0) out[1 + warp] = v;",
    "slots_then_data": NAMES_OF_LANES + "v = warp_sum(v); if (lane == 0) s[warp] = v; __syncthreads();"
    "out[threadIdx.x] = s[warp];",
    "slots_by_shuffle": NAMES_OF_LANES + "v = warp_sum(v); v = __shfl_sync(FULL, v, 3); if (lane == 0) s[warp] = v;"
    "__syncthreads(); if (threadIdx.x == 0) for (int i = 0; i < blockDim.x / 32; i++) out[i] = s[i];",
    "turns_differ": NAMES_OF_LANES + """
        for (int j = 0; j < 2; j++) {
            v = warp_sum(v) + lane;
            if (lane == 0) atomicAdd(out, v);
        }""",
    "sum_then_warps": NAMES_OF_LANES + """
        for (int j = 0; j < 2; j++) {
            if (lane == 0) s[warp] = v;
            __syncthreads();
            if (threadIdx.x == 0) for (int i = 0; i < blockDim.x / 32; i++) out[j] += s[i];
            __syncthreads();
            v = warp_sum(v);
        }""",
    "votes_of_the_sum": NAMES_OF_LANES + "v = warp_sum(v); out[threadIdx.x] = __ballot_sync(FULL, v > 1500);",
    "sum_by_shuffle": NAMES_OF_LANES + "v = warp_sum(v); out[threadIdx.x] = __shfl_xor_sync(FULL, v, 1);",
    "sum_in_a_macro": NAMES_OF_LANES + "v = warp_sum(v); out[threadIdx.x] = TURN(v);",
    "function_gets_sum": NAMES_OF_LANES + "v = warp_sum(v); out[threadIdx.x] = place_of_max(v);",
    "function_of_two_kinds": NAMES_OF_LANES + "v = warp_sum(v);" + BLOCK + "out[1 + threadIdx.x] = block_sum(v);",
    "half_tiles": """__shared__ int s[64];
        auto tile = cg::tiled_partition<16>(cg::this_thread_block());
        const int v = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());
        if (tile.thread_rank() == 0) s[tile.meta_group_rank()] = v;
        __syncthreads();
        if (threadIdx.x == 0) for (int i = 0; i < tile.meta_group_size(); i++) out[0] += s[i] * i;""",
    "tiles_of_rows": """
        auto tile = cg::tiled_partition<32>(cg::this_thread_block());
        const int lane = tile.thread_rank(), warp = tile.meta_group_rank();
        const int v = cg::reduce(tile, in[lane + 32 * warp], cg::plus<int>());
        if (lane == 0) atomicAdd(out, v);
        out[1 + lane + 32 * warp] = tile.shfl(lane, 3);""",
    "low_of_rows": """int v = in[threadIdx.y * blockDim.x + threadIdx.x];
        if (threadIdx.x < 32) { v = warp_sum(v); out[threadIdx.y * blockDim.x + threadIdx.x] = v; }""",
}  # fmt: skip
NAMES = (*PART, *LIKE)
SIZES = (32, 96, 256)
ROWS = ("linear", "low_of_rows", "tiles_of_rows")
MAIN = """
static void show(const char* name, int size, int* out) {
    printf("%s %d %d:", name, size, int(cudaDeviceSynchronize()));
    for (int i = 0; i < 320; i++) printf(" %d", out[i]);
    printf("\\n");
}
int main() {
    int *in, *out;
    cudaMallocManaged(&in, 16384);
    cudaMallocManaged(&out, 16384);
    for (int i = 0; i < 4096; i++) in[i] = i * 37 % 101 + 1;
    const int sizes[] = {SIZES};
    for (int size : sizes) {
CASES    }
}
"""


def _program() -> str:
    kernels = "".join(f"__global__ void {n}(const int* in, int* out) {{{b}\n}}\n" for n, b in {**PART, **LIKE}.items())
    cases = "".join(
        "for (int i = 0; i < 4096; i++) out[i] = i == 319;"
        f"{n}<<<1, {'dim3(32, size / 32)' if n in ROWS else 'size'}>>>(in, out);"
        f'show("{n}", size, out);\n'
        for n in NAMES
    )
    main = MAIN.replace("SIZES", ", ".join(map(str, SIZES))).replace("CASES", cases)
    return HEAD + kernels + main


@pytest.fixture(scope="module")
def answers(native_answers: Callable[[str], Answers]) -> Answers:
    return native_answers(_program())


@pytest.mark.parametrize("name", [f"{n} {s}" for n in NAMES for s in SIZES])
def test_answers_are_cudas(name: str, answers: Answers) -> None:
    right = answers["logical", 32][f"{name} 0"]
    assert answers["native", 32][f"{name} 0"] == right
    assert answers["native", 64][f"{name} 0"] == right


def test_what_becomes_native(native_verdicts: Verdicts) -> None:
    found = native_verdicts(_program())
    assert {n for n in PART if found.get(n) != "part"} == set()
    assert {n for n in LIKE if found.get(n) == "part"} == {"lane_goes_on", "lane_in_a_branch"}  # their last sum
