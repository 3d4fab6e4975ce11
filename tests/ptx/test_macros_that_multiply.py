"""Macros that are one asm with one product: a loop keeps sums in tiles that calls of them name."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest
from amd_code import machine_code
from click.testing import CliRunner
from loading import load
from mma_programs import HEAD, STEPS, STEPS_MAIN, converted, whole, with_and_without_tiles

from cu2port.catalog import load_catalog
from cu2port.cli import cli
from cu2port.core.model import Options, Project
from cu2port.engine.translate import translate
from cu2port.facts.product_functions import product_texts
from cu2port.facts.unit import Unit

MMA = """#define MMA(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1, c0, c1, c2, c3) \\
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, " \\
        "{%10,%11,%12,%13};" : "=f"(d0), "=f"(d1), "=f"((d2)), "=f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), \\
        "r"(b0), "r"(b1), "f"(c0), "f"(c1), "f"(c2), "f"(c3))
"""
ADD = '#define ADD(d, a) asm volatile("add.u32 %0, %0, %1;" : "+r"(d) : "r"(a));\n'
OTHERS = "a[0], a[1], a[2], a[3], b[0], b[1]"


def call(d: str, c: str) -> str:
    """Of the macro, with sums in elements of these arrays."""
    return f"MMA({d}[0], {d}[1], {d}[2], {d}[3], {OTHERS}, {c}[0], {c}[1], {c}[2], {c}[3]);"


STEP = "for (int j = 0; j < 4; ++j) " + call("acc[j]", "acc[j]")
TOOL = load(Path(__file__).resolve().parents[2] / "tools" / "mma_cost.py")
IN_TILES = "acc_kept.at(acc, &acc[j][0])"


def kernel(step: str = STEP) -> str:
    return f"""__device__ void load(unsigned* a, unsigned* b);
__global__ void k(float* out, int n) {{
    float acc[4][4] = {{}}, e[4];
    unsigned a[4], b[2];
    for (int k = 0; k < n; ++k) {{
        load(a, b);
        {step}
    }}
    out[threadIdx.x] = acc[1][1];
}}
"""


def included(text: str, *headers: str) -> str:
    """A file as it is converted that includes headers."""
    units = (Unit(x, load_catalog()) for x in headers)
    told = Project(products=frozenset(text for unit in units for text in product_texts(unit)))
    return translate(text, Options(), path="a.cu", project=told).output.decode()


def test_the_call_is_written_out_and_the_macro_stays() -> None:
    out = converted(MMA + kernel() + kernel(call("e", "e")).replace("void k(", "void m("))
    assert "in_tiles<cu2port::mma::Exact, cu2port::mma::f16, cu2port::mma::f16, float>(acc" in out
    assert f"{{acc[j][0], acc[j][1], acc[j][2], acc[j][3]}}, {IN_TILES});" in out
    assert out.count("acc[j][0] = ") == 1
    assert f"    {call('e', 'e')}\n" not in out  # an array of its own, in tiles too
    assert "#define MMA(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1, c0, c1, c2, c3) \\\n    do {" in out
    assert converted(out) == out


def test_calls_in_no_loop_stay() -> None:
    once = call("acc[1]", "acc[1]")
    out = converted(MMA + kernel().replace("    out[", f"    out[9] = acc[0][0];\n    {once}\n    out["))
    assert IN_TILES in out
    assert f"    {once}\n" in out


def test_other_macros_of_asm_change_what_they_name_alone() -> None:
    assert "in_tiles<" in converted(MMA + ADD + kernel(STEP + " ADD(b[0], a[1]);"))
    assert "in_tiles<" not in converted(MMA + ADD + kernel(STEP + " ADD(n, a[1]);"))
    varying = STEP.replace("acc[j]", "acc[i]").replace("for", "int i = 0; for").replace("MMA(", "{ ADD(i, a[0]); MMA(")
    assert "_kept" not in converted(MMA + ADD + kernel(varying + " }"))
    jump = ADD.replace('"r"(a));', '"r"(a)); if (a) break;')
    assert "in_tiles<" not in converted(MMA + jump + kernel(STEP + " ADD(b[0], a[1]);"))


@pytest.mark.parametrize(
    "text",
    [
        MMA + "#undef MMA\n" + MMA + kernel(),
        MMA.replace("asm vol", "a[0] = 0; asm vol") + kernel(),
        MMA.replace('"r"(a3)', '"r"(a[3])') + kernel(),
        MMA.replace('"r"(a3)', '"r"(a3 + 1)') + kernel(),
        f"#ifdef WIDE\n{MMA}#endif\n" + kernel(),
        MMA + kernel(STEP.replace(");", "), n;")),
        MMA + kernel(STEP.replace("MMA(", "{ MMA(") + " acc[j][0] += a[0]; }"),
        MMA + kernel("#define TWICE " + STEP + STEP + "\n    TWICE"),
    ],
    ids=["again", "more", "a name", "an expression", "a condition", "no statement", "read", "in a macro"],
)
def test_what_is_not_certain_stays(text: str) -> None:
    assert "_kept" not in converted(text)


def test_one_warp_on_a_wavefront_keeps_nothing() -> None:
    assert "_kept" not in translate(MMA + kernel(), Options(warp="solo"), path="a.cu").output.decode()


def test_a_function_may_be_around_it() -> None:
    wrapper = f"__device__ inline void mma(float* c, unsigned* a, unsigned* b) {{ {call('c', 'c')} }}\n"
    out = converted(MMA + wrapper + kernel("mma(acc[1], a, b);"))
    assert "mma(acc[1], a, b, acc_kept.at(acc, acc[1]));" in out
    assert "Into<float>" not in translate(MMA + wrapper, Options(), path="a.cuh").output.decode()


def test_a_header_may_have_the_macro(tmp_path: Path) -> None:
    assert IN_TILES in included(kernel(), MMA)
    assert IN_TILES in included(kernel(STEP + " ADD(b[0], a[1]);"), MMA + ADD)
    assert IN_TILES in included(kernel(), f"#ifndef MMA_H\n#define MMA_H\n{MMA}#endif\n")
    for headers in ((MMA, MMA.replace("(a0)", "(a1)")), (f"#ifdef WIDE\n{MMA}#endif\n",), (MMA + "#undef MMA\n",)):
        assert "_kept" not in included(kernel(), *headers)
    assert "_kept" not in included("void MMA(float, ...);\n" + kernel(), MMA)
    (tree := tmp_path / "tree").mkdir()
    (tree / "ptx.h").write_text("#pragma once\n" + MMA)
    (tree / "a.cu").write_text('#include "ptx.h"\n' + kernel())
    for _ in range(2):
        done = CliRunner().invoke(cli, ["convert", str(tree), "-o", str(tmp_path / "out"), "--force"])
        assert done.exit_code == 0, done.output
        assert IN_TILES in (tmp_path / "out" / "a.cu").read_text()


# Tiles that a call begins from C, goes on with, and that the loop after it reads.
STEPPED = f"for (int j = 0; j < 5; ++j) {call('acc[j]', 'acc[j]')}\n        {call('acc[5]', 'e')}\n        " + call(
    "acc[5]", "acc[5]"
)


def program(kept: bool, words: bool = False, modes: int = 2) -> str:
    """`words`: the sums are floats in an array of words, as in LeetCUDA."""
    made = STEPS.replace("STEP", STEPPED)
    if not kept:
        made = made.replace("unsigned a[4], b[2];", "unsigned a[4], b[2];\n    auto* all = acc[0];")
    macro = MMA
    if words:
        made = made.replace("    float acc[", "    unsigned acc[").replace("], e[4];", "], e[4];\n    float f[4];")
        made = re.sub(r"load\(a, b, e, (.*?)\);", r"load(a, b, f, \1); __builtin_memcpy(e, f, 16);", made)
        made = made.replace("= acc[i / 4][i % 4]", "= __builtin_bit_cast(float, acc[i / 4][i % 4])")
        macro = MMA.replace('=f"', '=r"').replace('"f"', '"r"')
    return whole(converted(macro + made), STEPS_MAIN.replace("MODES", str(modes)), kept)


@pytest.mark.slow
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("wave", [32, 64])
def test_the_sums_are_those_without_tiles(wave: int, words: bool, tmp_path: Path) -> None:
    with_tiles, without = with_and_without_tiles(partial(program, words=words), b"", wave, tmp_path)
    assert with_tiles == without
    assert len({with_tiles[i : i + 4] for i in range(0, len(with_tiles), 4)}) > 100


@pytest.mark.slow
def test_sums_stay_where_the_instruction_has_them(tmp_path: Path) -> None:
    """Two exchanges for each of four B, and four for A; in PTX's layout ten for each product."""
    loading = (
        "__device__ void load(unsigned* a, unsigned* b) {\n"
        "    const volatile unsigned* in = reinterpret_cast<const volatile unsigned*>(4096ull);\n"
        "    for (int i = 0; i < 4; ++i) a[i] = in[i];\n    for (int i = 0; i < 2; ++i) b[i] = in[i + 4];\n}\n"
    )
    step = STEP.replace("MMA(", "{ b[0] += j; b[1] += j; MMA(") + " }"
    text = re.sub(r"__device__ void load.*\n", lambda _: loading, MMA + kernel(step), count=1)
    text = converted(text.replace("out[threadIdx.x] = acc[1][1];", "for (int i = 0; i < 16; ++i) out[i] = acc[0][i];"))
    code = machine_code(HEAD + text, tmp_path, "gfx942", "-O3", "--gpu-max-threads-per-block=256")
    loop = TOOL.with_matrix(next(x for name, x in code.items() if "1kPfi" in name))
    assert (loop.count("v_mfma"), loop.count("ds_bpermute")) == (8, 12)
