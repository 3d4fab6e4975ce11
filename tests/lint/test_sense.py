"""What lint says of code that is HIP's, which findings say the same, and what a baseline keeps from being mended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cu2port.cli import cli

HIP = "#include <hip/hip_runtime.h>\n"
MIN = "__global__ void k(unsigned* p) { p[0] = min(p[1], 3); }\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    tree = tmp_path / "tree"
    (tree / ".git").mkdir(parents=True)
    monkeypatch.chdir(tree)
    return tree


def lint(text: str | bytes, *words: str, name: str = "a.cu") -> Result:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return CliRunner().invoke(cli, ["lint", name, *words], prog_name="cu2port")


def codes(text: str, *words: str, name: str = "a.cu") -> list[str]:
    result = lint(text, *words, "--output-format", "json", name=name)
    assert result.exit_code in (0, 1), result.stderr
    return [f["code"] for f in json.loads(result.stdout)["findings"]]


@pytest.mark.parametrize(
    "text",
    [
        "__device__ int f() { return threadIdx.x / warpSize; }\n",
        "__device__ int f(int v) { return __shfl_down(v, 1) + __any(v); }\n",
        "__device__ int f(int v) { return __shfl_sync(0xffffffffffffffffULL, v, 0); }\n",
        "void f(hipDeviceProp_t p, int n) { int warp_size = p.warpSize; g(n / warp_size); }\n",
    ],
)
def test_hips_own_ways_are_for_information(text: str) -> None:
    assert codes(HIP + text) == []
    assert codes(HIP + text, "--info")
    assert codes(text.replace("hipDeviceProp_t", "cudaDeviceProp"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("__global__ void k() { __shared__ int s[1024 / warpSize]; }\n", "CU315"),
        ("__device__ unsigned f(int v) { unsigned m = __ballot(v); return m; }\n", "CU312"),
        ("__device__ int f(int v) { return __shfl_sync(0xffffffff, v, 0); }\n", "CU310"),
        ("__device__ int f(int v) { return __shfl_down(v, threadIdx.x / 32); }\n", "CU314"),
        ("#if __AMDGCN_WAVEFRONT_SIZE == 64\n#endif\n", "CU320"),
        (
            "__device__ int f(int v) { return __shfl_down(v, 1); }\n"
            "void run(int n) { const int threads = 256, warps = threads / 32; }\n",
            "CU354",
        ),
    ],
)
def test_what_goes_wrong_with_them_stays_a_finding(text: str, code: str) -> None:
    assert codes(HIP + text) == [code]


def test_one_call_is_one_finding() -> None:
    text = "__device__ int f(int v) { return __shfl_sync(0xffffffff, v, 0); }\n"
    (found,) = json.loads(lint(text, "--output-format", "json").stdout)["findings"]
    assert found["code"] == "CU311"
    assert found["effects"] == {"wave64": "wrong-result", "all": "compile-error"}
    assert [w.partition(" ")[0] for w in found["why"][-2:]] == ["CU310", "CU351"]
    assert codes(text, "--select", "CU310,CU351") == ["CU310"]
    nested = "__device__ int f(int v) { return __shfl_sync(0xffffffff, __shfl_sync(0xffffffff, v, 0), 1); }\n"
    assert codes(nested) == ["CU311", "CU311"]


@pytest.mark.parametrize("rule", ["CU311", "CU310", "warp-mask-width", "lane-mask"])
def test_a_comment_on_one_of_them_silences_all(rule: str) -> None:
    text = f"__device__ int f(int v) {{ return __shfl_sync(0xffffffff, v, 0); }} // cu2port: ignore[{rule}]\n"
    assert codes(text) == []


def test_host_sizes_are_said_once_a_function() -> None:
    body = "{ g(n / WARP_SIZE); g(n % WARP_SIZE); }\n"
    text = f"#define WARP_SIZE 32\nvoid a(int n) {body}void b(int n) {body}"
    assert codes(text, "--select", "CU354", "--info") == ["CU354", "CU354"]


def test_code_for_both_is_mended_in_its_branches_for_hip_alone() -> None:
    both = "#ifdef __HIP_PLATFORM_AMD__\n#include <hip/hip_runtime.h>\n%s#else\n#include <cuda_runtime.h>\n%s#endif\n%s"
    other = MIN.replace("k(", "m(")
    text = both % (MIN, MIN, other)
    result = lint(text, "--select", "CU214", "--info", "--unsafe-fixes")
    assert Path("a.cu").read_text() == both % (MIN.replace("3)", "3u)"), MIN, other)
    assert result.stdout.count("CU214") == 2


def test_what_a_baseline_knows_is_not_mended() -> None:
    words = ("--select", "CU214", "--info")
    lint(HIP + MIN, *words, "--write-baseline", "known.json")
    text = HIP + MIN + MIN.replace("3)", "4)").replace("k(", "m(")
    result = lint(text, *words, "--unsafe-fixes", "--baseline", "known.json")
    assert Path("a.cu").read_text() == text.replace("4)", "4u)")
    assert (result.exit_code, result.stdout) == (0, "")
    twice = HIP + MIN + MIN
    result = lint(twice, *words, "--unsafe-fixes", "--baseline", "known.json")
    assert Path("a.cu").read_text() == HIP + MIN + MIN.replace("3)", "3u)")
    assert result.exit_code == 0


def test_what_is_not_shown_is_not_mended() -> None:
    result = lint(HIP + MIN, "--select", "CU214", "--unsafe-fixes")
    assert Path("a.cu").read_text() == HIP + MIN
    assert result.exit_code == 0


@pytest.mark.parametrize("encoding", ["crlf", "bom", "latin-1", "cr"])
def test_a_fix_leaves_encoding_and_line_ends_alone(encoding: str) -> None:
    data = (HIP + "// \u00e9\n" + MIN).encode("latin-1" if encoding == "latin-1" else "utf-8")
    if encoding == "crlf":
        data = data.replace(b"\n", b"\r\n")
    elif encoding == "bom":
        data = b"\xef\xbb\xbf" + data
    elif encoding == "cr":
        data = data[: -len(MIN) - 1] + b"\n" + data[-len(MIN) :].replace(b" p[0]", b"\r p[0]")
    lint(data, "--select", "CU214", "--info", "--unsafe-fixes")
    assert Path("a.cu").read_bytes() == data.replace(b"3)", b"3u)")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.hip", "__device__ int f(int v) { return __any(v); }\n"),
        ("a.hip.hpp", "__device__ int f(int v) { return __any(v); }\n"),
        ("a.h", "__device__ int f(int v) { return __any(v) + __builtin_amdgcn_wavefrontsize(); }\n"),
    ],
)
def test_names_and_builtins_tell_hips_code(name: str, text: str) -> None:
    assert codes(text, name=name) == []
    assert codes(text.replace("__builtin_amdgcn_wavefrontsize", "f"), name="a.cuh") == ["CU313"]


def test_links_are_mended_where_they_lead_and_not_outside(tmp_path: Path) -> None:
    outside = tmp_path / "o.hip"
    outside.write_text(HIP + MIN)
    Path("b").mkdir()
    Path("b/real.hip").write_text(HIP + MIN)
    Path("inner.hip").symlink_to("b/real.hip")
    Path("outer.hip").symlink_to(outside)
    words = ["lint", "--select", "CU214", "--info", "--unsafe-fixes"]
    result = CliRunner().invoke(cli, [*words, "."], prog_name="cu2port")
    assert (result.exit_code, result.stderr) == (0, "nothing left in 1 file; 1 fixed\n")
    assert Path("inner.hip").is_symlink()
    assert Path("b/real.hip").read_text().endswith("3u); }\n")
    assert outside.read_text() == HIP + MIN
    named = CliRunner().invoke(cli, [*words, "outer.hip"], prog_name="cu2port")
    assert named.exit_code == 2
    assert "is outside" in named.stderr
    assert Path("outer.hip").is_symlink()


def test_a_baseline_that_is_a_link_to_elsewhere_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text('{"schema": "cu2port-baseline/1", "files": {}}')
    Path("known.json").symlink_to(tmp_path / "known.json")
    Path("cu2port.toml").write_text('baseline = "known.json"\n')
    result = lint(HIP)
    assert result.exit_code == 2
    assert "leads out of the tree" in result.stderr


def test_a_name_without_a_counterpart_is_one_finding_in_a_file() -> None:
    call = "cudaDeviceFlushGPUDirectRDMAWrites(1, 1);"
    text = (
        f"void f() {{ {call}\n{call} {call}\n}}\nvoid g() {{ {call} cudaGraphConditionalHandleCreate(0, 0, 0, 0); }}\n"
    )
    found = json.loads(lint(text, "--output-format", "json").stdout)["findings"]
    assert [(x["start"]["line"], len(x["also"])) for x in found] == [(1, 3), (4, 0)]
    assert found[0]["message"].endswith("(3 more places in this file: lines 2, 4)")
    lint(text, "--write-baseline", "known.json")
    more = text + f"void h(int x) {{ if (x) {call} }}\n"
    found = json.loads(lint(more, "--baseline", "known.json", "--output-format", "json").stdout)["findings"]
    assert [x["start"]["line"] for x in found] == [5]
    first = text.replace("\n", " // cu2port: ignore[CU103] known\n", 1)
    found = json.loads(lint(first, "--output-format", "json").stdout)["findings"]
    assert [(x["start"]["line"], len(x["also"])) for x in found] == [(2, 2), (4, 0)]


def test_a_namespace_without_a_counterpart_is_one_finding_in_a_file() -> None:
    body = "  cudnn_frontend::DataType_t a;\n  cudnn_frontend::graph::Graph g;\n"
    text = f"namespace fe = cudnn_frontend;\nvoid f() {{\n{body}}}\n"
    (found,) = json.loads(lint(text, "--output-format", "json").stdout)["findings"]
    assert (found["start"]["line"], [p["line"] for p in found["also"]]) == (1, [3, 4])
    assert "2 more names of its namespace, 2 more places in this file: lines 3, 4" in found["message"]
    assert json.loads(lint(text, "--output-format", "sarif").stdout)["runs"][0]["results"][0]["relatedLocations"]


def test_what_lanes_do_is_said_at_every_place() -> None:
    text = "__device__ int f(int v) { return __any(v) + __any(v); }\n"
    assert codes(text) == ["CU313", "CU313"]
