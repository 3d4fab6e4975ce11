"""`--warp native`: functions with `#if` inside are native where each way to compile them is, and all agree.

The same text is compiled in several ways and run in the simulator; on wavefronts of 32 and 64 lanes it must give what
CUDA's warps give. As in test_warp_native.py, but the names of the macros stand for the ways.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

Answers = dict[tuple[str, int], dict[str, str]]
Verdicts = Callable[[str], dict[str, str]]
HEAD = """#include <cstdio>
#include <cuda_runtime.h>
#define FULL 0xffffffffu
#ifdef NAMED
#define LANES 32
#else
#define LANES (16 * 2)
#endif
#ifdef WIDE
#define OTHER 64
#else
#define OTHER 32
#endif
__device__ int warp_sum(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
    return v;
}
__device__ int block_sum(int v) {
    static __shared__ int s[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#ifdef FAST
    v = warp_sum(v);
#else
    for (int o = 1; o < 32; o *= 2) v += __shfl_xor_sync(FULL, v, o);
#endif
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = (threadIdx.x < blockDim.x / 32) ? s[lane] : 0;
    if (warp == 0) v = warp_sum(v);
    return v;
}
"""
_BLOCK = """
        __shared__ int s[32];
        int lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = in[threadIdx.x];
        FIRST
        if (lane == 0) s[warp] = v;
        __syncthreads();
        int t = threadIdx.x < blockDim.x / SIZE ? s[threadIdx.x] : 0;
        if (threadIdx.x < 32) t = warp_sum(t);
        LAST"""


def _block(first: str, last: str = "if (threadIdx.x == 0) out[0] = t;", size: str = "32") -> str:
    return _BLOCK.replace("FIRST", first).replace("LAST", last).replace("SIZE", size)


_TWO = "\n#ifdef FAST\nint v = warp_sum(x);\n#else\nint v = warp_sum(x + 1);\n#endif\n"
#: Bodies of kernels `(const int* in, int* out)` that become native.
NATIVE = {
    "two_ways": _block(_TWO),
    "only_if": _block("\n#if MODE == 2\nx *= 3;\n#endif\nint v = warp_sum(x);"),
    "three_ways": _block(
        "\n#if MODE == 1\nint v = warp_sum(x);\n#elif MODE == 2\nint v = warp_sum(-x);\n#else\nint v = x;\n"
        "for (int o = 16; o; o >>= 1) v += __shfl_down_sync(FULL, v, o);\n#endif\n"
    ),
    "nested": _block(
        "\n#ifdef FAST\n#if MODE == 2\nx += 4;\n#else\nx += 5;\n#endif\nx += in[7];\n#endif\nint v = warp_sum(x);"
    ),
    "the_same_twice": _block(
        "\n#ifdef FAST\nint v = warp_sum(x), w = v;\n#else\nint v = x, w = x;\n#endif\n"
        "#ifdef FAST\nv = w;\n#else\nv = warp_sum(w);\n#endif\n"
    ),
    "turned": _block(
        "\n#ifdef FAST\nint v = warp_sum(x);\n#else\nint v = x;\n#endif\n#if !defined(FAST)\nv = warp_sum(v);\n#endif\n"
    ),
    "conditions_of_cuda": _block(
        "\n#if __CUDA_ARCH__ >= 300 && CUDART_VERSION >= 9000\nint v = warp_sum(x);\n#else\n"
        "int v = __shfl(x, 3);\n#endif\n"
    ),
    "error_elsewhere": _block(
        "\n#if MODE > 7\n#error no such mode\nint v = lane;\n#else\nint v = warp_sum(x);\n#endif\n"
    ),
    "never": _block("\n#if 0\nint v = lane;\n#else\nint v = warp_sum(x);\n#endif\n"),
    "constant_in_two_ways": _block("int v = warp_sum(x);", size="LANES"),
    "function_with_ways": "int v = block_sum(in[threadIdx.x]); if (threadIdx.x == 0) out[0] = v;",
    "in_a_branch": _block(
        "int v = warp_sum(x);",
        "\n#ifdef FAST\nif (threadIdx.x == 0)\n#else\nif (!threadIdx.x)\n#endif\nout[0] = t;",
    ),
}
#: Bodies that look like them and stay.
LOGICAL = {
    "in_a_statement": _block("int v = warp_sum(x\n#ifdef FAST\n + 3\n#endif\n);"),
    "one_way_uses_lanes": _block("\n#ifdef FAST\nint v = warp_sum(x + lane);\n#else\nint v = warp_sum(x);\n#endif\n"),
    "one_way_reads_a_slot": _block(_TWO, "if (threadIdx.x == 0) out[0] = t;\n#ifdef FAST\nout[1] = s[1];\n#endif\n"),
    "one_way_needs_the_old_number": _block(
        "int v = warp_sum(x);\n#if MODE == 2\nif (warp == 1 && lane == 3) out[5] = 1;\n#endif\n"
    ),
    "one_way_shuffles": _block("\n#ifdef FAST\nx = __shfl_xor_sync(FULL, x, 1);\n#endif\nint v = warp_sum(x);"),
    "another_size_in_one_way": _block("int v = warp_sum(x);", size="OTHER"),
    "half_a_warp_in_one_way": _block(
        "int v = x;\nfor (int o =\n#ifdef FAST\n8\n#else\n16\n#endif\n; o > 0; o >>= 1)"
        " v += __shfl_xor_sync(FULL, v, o);"
    ),
    "a_part_of_the_loop": _block(
        "int v = x;\nfor (int o = 16; o > 0; o >>= 1)\n#ifdef FAST\nv += __shfl_xor_sync(FULL, v, o);\n"
        "#else\nv += __shfl_down_sync(FULL, v, o);\n#endif\n"
    ),
    "a_definition_inside": _block("\n#ifdef FAST\n#define STEP 2\n#endif\nint v = warp_sum(x);"),
    "too_many_ways": _block(
        "int v = 0;\n#if A1\nx++;\n#endif\n#if A2\nx++;\n#endif\n#if A3\nx++;\n#endif\n#if A4\nx++;\n#endif\n"
        "v = warp_sum(x);"
    ),
    "a_branch_for_hip": _block("\n#ifdef USE_ROCM\nx += 1;\n#endif\nint v = warp_sum(x);"),
    "another_meaning": _block(
        "\n#if MODE == 1\nint v = warp_sum(x);\n#else\nint v = x;\n#endif\n\n#if MODE > 1\nv = warp_sum(v);\n#endif\n"
    ),
}
SIZES = (32, 96, 256)
NAMES = (*NATIVE, *LOGICAL)
WAYS = (
    "",
    "#define FAST\n#define MODE 1\n#define NAMED\n",
    pytest.param("#define MODE 2\n", marks=pytest.mark.slow),
    pytest.param("#define FAST\n#define MODE 2\n", marks=pytest.mark.slow),
)
MAIN = """
int main() {
    int *in, *out;
    cudaMallocManaged(&in, 4096);
    cudaMallocManaged(&out, 4096);
    for (int i = 0; i < 1024; i++) in[i] = i * 37 % 101 + 1;
    const int sizes[] = {32, 96, 256};
    for (int size : sizes) {
CASES    }
}
"""
CASE = """        for (int i = 0; i < 1024; i++) out[i] = 0;
        NAME<<<1, size, 256>>>(in, out);
        printf("NAME %d %d:", size, int(cudaDeviceSynchronize()));
        for (int i = 0; i < 260; i++) printf(" %d", out[i]);
        printf("\\n");
"""


def _program(bodies: dict[str, str], way: str = "") -> str:
    kernels = (f"__global__ void {n}(const int* in, int* out) {{{b}\n}}\n" for n, b in bodies.items())
    cases = "".join(CASE.replace("NAME", n) for n in bodies)
    return way + HEAD + "".join(kernels) + MAIN.replace("CASES", cases)


@pytest.mark.parametrize("way", WAYS)
def test_answers_are_cudas(way: str, native_answers: Callable[[str], Answers], native_verdicts: Verdicts) -> None:
    found = native_verdicts(_program(NATIVE, way))
    assert {n for n in NATIVE if found[n] == "CU357"} == set()
    answers = native_answers(_program(NATIVE, way))
    for name in NATIVE:
        for size in SIZES:
            right = answers["logical", 32][f"{name} {size} 0"]
            assert (name, size, answers["native", 32][f"{name} {size} 0"]) == (name, size, right)
            assert (name, size, answers["native", 64][f"{name} {size} 0"]) == (name, size, right)


@pytest.mark.parametrize("name", NAMES)
def test_what_becomes_native(name: str, native_verdicts: Verdicts) -> None:
    found = native_verdicts(_program({name: {**NATIVE, **LOGICAL}[name]}))
    part = name == "another_size_in_one_way"  # its last sum, of the first 32 threads
    assert found[name] == ("CU356" if name in NATIVE else "part" if part else "CU357")
