"""The pre-commit hooks, run by pre-commit itself: it clones the repository, installs it and calls the hooks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NARROW = "#include <hip/hip_runtime.h>\n__global__ void k(unsigned* q) { unsigned m = __ballot(q[0]); q[1] = m; }\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A git tree with one file that has a finding, staged."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout to take the hooks from")
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "a.hip").write_text(NARROW)
    (folder / "b.py").write_text("__ballot\n")
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("hook", "status"), [("cu2port-lint", 1), ("cu2port-fix", 1)])
def test_pre_commit_runs_the_hooks(hook: str, status: int, tree: Path, tmp_path: Path) -> None:
    command = shutil.which("pre-commit", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if command is None:
        pytest.skip("no pre-commit here")
    env = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "CU2PORT_CACHE_DIR": str(tmp_path / "cache")}
    words = [command, "try-repo", str(ROOT), hook, "--all-files", "--verbose"]
    ran = subprocess.run(words, cwd=tree, env=env, capture_output=True, text=True, check=False, timeout=600)
    assert ran.returncode == status, ran.stdout + ran.stderr
    assert "a.hip:2:34: CU312 ballot-width" in ran.stdout
    assert "b.py" not in ran.stdout
    (tree / "a.hip").write_text(NARROW.replace("unsigned m", "unsigned long long m"))
    ran = subprocess.run(words, cwd=tree, env=env, capture_output=True, text=True, check=False, timeout=600)
    assert "CU312" not in ran.stdout
