"""Findings of the analysis: what they say for each mode, and what happens to tails."""

from __future__ import annotations

from pathlib import Path

import pytest
from loading import load

from cu2port.core.model import Finding, Options, Severity
from cu2port.engine.translate import translate

TOOLS = Path(__file__).resolve().parents[2] / "tools"
LOCK = """__global__ void k(int* lock, int* n) {
  int lane = threadIdx.x % 32;
  if (lane == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *n += 1;
    atomicExch(lock, 0);
  }
}
"""


def _found(text: str, code: str, options: Options | None = None) -> list[Finding]:
    return [j.finding for j in translate(text, options, path="a.cuh").findings if j.finding.code == code]


def test_a_hazard_tells_why_line_by_line() -> None:
    (finding,) = _found(LOCK, "CU360")
    assert finding.effects == (("wave64", "hang"),)
    assert [w.split(":")[0] for w in finding.why[:4]] == ["line 2", "line 2", "line 2", "line 3"]
    assert "threadIdx.x" in finding.why[0]
    assert "one lane of each warp" in finding.why[3]


def test_a_warp_alone_on_its_wavefront_does_not_hang() -> None:
    for options in (Options(warp="solo"), Options(kernels=(("k", "solo"),))):
        (finding,) = _found(LOCK, "CU360", options)
        assert finding.severity is Severity.INFO
        assert finding.effects == (("wave64", "none"),)
    (finding,) = _found(LOCK, "CU360", Options(kernels=(("other", "solo"),)))
    assert finding.severity is Severity.WARNING


def test_hazards_are_found_in_converted_code_too() -> None:
    text = LOCK.replace("*n += 1;", "*n += __ballot_sync(0xffffffff, 1);")
    assert _found(translate(text, path="a.cuh").output.decode(), "CU360")


_TRY = """__device__ bool try_take(int* m, int lane) {
  int old = 0;
  if (lane == 0) old = atomicCAS(m, 0, 1);
  return __shfl_sync(~0u, old, 0) == 0;
}
"""
_HANDED = {
    "a shuffle": "int o; do { if (lane == 0) o = atomicCAS(m, 0, 1); o = __shfl_sync(~0u, o, 0); } while (o);",
    "a break": "for (;;) { int o = 0; if (lane == 0) o = atomicCAS(m, 0, 1); if (!__shfl_sync(~0u, o, 0)) break; }",
    "a vote": "bool o; do { o = lane == 0 && atomicCAS(m, 0, 1) == 0; } while (!__any_sync(~0u, o));",
    "a bit": "bool l = true; while (l) { if (lane == 1) l = atomicOr(m, 8) & 8; l = __shfl_sync(~0u, l, 1); }",
    "a function": "while (!try_take(m, lane)) {}",
    "an element's": "while (!try_take(&m[*n], lane)) {}",
}
_WORK = "if (lane == 0) { *n += 1; atomicExch(m, 0); }"


def _warps(loop: str) -> str:
    return f"{_TRY}__global__ void k(int* m, int* n) {{ int lane = threadIdx.x % 32; {loop} }}"


@pytest.mark.parametrize("how", _HANDED)
def test_a_lock_that_one_lane_takes_for_its_warp_hangs_on_wave64_alone(how: str) -> None:
    (finding,) = _found(_warps(_HANDED[how] + _WORK), "CU360")
    assert finding.effects == (("wave64", "hang"),)
    assert "each warp waits for the lock `m`" in finding.message
    assert not _found(_warps(_HANDED[how] + _WORK), "CU361")


@pytest.mark.parametrize(
    "loop",
    [
        "bool done = false; while (!done) { if (try_take(m, lane)) { " + _WORK + " done = true; } }",
        "for (int i = 0; !try_take(&m[i], lane); i++) {}",  # another place each time
        "int i = 0; bool more = true; while (more) { more = false; if (atomicOr(&m[n[i++]], 1) == 0) more = true; }",
        "if (threadIdx.x == 0) { while (!try_take(m, lane)) {} }",
    ],
)
def test_what_is_no_lock_between_warps(loop: str) -> None:
    assert not _found(_warps(loop), "CU360") + _found(_warps(loop), "CU361")


@pytest.mark.parametrize("warp", ["logical", "solo"])
def test_lane_counts_are_right_as_they_stand_by_default(warp: str) -> None:
    findings = translate("__global__ void k(int* x) { x[threadIdx.x / 32] = 1; }", Options(warp=warp), path="a.cuh")
    assert not [j for j in findings.findings if j.finding.code in ("CU350", "CU351", "CU353", "CU354")]


def test_truth_counts_changed_lines_that_speak_of_warps() -> None:
    truth = load(TOOLS / "warp_truth.py")
    cuda = "int a = cudaMalloc(p);\nint lane = threadIdx.x % 32;\nint b = n / 3;\nv += __shfl_down_sync(m, v, 1);\n"
    hip = "int a = hipMalloc(p);\nint lane = threadIdx.x % warpSize;\nint b = n / 4;\nv += __shfl_down(v, 1);\n"
    assert truth.changed(cuda, hip) == [2, 4]
    assert truth.changed(cuda, cuda.replace("cudaMalloc", "hipMalloc")) == []
    listing = "## TIER 1\nD x loc=3\n## WAVE64 TRUTH: all\n* D one   loc=1 files=2\n      -int a;\n  D two   loc=2\n"
    assert truth.programs(listing) == ["one", "two"]


def test_truth_sees_what_is_not_flagged(tmp_path: Path) -> None:
    truth = load(TOOLS / "warp_truth.py")
    path = tmp_path / "a.cu"
    path.write_text(
        "__global__ void k(int* x) {\n  int lane = threadIdx.x % 32;\n  int b = x[0] % 32;\n  x[lane] = b;\n}\n"
    )
    touched = truth.touched(path, Options(warp="flag"))
    assert 2 in touched
    assert 3 not in touched


def test_wilson_interval() -> None:
    score = load(TOOLS / "warp_score.py")
    low, high = score.wilson(95, 100)
    assert (round(low, 3), round(high, 3)) == (0.888, 0.978)  # Wilson (1927), as in any table
    assert score.wilson(0, 0) == (0.0, 1.0)
