"""What becomes of warp code as a whole: modes, GPUs that count, code for HIP, and the census that nothing is lost."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cu2port.catalog import load_catalog
from cu2port.checks import all_checks
from cu2port.core.model import Finding, Options, Outcome, Severity
from cu2port.engine.effects import narrowed, on, wave_size
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """#include <cub/cub.cuh>
#define FULL 0xffffffffu
__global__ void k(int* p, int n) {
    typedef cub::WarpReduce<int> Reduce;
    __shared__ Reduce::TempStorage s[256 / 32];
    unsigned m = __ballot_sync(FULL, p[threadIdx.x]);
    int v = __shfl_down_sync(FULL, n, 16) + __shfl(n, 3) + __popc(m & ((1u << (threadIdx.x % warpSize)) - 1));
    p[threadIdx.x] = Reduce(s[threadIdx.x / warpSize]).Sum(v);
    __syncwarp(m);
}
void run(int* p) {
    cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, 0);
    k<<<1, 8 * prop.warpSize>>>(p, 0);
}
"""
LOGICAL = """#include <hip/hip_runtime.h>
#include "cu2port/warp.hpp"
#include <hipcub/hipcub.hpp>
#define FULL 0xffffffffu
__global__ void k(int* p, int n) {
    typedef hipcub::WarpReduce<int, 32> Reduce;
    __shared__ Reduce::TempStorage s[256 / 32];
    unsigned m = cu2port::warp::ballot(FULL, p[threadIdx.x]);
    int v = cu2port::warp::shfl_down(FULL, n, 16) + __shfl(n, 3, 32) + """
LOGICAL += """int(__popc(m & ((1u << (threadIdx.x % cu2port::warp::size)) - 1)));
    p[threadIdx.x] = Reduce(s[threadIdx.x / cu2port::warp::size]).Sum(v);
    cu2port::warp::syncwarp(m);
}
void run(int* p) {
    hipDeviceProp_t prop;
    hipGetDeviceProperties(&prop, 0);
    k<<<1, 8 * cu2port::warp::size>>>(p, 0);
}
"""
WARPS = ("CU31", "CU32", "CU33")


def test_logical() -> None:
    made = translate(KERNEL, path="k.cu")
    assert made.output.decode() == LOGICAL
    assert [j.finding for j in made.findings if j.outcome is not Outcome.APPLIED] == []
    assert translate(made.output, path="k.cu").output == made.output


def test_flag_rewrites_no_warp_code_and_names_it_all() -> None:
    made = translate(KERNEL, Options(warp="flag"), path="k.cu")
    text = made.output.decode()
    assert "cu2port" not in text
    for kept in ("__ballot_sync(FULL", "__shfl(n, 3)", "threadIdx.x % warpSize", "WarpReduce<int>", "prop.warpSize"):
        assert kept in text
        assert any(
            j.outcome is Outcome.MANUAL and KERNEL[j.finding.start : j.finding.end] and kept_at(kept, j.finding)
            for j in made.findings
        ), kept


def test_flag_keeps_cubs_lanes() -> None:
    text = "#include <cub/cub.cuh>\n__device__ int f() { return cub::LaneId() + CUB_PTX_WARP_THREADS; }\n"
    made = translate(text, Options(warp="flag"), path="k.cu")
    assert "return cub::LaneId() + CUB_PTX_WARP_THREADS;" in made.output.decode()
    assert sum(j.finding.code == "CU106" for j in made.findings) == 2


def kept_at(text: str, f: Finding) -> bool:
    at = KERNEL.index(text)
    return at - 2 <= f.start <= at + len(text)


def test_code_for_hip_is_left_alone() -> None:
    text = "#include <hip/hip_runtime.h>\n__device__ int f(int p) { return __popcll(__ballot(p)) + warpSize; }\n"
    assert translate(text, path="k.hip").output.decode() == text
    both = "#if defined(USE_ROCM)\nint a = __any(p);\n#else\nint a = __any_sync(~0u, p);\n#endif\n"
    made = translate(both, path="k.cuh").output.decode()
    assert "int a = __any(p);" in made
    assert "cu2port::warp::any(~0u, p)" in made
    shared = "#if defined(__CUDACC__) || defined(__HIPCC__)\nint a = __any_sync(~0u, p);\n#endif\n"
    assert "cu2port::warp::any(~0u, p)" in translate(shared, path="k.cuh").output.decode()


def test_effects_of_a_gpu() -> None:
    f = Finding("CU1", "x", Severity.WARNING, "m", 0, 0, effects=(("wave64", "hang"), ("gfx90a", "slower")))
    assert [on(f, a) for a in ("gfx942", "gfx90a", "gfx1100")] == ["hang", "slower", ""]
    sizes = {a: wave_size(a) for a in "gfx803 gfx906 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201".split()}
    assert [a for a, n in sizes.items() if n == 32] == ["gfx1030", "gfx1100", "gfx1201"]
    assert narrowed(f, ("gfx1100",)).severity is Severity.INFO
    assert narrowed(f, ("gfx1100", "gfx942")).severity is Severity.WARNING
    assert narrowed(f, ()) is f


def test_a_wave64_finding_is_information_for_wave32() -> None:
    text = "#include <cub/cub.cuh>\n__device__ void f(int* p, int (&v)[4]) { cub::LoadDirectWarpStriped(0, p, v); }\n"

    def severity(*archs: str) -> Severity:
        found = translate(text, Options(archs=archs), path="k.cu").findings
        return next(j.finding.severity for j in found if j.finding.code == "CU326")

    assert severity() is Severity.WARNING
    assert severity("gfx942") is Severity.WARNING
    assert severity("gfx1100", "gfx1201") is Severity.INFO


def test_effects_speak_of_known_targets() -> None:
    """Every finding on warps says what happens, in the words of `Finding.effects`."""
    wrong = []
    for check in all_checks():
        for example in check.examples if check.code.startswith(WARPS) and check.code != "CU330" else ():
            for j in translate(example.before, example.options, path=example.path).findings:
                said = dict(j.finding.effects)
                known = {"compile-error", "wrong-result", "hang", "slower", "none"}
                if j.finding.code == check.code and not (
                    said and said.keys() <= {"all", "wave64", "wave32"} and set(said.values()) <= known
                ):
                    wrong.append((check.code, j.finding.message, said))
    assert wrong == []


def test_targets_are_declared() -> None:
    """What rows and rules write of `cu2port::warp` is in the header."""
    from cu2port.facts.warpnames import LOGICAL as NAMES

    header = (ROOT / "translator/cu2port/include/cu2port/warp.hpp").read_text()
    rows = {r.hip.rpartition("::")[2] for r in load_catalog() if r.helper == "warp.hpp"}
    missing = {n for n in (*NAMES.values(), *rows, "upper") if not re.search(rf"[ (]{n}[(,]|int {n} =", header)}
    assert missing == set()


# --- the census -------------------------------------------------------------------------------------------------------


def census(tree: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools/warp_census.py"), str(tree), "--show", "9", *more]
    path = {
        "PYTHONPATH": f"{ROOT / 'translator'}:{ROOT / 'tools'}",
        "PATH": "",
        "CU2PORT_CACHE_DIR": str(tree / "cache"),
    }
    return subprocess.run(command, capture_output=True, text=True, check=False, env=path)


def test_the_census_finds_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(KERNEL)
    (tmp_path / "own.cu").write_text(
        "#define __any(p) vote(p)\nint f(int p, int warpSize) { return __any(warpSize); }\n"
    )
    (tmp_path / "hip.cu").write_text("#ifdef USE_HIP\nint a = __ballot(p);\n#endif\n")
    done = census(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| primitive | 4 | 0 | 0 | 1 | 2 | 0 |" in done.stdout
    assert "| warpSize | 2 | 0 | 0 | 0 | 2 | 0 |" in done.stdout
    assert "| cub | 1 |" in done.stdout
    assert "| host | 1 |" in done.stdout


def test_the_census_sees_what_is_lost(tmp_path: Path) -> None:
    """PTX in a string that no asm statement holds aside, only a rule that fails can lose something: take one away."""
    (tmp_path / "k.cu").write_text(KERNEL)
    script = (
        "import runpy, sys\n"
        "from cu2port.engine import translate as engine\n"
        "real = engine.applicable\n"
        "engine.applicable = lambda *asked: [c for c in real(*asked) if c.code != 'CU317']\n"
        f"sys.argv = ['warp_census.py', {str(tmp_path)!r}, '--show', '3']\n"
        f"runpy.run_path({str(ROOT / 'tools/warp_census.py')!r}, run_name='__main__')\n"
    )
    path = {
        "PYTHONPATH": f"{ROOT / 'translator'}:{ROOT / 'tools'}",
        "PATH": "",
        "CU2PORT_CACHE_DIR": str(tmp_path / "cache"),
    }
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "k.cu:4: cub `WarpReduce`" in done.stdout


@pytest.fixture(scope="module")
def clang() -> ClangService:
    return ClangService()


def test_names_that_the_project_declares(clang: ClangService) -> None:
    """libclang tells a user's function from CUDA's."""
    text = (
        "struct V { int x; };\n__device__ V __shfl_sync(unsigned m, V v, int l);\n"
        "__device__ int f(V v, int n) { return __shfl_sync(~0u, v, 0).x + __shfl_sync(~0u, n, 0); }\n"
    )
    with clang:
        made = translate(text, path="k.cuh", clang=clang).output.decode()
    assert "return __shfl_sync(~0u, v, 0).x + cu2port::warp::shfl(~0u, n, 0);" in made
