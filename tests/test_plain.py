"""What is printed: names and texts of a tree end no line, colour none and command no CI server."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cu2port.cli import main
from cu2port.core.plain import json_of, one_line, visible

ROOT = Path(__file__).resolve().parent.parent
BIDI = "\u202e\u2066\u200f"
EVIL = [
    "\x1b[31mred\x1b]0;title\x07.cu",
    "a\n::error file=x::owned\n.cu",
    "::warning::owned.cu",
    " ::error::owned.cu",
    "##[error]owned.cu",
    "##vso[task.complete]owned.cu",
    f"b{BIDI}uc.cu",
    "c\x9b31m\x85\u2028\r\b.cu",
    os.fsdecode(b"d\xff\xfe.cu"),
]
CODE = 'int main() { cudaFree(0); asm("nonsense.evil;"); __shfl(1, 2); // \x1b[0m \u202e ##[error]x\n}\n'


@given(st.text())
def test_a_line_is_one_line_and_no_command(text: str) -> None:
    line = one_line(text)
    assert all(c == "\t" or c.isprintable() for c in line)
    assert "\n" not in line
    assert not line.lstrip().startswith("::")
    assert not re.search(r"##\w*\[", line)


@given(st.text())
def test_json_says_the_same_and_prints(text: str) -> None:
    assert json.loads(json_of({"a": text})) == {"a": text}
    assert json_of(text, None).isprintable()


def test_plain_text_stays() -> None:
    for text in ("k.cu:1:2: CU310 `a::b` \u00e4 ## 3", "\tx", "a :: b", "# [x]"):
        assert one_line(text) == text == visible(text)


def test_only_one_module_prints() -> None:
    prints = re.compile(r"\bclick\.(?:s?echo|style|confirm|prompt)\b|(?<![\w.])print\(")
    for path in (ROOT / "translator" / "cu2port").rglob("*.py"):
        assert path.name == "console.py" or not prints.search(path.read_text()), path


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of evil names: of files, of folders, of links and in what they say."""
    folder = tmp_path_factory.mktemp("evil") / "tree"
    folder.mkdir()
    for n, name in enumerate([*EVIL, *BOTH]):
        (folder / name).write_bytes(CODE.encode())
        if n < len(EVIL) - 3:
            continue
        (folder / f"{name[:-3]}{n}").mkdir()
        (folder / f"{name[:-3]}{n}" / name).write_bytes(f'#include "{name}"\n{CODE}'.encode(errors="surrogateescape"))
        (folder / f"l{name}").symlink_to(f"/nowhere/{name}")
        (folder / f"{name[:-3]}.cmake").write_bytes(f"# {name}\nfind_package(CUDA)\n".encode(errors="surrogateescape"))
    os.mkfifo(folder / f"p{EVIL[0]}")
    return folder


COMMANDS = [
    "convert . -o ../out -v",
    "convert . --dry-run -v",
    "convert {0} -o ../no/{0}",
    "convert {0} -o ../x.hip --report {0}",
    "convert nosuch{0} -o ../x",
    "convert . -o {0}",
    "convert . -o ../y --kernel {0}",
    "convert . -o ../y -I {0}{0}",
    "convert . -o ../y -p {0}",
    "convert --{0}",
    "audit .",
    "audit . --format md",
    "audit . --format json",
    "audit nosuch{0}",
    "audit . --compare {0}",
    "audit . --rocm {0}",
    "lint .",
    "lint {0}",
    "lint . --output-format json",
    "lint . --output-format gitlab",
    "lint . --output-format junit",
    "lint . --output-format sarif",
    "lint . --select {0}",
    "lint . --baseline {0}",
    "lint . --config {0}",
    "lint . --statistics",
    "query {0}",
    "query {0} --json",
    "explain {0}",
    "ptx {0}",
    "ptx -e {0}",
    "ptx -e add.s32 --set {0}",
    "verify {0} --compiler {0}",
    "verify . --arch {0}",
    "simulate {0} --compiler nosuch{0}",
    "nosuch{0}",
]


BOTH = [f"::error::{EVIL[6][:-3]}.cu", f"{EVIL[0][:-3]}{EVIL[1][:-3]}{EVIL[4][:-3]}{EVIL[7][:-3]}{EVIL[8]}"]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_what_a_terminal_or_a_ci_server_obeys(
    evil: Path, command: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(evil)
    for name in BOTH if "{0}" in command else BOTH[:1]:
        monkeypatch.setattr(sys, "argv", ["cu2port", *(w.replace("{0}", name) for w in command.split(" "))])
        with pytest.raises(SystemExit):
            main()
        text = b"".join(capfdbinary.readouterr()).decode("utf-8")  # no byte that is no text
        assert all(c in "\t\n" or c.isprintable() for c in text), text
        assert not re.search(r"(?m)^\s*::", text), text
        assert "Traceback" not in text and "internal error:" not in text, text
        if not re.search("json|gitlab|sarif|junit", command):  # documents, in which only their own escapes hold
            assert not re.search(r"##\w*\[", text), text
        if "junit" in command:
            ElementTree.fromstring(text.partition("</testsuite>")[0] + "</testsuite>")


def test_lines_for_github_are_its_commands_and_nothing_else(
    evil: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(evil)
    monkeypatch.setattr(sys, "argv", ["cu2port", "lint", ".", "--output-format", "github"])
    with pytest.raises(SystemExit):
        main()
    lines = capfdbinary.readouterr().out.decode().removesuffix("\n").split("\n")
    assert len(lines) > 5
    for line in lines:
        assert line.isprintable()
        assert re.fullmatch(r"::(error|warning|notice) file=[^,:]+,line=\d+,col=\d+,endLine=\d+,title=[^,:]+::.+", line)
