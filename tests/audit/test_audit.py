"""`cu2port audit`: the document, what is made of it, and what it says of small trees whose answers are known."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from cu2port.audit import collect, effort
from cu2port.audit.document import schema
from cu2port.audit.order import order
from cu2port.cli import cli

HEADER = "#pragma once\n#include <cuda_runtime.h>\n__device__ float helper(float x);\n"
KERNEL = """#include "h.cuh"
__global__ void plain(float* p) { p[threadIdx.x] = helper(1.0f); }
__global__ void lanes(unsigned* p) { asm volatile("wgmma.fence.sync.aligned;"); p[0] = 1; }
void run(float* p) {
  plain<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice, 1);
}
"""
RISKS = """#include <cuda_runtime.h>
#define LAST(s, t) s[t] += s[t + 2]; s[t] += s[t + 1];
__global__ void tail(int* out) {
  __shared__ volatile int s[64];
  LAST(s, threadIdx.x)
}
__device__ void last(volatile int* s, int t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
}
"""
HOSTILE = "<script>alert(1)</script>\"'&\N{RIGHT-TO-LEFT OVERRIDE}"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str | bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def audit(*words: str) -> Result:
    return CliRunner().invoke(cli, ["audit", *words], prog_name="cu2port")


def document(*words: str) -> dict[str, Any]:
    result = audit(*words, "--format", "json")
    assert result.exit_code in (0, 1), result.stderr
    loaded: dict[str, Any] = json.loads(result.stdout)
    return loaded


def tree() -> None:
    write("src/h.cuh", HEADER)
    write("src/a.cu", KERNEL)
    write("src/b.cu", '#include "h.cuh"\n__device__ float helper(float x) { return x; }\n')
    write("src/plain.cpp", "int main() {}\n")
    write("src/CMakeLists.txt", "project(x LANGUAGES CXX CUDA)\nset(CMAKE_CUDA_ARCHITECTURES 80)\n")


def test_the_document_holds_to_its_schema_and_says_what_is_there() -> None:
    tree()
    doc = document("src")
    jsonschema.validate(doc, schema())
    assert (doc["summary"]["files"], doc["summary"]["cuda_files"]) == (4, 3)
    assert {k["name"]: k["way"] for k in doc["kernels"]} == {"plain": "self", "lanes": "none"}
    why = "it drives tensor cores of NVIDIA's GPUs since Hopper, which no AMD GPU has"
    assert doc["ptx"] == [{"instruction": "wgmma.fence.sync.aligned", "how": why, "count": 1, "lifted": 0}]
    gaps = {lib["library"]: lib["gaps"] for lib in doc["libraries"]}
    assert "cudaDeviceFlushGPUDirectRDMAWrites" in gaps["runtime"]
    assert [b["line"] for b in doc["build"]] == [1, 2]
    assert [o["path"] for o in doc["order"]] == ["src/h.cuh", "src/b.cu", "src/a.cu"]
    assert doc["order"][0]["needed_by"] == 2


def product(opcode: str, registers: int) -> str:
    """A function with an `mma` of 32-bit registers in A, B, C and D."""
    numbers = iter(range(registers))
    sizes = (4, registers - 9, 1, 4) if registers > 10 else (2, 1, 1, 2)
    groups = ["{" + ", ".join(f"%{next(numbers)}" for _ in range(n)) + "}" for n in sizes]
    outputs = ", ".join(f'"=r"(d[{n}])' for n in range(sizes[0]))
    inputs = ", ".join(f'"r"(a[{n}])' for n in range(sum(sizes[1:])))
    return f'__device__ void f(int* d, int* a) {{ asm("{opcode} {", ".join(groups)};" : {outputs} : {inputs}); }}\n'


def test_each_product_of_matrices_is_told_by_its_form() -> None:
    """MFMA, vector instructions, or why it stays: in every report of a project."""
    mixed, signed = (f"mma.sync.aligned.m8n8k16.row.col.s32.{x}.s8.s32" for x in ("u8", "s8"))
    scaled = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"
    write("src/a.cu", product(mixed, 6) + product(signed, 6).replace(" f(", " g(") * 2)
    write("src/b.cu", product(signed, 6) + product(scaled, 13))
    told = {p["instruction"]: (p["how"], p["count"], p["lifted"]) for p in document("src")["ptx"]}
    assert told[mixed] == ("by vector instructions: MFMA has signed bytes only, and WMMA is not faster here", 1, 1)
    how, *counts = told[signed]
    assert how.startswith("by MFMA on gfx90a, gfx942 and gfx950 where both warps") and counts == [3, 3]
    assert "scales, which only gfx950 does" in told[scaled][0] and told[scaled][1:] == (1, 0)
    text = audit("src").stdout
    assert f"\n  3 products {how}\n  1 product by vector instructions: MFMA has" in text
    for suffix in ("md", "html"):
        shown = audit("src", "--format", suffix).stdout
        assert how in shown and "which only gfx950 does" in shown


def test_every_sum_can_be_made_again_from_the_lists() -> None:
    tree()
    write("src/c.cu", "__global__ void k(int* p) { *p = __shfl_sync(~0u, *p, 0); }\n" * 3)
    doc = document("src")
    s, found = doc["summary"], doc["findings"]
    for way in ("review", "hand", "none"):
        assert s["by_way"]["findings"][way] == sum(x["way"] == way for x in found)
        assert s["by_way"]["findings"][way] == sum(f["findings"][way] for f in doc["files"])
    for way in ("self", "review", "hand", "none"):
        assert s["by_way"]["lines"][way] == sum(f["ways"][way] for f in doc["files"])
        assert s["by_way"]["names"][way] == sum(n["way"] == way for n in doc["names"])
        assert s["by_way"]["kernels"][way] == sum(k["way"] == way for k in doc["kernels"])
    assert s["by_code"] == dict(sorted(Counter(x["code"] for x in found).items()))
    assert s["lines"] == sum(f["lines"] for f in doc["files"])
    assert s["cuda_lines"] == sum(f["lines"] for f in doc["files"] if f["cuda"])
    assert s["other_files"] == sum(f["other"] for f in doc["files"])
    parts = doc["effort"]["parts"]
    assert abs(doc["effort"]["minutes"] - sum(p["minutes"] for p in parts)) < 0.1 * len(parts)
    assert sum(x["minutes"] for x in found) == pytest.approx(
        sum(p["minutes"] for p in parts if p["what"].startswith(("changes", "findings", "uses"))), abs=0.5
    )
    assert doc["effort"]["days"] == [round(d, 1) for d in effort.days(doc["effort"]["minutes"])]
    for lib in doc["libraries"]:
        assert lib["uses"] == sum(n["uses"] for n in doc["names"] if n["library"] == lib["library"])
    for f in doc["files"]:
        assert f["minutes"] == round(sum(x["minutes"] for x in found if x["path"] == f["path"]), 2)


def test_numbers_in_the_reports_are_those_of_the_document() -> None:
    tree()
    doc = document("src")
    page = audit("src", "--format", "html").stdout
    assert f"<b>{doc['summary']['cuda_lines']:,}</b><span>lines in the CUDA files</span>" in page
    assert f"<b>{sum(x['way'] in ('hand', 'none') for x in doc['findings'])}</b><span>findings for a person" in page
    text = audit("src").stdout
    assert text.startswith(f"3 CUDA files with {doc['summary']['cuda_lines']} lines, of 4 source files\n")
    rows = audit("src", "--format", "md").stdout.splitlines()
    cells = [r.split(" | ") for r in rows if r.startswith("| src/") and ("CU401" in r or "CU103" in r)]
    assert sum(int(c[1]) for c in cells) == sum(
        x["code"] in ("CU401", "CU103") and x["way"] in ("hand", "none") for x in doc["findings"]
    )


def test_an_older_audit_is_compared() -> None:
    tree()
    assert audit("src", "-o", "old.json").exit_code == 1
    same = document("src", "--compare", "old.json")["compare"]
    assert (same["fixed"], same["new"]) == (0, 0)
    assert same["left"] == sum(
        x["way"] in ("hand", "none") for x in json.loads(Path("old.json").read_text())["findings"]
    )
    lines = KERNEL.replace('asm volatile("wgmma.fence.sync.aligned;"); ', "").splitlines(keepends=True)
    write("src/a.cu", "// moved\n" + "".join(lines) + "void g() { cudaGLSetGLDevice(0); }\n")
    now = document("src", "--compare", "old.json")
    jsonschema.validate(now, schema())
    assert {x["code"] for x in now["compare"]["fixed_findings"]} == {"CU401"}
    assert now["compare"]["left"] == same["left"] - now["compare"]["fixed"]


def test_ptx_that_stays_is_left_and_not_new_after_a_conversion() -> None:
    write("src/a.cu", KERNEL)
    audit("src", "-o", "old.json")
    assert CliRunner().invoke(cli, ["convert", "src", "-o", "out"], prog_name="cu2port").exit_code == 1
    done = document("out", "--compare", "old.json")["compare"]
    assert done["by_code"]["CU401"] == {"fixed": 0, "new": 0, "left": 1}


def test_an_audit_of_another_folder_is_compared_by_paths_inside_it(here: Path) -> None:
    tree()
    audit("src", "-o", "old.json")
    (here / "src").rename(here / "moved")
    same = document("moved", "--compare", "old.json")["compare"]
    assert (same["fixed"], same["new"]) == (0, 0) < (same["left"], 0)
    write("other/z.cu", KERNEL)
    result = audit("other", "--compare", "old.json")
    assert "no file of it is among these inputs" in result.stderr


@pytest.mark.parametrize(
    ("folder", "given", "shown"),
    [(".", "src", "src/a.cu"), (".", "{top}/src", "src/a.cu"), ("sub", "../src", "a.cu"), ("sub", "{top}/src", "a.cu")],
)
def test_sarif_names_files_from_the_working_folder_or_the_input(
    here: Path, monkeypatch: pytest.MonkeyPatch, folder: str, given: str, shown: str
) -> None:
    tree()
    (here / "sub").mkdir()
    monkeypatch.chdir(here / folder)
    result = audit(given.format(top=here), "--format", "sarif")
    assert result.exit_code == 1, result.stderr
    places = [r["locations"][0]["physicalLocation"] for r in json.loads(result.stdout)["runs"][0]["results"]]
    assert {p["artifactLocation"]["uri"] for p in places} == {shown}


def test_an_audit_of_an_absolute_path_is_compared(here: Path) -> None:
    tree()
    audit(f"{here}/src", "-o", "old.json")
    assert document("src", "--compare", "old.json")["compare"]["new"] == 0


def test_every_report_counts_the_open_risks_of_64_lanes_alike() -> None:
    write("a.cu", RISKS)
    doc = document("a.cu")
    found = [x for x in doc["findings"] if x["code"].startswith("CU3")]
    still = [x for x in found if x["way"] in ("hand", "none") and {"hang", "wrong-result"} & set(x["effects"].values())]
    assert 0 < len(still) < len(found)
    said = f"{len(still)} for manual work hang or give wrong results"
    assert said in audit("a.cu").stdout
    assert said in audit("a.cu", "--format", "md").stdout
    assert f"<b>{len(still)}</b><span>of them hang or give wrong results" in audit("a.cu", "--format", "html").stdout


def test_names_become_what_conversion_writes_for_them() -> None:
    write("a.cu", "__device__ int f(int v) { return __shfl_sync(~0u, v, warpSize - 1); }\n")
    names = {n["name"]: (n["hip"], n["way"]) for n in document("a.cu")["names"]}
    assert names["__shfl_sync"] == ("cu2port::warp::shfl", "self")


def test_the_page_shows_the_newlines_of_rules() -> None:
    tree()
    assert "\N{REPLACEMENT CHARACTER}" not in audit("src", "--format", "html").stdout


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        '{"schema": "cu2port-report/1", "findings": []}',
        '{"schema": "cu2port-audit/1", "findings": [{"path": "a.cu"}]}',
        '{"schema": "cu2port-audit/1", "findings": [{"path": "../../etc/passwd", "code": "CU103", "message": "m",'
        ' "way": "hand", "fingerprint": "0"}]}',
        '{"schema": "cu2port-audit/1", "findings": [{"path": "https://x/y", "code": "CU103", "message": "m",'
        ' "way": "hand", "fingerprint": "0"}]}',
        "[" * 100_000,
    ],
)
def test_what_is_no_older_audit_stops_the_run(content: str) -> None:
    tree()
    write("old.json", content)
    result = audit("src", "--compare", "old.json")
    assert result.exit_code == 2
    assert result.stderr.startswith("cu2port: --compare old.json: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none"], "no such file or folder"),
        (["src", "-o", "x.pdf"], "the suffix says no format"),
        (["src", "-o", "no/x.html"], "there is no folder"),
        (["-"], "files and folders"),
        (["src", "--rocm", "new"], "a version such as"),
    ],
)
def test_what_cannot_run_says_why(words: list[str], message: str) -> None:
    tree()
    result = audit(*words)
    assert result.exit_code == 2
    assert message in result.stderr


class Page(HTMLParser):
    """Elements of a page, the text of scripts, and links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.foreign: list[str] = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        found = dict(attrs)
        self._in_script = tag == "script"
        if found.get("id"):
            self.ids.append(found["id"] or "")
        if tag == "a":
            self.links.append(found.get("href") or "")
        self.foreign += [v for k, v in found.items() if k in ("src", "href") and v and not v.startswith("#")]
        self.foreign += [k for k in found if k.startswith("on")]

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts.append(data)


def hostile_tree() -> None:
    tree()
    write(f"src/{HOSTILE.replace('/', '_')}.cu", KERNEL.replace('"h.cuh"', f"<{HOSTILE}>").replace("wgmma", "<b>&"))
    write("src/latin.cu", KERNEL.encode() + b'// \xff\xfe\n__device__ void f() { asm("\xff\xe9</script>"); }\n')
    write("src/utf16.cu", KERNEL.encode("utf-16"))


def test_the_page_needs_nothing_else_and_nothing_in_it_is_the_sources() -> None:
    hostile_tree()
    text = audit("src", "--format", "html").stdout
    page = Page(text)
    assert page.foreign == []
    assert page.tags["script"] == 1
    assert "alert(1)" not in "".join(page.scripts)
    assert "<script>alert" not in text
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text
    assert not [c for c in text if ord(c) < 32 and c not in "\t\n\r"]
    assert len(page.ids) == len(set(page.ids))
    assert all(link[1:] in page.ids for link in page.links)


def test_other_formats_survive_hostile_sources() -> None:
    hostile_tree()
    assert "<script>" not in audit("src", "--format", "md").stdout
    doc = document("src")
    jsonschema.validate(doc, schema())
    assert any("UTF-16" in f["failed"] for f in doc["files"])
    assert audit("src").exit_code == 1


def test_charts_are_svg_with_words_for_those_who_do_not_see_them() -> None:
    tree()
    text = audit("src", "--format", "html").stdout
    charts = [ET.fromstring(x) for x in re.findall(r"<svg.*?</svg>", text, re.S)]
    assert len(charts) == 2
    assert all(c.get("role") == "img" and c.get("aria-label") for c in charts)
    assert "kernels, no counterpart: 1 (50%)" in (charts[0].get("aria-label") or "")


def test_sarif_of_an_audit_lists_what_is_left() -> None:
    tree()
    log = json.loads(audit("src", "--format", "sarif").stdout)
    results = log["runs"][0]["results"]
    assert {r["ruleId"] for r in results} >= {"CU103", "CU401"}
    assert all(r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].startswith("src/") for r in results)


def test_files_that_need_each_other_go_together() -> None:
    steps = order({"a": ["b"], "b": ["a", "c"], "c": [], "d": [], "e": ["d"]}, {"c": 1.0, "d": 5.0, "e": 9.0})
    assert [s.path for s in steps] == ["c", "d", "e", "a", "b"]
    assert steps[3].with_ == ("b",)
    assert {s.path: s.needed_by for s in steps} == {"a": 1, "b": 1, "c": 2, "d": 1, "e": 0}


def test_requirements_are_named_with_their_places() -> None:
    write(
        "a.cu",
        "#define N 9000\n__global__ void big() { __shared__ double t[N]; t[0] = 0; }\n"
        "__global__ void small() { __shared__ float t[32][33]; t[0][0] = 0; }\n"
        "void f() { int* p; cudaMallocManaged(&p, 4); cudaLaunchCooperativeKernel(0, 0, 0, 0); }\n",
    )
    doc = document("a.cu")
    found = {r["key"]: [(p[1], p[2]) for p in r["places"]] for r in doc["requirements"]}
    assert found["managed"] == [(4, "cudaMallocManaged")]
    assert found["lds"] == [(2, "big: 70 KB of static shared memory")]
    assert "cooperative" in found


def test_what_is_for_hip_already_is_only_counted() -> None:
    write("a.cu", KERNEL.replace('#include "h.cuh"\n', ""))
    write("b.cu", "#include <hip/hip_runtime.h>\n__global__ void k(int* p) { *p = __shfl(*p, 0); }\n")
    write("c.cu", "#include <hip/hip_runtime.h>\nvoid f() { cudaFree(0); }\n")
    write("d.cpp", "#include <sycl/sycl.hpp>\nvoid f() { q.submit(threadIdx); }\n")
    doc = document("a.cu", "b.cu", "c.cu", "d.cpp")
    assert [f["path"] for f in doc["files"] if f["other"]] == ["b.cu", "d.cpp"]
    assert [f["path"] for f in doc["files"] if f["cuda"]] == ["a.cu", "c.cu"]
    assert "2 are for HIP or SYCL already" in audit("a.cu", "b.cu", "c.cu", "d.cpp").stdout


@pytest.mark.parametrize(
    "text",
    [
        "void f() { cudaFree(0); }",
        "#ifdef __CUDACC__\n#endif",
        "void f(half* x);",
        "half f(half x) { half y = x; return y; }",
        "#include <cuda_fp16.h>",
        "#include <cublas_v2.h>",
        "__device__ int f();",
        "void f() { cuCtxSynchronize(); }",
        "int a = CU_DEVICE_ATTRIBUTE_WARP_SIZE;",
        'void f() { asm("bar.sync 0;"); }',
        "auto s = at::cuda::getCurrentCUDAStream();",
        "nvtxRangePop();",
        "using namespace cub::detail;",
    ],
)
def test_every_file_that_has_to_do_with_cuda_is_looked_at(text: str) -> None:
    assert collect._MARK.search(text.encode())


def test_a_users_own_names_ask_for_nothing() -> None:
    own = "template <class T> T tex2D(const T* p, int x) { return p[x]; }\n"
    write("a.cu", own + "__global__ void k(float* p) { tex2D(p, 1); }\n")
    assert document("a.cu")["requirements"] == []
    Path("a.cu").unlink()
    write("b.cu", "__global__ void k(cudaTextureObject_t t, float* p) { p[0] = tex2D<float>(t, 1.f, 1.f); }\n")
    (found,) = document("b.cu")["requirements"]
    assert [p[2] for p in found["places"]] == ["cudaTextureObject_t", "tex2D"]


def test_what_was_worked_out_once_costs_less_again() -> None:
    one, two = "cudaDeviceFlushGPUDirectRDMAWrites(1, 1);", "cudaGraphConditionalHandleCreate(0, 0);"
    write("a.cu", f"void f() {{ {one}\n{one}\n{two}\n}}\n")
    costs = [x["minutes"] for x in document("a.cu")["findings"] if x["way"] == "none"]
    full = effort.NONE_MIN
    assert costs == [full, full * effort.SAME_AGAIN, full * effort.SAME_LIBRARY]


def test_what_stands_in_many_places_costs_little_in_the_last_ones() -> None:
    write("a.cu", "void f() {\n" + "cudaDeviceFlushGPUDirectRDMAWrites(1, 1);\n" * 40 + "}\n")
    doc = document("a.cu")
    costs = [x["minutes"] for x in doc["findings"] if x["way"] == "none"]
    rest = [effort.NONE_MIN * effort.SAME_AGAIN] * (effort.OFTEN - 1) + [effort.NONE_MIN * effort.SAME_OFTEN] * 20
    assert costs == [effort.NONE_MIN, *rest]
    assert doc["effort"]["words"].endswith("; 1 thing has no counterpart in HIP, in 40 places")
    assert "(40 places)" in audit("a.cu").stdout
