"""`--warp native`: idioms in the many forms that projects write them in, and what looks like them and must stay.

As in test_warp_native.py, native code on wavefronts of 32 and of 64 lanes must give what CUDA's warps give.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cu2port.core.model import Options
from cu2port.engine.translate import translate

Answers = dict[tuple[str, int], dict[str, str]]
Verdicts = Callable[[str], dict[str, str]]
HEAD = """#include <cstdio>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
#ifndef WIDTH
#define WIDTH 16
#endif
#define PRAGMA_UNROLL _Pragma("unroll")
__device__ int warp_sum(int v) {
    PRAGMA_UNROLL
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(FULL, v, o);
    return v;
}
__device__ int warp_max(int v) {
    for (int o = 16; o > 0; o /= 2) v = max(v, __shfl_xor_sync(FULL, v, o));
    return v;
}
__device__ __forceinline__ int lane_of() { return threadIdx.x % 32; }
__device__ __forceinline__ int warp_of() { return threadIdx.x / 32; }
template <typename T, int W = 32>
__device__ __forceinline__ T sum_of(T v) {
    for (int o = W / 2; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o, W);
    return v;
}
template <int W = 8>
static __device__ __forceinline__ int sum_wide(int v) {
#pragma unroll
    for (int o = W >> 1; o >= 1; o /= 2) { v += __shfl_down_sync(FULL, v, o, W); }
    return v;
}
template <typename T>
__device__ T sum_lanes(T v, int width = 32, unsigned mask = FULL) {
    for (int o = width / 2; o > 0; o >>= 1) v += __shfl_xor_sync(mask, v, o, width);
    return v;
}
__device__ int sum_half(int v, unsigned mask = 0xffff) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(mask, v, o);
    return v;
}
__device__ inline int pick(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
    return v;
}
__device__ inline float pick(float v) {
    for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(FULL, v, o));
    return v;
}
__device__ inline int pick(int* v) { return v[0]; }
__device__ int sum_with(int v, int* slots) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warp_sum(v);
    if (lane == 0) slots[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? slots[lane] : 0;
    if (warp == 0) v = warp_sum(v);
    return v;
}
__device__ int block_total(int v) {
    __shared__ int slots[32];
    int lane = lane_of(), warp = warp_of();
    v = warp_sum(v);
    if (lane == 0) slots[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? slots[lane] : 0;
    if (warp == 0) v = warp_sum(v);
    return v;
}
__device__ int block_kept(int v) {
    __shared__ int slots[32];
    int lane = lane_of(), warp = warp_of();
    v = warp_sum(v);
    if (lane == 0) slots[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? slots[lane] : 0;
    if (warp == 0) v = warp_sum(v);
    return v;
}
"""
_GROUPS = """
        __shared__ int s[32];
        cg::thread_block block = cg::this_thread_block();
        cg::thread_block_tile<WIDTH> tile = cg::tiled_partition<WIDTH>(block);
        int v = in[threadIdx.x];
        for (int o = tile.size() / 2; o > 0; o >>= 1) v += tile.shfl_down(v, o);
        if (threadIdx.x % WIDTH == 0) s[threadIdx.x / WIDTH] = v;
        BARRIER;
        int all = 0;
        if (threadIdx.x == 0) for (int i = 0; i < blockDim.x / WIDTH; ++i) all += s[i];
        if (threadIdx.x == 0) out[0] = all;"""


def _groups(barrier: str = "block.sync()", width: int = 32) -> str:
    return _GROUPS.replace("WIDTH", str(width)).replace("BARRIER", barrier)


_SLOTS = """
        __shared__ int s[32];
        int v = warp_max(LOW), w = warp_max(in[threadIdx.x]);
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        if (lane == 0) s[warp] = v;
        __syncthreads();
        READ
        LAST"""


def _slots(read: str, last: str = "if (threadIdx.x == 0) out[0] = v;", low: str = "in[threadIdx.x] - 1000") -> str:
    return _SLOTS.replace("READ", read).replace("LAST", last).replace("LOW", low)


_OVER_BLOCK = """
        __shared__ T s[32];
        T v = FIRST(in[threadIdx.x]), w = threadIdx.x;
        VALUE
        if (lane_of() == 0) s[warp_of()] = v;
        __syncthreads();
        v = threadIdx.x < blockDim.x / 32 ? s[lane_of()] : 0;
        if (warp_of() == 0) v = NEXT(v);
        if (threadIdx.x == 0) out[0] = v;"""


def _over_block(first: str, last: str, kind: str = "int", value: str = "") -> str:
    """The sum over a block by calls of two functions."""
    words = {"FIRST": first, "NEXT": last, "VALUE": value}
    text = _OVER_BLOCK.replace("T ", kind + " ")
    for word, new in words.items():
        text = text.replace(word, new)
    return text


#: Bodies of kernels `(const int* in, int* out)` that become native.
NATIVE = {
    "fill_that_counts": _slots("v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0; if (warp == 0) v = warp_max(v);"),
    "fill_that_seldom_counts": _slots(
        "v = lane < blockDim.x / 32 ? s[lane] : -890; v = warp_max(v); out[threadIdx.x] = v;"
    ),
    "fill_in_the_other_arm": _slots(
        "if (threadIdx.x < (blockDim.x + 31) / 32) v = s[lane]; else v = int(-885.f); v = warp_max(v);"
    ),
    "fill_before": _slots("v = -880; if (threadIdx.x < blockDim.x / 32) v = s[lane]; v = warp_max(v);"),
    "own_value": _slots("if (lane < blockDim.x / 32) { v = s[lane]; } v = warp_max(v); out[threadIdx.x] = v;"),
    "own_value_of_the_first_warp": _slots(
        "if (warp == 0) { v = lane < blockDim.x / 32 ? s[lane] : v; v = warp_max(v); }"
    ),
    "loop_without_braces": _slots(
        "v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0;"
        " if (warp == 0) for (int o = 16; o > 0; o >>= 1) v = max(v, __shfl_xor_sync(~0u, v, o));"
    ),
}
NATIVE |= {
    "tiles": _groups(),
    "barrier_by_name": _groups("cg::sync(block)"),
    "barrier_made_here": _groups("cg::this_thread_block().sync()"),
}
NATIVE |= {
    "width": _over_block("sum_of", "sum_of<int, 32>"),
    "width_of_its_own": _over_block("sum_wide<32>", "sum_wide<warp>").replace(
        "__shared__", "constexpr int warp = 64 / 2; __shared__"
    ),
    "width_of_the_caller": _over_block("sum_lanes", "sum_lanes<int>"),
    "type": _over_block("", "pick", value="v = pick(v);"),
    "other_type": _over_block("", "pick", "float", "v = pick(v);"),
    "lent_slots": "__shared__ int s[32]; int v = sum_with(in[threadIdx.x], s); if (threadIdx.x == 0) out[0] = v;",
    "small": """
        int v = in[threadIdx.x];
        v = blockDim.x <= 32 ? warp_sum(v) : block_total(v);
        if (threadIdx.x == 0) out[0] = v;""",
    "small_arms": """
        int v = in[threadIdx.x], all = 0;
        if (blockDim.x > 32) { all = block_total(v); } else { all = warp_sum(v); }
        if (threadIdx.x == 0) out[0] = all;""",
}
#: Bodies that look like them and stay.
LOGICAL = {
    "half_a_loop_without_braces": _slots(
        "v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0;"
        " if (warp == 0) for (int o = 8; o > 0; o >>= 1) v = max(v, __shfl_xor_sync(~0u, v, o));"
    ),
    "narrow_tiles": _groups(width=16),
    "barrier_of_a_tile": _groups("tile.sync()"),
    "barrier_of_another_group": _groups("cg::thread_block_tile<32> b = cg::tiled_partition<32>(block); b.sync()"),
    "tile_named_twice": _groups(
        "block.sync(); { auto tile = cg::tiled_partition<16>(block); v = tile.shfl_xor(v, 1); }"
    ),
    "narrow_width": _over_block("sum_of<int, 16>", "sum_of"),
    "narrow_last": _over_block("sum_of", "sum_of<int, 8>"),
    "narrow_by_default": _over_block("sum_wide", "sum_wide<32>"),
    "narrow_by_argument": _over_block("", "sum_lanes", value="v = sum_lanes(v, 16);"),
    "narrow_by_mask": _over_block("sum_half", "sum_half"),
    "unknown_width": _over_block("sum_of<int, WIDTH>", "sum_of"),
    "unknown_type": _over_block("pick", "pick"),
    "own_name": "auto warp_sum = [](int v) { return v; }; " + _over_block("warp_sum", "sum_of"),
    "not_small": "int v = blockDim.x <= 64 ? warp_sum(1) : block_kept(1); if (threadIdx.x == 0) out[0] = v;",
    "small_in_y": "int v = blockDim.y <= 32 ? warp_sum(1) : block_kept(1); if (threadIdx.x == 0) out[0] = v;",
    "fills_differ": _slots("v = threadIdx.x < blockDim.x / 32 ? s[lane] : in[threadIdx.x] - 900; v = warp_max(v);"),
    "another_value": _slots("w = lane < blockDim.x / 32 ? s[lane] : w; v = warp_max(w);"),
    "another_value_before": _slots("v = w; if (lane < blockDim.x / 32) v = s[lane]; v = warp_max(v);"),
    "newer_value": _slots("v = warp_max(-in[threadIdx.x]); if (lane < blockDim.x / 32) v = s[lane]; v = warp_max(v);"),
    "sum_of_own": """
        __shared__ int s[32];
        int v = warp_sum(in[threadIdx.x]);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
        __syncthreads();
        if (threadIdx.x < blockDim.x / 32) v = s[threadIdx.x];
        v = warp_sum(v);
        if (threadIdx.x == 0) out[0] = v;""",
    "sum_of_fill": """
        __shared__ int s[32];
        int v = warp_sum(in[threadIdx.x]);
        if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
        __syncthreads();
        v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 2;
        v = warp_sum(v);
        if (threadIdx.x == 0) out[0] = v;""",
}
SIZES = (32, 96, 256, 992, 1024)
MAIN = """
int main() {
    int *in, *out;
    cudaMallocManaged(&in, 8192);
    cudaMallocManaged(&out, 8192);
    for (int i = 0; i < 2048; i++) in[i] = i * 37 % 101 + 1;
    const int sizes[] = {SIZES};
    for (int size : sizes) {
CASES    }
}
"""
CASE = """        for (int i = 0; i < 2048; i++) out[i] = 0;
        NAME<<<2, size, 256>>>(in, out);
        printf("NAME %d %d:", size, int(cudaDeviceSynchronize()));
        for (int i = 0; i < 1024; i++) printf(" %d", out[i]);
        printf("\\n");
"""


def _program() -> str:
    kernels = (f"__global__ void {n}(const int* in, int* out) {{{b}\n}}\n" for n, b in {**NATIVE, **LOGICAL}.items())
    cases = "".join(CASE.replace("NAME", n) for n in NATIVE)
    sizes = ", ".join(map(str, SIZES))
    return HEAD + "".join(kernels) + MAIN.replace("SIZES", sizes).replace("CASES", cases)


@pytest.fixture(scope="module")
def wrote(native_answers: Callable[[str], Answers]) -> Answers:
    return native_answers(_program())


@pytest.mark.slow
@pytest.mark.parametrize("name", NATIVE)
def test_answers_are_cudas(name: str, wrote: Answers) -> None:
    for size in SIZES:
        right = wrote["logical", 32][f"{name} {size} 0"]
        assert wrote["native", 32][f"{name} {size} 0"] == right, size
        assert wrote["native", 64][f"{name} {size} 0"] == right, size


def test_what_becomes_native(native_verdicts: Verdicts) -> None:
    found = native_verdicts(_program())
    assert {n for n in NATIVE if found.get(n) != "CU356"} == set()
    assert {n for n in LOGICAL if found.get(n) != "CU357"} == set()


BLOCK_MAX = """#define FINAL_MASK 0xffffffff
template <typename T>
HEAD T warpReduceMax(T val)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1)
        val = max(val, __shfl_xor_sync(FINAL_MASK, val, mask, 32));
    return val;
}
template <typename T>
HEAD T blockReduceMax(T val)
{
    static __shared__ T shared[32];
    int lane = threadIdx.x & 0x1f;
    int wid = threadIdx.x >> 5;
    val = warpReduceMax(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < (blockDim.x / 32.f)) ? shared[lane] : (T)-1e8f;
    val = warpReduceMax(val);
    return val;
}
"""


@pytest.mark.parametrize("head", ["__inline__ __device__", "__device__ __forceinline__", "static inline __device__"])
def test_functions_of_headers(head: str, native_verdicts: Verdicts) -> None:
    assert native_verdicts(BLOCK_MAX.replace("HEAD", head)) == {"blockReduceMax": "CU356"}


MASKED = """#include "first.cuh"
__global__ void k(const int* in, int* out) {
    int v = in[threadIdx.x];
    for (int o = kLanes / 2; o > 0; o >>= 1) v += __shfl_xor_sync(FINAL_MASK, v, o, kLanes);
    if (threadIdx.x % kLanes == 0) atomicAdd(out, v);
}
void f(int* p) { k<<<1, 256>>>(p, p); }
"""
FIRST = '#pragma once\n#include "second.cuh"\nconstexpr int kLanes = 32;\n'
SECOND = "#pragma once\n#define FINAL_MASK 0xffffffff\n"


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        (FIRST, SECOND, "CU356"),
        (FIRST, "", "CU357"),
        (FIRST.replace("constexpr", "struct Other { static constexpr").replace("32;", "32; };"), SECOND, "CU357"),
        (FIRST, SECOND.replace("ffff", "", 1), "CU357"),
        (FIRST.replace("32", "16"), SECOND, "CU357"),
        (FIRST + "#define FINAL_MASK 0xffff\n", SECOND, "CU357"),
        (FIRST, SECOND + "#undef FINAL_MASK\n", "CU357"),
        (
            FIRST,
            "#pragma once\n#ifdef HALF\n#define FINAL_MASK 0xffff\n#else\n#define FINAL_MASK ~0u\n#endif\n",
            "CU357",
        ),
        (FIRST, "#pragma once\n#ifndef HALF\n#define FINAL_MASK ~0u\n#endif\n", "CU357"),
    ],
)
def test_constants_of_headers(first: str, second: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "first.cuh").write_text(first, "utf-8")
    (tmp_path / "second.cuh").write_text(second, "utf-8")
    made = translate(MASKED, Options(warp="native"), path=str(tmp_path / "p.cu"))
    assert [j.finding.code for j in made.findings if j.finding.code in ("CU356", "CU357")] == [code]
