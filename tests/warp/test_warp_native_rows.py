"""`--warp native`: kernels with a row for each warp, by their launches and by how they go over a row.

All kernels run in the simulator, converted with `--warp logical` for wavefronts of 32 lanes and with `--warp native`
for both sizes, with blocks of 32, 96, 160 and 256 threads where the launch takes the size. All memory must be the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

Answers = dict[tuple[str, int], dict[str, str]]
Verdicts = Callable[[str], dict[str, str]]
KERNELS = Path(__file__).parent / "native_rows.cu"
SIZES = (32, 96, 160, 256)
MAIN = """
int main() {
    int *in, *out;
    float *f;
    cudaMallocManaged(&in, 8192);
    cudaMallocManaged(&out, 8192);
    cudaMallocManaged(&f, 8192);
    for (int i = 0; i < 2048; i++) in[i] = i * 37 % 101 + 1;
    const int sizes[] = {SIZES};
    const int n = 11, c = 70;
    for (int size : sizes) {
CASES    }
}
"""
CASE = """        for (int i = 0; i < 2048; i++) out[i] = 0, f[i] = i * 37 % 101 * 0.5f;
        launch_NAME(in, out, f, n, c, size);
        printf("NAME %d %d:", size, int(cudaDeviceSynchronize()));
        for (int i = 0; i < 2048; i++) printf(" %d", out[i] + int(f[i] * 2));
        printf("\\n");
"""


def _kernels() -> tuple[str, dict[str, tuple[str, str]]]:
    """The head of the file, and of each kernel what becomes of it ("native" or "stays") and its text."""
    head, *found = re.split(r"^//// (\S+) (native|stays)\n", KERNELS.read_text("utf-8"), flags=re.MULTILINE)
    return head, {n: (v, t) for n, v, t in zip(found[::3], found[1::3], found[2::3], strict=True)}


HEAD, FOUND = _kernels()
NATIVE = {n for n, (what, _) in FOUND.items() if what == "native"}


def _program() -> str:
    cases = "".join(CASE.replace("NAME", n) for n in FOUND)
    main = MAIN.replace("SIZES", ", ".join(map(str, SIZES))).replace("CASES", cases)
    return HEAD + "".join(text for _, text in FOUND.values()) + main


@pytest.fixture(scope="module")
def answers(native_answers: Callable[[str], Answers]) -> Answers:
    return native_answers(_program())


@pytest.mark.parametrize("name", FOUND)
def test_answers_are_cudas(name: str, answers: Answers) -> None:
    for size in SIZES:
        right = answers["logical", 32][f"{name} {size} 0"]
        assert answers["native", 32][f"{name} {size} 0"] == right
        assert answers["native", 64][f"{name} {size} 0"] == right


def test_what_becomes_native(native_verdicts: Verdicts) -> None:
    found = native_verdicts(_program())
    assert {n for n in FOUND if found.get(n) == "CU356"} == NATIVE
    assert {n for n in FOUND if found.get(n) in ("CU357", "part")} == FOUND.keys() - NATIVE
