"""tools/trial_executor.py: the kernels that agree are kept, and runs add up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import trial_executor
from click.testing import CliRunner
from trial_executor import Result

from cu2port.verify.trial.kernels import Kernel

KERNELS = """__global__ void good(int* a) { a[threadIdx.x] += 3; }
__global__ void wrong(int* a) { a[threadIdx.x] += 4; }
__global__ void half(int* a) { a[threadIdx.x] += 5; }
__global__ void more(int* a) { a[threadIdx.x] += 6; }
void go(int* a) { good<<<1, 64>>>(a); wrong<<<1, 64>>>(a); half<<<1, 64>>>(a); more<<<1, 64>>>(a); }
"""


@pytest.mark.slow
def test_kernels_that_agree_are_kept_and_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "")  # the tool sets both, for its children too
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    emulator = tmp_path / "emulator"
    for part in ("amdemu/build.sh", "amdemu/run.py", "venv/bin/python"):
        (emulator / part).parent.mkdir(parents=True, exist_ok=True)
        (emulator / part).touch()
    for name in ("p", "q"):  # files of one name
        (tmp_path / name).mkdir()
        (tmp_path / name / "k.cu").write_text(KERNELS)
    tried: list[str] = []

    def judged(_trial: object, kernel: Kernel, *_rest: object) -> Iterator[Result]:
        tried.append(kernel.name)
        yield Result(kernel.path, "", "gfx942", "differs" if kernel.name == "wrong" else "agrees", launches=2)
        yield Result(kernel.path, "", "gfx1100", "did not run" if kernel.name == "half" else "agrees", launches=3)

    monkeypatch.setattr(trial_executor, "judge", judged)
    kept = tmp_path / "kept.txt"
    kept.write_text("# some\nother x/y.cu:3 k 4\n")
    words = [str(emulator), str(tmp_path / "p"), "--kept", str(kept), "--project", "mine", "--keep", str(tmp_path)]
    first = CliRunner().invoke(trial_executor.main, [*words, "--count", "3"])
    assert first.exit_code == 1 and first.output.endswith("2 kernels of 2 projects agree on all targets\n"), (
        first.output
    )
    assert kept.read_text() == "# some\nother x/y.cu:3 k 4\nmine p/k.cu:1 good 5\n"
    assert tried == ["good", "wrong", "half"]
    tried.clear()
    again = CliRunner().invoke(trial_executor.main, [*words, str(tmp_path / "q")])
    assert tried == ["wrong", "half", "more", "good", "wrong", "half", "more"], again.output
    assert kept.read_text().splitlines()[3:] == ["mine p/k.cu:4 more 5", "mine q/k.cu:1 good 5", "mine q/k.cu:4 more 5"]
    assert again.output.endswith("5 kernels of 2 projects agree on all targets\n")
