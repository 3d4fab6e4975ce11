"""`--warp native` where headers do the work: each is converted by itself, and what includes it calls it as it is.

Native code on wavefronts of 32 and of 64 lanes must give what CUDA's warps give, whether the headers were converted
before the file or after it.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from simulated import quick

from cu2port.core.model import Options
from cu2port.engine.translate import translate
from cu2port.project.convert import run
from cu2port.project.plan import Request
from cu2port.verify import sim_build, sim_compiler, simulate

INCLUDE = Path(__file__).resolve().parents[2] / "translator/cu2port/include/cu2port"
SIZES = (32, 64, 96, 256)
HEADERS = {
    "base.cuh": """#pragma once
#define FINAL_MASK 0xffffffffu
constexpr int kWarpSize = 32;
""",
    "warp.cuh": """#ifndef WARP_CUH
#define WARP_CUH
#include "base.cuh"
namespace red {
template <typename T>
__device__ __forceinline__ T warpSum(T v) {
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FINAL_MASK, v, o, 32);
    return v;
}
}
#endif
""",
    "block.cuh": """#pragma once
#include "warp.cuh"
namespace red {
__device__ inline int blockMax(int v) {
    static __shared__ int s[kWarpSize];
    const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
    for (int o = kWarpSize / 2; o > 0; o /= 2) v = max(v, __shfl_xor_sync(FINAL_MASK, v, o));
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = lane < blockDim.x / kWarpSize ? s[lane] : -1000;
    for (int o = kWarpSize / 2; o > 0; o /= 2) v = max(v, __shfl_xor_sync(FINAL_MASK, v, o));
    __syncthreads();
    return v;
}
}
""",
}
_SLOTS = """__shared__ int s[32];
        const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
        int v = in[threadIdx.x];
        STEP
        if (lane == 0) s[warp] = v;
        __syncthreads();
        if (threadIdx.x == 0) { int t = 0; for (int i = 0; i < blockDim.x / kWarpSize; i++) t += s[i]; out[0] = t; }"""
#: Bodies of kernels: those in which the file's own text becomes native, those with nothing to rewrite, others.
NATIVE = {
    "own_slots": _SLOTS.replace("STEP", "for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FINAL_MASK, v, o);"),
    "beside_a_call": _SLOTS.replace(
        "STEP",
        "v -= red::blockMax(v); for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FINAL_MASK, v, o);",
    ),
}
THROUGH = {
    "calls_it": "out[threadIdx.x] = red::blockMax(in[threadIdx.x]);",
    "own_warps": "int v = red::warpSum(in[threadIdx.x]); if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = v;",
}


def _program() -> str:
    every = {**NATIVE, **THROUGH}
    kernels = "".join(f"__global__ void {n}(const int* in, int* out) {{ {b} }}\n" for n, b in every.items())
    return f"""#include <cstdio>
#include <cuda_runtime.h>
#include "block.cuh"
{kernels}
template <void (*K)(const int*, int*)> void go(const char* name) {{
    int *in, *out;
    cudaMallocManaged(&in, 4096);
    cudaMallocManaged(&out, 4096);
    for (int n : {{{", ".join(map(str, SIZES))}}}) {{
        for (int i = 0; i < 1024; ++i) {{ in[i] = (i * 37) % 101 + (i % 7) * 5; out[i] = -1; }}
        K<<<1, n>>>(in, out);
        cudaDeviceSynchronize();
        printf("%s %d:", name, n);
        for (int i = 0; i < 256; ++i) printf(" %d", out[i]);
        printf("\\n");
    }}
}}
int main() {{
    {" ".join(f'go<{n}>("{n}");' for n in every)}
}}
"""


def _tree(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def _answers(folder: Path, mode: str, order: tuple[str, ...], waves: tuple[int, ...]) -> dict[int, dict[str, str]]:
    """What the program writes when its files were converted where they are, in an order."""
    for name in order:
        made = translate((folder / name).read_bytes(), Options(warp=mode), path=str(folder / name))
        (folder / name).write_bytes(made.output)
    shutil.copytree(INCLUDE, folder / "cu2port")
    (folder / "p.cu").rename(folder / "p.hip")
    found = sim_build.find_program(folder / "p.hip")
    built = replace(quick(found), include_dirs=(*found.include_dirs, folder))
    out = {}
    for wave, binary in sim_build.build(built, folder / "build", waves, sim_compiler.find_toolchain()).items():
        ran = simulate.run(binary, (), simulate.Limits(60), capture=True)
        assert ran.code == 0, ran.errors.decode() + ran.output.decode()[-2000:]
        lines = (line.partition(":") for line in ran.output.decode().splitlines())
        out[wave] = {head: rest for head, _, rest in lines}
    return out


def test_what_becomes_native(tmp_path: Path) -> None:
    folder = _tree(tmp_path, HEADERS)
    made = translate(_program().encode(), Options(warp="native"), path=str(folder / "p.cu"))
    judged = [j.finding for j in made.findings if j.finding.code in ("CU356", "CU357")]
    found = {f.message.split("`")[1]: f.code for f in judged}
    assert {n: found.get(n) for n in NATIVE} == dict.fromkeys(NATIVE, "CU356")
    assert {n for n in THROUGH if n in found} == set()
    header = translate(HEADERS["block.cuh"].encode(), Options(warp="native"), path=str(folder / "block.cuh"))
    assert header.output.count(b"cu2port::wave::reduce(v, ") == 2


def test_another_function_of_the_name(tmp_path: Path) -> None:
    other = "#pragma once\n__device__ inline float warp_sum(float v) { return v + __shfl_xor_sync(~0u, v, 1); }\n"
    text = """#include "other.cuh"
__device__ int warp_sum(int v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(~0u, v, o); return v; }
__global__ void k(float* p, int* out) {
    int v = warp_sum(p[threadIdx.x]);
    if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void run(float* p, int* out) { k<<<1, 256>>>(p, out); }
"""
    for header, code in ((other, "CU357"), (other.replace("warp_sum", "warp_total"), "CU356")):
        folder = _tree(tmp_path, {"other.cuh": header})
        made = translate(text.replace("p[threadIdx.x]", "int(3)").encode(), Options(warp="native"),
                         path=str(folder / "p.cu"))  # fmt: skip
        assert [j.finding.code for j in made.findings if j.finding.code in ("CU356", "CU357")] == [code]


@pytest.fixture(scope="module")
def wrote(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, dict[str, str]]]:
    orders = {
        "logical": ("logical", ("p.cu", *HEADERS), (32,)),
        "file first": ("native", ("p.cu", *HEADERS), (32, 64)),
        "headers first": ("native", (*HEADERS, "p.cu"), (64,)),
    }
    files = {**HEADERS, "p.cu": _program()}
    return {n: _answers(_tree(tmp_path_factory.mktemp("tree"), files), *rest) for n, rest in orders.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", (*NATIVE, *THROUGH))
def test_answers_are_cudas(name: str, wrote: dict[str, dict[int, dict[str, str]]]) -> None:
    for size in SIZES:
        right = wrote["logical"][32][f"{name} {size}"]
        assert wrote["file first"][32][f"{name} {size}"] == right, size
        assert wrote["file first"][64][f"{name} {size}"] == right, size
        assert wrote["headers first"][64][f"{name} {size}"] == right, size


def test_whole_tree_in_place(tmp_path: Path) -> None:
    """No file is judged by headers that were written already."""
    files = {n: text + "// large files come first\n" * 1000 for n, text in HEADERS.items()}
    one, two = (_tree(tmp_path / n, {**files, "z.cu": _program()}) for n in ("one", "two"))
    options = Options(warp="native")
    run(Request((str(one),), "in-place", options=options, workers=1, force=True))
    run(Request((str(two),), "out", str(tmp_path / "out"), options, workers=1))
    for name in (*HEADERS, "z.cu"):
        assert (one / name).read_bytes() == (tmp_path / "out" / name).read_bytes(), name
    assert b"wave::sum" in (one / "z.cu").read_bytes()
