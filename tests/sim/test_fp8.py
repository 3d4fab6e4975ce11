"""cu2port/fp8.hpp: CUDA's 8-bit floats, converted from CUDA's names, against exact arithmetic in Python."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from cu2port.catalog import load_catalog
from cu2port.verify import simulate

#: A format's name -> bits behind the point, bias of the exponent, bits of the largest number, and of what is larger.
FORMATS = {"e4m3": (3, 7, 0x7E, 0x7F), "e5m2": (2, 15, 0x7B, 0x7C)}


def value(kind: str, code: int) -> Fraction | float:
    fraction, bias, largest, over = FORMATS[kind]
    sign, size = (-1 if code & 0x80 else 1), code & 0x7F
    if size > largest:
        return sign * math.inf if size == over and kind == "e5m2" else math.nan
    exponent, rest = size >> fraction, size & ((1 << fraction) - 1)
    whole = rest + (1 << fraction if exponent else 0)
    return Fraction(sign * whole) * Fraction(2) ** (max(exponent, 1) - bias - fraction)


def rounded(kind: str, number: float, saturated: bool) -> int:
    """The bits that a number becomes: the nearest, of two the one with an even last bit."""
    largest, over = FORMATS[kind][2:]
    if math.isnan(number):
        return 0x7F
    sign = 0x80 if math.copysign(1, number) < 0 else 0
    size = abs(number)
    top = Fraction(value(kind, largest))
    step = top - Fraction(value(kind, largest - 1))
    if math.isinf(size) or Fraction(size) > top + step / 2 or (Fraction(size) == top + step / 2 and largest % 2):
        return sign | (largest if saturated else over)
    near = min(range(largest + 1), key=lambda c: (abs(Fraction(value(kind, c)) - Fraction(size)), c % 2))
    return sign | near


def numbers(kind: str) -> list[float]:
    """All numbers of a format, those half way between two, their neighbours in double, and special ones."""
    largest = FORMATS[kind][2]
    exact = [float(value(kind, c)) for c in range(largest + 1)]
    middle = [(a + b) / 2 for a, b in zip(exact, [*exact[1:], 2 * exact[-1] - exact[-2]], strict=True)]
    near = [math.nextafter(x, way) for x in middle for way in (0, math.inf)]
    found = [*exact, *middle, *near, 1e-40, 3e38, 1e300, 5e-324, math.inf]
    return [x for v in found for x in (v, -v)] + [math.nan]


def as_float(number: float) -> float:
    """A number as a `float`."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def source(kind: str) -> Iterator[str]:
    """A CUDA program that prints what conversions give, in hexadecimal."""
    yield "#include <cuda_fp8.h>\n#include <cuda_runtime.h>\n#include <cstdio>\n#include <cstring>\n"
    yield f"typedef __nv_fp8_{kind} T;\ntypedef __nv_fp8x2_{kind} T2;\ntypedef __nv_fp8x4_{kind} T4;\n"
    given = ", ".join(f"{struct.unpack('Q', struct.pack('d', x))[0]:#x}ull" for x in numbers(kind))
    yield f"__device__ const unsigned long long given[] = {{{given}}};\n"
    yield "__global__ void k(unsigned* to) {\n  for (auto word : given) {\n    double d; memcpy(&d, &word, 8);\n"
    yield "    const float f = float(d);\n"
    for mode in ("__NV_SATFINITE", "__NV_NOSAT"):
        end = f"{mode}, __NV_{kind.upper()});\n"
        yield f"    *to++ = __nv_cvt_float_to_fp8(f, {end}    *to++ = __nv_cvt_double_to_fp8(d, {end}"
        yield f"    *to++ = __nv_cvt_float2_to_fp8x2(make_float2(f, 1.0f), {end}"
        yield f"    *to++ = __nv_cvt_double2_to_fp8x2(make_double2(1.0, d), {end}"
    yield "    *to++ = T(f).__x; *to++ = T(d).__x; *to++ = T2(make_float2(1.0f, f)).__x;\n"
    yield "    *to++ = T4(make_float4(1.0f, f, 1.0f, f)).__x;\n  }\n  for (int c = 0; c < 256; ++c) {\n"
    yield "    T v; v.__x = c; T2 p; p.__x = c << 8 | c; T4 q; q.__x = c * 0x1010101u;\n"
    yield "    *to++ = __float_as_uint(float(v)); *to++ = __half_as_ushort(__half(v));\n"
    yield f"    *to++ = __half_raw(__nv_cvt_fp8_to_halfraw(c, __NV_{kind.upper()})).x;\n"
    yield f"    *to++ = __nv_bfloat16_raw(__nv_cvt_fp8_to_bf16raw(c, __NV_{kind.upper()})).x;\n"
    yield "    *to++ = __float_as_uint(float2(p).y); *to++ = __float_as_uint(float4(q).z);\n"
    yield "    *to++ = __float_as_uint(__half2float(__high2half(__half2(p))));\n"
    yield "    *to++ = (signed char)v & 255; *to++ = (unsigned char)v; *to++ = (int)v; *to++ = T(__half(v)).__x;\n"
    yield "    *to++ = T(__nv_bfloat16(v)).__x; *to++ = (bool)v;\n  }\n}\nint main() {\n  unsigned* to;\n"
    count = 12 * len(numbers(kind)) + 13 * 256
    yield "  cudaMallocManaged(&to, 1 << 20);\n  k<<<1, 1>>>(to);\n  cudaDeviceSynchronize();\n"
    yield f'  for (int i = 0; i < {count}; ++i) printf("%x\\n", to[i]);\n}}\n'


def whole(number: Fraction | float, low: int, high: int) -> int:
    """What a conversion to an integer gives: cut off, and clamped."""
    if isinstance(number, float):
        return 0 if math.isnan(number) else high if number > 0 else low
    return max(low, min(high, int(number)))


def codes(kind: str) -> Iterator[int]:
    """What the first part of the program prints."""
    one = rounded(kind, 1.0, True)
    for number in numbers(kind):
        for saturated in (True, False):
            f, d = rounded(kind, as_float(number), saturated), rounded(kind, number, saturated)
            yield from (f, d, f | one << 8, d << 8 | one)
        f, d = rounded(kind, as_float(number), True), rounded(kind, number, True)
        yield from (f, d, f << 8 | one, f << 24 | one << 16 | f << 8 | one)


@pytest.mark.parametrize("kind", FORMATS)
def test_numbers_of_8_bits(kind: str, build: Callable[[Path, int], Path], tmp_path: Path) -> None:
    path = tmp_path / "program.cu"
    path.write_text("".join(source(kind)))
    ran = simulate.run(build(path, 64), (), simulate.Limits(60), capture=True)
    assert ran.code == 0, ran.errors.decode()[:2000]
    printed = iter(int(x, 16) for x in ran.output.split())
    want = list(codes(kind))
    assert [next(printed) for _ in want] == want
    for code in range(256):
        number = value(kind, code)
        got = [next(printed) for _ in range(13)]
        bits = struct.unpack("I", struct.pack("f", float(number)))[0] if code != 0x80 else 0x80000000
        half = struct.unpack("H", struct.pack("e", float(number)))[0] if code != 0x80 else 0x8000
        if isinstance(number, float) and math.isnan(number):
            bits, half = got[0], 0x7FFF
            assert math.isnan(struct.unpack("f", struct.pack("I", bits))[0])
        back = 0x7F if isinstance(number, float) and math.isnan(number) else rounded(kind, float(number), True)
        if code == 0x80:
            back = 0x80
        assert got[:2] == [bits, half], hex(code)
        assert got[2] == half
        assert got.pop(3) == bits >> 16
        assert [x & 0x7FFFFFFF for x in got[3:6]] == [bits & 0x7FFFFFFF] * 3 or back == 0x7F
        assert got[6] == whole(number, -128, 127) & 255
        assert got[7:9] == [whole(number, 0, 255), whole(number, -(2**31), 2**31 - 1) % 2**32]
        assert got[9:] == [back, back, int(code & 0x7F != 0)]


def test_every_row_of_the_header_is_used() -> None:
    text = "".join(source("e4m3")) + "".join(source("e5m2"))
    named = {r.cuda for r in load_catalog() if r.helper == "fp8.hpp"}
    raw = {
        f"__nv_cvt_{x}" for x in ("halfraw_to_fp8", "bfloat16raw_to_fp8", "halfraw2_to_fp8x2", "bfloat16raw2_to_fp8x2")
    }
    assert {n for n in named if n not in text} == {*raw, "__nv_cvt_fp8x2_to_halfraw2", "__nv_cvt_fp8x2_to_bf162raw"}
