"""`--warp native`: scans become scans of whole wavefronts where the block's answer is the same; others stay.

All kernels run in the simulator, converted with `--warp logical` for wavefronts of 32 lanes and with `--warp native`
for both sizes, with blocks that fill the last wavefront and blocks that do not. All outputs must be the same.
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
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
#define LANES 32
__device__ int counter;
__device__ __forceinline__ int warp_scan(int v) {
    const int lane = threadIdx.x % LANES;
#pragma unroll
    for (int o = 1; o < LANES; o <<= 1) {
        int t = __shfl_up_sync(FULL, v, o);
        if (lane >= o) v += t;
    }
    return v;
}
template <class T> __device__ T scan_before(T x, int lane) {
    T v = x;
    for (int o = 1; o <= 16; o *= 2) {
        const T t = __shfl_up_sync(FULL, v, o, 32);
        v = lane < o ? v : v + t;
    }
    return v - x;
}
__device__ int lower_sum(int v, int lane) {
    for (int o = 1; o < 32; o *= 2) {
        int t = __shfl_up_sync(FULL, v, o);
        v += lane >= o ? t : 0;
    }
    int below = __shfl_up_sync(FULL, v, 1);
    return lane == 0 ? 0 : below;
}
__device__ int my_lane() { return threadIdx.x % LANES; }
__device__ int my_warp() { return threadIdx.x / LANES; }
__device__ int sum_before(int v, unsigned mask = FULL) {
    int own = v;
    for (int o = 1; o < 32; o <<= 1) {
        int t = __shfl_up_sync(mask, v, o);
        if ((threadIdx.x & (LANES - 1)) >= o) v += t;
    }
    return v - own;
}
__device__ int scan_in(int v, int* s) {
    const int lane = my_lane(), warp = my_warp();
    v = warp_scan(v);
    if (lane == 31) s[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int w = s[lane];
        w = warp_scan(w);
        s[lane] = w;
    }
    __syncthreads();
    if (warp > 0) v += s[warp - 1];
    return v;
}
__device__ int scan_there(int v, int* s) {
    const int lane = my_lane(), warp = my_warp();
    v = warp_scan(v);
    if (lane == 31) s[warp] = v;
    __syncthreads();
    for (int i = 0; i < warp; i++) v += s[i];
    __syncthreads();
    return v;
}
__device__ int scan_and_leave(int v, int* s) {
    const int lane = my_lane(), warp = my_warp();
    v = warp_scan(v);
    if (lane == 31) s[warp] = v;
    __syncthreads();
    for (int i = 0; i < warp; i++) v += s[i];
    return v;
}
__device__ int half_scan(int v) {
    const int lane = threadIdx.x % 32;
    for (int o = 1; o < 16; o <<= 1) {
        int t = __shfl_up_sync(FULL, v, o);
        if (lane >= o) v += t;
    }
    return v;
}
__device__ int block_scan(int v, int& total) {
    __shared__ int sums[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warp_scan(v);
    if (lane == 31) sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int s = lane < blockDim.x / 32 ? sums[lane] : 0;
        s = warp_scan(s);
        if (lane < blockDim.x / 32) sums[lane] = s;
    }
    __syncthreads();
    if (warp > 0) v += sums[warp - 1];
    total = sums[blockDim.x / 32 - 1];
    __syncthreads();
    return v;
}
"""
#: A scan over a block, in parts that tests replace.
PARTS = {
    "SET": "int x = in[threadIdx.x], v = x;",
    "LANE": "const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;",
    "SCAN": "v = warp_scan(v);",
    "SLOT": "if (lane == 31) s[warp] = v;",
    "WAIT": "__syncthreads();",
    "FIRST": "if (warp == 0) { int w = lane < warps ? s[lane] : 0; w = warp_scan(w); if (lane < warps) s[lane] = w; }",
    "AGAIN": "__syncthreads();",
    "ADD": "if (warp > 0) v += s[warp - 1];",
    "LAST": "out[threadIdx.x] = v;",
}


def _block(**parts: str) -> str:
    return "__shared__ int s[32], total;\n" + "\n".join({**PARTS, **parts}.values())


_SERIAL = {"FIRST": "", "AGAIN": ""}
_MAX = "for (int o = 1; o < 32; o <<= 1) { int t = __shfl_up_sync(FULL, V, o); if (lane >= o) V = max(V, t); }"
#: Kernels that become native: a body each, of `(const int* in, int* out)`.
NATIVE = {
    "plain": _block(),
    "function": "int total, v = block_scan(in[threadIdx.x], total); out[threadIdx.x] = v * 2 + total;",
    "carried": """
        int carry = 0;
        for (int base = 0; base < 700; base += blockDim.x) {
            const int i = base + threadIdx.x;
            int total, x = i < 700 ? in[i] : 0;
            int v = block_scan(x, total);
            if (i < 700) out[i] = carry + v - x;
            carry += total;
        }""",
    "unrolled": _block(
        SCAN="""
        int t = __shfl_up_sync(~0u, v, 1); if (lane >= 1) v += t;
        t = __shfl_up_sync(~0u, v, 2); if (lane >= 2) v += t;
        t = __shfl_up_sync(~0u, v, 4); if (lane >= 4) v += t;
        t = __shfl_up_sync(~0u, v, 8); if (lane >= 8) v += t;
        t = __shfl_up_sync(~0u, v, 16); if (lane >= 16) v += t;"""
    ),
    "before_nine": _block(
        SCAN="int t; for (int o = 1; o < 32; o *= 2) { t = __shfl_up(v, o); if (lane >= o) v += t; }"
    ),
    "conditional": _block(
        SCAN="for (int o = 1; o < warpSize; o <<= 1) { const int t = __shfl_up_sync(FULL, v, o);"
        " v = (threadIdx.x & 31) < o ? v : v + t; }",
        ADD="const int base = warp == 0 ? 0 : s[warp - 1]; v = base + v;",
    ),
    "with_zero": _block(
        SCAN="unsigned mask = 0xffffffff; for (int o = 1; o < 32; o <<= 1)"
        " { int t = __shfl_up_sync(mask, v, o); if (lane < o) t = 0; v += t; }",
        ADD="if (threadIdx.x >= 32) { v += s[warp - 1]; }",
    ),
    "greatest": _block(
        SCAN=_MAX.replace("V", "v"),
        FIRST="if (warp == 0) { int w = lane < warps ? s[lane] : INT_MIN; "
        + _MAX.replace("V", "w")
        + " if (lane < warps) s[lane] = w; }",
        ADD="if (warp > 0) v = max(v, s[warp - 1]);",
    ),
    "exclusive": _block(
        FIRST="if (warp == 0) { int w = lane < warps ? s[lane] : 0, own = w; w = warp_scan(w);"
        " if (lane < warps) s[lane] = w - own; if (lane == warps - 1) total = w; }",
        ADD="v = v - x + s[warp] + total;",
    ),
    "by_lower_lane": _block(
        SCAN="v = warp_scan(v); int low = __shfl_up_sync(FULL, v, 1); if (lane == 0) low = 0;",
        ADD="v = low + (warp ? s[warp - 1] : 0);",
    ),
    "functions_before": _block(
        SET="const int x = in[threadIdx.x]; int v = x;", ADD="v = (warp > 0 ? s[warp - 1] : 0) + v - x;"
    ),
    "each_adds": _block(**_SERIAL, ADD="int base = 0; for (int i = 0; i < warp; ++i) base += s[i]; v += base - x;"),
    "one_thread": _block(
        **_SERIAL,
        WAIT="""__syncthreads();
        if (threadIdx.x == 0) {
            int run = 0;
            for (int i = 0; i < warps; i++) { int t = s[i]; s[i] = run; run += t; }
            total = run;
        }
        __syncthreads();""",
        ADD="v = v - x + s[warp] + total;",
    ),
    "tiles": """
        __shared__ int s[32];
        auto tile = cg::tiled_partition<32>(cg::this_thread_block());
        int v = in[threadIdx.x];
        for (int o = 1; o < 32; o *= 2) { int t = tile.shfl_up(v, o); if (tile.thread_rank() >= o) v += t; }
        if (tile.thread_rank() == 31) s[tile.meta_group_rank()] = v;
        __syncthreads();
        int w = tile.thread_rank() < tile.meta_group_size() ? s[tile.thread_rank()] : 0;
        for (int o = 1; o < 32; o *= 2) { int t = tile.shfl_up(w, o); if (tile.thread_rank() >= o) w += t; }
        int base = 0;
        if (tile.meta_group_rank() > 0) base = tile.shfl(w, tile.meta_group_rank() - 1);
        out[threadIdx.x] = base + v;""",
    "two_at_once": """
        __shared__ int s[32], r[32];
        const int lane = threadIdx.x & (LANES - 1), warp = threadIdx.x / LANES;
        int a = in[threadIdx.x], b = a * 3;
        for (int o = 1; o < LANES; o *= 2) {
            int m = __shfl_up_sync(FULL, a, o), n = __shfl_up_sync(FULL, b, o);
            if (lane >= o) { a += m; b += n; }
        }
        if (lane == LANES - 1) { s[warp] = a; r[warp] = b; }
        __syncthreads();
        int c = 0, d = 0;
        for (int i = 0; i < warp; i++) c += s[i];
        for (int i = 0; i < warp; i++) d += r[i];
        out[threadIdx.x] = a + c - (b + d);""",
    "atomic": """
        int v = warp_scan(in[threadIdx.x]);
        if (threadIdx.x % 32 == 31) atomicAdd(out, v);""",
    "all_lanes_of_the_first": _block(
        FIRST="if (warp == 0) { int w = s[lane]; w = warp_scan(w); s[lane] = w; if (lane == warps - 1) total = w; }",
        LAST="out[threadIdx.x] = v + total;",
    ),
    "own_again": _block(
        SET="const int x = in[threadIdx.x];",
        SCAN="int v = sum_before(x);",
        SLOT="if (lane == 31) s[warp] = v + x;",
        FIRST="if (warp == 0) { int w = lane < warps ? s[lane] : 0; int up = sum_before(w) + w; s[lane] = up; }",
    ),
    "lane_functions": _block(LANE="const int lane = my_lane(), warp = my_warp(), warps = blockDim.x / LANES;"),
    "slots_of_the_caller": """
        __shared__ int s[LANES];
        const int v = scan_in(in[threadIdx.x], s);
        out[threadIdx.x] = v;""",
    "total_by_shuffle": """
        __shared__ int s[32];
        int v = warp_scan(in[threadIdx.x]);
        const int all = __shfl_sync(FULL, v, 31);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = all;
        __syncthreads();
        int base = 0;
        for (int i = 0; i < threadIdx.x / 32; i++) base += s[i];
        out[threadIdx.x] = v + base;""",
}
#: Kernels that look like it and stay as they are.
LOGICAL = {
    "of_the_warp": "out[threadIdx.x] = warp_scan(in[threadIdx.x]);",
    "half_a_warp": _block(SCAN="v = half_scan(v);"),
    "narrow": _block(
        SCAN="for (int o = 1; o < 32; o <<= 1) { int t = __shfl_up_sync(FULL, v, o, 16); if (lane >= o) v += t; }"
    ),
    "too_far": _block(
        SCAN="for (int o = 2; o < 32; o <<= 1) { int t = __shfl_up_sync(FULL, v, o); if (lane >= o) v += t; }"
    ),
    "other_lane": _block(
        SCAN="for (int o = 1; o < 32; o <<= 1) { int t = __shfl_up_sync(FULL, v, o); if (lane > o) v += t; }"
    ),
    "other_distance": _block(
        SCAN="for (int o = 1; o < 32; o <<= 1) { int t = __shfl_up_sync(FULL, v, 1); if (lane >= o) v += t; }"
    ),
    "by_thread": _block(
        SCAN="for (int o = 1; o < 32; o <<= 1) { int t = __shfl_up_sync(FULL, v, o); if (threadIdx.x >= o) v += t; }"
    ),
    "flagged": _block(
        SCAN="for (int o = 1; o < 32; o <<= 1)"
        " { int t = __shfl_up_sync(FULL, v, o); if (lane >= o && in[lane] % 3) v += t; }"
    ),
    "segments": _block(
        SCAN="""int head = x % 4 == 0; for (int o = 1; o < 32; o <<= 1) {
            int t = __shfl_up_sync(FULL, v, o), h = __shfl_up_sync(FULL, head, o);
            if (lane >= o) { if (!head) v += t; head |= h; } }"""
    ),
    "ballot": _block(SCAN="v = warp_scan(__popc(__ballot_sync(FULL, x & 1)));"),
    "everywhere": _block(SCAN="for (int o = 1; o < 32; o <<= 1) { int t = __shfl_up_sync(FULL, v, o); v += t; }"),
    "some_threads": _block(SCAN="if (x > 40) v = warp_scan(v);"),
    "some_are_gone": """
        if (threadIdx.x == 0) out[1] = 1;
        if (threadIdx.x + in[0] <= 32) return;
        int v = warp_scan(in[threadIdx.x]);
        if (threadIdx.x % 32 == 31) atomicAdd(out, v);""",
    "first_lane": _block(SLOT="if (lane == 0) s[warp] = v;"),
    "lane_thirty": _block(SLOT="if (lane == 30) s[warp] = v;"),
    "slot_above": _block(SLOT="if (lane == 31 && warp < 31) s[warp + 1] = v;", ADD="if (warp > 0) v += s[warp];"),
    "not_the_sum": _block(SLOT="if (lane == 31) s[warp] = v - x;"),
    "own_slot": _block(ADD="v += s[warp];"),
    "two_before": _block(ADD="if (warp > 1) v += s[warp - 2];"),
    "not_first_two": _block(ADD="if (warp > 1) v += s[warp - 1];"),
    "no_barrier": _block(WAIT="if (blockDim.x > 32) __syncthreads();"),
    "no_second_barrier": _block(AGAIN="if (blockDim.x > 32) __syncthreads();"),
    "added_twice": _block(ADD="if (warp > 0) v += s[warp - 1] + s[warp - 1];"),
    "times": _block(LAST="out[threadIdx.x] = v * 2;", ADD="v *= 2; if (warp > 0) v += s[warp - 1] * 2;"),
    "other_operation": _block(ADD="if (warp > 0) v = max(v, s[warp - 1]);"),
    "not_the_same_scan": _block(
        SCAN="v = warp_scan(v); int u = warp_scan(x * 2);", ADD="u = warp > 0 ? s[warp - 1] + u : u; v = u;"
    ),
    "of_another_scan": _block(
        SCAN="v = warp_scan(v); int u = warp_scan(x * 2);", ADD="v = (warp > 0 ? s[warp - 1] : 0) + u;"
    ),
    "added_to_another": _block(
        SCAN="v = warp_scan(v); int u = warp_scan(x * 2);", ADD="if (warp > 0) u += s[warp - 1]; v = u;"
    ),
    "one_too_few": _block(
        SCAN="for (int o = 1; o < 32; o <<= 1) { int t = __shfl_up_sync(FULL, v, o); if (lane <= o) t = 0; v += t; }"
    ),
    "stale": _block(
        SET="int x = 0, v = 0, base = 0; for (int k = 0; k < 3; k++) { x = in[threadIdx.x + k]; v = x;",
        AGAIN="__syncthreads(); out[threadIdx.x + k * 1024] = v + base; base = 0;",
        ADD="if (warp > 0) base = s[warp - 1]; __syncthreads();",
        LAST="}",
    ),
    "unscanned": _block(FIRST=""),
    "not_from_nothing": _block(ADD="v += warp > 0 ? s[warp - 1] : 5;"),
    "lowest_keeps_own": _block(
        SCAN="v = warp_scan(v); int low = __shfl_up_sync(FULL, v, 1);", ADD="v = low + (warp > 0 ? s[warp - 1] : 0);"
    ),
    "lowest_gets_one": _block(
        SCAN="v = warp_scan(v); int low = __shfl_up_sync(FULL, v, 1); if (lane == 0) low = 1;",
        ADD="v = low + (warp > 0 ? s[warp - 1] : 0);",
    ),
    "other_total": _block(
        FIRST=PARTS["FIRST"].replace("if (lane < warps) s", "if (lane == 2) total = w; if (lane < warps) s"),
        LAST="out[threadIdx.x] = v + total;",
    ),
    "total_of_another_lane": """
        __shared__ int s[32];
        int v = warp_scan(in[threadIdx.x]);
        const int most = __shfl_sync(FULL, v, 30);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = most;
        __syncthreads();
        int base = 0;
        for (int i = 0; i < threadIdx.x / 32; i++) base += s[i];
        out[threadIdx.x] = v + base;""",
    "other_lanes_value": """
        int v = warp_scan(in[threadIdx.x]);
        out[threadIdx.x] = __shfl_sync(FULL, v, 15);""",
    "narrow_type": "__shared__ int s[32], total; unsigned char x = in[threadIdx.x], v = x;"
    + "\n".join(
        {
            **PARTS,
            "SET": "",
            "SCAN": "for (int o = 1; o < 32; o <<= 1) { int t = __shfl_up_sync(FULL, v, o); if (lane >= o) v += t; }",
        }.values()
    ),
    "slots_read_later": """
        __shared__ int s[32];
        const int v = scan_and_leave(in[threadIdx.x], s);
        out[threadIdx.x] = v + s[0];""",
    "slots_elsewhere": "out[threadIdx.x] = scan_there(in[threadIdx.x], &out[2048 + blockIdx.x * 32]);",
    "own_has_changed": _block(
        SET="int x = in[threadIdx.x];",
        SCAN="int v = sum_before(x); x++;",
        SLOT="if (lane == 31) s[warp] = v + x;",
    ),
    "all_lanes_summed": _block(
        LANE=PARTS["LANE"] + " if (threadIdx.x < 32) s[threadIdx.x] = 0; __syncthreads();",
        FIRST="if (warp == 0) { int w = s[lane]; w = warp_scan(w); if (lane == 31) total = w; }",
        ADD="",
        LAST="out[threadIdx.x] = total;",
    ),
    "lane_in_value": _block(SCAN="v = warp_scan(v + lane);"),
}
NAMES = (*NATIVE, *LOGICAL)
SIZES = (32, 96, 256)
MAIN = """
int main() {
    int *in, *out;
    cudaMallocManaged(&in, 8192);
    cudaMallocManaged(&out, 16384);
    for (int i = 0; i < 2048; i++) in[i] = i * 37 % 101 + 1;
    const int sizes[] = {SIZES};
    for (int size : sizes) {
CASES    }
}
"""
CASE = """        for (int i = 0; i < 4096; i++) out[i] = 0;
        NAME<<<1, size>>>(in, out);
        printf("NAME %d %d:", size, int(cudaDeviceSynchronize()));
        for (int i = 0; i < 4096; i++) if (out[i]) printf(" %d:%d", i, out[i]);
        printf("\\n");
"""


def _program() -> str:
    kernels = (f"__global__ void {n}(const int* in, int* out) {{{b}\n}}\n" for n, b in {**NATIVE, **LOGICAL}.items())
    cases = "".join(CASE.replace("NAME", n) for n in NAMES)
    return HEAD + "".join(kernels) + MAIN.replace("SIZES", ", ".join(map(str, SIZES))).replace("CASES", cases)


@pytest.fixture(scope="module")
def answers(native_answers: Callable[[str], Answers]) -> Answers:
    return native_answers(_program())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_cudas(name: str, size: int, answers: Answers) -> None:
    right = answers["logical", 32][f"{name} {size} 0"]
    assert right
    assert answers["native", 32][f"{name} {size} 0"] == right
    assert answers["native", 64][f"{name} {size} 0"] == right


def test_what_becomes_native(native_verdicts: Verdicts) -> None:
    found = native_verdicts(_program())
    assert {n for n in NAMES if found.get(n) == "CU356"} == {*NATIVE}
    assert {n for n in NAMES if found.get(n) in ("CU357", "part")} == {*LOGICAL}
