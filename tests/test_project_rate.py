"""tools/project_rate.py: what reports say of a project; one that stops does not stop the tool."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).resolve().parent.parent / "tools" / "project_rate.py"


@pytest.fixture(scope="module")
def rate() -> Any:
    spec = importlib.util.spec_from_file_location("project_rate", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["project_rate"] = module
    spec.loader.exec_module(module)
    return module


def _unit(path: str, **targets: str) -> dict[str, Any]:
    error = {"path": path, "line": 3, "message": "unknown name"}
    made = {
        t: {"verdict": v, "header": "", "errors": [] if v == "compiles" else [error]}
        for t, v in {"host": "compiles", **targets}.items()
    }
    verdict = next((v for v in targets.values() if v != "compiles"), "compiles")
    return {"path": path, "verdict": verdict, "targets": made}


def test_a_unit_counts_when_both_sides_compile(rate: Any) -> None:
    units = [
        _unit("a.cu", gfx942="compiles", gfx1100="fails"),
        _unit("b.cu", host="fails", gfx942="compiles", gfx1100="compiles"),
        _unit("c.cpp"),
    ]
    found = rate.verified({"verify": {"units": units}}, ("gfx942", "gfx1100"))
    assert (found["units"], found["others"], found["others_compile"]) == (2, 1, 1)
    assert found["compile"] == {"gfx942": 1, "gfx1100": 0}
    assert found["why"] == {"a.cu": "gfx1100: a.cu:3: unknown name", "b.cu": "host: b.cu:3: unknown name"}
    assert not rate.Project("p", **found).good


def test_a_project_of_no_units_is_not_good(rate: Any) -> None:
    assert not rate.Project("p").good
    assert not rate.Project("p", units=20, compile={"gfx942": 20, "gfx1100": 18}).good
    assert rate.Project("p", units=20, compile={"gfx942": 20, "gfx1100": 19}).good


def test_what_is_left_of_a_conversion(rate: Any) -> None:
    applied = {"code": "CU801", "outcome": "applied"}
    manual = {"code": "CU103", "outcome": "manual"}
    report = {"files": [{"findings": [applied, manual, manual]}], "summary": {"cuda_names": {"left": ["cudaX"]}}}
    assert rate.converted(report) == {"edits_in_build_files": 1, "names_left": ["cudaX"], "by_hand": {"CU103": 2}}


def test_a_command_past_its_limit_may_end_what_it_started(
    rate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # what a shell starts in the background ignores the signal, and so would what this process starts
    program = (
        "import signal, sys, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "try:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    open(sys.argv[1], 'w').close()\n"
    )
    monkeypatch.setattr(rate, "CU2PORT", (sys.executable, "-c", program))
    code, _ = rate.run([str(tmp_path / "ended")], 2.0)
    assert code is None
    assert (tmp_path / "ended").is_file()


def test_a_lot_is_drawn_of_units_with_device_code(rate: Any) -> None:
    text = "hip   o/b.cu\nc++   o/c.cpp\nhip   o/a b.cu\nhip   o/cudnn/d.cu\nnote: hip\nhip   o/b.cu\n"
    drawn, number = rate.lot(text, 60, ("*/cudnn/*",))
    assert (sorted(drawn), number) == (["o/a b.cu", "o/b.cu"], 2)
    many = "".join(f"hip   {n}.cu\n" for n in range(100))
    assert rate.lot(many, 60, ()) == rate.lot("\n".join(reversed(many.splitlines())), 60, ())
    assert len(set(rate.lot(many, 60, ())[0])) == 60


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_a_project_is_measured_and_one_that_stops_is_named(tmp_path: Path) -> None:
    for name, recipe in (("good", "nvcc -c k.cu -o k.o"), ("stops", "echo nothing")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Makefile").write_text(f"all: k.o\nk.o: k.cu\n\t{recipe}\n")
        (tmp_path / name / "k.cu").write_text("__global__ void k(int* p) { *p = threadIdx.x; }\n")
    words = [str(tmp_path / "stops"), str(tmp_path / "good"), "--json", str(tmp_path / "r.json")]
    run = subprocess.run([sys.executable, str(TOOL), *words], capture_output=True, text=True, check=False)
    if "no compiler for AMD GPUs" in run.stdout or "no HIP headers" in run.stdout:
        pytest.skip(run.stdout)
    stops, good = json.loads((tmp_path / "r.json").read_text())
    assert run.returncode == 1
    assert "make -n shows no compile command" in stops["why"][""], run.stdout
    assert good["compile"] == {"gfx942": 1, "gfx1100": 1}, run.stdout
    assert "1 of 2 projects" in run.stdout
