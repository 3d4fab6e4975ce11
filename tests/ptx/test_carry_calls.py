"""Carry chains over functions of several asm statements: what is converted, what stays, and what it computes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from carry_chains import ROWS
from words_on_cpu import executed

from cu2port.core.model import Outcome, Result
from cu2port.engine.translate import translate
from cu2port.ptx.bind import CARRY
from cu2port.ptx.interp import run
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.parse import parse_inline

FLAG = "cu2port_carry_chain"
#: a row of a product in turns, as libraries for large numbers have it
ROW = """__device__ void multiply_add(unsigned* sum, const unsigned* a, unsigned b, int n) {
    asm("mad.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
        : "+r"(sum[0]), "+r"(sum[1]) : "r"(a[0]), "r"(b));
#pragma unroll
    for (int i = 2; i < n; i += 2)
        asm("madc.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
            : "+r"(sum[i]), "+r"(sum[i + 1]) : "r"(a[i]), "r"(b));
}
__device__ void shifted(unsigned* sum, const unsigned* a, unsigned b, int n) {
    for (int i = 0; i < n - 2; i += 2)
        asm("madc.lo.cc.u32 %0, %2, %3, %4; madc.hi.cc.u32 %1, %2, %3, %5;"
            : "=r"(sum[i]), "=r"(sum[i + 1]) : "r"(a[i]), "r"(b), "r"(sum[i + 2]), "r"(sum[i + 3]));
    asm("madc.lo.cc.u32 %0, %2, %3, 0; madc.hi.u32 %1, %2, %3, 0;"
        : "=r"(sum[n - 2]), "=r"(sum[n - 1]) : "r"(a[n - 2]), "r"(b));
}
"""
USE = """__device__ void step(unsigned* even, unsigned* odd, const unsigned* a, unsigned b, bool first) {
    if (!first) {
        asm("add.cc.u32 %0, %0, %1;" : "+r"(even[0]) : "r"(odd[1]));
        shifted(odd, a, b, 4);
        multiply_add(even, a, b, 4);
        asm("addc.u32 %0, %0, 0;" : "+r"(odd[3]));
    }
    multiply_add(odd, a, b, 4);
    asm("addc.u32 %0, %0, 0;" : "+r"(even[0]));
}
"""


def convert(text: str) -> Result:
    return translate(text, path="chain.cu")


def stays(result: Result) -> int:
    return sum(j.outcome is Outcome.MANUAL for j in result.findings)


def test_functions_of_several_statements_get_the_flag() -> None:
    result = convert(ROW + USE)
    output = result.output.decode()
    assert not stays(result), output
    assert f"multiply_add(unsigned* sum, const unsigned* a, unsigned b, int n, bool &{FLAG}) {{" in output
    assert f"shifted(odd, a, b, 4, {FLAG});" in output
    assert f"bool first) {{\n    bool {FLAG} = {{}};\n    if (!first) {{" in output
    assert translate(result.output, path="chain.cu").output == result.output


def test_functions_of_a_header_keep_their_parameters() -> None:
    """Other files may call them, and would pass no flag."""
    result = translate(ROW + USE, path="chain.cuh")
    assert stays(result) and b"bool &" not in result.output


def test_a_function_may_hand_on_what_another_one_left() -> None:
    twice = "__device__ void twice(unsigned* s, unsigned* a) { multiply_add(s, a, 3, 4); multiply_add(s, a, 5, 4); }\n"
    use = '__device__ void f(unsigned* s) { twice(s, s + 4); asm("addc.u32 %0, 0, 0;" : "=r"(s[8])); }\n'
    output = convert(ROW + USE + twice + use).output.decode()
    assert f"multiply_add(s, a, 5, 4, {FLAG});" in output and f"twice(s, s + 4, {FLAG});" in output


def test_another_statement_may_change_a_flag_between() -> None:
    use = 'multiply_add(s, s, 1, 4); asm("sub.cc.u32 %0, %0, 1;" : "+r"(s[0])); asm("addc.u32 %0, 0, 0;" : "=r"(s[1]));'
    result = convert(f"{ROW}{USE}__device__ void f(unsigned* s) {{ {use} }}\n")
    assert not stays(result)
    assert "a + ~b + 1" in "".join(j.finding.message for j in result.findings)


def test_a_function_of_one_statement_may_call_another_one() -> None:
    low = '__device__ void low(unsigned* v) { asm("add.cc.u32 %0, %0, %1;" : "+r"(v[0]) : "r"(v[1])); }\n'
    high = '__device__ void high(unsigned* v) { low(v); asm("addc.cc.u32 %0, %0, %1;" : "+r"(v[2]) : "r"(v[3])); }\n'
    output = convert(f"{low}{high}__device__ void f(unsigned* v) {{ low(v); high(v); }}\n").output.decode()
    assert "asm" not in output and f"void high(unsigned* v, bool &{FLAG}) {{ low(v, {FLAG}); v[2]" not in output
    assert f"void high(unsigned* v) {{ bool {FLAG} = {{}}; low(v, {FLAG}); v[2] =" in output


def test_a_function_that_nobody_gives_a_flag_stays_alone() -> None:
    use = '__device__ void f(unsigned* s) { multiply_add(s, s, 1, 4); asm("addc.u32 %0, 0, 0;" : "=r"(s[1])); }\n'
    result = convert(ROW + use)
    output = result.output.decode()
    assert stays(result) == 2 and "shifted(unsigned* sum, const unsigned* a, unsigned b, int n) {" in output
    assert f"multiply_add(s, s, 1, 4, {FLAG});" in output


def test_conditionals_around_all_of_them_decide_nothing() -> None:
    assert not stays(convert(f"#ifdef __CUDA_ARCH__\n{ROW}{USE}#endif\n"))


@pytest.mark.parametrize(
    ("functions", "use"),
    [
        (ROW, 'if (a[0]) { multiply_add(s, a, 1, 4); }\nasm("addc.u32 %0, 0, 0;" : "=r"(s[0]));'),
        (ROW, 'asm("addc.u32 %0, 0, 0;" : "=r"(s[0]));'),  # whose flag it is, a kernel cannot know
        (ROW, 'multiply_add(s, a, 1, 4);\nclosed(s);\nasm("addc.u32 %0, 0, 0;" : "=r"(s[0]));'),
        (ROW, 'multiply_add(s, a, 1, 4);\nperhaps(s);\nasm("addc.u32 %0, 0, 0;" : "=r"(s[0]));'),
        (ROW, 'multiply_add(s, a, 1, 4);\npointer[0](s);\nasm("addc.u32 %0, 0, 0;" : "=r"(s[0]));'),
        (ROW, "auto p = &multiply_add;\nmultiply_add(s, a, 1, 4);\nshifted(s, a, 2, 4);"),
        (ROW, "auto l = [&] { multiply_add(s, a, 1, 4); };\nl();\nshifted(s, a, 2, 4);"),
        (ROW.replace('    asm("mad.lo', '    if (n < 0) return;\n    asm("mad.lo', 1),
         "multiply_add(s, a, 1, 4);\nshifted(s, a, 2, 4);"),
        (f"struct S {{\n{ROW}}};\n", "multiply_add(s, a, 1, 4);\nshifted(s, a, 2, 4);"),
        (ROW + "__device__ void shifted(int, unsigned*);\n", "multiply_add(s, a, 1, 4);\nshifted(s, a, 2, 4);"),
        (ROW.replace("int n)", "int n = 4)"), "multiply_add(s, a, 1);\nshifted(s, a, 2);"),
        (ROW + "__device__ void shifted(int) { }\n", "multiply_add(s, a, 1, 4);\nshifted(s, a, 2, 4);"),
    ],
)  # fmt: skip
def test_what_is_not_certain_stays(functions: str, use: str) -> None:
    perhaps = 'asm("add.cc.u32 %0, %0, 1;" : "+r"(s[0]));\nasm("addc.u32 %0, %0, 0;" : "+r"(s[1]));\n'
    closed = f"__device__ void closed(unsigned* s) {{\n{perhaps}}}\n"
    perhaps = f"{closed}__device__ void perhaps(unsigned* s) {{\nif (s[2]) {{\n{perhaps}}}\n}}\n"
    result = convert(f"{functions}{perhaps}__global__ void f(unsigned* s, unsigned* a) {{\n{use}\n}}\n")
    assert stays(result) and FLAG not in result.output.decode()


# --- at random --------------------------------------------------------------------------------------------------------

_PLACES = {f"%[v{k}]": Place(f"v{k}", TYPES["u32"]) for k in range(8)}


@dataclass(frozen=True)
class Part:
    """An instruction, a call, or parts under a bit of the last word or as often as two bits of it say."""

    row: str = ""
    at: tuple[int, ...] = ()
    kind: str = "row"
    inside: tuple[Part, ...] = ()

    def source(self) -> str:
        if self.kind == "row":
            last = ", 7" if self.row.startswith("mad") else ""
            d, a, b = self.at
            return f'asm("{self.row}.u32 %0, %1, %2{last};" : "=r"(v[{d}]) : "r"(v[{a}]), "r"(v[{b}]));\n'
        if self.kind == "call":
            return f"{self.row}(v);\n"
        body = "".join(p.source() for p in self.inside)
        (bit,) = self.at
        head = f"if (v[8] >> {bit} & 1)" if self.kind == "if" else f"for (int i = 0; i < int(v[8] >> {bit} & 3); i++)"
        return f"{head} {{\n{body}}}\n"

    def trace(self, last: int, functions: dict[str, Sequence[Part]]) -> Iterator[str]:
        if self.kind == "row":
            end = ", 7" if self.row.startswith("mad") else ""
            d, a, b = self.at
            yield f"{self.row}.u32 %[v{d}], %[v{a}], %[v{b}]{end};"
        inside, times = self.inside, 0
        if self.kind == "call":
            inside, times = tuple(functions[self.row]), 1
        elif self.kind in ("if", "loop"):
            times = last >> self.at[0] & (1 if self.kind == "if" else 3)
        for _ in range(times):
            for p in inside:
                yield from p.trace(last, functions)


def parts(rng: random.Random, names: Sequence[str], depth: int = 0) -> tuple[Part, ...]:
    out = []
    for _ in range(rng.randint(1, 3)):
        chance = rng.random()
        if chance < 0.3 and depth < 2:
            kind = "if" if chance < 0.15 else "loop"
            out.append(Part(kind=kind, at=(rng.randrange(28),), inside=parts(rng, names, depth + 1)))
        elif chance < 0.6 and names:
            out.append(Part(rng.choice(names), kind="call"))
        else:
            out.append(Part(rng.choice(ROWS), tuple(rng.randrange(8) for _ in range(3))))
    return tuple(out)


def drawn(rng: random.Random, k: int) -> dict[str, Sequence[Part]]:
    """Functions that call those before them; the last begins with what sets the flag."""
    functions: dict[str, Sequence[Part]] = {}
    for n in range(3):
        functions[f"g{k}_{n}"] = parts(rng, list(functions))
    first = Part("add.cc", (0, 0, 1))
    functions[f"f{k}"] = (first, *parts(rng, list(functions)), *parts(rng, list(functions)))
    return functions


def text_of(functions: dict[str, Sequence[Part]]) -> str:
    return "".join(
        f"__device__ void {name}(unsigned* v) {{\n{''.join(p.source() for p in body)}}}\n"
        for name, body in functions.items()
    )


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 9))])
def test_converted_functions_compute_what_their_text_computes(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    chosen: list[tuple[dict[str, Sequence[Part]], str]] = []
    handed_on = 0
    for _ in range(150):
        functions = drawn(rng, len(chosen))
        result = convert(text_of(functions))
        if not stays(result):
            chosen.append((functions, result.output.decode().removeprefix("#include <hip/hip_runtime.h>\n")))
            handed_on += FLAG in chosen[-1][1]
    assert handed_on > 15, handed_on
    given = [[rng.choice((0, 1, 0xFFFFFFFF, rng.getrandbits(32))) for _ in range(9)] for _ in range(12)]
    ran = iter(executed([text for _, text in chosen], [given] * len(chosen), tmp_path))
    for k, (functions, text) in enumerate(chosen):
        texts = ["\n".join(line for p in functions[f"f{k}"] for line in p.trace(v[8], functions)) for v in given]
        wanted: dict[int, Sequence[int]] = {}
        for steps in dict.fromkeys(texts):  # one run for all that take the same way through the functions
            which = [n for n, other in enumerate(texts) if other == steps]
            registers = [{f"%[v{n}]": given[m][n] for n in range(8)} | {CARRY: 0} for m in which]
            for m, after in zip(which, run(parse_inline(steps), _PLACES, registers), strict=True):
                wanted[m] = [*(after[f"%[v{n}]"] for n in range(8)), given[m][8]]
        for m in range(len(given)):
            assert next(ran) == wanted[m], text
