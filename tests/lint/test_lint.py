"""`cu2port lint`: what is found, chosen, silenced, known, mended and written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from cu2port.cli import cli
from cu2port.core.locate import readable
from cu2port.lint import cache as cache_module
from cu2port.lint.cache import Cache
from cu2port.project.jobs import Job
from cu2port.report.formats import json as json_format

BALLOT = """#include <hip/hip_runtime.h>
__global__ void k(unsigned* q, int x) {
  unsigned m = __ballot(x);%s
  q[0] = m;
}
"""
PTX = '__device__ void f() { asm volatile("tcgen05.alloc.sync [%0], 32;" :: "r"(0)); }\n'
MIXED = "#include <hip/hip_runtime.h>\n__global__ void k(unsigned* p) { p[0] = min(p[1], 3); }\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    monkeypatch.chdir(tree)
    return tree


def lint(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["lint", *words], input=stdin, prog_name="cu2port")


def write(name: str, text: str | bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def codes(*words: str) -> list[str]:
    """The codes that a run finds, in order."""
    result = lint(*words, "--output-format", "json")
    assert result.exit_code in (0, 1), result.stderr
    return [f["code"] for f in json.loads(result.stdout)["findings"]]


# --- what is found and chosen -----------------------------------------------------------------------------------------


def test_a_finding_shows_its_line_with_a_caret() -> None:
    write("a.hip", BALLOT % "")
    result = lint("a.hip", "--select", "ballot-width")
    assert result.exit_code == 1
    first, source, caret = result.stdout.splitlines()
    assert first.startswith("a.hip:3:3: CU312 ballot-width: ")
    assert source == "    3 |   unsigned m = __ballot(x);"
    assert caret == "      |   ^" + "~" * len("unsigned m = __ballo")


def test_clean_code_ends_with_0() -> None:
    write("a.cu", "int main() { return 0; }\n")
    result = lint("a.cu")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing found in 1 file" in result.stderr


def test_plain_renames_are_no_findings_by_default() -> None:
    write("a.cu", "void f(void* p) { cudaFree(p); cudaDeviceFlushGPUDirectRDMAWrites(1, 2); }\n")
    assert set(codes("a.cu")) == {"CU103"}
    assert "CU101" in codes("a.cu", "--select", "ALL", "--info")


def test_rules_are_chosen_by_code_prefix_and_name() -> None:
    write("a.hip", BALLOT % "")
    assert codes("a.hip", "--select", "CU31", "--ignore", "ballot-width,CU313") == []
    assert codes("a.hip", "--select", "CU4", "--extend-select", "ballot-width") == ["CU312"]


@pytest.mark.parametrize("word", ["CU312x", "balot-width", "CU0", "../x", ""])
def test_a_rule_that_is_none_stops_the_run(word: str) -> None:
    write("a.hip", BALLOT % "")
    result = lint("a.hip", "--select", f"{word},CU3" if word else ",")
    if word:
        assert result.exit_code == 2
        assert "no rule" in result.stderr
    else:
        assert result.exit_code == 1


def test_a_folder_gives_its_sources_and_leaves_out_what_is_excluded() -> None:
    write("src/a.hip", BALLOT % "")
    write("src/b.py", "__ballot")
    write("third/c.cu", BALLOT % "")
    found = json.loads(lint(".", "--exclude", "third/", "--output-format", "json").stdout)
    assert {f["path"] for f in found["findings"]} == {"src/a.hip"}
    assert found["summary"]["files"] == 1


def test_standard_input_has_the_name_it_is_given() -> None:
    result = lint("-", "--stdin-filename", "src/x.hip", "--select", "CU312", stdin=BALLOT % "")
    assert result.stdout.startswith("src/x.hip:3:3: CU312")


def test_statistics_and_exit_zero() -> None:
    write("a.hip", BALLOT % "")
    result = lint("a.hip", "--statistics", "--select", "CU312", "--exit-zero")
    assert (result.exit_code, result.stdout) == (0, "      1  CU312 ballot-width\n")


def test_files_that_are_no_text_or_too_large_are_named() -> None:
    write("a.hip", BALLOT % "")
    write("b.cu", (BALLOT % "").encode("utf-16"))
    result = lint("a.hip", "b.cu", "--max-size", "64", "--select", "CU9")
    assert result.stdout.count("CU901") == 2
    assert lint("b.cu").stdout.startswith("b.cu: CU902 not-text: ")


# --- configuration ----------------------------------------------------------------------------------------------------


def test_configuration_is_found_upwards_and_its_paths_are_the_trees() -> None:
    write("pyproject.toml", '[tool.cu2port]\nselect = ["CU312"]\n[tool.cu2port.per-file-ignores]\n"old/" = ["CU312"]\n')
    write("old/a.hip", BALLOT % "")
    write("new/a.hip", BALLOT % "")
    assert codes(".") == ["CU312"]
    os.chdir("old")
    assert codes(".") == []
    assert codes(".", "--isolated", "--select", "CU312") == ["CU312"]


def test_its_own_file_goes_before_pyproject() -> None:
    write("pyproject.toml", '[tool.cu2port]\nselect = ["CU4"]\n')
    write("cu2port.toml", 'select = ["ballot-width"]\n')
    write("a.hip", BALLOT % "")
    assert codes("a.hip") == ["CU312"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["CU3"]', "did you mean 'select'"),
        ('select = "CU3"', "select must be a list of strings"),
        ("select = [1]", "select must be a list of strings"),
        ('select = ["CU333"]', "no rule 'CU333'"),
        ("rocm = 7.1", "rocm must be a string"),
        ('warp = "wide"', "warp must be one of logical, "),
        ('[kernels]\nk = "logical"', "kernels must be a table"),
        ('kernels = ["k"]', "kernels must be a table"),
        ('rocm = "new"', "a version such as 7.1"),
        ('baseline = "../known.json"', "must be a relative path inside the tree"),
        ('baseline = "/etc/passwd"', "must be a relative path inside the tree"),
        ('baseline = "https://example.org/x"', "must be a relative path inside the tree"),
        ('include-dirs = ["a/../../b"]', "must be a relative path inside the tree"),
        ('exclude = ["!"]', "is no glob"),
        ("per-file-ignores = []", "must be a table"),
        ("select = [", "not TOML"),
        ("\x00", "not TOML"),
        ('defines = ["-x"]', "a macro's name"),
        ('arch = ["sm_90"]', "sm_90"),
    ],
)
def test_a_bad_configuration_stops_the_run(text: str, message: str) -> None:
    write("cu2port.toml", text)
    write("a.hip", BALLOT % "")
    result = lint("a.hip")
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


# --- suppressions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        BALLOT % "  // cu2port: ignore[ballot-width] a wave of 32",
        BALLOT % "  /* cu2port: ignore[CU312] */",
        BALLOT % "  // cu2port: ignore",
        "// cu2port: ignore-file[CU31] generated\n" + BALLOT % "",
        (BALLOT % "").replace("  unsigned", "  // cu2port: ignore-next-line[CU4, CU312] why\n  unsigned"),
        (BALLOT % "")
        .replace("{\n", "{ // cu2port: ignore-begin[CU312]\n")
        .replace("  q[", "// cu2port: ignore-end\n  q["),
        (BALLOT % "").replace("\n", "\r\n").replace("(x);", "(x); // cu2port: ignore[CU312]"),
    ],
)
def test_comments_silence(text: str) -> None:
    write("a.hip", text)
    assert codes("a.hip", "--select", "CU312,CU9") == []


def test_a_comment_that_silences_nothing_is_a_finding() -> None:
    write("a.hip", "int x;  // cu2port: ignore[CU312]\nint y;  // cu2port: ignore[CU401]\n")
    assert codes("a.hip", "--select", "CU312,CU914") == ["CU914"]


@pytest.mark.parametrize(
    "comment",
    ["ignore[CU999]", "ignore[]", "ignore[CU312", "ignore-begin[CU312]", "ignore-end", "ignore[ballot_width]"],
)
def test_a_comment_that_cannot_be_read_silences_nothing(comment: str) -> None:
    write("a.hip", BALLOT % f"  // cu2port: {comment}")
    assert sorted(codes("a.hip", "--select", "CU312,CU9")) == ["CU312", "CU915"]


def test_words_in_strings_are_no_comments() -> None:
    write("a.hip", (BALLOT % "").replace("q[0]", 'const char* s = "// cu2port: ignore-file"; q[0]'))
    assert codes("a.hip", "--select", "CU312,CU9") == ["CU312"]


# --- baseline ---------------------------------------------------------------------------------------------------------


def test_a_baseline_knows_lines_by_content() -> None:
    write("a.hip", BALLOT % "")
    assert lint("a.hip", "--write-baseline", "known.json").exit_code == 0
    assert codes("a.hip", "--baseline", "known.json") == []
    write("a.hip", "\n\n// moved\n" + (BALLOT % "").replace("  unsigned", "\t unsigned"))
    assert codes("a.hip", "--baseline", "known.json") == []
    write("a.hip", (BALLOT % "").replace("  q[0]", "  unsigned n = __ballot(!x);\n  q[0]"))
    assert codes("a.hip", "--baseline", "known.json", "--select", "CU312") == ["CU312"]
    write("a.hip", (BALLOT % "").replace("  q[0]", "  unsigned m = __ballot(x);\n  q[0]"))
    assert codes("a.hip", "--baseline", "known.json", "--select", "CU312") == ["CU312"]  # a second equal line is new


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"schema": "cu2port-baseline/2", "files": {}}',
        '{"schema": "cu2port-baseline/1", "files": {"/etc/passwd": {}}}',
        '{"schema": "cu2port-baseline/1", "files": {"../a.cu": {}}}',
        '{"schema": "cu2port-baseline/1", "files": {"a.cu": {"x": 1}}}',
        '{"schema": "cu2port-baseline/1", "files": {"a.cu": {"0123456789abcdef": -1}}}',
        '{"schema": "cu2port-baseline/1", "files": {"a.cu": {"0123456789abcdef": true}}}',
        "[" * 100_000,
    ],
)
def test_a_bad_baseline_stops_the_run(content: str) -> None:
    write("a.hip", BALLOT % "")
    write("known.json", content)
    result = lint("a.hip", "--baseline", "known.json")
    assert result.exit_code == 2
    assert result.stderr.startswith("cu2port: --baseline known.json: ")


# --- fixes ------------------------------------------------------------------------------------------------------------


def test_unsafe_fixes_want_their_flag() -> None:
    path = write("a.hip", MIXED)
    result = lint("a.hip", "--select", "CU214", "--info", "--fix")
    assert result.exit_code == 1
    assert path.read_text() == MIXED
    assert "1 fixed by --unsafe-fixes [~]" in result.stderr
    result = lint("a.hip", "--select", "CU214", "--info", "--unsafe-fixes")
    assert result.exit_code == 0
    assert path.read_text() == MIXED.replace("3)", "3u)")
    assert lint("a.hip", "--select", "CU214", "--info", "--unsafe-fixes").exit_code == 0
    assert path.read_text() == MIXED.replace("3)", "3u)")


def test_what_is_not_selected_or_is_silenced_is_not_mended() -> None:
    for text, rules in ((MIXED, "CU3"), (MIXED.replace("3); }", "3); } // cu2port: ignore"), "CU214")):
        path = write("a.hip", text)
        lint("a.hip", "--select", rules, "--info", "--unsafe-fixes")
        assert path.read_text() == text


def test_cuda_code_is_left_to_convert() -> None:
    text = "__global__ void k(unsigned* p) { p[0] = min(p[1], 3); cudaFree(p); }\n"
    path = write("a.cu", text)
    lint("a.cu", "--select", "ALL", "--unsafe-fixes")
    assert path.read_text() == text


def test_a_diff_writes_nothing_and_lists_the_rest() -> None:
    path = write("a.hip", MIXED.replace("p[0]", "__shared__ int s[1024 / warpSize]; p[0]"))
    before = path.read_text()
    result = lint("a.hip", "--select", "CU214,CU315", "--info", "--unsafe-fixes", "--diff")
    assert result.exit_code == 1
    assert "\n--- a/a.hip\n+++ b/a.hip\n" in result.stdout
    assert "CU315" in result.stderr
    assert "CU214" not in result.stderr
    assert path.read_text() == before


def test_standard_input_is_mended_to_standard_output() -> None:
    result = lint("-", "--stdin-filename", "a.hip", "--select", "CU214", "--info", "--unsafe-fixes", stdin=MIXED)
    assert result.stdout == MIXED.replace("3)", "3u)")


# --- formats ----------------------------------------------------------------------------------------------------------

HOSTILE = "<script>alert('x')</script>\" ]]>,:%.hip"


def test_json_holds_to_its_schema() -> None:
    write("a.hip", MIXED + BALLOT % "")
    document = json.loads(lint(".", "--select", "ALL", "--info", "--output-format", "json").stdout)
    jsonschema.validate(document, json_format.json_schema())
    assert document["summary"]["by_code"] == {
        c: sum(f["code"] == c for f in document["findings"]) for c in {f["code"] for f in document["findings"]}
    }


def test_sarif_holds_to_the_published_schema() -> None:
    schema = os.environ.get("CU2PORT_SARIF_SCHEMA")
    if not schema:
        pytest.skip("no SARIF schema: CU2PORT_SARIF_SCHEMA is not set")
    write("a.hip", MIXED + BALLOT % "")
    write("b \N{RIGHT-TO-LEFT OVERRIDE}.cu", PTX)
    document = json.loads(lint(".", "--select", "ALL", "--info", "--output-format", "sarif").stdout)
    loaded = json.loads(Path(schema).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(loaded).validate(document)
    assert document["runs"][0]["results"]


def test_sarif_says_where_in_the_tree_and_what_would_mend_it() -> None:
    write("src/a b.hip", MIXED)
    document = json.loads(lint(".", "--select", "CU214", "--info", "--output-format", "sarif").stdout)
    (run,) = document["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/a%20b.hip", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 2, "startColumn": 41, "endLine": 2, "endColumn": 53}
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "CU214"
    (replacement,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"]["text"] == "u"


def test_sarif_fingerprints_do_not_move_with_unrelated_edits() -> None:
    def prints() -> list[str]:
        document = json.loads(lint("a.hip", "--select", "CU312", "--output-format", "sarif").stdout)
        return [r["partialFingerprints"]["cu2port/v1"] for r in document["runs"][0]["results"]]

    write("a.hip", (BALLOT % "") * 2)
    before = prints()
    write("a.hip", "// one\n// two\n" + ((BALLOT % "") * 2).replace("q[0] = m", "q[1] = m"))
    assert prints() == before
    assert len(set(before)) == 2


def test_sarif_stays_inside_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    from cu2port.report.formats import sarif

    monkeypatch.setattr(sarif, "MOST_RESULTS", 3)
    write("a.hip", (BALLOT % "") * 4 + MIXED)
    document = json.loads(lint("a.hip", "--select", "CU312,CU214", "--info", "--output-format", "sarif").stdout)
    (run,) = document["runs"]
    assert [r["ruleId"] for r in run["results"]] == ["CU312"] * 3
    assert "5 findings" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_ci_formats_keep_hostile_names_apart_from_markup() -> None:
    write(HOSTILE.replace("/", "_"), BALLOT % "")
    github = lint(".", "--select", "CU312", "--output-format", "github").stdout
    assert github.startswith(("::error file=<script>", "::warning file=<script>"))
    assert "%2C%3A%25.hip,line=3,col=3" in github
    gitlab = json.loads(lint(".", "--select", "CU312", "--output-format", "gitlab").stdout)
    assert gitlab[0]["location"]["lines"] == {"begin": 3, "end": 3}
    junit = ET.fromstring(lint(".", "--select", "CU312", "--output-format", "junit").stdout)
    assert junit.get("failures") == "1"
    assert [failure.get("type") for failure in junit.iterfind("testcase/failure")] == ["CU312"]


def test_a_report_goes_to_its_file() -> None:
    write("a.hip", BALLOT % "")
    result = lint("a.hip", "--output-format", "json", "--output-file", "found.json")
    assert result.stdout == ""
    assert json.loads(Path("found.json").read_text())["schema"] == "cu2port-lint/1"
    assert lint("a.hip", "--output-format", "json", "--output-file", "no/such/place.json").exit_code == 2


def test_inputs_outside_the_working_folder_are_a_tree_of_their_own(tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "src").mkdir(parents=True)
    (other / "src/a.hip").write_text(BALLOT % "")
    (other / "cu2port.toml").write_text('ignore = ["ballot-width"]\n')
    for name in ("../other", str(other), "../other/src", "../other/src/a.hip"):
        assert lint(name, "--isolated").exit_code == 1, name
        assert lint(name).exit_code == 0, name
    found = json.loads(lint("../other/src", "--isolated", "--format", "json").stdout)
    assert [f["path"] for f in found["findings"]] == ["a.hip"]


def test_inputs_of_two_trees_are_refused(tmp_path: Path) -> None:
    write("a.hip", BALLOT % "")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/b.hip").write_text(BALLOT % "")
    for name in ("../other", "../other/b.hip"):
        result = lint("a.hip", name)
        assert result.exit_code == 2
        assert "is outside" in result.stderr


@pytest.mark.parametrize("text", ["\x1b[31m", "\N{RIGHT-TO-LEFT OVERRIDE}", "\x00", "\x9b"])
def test_control_characters_do_not_reach_the_terminal(text: str) -> None:
    assert text not in readable(f"a {text} b".encode().decode("latin-1")).replace("[31m", "")


# --- cache ------------------------------------------------------------------------------------------------------------


def test_a_second_run_is_answered_from_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from cu2port.lint import run

    write("a.hip", BALLOT % "")
    first = lint("a.hip", "--output-format", "json").stdout
    monkeypatch.setattr(run, "_work", lambda jobs, settings, workers: iter(()) if not jobs else pytest.fail("worked"))
    assert lint("a.hip", "--output-format", "json").stdout == first


@pytest.mark.parametrize("words", [["--rocm", "6.2"], ["--ignore", "CU312"], ["--arch", "gfx1100"]])
def test_other_settings_are_other_entries(words: list[str], tmp_path: Path) -> None:
    write("a.hip", BALLOT % "")
    lint("a.hip")
    before = len(list((tmp_path / "cache" / "lint").iterdir()))
    lint("a.hip", *words)
    assert len(list((tmp_path / "cache" / "lint").iterdir())) == before + 1


@pytest.mark.parametrize("damage", [b"", b"x" * 40, None])
def test_a_damaged_entry_is_made_anew(damage: bytes | None, tmp_path: Path) -> None:
    write("a.hip", BALLOT % "")
    first = lint("a.hip", "--output-format", "json").stdout
    (entry,) = (tmp_path / "cache" / "lint").iterdir()
    content = entry.read_bytes()
    entry.write_bytes(content.replace(b"CU312", b"CU999") if damage is None else damage)
    assert lint("a.hip", "--output-format", "json").stdout == first
    assert entry.read_bytes() == content


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cache_module, "_MOST", 8)
    cache = Cache(tmp_path / "few", "")
    for n in range(20):
        cache.put(f"{n:02}", b"x")
        os.utime(tmp_path / "few" / f"{n:02}", (n, n))
    cache.prune()
    assert sorted(p.name for p in (tmp_path / "few").iterdir()) == [f"{n:02}" for n in range(14, 20)]


def test_what_libclang_was_asked_about_holds_while_its_headers_do(monkeypatch: pytest.MonkeyPatch) -> None:
    from cu2port.lint import run

    write("deep/n.h", "struct S { unsigned n; };\n")
    write("m.h", '#include "deep/n.h"\n')
    write(
        "a.hip",
        '#include <hip/hip_runtime.h>\n#include "m.h"\n__global__ void k(S* s, int* p) { p[0] = min(s->n, p[1]); }\n',
    )
    work = run._work
    worked: list[int] = []

    def counted(jobs: Sequence[Job], *more: Any) -> Iterator[tuple[Job, run.FileLint]]:
        worked.append(len(jobs))
        return work(jobs, *more)

    monkeypatch.setattr(run, "_work", counted)
    words = ("a.hip", "--select", "CU214", "--info")
    assert codes(*words) == codes(*words) == ["CU214"]
    assert worked == [1, 0]
    write("deep/n.h", "struct S { int n; };\n")
    assert codes(*words) == []
    Path("deep/n.h").unlink()
    codes(*words)
    write("deep/n.h", "struct S { unsigned n; };\n")
    assert codes(*words) == ["CU214"]
    write("m.h", '#define N "deep/n.h"\n#include N\n')
    codes(*words)
    codes(*words)
    assert worked == [1, 0, 1, 1, 1, 1, 1]


def test_what_headers_may_say_of_lanes_is_not_kept_longer_than_they(monkeypatch: pytest.MonkeyPatch) -> None:
    from cu2port.lint import run

    work = run._work
    worked: list[int] = []

    def counted(jobs: Sequence[Job], *more: Any) -> Iterator[tuple[Job, run.FileLint]]:
        worked.append(len(jobs))
        return work(jobs, *more)

    monkeypatch.setattr(run, "_work", counted)
    write("src/a.cu", '#include "w.cuh"\n__global__ void k(int* p) { p[threadIdx.x / 32] = N; }\n')
    for place in ("src/w.cuh", "include/w.cuh"):  # beside the file, and in a folder above
        for number in (32, 7):
            write(place, f"constexpr int N = {number};\n")
            worked.clear()
            assert codes("src/a.cu") == codes("src/a.cu")
            assert worked == [1, 0], place
        Path(place).unlink()


def test_parallel_runs_share_a_cache(tmp_path: Path) -> None:
    for n in range(12):
        write(f"{n}.hip", BALLOT % f" // {n}")
    root = Path(__file__).resolve().parent.parent.parent / "translator"
    command = [sys.executable, "-c", "from cu2port.cli import main; main()", "lint", ".", "--output-format", "json"]
    env = {**os.environ, "PYTHONPATH": str(root)}
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, env=env) for _ in range(3)]
    outputs = {run.communicate(timeout=60)[0] for run in runs}
    assert len(outputs) == 1
    assert b"CU312" in outputs.pop()


def test_a_namespace_of_the_tree_is_no_library_of_cuda() -> None:
    write("mine.h", "#pragma once\nnamespace app { namespace cuda { int f(); } }\n")
    write("a.hip", '#include <hip/hip_runtime.h>\n#include "mine.h"\nnamespace app { using namespace cuda; }\n')
    write("b.hip", "#include <hip/hip_runtime.h>\nusing namespace cuda;\n")
    found = json.loads(lint(".", "--format", "json").stdout)["findings"]
    assert [(f["path"], f["code"]) for f in found] == [("b.hip", "CU710")]
