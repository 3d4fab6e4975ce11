"""`--warp native`: kernels made to mislead the proof keep their warps.

Each was native at some time, or nearly, and gave another answer on wavefronts of 64 lanes than CUDA's warps do. Some
work in part with wavefronts now, and give CUDA's answer in the simulator.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cu2port.engine import translate
from cu2port.model import Options

Answers = dict[tuple[str, int], dict[str, str]]
HEAD = """#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <climits>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
"""
SUM = """__device__ int warp_sum(int v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
    return v;
}
"""


def _attacks(part: bool) -> dict[str, str]:
    """The programs by name: those that keep their warps, or those that work in part with wavefronts."""
    text = (Path(__file__).parent / "native_attacks.cu").read_text("utf-8")
    found = re.split(r"^//// (\S+)(.*)\n", text, flags=re.MULTILINE)
    return {
        name: ("" if "nosum" in words else SUM) + body
        for name, words, body in zip(found[1::3], found[2::3], found[3::3], strict=True)
        if ("part" in words) == part
    }


ATTACKS, PARTS = _attacks(False), _attacks(True)
MAIN = """
int main() {
    int *in, *out;
    cudaMallocManaged(&in, 16384);
    cudaMallocManaged(&out, 16384);
    for (int i = 0; i < 4096; i++) in[i] = i * 37 % 101 + 1;
RUNS
}
"""
RUN = """    for (int i = 0; i < 64; i++) out[i] = 0;
    NAME::run(in, out);
    printf("NAME %d:", int(cudaDeviceSynchronize()));
    for (int i = 0; i < 64; i++) printf(" %d", out[i]);
    printf("\\n");
"""


@pytest.mark.parametrize("name", ATTACKS)
def test_warps_stay(name: str) -> None:
    made = translate(HEAD + ATTACKS[name], Options(warp="native"), path="p.cu")
    assert [j.finding.message for j in made.findings if j.finding.code == "CU356"] == []
    assert any(j.finding.code == "CU357" for j in made.findings)


@pytest.mark.parametrize("name", PARTS)
def test_some_work_in_part(name: str, native_verdicts: Callable[[str], dict[str, str]]) -> None:
    assert native_verdicts(HEAD + PARTS[name])["k"] == "part"


@pytest.fixture(scope="module")
def answers(native_answers: Callable[[str], Answers]) -> Answers:
    parts = "".join(f"namespace {n} {{\n{body}}}\n" for n, body in PARTS.items())
    runs = "".join(RUN.replace("NAME", n) for n in PARTS)
    return native_answers("#include <cstdio>\n" + HEAD + parts + MAIN.replace("RUNS", runs))


@pytest.mark.parametrize("name", PARTS)
def test_answers_are_cudas(name: str, answers: Answers) -> None:
    right = answers["logical", 32][f"{name} 0"]
    assert answers["native", 32][f"{name} 0"] == answers["native", 64][f"{name} 0"] == right
