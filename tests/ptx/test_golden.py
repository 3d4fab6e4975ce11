"""The interpreter against answers recorded on NVIDIA GPUs, where there are any."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import ModuleType

import pytest
from loading import load

from cu2port.ptx import interp
from cu2port.ptx.assemble import told
from cu2port.ptx.vectors import Case, same

ROOT = Path(__file__).parents[2]
GOLDEN = sorted((ROOT / "tests/ptx/golden").glob("*.json.gz"))


@pytest.fixture(scope="module")
def recorder() -> ModuleType:
    return load(ROOT / "tools/record_golden.py")


def test_answers(recorder: ModuleType) -> None:
    """Every recorded case is found among the ones that the table makes now; approximations are for other tests."""
    for path in GOLDEN:
        recorded = json.loads(gzip.decompress(path.read_bytes()))
        answers = {case["text"]: case for case in recorded["cases"]}
        for _, chosen in recorder.by_root([path.name.partition(".")[0]], 1000, 100):
            for case in chosen:
                found = answers.get(told(case))
                if found is not None and not case.row.bound:
                    compare(case, found["inputs"], found["results"])


def compare(case: Case, inputs: list[list[int]], results: list[list[int]]) -> None:
    types = [case.places[name].type for name in case.results]
    for vector, wanted in zip(inputs, results, strict=True):
        registers = dict(zip(case.inputs, vector, strict=True))
        (lane,) = interp.run(case.statements, case.places, [registers])
        got = [lane[name] for name in case.results]
        close = all(same(t, w, g) for t, w, g in zip(types, wanted, got, strict=True))
        assert close, (told(case), vector, wanted, got)


def test_instructions_without_answers_are_known(recorder: ModuleType) -> None:
    """What `--list` prints: all that compute, until a GPU has been at hand."""
    listed = recorder.unanswered()
    assert {"add", "bfe", "lop3", "vadd4"} & {*listed, *(p.name.partition(".")[0] for p in GOLDEN)} == {
        "add",
        "bfe",
        "lop3",
        "vadd4",
    }


def test_the_same_cases_every_time(recorder: ModuleType) -> None:
    first, again = (next(recorder.by_root(["bfe"], 20, 5))[1] for _ in range(2))
    assert [(told(c), c.vectors) for c in first] == [(told(c), c.vectors) for c in again]
