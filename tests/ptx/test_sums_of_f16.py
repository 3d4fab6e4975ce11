"""Products whose sums are f16, two in a register: in a tile they are floats, which each product rounds to f16."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from mma_programs import converted, whole, with_and_without_tiles

ASM = (
    'asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"'
    ' : "=r"(C[0]), "=r"(C[1])'
    ' : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(C[0]), "r"(C[1]));'
)
SECOND = ASM.replace("C[1]", "C[3]").replace("C[0]", "C[2]").replace("b[1]", "b[3]").replace("b[0]", "b[2]")
ZERO, ZERO_SECOND = (text.partition(', "r"(C')[0] + ', "r"(0), "r"(0));' for text in (ASM, SECOND))
MMA = "__device__ inline void mma(unsigned* C, const unsigned* a, const unsigned* b) {\n    BODY\n}\n"
# as SageAttention has it: 16 columns, from zero or in place
WIDE = (
    "template <bool Begin> __device__ inline void wide(unsigned* C, const unsigned* a, const unsigned* b) {\n"
    f"    if constexpr (Begin) {{\n        {ZERO}\n        {ZERO_SECOND}\n"
    f"    }} else {{\n        {ASM}\n        {SECOND}\n    }}\n}}\n"
)
DECLARED = "unsigned acc[4][2], sums[2][4];"


def kernel(step: str, declared: str = DECLARED) -> str:
    return f"""__device__ void load(unsigned* a, unsigned* b, int k, int mode);
__global__ void k(unsigned* out, int n, int mode, int here) {{
    {declared}
    if (!(here >> (threadIdx.x / 32) & 1)) return;
    unsigned a[4], b[4];
    for (int i = 0; i < 8; ++i) acc[i / 2][i % 2] = 0x3c004000u, sums[i / 4][i % 4] = 0x40003c00u;
    for (int k = 0; k < n; ++k) {{
        load(a, b, k, mode);
        {step}
    }}
    for (int i = 0; i < 8; ++i) out[threadIdx.x * 16 + i] = acc[i / 2][i % 2];
    for (int i = 0; i < 8; ++i) out[threadIdx.x * 16 + 8 + i] = sums[i / 4][i % 4];
}}
"""


STEP = """for (int j = 0; j < 4; ++j) mma(acc[j], a, b);
        wide<false>(sums[0], a, b);
        wide<true>(sums[1], a, b);
        wide<false>(sums[1], a, b);"""


def test_a_tile_is_two_registers() -> None:
    out = converted(MMA.replace("BODY", ASM) + WIDE + kernel(STEP))
    assert "keep<cu2port::mma::Exact, cu2port::mma::f16, cu2port::mma::f16, cu2port::mma::Pairs>(acc);" in out
    assert "const unsigned* b, cu2port::mma::Into<cu2port::mma::Pairs> tile = {})" in out
    assert "mma(acc[j], a, b, acc_kept.at(acc, acc[j]));" in out
    assert "wide<true>(sums[1], a, b, sums_kept.at(sums, sums[1]));" in out
    assert "std::uint32_t(C[1])}, tile);" in out
    assert "std::uint32_t(C[3])}, tile + 1);" in out
    assert "(tile + 1).from_zero());" in out
    assert converted(out) == out
    direct = converted(kernel(ASM.replace("C[", "acc[1][")))
    assert "acc_kept.at(acc, &acc[1][0]));" in direct


@pytest.mark.parametrize(
    ("declared", "step"),
    [
        ("unsigned acc[4][3], sums[2][4];", "mma(acc[1], a, b);"),
        ("half acc[8][2], sums[2][4];", "mma(reinterpret_cast<unsigned*>(acc[2]), a, b);"),
        (DECLARED, "mma(acc[1] + 1, a, b);"),
        (DECLARED, "mma(acc[1], a, b); acc[1][1] ^= 1;"),
        (DECLARED, ASM.replace("C[0]", "acc[0][1]").replace("C[1]", "acc[1][0]")),
        (DECLARED, ASM.replace("C[0]", "sums[0][1]").replace("C[1]", "sums[0][2]")),
        (DECLARED, "mma(acc[threadIdx.x & 1], a, b);"),
    ],
)
def test_what_is_no_tile_is_not_kept(declared: str, step: str) -> None:
    assert "_kept" not in converted(MMA.replace("BODY", ASM) + kernel(step, declared))


LOAD = """__device__ void load(unsigned* a, unsigned* b, int k, int mode) {
    const unsigned lane = threadIdx.x;
    for (int i = 0; i < 4; ++i) a[i] = (lane * 2654435761u >> (3 * i + k)) & 0x40004000u;
    for (int i = 0; i < 4; ++i) b[i] = (lane * 2246822519u >> (5 * i + k)) & 0x3c003c00u;
    // sums pass 65504 in the first step and come back in the second: Inf stays
    if (mode == 1 && lane >= 32)
        for (int i = 0; i < 4; ++i) a[i] = k & 1 ? 0xee00ee00u : 0x6e006e00u, b[i] |= 0x3c003c00u;
    if (mode == 2 && lane < 32) a[k & 3] = lane % 3 ? 0x7c00fc00u : 0x7e003c00u;
}
"""
MAIN = """
int main(int, char** names) {
    unsigned* out;
    (void)hipMallocManaged((void**)&out, 4096);
    std::FILE* to = std::fopen(names[2], "wb");
    for (int mode = 0; mode < 3; ++mode)
        for (int here = 1; here < 4; ++here) {
            for (int i = 0; i < 1024; ++i) out[i] = 7;
            k<<<1, 64>>>(out, 2, mode, here);
            if (hipDeviceSynchronize() != hipSuccess) return 3;
            std::fwrite(out, 4, 1024, to);
        }
    std::fclose(to);
}
"""


def program(kept: bool, modes: int = 3) -> str:
    made = kernel(STEP)
    if not kept:
        made = made.replace(DECLARED, DECLARED + " unsigned *all = acc[0], *more = sums[0];")
    body = made.partition("\n")[2]
    return whole(
        converted(MMA.replace("BODY", ASM) + WIDE + LOAD + body), MAIN.replace("mode < 3", f"mode < {modes}"), kept
    )


def halves(words: tuple[int, ...]) -> list[float | str]:
    out: list[float | str] = []
    for w in words:
        for bits in (w & 0xFFFF, w >> 16):
            (x,) = struct.unpack("<e", struct.pack("<H", bits))
            out.append("NaN" if x != x else x)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_the_sums_are_those_without_tiles(wave: int, tmp_path: Path) -> None:
    """With both warps and with one; where sums of one overflow and come back, and with Inf and NaN in one."""
    answers = []
    for printed in with_and_without_tiles(program, b"", wave, tmp_path):
        found = struct.unpack("<9216I", printed)
        answers.append([found[i : i + 1024] for i in range(0, len(found), 1024)])
    for case, (tiles, alone) in enumerate(zip(*answers, strict=True)):
        mode, here = divmod(case, 3)
        one, other = halves(tiles), halves(alone)
        assert one == other, (mode, here + 1)
        if mode == 1 and here + 1 == 3:
            assert {float("inf")} == set(one[1024:][0:2])
            assert not any(x in (float("inf"), "NaN") for x in one[:1024])
        if mode == 2 and here + 1 == 3:
            assert "NaN" in one[:1024]
            assert not any(x in (float("inf"), float("-inf"), "NaN") for x in one[1024:])
