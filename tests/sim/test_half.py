"""cu2port/half.hpp: each function, converted from CUDA's name, against exact arithmetic in Python, for both types."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from cu2port.catalog import load_catalog
from cu2port.verify import simulate

NAN = math.nan
Real = Fraction | float  # a float where it is no number: an infinity, a NaN


@dataclass(frozen=True)
class Format:
    """A format of 16 bits with `fraction` bits behind the point: its names in CUDA, and how near its tanh must be."""

    fraction: int
    word: str
    scalar: str
    pair: str
    make: str
    bits: str
    split: tuple[str, str]
    join: str
    tanh_error: float

    @property
    def bias(self) -> int:
        return int(2 ** (14 - self.fraction)) - 1

    @property
    def infinity(self) -> int:
        return 0x7FFF >> self.fraction << self.fraction

    def value(self, bits: int) -> Real:
        sign, size = (-1 if bits >> 15 else 1), bits & 0x7FFF
        if size >= self.infinity:
            return NAN if size > self.infinity else sign * math.inf
        exponent, fraction = size >> self.fraction, size & ((1 << self.fraction) - 1)
        whole = fraction + (1 << self.fraction if exponent else 0)
        return Fraction(sign * whole) * Fraction(2) ** (max(exponent, 1) - self.bias - self.fraction)

    def rounded(self, value: Real, mode: str = "rn", negative: bool = False) -> int:
        """The bits nearest to a value by a mode of rounding. `negative`: the sign of a zero."""
        if isinstance(value, float):
            return self.infinity | (0x8000 if value < 0 else 0) if not math.isnan(value) else self.infinity + 1
        sign = value < 0 or (value == 0 and negative)
        size, low, high = abs(value), 0, self.infinity - 1
        while low < high:  # the largest that is not above
            middle = (low + high + 1) // 2
            low, high = (middle, high) if _exact(self, middle) <= size else (low, middle - 1)
        below, above = _exact(self, low), _exact(self, low + 1)
        up = {
            "rn": size - below > above - size or (size - below == above - size and low % 2 == 1),
            "rz": False,
            "ru": not sign,
            "rd": sign,
        }[mode]
        return (low + (size != below and up)) | (0x8000 if sign else 0)


def _exact(form: Format, size: int) -> Fraction:
    """A size as a number; infinity as what would follow the largest one."""
    exponent, fraction = size >> form.fraction, size & ((1 << form.fraction) - 1)
    whole = fraction + (1 << form.fraction if exponent else 0)
    return Fraction(whole) * Fraction(2) ** (max(exponent, 1) - form.bias - form.fraction)


HALF = Format(
    10, "half", "__half", "__half2", "__ushort_as_half", "__half_as_ushort", ("__low2half", "__high2half"),
    "__halves2half2", 2**-10.987,
)  # fmt: skip
BF16 = Format(
    7, "bfloat16", "__nv_bfloat16", "__nv_bfloat162", "__ushort_as_bfloat16", "__bfloat16_as_ushort",
    ("__low2bfloat16", "__high2bfloat16"), "__halves2bfloat162", 2**-8,
)  # fmt: skip

Operands = tuple[Real, Real, Real]


def _clamped(v: Real) -> Real:
    return Fraction(0) if math.isnan(v) else min(max(v, Fraction(0)), Fraction(1))


def _relu(v: Real) -> Real:
    return v if math.isnan(v) or v > 0 else Fraction(0)


def _larger(a: Real, b: Real, sign: int) -> Real:
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    return a if (a - b if a != b else 0) * sign > 0 else b


def _fma(a: Real, b: Real, c: Real) -> Real:
    if all(isinstance(x, Fraction) for x in (a, b, c)):
        return a * b + c
    return float(a) * float(b) + float(c)


def _add(a: Real, b: Real) -> Real:
    return a + b if isinstance(a, Fraction) and isinstance(b, Fraction) else float(a) + float(b)


def _multiply(a: Real, b: Real) -> Real:
    return a * b if isinstance(a, Fraction) and isinstance(b, Fraction) else float(a) * float(b)


def _divide(a: Real, b: Real) -> Real:
    if isinstance(a, Fraction):
        return a / b if isinstance(b, Fraction) else NAN if math.isnan(b) else Fraction(0)
    return float(a) / float(b)


#: CUDA's name, with what stands for a pair in place of `#` -> how many operands, and what comes out before rounding.
NUMBERS: dict[str, tuple[int, Callable[[Real, Real, Real], Real]]] = {
    "__hmax#": (2, lambda a, b, c: _larger(a, b, 1)),
    "__hmin#": (2, lambda a, b, c: _larger(a, b, -1)),
    "__hmax#_nan": (2, lambda a, b, c: NAN if math.isnan(a) or math.isnan(b) else _larger(a, b, 1)),
    "__hmin#_nan": (2, lambda a, b, c: NAN if math.isnan(a) or math.isnan(b) else _larger(a, b, -1)),
    "__hadd#_rn": (2, lambda a, b, c: _add(a, b)),
    "__hsub#_rn": (2, lambda a, b, c: _add(a, -b)),
    "__hmul#_rn": (2, lambda a, b, c: _multiply(a, b)),
    "__hadd#_sat": (2, lambda a, b, c: _clamped(_add(a, b))),
    "__hsub#_sat": (2, lambda a, b, c: _clamped(_add(a, -b))),
    "__hmul#_sat": (2, lambda a, b, c: _clamped(_multiply(a, b))),
    "__hfma#_sat": (3, lambda a, b, c: _clamped(b)),  # of the fma
    "__hfma#_relu": (3, lambda a, b, c: _relu(b)),
}
COMPARED: dict[str, Callable[[Real, Real], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b and not math.isnan(a) and not math.isnan(b),
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
MODES = ("rn", "rz", "rd", "ru")
WHOLE = {
    "int": (-(2**31), 2**31 - 1), "uint": (0, 2**32 - 1), "short": (-(2**15), 2**15 - 1), "ushort": (0, 2**16 - 1),
    "ll": (-(2**63), 2**63 - 1), "ull": (0, 2**64 - 1),
}  # fmt: skip
TYPES = {"uint": "unsigned", "ushort": "unsigned short", "ll": "long long", "ull": "unsigned long long"}


def words(form: Format) -> list[int]:
    """Numbers with all exponents, special ones, neighbours of one and of the middle between two."""
    rng = random.Random(form.fraction)
    edges = [0, 0x8000, 1, 0x8001, form.infinity, form.infinity | 0x8000, form.infinity + 1, form.infinity - 1]
    one = form.bias << form.fraction
    edges += [one, one | 0x8000, one + 1, one - 1, one - (1 << form.fraction), (one | 0x8000) + 1]
    near = [rng.randrange(one - (3 << form.fraction), one + (3 << form.fraction)) for _ in range(60)]
    found = edges + near + [x | 0x8000 for x in near[::2]] + [rng.randrange(0x10000) for _ in range(60)]
    quiet = 1 << (form.fraction - 1)
    return [x | quiet if x & 0x7FFF > form.infinity else x for x in found]


def operands(form: Format) -> list[tuple[int, int, int]]:
    rng = random.Random(99)
    given = words(form)
    return [(rng.choice(given), rng.choice(given), rng.choice(given)) for _ in range(200)] + [
        (x, x, 0) for x in given[:14]
    ]


def wholes(name: str) -> list[int]:
    """Integers of all lengths, and those about half way between two numbers of 8 bits or of 11."""
    low, high = WHOLE[name]
    rng = random.Random(name)
    found = {0, 1, low, high, high - 1}
    for bits in range(1, high.bit_length() + 1):
        found |= {rng.getrandbits(bits), (1 << bits) - 1, 1 << bits}
        if bits > 9:
            middle = (2 * rng.randrange(128, 256) + 1) << (bits - 9)
            found |= {middle - 1, middle, middle + 1}
        if bits > 12:
            middle = (2 * rng.randrange(1024, 2048) + 1) << (bits - 12)
            found |= {middle - 1, middle, middle + 1}
    return sorted(x for v in found for x in ((v, -v) if low else (v,)) if low <= x <= high)


def source(form: Format, given: list[tuple[int, int, int]]) -> Iterator[str]:
    """A CUDA program that prints a line a function: its name and its results on all operands, in hexadecimal."""
    yield "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_runtime.h>\n#include <cstdio>\n"
    yield f"typedef {form.scalar} T;\ntypedef {form.pair} T2;\n"
    yield f"__device__ T make(int x) {{ return {form.make}(static_cast<unsigned short>(x)); }}\n"
    yield f"__device__ unsigned bits(T x) {{ return {form.bits}(x); }}\n"
    low, high = form.split
    yield f"__device__ unsigned bits(T2 x) {{ return bits({low}(x)) | bits({high}(x)) << 16; }}\n"
    yield f"__device__ T2 both(T a, T b) {{ return {form.join}(a, b); }}\n"
    yield "struct three { int a, b, c; };\n__device__ const three given[] = {\n"
    yield "".join(f"{{{a}, {b}, {c}}},\n" for a, b, c in given) + "};\n"
    yield "struct out { const char* name; unsigned bits; };\n"
    for name in WHOLE:
        kind = TYPES.get(name, name)
        many = ", ".join(f"{v % 2**64:#x}ull" for v in wholes(name))
        yield f"__device__ const unsigned long long {name}s[] = {{{many}}};\n"
        yield f"__device__ void whole_{name}(unsigned* to) {{\n"
        yield f"  for (auto word : {name}s) {{ auto v = static_cast<{kind}>(word);\n"
        for mode in MODES:
            yield f"    *to++ = {form.bits}(__{name}2{form.word}_{mode}(v));\n"
        yield "  }\n}\n"
    yield "__global__ void to_wholes(unsigned long long* to) {\n  for (const three& g : given) {\n"
    yield "    const T a = make(g.a);\n"
    for name, mode in to_wholes():
        yield f"    *to++ = static_cast<unsigned long long>(__{form.word}2{name}_{mode}(a));\n"
    yield "  }\n}\n"
    yield "__global__ void k(unsigned* to) {\n  for (const three& g : given) {\n"
    yield "    const T a = make(g.a), b = make(g.b), c = make(g.c);\n"
    yield "    const T2 p = both(a, b), q = both(b, c), r = both(c, a); (void)r;\n"
    for call in calls():
        yield f"    *to++ = {call};\n"
    yield "  }\n}\n"
    yield "__global__ void w(unsigned* to, int which) {\n"
    yield "".join(f"  if (which == {i}) whole_{name}(to);\n" for i, name in enumerate(WHOLE)) + "}\n"
    yield "int main() {\n  unsigned* to;\n  cudaMallocManaged(&to, 1 << 22);\n  k<<<1, 1>>>(to);\n"
    yield f"  cudaDeviceSynchronize();\n  for (int i = 0; i < {len(given) * len(calls())}; ++i)"
    yield ' printf("%x\\n", to[i]);\n'
    for i, name in enumerate(WHOLE):
        yield f"  w<<<1, 1>>>(to, {i});\n  cudaDeviceSynchronize();\n"
        yield f'  for (int i = 0; i < {4 * len(wholes(name))}; ++i) printf("%x\\n", to[i]);\n'
    yield "  auto* wide = reinterpret_cast<unsigned long long*>(to);\n"
    yield "  to_wholes<<<1, 1>>>(wide);\n  cudaDeviceSynchronize();\n"
    yield f'  for (int i = 0; i < {len(given) * len(to_wholes())}; ++i) printf("%llx\\n", wide[i]);\n'
    yield "}\n"


def to_wholes() -> list[tuple[str, str]]:
    """The integer types of CUDA's conversions, and how each rounds."""
    return [(name, mode) for name in WHOLE for mode in MODES] + [("char", "rz"), ("uchar", "rz")]


def whole(value: Real, name: str, mode: str) -> int:
    """What CUDA makes of a number: its integer, or the nearest that the type has."""
    low, high = {**WHOLE, "char": (-128, 127), "uchar": (0, 255)}[name]
    if isinstance(value, float):
        return (2**63 if high >= 2**63 - 1 else 0) if math.isnan(value) else high if value > 0 else low
    below = math.floor(value)
    up = {"rn": round(value) > below, "rz": value < 0, "rd": False, "ru": True}[mode] and value != below
    return min(max(below + up, low), high)


def calls() -> list[str]:
    """One call a function: of numbers `a`, `b`, `c`, of pairs `p`, `q`, `r`."""
    found = []
    for name, (count, _) in NUMBERS.items():
        if name not in ("__hmax#", "__hmin#"):
            found.append(f"bits({name.replace('#', '')}({', '.join('abc'[:count])}))")
        found.append(f"bits({name.replace('#', '2')}({', '.join('pqr'[:count])}))")
    for op in COMPARED:
        found += [f"__h{op}2_mask(p, q)", f"__h{op}u2_mask(p, q)", f"bits(__h{op}u2(p, q))", f"__hb{op}u2(p, q)"]
    found += ["__hne(a, b)", "bits(__hne2(p, q))", "bits(__hgt2(p, q))", "__hbne2(p, q)", "__hisinf(a)"]
    found += ["bits(htanh(a))", "bits(htanh_approx(a))", "bits(h2tanh(p))", "bits(h2tanh_approx(p))"]
    return [*found, "bits(__hisnan2(p))", "bits(__hcmadd(p, q, r))"]


def fma(form: Format, a: Real, b: Real, c: Real) -> set[int]:
    """The bits of a * b + c; HIP's bfloat16 goes by way of float, which may decide a number half way between two."""
    exact = _fma(a, b, c)
    if form is HALF or not isinstance(exact, Fraction):
        return {form.rounded(exact)}
    return {form.rounded(exact * (1 + Fraction(k, 2**24))) for k in (-1, 0, 1)}


def wanted(form: Format, call: str, given: tuple[int, int, int]) -> Iterator[set[int] | float]:
    """Of each half of a result: the bits that it may have, or the number that it must be near."""
    a, b, c = (form.value(x) for x in given)
    name = call.removeprefix("bits(").partition("(")[0]
    if name == "__hisinf":
        yield {0 if not isinstance(a, float) or math.isnan(a) else 1 if a > 0 else 0xFFFF}
        return
    if name == "__hcmadd":
        for last, mine, sign, other in ((c, b, -1, c), (a, c, 1, b)):
            inner = fma(form, a, mine, last)
            yield set().union(*(fma(form, sign * b, other, form.value(x)) for x in inner))
        return
    op = name.removeprefix("__hb" if name.startswith("__hb") else "__h")[:2]
    pairs = ((a, b, c), (b, c, a))
    if op in COMPARED:
        true = [COMPARED[op](x, y) or ("u2" in name and (math.isnan(x) or math.isnan(y))) for x, y, _ in pairs]
        if "__hb" in name or "2" not in name:
            yield {int(all(true) if "__hb" in name else true[0])}
        else:
            yield from ({(0xFFFF if x else 0) if "mask" in name else form.rounded(Fraction(x))} for x in true)
        return
    for x, y, z in pairs if call[call.rindex("(") + 1] == "p" else pairs[:1]:
        if name == "__hisnan2":
            yield {form.rounded(Fraction(math.isnan(x)))}
        elif "tanh" in name:
            yield math.tanh(x)
        else:
            key = next(k for k in NUMBERS if name in (k.replace("#", ""), k.replace("#", "2")))
            come = NUMBERS[key][1]
            if "fma" in name:
                yield {form.rounded(come(x, form.value(v), z)) for v in fma(form, x, y, z)}
            else:
                yield {form.rounded(come(x, y, z))}


def same(form: Format, call: str, got: int, want: set[int] | float) -> bool:
    """Whether bits are among those wanted; zeros may differ in their sign, NaN in anything."""
    value = form.value(got)
    if isinstance(want, float):
        if math.isnan(want):
            return math.isnan(value)
        error = form.tanh_error if "approx" in call else 2.0 ** -(form.fraction + 1) * 1.001
        return not math.isnan(value) and abs(float(value) - want) <= error * min(1, abs(want) * 16 + 2**-6)
    if "bits(" in call and any(x & 0x7FFF > form.infinity for x in want):
        return math.isnan(value)
    return got in want or (got & 0x7FFF == 0 and bool(want & {0, 0x8000}))


@pytest.mark.slow
@pytest.mark.parametrize("form", [HALF, BF16], ids=["half", "bfloat16"])
def test_functions_of_halves_give_what_cuda_gives(
    form: Format, build: Callable[[Path, int], Path], tmp_path: Path
) -> None:
    given = operands(form)
    path = tmp_path / "program.cu"
    path.write_text("".join(source(form, given)))
    ran = simulate.run(build(path, 64), (), simulate.Limits(60), capture=True)
    assert ran.code == 0, ran.errors.decode()[:2000]
    lines = iter(int(x, 16) for x in ran.output.split())
    bad = []
    for three in given:
        for call in calls():
            got = next(lines)
            for i, want in enumerate(wanted(form, call, three)):
                if not same(form, call, got >> 16 * i & 0xFFFF, want):
                    bad.append((call, [f"{x:#x}" for x in three], i, hex(got), want))
    assert bad[:5] == []
    for name in WHOLE:
        for value in wholes(name):
            for mode in MODES:
                assert next(lines) == form.rounded(Fraction(value), mode), (name, mode, value)
    for one, _, _ in given:
        for name, mode in to_wholes():
            assert next(lines) == whole(form.value(one), name, mode) % 2**64, (name, mode, hex(one))
    assert next(lines, None) is None


#: Functions that CUDA has for the host, too -> how many operands, and what comes out before rounding.
ON_HOST: dict[str, tuple[int, Callable[[Real, Real, Real], Real]]] = {
    "__hadd": (2, lambda a, b, c: _add(a, b)),
    "__hsub": (2, lambda a, b, c: _add(a, -b)),
    "__hmul": (2, lambda a, b, c: _multiply(a, b)),
    "__hdiv": (2, lambda a, b, c: _divide(a, b)),
    "__hneg": (1, lambda a, b, c: -a),
    "__habs": (1, lambda a, b, c: -a if a < 0 else a),
    "__hmax": (2, lambda a, b, c: _larger(a, b, 1)),
    "__hmin": (2, lambda a, b, c: _larger(a, b, -1)),
    "__hfma": (3, _fma),
}


@pytest.mark.slow
def test_functions_of_halves_on_the_host(build: Callable[[Path, int], Path], tmp_path: Path) -> None:
    """The first sum is a little less than half way between two numbers, and half way as a `float`."""
    given = [(0x1001, 0x3BFE, 0x3C01), (0x7BFF, 0x3C00, 0x4C00), *operands(HALF)]
    lines = [
        "#include <cuda_fp16.h>",
        "#include <cuda_runtime.h>",
        "#include <cstdio>",
        "#include <cstring>",
        "struct three { int a, b, c; };",
    ]
    lines += ["const three given[] = {", *(f"{{{a}, {b}, {c}}}," for a, b, c in given), "};", "int main() {"]
    lines += ["  for (const three& g : given) {"]
    lines += [f"    const half {x} = __ushort_as_half(g.{x});" for x in "abc"]
    for name, (count, _) in ON_HOST.items():
        lines.append(f'    printf("%x\\n", __half_as_ushort({name}({", ".join("abc"[:count])})));')
    lines += [f'    printf("%x\\n", (unsigned)__h{op}(a, b));' for op in COMPARED if op != "ne"]
    lines += ["    const unsigned bits = static_cast<unsigned>(g.a) << 16 | g.b;", "    float f;"]
    lines += ["    memcpy(&f, &bits, sizeof f);"]
    lines += [f'    printf("%x\\n", __half_as_ushort(__float2half_{mode}(f)));' for mode in MODES[1:]]
    path = tmp_path / "program.cu"
    path.write_text("\n".join([*lines, '    printf("%x\\n", (unsigned)__hisnan(a));', "  }", "}", ""]))
    ran = simulate.run(build(path, 64), (), simulate.Limits(60), capture=True)
    assert ran.code == 0, ran.errors.decode()[:2000]
    printed = iter(int(x, 16) for x in ran.output.split())
    bad: list[tuple[str, tuple[int, int, int]]] = []
    for three in given:
        a, b, c = (HALF.value(x) for x in three)
        for name, (_, come) in ON_HOST.items():
            got = next(printed)
            if name == "__hdiv" and b == 0:
                continue
            if not same(HALF, f"bits({name}", got, {HALF.rounded(come(a, b, c))}):
                bad.append((name, three))
        bad += [(op, three) for op, f in COMPARED.items() if op != "ne" and next(printed) != f(a, b)]
        f = struct.unpack("f", struct.pack("I", three[0] << 16 | three[1]))[0]
        of_float = f if math.isnan(f) or math.isinf(f) else Fraction(f)
        for mode in MODES[1:]:
            if not same(HALF, "bits(", next(printed), {HALF.rounded(of_float, mode, three[0] >> 15 == 1)}):
                bad.append((mode, three))
        bad += [("isnan", three)] * (next(printed) != math.isnan(a))
    assert bad[:5] == []
    assert next(printed, None) is None


def test_every_function_of_the_header_is_called() -> None:
    named = {r.cuda for r in load_catalog() if r.helper == "half.hpp"}
    text = "".join([*source(BF16, [(0, 0, 0)]), *source(HALF, [(0, 0, 0)])])
    apart = {f"__float2{form.word}_{mode}" for form in (HALF, BF16) for mode in MODES[1:]}  # below, and on the host
    assert {n for n in named if n not in text} == apart
