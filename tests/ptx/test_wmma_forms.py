"""wmma of PTX: loads, products and stores in the simulator leave the memory that the interpreter leaves.

Whole numbers, so that sums are exact in any order. On wavefronts of 32 and 64 lanes, with both warps or one of them.
"""

from __future__ import annotations

import random
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from simulated import quick

from cu2port.ptx import isa_wmma
from cu2port.ptx.bind import UntranslatableError, bind
from cu2port.ptx.emit import emit
from cu2port.ptx.interp import Machine, run
from cu2port.ptx.ir import TYPES, Instruction, Place
from cu2port.ptx.matrix_layouts import ELEMENT_BITS
from cu2port.ptx.parse import parse_inline
from cu2port.verify import sim_build, sim_compiler

PART = 2048  # bytes of each of A, B, C and D
PLACES = {
    **{f"%{i}": Place(name, TYPES["u64"]) for i, name in enumerate(("a", "b", "c", "d"))},
    "%4": Place("s", TYPES["u32"]),  # A in shared memory
    "%5": Place("x", TYPES["f64"]),
}
_REGISTER = {"f16": "b32", "f32": "f32", "f64": "f64", "s32": "s32"}


@dataclass(frozen=True)
class Case:
    """A shape with the types of A and B, C, and D, how A, B and C with D are in memory, and where A is."""

    shape: str
    ab: str
    c: str
    d: str
    orders: str = "row col row"
    how: str = ""
    shared: bool = False

    @property
    def form(self) -> isa_wmma.Form:
        return isa_wmma.Form(self.shape, self.ab, self.c, self.d)

    def stride(self, matrix: str) -> int:
        m, n, k = self.form.size
        order = self.orders.split()["ABC".index(matrix) if matrix in "AB" else 2]
        row, column = {"A": (m, k), "B": (k, n)}.get(matrix, (m, n))
        size = column if order == "row" else row
        return size + (8 if ELEMENT_BITS[self.form.type(matrix)] >= 8 else size)

    @property
    def text(self) -> str:
        form, (a, b, c) = self.form, self.orders.split()
        names = {m: ", ".join(f"{m.lower()}{i}" for i in range(form.registers(m))) for m in "ABCD"}
        declared = "".join(f".reg .{_REGISTER.get(form.type(m), 'b64' if self.ab == 'f64' else 'b32')} "
                           f"{m.lower()}<{form.registers(m)}>;\n" for m in "ABCD")  # fmt: skip
        declared = declared.replace(".reg .b64", ".reg .f64")
        types = f"{self.d}.{self.c}" if self.ab == "f16" else f"{self.d}.{self.ab}.{self.ab}.{self.c}"
        if self.how.endswith("popc"):
            head, tail = f"wmma.mma.{self.how}.sync", ""
        elif self.ab == "f64":  # the rounding is in front of the types
            head, tail, types = "wmma.mma.sync", "", f"{self.how}.{types}".lstrip(".")
        else:
            head, tail = "wmma.mma.sync", self.how and f".{self.how}"
        first = (
            f".shared.{self.ab} {{{names['A']}}}, [%4]" if self.shared else f".global.{self.ab} {{{names['A']}}}, [%0]"
        )
        return (
            f"{{ {declared}"
            f"wmma.load.a.sync.aligned.{a}.{self.shape}{first}, {self.stride('A')};\n"
            f"wmma.load.b.sync.aligned.{b}.{self.shape}.{self.ab} {{{names['B']}}}, [%1], {self.stride('B')};\n"
            f"wmma.load.c.sync.aligned.{c}.{self.shape}.global.{self.c} {{{names['C']}}}, [%2], {self.stride('C')};\n"
            f"{head}.aligned.{a}.{b}.{self.shape}.{types}{tail} "
            f"{{{names['D']}}}, {{{names['A']}}}, {{{names['B']}}}, {{{names['C']}}};\n"
            f"wmma.store.d.sync.aligned.{c}.{self.shape}.global.{self.d} [%3], {{{names['D']}}}, {self.stride('D')}; }}"
        )


_ORDERS = ("row col row", "col row col", "row row col", "col col row")
_SHAPES = ("m16n16k16", "m32n8k16", "m8n32k16")
CASES = (
    *(Case(shape, "f16", "f32", "f32", order) for shape in _SHAPES for order in _ORDERS[:2]),
    Case("m16n16k16", "f16", "f16", "f16", _ORDERS[0]),
    Case("m16n16k16", "f16", "f16", "f32", _ORDERS[1]),
    Case("m16n16k16", "f16", "f32", "f16", _ORDERS[2]),
    *(Case(shape, "bf16", "f32", "f32", order, shared=True) for shape, order in zip(_SHAPES, _ORDERS[1:], strict=True)),
    *(Case(shape, "s8", "s32", "s32", order) for shape, order in zip(_SHAPES, _ORDERS, strict=False)),
    *(Case(shape, "u8", "s32", "s32", order, "satfinite") for shape, order in zip(_SHAPES, _ORDERS, strict=False)),
    Case("m16n16k8", "tf32", "f32", "f32", _ORDERS[2]),
    Case("m8n8k4", "f64", "f64", "f64", _ORDERS[1]),
    *(Case("m8n8k4", "f64", "f64", "f64", order, rnd) for order, rnd in zip(_ORDERS, ("rz", "rm", "rp"), strict=False)),
    Case("m8n8k32", "s4", "s32", "s32", shared=True),
    Case("m8n8k32", "u4", "s32", "s32", how="satfinite"),
    Case("m8n8k128", "b1", "s32", "s32", how="xor.popc"),
    Case("m8n8k128", "b1", "s32", "s32", "row col col", how="and.popc"),
)  # fmt: skip


def drawn(type_: str, rng: random.Random) -> bytes:
    """Elements that are small whole numbers."""
    if type_ in ("f16", "bf16", "f32", "tf32", "f64"):
        numbers = [float(rng.randint(-4, 4)) for _ in range(PART * 8 // ELEMENT_BITS[type_])]
        if type_ == "bf16":
            return b"".join(struct.pack("<f", x)[2:] for x in numbers)
        return struct.pack(f"<{len(numbers)}{ {'f16': 'e', 'f64': 'd'}.get(type_, 'f') }", *numbers)
    if type_ == "s32":
        return struct.pack(f"<{PART // 4}i", *(rng.choice((rng.randint(-99, 99), 2**31 - 5)) for _ in range(PART // 4)))
    return rng.randbytes(PART)


def memory(case: Case, seed: int) -> bytes:
    rng = random.Random(f"{case} {seed}")
    return b"".join(drawn(case.form.type(m), rng) for m in "ABC") + rng.randbytes(PART)


def program() -> str:
    """Kernel n does case n in the warps that are to be there, each in memory of its own."""
    out = ["#include <hip/hip_runtime.h>", "#include <cu2port/wmma.hpp>", "#include <cstdio>", "#include <cstring>"]
    for n, case in enumerate(CASES):
        out.append(f"__global__ void k{n}(unsigned char* memory, unsigned here) {{")
        out.append(f"    __shared__ __attribute__((aligned(32))) unsigned char shared[2][{PART}];")
        out.append("    const unsigned w = threadIdx.x / 32;")
        out.append(f"    unsigned char* mine = memory + {4 * PART} * w;")
        out.append(f"    for (int i = threadIdx.x % 32; i < {PART}; i += 32) shared[w][i] = mine[i];")
        out.append("    __syncthreads();\n    const std::uint64_t a = reinterpret_cast<std::uint64_t>(mine);")
        out.append(f"    const std::uint64_t b = a + {PART}, c = b + {PART}, d = c + {PART};")
        out.append("    const std::uint32_t s = cu2port::ptx::cvta_to_shared(&shared[w][0]);\n    (void)s, (void)a;")
        out.append("    if (here >> w & 1) {")
        out += [f"        {line}" for line in emit(parse_inline(case.text), PLACES).lines]
        out.append("    }\n}")
    out.append("int main() {\n    unsigned char* memory;")
    out.append(f"    (void)hipMallocManaged((void**)&memory, {8 * PART});")
    for n in range(len(CASES)):
        out.append(f"    if (std::fread(memory, 1, {8 * PART}, stdin) != {8 * PART}) return 1;")
        out.append(f"    k{n}<<<1, 64>>>(memory, {1 + n % 3}u);\n    (void)hipDeviceSynchronize();")
        out.append(f"    std::fwrite(memory, 1, {8 * PART}, stdout);")
    return "\n".join([*out, "}\n"])


def expected(case: Case, before: bytes) -> bytes:
    machine = Machine({"global": bytearray(before), "shared": bytearray(before[:PART])})
    run(
        parse_inline(case.text), PLACES, [{f"%{i}": PART * i for i in range(4)} | {"%4": 0} for _ in range(32)], machine
    )
    return bytes(machine.memory["global"])


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_products(wave: int, tmp_path: Path) -> None:
    source = tmp_path / "wmma.hip"
    source.write_text(program())
    found = sim_build.find_program(source)
    built = quick(found)
    binary = sim_build.build(built, tmp_path / "build", (wave,), sim_compiler.find_toolchain())[wave]
    given = b"".join(memory(case, w) for case in CASES for w in range(2))
    (tmp_path / "in").write_bytes(given)
    done = subprocess.run([binary], input=given, capture_output=True, timeout=100, check=True)
    assert len(done.stdout) == len(given)
    for n, case in enumerate(CASES):
        for w in range(2):
            at = 4 * PART * (2 * n + w)
            before = memory(case, w)
            wanted = expected(case, before) if 1 + n % 3 >> w & 1 else before
            assert done.stdout[at : at + 4 * PART] == wanted, (case, w)


def test_interpreted_products_are_those_of_a_triple_loop() -> None:
    """Through memory, so that no layout counts."""
    case = Case("m8n32k16", "s8", "s32", "s32", "col row row")
    before = memory(case, 0)
    after = struct.unpack(f"<{PART // 4}i", expected(case, before)[3 * PART :])
    a, b = (
        struct.unpack(f"<{2 * PART}b", before[: 2 * PART])[:PART],
        struct.unpack(f"<{PART}b", before[PART : 2 * PART]),
    )
    c = struct.unpack(f"<{PART // 4}i", before[2 * PART : 3 * PART])
    for m in range(8):
        for n in range(32):
            terms = (a[k * case.stride("A") + m] * b[k * case.stride("B") + n] for k in range(16))
            at = m * case.stride("C") + n
            assert after[at] == (sum(terms) + c[at] + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize(
    "text",
    (
        "wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%4}, [%0], 32;",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%4}, [%0], 16;",
        "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.u4.s32 {%4, %4}, {%4}, {%4}, {%4, %4};",
        # what NVIDIA's assembler refuses
        "wmma.load.c.sync.aligned.row.m16n16k16.global.f64 {%5, %5, %5, %5, %5, %5, %5, %5}, [%0];",
        "wmma.load.c.sync.aligned.row.m8n8k32.global.f16 {%4}, [%0];",
        "wmma.store.d.sync.aligned.row.m8n8k4.global.s32 [%0], {%4, %4};",
        "wmma.mma.sync.aligned.col.col.m8n8k32.s32.s4.s4.s32 {%4, %4}, {%4}, {%4}, {%4, %4};",
        "wmma.mma.xor.popc.sync.aligned.row.row.m8n8k128.s32.b1.b1.s32 {%4, %4}, {%4}, {%4}, {%4, %4};",
    ),
)
def test_what_has_no_meaning_is_refused(text: str) -> None:
    (instruction,) = parse_inline(text)
    assert isinstance(instruction, Instruction)
    with pytest.raises(UntranslatableError):
        bind(instruction, PLACES)
