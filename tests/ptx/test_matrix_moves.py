"""ldmatrix, stmatrix, movmatrix and cp.async: which element goes where, and the C++ for them.

The layout is proven on the elements themselves, by the strides of NVIDIA's figures. Then emitted code in the simulator,
on wavefronts of 32 and 64 lanes with both warps or one of them there, leaves what the interpreter leaves.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from amd_code import machine_code
from simulated import quick

from cu2port.ptx import isa_ldmatrix
from cu2port.ptx.emit import emit
from cu2port.ptx.interp import Machine, run
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.isa_ldmatrix import Matrices
from cu2port.ptx.parse import parse_inline
from cu2port.verify import sim_build, sim_compiler, simulate

SIZE = 1024  # bytes of shared and of global memory for a warp
PLACES = {
    **{f"%{i}": Place(f"r{i}", TYPES["u32"]) for i in range(4)},
    "%4": Place("a", TYPES["u32"]),  # an offset in shared memory
    "%5": Place("p", TYPES["u64"]),  # the same as a generic address
    "%6": Place("g", TYPES["u64"]),  # an address in global memory
    "%7": Place("n", TYPES["u32"]),
}
REGISTERS = ("%0", "%1", "%2", "%3")


@dataclass(frozen=True)
class Strides:
    """Where elements lie in rows of `columns`, counted from the first row: a stride for each digit of the place.

    The lane is 4 * `group` + `member`; `elements` are (size, stride) of the element's number in a word, lowest first.
    """

    columns: int
    member: int
    group: int
    elements: tuple[tuple[int, int], ...]
    word: int
    matrix: int

    def place(self, lane: int, matrix: int, word: int, element: int) -> tuple[int, int]:
        at = self.member * (lane & 3) + self.group * (lane >> 2) + self.word * word + self.matrix * matrix
        for size, stride in self.elements:
            at += element % size * stride
            element //= size
        return divmod(at, self.columns)


STRIDES = {
    "m8n8_b16": Strides(8, 2, 8, ((2, 1),), 0, 64),
    "m8n8_trans_b16": Strides(8, 16, 1, ((2, 8),), 0, 64),
    "m8n16_b4x16_p64": Strides(16, 4, 16, ((4, 1),), 0, 128),
    "m8n16_b6x16_p32": Strides(16, 4, 16, ((4, 1),), 0, 128),
    "m16n16_trans_b8": Strides(16, 64, 1, ((4, 16),), 8, 256),
    "m16n16_trans_b4x16_p64": Strides(16, 64, 1, ((4, 16),), 8, 256),
    "m16n16_trans_b6x16_p32": Strides(16, 64, 1, ((4, 16),), 8, 256),
    "m16n8_trans_b8": Strides(16, 32, 1, ((2, 16), (2, 8)), 0, 128),
}


def misplaced(shape: str, count: int) -> list[object]:
    """Elements that are not where the strides say, and places that are not there exactly once."""
    made = isa_ldmatrix._SHAPES[shape]
    out: list[object] = []
    seen: dict[tuple[int, int], int] = {}
    for lane in range(32):
        for word, shift, row, column in Matrices(shape, count).elements(lane):
            matrix, part = divmod(word, made.words)
            if STRIDES[shape].place(lane, matrix, part, shift // made.held) != (row, column):
                out.append((lane, word, shift, row, column))
            seen[row, column] = seen.get((row, column), 0) + 1
    columns = STRIDES[shape].columns
    wanted = {(row, column): 1 for row in range(made.rows * count) for column in range(columns)}
    return out if seen == wanted else [*out, "not each element once"]


@pytest.mark.parametrize("shape", STRIDES)
def test_elements_are_where_the_manual_has_them(shape: str) -> None:
    assert set(STRIDES) == set(isa_ldmatrix._SHAPES)
    assert [count for count in (1, 2, 4) if misplaced(shape, count)] == []


def test_a_wrong_layout_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(isa_ldmatrix._SHAPES, "m8n8_b16", isa_ldmatrix._SHAPES["m8n8_trans_b16"])
    assert misplaced("m8n8_b16", 1)


_WORDS = {1: "{%0}", 2: "{%0, %1}", 4: "{%0, %1, %2, %3}"}
_TRANS = ("", ".trans")
_PRED = "{ .reg .pred q; setp.ne.u32 q, %7, 0; "
TEXTS = (
    *(f"ldmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16 {_WORDS[n]}, [%4];" for n in _WORDS for trans in _TRANS),
    "ldmatrix.sync.aligned.m8n8.x4.b16 {%0, %1, %2, %3}, [%5];",
    "ldmatrix.sync.aligned.x2.m8n8.shared::cta.b16 {%1, %0}, [%4+16];",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %2, [%4];",
    *(
        f"ldmatrix.sync.aligned.m8n16.x{n}.shared.b8x16.{bits} {_WORDS[n]}, [%4];"
        for n in _WORDS
        for bits in ("b4x16_p64", "b6x16_p32")
    ),
    *(
        f"ldmatrix.sync.aligned.m16n16.x{n}.trans.shared.{bits} {_WORDS[2 * n]}, [%4];"
        for n in (1, 2)
        for bits in ("b8", "b8x16.b4x16_p64", "b8x16.b6x16_p32")
    ),
    *(f"stmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16 [%4], {_WORDS[n]};" for n in _WORDS for trans in _TRANS),
    *(f"stmatrix.sync.aligned.m16n8.x{n}.trans.shared.b8 [%4], {_WORDS[n]};" for n in _WORDS),
    "movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;",
    *(f"cp.async.ca.shared.global [%4], [%6], {n};" for n in (4, 8, 16)),
    "cp.async.cg.shared.global.L2::128B [%4], [%6], 16;",
    *(f"cp.async.ca.shared::cta.global [%4], [%6+16], {n}, %7;" for n in (4, 8, 16)),
    _PRED + "cp.async.cg.shared.global.L2::256B [%4], [%6], 16, q; }",
    _PRED + "cp.async.ca.shared.global [%4], [%6], 8, !q; }",
    _PRED + "@q cp.async.ca.shared.global [%4], [%6], 8; cp.async.commit_group; cp.async.wait_group 0; }",
    "{ .reg .b64 c; createpolicy.fractional.L2::evict_first.b64 c, 1.0;\n"
    "cp.async.cg.shared.global.L2::cache_hint [%4], [%6], 16, c;\n"
    "cp.async.cg.shared.global.L2::cache_hint.L2::64B [%4], [%6], 16, %7, c; cp.async.wait_all; }",
)  # fmt: skip
HERE = (0b11, 0b01, 0b10)  # which of the two warps come


@dataclass(frozen=True)
class Warp:
    """What a warp begins with: words of its lanes, the rows they name, how many bytes, and its memory."""

    words: list[list[int]]
    rows: list[int]
    counts: list[int]
    shared: bytes
    memory: bytes


def drawn(rng: random.Random) -> Warp:
    return Warp(
        [[rng.getrandbits(32) for _ in REGISTERS] for _ in range(32)],
        rng.sample(range(SIZE // 16 - 1), 32),
        [rng.choice((0, 1, 2, 3, 4, 7, 8, 12, 16)) for _ in range(32)],
        rng.randbytes(SIZE),
        rng.randbytes(SIZE),
    )


def program(texts: tuple[str, ...], warps: list[Warp]) -> str:
    """Kernel n runs text n in the warps that are to be there, and shows their registers and memory."""
    out = ["#include <hip/hip_runtime.h>", "#include <cu2port/ptx.hpp>", "#include <cstdio>", "#include <cstring>"]
    out += ["struct Warp { unsigned words[32][4], rows[32], counts[32]; unsigned char shared[1024], memory[1024]; };"]
    for n, text in enumerate(texts):
        out.append(f"// {' '.join(text.split())}\n__global__ void k{n}(Warp* warps, unsigned here) {{")
        out.append("    __shared__ __attribute__((aligned(16))) unsigned char s[2][1024];")
        out.append("    const unsigned w = threadIdx.x / 32, lane = threadIdx.x % 32;\n    Warp& mine = warps[w];")
        out.append("    for (int i = 0; i < 32; ++i) s[w][32 * lane + i] = mine.shared[32 * lane + i];")
        out.append("    std::uint32_t " + ", ".join(f"r{i} = mine.words[lane][{i}]" for i in range(4)) + ";")
        out.append("    const unsigned n = mine.counts[lane];\n    __syncthreads();")
        out.append("    unsigned char* const to = &s[w][16 * mine.rows[lane]];")
        out.append("    const std::uint32_t a = cu2port::ptx::cvta_to_shared(to);")
        out.append("    const std::uint64_t p = reinterpret_cast<std::uint64_t>(to);")
        out.append("    const std::uint64_t g = reinterpret_cast<std::uint64_t>(mine.memory + 16 * (lane ^ 5));")
        out.append("    (void)a, (void)p, (void)g, (void)n;\n    if (here >> w & 1) {")
        out += [f"        {line}" for line in emit(parse_inline(text), PLACES).lines]
        out.append("    }\n    __syncthreads();")
        out += [f"    mine.words[lane][{i}] = r{i};" for i in range(4)]
        out.append("    for (int i = 0; i < 32; ++i) mine.shared[32 * lane + i] = s[w][32 * lane + i];\n}")
    words = []
    for warp in warps:
        numbers = [x for lane in warp.words for x in lane] + warp.rows + warp.counts
        for data in (warp.shared, warp.memory):
            numbers += [int.from_bytes(data[i : i + 4], "little") for i in range(0, SIZE, 4)]
        words += numbers
    out.append(f"const unsigned words[] = {{{', '.join(f'{x}u' for x in words)}}};")
    out.append("int main() {\n    Warp* warps;\n    (void)hipMallocManaged((void**)&warps, sizeof words);")
    out.append("""    auto show = [&] {
        (void)hipDeviceSynchronize();
        for (int w = 0; w < 2; ++w) {
            for (auto& lane : warps[w].words) for (unsigned x : lane) std::printf("%08x", x);
            std::printf(" ");
            for (unsigned char x : warps[w].shared) std::printf("%02x", x);
            std::printf("\\n");
        }
    };""")
    for n in range(len(texts)):  # a launch takes the compiler longer than a kernel
        out.append(f"    for (unsigned here : {{{', '.join(f'{here}u' for here in HERE)}}}) {{")
        out.append("        std::memcpy(warps, words, sizeof words);")
        out.append(f"        k{n}<<<1, 64>>>(warps, here);\n        show();\n    }}")
    return "\n".join([*out, "}\n"])


def expected(text: str, warp: Warp) -> tuple[list[list[int]], bytes]:
    lanes = []
    for lane in range(32):
        numbers = dict(zip(REGISTERS, warp.words[lane], strict=True))
        row = 16 * warp.rows[lane]
        lanes.append({**numbers, "%4": row, "%5": row, "%6": 16 * (lane ^ 5), "%7": warp.counts[lane]})
    machine = Machine({"global": bytearray(warp.memory), "shared": bytearray(warp.shared)})
    run(parse_inline(text), PLACES, lanes, machine)
    return [[lane[r] for r in REGISTERS] for lane in lanes], bytes(machine.memory["shared"])


@pytest.mark.parametrize("wave", [pytest.param(32, marks=pytest.mark.slow), 64])
def test_what_is_moved(wave: int, tmp_path: Path) -> None:
    rng = random.Random(7)
    warps = [drawn(rng), drawn(rng)]
    source = tmp_path / "moves.hip"
    source.write_text(program(TEXTS, warps))
    found = sim_build.find_program(source)
    built = quick(found)
    binary = sim_build.build(built, tmp_path / "build", (wave,), sim_compiler.find_toolchain())[wave]
    ran = simulate.run(binary, (), simulate.Limits(100), capture=True)
    assert ran.code == 0, ran.errors.decode()[-2000:]
    lines = iter(ran.output.decode().splitlines())
    for text in TEXTS:
        for here in HERE:
            for w, warp in enumerate(warps):
                words, memory = next(lines).split()
                wanted = expected(text, warp) if here >> w & 1 else (warp.words, warp.shared)
                assert bytes.fromhex(memory) == wanted[1], (text, here, w)
                got = [int(words[i : i + 8], 16) for i in range(0, len(words), 8)]
                assert got == [x for lane in wanted[0] for x in lane], (text, here, w)


KERNELS = """
#include <stddef.h>
#include "cu2port/ptx.hpp"
using namespace cu2port::ptx;
#define LANE __builtin_amdgcn_workitem_id_x()
#define KERNEL extern "C" __global__ void
KERNEL load(u32x4* out, u32* in) { out[LANE] = ldmatrix_m8n8_b16<u32x4>(in[LANE]); }
KERNEL load_trans(u32x4* out, u32* in) { out[LANE] = ldmatrix_m8n8_trans_b16<u32x4>(in[LANE]); }
KERNEL store(u32x4* out, u32* in) { stmatrix_m8n8_b16(in[LANE], out[LANE]); }
KERNEL move(u32* out, u32* in) { out[LANE] = movmatrix_m8n8_trans_b16(in[LANE]); }
KERNEL copies(u32* in) {
    cp_async(16 * LANE, in + 4 * LANE, 16);
    cp_async(16 * LANE + 4096, in + 4 * LANE + 4096, 16);
}
"""


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_machine_code(arch: str, tmp_path: Path) -> None:
    """An exchange for an address and an access of a dword for a matrix, and loads of copies that do not wait."""
    code = machine_code(KERNELS, tmp_path, arch)
    read = "load" if arch[3] == "1" else "read"
    write = "store" if arch[3] == "1" else "write"

    def counted(kernel: str) -> dict[str, int]:
        return dict(Counter(re.findall(r"^\t(ds_\w+|global_\w+|scratch_\w+|flat_\w+)", code[kernel], re.M)))

    def shared(kernel: str) -> dict[str, int]:
        return {name: n for name, n in counted(kernel).items() if not name.startswith("global_")}

    assert shared("load") == {"ds_bpermute_b32": 4, f"ds_{read}_b32": 4}
    assert shared("load_trans") == {"ds_bpermute_b32": 8, f"ds_{read}_u16": 8}
    assert shared("store") == {"ds_bpermute_b32": 4, f"ds_{write}_b32": 4}
    assert shared("move") == {"ds_bpermute_b32": 2}
    assert shared("copies") == {f"ds_{write}_b128": 2}
    first_write = code["copies"].index("ds_")
    assert len(re.findall(r"global_load_(?:dwordx4|b128)", code["copies"][:first_write])) == 2
