"""Functions of headers that only compute: loops that call them keep their tiles, and look for lanes once."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from mma_programs import ASM, LOOP

from cu2port.catalog import load_catalog
from cu2port.cli import cli
from cu2port.core.model import Options, Project
from cu2port.engine.translate import translate
from cu2port.facts.computing import computes, is_computed_only, may_compute
from cu2port.facts.unit import Unit

CEIL = "namespace m { constexpr int div_ceil(int a, int b) { return (a + b - 1) / b; } }\n"
USE = (
    "__device__ void load(unsigned*, unsigned*);\n"
    "__global__ void k(float* out, int size) {\n    float acc[2][4] = {};\n    unsigned a[4], b[2];\n"
    "    int n = m::div_ceil(size, 16);\n    "
    + LOOP % ASM.replace("C[", "acc[1][")
    + "\n    out[threadIdx.x] = acc[1][0];\n}\n"
)
OTHER = "__device__ inline int div_ceil(float a, int b) {\n    return a / b + threadIdx.x;\n}\n"


def unit(text: str) -> Unit:
    return Unit(text, load_catalog())


def test_a_loop_to_a_number_that_a_header_computes_looks_for_lanes_once() -> None:
    told = Project(computing=frozenset({"div_ceil"}))
    assert "in_tiles<" in translate(USE, Options(), path="a.cu", project=told).output.decode()
    assert "mma::keep<" in translate(USE, Options(), path="a.cu").output.decode()
    assert "in_tiles<" in translate(CEIL + USE, Options(), path="a.cu").output.decode()
    assert "mma::keep<" in translate(OTHER + USE, Options(), path="a.cu", project=told).output.decode()


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ("", False),
        ("int steps = div_ceil(4, 2);\n", False),
        (OTHER, True),
        ("#define div_ceil(a, b) (threadIdx.x + a)\n", True),
        ("struct S { int div_ceil; };\n", True),
        ("int div_ceil(int a, int b);\n", True),
        ("inline auto f = &div_ceil;\n", True),
    ],
)
def test_a_tree_tells_whether_a_name_means_that_alone(more: str, kept: bool, tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    tree.mkdir()
    (tree / "math.cuh").write_text(CEIL)
    (tree / "all.cuh").write_text('#include "math.cuh"\n' + more)
    (tree / "a.cu").write_text('#include "all.cuh"\n' + USE)
    (tree / "other.cuh").write_text(OTHER)  # nobody reaches it
    for _ in range(2):
        done = CliRunner().invoke(cli, ["convert", str(tree), "-o", str(out), "--force"])
        assert done.exit_code in (0, 1), done.output
        assert ("mma::keep<" in (out / "a.cu").read_text()) == kept


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("int f(int a, int b) { return (a + b - 1) / b; }", True),
        ("template <class T> constexpr T f(T a, T b) noexcept {\n    return a < b ? a : b;\n}", True),
        ("constexpr int N = 4;\nint f(int a) { return a * N + sizeof(int); }", True),
        ("__device__ int f(int a) { return a + gridDim.x; }", True),
        ("__device__ int f(int a) { return a + threadIdx.x; }", False),
        ("__device__ int f(int a, int gridDim) { return a + gridDim.x; }", False),
        ("int f(const int* a) { return a[0]; }", False),
        ("int f(const int* a) { return *a; }", False),
        ("int f(int& a) { return a; }", False),
        ("int f(volatile int a) { return a; }", False),
        ("int f(int a) { return g(a); }", False),
        ("int n;\nint f(int a) { return a + n; }", False),
        ("int f(int a) { return a = 1; }", False),
        ("int f(int a) { a += 1; return a; }", False),
        ("int f(int a) { return [&] { return a; }(); }", False),
        ("int f(int a) { return a; }\nint f(float a) { return __float2int_rz(a); }", False),
    ],
)
def test_which_functions_only_compute(text: str, is_one: bool) -> None:
    assert computes(unit(text), "f") is is_one
    assert is_computed_only(unit(text), "f") is is_one
    assert not is_one or may_compute(text) == {"f"}


def test_names_are_found_in_time() -> None:
    for text in (
        "{ return " * 50_000,
        "a" * 300_000 + "() { return",
        "f (" + "x " * 100_000 + "{return",
        "{ " * 150_000,
    ):
        may_compute(text)


ASSERTED = (
    "template <class T> __device__ inline void mma(float* c, const unsigned* a, const unsigned* b) {\n"
    "    if constexpr (sizeof(T) == 2) {\n        "
    + ASM.replace("C", "c")
    + "\n    } else if constexpr (sizeof(T) == 4) {\n        "
    + ASM.replace("C", "c").replace("f16.f16", "bf16.bf16", 1)
    + "\n    } else {\n        NO_SUCH_TYPE(T);\n    }\n}\n"
)


@pytest.mark.parametrize(
    ("change", "whole"),
    [
        (("", ""), True),
        (("} else {", "}\n    {"), False),  # in every template
        (
            ("} else if constexpr (sizeof(T) == 4) {", "    NO_SUCH_TYPE(T); } else if constexpr (sizeof(T) == 4) {"),
            False,
        ),
        (("if constexpr (sizeof(T) == 2)", "if (sizeof(T) == 2)"), False),
    ],
)
def test_what_another_branch_of_a_template_does_keeps_no_lane_away(change: tuple[str, str], whole: bool) -> None:
    """A macro of another file may jump, but a template that has it there has no product."""
    use = USE.replace("m::div_ceil(size, 16)", "size").replace(
        ASM.replace("C[", "acc[1]["), "mma<float>(acc[1], a, b);"
    )
    out = translate(ASSERTED.replace(*change, 1) + use, Options(), path="a.cu").output.decode()
    assert ("in_tiles<" in out) == whole
    assert ("mma::keep<" in out) != whole
