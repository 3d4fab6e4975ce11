"""What other programs read: editors, `git apply`, CI servers; and names of files that none of them should obey."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from cu2port.cli import cli
from cu2port.core.locate import Place, readable
from cu2port.lint.run import FileLint, LintFinding
from cu2port.project.jobs import patch
from cu2port.report.formats import json as json_format
from cu2port.report.formats import sarif
from cu2port.report.pages import pages

ROOT = Path(__file__).resolve().parent.parent.parent
BALLOT = (
    "#include <hip/hip_runtime.h>\n__global__ void k(unsigned* q) {\n  unsigned m = __ballot(q[0]);\n  q[1] = m;\n}\n"
)
MIXED = "#include <hip/hip_runtime.h>\n__global__ void k(unsigned* p) {\n  p[0] = min(p[1], 3);\n}"
NAMES = [
    "a b.hip",
    "ü.hip",
    "b\udcff.hip",
    "c\N{RIGHT-TO-LEFT OVERRIDE}.hip",
    "d\x1b[31m.hip",
    "e\n+++ b.hip",
    '"x"\\.hip',
]
#: What GitLab's documentation asks of a Code Quality report, and what it adds nothing to.
GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "pattern": r"^CU\d{3}$"},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^[^/.]"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}, "end": {"type": "integer"}},
                    },
                },
            },
        },
    },
}
#: Attributes of the JUnit reports that CI servers read: those that must stand, and those that may.
JUNIT = {
    "testsuite": ({"name", "tests", "failures", "errors"}, {"time", "skipped", "timestamp", "hostname", "id"}),
    "testcase": ({"name"}, {"classname", "time", "file"}),
    "failure": (set(), {"type", "message"}),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    monkeypatch.chdir(tree)
    return tree


def lint(*words: str) -> Result:
    return CliRunner().invoke(cli, ["lint", *words, "--select", "CU312,CU214,CU313", "--info"], prog_name="cu2port")


def strange_names() -> None:
    for name in NAMES:
        Path(name).write_text(BALLOT)


def documented(language: str, mark: str) -> str:
    """The block of docs/lint.md in a language that holds a mark."""
    text = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    (found,) = [b for b in re.findall(rf"```{language}\n(.*?)```", text, re.S) if mark in b]
    return str(found)


def test_the_problem_matcher_of_the_docs_reads_the_text() -> None:
    pattern = json.loads(documented("json", "problemMatcher"))["tasks"][0]["problemMatcher"]["pattern"]
    Path("src").mkdir()
    for name in ("src/a.hip", "src/a b.hip"):
        Path(name).write_text(BALLOT)
    Path("src/utf16.cu").write_bytes(BALLOT.encode("utf-16"))
    lines = lint("src").stdout.splitlines()
    found = [m for m in (re.search(pattern["regexp"], line) for line in lines) if m]
    read = [[m[pattern[k]] for k in ("file", "line", "column", "code")] for m in found]
    assert read == [
        ["src/a b.hip", "3", "3", "CU312"],
        ["src/a b.hip", "3", "16", "CU313"],
        ["src/a.hip", "3", "3", "CU312"],
        ["src/a.hip", "3", "16", "CU313"],
    ]
    assert all(m[pattern["message"]].startswith(("ballot-width: ", "warp-builtin: ")) for m in found)


def test_files_are_named_as_the_working_folder_sees_them(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("cu2port.toml").write_text("")
    for name in ("a.hip", "src/b.hip"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(BALLOT)
    monkeypatch.chdir("src")
    text = lint("b.hip", "../a.hip").stdout
    assert {line.partition(":")[0] for line in text.splitlines() if " CU312 " in line} == {"b.hip", "../a.hip"}
    found = json.loads(lint("b.hip", "--output-format", "json").stdout)["findings"]
    assert {x["path"] for x in found} == {"src/b.hip"}


def test_no_name_of_a_file_reaches_a_terminal_as_more_than_a_name() -> None:
    strange_names()
    result = lint(".")
    assert result.exit_code == 1
    assert sum(" CU312 " in line for line in result.stdout.splitlines()) == len(NAMES)
    assert not [c for c in result.stdout if not c.isprintable() and c != "\n"]


@pytest.mark.parametrize("chosen", ["json", "sarif", "gitlab", "junit", "github"])
def test_every_format_takes_every_name(chosen: str) -> None:
    strange_names()
    result = lint(".", "--output-format", chosen, "--output-file", "out")
    assert result.exit_code == 1, result.stderr
    text = Path("out").read_bytes().decode("utf-8")
    if chosen == "junit":
        assert len(ET.fromstring(text)) == len(NAMES)
    elif chosen == "github":
        assert text.count("\n") == 2 * len(NAMES)
    else:
        assert json.loads(text)


def test_gitlab_reads_its_report() -> None:
    Path("a.hip").write_text(BALLOT * 2)
    found = json.loads(lint(".", "--output-format", "gitlab").stdout)
    jsonschema.validate(found, GITLAB)
    prints = [x["fingerprint"] for x in found]
    assert len(prints) == len(set(prints)) == 4
    Path("a.hip").write_text("// one more line\n" + BALLOT * 2)
    assert [x["fingerprint"] for x in json.loads(lint(".", "--output-format", "gitlab").stdout)] == prints


def test_junit_has_the_attributes_that_servers_read() -> None:
    Path("a.hip").write_text(BALLOT)
    Path("b.hip").write_text("")
    root = ET.fromstring(lint(".", "--output-format", "junit").stdout)
    for element in root.iter():
        must, may = JUNIT[element.tag]
        assert must <= set(element.keys()) <= must | may
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "2", "0")
    assert [[f.tag for f in case] for case in root] == [["failure", "failure"], []]


def many(count: int) -> list[FileLint]:
    """As many findings as a large tree may have, with words that gzip does not fold to nothing."""
    codes = sorted(pages())
    out = []
    for n in range(0, count, 100):
        rows = []
        for k in range(n, n + 100):
            code = codes[k % len(codes)]
            place = Place(k % 5000 + 1, k % 70 + 1, k)
            text = f"`name_{k * 7919 % 99991:x}` of {k * 104729 % 1299709:x} goes where it should not"
            why = (f"{pages()[code].why} {k * 31 % 997}",)
            mark = f"{k * 2654435761:016x}"
            rows.append(LintFinding(code, "x", "warning", text, place, place, text, mark, why=why))
        out.append(FileLint(f"src/part_{n % 37}/kernel_{n}.cu", tuple(rows)))
    return out


@pytest.mark.slow
def test_the_largest_log_stays_inside_githubs_limits() -> None:
    text = sarif.of_lint(many(30_000))
    assert len(gzip.compress(text.encode(), 6)) < sarif.MOST_BYTES
    (run,) = json.loads(text)["runs"]
    assert len(run["results"]) == sarif.MOST_RESULTS
    rules = run["tool"]["driver"]["rules"]
    assert len(rules) <= 25_000
    assert all(len(r.get("properties", {}).get("tags", ())) <= 20 for r in rules)
    assert all(len(r["locations"]) == 1 for r in run["results"])


def test_a_log_that_gzip_does_not_bring_under_the_limit_says_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MOST_BYTES", 60_000)
    text = sarif.of_lint(many(3_000))
    assert len(gzip.compress(text.encode(), 6)) < 60_000
    (run,) = json.loads(text)["runs"]
    assert 0 < len(run["results"]) < 3_000
    assert "3000 findings" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_a_diff_can_be_applied(end: str, tmp_path: Path) -> None:
    tree = tmp_path / "git"
    tree.mkdir()
    (tree / "a b.hip").write_bytes((MIXED + end).encode())
    subprocess.run(["git", "init", "-q", "."], cwd=tree, check=True)
    os.chdir(tree)
    changes = lint("--unsafe-fixes", "--diff").stdout_bytes
    assert subprocess.run(["git", "apply", "-"], input=changes, check=False).returncode == 0
    assert (tree / "a b.hip").read_bytes() == (MIXED.replace("3)", "3u)") + end).encode()


def test_a_name_cannot_end_its_line_in_a_diff() -> None:
    text = patch('x\n+++ b/"y', 'x\n+++ b/"y', b"a\n", b"b\n").decode()
    assert text.splitlines()[:3] == [
        r'diff --git "a/x\012+++ b/\042y" "b/x\012+++ b/\042y"',
        r'--- "a/x\012+++ b/\042y"',
        r'+++ "b/x\012+++ b/\042y"',
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.hip", "--stdin-filename", "b.hip"], "--stdin-filename says what"),
        (["a.hip", "--statistics", "--output-format", "json"], "--statistics is text"),
        (["a.hip", "--fix", "--write-baseline", "b.json"], "fix first"),
        (["a.hip", "-"], "cannot be mixed"),
    ],
)
def test_options_that_do_not_go_together_are_refused(words: list[str], message: str) -> None:
    Path("a.hip").write_text(BALLOT)
    result = lint(*words)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_names_in_messages_are_those_of_the_source(encoding: str) -> None:
    Path("a.hip").write_bytes(BALLOT.replace(" m", " mé").encode(encoding))
    (first, *_) = json.loads(lint("a.hip", "--output-format", "json").stdout)["findings"]
    assert first["message"].startswith("`mé` keeps a mask")


def test_the_caret_stands_under_its_word_on_a_first_line_with_a_mark() -> None:
    Path("a.hip").write_bytes(
        b"\xef\xbb\xbf" + b"__device__ unsigned f(int x) { unsigned m = __ballot(x); return m; }\n"
    )
    lines = lint("a.hip").stdout.splitlines()
    assert lines[2].index("^") == lines[1].index("unsigned m")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tb", "a\tb"),
        ("\xc3\xa9", "é"),
        ("\xe9", "é"),
        ("é → x", "é → x"),
        ("\x1b", "\ufffd"),
        ("\xe2\x80\xae", "\ufffd"),
    ],
)
def test_readable(text: str, expected: str) -> None:
    assert readable(text) == expected


def test_statistics_add_up() -> None:
    Path("a.hip").write_text(BALLOT * 3)
    counts = [int(line.split()[0]) for line in lint(".", "--statistics").stdout.splitlines()]
    document: dict[str, Any] = json.loads(lint(".", "--output-format", "json").stdout)
    assert sum(counts) == document["summary"]["findings"] == len(document["findings"])
    assert document["schema"] == json_format.SCHEMA
