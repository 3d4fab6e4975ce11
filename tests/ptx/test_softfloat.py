"""Floats in Python are right: against the processor in every rounding mode, and against tables of all numbers."""

from __future__ import annotations

import math
import shutil
import struct
import subprocess
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import pytest

from cu2port.ptx import approx, softfloat
from cu2port.ptx.softfloat import FORMATS, Format, is_inf, is_nan, unpack

MODES = ("rn", "rz", "rm", "rp")
SMALL = ("f16", "bf16", "e5m2", "e4m3", "e3m2", "e2m3", "e2m1")


def marks(f: Format) -> list[int]:
    """Patterns at which things change, and their neighbours."""
    one = f.bias << f.fraction
    out = [0, 1, 2, (1 << f.fraction) - 1, 1 << f.fraction, (1 << f.fraction) + 1, one - 1, one, one + 1, one + 2]
    out += [one + (1 << f.fraction - 1), one + (1 << f.fraction), f.largest - 1, f.largest, f.infinity, f.canonical]
    out += [one - (f.fraction << f.fraction), one - (f.fraction + 1 << f.fraction), one + (f.fraction << f.fraction)]
    return [p | s for p in dict.fromkeys(out) for s in (0, f.sign)]


def pattern(f: Format, rng: Random, near: int | None = None) -> int:
    """Any pattern, or one whose exponent is within the fraction's width of `near`'s."""
    if near is None or rng.random() < 0.3:
        return rng.getrandbits(f.bits)
    exponent = (near >> f.fraction & (1 << f.exponent) - 1) + rng.randint(-f.fraction - 3, f.fraction + 3)
    exponent = max(0, min((1 << f.exponent) - 2, exponent))
    fraction = rng.getrandbits(f.fraction) & -(1 << rng.randrange(f.fraction))  # often few bits: ties
    return rng.getrandbits(1) * f.sign | exponent << f.fraction | fraction


PROGRAM = """
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
template <class T, class U> T as(U u) { T t; std::memcpy(&t, &u, sizeof t); return t; }
template <class T, class B> void all(const std::uint64_t* in, std::uint64_t* out) {
    volatile T a = as<T>(B(in[0])), b = as<T>(B(in[1])), c = as<T>(B(in[2]));
    volatile T r[] = {T(a + b), T(a - b), T(a * b), T(a / b), std::sqrt(a), std::fma(a, b, c), std::nearbyint(a)};
    for (int i = 0; i < 7; ++i) out[i] = as<B>(T(r[i]));
    volatile std::int64_t s = std::int64_t(in[0]);
    volatile std::uint64_t u = in[0];
    volatile T f = T(s), g = T(u);
    out[7] = as<B>(T(f));
    out[8] = as<B>(T(g));
}
int main() {
    const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::uint64_t in[3], out[10];
    while (std::fread(in, 8, 3, stdin) == 3)
        for (int mode : modes) {
            std::fesetround(mode);
            all<float, std::uint32_t>(in, out);
            volatile double d = as<double>(in[0]);
            volatile float f = float(d);
            out[9] = as<std::uint32_t>(float(f));
            std::fwrite(out, 8, 10, stdout);
            all<double, std::uint64_t>(in, out);
            out[9] = as<std::uint64_t>(double(as<float>(std::uint32_t(in[0]))));
            std::fwrite(out, 8, 10, stdout);
        }
}
"""


def vectors(rng: Random, count: int) -> Iterator[tuple[int, int, int]]:
    """Three numbers whose low 32 bits, and all of whose 64 bits, are floats worth trying."""
    f64, f32 = FORMATS["f64"], FORMATS["f32"]
    for i in range(count):
        if i % 2:
            a = rng.choice(marks(f32)) if i % 4 == 1 else pattern(f32, rng)
            b, c = pattern(f32, rng, a), pattern(f32, rng, a)
            if i % 8 == 5:  # few bits through many: the quotient is long, its first bits may look exact
                a, b = rng.getrandbits(4) | 1, 0x0D800000 | rng.getrandbits(23)
            if i % 8 == 3:  # c close to -a*b: the sum cancels
                c = softfloat.mul(a, b, f32) ^ f32.sign
            above = rng.getrandbits(32) << 32, rng.getrandbits(32) << 32, rng.getrandbits(32) << 32
            yield a | above[0], b | above[1], c | above[2]
        else:
            a = rng.choice(marks(f64)) if i % 4 == 2 else pattern(f64, rng)
            b, c = pattern(f64, rng, a), pattern(f64, rng, a)
            if i % 8 == 6:
                a, b = rng.getrandbits(4) | 1, 0x064 << 52 | rng.getrandbits(52)
            if i % 8 == 4:
                c = softfloat.mul(a, b, f64) ^ f64.sign
            yield a, b, c


def answers(f: Format, mode: str, a: int, b: int, c: int, whole: int) -> list[int]:
    s = whole - (1 << 64) if whole >> 63 else whole
    return [
        softfloat.add(a, b, f, mode),
        softfloat.add(a, softfloat.negated(b, f), f, mode),
        softfloat.mul(a, b, f, mode),
        softfloat.div(a, b, f, mode),
        softfloat.sqrt(a, f, mode),
        softfloat.fma(a, b, c, f, mode),
        softfloat.to_integral(a, f, mode),
        softfloat.from_integer(s, f, mode),
        softfloat.from_integer(whole, f, mode),
    ]


NAMES = ("add", "sub", "mul", "div", "sqrt", "fma", "to_integral", "from s64", "from u64", "convert")


def compare(tmp_path: Path, count: int) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    source, binary = tmp_path / "modes.cpp", tmp_path / "modes"
    source.write_text(PROGRAM)
    subprocess.run([compiler, "-O0", "-frounding-math", "-w", "-o", str(binary), str(source)], check=True)
    tried = list(vectors(Random(7), count))
    sent = b"".join(struct.pack("<3Q", *v) for v in tried)
    got = subprocess.run([binary], input=sent, capture_output=True, check=True).stdout
    at, wrong = 0, []
    for vector in tried:
        for mode in MODES:
            for name in ("f32", "f64"):
                f = FORMATS[name]
                given = struct.unpack_from("<10Q", got, at)
                at += 80
                a, b, c = (x & (1 << f.bits) - 1 for x in vector)
                wanted = answers(f, mode, a, b, c, vector[0])
                source_format, bits = (
                    (FORMATS["f64"], vector[0]) if name == "f32" else (FORMATS["f32"], vector[0] & 0xFFFFFFFF)
                )
                wanted.append(softfloat.converted(bits, source_format, f, mode))
                for what, x, y in zip(NAMES, wanted, given, strict=True):
                    if x != y and not (is_nan(x, f) and is_nan(y, f)):
                        wrong.append(f"{what}.{mode}.{name} {[hex(v) for v in vector]}: {x:#x}, the processor {y:#x}")
    assert at == len(got)
    assert not wrong, f"{len(wrong)} differ:\n" + "\n".join(wrong[:20])


def test_processor_agrees(tmp_path: Path) -> None:
    compare(tmp_path, 600)


@pytest.mark.exhaustive
def test_processor_agrees_on_many(tmp_path: Path) -> None:
    compare(tmp_path, 40_000)


# --- small formats: every number in a table ---------------------------------------------------------------------------


def exact(x: int, f: Format) -> Fraction:
    sign, m, e = unpack(x, f)
    return Fraction(-m if sign else m) * Fraction(2) ** e


@cache
def table(f: Format) -> list[int]:
    """The numbers from 0 to one beyond the largest, in units of the smallest; the index is the pattern."""
    values = [m << e - f.lowest for _, m, e in (unpack(x, f) for x in range(f.largest + 1))]
    return [*values, 2 * values[-1] - values[-2]]


def nearest(value: Fraction, negative: bool, f: Format, mode: str) -> int:
    """`value` rounded by looking it up, overflow as the format has it."""
    numbers, size = table(f), abs(value) / Fraction(2) ** f.lowest
    sign = f.sign if negative else 0
    size = min(size, Fraction(numbers[-1]))
    low = bisect_right(numbers, size) - 1
    high = bisect_left(numbers, size)
    out = high
    if low != high and mode in ("rn", "rna"):
        below, above = size - numbers[low], numbers[high] - size
        to_high = above < below or (above == below and (mode == "rna" or low & 1))
        out = high if to_high else low
    elif low != high:
        out = high if mode != "rz" and (mode == "rp") != negative else low
    if out <= f.largest:
        return out | sign
    inward = mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative)
    beyond = f.infinity if f.infinite else f.canonical if f.nan else f.largest
    return (f.largest if inward else beyond) | sign


def test_packing_of_python_agrees() -> None:
    """struct rounds to f16 and f32."""
    rng = Random(3)
    for _ in range(3000):
        a = pattern(FORMATS["f64"], rng, (1023 + rng.randint(-26, 17)) << 52)
        if is_nan(a, FORMATS["f64"]):
            continue
        value = struct.unpack("<d", struct.pack("<Q", a))[0]
        try:
            wanted = struct.unpack("<H", struct.pack("<e", value))[0]
        except OverflowError:
            wanted = 0x7C00 | 0x8000 * (value < 0)
        assert softfloat.converted(a, FORMATS["f64"], FORMATS["f16"]) == wanted


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("mode", (*MODES, "rna"))
def test_conversion_is_the_nearest_in_the_table(name: str, mode: str) -> None:
    f, source, rng = FORMATS[name], FORMATS["f32"], Random(11)
    middles = [x << source.fraction - f.fraction for x in marks(f)] if f.exponent == 8 else []
    for _ in range(300):
        near = (127 + rng.randint(-(1 << f.exponent - 1) - f.fraction, 1 << f.exponent - 1)) << 23
        middles.append(pattern(source, rng, max(near, 0)))
    for x in range(0, f.largest, max(1, f.largest // 200)):  # halfway cases, and a little beside them
        tie = nearest_f32(Fraction(table(f)[x] + table(f)[x + 1], 2) * Fraction(2) ** f.lowest)
        middles += [tie, tie + 1, max(tie - 1, 0), tie | source.sign]
    for a in middles:
        if is_nan(a, source) or is_inf(a, source):
            continue
        got = softfloat.converted(a, source, f, mode)
        value = exact(a, source)
        wanted = nearest(value, bool(a & source.sign), f, mode)
        assert got == wanted, f"{a:#x}: {got:#x}, the table {wanted:#x}"
        clamped = softfloat.converted(a, source, f, mode, satfinite=True)
        assert clamped == (wanted if wanted & f.sign - 1 <= f.largest else f.largest | wanted & f.sign)


def nearest_f32(value: Fraction) -> int:
    return int(struct.unpack("<I", struct.pack("<f", float(value)))[0])


@pytest.mark.parametrize("name", ("f16", "bf16"))
def test_half_arithmetic_is_the_nearest_in_the_table(name: str) -> None:
    f, rng = FORMATS[name], Random(5)
    operations: dict[str, tuple[Callable[..., int], Callable[..., Fraction]]] = {
        "add": (softfloat.add, lambda a, b, c: a + b),
        "mul": (softfloat.mul, lambda a, b, c: a * b),
        "fma": (softfloat.fma, lambda a, b, c: a * b + c),
    }
    for _ in range(1500):
        a = rng.choice(marks(f)) if rng.random() < 0.3 else pattern(f, rng)
        b, c = pattern(f, rng, a), pattern(f, rng, a)
        if any(is_nan(x, f) or is_inf(x, f) for x in (a, b, c)):
            continue
        x, y, z = (exact(v, f) for v in (a, b, c))
        for what, (operation, truth) in operations.items():
            value = truth(x, y, z)
            if value == 0:
                continue
            got = operation(a, b, c, f) if what == "fma" else operation(a, b, f)
            wanted = nearest(value, value < 0, f, "rn")
            assert got == wanted, f"{what} {a:#x} {b:#x} {c:#x}: {got:#x}, the table {wanted:#x}"


def test_least_and_most() -> None:
    f = FORMATS["f32"]
    assert softfloat.least(0, 1 << 31, f) == 1 << 31
    assert softfloat.least(0, 1 << 31, f, most=True) == 0
    assert softfloat.least(0x7FC00000, 5, f) == 5
    assert softfloat.least(0x7FC00000, 5, f, nan=True) == 0x7FFFFFFF
    rng = Random(2)
    for _ in range(2000):
        a, b = (pattern(FORMATS["f64"], rng) for _ in "ab")
        x, y = (struct.unpack("<d", struct.pack("<Q", v))[0] for v in (a, b))
        if x != x or y != y:
            continue
        assert softfloat.least(a, b, FORMATS["f64"]) == (a if x < y else b)
        assert softfloat.least(a, b, FORMATS["f64"], most=True) == (a if x > y else b)


# --- functions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(approx.FUNCTIONS))
def test_function_is_what_mathematics_says(name: str) -> None:
    """Within a few units of the last place of a double of Python's own functions."""
    truths: dict[str, Callable[[float], float]] = {
        "sin": math.sin,
        "cos": math.cos,
        "lg2": lambda x: math.log2(abs(x)),
        "ex2": lambda x: math.pow(2, x),
        "tanh": math.tanh,
        "rsqrt": lambda x: 1 / math.sqrt(abs(x)),
        "rcp": lambda x: 1 / x,
        "sqrt": lambda x: math.sqrt(abs(x)),
    }
    rng, f = Random(9), FORMATS["f64"]
    for _ in range(400):
        x = rng.uniform(-40, 40) if rng.random() < 0.7 else math.ldexp(rng.uniform(-1, 1), rng.randint(-60, 6))
        if x == 0:
            continue
        x = abs(x) if name in ("lg2", "rsqrt", "sqrt") else x
        bits = struct.unpack("<Q", struct.pack("<d", x))[0]
        got = struct.unpack("<d", struct.pack("<Q", approx.FUNCTIONS[name](bits, f)))[0]
        assert math.isclose(got, truths[name](x), rel_tol=1e-15, abs_tol=1e-15 if name == "lg2" else 0), x


def test_functions_at_their_edges() -> None:
    f = FORMATS["f32"]
    inf, nan, minus = f.infinity, f.canonical, f.sign
    assert [approx.sin(x, f) for x in (0, minus, inf, nan)] == [0, minus, nan, nan]
    assert [approx.cos(x, f) for x in (0, minus, inf)] == [0x3F800000, 0x3F800000, nan]
    assert [approx.lg2(x, f) for x in (0, minus, inf, 0xBF800000, 1)] == [
        inf | minus,
        inf | minus,
        inf,
        nan,
        0xC3150000,
    ]
    assert [approx.ex2(x, f) for x in (0, inf, inf | minus, 0x43000000, 0xC3150000)] == [0x3F800000, inf, 0, inf, 1]
    assert [approx.tanh(x, f) for x in (minus, inf, inf | minus, 1)] == [minus, 0x3F800000, 0xBF800000, 1]
    assert [approx.rsqrt(x, f) for x in (0, minus, inf, 0xBF800000)] == [inf, inf | minus, 0, nan]
    assert approx.sin(0x7F7FFFFF, f) == 0xBF0599B3  # the largest float, 53 times wider than pi has bits in a double
