"""Values flow through calls, recursion, templates, macros, wrappers and headers, down to the literals they count."""

from __future__ import annotations

from pathlib import Path

import pytest

from cu2port.catalog import load_catalog
from cu2port.facts.unit import Unit
from cu2port.warp.classify import classify

THROUGH = {
    "call": """__device__ void put(int* x, int t) { x[t / 32] = 1; }
__global__ void k(int* x) { put(x, threadIdx.x); }""",
    "two calls": """__device__ int part(int q) { return q >> 5; }
__device__ void put(int* x, int t) { x[part(t)] = 1; }
__global__ void k(int* x) { put(x, threadIdx.x); }""",
    "result": """__device__ int mine() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void k(int* x) { int lane = mine() % 32; x[lane] = 1; }""",
    "recursion": """__device__ int down(int q, int n) { if (n == 0) return q % 32; return down(q, n - 1); }
__global__ void k(int* x) { int lane = down(threadIdx.x, 3); x[lane] = 1; }""",
    "mutual recursion": """__device__ int odd(int q, int n);
__device__ int even(int q, int n) { return n ? odd(q, n - 1) : q; }
__device__ int odd(int q, int n) { return n ? even(q, n - 1) : q; }
__global__ void k(int* x) { int g = even(threadIdx.x, 4) / 32;
  if ((threadIdx.x & 15) == 0) x[g] = __any_sync(~0u, 1); }""",
    "template argument": """template <int W> __device__ float sum(float v) {
  for (int o = W / 2; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o, W);
  return v;
}
__global__ void k(float* x) { x[0] = sum<32>(x[threadIdx.x]); }""",
    "argument": """__device__ float sum(float v, int n) { return __shfl_sync(0xffffffffu, v, 0, n); }
__global__ void k(float* x) { x[0] = sum(x[threadIdx.x], 32); }""",
    "constant through a template": """constexpr int many = 32;
template <int W> __device__ int who() { return threadIdx.x % W; }
__global__ void k(int* x) { x[who<many>()] = __any_sync(~0u, 1); }""",
    "macro": """#define WHO(t) ((t) & 31)
__global__ void k(int* x) { int lane = WHO(threadIdx.x); x[lane] = 1; }""",
    "wrapper": """#define WARP_SHFL(v, s, w) __shfl_sync(0xffffffffu, v, s, w)
__global__ void k(float* x) { x[threadIdx.x] = WARP_SHFL(x[threadIdx.x], 0, 32); }""",
    "wrapper of a wrapper": """#define SHFL(v, s, w) __shfl_sync(0xffffffffu, v, s, w)
#define FIRST(v, w) SHFL(v, 0, w)
__global__ void k(float* x) { x[threadIdx.x] = FIRST(x[threadIdx.x], 32); }""",
    "lambda": """__global__ void k(int* x) { int t = threadIdx.x; auto f = [&]() { x[t / 32] = 1; }; f(); }""",
    "what is left of a division, as a lane": """
__device__ float get(float v, int from) { return __shfl_sync(0xffffffffu, v, from); }
__global__ void k(float* x, int n) { for (int i = 0; i < n; i++) x[i] = get(x[threadIdx.x], i % 32); }""",
    "rounds of lanes": """__global__ void k(int* x, int n) {
  int lane = threadIdx.x & 31;
  for (int r = 0; r < n / 32; r++) x[r * 32 + lane] = 1;
}""",
    "what lanes are compared with": """__global__ void k(int* x, int n) {
  int lane = threadIdx.x & 31;
  assert(n <= 32);
  if (lane < n) x[lane] = 1;
}""",
    "threads of a barrier": """__device__ void arrive_barrier(unsigned long long* b, int n);
__global__ void k(unsigned long long* b) { int lane = threadIdx.x & 31; if (lane == 0) arrive_barrier(b, 32); }""",
    "rows of 32 threads": """__global__ void k(float* x) {
  x[threadIdx.y * 8 * 32] = __shfl_sync(0xffffffffu, x[threadIdx.x], 0);
}
void run(float* x) { k<<<1, dim3(32, 4)>>>(x); }""",
}
AGAINST = {
    "call": """__device__ void put(unsigned* x, int bit) { x[bit / 32] |= 1u << (bit % 32); }
__global__ void k(unsigned* x, int n) { int lane = threadIdx.x % warpSize; put(x, n + lane * 0); }""",
    "template argument": """
template <int N> __device__ unsigned turn(unsigned v, int n) { return v << n | v >> (N - n); }
__global__ void k(unsigned* x) { x[threadIdx.x] = turn<32>(x[threadIdx.x], 3); }""",
    "groups": """__global__ void k(float* x, float* y, int g) {
  y[g / 32] = x[g % 32] + __shfl_sync(~0u, x[threadIdx.x], 0); }""",
    "words sent between lanes": """__global__ void k(unsigned* w, int i) {
  w[0] = __shfl_sync(~0u, w[threadIdx.x], i / 32); }""",
}


def _on_host(unit: Unit, i: int) -> bool:
    f = unit.function_at(i)
    return f is not None and not f.sides


def _judged(text: str, path: str = "a.cu") -> list[bool]:
    unit = Unit(text, load_catalog(), path=path)
    lanes = {v.at for v in classify(unit) if v.lanes}
    return [i in lanes for i, tok in enumerate(unit.t) if tok in ("32", "31", "5") and not _on_host(unit, i)]


@pytest.mark.parametrize("name", THROUGH)
def test_a_lane_count_is_found_through(name: str) -> None:
    judged = _judged(THROUGH[name])
    assert judged
    assert all(judged)


@pytest.mark.parametrize("name", AGAINST)
def test_a_plain_number_stays_one_through(name: str) -> None:
    assert not any(_judged(AGAINST[name]))


HEADER = """#pragma once
constexpr int group = 32;
__device__ inline int place() { return threadIdx.x & 31; }
template <int W> __device__ float sum(float v) {
  for (int o = W / 2; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o, W);
  return v;
}
__device__ inline float first(float v, int unused, int width) { return __shfl_sync(0xffffffffu, v, 0, width); }
__device__ inline float twice(float v, int width) { return first(v, 0, width) * 2; }
__device__ inline unsigned turn(unsigned v, int n, int all) { return v << n | v >> (all - n); }
"""


@pytest.mark.parametrize(
    ("body", "lanes"),
    [
        ("x[0] = sum<32>(x[1]);", [True]),
        ("x[0] = first(x[1], 32, 16);", [False]),
        ("x[0] = first(x[1], 16, 32);", [True]),
        ("x[0] = twice(x[1], 32);", [True]),
        ("x[0] = turn(x[1], 3, 32);", [False]),
        ("int p = place(); if (p == 31) x[p] = 1;", [True]),
    ],
)
@pytest.mark.parametrize("between", [False, True])
def test_headers_tell_which_arguments_count_lanes(tmp_path: Path, body: str, lanes: list[bool], between: bool) -> None:
    (tmp_path / "lanes.cuh").write_text(HEADER)
    (tmp_path / "all.cuh").write_text('#pragma once\n#include "lanes.cuh"\n')
    text = f'#include "{"all" if between else "lanes"}.cuh"\n__global__ void k(float* x) {{ {body} }}\n'
    assert _judged(text, str(tmp_path / "a.cu")) == lanes


def test_a_header_that_is_missing_or_includes_itself_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "a.cuh").write_text('#include "a.cuh"\n#include "nowhere.cuh"\n')
    text = '#include "a.cuh"\n__global__ void k(int* x) { x[threadIdx.x / 32] = __any_sync(~0u, 1); }\n'
    assert _judged(text, str(tmp_path / "a.cu")) == [True]


def test_a_number_that_is_64_for_other_platforms_counts_lanes() -> None:
    text = """#if defined(__HIPCC__)
#define PARTS 64
constexpr int chunk = 128;
#else
#define PARTS 32
constexpr int chunk = 32;
#endif
__global__ void k(int* x) { x[threadIdx.x] = __any_sync(~0u, 1); }
"""
    assert _judged(text) == [True, False]


def test_names_of_offsets_and_of_other_fields_say_nothing() -> None:
    text = """__global__ void k(float* x, float4 v, int warp) {
  int src_warp_shift = warp * 5;
  int sign = __float_as_uint(v.x) >> 31;
  int lane = threadIdx.x & 31;
  x[src_warp_shift + lane] = sign;
}
"""
    assert _judged(text) == [False, False, True]
    unit = Unit(text, load_catalog(), path="a.cu")
    assert not any(v.lanes for v in classify(unit) if unit.t[v.at] == "src_warp_shift")


@pytest.mark.parametrize("op", [">", ">=", "<", ">>", "()", "[]", "->"])
def test_a_class_with_operators_is_read(op: str) -> None:
    text = f"struct S {{ int v; __device__ bool operator {op}(const S& o) const {{ return v > o.v; }} }};\n"
    text += "__global__ void k(int* x) { x[threadIdx.x / 32] = __any_sync(~0u, 1); }\n"
    assert _judged(text) == [True]
    assert _judged(text.replace(f"operator {op}", f"operator{op}")) == [True]
