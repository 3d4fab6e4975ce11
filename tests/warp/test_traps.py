"""The traps of warps in a port, one small kernel each: which rule finds it, and what the default mode makes of it.

`flag` and `logical` are the codes that must be among the findings of that mode; `made` must be in the output of the
default mode, `gone` must not. A trap that keeping 32 lanes disarms needs no finding there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cu2port.audit.build_lines import look
from cu2port.core.model import Options, Severity
from cu2port.engine.translate import translate

W = "cu2port::warp::"
CG = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"


@dataclass(frozen=True)
class Trap:
    """`name`: what goes wrong; `text`: a kernel that does so."""

    name: str
    text: str
    flag: tuple[str, ...]
    logical: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    rocm: tuple[int, int] = field(default=(7, 1))


TRAPS = {
    1: Trap(
        "32, 31 and 5 that count lanes",
        "__global__ void k(float* x) { int l = threadIdx.x & 31, w = threadIdx.x >> 5; x[w * 32 + l] = 1; }",
        ("CU350",),
    ),
    2: Trap(
        "warpSize where a constant must stand",
        """template <int N> __device__ void put(int* x) { x[0] = N; }
__global__ void k(int* x) {
  __shared__ int s[1024 / warpSize];
  static_assert(warpSize == 32, "");
  constexpr int w = warpSize;
  if constexpr (warpSize > 16) put<warpSize>(x);
  switch (x[1]) { case warpSize: x[0] = s[0] + w; }
}""",
        ("CU315",),
        ("CU315",),
        (f"s[1024 / {W}size]", f"put<{W}size>", f"case {W}size:", f"constexpr int w = {W}size"),
    ),
    3: Trap(
        "warpSize that is no int",
        '__global__ void k(int n) { auto w = warpSize; printf("%d %d", warpSize, min(warpSize, n) + w); }',
        ("CU315",),
        ("CU315",),
        (f"min({W}size, n)", f"auto w = {W}size"),
    ),
    4: Trap(
        "the warp size on the host",
        """__host__ __device__ int warps(int n) { return n / warpSize; }
int asked() { int w; cudaDeviceGetAttribute(&w, cudaDevAttrWarpSize, 0); return w; }
int told(cudaDeviceProp p, int n) { return n / p.warpSize; }""",
        ("CU315", "CU316", "CU354"),
        ("CU315", "CU316"),
        (f"w = {W}size;", f"n / {W}size"),
        ("p.warpSize", "cudaDevAttrWarpSize"),
    ),
    5: Trap(
        "a macro that recent compilers have dropped",
        """#ifdef __HIP_PLATFORM_AMD__
#define LANES __AMDGCN_WAVEFRONT_SIZE
#define MORE __AMDGCN_WAVEFRONT_SIZE__
#endif
__global__ void k(int* x) { x[0] = LANES; }""",
        ("CU320",),
        ("CU320",),
    ),
    7: Trap(
        "a width that differs between the host's pass and the device's",
        """#if defined(__GFX9__)
#define WARP_SIZE 64
#else
#define WARP_SIZE 32
#endif
__global__ void k(int* x) { x[threadIdx.x / WARP_SIZE] = 1; }
void run(int* x) { k<<<1, 4 * WARP_SIZE>>>(x); }""",
        ("CU321", "CU354"),
        ("CU321",),
    ),
    8: Trap(
        "a ballot kept in 32 bits",
        "__global__ void k(unsigned* x, int p) { unsigned m = __ballot_sync(~0u, p); x[0] = m; "
        "atomicOr(x, __match_any_sync(~0u, p)); }",
        ("CU312",),
        ("CU313",),
        (f"unsigned m = {W}ballot(~0u, p)", f"atomicOr(x, {W}match_any(~0u, p))"),
    ),
    9: Trap(
        "a mask of 32 bits",
        "#define FULL -1\n__global__ void k(int* x) { x[0] = __shfl_sync(~0u, x[1], 0) + __any_sync(FULL, x[2]); "
        "__syncwarp(0xffffffff); }",
        ("CU310", "CU311"),
        ("CU313",),
        (f"{W}shfl(~0u, x[1], 0)", f"{W}any(FULL, x[2])"),
        ("_sync(",),
    ),
    10: Trap(
        "a mask made wide by a suffix or a cast alone",
        "__global__ void k(int* x, unsigned m) { x[0] = __shfl_sync(0xffffffffULL, x[1], 0) "
        "+ __all_sync((unsigned long long)m, x[2]); }",
        ("CU311", "CU351"),
        ("CU313",),
        (f"{W}all((unsigned long long)m, x[2])",),
        ("_sync(",),
    ),
    11: Trap(
        "a mask that names lanes of the other arm",
        "__global__ void k(int* x) { int l = threadIdx.x % 32; if (l < 7) { x[l] = __shfl_sync(~0u, x[l], 0); } "
        "else { x[l] = __shfl_sync(~0u, x[l], 9); } }",
        ("CU365",),
        ("CU365",),
    ),
    12: Trap(
        "builtins that a version lacks",
        "__global__ void k(int* x) { x[0] = __shfl_xor_sync(~0u, x[1], 1) + __ballot_sync(~0u, 1) + __activemask(); }",
        ("CU311",),
        ("CU313",),
        (f"{W}shfl_xor(", f"{W}ballot(", f"{W}activemask()"),
        ("_sync(", "__activemask"),
        (6, 2),
    ),
    13: Trap(
        "a shim of a builtin's name",
        """#ifdef __HIP_PLATFORM_AMD__
#define __shfl_sync(mask, v, l) __shfl(v, l)
#endif
__global__ void k(int* x) { x[0] = __shfl_sync(~0u, x[1], 0); }""",
        ("CU322",),
        ("CU322",),
    ),
    14: Trap(
        "a shuffle without a width",
        "__global__ void k(int* x) { int v = __shfl_down(x[0], 16); v += __shfl_up_sync(~0u, v, 1); "
        "x[0] = __shfl(v, 31); }",
        ("CU314", "CU311"),
        ("CU314", "CU313"),
        ("__shfl_down(x[0], 16, 32)", "__shfl(v, 31, 32)"),
    ),
    15: Trap(
        "a tree or a scan over 32 lanes",
        "__global__ void k(float* x) { float v = x[0]; "
        "for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(~0u, v, o); "
        "for (int d = 1; d < 32; d *= 2) v += __shfl_up_sync(~0u, v, d); x[0] = v; }",
        ("CU350", "CU311"),
        ("CU313",),
        (f"{W}shfl_down(~0u, v, o)",),
    ),
    16: Trap(
        "bits of a mask counted in 32",
        "__global__ void k(int* x) { unsigned m = __ballot_sync(~0u, x[0]); "
        "x[0] = __popc(m) + __ffs(m) + (31 - __clz(m)) + __brev(m); }",
        ("CU351", "CU350"),
        ("CU313",),
        ("int(__popc(m)) + __ffs(m) + (31 - __clz(m))",),
    ),
    17: Trap(
        "a lane's bit shifted in 32 bits",
        "__global__ void k(unsigned* x) { int l = threadIdx.x & 31; x[0] = (1 << l) | ((1u << l) - 1) | ~(-1 << l); }",
        ("CU351", "CU350"),
    ),
    18: Trap(
        "a shift by the whole width",
        "__global__ void k(unsigned long long* x) { x[0] = ((1ULL << warpSize) - 1) & __ballot_sync(~0u, 1); }",
        ("CU315",),
        ("CU315",),
        (f"(1ULL << {W}size) - 1",),
    ),
    19: Trap(
        "lane masks of PTX",
        r"""__device__ unsigned below() { unsigned m; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m)); return m; }
__device__ unsigned me() { unsigned m; asm("mov.u32 %0, %%laneid;" : "=r"(m)); return m; }""",
        ("CU401",),
        ("CU401",),
        (f"{W}lanemask_lt()", f"{W}lane_id()"),
        ("asm", "__lanemask"),
    ),
    20: Trap(
        "rows of 32 threads that are warps",
        "__global__ void k(float* x) { x[threadIdx.y] = __shfl_sync(~0u, x[threadIdx.x], 0); }\n"
        "void run(float* x) { k<<<8, dim3(32, 4)>>>(x); k<<<8, 32>>>(x); }",
        ("CU355",),
        ("CU355",),
    ),
    21: Trap(
        "shared arrays with a slot a warp",
        """__global__ void k(float* x) {
  __shared__ float s[32];
  extern __shared__ float d[];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  s[lane] = x[lane];
  d[warp] = s[0];
}
void run(float* x, int threads) { k<<<1, threads, threads / 32 * sizeof(float)>>>(x); }""",
        ("CU350", "CU354"),
    ),
    22: Trap(
        "a second stage that is half converted",
        """__global__ void k(float* x) {
  __shared__ float s[32];
  int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
  float v = x[threadIdx.x];
  if (lane == 0) s[wid] = v;
  __syncthreads();
  if (wid == 0) v = lane < blockDim.x / 32 ? s[lane] : 0;
  x[0] = v;
}""",
        ("CU353", "CU350"),
        ("CU315",),
        (f"threadIdx.x % {W}size",),
        ("warpSize",),
    ),
    23: Trap(
        "a tail that relies on lockstep",
        """__global__ void k(int* x) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
  }
}""",
        ("CU368", "CU350"),
        ("CU368",),
        (f"{W}syncwarp()",),
    ),
    24: Trap(
        "__syncwarp, which a version lacks",
        "__global__ void k(int* x) { if (threadIdx.x < 16) { x[0] = 1; __syncwarp(); x[1] = x[0]; } }",
        ("CU352",),
        ("CU313",),
        (f"{W}syncwarp()",),
        ("__syncthreads",),
        (6, 4),
    ),
    25: Trap(
        "__syncwarp with a mask",
        "__global__ void k(int* x, unsigned m) { __syncwarp(m); x[0] = 1; __syncwarp(0xffffffffu); }",
        ("CU311",),
        ("CU313",),
        (f"{W}syncwarp(m)",),
    ),
    26: Trap(
        "lanes that wait for each other",
        """__global__ void k(int* l, int* n) { while (atomicCAS(l, 0, 1) != 0) {} n[0]++; atomicExch(l, 0); }
__global__ void q(volatile int* f, int* o) { int t = threadIdx.x; while (f[0] != t) {} o[0] = t; f[0] = t + 1; }""",
        ("CU361",),
        ("CU361",),
    ),
    27: Trap(
        "the active lanes as a converged set",
        "__global__ void k(int* x) { unsigned m = __activemask(); "
        "if ((int)threadIdx.x % 32 == __ffs(m) - 1) x[0] = __popc(m); }",
        ("CU313", "CU350"),
        ("CU313",),
        (f"m = {W}activemask()",),
    ),
    28: Trap(
        "reductions of a builtin's own",
        "__global__ void k(unsigned* x, int v) { x[0] = __reduce_add_sync(~0u, v) + __reduce_or_sync(~0u, x[1]); }",
        ("CU311",),
        ("CU313",),
        (f"{W}reduce_add(~0u, v)", f"{W}reduce_or(~0u, x[1])"),
    ),
    29: Trap(
        "operands of other sizes than 4 and 8 bytes",
        "__global__ void k(bool* b, short* s) { b[0] = __shfl_sync(~0u, b[1], 0); "
        "s[0] = __shfl_xor_sync(~0u, s[1], 1); }",
        ("CU311",),
        ("CU313",),
        (f"{W}shfl(~0u, b[1], 0)", f"{W}shfl_xor(~0u, s[1], 1)"),
    ),
    30: Trap(
        "cooperative tiles and coalesced threads",
        CG + "__global__ void k(int* x) { auto b = cg::this_thread_block(); auto t = cg::tiled_partition<32>(b); "
        "auto w = cg::tiled_partition<64>(b); auto c = cg::coalesced_threads(); "
        "x[0] = w.size() + c.size() + t.shfl(x[2], 3); }",
        ("CU324", "CU366", "CU350"),
        ("CU324", "CU318"),
        ("cg::tiled_partition<32>(b)", f"cg::binary_partition(cg::coalesced_threads(), {W}upper())"),
    ),
    31: Trap(
        "warp primitives of cub",
        "#include <cub/cub.cuh>\n__global__ void k(int* x) { typedef cub::WarpReduce<int> R; "
        "__shared__ R::TempStorage s[128 / 32]; x[0] = R(s[threadIdx.x / 32]).Sum(x[1]); }",
        ("CU317", "CU350"),
        ("CU317",),
        ("hipcub::WarpReduce<int, 32>",),
    ),
}


@pytest.mark.parametrize("number", TRAPS)
def test_flag_mode_finds(number: int) -> None:
    trap = TRAPS[number]
    made = translate(trap.text, Options(warp="flag", rocm=trap.rocm), path="k.cu")
    found = {j.finding.code for j in made.findings}
    assert set(trap.flag) <= found


@pytest.mark.parametrize("number", TRAPS)
def test_the_default_mode_makes_it_right_or_names_it(number: int) -> None:
    trap = TRAPS[number]
    made = translate(trap.text, Options(rocm=trap.rocm), path="k.cu")
    found = {j.finding.code for j in made.findings}
    output = made.output.decode()
    assert set(trap.logical) <= found
    assert [x for x in trap.made if x not in output] == []
    assert [x for x in trap.gone if x in output] == []


def test_a_build_that_asks_for_a_wavefront_size(tmp_path: Path) -> None:
    """Trap 6 is in build files."""
    file = tmp_path / "CMakeLists.txt"
    file.write_text("set(CMAKE_HIP_FLAGS -mwavefrontsize64)\nadd_library(a a.cu)\n")
    assert [(x.line, x.what) for x in look(str(file), "CMakeLists.txt")] == [(1, "the wavefront's size")]


def test_the_gpus_that_are_built_for_decide() -> None:
    """Trap 32: the same code is wrong on GPUs of 64 lanes and right on others."""
    text = TRAPS[1].text
    found = {
        archs: {j.finding.severity for j in translate(text, Options(warp="flag", archs=archs), path="k.cu").findings
                if j.finding.code == "CU350"}
        for archs in ((), ("gfx90a",), ("gfx1100",), ("gfx1100", "gfx942"))
    }  # fmt: skip
    assert Severity.WARNING in found[()]
    assert Severity.WARNING in found[("gfx90a",)]
    assert found[("gfx1100",)] == {Severity.INFO}
    assert Severity.WARNING in found[("gfx1100", "gfx942")]


def test_every_trap_has_its_kernel() -> None:
    assert sorted({*TRAPS, 6, 32}) == list(range(1, 33))
