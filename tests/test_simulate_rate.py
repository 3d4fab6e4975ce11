"""tools/simulate_rate.py: which output counts as a failure."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from cu2port.verify.simulate import Ran

TOOL = Path(__file__).resolve().parent.parent / "tools" / "simulate_rate.py"


@pytest.fixture(scope="module")
def tool() -> Any:
    spec = importlib.util.spec_from_file_location("simulate_rate", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulate_rate"] = module
    spec.loader.exec_module(module)
    return module


NONE = [
    "failures: 0",
    "Failed tests: 0, passed: 12",
    "0 failed, 3 passed",
    "no mismatch found",
    "mismatches=0",
    "mismatch count = 0 of 64",
    "Wrong: 0.00 %",
    "FAILED : 0 / 100",
]
SOME = [
    "failures: 3",
    "Failed tests: 10",
    "failures: 0\nfailed at row 3",
    "mismatch at i=0",
    "mismatch: 0 != 3",
    "mismatch: 0, expected 3",
    "fail: 0.5 %",
    "wrong value = 0",
    "FAIL",
]


@pytest.mark.parametrize("said", NONE)
def test_a_count_of_no_failures_is_no_failure(tool: Any, said: str) -> None:
    assert tool.verdict(Ran(0, f"{said}\nPASS\n".encode()))[0] == "pass"


@pytest.mark.parametrize("said", SOME)
def test_other_words_of_failure_are(tool: Any, said: str) -> None:
    assert tool.verdict(Ran(0, f"{said}\nPASS\n".encode()))[0] == "prints a failure"
