"""--check: planted bugs are found and named, clean kernels stay silent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from simulated import quick

from cu2port.cli import cli
from cu2port.verify import sim_build, sim_check, sim_compiler, simulate
from cu2port.verify.reach import read
from cu2port.verify.steps import unset

# name -> (verdict, body of `k(int* d, int* g)`; 128 threads, 2 blocks; d holds 256 ints, g 256 zeros)
PLANTED: dict[str, tuple[str, str]] = {
    "neighbour without a barrier": ("race", "s[t] = t; d[i] = s[(t + 64) % 128];"),
    "tile used again too early": (
        "race",
        "for (int k = 0; k < 3; ++k) { s[t] = t + k; __syncthreads(); d[i] += s[(t + 64) % 128]; }",
    ),
    "tree without barriers": (
        "race",
        "s[t] = t; __syncthreads(); for (int o = 64; o > 0; o /= 2) if (t < o) s[t] += s[t + o]; "
        "__syncthreads(); d[i] = s[0];",
    ),
    "two waves write one slot": ("race", "s[t % 64] = t; __syncthreads(); d[i] = s[t % 64];"),
    "device memory within a block": ("race", "g[i] = t; d[i] = g[blockIdx.x * 128 + (t + 70) % 128];"),
    "barrier only after the read": (
        "race",
        "s[t] = 1; __syncthreads(); s[127 - t] = s[t] + 1; __syncthreads(); d[i] = s[t];",
    ),
    "counter without an atomic": (
        "race",
        "if (t == 0) s[0] = 0; __syncthreads(); s[0] += 1; __syncthreads(); d[i] = s[0];",
    ),
    "counter of another wave": (
        "race",
        "if (t == 0) s[0] = 0; __syncthreads(); if (t < 64) atomicAdd(s, 1); else d[i] = s[0];",
    ),
    "counter read too early": ("order", "if (t == 0) s[0] = 0; __syncthreads(); atomicAdd(s, 1); d[i] = s[0];"),
    "scan in one buffer": (
        "race",
        "s[t] = 1; __syncthreads(); for (int o = 1; o < 128; o *= 2) { int v = t >= o ? s[t - o] : 0; s[t] += v; "
        "__syncthreads(); } d[i] = s[t];",
    ),
    "first thread reads too early": (
        "race",
        "s[t] = t; if (t == 0) { int v = 0; for (int k = 0; k < 128; ++k) v += s[k]; d[i] = v; }",
    ),
    "lanes trust lockstep": ("lockstep", "s[t] = t; d[i] = s[t ^ 1];"),
    "tail of a reduction": (
        "lockstep",
        "s[t] = t; __syncthreads(); if (t < 16) { s[t] += s[t + 16]; s[t] += s[t + 8]; } __syncthreads(); d[i] = s[0];",
    ),
    "transpose in a wave": ("lockstep", "s[t] = t; __syncwarp(); s[t ^ 1] = s[t ^ 2]; __syncwarp(); d[i] = s[t];"),
    "one too far": ("bounds", "d[i + 1] = t;"),
    "one before": ("bounds", "d[i] = g[i - 1];"),
    "far away": ("bounds", "d[i] = g[i + 300];"),
    "wrong stride": ("bounds", "g[t * 3] = blockIdx.x;"),
    "never written": ("uninitialised", "d[i] = s[t];"),
    "half written": ("uninitialised", "if (t < 64) s[t] = t; __syncthreads(); d[i] = s[t];"),
    "dynamic, never written": ("uninitialised", "d[i] = dynamic[t];"),
    "leader's value that others hand on": ("unset", "int b; if (t % 32 == 0) b = t; d[i] = __shfl(b, 1);"),
    "unset in one arm": ("unset", "unsigned long long a = 1, b; if (t > 3) b = 2; d[i] = a + b;"),
    "unset element": ("unset", "float2 v; int a[4]; v.x = 1; a[1] = 2; d[i] = v.x + a[t & 1];"),
    "unset flag": ("unset", "bool b; if (t % 5) b = t % 3 == 0; d[i] = b;"),
    "shuffle from a lane that is not here": ("inactive-lane", "if (t % 32 < 10) d[i] = __shfl_down(t, 5);"),
    "broadcast inside a branch": ("inactive-lane", "if (t % 2) d[i] = __shfl(t, 0);"),
    "mask with absent lanes": ("mask", "if (t % 2) d[i] = __shfl_sync(~0ull, t, 1);"),
    "volatile tail of a reduction": (
        "lockstep",
        "volatile int* v = s; v[t] = t; __syncthreads(); if (t < 16) { v[t] += v[t + 16]; v[t] += v[t + 8]; "
        "v[t] += v[t + 4]; v[t] += v[t + 2]; v[t] += v[t + 1]; } __syncthreads(); d[i] = v[0];",
    ),
    "volatile scan of a wave": (
        "lockstep",
        "volatile int* v = s; v[t] = 1; for (int o = 1; o < 32; o *= 2) if (t % 32 >= o) v[t] += v[t - o]; "
        "d[i] = v[t];",
    ),
    "volatile scan in a function": ("lockstep", "s[t] = 1; scan(s + t / 32 * 32, t % 32); d[i] = s[t];"),
    "arms that speak through memory": (
        "order",
        "s[t] = 0; __syncthreads(); if (t % 2) { s[t - 1] = 1; __syncwarp(); } else { __syncwarp(); d[i] = s[t]; }",
    ),
    "arms that take tickets": (
        "order",
        "if (t == 0) s[0] = 0; __syncthreads(); if (t < 32) { if (t == 5) { __any(1); d[i] = atomicAdd(s, 1); } "
        "else if (t == 6) d[i] = atomicAdd(s, 1) + __any(1); }",
    ),
    "tickets": ("order", "d[i] = atomicAdd(g, 1) + t * 0;"),
}
CLEAN: dict[str, str] = {
    "compare and swap in a loop": (
        "int old = g[t % 4], seen; do { seen = old; old = atomicCAS(&g[t % 4], seen, seen + d[i]); } "
        "while (old != seen);"
    ),
    "own elements": "d[i] = t * 2 + g[i];",
    "neighbour": "s[t] = t; __syncthreads(); d[i] = s[(t + 64) % 128];",
    "tree": (
        "s[t] = t; __syncthreads(); for (int o = 64; o > 0; o /= 2) { if (t < o) s[t] += "
        "s[t + o]; __syncthreads(); } d[i] = s[0];"
    ),
    "tiles": (
        "for (int k = 0; k < 3; ++k) { s[t] = t + k; __syncthreads(); d[i] += s[(t + 64) % 128]; __syncthreads(); }"
    ),
    "atomic histogram": (
        "if (t < 8) s[t] = 0; __syncthreads(); atomicAdd(&s[t % 8], 1); __syncthreads(); d[i] = s[t % 8];"
    ),
    "atomics on device memory": "atomicAdd(&g[t % 4], 1); atomicMax(&g[8], t);",
    "wave sum": "int v = t; for (int o = 16; o > 0; o /= 2) v += __shfl_xor(v, o); d[i] = v;",
    "wave sum, down": (
        "int v = t; for (int o = 16; o > 0; o /= 2) v += __shfl_down(v, o, 32); if (t % 32 == 0) d[i] = v;"
    ),
    "ballots under divergence": "if (t % 3) d[i] = __popcll(__ballot(t % 2)); else d[i] = __popcll(__activemask());",
    "sync of a wave": "s[t] = t; __syncwarp(); d[i] = s[t ^ 1]; __syncwarp(); s[t] = 0;",
    "two buffers": (
        "s[t] = 1; __syncthreads(); int* a = s; int* b = r; for (int o = 1; o < 128; o *= 2) { "
        "b[t] = a[t] + (t >= o ? a[t - o] : 0); __syncthreads(); int* c = a; a = b; b = c; } d[i] = a[t];"
    ),
    "one writes, all read": "if (t == 0) s[0] = 7; __syncthreads(); d[i] = s[0];",
    "all read one": (
        "if (t == 0) s[0] = 7; __syncthreads(); int v = s[0]; __syncthreads(); if (t == 5) s[0] = v; d[i] = v;"
    ),
    "early return": "if (t >= 100) return; s[t] = t; __syncthreads(); d[i] = s[99 - t];",
    "dynamic memory": "dynamic[t] = t; __syncthreads(); d[i] = dynamic[127 - t];",
    "bytes": "char* c = reinterpret_cast<char*>(s); c[t] = t; __syncthreads(); d[i] = c[127 - t];",
    "leader's value": (
        "int b; if (t % 32 == 0) b = atomicAdd(&g[i / 32], 2); b = __shfl(b, 0, 32); unsigned n, p = b; n = p + 1; "
        "int2 v; v.x = n; float f[2]; f[t & 1] = v.x; bool c; c = f[t & 1] > 0; d[i] = c + __shfl_xor(v.x, 1);"
    ),
    "count": "d[i] = __syncthreads_count(t % 2);",
    "volatile flag": (
        "volatile int* f = s; if (t == 0) f[0] = 0; __syncthreads(); if (t == 0) f[0] = 1; "
        "if (t == 64) while (f[0] == 0) {} d[i] = 1;"
    ),
    "vectors": "int2 v = make_int2(t, 1); d[i] = v.x + v.y;",
    "partial last wave": "if (t < 70) { d[i] = __popcll(__ballot(1)) > 0; }",
    "mask of those here": "if (t % 2) d[i] = __shfl_sync(__activemask(), t, 1);",
    "leader": "if (t % 32 == 0) atomicAdd(&g[0], __popcll(__activemask()));",
}
# right in lockstep at one size only
WAVE_SIZE = {
    "lanes that vote": "d[i] = __popcll(__ballot(1));",
    "volatile exchange of 64 threads": (
        "volatile int* v = s; v[t] = t; __syncthreads(); if (t < 64) v[t] = v[t ^ 32]; __syncthreads(); d[i] = v[t];"
    ),
    "width left out": "d[i] = __shfl(t, 40);",
}


SCAN = """__device__ void scan(volatile int* v, int n) {
 for (int o = 1; o < 32; o *= 2)
  if (n >= o) v[n] += v[n - o];
}
"""


def source(bodies: list[str]) -> str:
    kernels = "".join(
        f"__global__ void k{n}(int* d, int* g) {{\n __shared__ int s[128]; __shared__ int r[128]; (void)s; (void)r;\n"
        " extern __shared__ int dynamic[]; (void)dynamic;\n"
        f" const int t = threadIdx.x, i = blockIdx.x * 128 + t; (void)i;\n {body}\n}}\n"
        for n, body in enumerate(bodies)
    )
    table = ", ".join(f"k{n}" for n in range(len(bodies)))
    return (
        f"#include <hip/hip_runtime.h>\n#include <cstdio>\n{SCAN}{kernels}"
        f"int main(int, char** argv) {{\n void (*all[])(int*, int*) = {{{table}}};\n int *d, *g; int h[512];\n"
        " (void)hipMalloc(&d, 1024); (void)hipMalloc(&g, 1024);\n"
        " (void)hipMemset(d, 0, 1024); (void)hipMemset(g, 0, 1024);\n"
        " auto k = all[atoi(argv[1])]; k<<<2, 128, 512>>>(d, g);\n"
        " (void)hipMemcpy(h, d, 1024, hipMemcpyDeviceToHost); (void)hipMemcpy(h + 256, "
        "g, 1024, hipMemcpyDeviceToHost);\n"
        ' for (int x : h) printf("%d\\n", x);\n}\n'
    )


@pytest.fixture(scope="module")
def checked(
    tmp_path_factory: pytest.TempPathFactory, toolchain: sim_compiler.Toolchain
) -> Callable[[int], list[sim_check.Verdict]]:
    """The verdicts on kernel n: the planted ones first, then the clean ones."""
    folder = tmp_path_factory.mktemp("check")
    path = folder / "kernels.hip"
    path.write_text(source([*(body for _, body in PLANTED.values()), *CLEAN.values(), *WAVE_SIZE.values()]))
    binaries = sim_build.build(quick(sim_build.find_program(path)), folder, (32, 64), toolchain, check=True)

    def get(n: int, *waves: int) -> list[sim_check.Verdict]:
        chosen = {w: binaries[w] for w in waves or (32,)}
        return sim_check.check(chosen, (str(n),), simulate.Limits(30))[1]

    return get


@pytest.mark.slow
def test_planted_bugs_are_found(checked: Callable[[int], list[sim_check.Verdict]]) -> None:
    missed = []
    in_output = ("inactive-lane", "order", "mask", "unset")  # seen in the output alone
    for n, (name, (kind, _)) in enumerate(PLANTED.items()):
        found = checked(n)
        at = [v for v in found if v.kind == kind]
        whole = kind in in_output or name.startswith("volatile")
        if not at or not (whole or any(".hip:" in v.where for v in at)):
            missed.append((name, [v.text for v in found]))
    assert missed == []
    assert len(PLANTED) >= 20


@pytest.mark.slow
def test_clean_kernels_stay_silent(checked: Callable[[int], list[sim_check.Verdict]]) -> None:
    spoken = []
    for n, name in enumerate(CLEAN):
        found = checked(len(PLANTED) + n)
        if found:
            spoken.append((name, [v.text for v in found]))
    assert spoken == []
    assert len(CLEAN) >= 20


@pytest.mark.parametrize("n", range(len(WAVE_SIZE)), ids=list(WAVE_SIZE))
def test_wave_size_bug(n: int, checked: Callable[..., list[sim_check.Verdict]]) -> None:
    found = [v.kind for v in checked(len(PLANTED) + len(CLEAN) + n, 32, 64)]
    assert "wave-size" in found


def test_of_many_findings_some_are_shown_and_all_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toolchain: sim_compiler.Toolchain
) -> None:
    """One kind's many findings hide none of another kind, and how many more there are is said."""
    monkeypatch.chdir(tmp_path)
    far = "".join(f" if (t == {n}) d[300 + t] = 1;\n" for n in range(60))
    Path("far.hip").write_text(
        "#include <hip/hip_runtime.h>\n__global__ void k(int* d) {\n const int t = threadIdx.x;\n"
        f"{far} d[0] = t;\n}}\n"
        "int main() { int* d; (void)hipMalloc(&d, 1024); k<<<1, 128>>>(d); return hipDeviceSynchronize(); }\n"
    )
    words = ["simulate", "far.hip", "--check", "--wave", "32", "--json", "out.json", "--junit", "out.xml"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 1
    assert done.stderr.count("\nbounds: far.hip:") + done.stderr.startswith("bounds: far.hip:") == 40, done.stderr
    assert "bounds: ... and 20 more of 60 (--json FILE has all)" in done.stderr
    assert "race: far.hip:64" in done.stderr
    found = json.loads(Path("out.json").read_text())
    assert {v["where"] for v in found if v["kind"] == "bounds"} == {f"far.hip:{n}" for n in range(4, 64)}
    assert f'tests="{len(found)}" failures="{len(found)}"' in Path("out.xml").read_text()
    done = CliRunner().invoke(cli, ["simulate", "far.hip", "--json", "out.json"])
    assert done.exit_code == simulate.CANNOT and "say --check" in done.stderr


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("unsigned a, b = 1, c[2];", ["a", "c"]),
        ("int d = with<A, B, A::value>::get(x, y);", []),  # arguments of a template are no variables
        ("ns::P<int, 4> p, q = f<1, 2>(3), r;", ["p", "r"]),
        ("int x = a < b, y;", ["y"]),
    ],
)
def test_variables_without_a_value(statement: str, names: list[str]) -> None:
    unit = read(statement, "a.cu")
    assert unset(unit, 0, len(unit.t)) == names
