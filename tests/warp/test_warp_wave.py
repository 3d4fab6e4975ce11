"""cu2port/wave.hpp: scans over whole wavefronts against plain sums, with 32 and 64 lanes and blocks that fill the last
wavefront in part; and how many instructions they take.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

import pytest

from cu2port.project import CannotRun
from cu2port.verify import sim_build, simulate, toolchain

INCLUDE = Path(__file__).resolve().parents[2] / "translator" / "cu2port" / "include" / "cu2port"
BLOCKS = (16, 32, 64, 96, 128, 160)


def _value(i: int) -> int:
    return (i * 37 + 11) % 101 - 20


def _exclusive(x: list[int]) -> list[int]:
    return [0, *accumulate(x)][:-1]


def _pairs(x: list[int]) -> list[int]:
    """Compositions of the functions 3 * y + v, which do not commute, modulo 1000."""
    out, a, b = [], 1, 0
    for v in x:
        a, b = a * 3 % 1000, (b * 3 + v) % 1000
        out.append(a * 1000 + b)
    return out


#: Expressions of `v`, this thread's value, and what the lanes of a wavefront get.
FUNCTIONS: dict[str, Callable[[list[int]], list[int]]] = {
    "w::inclusive_sum(v)": lambda x: list(accumulate(x)),
    "int(w::inclusive_sum(v * 0.5f) * 2)": lambda x: list(accumulate(x)),
    "int(w::inclusive_sum(v * 0.5) * 2)": lambda x: list(accumulate(x)),
    "int(w::inclusive_sum((long long)v << 40) >> 40)": lambda x: list(accumulate(x)),
    "int(w::inclusive_sum(unsigned(v)))": lambda x: list(accumulate(x)),
    "int((short)w::inclusive_sum(short(v)))": lambda x: list(accumulate(x)),
    "w::inclusive_scan(v, [](auto a, auto b) { return a + b; })": lambda x: list(accumulate(x)),
    "w::inclusive_scan(v, [](auto a, auto b) { return a < b ? b : a; })": lambda x: list(accumulate(x, max)),
    "int(w::inclusive_scan(double(v), [](auto a, auto b) { return a < b ? a : b; }))": lambda x: list(
        accumulate(x, min)
    ),
    "w::inclusive_scan(v, [](auto a, auto b) { return a | b; })": lambda x: list(accumulate(x, lambda a, b: a | b)),
    "pair_of(w::inclusive_scan(Pair{3, v + 1000}, After()))": lambda x: _pairs([v + 1000 for v in x]),
    "w::exclusive_sum(v)": _exclusive,
    "w::exclusive_scan(v, -77, [](auto a, auto b) { return a < b ? b : a; })": lambda x: [
        -77,
        *accumulate(x, max),
    ][:-1],
    "w::below(v)": lambda x: [x[0], *x[:-1]],
    "int(w::below(v * 0.5) * 2)": lambda x: [x[0], *x[:-1]],
    "w::last(v)": lambda x: [x[-1]] * len(x),
    "int(w::last(v * 0.5) * 2)": lambda x: [x[-1]] * len(x),
    "w::last_lane()": lambda x: [len(x) - 1] * len(x),
    "w::shfl(v, 5)": lambda x: [x[5]] * len(x),
    "w::shfl(v, threadIdx.x % 3)": lambda x: [x[i % 3] for i in range(len(x))],
}
PROGRAM = """#include <hip/hip_runtime.h>
#include <cstdio>
#include "cu2port/wave.hpp"
namespace w = cu2port::wave;
struct Pair { int a, b; };
struct After {
    __device__ Pair operator()(Pair x, Pair y) const { return {x.a * y.a % 1000, (x.b * y.a + y.b) % 1000}; }
};
__device__ int pair_of(Pair p) { return p.a % 1000 * 1000 + p.b % 1000; }
KERNELS
int main() {
    void (*all[])(int*) = {TABLE};
    static int out[1024];
    for (int threads : {BLOCKS})
        for (auto k : all) {
            k<<<1, threads>>>(out);
            if (hipDeviceSynchronize() != hipSuccess) return 1;
            for (int i = 0; i < threads; i++) printf("%d ", out[i]);
            printf("\\n");
        }
}
"""


@pytest.mark.parametrize(
    ("wave", "flags"),
    [
        pytest.param(32, ("-O0",), id="wave32"),
        pytest.param(64, ("-O0",), id="wave64"),
        pytest.param(64, ("-O1", "-D__GFX9__"), id="wave64-gfx9"),
    ],
)
def test_scans(wave: int, flags: tuple[str, ...], tmp_path: Path) -> None:
    kernels = "".join(
        f"__global__ void k{n}(int* out) {{\n"
        f"    int v = (int(threadIdx.x) * 37 + 11) % 101 - 20;\n    out[threadIdx.x] = {e};\n}}\n"
        for n, e in enumerate(FUNCTIONS)
    )
    text = PROGRAM.replace("KERNELS", kernels).replace("TABLE", ", ".join(f"k{n}" for n in range(len(FUNCTIONS))))
    (tmp_path / "cu2port").mkdir()
    for header in ("warp.hpp", "wave.hpp"):
        shutil.copy(INCLUDE / header, tmp_path / "cu2port")
    path = tmp_path / "p.hip"
    path.write_text(text.replace("BLOCKS", ", ".join(map(str, BLOCKS))))
    found = sim_build.find_program(path)
    program = sim_build.Program(found.units, found.include_dirs, found.defines, flags)
    binary = sim_build.build(program, tmp_path / "build", (wave,), sim_build.find_toolchain())[wave]
    ran = simulate.run(binary, (), simulate.Limits(60), capture=True)
    assert ran.code == 0, ran.errors.decode()
    lines = iter(ran.output.decode().splitlines())
    wrong = []
    for threads in BLOCKS:
        values = [_value(i) for i in range(threads)]
        waves = [values[i : i + wave] for i in range(0, threads, wave)]
        for text, reference in FUNCTIONS.items():
            got = [int(x) for x in next(lines).split()]
            if "threadIdx" in text:  # lanes of later wavefronts: 32 and 64 leave other remainders
                want = [
                    x[(i + k) % 3] for i, x in zip(range(0, threads, wave), waves, strict=True) for k in range(len(x))
                ]
            else:
                want = [y for x in waves for y in reference(x)]
            if got != want:
                wrong.append((text, threads, got, want))
    assert wrong == []


GPUS = {"gfx90a": 64, "gfx942": 64, "gfx1100": 32, "gfx1201": 32}
#: Expressions of `v`, and the most instructions that they may take on wavefronts of 64 lanes and of 32.
COUNTS = {
    ("int", "cu2port::wave::inclusive_sum(v)"): (6, 9),
    ("float", "cu2port::wave::inclusive_sum(v)"): (18, 17),
    ("int", "cu2port::wave::inclusive_scan(v, [](int a, int b) { return a < b ? b : a; })"): (30, 22),
    ("int", "cu2port::wave::below(v)"): (1, 5),
    ("int", "cu2port::wave::last(v)"): (4, 4),
    ("bool", "v == cu2port::wave::last_lane()"): (4, 4),
}
HOST = """extern "C" {
typedef int hipError_t;
enum { hipSuccess, hipDeviceAttributeWarpSize };
int hipGetDevice(int*);
int hipDeviceGetAttribute(int*, int, int);
}
#include "cu2port/wave.hpp"
"""


@pytest.mark.parametrize("gpu", GPUS)
def test_few_instructions(gpu: str, tmp_path: Path) -> None:
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip" / "hip_runtime.h").write_text("")
    mark = 'extern "C" __attribute__((device, used))'
    code = "".join(
        f"{mark} {t} f{n}({t if t != 'bool' else 'int'} v) {{ return {e}; }}\n" for n, (t, e) in enumerate(COUNTS)
    )
    try:
        compiler = toolchain.find("", tuple(GPUS), "/tmp")
    except CannotRun as e:
        pytest.skip(f"no compiler for AMD GPUs here: {e}")
    if compiler.kind == "wheels":
        pytest.skip("no compiler for AMD GPUs here: the wheels give no machine code")
    path = tmp_path / "code.hip"
    path.write_text(HOST + code)
    command = [*compiler.command, "-x", "hip", f"--offload-arch={gpu}", "-nogpulib", "-nogpuinc", "-std=c++14", "-O2"]
    command += ["-S", "--cuda-device-only", "-D__HIPCC_RTC__", "-D__device__=__attribute__((device))", f"-I{tmp_path}"]
    done = subprocess.run([*command, f"-I{INCLUDE.parent}", "-o", "-", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    made = done.stdout
    taken = {}
    for number, body in re.findall(r"(?ms)^f(\d+):.*?$(.*?)^\.Lfunc_end", made):
        words = re.findall(r"(?m)^\t([a-z]\w+)", body)
        waits = ("s_waitcnt", "s_wait_", "s_nop", "s_delay", "s_setpc")
        taken[list(COUNTS)[int(number)]] = sum(not w.startswith(waits) for w in words)
    assert taken.keys() == COUNTS.keys()
    most = {x: n[0 if GPUS[gpu] == 64 else 1] for x, n in COUNTS.items()}
    assert {x: (n, most[x]) for x, n in taken.items() if n > most[x]} == {}
