"""tools/trial_mutants.py: it finds a planted change, and a run that was stopped goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trial_mutants
from click.testing import CliRunner

from cu2port.verify.sim_compiler import Toolchain
from cu2port.verify.trial.kernels import Kernel
from cu2port.verify.trial.run import Recorded, Trial
from cu2port.verify.trial.verdict import Verdict

KERNELS = """__global__ void shifted(int* a, int n) { if (threadIdx.x < n) a[threadIdx.x] = (a[threadIdx.x] << 3) + 1; }
__global__ void plain(int* a) { a[threadIdx.x] += 3; }
__global__ void same(int* a, int n) { if (n > 3) a[threadIdx.x] = (n & 1) << 2; }
void go(int* a) { shifted<<<1, 64>>>(a, 9); plain<<<1, 64>>>(a); same<<<1, 64>>>(a, 3); }
"""


@pytest.mark.slow
def test_a_stopped_run_goes_on_and_kernels_follow_as_they_are(
    tmp_path: Path, toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, seen, read = tmp_path / "p", tmp_path / "seen.json", tmp_path / "read.txt"
    folder.mkdir()
    (folder / "k.cu").write_text(KERNELS)
    read.write_text("p/k.cu 4 mask it is in a test\np/k.cu 4 shift it is in a test\n")
    words = [str(folder), "--time", "1", "--count", "1", "--read", str(read), "--json", str(seen)]
    first = CliRunner().invoke(trial_mutants.main, words)
    assert first.exit_code == 0 and "1 kernels as they are: 0 differ" in first.output, first.output
    assert "k.cu:2: shift 4: found" in first.output and "1 mutants: 1 found" in first.output
    assert [r["kernel"] for r in json.loads(seen.read_text())["rows"]] == ["shifted"]
    tried: list[str] = []
    record = Trial.record

    def recorded(trial: Trial, kernel: Kernel, below: Path) -> Recorded | Verdict:
        tried.append(kernel.name)
        return record(trial, kernel, below)

    monkeypatch.setattr(Trial, "record", recorded)
    more = CliRunner().invoke(trial_mutants.main, [*words, "--unmutated", "2"])
    assert tried == ["plain"] and "2 kernels as they are: 0 differ" in more.output, more.output
    assert "1 mutants: 1 found" in more.output
    tried.clear()
    again = CliRunner().invoke(trial_mutants.main, [*words, "--count", "9"])
    assert tried == ["same"] and "0 others have equal code, 2 were read" in again.output, again.output
    other = CliRunner().invoke(trial_mutants.main, [*words, "--seed", "2"])
    assert other.exit_code == 2 and "is of seed 1" in other.output
