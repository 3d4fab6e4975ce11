"""The suite of small kernels whose answers are known by reasoning, at both wave sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cu2port.checks.header_guard import GUARDS
from cu2port.core.model import Options
from cu2port.engine.translate import translate
from cu2port.verify import simulate

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.hip"))
LEAST = 60  # answers that the suite must check


@pytest.mark.parametrize("wave", [pytest.param(32, marks=pytest.mark.slow), 64])
@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_answers(path: Path, wave: int, build: Callable[[Path, int], Path]) -> None:
    ran = simulate.run(build(path, wave), (), simulate.Limits(60), capture=True)
    lines = ran.output.decode().splitlines()
    assert ran.code == 0, ran.errors.decode() + ran.output.decode()
    assert [x for x in lines if x.startswith("FAIL")] == []
    assert sum(x.startswith("ok ") for x in lines) >= 10


def test_the_suite_is_large_enough() -> None:
    assert sum(p.read_text().count("say(") for p in KERNELS) >= LEAST


def test_a_folder_with_c_and_included_sources(tmp_path: Path, build: Callable[[Path, int], Path]) -> None:
    (tmp_path / "kernel.cu").write_text("__global__ void twice(int* d) { d[threadIdx.x] *= 2; }\n")
    (tmp_path / "main.cu").write_text(
        '#include <hip/hip_runtime.h>\n#include <cstdio>\n#include "kernel.cu"\n'
        'extern "C" int seven(void);\n'
        'int main() { int* d; (void)hipMallocManaged(&d, 4); *d = seven(); twice<<<1, 1>>>(d); printf("%d\\n", *d); }\n'
    )
    (tmp_path / "seven.c").write_text("int seven(void) { int class = 7; return class; }\n")
    ran = simulate.run(build(tmp_path, 64), (), simulate.Limits(60), capture=True)
    assert (ran.code, ran.output) == (0, b"14\n"), ran.errors


def test_a_store_far_behind_an_allocation_names_kernel_and_distance(simulated: Callable[..., simulate.Ran]) -> None:
    ran = simulated(
        "#include <hip/hip_runtime.h>\n"
        "__global__ void far(int* d) { d[25000 + threadIdx.x] = 1; }\n"
        "int main() { int* d; (void)hipMalloc(&d, 4000); far<<<1, 32>>>(d); }\n",
        64,
        time_s=60,
    )
    assert ran.code == 128 + 11
    assert b"(96000 bytes behind an allocation of 4000)" in ran.errors
    assert b"kernel far launched at" in ran.errors


def test_the_devices_side_outside_of_functions_is_the_kernels(simulated: Callable[..., simulate.Ran]) -> None:
    """So is a branch in one; functions that the host has no others for are there for both."""
    ran = simulated(
        "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
        "#ifdef __HIP_DEVICE_COMPILE__\n__host__ __device__ int side() { return 1; }\n"
        "#else\n__host__ __device__ int side() { return 2; }\n#endif\n"
        "#if defined(__HIP_DEVICE_COMPILE__)\n#include <cassert>\n#endif\n#if defined(__HIP_DEVICE_COMPILE__)\n"
        "template <int N> static inline __device__\nint alone() { return N; }\n#endif\n"
        "#ifndef __HIP_DEVICE_COMPILE__\n#include <vector>\n#else\n#define MARK\n#endif\n"
        "__global__ void k() {\n#ifdef __HIP_DEVICE_COMPILE__\n#include <cassert>\n"
        '  printf("%d%d\\n", side(), alone<7>());\n#endif\n}\n'
        "int main() { k<<<1, 1>>>(); (void)hipDeviceSynchronize(); }\n",
        64,
        time_s=60,
    )
    assert (ran.code, ran.output) == (0, b"17\n")
    assert ran.errors == b""


def test_the_devices_side_is_named_in_each_file_where_a_declaration_may_be(
    simulated: Callable[..., simulate.Ran], tmp_path: Path
) -> None:
    side = "#ifdef __HIP_DEVICE_COMPILE__\n#include <cassert>\n#endif\n"
    (tmp_path / "a.h").write_text(side)
    (tmp_path / "cu2port").mkdir(exist_ok=True)
    (tmp_path / "cu2port/dot.hpp").write_text(side)  # the name of a helper header
    ran = simulated(
        f'#include <hip/hip_runtime.h>\n#include "../a.h"\n#include "../cu2port/dot.hpp"\n{side}'
        f"enum e {{\n{side}one }};\nint list[] = {{\n{side}1 }};\nstruct s {{\n{side}int a; }};\n"
        f'namespace n {{\n{side}#include "../a.h"\n}}\nint main() {{ return 0; }}\n',
        64,
        time_s=60,
    )
    assert ran.code == 0
    assert ran.errors.count(b"the device's side of this #if is left out") == 3


def test_headers_have_the_include_guards_that_converted_code_asks_for(simulated: Callable[..., simulate.Ran]) -> None:
    headers = {
        "HIP_INCLUDE_HIP_HIP_FP16_H": "hip/hip_fp16.h",
        "HIP_INCLUDE_HIP_HIP_BF16_H": "hip/hip_bf16.h",
        "HIP_INCLUDE_HIP_HIP_COMPLEX_H": "hip/hip_complex.h",
        "HIPBLAS_H": "hipblas/hipblas.h",
        "HIPRAND_KERNEL_H_": "hiprand/hiprand_kernel.h",
        "HIPSOLVER_H": "hipsolver/hipsolver.h",
        "HIPSPARSE_H": "hipsparse/hipsparse.h",
    }
    of_runtime = {g for g in GUARDS.values() if "RUNTIME" in g or "DRIVER" in g}
    text = "".join(f"#include <{h}>\n" for h in ("hip/hip_runtime.h", *headers.values()))
    text += "".join(f"#ifndef {g}\n#error {g}\n#endif\n" for g in sorted({*headers, *of_runtime}))
    assert simulated(text + "int main() {}\n").code == 0


def on_devices(binary: Path, devices: str) -> bytes:
    """What a program prints where there are so many simulated GPUs."""
    settings = {"CU2PORT_SIM_DEVICES": devices}
    return simulate.run(binary, (), simulate.Limits(60), capture=True, settings=settings).output


def test_two_devices_share_memory(build: Callable[[Path, int], Path], tmp_path: Path) -> None:
    (tmp_path / "two.hip").write_text(
        "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
        "__global__ void next(int* to, const int* from) { *to = *from + 1; }\n"
        "int main() {\n"
        "  int n, peer, *a, *b, x; hipPointerAttribute_t where;\n"
        "  (void)hipGetDeviceCount(&n); (void)hipDeviceCanAccessPeer(&peer, 0, 1); (void)hipMalloc(&a, 4);\n"
        "  int bad = hipSetDevice(1); if (hipMalloc(&b, 4)) return 1;\n"
        "  (void)hipPointerGetAttributes(&where, b); next<<<1, 1>>>(b, a); (void)hipMemcpyPeer(&x, 0, b, 1, 4);\n"
        '  printf("%d %d %d %d %d\\n", n, peer, bad, where.device, x);\n'
        "}\n"
    )
    binary = build(tmp_path / "two.hip", 64)
    assert on_devices(binary, "1") == b"1 0 101 0 1\n"
    assert on_devices(binary, "2") == b"2 1 0 1 1\n"


def test_each_device_has_its_variables(build: Callable[[Path, int], Path], tmp_path: Path) -> None:
    (tmp_path / "own.hip").write_text(
        "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
        "__constant__ int step; __device__ int sum;\n"
        "__global__ void add() { sum += step; }\n"
        "int main() {\n"
        "  for (int d = 0; d < 2; ++d) {\n"
        "    int by = d + 1, from = 10 * d; (void)hipSetDevice(d);\n"
        "    (void)hipMemcpyToSymbol(HIP_SYMBOL(step), &by, 4); (void)hipMemcpyToSymbol(HIP_SYMBOL(sum), &from, 4); }\n"
        "  for (int d : {1, 0, 1}) { (void)hipSetDevice(d); add<<<1, 1>>>(); }\n"
        "  for (int d = 0; d < 2; ++d) {\n"
        "    int x; (void)hipSetDevice(d); (void)hipMemcpyFromSymbol(&x, HIP_SYMBOL(sum), 4);\n"
        '    printf("%d ", x); }\n'
        "}\n"
    )
    binary = build(tmp_path / "own.hip", 64)
    assert on_devices(binary, "1") == b"16 16 "
    assert on_devices(binary, "2") == b"1 14 "


def test_a_launch_over_continued_lines(simulated: Callable[..., simulate.Ran]) -> None:
    ran = simulated(
        "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
        "template <int N, int M> __global__ void set(int* d) { *d = N * M; }\n"
        "#define RUN(N) \\\n"
        "  (void)hipFuncSetCacheConfig((const void*)set<N, \\\n  3>, hipFuncCachePreferL1); \\\n"
        "  set<N, \\\n      3> \\\n    <<<1, 1>>>(d)\n"
        "void again(int* d) { void* a[] = {&d}; (void)hipLaunchKernel((const void*)set<2,\n 3>, 1, 1, a, 0, 0); }\n"
        "int main() { int* d; (void)hipMallocManaged(&d, 4); RUN(5);"
        ' printf("%d ", *d); again(d); printf("%d", *d); }\n'
    )
    assert (ran.code, ran.output) == (0, b"15 6"), ran.errors


def test_atomics_on_halves_and_pairs(build: Callable[..., Path], tmp_path: Path) -> None:
    source = (
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cstdio>\n"
        "template <typename T> __global__ void add(T* p, float v) { atomicAdd(&p[threadIdx.x % 3 == 0], T(v)); }\n"
        "__global__ void pairs(__half2* p, __nv_bfloat162* q) {\n"
        "  atomicAdd(p, __floats2half2_rn(1.f, 2.f)); atomicAdd(q + 1, __floats2bfloat162_rn(1.f, .5f)); }\n"
        "template <typename T> T* made() { T* p; cudaMallocManaged(&p, 8); cudaMemset(p, 0, 8); return p; }\n"
        "int main() {\n"
        "  __half* h = made<__half>(); __nv_bfloat16* b = made<__nv_bfloat16>(); float* f = made<float>();\n"
        "  __half2* p = made<__half2>(); __nv_bfloat162* q = made<__nv_bfloat162>();\n"
        "  add<<<2, 99>>>(h, 1.f); add<<<1, 99>>>(b, -2.f); add<<<1, 99>>>(f, 2.f); pairs<<<1, 96>>>(p, q);\n"
        "  cudaDeviceSynchronize();\n"
        '  printf("%g %g %g|%g %g|%g %g|", __half2float(h[0]), __half2float(h[1]), __half2float(h[2]),\n'
        "         __bfloat162float(b[0]), __bfloat162float(b[1]), f[0], f[1]);\n"
        '  printf("%g %g|%g %g %g\\n", __low2float(*p), __high2float(*p), __low2float(*q), __low2float(q[1]),\n'
        "         __high2float(q[1]));\n"
        "}\n"
    )
    path = tmp_path / "halves.hip"
    path.write_bytes(translate(source, Options()).output)
    ran = simulate.run(build(path, 64), (), simulate.Limits(60), capture=True)
    assert (ran.code, ran.output) == (0, b"132 66 0|-132 -66|132 66|96 192|0 96 48\n"), ran.errors


def test_a_pasted_name_is_no_call(simulated: Callable[..., simulate.Ran]) -> None:
    """A macro makes functions of a name that elsewhere is a function with a barrier."""
    ran = simulated(
        "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
        "__device__ int part(int x) { __syncthreads(); return x; }\n"
        "#define TWICE(part) __device__ int of_##part(int x) { return 2 * x; }\n"
        "TWICE(int)\n"
        "__global__ void k(int* d) { *d = part(of_int(21)); }\n"
        'int main() { int* d; (void)hipMallocManaged(&d, 4); k<<<1, 32>>>(d); printf("%d\\n", *d); }\n'
    )
    assert (ran.code, ran.output) == (0, b"42\n"), ran.errors


def test_a_programs_own_compound_operators_of_vectors(simulated: Callable[..., simulate.Ran]) -> None:
    """HIP's binary operators do not call them: they would need a reference to a temporary."""
    ran = simulated(
        "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
        "__host__ __device__ inline void operator*=(int3& a, const int3& b) { a = a * b; }\n"
        "__host__ __device__ inline void operator/=(int3& a, int b) { a = make_int3(a.x / b, a.y / b, a.z / b); }\n"
        "int main() {\n  int3 a = make_int3(2, 4, 6), b = a * a / 2;\n  b *= a;\n  b /= 4;\n"
        '  printf("%d %d %d\\n", b.x, b.y, b.z);\n}\n'
    )
    assert (ran.code, ran.output) == (0, b"1 8 27\n"), ran.errors
