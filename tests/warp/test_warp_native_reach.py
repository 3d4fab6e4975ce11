"""`--warp native`: idioms in the many forms that projects write them in, and what looks like them and must stay.

As in test_warp_native.py, native code on wavefronts of 32 and of 64 lanes must give what CUDA's warps give.
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
#include <cuda_runtime.h>
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
}
#: Bodies that look like them and stay.
LOGICAL = {
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


def _answers(program: str, folder: Path) -> dict[tuple[str, int], dict[str, str]]:
    """(mode, wave size) -> what a program wrote: the part of each line before its first colon -> the part behind."""
    toolchain = sim_build.find_toolchain()
    out: dict[tuple[str, int], dict[str, str]] = {}
    for mode, waves in (("logical", (32,)), ("native", (32, 64))):
        made = translate(program, Options(warp=mode), path="p.cu")
        assert all(j.outcome is Outcome.APPLIED for j in made.findings if j.finding.code == "CU356")
        place = folder / mode
        (place / "cu2port").mkdir(parents=True)
        for helper in {*made.helpers, "warp.hpp", "tile_reduce.hpp"}:
            shutil.copy(INCLUDE / helper, place / "cu2port")
        path = place / "p.hip"
        path.write_bytes(made.output)
        found = sim_build.find_program(path)
        built = sim_build.Program(found.units, found.include_dirs, found.defines, ("-O0",))
        for wave, binary in sim_build.build(built, place / "build", waves, toolchain).items():
            ran = simulate.run(binary, (), simulate.Limits(60), capture=True)
            assert ran.code == 0, ran.output.decode()
            lines = (line.partition(":") for line in ran.output.decode().splitlines())
            out[mode, wave] = {head: rest for head, _, rest in lines}
    return out


def _verdicts(program: str) -> dict[str, str]:
    """Kernels and functions of a program -> CU356 or CU357."""
    made = translate(program, Options(warp="native"), path="p.cu")
    found = (j.finding for j in made.findings if j.finding.code in ("CU356", "CU357"))
    return {f.message.split("`")[1]: f.code for f in found}


@pytest.fixture(scope="module")
def wrote(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], dict[str, str]]:
    return _answers(_program(), tmp_path_factory.mktemp("reach"))


@pytest.mark.parametrize("name", NATIVE)
def test_answers_are_cudas(name: str, wrote: dict[tuple[str, int], dict[str, str]]) -> None:
    for size in SIZES:
        right = wrote["logical", 32][f"{name} {size} 0"]
        assert wrote["native", 32][f"{name} {size} 0"] == right, size
        assert wrote["native", 64][f"{name} {size} 0"] == right, size


def test_what_becomes_native() -> None:
    found = _verdicts(_program())
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
def test_functions_of_headers(head: str) -> None:
    assert _verdicts(BLOCK_MAX.replace("HEAD", head)) == {"blockReduceMax": "CU356"}
