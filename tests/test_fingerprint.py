"""tools/fingerprint.py: the same code gives the same bytes, and what a change of code or input changes is named."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from loading import load

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "fingerprint.py"
SAMPLES = ("warp_reduce", "driver_api")
MODES = ("options", "audit", "lint")


def tool(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(TOOL), *map(str, words)], capture_output=True, text=True, check=False)


def tree(folder: Path, samples: Sequence[str] = SAMPLES) -> Path:
    for name in samples:
        shutil.copytree(ROOT / "samples" / name, folder / name, ignore=shutil.ignore_patterns("expected.*", "report.*"))
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fingerprints `one` and `other` of equal trees in two places, and `later`, of one with another line."""
    base = tmp_path_factory.mktemp("fingerprint")
    for name in ("one", "other", "later"):
        made = tree(base / name / "deep" / "tree")
        modes: Sequence[str] = MODES
        if name == "later":
            modes = ("options",)
            file = made / "warp_reduce" / "input.cu"
            file.write_bytes(file.read_bytes() + b"unsigned more() { return __ballot_sync(~0u, 1); }\n")
        done = tool(f"T={made}", "-o", base / f"{name}.prints", "--keep", *(w for m in modes for w in ("--mode", m)))
        assert done.returncode == 0, done.stderr
    return base


def test_equal_trees_in_two_places_give_the_same_bytes(runs: Path) -> None:
    one, other = ({p.name: p.read_bytes() for p in (runs / f"{n}.prints").glob("*.txt")} for n in ("one", "other"))
    assert sorted(one) == sorted(f"T.{m}.txt" for m in MODES)
    assert one == other
    assert tool("--compare", runs / "one.prints", runs / "other.prints").returncode == 0


def test_outputs_headers_findings_and_counts_are_in_it(runs: Path) -> None:
    lines = (runs / "one.prints" / "T.options.txt").read_text().splitlines()
    names = {line.split("  ", 1)[1] for line in lines}
    assert {
        "output/warp_reduce/input.hip",
        "output/cu2port/warp.hpp",
        "findings/warp_reduce/input.cu.txt",
        "report/summary",
    } <= names
    assert not any(".cu2port" in name for name in names)
    findings = (runs / "one.prints" / "T.options" / "findings" / "warp_reduce" / "input.cu.txt").read_text()
    assert '"code": "CU3' in findings
    assert str(runs) not in findings


def test_what_differs_is_named_with_a_diff(runs: Path) -> None:
    done = tool("--compare", runs / "one.prints", runs / "later.prints")
    assert done.returncode == 1, done.stderr
    assert "  differs output/warp_reduce/input.hip\n" in done.stdout
    assert "  differs findings/warp_reduce/input.cu.txt\n" in done.stdout
    assert "    +unsigned more() { return cu2port::warp::ballot(" in done.stdout
    assert "driver_api" not in done.stdout
    assert f"T.audit: only in {runs / 'one.prints'}" in done.stdout


def test_new_and_gone_files_and_long_diffs(tmp_path: Path) -> None:
    module = load(TOOL)
    for name, files in (("a", {"x": "1\n2\n3\n", "y": ""}), ("b", {"x": "4\n5\n6\n", "z": ""})):
        work = tmp_path / name / "T.flag"
        work.mkdir(parents=True)
        for file, text in files.items():
            (work / file).write_text(text)
        lines = (f"{digest}  {path}\n" for path, digest in module.digests(work).items())
        work.with_suffix(".flag.txt").write_text("".join(lines))
    lines, differs = module.compare(tmp_path / "a", tmp_path / "b", 3)
    assert differs
    assert lines[0] == "T.flag: 3 of 3 files differ"
    assert lines[1] == "  differs x"
    assert lines[-3:] == ["    ... 4 more lines", "  gone y", "  new z"]


def test_it_refuses_in_words(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    for words, said in (
        ((), "name trees"),
        ((tmp_path / "none", "-o", tmp_path / "o"), "no such folder"),
        ((tmp_path / "a", tmp_path / "a", "-o", tmp_path / "o"), "of that name already"),
        (("--compare", tmp_path / "a", tmp_path / "b"), "nothing in common"),
    ):
        done = tool(*words)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert said in " ".join(done.stderr.replace("no tree and mode", "nothing").split()), done.stderr


FAKE = """import json, pathlib, sys
def main():
    where = sys.argv[sys.argv.index("--report" if "--report" in sys.argv else "-o") + 1]
    files = [{"path": "a.cu", "status": "failed", "findings": []}]
    pathlib.Path(where).write_text(json.dumps({"tool": {"version": "9"}, "words": sys.argv[1:3], "files": files}))
"""


def test_another_version_is_the_one_that_runs_and_failed_files_are_counted(tmp_path: Path) -> None:
    package = tmp_path / "old" / "cu2port"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "cli.py").write_text(FAKE)
    out = tmp_path / "prints"
    done = tool(f"T={tmp_path}", "-o", out, "--package", package.parent, "--mode", "solo", "--mode", "audit", "--keep")
    assert done.returncode == 0, done.stderr
    assert "T.solo: 2 files, 1 FAILED" in done.stderr
    assert sorted(p.name for p in out.iterdir()) == ["T.audit", "T.audit.txt", "T.solo", "T.solo.txt"]
    assert (out / "T.audit" / "report" / "words").read_text().split() == ["[", '"audit",', '"."', "]"]


def test_a_run_without_a_report_stops_with_its_reason(tmp_path: Path) -> None:
    package = tmp_path / "old" / "cu2port"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "cli.py").write_text("def main():\n    raise SystemExit('broken here')\n")
    done = tool(f"T={tmp_path}", "-o", tmp_path / "prints", "--package", package.parent, "--mode", "solo")
    assert done.returncode == 2
    assert "solo: broken here" in done.stderr


def test_ways_in_which_lines_differ_are_told_once(tmp_path: Path) -> None:
    module = load(TOOL)
    for name, word, files in (("a", "rebuilt", 2), ("b", "again", 3)):
        work = tmp_path / name / "T.lint"
        (work / "findings").mkdir(parents=True)
        (work / "output" / "cu2port").mkdir(parents=True)
        (work / "output" / "cu2port" / "warp.hpp").write_text(word * 9)
        for n in range(files):
            (work / f"f{n}").write_text(f"same\nline {n} is {word} here\nsame\n")
            found = ({"code": "CU101", "message": f"`x{n}` is {word}", "line": n}, {"code": "CU102", "line": files})
            (work / "findings" / f"f{n}").write_text("".join(f"{json.dumps(x)}\n" for x in found))
        lines = (f"{digest}  {path}\n" for path, digest in module.digests(work).items())
        (tmp_path / name / "T.lint.txt").write_text("".join(lines))
    lines, differs = module.summary(tmp_path / "a", tmp_path / "b", 9)
    assert differs
    assert lines == [
        "T.lint: 7 of 7 files differ",
        *("", "2 times in 2 files, first T.lint/findings/f0", "  + CU101  `...` is again"),
        *("", "2 times in 2 files, first T.lint/f2", "  + file f2"),
        *("", "2 times in 2 files, first T.lint/findings/f0", "  - CU101  `...` is rebuilt"),
        *("", "2 times in 2 files, first T.lint/f0", "  - rebuilt", "  + again"),
        *("", "1 times in 1 files, first T.lint/output/cu2port/warp.hpp", "  - helper header warp.hpp", "  + changed"),
    ]
    assert module.summary(tmp_path / "a", tmp_path / "b", 2)[0][-1] == "... 3 more ways"
    assert module.summary(tmp_path / "a", tmp_path / "a", 2) == (["T.lint: 0 of 5 files differ"], False)


def test_a_sample_is_spread_over_a_tree_and_keeps_build_files(tmp_path: Path) -> None:
    module = load(TOOL)
    for n in range(10):
        (tmp_path / "tree" / f"d{n}").mkdir(parents=True)
        (tmp_path / "tree" / f"d{n}" / "a.cu").touch()
    (tmp_path / "tree" / "CMakeLists.txt").touch()
    (tmp_path / "tree" / "data.bin").touch()
    (tmp_path / "tree" / "link.cu").symlink_to("d1/a.cu")
    module.sample(tmp_path / "tree", 3, tmp_path / "few")
    found = sorted(p.relative_to(tmp_path / "few").as_posix() for p in (tmp_path / "few").rglob("*") if p.is_file())
    assert found == ["CMakeLists.txt", "d0/a.cu", "d3/a.cu", "d6/a.cu"]
    module.sample(tmp_path / "tree", 99, tmp_path / "all")
    assert sum(p.suffix == ".cu" for p in (tmp_path / "all").rglob("*")) == 10


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git checkout")
def test_an_unknown_commit_is_named(tmp_path: Path) -> None:
    done = tool(tmp_path, "--base", "no-such-commit")
    assert done.returncode == 2
    assert "no-such-commit" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git checkout")
def test_code_of_a_commit_against_this(tmp_path: Path) -> None:
    done = tool(f"T={tree(tmp_path / 'tree')}", "--base", "HEAD", "--mode", "lint", "-o", tmp_path / "work")
    assert "T.lint: " in done.stdout
    assert done.returncode in (0, 1), done.stderr  # 1: there are changes that are not committed
    made = tmp_path / "work" / "against"
    assert (made / "old" / "translator" / "cu2port").is_dir()
    assert (made / "before" / "T.lint.txt").is_file()
    assert (made / "after" / "T.lint.txt").is_file()
