"""Programs of HIP that `lint --fix` changed, run on waves of 32 and of 64 lanes and compiled for AMD GPUs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from loading import load
from simulated import quick

from cu2port.core.model import Options, Trust
from cu2port.engine.translate import translate
from cu2port.lint.run import FileLint, Settings, lint_job
from cu2port.lint.select import make_selection
from cu2port.project.jobs import Job, Tools
from cu2port.verify import sim_build, sim_compiler

ROOT = Path(__file__).parents[2]
INCLUDE = ROOT / "translator/cu2port/include"
SETTINGS = Settings(Options(warp="flag", use_clang=False), make_selection(None, (), (), {}, "a test"), fix=Trust.EXACT)
THREADS = 64
LANE = "int lane = threadIdx.x % 32, v = threadIdx.x * 7 % 61; "
VALUES = [t * 7 % 61 for t in range(THREADS)]
Warp = list[int]  # the values of its lanes


def down(w: Warp, d: int) -> Warp:
    """What a sum over `__shfl_down` comes to: a lane whose source is not in the warp gets its own value."""
    return down([x + (w[k + d] if k + d < 32 else x) for k, x in enumerate(w)], d // 2) if d else w


# form: (what a kernel does with `v` of each thread, what each lane of a warp of 32 gets)
FORMS: dict[str, tuple[str, Callable[[Warp], Warp]]] = {
    "sum": ("for (int d = 16; d > 0; d >>= 1) v += __shfl_down(v, d); o[threadIdx.x] = v;", lambda w: down(w, 16)),
    "first": ("o[threadIdx.x] = __shfl(v, 0);", lambda w: [w[0]] * 32),
    "scan": (
        "for (int d = 1; d < 32; d *= 2) { int u = __shfl_up(v, d); if (lane >= d) v += u; } o[threadIdx.x] = v;",
        lambda w: [sum(w[: k + 1]) for k in range(32)],
    ),
    "above": ("o[threadIdx.x] = __shfl_down(v, 1);", lambda w: [*w[1:], w[31]]),
    "turned": ("o[threadIdx.x] = __shfl(v, lane + 1);", lambda w: [*w[1:], w[0]]),
    "count": ("o[threadIdx.x] = __popc(__ballot(v & 1));", lambda w: [sum(x & 1 for x in w)] * 32),
    "rank": (
        "unsigned m = __ballot(v & 1); o[threadIdx.x] = __popc(m & ((1u << lane) - 1));",
        lambda w: [sum(x & 1 for x in w[:k]) for k in range(32)],
    ),
    "highest": (
        "o[threadIdx.x] = 31 - __clz(__ballot(v > 50));",
        lambda w: [max(k for k in range(32) if w[k] > 50)] * 32,
    ),
    "leader": (
        "if (v & 1) { unsigned m = __activemask(); o[threadIdx.x] = __ffs(m) - 1 == lane; } else o[threadIdx.x] = -1;",
        lambda w: [(x & 1 and not sum(y & 1 for y in w[:k])) * 1 if x & 1 else -1 for k, x in enumerate(w)],
    ),
    "votes": (
        "o[threadIdx.x] = (__any(v == 60) ? 1 : 0) + (__all(v != 60) ? 2 : 0);",
        lambda w: [1 if 60 in w else 2] * 32,
    ),
}
# these do not compile with HIP 7 as they are
MASKED: dict[str, tuple[str, Callable[[Warp], Warp]]] = {
    "masked sum": (
        "for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d); o[threadIdx.x] = v;",
        lambda w: [sum(w)] * 32,
    ),
    "masked count": (
        "unsigned m = __ballot_sync(0xffffffffu, v & 1); __syncwarp(0xffffffffu); o[threadIdx.x] = __popc(m);",
        lambda w: [sum(x & 1 for x in w)] * 32,
    ),
    "masked match": (
        "unsigned same = __match_any_sync(~0u, v & 3); o[threadIdx.x] = __popc(same) + __ffs(same) - 1;",
        lambda w: [sum(x & 3 == y & 3 for y in w) + min(k for k in range(32) if w[k] & 3 == x & 3) for x in w],
    ),
}
# no count of lanes: masks become as wide as a wavefront; what a wave of any size gets
WIDE: dict[str, tuple[str, Callable[[Warp], Warp]]] = {
    "wide count": ("o[threadIdx.x] = __popc(__ballot(v & 1));", lambda w: [sum(x & 1 for x in w)] * len(w)),
    "wide rank": (
        "unsigned m = __ballot(v & 1); int below = threadIdx.x & (warpSize - 1); "
        "o[threadIdx.x] = __popc(m & ((1u << below) - 1));",
        lambda w: [sum(x & 1 for x in w[:k]) for k in range(len(w))],
    ),
    "wide first": (
        "unsigned m = __ballot(v > 50); o[threadIdx.x] = __ffs(m);",
        lambda w: [next(k for k in range(len(w)) if w[k] > 50) + 1] * len(w),
    ),
    "wide last": (
        "o[threadIdx.x] = 31 - __clz(__ballot(v > 50));",
        lambda w: [max(k for k in range(len(w)) if w[k] > 50)] * len(w),
    ),
}


def program(forms: dict[str, tuple[str, Callable[[Warp], Warp]]], begin: str) -> str:
    """Kernels, and a main that prints what each thread got, a kernel a line."""
    kernels = "".join(f"__global__ void k{n}(int* o) {{ {begin}{t} }}\n" for n, (t, _) in enumerate(forms.values()))
    calls = "".join(f"  show(k{n});\n" for n in range(len(forms)))
    return (
        f"#include <hip/hip_runtime.h>\n#include <cstdio>\n{kernels}"
        "static void show(void (*k)(int*)) {\n"
        f"  int h[{THREADS}], *o;\n  hipMalloc((void**)&o, sizeof(h));\n  k<<<1, {THREADS}>>>(o);\n"
        f'  hipMemcpy(h, o, sizeof(h), hipMemcpyDeviceToHost);\n  for (int x : h) printf("%d ", x);\n'
        '  printf("\\n");\n  hipFree(o);\n}\n'
        f"int main() {{\n{calls}}}\n"
    )


def fixed(text: str | bytes) -> FileLint:
    data = text.encode() if isinstance(text, str) else text
    return lint_job(SETTINGS, Job(0, "a.hip", "a.hip", SETTINGS.options, data=data), Tools())


def output(text: str | bytes) -> bytes:
    done = fixed(text)
    assert done.output is not None
    assert done.findings == ()
    return done.output


CASES = {
    "kept to 32 lanes": (program(FORMS, LANE), FORMS, (32, 32)),
    "masks of 32 bits": (program(MASKED, LANE), MASKED, (32, 32)),
    "wide masks": (program(WIDE, LANE.replace("lane = threadIdx.x % 32, ", "")), WIDE, (32, 64)),
}


def ran(folder: Path, text: bytes, wave: int) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "a.hip").write_bytes(text)
    found = quick(sim_build.Program((folder / "a.hip",), warp="flag"))
    binary = sim_build.build(found, folder, [wave], sim_compiler.find_toolchain(), jobs=1)[wave]
    return subprocess.run([str(binary)], capture_output=True, text=True, check=True, timeout=60).stdout


def results(said: str) -> list[list[int]]:
    return [[int(x) for x in line.split()] for line in said.splitlines()]


def expected(forms: dict[str, tuple[str, Callable[[Warp], Warp]]], wave: int) -> dict[str, Warp]:
    warps = [VALUES[k : k + wave] for k in range(0, THREADS, wave)]
    return {name: [x for w in warps for x in lanes(w)] for name, (_, lanes) in forms.items()}


@pytest.mark.parametrize("name", CASES)
def test_every_form_is_fixed(name: str) -> None:
    text, forms, _ = CASES[name]
    after = output(text).decode().splitlines()
    before = text.splitlines()
    assert len(forms) == sum(line.startswith("__global__") and line not in before for line in after)


@pytest.mark.slow
@pytest.mark.parametrize("wave", [32, 64])
@pytest.mark.parametrize("name", CASES)
def test_a_fixed_program_is_right_at_both_sizes(name: str, wave: int, tmp_path: Path) -> None:
    text, forms, sizes = CASES[name]
    got = dict(zip(forms, results(ran(tmp_path / "a", output(text), wave)), strict=True))
    assert got == expected(forms, sizes[wave == 64])


@pytest.mark.slow
def test_as_they_were_they_are_right_on_32_lanes_alone(tmp_path: Path) -> None:
    text = CASES["kept to 32 lanes"][0].encode()
    want = list(expected(FORMS, 32).values())
    assert results(ran(tmp_path / "a", text, 32)) == want
    wide = results(ran(tmp_path / "b", text, 64))
    same = [name for name, a, b in zip(FORMS, wide, want, strict=True) if a == b]
    assert same == ["scan"]  # its test of the lane keeps it to 32


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", CASES)
def test_a_fixed_program_compiles_for_amd_gpus(name: str, arch: str, tmp_path: Path) -> None:
    root = os.environ.get("CU2PORT_TEST_ROCM", "")
    if not root:
        pytest.skip("no HIP headers: CU2PORT_TEST_ROCM is not set")
    if shutil.which("clang++-22") is None:
        pytest.skip("no clang++-22 here")
    path = tmp_path / "a.hip"
    path.write_bytes(output(CASES[name][0]))
    command = ["clang++-22", "-x", "hip", f"--offload-arch={arch}", f"--rocm-path={root}", "-nogpulib", "-S"]
    command += ["--cuda-device-only", "-std=c++17", "-w", "-DHIP_ENABLE_WARP_SYNC_BUILTINS", f"-I{INCLUDE}"]
    command += [f"-D__AMDGCN_WAVEFRONT_SIZE={64 if arch == 'gfx942' else 32}", "-o", os.devnull, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]


@pytest.mark.slow
def test_random_kernels_with_renamed_names_are_right_when_fixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    executor = load(ROOT / "tools" / "second_executor.py")
    kernels = executor.kernels_of(1, 6, False)
    renamed = translate(executor.program(kernels), replace(SETTINGS.options), path="k.cu").output
    text = output(renamed)
    for wave in (32, 64):
        got = dict(line.split() for line in ran(tmp_path / str(wave), text, wave).splitlines())
        assert got == {k.name: executor.digest(k.expected) for k in kernels}
