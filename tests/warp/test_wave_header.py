"""cu2port/wave.hpp: every function against a plain reference of whole wavefronts of 32 and of 64 lanes.

Blocks run in the simulator whose last wavefront has all lanes or the lower half of them. Votes are taken in a branch
that all, half or few of the lanes enter; what needs all lanes that exist gets them. The compiler's answer to constants
(DPP, swizzles) depends on the GPU, so each kind is run.
"""

from __future__ import annotations

import random
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import pytest

from cu2port.verify import sim_build, sim_compiler, simulate

INCLUDE = Path(__file__).resolve().parents[2] / "translator" / "cu2port" / "include" / "cu2port"
SIZES = (32, 64, 96, 128)
ROUNDS = 12
MASK32 = 0xFFFFFFFF


@dataclass(frozen=True)
class Wave:
    """What a reference sees: the lanes that exist, those in the branch, each one's value and second operand."""

    size: int
    threads: int
    here: tuple[bool, ...]
    value: tuple[int, ...]
    other: tuple[int, ...]

    def votes(self, yes: Callable[[int], object]) -> int:
        """The bits of the lanes in the branch that say yes to a second operand."""
        return sum(1 << k for k, o in enumerate(self.other) if self.here[k] and yes(o))

    def fold(self, f: Callable[[int, int], int]) -> int:
        return reduce(f, self.value)


Reference = Callable[[Wave, int], int]


def _signed(v: int) -> int:
    return v - (1 << 32) if v >> 31 else v


def _all(f: Callable[[int, int], int]) -> Reference:
    return lambda s, i: s.fold(f)


#: Expressions of (unsigned v, int o, w: the namespace) in a branch that some lanes enter, and what lane i gets.
SOME: dict[str, Reference] = {
    "w::ballot(o & 1)": lambda s, i: s.votes(lambda o: o & 1),
    "w::ballot(1)": lambda s, i: s.votes(lambda o: True),
    "w::any(o % 61 == 0)": lambda s, i: int(s.votes(lambda o: o % 61 == 0) != 0),
    "w::all(o % 61 != 0)": lambda s, i: int(s.votes(lambda o: o % 61 == 0) == 0),
    "w::popc(o & 2)": lambda s, i: s.votes(lambda o: o & 2).bit_count(),
    "w::size()": lambda s, i: s.size,
    "w::count(blockDim.x)": lambda s, i: -(-s.threads // s.size),
    "w::count(o)": lambda s, i: -(-s.other[i] // s.size),
}
#: Where all lanes that exist come.
WHOLE: dict[str, Reference] = {
    "w::sum(v)": _all(lambda a, b: (a + b) & MASK32),
    "unsigned(w::sum(int(v)))": _all(lambda a, b: (a + b) & MASK32),
    "w::sum(u64(v) << 17)": lambda s, i: sum(s.value) << 17,
    "u64(w::sum(float(v >> 20)))": lambda s, i: sum(v >> 20 for v in s.value),
    "u64(w::sum(double(v)))": lambda s, i: sum(s.value),
    "w::reduce(v, Min())": _all(min),
    "w::reduce(v, Max())": _all(max),
    "unsigned(w::reduce(int(v), Min()))": _all(lambda a, b: min(a, b, key=_signed)),
    "unsigned(w::reduce(int(v), Max()))": _all(lambda a, b: max(a, b, key=_signed)),
    "u64(w::reduce(double(v), Max()))": _all(max),
    "w::reduce(v, [](unsigned a, unsigned b) { return a & b; })": _all(lambda a, b: a & b),
    "w::reduce(v, [](unsigned a, unsigned b) { return a | b; })": _all(lambda a, b: a | b),
    "w::reduce(v, [](unsigned a, unsigned b) { return a ^ b; })": _all(lambda a, b: a ^ b),
    "w::reduce(v | 1, [](unsigned a, unsigned b) { return a * b; })": lambda s, i: reduce(
        lambda a, b: a * b & MASK32, (v | 1 for v in s.value)
    ),
    "w::reduce(Pair{v, o}, Later()).v": lambda s, i: max(zip(s.other, s.value, strict=True))[1],
}
FUNCTIONS = {**SOME, **WHOLE}

HEAD = """#include <hip/hip_runtime.h>
#include <cstdio>
#include "cu2port/wave.hpp"
namespace w = cu2port::wave;
typedef unsigned long long u64;
struct In { int here; unsigned value; int other; };
struct Min { template <class T> __device__ T operator()(T a, T b) const { return b < a ? b : a; } };
struct Max { template <class T> __device__ T operator()(T a, T b) const { return a < b ? b : a; } };
struct Pair { unsigned v; int o; };
struct Later {
    __device__ Pair operator()(Pair a, Pair b) const { return b.o > a.o || (b.o == a.o && b.v > a.v) ? b : a; }
};
"""


def program() -> str:
    """Reads a block's size and (here, value, other) of its threads; writes what each got from every function."""
    kernels = [
        f"__global__ void k{n}(u64* out, const In* in) {{\n const In mine = in[threadIdx.x];\n"
        " const unsigned v = mine.value; const int o = mine.other; (void)v; (void)o;\n"
        f" {'if (mine.here) ' if text in SOME else ''}out[threadIdx.x] = {text};\n}}\n"
        for n, text in enumerate(FUNCTIONS)
    ]
    table = ", ".join(f"k{n}" for n in range(len(kernels)))
    return f"""{HEAD}{"".join(kernels)}
int main(int, char** argv) {{
    void (*all[])(u64*, const In*) = {{{table}}};
    FILE* f = fopen(argv[1], "rb");
    FILE* g = fopen(argv[2], "wb");
    static In in[{max(SIZES)}];
    static u64 out[{max(SIZES)}];
    for (int n; fread(&n, 4, 1, f) == 1 && int(fread(in, sizeof(In), n, f)) == n;)
        for (auto k : all) {{
            for (u64& x : out) x = 0;
            k<<<1, n>>>(out, in);
            fwrite(out, 8, n, g);
        }}
    fclose(g);
}}
"""


def rounds(wave: int) -> Iterator[list[Wave]]:
    """The waves of a block, whose lanes enter a branch all, by half or seldom."""
    rng = random.Random(wave)
    for n in range(ROUNDS):
        threads = SIZES[n % len(SIZES)]
        share = (1.0, 0.5, 0.1)[n // len(SIZES)]
        waves = []
        for first in range(0, threads, wave):
            lanes = range(min(wave, threads - first))
            here = tuple(rng.random() < share for _ in lanes)
            value = tuple(rng.getrandbits(32) for _ in lanes)
            waves.append(Wave(wave, threads, here, value, tuple(rng.randrange(128) for _ in lanes)))
        yield waves


def wrong_answers(wave: int, flags: tuple[str, ...], folder: Path) -> list[str]:
    """Functions whose answers differ from the reference."""
    (folder / "cu2port").mkdir()
    for name in ("warp.hpp", "wave.hpp"):
        shutil.copy(INCLUDE / name, folder / "cu2port")
    path = folder / "program.hip"
    path.write_text(program())
    given = list(rounds(wave))
    with (folder / "in").open("wb") as f:
        for waves in given:
            f.write(struct.pack("<i", waves[0].threads))
            for s in waves:
                for x in zip(map(int, s.here), s.value, s.other, strict=True):
                    f.write(struct.pack("<iIi", *x))
    found = sim_build.find_program(path)
    asked = sim_build.Program(found.units, found.include_dirs, found.defines, flags)
    binary = sim_build.build(asked, folder / "build", (wave,), sim_compiler.find_toolchain())[wave]
    ran = simulate.run(binary, (str(folder / "in"), str(folder / "out")), simulate.Limits(60), capture=True)
    assert ran.code == 0, ran.errors.decode()
    got = iter(struct.unpack(f"<{(folder / 'out').stat().st_size // 8}Q", (folder / "out").read_bytes()))
    wrong: dict[str, str] = {}
    for waves in given:
        for text, reference in FUNCTIONS.items():
            for n, s in enumerate(waves):
                for i, here in enumerate(s.here):
                    want = reference(s, i) if here or text in WHOLE else 0
                    if (answer := next(got)) != want:
                        wrong.setdefault(text, f"{text}: wave {n} of {s.threads}, lane {i}: {answer:#x}, not {want:#x}")
    assert next(got, None) is None
    return list(wrong.values())


@pytest.mark.parametrize(
    ("wave", "flags"),
    [
        pytest.param(32, ("-O1", "-D__GFX11__"), id="wave32", marks=pytest.mark.slow),
        pytest.param(64, ("-O1", "-D__GFX9__"), id="wave64", marks=pytest.mark.slow),
        pytest.param(64, ("-O0", "-D__GFX11__"), id="wave64-of-gfx11"),
    ],
)
def test_functions(wave: int, flags: tuple[str, ...], tmp_path: Path) -> None:
    assert wrong_answers(wave, flags, tmp_path) == []
