"""Texts of kernels with `mma`, and what converts them and runs them in the simulator."""

from __future__ import annotations

import re
from pathlib import Path

from cu2port.core.model import Options
from cu2port.engine.translate import translate
from cu2port.verify import sim_build, sim_compiler, simulate

ASM = (
    'asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"'
    ' : "+f"(C[0]), "+f"(C[1]), "+f"(C[2]), "+f"(C[3])'
    ' : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));'
)
LOOP = "for (int k = 0; k < n; ++k) {\n        load(a, b);\n        %s\n    }"


def product(place: str) -> str:
    return ASM.replace("C[", f"{place}[")


ONE = product("acc[0]")
MULTIPLY = "auto multiply = [&](int j) { for (int i = 0; i < 2; ++i) { " + product("acc[i]") + " } };"


HEAD = """#include <hip/hip_runtime.h>
#include <cu2port/mma.hpp>
#include <cstdio>
#include <cstdlib>
template <class T> __device__ void get(T& to, unsigned long long from) { __builtin_memcpy(&to, &from, sizeof to); }
"""


#: what programs of tests read: 64 words
DATA = b"".join((0x9E3779B97F4A7C15 * (i + 1) % 2**64).to_bytes(8, "little") for i in range(64))


def whole(kernel: str, main: str, kept: bool) -> str:
    """A program of converted kernels, whose sums stay in tiles or do not."""
    assert ("in_tiles<" in kernel) == kept
    return re.sub(r'#include "(cu2port/[\w.]+)"', r"#include <\1>", HEAD + kernel + main)


def converted(text: str) -> str:
    return translate(text, Options(), path="a.cu").output.decode()


def run_simulated(source: str, data: bytes, wave: int, folder: Path) -> bytes:
    (folder / "mma.hip").write_text(source)
    (folder / "in").write_bytes(data)
    found = sim_build.find_program(folder / "mma.hip")
    built = sim_build.Program(found.units, found.include_dirs, found.defines, ("-O0",))
    binary = sim_build.build(built, folder / "build", (wave,), sim_compiler.find_toolchain())[wave]
    ran = simulate.run(binary, (str(folder / "in"), str(folder / "out")), simulate.Limits(100), capture=True)
    assert ran.code == 0, ran.errors.decode()[-2000:]
    return (folder / "out").read_bytes()
