"""cu2port/warp.hpp: every function against a plain reference of CUDA's warps, on wavefronts of 32 and 64 lanes.

Blocks of two warps run in the simulator. In each round some threads go into a branch; those that do form one or two
groups that call together, each with the mask of its own lanes, as CUDA allows. The compiler's answer to constants
(swizzles, DPP) is reached with optimisation; which DPP there is depends on the GPU, so both kinds are run.
"""

from __future__ import annotations

import random
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cu2port.verify import sim_build, sim_compiler, simulate

HEADER = Path(__file__).resolve().parents[2] / "translator" / "cu2port" / "include" / "cu2port" / "warp.hpp"
THREADS = 64
ROUNDS = 12
MASK32 = 0xFFFFFFFF
#: What an answer may not be held to: the lane read is not in the mask, which CUDA leaves undefined.
UNDEFINED = None


@dataclass(frozen=True)
class Warp:
    """What a reference sees: 32 lanes, those that are here, and each one's value, second operand and mask."""

    here: tuple[bool, ...]
    value: tuple[int, ...]
    other: tuple[int, ...]
    mask: tuple[int, ...]

    def read(self, i: int, lane: int) -> int | None:
        return self.value[lane] if self.mask[i] >> lane & 1 else UNDEFINED

    def votes(self, i: int, yes: Callable[[int], object]) -> int:
        """Of the lanes in lane i's mask, those that say yes."""
        return sum(1 << k for k in range(32) if self.here[k] and self.mask[i] >> k & 1 and yes(k))

    @property
    def active(self) -> int:
        return sum(1 << k for k in range(32) if self.here[k])


Reference = Callable[[Warp, int], int | None]
Shuffle = Callable[[Warp, int, int, int], int | None]


# Shuffles, from the description of `shfl.sync` in the PTX manual: distances and lane numbers have five bits; a lane
# whose source is outside of its part keeps its own value. `width` lanes form a part.
def _shfl(s: Warp, i: int, b: int, width: int) -> int | None:
    return s.read(i, i // width * width + (b & 31) % width)


def _up(s: Warp, i: int, b: int, width: int) -> int | None:
    source = i - (b & 31)
    return s.read(i, source if source >= i // width * width else i)


def _down(s: Warp, i: int, b: int, width: int) -> int | None:
    source = i + (b & 31)
    return s.read(i, source if source < i // width * width + width else i)


def _xor(s: Warp, i: int, b: int, width: int) -> int | None:
    source = i ^ (b & 31)
    return s.read(i, source if source < i // width * width + width else i)


def _by(f: Shuffle, b: int, width: int = 32) -> Reference:
    """A shuffle by the same distance, or from the same lane, for all."""
    return lambda s, i: f(s, i, b, width)


def _by_other(f: Shuffle, width: int = 32) -> Reference:
    """A shuffle by each lane's own distance."""
    return lambda s, i: f(s, i, s.other[i], width)


def _lower_half(f: Reference) -> Reference:
    return lambda s, i: None if (x := f(s, i)) is None else x & 0xFFFF


SHUFFLES = {"shfl": _shfl, "shfl_up": _up, "shfl_down": _down, "shfl_xor": _xor}


def _fold(s: Warp, i: int, f: Callable[[int, int], int], of: Callable[[int], int] = int) -> int:
    values = [of(s.value[k]) for k in range(32) if s.mask[i] >> k & 1]
    out = values[0]
    for v in values[1:]:
        out = f(out, v)
    return out


def _signed(v: int) -> int:
    return v - (1 << 32) if v >> 31 else v


def _match_all(s: Warp, i: int) -> int:
    same = len({s.other[k] & 64 for k in range(32) if s.mask[i] >> k & 1}) == 1
    return (s.mask[i] << 1 | 1) if same else 0


#: Expressions of (unsigned v, int o, unsigned m: the lane's mask, w: the namespace), and what lane i gets.
FUNCTIONS: dict[str, Reference] = {
    "w::lane_id()": lambda s, i: i,
    "w::lanemask_eq()": lambda s, i: 1 << i,
    "w::lanemask_lt()": lambda s, i: (1 << i) - 1,
    "w::lanemask_le()": lambda s, i: (2 << i) - 1,
    "w::lanemask_gt()": lambda s, i: MASK32 - ((2 << i) - 1),
    "w::lanemask_ge()": lambda s, i: MASK32 - ((1 << i) - 1),
    "w::activemask()": lambda s, i: s.active,
    "w::ballot(m, o & 1)": lambda s, i: s.votes(i, lambda k: s.other[k] & 1),
    "w::any(m, o % 9 == 0)": lambda s, i: int(s.votes(i, lambda k: s.other[k] % 9 == 0) != 0),
    "w::all(m, o % 9 != 0)": lambda s, i: int(s.votes(i, lambda k: s.other[k] % 9 == 0) == 0),
    "w::ballot(o & 2)": lambda s, i: sum(1 << k for k in range(32) if s.here[k] and s.other[k] & 2),
    "w::any(o % 7 == 0)": lambda s, i: int(any(s.here[k] and s.other[k] % 7 == 0 for k in range(32))),
    "w::all(o % 7 != 0)": lambda s, i: int(all(not s.here[k] or s.other[k] % 7 != 0 for k in range(32))),
    "w::elect(m)": lambda s, i: int(s.mask[i] & -s.mask[i] == 1 << i),
    "w::match_any(m, o & 3)": lambda s, i: s.votes(i, lambda k: s.other[k] & 3 == s.other[i] & 3),
    "w::match_any(m, (o & 1) != 0)": lambda s, i: s.votes(i, lambda k: s.other[k] & 1 == s.other[i] & 1),
    "w::match_any(m, o & 1 ? 0.0f : -0.0f)": lambda s, i: s.votes(i, lambda k: s.other[k] & 1 == s.other[i] & 1),
    "w::match_any(m, (unsigned long long)(o & 3) << 40)": lambda s, i: s.votes(
        i, lambda k: s.other[k] & 3 == s.other[i] & 3
    ),
    "(u64(w::match_all(m, o & 64, &same)) << 1 | same)": _match_all,
    "(u64(w::match_all(m, (o & 64) != 0, &same)) << 1 | same)": _match_all,
    "w::reduce_add(m, v)": lambda s, i: _fold(s, i, lambda a, b: (a + b) & MASK32),
    "w::reduce_min(m, v)": lambda s, i: _fold(s, i, min),
    "w::reduce_max(m, v)": lambda s, i: _fold(s, i, max),
    "unsigned(w::reduce_min(m, int(v)))": lambda s, i: _fold(s, i, lambda a, b: min(a, b, key=_signed)),
    "unsigned(w::reduce_max(m, int(v)))": lambda s, i: _fold(s, i, lambda a, b: max(a, b, key=_signed)),
    "w::reduce_and(m, v)": lambda s, i: _fold(s, i, lambda a, b: a & b),
    "w::reduce_or(m, v)": lambda s, i: _fold(s, i, lambda a, b: a | b),
    "w::reduce_xor(m, v)": lambda s, i: _fold(s, i, lambda a, b: a ^ b),
    # of unsigned alone, also where the value is not
    "u64(w::reduce_and(m, int(v)))": lambda s, i: _fold(s, i, lambda a, b: a & b),
    "u64(w::reduce_xor(m, -(long long)(v)))": lambda s, i: _fold(s, i, lambda a, b: a ^ b, lambda v: -v & MASK32),
    "(w::syncwarp(m), w::syncwarp(), v)": lambda s, i: s.value[i],
    # what __shfl_xor_sync and its kin take apart from unsigned
    "unsigned(w::shfl_xor(m, int(v), 8))": lambda s, i: _xor(s, i, 8, 32),
    "unsigned(w::shfl(m, (long long)v << 9, o) >> 9)": lambda s, i: _shfl(s, i, s.other[i], 32),
    "unsigned(w::shfl_up(m, (unsigned long)v << 9, 3) >> 9)": lambda s, i: _up(s, i, 3, 32),
    "unsigned(w::shfl_down(m, double(v) * 4, 5) / 4)": lambda s, i: _down(s, i, 5, 32),
    "bits(w::shfl_down(m, number(v), 16))": lambda s, i: _down(s, i, 16, 32),
    "u64(w::shfl(m, Point{v, 1.0f, char(1)}, 7).v)": lambda s, i: _shfl(s, i, 7, 32),
}
FUNCTIONS |= {
    f"halves(w::{name}(m, {made}, {arguments}))": _by(f, b)
    for name, f, arguments, b in (("shfl_xor", _xor, "4", 4), ("shfl_down", _down, "2", 2))
    for made in ("half2_of(v)", "bf162_of(v)")
}
FUNCTIONS |= {
    f"lower(w::{name}(m, {made}, {arguments}))": _lower_half(_by(f, b))
    for name, f, arguments, b in (("shfl_xor", _xor, "1", 1), ("shfl", _shfl, "9", 9))
    for made in ("half_of(v)", "bf16_of(v)", "(unsigned short)(v)")
}
for _name, _f in SHUFFLES.items():
    for _width in (1, 2, 4, 8, 16, 32):
        FUNCTIONS[f"w::{_name}(m, v, o, {_width})"] = _by_other(_f, _width)
        for _b in (0, 1, 4, 31) if _width < 32 else range(33):
            FUNCTIONS[f"w::{_name}(m, v, {_b}, {_width})"] = _by(_f, _b, _width)
    FUNCTIONS[f"w::{_name}(m, v, 2, 2 << (o2 % 5))"] = _by(_f, 2, 8)
    FUNCTIONS[f"w::{_name}(m, v, o)"] = _by_other(_f)

HEAD = """#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <cstdio>
#include <cstring>
#include "cu2port/warp.hpp"
namespace w = cu2port::warp;
typedef unsigned long long u64;
struct In { int here; unsigned value; int other; unsigned mask; };
struct Point { unsigned v; float f; char c; };
template <class To, class From> __device__ To as(From v) { To out; memcpy(&out, &v, sizeof out); return out; }
__device__ float number(unsigned v) { return as<float>(v); }
__device__ unsigned bits(float v) { return as<unsigned>(v); }
__device__ __half half_of(unsigned v) { return as<__half>((unsigned short)v); }
__device__ __hip_bfloat16 bf16_of(unsigned v) { return as<__hip_bfloat16>((unsigned short)v); }
__device__ __half2 half2_of(unsigned v) { return as<__half2>(v); }
__device__ __hip_bfloat162 bf162_of(unsigned v) { return as<__hip_bfloat162>(v); }
template <class T> __device__ unsigned halves(T v) { return as<unsigned>(v); }
template <class T> __device__ unsigned lower(T v) { return as<unsigned short>(v); }
"""


def program() -> str:
    """Reads (here, value, other, mask) of every thread and writes what each got from every function."""
    kernels = [
        f"__global__ void k{n}(u64* out, const In* in) {{\n const In mine = in[threadIdx.x];\n"
        " const unsigned v = mine.value, m = mine.mask; const int o = mine.other, o2 = 2; int same = 0;\n"
        f" (void)m; (void)o; (void)o2; (void)same;\n if (mine.here) out[threadIdx.x] = {text};\n}}\n"
        for n, text in enumerate(FUNCTIONS)
    ]
    table = ", ".join(f"k{n}" for n in range(len(kernels)))
    return f"""{HEAD}{"".join(kernels)}
int main(int, char** argv) {{
    void (*all[])(u64*, const In*) = {{{table}}};
    FILE* f = fopen(argv[1], "rb");
    FILE* g = fopen(argv[2], "wb");
    static In in[{THREADS}];
    static u64 out[{THREADS}];
    while (fread(in, sizeof(In), {THREADS}, f) == {THREADS})
        for (auto k : all) {{
            for (u64& x : out) x = 0;
            k<<<1, {THREADS}>>>(out, in);
            fwrite(out, 8, {THREADS}, g);
        }}
    fclose(g);
}}
"""


def rounds(seed: int) -> Iterator[tuple[Warp, ...]]:
    """The warps of a block, in branches that all, half or few lanes take, as one group or two."""
    rng = random.Random(seed)
    for n in range(ROUNDS):
        share = (1.0, 1.0, 0.5, 0.15)[n % 4]
        two = n % 3 == 1
        warps = []
        for _ in range(THREADS // 32):
            here = [rng.random() < share for _ in range(32)]
            group = [two and rng.random() < 0.5 for _ in range(32)]
            mask = [sum(1 << k for k in range(32) if here[k] and group[k] == group[i]) for i in range(32)]
            value = [rng.getrandbits(32) for _ in range(32)]
            other = [rng.randrange(128) for _ in range(32)]
            warps.append(Warp(tuple(here), tuple(value), tuple(other), tuple(mask)))
        yield tuple(warps)


@pytest.fixture(scope="session")
def toolchain() -> sim_compiler.Toolchain:
    return sim_compiler.find_toolchain()


def wrong_answers(
    text: str, wave: int, flags: tuple[str, ...], toolchain: sim_compiler.Toolchain, folder: Path
) -> list[str]:
    """Functions whose answers differ from the reference."""
    (folder / "cu2port").mkdir(exist_ok=True)
    shutil.copy(HEADER, folder / "cu2port")
    path = folder / "program.hip"
    path.write_text(text)
    given = list(rounds(wave))
    data = b"".join(
        struct.pack("<iIiI", *x)
        for warps in given
        for s in warps
        for x in zip(map(int, s.here), s.value, s.other, s.mask, strict=True)
    )
    (folder / "in").write_bytes(data)
    found = sim_build.find_program(path)
    asked = sim_build.Program(found.units, found.include_dirs, found.defines, flags)
    binary = sim_build.build(asked, folder / "build", (wave,), toolchain)[wave]
    ran = simulate.run(binary, (str(folder / "in"), str(folder / "out")), simulate.Limits(60), capture=True)
    assert ran.code == 0, ran.errors.decode()
    got = struct.iter_unpack(f"<{THREADS}Q", (folder / "out").read_bytes())
    wrong: dict[str, str] = {}
    for warps in given:
        for text, reference in FUNCTIONS.items():
            answers = next(got)
            for thread in range(THREADS):
                s, i = warps[thread // 32], thread % 32
                want = reference(s, i) if s.here[i] else 0
                if want is not UNDEFINED and answers[thread] != want:
                    wrong.setdefault(text, f"{text}: thread {thread} got {answers[thread]:#x}, not {want:#x}")
    assert next(got, None) is None
    return list(wrong.values())


@pytest.mark.parametrize(
    ("wave", "flags"),
    [
        pytest.param(32, ("-O0",), id="wave32"),
        pytest.param(64, ("-O0",), id="wave64"),
        pytest.param(32, ("-O1", "-D__GFX11__"), id="wave32-constants", marks=pytest.mark.slow),
        pytest.param(64, ("-O1", "-D__GFX9__"), id="wave64-constants", marks=pytest.mark.slow),
    ],
)
def test_functions(wave: int, flags: tuple[str, ...], toolchain: sim_compiler.Toolchain, tmp_path: Path) -> None:
    assert wrong_answers(program(), wave, flags, toolchain, tmp_path)[:5] == []
