"""The pre-commit hooks, run by pre-commit itself: it clones the repository, installs it and calls the hooks."""

from __future__ import annotations

import os
import re
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
    (folder / "c.hip").write_text(NARROW.replace("unsigned m", "unsigned long long m"))
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


@pytest.mark.slow
def test_pre_commit_runs_the_hooks(tree: Path, tmp_path: Path) -> None:
    command = shutil.which("pre-commit", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if command is None:
        pytest.skip("no pre-commit here")
    env = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "CU2PORT_CACHE_DIR": str(tmp_path / "cache")}
    words = [command, "try-repo", str(ROOT), "--all-files", "--verbose"]  # both hooks, from one installation
    ran = subprocess.run(words, cwd=tree, env=env, capture_output=True, text=True, check=False, timeout=600)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "cu2port lint --fix" in ran.stdout
    assert ran.stdout.count("a.hip:2:34: CU312 ballot-width") == 2
    assert "b.py" not in ran.stdout
    assert "c.hip" not in ran.stdout


def test_the_hooks_take_sources_and_nothing_else() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    patterns = {line.partition("files: ")[2] for line in text.splitlines() if "files: " in line}
    (pattern,) = patterns
    names = ["a.cu", "x/b.cuh", "c.hip", "d.hip.hpp", "e.h", "f.cpp", "g.inl"]
    assert all(re.search(pattern, n) for n in names)
    assert not any(re.search(pattern, n) for n in ["a.py", "cu", "a.cu.txt", "b.hipx", "CMakeLists.txt"])
