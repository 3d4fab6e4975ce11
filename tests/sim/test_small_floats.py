"""cu2port/small_floats.hpp: CUDA's 4- and 6-bit floats and e8m0 scales, converted from CUDA's names, against Python."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from cu2port.catalog import load_catalog
from cu2port.verify import simulate

#: A format's name -> bits behind the point, bias of the exponent, bits without the sign.
FORMATS = {"fp4_e2m1": (1, 1, 3), "fp6_e2m3": (3, 1, 5), "fp6_e3m2": (2, 3, 5)}
MODES = ("cudaRoundNearest", "cudaRoundZero", "cudaRoundPosInf", "cudaRoundMinInf")
SCALE_MODES = MODES[:3]


def value(kind: str, code: int) -> Fraction:
    """The number that bits without a sign are."""
    fraction, bias, _ = FORMATS[kind]
    exponent, rest = code >> fraction, code & ((1 << fraction) - 1)
    return Fraction(rest + (1 << fraction if exponent else 0)) * Fraction(2) ** (max(exponent, 1) - bias - fraction)


def rounded(kind: str, number: float, mode: str) -> int:
    width = FORMATS[kind][2]
    largest = (1 << width) - 1
    if math.isnan(number):
        return largest
    sign = 1 << width if math.copysign(1, number) < 0 else 0
    if abs(number) >= value(kind, largest):
        return sign | largest
    size = Fraction(abs(number))
    if mode != "cudaRoundNearest":
        below = max(c for c in range(largest + 1) if value(kind, c) <= size)
        away = mode == ("cudaRoundMinInf" if sign else "cudaRoundPosInf")
        return sign | (below + (away and value(kind, below) != size))
    return sign | min(range(largest + 1), key=lambda c: (abs(value(kind, c) - size), c % 2))


def scale(number: float, saturated: bool, mode: str) -> int:
    """The exponent of a power of two by which a number is scaled, 127 added."""
    if math.isnan(number):
        return 0xFF
    if math.isinf(number):
        return 0xFE if saturated else 0xFF
    size = abs(number)
    below = max((c for c in range(0x180) if 2.0 ** (c - 127) <= size), default=0)
    rest = size / 2.0 ** (below - 127)
    more = {"cudaRoundZero": False, "cudaRoundPosInf": rest > 1, "cudaRoundNearest": rest >= 1.5}[mode]
    if below + more > 0xFE:
        return 0xFE if saturated or mode == "cudaRoundZero" else 0xFF
    return below + more


def numbers() -> list[float]:
    """All numbers of the formats, those half way between two, their neighbours in double, powers of two, the ends."""
    found = {0.0, 1e-40, 3e38, 1e300, 5e-324, math.inf, *(2.0**e for e in range(-150, 129, 9)), 2.0**-127, 2.0**127}
    for kind, (_, _, width) in FORMATS.items():
        exact = [float(value(kind, c)) for c in range(1 << width)]
        found |= {*exact, *((a + b) / 2 for a, b in pairwise(exact)), exact[-1] * 1.5}
    found |= {math.nextafter(x, way) for x in found for way in (0, math.inf)}
    return [x for v in sorted(found) for x in (v, -v)] + [math.nan]


def as_float(number: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def source() -> Iterator[str]:
    """A CUDA program that prints what conversions give, in hexadecimal."""
    yield "#include <cuda_fp4.h>\n#include <cuda_fp6.h>\n#include <cuda_fp8.h>\n#include <cuda_runtime.h>\n"
    yield "#include <cstdio>\n#include <cstring>\n"
    given = ", ".join(f"{struct.unpack('Q', struct.pack('d', x))[0]:#x}ull" for x in numbers())
    yield f"__device__ const unsigned long long given[] = {{{given}}};\n"
    yield "__global__ void k(unsigned* to) {\n  for (auto word : given) {\n    double d; memcpy(&d, &word, 8);\n"
    yield "    const float f = float(d);\n    const double2 pair = make_double2(1.0, d);\n"
    for kind in FORMATS:
        fp, end = kind[:3], f"__NV_{kind[4:].upper()}, "
        for mode in MODES:
            yield f"    *to++ = __nv_cvt_float_to_{fp}(f, {end}{mode});\n"
            yield f"    *to++ = __nv_cvt_double_to_{fp}(d, {end}{mode});\n"
            yield f"    *to++ = __nv_cvt_float2_to_{fp}x2(make_float2(f, 1.0f), {end}{mode});\n"
            yield f"    *to++ = __nv_cvt_double2_to_{fp}x2(pair, {end}{mode});\n"
        two, four = (f"__nv_{kind.replace('_', f'x{n}_')}" for n in (2, 4))
        yield f"    *to++ = __nv_{kind}(f).__x; *to++ = __nv_{kind}(d).__x; *to++ = {two}(make_float2(1.0f, f)).__x;\n"
        yield f"    *to++ = {four}(make_float4(1.0f, f, 1.0f, f)).__x;\n"
    for saturate in ("__NV_SATFINITE", "__NV_NOSAT"):
        for mode in SCALE_MODES:
            end = f"{saturate}, {mode})"
            yield f"    *to++ = __nv_cvt_float_to_e8m0(f, {end}; *to++ = __nv_cvt_double_to_e8m0(d, {end};\n"
            yield f"    *to++ = __nv_cvt_float2_to_e8m0x2(make_float2(1.0f, f), {end};\n"
            yield f"    *to++ = __nv_cvt_double2_to_e8m0x2(pair, {end};\n"
    yield "    *to++ = __nv_fp8_e8m0(f).__x; *to++ = __nv_fp8x2_e8m0(make_float2(f, 1.0f)).__x;\n"
    yield "    *to++ = __nv_fp8x4_e8m0(make_float4(1.0f, f, 1.0f, f)).__x;\n  }\n"
    for kind, (_, _, width) in FORMATS.items():
        fp, two = kind[:3], f"__nv_{kind.replace('_', 'x2_')}"
        step = 4 if fp == "fp4" else 8
        yield f"  for (int c = 0; c < {2 << width}; ++c) {{\n    __nv_{kind} v; v.__x = c;\n"
        yield f"    {two} p; p.__x = c << {step} | 1;\n"
        yield "    *to++ = __float_as_uint(float(v)); *to++ = __half_as_ushort(__half(v));\n"
        yield f"    *to++ = __half_raw(__nv_cvt_{fp}_to_halfraw(c, __NV_{kind[4:].upper()})).x;\n"
        yield f"    *to++ = __nv_bfloat16_raw(__nv_cvt_{fp}_to_bf16raw(c, __NV_{kind[4:].upper()})).x;\n"
        yield "    *to++ = __float_as_uint(float2(p).y); *to++ = (int)v; *to++ = (unsigned char)v; *to++ = (bool)v;\n"
        yield f"    *to++ = __nv_{kind}(__half(v)).__x; *to++ = __nv_{kind}(__nv_bfloat16(v)).__x;\n  }}\n"
    yield "  for (int c = 0; c < 256; ++c) {\n    __nv_fp8_e8m0 v; v.__x = c;\n    *to++ = __float_as_uint(float(v));\n"
    yield "    *to++ = __nv_bfloat16_raw(__nv_cvt_e8m0_to_bf16raw(c)).x; *to++ = __nv_fp8_e8m0(double(v)).__x;\n  }\n"
    for integer in ("1", "3u", "-5ll", "(1ull << 40) + 1"):
        yield f"  *to++ = __nv_fp8_e8m0({integer}).__x; *to++ = __nv_fp6_e3m2({integer}).__x;\n"
    yield "}\nint main() {\n  unsigned* to;\n  cudaMallocManaged(&to, 1 << 22);\n  k<<<1, 1>>>(to);\n"
    yield "  cudaDeviceSynchronize();\n"
    yield f'  for (int i = 0; i < {len(list(wanted()))}; ++i) printf("%x\\n", to[i]);\n}}\n'


def wanted() -> Iterator[int]:
    """What the program prints."""
    for d in numbers():
        f = as_float(d)
        for kind, (_, _, width) in FORMATS.items():
            step = 4 if width == 3 else 8
            for mode in MODES:
                small, large, one = (rounded(kind, x, mode) for x in (f, d, 1.0))
                yield from (small, large, small | one << step, large << step | one)
            small, large, one = (rounded(kind, x, "cudaRoundNearest") for x in (f, d, 1.0))
            two = small << step | one
            yield from (small, large, two, two << 2 * step | two)
        for saturated in (True, False):
            for mode in SCALE_MODES:
                small, large = scale(f, saturated, mode), scale(d, saturated, mode)
                if math.isinf(f) and not math.isinf(d) and mode == "cudaRoundZero":
                    large = 0xFE
                yield from (small, large, small << 8 | 127, large << 8 | 127)
        small = scale(f, True, "cudaRoundPosInf")
        yield from (small, 127 << 8 | small, (small << 8 | 127) * 0x10001)
    for kind, (_, _, width) in FORMATS.items():
        for code in range(2 << width):
            size, sign = value(kind, code & ((1 << width) - 1)), -1 if code >> width else 1
            number = math.copysign(float(size), sign)
            bits, half = (struct.unpack(i, struct.pack(j, number))[0] for i, j in (("I", "f"), ("H", "e")))
            whole = int(number)
            yield from (bits, half, half, bits >> 16, bits, whole % 2**32, max(whole, 0), int(size != 0), code, code)
    for code in range(256):
        bits = 0x7FFF if code == 255 else code << 7 if code else 0x40
        yield from (bits << 16, bits, code)
    for number in (1, 3, -5, 2**40 + 1):
        yield from (scale(number, True, "cudaRoundPosInf"), rounded("fp6_e3m2", number, "cudaRoundNearest"))


def test_numbers_of_4_and_6_bits_and_scales(build: Callable[[Path, int], Path], tmp_path: Path) -> None:
    path = tmp_path / "program.cu"
    path.write_text("".join(source()))
    ran = simulate.run(build(path, 64), (), simulate.Limits(60), capture=True)
    assert ran.code == 0, ran.errors.decode()[:2000]
    assert [int(x, 16) for x in ran.output.split()] == list(wanted())


def test_every_row_of_the_header_is_used() -> None:
    text = "".join(source())
    named = {r.cuda for r in load_catalog() if r.helper == "small_floats.hpp"}
    raw = {
        f"__nv_cvt_{x}raw{n}_to_{fp}{'x2' if n else ''}"
        for x in ("half", "bfloat16")
        for n in ("", "2")
        for fp in ("fp4", "fp6")
    }
    raw |= {"__nv_cvt_bfloat16raw_to_e8m0", "__nv_cvt_bfloat162raw_to_e8m0x2", "__nv_cvt_e8m0x2_to_bf162raw"}
    raw |= {
        "__nv_cvt_fp4x2_to_halfraw2",
        "__nv_cvt_fp6x2_to_halfraw2",
        "__nv_cvt_fp4x2_to_bf162raw",
        "__nv_cvt_fp6x2_to_bf162raw",
        "cudaRoundMode",
    }
    rest = {n for n in named if n not in text} - raw
    assert {n for n in rest if "storage_t" not in n and "interpretation_t" not in n} == set()
