"""Rule files of a project: rows that win over cu2port's, refused with file and line where they are wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from cu2port.catalog import load_catalog
from cu2port.catalog.rulefile import CatalogError
from cu2port.cli import cli
from cu2port.core.model import Options
from cu2port.engine.translate import translate

RULES = """exclude = ["third_party/**"]

[headers]
"proj/cuda_pool.h" = "proj/hip_pool.h"

[macros]
PROJ_GPU = "2"

[namespaces]
projcu = "projhip"

[rename]
cudaMalloc = { hip = "poolMalloc", headers = ["proj/hip_pool.h"] }
projCopy = "projHipCopy"

[[change]]
cuda = "projLaunch"
hip = "projHipLaunch"
args = { 0 = "&{0}" }
trust = "review"
why = "The HIP version takes a pointer."

[[unsupported]]
cuda = "projGraph"
why = "It has no HIP version."
instead = "Call projCopy in a loop."
"""
SOURCE = """#include "proj/cuda_pool.h"
void projCopy(void* to);
int main() {
  void* p;
  cudaMalloc(&p, 4);
  cudaFree(p);
  projCopy(p);
  projLaunch(p, 1);
  projcu::run();
  projGraph(p);
}
"""


def converted(rules: str, source: str = SOURCE) -> str:
    return translate(source, Options(rules=(("r.toml", rules),), use_clang=False), path="a.cu").output.decode()


def test_the_project_s_rows_win() -> None:
    out = converted(RULES)
    assert '#include "proj/hip_pool.h"' in out and "cuda_pool.h" not in out
    assert "poolMalloc(&p, 4);" in out
    assert "hipFree(p);" in out  # cu2port's own rows hold for the rest
    assert "void projHipCopy(void* to);" in out and "  projHipCopy(p);" in out  # although the file declares it
    assert "projHipLaunch(&p, 1);" in out
    assert "projhip::run();" in out
    assert "  projGraph(p);" in out
    found = translate(SOURCE, Options(rules=(("r.toml", RULES),), use_clang=False), path="a.cu").findings
    assert [j.finding.message for j in found if j.finding.cuda == "projGraph" and j.open] == [
        "`projGraph` has no HIP counterpart: It has no HIP version."
    ]


def test_rules_hold_for_the_run_that_has_them_alone() -> None:
    assert "poolMalloc" in converted(RULES)
    assert "hipMalloc(&p, 4);" in translate(SOURCE, Options(use_clang=False), path="a.cu").output.decode()


#: A mistake, the line that it is reported for, and what the message has.
MISTAKES = {
    "no TOML": ("[rename\n", None, "not TOML: "),
    "an unknown table": ("[renames]\n", None, "unknown table or key ['renames']"),
    "an unknown key": ('[rename]\na = "b"\ncudaFree = { hop = "x" }\n', 3, "`cudaFree`: unknown key ['hop']"),
    "no target": ('[rename]\ncudaFree = ""\n', 2, "`cudaFree` has no target"),
    "no name": ('[rename]\n"cuda Free" = "x"\n', 2, "`cuda Free` is not a C++ name"),
    "a version": (
        '[rename]\ncudaFree = { hip = "x", hip_since = "new" }\n',
        2,
        '`cudaFree`: hip_since must be a version such as "6.2"',
    ),
    "no reason": ('[[change]]\nhip = "b"\ncuda = "a"\ntrust = "exact"\n', 3, "change of `a` without `why`"),
    "no trust": ('[[change]]\ncuda = "a"\nhip = "b"\nwhy = "w"\n', 2, "`trust` must be exact or review"),
    "two rows": ('[rename]\na = "b"\n[[unsupported]]\ncuda = "a"\nwhy = "w"\ninstead = "i"\n', 2, "`a` already"),
    "a header": ('[headers]\n"a.h" = 1\n', 2, "[headers] `a.h` must be text"),
    "a macro": ('[macros]\n"A B" = "1"\n', 2, "[macros] `A B` is not a macro's name"),
    "a macro's value": ("[macros]\nA = 1\n", 2, "[macros] `A` must be text"),
    "globs": ('exclude = "a"\n', None, "`exclude` must be a list of globs"),
    "no advice": ('[[unsupported]]\ncuda = "a"\nwhy = "w"\n', 2, "`a` is unsupported without `instead`"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_named_with_file_and_line(case: str, tmp_path: Path) -> None:
    text, line, what = MISTAKES[case]
    (tmp_path / "r.toml").write_text(text)
    (tmp_path / "a.cu").write_text(SOURCE)
    args = ["convert", str(tmp_path / "a.cu"), "-o", str(tmp_path / "b.hip"), "--rules", str(tmp_path / "r.toml")]
    done = CliRunner().invoke(cli, args)
    assert done.exit_code == 2
    said = re.fullmatch(rf"cu2port: {re.escape(str(tmp_path / 'r.toml'))}(?::(\d+))?: (.*)\n", done.stderr)
    assert said is not None, done.stderr
    assert (int(said[1]) if said[1] else None) == line
    assert what in said[2]
    assert not (tmp_path / "b.hip").exists()


def test_the_command_line_and_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.toml").write_text(RULES)
    Path("cu2port.toml").write_text('rules = ["rules.toml"]\n')
    Path("src/third_party").mkdir(parents=True)
    Path("src/a.cu").write_text(SOURCE)
    Path("src/third_party/b.cu").write_text(SOURCE)
    runner = CliRunner()
    done = runner.invoke(cli, ["convert", "src", "-o", "out", "-q", "--report", "r.json"])
    assert done.exit_code == 1, done.stderr
    assert "poolMalloc" in Path("out/a.cu").read_text()
    assert Path("out/third_party/b.cu").read_text() == SOURCE  # excluded by the rule file
    assert json.loads(Path("r.json").read_text())["options"]["rules"] == [str(Path.cwd() / "rules.toml")]
    assert "poolMalloc" in runner.invoke(cli, ["query", "cudaMalloc"]).stdout
    found = json.loads(runner.invoke(cli, ["lint", "src/a.cu", "--no-cache", "--output-format", "json"]).stdout)
    assert any("projGraph" in f["message"] for f in found["findings"])
    assert "projGraph" in runner.invoke(cli, ["audit", "src", "--format", "text"]).stdout


def test_a_configuration_names_no_rules_outside_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text("int x;\n")
    Path("cu2port.toml").write_text('rules = ["../rules.toml"]\n')
    done = CliRunner().invoke(cli, ["convert", "a.cu", "--dry-run"])
    assert done.exit_code == 2
    assert "must be a relative path inside the tree" in done.stderr


def test_a_macro_of_the_rules_is_defined() -> None:
    from cu2port.catalog import own_settings

    assert own_settings((("r.toml", RULES),)) == (("PROJ_GPU=2",), ("third_party/**",))


def test_rules_as_json() -> None:
    done = CliRunner().invoke(cli, ["rules", "--json"])
    found = {r["code"]: r for r in json.loads(done.stdout)["rules"]}
    assert found["CU103"]["name"] == "api-unsupported"
    assert set(found["CU103"]) == {"code", "name", "severity", "title", "text"}


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_text_is_rules_or_one_line(text: str) -> None:
    try:
        load_catalog((("r.toml", text),))
    except CatalogError as e:
        assert str(e).startswith("r.toml") and "\n" not in str(e)
