"""Files that commands read beside sources, written by a stranger: each is one clear line and exit status 2."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cu2port.cli import main

DATABASES = [
    "[" * 100_000,
    '[{"file": "a\\u0000b.cu", "directory": "."}]',
    '[{"file": "a.cu", "directory": "\\u0000"}]',
    '[{"file": "a.cu", "arguments": ["-I", "\\u0000x"]}]',
    '[{"file": "\\ud800.cu"}]',
    f"[{'1' * 5000}]",
    "[1e999, 5]",
    "\xff",
]
CONFIGURATIONS = [
    "a = " + "[" * 100_000,
    f"rocm = {'1' * 5000}",
    'rocm = "\x00"',
    "rocm = 1979-05-27",
    'warp = "\\ud800"',
]
MODULES = [
    ".entry k(.param .align 99999999999999999999 .b8 p[4]) { ret; }",
    ".global .align 99999999999999999999 .b8 p[4];",
    ".global .b8 p[99999999999999999999];",
    ".entry k() .maxntid 99999999999999999999 { ret; }",
    ".entry k() { .reg .b32 r<99999999999999999999>; ret; }",
    ".entry k() { @99999999999999999999 bra x; mov.u32 r, 99999999999999999999; }",
]


def fails(words: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["cu2port", *words])
    with pytest.raises(SystemExit) as end:
        main()
    said = capfd.readouterr()
    assert end.value.code == 2, said
    assert said.err.count("\n") == 1 and "internal error" not in said.err, said.err


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.cu").write_text("int main() { cudaFree(0); }\n")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("content", DATABASES, ids=range(len(DATABASES)))
def test_compile_databases(content: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    Path("compile_commands.json").write_text(content, encoding="latin-1")
    fails(["convert", "a.cu", "-o", "-", "-p", "."], monkeypatch, capfd)


@pytest.mark.parametrize("option", ["lint --baseline", "audit --compare", "verify --report"])
def test_documents_of_earlier_runs(
    option: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for content in ("[" * 100_000, f"[{'1' * 5000}]", "\xff", "{}", "[]", '{"schema": 5}'):
        Path("old.json").write_text(content, encoding="latin-1")
        fails([*option.split(), "old.json", "a.cu"], monkeypatch, capfd)


@pytest.mark.parametrize("content", CONFIGURATIONS, ids=range(len(CONFIGURATIONS)))
def test_configurations(content: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    Path("cu2port.toml").write_text(content)
    for words in (["lint", "a.cu"], ["convert", "a.cu", "-o", "-"]):
        fails(words, monkeypatch, capfd)


@pytest.mark.parametrize("text", MODULES)
def test_modules_with_numbers_out_of_range(
    text: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("a.ptx").write_text(f".version 7.0\n.target sm_70\n.address_size 64\n{text}\n")
    fails(["ptx", "a.ptx"], monkeypatch, capfd)


def test_pipes_are_not_waited_for(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    for words in ("convert a.cu -o - -p pipe", "lint a.cu --baseline pipe", "audit a.cu --compare pipe"):
        fails(words.split(), monkeypatch, capfd)
