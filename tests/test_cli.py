"""The command line, as its user meets it: arguments in, files, lines and exit code out."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import click
import jsonschema
import pytest
from click.testing import CliRunner, Result

from cu2port import __version__
from cu2port.build.pages import BUILD_RULES
from cu2port.checks import all_checks
from cu2port.cli import cli
from cu2port.core import file_rules
from cu2port.report.json_report import schema

OLD = "#include <cuda_runtime.h>\nint main() { cudaFree(0); }\n"
NEW = "#include <hip/hip_runtime.h>\nint main() { hipFree(0); }\n"
LEFT = "int f() { return cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice, 1); }\n"
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cu2port(*words: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli, list(words), input=stdin, prog_name="cu2port")


def write(name: str, text: str | bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def process(*words: str) -> subprocess.CompletedProcess[str]:
    """cu2port in a process of its own."""
    command = [sys.executable, "-c", "from cu2port.cli import main; main()", *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=60)


def git(*words: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], check=True, capture_output=True)


# where the output goes


def test_one_file_to_a_file() -> None:
    write("a.cu", OLD).chmod(0o640)
    done = cu2port("convert", "a.cu", "-o", "b.hip")
    assert done.exit_code == 0
    assert Path("b.hip").read_text() == NEW
    assert stat.S_IMODE(Path("b.hip").stat().st_mode) == 0o640
    assert Path("a.cu").read_text() == OLD
    assert sorted(p.name for p in Path().iterdir()) == ["a.cu", "b.hip"]


def test_one_file_into_a_folder() -> None:
    write("a.cu", OLD)
    Path("out").mkdir()
    assert cu2port("convert", "a.cu", "-o", "out").exit_code == 0
    assert cu2port("convert", "a.cu", "-o", "new/", "--rename", ".hip").exit_code == 0
    assert Path("out/a.cu").read_text() == Path("new/a.hip").read_text() == NEW


def test_standard_input_to_standard_output() -> None:
    for words in (("convert", "-"), ("convert", "-", "-o", "-")):
        done = cu2port(*words, stdin=OLD)
        assert (done.exit_code, done.stdout, done.stderr) == (0, NEW, "")


def test_standard_output_holds_code_alone_and_bytes_stay() -> None:
    text = b"// \xe9\r\n" + LEFT.encode()
    write("a.cuh", text)
    done = cu2port("convert", "a.cuh", "-o", "-")
    assert done.exit_code == 1
    assert done.stdout_bytes.startswith(b"// \xe9\r\n")
    assert "cudaDeviceFlushGPUDirectRDMAWrites" in done.stdout
    assert done.stderr.startswith("a.cuh:2:18: CU103 ")


def test_standard_input_to_a_file_and_a_report() -> None:
    done = cu2port("convert", "-", "-o", "x.cu", "--report", "r.json", stdin=OLD)
    assert done.exit_code == 0
    assert Path("x.cu").read_text() == NEW
    (file,) = json.loads(Path("r.json").read_text())["files"]
    assert (file["path"], file["output"], file["status"]) == ("-", "x.cu", "converted")


def test_a_file_alone_is_read_with_the_headers_it_includes() -> None:
    """What a header beside it, or one below -I, declares is the user's; a loop of includes ends."""
    write("a.cu", '#include "b.h"\n#include <far.h>\nint main() { cudaFree(0); cudaMalloc(1); cudaDeviceReset(); }\n')
    write("b.h", '#include "sub/c.h"\nint x;\n')
    write("sub/c.h", '#include "../b.h"\ninline int cudaFree(int x) { return x; }\n')
    write("inc/far.h", "inline int cudaMalloc(int x) { return x; }\n")
    assert "{ cudaFree(0); hipMalloc(1); hipDeviceReset(); }" in cu2port("convert", "a.cu", "-o", "-").stdout
    told = cu2port("convert", "a.cu", "-I", "inc", "-o", "-").stdout
    assert "{ cudaFree(0); cudaMalloc(1); hipDeviceReset(); }" in told
    write("inc/cuda_runtime_api.h", "")  # CUDA's own headers are not the user's
    assert "hipMalloc(1)" in cu2port("convert", "a.cu", "-I", "inc", "-o", "-").stdout
    write("d.cu", '#include "b.h"\nint f() { return cudaFree(0); }\n')
    assert cu2port("convert", "a.cu", "d.cu", "-o", "out").exit_code == 0
    assert "return cudaFree(0)" in Path("out/d.cu").read_text()
    assert not Path("out/b.h").exists()


def test_a_header_in_a_folder_that_only_the_build_knows_is_read() -> None:
    write("t/inc/lib/lanes.h", "#if CUDA_VERSION >= 9000\n#define __shfl(v, i) __shfl_sync(~0u, v, i)\n#endif\n")
    write("t/src/a.cu", '#include "lib/lanes.h"\n__device__ int f(int v) { return __shfl(v, 3); }\n')
    assert cu2port("convert", "t", "-o", "o").exit_code == 0
    assert "return __shfl(v, 3);" in Path("o/src/a.cu").read_text()  # the macro's own, which takes two arguments


def test_a_folder_and_its_report() -> None:
    write("src/a.cu", OLD)
    write("src/sub/b.cu", LEFT)
    write("src/c.h", "int x;\n")
    write("src/data.bin", b"\0\1")
    done = cu2port("convert", "src/", "-o", "hip/", "--report", "r.json", "--report", "again.json")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0].startswith("src/sub/b.cu:1:18: CU103 api-unsupported: ")
    assert Path("hip/a.cu").read_text() == NEW
    assert Path("hip/data.bin").read_bytes() == b"\0\1"
    report = json.loads(Path("r.json").read_text())
    jsonschema.Draft202012Validator(schema()).validate(report)
    assert Path("again.json").read_bytes() == Path("r.json").read_bytes()
    assert [(f["path"], f["output"], f["status"]) for f in report["files"]] == [
        ("src/a.cu", "hip/a.cu", "converted"),
        ("src/c.h", "hip/c.h", "copied"),
        ("src/sub/b.cu", "hip/sub/b.cu", report["files"][2]["status"]),
    ]
    assert report["summary"]["files"] == 3
    assert report["summary"]["by_outcome"]["manual"] >= 1
    assert "cudaDeviceFlushGPUDirectRDMAWrites" in report["summary"]["cuda_names"]["left"]
    assert report["options"]["rocm"] == "7.1"
    free = next(e for e in report["files"][0]["findings"] if e["cuda"] == "cudaFree")
    assert free["start"] == {"line": 2, "column": 14, "offset": OLD.index("cudaFree")}
    assert (free["hip"], free["outcome"]) == ("hipFree", "applied")


def test_converting_the_output_changes_nothing() -> None:
    write("src/a.cu", OLD)
    cu2port("convert", "src", "-o", "one")
    cu2port("convert", "one", "-o", "two")
    assert Path("two/a.cu").read_bytes() == Path("one/a.cu").read_bytes()


def test_rename_and_its_includes() -> None:
    write("src/a.cu", '#include "k/b.cu"\n' + OLD)
    write("src/k/b.cu", OLD)
    write("src/main.cpp", '#include "a.cu"\n')
    assert cu2port("convert", "src", "-o", "out", "--rename", ".hip").exit_code == 0
    assert sorted(p.name for p in Path("out").rglob("*.*") if p.is_file()) == [
        "a.hip",
        "b.hip",
        "main.cpp",
        "manifest.json",
    ]
    assert '#include "k/b.hip"\n' in Path("out/a.hip").read_text()
    assert Path("out/main.cpp").read_text() == '#include "a.hip"\n'
    assert cu2port("convert", "src/a.cu", "-o", "one.hip", "--rename", ".hip").exit_code == 0
    assert '#include "k/b.hip"\n' in Path("one.hip").read_text()


# --in-place, --diff, --dry-run


def test_in_place_changes_what_changes_and_keeps_modes() -> None:
    write("src/a.cu", OLD).chmod(0o750)
    same = write("src/b.h", "int x;\n")
    before = same.stat().st_ino
    done = cu2port("convert", "src", "--in-place")
    assert done.exit_code == 0
    assert "note: src is not in a git tree" in done.stderr
    assert Path("src/a.cu").read_text() == NEW
    assert stat.S_IMODE(Path("src/a.cu").stat().st_mode) == 0o750
    assert same.stat().st_ino == before
    assert sorted(p.name for p in Path("src").iterdir()) == ["a.cu", "b.h"]


def test_in_place_renames() -> None:
    write("src/a.cu", '#include "b.cu"\n')
    write("src/b.cu", OLD)
    Path("src/link.cu").symlink_to("b.cu")
    cu2port("convert", "src", "--in-place", "--rename", ".hip")
    assert sorted(p.name for p in Path("src").iterdir()) == ["a.hip", "b.hip", "link.hip"]
    assert '#include "b.hip"\n' in Path("src/a.hip").read_text()
    assert Path("src/link.hip").read_text() == NEW


def test_in_place_leaves_alone_what_a_link_leads_to() -> None:
    write("outside.cu", OLD)
    Path("src").mkdir()
    Path("src/link.cu").symlink_to("../outside.cu")
    done = cu2port("convert", "src", "--in-place")
    assert done.exit_code == 1
    assert f"src/link.cu: {file_rules.LEAVES_TREE.code}" in done.stdout
    assert Path("outside.cu").read_text() == OLD
    assert Path("src/link.cu").is_symlink()


def test_in_place_refuses_what_git_could_not_bring_back() -> None:
    git("init", "-q")
    write("src/a.cu", OLD)
    write("src/b.txt", "x")
    git("add", "src")
    git("commit", "-qm", "x")
    write("src/b.txt", "changed, but no source")
    write("src/a.cu", OLD + "// more\n")
    done = cu2port("convert", "src", "--in-place")
    assert (done.exit_code, done.stderr) == (2, "cu2port: not committed to git: src/a.cu; commit first, or --force\n")
    write("src/a.cu", OLD)
    write("src/new.cu", OLD)
    assert "src/new.cu" in cu2port("convert", "src", "--in-place").stderr
    assert Path("src/a.cu").read_text() == OLD
    assert cu2port("convert", "src", "--in-place", "--force").exit_code == 0
    assert Path("src/a.cu").read_text() == Path("src/new.cu").read_text() == NEW
    git("add", "src")
    git("commit", "-qm", "y")
    again = cu2port("convert", "src", "--in-place")
    assert (again.exit_code, again.stderr) == (0, "")


def test_a_diff_can_be_applied() -> None:
    git("init", "-q")
    write("src/a.cu", OLD.rstrip("\n"))
    write("src/b.cu", b"// \xe9\r\n\x0c\n" + OLD.encode() + LEFT.encode())
    write("src/c.cu", "int x;\n")
    done = cu2port("convert", "src", "--diff")
    assert done.exit_code == 1
    assert done.stdout_bytes.startswith(b"diff --git a/src/a.cu b/src/a.cu\n--- a/src/a.cu\n+++ b/src/a.cu\n@@ ")
    assert "\\ No newline at end of file" in done.stdout
    assert "src/b.cu:5:18: CU103" in done.stderr and "CU103" not in done.stdout
    cu2port("convert", "src", "-o", "out")
    Path("d.patch").write_bytes(done.stdout_bytes)
    git("apply", "d.patch")
    for name in ("a.cu", "b.cu", "c.cu"):
        assert Path("src", name).read_bytes() == Path("out", name).read_bytes()


def test_a_diff_with_renames_can_be_applied() -> None:
    git("init", "-q")
    write("src/a.cu", OLD)
    write("src/same.cu", "int x;\n")
    done = cu2port("convert", "src", "--diff", "--rename", ".hip")
    Path("d.patch").write_bytes(done.stdout_bytes)
    git("apply", "d.patch")
    assert sorted(p.name for p in Path("src").iterdir()) == ["a.hip", "same.hip"]
    assert Path("src/a.hip").read_text() == NEW


def test_a_diff_of_nothing_is_empty() -> None:
    write("a.cpp", "int x;\n")
    done = cu2port("convert", "a.cpp", "--diff")
    assert (done.exit_code, done.stdout) == (0, "")


def test_a_dry_run_writes_nothing() -> None:
    write("src/a.cu", OLD + LEFT)
    done = cu2port("convert", "src", "--dry-run")
    assert done.exit_code == 1
    assert "src/a.cu:3:18: CU103" in done.stdout
    assert Path("src/a.cu").read_text() == OLD + LEFT
    assert [p.name for p in Path().iterdir()] == ["src"]


# what is shown


def test_quiet_and_verbose() -> None:
    write("a.cu", OLD + LEFT)
    quiet, usual, verbose = (cu2port("convert", "a.cu", "--dry-run", *w) for w in (["-q"], [], ["-v"]))
    assert {d.exit_code for d in (quiet, usual, verbose)} == {1}
    assert "hipFree" not in usual.stdout and "files" in usual.stdout
    assert "(applied)" in verbose.stdout
    assert "files" not in quiet.stdout
    assert len(quiet.stdout) < len(usual.stdout) < len(verbose.stdout)


def test_nothing_left_is_exit_code_0_and_trust_may_leave_more() -> None:
    write("a.cu", OLD)
    assert cu2port("convert", "a.cu", "--dry-run", "--trust", "exact").exit_code == 0
    assert cu2port("convert", "a.cu", "--dry-run").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.cu"], "say where the output goes"),
        (["a.cu", "--diff", "--dry-run"], "--diff and --dry-run exclude each other"),
        (["a.cu", "-o", "x", "--in-place"], "exclude each other"),
        (["a.cu", "-o", ""], "empty name"),
        (["gone.cu", "-o", "x"], "gone.cu: no such file or folder"),
        (["a.cu", "-o", "a.cu"], "--in-place converts it where it is"),
        (["a.cu", "-o", "no/such/x.cu"], "there is no folder no/such"),
        (["src", "-o", "src"], "-o src is the input itself"),
        (["src", "-o", "a.cu"], "this is a file"),
        (["a.cu", "-", "-o", "x"], "cannot be mixed"),
        (["-", "--in-place"], "no place for --in-place"),
        (["a.cu", "--dry-run", "--rocm", "seven"], "--rocm seven: a version such as 7.1"),
        (["a.cu", "--dry-run", "--rocm", "3.0"], "the oldest ROCm"),
        (["a.cu", "--dry-run", "--exclude", "!"], "--exclude: `!` is not a glob"),
        (["a.cu", "--dry-run", "--max-size", "big"], "--max-size big"),
        (["a.cu", "--dry-run", "--rename", "hip"], "--rename hip: a suffix"),
        (["a.cu", "--dry-run", "-I", "gone"], "-I gone: no such folder"),
        (["a.cu", "--dry-run", "-D", "1x"], "-D 1x: a macro's name"),
        (["a.cu", "--dry-run", "-p", "."], "compile_commands.json: No such file"),
        (["a.cu", "--dry-run", "--report", "r.pdf"], "the suffix says no format; there is .json"),
        (["a.cu", "--dry-run", "--report", "no/r.json"], "there is no folder no"),
    ],
)
def test_what_cannot_run_says_so_in_one_line(words: list[str], said: str) -> None:
    write("a.cu", OLD)
    write("src/b.cu", OLD)
    done = cu2port("convert", *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(p.name for p in Path().iterdir()) == ["a.cu", "src"]
    assert Path("a.cu").read_text() == OLD


@pytest.mark.parametrize("words", [["convert"], ["convert", "a", "--bad"], ["convert", "a", "-j", "0"], ["nothing"]])
def test_usage_errors_are_one_line_too(words: list[str]) -> None:
    done = process(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("cu2port") and done.stderr.count("\n") == 1


def test_foreign_output_files_are_exit_code_2_until_forced() -> None:
    write("src/a.cu", OLD)
    write("out/a.cu", "mine")
    done = cu2port("convert", "src", "-o", "out")
    assert (done.exit_code, Path("out/a.cu").read_text()) == (2, "mine")
    assert cu2port("convert", "src", "-o", "out", "--force").exit_code == 0
    write("out/a.cu", "mended")
    write("src/a.cu", OLD + "\n")
    done = cu2port("convert", "src", "-o", "out")
    assert (done.exit_code, Path("out/a.cu").read_text()) == (2, "mended")
    assert f"src/a.cu: {file_rules.IN_THE_WAY.code} output-changed: " in done.stdout
    assert "--force" in done.stderr


def test_nasty_files_each_say_what_they_are() -> None:
    nasty: dict[str, bytes] = {
        "empty.cu": b"",
        "large.cu": b"// x\n" * 300_000,
        "nul.cu": b"int x;\0\n",
        "utf16.cu": OLD.encode("utf-16"),
        "latin1.cu": b"// \xe9\xff\n" + OLD.encode(),
        "cr.cu": OLD.replace("\n", "\r").encode(),
        "no_newline.cu": OLD.rstrip().encode(),
        "string.cu": OLD.encode() + b'const char* s = "open\n',
        "comment.cu": OLD.encode() + b"/* open",
        "raw.cu": OLD.encode() + b'auto s = R"(open',
        "if.cu": b"#if 1\n" + OLD.encode(),
        "deep.cu": OLD.encode() + b"int x = " + b"(" * 10_000 + b"1" + b")" * 10_000 + b";\n",
        "good.cu": OLD.encode(),
    }
    for name, data in nasty.items():
        write(f"src/{name}", data)
    write("src/x.cu/inner.cu", OLD)
    Path("src/loop").symlink_to("loop")
    done = cu2port("convert", "src", "-o", "src/out", "--max-size", "1M", "--report", "r.json")
    assert done.exit_code == 1
    out = {p.relative_to("src/out").as_posix(): p.read_bytes() for p in Path("src/out").rglob("*") if p.is_file()}
    assert set(nasty) | {"x.cu/inner.cu", ".cu2port/manifest.json"} == set(out)
    for name in ("empty.cu", "large.cu", "nul.cu", "utf16.cu"):
        assert out[name] == nasty[name]
    assert out["latin1.cu"] == b"// \xe9\xff\n" + NEW.encode()
    assert out["cr.cu"] == NEW.replace("\n", "\r").encode()
    assert out["no_newline.cu"] == NEW.rstrip().encode()
    for name in ("string.cu", "comment.cu", "raw.cu", "if.cu", "deep.cu", "good.cu", "x.cu/inner.cu"):
        assert b"hipFree(0)" in out[name] and b"cudaFree" not in out[name], name
    for path, code in {
        "large.cu": file_rules.TOO_LARGE,
        "nul.cu": file_rules.NOT_TEXT,
        "utf16.cu": file_rules.NOT_TEXT,
        "x.cu": file_rules.SOURCE_FOLDER,
        "loop": file_rules.LINK_LOOP,
    }.items():
        lines = [x for x in done.stdout.splitlines() if x.startswith(f"src/{path}: {code.code} {code.name}: ")]
        assert len(lines) == 1, path
    jsonschema.Draft202012Validator(schema()).validate(json.loads(Path("r.json").read_text()))


# looking things up


def test_query() -> None:
    done = cu2port("query", "cudaMalloc")
    assert done.exit_code == 0
    assert done.stdout.startswith("cudaMalloc -> hipMalloc\n")
    assert cu2port("query", "cudaMalloc()").stdout == cu2port("query", "::cudaMalloc").stdout == done.stdout


def test_query_of_a_change_shows_how() -> None:
    text = cu2port("query", "cudaFuncSetAttribute").stdout
    assert "reinterpret_cast<const void*>({0})" in text
    assert "before | " in text and "after  | " in text


def test_query_shows_by_which_type_forms_differ() -> None:
    shown = " ".join(cu2port("query", "cudaMemAdvise").output.split())
    assert "4 arguments, argument 3 a cudaMemLocation: hipMemAdvise_v2" in shown
    assert "argument 0 no pointer: cu2port::surf2Dread" in " ".join(cu2port("query", "surf2Dread").output.split())
    (form,) = json.loads(cu2port("query", "cudaMemAdvise", "--json").output)["forms"]
    assert form["types"] == {"3": "cudaMemLocation"}


def test_query_of_what_has_no_target_says_why_and_what_instead() -> None:
    done = cu2port("query", "cudaDeviceFlushGPUDirectRDMAWrites")
    assert done.exit_code == 0
    assert "not in HIP" in done.stdout
    assert "why" in done.stdout and "instead" in done.stdout
    long = cu2port("query", "cuda::std::mdspan").stdout
    assert "\\n" not in long and max(map(len, long.splitlines())) <= 100  # a long field fills several lines


def test_query_of_a_header() -> None:
    assert cu2port("query", "cuda_runtime.h").stdout == "#include <cuda_runtime.h> -> #include <hip/hip_runtime.h>\n"
    assert json.loads(cu2port("query", "cuda_runtime.h", "--json").stdout)["hip"] == "hip/hip_runtime.h"


def test_query_json() -> None:
    row = json.loads(cu2port("query", "cudaFuncSetAttribute", "--json").stdout)
    assert (row["cuda"], row["mapping"], row["hip"]) == ("cudaFuncSetAttribute", "change", "hipFuncSetAttribute")
    assert row["args"] == {"0": "reinterpret_cast<const void*>({0})"}
    assert set(row["example"]) == {"before", "after"}
    assert json.loads(cu2port("query", "cudaMalloc", "--json").stdout)["trust"] == "exact"


@pytest.mark.parametrize("name", ["cudaMaloc", "cudamalloc", "CudaMalloc"])
def test_query_of_an_unknown_name_offers_near_ones(name: str) -> None:
    done = cu2port("query", name)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "did you mean cudaMalloc" in done.stderr
    assert "cudaMalloc" in json.loads(cu2port("query", name, "--json").stdout)["near"]


def test_query_of_nonsense() -> None:
    done = cu2port("query", "zzzzqqqq")
    assert (done.exit_code, done.stderr) == (1, "zzzzqqqq: not in the catalogue\n")


def test_rules_lists_every_rule_once() -> None:
    lines = cu2port("rules").stdout.splitlines()
    wanted = [c.code for c in all_checks()] + list(BUILD_RULES) + list(file_rules.FILE_RULES)
    assert [x.split()[0] for x in lines] == wanted == sorted(wanted)
    assert all(len(x.split()) > 4 for x in lines)


def test_explain_shows_page_and_examples() -> None:
    check = all_checks()[0]
    done = cu2port("explain", check.code)
    assert done.exit_code == 0
    assert done.stdout.startswith(f"{check.code} {check.name}\n\n{check.title}\n")
    assert check.examples[0].before.splitlines()[0] in done.stdout
    assert cu2port("explain", check.name).stdout == cu2port("explain", check.code.lower()).stdout == done.stdout


def test_explain_knows_cu2port_itself() -> None:
    for rule in file_rules.FILE_RULES.values():
        done = cu2port("explain", rule.name)
        in_lint = "\nLooked for by default.\n" if "suppression" in rule.name else ""
        assert (done.exit_code, done.stdout) == (0, f"{rule.code} {rule.name}\n\n{rule.page}\n{in_lint}")


def test_explain_of_an_unknown_rule() -> None:
    done = cu2port("explain", "CU999")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "no such rule; did you mean CU9" in done.stderr


# the program


def test_version_and_help() -> None:
    assert cu2port("--version").stdout == f"cu2port {__version__}\n"
    assert "explain" in cu2port("-h").stdout
    text = cu2port("convert", "--help").stdout
    command = cli.get_command(click.Context(cli), "convert")
    assert command is not None
    for option in (name for p in command.params for name in p.opts if name.startswith("-")):
        assert option in text


def test_help_loads_nothing_but_click() -> None:
    code = (
        "import sys; sys.argv = ['cu2port', '--help']\n"
        "heavy = 'cu2port rich pathspec tomllib clang multiprocessing subprocess json'.split()\n"
        "from cu2port.cli import main\n"
        "try: main()\n"
        "except SystemExit: print(sorted(m for m in sys.modules if m.split('.')[0] in heavy), file=sys.stderr)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert done.stderr.strip() == str(
        [
            "cu2port",
            "cu2port.cli",
            "cu2port.cli.commands",
            "cu2port.cli.common",
            "cu2port.cli.console",
            "cu2port.cli.sim_commands",
            "cu2port.cli.trial_command",
            "cu2port.core",
            "cu2port.core.late",
            "cu2port.core.plain",
            "cu2port.core.version",
            "cu2port.report",
            "cu2port.report.formats",
        ]
    )


def test_an_error_we_did_not_foresee_is_one_line() -> None:
    code = (
        "import sys, cu2port.cli.lookup\n"
        "def broken(as_json): raise KeyError('two\\nlines')\n"
        "cu2port.cli.lookup.rules = broken\n"
        "sys.argv = ['cu2port', 'rules']\n"
        "from cu2port.cli import main; main()"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("cu2port: internal error: KeyError in cli/commands.py:")
    assert done.stderr.count("\n") == 1 and "please report" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal to a process group")
def test_an_interrupt_leaves_whole_files_and_exit_code_130() -> None:
    text = OLD * 150  # long enough that a machine with other work still interrupts a run that is under way
    for i in range(60):
        write(f"src/{i}.cu", text)
    # a shell's background jobs, as CI may be one, ignore the signal, and children inherit that
    heard = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code = f"{heard}from cu2port.cli import main\nmain()"
    command = [sys.executable, "-c", code, "convert", "src", "-o", "out", "-j", "1"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    running = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not list(Path().glob("out/*.cu")):
        time.sleep(0.005)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 130
    assert said.strip() == b"cu2port: interrupted"
    written = [p for p in Path("out").iterdir() if p.is_file()]
    assert 0 < len(written) < 60
    assert {p.read_text() for p in written} == {cu2port("convert", "-", stdin=text).stdout}
    assert cu2port("convert", "src", "-o", "out").exit_code == 0
    assert len(list(Path("out").glob("*.cu"))) == 60


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo terminal")
def test_progress_is_shown_on_a_terminal_only() -> None:
    for i in range(30):
        write(f"src/{i}.cu", OLD)
    code = (
        "import sys, cu2port.cli.reports as c\nc._QUICK_S = 0\n"
        "sys.argv = ['cu2port', 'convert', 'src', '--dry-run']\nfrom cu2port.cli import main; main()"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator"), "TERM": "xterm"}
    ours, theirs = pty.openpty()
    shown = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs, env=env, check=False)
    os.close(theirs)
    text = b""
    while select.select([ours], [], [], 0.1)[0]:
        try:
            text += os.read(ours, 1 << 16)
        except OSError:  # the other end is closed and all is read
            break
    os.close(ours)
    assert b"converting" in text and b"converting" not in shown.stdout
    silent = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env, check=False)
    assert (
        silent.stderr == b"note: src is not in a git tree, so the old files cannot be brought back\n"
        or not silent.stderr
    )
    assert silent.stdout == shown.stdout


def test_the_configuration_says_how_warps_are_kept() -> None:
    shuffle = "__global__ void k(int* p) { *p = __shfl_sync(~0u, *p, 0); }\n"
    write("a.cu", shuffle)
    write("cu2port.toml", 'warp = "flag"\n')
    assert "__shfl_sync" in cu2port("convert", "a.cu", "-o", "-").stdout
    assert "cu2port::warp::shfl" in cu2port("convert", "a.cu", "-o", "-", "--warp", "logical").stdout
    write("cu2port.toml", '[kernels]\nk = "solo"\n')
    solo = cu2port("convert", "a.cu", "-o", "-").stdout
    assert "solo" in solo and solo == cu2port("convert", "a.cu", "-o", "-", "--kernel", "k=solo").stdout
    write("cu2port.toml", "wrap = 1\n")
    result = cu2port("convert", "a.cu", "-o", "-")
    assert (result.exit_code, "did you mean 'warp'" in result.stderr) == (2, True)


def test_a_source_that_a_link_names_as_cuda(here: Path) -> None:
    """One file for both compilers: nvcc includes the runtime's header by itself, and the host's has none."""
    write("in/a.cpp", '#include "u.h"\nint f();\n')
    write("in/u.h", "inline cudaError_t g(cudaError_t e);\n")
    (here / "in" / "a.cu").symlink_to("a.cpp")
    guarded = "#ifdef __HIPCC__\n#include <hip/hip_runtime.h>\n#endif\n"
    for source, out in (("in", "out"), ("out", "again")):
        assert cu2port("convert", source, "-o", out).exit_code == 0
        assert (here / out / "a.cpp").read_text() == f'{guarded}#include "u.h"\nint f();\n'
        assert (here / out / "a.cu").is_symlink()
