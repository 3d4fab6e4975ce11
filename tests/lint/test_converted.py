"""Lint and audit of what `convert` wrote: they say nothing that its report has not, and find what was broken since."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cu2port.checks import all_checks
from cu2port.cli import cli
from cu2port.core.model import Options, Outcome, Project
from cu2port.engine.translate import translate
from cu2port.lint.run import FileLint, Settings, lint_job
from cu2port.lint.select import make_selection
from cu2port.project.helper_headers import HelperHeaders
from cu2port.project.jobs import Job, Tools

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SETTINGS = Settings(Options(warp="flag", use_clang=False), make_selection(None, (), (), {}, "a test"))
KERNEL = """#include <cuda_runtime.h>
__global__ void sums(const int* in, unsigned* out, int n) {
  unsigned lane = threadIdx.x % 32, mask = __ballot_sync(0xffffffffu, in[lane] > 0);
  int v = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  unsigned rank = __popc(mask & ((1u << lane) - 1));
  unsigned active = __activemask();
  if (lane == 0) out[threadIdx.x / warpSize] = v + rank + active;
}
void run(const int* in, unsigned* out, int n) {
  const int threads = 256, warps = threads / 32;
  sums<<<n / warps, threads>>>(in, out, n);
}
"""


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, [*words], prog_name="cu2port")


def lint_text(text: bytes | str, path: str = "a.cu", keeps_warps: bool = False) -> FileLint:
    data = text if isinstance(text, bytes) else text.encode()
    job = Job(0, path, path, SETTINGS.options, Project(keeps_warps=keeps_warps), data=data)
    return lint_job(SETTINGS, job, Tools())


def converted(warp: str = "logical") -> str:
    return translate(KERNEL, Options(warp=warp, use_clang=False), path="a.cu").output.decode()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for path in SAMPLES.rglob("*"):
        if path.is_file() and path.suffix in (".cu", ".cuh") and not path.name.startswith("expected."):
            target = tmp_path / "src" / path.relative_to(SAMPLES)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return tmp_path


def test_lint_of_the_samples_output_says_nothing_that_the_report_has_not(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("convert", "src", "-o", "out", "-j", "1", "--report", "report.json")
    report = json.loads((tree / "report.json").read_text())
    known: Counter[tuple[str, str]] = Counter()
    for f in report["files"]:
        for x in f["findings"]:
            known[f["output"].removeprefix("out/"), x["code"]] += x["outcome"] != "applied"
    monkeypatch.chdir("out")
    found = json.loads(run("lint", "--isolated", "-j", "1", "--output-format", "json").stdout)["findings"]
    new = Counter((x["path"], x["code"]) for x in found) - known
    assert not new


def test_an_audit_of_the_output_goes_down_and_leaves_helper_headers_out(tree: Path) -> None:
    run("convert", "src", "-o", "out", "-j", "1")
    before = run("audit", "src", "-j", "1", "--format", "json")
    (tree / "before.json").write_text(before.stdout)
    after = json.loads(run("audit", "out", "-j", "1", "--format", "json", "--compare", "before.json").stdout)
    old = json.loads(before.stdout)
    assert after["effort"]["minutes"] < old["effort"]["minutes"]
    assert after["compare"]["new"] == 0 < after["compare"]["left"]
    assert (tree / "out" / "cu2port" / "warp.hpp").is_file()
    assert not [f for f in after["files"] if "cu2port/" in f["path"]]
    assert after["summary"]["files"] == old["summary"]["files"]


def test_helper_headers_are_not_judged(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = HelperHeaders()
    headers.put(tree / "own", frozenset({"ptx.hpp", "warp.hpp", "wave.hpp", "solo.hpp", "tile_reduce.hpp"}))
    assert run("lint", "own", "--select", "ALL", "--info").stdout == ""
    mine = tree / "own" / "a.hip"
    mine.write_text("// cu2port: ignore-file[CU401]\n" + KERNEL.replace("cuda_", "hip/hip_"))
    assert run("lint", "own").exit_code == 1


def examples() -> list[tuple[str, str, str, str]]:
    return [
        (f"{check.code} {k}", e.path, e.before, e.after)
        for check in all_checks()
        for k, e in enumerate(check.examples)
        if e.after is not None and e.options.warp == "logical" and e.options.rocm == (7, 1) and "hip/" not in e.before
    ]


@pytest.mark.parametrize(("name", "path", "before", "after"), examples(), ids=lambda x: x if x[:2] == "CU" else "")
def test_lint_of_a_converted_example_says_nothing_new(name: str, path: str, before: str, after: str) -> None:
    result = translate(before, Options(use_clang=False), path=path)
    known = {j.finding.code for j in result.findings if j.outcome is not Outcome.APPLIED}
    assert {x.code for x in lint_text(result.output, path, keeps_warps=True).findings} <= known


@pytest.mark.parametrize("keeps_warps", [True, False])
def test_converted_code_is_silent(keeps_warps: bool) -> None:
    assert lint_text(converted(), keeps_warps=keeps_warps).findings == ()
    assert lint_text(converted("flag"), keeps_warps=keeps_warps).findings


def test_a_pause_is_no_operation_of_a_wavefront() -> None:
    """`__nanosleep` becomes a builtin of AMD's, which says nothing of lanes."""
    text = converted().replace("{", "{ __builtin_amdgcn_s_sleep(1);", 1)
    assert text != converted()
    assert lint_text(text).findings == ()


@pytest.mark.parametrize(
    ("ours", "theirs", "code"),
    [
        (r"cu2port::warp::shfl_down\(0xffffffffu, v, d\)", "__shfl_down(v, d)", "CU314"),
        (r"cu2port::warp::shfl_down", "__shfl_down_sync", "CU311"),
        (r"cu2port::warp::ballot\(0xffffffffu, ", "__ballot(", "CU313"),
        (r"unsigned active = cu2port::warp::activemask", "unsigned active = __activemask", "CU312"),
        (r"__popc\(mask", "__popc(__ballot(1) + mask", "CU323"),
        (r"cu2port::warp::size", "warpSize", "CU315"),
        (r"threadIdx.x % 32", "threadIdx.x % warpSize", "CU315"),
        (r"unsigned rank", "int n = __lane_id(); unsigned rank", "CU350"),
    ],
)
def test_a_wavefront_in_converted_code_is_found(ours: str, theirs: str, code: str) -> None:
    broken, n = re.subn(ours, theirs, converted(), count=1)
    assert n == 1
    found = lint_text(broken).findings
    assert code in {x.code for x in found}
    assert all(x.severity != "info" for x in found)
