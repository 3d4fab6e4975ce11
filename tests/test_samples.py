"""End to end: every sample converts to the files that stand beside it, and its report says what stands there.

A case is a folder `samples/<case>/` with `input.cu` and the headers it needs. `input.cu` becomes `expected.hip`, a
header `x.cuh` becomes `expected.x.cuh`, and the findings of all are in `report.json`. `samples/build_files/` holds
build files, each with what it becomes. `pytest --update` rewrites them.
"""

from __future__ import annotations

import difflib
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from nvidia_tools import tool

from cu2port.build.convert import convert as convert_build
from cu2port.build.convert import facts
from cu2port.build.kinds import kind_of
from cu2port.build.words import Asked
from cu2port.core.model import Options, Outcome, Result
from cu2port.core.record import FileRecord, RunRecord, entries
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService
from cu2port.report.json_report import document

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "samples"
BUILD = SAMPLES / "build_files"
_CUDA_HEADER = re.compile(r"#\s*include\s*<((?:cu|thrust/|cub/|cooperative|mma|nv)[\w/.]*)>")
CASES = sorted(p.parent for p in SAMPLES.glob("*/input.cu"))


@pytest.fixture(scope="module")
def clang() -> Iterator[ClangService]:
    with ClangService() as service:
        yield service


def sources(case: Path) -> list[Path]:
    """The files of a case that are converted."""
    return [case / "input.cu", *sorted(p for p in case.glob("*.cuh") if not p.name.startswith("expected."))]


def expected_path(source: Path) -> Path:
    """Where the expected output of a source stands."""
    return source.with_name("expected.hip" if source.name == "input.cu" else f"expected.{source.name}")


def convert(source: Path, clang: ClangService) -> Result:
    return translate(source.read_bytes(), Options(), path=source.name, clang=clang)


def report_text(results: list[Result]) -> str:
    """Summary and files of a case's report, one finding a line: a change of one shows as one line of a diff."""
    files = tuple(
        FileRecord(r.path, r.path, r.status, entries(r.data, r.findings), r.seen, r.left, r.notes) for r in results
    )
    report = document(RunRecord("sample", {}, files))
    lines = ["{"]
    lines += [f" {json.dumps(key)}: {json.dumps(report[key])}," for key in ("schema", "summary")]
    lines.append(' "files": [')
    for i, file in enumerate(report["files"]):
        head = json.dumps({key: value for key, value in file.items() if key != "findings"})
        lines.append(f'  {head[:-1]}, "findings": [')
        found = [f"   {json.dumps(finding, ensure_ascii=False)}" for finding in file["findings"]]
        lines += [",\n".join(found)] if found else []
        lines.append("  ]}" + ("," if i + 1 < len(report["files"]) else ""))
    return "\n".join([*lines, " ]", "}"]) + "\n"


def compare(path: Path, got: str, update: bool) -> None:
    """Fail with a diff when the file at `path` does not hold `got`; with `update`, make it hold it."""
    want = path.read_bytes().decode("utf-8") if path.exists() else ""
    if got == want:
        return
    if update:
        path.write_bytes(got.encode("utf-8"))
        return
    name = str(path.relative_to(SAMPLES.parent))
    diff = difflib.unified_diff(want.splitlines(), got.splitlines(), f"{name} (expected)", f"{name} (now)", lineterm="")
    pytest.fail("\n".join([*diff, "If the change is meant: pytest --update, then read the diff."]), pytrace=False)


def test_there_are_samples() -> None:
    assert len(CASES) >= 12


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_sample(case: Path, clang: ClangService, update: bool) -> None:
    results = [convert(source, clang) for source in sources(case)]
    for source, result in zip(sources(case), results, strict=True):
        compare(expected_path(source), result.output.decode("utf-8"), update)
    compare(case / "report.json", report_text(results), update)
    assert json.loads(report_text(results))["summary"]["files"] == len(results)


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_converting_again_changes_nothing(case: Path, clang: ClangService) -> None:
    for source in sources(case):
        first = convert(source, clang).output
        again = translate(first, Options(), path=source.name, clang=clang)
        assert again.output.decode("utf-8") == first.decode("utf-8")
        assert not [j for j in again.findings if j.outcome is Outcome.APPLIED]


def build_files() -> list[Path]:
    return sorted(p for p in BUILD.iterdir() if not p.name.startswith(("expected.", "report.")))


def port(source: Path, data: bytes) -> Result:
    kind = kind_of(source.name)
    found = facts(kind, data)
    asked = Asked(kind, packages=tuple(sorted(found.packages)), defined=found.defines)
    return convert_build(data, source.name, asked)


def test_build_files(update: bool) -> None:
    results = [port(source, source.read_bytes()) for source in build_files()]
    assert len(results) >= 3
    for source, result in zip(build_files(), results, strict=True):
        compare(expected_path(source), result.output.decode("utf-8"), update)
        assert port(source, result.output).output == result.output
    compare(BUILD / "report.json", report_text(results), update)


def test_no_expected_file_is_an_orphan() -> None:
    wanted = {expected_path(source) for case in CASES for source in sources(case)} | {c / "report.json" for c in CASES}
    wanted |= {*map(expected_path, build_files()), BUILD / "report.json"}
    assert wanted == {*SAMPLES.glob("*/expected.*"), *SAMPLES.glob("*/report.json")}


def test_readme_shows_what_is_converted(clang: ClangService) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    before, after = (re.findall(rf"```{language}\n(.*?)```", readme, re.DOTALL)[0] for language in ("cuda", "cpp"))
    assert translate(before, path="warp.cu", clang=clang).output.decode() == after


@pytest.mark.slow
def test_nvcc_takes_the_samples(tmp_path: Path) -> None:
    """A second witness that what is converted is CUDA: those that need no library beside the runtime."""
    nvcc = tool("nvcc")
    headers = {p.name for p in (nvcc.parent.parent / "include").iterdir()}
    alone = [case for case in CASES if headers >= set(_CUDA_HEADER.findall((case / "input.cu").read_text()))]
    refused: dict[str, str] = {}
    for case in alone:
        command = [str(nvcc), "-std=c++17", "-arch=sm_90", "-fdevice-syntax-only", "-c", "-o", "out.o"]
        done = subprocess.run([*command, str(case / "input.cu")], cwd=tmp_path, capture_output=True, text=True)
        if done.returncode and "nv/target" not in done.stderr:  # a header of CCCL's, which fp16's asks for
            refused[case.name] = done.stderr
    assert len(alone) > 12
    assert not refused
