"""Whatever configurations, baselines, older audits and comments hold: a message, no traceback; and fixes that end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cu2port.cli import cli
from cu2port.core.model import Options, Trust
from cu2port.lint.run import FileLint, Settings, lint_job
from cu2port.lint.select import make_selection
from cu2port.project.jobs import Job, Tools

HIP = "#include <hip/hip_runtime.h>\n"
few = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
PATHS = st.sampled_from(
    ["a.cu", "../a.cu", "/etc/passwd", "https://x/a", "C:\\a", "a/../../b", "", "\0", "..", "\ud800"]
)
KEYS = st.sampled_from(
    "select ignore extend-select exclude include-dirs defines arch rocm baseline per-file-ignores x".split()
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    monkeypatch.chdir(tree)
    Path("a.cu").write_text("void f() {}\n")
    return tree


def says_why(result: Result) -> None:
    """Done, or one line that says why not."""
    assert result.exit_code in (0, 1, 2), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "internal error" not in result.output
    if result.exit_code == 2:
        assert result.stderr.startswith("cu2port: ")
        assert result.stderr.count("\n") == 1
    assert {p.name for p in Path("..").iterdir()} <= {"tree", "cache"}


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, [*words], prog_name="cu2port")


def as_toml(value: object) -> str:
    return json.dumps(value) if not isinstance(value, float) else "1.5"


@few
@given(st.dictionaries(KEYS, st.lists(PATHS | st.text(max_size=6), max_size=2) | PATHS | st.integers(), max_size=3))
def test_any_configuration(table: dict[str, object]) -> None:
    text = "".join(f"{json.dumps(k)} = {as_toml(v)}\n" for k, v in table.items())
    Path("cu2port.toml").write_text(text, encoding="utf-8", errors="surrogatepass")
    says_why(run("lint", "a.cu"))


@few
@given(st.binary(max_size=40) | st.sampled_from([b"[tool.cu2port]\n" * 2, b"a" * 5000, b"[" * 5000, b"\xff\xfe"]))
def test_any_bytes_as_configuration(data: bytes) -> None:
    Path("cu2port.toml").write_bytes(data)
    says_why(run("lint", "a.cu"))
    Path("cu2port.toml").unlink()
    Path("pyproject.toml").write_bytes(data)
    says_why(run("lint", "a.cu"))
    Path("pyproject.toml").unlink()


@few
@given(st.dictionaries(PATHS, json_values, max_size=2) | json_values)
def test_any_baseline(files: object) -> None:
    Path("known.json").write_text(json.dumps({"schema": "cu2port-baseline/1", "files": files}))
    says_why(run("lint", "a.cu", "--baseline", "known.json"))


@few
@given(
    st.lists(
        st.fixed_dictionaries(
            {"path": PATHS, "code": st.just("CU103"), "message": st.text(max_size=4), "way": st.just("hand")},
            optional={"fingerprint": st.text(max_size=4) | st.integers(), "line": json_values},
        )
        | json_values,
        max_size=2,
    )
    | json_values
)
def test_any_older_audit(findings: object) -> None:
    Path("old.json").write_text(json.dumps({"schema": "cu2port-audit/1", "findings": findings}))
    for chosen in ("text", "html"):
        says_why(run("audit", "a.cu", "--compare", "old.json", "--format", chosen))


COMMENTS = st.sampled_from(
    "ignore ignore[CU214] ignore[CU9] ignore[] ignore[ ignore-begin ignore-begin[CU2] ignore-end ignore-file[CU312] "
    "ignore-next-line ignore-next-line[mixed-min-max] ignore-file ignore-x ignore[ALL]".split()
)
LINES = st.sampled_from(
    [
        "  p[0] = min(p[1], 3);",
        "  p[2] = max(7, p[1]); p[3] = min(p[2], 1);",
        "  unsigned m = __ballot(p[0]); p[1] = __popc(m);",
        "  p[0] = __shfl_sync(0xffffffff, p[1], 0);",
        "  cudaFree(p);",
        "  p[1] = warpSize; __shared__ int s[warpSize];",
        "#if __AMDGCN_WAVEFRONT_SIZE == 64",
        "#endif",
        "#ifdef __HIP_PLATFORM_AMD__",
        "#else",
        "  { (",
        "",
    ]
)


def mend(data: bytes, fix: Trust | None) -> FileLint:
    chosen = make_selection(("ALL",), (), (), {}, "test")
    wanted = Settings(Options(warp="flag", use_clang=False), chosen, fix, info=True)
    return lint_job(wanted, Job(0, "a.cu", "a.cu", wanted.options, data=data), Tools())


@few
@given(
    st.sampled_from(["", HIP, "#include <cuda_runtime.h>\n", HIP + "#include <cuda.h>\n"]),
    st.lists(st.tuples(LINES, COMMENTS | st.none()), max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff", "// \u00e9\n"]),
)
def test_any_mending(head: str, lines: list[tuple[str, str | None]], end: str, first: str) -> None:
    body = "\n".join(line + (f" // cu2port: {c}" if c else "") for line, c in lines)
    text = f"{first}{head}__global__ void k(unsigned* p) {{\n{body}\n}}\n".replace("\n", end)
    data = text.encode()
    plain = mend(data, None)
    for trust in (Trust.EXACT, Trust.REVIEW):
        done = mend(data, trust)
        after = data if done.output is None else done.output
        able = [x for x in plain.findings if x.fix is not None and (trust is Trust.REVIEW or x.fix.trust == "exact")]
        if not able:
            assert after == data
        if head != HIP and "__HIP_PLATFORM_AMD__" not in body and "cuda" in head + body:
            assert after == data
        again = mend(after, trust)
        assert again.output is None
        assert [x.code for x in again.findings] == [x.code for x in done.findings]
        touched = {x.start.line for x in able} | {x.end.line for x in able}
        old, new = data.split(b"\n"), after.split(b"\n")
        if len(old) == len(new):
            assert {n for n, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b} <= touched


def test_the_cache_folder_may_be_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    (tmp_path / "cache").write_text("a file")
    says_why(run("lint", "a.cu"))


@pytest.mark.parametrize("terms", [65, 3_000])
def test_a_generated_line_of_many_findings(terms: int) -> None:
    calls = " + ".join(f"__shfl_sync(0xffffffff, x, {n})" for n in range(terms))
    Path("a.cu").write_text(f"__device__ int f(int x) {{ return {calls}; }}\n")
    for _ in range(2):  # looked at, and from the cache
        result = run("lint", "a.cu", "--select", "CU311")
        assert result.stderr.startswith(f"{terms} findings in 1 of 1 file")
        rows = result.stdout.splitlines()
        assert max(map(len, rows)) < 200
        for place, line, caret in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
            first, last = caret.index("^"), len(caret)
            assert line[first:last].startswith("__shfl_sync(0xffffffff, x, "), place
    says_why(run("audit", "a.cu", "--format", "html"))
