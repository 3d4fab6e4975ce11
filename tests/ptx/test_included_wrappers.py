"""Functions of a header that multiply: what the files which include it keep in tiles, and what the header offers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from mma_programs import ASM, HEAD, LOOP, run_simulated

from cu2port.catalog import load_catalog
from cu2port.cli import cli
from cu2port.core.model import Options, Project, Trust
from cu2port.engine.translate import translate
from cu2port.facts.product_functions import product_texts
from cu2port.facts.unit import Unit

MMA = (
    "__device__ inline void mma(float* c, const unsigned* a, const unsigned* b) {\n    "
    + ASM.replace("C", "c")
    + "\n}\n"
)
SUMS_OF_F16 = (
    'asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"'
    ' : "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));'
)
USE = (
    "__device__ void load(unsigned*, unsigned*);\n"
    "__device__ void k(float* out, int n) {\n    float acc[2][4] = {};\n    unsigned a[4], b[2];\n    "
    + LOOP % "mma(acc[1], a, b);"
    + "\n    out[threadIdx.x] = acc[1][0];\n}\n"
)
GIVEN = "mma(acc[1], a, b, acc_kept.at(acc, acc[1]));"


def project(*headers: str) -> Project:
    """What a file is told of headers that it includes."""
    units = (Unit(text, load_catalog()) for text in headers)
    return Project(products=frozenset(text for unit in units for text in product_texts(unit)))


def user(text: str, *headers: str, options: Options | None = None) -> str:
    return translate(text, options or Options(), path="a.cu", project=project(*headers)).output.decode()


def header(text: str, path: str = "mma.cuh") -> str:
    return translate(text, Options(), path=path).output.decode()


def test_a_loop_gives_its_tiles_to_a_function_of_a_header() -> None:
    out = user(USE, MMA)
    assert '#include "cu2port/mma.hpp"' in out
    assert "keep<cu2port::mma::Exact, cu2port::mma::f16, cu2port::mma::f16, float>(acc);" in out
    assert out.index("acc_kept = ") < out.index("for (int k") < out.index(GIVEN) < out.index("acc_kept.give(acc);")
    assert user(out, MMA) == out
    assert "cu2port::mma" not in user(USE)


def test_the_header_takes_them_whoever_calls() -> None:
    """What other files do is not known of a header that is converted alone, and calls without a tile stay right."""
    out = header(MMA + "__device__ void one(float* c, unsigned* a) { mma(c, a, a); }\n")
    assert "const unsigned* b, cu2port::mma::Into<float> tile = {}) {" in out
    assert "{c[0], c[1], c[2], c[3]}, tile);" in out
    assert "{ mma(c, a, a); }" in out
    assert header(out) == out
    assert "Into<" not in header(MMA, "mma.cu")


def test_the_report_says_so() -> None:
    (found,) = (
        j.finding for j in translate(USE, path="a.cu", project=project(MMA)).findings if j.finding.code == "CU401"
    )
    assert found.message == "sums of `mma`, of a header, stay in the matrix instruction's layout in the loop around"
    assert found.trust is Trust.REVIEW
    (found,) = (j.finding for j in translate(MMA, path="mma.cuh").findings if j.finding.code == "CU401")
    assert "its sums stay in the matrix instruction's layout in loops of other files that keep them so" in found.message


@pytest.mark.parametrize(
    ("space", "call", "kept"),
    [
        ("tensor", "tensor::mma", True),
        ("a::tensor", "tensor::mma", True),
        ("a::tensor", "::a::tensor::mma", True),
        ("a::tensor", "mma", True),
        ("tensor", "other::mma", False),
        ("tensor", "a::tensor::mma", False),
        ("", "other::mma", False),
        ("tensor", "x.mma", False),
    ],
)
def test_a_name_that_is_qualified_names_the_namespace(space: str, call: str, kept: bool) -> None:
    text = f"namespace {space} {{\n{MMA}}}\n" if space else MMA
    assert (".at(acc" in user(USE.replace("mma(acc", f"{call}(acc"), text)) == kept


@pytest.mark.parametrize(
    "change",
    [
        ("__device__ inline", "__device__ void mma(float*);\n__device__ inline"),  # another of that name
        ("__device__ inline", "void (*const f)(float*, const unsigned*, const unsigned*) = mma;\n__device__ inline"),
        ("__device__ inline", "struct S { __device__ inline"),  # a member
        ("\n}\n", "\n    c[0] += 1;\n}\n"),
        ("float* c,", "float* c, int first,"),
        ("\n}\n", "\n    " + SUMS_OF_F16 + "\n}\n"),
        ("__device__ inline", "__device__"),  # declared elsewhere, perhaps
    ],
)
def test_functions_that_are_more_are_not_offered(change: tuple[str, str]) -> None:
    text = MMA.replace(*change, 1) + ("};\n" if "struct" in change[1] else "")
    assert "Into<" not in header(text) or "int first" in text
    assert ".at(acc" not in user(USE, text)


@pytest.mark.parametrize(
    "own",
    [
        "__device__ void mma(float*, unsigned*, unsigned*);\n",
        "#define mma(c, a, b) multiply(c, a, b)\n",
        MMA.replace("inline", "").replace("f16.f16", "bf16.bf16", 1),
    ],
)
def test_a_file_that_has_the_name_itself_is_not_meant(own: str) -> None:
    assert ".at(acc" not in user(own + USE, MMA)


def test_a_name_of_two_headers_is_none() -> None:
    assert ".at(acc" not in user(USE, MMA, MMA.replace("f16.f16.f32", "bf16.bf16.f32"))
    assert GIVEN in user(USE, MMA, MMA)


def test_one_warp_on_a_wavefront_keeps_nothing() -> None:
    assert ".at(acc" not in user(USE, MMA, options=Options(warp="solo"))


def test_products_of_a_header_and_of_the_file_share_an_array() -> None:
    out = user(USE.replace("mma(acc[1], a, b);", "mma(acc[1], a, b); " + ASM.replace("C[", "acc[0][")), MMA)
    assert GIVEN in out
    assert "acc_kept.at(acc, &acc[0][0]));" in out
    assert out.count("keep<") == out.count(".give(") == 1


def test_integers_are_exact() -> None:
    text = MMA.replace("m16n8k16.row.col.f32.f16.f16.f32", "m16n8k32.row.col.s32.s8.s8.s32").replace("+f", "+r")
    findings = translate(
        USE.replace("float acc", "int acc"), path="a.cu", project=project(text.replace("float*", "int*"))
    ).findings
    assert [j.finding.trust for j in findings if j.finding.code == "CU401"] == [Trust.EXACT]


@pytest.mark.parametrize(
    ("head", "other", "call", "kept"),
    [
        ("#ifndef SPACE\n  #define SPACE tensor\n#endif\n", "", "tensor::mma", True),
        ("#define SPACE  tensor  // of this tree\n", "#define SPACE tensor\n", "outer::tensor::mma", True),
        ("#define SPACE tensor\n", "", "mma", True),
        ("#define SPACE tensor\n", "#define SPACE other\n", "tensor::mma", False),
        ("#define SPACE tensor\n", "", "other::mma", False),
        ("#define SPACE tensor_()\n", "", "tensor::mma", False),
        ("", "", "tensor::mma", False),
    ],
)
def test_a_macro_may_name_the_namespace(head: str, other: str, call: str, kept: bool, tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    tree.mkdir()
    (tree / "types.cuh").write_text(head)
    (tree / "mma.cuh").write_text(f'#include "types.cuh"\nnamespace outer {{\nnamespace SPACE {{\n{MMA}}}\n}}\n')
    (tree / "a.cu").write_text(f'{other}#include "mma.cuh"\n' + USE.replace("mma(acc", f"{call}(acc"))
    done = CliRunner().invoke(cli, ["convert", str(tree), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert (GIVEN in (out / "a.cu").read_text()) == kept
    assert "cu2port::mma::Into<float> tile = {}" in (out / "mma.cuh").read_text()


def test_a_tree_tells_who_includes_the_functions(tmp_path: Path) -> None:
    """Also by way of another header, and in a run that takes results from the cache."""
    tree, out = tmp_path / "tree", tmp_path / "out"
    (tree / "math").mkdir(parents=True)
    (tree / "math" / "mma.cuh").write_text(f"namespace tensor {{\n{MMA}}}\n")
    (tree / "math" / "all.cuh").write_text('#include "mma.cuh"\n')
    (tree / "more.cu").write_text(MMA.replace("mma(", "more("))  # no header, so nobody is offered a tile
    (tree / "b.cu").write_text('#include "more.cu"\n' + USE.replace("mma(acc", "more(acc"))
    (tree / "a.cu").write_text('#include "math/all.cuh"\n' + USE.replace("mma(acc", "tensor::mma(acc"))
    (tree / "alone.cu").write_text(USE)
    for _ in range(2):
        done = CliRunner().invoke(cli, ["convert", str(tree), "-o", str(out), "--force"])
        assert done.exit_code == 0, done.output
        assert GIVEN in (out / "a.cu").read_text()
        assert "cu2port::mma" not in (out / "alone.cu").read_text() + (out / "b.cu").read_text()
        assert "cu2port::mma::Into<float> tile = {}" in (out / "math" / "mma.cuh").read_text()


PROGRAM = """
__device__ void load(unsigned* a, unsigned* b, unsigned long long from) {
    for (int i = 0; i < 4; ++i) a[i] = unsigned(from >> 8 * i) & 0x40004000u;
    for (int i = 0; i < 2; ++i) b[i] = unsigned(from >> 12 * i) & 0x3c003c00u;
}
__global__ void k(const unsigned long long* in, unsigned long long* out, int n) {
    float acc[2][4] = {};
    unsigned a[4], b[2];
    for (int k = 0; k < n; ++k) {
        load(a, b, in[threadIdx.x] + k * 0x0102030405060708ull);
        for (int j = 0; j < 2; ++j) mma(acc[j], a, b);
    }
    unsigned bits[2];
    __builtin_memcpy(bits, &acc[1][0], 8);
    out[threadIdx.x] = bits[0] | static_cast<unsigned long long>(bits[1]) << 32;
}
"""
MAIN = """
int main(int, char** names) {
    unsigned long long *in, *out;
    (void)hipMallocManaged((void**)&in, 512), (void)hipMallocManaged((void**)&out, 512);
    std::FILE *from = std::fopen(names[1], "rb"), *to = std::fopen(names[2], "wb");
    if (std::fread(in, 8, 64, from) != 64) return 2;
    k<<<1, 64>>>(in, out, 3);
    if (hipDeviceSynchronize() != hipSuccess) return 3;
    std::fwrite(out, 8, 64, to), std::fclose(to);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_the_sums_are_those_without_tiles(wave: int, tmp_path: Path) -> None:
    data = b"".join((0x9E3779B97F4A7C15 * (i + 1) % 2**64).to_bytes(8, "little") for i in range(64))
    answers = []
    for told in ((MMA,), ()):
        kernel = user(PROGRAM, *told)
        assert ("in_tiles<" in kernel) == bool(told)
        folder = tmp_path / str(len(told))
        folder.mkdir()
        text = HEAD + header(MMA) + kernel + MAIN
        text = re.sub(r'#include "(cu2port/[\w.]+)"', r"#include <\1>", text)
        answers.append(run_simulated(text, data, wave, folder))
    assert len(set(answers)) == 1
    assert len({answers[0][i : i + 8] for i in range(0, 512, 8)}) > 50
