"""`--warp native`: functions of the headers that a file includes, each of which is converted by itself.

Native code on wavefronts of 32 and of 64 lanes must give what CUDA's warps give, whether the headers were converted
before the file or after it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cu2port.convert import run
from cu2port.engine import translate
from cu2port.model import Options
from cu2port.plan import Request
from cu2port.verify import sim_build, simulate

INCLUDE = Path(__file__).resolve().parents[2] / "translator/cu2port/include/cu2port"
SIZES = (32, 64, 96, 256)
HEADERS = {
    "base.cuh": """#pragma once
#define FINAL_MASK 0xffffffffu
constexpr int kWarpSize = 32;
__device__ __forceinline__ int lane_of() { return threadIdx.x % kWarpSize; }
__device__ __forceinline__ int warp_of() { return threadIdx.x / kWarpSize; }
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
__device__ inline int warpMax(int v) {
    for (int o = kWarpSize / 2; o > 0; o /= 2) v = max(v, __shfl_down_sync(FINAL_MASK, v, o));
    return v;
}
__device__ inline int warpScan(int v) {
    for (int o = 1; o < 32; o <<= 1) {
        int t = __shfl_up_sync(FINAL_MASK, v, o);
        if (lane_of() >= o) v += t;
    }
    return v;
}
template <typename T, int N>
__device__ __forceinline__ void warpSumEach(T* v) {
    for (int i = 0; i < N; i++)
        for (int o = 16; o > 0; o >>= 1) v[i] += __shfl_xor_sync(FINAL_MASK, v[i], o, 32);
}
}
#endif
""",
    "sized.cuh": """#pragma once
#include "base.cuh"
template <typename T, int W = 32>
__device__ __forceinline__ T sumOf(T v) {
    for (int o = W / 2; o > 0; o >>= 1) v += __shfl_xor_sync(FINAL_MASK, v, o, W);
    return v;
}
template <int W = 8>
static __device__ __forceinline__ int sumWide(int v) {
#pragma unroll
    for (int o = W >> 1; o >= 1; o /= 2) { v += __shfl_down_sync(FINAL_MASK, v, o, W); }
    return v;
}
template <typename T>
__device__ T sumLanes(T v, int width = kWarpSize, unsigned mask = FINAL_MASK) {
    for (int o = width / 2; o > 0; o >>= 1) v += __shfl_xor_sync(mask, v, o, width);
    return v;
}
__device__ int sumHalf(int v, unsigned mask = 0xffff) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(mask, v, o);
    return v;
}
__device__ inline int pick(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FINAL_MASK, v, o);
    return v;
}
__device__ inline float pick(float v) {
    for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(FINAL_MASK, v, o));
    return v;
}
__device__ inline int pick(int* v) { return v[0]; }
#ifdef WIDE
__device__ inline double pick(double v) { return v; }
#endif
""",
    "block.cuh": """#pragma once
#include "sized.cuh"
#include "warp.cuh"
namespace red {
template <typename T>
__device__ __forceinline__ T blockSum(T v) {
    static __shared__ T slots[32];
    int lane = lane_of(), warp = warp_of();
    v = warpSum<T>(v);
    if (lane == 0) slots[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32.f ? slots[lane] : (T)0;
    v = warpSum<T>(v);
    return v;
}
__device__ inline int sumWith(int v, int* slots) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warpSum(v);
    if (lane == 0) slots[warp] = v;
    __syncthreads();
    v = lane < blockDim.x / 32 ? slots[lane] : 0;
    return warpSum(v);
}
template <typename T, int N>
__device__ __forceinline__ T blockSumEach(T* v) {
    static __shared__ T slots[N][33];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    warpSumEach<T, N>(v);
    if (lane == 0) {
        for (int i = 0; i < N; i++) slots[i][warp] = v[i];
    }
    __syncthreads();
    bool is_mask = threadIdx.x < blockDim.x / 32.f;
    for (int i = 0; i < N; i++) v[i] = is_mask ? slots[i][lane] : (T)0;
    warpSumEach<T, N>(v);
    return (T)0;
}
}
""",
}
HEAD = """#include <cstdio>
#ifndef WIDTH
#define WIDTH 16
#endif
#include <cuda_runtime.h>
#include "block.cuh"
"""
_OVER_BLOCK = """
        __shared__ T s[32];
        T v = FIRST(in[threadIdx.x]), w = threadIdx.x;
        VALUE
        if (lane_of() == 0) s[warp_of()] = v;
        __syncthreads();
        v = threadIdx.x < blockDim.x / 32 ? s[lane_of()] : 0;
        v = NEXT(v);
        if (threadIdx.x == 0) out[0] = v;"""


def _over_block(first: str, last: str, kind: str = "int", value: str = "") -> str:
    """The sum over a block by calls of two functions."""
    words = {"FIRST": first, "NEXT": last, "VALUE": value}
    text = _OVER_BLOCK.replace("T ", kind + " ")
    for word, new in words.items():
        text = text.replace(word, new)
    return text


#: Bodies of kernels `(const int* in, int* out)` that become native; those of THROUGH have nothing to write anew.
NATIVE = {
    "own_slots": """
        __shared__ int s[32];
        int v = red::warpSum(in[threadIdx.x]), lane = lane_of();
        if (lane == 0) s[threadIdx.x / kWarpSize] = v;
        __syncthreads();
        v = threadIdx.x < blockDim.x / kWarpSize ? s[lane] : 0;
        if (warp_of() == 0) v = red::warpSum<int>(v);
        if (threadIdx.x == 0) out[0] = v;""",
    "maximum": """
        __shared__ int s[32];
        int v = red::warpMax(in[threadIdx.x] - 2000);
        if (lane_of() == 0) s[warp_of()] = v;
        __syncthreads();
        v = threadIdx.x < blockDim.x / 32 ? s[lane_of()] : -3000;
        v = red::warpMax(v);
        if (threadIdx.x == 0) out[0] = v;""",
    "types": """
        __shared__ long long s[32];
        long long v = red::warpSum<long long>(in[threadIdx.x]);
        if (lane_of() == 0) s[warp_of()] = v;
        __syncthreads();
        if (threadIdx.x == 0) {
            long long all = 0;
            for (int i = 0; i < blockDim.x / 32; i++) all += s[i];
            out[0] = int(all);
        }""",
    "scan": """
        __shared__ int s[32];
        int v = red::warpScan(in[threadIdx.x]), lane = lane_of(), warp = warp_of();
        if (lane == 31) s[warp] = v;
        __syncthreads();
        if (warp == 0) {
            int w = lane < blockDim.x / 32 ? s[lane] : 0;
            w = red::warpScan(w);
            s[lane] = w;
        }
        __syncthreads();
        if (warp > 0) v += s[warp - 1];
        out[threadIdx.x] = v;""",
    "both": """
        __shared__ int s[32];
        int all = red::blockSum(in[threadIdx.x]), v = red::warpSum(in[threadIdx.x] * 2);
        if (lane_of() == 0) s[warp_of()] = v;
        __syncthreads();
        v = threadIdx.x < blockDim.x / 32 ? s[lane_of()] : 0;
        v = red::warpSum(v);
        if (threadIdx.x == 0) out[0] = v - all;""",
    "width": _over_block("sumOf", "sumOf<int, 32>"),
    "width_by_name": _over_block("sumOf<int, kWarpSize>", "sumOf"),
    "width_of_its_own": _over_block("sumWide<32>", "sumWide<warp>", value="").replace(
        "__shared__", "constexpr int warp = 64 / 2; __shared__"
    ),
    "width_of_the_caller": _over_block("sumLanes", "sumLanes<int>"),
    "type": _over_block("", "pick", value="v = pick(v);"),
    "other_type": _over_block("", "pick", "float", "v = pick(v);"),
}
THROUGH = {
    "block": "int v = red::blockSum(in[threadIdx.x]); if (threadIdx.x == 0) out[0] = v;",
    "lent_slots": "__shared__ int s[32]; int v = red::sumWith(in[threadIdx.x], s); out[threadIdx.x] = v;",
    "small": """
        int v = in[threadIdx.x];
        v = blockDim.x <= 32 ? red::warpSum(v) : red::blockSum<int>(v);
        if (threadIdx.x == 0) out[0] = v;""",
    "small_arms": """
        int v = in[threadIdx.x], all = 0;
        if (blockDim.x > 32) { all = red::blockSum(v); } else { all = red::warpSum(v); }
        if (threadIdx.x == 0) out[0] = all;""",
    "list": """
        int v[2] = {in[threadIdx.x], in[threadIdx.x] * 3};
        if (blockDim.x <= 32) red::warpSumEach<int, 2>(v); else red::blockSumEach<int, 2>(v);
        if (threadIdx.x == 0) { for (int i = 0; i < 2; i++) out[i] = v[i]; }""",
    "list_of_one": """
        int v[1] = {in[threadIdx.x]};
        red::blockSumEach<int, 1>(v);
        if (threadIdx.x == 0) out[0] = v[0];
        __syncthreads();
        v[0] = in[threadIdx.x] * 5;
        red::blockSumEach<int, 1>(v);
        if (threadIdx.x == 0) out[1] = v[0];""",
    "skipped_together": """
        for (int i = 0; i < 3; i++) {
            if (in[i] % 2) continue;
            int v = red::blockSum(in[threadIdx.x] + i);
            if (threadIdx.x == 0) out[i] = v;
            __syncthreads();
        }""",
}
#: Kernels that look like those and must stay.
LOGICAL = {
    "own_name": "auto warpSum = [](int v) { return v; }; int v = warpSum(in[threadIdx.x]); STORE",
    "some_lanes": "int v = 0; if (threadIdx.x < 40) v = red::warpSum(in[threadIdx.x]); STORE",
    "all_threads": "out[threadIdx.x] = red::blockSum(in[threadIdx.x]);",
    "each_of_a_list": "int v[2] = {1, 2}; red::blockSumEach<int, 2>(v); out[threadIdx.x] = v[1];",
    "list_again": """int v[2] = {1, 2}; red::blockSumEach<int, 2>(v); v[0] = in[threadIdx.x];
        red::blockSumEach<int, 2>(v); if (threadIdx.x == 0) out[0] = v[1];""",
    "one_of_some_threads": """int v[1] = {1}; red::blockSumEach<int, 1>(v); if (threadIdx.x < 5) v[0] = 2;
        red::blockSumEach<int, 1>(v); if (threadIdx.x == 0) out[0] = v[0];""",
    "one_of_more": """int v[2] = {1, 2}; red::blockSumEach<int, 2>(v); v[0] = 2; out[threadIdx.x] = v[1];""",
    "one_made_of_itself": """int v[1] = {1}; red::blockSumEach<int, 1>(v); v[0] = v[0] + 1;
        out[threadIdx.x] = v[0];""",
    "list_by_reference": "int v[2] = {1, 2}; int (&r)[2] = v; red::blockSumEach<int, 2>(v); out[threadIdx.x] = r[1];",
    "list_by_pointer": "int v[2] = {1, 2}; int* p = v; red::blockSumEach<int, 2>(p); out[threadIdx.x] = v[1];",
    "list_behind_pointer": "int v[2] = {1, 2}; red::blockSumEach<int, 2>(v); int* p = v; out[threadIdx.x] = p[1];",
    "list_of_the_caller": "red::blockSumEach<int, 2>(out + 2 * threadIdx.x);",
    "gone": "if (in[threadIdx.x] > 7) return; int v = red::blockSum(1); if (threadIdx.x == 0) out[0] = v;",
    "not_small": "int v = blockDim.x <= 64 ? red::warpSum(1) : red::blockSum(1); if (threadIdx.x == 0) out[0] = v;",
    "small_in_y": "int v = blockDim.y <= 32 ? red::warpSum(1) : red::blockSum(1); if (threadIdx.x == 0) out[0] = v;",
    "narrow": _over_block("sumOf<int, 16>", "sumOf"),
    "narrow_last": _over_block("sumOf", "sumOf<int, 8>"),
    "narrow_by_default": _over_block("sumWide", "sumWide<32>"),
    "narrow_by_argument": _over_block("", "sumLanes", value="v = sumLanes(v, 16);"),
    "narrow_by_mask": _over_block("sumHalf", "sumHalf"),
    "unknown_width": _over_block("sumOf<int, WIDTH>", "sumOf"),
    "unknown_type": _over_block("pick", "pick"),
    "scan_alone": "out[threadIdx.x] = red::warpScan(in[threadIdx.x]);",
}
_STORE = (
    "__shared__ int s[32]; if (lane_of() == 0) s[warp_of()] = v; __syncthreads(); if (threadIdx.x < 4) out[0] = s[3];"
)


def _program() -> str:
    every = {**NATIVE, **THROUGH, **LOGICAL}
    kernels = [
        f"__global__ void {n}(const int* in, int* out) {{ {b.replace('STORE', _STORE)} }}\n" for n, b in every.items()
    ]
    return f"""{HEAD}{"".join(kernels)}
template <void (*K)(const int*, int*)> void go(const char* name) {{
    int *in, *out;
    cudaMallocManaged(&in, 4096);
    cudaMallocManaged(&out, 8192);
    for (int n : {{{", ".join(map(str, SIZES))}}}) {{
        for (int i = 0; i < 1024; ++i) in[i] = (i * 37) % 101 + (i % 7) * 5;
        for (int i = 0; i < 2048; ++i) out[i] = -1;
        K<<<1, n>>>(in, out);
        cudaDeviceSynchronize();
        printf("%s %d:", name, n);
        for (int i = 0; i < 256; ++i) printf(" %d", out[i]);
        printf("\\n");
    }}
}}
int main() {{
    {" ".join(f'go<{n}>("{n}");' for n in (*NATIVE, *THROUGH))}
}}
"""


def _tree(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def _verdicts(folder: Path, text: str) -> dict[str, str]:
    made = translate(text.encode(), Options(warp="native"), path=str(folder / "p.cu"))
    found = (j.finding for j in made.findings if j.finding.code in ("CU356", "CU357"))
    return {f.message.split("`")[1]: f.code for f in found}


_SUM = HEADERS["warp.cuh"].partition("template <typename T>")[2].partition("__device__ inline int warpMax")[0]
_OTHER = _SUM.replace("v +=", "v -=")
KERNEL = f"__global__ void k(const int* in, int* out) {{{NATIVE['own_slots']}}}\n"
#: Files beside which KERNEL must stay: what is put in before the `#include` and behind it, and further headers.
DOUBTFUL = {
    "macro": ("", "#define warpSum(v) (v)\n", {}),
    "macro_of_a_header": ("", '#include "more.cuh"\n', {"more.cuh": "#pragma once\n#define warpSum(v) (v)\n"}),
    "mask": ('#include "more.cuh"\n', "", {"more.cuh": "#pragma once\n#define FINAL_MASK 0xffffu\n"}),
    "mask_of_the_file": ("#define FINAL_MASK 0xffffu\n", "", {}),
    "word": ("#define o (o + 1)\n", "", {}),
    "operation": ("", "", {"base.cuh": HEADERS["base.cuh"] + "#define __shfl_xor_sync(m, v, o, w) (v)\n"}),
    "overload": ("", "namespace red { __device__ int warpSum(int v) { return v; } }\n", {}),
    "overload_of_a_header": (
        "",
        '#include "more.cuh"\n',
        {"more.cuh": "namespace red { __device__ int warpSum(int v) { return v; } }\n"},
    ),
    "declared": ("", "namespace red { __device__ int warpSum(int v); }\n", {}),
    "declared_in_a_header": ("", "", {"base.cuh": HEADERS["base.cuh"] + "__device__ int warpSum(short);\n"}),
    "member": ("", "", {"base.cuh": HEADERS["base.cuh"] + "struct Sums { __device__ int warpSum(int); };\n"}),
    "other_space": ("", "", {"base.cuh": HEADERS["base.cuh"] + f"namespace two {{ template <typename T>{_OTHER} }}\n"}),
    "condition": ("", "", {"warp.cuh": f"#pragma once\n#include \"base.cuh\"\nnamespace red {{\n#ifdef SHUFFLES\n"
                           f"template <typename T>{_SUM}\n#else\ntemplate <typename T>{_OTHER}\n#endif\n}}\n"}),
    "one_condition": ("", "", {"warp.cuh": f"#pragma once\n#include \"base.cuh\"\nnamespace red {{\n#ifdef SHUFFLES\n"
                      f"template <typename T>{_SUM}\n#endif\n}}\n"}),
    "own_overload": ("", "namespace mine { __device__ float warpSum(float v) { for (int o = 16; o > 0; o >>= 1) "
                     "v += __shfl_xor_sync(~0u, v, o); return v; }}\nusing namespace red; using namespace mine;\n", {}),
    "half": ("", "", {"warp.cuh": HEADERS["warp.cuh"].replace("int o = 16;", "int o = 8;", 1)}),
    "width": ("", "", {"base.cuh": HEADERS["base.cuh"].replace("kWarpSize = 32", "kWarpSize = 16")}),
    "two_values": ("", "", {"base.cuh": HEADERS["base.cuh"] + "#ifdef WIDE\n#define kWarpSize 64\n#endif\n"}),
    "no_header": ("", "", {"block.cuh": "#pragma once\n"}),
}  # fmt: skip


@pytest.mark.parametrize("name", ("", *DOUBTFUL))
def test_what_else_a_name_may_mean(name: str, tmp_path: Path) -> None:
    before, behind, files = DOUBTFUL.get(name, ("", "", {}))
    kernel = KERNEL.replace("red::", "") if "using" in behind else KERNEL
    text = f'{before}#include "block.cuh"\n{behind}{kernel}'
    assert _verdicts(_tree(tmp_path, {**HEADERS, **files}), text).get("k", "") == (
        "" if name == "no_header" else "CU357" if name else "CU356"
    )


def _convert(folder: Path, mode: str, order: tuple[str, ...]) -> None:
    """Convert files where they are, in an order."""
    for name in order:
        made = translate((folder / name).read_bytes(), Options(warp=mode), path=str(folder / name))
        (folder / name).write_bytes(made.output)


def _answers(folder: Path, waves: tuple[int, ...]) -> dict[int, dict[str, str]]:
    shutil.copytree(INCLUDE, folder / "cu2port")
    (folder / "p.cu").rename(folder / "p.hip")
    found = sim_build.find_program(folder / "p.hip")
    built = sim_build.Program(found.units, (*found.include_dirs, folder), found.defines, ("-O0",))
    out = {}
    for wave, binary in sim_build.build(built, folder / "build", waves, sim_build.find_toolchain()).items():
        ran = simulate.run(binary, (), simulate.Limits(60), capture=True)
        assert ran.code == 0, ran.errors.decode() + ran.output.decode()[-2000:]
        lines = (line.partition(":") for line in ran.output.decode().splitlines())
        out[wave] = {head: rest for head, _, rest in lines}
    return out


def test_what_becomes_native(tmp_path: Path) -> None:
    found = _verdicts(_tree(tmp_path, HEADERS), _program())
    assert {n for n in NATIVE if found.get(n) != "CU356"} == set()
    assert {n for n in THROUGH if n in found} == set()
    assert {n for n in LOGICAL if found.get(n) != "CU357"} == set()


@pytest.fixture(scope="module")
def wrote(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, dict[str, str]]]:
    orders = {
        "logical": ("logical", ("p.cu", *HEADERS), (32,)),
        "file first": ("native", ("p.cu", *HEADERS), (32, 64)),
        "headers first": ("native", (*HEADERS, "p.cu"), (64,)),
    }
    out = {}
    for name, (mode, order, waves) in orders.items():
        folder = _tree(tmp_path_factory.mktemp("tree"), {**HEADERS, "p.cu": _program()})
        _convert(folder, mode, order)
        out[name] = _answers(folder, waves)
    return out


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
