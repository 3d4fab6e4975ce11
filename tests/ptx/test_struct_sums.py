"""Accumulators in a member of a struct, as bitsandbytes, llmq and ggml have them: `struct Sums { float x[4]; }`."""

from __future__ import annotations

from pathlib import Path

import pytest
from mma_programs import ASM, DATA, converted, run_simulated, whole

STRUCT = "struct Sums { float x[4]; };\n"
WRAPPER = "__device__ inline void MMA(Sums& c, const unsigned* a, const unsigned* b) {\n    BODY\n}\n".replace(
    "BODY", ASM.replace("C[", "c.x[")
)
POINTER = WRAPPER.replace("Sums& c", "Sums* c").replace("c.x", "c->x")
OF_FLOATS = WRAPPER.replace("Sums& c", "float* c").replace("c.x", "c")
STEP = "for (int j = 0; j < 2; ++j) { MMA(acc[i][j], a, b); }"
KERNEL = """__device__ void load(unsigned* a, unsigned* b, unsigned long long from, int k) {
    for (int i = 0; i < 4; ++i) a[i] = unsigned((from + k) >> (8 * i)) & 0x40004000u;
    for (int i = 0; i < 2; ++i) b[i] = unsigned(from >> (12 * i + k)) & 0x3c003c00u;
}
__global__ void k(const unsigned long long* in, unsigned long long* out, int n) {
    Sums acc[2][2];
    unsigned a[4], b[2];
    for (int i = 0; i < 16; ++i) acc[i / 8][i / 4 % 2].x[i % 4] = threadIdx.x + i;
    for (int k = 0; k < n; ++k) {
        load(a, b, in[threadIdx.x], k);
        for (int i = 0; i < 2; ++i) {
            STEP
        }
    }
    for (int i = 0; i < 8; ++i) {
        unsigned bits[2];
        __builtin_memcpy(bits, &acc[i / 4][i / 2 % 2].x[i % 2 * 2], 8);
        out[threadIdx.x + 64 * i] = bits[0] | static_cast<unsigned long long>(bits[1]) << 32;
    }
}
"""
ELEMENT = "cu2port::mma::Element<decltype(acc)>"
WHERE = (
    f"cu2port::mma::Where<cu2port::mma::IsAll<float, {ELEMENT}, decltype({ELEMENT}::x)>::value, cu2port::mma::Exact>"
)
DIRECT = "{ " + ASM.replace("C[", "acc[i][1].x[") + " }"


@pytest.mark.parametrize(
    ("wrapper", "step", "given"),
    [
        (WRAPPER, STEP, "MMA(acc[i][j], a, b, acc_kept.at(acc, &acc[i][j]));"),
        (POINTER, STEP.replace("acc[i][j]", "&acc[i][j]"), "acc_kept.at(acc, &acc[i][j]));"),
        (OF_FLOATS, STEP.replace("acc[i][j]", "acc[i][j].x"), "acc_kept.at(acc, acc[i][j].x));"),
        ("", DIRECT, "acc_kept.at(acc, &acc[i][1].x[0]));"),
    ],
)
def test_they_stay_in_tiles_where_the_struct_has_nothing_else(wrapper: str, step: str, given: str) -> None:
    out = converted(STRUCT + wrapper + KERNEL.replace("STEP", step))
    assert f"in_tiles<{WHERE}, cu2port::mma::f16, cu2port::mma::f16, float>(acc, [&]" in out
    assert given in out
    assert converted(out) == out


@pytest.mark.parametrize(
    ("wrapper", "step"),
    [
        (WRAPPER.replace('"+f"(c.x[3])', '"+f"(c.y[3])'), STEP),  # of two members
        (WRAPPER.replace("c.x[", "c.m.x["), STEP),
        (WRAPPER, STEP.replace("acc[i][j]", "acc[i][j].m")),
        (WRAPPER.replace("c.x[", "c[0].x["), STEP),  # an operator of its own
        (OF_FLOATS, STEP.replace("acc[i][j]", "acc[i][j].x + i")),
        (OF_FLOATS, STEP.replace("acc[i][j]", "&acc[i][j].x[i]")),
        (OF_FLOATS, STEP.replace("acc[i][j]", "(acc[i] + j)->x")),
        ("", DIRECT + " acc[i][0].x[1] = 0;"),
    ],
)
def test_what_is_not_understood_keeps_none(wrapper: str, step: str) -> None:
    assert "acc_kept" not in converted(STRUCT + wrapper + KERNEL.replace("STEP", step))


MAIN = """
int main(int, char** names) {
    unsigned long long *in, *out;
    (void)hipMallocManaged((void**)&in, 512), (void)hipMallocManaged((void**)&out, 4096);
    std::FILE *from = std::fopen(names[1], "rb"), *to = std::fopen(names[2], "wb");
    if (std::fread(in, 8, 64, from) != 64) return 2;
    k<<<1, 64>>>(in, out, 3);
    if (hipDeviceSynchronize() != hipSuccess) return 3;
    std::fwrite(out, 8, 512, to), std::fclose(to);
}
"""


def program(kept: bool, struct: str, wrapper: str, step: str) -> str:
    """With tiles or without."""
    if not kept:
        step = step[:-1] + " if (k < 0) acc[i][1].x[1] += 1;" + step[-1]
    return whole(converted(struct + wrapper + KERNEL.replace("STEP", step)), MAIN, kept)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("struct", "wrapper", "step", "wave"),
    [
        (STRUCT, WRAPPER, STEP, 32),
        (STRUCT, WRAPPER, STEP, 64),
        (STRUCT, OF_FLOATS, STEP.replace("acc[i][j]", "acc[i][j].x"), 64),
        (STRUCT, "", DIRECT, 64),
        ("struct Sums { int first; float x[4]; };\n", WRAPPER, STEP, 64),  # compiles, and keeps none
        ("struct Sums { int first[4]; float x[4]; };\n", WRAPPER, STEP, 64),
    ],
)
def test_the_sums_are_those_without_tiles(struct: str, wrapper: str, step: str, wave: int, tmp_path: Path) -> None:
    answers = []
    for kept in (True, False):
        folder = tmp_path / str(kept)
        folder.mkdir()
        answers.append(run_simulated(program(kept, struct, wrapper, step), DATA, wave, folder))
    assert len(set(answers)) == 1
    assert len({answers[0][i : i + 8] for i in range(0, 4096, 8)}) > 200
