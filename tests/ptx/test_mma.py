"""`mma` of every shape and type: the printed C++ in the simulator on wavefronts of 32 and 64 lanes, and the
interpreter, each against the manual's triple loop without rounding.

Two warps run with matrices of their own, or one of them while the other's lanes wait. What is compared is what the
documents promise: K * 2^-23 of the sum of sizes for f32 accumulators, 2^-10 of it for f16 ones, integers exactly, Inf
and NaN as classes.
"""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from mma_manual import BITS, Elements, Spec, Sums, Wanted, agrees, gathered, number, spec, triple_loop
from mma_programs import HEAD, run_simulated

from cu2port.ptx.emit import Options, emit
from cu2port.ptx.interp import run
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.kept import into_tile
from cu2port.ptx.lifted import Lifted
from cu2port.ptx.matrix_forms import SUMS, both_kinds, form_of, instruction, keeps, kinds
from cu2port.ptx.parse import parse_inline
from cu2port.ptx.table import forms, rows

FEW = (
    "m8n8k4.row.col.f64.f64.f64.f64",
    "m16n8k8.row.col.f32.tf32.tf32.f32",
    "m16n8k16.row.col.s32.s8.s8.s32",
    "m16n8k16.row.col.f32.f16.f16.f32",
    "m16n8k16.row.col.f16.f16.f16.f16",
    "m16n8k8.row.col.f32.bf16.bf16.f32",
    "m16n8k32.row.col.f32.e4m3.e5m2.f32",
    "m16n8k8.row.col.f64.f64.f64.f64",
    "m16n8k32.row.col.satfinite.s32.s8.u8.s32",
    "m16n8k64.row.col.s32.s4.u4.s32",
    "m8n8k4.col.row.f32.f16.f16.f16",
)
SPARSE = (
    "sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32",
    "sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
    "sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e4m3.e2m1.f16",
    "sp.sync.aligned.m16n8k128.row.col.satfinite.s32.u4.s4.s32",
    "sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
)
OPCODES = (*(f"mma.sync.aligned.{text}" for text in FEW), *(f"mma.{text}" for text in SPARSE))
ALL = tuple(opcode for row in rows() if row.root == "mma" for opcode, _ in forms(row))
SIZE = 24  # 64-bit words a lane: inputs and, in another buffer, results


@dataclass(frozen=True)
class Case:
    """`kind`: of numbers; `steps`: how often D becomes C; `here`: the warps that come."""

    kind: str
    steps: int = 1
    here: tuple[int, ...] = (0, 1)


CASES = (
    Case("plain"),
    Case("special"),
    Case("small", here=(1,)),
    Case("plain", steps=64, here=(0,)),
    Case("one special"),
)


def element(name: str, kind: str, rng: random.Random) -> int:
    """The bits of an element."""
    width = BITS[name]
    if name in ("f64", "f32", "tf32", "f16", "bf16"):
        fraction = {"f64": 52, "f32": 23, "tf32": 23, "f16": 10, "bf16": 7}[name]
        exponent = width - 1 - fraction
        bias, sign = (1 << exponent - 1) - 1, rng.getrandbits(1) << width - 1
        if kind == "special" and rng.random() < 0.04:
            top = ((1 << exponent) - 1) << fraction
            return sign | rng.choice((top, top | 1 << fraction - 1, 0, 1, (1 << fraction) - 1, top - 1))
        if kind == "small" and rng.random() < 0.7:  # denormals and zeros of both signs
            return sign | rng.choice((0, 0, rng.getrandbits(fraction)))
        return sign | (bias + rng.randint(-3, 2)) << fraction | rng.getrandbits(fraction)
    if name == "s32":
        return rng.choice((rng.getrandbits(32), 0x7FFFFFFF, 0x80000000, 0x7FFFF000, 5))
    if kind == "plain" and name in ("e4m3", "e5m2"):
        return rng.getrandbits(1) << 7 | rng.randrange(0x7F if name == "e4m3" else 0x7C)
    if kind == "special" and name in ("e4m3", "e5m2"):
        if rng.random() < 0.04:
            return rng.choice((0x7F, 0xFF, 0x7C, 0xFC, rng.getrandbits(8)))
        return rng.choice((0x38, 0xB9, 0x3D, 0x01, 0x80))
    return rng.getrandbits(width)


def metadata(s: Spec, rng: random.Random) -> int:
    """A word of metadata: two places of four, in order; of tf32 one of two."""
    fours = (0b0100, 0b1110) if s.a == "tf32" else (0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110)
    return sum(rng.choice(fours) << i for i in range(0, 32, 4))


def lanes_of(s: Spec, kind: str, rng: random.Random) -> dict[str, list[list[int]]]:
    """Registers of A, B and C by lane."""
    out = {}
    for matrix in s.inputs:
        width, word = BITS[s.type(matrix)], s.word(matrix)
        lanes = [[0] * s.registers(matrix) for _ in range(32)]
        for lane, i, _, _ in s.places(matrix):
            bits = metadata(s, rng) if matrix == "E" else element(s.type(matrix), kind, rng)
            lanes[lane][i * width // word] |= bits << i * width % word
        out[matrix] = lanes
    return out


def register(s: Spec, matrix: str) -> str:
    name = s.type(matrix)
    return name if name in ("f32", "f64", "s32") else "u32"


ARRAYS = {"A": "a", "B": "b", "C": "c", "D": "r", "E": "e"}
_CXX = {"f32": "float", "f64": "double", "s32": "int", "u32": "unsigned"}


def text_of(opcode: str, s: Spec) -> tuple[str, dict[str, Place]]:
    """An instruction on C arrays `r` (its result), `a`, `b`, `c`."""
    groups, places = [], {}
    for matrix in f"D{s.inputs}":
        names = [f"%{matrix.lower()}{i}" for i in range(s.registers(matrix))]
        groups.append("{" + ", ".join(names) + "}" if matrix != "E" else f"%e0, {s.selector}")
        for i, name in enumerate(names):
            places[name] = Place(f"{ARRAYS[matrix]}[{i}]", TYPES[register(s, matrix)])
    return f"{opcode} {', '.join(groups)};", places


def chosen(opcode: str, n: int) -> Spec:
    """An instruction; its selector, where there are some, by its number."""
    s = spec(opcode)
    return replace(s, selector=n % (8 // s.registers("A"))) if s.sparse and BITS[s.a] >= 16 else s


BITS_OF_ALL = "bits"


def kernel(n: int, opcode: str, fp: str = "exact", kept: bool | str = False) -> str:
    """`kept`: with its sums in a tile while the steps last, where the form allows it; in every second one, the lanes
    are looked for once. `BITS_OF_ALL`: in a tile for sums of several types, where those of f16 are two words of four.
    """
    s = chosen(opcode, n)
    text, places = text_of(opcode, s)
    lifted = emit(parse_inline(text), places, Options(fp=fp)).lines
    form = form_of(opcode, fp == "fast") if kept else None
    bits, kept = kept == BITS_OF_ALL, form is not None and keeps(form)
    if form is not None and kept:
        lifted = into_tile(Lifted(tuple(lifted), (opcode,), True, True), "kept.at(c, &c[0])").lines
    lines = "\n            ".join(lifted)
    if kept:  # the product goes to where C comes from, as in what is converted
        lines = re.sub(r"\br\[", "c[", lines)
    declared, at = [], 0
    for matrix in s.inputs:
        count, type_ = s.registers(matrix), _CXX[register(s, matrix)]
        declared.append(f"{type_} {matrix.lower()}[{count}];")
        declared.append(f"for (int i = 0; i < {count}; ++i) get({matrix.lower()}[i], in[{at} + i]);")
        at += count
    count, type_ = s.registers("D"), _CXX[register(s, "D")]
    if form is not None and kept:
        chosen_kinds = kinds(form)
        if n % 4 > 1:  # or another, in a tile for both
            chosen_kinds = both_kinds(chosen_kinds, "cu2port::mma::Exact, cu2port::mma::f16, cu2port::mma::f16")
        types = f"{chosen_kinds}, {SUMS[form.d]}"
        if bits:
            other = "Integers, cu2port::mma::s8" if form.d != "s32" else "Exact, cu2port::mma::f16"
            both = both_kinds(kinds(form), f"cu2port::mma::{other}, {other.partition(' ')[2]}")
            types = f"{both}, cu2port::mma::Bits"
        begin, end = f"auto kept = cu2port::mma::keep<{types}>(c);", "kept.give(c);"
        if n % 2:
            begin = f"cu2port::mma::in_tiles<{types}>(c, [&](auto& kept) CU2PORT_MMA_INLINE {{"
            end = "});"
        more = f"for (int i = {count}; i < 4; ++i) if (c[i] != 77) c[0] = -1;" if bits else ""
        if bits and count == 2:
            declared = [x.replace("unsigned c[2]", "unsigned c[4] = {0, 0, 77, 77}") for x in declared]
        return f"""// {opcode}, kept
__global__ void k{n}(const unsigned long long* in, unsigned long long* out, unsigned here, int steps) {{
    in += {SIZE} * threadIdx.x, out += {SIZE} * threadIdx.x;
    {" ".join(declared)}
    {type_} used[{count}] = {{}};
    if (here >> (threadIdx.x / 32) & 1) {{
        {begin}
        for (int step = 0; step < steps; ++step) {{
            {lines}
        }}
        {end}
        {more}
        for (int i = 0; i < {count}; ++i) used[i] = c[i];
    }}
    for (int i = 0; i < {count}; ++i) out[i] = 0, __builtin_memcpy(&out[i], &used[i], sizeof used[i]);
}}
"""
    again = f"for (int i = 0; i < {count}; ++i) c[i] = r[i];" if s.c == s.d else ""
    return f"""// {opcode}
__global__ void k{n}(const unsigned long long* in, unsigned long long* out, unsigned here, int steps) {{
    in += {SIZE} * threadIdx.x, out += {SIZE} * threadIdx.x;
    {" ".join(declared)}
    {type_} r[{count}] = {{}};
    if (here >> (threadIdx.x / 32) & 1)
        for (int step = 0; step < steps; ++step) {{
            {lines}
            {again}
        }}
    for (int i = 0; i < {count}; ++i) out[i] = 0, __builtin_memcpy(&out[i], &r[i], sizeof r[i]);
}}
"""


def program(
    opcodes: Sequence[str], cases: Sequence[Case], fp: str = "exact", define: str = "", kept: bool | str = False
) -> str:
    """Kernel n runs opcode n; `main` reads the inputs of all from a file and writes all results to another."""
    kernels = (kernel(n, opcode, fp, kept) for n, opcode in enumerate(opcodes))
    out = [f"#define {define}" if define else "", HEAD, *kernels]
    out.append(f"""int main(int, char** names) {{
    unsigned long long *in, *out;
    (void)hipMallocManaged((void**)&in, 64 * {SIZE} * 8), (void)hipMallocManaged((void**)&out, 64 * {SIZE} * 8);
    std::FILE *from = std::fopen(names[1], "rb"), *to = std::fopen(names[2], "wb");
    auto next = [&] {{ if (std::fread(in, 8, 64 * {SIZE}, from) != 64 * {SIZE}) std::exit(2); }};
    auto done = [&] {{
        if (hipDeviceSynchronize() != hipSuccess) std::exit(3);
        std::fwrite(out, 8, 64 * {SIZE}, to);
    }};""")
    # a launch takes the compiler longer than a kernel: there is one
    runs = [(n, case) for n, opcode in enumerate(opcodes) for case in usable(opcode, cases)]
    rows = ", ".join(f"{{k{n}, {sum(1 << warp for warp in case.here)}, {case.steps}}}" for n, case in runs)
    out.append(f"""    typedef void (*Kernel)(const unsigned long long*, unsigned long long*, unsigned, int);
    struct {{ Kernel kernel; unsigned here; int steps; }} const runs[] = {{{rows}}};
    for (const auto& x : runs) {{
        const Kernel kernel = x.kernel;
        next(), kernel<<<1, 64>>>(in, out, x.here, x.steps), done();
    }}""")
    return "\n".join([*out, "    std::fclose(to);", "}\n"])


def usable(opcode: str, cases: Sequence[Case]) -> list[Case]:
    """Where D's registers are not C's, they are not accumulated."""
    s = spec(opcode)
    return [c for c in cases if c.steps == 1 or s.c == s.d]


Inputs = list[list[dict[str, list[list[int]]]]]  # by case, by warp


def inputs_of(opcode: str, cases: Sequence[Case], rng: random.Random) -> Inputs:
    s = spec(opcode)
    kinds = {"one special": ("special", "plain")}
    return [[lanes_of(s, kind, rng) for kind in kinds.get(c.kind, (c.kind,) * 2)] for c in usable(opcode, cases)]


def written(inputs: Sequence[Inputs]) -> bytes:
    out = []
    for of_opcode in inputs:
        for warps in of_opcode:
            for warp in warps:
                for lane in range(32):
                    words = [w for part in warp.values() for w in part[lane]]
                    out.append(struct.pack(f"<{SIZE}Q", *words, *[0] * (SIZE - len(words))))
    return b"".join(out)


def wanted(s: Spec, lanes: dict[str, list[list[int]]], steps: int) -> Sums:
    a, b, c = (gathered(s, matrix, lanes[matrix]) for matrix in "ABC")
    if s.sparse:
        a = s.expanded(lanes["A"], lanes["E"])
    sums = {}
    for at, bits in c.items():
        x = number(bits, s.c)
        sums[at] = Wanted(x, abs(x) if x == x and abs(x) != float("inf") else 0.0)
    return triple_loop(s, a, b, sums, steps)


def check(s: Spec, got: list[list[int]], lanes: dict[str, list[list[int]]], steps: int, what: str) -> None:
    """All of D's elements, in each lane's registers."""
    compared(s, got, wanted(s, lanes, steps), steps, what)


def compared(s: Spec, got: list[list[int]], right: Sums, steps: int, what: str) -> None:
    found: Elements = gathered(s, "D", got)
    for at, bits in found.items():
        assert agrees(s, bits, right[at], steps), (s, what, at, number(bits, s.d), right[at])


def results(output: bytes, inputs: Sequence[Inputs]) -> Iterator[list[list[int]]]:
    """Each lane's words, by opcode, by case."""
    words = struct.unpack(f"<{len(output) // 8}Q", output)
    for n in range(sum(len(x) for x in inputs)):
        part = words[n * 64 * SIZE : (n + 1) * 64 * SIZE]
        yield [list(part[SIZE * lane : SIZE * (lane + 1)]) for lane in range(64)]


Way = tuple[int, str]  # lanes of a wavefront, a macro of the headers


def compare(
    opcodes: Sequence[str],
    cases: Sequence[Case],
    ways: Sequence[Way],
    seed: int,
    folder: Path,
    fp: str = "exact",
    kept: bool | str = False,
) -> None:
    """The same numbers in each way, since what is right takes longer than the program."""
    rng = random.Random(seed)
    inputs = [inputs_of(opcode, cases, rng) for opcode in opcodes]
    right: dict[tuple[int, int, int], Sums] = {}
    for i, (wave, define) in enumerate(ways):
        here = folder / str(i)
        here.mkdir()
        output = run_simulated(program(opcodes, cases, fp, define, kept), written(inputs), wave, here)
        every = results(output, inputs)
        for n, (opcode, of_opcode) in enumerate(zip(opcodes, inputs, strict=True)):
            s = chosen(opcode, n)
            for at, (case, warps) in enumerate(zip(usable(opcode, cases), of_opcode, strict=True)):
                lanes = next(every)
                for warp in range(2):
                    mine = lanes[32 * warp : 32 * warp + 32]
                    if warp not in case.here:
                        count = spec(opcode).registers("D")
                        assert not any(any(lane[:count]) for lane in mine), (opcode, case)
                        continue
                    if (n, at, warp) not in right:
                        right[n, at, warp] = wanted(s, warps[warp], case.steps)
                    compared(s, mine, right[n, at, warp], case.steps, f"{case.kind}, warp {warp}, {wave} {define}")


GFX11 = "CU2PORT_SIM_RDNA 3"  # WMMA as gfx11 has it; else wavefronts of 32 lanes are gfx12's


PORTABLE = "CU2PORT_MMA_PORTABLE"
WAYS = ((32, ""), (32, GFX11), (64, ""))


@pytest.mark.slow
def test_the_cxx_agrees_with_the_manual(tmp_path: Path) -> None:
    compare(OPCODES, CASES, WAYS, 1, tmp_path)


KEPT = tuple(opcode for opcode in ALL if (form := form_of(opcode, False)) is not None and keeps(form))


@pytest.mark.slow
def test_sums_in_tiles_agree_with_the_manual(tmp_path: Path) -> None:
    """With both warps, with one, after 64 steps, and with Inf and NaN in one warp."""
    shapes = ("m16n8k16", "m16n8k8", "s8")
    few = [x for x in KEPT if any(f".{a}." in x for a in shapes) and ".e" not in x]
    assert len(few) >= 5
    compare(few, CASES, WAYS, 3, tmp_path, kept=True)


@pytest.mark.slow
def test_sums_in_tiles_of_several_types_agree_with_the_manual(tmp_path: Path) -> None:
    """Also where a GPU has no matrix instruction for the type, and where no element is a whole number's."""
    few = [x for x in KEPT if ".e" not in x or ".f16.e4m3.e5m2" in x]
    assert {x.split(".")[6] for x in few} >= {"f32", "f16", "s32"}
    compare(few, CASES, (*WAYS, (64, PORTABLE)), 5, tmp_path, kept=BITS_OF_ALL)


@pytest.mark.parametrize("minus", [0, 1])
def test_zeros_of_one_warp_do_not_reach_the_other(minus: int, tmp_path: Path) -> None:
    """One warp adds -0 to -0, which any +0 would end, the other +0 to +0."""
    opcode = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    warps = [
        {"A": [[a] * 4] * 32, "B": [[0x3C003C00] * 2] * 32, "C": [[c] * 4] * 32}
        for a, c in ((0x80008000, 0x80000000) if warp == minus else (0, 0) for warp in range(2))
    ]
    output = run_simulated(program([opcode], [Case("plain")], kept=True), written([[warps]]), 64, tmp_path)
    (lanes,) = results(output, [[warps]])
    for lane, words in enumerate(lanes):
        assert words[:4] == [0x80000000 if lane // 32 == minus else 0] * 4


MORE = (*CASES, Case("special"), Case("small"))


@pytest.mark.slow
def test_every_form_with_tiles_agrees_with_the_manual(tmp_path: Path) -> None:
    compare(KEPT, MORE, (*WAYS, (64, PORTABLE)), 200, tmp_path, kept=True)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_every_form_agrees_with_the_manual(part: int, tmp_path: Path) -> None:
    compare(ALL[part::4], MORE, ((32, ""), (64, "")), 100 + part, tmp_path)


@pytest.mark.slow
def test_every_form_of_mfma_agrees_without_it_too(tmp_path: Path) -> None:
    """The macro changes nothing of others."""
    forms_ = [x for x in ALL if (form := form_of(x, False)) is not None and instruction(form, "gfx942")]
    assert len(forms_) > 80
    compare(forms_, MORE, ((64, PORTABLE),), 400, tmp_path)


@pytest.mark.slow
def test_every_form_of_gfx11_agrees_with_the_manual(tmp_path: Path) -> None:
    forms_ = [x for x in ALL if (form := form_of(x, False)) is not None and instruction(form, "gfx1100")][::3]
    assert len(forms_) > 20
    compare(forms_, CASES, ((32, GFX11),), 300, tmp_path)


def test_a_matrix_instruction_that_half_a_wavefront_reaches_is_an_error(tmp_path: Path) -> None:
    """It would write the registers of the other half. The header does not let it come to that, unless it is told to."""
    opcode, case = OPCODES[0], Case("plain", here=(1,))
    data = written([inputs_of(opcode, [case], random.Random(1))])
    with pytest.raises(AssertionError, match="mfma_f64_16x16x4f64: not all 64 lanes are here"):
        run_simulated(program([opcode], [case], define="CU2PORT_MMA_FULL_WAVES"), data, 64, tmp_path)


@pytest.mark.parametrize("opcode", OPCODES)
def test_the_interpreter_agrees_with_the_manual(opcode: str) -> None:
    interpreted(opcode, 5)


@pytest.mark.slow
@pytest.mark.parametrize("opcode", ALL)
def test_the_interpreter_agrees_on_every_form(opcode: str) -> None:
    interpreted(opcode, 6)


def interpreted(opcode: str, seed: int) -> None:
    rng, s = random.Random(seed), chosen(opcode, seed)
    text, places = text_of(opcode, s)
    for kind in ("plain", "special", "small"):
        lanes = lanes_of(s, kind, rng)
        registers = [
            {f"%{m.lower()}{i}": w for m in s.inputs for i, w in enumerate(lanes[m][lane])} for lane in range(32)
        ]
        run(parse_inline(text), places, registers)
        got = [[r[f"%d{i}"] for i in range(s.registers("D"))] for r in registers]
        check(s, got, lanes, 1, kind)
