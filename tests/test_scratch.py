"""Folders of runs that were killed go when another run starts; one that is in use stays."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cu2port.core.scratch import scratch_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no locks of folders")
RUN = """
import sys
from pathlib import Path
from cu2port.core.scratch import scratch_folder
with scratch_folder(Path(sys.argv[1]), "run") as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


def started(home: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    return process, Path(process.stdout.readline().rstrip("\n"))


def test_a_killed_runs_folder_goes_when_another_run_starts(tmp_path: Path) -> None:
    process, folder = started(tmp_path)
    with process:
        process.send_signal(signal.SIGKILL)
    assert (folder / "file").is_file()
    with scratch_folder(tmp_path, "run"):
        assert not folder.exists()


def test_a_live_runs_folder_stays(tmp_path: Path) -> None:
    process, folder = started(tmp_path)
    with process:
        with scratch_folder(tmp_path, "run") as own:
            assert own != folder
        assert (folder / "file").is_file()
        process.communicate("")
    assert not folder.exists()


def test_ones_own_other_folder_stays(tmp_path: Path) -> None:
    with scratch_folder(tmp_path, "trial") as outer:
        with scratch_folder(tmp_path, "trial"):
            assert outer.is_dir()
        assert outer.is_dir()
    assert not list(tmp_path.iterdir())


def test_what_is_not_a_runs_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "toolkit-1").mkdir()
    with scratch_folder(tmp_path, "run"):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["toolkit-1"]
