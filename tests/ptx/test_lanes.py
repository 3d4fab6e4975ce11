"""What lanes do together: emitted code in the simulator, on wavefronts of 32 and 64 lanes, against the interpreter.

Each kernel runs 64 threads, two warps, of which a pattern of lanes comes to the instruction. Operands: %0 and %1 are
results, %2, %3, %4 inputs of 32 bits, %5 a mask that names lanes which are there, %6 a float, %7 a 64-bit input.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from simulated import quick

from cu2port.ptx.emit import emit
from cu2port.ptx.interp import Machine, run
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.parse import parse_inline
from cu2port.verify import sim_build, sim_compiler, simulate

PLACES = {
    "%0": Place("d", TYPES["u32"]),
    "%1": Place("e", TYPES["u32"]),
    "%2": Place("a", TYPES["u32"]),
    "%3": Place("b", TYPES["u32"]),
    "%4": Place("c", TYPES["u32"]),
    "%5": Place("m", TYPES["u32"]),
    "%6": Place("f", TYPES["f32"]),
    "%7": Place("w", TYPES["u64"]),
}


def predicated(text: str) -> str:
    """A text in which `p` says whether input %2 is odd and `q`, set by it, goes to %1."""
    head = "{ .reg .pred p, q; .reg .b32 t; and.b32 t, %2, 1; setp.ne.u32 p, t, 0; setp.eq.u32 q, 0, 0; "
    return head + text + " selp.u32 %1, 1, 0, q; }"


TEXTS = (
    "activemask.b32 %0;",
    *(predicated(f"vote.sync.{mode}.pred q, {p}, %5;") for mode in ("all", "any", "uni") for p in ("p", "!p")),
    predicated("vote.sync.ballot.b32 %0, p, %5;"),
    predicated("vote.ballot.b32 %0, !p;"),
    predicated("vote.all.pred q, p;"),
    "match.any.sync.b32 %0, %2, %5;",
    "match.any.sync.b64 %0, %7, %5;",
    predicated("match.all.sync.b32 %0|q, %2, %5;"),
    predicated("and.b32 t, %2, 0; match.all.sync.b32 %0|q, t, %5;"),
    *(f"redux.sync.{op}.{t} %0, %2, %5;" for op in ("add", "min", "max") for t in ("u32", "s32")),
    *(f"redux.sync.{op}.b32 %0, %2, %5;" for op in ("and", "or", "xor")),
    *(f"redux.sync.{op}{how}.f32 %6, %6, %5;" for op in ("min", "max") for how in ("", ".abs", ".NaN", ".abs.NaN")),
    predicated("elect.sync %0|q, %5;"),
    # usual shuffles, as CUDA's functions write them
    *(f"shfl.sync.{mode}.b32 %0, %2, %3, {c}, %5;" for mode, c in (("idx", 31), ("up", 0), ("down", 31), ("bfly", 31))),
    *(predicated(f"shfl.sync.{mode}.b32 %0|q, %2, %3, {c}, %5;") for mode, c in (("idx", 31), ("up", 0), ("bfly", 31))),
    *(predicated(f"shfl.sync.{mode}.b32 %0|q, %2, 3, 0x181f, %5;") for mode in ("idx", "down", "bfly")),
    predicated("shfl.sync.up.b32 %0|q, %2, 3, 0x1800, %5;"),
    # any segments and clamps
    *(predicated(f"shfl.sync.{mode}.b32 %0|q, %2, %3, %4, %5;") for mode in ("idx", "up", "down", "bfly")),
    *(predicated(f"shfl.sync.{mode}.b32 %0|q, %2, 5, 0x0c13, %5;") for mode in ("idx", "up", "down", "bfly")),
    "mov.u32 %0, %%laneid; mov.u32 %1, %%lanemask_le;",
    "mov.u32 %0, %%lanemask_lt; mov.u32 %1, %%lanemask_gt;",
    "mov.u32 %0, %%lanemask_eq; mov.u32 %1, %%lanemask_ge;",
    "mov.u32 %0, %%warpid; mov.u32 %1, WARP_SZ;",
    predicated("bar.warp.sync %5; mov.u32 %0, %2;"),
)
Inputs = list[list[dict[str, int]]]
PATTERNS = (0xFFFFFFFF, 0x55555555, 0xF00DBEEF)
_NAN, _INF = 0x7FC00000, 0x7F800000


def lane_inputs(rng: random.Random, pattern: int) -> list[dict[str, int]]:
    """Registers of 32 lanes. Half of the patterns have one mask for all, the others two, of odd and of even lanes."""
    split = rng.random() < 0.5
    lanes = []
    for lane in range(32):
        mask = pattern & (0x55555555 << (lane & 1) if split else 0xFFFFFFFF)
        a = rng.choice([rng.getrandbits(32), rng.randrange(4), rng.randrange(4), 0x80000000, 0xFFFFFFFF])
        f = rng.choice([rng.getrandbits(32), 0x3F800000, 0xBF800000, 0, 0x80000000, _NAN, _INF])
        c = rng.getrandbits(5) << 8 | rng.getrandbits(5)
        wide = rng.randrange(2) << 40 | rng.randrange(2)
        lanes.append({"%2": a, "%3": rng.randrange(40), "%4": c, "%5": mask, "%6": f, "%7": wide, "%0": 0, "%1": 0})
    # what a shuffle asks for is the same in all lanes, as code that makes sense has it
    for registers in lanes[1:]:
        registers["%3"], registers["%4"] = lanes[0]["%3"], lanes[0]["%4"]
    return lanes


def program(texts: tuple[str, ...], inputs: Inputs) -> str:
    """Kernel n runs text n on all inputs, with `pattern` lanes of each warp there."""
    out = ["#include <hip/hip_runtime.h>", "#include <cu2port/ptx.hpp>", "#include <cstdio>", "#include <vector>"]
    names = ("%0", "%1", "%2", "%3", "%4", "%5", "%6", "%7")
    for n, text in enumerate(texts):
        parameters = "const unsigned long long* in, unsigned long long* out, unsigned pattern"
        out.append(f"// {text}\n__global__ void k{n}({parameters}) {{")
        out.append("    const unsigned t = threadIdx.x;\n    in += 8 * t;")
        for i, name in enumerate(names):
            place = PLACES[name]
            kind = {"u32": "std::uint32_t", "u64": "std::uint64_t", "f32": "float"}[place.type.name]
            value = f"__builtin_bit_cast(float, unsigned(in[{i}]))" if kind == "float" else f"{kind}(in[{i}])"
            out.append(f"    {kind} {place.text} = {value};")
        out.append("    (void)a, (void)b, (void)c, (void)m, (void)w;")
        out.append("    if (pattern >> (t % 32) & 1) {")
        out.extend(f"        {line}" for line in emit(parse_inline(text), PLACES).lines)
        out.append(
            "    }\n    out[3 * t] = d, out[3 * t + 1] = e, out[3 * t + 2] = __builtin_bit_cast(unsigned, f);\n}"
        )
    numbers = ", ".join(str(lane[name]) + "ull" for warp in inputs for lane in warp for name in names)
    out.append(f"const unsigned long long numbers[] = {{{numbers}}};")
    out.append("int main() {\n    unsigned long long *in, *out;")
    out.append("    (void)hipMallocManaged((void**)&in, sizeof numbers);")
    out.append("    (void)hipMallocManaged((void**)&out, 64 * 3 * 8);")
    out.append("    for (unsigned i = 0; i < sizeof numbers / 8; ++i) in[i] = numbers[i];")
    out.append(f"    const unsigned patterns[] = {{{', '.join(f'{x}u' for x in PATTERNS)}}};")
    for n in range(len(texts)):  # a launch takes the compiler longer than a kernel
        out.append(f"    for (unsigned i = 0; i < {len(PATTERNS)}; ++i) {{")
        out.append(f"        k{n}<<<1, 64>>>(in + i * 64 * 8, out, patterns[i]);\n    (void)hipDeviceSynchronize();")
        out.append(
            '        for (int i = 0; i < 64 * 3; ++i) std::printf("%llx ", out[i]);\n    std::printf("\\n");\n    }'
        )
    return "\n".join([*out, "}\n"])


def reads_missing_lane(text: str, pattern: int) -> bool:
    """Whether a shuffle may read a lane that is not there, whose value means nothing."""
    return "shfl" in text and pattern != 0xFFFFFFFF


@pytest.fixture(scope="module")
def inputs() -> list[list[dict[str, int]]]:
    rng = random.Random(3)
    return [lane_inputs(rng, pattern) for pattern in PATTERNS for _ in range(2)]


@pytest.mark.parametrize("wave", [pytest.param(32, marks=pytest.mark.slow), 64])
def test_lanes(wave: int, tmp_path: Path, inputs: list[list[dict[str, int]]]) -> None:
    source = tmp_path / "lanes.hip"
    source.write_text(program(TEXTS, inputs))
    found = sim_build.find_program(source)
    built = quick(found)
    binary = sim_build.build(built, tmp_path / "build", (wave,), sim_compiler.find_toolchain())[wave]
    ran = simulate.run(binary, (), simulate.Limits(100), capture=True)
    assert ran.code == 0, ran.errors.decode()[-2000:]
    lines = ran.output.decode().splitlines()
    assert len(lines) == len(TEXTS) * len(PATTERNS)
    for n, text in enumerate(TEXTS):
        for i, pattern in enumerate(PATTERNS):
            got = [int(word, 16) for word in lines[n * len(PATTERNS) + i].split()]
            for warp in range(2):
                wanted = expected(text, pattern, inputs[2 * i + warp], warp)
                for lane in range(32):
                    if reads_missing_lane(text, pattern):
                        continue
                    mine = got[3 * (32 * warp + lane) :][:3]
                    assert mine == wanted[lane], (text, hex(pattern), warp, lane, [hex(x) for x in mine])


def expected(text: str, pattern: int, lanes: list[dict[str, int]], warp: int) -> list[list[int]]:
    registers = [dict(lane) for lane in lanes]
    named = "cu2port::warp::lanemask_"
    special = {
        "cu2port::warp::lane_id()": lambda lane: lane,
        "cu2port::ptx::warpid()": lambda lane: warp,
        named + "eq()": lambda lane: 1 << lane,
        named + "lt()": lambda lane: (1 << lane) - 1,
        named + "le()": lambda lane: (2 << lane) - 1,
        named + "gt()": lambda lane: ~((2 << lane) - 1),
        named + "ge()": lambda lane: ~((1 << lane) - 1),
    }
    here = [lane for lane in range(32) if pattern >> lane & 1]
    run(parse_inline(text), PLACES, registers, Machine(special=special), here)
    return [[r["%0"], r["%1"], r["%6"]] for r in registers]
