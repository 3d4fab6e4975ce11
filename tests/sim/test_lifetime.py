"""--check: bugs of asynchronous work and of memory's lifetime (programs/lifetime.hip), and of barriers, shared memory,
atomics, fences, bounds and alignment (programs/races.cu); of graphs, host functions, managed memory, storage of CUB and
more (programs/hazards.cu); of what is handed on too early (programs/handoffs.cu). Each beside a clean twin."""

from __future__ import annotations

from pathlib import Path

import pytest
from simulated import quick

from cu2port.verify import sim_build, sim_check, sim_compiler, simulate

PROGRAMS = Path(__file__).parent / "programs"
LIMITS = simulate.Limits(60)
OPTIMISED = frozenset({"hazards.cu"})  # as users build; the others would take minutes

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "count"), [("lifetime.hip", 43), ("races.cu", 35), ("hazards.cu", 49), ("handoffs.cu", 15)]
)
def test_each_bug_is_found_and_its_twin_is_clean(
    name: str, count: int, tmp_path: Path, toolchain: sim_compiler.Toolchain
) -> None:
    program = sim_build.find_program(PROGRAMS / name)
    if name not in OPTIMISED:
        program = quick(program)
    binaries = sim_build.build(program, tmp_path, (32,), toolchain, check=True)
    listed = simulate.run(binaries[32], (), LIMITS, capture=True).output.decode()
    pairs = [line.split() for line in listed.splitlines()]
    missed, spoken = [], []
    for name, word in pairs:
        runs, bad = sim_check.check(binaries, (name, "bad"), LIMITS)
        said = {v.kind for v in bad} | ({"deadlock"} if b"deadlock: " in runs[32].errors else set())
        if word not in said:
            missed.append((name, word, [v.text for v in bad]))
        runs, good = sim_check.check(binaries, (name, "good"), LIMITS)
        if good or runs[32].code:
            spoken.append((name, runs[32].code, [v.text for v in good]))
    assert missed == []
    assert spoken == []
    assert len(pairs) == count
