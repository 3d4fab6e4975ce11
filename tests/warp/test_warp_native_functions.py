"""`--warp native`: what a function hands on to other functions, and who comes when it is called."""

from __future__ import annotations

import pytest

from cu2port.core.model import Options
from cu2port.engine.translate import translate

HEAD = """#include <cuda_runtime.h>
__device__ int counter;
__device__ int warp_sum(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    return v;
}
__device__ void hand_back(int v, int& out) { v = warp_sum(v); out = v; }
__device__ void count(int v) {
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) atomicAdd(&counter, v);
}
struct Sum {
    int all;
    __device__ void add(int v) { all = warp_sum(v); }
};
"""
BODIES = {
    "together": ("count(in[threadIdx.x]);", ""),
    "handed_back": ("int t = 0; hand_back(in[threadIdx.x], t); out[threadIdx.x] = t;", "the caller gets"),
    "global": ("counter = warp_sum(in[threadIdx.x]);", "`counter`, which other functions see"),
    "member": ("Sum s; s.add(in[threadIdx.x]); out[threadIdx.x] = s.all;", "`all`, which other functions see"),
    "upper_threads": ("if (threadIdx.x >= 96) count(in[threadIdx.x]);", "some lanes may be elsewhere"),
    "some_threads": ("if (in[threadIdx.x] > 5) count(in[threadIdx.x]);", "some lanes may be elsewhere"),
    "after_return": ("if (threadIdx.x >= 96) return; count(in[threadIdx.x]);", "some lanes may be elsewhere"),
}


@pytest.mark.parametrize("name", BODIES)
def test_functions(name: str) -> None:
    body, why = BODIES[name]
    text = f"{HEAD}__global__ void k(const int* in, int* out) {{ {body} }}\nvoid f(int* p) {{ k<<<1, 256>>>(p, p); }}\n"
    made = translate(text.encode(), Options(warp="native"), path="p.cu")
    found = [j.finding for j in made.findings if j.finding.code in ("CU356", "CU357")]
    found = [f for f in found if f.message.startswith("`k` ")]
    assert [f.code for f in found] == ["CU357" if why else "CU356"]
    assert why in found[0].message


BLOCK = """#include <cuda_runtime.h>
__device__ int warp_sum(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    return v;
}
__global__ void k(const int* in, int* out) {
    __shared__ int s[32];
    int v = warp_sum(in[threadIdx.x]), t = 0;
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    READ
    if (threadIdx.x == 0) out[0] = t;
}
void f(int* p) { k<<<1, SIZE>>>(p, p); }
"""
LAST = "if (threadIdx.x < 32) t = warp_sum(t);"


@pytest.mark.parametrize(
    "read",
    [
        "t = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0; LAST",
        "t = (blockDim.x >> 5) > threadIdx.x ? s[threadIdx.x] : 0; LAST",
        "if (threadIdx.x < blockDim.x / 32) t = s[threadIdx.x]; else t = 0; LAST",
        "int n = blockDim.x / 32; t = threadIdx.x < n ? s[threadIdx.x] : 0; LAST",
        "if (threadIdx.x == 0) { int u = 0; for (int i = 0; i < blockDim.x / 32; i++) u += s[i]; out[1] = u; }",
    ],
)
def test_part_of_a_warp(read: str) -> None:
    """A count of whole warps leaves out the threads behind them, which a wavefront holds too."""
    for size, code in (("96", "CU356"), ("80", "CU357")):
        text = BLOCK.replace("READ", read).replace("LAST", LAST).replace("SIZE", size)
        made = translate(text, Options(warp="native"), path="p.cu")
        assert [j.finding.code for j in made.findings if j.finding.code in ("CU356", "CU357")] == [code]


def test_a_kernel_that_counts_the_warps_of_one_dimension_needs_whole_warps_in_it() -> None:
    """`blockDim.x / 32` is 0 in blocks of 16 by 8 threads, although they are four warps."""
    text = (
        "__device__ int all(int v) { for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o); return v; }\n"
        "__global__ void k(const int* in, int* out) { __shared__ int s[32]; int t = threadIdx.x, v = all(in[t]);\n"
        "  if (t % 32 == 0) s[t / 32] = v;\n  __syncthreads();\n  v = t < blockDim.x / 32 ? s[t] : 0;\n"
        "  if (t < 32) v = all(v);\n  if (t == 0) *out = v; }\n"
        "void run(int* a, int* b) { k<<<1, dim3(16, 8)>>>(a, b); }\n"
    )
    for source, code in ((text, "CU357"), (text.replace("16, 8", "64, 2"), "CU356")):
        made = translate(source, Options(warp="native"), path="p.cu")
        assert [j.finding.code for j in made.findings if "`k`" in j.finding.message] == [code]


@pytest.mark.parametrize("block", ["48", "dim3(48)", "dim3(48, 1)", "N"])
@pytest.mark.parametrize(
    "sum_of_a_warp",
    ["v = __reduce_add_sync(~0u, v);", "for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);"],
)
def test_a_block_that_ends_inside_of_a_warp(block: str, sum_of_a_warp: str) -> None:
    """CUDA's operations take the threads that are there. What works with whole wavefronts takes whole warps."""
    text = (
        f"const int N = 48;\n__global__ void k(const int* in, int* out) {{ int v = in[threadIdx.x]; {sum_of_a_warp}\n"
        f"  if (threadIdx.x % 32 == 0) atomicAdd(out, v); }}\nvoid run(int* a, int* b) {{ k<<<1, {block}>>>(a, b); }}\n"
    )
    for source, code in ((text, "CU357"), (text.replace("48", "96"), "CU356")):
        made = translate(source, Options(warp="native"), path="p.cu")
        assert [j.finding.code for j in made.findings if j.finding.code in ("CU356", "CU357")] == [code]
        assert (b"cu2port::wave" in made.output) == (code == "CU356")
