"""Each CUDA kernel against what it is converted to: what is said, and that faults are found."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from click.testing import CliRunner

from cu2port.cli.commands import cli
from cu2port.ptx import isa_integer, ops
from cu2port.ptx.ops import U32, Value
from cu2port.syntax.words import KEYWORDS
from cu2port.verify.reach import read
from cu2port.verify.sim_build import Program, Text
from cu2port.verify.sim_compiler import HEADERS, Toolchain
from cu2port.verify.trial.assembly import Body, with_calls
from cu2port.verify.trial.branches import counted
from cu2port.verify.trial.device_variables import definitions, listed
from cu2port.verify.trial.fitting import refused
from cu2port.verify.trial.kernels import Kernel, Unclear, find_kernels
from cu2port.verify.trial.members import members
from cu2port.verify.trial.nearness import nearness
from cu2port.verify.trial.pasted import expansions
from cu2port.verify.trial.program import Hints, Side, _guarded
from cu2port.verify.trial.programs import _texts, find_programs
from cu2port.verify.trial.run import Asked, Recorded, Trial, open_trial, try_program, work_folder
from cu2port.verify.trial.slices import entities, needed, sliced
from cu2port.verify.trial.verdict import Verdict, most_common_failure, read_output, written_by

SUM = """#include <cuda_runtime.h>
#include <cublas_v2.h>
class Store {
    int held;
public:
    struct Item { float3 place; float mass[2]; int kind; };
    Store(int n);
};
Store::Store(int n) { held = n > 3 ? 1 : n > 2 ? 2 : 3; }
static cublasHandle_t handle;
__constant__ float factor[8];
__device__ int hits;
cublasStatus_t prepare(cublasHandle_t h) { return cublasCreate(&h); }
__device__ float warp_sum(float v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    return v;
}
__global__ void sum(const float* in, float* out, int n) {
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
__global__ void items(Store::Item* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        b[i].place.y += b[i].mass[1] * factor[i % 8];
        if (b[i].kind > 3) atomicAdd(&hits, 1);
    }
}
__global__ void votes(const int* in, unsigned* out) {
    unsigned m = __ballot(in[blockIdx.x * blockDim.x + threadIdx.x] > 5);
    if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = __popc(m);
}
__global__ void places(int* list, int* count) { list[atomicAdd(count, 1)] = threadIdx.x; }
__global__ void last(unsigned* block) { if (gridDim.x * gridDim.y > 1) *block = blockIdx.x + blockIdx.y; }
__global__ void ptx(unsigned* a) { asm("bfind.u32 %0, %1;" : "=r"(a[0]) : "r"(a[1])); }
int main() { prepare(handle); sum<<<1, 64>>>(0, 0, 1); }
"""

Try = Callable[..., dict[str, Verdict]]


@pytest.fixture
def tried(tmp_path: Path, toolchain: Toolchain) -> Try:
    """tried(text, warp, **asked) -> the verdict of each kernel."""

    def get(text: str, warp: str = "logical", **asked: Any) -> dict[str, Verdict]:
        path = tmp_path / "k.cu"
        path.write_text(text)
        program = Program((path,), warp=warp)
        return {v.kernel: v for v in try_program(program, Asked(**{"time_s": 20.0, **asked}), toolchain, 2)}

    return get


@pytest.mark.slow
def test_kernels_are_told_apart(tried: Try) -> None:
    """One file, without its program and without cuBLAS: sums, structs, constants, a race of blocks, PTX."""
    said = tried(SUM, waves=(64,), kernels=frozenset({"sum", "items", "last", "ptx"}))
    wanted = {"sum": "same", "items": "same", "last": "could not", "ptx": "same"}
    assert {k: v.outcome for k, v in said.items()} == wanted, [v.text for v in said.values()]
    assert "order of its threads" in said["last"].why
    assert said["sum"].branches >= 0.8 and said["items"].branches == 1 and said["items"].cases >= 10
    assert said["sum"].line == SUM[: SUM.index("__global__ void sum")].count("\n") + 1


@pytest.mark.slow
def test_no_macro_of_a_program_meets_a_name_of_the_trial(tmp_path: Path, toolchain: Toolchain) -> None:
    """The names that the trial's headers have are a program's macros, some in its text and some of its build."""
    headers = [HEADERS / "cu2port_trial" / f"{x}.h" for x in ("layout", "branch", "executor", "ptx", "trial")]
    words = {w for h in headers for w in re.findall(r"[A-Za-z_]\w*", re.sub(r"//.*|#.*|\".*?\"", "", h.read_text()))}
    cuda = {"std", "dim3", "threadIdx", "blockIdx", "x", "y", "z"}
    own = {w for w in words if not w.lower().startswith(("cu2port", "__", "hip")) and w not in KEYWORDS | cuda}
    own |= {"main", "branch", "global", "Members"}
    assert own >= {"seed", "Layout", "Spec", "argc", "T", "N", "at", "out", "kBranches"}
    built = {"seed", "N", "U"}
    text = (
        "".join(f"#define {w} 9 9\n" for w in sorted(own - built))
        + """struct Pair { int my_one; float my_two; };
union Bits { int my_one; float my_two; };
__device__ int total = 3;
__global__ void add_pairs(Pair* my_pairs, Bits* my_words, int* my_sums, int my_many) {
    int my_mine = blockIdx.x * 64 + threadIdx.x;
    if (my_mine < my_many) my_pairs[my_mine].my_one += seed + N * total;
    asm("add.u32 %0, %1, 1;" : "=r"(my_sums[my_mine]) : "r"(my_words[my_mine].my_one));
}
void go(Pair* my_pairs) { add_pairs<<<2, 64>>>(my_pairs, 0, 0, 5); }
"""
    )
    (tmp_path / "k.cu").write_text(text)
    program = Program((tmp_path / "k.cu",), defines=("seed=5", "N=3", "U"))
    (said,) = try_program(program, Asked(time_s=5.0, waves=(64,)), toolchain, 1)
    assert said.outcome == "same" and said.branches == 1, said.text


@pytest.mark.slow
def test_places_in_the_order_of_arrival(tried: Try) -> None:
    """An array that holds the same elements in any order of threads is compared so, and no other one is."""
    text = """__global__ void k(int* list, int* count, int* own) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    list[atomicAdd(count, 1)] = i & ~A;
    own[i ^ B] = i;
}
"""
    said = tried("#define A 0\n#define B 0\n" + text, waves=(64,))["k"]
    assert said.outcome == "same" and said.text.endswith(", elements in any order)"), said.text
    for other, array in (("#define A on_hip\n#define B 0\n", "list"), ("#define A 0\n#define B on_hip\n", "own")):
        said = tried("#ifdef __HIP__\n#define on_hip 1\n#else\n#define on_hip 0\n#endif\n" + other + text, waves=(64,))[
            "k"
        ]
        assert said.outcome == "differs" and f": {array}[" in said.why, said.text


def test_copies_that_are_not_aligned_mean_nothing_in_cuda(tried: Try) -> None:
    """Rows of an odd number of floats; the converted kernel may fail with them."""
    text = """#include <cuda_pipeline.h>
__global__ __launch_bounds__(32) void k(const float* in, float* out, int columns) {
    __shared__ __align__(16) float tile[128];
    __pipeline_memcpy_async(&tile[threadIdx.x * 4], &in[threadIdx.x * columns], sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x * 4 + 3];
}
void f(float* p, int n) { k<<<1, 32>>>(p, p, n); }
"""
    said = tried(text)["k"]
    assert said.outcome != "differs" and (said.outcome == "same" or "not aligned so" in said.why), said.text


def test_kernels_in_namespaces_that_editors_and_declarators_name(tried: Try) -> None:
    text = """namespace n { __global__ void k(int* p); }
__global__ void n::k(int* p) { p[threadIdx.x] = 1; }
namespace m {
#if 0
} // for an editor
#endif
__global__ void k(int* p) { p[threadIdx.x] = 2; }
}
"""
    assert {k: v.outcome for k, v in tried(text).items()} == {"n::k": "same", "m::k": "same"}


def test_arguments_of_templates_are_named_as_the_namespace_has_them(tried: Try) -> None:
    text = """namespace a { namespace ops { struct Twice { static __device__ int of(int x) { return 2 * x; } }; }
namespace b { enum { kSize = 3 };
template <class Op, int N> __global__ void k(int* out) {
    out[threadIdx.x] = Op::of(threadIdx.x) + N * __isGlobal(out) + __isShared(out) + __isLocal(out);
}
inline void go(int* p) { k<ops::Twice, kSize><<<1, 64>>>(p); }
} }
"""
    said = tried(text, waves=(64,))["a::b::k"]
    assert said.outcome == "same", said.text


@pytest.mark.slow
def test_an_index_that_no_other_thread_has_takes_launches_where_arrays_of_any_do_not(tried: Try) -> None:
    """Where the order of threads decides, the launch is tried again with integers that are distinct."""
    text = """#ifdef __HIP__
#define on_hip 1
#else
#define on_hip 0
#endif
__global__ void k(const int* order, int* out, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    if (t > 40 && order[t] < order[t - 1]) out[order[t]] = t + WRONG;
    else out[order[t]] = t;
}
void go(int* a, int* b) { k<<<2, 64>>>(a, b, 128); }
"""
    said = tried("#define WRONG 7\n" + text, waves=(64,), time_s=4.0)["k"]
    assert said.outcome == "same" and said.branches == 1, said.text
    said = tried("#define WRONG 7 + on_hip\n" + text, waves=(64,), time_s=4.0)["k"]
    assert said.outcome == "differs" and ": out[" in said.why, said.text


@pytest.mark.slow
def test_textures_and_surfaces(tried: Try) -> None:
    """Objects as parameters and in structs; what is fetched elsewhere, or written elsewhere, is a difference."""
    said = tried(
        """#ifdef __HIP__
constexpr int on_hip = 1;
#else
constexpr int on_hip = 0;
#endif
struct Two { int n; cudaTextureObject_t a, b; };
__global__ void same(float* out, cudaSurfaceObject_t surface, Two t, const Two* more) {
    int x = threadIdx.x;
    out[x] = tex1Dfetch<float>(t.a, x) + tex3D<float4>(t.b, x, 1, 2).y + tex2D<int>(more[x].a, 3, x);
    surf2Dwrite<uchar4>(tex2D<uchar4>(t.b, x, 0), surface, x * 4, 0, cudaBoundaryModeZero);
}
__global__ void fetches(float* out, cudaTextureObject_t t) { *out = tex2D<float>(t, 3 + on_hip, 1); }
__global__ void writes(cudaSurfaceObject_t s) { surf2Dwrite<float>(threadIdx.x, s, 4 * (threadIdx.x + on_hip), 0); }
texture<float, 2> old;
__global__ void refers(float* out) { *out = tex2D(old, 1, 2); }
""",
        waves=(64,),
    )
    wanted = {"same": "same", "fetches": "differs", "writes": "differs", "refers": "could not"}
    assert {k: v.outcome for k, v in said.items()} == wanted, [v.text for v in said.values()]
    assert "out[0]" in said["fetches"].why and "a surface[0]" in said["writes"].why
    assert said["refers"].why == "texture references"


def test_members_of_a_class_that_need_a_missing_library_are_left_out(tried: Try) -> None:
    text = """#include <stored.h>
struct Store {
    Store(file_id of, const char* name);
    file_id open(file_id group = ROOT_OF_ALL) { return find(group, name); }
    template <class T> stored_size size(const T& of) const;
    void close();
    file_id own, group;
    int count;
};
struct Sizes { int n; Store* store; __device__ int half() const { return n / 2; } };
__global__ void k(int* x, const Sizes sizes) {
    int i = threadIdx.x;
    if (i < sizes.half()) x[i] = sizes.n;
}
__global__ void l(int* x) {
    struct Own { file_id of; };
    x[threadIdx.x] = sizeof(Own);
}
"""
    said = tried(text, waves=(64,))
    assert said["k"].outcome == "same", said["k"].text
    assert said["l"].outcome == "could not" and "file_id" in said["l"].why


def test_template_arguments_have_the_names_of_hip(tried: Try) -> None:
    text = """#include <cuda_bf16.h>
template <typename T, int N> __global__ void k(T* x, float y) { if (threadIdx.x < N) x[threadIdx.x] = T(y); }
void go(__nv_bfloat16* x) { k<__nv_bfloat16, 8><<<1, 64>>>(x, 2); }
"""
    said = tried(text, waves=(64,), time_s=3.0)["k"]
    assert said.outcome == "same", said.text


def test_extents_are_parameters_as_other_structs_are(tried: Try) -> None:
    text = """struct Box { dim3 from, size; };
__global__ void k(float* x, const dim3 size, const Box box) {
    unsigned i = threadIdx.x;
    if (i < size.x && size.y > 2) x[i] = size.z + box.from.x;
    if (i < box.size.y) x[i + 1024] = 1;
}
"""
    said = tried(text, waves=(64,), time_s=3.0)["k"]
    assert said.outcome == "same" and said.branches == 1, said.text


def test_functions_that_another_unit_defines_are_taken_from_it(tmp_path: Path, toolchain: Toolchain) -> None:
    """A build with -rdc=true links them; the kernel called nothing, and no launch ran."""
    (tmp_path / "flow.cuh").write_text("__device__ float flow(const float* at, int i);\n__device__ int none(int i);\n")
    (tmp_path / "other.cu").write_text("__global__ void other(int* a) {}\n__device__ int more(int i) { return i; }\n")
    flow = """#include "flow.cuh"
#ifdef __HIP__
#define mine {}
#else
#define mine 2
#endif
__constant__ float factor = 3;
__device__ float flow(const float* at, int i) {{ return at[i] * factor * mine; }}
void host() {{ library::call(); }}
"""
    (tmp_path / "k.cu").write_text(
        '#include "flow.cuh"\n__global__ void k(float* x, const float* y, int n) {\n'
        "    int i = threadIdx.x;\n    if (i < n) x[i] = flow(y, i);\n}\n"
    )
    asked = Asked(time_s=3.0, waves=(64,), root=tmp_path)
    for factor, outcome in ((2, "same"), (4, "differs")):
        (tmp_path / "flow.cu").write_text(flow.format(factor))
        (said,) = try_program(Program((tmp_path / "k.cu",)), asked, toolchain, 2)
        assert (said.kernel, said.outcome) == ("k", outcome), said.text
        _texts.cache_clear()


def test_a_kernel_of_whose_name_another_file_declares_one(tried: Try, tmp_path: Path) -> None:
    (tmp_path / "base.cuh").write_text("__global__ void k(float* x, int n);\n")
    text = """#include "base.cuh"
#include <library_of_another.h>
__global__ void k(float* x, const float* y, int n) {
    const std::array<float, 2> parts = {1, 2};
    int i = threadIdx.x;
    if (i < n) x[i] = y[i] * parts[i % 2];
}
"""
    said = tried(text, waves=(64,))["k"]
    assert said.outcome == "same", said.text


def test_variables_of_other_units_and_pointers_in_variables_have_values(tried: Try) -> None:
    """`extern __constant__` had no address, and pointers in the GPU's variables were null."""
    text = """#ifdef __HIP__
#define more {more}
#else
#define more 0
#endif
struct Sizes {{ long n; float f; }};
extern __constant__ Sizes sizes;
namespace lists {{ extern __device__ const long *at, *count; extern __device__ double* out; }}
extern __constant__ float table[];
__device__ float* rows[2];
__global__ void k(double* x, const double* m) {{
    long i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= sizes.n) return;
    x[i] = m[lists::at[i]] + lists::count[i] * sizes.f + table[i % 8] + rows[i % 2][i];
    lists::out[i] = rows[0][i] - rows[1][i] + more;
}}
"""
    same = tried(text.format(more=0), waves=(64,))["k"]
    assert same.outcome == "same", same.text
    other = tried(text.format(more="(i == 3)"), waves=(64,))["k"]
    assert other.outcome == "differs" and "an array of a variable[3]" in other.text, other.text


def test_launches_without_a_race_are_followed(tried: Try) -> None:
    """Two thirds of the numbers that are made up make it a race."""
    text = """__global__ void k(int* a, unsigned far) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = a[i + (far > 2)] + 1;
}
void go(int* a) { k<<<2, 64>>>(a, 1); k<<<2, 64>>>(a, 4); k<<<2, 64>>>(a, 5); }
"""
    said = tried(text, waves=(64,))["k"]
    assert said.outcome == "same" and said.cases == 32, said.text


@pytest.mark.slow
def test_a_kernel_that_is_only_renamed_differs_at_64_lanes(tried: Try) -> None:
    said = tried(SUM, "flag", waves=(32, 64), kernels=frozenset({"votes"}))["votes"]
    assert said.outcome == "differs" and "in CUDA" in said.why
    assert re.match(r"wave 64.*, <<<\(\d,1,1\), \(\d+,1,1\)>>>: out\[\d\] is \d+, in CUDA \d+", said.why), said.why
    if platform.machine() == "x86_64":
        m = re.search(
            r"out\[(\d)\].*; thread \((\d+),0,0\) of block \(0,0,0\) wrote it, lane (\d+) of a wave", said.why
        )
        assert m and int(m[2]) == 32 * int(m[1]) and int(m[3]) == int(m[2]) % 64, said.why


@pytest.mark.slow
def test_solo_kernels_get_the_block_that_they_ask_for(tried: Try) -> None:
    text = """__global__ void k(int* a) { a[threadIdx.x] = blockDim.x; }
void go() { k<<<1, 64>>>(0); k<<<1, 1024>>>(0); }
"""
    said = tried(text, "solo", waves=(64,))["k"]
    assert said.outcome == "same" and 0 < said.cases < 32, said.text


def test_a_launch_that_leaves_an_array_says_nothing(tried: Try) -> None:
    text = """__global__ void k(float* out, const int* at) {
    char counts[16] = {};
    for (int i = 0; i < 60; i += 20) counts[(at[threadIdx.x] & 1) + i]++;
    out[threadIdx.x] = counts[1];
}
"""
    said = tried(text, waves=(64,))["k"]
    assert said.outcome == "could not" and "no arguments found: illegal instruction or trap" in said.why, said.text


def test_a_launch_that_shifts_by_too_much_says_nothing(tried: Try) -> None:
    """The two sides are told apart only there, where a GPU of NVIDIA's leaves no bits and one of AMD's leaves some."""
    text = """__global__ void k(unsigned* out, unsigned n) {
#ifdef __HIP_PLATFORM_AMD__
    if (n > 31) { out[threadIdx.x] = 7; return; }
#endif
    out[threadIdx.x] = 2u << n;
}
"""
    said = tried(text, waves=(64,))["k"]
    assert said.outcome == "same" and 0 < said.cases < 32, said.text


@pytest.mark.slow
def test_what_does_not_compile_and_is_not_used_is_left_out(tried: Try) -> None:
    """Names keep it: the kernel has a `data`, so it keeps the function `data`, that keeps `Logged`."""
    text = """struct Logged { missing::Stream stream() const; };
__device__ inline int data(const Logged& x) { return x.stream().size(); }
__device__ inline float twice(float x) { return 2 * x; }
__device__ inline lost::Type unset(float x) { return x; }
__global__ void k(float* data) { data[threadIdx.x] = twice(data[threadIdx.x]); }
__global__ void l(float* out) { out[threadIdx.x] = unset(2); }
"""
    said = tried(text, waves=(64,))
    assert said["k"].outcome == "same", said["k"].text
    assert said["l"].why.startswith("it does not compile by itself: k.cu:4: "), said["l"].text
    assert "lost" in said["l"].why, said["l"].text


@pytest.mark.slow
def test_kernels_may_use_cub_and_draw_random_numbers(tried: Try) -> None:
    """From the states that arguments bring; a scan of CUB's by warps is another one if only renamed."""
    text = """#include <cub/warp/warp_scan.cuh>
#include <curand_kernel.h>
struct Limit { int n; __host__ __device__ explicit Limit(int x) : n(x) {} };
__global__ void draws(curandState* states, float* out, Limit limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState mine = states[i];
    if (out[i] > limit.n) out[i] = curand_uniform(&mine);
    states[i] = mine;
}
__global__ void sums(const int* in, int* out) {
    __shared__ typename cub::WarpScan<int>::TempStorage scans[4];
    cub::WarpScan<int>(scans[threadIdx.x / 32]).InclusiveSum(in[threadIdx.x], out[threadIdx.x]);
}
void go() { sums<<<1, 128>>>(0, 0); }
"""
    said = tried(text, waves=(64,))
    assert {k: v.outcome for k, v in said.items()} == {"draws": "same", "sums": "same"}, [v.text for v in said.values()]
    assert tried(text, "flag", waves=(64,), kernels=frozenset({"sums"}))["sums"].outcome == "differs"


def test_launches_that_reach_new_branches_are_followed(tried: Try) -> None:
    """No one launch is likely to go all these ways by itself."""
    text = """struct Box { int wraps_x = 1, wraps_y = 1; float size[4]; bool straight; };
__device__ float nearest(const Box& b, float x) {
    if (b.straight) {
        if (b.wraps_x == 1) {
            if (x < -b.size[0] * 0.5f) x += b.size[0]; else if (x > b.size[0] * 0.5f) x -= b.size[0];
        }
        if (b.wraps_y == 1) {
            if (x < -b.size[1] * 0.5f) x += b.size[1]; else if (x > b.size[1] * 0.5f) x -= b.size[1];
        }
    }
    return x;
}
__global__ void k(Box box, float* data, const int* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int j = 0; j < counts[i] % 4; ++j) data[i + j * n] = nearest(box, data[i + j * n]);
}
"""
    said = tried(text, waves=(64,))["k"]
    assert said.outcome == "same" and said.branches == 1, said.text


@pytest.mark.slow
def test_no_branch_counts_that_was_not_executed(tried: Try) -> None:
    text = """__global__ void k(int* a, float x) {
    if (x == 123456.0f) { if (a[0] > 3) a[1] = 2; if (a[0] > 4) a[2] = 3; if (a[0] > 5) a[3] = 3; }
    a[threadIdx.x] = 1;
}
"""
    said = tried(text, waves=(32,))["k"]
    assert said.outcome == "could not" and "of its branches" in said.why and "k.cu:2" in said.why


@pytest.mark.slow
def test_branches_inside_of_expressions_count_and_those_left_out_do_not(tried: Try) -> None:
    text = """__global__ void k(int* a, float x) {
    a[threadIdx.x] = x == 123456.0f ? a[1] == 99 ? 1 : 2 : x == 123457.0f ? a[2] == 99 ? 3 : 4 : 5;
}
__global__ void l(int* a) {
#if __CUDA_ARCH__ < 300
    if (a[0]) a[1] = 1; else if (a[1]) a[2] = 1; else if (a[2]) a[3] = 1;
#endif
    if (a[4] > 3) a[5] = 1;
}
"""
    said = tried(text, waves=(32,))
    assert said["k"].outcome == "could not" and "25% of its branches" in said["k"].why, said["k"].text
    assert said["l"].outcome == "same" and said["l"].branches == 1, said["l"].text


def test_launches_go_past_what_the_kernel_asks_for(tried: Try) -> None:
    """Several elements a thread, inner points of a volume, a pointer that may be null, infinities."""
    text = """#define EDGE 4
__global__ void k(float* a, const int* maybe, int n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    unsigned i = x + 64 * y + 4096 * z;
    if (x >= EDGE && y >= EDGE && z >= EDGE) a[i] = 1;
    if (maybe != nullptr) a[i] += maybe[i];
    if (threadIdx.x + 2 * blockDim.x < n) a[i] += 2;
}
void go() { k<<<1, dim3(16, 16)>>>(0, 0, 1); }
"""
    said = tried(text, waves=(64,))["k"]
    assert said.outcome == "same" and said.branches == 1, said.text


@pytest.mark.slow
def test_a_mask_or_a_width_without_meaning_is_not_compared(tried: Try) -> None:
    text = """__global__ void k(int* a) {
    if (threadIdx.x % 2) a[threadIdx.x] = __shfl_sync(0xffffffffu, a[threadIdx.x], 0);
    __syncthreads();
}
__global__ void l(int* a, int w) { a[threadIdx.x] = __shfl_up_sync(0xffffffffu, a[threadIdx.x], 3, w); }
void go(int* a) { l<<<1, 64>>>(a, 16); }
"""
    said = tried(text, waves=(64,))
    assert said["k"].outcome == "could not" and "the mask names lanes that are elsewhere" in said["k"].why
    assert said["l"].outcome == "same", said["l"].text


@pytest.mark.slow
def test_a_kernel_of_a_header_sees_what_its_unit_declares_before(tried: Try, tmp_path: Path) -> None:
    (tmp_path / "k.cuh").write_text("__global__ void k(number* a) { a[threadIdx.x] = SIZE; }\n")
    said = tried('#define SIZE 8\ntypedef int number;\n#include "k.cuh"\n', waves=(64,))["k"]
    assert said.outcome == "same" and said.file.endswith("k.cuh"), said.text


@pytest.mark.slow
def test_asynchronous_copies_with_barriers_and_pipelines(tried: Try) -> None:
    text = """#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda/std/array>
namespace cg = cooperative_groups;
__global__ void piped(const int* in, int* out, int n) {
    __shared__ int tile[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    cuda::std::array<int, 2> sum{0, 0};
    for (int i = 0, ahead = 0; i < n; ++i) {
        for (; ahead < n && ahead < i + 2; ++ahead) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[ahead % 2], in + ahead * 64, sizeof(int) * 64, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum[i % 2] += tile[i % 2][63 - threadIdx.x % 64];
        pipe.consumer_release();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0] - sum[1];
}
__global__ void barred(const int4* in, int4* out) {
    __shared__ int4 tile[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> full;
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&full, blockDim.x);
    block.sync();
    cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof tile), full);
    full.arrive_and_wait();
    out[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x ^ 1];
}
void go() { piped<<<1, 64>>>(0, 0, 4), barred<<<1, 64>>>(0, 0); }
"""
    said = tried(text, waves=(64,))
    assert {k: v.outcome for k, v in said.items()} == {"piped": "same", "barred": "same"}, said


@pytest.mark.slow
def test_what_a_kernel_does_not_call_and_what_its_host_refuses_is_left_out(tried: Try) -> None:
    """An #error of a build, functions for another argument, a union, an index behind a variable of the GPU."""
    text = """#ifndef HAS_TIMER
#error no timer
#endif
union word { unsigned char bytes[3]; unsigned long long all; };
__device__ int first(int x) { return x > 3 ? x > 4 ? x * 2 : 1 : 7; }
__device__ int other(int x) { return x > 3 ? x > 4 ? x > 5 ? x * 3 : 1 : 7 : 9; }
template <int Kind> __global__ void chosen(int* a) {
    if (Kind == 1) a[threadIdx.x] = other(a[threadIdx.x]);
    else a[threadIdx.x] = first(a[threadIdx.x]);
}
#define MAKE(kind) template __global__ void chosen<kind>(int*);
MAKE(2)
MAKE(1)
__global__ void words(word* w) { w[threadIdx.x].all += 256; }
__constant__ float factors[8];
__global__ void behind(float* a, int octave) { a[threadIdx.x] = *(factors + octave * 4 + threadIdx.x % 4); }
"""
    said = tried(text, waves=(64,))
    assert {k: v.outcome for k, v in said.items()} == dict.fromkeys(("chosen", "words", "behind"), "same"), said
    assert said["chosen"].branches == 1.0


@pytest.mark.slow
def test_a_function_of_the_host_that_a_member_of_a_kernels_class_calls_is_kept(tried: Try) -> None:
    """The class is the kernel's parameter, so it cannot be left out; a function that does not compile still is."""
    told = tried(
        """enum class Type { Int, Double };
inline unsigned long size_of(Type t) { return t == Type::Int ? 4 : 8; }
inline int missing() { return absent(); }
struct Column {
    int* data;
    int length;
    Type type;
    unsigned long bytes() const { return length * size_of(type); }
};
__global__ void k(Column c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c.data[i] += 1;
}
struct Other { int* data; int bad() const { return missing(); } };
__global__ void other(Other o) { o.data[threadIdx.x] = 1; }
""",
        waves=(64,),
    )
    assert told["k"].outcome == "same", told["k"].text
    assert told["other"].outcome == "could not" and "absent" in told["other"].text, told["other"].text


@pytest.mark.slow
def test_what_a_macro_declares_wrong_and_other_kernels_of_the_name_are_left_out(tried: Try) -> None:
    """Error messages begin in the macro's body, which is no part of the file."""
    text = """#define NEGATED(TYPE) __device__ TYPE operator-(TYPE a) { \\
        return {-a.x, -a.y}; \\
    }
struct Mine { int x, y; };
NEGATED(Mine)
struct Larger { int* x; int y; };
NEGATED(Larger)
__global__ void k(Mine* a, unsigned n) {
    if (n % 8 > 8) a[0].x = n % 4 > 4 ? 2 : 1;
    if (n % 8 > 9) a[0].x = n % 4 > 5 ? 3 : 4;
}
__global__ void k(Mine* a) {
    if (threadIdx.x < 8) a[threadIdx.x] = -a[threadIdx.x + 64];
}
"""
    said = tried(text, waves=(64,))["k"]
    assert said.outcome == "same" and said.line == 12, said.text


@pytest.mark.slow
def test_overloads_of_templates_and_what_names_matrix_fragments_beside_a_kernel(
    tmp_path: Path, toolchain: Toolchain
) -> None:
    text = """#include <mma.h>
template <class T> struct Data { using type = T; };
template <> struct Data<nvcuda::wmma::precision::tf32> { using type = float; };
template <class T> T same(T a);
template <> __device__ inline float same<float>(float a) { return a; }
template <class T> __global__ void k(T* a, int n) { a[threadIdx.x] = n > 8 ? 1 : same<T>((typename Data<T>::type)n); }
template <class T> __global__ void k(T* a, int n, T* b) { a[threadIdx.x] = n > 9 ? b[threadIdx.x] : T(3); }
template <> __global__ void k<int>(int* a, int n) { a[threadIdx.x] = n; }
void f(float* a, int n) { k<float><<<1, 64>>>(a, n); k<float><<<1, 64>>>(a, n, a); }
"""
    (tmp_path / "k.cu").write_text(text)
    asked = Asked(time_s=20.0, waves=(64,))
    said = {v.line: v for v in try_program(Program((tmp_path / "k.cu",)), asked, toolchain, 1)}
    assert [said[n].outcome for n in (6, 7)] == ["same"] * 2, [v.text for v in said.values()]


@pytest.mark.slow
def test_kernels_of_one_name_may_have_parameters_of_types_of_cuda(tried: Try) -> None:
    text = """__global__ void k(int* out) { out[threadIdx.x] = threadIdx.x; }
__global__ void k(cudaTextureObject_t a, int* out) { out[threadIdx.x] = tex1Dfetch<int>(a, threadIdx.x); }
"""
    assert tried(text, waves=(64,))["k"].outcome == "same"


@pytest.mark.slow
def test_sums_of_a_group_round_as_cuda_rounds_them(tried: Try) -> None:
    text = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(const float* in, int* out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    const float v = in[threadIdx.x];
    float sum = v;
    for (int o = 16; o > 0; o /= 2) sum += tile.shfl_xor(sum, o);
    out[threadIdx.x] = cg::reduce(tile, v, cg::plus<float>()) == sum;
}
"""
    assert tried(text, waves=(64,))["k"].outcome == "same"


@pytest.mark.slow
def test_a_race_that_both_orders_hide_is_no_difference(tried: Try) -> None:
    """The first and the last warp leave one value; one between them another, and later in a wave of 64."""
    text = """__global__ void k(int* out, int* in) {
    int warp = threadIdx.x / 32;
    if (warp == 0) out[0] = 1;
    in[threadIdx.x] = __shfl_xor_sync(0xffffffffu, in[threadIdx.x], 1);
    if (warp == 1) out[0] = 2;
    if (warp == 3) out[0] = 1;
}
void go(int* a) { k<<<1, 128>>>(a, a + 1); }
"""
    said = tried(text, waves=(64,))["k"]
    assert said.outcome == "could not" and said.why.startswith("its result depends on the order"), said.text


def test_words_that_nvcc_does_without_are_added_on_both_sides(tried: Try) -> None:
    text = """template <int N> struct Tile {
    int held[N];
    template <bool Twice> __device__ int at(int i) { return Twice ? 2 * held[i % N] : held[i % N]; }
};
template <int N> struct Work {
    typedef int number;
    static __device__ void run(int* a) {
        Tile<N> t;
        for (int i = 0; i < N; ++i) t.held[i] = a[i];
        a[threadIdx.x + N] = t.at<true>(threadIdx.x);
    }
};
template <int N> __global__ void k(int* a) { Work<N>::run(a); }
void go() { k<8><<<1, 64>>>(0); }
"""
    assert tried(text, waves=(64,))["k"].outcome == "same"


def test_a_header_that_names_nothing_of_cuda_is_converted(tmp_path: Path, toolchain: Toolchain) -> None:
    path = tmp_path / "k.cuh"
    path.write_text("__global__ void k(int* a) {\n#if __CUDA_ARCH__ >= 200\n    a[threadIdx.x] += 3;\n#endif\n}\n")
    (said,) = try_program(Program((path,)), Asked(time_s=5, waves=(64,)), toolchain, 1)
    assert said.outcome == "same", said.text


# --- parts that need no compiler ---------------------------------------------------------------------------------


def kernels(text: str) -> Sequence[Kernel | Unclear]:
    unit = read(text, "k.cu")
    return list(find_kernels(unit, [unit]))


def test_a_variable_that_one_file_declares_and_another_defines_keeps_its_value() -> None:
    units = [
        read("extern __constant__ int n, m;", "k.h"),
        read("namespace a { extern __device__ float *x[], y[4]; }", "l.h"),
    ]
    units.append(read("__constant__ int n = 3;\n__constant__ int m;", "k.cu"))
    seen = frozenset({"n", "m", "x", "y"})
    told = [
        f'cu2port_trial::cu2port_global("{x[-1]}", {x}, {"false" if x == "::n" else "true"})'
        for x in ("::n", "::m", "::a::x", "::a::y")
    ]
    assert list(listed(units, seen)) == told
    assert list(definitions(units, seen)) == ["namespace a { __device__ float * x [ 4096] , y [ 4 ] ; }\n"]


def test_a_macro_that_launches_its_parameter_tells_the_block() -> None:
    text = """
#define TEST(name, k) \\
    void name() { int* i; k<<<1, 1>>>(i); }
__global__ void a(int* p) {}
__global__ void b(int* p) {}
TEST(one, a)
"""
    a, b = (k for k in kernels(text) if isinstance(k, Kernel))
    assert a.blocks == ((1, 1, 1),) != b.blocks


def test_launches_tell_blocks_and_template_arguments() -> None:
    text = """
#define TILE 8
const int N = 64;
template <typename T, int B> __global__ void a(T* p) {}
namespace x { __global__ void b(int nx, float* ptr) { int i = threadIdx.y; } }
__launch_bounds__(96) __global__ void c() {}
template <int M> __global__ void d() {}
template <typename T> __global__ void e(T* p) {}
template <typename... T> __global__ void f(T*... p) {}
template <typename scalar_t, int BLOCK, int k> __global__ void g(scalar_t* p) {}
void dispatch(int n) { AT_DISPATCH(t, [&] { constexpr int BLOCK = n; g<scalar_t, BLOCK, 7><<<1, BLOCK>>>(p); }); }
__global__ void h() {}
void twice() { dim3 t(TILE); h<<<1, t>>>(); }
void again() { dim3 t(4, TILE); h<<<1, t>>>(); }
template <typename T> void host(T* p) { const int q = 3; a<T, q><<<1, dim3(TILE, TILE)>>>(p); }
void go() { dim3 block(TILE, 2 * TILE); x::b<<<1, block, N * 4>>>(1, 0); }
"""
    a, b, c, d, e, f, g, h = kernels(text)
    assert isinstance(a, Kernel) and (a.arguments, a.blocks) == ("<float, 3>", ((8, 8, 1),))
    assert isinstance(b, Kernel) and (b.path, b.blocks, b.dynamic) == ("x::b", ((8, 16, 1),), 256)
    assert (b.parameters, b.roles) == (("nx", "ptr"), "w?")
    assert isinstance(c, Kernel) and c.blocks == ((96, 1, 1),) and c.dynamic == 65536
    assert isinstance(d, Kernel) and d.arguments == "<4>"
    assert isinstance(f, Unclear) and "template" in f.why
    assert isinstance(g, Kernel) and (g.arguments, g.blocks) == ("<float, 128, 7>", ((128, 1, 1),))
    assert isinstance(h, Kernel) and h.blocks == ((4, 8, 1), (8, 1, 1))
    assert isinstance(e, Kernel) and e.arguments == "<float>"


def test_arguments_come_from_the_calls_of_the_macros_that_hold_the_use() -> None:
    text = """enum kind { one, two };
template <typename T, int N, int block_size> __global__ void made(T* p) {}
template <kind K> __global__ void launched() {}
template <kind K> __global__ void unused() {}
template <int N> __global__ void inner() {}
template <int N> __global__ void inside() {}
#define MAKE(type, n) template __global__ void made<type, n, n>(type*);
#define MAKE_ALL(type) MAKE(type, 96)
MAKE_ALL(double)
#define SWITCH(f, ...) switch (k) { case one: f<two>__VA_ARGS__; }
#define INNER(n) inner<WIDTH + n><<<1, 64>>>()
void go(kind k) { SWITCH(launched, <<<1, 64>>>()); }
template <int WIDTH> void host() {
    INNER(1);
#define INSIDE() inside<WIDTH><<<1, 64>>>()
    INSIDE();
}
void start() { host<48>(); }
"""
    made, launched, unused, inner, inside = kernels(text)
    assert isinstance(made, Kernel) and (made.arguments, made.blocks) == ("<double, 96, 96>", ((96, 1, 1),))
    assert isinstance(launched, Kernel) and launched.arguments == "<two>"
    assert isinstance(unused, Kernel) and unused.arguments == "<static_cast<kind>(0)>"
    assert isinstance(inner, Kernel) and inner.arguments == "<48 + 1>"
    assert isinstance(inside, Kernel) and inside.arguments == "<48>"


def test_a_build_defines_what_the_branches_around_a_kernel_ask_for() -> None:
    text = """#define HERE 1
#if defined(GRAVITY) && defined(HERE) && !defined(HOST)
__global__ void no() {}
#elif defined(OTHER)
__global__ void other() {}
#endif
#if defined(GRAVITY) && GPU > 0 && HERE
#ifndef HOST
#ifdef EXTRA
__global__ void yes() {}
#endif
#endif
#endif
"""
    no, other, yes = kernels(text)
    assert isinstance(no, Kernel) and isinstance(other, Kernel) and isinstance(yes, Kernel)
    assert (no.defines, other.defines, yes.defines) == ((), (), ("GRAVITY", "GPU", "EXTRA"))


def test_arguments_are_followed_through_the_functions_that_hand_them_on() -> None:
    text = """template <typename T, int WIDTH, int DEPTH> __global__ void k(T* in, T* out, int* at, int n, int m) {}
template <typename T, int W> void launch(T* from, T* to, int* at, int size) {
    using scalar = T;
    constexpr int LINES = sizeof(T) == 8 ? W : 96;
    k<scalar, W / 2, LINES><<<1, 64>>>(from, to, at, size, 2 * 5);
}
template <int N> void start(double* a, int* at) {
    launch<double, N + 8>(a, a, at, 77);
    launch<double, N>(a, a, at, 33);
}
void go(double* x, int* at) { start<24>(x, at); }
"""
    (k,) = kernels(text)
    assert isinstance(k, Kernel) and k.arguments == "<double, (24 + 8) / 2, (sizeof ( double ) == 8 ? (24 + 8) : 96)>"
    assert k.given == ((), (), (), (33, 77), (10,))
    assert k.alike == (0, 0, 2, 3, 4)


def test_arrays_are_alike_only_if_one_launch_gets_them() -> None:
    text = """__global__ void k(int* in, int* out, int* more, int n) {}
void step(int* from, int* to, int* more, int n) { k<<<1, 64>>>(from, to, more, n); }
void step(int* from, int* more) {}
void go(int* a, int* b, int* c) {
    step(a, b, c, 5);
    step(b, a, c, 6);
    step(a, a);
}
"""
    (k,) = kernels(text)
    assert isinstance(k, Kernel) and k.alike == (0, 1, 2, 3) and k.given == ((), (), (), (5, 6))


def test_types_are_deduced_from_the_variables_that_calls_hand_on() -> None:
    text = """template <typename T, typename U> __global__ void k(const T* in, U scale, T* out) {}
template <typename S> void launch(S* from, S* to) { const double half = 0.5; k<<<1, 64>>>(from, half, to); }
template <typename T> __global__ void l(T** rows) {}
template <typename T> __global__ void m(T* in) {}
void go(unsigned int* x, float** rows, std::vector<int> v) { launch(x, x); l<<<1, 64>>>(rows); m<<<1, 64>>>(v.data()); }
"""
    k, l_, m = kernels(text)
    assert isinstance(k, Kernel) and k.arguments == "<unsigned int, double>"
    assert isinstance(l_, Kernel) and l_.arguments == "<float>"
    assert isinstance(m, Kernel) and m.arguments == "<float>"  # nothing tells it


def test_types_are_deduced_from_casts_and_from_pointers_of_tensors() -> None:
    text = """template <typename T> __global__ void k(T* in) {}
template <typename T, int N = 4> __global__ void l(const T* in, T n) {}
template <typename T> __global__ void m(T* in) {}
template <typename T> __global__ void o(T* in) {}
template <typename T> __global__ void p(T* in) {}
template <typename T> __global__ void q(T* in) {}
void go(torch::Tensor a, void* p) {
    k<<<1, 64>>>(reinterpret_cast<__half *>(a.data_ptr()));
    l<<<1, 64>>>((const unsigned char*)p, 3);
    m<<<1, 64>>>(a.data_ptr<double>());
    using namespace std;
    using Cast = conditional_t<is_same_v<scalar_t, at::Half>, half, scalar_t>;
    o<<<1, 64>>>(reinterpret_cast<Cast*>(a.data_ptr()));
    p<<<1, 64>>>(reinterpret_cast<int **>(p));
    q<<<1, 64>>>((n * 2) * a);
}
"""
    told = [k.arguments for k in kernels(text) if isinstance(k, Kernel)]
    assert told == ["<__half>", "<unsigned char>", "<double>", "<float>", "<float>", "<float>"]


def test_macros_that_put_the_name_of_a_kernel_together_tell_of_launches() -> None:
    text = """template <int SIZE, int LENGTH, typename T> __global__ void a_kernel(T* in, int n) {}
template <int SIZE, int LENGTH, typename T> __global__ void b_kernel(T* in, int n) {}
template <int SIZE> __global__ void c_kernel() {}
#define BIND(name, num, type) \\
    void name(Tensor a) { \\
        CHECK(a, #name); \\
        const int threads = 192; \\
        const int length = threads * num; \\
        name##_kernel<threads, length><<<a.size(0), threads>>>(reinterpret_cast<type*>(a.data_ptr()), 7 * num); \\
    }
BIND(a, 1, float)
BIND(b, 4, unsigned int)
#define OTHER(name) name##_kernel
"""
    unit = read(text, "k.cu")
    a, b, c = find_kernels(unit, [unit, *expansions([unit])])
    assert isinstance(a, Kernel) and (a.arguments, a.given) == ("<192, (192), float>", ((), (7,)))
    assert isinstance(b, Kernel) and (b.arguments, b.given) == ("<192, (768), unsigned int>", ((), (28,)))
    assert a.blocks == b.blocks == ((192, 1, 1),)
    assert isinstance(c, Kernel) and c.arguments == "<128>"


def test_errors_in_a_large_file_are_placed_in_time_that_grows_with_it() -> None:
    """Errors are assigned to their parts in linear time. Counting the lines for each error took 23 s."""
    path = Path("/program/k.cu")
    text = "".join(f"struct S{n} {{\n  int a[{n} + 1];\n}};\n" for n in range(2000)) + "__global__ void k(int* a) {}\n"
    unit = read(text, str(path))
    (k,) = kernels(text)
    assert isinstance(k, Kernel)
    said = "".join(f"{path}:{3 * n + 2}:3: error: no\n" for n in range(0, 2000, 4))
    start = time.process_time()
    found = refused(Side({path: unit}, True), k, said)
    assert time.process_time() - start < 5
    assert {name for part in found for name in part.names} == {f"S{n}::a" for n in range(0, 2000, 4)}


def test_a_launch_may_write_down_some_arguments_of_a_template_and_leave_the_others_to_be_deduced() -> None:
    text = """template <int N, typename I, typename T> __global__ void k(T* in, I n) {}
template <int N, typename T = int> __global__ void l(int* in) {}
template <int N, typename I, typename T> __global__ void m(T* in, I at) { in[at % 4] = 1; }
void go(double* x, long long n) {
    if (n < 9) k<8><<<1, 64>>>(x, n);
    else k<16><<<1, 64>>>(x, n);
    l<2><<<1, 64>>>(nullptr);
    m<4><<<1, 64>>>(get(), size());
}
"""
    k, l_, m = kernels(text)
    assert isinstance(k, Kernel) and k.arguments == "<8, long long, double>"
    assert isinstance(l_, Kernel) and l_.arguments == "<2>"
    assert isinstance(m, Kernel) and m.arguments == "<4, int, float>"  # by what the kernel does with them


def test_defaults_before_a_parameter_that_has_none_are_written_down() -> None:
    text = """template <const int SIZE = 256, typename T> __global__ void k(T* in) {}
template <int A, int B = A * 2, class T, class U = T, int C = B + 1> __global__ void l(T* in, U* out) {}
void go() { l<3 + 1><<<1, 64>>>(get(), get()); }
"""
    k, l_ = kernels(text)
    assert isinstance(k, Kernel) and k.arguments == "<256, float>"
    assert isinstance(l_, Kernel) and l_.arguments == "<4, 4 * 2, float>"


def test_the_block_is_what_its_variable_was_set_to_last() -> None:
    text = """#define SIDE 8
__global__ void k() {}
__global__ void l() {}
void go() {
    dim3 grid, block(7);
    block = dim3(SIDE * 4, SIDE); k<<<grid, block>>>();
    block = dim3(SIDE); l<<<grid, block>>>();
}
"""
    k, l_ = kernels(text)
    assert isinstance(k, Kernel) and k.blocks == ((32, 8, 1),)
    assert isinstance(l_, Kernel) and l_.blocks == ((8, 1, 1),)


def test_a_block_that_conditions_define_differently_is_each_of_them() -> None:
    text = """#ifdef FAST
#define SIDE 8
#else
#define SIDE 16
#endif
__global__ void k() {}
void go() { k<<<1, dim3(SIDE, 2)>>>(); }
"""
    (k,) = kernels(text)
    assert isinstance(k, Kernel) and k.blocks == ((8, 2, 1), (16, 2, 1)) and k.is_block_known


def test_arguments_that_a_branch_tells_which_is_left_out() -> None:
    text = """template <class T> struct array { T* p; void set() { k<<<1, 32>>>(p); } };
template <class T> __global__ void k(T* a) { a[threadIdx.x] = 1; }
template <class T> __global__ void l(T* a) { a[threadIdx.x] = 1; }
#ifdef TESTING
struct pair { int a, b; };
void test() { array<pair> a; l<double><<<1, 32>>>(0); a.set(); }
#endif
"""
    k, l_ = kernels(text.replace("TESTING", "__TESTING__"))
    assert isinstance(k, Kernel) and isinstance(l_, Kernel) and (k.arguments, l_.arguments) == ("<float>", "<double>")
    for name in ("__CUDACC__", "__CUDA_ARCH__"):  # a compiler's
        (k, _) = kernels(text.replace("TESTING", name))
        assert isinstance(k, Kernel) and k.arguments == "<pair>"
    (k, _) = kernels("#define TESTING\n" + text)
    assert isinstance(k, Kernel) and k.arguments == "<pair>"


def test_macros_of_the_command_line_tell_what_is_left_out(tmp_path: Path, toolchain: Toolchain) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "struct pair { int a, b; };\ntemplate <class T> __global__ void k(T* a) { a[threadIdx.x] = T(); }\n"
        "#ifdef TESTING\nvoid test() { k<pair><<<1, SIDE * 2>>>(0); }\n#endif\n"
    )
    for defines, seen in (("TESTING", "SIDE=24"), ("<pair>", ((48, 1, 1),))), ((), ("<float>", None)):
        opened = open_trial(Program((path,), defines=defines), Asked(), toolchain)
        assert opened is not None
        ((_, k),) = opened[1]
        assert isinstance(k, Kernel) and (k.arguments, k.blocks if k.is_block_known else None) == seen


def test_numbers_and_arrays_of_the_library_are_made(tmp_path: Path, toolchain: Toolchain) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "#include <cuda/std/array>\n#include <cuda/std/complex>\nusing C = cuda::std::complex<double>;\n"
        "__global__ void k(C* out, const C* in, cuda::std::array<float, 3> w, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) out[i] = in[i] * C(w[0], w[2]) + in[n - 1 - i];\n}\n"
    )
    (said,) = try_program(Program((path,)), Asked(time_s=2, waves=(64,)), toolchain, 1)
    assert said.outcome == "same", said.text


def test_a_type_that_is_called_is_a_function_which_counts_its_calls(tmp_path: Path, toolchain: Toolchain) -> None:
    text = """template <class T, class F> __global__ void each(T* a, int n, F fn) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) fn(a[i], threadIdx.x % warpSize);
}
template <class T, class P> __global__ void some(T* a, const P is_wanted) {
    a[threadIdx.x] = is_wanted(a[threadIdx.x], T(3));
}
template <class T> __global__ void none(T* a, T fn) { a[threadIdx.x] = fn; }
void go(int* a, int n) { each<<<4, 64>>>(a, n, [] __device__ (int& x, int i) { x = i; }); }
"""
    each, some, none = kernels(text)
    assert isinstance(each, Kernel) and each.arguments == "<int, cu2port_trial::cu2port_function>"
    assert isinstance(some, Kernel) and some.arguments == "<float, cu2port_trial::cu2port_condition>"
    assert isinstance(none, Kernel) and none.arguments == "<float>"
    path = tmp_path / "k.cu"
    path.write_text(text)
    said = list(try_program(Program((path,), warp="flag"), Asked(time_s=2, waves=(64,)), toolchain, 1))
    assert [x.outcome for x in said] == ["differs", "same", "same"], [x.text for x in said]
    assert " fn[0] is " in said[0].why, said[0].text


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("dim3 block; block.x = 4; block.y = SIDE; k<<<1, block>>>();", ((4, 8, 1),)),
        ("dim3 block(16, 2); block.y = 3; k<<<1, block>>>();", ((16, 3, 1),)),
        ("dim3 block; block.y = SIDE; block.x = n <= 32 ? n : 32; k<<<n / block.x, block>>>();", ((32, 8, 1),)),
        ("dim3 block; block.x = (n > 9) ? 64 : SIDE; k<<<1, block>>>(); block.x = 2;", ((8, 1, 1), (64, 1, 1))),
        ("int t = std::min(n, 96); k<<<1, t>>>();", ((96, 1, 1),)),
        ("int t = (n < 48 ? n : 48) * 2; k<<<1, t>>>();", None),
        ("dim3 block; block.x = 4; block.y = n; k<<<1, block>>>();", None),
    ],
)
def test_blocks_that_are_set_by_axis_or_chosen(text: str, blocks: tuple[tuple[int, int, int], ...] | None) -> None:
    (k,) = kernels(f"constexpr int SIDE = 8;\n__global__ void k() {{}}\nvoid go(int n) {{ {text} }}\n")
    assert isinstance(k, Kernel) and k.is_block_known is (blocks is not None)
    assert blocks in (None, k.blocks)


def test_a_kernel_that_no_compiler_sees_is_none() -> None:
    text = "#if 0\n__global__ void old(int* a) { *a = 1; }\n#else\n__global__ void k(int* a) { *a = 2; }\n#endif\n"
    unit = read(text, "k.cu")
    assert [k.path for k in find_kernels(unit, [unit])] == ["k"]


def test_a_launch_of_another_file_gives_the_block() -> None:
    unit = read("static const int kBlock = 96;\n__global__ void k(int* a) { a[threadIdx.x] = 1; }", "k.cu")
    other = read("void go() { int size = kBlock; dim3 block(size); dim3 grid(2); k<<<grid, block>>>(0); }", "go.cu")
    (k,) = find_kernels(unit, [unit], lambda name: [other] if name == "k" else [])
    assert isinstance(k, Kernel) and k.blocks == ((96, 1, 1),)
    (k,) = find_kernels(unit, [unit])
    assert isinstance(k, Kernel) and not k.is_block_known


def test_a_directive_among_the_parameters_names_none() -> None:
    text = "__global__ void k(int n, int* flags\n#ifdef MORE\n, int* list\n#endif\n) {}\n__global__ void k() {}"
    k = next(find_kernels(unit := read(text, "k.cu"), [unit]))
    assert isinstance(k, Kernel) and k.parameters == ("n", "flags", "list")
    assert k.overload == "int n, int * flags, int * list"


def test_kernels_of_one_name_are_told_by_their_parameters() -> None:
    unit = read("__global__ void k(const int n, float* a = 0) {}\n__global__ void k(int* a) {}", "k.cu")
    assert [k.overload for k in find_kernels(unit, [unit]) if isinstance(k, Kernel)] == [
        "const int n, float * a",
        "int * a",
    ]


def test_headers_of_libraries_that_are_not_tried_are_left_out() -> None:
    text = _guarded("#include <thrust/sort.h>\n#include <vector>\nint a;\n", small=False)
    assert "thrust" not in text and text.index("absent.h") < text.index("#line 2\n") < text.index("<vector>")


def test_what_macros_declare_for_the_host_is_left_out() -> None:
    text = """#define MAKE(c) template class c<float>
#define MAKE_ALL(c) MAKE(c); MAKE(c)
#define HOST(name) void v##name(int n) { CHECK(n); }
#define LIMIT(name, n) const int name = n;
#define DEVICE(name) __device__ int name##_of(int n) { return n; }
HOST(a)
HOST(b)
LIMIT(most, 3)
DEVICE(twice)
__global__ void k(int* a) { a[0] = twice_of(most); }
MAKE_ALL(Layer);
template <typename T> void host(T n) { CHECK(n); }
template void host<int>(int);
"""
    unit = read(text, "k.cu")
    out = sliced(unit, needed([unit], {"k"}))
    assert "host" not in out
    assert "\nHOST(" not in out and "\nMAKE_ALL(Layer)" not in out
    assert "\nLIMIT(most, 3)" in out and "\nDEVICE(twice)" in out


def test_a_type_that_nothing_tells_is_an_integer_where_the_kernel_takes_it_for_one() -> None:
    (found,) = kernels(
        "template <typename E> __device__ E low(E x) { E y = x; return y & 7; }\n"
        "template <typename A, typename B, typename C, typename D, typename E, typename G>\n"
        "__global__ void gather(const A* at, const B* bits, const C* mask, D* out, E* low_bits, G* all) {\n"
        "    A mine = threadIdx.x;\n    out[at[mine]] *= (bits[mine] >> 3) + (1 << mask[mine]);\n"
        "    low_bits[0] = low<E>(low_bits[1]);\n    atomicOr(&all[0], 1);\n}\n"
        "template <typename P, typename Q, typename R, typename S, typename T, typename U>\n"
        "void run(P* a, Q* b, R* c, S* d, T* e, U* f) { gather<P, Q, R, S, T, U><<<1, 32>>>(a, b, c, d, e, f); }\n"
    )
    assert isinstance(found, Kernel) and found.arguments == "<int, int, int, float, int, int>"


def test_a_macro_around_a_launch_tells_template_arguments() -> None:
    text = """#define BY_SIZE(N, NAME, ...) [&] { \\
    if (N == 96) { constexpr int NAME = 96; return __VA_ARGS__(); } \\
    if (N == 64) { constexpr int NAME = 64; return __VA_ARGS__(); } }()
#define BY_TYPE(T, LEVEL, ...) \\
    if (T) { typedef double scalar_##LEVEL; __VA_ARGS__ } else { typedef float scalar_##LEVEL; }
template <typename T, int N> __global__ void k(T* a) { a[threadIdx.x] = N; }
template <typename IdType> void go(int n) {
    BY_TYPE(true, 0, { BY_SIZE(n, SIZE, [&] { k<scalar_0, SIZE><<<1, 32>>>(0); }); })
}
"""
    unit = read(text, "k.cu")
    (k,) = find_kernels(unit, [unit])
    assert isinstance(k, Kernel) and k.arguments == "<double, 96>", k
    unit = read(text.replace("k<scalar_0,", "k<IdType,"), "k.cu")
    (k,) = find_kernels(unit, [unit])
    assert isinstance(k, Kernel) and k.arguments == "<int, 96>", k


def test_a_slice_keeps_what_the_kernel_names_and_all_lines() -> None:
    unit = read(SUM, "k.cu")
    seen = needed([unit], {"items"})
    text = sliced(unit, seen)
    assert text.count("\n") == SUM.count("\n") and "#include <cublas_v2.h>" in text
    kept = {w for w in ("struct Item", "factor[8]", "int hits", "void items") if w in text}
    assert len(kept) == 4
    assert not [w for w in ("cublasHandle_t", "warp_sum", "void sum", "main") if w in text]


def test_a_template_is_whole_where_a_directive_lies_in_it() -> None:
    text = """template <class T>
#ifdef __CUDACC__
__host__ __device__
#endif
T least(T a, T b) { return a < b ? a : b; }
__global__ void k() {}
"""
    unit = read(text, "k.cu")
    assert "template" not in sliced(unit, needed([unit], {"k"}))


def test_functions_whose_head_is_a_macro_with_arguments_are_whole() -> None:
    text = """#define METHOD(T) template <class A> __device__ T Stage<A>::
template <class A> struct Stage { __device__ int wait(int& n, bool all); __device__ int post(const int n); A* a; };
METHOD(int) wait(int& n, bool all) {
    if (n) return 1;
    return 2;
}
METHOD(int) post(const int n) { return n; }
__global__ void plain(int* a) { a[0] = 1; }
__global__ void k(Stage<int> s, int n) { s.a[0] = s.wait(n, true); }
"""
    unit = read(text, "k.cu")
    assert [e.names & {"wait", "post"} for e in entities(unit)] == [set(), {"wait"}, {"post"}, set(), set()]
    assert not re.search(r"METHOD.int.|return", sliced(unit, needed([unit], {"plain"})))
    out = sliced(unit, needed([unit], {"k"}))
    assert "METHOD(int) wait(int& n, bool all) {" in out and "return 2" in out


def test_a_host_function_with_two_heads_is_left_out_whole() -> None:
    head = "inline void safe(hipError_t e, int line) {"
    unit = read(f"#ifdef A\n{head}\n#else\n{head}\n#endif\n    exit(1);\n}}\n__global__ void k() {{}}\n", "k.h")
    out = sliced(unit, needed([unit], {"k"}))
    assert out.split() == "#ifdef A #else #endif __global__ void k() {}".split()


def test_a_slice_keeps_templates_operators_and_enumerators() -> None:
    text = """enum { A, B };
enum Kind { RED, BLUE };
struct V { float x; };
struct W { float x; };
__device__ V operator+(V a, V b) { return a; }
__device__ W operator+(W a, W b) { return a; }
template <typename T>
__device__ T twice(T v) { return v; }
extern "C" __global__ void k(V* v) { v[0] = twice(v[A]); Kind kind = RED; }
extern "C" void other() {
#pragma unroll
    for (;;) {}
}
"""
    unit = read(text, "k.cu")
    out = sliced(unit, needed([unit], {"k"}))
    for kept in (
        "enum { A, B };",
        "enum Kind { RED, BLUE };",
        "V operator+",
        "template <typename T>\n__device__ T twice",
    ):
        assert kept in out, kept
    assert "W" not in out and out.count('extern "C"') == 1 and "#pragma" not in out


def test_a_slice_leaves_out_what_only_the_host_uses() -> None:
    text = """#define KERNEL(name, op) __device__ float name##_of(float a, float b) { return a op b; }
namespace mine { struct S { int x; }; }
using namespace mine;
using namespace std;
namespace py = pybind11;
using namespace torch;
KERNEL(sum, +)
__global__ void forward(S* s) { s->x = sum_of(1, 2); }
void forward(int a, int b) { forward<<<1, 32>>>(0); }
TORCH_LIBRARY(a, m) { m.def("forward", &forward); host<<<1, 1>>>(); }
EMPTY_MODULE(a);
"""
    unit = read(text, "k.cu")
    out = sliced(unit, needed([unit], {"forward"}))
    for kept in (
        "struct S",
        "using namespace mine;",
        "using namespace std;",
        "KERNEL(sum, +)",
        "__global__ void forward",
    ):
        assert kept in out, kept
    for gone in ("pybind11", "torch", "<<<", "TORCH_LIBRARY", "EMPTY_MODULE", "int b"):
        assert gone not in out, gone


def test_a_function_is_of_the_gpu_by_a_macro_of_another_header() -> None:
    texts = {
        Path(
            "hd.h"
        ): "#ifdef __CUDACC__\n#define HD __host__ __device__\n#else\n#define HD\n#endif\n#define FN HD inline\n",
        Path(
            "own.h"
        ): '#include "hd.h"\nHD inline int twice(int n) { return 2 * n; }\nFN int of_host(int n) { return n; }\n'
        "int half(int n) { return n / 2; }\n",
        Path("k.cu"): '#include "own.h"\n__global__ void k(int* a) { a[0] = twice(of_host(half(a[0]))); }\n',
    }
    units = Side.of({path: Text(text, ()) for path, text in texts.items()}, cuda=True).units
    out = sliced(units[Path("own.h")], needed(units.values(), {"k"}))
    assert "HD inline int twice" in out and "FN int of_host" in out and "half" not in out


def test_conditions_are_counted_and_nothing_else() -> None:
    text = """__device__ constexpr int c(int x) { if (x) return 1; return 0; }
__global__ void k(int n) {
    for (int i = 0; i < n; ++i) if (i > 2) n--;
    while (n > 3) n--;
    do n++; while (n < 1);
    for (;;) break;
    if constexpr (sizeof(int) == 4) n = 0;
    if (int m = n) n = m;
    if (n) ; else if (n > 4) n = 1;
    if (n > 5 && n < 9 || n == 3) n = n > 7 ? 1 : 2;
    float&& x = f(n || 1);
}
"""
    out, lines = counted(read(text, "k.cu"), 5)
    near = re.compile(r"CU2PORT_NEAR\((\d+), [^,]+, [^,]+, ")
    assert lines == [3, 3, 4, 5, 9, 9, 10, 10, 10, 10, 11] and near.search(out)
    assert "CU2PORT_NEAR(5, ::cu2port_trial::cu2port_nearness((i), (n)), i < n)" in out
    out = near.sub(r"CU2PORT_BRANCH(\1, ", out)
    assert "CU2PORT_BRANCH(10, n > 4)" in out and out.count("BRANCH(") == 11
    assert "if (CU2PORT_BRANCH(11, CU2PORT_BRANCH(12, CU2PORT_BRANCH(13, n > 5) && n < 9) || n == 3))" in out
    assert "n = CU2PORT_BRANCH(14, n > 7) ? 1 : 2" in out and "float&& x = f(CU2PORT_BRANCH(15, n) || 1)" in out


def test_how_near_a_condition_came_is_told_of_comparisons_that_may_be_evaluated_twice() -> None:
    def told(condition: str) -> str:
        unit = read(f"__device__ void f() {{ {condition}; }}", "k.cu")
        f = unit.functions[0]
        return nearness(unit, f.body[0] + 1, f.body[1] - 1).replace("::cu2port_trial::cu2port_nearness", "near")

    assert told("(i +\n1) < n[2].x") == "near(((i + 1)), (n[2].x))"
    assert told("!(a && b > 2)") == "((a) ? near((b), (2)) : 0u)"
    assert told("a == 1 || b >> 1 != (int)c") == "((a == 1) ? 0u : near((b >> 1), ((int)c)))"
    assert [told(x) for x in ("f(a) < 1", "i++ < n", "(a = b) > 2", "p", "a < 1 && p", "*p++ == 0")] == [""] * 6


NARROW = """
__global__ void interior(float* a, const float* b, int first, int last, int row, int last_row, int width) {
    int i = first + 2 + blockIdx.x * blockDim.x + threadIdx.x, j = row + 2 + blockIdx.y * blockDim.y + threadIdx.y;
    if (last - first > 40 && last - first < 60 && last_row == row + 37) {
        if (i <= last - 2 && j <= last_row - 2 && width >= last - first + 1)
            a[i - first + (j - row) * (long)width] = b[i - first] * 2;
        if (first == 12345) a[0] = 3;
    }
}
"""


@pytest.mark.slow
def test_arguments_are_searched_for_by_how_near_comparisons_came(tried: Try) -> None:
    (verdict,) = tried(NARROW, waves=(64,)).values()
    assert (verdict.outcome, verdict.branches) == ("same", 1.0), verdict.text


def test_template_arguments_of_a_class_are_told_by_uses_of_it() -> None:
    text = """template <class T, unsigned D> struct Op { void run(T* a); };
template <unsigned D, class T> __global__ void k(T* a) { a[0] = D; }
template <class T> __global__ void j(T* a) { a[0] = 1; }
template <class T, unsigned D> void Op<T, D>::run(T* a) { k<D, T><<<1, 64>>>(a); }
template <class T> class MARK In : Base { void run(T* a) { j<T><<<1, 64>>>(a); } };
template <class T> struct In<T*> {};
template class Op<double, 2>;
template class Op<float, 3>;
In<short> x;
"""
    unit = read(text, "k.cu")
    found = [k.arguments for k in find_kernels(unit, [unit]) if isinstance(k, Kernel)]
    assert found == ["<2, double>", "<short>"]


def test_what_programs_print_is_read() -> None:
    text = (
        "case 0 new\t64\t1\ncase 1 failed\ttime limit\ncase 2 same\nnoise\nbranches 314\nwriter\t(1,0,0)\t(3,1,0)\t67\n"
    )
    said = read_output(text)
    assert "thread (3,1,0) of block (1,0,0) wrote it, lane 3 of" in written_by(said, 64)
    assert said.numbers("new", "same") == [0, 2] and most_common_failure(said.cases) == "time limit"
    assert said.coverage(3) == 0.75 and said.missed(["a:1", "a:2", "a:3"]) == "a:2"


def test_headers_are_tried_with_the_first_unit_that_includes_them(tmp_path: Path) -> None:
    for name, text in {
        "a.cu": '#include "k.cuh"\n', "b.cu": '#include "k.cuh"\n', "k.cuh": "__global__ void k() {}\n",
        "c.cpp": "int x;\n", "lonely.cuh": "__global__ void l() {}\n",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
    found = [p.units[0].name for p in find_programs(tmp_path, Program(()))]
    assert found == ["a.cu", "lonely.cuh"]


def test_a_header_that_is_included_in_a_dead_branch_alone_is_a_program(tmp_path: Path) -> None:
    (tmp_path / "k.cuh").write_text("__global__ void k() {}\n")
    (tmp_path / "l.cuh").write_text("__global__ void l() {}\n")
    (tmp_path / "a.cu").write_text(
        '#if A\n#if 0  // old\n#ifdef B\n#endif\n#include "k.cuh"\n#else\n#include "l.cuh"\n#endif\n#endif\n'
    )
    assert [p.units[0].name for p in find_programs(tmp_path, Program(()))] == ["a.cu", "k.cuh"]


def test_units_that_others_include_come_last_and_folders_are_told_by_the_tree(tmp_path: Path) -> None:
    for name, text in {
        "kernels/k.cu": "__global__ void k(number* a) {}\n",
        "main.cu": '#include "sizes/n.h"\n#include "kernels/k.cu"\n', "include/sizes/n.h": "typedef int number;\n",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (found,) = find_programs(tmp_path, Program(()))
    assert found.units == (tmp_path / "main.cu",) and found.include_dirs == (tmp_path / "include",)


def test_reports_and_exit_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cu2port.cli import trial

    (tmp_path / "k.cu").write_text("__global__ void k() {}\n")
    monkeypatch.chdir(tmp_path)

    def says(*verdicts: Verdict) -> tuple[int, str]:
        monkeypatch.setattr(trial, "try_program", lambda *_: iter(verdicts))
        done = CliRunner().invoke(cli, ["trial", "k.cu", "--json", "out.json", "--junit", "out.xml"])
        return done.exit_code, done.output

    good = Verdict("k", "k.cu", 1, "same", cases=12, branches=1.0)
    bad = Verdict("l<&>", "k.cu", 2, "differs", "wave 64: a[0] is 1, in CUDA 2")
    code, text = says(good, bad, Verdict("m", "k.cu", 3, "could not", "inline PTX"))
    assert code == 1 and "k.cu:2: l<&>: differs: wave 64" in text and "1 same, 1 differs, 1 could not" in text
    assert [v["outcome"] for v in json.loads((tmp_path / "out.json").read_text())] == ["same", "differs", "could not"]
    junit = (tmp_path / "out.xml").read_text()
    assert 'tests="3" failures="1" skipped="1"' in junit and 'name="l&lt;&amp;&gt;"' in junit
    assert says(good)[0] == 0
    assert says()[0] == 2
    assert CliRunner().invoke(cli, ["trial", "none.cu"]).exit_code == 2
    assert Text("x").hip == "x"


RACE = "if (n % 2) { s[threadIdx.x] = n + 1; n -= s[127 - threadIdx.x] == n + 3; __syncthreads(); } "


@pytest.mark.slow
@pytest.mark.parametrize("own", ["", RACE], ids=["clean", "CUDA races in other launches"])
def test_a_race_that_changes_no_result_is_a_difference(own: str, tmp_path: Path, toolchain: Toolchain) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        """__global__ void k(int* out, int n) {
    __shared__ int s[128]; OWN
    s[threadIdx.x] = n;
    __syncthreads();
    int a = s[127 - threadIdx.x];
    __syncthreads(); // the second
    s[threadIdx.x] = n;
    out[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x] + a;
}
void go(int* a) { k<<<3, 128>>>(a, 9); }
""".replace("OWN", own)
    )
    opened = open_trial(Program((path,)), Asked(time_s=20.0, waves=(32,)), toolchain)
    assert opened is not None and isinstance(opened[1][0][1], Kernel)
    trial, kernel = opened[0], opened[1][0][1]
    without = {
        p: read(u.text.replace("__syncthreads(); // the second", ""), u.path) for p, u in trial.hip.units.items()
    }
    with work_folder() as folder:
        recorded = trial.record(kernel, folder)
        assert isinstance(recorded, Recorded), recorded
        assert trial.compare(recorded, trial.hip).outcome == "same"
        said = trial.compare(recorded, replace(trial.hip, units=without))
        less = {p: read(u.text.replace("s[128]", "s[64]"), u.path) for p, u in trial.hip.units.items()}
        leaves = trial.compare(recorded, replace(trial.hip, units=less))
    assert leaves.outcome == "differs" and "leaves its memory where CUDA's kernel does not" in leaves.why, leaves
    assert said.outcome == "differs" and "a race that CUDA's kernel does not have" in said.why, said
    assert "k.cu:6, k.cu:8 as converted" in said.why  # behind the line that includes HIP's header


LEAVES = {
    "behind it": "s[64 + threadIdx.x] = 1;",
    "inline PTX, behind it": """{
        unsigned at = (unsigned)__cvta_generic_to_shared(&s[64 + threadIdx.x]);
        asm volatile("st.shared.u32 [%0], %1;" : : "r"(at), "r"(1) : "memory");
    }""",
}


@pytest.mark.slow
@pytest.mark.parametrize("statement", LEAVES.values(), ids=LEAVES.keys())
def test_a_launch_that_leaves_its_shared_memory_is_not_compared(
    statement: str, tmp_path: Path, toolchain: Toolchain
) -> None:
    """What lies behind it differs between programs; it is asked only where something differs."""
    path = tmp_path / "k.cu"
    path.write_text(
        """__global__ void k(int* out, int n) {
    extern __shared__ int s[];
    s[threadIdx.x] = n;
    __syncthreads();
    if (n > 40) STATEMENT
    out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
void go(int* a) { k<<<3, 64, 256>>>(a, 9); }
""".replace("STATEMENT", statement)
    )
    opened = open_trial(Program((path,)), Asked(time_s=20.0, waves=(32,)), toolchain)
    assert opened is not None and isinstance(opened[1][0][1], Kernel)
    trial, kernel = opened[0], opened[1][0][1]
    other = {p: read(u.text.replace("63 - threadIdx.x]", "0] + (n > 40)"), u.path) for p, u in trial.hip.units.items()}
    with work_folder() as folder:
        recorded = trial.record(kernel, folder)
        assert isinstance(recorded, Recorded), recorded
        steady = recorded.said.numbers("same")
        leaving = trial._meaningless(recorded, steady)
        assert 3 < len(leaving) < len(steady) - 3
        said = trial.compare(recorded, replace(trial.hip, units=other))
    assert said.outcome == "same" and said.cases == len(steady) - len(leaving), said


@pytest.mark.slow
def test_what_is_written_past_the_dynamic_shared_memory_that_cuda_uses_is_a_difference(
    tmp_path: Path, toolchain: Toolchain
) -> None:
    """A launch has more of it than the kernel asks for, so that it is no index past it."""
    path = tmp_path / "k.cu"
    path.write_text("""__global__ void k(int* out, int n) {
    extern __shared__ int s[];
    s[threadIdx.x] = n;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
void go(int* a, int bytes) { k<<<3, 64, bytes>>>(a, 9); }
""")
    opened = open_trial(Program((path,)), Asked(time_s=20.0, waves=(32,)), toolchain)
    assert opened is not None and isinstance(opened[1][0][1], Kernel)
    trial, kernel = opened[0], opened[1][0][1]
    other = {
        p: read(u.text.replace("] = n;", "] = s[threadIdx.x + 64] = n;"), u.path) for p, u in trial.hip.units.items()
    }
    with work_folder() as folder:
        recorded = trial.record(kernel, folder)
        assert isinstance(recorded, Recorded), recorded
        assert trial.compare(recorded, trial.hip).outcome == "same"
        said = trial.compare(recorded, replace(trial.hip, units=other))
    assert said.why == "it writes 512 bytes of its dynamic shared memory, CUDA's kernel 256", said


@pytest.mark.slow
def test_an_access_far_from_shared_memory_ends_a_launch_and_is_named(tried: Try) -> None:
    """Whatever the simulator has there."""
    text = """__global__ void behind(float* out) {
    extern __shared__ float table[];
    float* far = table + (1 << 15) + (threadIdx.x << 24);
    *far = 1;
    out[threadIdx.x] = *far;
}
__global__ void before(float* out) {
    __shared__ float table[64];
    float* far = table - 5000;
    far[threadIdx.x] = 1;
    out[threadIdx.x] = far[threadIdx.x];
}
void go(float* a) { behind<<<2, 64, 256>>>(a); before<<<1, 64>>>(a); }
"""
    said = tried(text, waves=(64,))
    assert said["behind"].why == "no arguments found: memory access far behind its shared memory in a kernel"
    assert said["before"].why == "no arguments found: memory access before its shared memory in a kernel"


PTX = """__device__ unsigned low(unsigned a, unsigned b) {
    unsigned r;
    asm("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
__global__ void count(const unsigned* in, unsigned* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned r, m, h = low(in[i] << 28, in[i + 1] << 28);
    asm("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(in[i]), "r"(h));
    asm("{ .reg .pred p; setp.gt.u32 p, %[v], 8; vote.sync.ballot.b32 %[m], p, 0xffffffff; }"
        : [m] "=r"(m) : [v] "r"(in[i]));
    asm("popc.b32 %0, %0;" : "+r"(m));
    out[i] = r ^ m;
}
__global__ void through(const float* in, float* out) {
    __shared__ float s[256];
    unsigned at = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    float v;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(in + threadIdx.x + blockIdx.x * 256));
    asm volatile("st.shared.f32 [%0], %1;" : : "r"(at), "f"(v) : "memory");
    asm volatile("bar.sync 0;");
    out[threadIdx.x + blockIdx.x * 256] = s[255 - threadIdx.x];
}
__global__ void ends(int* a) {
    if (a[threadIdx.x] > 3) asm("exit;");
    a[threadIdx.x] = 1;
}
void go() { through<<<1, 256>>>(0, 0); }
"""


@pytest.mark.slow
def test_the_interpreter_runs_ptx_of_the_cuda_side(tried: Try, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a fault of the converter's C++ for PTX is on one side alone."""
    said = tried(PTX.replace("addc", "add"), waves=(64,), time_s=5.0)
    assert {k: v.outcome for k, v in said.items()} == {"count": "same", "through": "same", "ends": "could not"}, said
    assert said["ends"].why == "`exit`: exit within inline PTX"
    spelled = replace(ops.POPC, spelling="cu2port::ptx::popc({0} >> 1)")
    monkeypatch.setattr(isa_integer, "popc", lambda a: Value(spelled, U32, (a,)))
    faulty = tried(PTX.replace("addc", "add"), waves=(64,), kernels=frozenset({"count"}))["count"]
    assert faulty.outcome == "differs" and "out[" in faulty.why, faulty.text


def test_what_a_call_of_the_interpreter_runs() -> None:
    bodies: list[Body] = []
    given = PTX[: PTX.index("__global__ void ends")]
    text = with_calls(read(given, "k.cu"), frozenset(), bodies)
    assert "cu2port_ptx(0, cu2port_trial::cu2port_out<'r'>(r), cu2port_trial::cu2port_in<'r'>(a), " in text
    assert "cu2port_ptx_sync(2, cu2port_trial::cu2port_out<'r'>(m)" in text and "__syncthreads();" in text
    assert "cu2port_ptx_memory(" in text and text.count("\n") == given.count("\n")
    assert [b.has_carry for b in bodies[:3]] == [True, True, False] and bodies[3].is_pure


@pytest.mark.slow
def test_a_wrong_kernel_ends_at_the_first_wave_size_and_what_is_built_stays(
    tmp_path: Path, toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A difference at 32 lanes needs no program for 64, and the same text is not compiled again."""
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int* a) { a[threadIdx.x] += 3; }\nvoid go(int* a) { k<<<1, 64>>>(a); }\n")
    opened = open_trial(Program((path,)), Asked(time_s=2.0), toolchain)
    assert opened is not None and isinstance(opened[1][0][1], Kernel)
    trial, kernel = opened[0], opened[1][0][1]
    wrong = replace(
        trial.hip, units={p: read(u.text.replace("+= 3", "+= 4"), u.path) for p, u in trial.hip.units.items()}
    )
    built: list[str] = []
    call = Toolchain.call

    def seen(self: Toolchain, arguments: Sequence[str], cwd: Path | None = None) -> None:
        if "-c" in arguments:
            built.append(Path(arguments[-1]).stem)
        call(self, arguments, cwd)

    with work_folder() as folder:
        recorded = trial.record(kernel, folder)
        assert isinstance(recorded, Recorded), recorded
        monkeypatch.setattr(Toolchain, "call", seen)
        said = trial.compare(recorded, wrong)
        assert said.outcome == "differs" and said.why.startswith("wave 32"), said
        assert built == ["hip-32", "cuda-32-watched"]
        assert trial.converted(recorded, wrong, 32) == folder / "hip-32"
        assert built == ["hip-32", "cuda-32-watched"]
        assert trial.compare(recorded, trial.hip).outcome == "same"
    assert built[2:] == ["hip-32", "hip-64"]


def test_a_difference_beside_launches_that_say_nothing_ends_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of many launches said nothing, and was asked for again and again while another one differed."""
    differs = "differs\t64\t(1,1,1)\t(64,1,1)\t1\ta[0]\t1\t2\t0\t4"
    said = read_output("".join(f"case {n} {differs}\n" for n in (2, 3, 300, 301)))
    recorded = Recorded(
        Kernel("k", "k", 1, (), "", "", (), True, 0), tmp_path, Side({}, True), {}, Hints(1, ()), frozenset(),
        read_output("case 300 more\ncase 301 more\n"), 1.0, (),
    )  # fmt: skip
    asked: list[Sequence[int]] = []

    def meaningless(self: Trial, recorded: Recorded, cases: Sequence[int]) -> dict[int, str]:
        asked.append(cases)
        assert len(asked) < 4
        return {n: "its own race" for n in cases if n in (2, 300)}

    monkeypatch.setattr(Trial, "_meaningless", meaningless)
    monkeypatch.setattr(Trial, "_in_another_order", lambda *rest: frozenset())
    monkeypatch.setattr(Trial, "_call", lambda *rest: said)
    trial = Trial(Program((tmp_path,)), Side({}, True), Side({}, False), Asked(), Toolchain(("c++",), ""), Lock())
    runs, none, fault = trial._at_wave(recorded, tmp_path, 32, [2, 3])
    assert fault.startswith("wave 32, <<<(1,1,1), (64,1,1)>>>: a[0] is 2, in CUDA 1") and none.keys() == {2, 300}
    assert [[*x] for x in asked] == [[2], [300, 301, 3], [3]] and runs["wave 32"].numbers("differs") == [3, 301]


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_signal_to_end_ends_what_runs_for_a_trial(tmp_path: Path, toolchain: Toolchain) -> None:
    """Neither the compiler of the kernel at hand nor those of the kernels that wait for their turn."""
    kernels = "".join(f"__global__ void k{n}(int* out) {{ out[threadIdx.x] = {n}; }}\n" for n in range(6))
    (tmp_path / "a.cu").write_text(kernels)
    real = toolchain.command[0]
    script = f"#!{sys.executable}\nimport os, sys, time\n"
    script += f"if '--version' in sys.argv:\n    os.execvp({real!r}, [{real!r}, '--version'])\n"
    script += "if '-c' in sys.argv and any('/cuda/' in w for w in sys.argv):\n"
    script += f"    open({str(tmp_path / 'pid')!r}, 'a').write(f'{{os.getpid()}}\\n')\n    time.sleep(60)\n"
    script += "open(sys.argv[sys.argv.index('-o') + 1], 'w').close()\n"
    compiler = tmp_path / "compiler"
    compiler.write_text(script)
    compiler.chmod(0o755)
    words = [sys.executable, "-m", "cu2port", "trial", str(tmp_path / "a.cu"), "--compiler", str(compiler), "-j", "1"]
    started = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (tmp_path / "pid").exists() and started.poll() is None:
        time.sleep(0.01)
    time.sleep(0.2)
    started.send_signal(signal.SIGTERM)
    assert started.wait(timeout=20) == 143
    (pid,) = (tmp_path / "pid").read_text().split()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


POWERS = """#include <cuda_runtime.h>
__global__ void far(const float* in, int* out) { out[threadIdx.x] = pow(in[threadIdx.x], 12) < 1e100; }
"""


@pytest.mark.slow
def test_powers_of_floats_are_doubles(tried: Try) -> None:
    """CUDA's `pow(float, int)` holds what a float does not."""
    assert tried(POWERS)["far"].outcome == "same"


FLOATS_OF_EIGHT_BITS = """#include <cuda_fp8.h>
__global__ void pack(const float* in, __nv_fp8_e4m3* out) { out[threadIdx.x] = __nv_fp8_e4m3(in[threadIdx.x] * 0.5f); }
__global__ void unpack(const __nv_fp8x2_e5m2* a, float2* b) { b[threadIdx.x] = static_cast<float2>(a[threadIdx.x]); }
"""


@pytest.mark.slow
def test_floats_of_eight_bits_are_tried(tried: Try) -> None:
    """Their types are in a header of ours on both sides."""
    verdicts = tried(FLOATS_OF_EIGHT_BITS)
    assert {name: v.outcome for name, v in verdicts.items()} == {"pack": "same", "unpack": "same"}


def test_what_a_macro_of_another_file_begins_is_one_whole() -> None:
    """As Google's Benchmark has them; kernels do not need them, and the header may not be there."""
    unit = read(
        "BENCH_F(A, b)(bench::State& s) {\n  for (auto _ : s) {}\n}\n"
        "BENCH(f)->Arg(8)->Args({1, 2})->Unit(bench::kMs);\nint a;\n",
        "k.cu",
    )
    assert [(e.names, e.stray, unit.t[e.stop - 1]) for e in entities(unit)] == [
        (frozenset({"BENCH_F"}), True, "}"),
        (frozenset({"BENCH"}), True, ";"),
        (frozenset({"a"}), False, ";"),
    ]


def test_a_macro_of_another_file_declares_what_stands_by_itself() -> None:
    unit = read("WRAP(f, g)\n\nint a;\nSIDE(x)\nint b() { return 1; }\nWRAP(k, n)\n", "k.cu")
    assert [(e.names, e.stray) for e in entities(unit)] == [
        (frozenset({"WRAP"}), True),
        (frozenset({"a"}), False),
        (frozenset({"b()"}), False),
        (frozenset({"WRAP"}), True),
    ]


@pytest.mark.slow
def test_what_wraps_a_kernel_by_a_macro_of_a_header_is_left_out(tmp_path: Path, toolchain: Toolchain) -> None:
    """The macro declares a class that calls a member which is for the host, and so was left out."""
    (tmp_path / "wrap.h").write_text(
        "#define WRAP(f, name) struct name { Wrapped<decltype(f)> w{f}; void run() { w.run(); } };\n"
        "template <class F> struct Wrapped {\n  F* f;\n  Wrapped(F* g) : f(g) {}\n"
        "  void run() { launched(f, gone()); }\n};\n"
    )
    (tmp_path / "k.cu").write_text(
        '#include "wrap.h"\n__global__ void k(int* a) { a[threadIdx.x] = 1; }\nWRAP(k, k_t)\n'
    )
    program = Program((tmp_path / "k.cu",))
    (said,) = try_program(program, Asked(time_s=20.0, waves=(64,)), toolchain, 1)
    assert said.outcome == "same", said.text


@pytest.mark.slow
def test_functions_that_launch_kernels_are_left_out_where_they_are_not_called(tried: Try) -> None:
    text = """__global__ void fill(int* a) { a[threadIdx.x] = 0; }
template <class T> struct Row {
    T* at;
    __host__ __device__ void clear() { fill<<<1, 32>>>(at); }
    __device__ T first() const { return at[0]; }
};
__global__ void k(Row<int> r, int* out) { out[threadIdx.x] = r.first(); }
__device__ void again(int* a) { fill<<<1, 32>>>(a); }
__global__ void launches(int* a) { again(a); }
"""
    said = tried(text, waves=(64,))
    assert said["k"].outcome == "same", said["k"].text
    assert said["launches"].why == "launches from kernels"


def test_directives_that_choose_no_members_hide_none() -> None:
    """In the body of a function, and around one; around a member nobody can say what there is."""
    text = (
        "struct A {\n  float a;\n  void f() {\n#ifdef X\n    a = 1;\n#endif\n  }\n#if Y\n  int g();\n#endif\n"
        "  int b;\n};\n"
        'struct B {\n  int a;\n#if Y\n  int b;\n#endif\n};\nstruct C {\n  int a;\n#include "more.h"\n};\n'
    )
    (told,) = members(read(text, "k.cu"), frozenset({"A", "B", "C"}))
    assert "cu2port_members<A>" in told and "cu2port_class, b)" in told


def test_members_of_a_specialisation_are_not_those_of_its_template() -> None:
    text = """template <class T> struct A { int x; };
template <> struct A<float> { float y; };
#ifdef BYTES
enum class byte : unsigned char {};
#else
struct byte { unsigned char v; };
#endif
struct B { int z; };
"""
    told = list(members(read(text, "k.cu"), frozenset({"A", "byte", "B"})))
    assert [x.partition("cu2port_members<")[2].partition(">")[0] for x in told] == ["A<T", "B"]


@pytest.mark.slow
def test_what_a_header_of_the_system_needs_of_the_program_is_kept(tmp_path: Path, toolchain: Toolchain) -> None:
    """A header of the project stands for one of the system's by its guard, as GLEW's does for OpenGL's."""
    system = tmp_path / "system"
    system.mkdir()
    (system / "glu.h").write_text("extern GLint cu2port_test_glu(GLint);\n")
    (tmp_path / "glew.h").write_text("typedef int GLint;\n")
    (tmp_path / "k.cu").write_text(
        '#include "glew.h"\n#include <glu.h>\n__global__ void k(int* a) { a[threadIdx.x] = 1; }\n'
    )
    program = Program((tmp_path / "k.cu",), flags=("-isystem", str(system)))
    (said,) = try_program(program, Asked(time_s=20.0, waves=(64,)), toolchain, 1)
    assert said.outcome == "same", said.text


@pytest.mark.slow
def test_what_pointers_point_to_need_not_be_copied_as_bytes(tried: Try) -> None:
    text = """struct Row { float* at; int n; __device__ Row(const Row& o) : at(o.at), n(0) {} __device__ ~Row() {} };
struct Odd { int n; virtual int f() { return n; } };
__global__ void k(const Row* rows, int* out) { out[threadIdx.x] = rows[threadIdx.x].n + (rows[0].at[2] > 0); }
__global__ void by_value(Row row, int* out) { out[threadIdx.x] = row.n; }
__global__ void hidden(const Odd* odd, int* out) { out[threadIdx.x] = odd[threadIdx.x].n; }
"""
    said = tried(text, waves=(64,))
    assert said["k"].outcome == "same", said["k"].text
    assert said["by_value"].why == "parameters: a class that cannot be copied as bytes"
    assert said["hidden"].why == "parameters: a class whose members are not known"


@pytest.mark.slow
def test_vectors_of_unions_and_words_of_another_compiler(tried: Try) -> None:
    """GLM's vectors have a union for each element; headers for Windows say `__declspec`."""
    text = """#define EXPORT __declspec(dllexport)
template <class T> struct vec {
    using value_type = T;
    union { T x, r; }; union { T y, g; };
    __host__ __device__ static int length() { return 2; }
    __host__ __device__ const T& operator[](int i) const { return i ? y : x; }
};
template <class T> struct mat {
    using value_type = T;
    vec<T> columns[2];
    static constexpr int length() { return 2; }
    __host__ __device__ const vec<T>& operator[](int i) const { return columns[i]; }
};
struct Space { vec<float> down; float step; };
EXPORT void launch(float* out);
__forceinline __device__ float twice(float x) { return x + x; }
__global__ void k(Space s, const vec<float>* in, mat<float> m, float* out) {
    out[threadIdx.x] = twice(in[threadIdx.x].y * s.down.x) + s.step * m[1].y;
}
"""
    said = tried(text, waves=(64,))["k"]
    assert said.outcome == "same", said.text


@pytest.mark.slow
def test_a_kernel_that_leaves_nothing_is_not_the_same(tried: Try) -> None:
    """What it prints is not compared."""
    text = """#include <cstdio>
__global__ void prints(const int* in) {
    unsigned bits = __ballot_sync(0xffffffffu, in[threadIdx.x] > 0);
    if (threadIdx.x % 32 == 0) printf("%d\\n", __popc(bits));
}
"""
    assert tried(text, waves=(64,))["prints"].why == "it changes nothing in memory"


@pytest.mark.slow
def test_a_function_that_nobody_defines_fails_where_it_is_called(tried: Try) -> None:
    text = """__device__ int outside(int x);
__global__ void k(int* a, unsigned n) {
    unsigned i = threadIdx.x, s = 0;
    if (i > 3) s += 1;
    if (i % 2) s += 2;
    if (i % 4 > 1) s += 3;
    if (i % 8 > 3) s += 4;
    if (i > 2048) s = outside(n);
    a[i] = s;
}
__global__ void calls(int* a) { a[threadIdx.x] = outside(a[threadIdx.x]); }
"""
    said = tried(text, waves=(64,))
    assert said["k"].outcome == "same", said["k"].text
    assert "no case ran" not in said["calls"].why
