"""Made-up arguments of a trial: faults that only some kinds of values show, each planted on the converted side."""

from __future__ import annotations

from pathlib import Path

import pytest

from cu2port.verify.sim_build import Program
from cu2port.verify.sim_compiler import Toolchain
from cu2port.verify.trial.run import Asked, try_program

FAULTS = {  # what CUDA's kernel has as F, what the converted one has, and the kernel
    "the last of many things that sixteen threads have together": (
        "1",
        "2",
        """__global__ void k(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, item = i >> 4;
    if (item < n / 2 * 2) out[i] = 3;
    else if (item < n && item > 4) out[i] = F;
}""",
    ),
    "segments that do not overlap": (
        "1",
        "2",
        """__global__ void k(const int* seg_begins, const int* seg_ends, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, from = seg_begins[i], size = seg_ends[i] - from;
    for (int j = 0; j < size && j < 100; ++j) out[from + j] = i + (size > 40 ? F : 0);
}""",
    ),
    "rows with more elements than a warp has lanes": (
        "32",
        "64",
        """__global__ void k(const int* row_ptr, const int* in, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int j = row_ptr[i]; j < row_ptr[i + 1]; ++j)
        if (j - row_ptr[i] < 32 || F == 32) sum += in[j];
    out[i] = sum;
}""",
    ),
    "a vote that one lane of the upper half decides": (
        "0xffffffffu",
        "0x0000ffffu",
        """__global__ void k(const float* in, int* out, float limit) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (__ballot_sync(0xffffffffu, in[i] >= limit) & F) == F;
}""",
    ),
    "packed words whose fields must all be valid": (
        "0xffff",
        "0x7fff",
        """__global__ void k(const unsigned* in, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int j = 0; j < 32; ++j) {
        const unsigned w = in[32 * i + j];
        sum += (w & F) << (w >> 24) ^ out[i + (static_cast<long>(w >> 27) << 40)];
    }
    out[i] = sum;
}""",
    ),
    "a number halfway between two of a smaller type": (
        "1u",
        "0u",
        """__global__ void k(const float* in, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned bits = __float_as_uint(in[i]);
    out[i] = (bits + 0xfffffu + (bits >> 21 & F)) >> 21;
}""",
    ),
    "a number that is none": (
        "255u",
        "256u",
        """__global__ void k(const float* in, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (__float_as_uint(in[i]) & 0x7fffffffu) > (F << 23);
}""",
    ),
    "a size in a struct that goes past a tile": (
        "7",
        "15",
        """struct Extents { int across, along, high; };
__global__ void k(Extents e, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (e.along > 40 || e.high > 40) return;
    for (int j = 0; j < e.across && j < 40; ++j) out[i * 40 + j] = 1 << (j & F);
}""",
    ),
    "one of many sizes that goes past a tile": (
        "7",
        "15",
        """__device__ int past(int x, int a, int b, int c, int d) {
    return (unsigned(a - 1) < 8 & unsigned(b - 1) < 8 & unsigned(c - 1) < 8 & unsigned(d - 1) < 8) * (x & F);
}
__global__ void k(int a, int b, int c, int d, int f, int* p, int* q, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1 + past(a, b, c, d, f) + past(b, a, c, d, f) + past(c, a, b, d, f) + past(d, a, b, c, f);
    out[i] += past(f, a, b, c, d);
}""",
    ),
    "one word of two thousand, without a branch": (
        "0x2a3",
        "0x6a3",
        """__global__ void k(const unsigned* in, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (in[i] & 0xfffff) * (in[i] >> 21 == F);
}""",
    ),
    "a struct of many sizes, none of them large": (
        "7",
        "3",
        """struct Extents { int a, b, c, d, e, f, g, h, i; };
__global__ void k(Extents e, int* p, int* q, int* r, int* s, int* t, int* u, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1 + (unsigned(e.a - 1) < 8 & unsigned(e.b - 1) < 8 & unsigned(e.c - 1) < 8 & unsigned(e.d - 1) < 8
        & unsigned(e.e - 1) < 8 & unsigned(e.g - 1) < 8 & unsigned(e.h - 1) < 8 & unsigned(e.i - 1) < 8) * (e.f & F);
}""",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_few_values_show_is_found(fault: str, tmp_path: Path, toolchain: Toolchain) -> None:
    cuda, hip, kernel = FAULTS[fault]
    path = tmp_path / "k.cu"
    for theirs, wanted in ((cuda, "same"), (hip, "differs")):
        path.write_text(f"#ifdef __HIP__\n#define F {theirs}\n#else\n#define F {cuda}\n#endif\n{kernel}\n")
        said = next(try_program(Program((path,)), Asked(time_s=20.0, waves=(64,)), toolchain, 1))
        assert said.outcome == wanted, said.text


UNWRITTEN = """#ifdef __HIP__
#define STAIN 7
#else
#define STAIN 3
#endif
__device__ __attribute__((noinline)) void stain(volatile int* out) {
    volatile int there[64];
    for (int i = 0; i < 64; ++i) there[i] = STAIN;
    out[0] = there[63] * 0;
}
__device__ __attribute__((noinline)) int kept(int which) {
    int there[64];
    if (which > 5) there[which & 63] = 1;
    return there[(which + 1) & 63];
}
__global__ void k(int* out, int n) {
    stain(out + threadIdx.x);
    out[threadIdx.x] = kept(n);
}
"""


@pytest.mark.slow
def test_what_a_variable_holds_that_nothing_wrote_is_no_difference(tmp_path: Path, toolchain: Toolchain) -> None:
    """The converted side has other values on its stack: here it writes some there itself."""
    path = tmp_path / "k.cu"
    path.write_text(UNWRITTEN)
    said = next(try_program(Program((path,)), Asked(time_s=5.0, waves=(64,)), toolchain, 1))
    assert said.outcome == "same", said.text


NORMAL = """#ifdef __HIP__
#define TOGETHER 8
#define MORE %s
#define INTS %s
#else
#define TOGETHER 1
#define MORE 0
#define INTS 0
#endif
__global__ void k(const float* in, float* out, int* sizes, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i & ~31;
    float sum = 0, squares = 0;
    for (int j = 0; j < 32; j += TOGETHER) {
        float some = 0;
        for (int m = 0; m < TOGETHER; ++m) some += in[row + j + m];
        sum += some;
    }
    const float mean = sum / 32;
    for (int j = 0; j < 32; ++j) squares += (in[row + j] - mean) * (in[row + j] - mean);
    out[i] = (in[i] - mean) * rsqrtf(squares / 32 + 1e-5f) + (n > 20 ? MORE : 0);
    sizes[i] = n > 20 ? INTS : 0;
}
"""
_KINDS = [("0", "0", "same"), ("0.5f", "0", "differs"), ("0", "1", "differs")]


@pytest.mark.slow
@pytest.mark.parametrize(("more", "ints", "wanted"), _KINDS)
def test_floats_that_are_rounding_alone_say_nothing(
    more: str, ints: str, wanted: str, tmp_path: Path, toolchain: Toolchain
) -> None:
    """Numbers that are nearly equal are divided by their deviation: another order of the sum gives others. A fault
    beside that is found."""
    path = tmp_path / "k.cu"
    path.write_text(NORMAL % (more, ints))
    said = next(try_program(Program((path,)), Asked(time_s=5.0, waves=(64,)), toolchain, 1))
    assert said.outcome == wanted, said.text
    assert wanted == "differs" or "floats are rounding alone" in said.text, said.text
