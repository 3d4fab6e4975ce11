"""Forms of inline PTX beside plain instructions: constants inside of opcodes and sizes, constraints that a macro of
another file holds, parts and vectors of registers, tables of labels, variables in shared memory."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from simulated import quick
from words_on_cpu import executed

from cu2port.core.model import Outcome
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService
from cu2port.ptx.interp import run
from cu2port.ptx.ir import TYPES, Place
from cu2port.ptx.parse import parse_inline
from cu2port.verify import sim_build, sim_compiler, simulate

WORDS = 4
# (statement on words of v, the text that the assembler sees; %N there is v[N])
EXECUTED = (
    ('asm("add.u%2 %0, %1, 1;" : "=r"(v[0]) : "r"(v[1]), "n"(32));', "add.u32 %0, %1, 1;"),
    ('asm("shr.s%[w] %0, %1, %[n];" : "=r"(v[0]) : "r"(v[1]), [w] "n"(16 * 2), [n] "n"(7));', "shr.s32 %0, %1, 7;"),
    ('asm("{ .reg .b32 t<%2>; not.b32 t2, %1; xor.b32 %0, t2, %2; }" : "=r"(v[0]) : "r"(v[1]), "n"(3));',
     "{ .reg .b32 t<3>; not.b32 t2, %1; xor.b32 %0, t2, 3; }"),
    ('asm("vadd2.u32.u32.u32 %0, %1.h32, %2.h13, %3;" : "=r"(v[0]) : "r"(v[1]), "r"(v[2]), "r"(v[3]));',
     "vadd2.u32.u32.u32 %0, %1.h32, %2.h13, %3;"),
    ('asm("vadd4.s32.u32.s32 %[d].b210, %[a].b7654, %[b].b0145, %[a];" : [d] "=r"(v[0]) : [a] "r"(v[1]), '
     '[b] "r"(v[2]));', "vadd4.s32.u32.s32 %0.b210, %1.b7654, %2.b0145, %1;"),
    ('asm("{ .reg .v2 .u32 a; mov.v2.u32 a, {%2, %3}; mov.v2.u32 a, {a.y, a.x}; add.u32 %0, a.x, 1; mov.b32 %1, a.y; }"'
     ' : "=r"(v[0]), "=r"(v[1]) : "r"(v[2]), "r"(v[3]));', "add.u32 %0, %3, 1; mov.b32 %1, %2;"),
    ('asm("mov.v4.u32 {%0, %1, _, _}, {%2, %0, %1, %1};" : "+r"(v[0]), "+r"(v[1]) : "r"(v[2]));',
     "{ .reg .u32 t; mov.u32 t, %0; mov.u32 %0, %2; mov.u32 %1, t; }"),
    ('asm("{ .reg .u32 i; and.b32 i, %1, 1; T: .branchtargets A, B; brx.idx i, T; A: mov.u32 %0, 1; bra E; '
     'B: mov.u32 %0, 2; E: }" : "=r"(v[0]) : "r"(v[1]));', "and.b32 %0, %1, 1; add.u32 %0, %0, 1;"),
    # nvcc 13 writes a constant as a signed number of its own type, whatever the instruction takes
    ('asm("and.b32 %0, %1, %2;" : "=r"(v[0]) : "r"(v[1]), "n"((unsigned short)0xffff));', "and.b32 %0, %1, -1;"),
    ('asm("add.u32 %0, %1, %2;" : "=r"(v[0]) : "r"(v[1]), "n"((unsigned char)200));', "add.u32 %0, %1, -56;"),
    ('asm("add.u32 %0, %1, %2;" : "=r"(v[0]) : "r"(v[1]), "n"(3 > 2));', "add.u32 %0, %1, 1;"),
)  # fmt: skip
#: adds a constant as 64 bits and keeps 32 bits from bit 8 on
_UPPER = "{{ .reg .b64 t; cvt.u64.u32 t, %1; add.u64 t, t, {}; shr.u64 t, t, 8; cvt.u32.u64 %0, t; }}"
# (type of a template's parameter or none, the constant, the text that nvcc 13 writes)
CONSTANTS = (
    ("", "0xfffffff0u", "-16"),
    ("", "0x80000000", "-2147483648"),
    ("", "0x80000000ull", "2147483648"),
    ("", "sizeof(int)", "4"),
    ("int", "-5", "-5"),
    ("unsigned", "0xfffffff0u", "-16"),
    ("bool", "true", "1"),
    ("unsigned long long", "0x123456789aull", "78187493530"),
    ("signed char", "-3", "-3"),
    ("unsigned short", "65535", "-1"),
)


@pytest.fixture(scope="module")
def clang() -> Iterator[ClangService]:
    with ClangService() as service:
        yield service


def messages(source: str, clang: ClangService | None = None) -> list[str]:
    """Why statements stay."""
    result = translate(source, path="a.cuh", clang=clang)
    return [j.finding.message for j in result.findings if j.outcome is Outcome.MANUAL]


def converted(source: str, clang: ClangService) -> str:
    """The output of a file whose statements are all lifted."""
    result = translate(source, path="a.cuh", clang=clang)
    assert all(j.outcome is Outcome.APPLIED for j in result.findings)
    return result.output.decode()


def assigned(statement: str, clang: ClangService, before: str = "") -> str:
    """What becomes of one statement."""
    head = "__device__ void f(const unsigned* p, unsigned a, unsigned d, double x, float2 xy, unsigned short h) { "
    output = translate(f"{before}\n{head}\n{statement} }}\n", path="a.cuh", clang=clang).output.decode()
    return " ".join(output[output.index(head) + len(head) : output.rindex("}")].split())


def test_statements_compute_what_the_assembler_sees(clang: ClangService, tmp_path: Path) -> None:
    rng = random.Random(4)
    functions = []
    for k, (statement, _) in enumerate(EXECUTED):
        result = translate(f"__device__ void f{k}(unsigned* v) {{ {statement} }}\n", path="a.cuh", clang=clang)
        assert all(j.outcome is Outcome.APPLIED for j in result.findings), result.output.decode()
        functions.append(result.output.decode())
    vectors = [[[rng.getrandbits(32) for _ in range(WORDS)] for _ in range(20)] for _ in EXECUTED]
    places = {f"%{k}": Place(f"v{k}", TYPES["u32"]) for k in range(WORDS)}
    ran = iter(executed(functions, vectors, tmp_path))
    for (statement, text), given in zip(EXECUTED, vectors, strict=True):
        for v in given:
            (after,) = run(parse_inline(text), places, [{f"%{k}": v[k] for k in range(WORDS)}])
            assert next(ran) == [after[f"%{k}"] for k in range(WORDS)], (statement, v)


def test_a_constant_is_what_nvcc_writes(clang: ClangService, tmp_path: Path) -> None:
    rng = random.Random(5)
    functions = []
    statement = f'asm("{_UPPER.format("%2")}" : "=r"(v[0]) : "r"(v[1]), "n"(C));'
    for k, (parameter, constant, _) in enumerate(CONSTANTS):
        source = f"__device__ void f{k}(unsigned* v) {{ {statement.replace('(C)', f'({constant})')} }}\n"
        if parameter:
            source = f"template <{parameter} C> __device__ void t{k}(unsigned* v) {{ {statement} }}\n"
            source += f"__device__ void f{k}(unsigned* v) {{ t{k}<{constant}>(v); }}\n"
        result = translate(source, path="a.cuh", clang=clang)
        assert all(j.outcome is Outcome.APPLIED for j in result.findings), result.output.decode()
        functions.append(result.output.decode())
    vectors = [[[rng.getrandbits(32) for _ in range(WORDS)] for _ in range(5)] for _ in CONSTANTS]
    ran = iter(executed(functions, vectors, tmp_path))
    for (_, constant, written), given in zip(CONSTANTS, vectors, strict=True):
        for v in given:
            wanted = (v[1] + int(written)) % 2**64 >> 8 & 0xFFFFFFFF
            assert next(ran)[0] == wanted, (constant, v)


# --- constants in the text --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ('asm("add.u%2 %0, %1, 1;" : "=r"(d) : "r"(a), "n"(W));', "d = a + 1;"),
        ('asm("add.u%2 %0, %1, 1;" : "=r"(d) : "r"(a), "n"(sizeof(a) * 8));', "d = a + 1;"),
        ('asm("ld.global.L2::%2B.u32 %0, [%1];" : "=r"(d) : "l"(p), "n"(128));',
         "d = cu2port::ptx::ld_global<std::uint32_t>(p);"),
        ('asm("ld.global.nc.u32 %0, [%1+%2];" : "=r"(d) : "l"(p), "n"(16));',
         "d = cu2port::ptx::ld_global<std::uint32_t>(cu2port::ptx::at(p, 16));"),
        ('asm("ld.global.nc.u32 %0, [%1 + %2];" : "=r"(d) : "l"(p), "n"(-W));',
         "d = cu2port::ptx::ld_global<std::uint32_t>(cu2port::ptx::at(p, -32));"),
        ('asm("ld.global.nc.u32 %0, [%1 + %2*4];" : "=r"(d) : "l"(p), "n"(W));',
         "d = cu2port::ptx::ld_global<std::uint32_t>(cu2port::ptx::at(p, 128));"),
        # where it is an operand it stays one
        ('asm("shl.b32 %0, %1, %2;" : "=r"(d) : "r"(a), "n"(4));', "d = a << 4;"),
    ],
)  # fmt: skip
def test_a_constant_is_put_into_the_text(statement: str, expected: str, clang: ClangService) -> None:
    assert assigned(statement, clang, "constexpr int W = 32;") == expected


def test_a_constant_that_is_not_known_is_named(clang: ClangService) -> None:
    head = "template <int N> __device__ void f(unsigned a, unsigned d) "
    for text in ("ld.shared.u32 %0, [%1+%2];", "frob.u%2 %0, %1, 1;"):
        (why,) = messages(f'{head}{{ asm("{text}" : "=r"(d) : "r"(a), "n"(N)); }}\n', clang)
        assert "the constant `N`, whose value is not known here" in why


def test_a_constant_of_a_template_in_an_opcode_is_a_case_for_each_value(clang: ClangService) -> None:
    head = "template <int N> __device__ void f(unsigned a, unsigned& d) "
    text = converted(f'{head}{{ asm("bfe.u%2 %0, %1, 4, 8;" : "=r"(d) : "r"(a), "n"(N * 8)); }}\n', clang)
    assert "if constexpr ((N * 8) == 32) {" in text
    assert text.count("constexpr") == 1  # of 64 bits its registers would have to be
    assert 'cu2port::ptx::untranslated("an opcode that PTX has not");' in text


def test_a_constant_array_names_the_types_of_a_product(clang: ClangService) -> None:
    source = """template <class T> constexpr char named[] = "none";
template <class T, int K> __device__ void f(float* d, const unsigned* a, unsigned b) {
    asm("mma.sync.aligned.m16n8k%8.row.col.f32.%7.%7.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b), "C"(named<T>), "n"(K));
}
"""
    text = converted(source, clang)
    cases = re.findall(r'if constexpr \(cu2port::ptx::same\(named<T>, "(\w+)"\) && K == (\d+)\)', text)
    assert cases == [("f16", "8"), ("bf16", "8"), ("tf32", "4"), ("e4m3", "16"), ("e5m2", "16")]  # of two and one
    assert text.count("= cu2port::mma::m16n8k") == len(cases)


# --- constraints of other files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ('asm("ld.global.nc.u32 %0, [%1];" : "=r"(d) : PTR(p));', "d = cu2port::ptx::ld_global<std::uint32_t>(p);"),
        ('asm("add.u32 %0, %1, 1;" : "=" WORD (d) : WORD (a));', "d = a + 1;"),
        ('asm("add.u32 %0, %0, 1;" : "+" WORD (d));', "d = d + 1;"),
        ('asm("neg.f64 %0, %0;" : "+" REAL (x));', "x = -x;"),
        # a type that is not known, as an address that may not be one of shared memory
        ('asm("ld.global.nc.u32 %0, [%1+4];" : "=r"(d) : PTR(p + 1));',
         "d = cu2port::ptx::ld_global<std::uint32_t>(cu2port::ptx::address(p + 1) + 4);"),
    ],
)  # fmt: skip
def test_a_type_tells_the_constraint(statement: str, expected: str, clang: ClangService) -> None:
    assert assigned(statement, clang) == expected


@pytest.mark.parametrize(
    "statement",
    [
        'asm("ld.shared.u32 %0, [%1];" : "=r"(d) : PTR(some()));',  # 32 or 64 bits
        'asm("add.u32 %0, %1, 1;" : "=r"(d) : WORD(some()));',
        'asm("add.u32 %0, %0, 1;" : WORD(d));',  # `=` or `+`
        'asm("mov.b64 %0, %1;" : "=l"(d) : PAIR(xy));',  # no type of a register
    ],
)
def test_a_constraint_that_nothing_tells_is_named(statement: str) -> None:
    source = f"__device__ void f(unsigned d, float2 xy) {{ {statement} }}\n"
    (why,) = messages(source)
    assert "is no string literal and no macro of this file" in why


# --- registers --------------------------------------------------------------------------------------------------------


def test_a_special_register_is_a_vector(clang: ClangService) -> None:
    text = assigned('unsigned y, z; asm("mov.v4.u32 {%0, %1, %2, _}, %%tid;" : "=r"(d), "=r"(y), "=r"(z));', clang)
    assert text == "unsigned y, z; d = threadIdx.x; y = threadIdx.y; z = threadIdx.z;"


def test_a_loaded_vector_register(clang: ClangService) -> None:
    text = assigned('asm("{ .reg .v4 .u32 q; ld.global.nc.v4.u32 q, [%1]; add.u32 %0, q.x, q.w; }" '
                    ': "=r"(d) : "l"(p));', clang)  # fmt: skip
    assert "u32x4 t = " in text and "q_x = t[0];" in text and "d = q_x + q_w;" in text


# --- shared memory ----------------------------------------------------------------------------------------------------

SHARED = r"""
#include <cstdio>
__global__ void k(unsigned* o) {
    unsigned a, b, c;
    asm volatile(".shared .align 8 .b32 s[%0];" :: "n"(2 * 32));
    asm volatile("{ .reg .u32 t; mad.lo.u32 t, %0, 4, s; st.shared.u32 [t], %0; }" :: "r"(threadIdx.x) : "memory");
    __syncthreads();
    asm volatile("{ .reg .u32 t, i; mov.u32 t, s; xor.b32 i, %1, 1; mad.lo.u32 t, i, 4, t; ld.shared.u32 %0, [t]; }"
                 : "=r"(a) : "r"(threadIdx.x) : "memory");
    asm volatile("ld.shared.u32 %0, [s+%1];" : "=r"(b) : "n"(12));
    asm volatile("{ .shared .u32 one; st.shared.u32 [one], 5; ld.shared.u32 %0, [one]; }" : "=r"(c));
    o[threadIdx.x] = a * 100 + b * 10 + c;
}
int main() {
    unsigned *d, h[64], bad = 0;
    cudaMalloc(&d, sizeof h);
    k<<<1, 64>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (unsigned i = 0; i < 64; ++i) bad += h[i] != (i ^ 1) * 100 + 35;
    printf("bad %u\n", bad);
}
"""


def test_a_variable_in_shared_memory(clang: ClangService, tmp_path: Path) -> None:
    source = tmp_path / "a.hip"
    source.write_bytes(translate(SHARED, path="a.cu", clang=clang).output)
    assert "__shared__ std::uint32_t s[64];" in source.read_text() and "untranslated" not in source.read_text()
    found = sim_build.find_program(source)
    built = quick(found)
    for binary in sim_build.build(built, tmp_path / "build", (64,), sim_compiler.find_toolchain()).values():
        ran = simulate.run(binary, (), simulate.Limits(100), capture=True)
        assert ran.output == b"bad 0\n", ran.errors.decode()[-2000:]


def test_shared_memory_that_nothing_uses_stays() -> None:
    (why,) = messages('__global__ void k() { asm volatile(".shared .align 1 .b8 s[4096];"); }')
    assert "what it declares is for other asm statements" in why


def test_shared_memory_of_another_function_stays() -> None:
    source = '__device__ void f() { asm(".shared .b32 s[4];"); }\n__device__ void g() { asm("st.shared.u32 [s], 1;"); }'
    assert len(messages(source)) == 2
