"""Functions that hand an array of accumulators on to those that multiply, in a file and over headers: loops around
them keep their tiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from mma_programs import ASM, DATA, LOOP, whole, with_and_without_tiles

from cu2port.catalog import load_catalog
from cu2port.cli import cli
from cu2port.core.model import Options
from cu2port.engine.translate import translate
from cu2port.facts.unit import Unit
from cu2port.ptx.local_arrays import begins_tile

MMA = (
    "__device__ inline void MMA(float* c, const unsigned* a, const unsigned* b) {\n    "
    + ASM.replace("C", "c")
    + "\n}\n"
)
STEP = """template <class T>
__device__ inline void step(float c[][N], unsigned (*a)[4], unsigned (*b)[2]) {
    unsigned* p = nullptr;
    float (*rows)[N] = reinterpret_cast<float (*)[N]>(c);
    for (int i = 0; i < T::rows; ++i) {
        MMA(rows[i], a[i], b[0]);
        MMA(rows[i] + 4, a[i], b[1]);
    }
}
"""
NUMBER = "#define N 8\n"
KERNEL = (
    "__device__ void load(unsigned (*)[4], unsigned (*)[2]);\n"
    "template <class T> __global__ void k(float* out, int n) {\n"
    "    float acc[2][N] = {};\n    unsigned a[2][4], b[2][2];\n    "
    + LOOP % "step<T>(acc, a, b);"
    + "\n    out[threadIdx.x] = acc[1][0];\n}\n"
)
GIVEN = "step<T>(acc, a, b, acc_kept.at(acc, acc));"


def converted(text: str) -> str:
    return translate(text, Options(), path="a.cu").output.decode()


def test_a_function_of_the_file_hands_its_tiles_on() -> None:
    out = converted(NUMBER + MMA + STEP + KERNEL)
    assert "unsigned (*b)[2], cu2port::mma::Into<float> tile = {}) {" in out
    assert "MMA(rows[i], a[i], b[0], tile.at(rows, rows[i]));" in out
    assert "MMA(rows[i] + 4, a[i], b[1], tile.at(rows, rows[i] + 4));" in out
    assert "const unsigned* b, cu2port::mma::Into<float> tile = {}) {" in out
    assert "in_tiles<cu2port::mma::Exact, cu2port::mma::f16, cu2port::mma::f16, float>(" in out
    assert GIVEN in out
    assert converted(out) == out


def test_a_header_may_have_both(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    tree.mkdir()
    (tree / "mma.cuh").write_text(NUMBER + MMA + STEP)
    (tree / "a.cu").write_text('#include "mma.cuh"\n' + KERNEL)
    assert CliRunner().invoke(cli, ["convert", str(tree), "-o", str(out)]).exit_code == 0
    assert GIVEN in (out / "a.cu").read_text()
    assert (out / "mma.cuh").read_text().count("Into<float> tile = {}") == 2


def test_it_multiplies_itself_at_places_that_it_computes() -> None:
    text = STEP.replace("MMA(rows[i] + 4, a[i], b[1]);", "").replace(
        "MMA(rows[i], a[i], b[0]);", ASM.replace("C[", "rows[i][")
    )
    text = text.replace("(a[", "(a[i][").replace("(b[", "(b[0][")
    out = converted(NUMBER + text + KERNEL)
    assert "{rows[i][0], rows[i][1], rows[i][2], rows[i][3]}, tile.at(rows, &rows[i][0]));" in out
    assert GIVEN in out


@pytest.mark.parametrize(
    "change",
    [
        ("N 8", "N 6"),  # a row that is no tiles
        ("MMA(rows[i] + 4,", "MMA(rows[i] + 2,"),
        ("MMA(rows[i] + 4,", "MMA(&rows[i][2],"),
        ("MMA(rows[i] + 4,", "rows[i][4] += 1; MMA(rows[i] + 4,"),
        ("unsigned* p = nullptr;", "c[0][0] = 1;"),
        ("unsigned* p = nullptr;", "c += 1;"),
        ("rows[i]", "rows[i + threadIdx.x]"),
        ("__device__ inline void step", "__device__ inline void step(float*);\n__device__ inline void step"),
    ],
)
def test_what_else_it_does_ends_it(change: tuple[str, str]) -> None:
    text = NUMBER + MMA + STEP + KERNEL
    assert change[0] in text
    assert "acc_kept" not in converted(text.replace(*change, 1))


def test_lanes_that_may_leave_it_are_looked_for_at_each_product() -> None:
    out = converted((NUMBER + MMA + STEP + KERNEL).replace("i < T::rows", "i < threadIdx.x"))
    assert "in_tiles<" not in out
    assert GIVEN in out


@pytest.mark.parametrize(
    ("declared", "place", "whole", "begins"),
    [
        ("float x[8]", "&x[4]", False, True),
        ("float x[8]", "&x[2]", False, False),
        ("float x[8]", "&x[k]", False, False),
        ("float x[8]", "x + 4", False, True),
        ("float x[2][4]", "x[k]", False, True),
        ("float x[2][4]", "&x[1][2]", False, False),
        ("float x[2][4]", "&x[k][0]", False, True),
        ("float x[2][4]", "(&x[k][2])[0]", False, False),
        ("float x[2][4]", "(&x[k][0])[2]", False, False),
        ("int32_t x[2][6]", "x[k]", False, False),
        ("float (*x)[4]", "x[k]", False, True),
        ("float (*x)[6]", "x[k]", False, False),
        ("float (&x)[2][4]", "x[k]", False, True),
        ("float* x", "x[k]", False, False),
        ("float* __restrict__ x", "&x[4 * k]", False, True),
        ("Four x[3]", "x[k]", True, True),
        ("Four x[3]", "x[k]", False, False),
        ("Four x[2][3]", "x[k][1]", True, True),
        ("Four* x", "x[k]", True, True),
        ("float* x[4]", "x[k]", False, False),
    ],
)
def test_which_places_begin_a_tile(declared: str, place: str, whole: bool, begins: bool) -> None:
    text = f"__device__ void f(int k) {{\n    {declared} = y;\n    g({place});\n}}\n"
    unit = Unit(text, load_catalog())
    at = next(i for i in unit.find("x") if unit.declares(i))
    call = unit.find("g")[0]
    assert begins_tile(unit, range(call + 2, unit.match[call + 1]), at, whole) == begins


@pytest.mark.parametrize("place", ["&acc[2]", "&acc[k]", "acc + 2"])
def test_a_place_in_the_middle_of_a_tile_keeps_nothing(place: str) -> None:
    use = KERNEL.replace("float acc[2][N]", "float acc[16]").replace("step<T>(acc, a, b)", f"MMA({place}, a[0], b[0])")
    assert "acc_kept" not in converted(MMA + use)
    assert "acc_kept.at(acc, acc + 4)" in converted(MMA + use.replace(place, "acc + 4"))


def headers(tree: Path) -> None:
    tree.mkdir()
    (tree / "sizes.h").write_text(NUMBER)
    (tree / "mma.cuh").write_text(MMA)
    (tree / "step.cuh").write_text('#include "sizes.h"\n#include "mma.cuh"\nnamespace s {\n' + STEP + "}\n")
    (tree / "kernel.cuh").write_text('#include "step.cuh"\n' + KERNEL.replace("step<T>", "s::step<T>"))


def test_headers_hand_them_on_to_each_other(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    headers(tree)
    for _ in range(2):
        done = CliRunner().invoke(cli, ["convert", str(tree), "-o", str(out), "--force"])
        assert done.exit_code == 0, done.output
        assert f"s::{GIVEN}" in (out / "kernel.cuh").read_text()
        assert "in_tiles<" in (out / "kernel.cuh").read_text()
        step = (out / "step.cuh").read_text()
        assert '#include "cu2port/mma.hpp"' in step
        assert "cu2port::mma::Into<float> tile = {}) {" in step
        assert "MMA(rows[i], a[i], b[0], tile.at(rows, rows[i]));" in step


def test_a_header_that_does_more_with_the_array_is_not_told_of(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    headers(tree)
    more = (tree / "step.cuh").read_text().replace("unsigned* p = nullptr;", "c[0][0] += 1;")
    (tree / "step.cuh").write_text(more)
    done = CliRunner().invoke(cli, ["convert", str(tree), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "acc_kept" not in (out / "kernel.cuh").read_text()
    assert "Into<" not in (out / "step.cuh").read_text()


def test_a_number_that_two_headers_give_is_none(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    headers(tree)
    (tree / "mma.cuh").write_text("#ifdef SMALL\n#define N 6\n#endif\n" + MMA)
    done = CliRunner().invoke(cli, ["convert", str(tree), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "acc_kept" not in (out / "kernel.cuh").read_text()


PROGRAM = """
struct Two { static constexpr int rows = 2; };
__device__ void load(unsigned (*a)[4], unsigned (*b)[2], unsigned long long from) {
    for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < 4; ++i) a[j][i] = unsigned(from >> (8 * i + j)) & 0x40004000u;
        for (int i = 0; i < 2; ++i) b[j][i] = unsigned(from >> (12 * i + 3 * j)) & 0x3c003c00u;
    }
}
template <class T> __global__ void k(const unsigned long long* in, unsigned long long* out, int n) {
    float acc[2][N] = {};
    unsigned a[2][4], b[2][2];
    for (int k = 0; k < n; ++k) {
        load(a, b, in[threadIdx.x] + k * 0x0102030405060708ull);
        step<T>(acc, a, b);
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 8; j += 2) {
            unsigned bits[2];
            __builtin_memcpy(bits, &acc[i][j], 8);
            out[threadIdx.x + 64 * (4 * i + j / 2)] = bits[0] | static_cast<unsigned long long>(bits[1]) << 32;
        }
}
"""
MAIN = """
int main(int, char** names) {
    unsigned long long *in, *out;
    (void)hipMallocManaged((void**)&in, 512), (void)hipMallocManaged((void**)&out, 4096);
    std::FILE *from = std::fopen(names[1], "rb"), *to = std::fopen(names[2], "wb");
    if (std::fread(in, 8, 64, from) != 64) return 2;
    k<Two><<<1, 64>>>(in, out, 3);
    if (hipDeviceSynchronize() != hipSuccess) return 3;
    std::fwrite(out, 8, 512, to), std::fclose(to);
}
"""


def program(kept: bool) -> str:
    """Sums by pointer, handed on, with tiles or without."""
    step = STEP.replace("unsigned* p = nullptr;", "" if kept else "c[0][0] += 0;")
    return whole(converted(NUMBER + MMA + step + PROGRAM), MAIN, kept)


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_the_sums_are_those_without_tiles(wave: int, tmp_path: Path) -> None:
    answers = with_and_without_tiles(program, DATA, wave, tmp_path)
    assert len(set(answers)) == 1
    assert len({answers[0][i : i + 8] for i in range(0, 4096, 8)}) > 200


@pytest.mark.parametrize("direct", [True, False])
def test_a_loop_with_a_product_that_is_refused_keeps_nothing(direct: bool) -> None:
    """Its function would have no parameter for the tile that the call gives."""
    refused = ASM.replace('"r"(b[0])', '"h"(b[0])')
    bad = MMA.replace("MMA(", "bad(").replace(ASM.replace("C", "c"), refused.replace("C", "c"))
    second = "bad(acc[0], a[0], b[0]);"
    if direct:
        second = refused.replace("C[", "acc[0][").replace("(a[", "(a[0][").replace("(b[", "(b[0][")
    use = KERNEL.replace("step<T>(acc, a, b);", "MMA(acc[1], a[0], b[0]); " + second)
    out = converted(NUMBER + MMA + bad + use)
    assert "untranslated" in out
    assert "acc_kept" not in out
    assert "acc_kept" in converted(NUMBER + MMA + bad + use.replace(second, ""))
