"""Products whose C is a parameter or a variable of its own: `mma(d, a, b, c)`."""

from __future__ import annotations

import itertools
import re
import struct
from pathlib import Path

import pytest
from amd_code import machine_code
from loading import load
from mma_programs import ASM, STEPS, STEPS_MAIN, converted, whole, with_and_without_tiles

TOOL = load(Path(__file__).resolve().parents[2] / "tools" / "mma_cost.py")

IN_PLACE = ASM.replace("C[", "d[").replace('"+f"', '"=f"')
APART = IN_PLACE.replace("{%0,%1,%2,%3};", "{%10,%11,%12,%13};").replace(
    '"r"(b[1]));', '"r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));'
)
WRAPPER = "__device__ inline void mma(float* d, const unsigned* a, const unsigned* b, const float* c) {\n    BODY\n}\n"
MMA = WRAPPER.replace("BODY", APART)
# as lmdeploy has it
CAST = (
    "template <class T> struct Four { T x[4]; };\n"
    "__device__ inline void mma(Four<float>& sums, const unsigned* a, const unsigned* b, const Four<float>& added) {\n"
    "    const float* c = reinterpret_cast<const float*>(&added);\n"
    "    float* d = reinterpret_cast<float*>(&sums);\n    " + APART + "\n}\n"
)
OFFSET = re.sub(r"\b([cd])\[(\d)\]", r"(\1 + 4)[\2]", APART)
TWO = MMA.replace(" mma(", " two(").replace(APART, APART + "\n    " + OFFSET)


def kernel(step: str, declared: str = "float acc[2][4], e[4];", before: str = "") -> str:
    return f"""__device__ void load(unsigned* a, unsigned* b, float* c, int k);
__global__ void k(float* out, int n) {{
    {declared}
    unsigned a[4], b[2];
    {before}
    load(a, b, e, 0);
    for (int i = 0; i < 8; ++i) acc[i / 4][i % 4] = 1;
    for (int k = 0; k < n; ++k) {{
        load(a, b, e, k);
        {step}
    }}
    for (int i = 0; i < 8; ++i) out[threadIdx.x + 64 * i] = acc[i / 4][i % 4];
}}
"""


def test_c_that_is_d_is_the_tile_itself() -> None:
    out = converted(MMA + kernel("for (int j = 0; j < 2; ++j) mma(acc[j], a, b, acc[j]);"))
    assert "const float* c, cu2port::mma::Into<float> tile = {})" in out
    assert "{c[0], c[1], c[2], c[3]}, tile.from_c());" in out
    assert "mma(acc[j], a, b, acc[j], acc_kept.at(acc, acc[j]).in_place());" in out
    assert converted(out) == out


def test_c_of_its_own_begins_the_tile() -> None:
    out = converted(MMA + kernel("mma(acc[0], a, b, e); mma(acc[0], a, b, acc[0]);"))
    assert "mma(acc[0], a, b, e, acc_kept.at(acc, acc[0])); mma(acc[0], a, b, acc[0], acc_kept.at(" in out
    assert "e_kept" not in out
    direct = APART.replace("c[", "e[").replace("d[", "acc[0][")
    out = converted(kernel(direct + " " + ASM.replace("C[", "acc[0][")))
    assert "acc_kept.at(acc, &acc[0][0]).from_c());" in out
    for value in ("x", "e[threadIdx.x & 3]", "twice(x)"):
        one = re.sub(r"\be\[\d\]", value, direct)
        out = converted(kernel(one + " " + ASM.replace("C[", "acc[0]["), before="float x = 1;"))
        assert "acc_kept.at(acc, &acc[0][0]).from_c());" in out


@pytest.mark.parametrize(
    ("body", "declared", "call", "given"),
    [
        (CAST, "Four<float> acc[2], e;", "mma(acc[1], a, b, acc[1]);", ".of(acc, acc[1]).in_place());"),
        (MMA.replace(APART, OFFSET), "", "mma(acc[0], a, b, acc[0]);", ".at(acc, acc[0]).in_place());"),
        (MMA.replace(APART, APART + " " + OFFSET), "", "mma(acc[0], a, b, acc[0]);", ".in_place());"),
        (MMA.replace(APART, APART + " " + IN_PLACE), "", "mma(acc[0], a, b, acc[0]);", ".in_place());"),
    ],
)
def test_places_of_c_that_are_those_of_d(body: str, declared: str, call: str, given: str) -> None:
    text = kernel(call, *([declared] if declared else []))
    if declared:
        text = text.replace("acc[i / 4][i % 4]", "acc[i / 4].x[i % 4]").replace("(a, b, e,", "(a, b, e.x,")
    assert given in converted(body + text)


@pytest.mark.parametrize(
    ("body", "call"),
    [
        (MMA, "mma(acc[0], a, b, e);"),  # no more exchanges than without
        (MMA, "mma(acc[0], a, b, acc[1]);"),  # another tile
        (MMA, "mma(acc[0], a, b, &acc[0][0]);"),
        (MMA, "mma(acc[0], a, b, acc[i++]);"),
        (MMA, "mma(e, a, b, acc[0]);"),  # C is read
        (MMA.replace("c[3]));", "c[3])); a[0] += c[0];"), "mma(acc[0], a, b, acc[0]);"),  # what C has is used
        (MMA.replace(APART, re.sub(r"\bc\[", "(c + 4)[", APART)), "mma(acc[0], a, b, acc[0]);"),  # other elements
        (MMA.replace('"f"(c[2])', '"f"(c[1])'), "mma(acc[0], a, b, acc[0]);"),
        (MMA.replace(APART, APART + re.sub(r"\bc\[", "x[", APART)), "mma(acc[0], a, b, acc[0]);"),
    ],
)
def test_what_reads_the_array_or_gains_nothing_is_not_kept(body: str, call: str) -> None:
    assert "acc_kept" not in converted(body + kernel(call, before="float x[4]; int i = 0;"))


STEP = """mma(acc[0], a, b, acc[0]);
        two(acc[4], a, b, acc[4]);
        for (int j = 1; j < 3; ++j) { mma(acc[j], a, b, e); mma(acc[j], a, b, acc[j]); }
        for (int j = 0; j < 2; ++j) step(acc[2 * j + 1], a, b);"""
HANDED = """__device__ inline void step(float* sums, const unsigned* a, const unsigned* b) {
    mma(sums, a, b, sums);
}
"""


def program(kept: bool, modes: int = 3) -> str:
    kernel = STEPS.replace("STEP", STEP)
    if not kept:
        kernel = kernel.replace("], e[4];", "], e[4];\n    float* all = acc[0];")
    return whole(converted(MMA + TWO + HANDED + kernel), STEPS_MAIN.replace("MODES", str(modes)), kept)


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_the_sums_are_those_without_tiles(wave: int, tmp_path: Path) -> None:
    """With both warps and with one, with Inf and NaN in one of two."""
    answers = with_and_without_tiles(program, b"", wave, tmp_path)
    zeros = 2 * 6 * 6144
    assert answers[0][:zeros] == answers[1][:zeros]
    assert len({answers[0][i : i + 4] for i in range(0, zeros, 4)}) > 200
    # where a warp adds -0 to -0, which any +0 of the other one would end
    found = iter(struct.unpack(f"<{6 * 1536}I", answers[0][zeros:]))
    for odd, here in itertools.product((0, 1), (1, 2, 3)):
        wanted = [0x40E00000 if not here >> warp & 1 else 0x80000000 if warp == odd else 0 for warp in (0, 1)]
        assert [next(found) for _ in range(1536)] == [wanted[0]] * 768 + [wanted[1]] * 768


COUNTED = """
__global__ void k(float* out, volatile const unsigned* in, int n) {
    float acc[4][4], e[4];
    unsigned a[4], b[8][2];
    for (int i = 0; i < 16; ++i) acc[i / 4][i % 4] = 0;
    for (int k = 0; k < n; ++k) {
        for (int i = 0; i < 4; ++i) a[i] = in[i], e[i] = BEGIN;
        for (int i = 0; i < 16; ++i) b[i / 2][i % 2] = in[i];
        for (int j = 0; j < 4; ++j) {
            mma(acc[j], a, b[j], e);
            mma(acc[j], a, b[j + 4], acc[j]);
        }
    }
    for (int i = 0; i < 16; ++i) out[i] = acc[i / 4][i % 4];
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("begin", "exchanges"), [("in[i]", 4), ("0", 0)])
def test_c_is_exchanged_once(begin: str, exchanges: int, tmp_path: Path) -> None:
    """And A and B as ever."""
    text = converted(MMA + COUNTED.replace("BEGIN", begin))
    code = machine_code(text, tmp_path, "gfx942", "-O3", "--gpu-max-threads-per-block=256")["_Z1kPfPVKji"]
    loop = TOOL.with_matrix(code)
    assert loop.count("v_mfma") == 2 * 8
    assert loop.count("ds_bpermute") == 4 + 2 * 8 + exchanges
    assert "scratch_" not in code
