"""Lambdas that call lambdas with products: the tiles go through all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from mma_programs import ASM, STEPS, STEPS_MAIN, converted, whole, with_and_without_tiles

# each lane reads its sums by another type between the loops
KERNEL = (
    STEPS.replace("        load(a, b, e, k, mode, mine);\n        STEP\n", "        step(k);\n")
    .replace(
        "    for (int k = 0; k < n; ++k) {",
        "    auto multiply = [&](int j) { " + ASM.replace("C[", "acc[j][") + " };\n"
        "    auto both = [&]() { for (int j = 4; j < 6; ++j) multiply(j); };\n"
        "    auto pair = [&](int k) { multiply(k % 3); b[1] ^= 0x8000u; multiply(3); both(); };\n"
        "    auto step = [&](int k) { load(a, b, e, k, mode, mine); pair(k); };\n"
        "    for (int again = 0; again < 2; ++again) {\n    for (int k = 0; k < n; ++k) {",
    )
    .replace(
        "    for (int i = 0; i < 24; ++i) out",
        "    const float4 v = *reinterpret_cast<float4*>(&acc[3][0]);\n    acc[0][1] = v.z;\n    }\n"
        "    for (int i = 0; i < 24; ++i) out",
    )
)


def program(kept: bool, modes: int = 2) -> str:
    text = KERNEL if kept else KERNEL.replace("], e[4];", "], e[4];\n    float* all = acc[0];")
    return whole(converted(text), STEPS_MAIN.replace("MODES", str(modes)), kept)


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
def test_the_sums_are_those_without_tiles(wave: int, tmp_path: Path) -> None:
    with_tiles, without = with_and_without_tiles(program, b"", wave, tmp_path)
    assert with_tiles == without
    assert len({with_tiles[i : i + 4] for i in range(0, len(with_tiles), 4)}) > 100
