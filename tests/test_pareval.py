"""tools/pareval.py: what target.json asks for, and that a wrong line does not count."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).resolve().parent.parent / "tools" / "pareval.py"


@pytest.fixture(scope="module")
def pareval() -> Any:
    spec = importlib.util.spec_from_file_location("pareval", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pareval"] = module
    spec.loader.exec_module(module)
    return module


TARGET = {
    "build_commands_debug": "{ make clean ; make }",
    "run_commands_debug": ["./a", "./b"],
    "debug_outputs": ["(X)", "Y"],
}


def test_a_clone_says_its_cuda_repositories(pareval: Any, tmp_path: Path) -> None:
    for model in ("cuda", "kokkos"):
        folder = tmp_path / "targets" / "x" / model
        folder.mkdir(parents=True)
        (folder / "target.json").write_text(json.dumps(TARGET))
    ((name, repo, target),) = pareval.targets(tmp_path)
    assert (name, repo) == ("x", tmp_path / "targets" / "x" / "cuda" / "repo")
    assert pareval.lines(target) == [("./a", "X"), ("./b", "Y")]
    assert pareval.lines(target, "./a -n 1") == [("./a -n 1", "X")]


@pytest.mark.parametrize(("said", "code", "passed"), [("X and Y", 0, 2), ("X", 0, 1), ("X and Y", 1, 0)])
def test_a_line_counts_when_it_ends_well_and_prints_what_it_must(
    pareval: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, code: int, passed: int
) -> None:
    ran: list[str] = []

    def fake(words: list[str], folder: Path, limit_s: float) -> tuple[int, str]:
        ran.append(words[-1])
        if words[0] == "convert":
            Path(words[-1]).mkdir()
        return (code if words[-1].startswith("./") else 0), said

    monkeypatch.setattr(pareval, "ran", fake)
    assert pareval.attempt("x", tmp_path, TARGET, "64", 1.0) == (passed, 2)
    assert ran[1:] == ["unset NVCC; { make clean ; make; }", "./a", "./b"]
