"""`--warp native`: kernels made to mislead the proof keep their warps.

Each was native at some time, or nearly, and gave another answer on wavefronts of 64 lanes than CUDA's warps do.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cu2port.core.model import Options
from cu2port.engine.translate import translate

HEAD = """#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <algorithm>
#include <climits>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
"""
SUM = """__device__ int warp_sum(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
    return v;
}
"""


def _attacks() -> dict[str, str]:
    """The programs by name."""
    out = {}
    for file, before in (("native_attacks.cu", SUM), ("native_mask_attacks.cu", "")):
        text = (Path(__file__).parent / file).read_text("utf-8")
        found = re.split(r"^//// (\S+)(.*)\n", text, flags=re.MULTILINE)
        for name, words, body in zip(found[1::3], found[2::3], found[3::3], strict=True):
            assert name not in out
            out[name] = ("" if "nosum" in words else before) + body
    return out


ATTACKS = _attacks()


@pytest.mark.parametrize("name", ATTACKS)
def test_warps_stay(name: str) -> None:
    made = translate(HEAD + ATTACKS[name], Options(warp="native"), path="p.cu")
    assert [j.finding.message for j in made.findings if j.finding.code == "CU356"] == []
    assert any(j.finding.code == "CU357" for j in made.findings)
