"""The table of report formats: modules and rows agree, the options of commands follow it, and JSON lines hold all."""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cu2port.cli import cli
from cu2port.core.locate import Place
from cu2port.core.record import Entry, FileRecord, RunRecord
from cu2port.core.verified import CompileError, TargetRecord, UnitRecord, VerifyRecord
from cu2port.report import formats
from cu2port.report.formats import FORMATS, Kind, jsonl

KINDS: dict[str, Kind] = {"convert": "run", "verify": "run", "lint": "lint", "audit": "audit"}
CODE = (
    "#include <cuda_runtime.h>\n__global__ void k(int* p) { p[0] = __ballot(1); }\n"
    "void f() { cudaDeviceFlushGPUDirectRDMAWrites(1, 1); }\n"
)
KEYS = ["path", "line", "column", "code", "name", "severity", "state", "message", "cuda", "hip", "also"]


def test_every_module_has_a_row_which_says_what_it_takes() -> None:
    modules = {m.name for m in pkgutil.iter_modules(formats.__path__)}
    assert sorted(f.name for f in FORMATS) == sorted(modules)
    for f in FORMATS:
        found = vars(importlib.import_module(f"{formats.__name__}.{f.name}"))
        assert {n for n in found if n.startswith("of_")} == {f"of_{kind}" for kind in f.takes}, f.name


def test_suffixes_are_told_apart() -> None:
    found = [f.suffix for f in FORMATS if f.suffix]
    assert len(found) == len(set(found))


@pytest.mark.parametrize(("command", "kind"), KINDS.items())
def test_the_options_are_those_of_the_table(command: str, kind: Kind) -> None:
    options = {o: p for p in cli.commands[command].params for o in p.opts}
    report = options["--report"]
    assert isinstance(report, click.Option) and " ".join(formats.by_suffix(kind)) in str(report.help)
    if kind != "run":
        chosen = options["--format"].type
        assert isinstance(chosen, click.Choice) and tuple(chosen.choices) == formats.names(kind)
        assert options["--format"] is options["--output-format"] and options["--output"] is options["--output-file"]


@pytest.mark.parametrize("command", ["lint", "audit"])
def test_every_format_is_written(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text(CODE)
    kind = KINDS[command]
    extra = ["--isolated", "--no-cache"] if command == "lint" else []
    wanted = [f"out{suffix}" for suffix in formats.by_suffix(kind)]
    reports = [word for name in wanted for word in ("--report", name)]
    result = CliRunner().invoke(cli, [command, "a.cu", *extra, *reports], prog_name="cu2port")
    assert result.exit_code == 1, result.output
    assert "CU103" in result.stdout
    for name in formats.names(kind):
        one = CliRunner().invoke(cli, [command, "a.cu", *extra, "--format", name], prog_name="cu2port")
        suffix = next(f.suffix for f in FORMATS if f.name == name)
        shown = "out" + suffix
        assert "cudaDeviceFlushGPUDirectRDMAWrites" in one.stdout
        assert not suffix or name == "text" or Path(shown).read_text() == one.stdout
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [list(row) for row in rows] == [KEYS] * len(rows)
    assert {"CU103"} <= {row["code"] for row in rows}


def test_a_suffix_that_says_nothing_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text(CODE)
    for command, kind in KINDS.items():
        extra = ["--dry-run"] if command == "convert" else []
        result = CliRunner().invoke(cli, [command, "a.cu", *extra, "--report", "x.zip"], prog_name="cu2port")
        assert result.exit_code == 2
        known = ", ".join(formats.by_suffix(kind))
        assert result.stderr == f"cu2port: --report x.zip: the suffix says no format; there is {known}\n"
    assert [p.name for p in Path().iterdir()] == ["a.cu"]


def test_lint_takes_the_format_from_the_name_of_its_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text(CODE)
    for name, start in (("x.json", "{"), ("x.sarif", "{"), ("x.log", "a.cu:2"), ("x.xml", "<?xml")):
        CliRunner().invoke(cli, ["lint", "a.cu", "--isolated", "--output-file", name], prog_name="cu2port")
        assert Path(name).read_text().startswith(start), name


_TEXT = st.text(st.characters(codec=None), max_size=20)


@given(_TEXT, _TEXT, st.integers(0, 9))
def test_a_line_holds_a_finding_whatever_is_in_it(path: str, message: str, line: int) -> None:
    entry = Entry(
        "CU101", "x", "info", message, "applied", "exact", Place(line, 2, 3), Place(line, 3, 4), (), (), "a", "b"
    )
    run = RunRecord("1", {}, (FileRecord(path, path, "converted", (entry, entry)),))
    text = jsonl.of_run(run).encode("utf-8", "backslashreplace").decode("utf-8")
    lines = text.split("\n")
    assert len(lines) == 3 and not lines[2] and lines[0] == lines[1]
    assert text.splitlines() == lines[:2]
    row = json.loads(lines[0])
    assert (row["path"], row["message"], row["line"], row["state"]) == (path, message, line, "applied")


def test_what_verify_found_is_in_json_lines() -> None:
    error = CompileError("no such name", "hip/a.cu", 4, 5, "src/a.cu", 3)
    inner = CompileError("too deep", "hip/a.h", 1, 2)
    units = (
        UnitRecord("hip/a.cu", "src/a.cu", tuple(TargetRecord(t, "fails", (error, inner)) for t in ("host", "gfx942"))),
        UnitRecord("hip/b.cu", "", (TargetRecord("host", "missing-header", header="x.h"),)),
        UnitRecord("hip/c.cu", "", (TargetRecord("host", "compiles"),)),
    )
    run = RunRecord("1", {}, (), VerifyRecord("c", "given", "1", "h", "rocm", "7", ("gfx942",), units))
    rows = [json.loads(line) for line in jsonl.of_run(run).splitlines()]
    assert [(r["path"], r["line"], r["name"], r["message"]) for r in rows] == [
        ("src/a.cu", 3, "compile-error", "no such name (host, gfx942)"),
        ("hip/a.h", 1, "compile-error", "too deep (host, gfx942)"),
        ("hip/b.cu", 0, "missing-header", "not judged: the header x.h is not on this machine"),
    ]
