"""Macros that stand for `asm`: statements behind them are what they are behind the keyword."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cu2port.catalog import load_catalog
from cu2port.cli import cli
from cu2port.core.model import Outcome
from cu2port.engine.translate import translate
from cu2port.facts.asm_keywords import asm_keywords, by_name
from cu2port.facts.unit import Unit

BODY = """__device__ unsigned f(unsigned a, unsigned *q) {
    unsigned d;
    ASM_("add.u32 %0, %1, 1;" : "=r"(d) : "r"(a));
    if (a) ASM_("add.u32 %0, %1, 1;\\n mul.lo.u32 %0, %0, %1;" : "+r"(d) : "r"(a));
    ASM_("bar.sync 0;");
    ASM_("st.global.u32 [%0], %1;" :: "l"(q), "r"(d) : "memory");
    return d;
}
"""


def converted(text: str) -> str:
    return translate(text).output.decode()


def of_cu401(text: str) -> list[str]:
    found = translate(text).findings
    return [x.finding.message for x in found if x.finding.code == "CU401" and x.outcome is not Outcome.APPLIED]


def test_a_macro_for_a_whole_statement_is_no_keyword() -> None:
    whole = '#define WHOLE asm volatile("add.u32 %0, %0, 1;" : "+r"(x))\n'
    assert asm_keywords(whole) == frozenset()
    assert "asm" not in converted(whole + "__device__ void f(unsigned x) { WHOLE; }\n")


@pytest.mark.parametrize(
    "define",
    [
        "#define ASM_ asm volatile",
        "#define ASM_ __asm__ __volatile__",
        "# define ASM_ \\\n  asm /* kept */ volatile // as it is",
        "#define ASM_(...) asm volatile(__VA_ARGS__)",
        "#define ASM_(...) asm volatile(__VA_ARGS__);",
        "#define ASM_(args...) asm volatile(args)",
        "#define OTHER asm volatile\n#define ASM_ OTHER",
        "#ifdef _MSC_VER\n#define ASM_ asm volatile\n#else\n#define ASM_ __asm__ __volatile__\n#endif",
    ],
)
def test_a_macro_for_asm_is_asm(define: str) -> None:
    out = converted(f"{define}\n{BODY}")
    plain = converted(BODY.replace("ASM_(", "asm volatile("))
    assert out.partition("__device__")[2] == plain.partition("__device__")[2]
    assert "ASM_" not in out.partition("__device__")[2]
    assert define in out


@pytest.mark.parametrize(
    "define",
    ["", "#ifdef X\n#define ASM_ asm volatile\n#else\n#define ASM_(...)\n#endif", "#define ASM_ OF_ANOTHER_FILE"],
)
def test_what_is_not_settled_is_told(define: str) -> None:
    text = f"{define}\n{BODY}"
    assert BODY in converted(text)
    messages = of_cu401(text)
    assert len(messages) >= 3
    assert all("`ASM_` seems to stand for `asm`" in m for m in messages)


@pytest.mark.parametrize(
    "text",
    [
        "#define ASM 5\n__device__ int f() { return g(ASM); }\n",
        '#define ASM(x) log(x)\n__device__ void f() { ASM("bar.sync 0;"); }\n',
        '__device__ void f(int a) { printf("add.s32 happened %d;", a); printf("ld.global: %0x;", a); }\n',
        'void load(); void f(int a) { open(a ? "bar.sync 0;" : "x"); open("kernel.cu"); open("add.u32 a, b, c;"); }\n',
        'struct A { void ASM(const char *); }; __device__ void f(A a) { a.ASM("bar.sync 0;"); }\n',
        '// ASM("add.u32 %0, %1, 1;" : "=r"(d) : "r"(a));\nvoid f() {}\n',
        '#if 0\n__device__ void f() { ASM("bar.sync 0;"); }\n#endif\n',
        '#define ASM asm volatile\nvoid f() { ASM("rdtsc" : "=a"(x)); }\n',
        "#define ASM asm volatile\nint ASM;\n",
    ],
)
def test_other_things_are_left_alone(text: str) -> None:
    assert of_cu401(text) == []
    assert text in converted(text)


def test_a_header_of_the_tree_says_so(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "base.h").write_text("#pragma once\n#define ASM_ asm volatile\n")
    (tmp_path / "in" / "a.cu").write_text(f'#include "base.h"\n#include "b.cuh"\n{BODY}')
    (tmp_path / "in" / "b.cuh").write_text(BODY.replace("f(", "g("))
    done = CliRunner().invoke(cli, ["convert", str(tmp_path / "in"), "-o", str(tmp_path / "out")])
    assert "CU401" not in done.output
    for name in ("a.cu", "b.cuh"):
        assert "ASM_" not in (tmp_path / "out" / name).read_text()


def test_products_of_a_macro_stay_in_tiles_as_those_of_asm_do() -> None:
    product = (
        'asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, '
        '{%0,%1,%2,%3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),'
        ' "r"(b[0]), "r"(b[1]));'
    )
    text = (
        "__global__ void k(const unsigned *x, float *out, int n) {\n    float c[4] = {0, 0, 0, 0};\n"
        "    unsigned a[4], b[2];\n    for (int i = 0; i < n; i++) {\n"
        "        for (int j = 0; j < 4; j++) a[j] = x[i * 4 + j];\n        b[0] = x[i]; b[1] = x[i + 1];\n"
        f"        {product}\n    }}\n    for (int j = 0; j < 4; j++) out[threadIdx.x * 4 + j] = c[j];\n}}\n"
    )
    plain = converted(text)
    assert "cu2port::mma::" in plain
    by_macro = converted("#define ASM_ asm volatile\n" + text.replace("asm volatile(", "ASM_("))
    assert by_macro.partition("__global__")[2] == plain.partition("__global__")[2]


WORDS = st.sampled_from(
    [
        "#define ",
        "ASM",
        "asm",
        "volatile",
        " ",
        "\n",
        "\\\n",
        "(",
        ")",
        "...",
        "__VA_ARGS__",
        ";",
        "//",
        "/*",
        "goto",
        "x",
    ]
)


@given(st.lists(WORDS, max_size=20).map("".join))
def test_any_definitions(text: str) -> None:
    told = asm_keywords(text)
    assert all(x.partition(" ")[2] for x in told)
    assert by_name(told).keys() <= {x.partition(" ")[0] for x in told}
    unit = Unit(text + '\n__device__ void f() { ASM("bar.sync 0;"); }\n', load_catalog())
    assert all(unit.t[i] in unit.asm_words for i, _, _ in unit.asms)


@given(st.lists(st.sampled_from(['ASM("bar.sync 0;"', " : ", '"=r"(d)', ")", "(", ";", "#define ASM asm\n", "?", "{"])))
def test_any_code_is_converted(parts: list[str]) -> None:
    translate("__device__ void f() {\n" + " ".join(parts) + "}\n")


MMA = (
    '"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" '
    ': "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) '
    ': "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])'
)
KERNEL = """#include "product.h"
__global__ void k(float* out, int n) {
    float sums[4][4] = {};
    unsigned a[4] = {}, b[2] = {};
    for (int k = 0; k < n; ++k) for (int j = 0; j < 4; ++j) product(sums[j], a, b);
    out[threadIdx.x] = sums[1][1];
}
"""


@pytest.mark.parametrize("defined", ["#define SEND asm volatile\n", "#define SEND launch_it\n"])
def test_products_behind_a_keyword_of_another_header_stay_in_tiles(tmp_path: Path, defined: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/word.h").write_text(defined)
    (tmp_path / "src/product.h").write_text(
        '#include "word.h"\n__device__ inline void product(float* d, const unsigned* a, const unsigned* b) {\n'
        f"    SEND({MMA});\n}}\n"
    )
    (tmp_path / "src/k.cu").write_text(KERNEL)
    CliRunner().invoke(cli, ["convert", str(tmp_path / "src"), "-o", str(tmp_path / "out"), "-j", "1"])
    is_asm = "asm" in defined
    assert ("in_tiles<" in (tmp_path / "out/k.cu").read_text()) == is_asm
    assert ("Into<float> tile" in (tmp_path / "out/product.h").read_text()) == is_asm
