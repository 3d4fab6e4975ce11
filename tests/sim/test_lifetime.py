"""--check: bugs of asynchronous work and of memory's lifetime, races between blocks, bounds, alignment; each beside a
clean twin. The pairs are in programs/lifetime.hip."""

from __future__ import annotations

from pathlib import Path

import pytest

from cu2port.verify import sim_build, sim_check, sim_compiler, simulate

PROGRAM = Path(__file__).parent / "programs" / "lifetime.hip"
LIMITS = simulate.Limits(60)

pytestmark = pytest.mark.slow


def test_each_bug_is_found_and_its_twin_is_clean(tmp_path: Path, toolchain: sim_compiler.Toolchain) -> None:
    binaries = sim_build.build(sim_build.find_program(PROGRAM), tmp_path, (32,), toolchain, check=True)
    listed = simulate.run(binaries[32], (), LIMITS, capture=True).output.decode()
    pairs = [line.split() for line in listed.splitlines()]
    missed, spoken = [], []
    for name, word in pairs:
        bad = sim_check.check(binaries, (name, "bad"), LIMITS)[1]
        if word not in {v.kind for v in bad}:
            missed.append((name, word, [v.text for v in bad]))
        runs, good = sim_check.check(binaries, (name, "good"), LIMITS)
        if good or runs[32].code:
            spoken.append((name, runs[32].code, [v.text for v in good]))
    assert missed == []
    assert spoken == []
    assert len(pairs) >= 40
