"""The helper headers: what rows promise is declared, and computes what CUDA computes.

Functions on packed bytes and halfwords run on the CPU, against a slow reference in Python of CUDA's math API. Groups of
threads run as fibers that exchange words lane by lane. With HIP's headers (CU2PORT_TEST_ROCM) both compile for the GPU.
"""

from __future__ import annotations

import math
import os
import random
import re
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from amd_code import machine_code

from cu2port.catalog import load_catalog
from cu2port.core.model import Options, Outcome
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService
from cu2port.syntax.lexer import lex

HEADERS = Path(__file__).resolve().parent.parent / "translator" / "cu2port" / "include" / "cu2port"
PROGRAMS = Path(__file__).resolve().parent / "headers"
#: gcc and clang take different branches of the headers.
COMPILERS = {"gcc": ("g++",), "clang": ("clang++-22", "clang++")}
Words = tuple[int, ...]


def targets(header: str) -> list[str]:
    """What rows take from a header, sorted: `vadd2`, which stands for `cu2port::vadd2`."""
    rows = [r for r in load_catalog() if r.helper == header]
    names = {
        hip for r in rows for hip in (r.hip, r.older_hip, *(f.hip for f in r.forms)) if hip.startswith("cu2port::")
    }
    return sorted(n.removeprefix("cu2port::") for n in names)


def helpers() -> list[str]:
    return sorted({r.helper for r in load_catalog()} - {""})


@pytest.fixture(params=sorted(COMPILERS))
def compiler(request: pytest.FixtureRequest) -> str:
    """A C++ compiler of this machine."""
    path = next(filter(None, map(shutil.which, COMPILERS[request.param])), None)
    if path is None:
        pytest.skip(f"no {request.param} for C++ here")
    return path


def built(compiler: str, source: str, folder: Path) -> Path:
    """A program made from C++14; undefined behaviour stops it."""
    file, program = folder / "program.cpp", folder / "program"
    file.write_text(source)
    # gnu: g++ takes hexadecimal floats of C++17 then, as clang, which HIP compiles with, does anyway
    command = [compiler, "-std=gnu++14", "-Wall", "-Wextra", "-Werror", f"-I{HEADERS.parent}"]
    command += ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-D__host__=", "-D__device__="]
    done = subprocess.run([*command, str(file), "-o", str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return program


def stub(folder: Path, header: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A header in place of one of AMD's, which `built` finds."""
    (folder / header).parent.mkdir(exist_ok=True)
    (folder / header).write_text(text)
    monkeypatch.setenv("CPLUS_INCLUDE_PATH", str(folder))


# --- all headers ------------------------------------------------------------------------------------------------------


def test_headers_say_what_they_are() -> None:
    """The first line marks them as ours, so that a conversion leaves them alone; the second line permits copies."""
    for path in sorted(HEADERS.glob("*.hpp")):
        lines = path.read_text(encoding="ascii").splitlines()
        assert lines[0].startswith(f"// cu2port {path.stem}: "), path.name
        assert "freely, in any project" in " ".join(lines[1:3]), path.name
        assert max(map(len, lines)) <= 120, path.name
    assert {f"{h}" for h in helpers()} <= {p.name for p in HEADERS.glob("*.hpp")}


def test_no_name_is_one_that_programs_have_as_a_macro() -> None:
    """HIP's own headers compile with `-D N=5`, `-D M=16`; so must ours. `T` their own templates have too."""
    for path in sorted(HEADERS.glob("*.hpp")):
        tokens = lex(path.read_text(encoding="ascii")).t
        short = {t for t in tokens if re.fullmatch(r"[A-SU-Z]|[A-E][0-9]|[TV][A-D]", t)}
        assert short <= ({"X"} if path.name == "simd.hpp" else set()), path.name  # a macro's parameter


#: Names of number types, as macros that are no names.
MACROS = "".join(f"#define {n} 1.5\n" for n in ("b1", "f16", "f32", "f64", "s32", "s64", "tf32", "u8", "u64", "u128"))
KEPT = 'static_assert(f64 == 1.5 && u64 == 1.5, "");\n'


def test_macros_of_number_types_do_no_harm(compiler: str, tmp_path: Path) -> None:
    """Some programs are compiled with `-Df64`; their macros are there again behind the headers."""
    headers = "".join(f'#include "cu2port/{h}"\n' for h in ("ptx.hpp", "mma.hpp"))
    built(compiler, MACROS + headers + KEPT + MAIN, tmp_path)


def test_in_c_the_headers_are_empty(tmp_path: Path) -> None:
    """A C source may include a header of the project that has device code for CUDA sources."""
    gcc = shutil.which("gcc") or shutil.which("clang")
    if gcc is None:
        pytest.skip("no C compiler")
    (tmp_path / "a.c").write_text("".join(f"#include <cu2port/{h}>\n" for h in sorted(helpers())) + "int n;\n")
    command = [gcc, "-std=c99", "-Wall", "-Werror", f"-I{HEADERS.parent}", "-E", "-P", str(tmp_path / "a.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["int", "n;"]), done.stderr[:2000]


def test_headers_may_be_in_a_block_of_extern_c(compiler: str, tmp_path: Path) -> None:
    """A header with device code may be included between `extern "C" {` and its end, as nvcc's programs do it."""
    text = 'extern "C" {\n#include <cu2port/ptx.hpp>\n#include <cu2port/simd.hpp>\n}\n'
    built(compiler, text + "int main() { return cu2port::ptx::bfe_u32(1, 1, 1); }\n", tmp_path)


def test_rows_with_a_target_of_ours_name_its_header() -> None:
    wrong = [r.cuda for r in load_catalog() if "cu2port::" in f"{r.hip} {r.older_hip} {r.call}" and not r.helper]
    assert not wrong


WITH_HIP = set(
    "blas.hpp complex.hpp fp8.hpp gather.hpp gl.hpp half.hpp nvtx.hpp pinned.hpp pipeline.hpp rounding.hpp "
    "small_floats.hpp stream.hpp surface.hpp texture.hpp thread_load.hpp warp.hpp wmma.hpp".split()
)


@pytest.mark.parametrize("header", sorted({*helpers()} - WITH_HIP))
def test_targets_of_rows_are_declared(header: str, compiler: str, tmp_path: Path) -> None:
    names = targets(header)
    assert names
    declared = "".join(f"using cu2port::{n};\n" for n in names)  # in a namespace: the C library has some of these names
    built(compiler, f'#include "cu2port/{header}"\nnamespace names {{\n{declared}}}\n{MAIN}', tmp_path)


MAIN = "int main() {}\n"

# --- host_math.hpp ----------------------------------------------------------------------------------------------------


#: What only the compiler of HIP has a use for. Headers of a project that both sides include may include them.
DEVICE_ONLY = (
    "fp8", "gather", "half", "half_atomic", "half_host", "pipeline", "rounding", "small_floats", "solo", "solo_groups",
    "surface", "thread_load",
)  # fmt: skip


def test_for_the_host_s_compiler_headers_of_the_device_are_empty(compiler: str, tmp_path: Path) -> None:
    source = tmp_path / "a.cpp"
    source.write_text("".join(f'#include "cu2port/{name}.hpp"\n' for name in (*DEVICE_ONLY, "wmma")))
    subprocess.run([compiler, "-std=c++14", f"-I{HEADERS.parent}", "-fsyntax-only", str(source)], check=True)


def test_functions_of_the_device_on_the_host(compiler: str, tmp_path: Path) -> None:
    """Against Python's: quarter turns are exact, also for negative and large numbers, and nothing overflows halfway."""
    calls = [
        f"{name}({x})" for x in ("-7.25", "-0.5", "0.0", "1.5", "2.75", "1e6 + 0.5") for name in ("sinpi", "cospi")
    ]
    calls += ["rsqrt(0.3)", "rcbrt(-5.0)", "normcdf(-1.5)", "rhypot(3e200, 4e200)", "norm3d(1.0, 2.0, 2.0)"]
    calls += ["rnorm3d(1.0, 2.0, 2.0)", "norm4d(1e200, 1e200, 1e200, 1e200)", "rnorm4d(1.0, 1.0, 1.0, 1.0)"]
    calls += ["rsqrtf(4.0f)", "norm3df(1.0f, 2.0f, 2.0f)", "fdividef(1.0f, 8.0f)", "rcbrt(8.0f)"]
    lines = "".join(f'std::printf("%.17g\\n", static_cast<double>(cu2port::{c}));\n' for c in calls)
    more = 'double s, c; cu2port::sincospi(0.25, &s, &c); std::printf("%.17g\\n", s - c);'
    more += 'cu2port::sincos(0.25, &s, &c); std::printf("%.17g\\n%.17g\\n", s, c);'
    more += 'float f, g; cu2port::sincos(0.25f, &f, &g); std::printf("%d\\n", f == sinf(0.25f) && g == cosf(0.25f));'
    source = f'#include "cu2port/host_math.hpp"\n#include <cstdio>\nint main() {{ {lines} {more} }}\n'
    done = subprocess.run([built(compiler, source, tmp_path)], capture_output=True, text=True, check=True)
    half = math.sqrt(0.5)
    wanted = [half, -half, -1, 0, 0, 1, -1, 0, half, -half, 1, 0]
    wanted += [1 / math.sqrt(0.3), -(5 ** (-1 / 3)), 0.5 * math.erfc(1.5 * half), 2e-201, 3, 1 / 3, 2e200, 0.5]
    wanted += [0.5, 3, 0.125, 0.5, 0, math.sin(0.25), math.cos(0.25), 1]
    assert [float(x) for x in done.stdout.split()] == pytest.approx(wanted, rel=1e-15, abs=1e-15)


# --- shift.hpp --------------------------------------------------------------------------------------------------------


def test_shifts_by_the_whole_width(compiler: str, tmp_path: Path) -> None:
    """Numbers are pairs of a literal and what it is: its value, its width, whether it has a sign."""
    places = (0, 1, 31, 32, 33, 63, 64, -1)
    numbers = {"1u": (1, 32, False), "0x80000001u": (0x80000001, 32, False), "1ull << 63": (1 << 63, 64, True)}
    negative = {"-2": (-2, 32, True), "(short)-1": (-1, 32, True)}  # C++ has no shift to the left of them
    lines, want = "", []
    for f, given in (("shl", numbers), ("shr", {**numbers, **negative})):
        for literal, (value, width, has_sign) in given.items():
            for n in places:
                lines += f'std::printf("%lld\\n", static_cast<long long>(cu2port::{f}({literal}, {n})));\n'
                by = min(n % 2**64, width)
                bits = (value << by if f == "shl" else value >> by) % 2**width
                want.append(bits - 2**width if has_sign and bits >> (width - 1) else bits)
    source = f'#include "cu2port/shift.hpp"\n#include <cstdio>\nint main() {{ {lines} }}\n'
    done = subprocess.run([built(compiler, source, tmp_path)], capture_output=True, text=True, check=True)
    assert [int(x) for x in done.stdout.split()] == want


# --- simd.hpp ---------------------------------------------------------------------------------------------------------


@cache
def lanes(word: int, bits: int, signed: bool) -> Words:
    values = [word >> at & (1 << bits) - 1 for at in range(0, 32, bits)]
    return tuple(v - (1 << bits) if signed and v >> (bits - 1) else v for v in values)


def joined(values: list[int], bits: int) -> int:
    return sum((v & (1 << bits) - 1) << (i * bits) for i, v in enumerate(values))


def saturated(value: int, bits: int, signed: bool) -> int:
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def half_away(a: int, b: int) -> int:
    return (a + b + (a + b >= 0)) >> 1


#: What CUDA's names, without prefix, lane count and signedness, say of one lane.
LANE: dict[str, Callable[..., int]] = {
    "abs": abs,
    "neg": lambda a: -a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "absdiff": lambda a, b: abs(a - b),
    "max": max,
    "min": min,
    "avg": half_away,
    "hadd": lambda a, b: (a + b) >> 1,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b,
    "lt": lambda a, b: a < b,
}
NAMES = "|".join(sorted(LANE, key=len, reverse=True))
SIMD = re.compile(rf"v(cmp|set|sad|)({NAMES}|)(ss|us|s|u|)([24])\Z")
DPX = re.compile(r"vi(add|b|)(max|min)(3?)_([su])(16x2|32)(_relu)?\Z")


def expected(name: str, words: Words) -> tuple[int, int]:
    """(word, predicates) that a function answers; a predicate is a bit, the low half's lowest."""
    if m := SIMD.match(name):
        kind, op, suffix, count = m.groups()
        bits, signed = 32 // int(count), suffix in ("s", "ss") or op in ("abs", "neg")
        rows = list(zip(*(lanes(w, bits, signed) for w in words[: arity(name)]), strict=True))
        if kind == "sad":
            return sum(abs(a - b) for a, b in rows), 0
        out = [int(LANE[op](*row)) for row in rows]
        if kind == "cmp":
            out = [-v for v in out]
        elif suffix in ("ss", "us"):
            out = [saturated(v, bits, signed) for v in out]
        return joined(out, bits), 0
    dpx = DPX.match(name)
    assert dpx, f"no reference for {name}"
    kind, op, _, sign, width, relu = dpx.groups()
    bits, signed, pick = 16 if width == "16x2" else 32, sign == "s", LANE[op]
    out, predicates = [], 0
    for i, row in enumerate(zip(*(lanes(w, bits, signed) for w in words[: arity(name)]), strict=True)):
        if kind == "b":
            predicates |= (pick(*row) == row[0]) << i
        if kind == "add":
            row = (lanes((row[0] + row[1]) & 0xFFFFFFFF, bits, signed)[0], row[2])
        out.append(max(pick(row), 0) if relu else pick(row))
    return joined(out, bits), predicates


def arity(name: str) -> int:
    if name.startswith(("vabs", "vneg")) and "diff" not in name:
        return 1
    return 3 if "3_" in name or name.startswith("viadd") else 2


def test_the_reference() -> None:
    """Values from CUDA's description, worked out by hand."""
    assert expected("vadd4", (0xFF7F0180, 0x01010180)) == (0x00800200, 0)
    assert expected("vaddss2", (0x7FFF8000, 0x0001FFFF)) == (0x7FFF8000, 0)
    assert expected("vsubus4", (0x00050A80, 0x010503FF)) == (0x00000700, 0)
    assert expected("vabs2", (0x8000FFFF,)) == (0x80000001, 0)
    assert expected("vabsss2", (0x8000FFFF,)) == (0x7FFF0001, 0)
    assert expected("vabsdiffs2", (0x7FFF0000, 0x8000FFFF)) == (0xFFFF0001, 0)
    assert expected("vavgs2", (0xFFFF0001, 0xFFFE0002)) == (0xFFFE0002, 0)  # -1.5 and 1.5
    assert expected("vhaddu2", (0xFFFF0001, 0xFFFE0002)) == (0xFFFE0001, 0)
    assert expected("vsads4", (0x7F000000, 0x80000001)) == (256, 0)
    assert expected("vcmpgts2", (0x0001FFFF, 0xFFFF0001)) == (0xFFFF0000, 0)
    assert expected("vsetgtu2", (0x0001FFFF, 0xFFFF0001)) == (0x00000001, 0)
    assert expected("viaddmax_s16x2_relu", (0x7FFFFFFF, 0x0001FFFF, 0xFFFF0005)) == (0x00000005, 0)
    assert expected("vibmax_s16x2", (0x0001FFFF, 0x0001FFFE)) == (0x0001FFFF, 3)
    assert expected("vibmin_u32", (2, 1, 0)) == (1, 0)


EDGES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
MIXED = (0x01FF7F80, 0x80018000, 0x7FFF0001, 0xFF00FF00, 0x00FF00FF, 0x80808080, 0x7F7F7F7F, 0x7F80FF01, 0xFFFE8000)


def vectors() -> list[Words]:
    """Every pair of edge words, and 2,000 random triples."""
    chance = random.Random(20)
    words = (*EDGES, *MIXED)
    edges: list[Words] = [
        (a, b, words[(i * 7 + j) % len(words)]) for (i, a), (j, b) in product(enumerate(words), repeat=2)
    ]
    return edges + [(chance.getrandbits(32), chance.getrandbits(32), chance.getrandbits(32)) for _ in range(2000)]


RUN_ALL = r"""
#include "cu2port/simd.hpp"
#include <cstdio>
typedef unsigned u;
struct In { u a, b, c; };
struct Out { u word, predicates; };
static Out call(u (*f)(u), In v) { return {f(v.a), 0}; }
static Out call(u (*f)(u, u), In v) { return {f(v.a, v.b), 0}; }
static Out call(u (*f)(u, u, u), In v) { return {f(v.a, v.b, v.c), 0}; }
static Out call(u (*f)(u, u, bool*), In v) { bool p; u r = f(v.a, v.b, &p); return {r, p}; }
static Out call(int (*f)(int, int, bool*), In v) { bool p; u r = u(f(int(v.a), int(v.b), &p)); return {r, p}; }
static Out call(u (*f)(u, u, bool*, bool*), In v) {
    bool high, low;
    u r = f(v.a, v.b, &high, &low);
    return {r, u(high) << 1 | u(low)};
}
static In in[65536];
template <class F> static void all(F f, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        Out out = call(f, in[i]);
        fwrite(&out, sizeof out, 1, stdout);
    }
}
int main() {
    size_t n = fread(in, sizeof(In), 65536, stdin);
"""


@pytest.fixture(scope="module")
def answers() -> list[tuple[str, Words, tuple[int, int]]]:
    """(function, vector, what it must answer), for each function and all vectors."""
    return [(name, v, expected(name, v)) for name, v in product(targets("simd.hpp"), vectors())]


def test_simd_functions(compiler: str, answers: list[tuple[str, Words, tuple[int, int]]], tmp_path: Path) -> None:
    names, given = targets("simd.hpp"), vectors()
    source = RUN_ALL + "".join(f"    all(&cu2port::{n}, n);\n" for n in names) + "}\n"
    data = b"".join(struct.pack("=3I", *v) for v in given)
    done = subprocess.run([str(built(compiler, source, tmp_path))], input=data, capture_output=True, check=True)
    wrong: dict[str, str] = {}
    for (name, vector, right), answer in zip(answers, struct.iter_unpack("=2I", done.stdout), strict=True):
        if answer != right and name not in wrong:
            hexed = ", ".join(f"{w:#010x}" for w in vector[: arity(name)])
            wrong[name] = f"{name}({hexed}) is {answer[0]:#010x} {answer[1]}, not {right[0]:#010x} {right[1]}"
    assert not wrong, "\n".join(wrong.values())


def test_the_larger_and_the_smaller_of_two(compiler: str, tmp_path: Path) -> None:
    source = """#include "cu2port/functional.hpp"
struct key { int k, tag; };
bool operator<(const key &a, const key &b) { return a.k < b.k; }
int main() {
    static_assert(cu2port::maximum<>{}(1, 2.5) == 2.5 && cu2port::minimum<>{}(1, 2.5) == 1.0, "");
    static_assert(cu2port::maximum<int>{}(3, 2) == 3 && cu2port::minimum<int>{}(3, 2) == 2, "");
    key a{1, 7}, b{1, 8};  // of equals the first
    int calls = 0;
    auto half = cu2port::proclaim_return_type<double>([&](int x) { ++calls; return x; });
    static_assert(sizeof(half(1)) == sizeof(double), "");
    static_assert(std::is_same<decltype(cu2port::declval<int>()), int &&>::value, "");
    static_assert(std::is_same<decltype(cu2port::declval<key &>().k), int>::value, "");
    static_assert(cu2port::identity{}(3) == 3, "");
    static_assert(std::is_same<decltype(cu2port::identity{}(cu2port::declval<const key &>())), const key &>::value, "");
    static_assert(std::is_same<decltype(cu2port::identity{}(cu2port::declval<key>())), const key &>::value, "");
    static_assert(std::is_same<decltype(cu2port::identity{}(cu2port::declval<key &>())), key &>::value, "");
    static_assert(std::is_same<cu2port::remove_cvref_t<const key &>, key>::value, "");
    static_assert(std::is_same<cu2port::type_identity_t<int &>, int &>::value, "");
    static_assert(std::is_same<cu2port::iter_value_t<const key *>, key>::value, "");
    static_assert(std::is_same<cu2port::iter_reference_t<const key *>, const key &>::value, "");
    static_assert(std::is_same<cu2port::iter_difference_t<key *&>, std::ptrdiff_t>::value, "");
    return cu2port::maximum<key>{}(a, b).tag == 7 && cu2port::minimum<>{}(a, b).tag == 7 && half(3) / 2 == 1.5 ? 0 : 1;
}
"""
    subprocess.run([str(built(compiler, source, tmp_path))], check=True)


def test_a_vector_is_read_from_a_derived_stream(compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a shift of vectors, as HIP has it, and the program's operator, which is declared later."""
    runtime = """#pragma once
template <class T, unsigned int n> struct HIP_vector_type { T x; };
template <class T, unsigned int n, class U> int operator>>(U, const HIP_vector_type<T, n>&);
"""
    source = """#include "cu2port/stream_vector.hpp"
#include <sstream>
typedef HIP_vector_type<float, 3> float3;
std::istream &operator>>(std::istream &in, float3 &v) { return in >> v.x; }
using cu2port::operator>>;
namespace n { struct other {}; void operator>>(int, other); }
namespace n { float of(const char* text) { std::stringstream in(text); float3 v; return in >> v >> v ? v.x : 0; } }
int main() { return n::of("3 4.5") == 4.5f ? 0 : 1; }
"""
    stub(tmp_path, "hip/hip_runtime.h", runtime, monkeypatch)
    subprocess.run([str(built(compiler, source, tmp_path))], check=True)


def test_atomic_objects(compiler: str, tmp_path: Path) -> None:
    program = built(compiler, (PROGRAMS / "atomic.cpp").read_text(), tmp_path)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


STREAMS = """#pragma once
struct stream { int left, priority; };
typedef stream* hipStream_t;
typedef stream* hipEvent_t;
enum hipError_t { hipSuccess, hipErrorNotReady, hipErrorUnknown };
enum { hipEventDisableTiming = 2 };
inline int& events() { static int n; return n; }
inline const char* hipGetErrorString(hipError_t) { return "broken"; }
inline hipError_t known(hipStream_t s) { return s->left < 0 ? hipErrorUnknown : hipSuccess; }
inline hipError_t hipStreamSynchronize(hipStream_t s) {
    if (s->left > 0) s->left = 0;
    return known(s);
}
inline hipError_t hipStreamQuery(hipStream_t s) { return s->left > 0 ? hipErrorNotReady : known(s); }
inline hipError_t hipEventCreateWithFlags(hipEvent_t* e, unsigned) { *e = new stream(); ++events(); return hipSuccess; }
inline hipError_t hipEventRecord(hipEvent_t e, hipStream_t s) {
    e->left = s->left;
    return known(s);
}
inline hipError_t hipStreamWaitEvent(hipStream_t s, hipEvent_t e, unsigned) { s->left += e->left; return hipSuccess; }
inline hipError_t hipEventDestroy(hipEvent_t e) { delete e; --events(); return hipSuccess; }
inline hipError_t hipStreamGetPriority(hipStream_t s, int* p) { *p = s->priority; return hipSuccess; }
"""
STREAM_REF = """#include <cuda/stream_ref>
#include <stdexcept>
#include <type_traits>
static int left(cuda::stream_ref s) { return s.ready() ? 0 : s.get()->left; }
int main() {
    stream a{3, -1}, b{0, 0}, bad{-1, 0};
    cuda::stream_ref first(&a), second = &b;
    static_assert(!std::is_constructible<cuda::stream_ref, int>::value, "");
    static_assert(!std::is_constructible<cuda::stream_ref, decltype(nullptr)>::value, "");
    if (first == second || !(first != second) || first.priority() != -1 || left(&a) != 3) return 1;
    second.wait(first);
    if (b.left != 3 || events() != 0) return 2;
    first.wait();
    second.sync();
    if (a.left || b.left || !second.is_done()) return 3;
    int caught = 0;
    try { cuda::stream_ref(&bad).wait(); } catch (const std::runtime_error&) { ++caught; }
    try { second.wait(cuda::stream_ref(&bad)); } catch (const std::runtime_error&) { ++caught; }
    try { (void)left(&bad); } catch (const std::runtime_error&) { ++caught; }
    return caught == 3 && events() == 0 ? 0 : 4;
}
"""


def test_references_to_streams(compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Converted code with libcu++'s reference to a stream, with a stub of HIP that counts work and events."""
    result = translate(STREAM_REF, path="a.cpp")
    assert not [j for j in result.findings if j.outcome is not Outcome.APPLIED]
    stub(tmp_path, "hip/hip_runtime.h", STREAMS, monkeypatch)
    program = built(compiler, result.output.decode(), tmp_path)
    assert subprocess.run([str(program)], check=False, timeout=60).returncode == 0


def test_simd_rows_keep_the_name() -> None:
    names = [(r.cuda, r.hip) for r in load_catalog() if r.helper == "simd.hpp"]
    assert len(names) > 100
    assert all(hip == "cu2port::" + cuda.removeprefix("__") for cuda, hip in names)


# --- dot.hpp ----------------------------------------------------------------------------------------------------------


def test_dot_products_are_of_bytes(compiler: str, tmp_path: Path) -> None:
    """HIP's amd_mixed_dot(int, int, int, bool) is one of eight times 4 bits; it has none of halfwords by bytes."""
    given = vectors()[:700]
    source = """#include "cu2port/dot.hpp"
#include <cstdio>
int main() {
    unsigned v[3];
    while (fread(v, 4, 3, stdin) == 3) {
        const int s[3] = {int(v[0]), int(v[1]), int(v[2])};
        unsigned out[6] = {unsigned(cu2port::dp4a(s[0], s[1], s[2])), cu2port::dp4a(v[0], v[1], v[2]),
                           unsigned(cu2port::dp2a_lo(s[0], s[1], s[2])), cu2port::dp2a_lo(v[0], v[1], v[2]),
                           unsigned(cu2port::dp2a_hi(s[0], s[1], s[2])), cu2port::dp2a_hi(v[0], v[1], v[2])};
        fwrite(out, 4, 6, stdout);
    }
}
"""
    data = b"".join(struct.pack("=3I", *v) for v in given)
    done = subprocess.run([str(built(compiler, source, tmp_path))], input=data, capture_output=True, check=True)
    for (a, b, c), found in zip(given, struct.iter_unpack("=6I", done.stdout), strict=True):
        pairs = [
            (lanes(a, n, s), lanes(b, 8, s)[at : at + 32 // n])
            for n, at in ((8, 0), (16, 0), (16, 2))
            for s in (True, False)
        ]
        right = [c + sum(x * y for x, y in zip(*p, strict=True)) for p in pairs]
        assert found == tuple(x & 0xFFFFFFFF for x in right), (hex(a), hex(b), hex(c))


@pytest.mark.parametrize("gpu", ["gfx90a", "gfx942", "gfx1100", "gfx1201"])
def test_a_dot_product_is_one_instruction(gpu: str, tmp_path: Path) -> None:
    """In functions of each overload."""
    types = {"i": ("int", "int"), "u": ("unsigned", "unsigned"), "c": ("char4", "int"), "d": ("uchar4", "unsigned")}
    text = "".join(
        f'extern "C" __global__ void {n}({v}* a, {c}* out) {{ *out = cu2port::dp4a(a[0], a[1], *out); }}\n'
        for n, (v, c) in types.items()
    )
    vectors_ = (
        "struct char4 { signed char x, y, z, w; };\nstruct uchar4 { unsigned char x, y, z, w; };\n"
        "struct short2 { short x, y; };\nstruct ushort2 { unsigned short x, y; };\n"
    )
    code = machine_code(f'{vectors_}#include "cu2port/dot.hpp"\n{text}', tmp_path, gpu, "-O3")
    assert {n: len(re.findall(r"^\s+v_dot4", code[n], re.M)) for n in types} == dict.fromkeys(types, 1)
    assert not any(re.search(r"^\s+v_(mul|mad|bfe|perm)", code[n], re.M) for n in types)


# --- nvtx.hpp ---------------------------------------------------------------------------------------------------------

ROCTX = """#pragma once
#include <cstdint>
#include <cstdio>
typedef std::uint64_t roctx_range_id_t;
inline void roctxMarkA(const char* m) { std::printf("mark %s;", m); }
inline int roctxRangePushA(const char* m) { return std::printf("push %s;", m); }
inline int roctxRangePop() { return std::printf("pop;"); }
inline roctx_range_id_t roctxRangeStartA(const char* m) { std::printf("start %s;", m); return 7; }
inline void roctxRangeStop(roctx_range_id_t id) { std::printf("stop %d;", static_cast<int>(id)); }
"""
NVTX = """#include <nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>
struct mine { static constexpr char const* name{"mine"}; };
int main() {
    nvtxEventAttributes_t a = {};
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.colorType = NVTX_COLOR_ARGB;
    a.color = 0xff00ff00;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = "one";
    nvtxRangePushEx(&a);
    nvtxRangePop();
    nvtxDomainHandle_t d = nvtxDomainCreateA("domain");
    a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    a.message.registered = nvtxDomainRegisterStringW(d, L"tw\\u00f6");
    nvtxRangeEnd(nvtxRangeStartEx(&a));
    nvtxDomainMarkEx(d, &a);
    a.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    a.message.unicode = L"three \\U0001f600";
    nvtxMarkEx(&a);
    {
        nvtx3::event_attributes e{"four", nvtx3::rgb{1, 2, 3}, nvtx3::payload{4}, nvtx3::category{5}};
        nvtx3::scoped_range outer{e};
        nvtx3::scoped_range_in<mine> inner{std::string("five"), nvtx3::color{nvtx3::argb{1, 2, 3, 4}}};
    }
    NVTX3_FUNC_RANGE();
    nvtx3::unique_range moved{"six"};
    nvtx3::unique_range there{static_cast<nvtx3::unique_range&&>(moved)};
    nvtx3::end_range(nvtx3::start_range("seven"));
    nvtx3::mark_in<mine>("eight");
}
"""
EVENTS = """push one;pop;start twö;stop 7;mark twö;mark three 😀;push four;push five;pop;pop;push main;start six;
start seven;stop 7;mark eight;stop 7;pop;"""


def printed(source: str, compiler: str, folder: Path) -> str:
    """What a program prints once it is converted, with nothing left to be done by hand."""
    result = translate(source, path="a.cpp")
    assert not [j for j in result.findings if j.outcome is not Outcome.APPLIED]
    program = built(compiler, result.output.decode(), folder)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    return done.stdout


def test_events_reach_roctx(compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Converted code with NVTX's events, with a stub of roctx: every message, in order, and nothing left open."""
    stub(tmp_path, "rocprofiler-sdk-roctx/roctx.h", ROCTX, monkeypatch)
    assert printed(NVTX, compiler, tmp_path) == EVENTS.replace("\n", "")


# --- pinned.hpp -------------------------------------------------------------------------------------------------------

PINNED = """#include <cstdio>
#include <vector>
int held;
template <class T> using pinned = std::vector<T, thrust::system::cuda::experimental::pinned_allocator<T>>;
int main() {
    {
        pinned<int> v(3, 7), w = v;
        v.push_back(8);
        w.swap(v);
        std::printf("%d %d %d;", static_cast<int>(v.size()), w[3], held);
        try {
            pinned<double> all(v.get_allocator().max_size() / 4);
        } catch (const std::bad_alloc&) {
            std::printf("none;");
        }
    }
    std::printf("%d", held);
}
"""
MALLOC = """#pragma once
#include <cstdlib>
enum hipError_t { hipSuccess, failed };
enum { hipHostMallocDefault };
extern int held;
inline hipError_t hipHostMalloc(void** p, std::size_t n, unsigned) {
    if (n > 1000) return failed;
    ++held;
    *p = std::malloc(n);
    return hipSuccess;
}
inline hipError_t hipHostFree(void* p) {
    --held;
    std::free(p);
    return hipSuccess;
}
"""


def test_pinned_vectors(compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Converted code with Thrust's pinned allocator: vectors get pinned memory, give it back, and throw without it."""
    stub(tmp_path, "hip/hip_runtime.h", MALLOC, monkeypatch)
    assert printed(PINNED, compiler, tmp_path) == "3 8 2;none;0"


# --- gl.hpp -----------------------------------------------------------------------------------------------------------

BUFFERS = """#include <cuda_gl_interop.h>
#include <cstdio>
int main() {
    float* p = nullptr;
    std::printf("%d ", cudaGLMapBufferObject((void**)&p, 7) == cudaSuccess);
    std::printf("%d", cudaGLRegisterBufferObject(7) == cudaSuccess);
    std::printf("%d", cudaGLRegisterBufferObject(8) == cudaSuccess);
    std::printf("%d ", cudaGLRegisterBufferObject(7) == cudaSuccess);
    std::printf("%d", cudaGLMapBufferObject((void**)&p, 7) == cudaSuccess);
    std::printf("%d", p == buffers[7]);
    std::printf("%d", cudaGLMapBufferObjectAsync((void**)&p, 7, 0) == cudaSuccess);
    std::printf("%d ", cudaGLSetBufferObjectMapFlags(7, cudaGLMapFlagsReadOnly) == cudaErrorUnknown);
    std::printf("%d", cudaGLUnmapBufferObject(7) == cudaSuccess);
    std::printf("%d", cudaGLUnmapBufferObject(7) == cudaSuccess);
    std::printf("%d", cudaGLSetBufferObjectMapFlags(7, cudaGLMapFlagsWriteDiscard) == cudaSuccess);
    std::printf("%d ", given[7]);
    std::size_t size = 0;
    CUdeviceptr d;
    std::printf("%d", cuGLMapBufferObject(&d, &size, 8) == CUDA_SUCCESS);
    std::printf("%d", reinterpret_cast<float*>(d) == buffers[8] && size == sizeof buffers[8]);
    std::printf("%d ", cuGLUnmapBufferObjectAsync(8, 0) == CUDA_SUCCESS);
    std::printf("%d", cudaGLUnregisterBufferObject(7) == cudaSuccess);
    std::printf("%d", cudaGLUnregisterBufferObject(8) == cudaSuccess);
    std::printf("%d", live);
}
"""
RESOURCES = """#ifndef STUB
#define STUB
#include <cstddef>
#define __host__
#define __device__
enum hipError_t { hipSuccess, hipErrorInvalidValue, hipErrorUnknown, hipErrorMapFailed, hipErrorUnmapFailed,
                  hipErrorInvalidResourceHandle };
typedef struct hipGraphicsResource { unsigned name; }* hipGraphicsResource_t;
typedef struct Stream* hipStream_t;
typedef void* hipDeviceptr_t;
static float buffers[9][9];
static unsigned given[9];
static int live;
inline hipError_t hipGraphicsGLRegisterBuffer(hipGraphicsResource** r, unsigned name, unsigned flags) {
    given[name] = flags;
    ++live;
    *r = new hipGraphicsResource{name};
    return hipSuccess;
}
inline hipError_t hipGraphicsUnregisterResource(hipGraphicsResource_t r) {
    --live;
    delete r;
    return hipSuccess;
}
inline hipError_t hipGraphicsMapResources(int, hipGraphicsResource_t*, hipStream_t) { return hipSuccess; }
inline hipError_t hipGraphicsUnmapResources(int, hipGraphicsResource_t*, hipStream_t) { return hipSuccess; }
inline hipError_t hipGraphicsResourceGetMappedPointer(void** p, std::size_t* size, hipGraphicsResource_t r) {
    *p = buffers[r->name];
    *size = sizeof buffers[r->name];
    return hipSuccess;
}
#endif
"""


def test_buffers_of_opengl_by_name(compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA's older calls on a stub: what is registered maps once, and new flags reach HIP."""
    for header in ("hip_runtime.h", "hip_runtime_api.h", "hip_gl_interop.h"):
        stub(tmp_path, f"hip/{header}", RESOURCES, monkeypatch)
    assert printed(BUFFERS, compiler, tmp_path) == "0 110 1101 1012 111 110"


# --- blas.hpp ---------------------------------------------------------------------------------------------------------

BLAS = """#pragma once
enum hipDataType { HIP_R_8I, HIP_R_16F, HIP_R_32F, HIP_C_32F, HIP_R_64F, HIP_C_64F, HIP_R_32I };
enum hipblasComputeType_t { HIPBLAS_COMPUTE_16F, HIPBLAS_COMPUTE_32F, HIPBLAS_COMPUTE_64F, HIPBLAS_COMPUTE_32I };
"""


def test_a_data_type_gives_the_compute_type(compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(tmp_path, "hipblas/hipblas.h", BLAS, monkeypatch)
    types = "HIP_R_16F HIP_R_32F HIP_C_32F HIP_R_64F HIP_C_64F HIP_R_32I HIP_R_8I".split()
    lines = "".join(f'std::printf("%d ", cu2port::compute_type({t}));' for t in types)
    text = f'#include "cu2port/blas.hpp"\n#include <cstdio>\nint main() {{ {lines} }}\n'
    done = subprocess.run(
        [str(built(compiler, text, tmp_path))], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "0 1 1 2 2 3 -1 "


# --- tile_reduce.hpp --------------------------------------------------------------------------------------------------


def test_groups(compiler: str, tmp_path: Path) -> None:
    """Tiles of 1 to 64 threads, and coalesced groups with gaps: every operation and scan, on types of 1 to 24 bytes."""
    program = built(compiler, (PROGRAMS / "groups.cpp").read_text(), tmp_path)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


# --- converted code ---------------------------------------------------------------------------------------------------

KERNEL = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void most(unsigned* words, float* sums, double* wide) {
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    words[i] = __vsubss4(__vmaxs4(words[i], 0), __vcmpne4(words[i], 0x80808080));
    sums[i] = cg::reduce(tile, sums[i], cg::plus<float>());
    if (words[i] > 7) {
        cg::coalesced_group some = cg::coalesced_threads();
        wide[i] = cg::reduce(some, wide[i], cg::greater<double>()) + cg::inclusive_scan(some, 1);
    }
}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("reduce(t, x, cg::plus<int>())", "cu2port::reduce(t, x, cu2port::plus<int>())"),
        ("reduce(t, x, less<int>())", "cu2port::reduce(t, x, cu2port::less<int>())"),
        ("exclusive_scan(t, x)", "cu2port::exclusive_scan(t, x)"),
        ("reduce(x, x, f)", "reduce(x, x, f)"),
        ("mine::reduce(t, x, f)", "mine::reduce(t, x, f)"),
        ("o.reduce(t, x)", "o.reduce(t, x)"),
    ],
)
def test_functions_of_groups_are_found_without_their_namespace(before: str, after: str) -> None:
    head = "namespace cg = cooperative_groups;\nusing namespace cooperative_groups;\n"
    text = f"{head}__device__ int f(thread_block_tile<32> t, int x) {{ return {before}; }}\n"
    assert f"return {after};" in translate(text, path="k.cuh").output.decode()
    own = "template <class G> __device__ int reduce(G g, int a, int b);\n" + text
    if before.startswith("reduce"):
        assert "return reduce(" in translate(own, path="k.cuh").output.decode()
    newer = translate(text, Options(rocm=(10, 0)), path="k.cuh").output.decode()
    assert f"return {before};" in newer


def test_older_rocm_takes_the_header() -> None:
    old = translate(KERNEL, Options(rocm=(7, 1)), path="k.cu")
    assert old.helpers == {"simd.hpp", "tile_reduce.hpp", "warp.hpp"}
    text = old.output.decode()
    assert "cu2port::reduce(tile, sums[i], cu2port::plus<float>())" in text
    assert "cu2port::vsubss4(cu2port::vmaxs4(words[i], 0), cu2port::vcmpne4(words[i], 0x80808080))" in text
    assert "#include <cooperative_groups" not in text
    assert translate(text, Options(rocm=(7, 1)), path="k.hip").output.decode() == text


def test_newer_rocm_needs_it_for_scans_only() -> None:
    text = translate(KERNEL, Options(rocm=(7, 13)), path="k.cu").output.decode()
    assert "cg::reduce(tile, sums[i], cg::plus<float>())" in text
    assert "cu2port::inclusive_scan(some, 1)" in text
    without = KERNEL.replace(" + cg::inclusive_scan(some, 1)", "")
    assert translate(without, Options(rocm=(7, 13)), path="k.cu").helpers == {"simd.hpp", "warp.hpp"}


@pytest.fixture(scope="module")
def rocm() -> Path:
    """A folder with include/hip, share/hip/version and amdgcn/bitcode, as ROCm's."""
    root = os.environ.get("CU2PORT_TEST_ROCM", "")
    if not root:
        pytest.skip("no HIP headers: CU2PORT_TEST_ROCM is not set")
    if shutil.which("clang++-22") is None:
        pytest.skip("no clang++-22 here")
    return Path(root)


def assembly(rocm: Path, source: Path, gpu: str) -> str:
    """What clang makes of the device side of a file."""
    command = ["clang++-22", "-x", "hip", f"--offload-arch={gpu}", f"--rocm-path={rocm}", "-nogpulib", "-std=c++14"]
    command += ["--cuda-device-only", "-S", "-O2", f"-I{HEADERS.parent}", "-o", "-", str(source)]
    # headers before HIP 7 want these two
    command.append("-D__AMDGCN_WAVEFRONT_SIZE=" + ("64" if gpu.startswith("gfx9") else "32"))
    command.append("-DHIP_ENABLE_WARP_SYNC_BUILTINS")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return done.stdout


def instructions(text: str) -> Iterator[tuple[str, list[str]]]:
    """(function, its vector and LDS instructions) of an assembly text."""
    for name, body in re.findall(r"(?ms)^(\w+):.*?$(.*?)^\.Lfunc_end", text):
        yield name, re.findall(r"(?m)^\t((?:v|ds)_\w+)", body)


SURFACES = """#include <cuda_runtime.h>
__global__ void k(cudaSurfaceObject_t s, float *out, cudaSurfaceObject_t *many, float4 *wide, unsigned char *byte) {
    out[0] = surf1Dread<float>(s, 0) + surf1Dread<float>(s, 4, cudaBoundaryModeZero);
    out[1] = surf2Dread<float>(many[1], 0, 1) + surf2Dread<float>(s, 0, 1, cudaBoundaryModeClamp);
    out[2] = surf3Dread<float>(s, 0, 1, 2) + surf1DLayeredread<float>(s, 0, 1) + surf2DLayeredread<float>(s, 0, 1, 2);
    out[3] = surfCubemapread<float>(s, 0, 1, 2);
    *wide = surf2Dread<float4>(s, 0, 1);
    *byte = surf2Dread<unsigned char>(s, 0, 1);
    surf2Dread(out + 4, s, 0, 1);
    surf2Dread<float>(out + 5, s, 0, 1, cudaBoundaryModeZero);
}
"""


def test_reads_of_surfaces_compile_for_the_gpu(rocm: Path, tmp_path: Path) -> None:
    converted = tmp_path / "k.hip"
    with ClangService() as clang:
        result = translate(SURFACES, path="k.cu", clang=clang)
    left = {j.finding.code for j in result.findings if j.open and j.outcome is not Outcome.APPLIED}
    assert left == {"CU608"}  # layered ones compile, and read another layer
    converted.write_bytes(result.output)
    calls = re.findall(r"__ockl_image_load_(\w+)@", assembly(rocm, converted, "gfx1100"))
    assert {"1D", "2D", "3D", "lod_1D", "lod_2D", "CM"} == set(calls)


@pytest.mark.parametrize("gpu", ["gfx942", "gfx1100"])
def test_headers_compile_for_the_gpu(rocm: Path, gpu: str, tmp_path: Path) -> None:
    converted = tmp_path / "k.hip"
    converted.write_bytes(translate(KERNEL, Options(rocm=(7, 1)), path="k.cu").output)
    assert "most" in assembly(rocm, converted, gpu)


@pytest.mark.parametrize("gpu", ["gfx942", "gfx1100"])
def test_macros_of_number_types_do_no_harm_on_the_gpu(rocm: Path, gpu: str, tmp_path: Path) -> None:
    source = tmp_path / "k.hip"
    headers = "".join(f'#include "cu2port/{h}"\n' for h in ("wmma.hpp", "ptx.hpp", "mma.hpp"))
    source.write_text(f"#include <hip/hip_runtime.h>\n{MACROS}{headers}{KEPT}__global__ void most() {{}}\n")
    assert "most" in assembly(rocm, source, gpu)


@pytest.mark.parametrize("gpu", ["gfx942", "gfx1100"])
def test_functions_of_halves_compile_for_the_gpu(rocm: Path, gpu: str, tmp_path: Path) -> None:
    """An addition that CUDA keeps apart from a product is no fma; HIP's own is one."""
    source = tmp_path / "half.hip"
    lines = [
        f'extern "C" __device__ __attribute__((used)) __half {n}(__half a, __half b) {{ return {f}(__hmul(a, b), b); }}'
        for n, f in (("apart", "cu2port::hadd_rn"), ("fused", "__hadd"))
    ]
    source.write_text("\n".join(['#include "cu2port/half.hpp"', *lines, ""]))
    fused = [n for n, body in instructions(assembly(rocm, source, gpu)) if any("fma" in x for x in body)]
    assert fused == ["fused"]


#: How many instructions a function may take on these GPUs: packed arithmetic, a sum in one instruction, no compares.
MOST = {"vadd2": 1, "vmaxs2": 1, "vsubss2": 1, "vcmpgts2": 2, "vsadu4": 1, "vavgu4": 1, "vadd4": 5, "vsubss4": 8}


@pytest.mark.parametrize("gpu", ["gfx942", "gfx1100"])
def test_simd_becomes_packed_instructions(rocm: Path, gpu: str, tmp_path: Path) -> None:
    source = tmp_path / "simd.hip"
    head = 'extern "C" __device__ __attribute__((used)) unsigned'
    function = head + " f_{0}(unsigned a, unsigned b) {{ return cu2port::{0}(a, b); }}\n"
    source.write_text('#include "cu2port/simd.hpp"\n' + "".join(function.format(n) for n in MOST))
    found = dict(instructions(assembly(rocm, source, gpu)))
    assert {n: len(found[f"f_{n}"]) for n in MOST if len(found[f"f_{n}"]) > MOST[n]} == {}


@pytest.mark.parametrize("gpu", ["gfx942", "gfx1100"])
def test_a_tile_reduces_without_addresses(rocm: Path, gpu: str, tmp_path: Path) -> None:
    """Five steps: swizzles, and for the near lanes an operand of the addition itself."""
    source = tmp_path / "tile.hip"
    source.write_text(
        '#include "cu2port/tile_reduce.hpp"\n'
        'extern "C" __global__ void sum(float* p, cooperative_groups::thread_block_tile<32>* tile) {\n'
        "    *p = cu2port::reduce(*tile, *p, cu2port::plus<float>());\n}\n"
    )
    (body,) = [found for name, found in instructions(assembly(rocm, source, gpu)) if name == "sum"]
    steps = [x for x in body if x.startswith(("ds_", "v_add"))]
    assert "ds_bpermute_b32" not in steps
    assert len(steps) == (8 if gpu == "gfx942" else 6)
