"""cu2port/rounding.hpp and complex.hpp: operations that round once, complex numbers that do not overflow halfway."""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from amd_code import machine_code

from cu2port.core.model import Options
from cu2port.engine.translate import translate
from cu2port.verify import simulate

KERNELS = """#include <cuda_runtime.h>
extern "C" __global__ void sum(float* p) { p[0] = __fadd_rn(p[1] * p[2], p[3]); }
extern "C" __global__ void product(float* p) { p[0] = __fmul_rn(p[1], p[2]) + p[3]; }
extern "C" __global__ void difference(float* p) { p[0] = __fsub_rn(p[3], p[1] * p[2]); }
extern "C" __global__ void sum_of_doubles(double* p) { p[0] = __dadd_rn(p[1] * p[2], p[3]); }
extern "C" __global__ void product_of_doubles(double* p) { p[0] = p[3] - __dmul_rn(p[1], p[2]); }
extern "C" __global__ void difference_of_doubles(double* p) { p[0] = __dsub_rn(p[1] * p[2], p[3]); }
extern "C" __global__ void plain(float* p) { p[0] = p[1] * p[2] + p[3]; }
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_what_cuda_rounds_alone_is_no_part_of_an_fma(arch: str, tmp_path: Path) -> None:
    code = machine_code(translate(KERNELS, Options(), path="k.cu").output.decode(), tmp_path, arch)
    fused = {name for name, text in code.items() if re.search(r"v_(dual_)?(pk_)?(fma|mac|mad)", text)}
    assert len(code) == 7
    assert fused == {"plain"}


def _bits(value: float) -> int:
    return int(struct.unpack("I", struct.pack("f", value))[0])


def _float(bits: int) -> float:
    return float(struct.unpack("f", struct.pack("I", bits))[0])


ROOTS = """#include <cuda_runtime.h>
#include <cstdio>
__device__ const unsigned given[] = {%s};
__global__ void k(unsigned* to) {
  for (unsigned bits : given) {
    const float a = __uint_as_float(bits);
    *to++ = __float_as_uint(__frsqrt_rn(a));
    *to++ = __float_as_uint(__fsqrt_rn(a));
  }
}
int main() {
  unsigned* to;
  cudaMallocManaged(&to, 1 << 20);
  k<<<1, 1>>>(to);
  cudaDeviceSynchronize();
  for (int i = 0; i < 2 * sizeof given / sizeof *given; ++i) printf("%%x\\n", to[i]);
}
"""


@pytest.mark.slow
def test_roots_are_the_nearest_numbers(build: Callable[[Path, int], Path], tmp_path: Path) -> None:
    draw = random.Random(3)
    given = [1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x3F800000, *(draw.randrange(1, 0x7F800000) for _ in range(500))]
    path = tmp_path / "program.cu"
    path.write_text(ROOTS % ", ".join(map(str, given)))
    ran = simulate.run(build(path, 64), (), simulate.Limits(60), capture=True)
    assert ran.code == 0, ran.errors.decode()[:2000]
    got = [int(x, 16) for x in ran.output.split()]
    for a, one_by_root, root in zip(given, got[::2], got[1::2], strict=True):
        exact = Fraction(_float(a))
        for bits, square in ((one_by_root, 1 / exact), (root, exact)):
            below, here, above = (Fraction(_float(bits + k)) for k in (-1, 0, 1))
            assert ((below + here) / 2) ** 2 <= square <= ((here + above) / 2) ** 2, hex(a)


COMPLEX = """#include <cuComplex.h>
#include <cuda_runtime.h>
#include <cstdio>
__host__ __device__ void all(const double (&v)[4], double* to) {
  const cuDoubleComplex p = make_cuDoubleComplex(v[0], v[1]), q = make_cuDoubleComplex(v[2], v[3]), r = cuCdiv(p, q);
  to[0] = cuCabs(p);
  to[1] = r.x;
  to[2] = r.y;
}
__host__ __device__ void all_floats(const double (&v)[4], double* to) {
  const cuComplex p = make_cuComplex(v[0], v[1]), q = make_cuComplex(v[2], v[3]), r = cuCdivf(p, q);
  to[0] = cuCabsf(p);
  to[1] = r.x;
  to[2] = r.y;
}
struct four { double v[4]; };
__global__ void k(const four* given, double* to, int n) {
  for (int i = 0; i < n; ++i) %(call)s(given[i].v, to + 3 * i);
}
int main() {
  static const four many[] = {%(given)s};
  const int n = sizeof many / sizeof *many;
  four* given;
  double *to, host[3];
  cudaMallocManaged(&given, sizeof many);
  cudaMallocManaged(&to, n * sizeof host);
  for (int i = 0; i < n; ++i) given[i] = many[i];
  k<<<1, 1>>>(given, to, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; ++i) {
    %(call)s(many[i].v, host);
    for (int j = 0; j < 3; ++j) printf("%%.17g\\n", host[j] == to[3 * i + j] ? to[3 * i + j] : -1e300);
  }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("call", "largest", "error"), [("all", 1e300, 1e-14), ("all_floats", 1e37, 1e-6)])
def test_complex_numbers_do_not_overflow_halfway(
    call: str, largest: float, error: float, build: Callable[[Path, int], Path], tmp_path: Path
) -> None:
    draw = random.Random(5)
    given = [(3.0, 4.0, 3.0, 4.0), (largest, largest, largest, largest / 2), (1 / largest, 1 / largest, 2 / largest, 0)]
    given += [(0.0, 0.0, 1.0, 0.0)]
    given += [(draw.uniform(-9, 9), draw.uniform(-9, 9), draw.uniform(1, 9), draw.uniform(-9, 9)) for _ in range(50)]
    path = tmp_path / "program.cu"
    path.write_text(COMPLEX % {"call": call, "given": ", ".join(f"{{{{{a}, {b}, {c}, {d}}}}}" for a, b, c, d in given)})
    ran = simulate.run(build(path, 64), (), simulate.Limits(60), capture=True)
    assert ran.code == 0, ran.errors.decode()[:2000]
    got = [float(x) for x in ran.output.split()]
    for i, (a, b, c, d) in enumerate(given):
        p, q = complex(a, b), complex(c, d)
        assert got[3 * i] == pytest.approx(abs(p), rel=error)
        assert abs(complex(*got[3 * i + 1 : 3 * i + 3]) - p / q) <= error * abs(p / q)
