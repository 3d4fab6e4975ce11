"""Code that is HIP already is left alone by every rule: branches of conditionals, whole files, files of a tree."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cu2port import translate
from cu2port.audit.run import audit
from cu2port.checks import all_checks
from cu2port.core.model import Options, Outcome, Project
from cu2port.engine.translate import examine, settle
from cu2port.project import convert
from cu2port.project.plan import Request
from cu2port.project.sides import Asked
from cu2port.report import json_report, terminal
from cu2port.report.formats import render
from cu2port.syntax.lexer import lex

LANES = """__device__ unsigned f(int p, int v, int w) {
  return (__ballot(p) >> (w * 64)) + __shfl(v, 63) + warpSize;
}
"""
CUDA = """__global__ void k(int* p) { p[0] = __shfl_sync(~0u, p[1], 3); }
void h(int* p) { cudaFree(p); k<<<1, 32>>>(p); }
"""


def _out(text: str) -> str:
    return translate(text, Options(use_clang=False), path="a.cu").output.decode()


@pytest.mark.parametrize(
    "condition",
    [
        "ifdef USE_ROCM",
        "if defined(__HIP__)",
        "if defined(USE_ROCM) && defined(MORE)",
        "if defined(__HIP_PLATFORM_AMD__) || defined(__HIP__)",
        "if MORE && (USE_HIP || defined(__HIPCC__))",
        "if HIP_VERSION >= 60000000",
        "ifndef __HIP__\nint other;\n#else",
        "if !defined(USE_ROCM)\nint other;\n#else",
        "if defined(__CUDACC__)\nint other;\n#elif defined(__HIPCC__)",
        "if !(defined(__HIP__) || defined(__HIPCC__))\nint other;\n#elif 1",
        "if PROJ_BACKEND == PROJ_BACKEND_HIP",
        "if PROJ_BACKEND != PROJ_BACKEND_HIP\nint other;\n#else",
    ],
)
def test_a_branch_that_only_hip_takes_is_left_alone(condition: str) -> None:
    text = f"#{condition}\n{LANES}#endif\n{CUDA}"
    made = _out(text)
    assert LANES in made
    assert "hipFree(p)" in made
    assert "warp::shfl(" in made


@pytest.mark.parametrize(
    "condition",
    [
        "if defined(USE_ROCM) || defined(MORE)",
        "if !defined(USE_ROCM) && defined(MORE)\nint other;\n#else",
        "if defined(__CUDACC__) || defined(__HIPCC__)",
        "if HIP_VERSION < 60000000",
        "ifndef FILE_HIP\n#define FILE_HIP",
        "if PROJ_BACKEND == PROJ_BACKEND_CUDA",
    ],
)
def test_a_branch_that_others_take_too_is_converted(condition: str) -> None:
    assert LANES not in _out(f"#{condition}\n{LANES}#endif\n{CUDA}")


@pytest.mark.parametrize(
    "text",
    [
        f"#include <hip/hip_runtime.h>\n{LANES}",
        f"{LANES}void h(int* p) {{ hipFree(p); f<<<1, 64>>>(p); }}\n",
        "#define cudaFree hipFree\n#define cudaMalloc hipMalloc\n" + LANES,
        "__global__ void __launch_bounds__(256, 2) k(int* p) { *p = __builtin_amdgcn_readfirstlane(*p) + warpSize; }\n",
    ],
)
def test_a_file_with_hips_names_alone_is_left_alone(text: str) -> None:
    result = translate(text, Options(use_clang=False), path="a.cu")
    assert result.output.decode() == text
    assert not result.left
    assert not result.seen


def test_of_hip_s_code_only_what_is_true_of_it_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a tree may be HIP's: what would be dropped is not looked for, and most of it is not lexed."""
    hip = Project(side="hip")
    ran: list[str] = []

    def noted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*words: Any) -> Any:
            ran.append(name)
            return call(*words)

        return noting

    for check in all_checks():
        monkeypatch.setattr(type(check), "run", noted(check.code, type(check).run))
    monkeypatch.setattr("cu2port.facts.tokens.lex", noted("lexer", lex))
    translate("__global__ void k(int* p) { cudaFree(p); }\n", Options(use_clang=False), path="a.cu", project=hip)
    assert not ran
    translate(LANES, Options(use_clang=False), path="a.cu", project=hip)
    assert {c.code for c in all_checks() if c.true_of_hip} >= {*ran} - {"lexer"} != set()


@pytest.mark.slow
def test_what_is_not_looked_for_in_hip_s_code_would_be_dropped() -> None:
    hip = Project(side="hip")
    for example in (e for check in all_checks() for e in check.examples):
        options = replace(example.options, use_clang=False)
        every = settle(examine(example.before, options, path=example.path, project=hip))
        assert translate(example.before, options, path=example.path, project=hip) == every


def test_inline_ptx_is_cuda_s_beside_builtins_of_amd() -> None:
    body = "__global__ void k(unsigned* o) { __builtin_amdgcn_s_barrier(); %s *o = __shfl_xor(*o, 32); }\n"
    made = _out(body % 'asm volatile("st.global.u32 [%0], 1;" :: "l"(o));')
    assert "asm" not in made and "__shfl_xor(*o, 32, 32)" in made
    text = body % 'asm volatile("global_store_dword %0, %1, off" :: "v"(o), "v"(1));'
    assert _out(text) == text


def test_a_file_that_is_half_ported_gets_its_names_and_keeps_its_lanes() -> None:
    made = _out(f"#include <hip/hip_runtime.h>\n{LANES}void h(int* p) {{ cudaFree(p); }}\n")
    assert LANES in made
    assert "hipFree(p)" in made


# --- trees ------------------------------------------------------------------------------------------------------------


def _tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def _run(root: Path, out: Path, workers: int = 1, hip_side: Asked = "auto") -> convert.Ran:
    request = Request((str(root),), "out", str(out), Options(use_clang=False), workers=workers, hip_side=hip_side)
    return convert.run(request)


THROUGH = {
    "inc/base.h": "#pragma once\n#include <hip/hip_runtime.h>\n",
    "inc/lanes.h": f"#pragma once\n{LANES}",
    "dev/x.cpp": f'#include "../inc/base.h"\n#include "../inc/lanes.h"\n{LANES}',
    "hip/y.cpp": LANES,
    "src/z_hip.cpp": LANES,
    "src/k.cu": CUDA,
}


def test_what_reaches_hips_header_through_another_one_is_hips(tmp_path: Path) -> None:
    ran = _run(_tree(tmp_path / "in", THROUGH), tmp_path / "out")
    for name, text in THROUGH.items():
        assert ((tmp_path / "out" / name).read_text() == text) is (name != "src/k.cu"), name
    assert ran.record.hip is not None
    assert ran.record.hip.decision == "mixed"
    told = {path.removeprefix(f"{tmp_path.as_posix()}/in/"): reason for path, _, reason in ran.record.hip.files}
    assert told["dev/x.cpp"] == "reaches hip/hip_runtime.h through inc/base.h"
    assert told["inc/lanes.h"] == "only files for HIP include it"
    assert told["hip/y.cpp"] == "its path: hip/"


def test_the_trees_own_macros_for_hip_open_branches(tmp_path: Path) -> None:
    files = {
        "platform.h": "#if defined(__HIPCC__)\n#define PROJ_WIDE 1\n#endif\n",
        "CMakeLists.txt": "if(WITH_ROCM)\n  add_definitions(-DPROJ_GPU)\nendif()\n",
        "a.cu": f'#include "platform.h"\n#if PROJ_WIDE\n{LANES}#endif\n{CUDA}',
        "b.cu": f"#ifdef PROJ_GPU\n{LANES}#endif\n{CUDA}",
        "c.cu": f"#ifdef PROJ_OTHER\n{LANES}#endif\n{CUDA}",
    }
    _run(_tree(tmp_path / "in", files), tmp_path / "out")
    kept = {name: LANES in (tmp_path / "out" / name).read_text() for name in ("a.cu", "b.cu", "c.cu")}
    assert kept == {"a.cu": True, "b.cu": True, "c.cu": False}


def test_a_macro_that_is_defined_elsewhere_too_opens_none(tmp_path: Path) -> None:
    files = {
        "platform.h": "#if defined(__HIPCC__)\n#define PROJ_WIDE 1\n#endif\n",
        "other.h": "#define PROJ_WIDE 1\n",
        "a.cu": f"#if PROJ_WIDE\n{LANES}#endif\n{CUDA}",
    }
    _run(_tree(tmp_path / "in", files), tmp_path / "out")
    assert LANES not in (tmp_path / "out" / "a.cu").read_text()


def test_a_shim_in_hips_folder_that_gives_cudas_names_is_hips(tmp_path: Path) -> None:
    shim = "#include <hipblas/hipblas.h>\ntypedef hipblasHandle_t cublasHandle_t;\nint f(cublasHandle_t h);\n"
    files = {"backends/hip/blas.h": shim, "common/cuda_hip/k.cuh": LANES, "a.cu": CUDA}
    _run(_tree(tmp_path / "in", files), tmp_path / "out")
    assert (tmp_path / "out/backends/hip/blas.h").read_text() == shim
    assert (tmp_path / "out/common/cuda_hip/k.cuh").read_text() != LANES


BOTH = {
    "src/plain.h": LANES,
    "CMakeLists.txt": "project(p)\nif(P_ENABLE_HIP)\n  enable_language(HIP)\nendif()\n",
    "src/cuda/run_cuda.cu": CUDA,
    "src/hip/run_hip.cpp": LANES,
    "src/common.cuh": "#ifdef P_ENABLE_HIP\n#include <hip/hip_runtime.h>\n#else\n#include <cuda_runtime.h>\n#endif\n"
    + LANES,
}


def test_a_project_that_builds_for_hip_is_not_converted_twice(tmp_path: Path) -> None:
    ran = _run(_tree(tmp_path / "in", BOTH), tmp_path / "out")
    for name, text in BOTH.items():
        assert (tmp_path / "out" / name).read_text() == text
    tree = ran.record.hip
    assert tree is not None
    assert tree.decision == "both"
    assert "the macro P_ENABLE_HIP and the folder src/hip" in tree.message
    assert "CMakeLists.txt builds for HIP" in tree.message
    told = json.loads(json_report.render(ran.record))
    jsonschema.validate(told, json_report.schema())
    assert told["hip"]["decision"] == "both"
    assert any(line.startswith("HIP code") for line in terminal.summary(ran.record))
    document = audit(Request((str(tmp_path / "in"),), "dry-run", options=Options(use_clang=False)))
    assert document["summary"]["hip"]["message"] == tree.message
    assert any("builds for HIP itself" in line for line in render("text", "audit", document).splitlines())
    for name in ("html", "md", "sarif", "jsonl"):  # every format has the decision
        assert "builds for HIP itself" in render(name, "audit", document), name
    row = json.loads(render("jsonl", "run", ran.record).splitlines()[0])
    assert (row["name"], row["state"], row["message"]) == ("hip-side", "both", tree.message)


def test_the_decision_can_be_taken_by_the_user(tmp_path: Path) -> None:
    root = _tree(tmp_path / "in", BOTH)
    told = _run(root, tmp_path / "convert", hip_side="convert").record.hip
    assert told is not None and told.decision == "mixed" and "--hip-side convert" in told.message
    assert "hipFree" in (tmp_path / "convert/src/cuda/run_cuda.cu").read_text()
    assert (tmp_path / "convert/src/hip/run_hip.cpp").read_text() == LANES
    without = {name: text for name, text in BOTH.items() if name != "CMakeLists.txt"}
    told = _run(_tree(tmp_path / "in2", without), tmp_path / "leave", hip_side="leave").record.hip
    assert told is not None and told.decision == "both" and "--hip-side leave" in told.message
    for name, text in without.items():
        assert (tmp_path / "leave" / name).read_text() == text
    plain = _run(_tree(tmp_path / "in3", {"a.cu": CUDA}), tmp_path / "plain", hip_side="leave")
    assert plain.record.hip is None and "hipFree" in (tmp_path / "plain/a.cu").read_text()


def test_a_twin_for_hip_keeps_its_cuda_file(tmp_path: Path) -> None:
    files = {name: text for name, text in BOTH.items() if name != "CMakeLists.txt"} | {"src/own.cu": CUDA}
    ran = _run(_tree(tmp_path / "in", files), tmp_path / "out")
    assert (tmp_path / "out/src/cuda/run_cuda.cu").read_text() == CUDA
    assert "hipFree" in (tmp_path / "out/src/own.cu").read_text()
    assert ran.record.hip is not None
    assert ("src/hip/run_hip.cpp is its twin for HIP") in {reason for _, _, reason in ran.record.hip.files}


@pytest.mark.parametrize(
    ("of_cuda", "of_hip"),
    [
        ("source/run.cu", "hip_source/run.hip.cpp"),
        ("src/run.cu", "src/hip/run.hip"),
        ("src/run.cu", "src/run_hip.cpp"),
        ("run-cuda/run.cu", "run-hip/run.cu"),
    ],
)
def test_a_twin_has_the_name_that_is_left_without_the_backends(tmp_path: Path, of_cuda: str, of_hip: str) -> None:
    build = "enable_language(CUDA)\nif(USE_HIP)\n  enable_language(HIP)\nendif()\n"
    files = {of_cuda: CUDA, of_hip: f"#include <hip/hip_runtime.h>\n{LANES}", "lib.cpp": "", "CMakeLists.txt": build}
    told = _run(_tree(tmp_path / "in", files), tmp_path / "out").record.hip
    assert told is not None and told.decision == "both" and "1 of 1 files" in told.message
    assert (tmp_path / "out" / of_cuda).read_text() == CUDA


def test_a_source_by_the_projects_own_names_counts_with_its_twin(tmp_path: Path) -> None:
    """`gpuMalloc` is CUDA's or HIP's by a header of the project: the sources that use it name neither."""
    kernel = '#include "gpu.h"\n__global__ void k(float* p) { *p = 1; }\n'
    gpu = "#ifdef P_HIP\n#include <hip/hip_runtime.h>\n#define gpuMalloc hipMalloc\n#else\n"
    files = {
        "CMakeLists.txt": "project(p)\nif(P_HIP)\n  enable_language(HIP)\nendif()\n",
        "gpu.h": f"{gpu}#include <cuda_runtime.h>\n#define gpuMalloc cudaMalloc\n#endif\n",
        **{f"{n}.cu": kernel for n in range(3)},
        **{f"{n}.hip": f'#include "{n}.cu"\n' for n in range(3)},
        **{f"old{n}.cpp": CUDA for n in range(8)},
    }
    hip = _run(_tree(tmp_path / "in", files), tmp_path / "out").record.hip
    assert hip is not None and hip.decision == "both" and "4 of 12 files" in hip.message


def test_a_header_with_a_twin_that_cudas_code_includes_is_converted(tmp_path: Path) -> None:
    """It is of a port that nobody keeps: what is converted does not compile without it."""
    header = '#include "cuda_more.h"\nint* made();\n'
    files = {
        "gpu/cuda_utils.h": f"#include <cuda_runtime.h>\n{header}",
        "gpu/hip_utils.h": "#include <hip/hip_runtime.h>\nint* made();\n",
        "gpu/cuda_more.h": "#include <cuda_runtime.h>\n",
        "gpu/hip_more.h": "#include <hip/hip_runtime.h>\n",
        "gpu/a.cu": f'#include "cuda_utils.h"\n{CUDA}',
        "gpu/chosen_cuda.h": "#include <cuda_runtime.h>\n",
        "gpu/chosen_hip.h": "#include <hip/hip_runtime.h>\n",
        "gpu/b.cu": f'#ifdef __HIP__\n#include "chosen_hip.h"\n#else\n#include "chosen_cuda.h"\n#endif\n{CUDA}',
    }
    ran = _run(_tree(tmp_path / "in", files), tmp_path / "out")
    assert ran.record.hip is not None and ran.record.hip.decision == "mixed"
    same = {name for name, text in files.items() if (tmp_path / "out" / name).read_text() == text}
    assert same == {"gpu/hip_utils.h", "gpu/hip_more.h", "gpu/chosen_cuda.h", "gpu/chosen_hip.h"}


def test_two_widths_in_one_program_are_said_once(tmp_path: Path) -> None:
    files = {"wide_hip.h": LANES, "a.cu": f'#include "wide_hip.h"\n{CUDA}', "b.cu": f'#include "wide_hip.h"\n{CUDA}'}
    ran = _run(_tree(tmp_path / "in", files), tmp_path / "out")
    assert ran.record.hip is not None
    assert [a.rpartition("/")[2] for a, _ in ran.record.hip.mixed_widths] == ["a.cu", "b.cu"]
    assert ran.record.open == sum(e.open for f in ran.record.files for e in f.entries) + 1


ALIASES = {
    "CMakeLists.txt": "project(p)\nif(P_HIP)\n  enable_language(HIP)\nendif()\n",
    "gpu/compat.h": "#ifdef P_HIP\n#include <hip/hip_runtime.h>\n"
    + "".join(f"#define cuda{x} hip{x}\n" for x in "Malloc Free Memcpy Memset SetDevice GetDevice EventRecord".split())
    + "#define cudaSuccess hipSuccess\n#else\n#include <cuda_runtime.h>\n#endif\n",
    "gpu/a.cu": f'#ifdef P_HIP\n#include "compat.h"\n#endif\n#include "part.cuh"\n{CUDA}',
    "gpu/part.cuh": LANES,
    "gpu/launch.cpp": '#include "compat.h"\nvoid f(int* p) { k<<<1, 32>>>(p); }\n',
    **{f"other/{n}.cu": CUDA for n in range(20)},
}


def test_files_that_macros_compile_for_hip_stay(tmp_path: Path) -> None:
    ran = _run(_tree(tmp_path / "in", ALIASES), tmp_path / "out")
    same = {name for name, text in ALIASES.items() if (tmp_path / "out" / name).read_text() == text}
    assert same == {"CMakeLists.txt", "gpu/compat.h", "gpu/a.cu", "gpu/part.cuh", "gpu/launch.cpp"}
    assert ran.record.hip is not None and ran.record.hip.decision == "mixed"
    assert {r for _, s, r in ran.record.hip.files if s == "kept"} == {"gpu/compat.h gives HIP's functions CUDA's names"}
    fewer = {name: text for name, text in ALIASES.items() if name not in {f"other/{n}.cu" for n in range(15)}}
    told = _run(_tree(tmp_path / "in2", fewer), tmp_path / "both").record.hip
    assert told is not None and told.decision == "both"
    without = {name: text for name, text in ALIASES.items() if name != "CMakeLists.txt"}
    _run(_tree(tmp_path / "in3", without), tmp_path / "no-build")
    assert "hipFree" in (tmp_path / "no-build/gpu/a.cu").read_text()
    _run(_tree(tmp_path / "in4", ALIASES), tmp_path / "convert", hip_side="convert")
    assert "hipFree" in (tmp_path / "convert/gpu/a.cu").read_text()


def test_what_comments_name_and_names_of_products_are_no_code_of_cudas(tmp_path: Path) -> None:
    """A host file that says what another one does with CUDA is no CUDA file that lacks code for HIP."""
    files = {name: text for name, text in ALIASES.items() if not name.startswith("other/")}
    told = [
        "// as cudaMalloc\n", "/* by cudaMalloc */ int x;\n", "/**\n * cudaMalloc and cuMemAlloc\n */\n",
        'auto s = "cuQuantum";\n', "int cuSparse = 1;  // cusparseCreate\n",
    ]  # fmt: skip
    files |= {f"host/{n}.cpp": text for n, text in enumerate(told * 3)}
    files |= {f"own/{n}.cpp": "bool cudaEnabledMpi = false;\n" for n in range(20)}
    hip = _run(_tree(tmp_path / "in", files), tmp_path / "out").record.hip
    assert hip is not None and hip.decision == "both"
    code = {f"host/{n}.cpp": "/* a */ void* p = cudaGetParameterBuffer(1, 2);\n" for n in range(15)}
    hip = _run(_tree(tmp_path / "in2", files | code), tmp_path / "mixed").record.hip
    assert hip is not None and hip.decision == "mixed"


def test_a_file_named_alone_is_converted(tmp_path: Path) -> None:
    root = _tree(tmp_path / "in", BOTH)
    convert.run(Request((str(root / "src/cuda/run_cuda.cu"),), "out", f"{tmp_path}/o.cu", Options(use_clang=False)))
    assert "hipFree" in (tmp_path / "o.cu").read_text()


def test_workers_and_the_order_of_files_change_nothing(tmp_path: Path) -> None:
    one = _run(_tree(tmp_path / "in", THROUGH), tmp_path / "one")
    two = _run(_tree(tmp_path / "in", dict(reversed(THROUGH.items()))), tmp_path / "two", workers=2)
    assert one.record.hip == two.record.hip
    for name in THROUGH:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


# --- every rule -------------------------------------------------------------------------------------------------------

PIECES = (
    "__global__ void __launch_bounds__(256, 4) {n}(int* p) {{ p[0] = __shfl(p[1], 40) + warpSize; }}",
    "__device__ unsigned {n}(int p, int w) {{ return __ballot(p) >> (w * 64); }}",
    "__device__ float2 operator*(float2 a, float2 b) {{ return make_float2(a.x * b.x, a.y * b.y); }}",
    "__device__ int {n}(int v) {{ for (int o = 32; o; o /= 2) v += __shfl_down(v, o); return v; }}",
    "__device__ int {n}(int v) {{ return min(v, 3ll) + __popc(__activemask()) + threadIdx.x % 32; }}",
    "#define {n}(x) hipCheck(cudaFree(x))",
    '__device__ int {n}() {{ int r; asm("mov.u32 %0, %laneid;" : "=r"(r)); return r; }}',
    "extern __shared__ float {n}[];",
    '#include <cuda_runtime.h>\n#include "cub/cub.cuh"',
    "__device__ int {n}(int v) {{ int b; if (!threadIdx.x) b = atomicAdd(&g, 1); return __shfl_sync(~0u, b, 0); }}",
    "#if __CUDA_ARCH__ >= 600 && CUDA_VERSION > 9000\nint {n};\n#endif",
    "void {n}(int* p) {{ cudaMalloc(&p, 4); kernel<<<1, 32>>>(p); cudaDeviceProp prop; int n = prop.warpSize; }}",
)
CONDITIONS = (
    "#ifdef USE_ROCM",
    "#if defined(__HIP__) && X",
    "#ifndef __HIP_PLATFORM_AMD__\nint c;\n#else",
    "#if P == P_HIP",
)


def _piece(rng: random.Random, n: int) -> str:
    return rng.choice(PIECES).format(n=f"f{n}")


@pytest.mark.parametrize("mode", ["logical", "solo", "native", "flag"])
@pytest.mark.parametrize("seed", range(12))
def test_no_rule_edits_a_branch_for_hip(seed: int, mode: str) -> None:
    rng = random.Random(seed)
    parts, kept = [], []
    for n in range(8):
        parts.append(_piece(rng, n) + "\n")
        inside = "".join(_piece(rng, 100 * n + m + 100) + "\n" for m in range(rng.randrange(1, 4)))
        kept.append(inside)
        parts.append(f"{rng.choice(CONDITIONS)}\n{inside}#endif\n")
    options = Options(use_clang=False, warp=mode, launch=rng.choice(("keep", "ggl")), comments=True, ptx="trap")
    result = translate("".join(parts), options, path="a.cu")
    made = result.output.decode()
    at = 0
    for inside in kept:
        at = made.index(inside, at) + len(inside)


@pytest.mark.parametrize("mode", ["logical", "solo", "native", "flag"])
@pytest.mark.parametrize("piece", PIECES)
def test_no_rule_edits_a_file_that_the_tree_calls_hips(piece: str, mode: str) -> None:
    text = piece.format(n="f") + "\n"
    for launch in ("keep", "ggl"):
        options = Options(use_clang=False, warp=mode, launch=launch, comments=True)
        result = translate(text, options, path="a.cu", project=Project(side="hip"))
        assert result.output.decode() == text
        assert not any(j.outcome is Outcome.APPLIED for j in result.findings)


def test_nothing_is_said_of_what_hips_compiler_leaves_out_of_hips_code() -> None:
    vote = "int f(int v) { return __shfl_sync(0xffffffff, v, 0); }\n"
    text = f"#ifdef __HIP_PLATFORM_NVCC__\n{vote}#else\n{vote}#endif\n"
    found = translate(text, Options(use_clang=False), path="a.cu", project=Project(side="hip")).findings
    assert [j.finding.start > text.index("#else") for j in found if "mask" in j.finding.message] == [True]
