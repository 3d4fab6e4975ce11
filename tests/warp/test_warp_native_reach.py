"""`--warp native`: idioms in the many forms that projects write them in, and what looks like them and must stay.

As in test_warp_native.py, native code on wavefronts of 32 and of 64 lanes must give what CUDA's warps give.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cu2port.engine import translate
from cu2port.model import Options

Answers = dict[tuple[str, int], dict[str, str]]
Verdicts = Callable[[str], dict[str, str]]
HEAD = """#include <cstdio>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
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
LIST_HEAD = """
template <typename T, int N> __device__ T warp_sums(T* v) {
#pragma unroll
    for (int i = 0; i < N; i++) {
#pragma unroll
        for (int o = 16; o > 0; o >>= 1) v[i] += __shfl_xor_sync(FULL, v[i], o, 32);
    }
    return (T)(0.0f);
}
template <typename T, int N> __device__ void warp_maxima(T* v) {
    for (int i = 0; i < N; ++i) {
        PRAGMA_UNROLL
        for (int o = 16; o > 0; o >>= 1) v[i] = max(v[i], __shfl_xor_sync(FULL, v[i], o));
    }
}
"""
_LIST = """template <typename T, int N> __device__ T NAME(T* v) {
    static __shared__ T s[N][33];
    int lane = threadIdx.x & 0x1f;
    int warp = threadIdx.x >> 5;
    warp_sums<T, N>(v);
    if (lane == 0) {
#pragma unroll
        for (int i = 0; i < N; i++) s[i][warp] = v[i];
    }
    __syncthreads();
    bool has_warp = threadIdx.x < (blockDim.x / 32.f);
    for (int i = 0; i < N; i++) v[i] = has_warp ? s[i][lane] : (T)(0.0f);
    warp_sums<T, N>(v);
    return (T)0.0f;
}
"""
_LIST_MAX = _LIST.replace("sums", "maxima").replace("T NAME", "void NAME").replace("    return (T)0.0f;\n", "")
_LIST_MAX = _LIST_MAX.replace("s[N][33]", "s[32][N]").replace("s[i][warp]", "s[warp][i]")
_LIST_MAX = _LIST_MAX.replace("has_warp ? s[i][lane] : (T)(0.0f)", "(lane < blockDim.x / 32 ? s[lane][i] : (T)-890)")
#: Functions that put a list of values together over the block, in place.
NATIVE_LISTS = {"list_sum": _LIST, "list_max": _LIST_MAX}
LOGICAL_LISTS = {
    "list_fill": _LIST.replace("(T)(0.0f);\n    warp", "(T)(1.0f);\n    warp"),
    "list_last_lane": _LIST.replace("lane == 0", "lane == 31"),
    "list_no_barrier": _LIST.replace("    __syncthreads();\n", ""),
    "list_by_warp": _LIST.replace("s[i][lane]", "s[i][warp]"),
    "list_shorter": _LIST.replace("i < N; i++) v[i] = has", "i < N - 1; i++) v[i] = has"),
    "list_later": _LIST.replace("int i = 0; i < N; i++) v[i] = has", "int i = 1; i < N; i++) v[i] = has"),
    "list_two_operations": _LIST.replace("warp_sums<T, N>(v);\n    return", "warp_maxima<T, N>(v);\n    return"),
    "list_and_more": _LIST.replace("    bool has", "    v[0] += lane;\n    bool has"),
    "list_neighbours": _LIST.replace("s[i][warp] = v[i]", "s[i][warp] = v[N - 1 - i]"),
    "list_cut": _LIST.replace("static __shared__ T", "static __shared__ short"),
    "list_rows": _LIST.replace("lane == 0", "lane == 0 && threadIdx.y == 0"),
    "list_not_all": _LIST.replace("warp_sums<T, N>(v);\n    if", "if (warp) warp_sums<T, N>(v);\n    if"),
    "list_of_warps": _LIST.replace("return (T)0.0f", "return v[0]"),
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
    functions = (x.replace("NAME", n) for n, x in {**NATIVE_LISTS, **LOGICAL_LISTS}.items())
    lists = (
        f"""__global__ void use_{n}(const int* in, int* out) {{
    int v[3] = {{in[threadIdx.x] - 1000, in[threadIdx.x + 7], 5}};
    {n}<int, 2>(v);
    if (threadIdx.x == 0) {{ out[0] = v[0]; out[1] = v[1]; out[2] = v[2]; }}
}}
"""
        for n in (*NATIVE_LISTS, *LOGICAL_LISTS)
    )
    cases = "".join(CASE.replace("NAME", n) for n in (*NATIVE, *(f"use_{n}" for n in NATIVE_LISTS)))
    sizes = ", ".join(map(str, SIZES))
    parts = (*kernels, LIST_HEAD, *functions, *lists)
    return HEAD + "".join(parts) + MAIN.replace("SIZES", sizes).replace("CASES", cases)


@pytest.fixture(scope="module")
def wrote(native_answers: Callable[[str], Answers]) -> Answers:
    return native_answers(_program())


@pytest.mark.parametrize("name", (*NATIVE, *(f"use_{n}" for n in NATIVE_LISTS)))
def test_answers_are_cudas(name: str, wrote: Answers) -> None:
    for size in SIZES:
        right = wrote["logical", 32][f"{name} {size} 0"]
        assert wrote["native", 32][f"{name} {size} 0"] == right, size
        assert wrote["native", 64][f"{name} {size} 0"] == right, size


def test_what_becomes_native(native_verdicts: Verdicts) -> None:
    assert len({_LIST, *LOGICAL_LISTS.values()}) == len(LOGICAL_LISTS) + 1
    found = native_verdicts(_program())
    assert {n for n in NATIVE if found.get(n) != "CU356"} == set()
    assert {n for n in NATIVE_LISTS if "CU356" not in (found.get(n), found.get(f"use_{n}"))} == set()
    assert {n for n in LOGICAL if found.get(n) not in ("CU357", "part")} == set()
    assert {n for n in LOGICAL_LISTS if f"use_{n}" not in found or n in found} == set()


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
