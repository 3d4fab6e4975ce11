"""Functions that multiply into a place more than once: one call of them is reason enough for tiles. Products that begin
with zero, and functions that multiply where elements are floats alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from mma_programs import ASM, DATA, run_simulated, whole

from cu2port.cli import cli
from cu2port.core.model import Options
from cu2port.engine.translate import translate

ZERO = ASM.replace('"+f"', '"=f"').replace("{%0,%1,%2,%3};", "{%10,%10,%10,%10};")
ZERO = ZERO.replace("(b[1]));", '(b[1]), "f"(0.f));')
MMA = (
    "template <bool First> __device__ inline void MMA(float* c, const unsigned* a, const unsigned* b) {\n"
    "    if constexpr (First) {\n        "
    + ZERO.replace("C", "c")
    + "\n    } else {\n        "
    + ASM.replace("C", "c")
    + "\n    }\n}\n"
)
OTHER = "__device__ inline void other(int* c) {\n    for (int i = 0; i < 8; ++i) c[i] += i;\n}\n"
TIMES = """template <int, int> struct Shared { template <int> __device__ int next(int at) const { return at + 1; } };
template <class T, int Rows>
__device__ inline void times(const Shared<1, 2>& s, T c[][8], unsigned (*a)[4], unsigned (*b)[2], int& at) {
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < Rows; ++i) {
            if constexpr (std::is_same<T, float>::value) {
                MMA<false>(c[i], a[i], b[0]);
                MMA<false>(c[i] + 4, a[i], b[1]);
            } else {
                other(c[i]);
            }
        }
        at = s.next<1>(at);
    }
}
"""
KERNEL = """__device__ void load(unsigned (*)[4], unsigned (*)[2]);
template <class T> __global__ void k(T* out) {
    T acc[2][8];
    unsigned a[2][4], b[2][2];
    int at = 0;
    Shared<1, 2> s;
    for (int i = 0; i < 8; ++i) acc[0][i] = acc[1][i] = 1;
    load(a, b);
    times<T, 2>(s, acc, a, b, at);
    out[threadIdx.x] = acc[1][0];
}
"""
WHERE = "cu2port::mma::Where<cu2port::mma::Holds<float, decltype(acc)>::value, cu2port::mma::Exact>"


def converted(text: str) -> str:
    return translate(text, Options(), path="a.cu").output.decode()


def test_one_call_keeps_tiles() -> None:
    out = converted(MMA + OTHER + TIMES + KERNEL)
    assert f"in_tiles<{WHERE}, cu2port::mma::f16, cu2port::mma::f16, float>(acc, [&]" in out
    assert "times<T, 2>(s, acc, a, b, at, acc_kept.at(acc, acc));" in out
    assert "MMA<false>(c[i] + 4, a[i], b[1], tile.at(c, c[i] + 4));" in out
    assert "other(c[i]);" in out
    assert converted(out) == out


def test_a_product_that_adds_to_zero_clears_its_tile() -> None:
    out = converted(MMA + OTHER + TIMES + KERNEL)
    assert "{f_in, f_in, f_in, f_in}, tile.from_zero());" in out
    assert "{c[0], c[1], c[2], c[3]}, tile);" in out
    for other in ("1.f", "-0.f"):
        out = converted((MMA + OTHER + TIMES + KERNEL).replace('"f"(0.f)', f'"f"({other})'))
        assert "{f_in, f_in, f_in, f_in}, tile.from_c());" in out


@pytest.mark.parametrize(
    "change",
    [
        ("for (int k = 0; k < 3; ++k) {", "{"),  # each place once: nothing is gained
        ("std::is_same<T, float>::value", "sizeof(T) == 4"),
        ("std::is_same<T, float>::value", "!std::is_same<T, float>::value"),
        ("std::is_same<T, float>::value", "std::is_same<T, int>::value"),
        ("if constexpr (std", "if (std"),
        ("other(c[i]);\n            }", "}\n            other(c[i]);"),
        ("acc, a, b, at);", "acc, a, b, (int&)acc[0][0]);"),
    ],
)
def test_what_else_is_done_keeps_none(change: tuple[str, str]) -> None:
    text = MMA + OTHER + TIMES + KERNEL
    assert change[0] in text
    assert "acc_kept" not in converted(text.replace(*change, 1))


def test_a_number_may_be_what_a_call_returns() -> None:
    more = KERNEL.replace("load(a, b);\n    times", "load(a, b);\n    float most = largest(acc);\n    times")
    assert "acc_kept" in converted(MMA + OTHER + TIMES + more)
    assert "acc_kept" not in converted(MMA + OTHER + TIMES + more.replace("float most", "auto most"))


@pytest.mark.parametrize(("reference", "whole"), [("int", True), ("const int&", True), ("int&", False)])
def test_a_tree_tells_which_functions_change_nothing(reference: str, whole: bool, tmp_path: Path) -> None:
    """What chooses a place may be given to a function of another header, if that leaves it as it is."""
    tree, out = tmp_path / "tree", tmp_path / "out"
    tree.mkdir()
    after = f"__device__ inline int after(int at, {reference} step) {{\n    return at + step;\n}}\n"
    (tree / "next.cuh").write_text(after)
    (tree / "mma.cuh").write_text(MMA + OTHER)
    body = TIMES.replace("MMA<false>(c[i], a", "at = after(at, i);\n                MMA<false>(c[i], a")
    (tree / "times.cuh").write_text('#include "next.cuh"\n#include "mma.cuh"\n' + body)
    (tree / "a.cu").write_text('#include "times.cuh"\n' + KERNEL)
    done = CliRunner().invoke(cli, ["convert", str(tree), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert ("in_tiles<" in (out / "a.cu").read_text()) == whole
    assert ("Into<float>" in (out / "times.cuh").read_text()) == whole


PROGRAM = """
__device__ void load(unsigned (*a)[4], unsigned (*b)[2], unsigned long long from) {
    for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < 4; ++i) a[j][i] = unsigned(from >> (8 * i + j)) & 0x40004000u;
        for (int i = 0; i < 2; ++i) b[j][i] = unsigned(from >> (12 * i + 3 * j)) & 0x3c003c00u;
    }
}
template <class T> __global__ void k(const unsigned long long* in, unsigned long long* out) {
    T acc[2][8];
    unsigned a[2][4], b[2][2];
    int at = 0;
    Shared<1, 2> s;
    for (int i = 0; i < 8; ++i) acc[0][i] = acc[1][i] = T(threadIdx.x + i);
    load(a, b, in[threadIdx.x]);
    times<T, 2>(s, acc, a, b, at);
    for (int i = 0; i < 16; i += 2) {
        unsigned bits[2];
        __builtin_memcpy(bits, &acc[i / 8][i % 8], 8);
        out[threadIdx.x + 64 * (i / 2)] = (bits[0] | static_cast<unsigned long long>(bits[1]) << 32) + at;
    }
}
"""
MAIN = """
int main(int, char** names) {
    unsigned long long *in, *out;
    (void)hipMallocManaged((void**)&in, 512), (void)hipMallocManaged((void**)&out, 8192);
    std::FILE *from = std::fopen(names[1], "rb"), *to = std::fopen(names[2], "wb");
    if (std::fread(in, 8, 64, from) != 64) return 2;
    k<float><<<1, 64>>>(in, out);
    k<int><<<1, 64>>>(in, out + 512);
    if (hipDeviceSynchronize() != hipSuccess) return 3;
    std::fwrite(out, 8, 1024, to), std::fclose(to);
}
"""


def program(kept: bool, first: bool) -> str:
    """With tiles or without; the first product of a place begins with zero or does not."""
    times = TIMES
    if first:
        times = times.replace("MMA<false>(c[i],", "if (k == 0) MMA<true>(c[i], a[i], b[1]);\n    MMA<false>(c[i],")
    if not kept:
        times = times.replace("for (int k", "if (Rows < 0) c[0][0] += 1;\n    for (int k")
    return whole("#include <type_traits>\n" + converted(MMA + OTHER + times + PROGRAM), MAIN, kept)


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_the_sums_are_those_without_tiles(wave: int, tmp_path: Path) -> None:
    """Of floats and of ints, which are not multiplied."""
    for first in (False, True):
        answers = []
        for kept in (True, False):
            folder = tmp_path / f"{first}{kept}"
            folder.mkdir()
            answers.append(run_simulated(program(kept, first), DATA, wave, folder))
        assert answers[0] == answers[1]
        assert len({answers[0][i : i + 8] for i in range(0, 8192, 8)}) > 300
