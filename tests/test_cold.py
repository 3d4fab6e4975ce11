"""What one small file loads: the time of a short run is that of its imports. Times vary with the machine, and these
numbers do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SMALL = """#include <cuda_runtime.h>
__global__ void add(int n, const float* a, float* b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] += a[i];
}
int main() {
    float *a, *b;
    cudaMalloc(&a, 1024);
    cudaMalloc(&b, 1024);
    add<<<1, 256>>>(256, a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
"""
#: What `cu2port convert` and a worker do with one file, in one process.
RUN = """
import builtins, json, re._compiler, sys
made = {"patterns": 0, "classes": 0}
def counted(what, call):
    def counting(*args, **named):
        made[what] += 1
        return call(*args, **named)
    return counting
re._compiler.compile = counted("patterns", re._compiler.compile)
import dataclasses
dataclasses._create_fn = counted("classes", dataclasses._create_fn)
from cu2port.cli.commands import cli
import cu2port.cli.convert
from cu2port.core.model import Options
from cu2port.project.jobs import Job, Tools, convert
done = convert(Job(0, "small.cu", "small.cu", Options(), data=sys.argv[1].encode()), Tools())
assert done.status == "converted"
print(json.dumps([sorted(m for m in sys.modules if m.partition(".")[0] == "cu2port"), made]))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], dict[str, int]]:
    """The modules of ours that a small file loads when the caches are made, and what was compiled."""
    cache = tmp_path_factory.mktemp("cache")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator"), "CU2PORT_CACHE_DIR": str(cache)}
    for _ in range(2):
        command = (sys.executable, "-c", RUN, SMALL)
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    loaded, made = json.loads(done.stdout)
    return loaded, made


@pytest.fixture
def loaded(ran: tuple[list[str], dict[str, int]]) -> list[str]:
    return ran[0]


def test_a_small_file_loads_few_modules(loaded: list[str]) -> None:
    assert len(loaded) <= 175, len(loaded)


def test_a_small_file_loads_no_analysis(loaded: list[str]) -> None:
    heavy = ("warp.analyse", "warp.values", "warp.definite_assignment", "ptx.rewrite")
    assert not {f"cu2port.{m}" for m in heavy} & set(loaded)


def test_a_small_file_loads_few_checks(loaded: list[str]) -> None:
    assert sum(m.startswith("cu2port.checks.") for m in loaded) <= 45


def test_a_small_file_compiles_few_patterns_and_no_methods(ran: tuple[list[str], dict[str, int]]) -> None:
    """Those of modules that it loads are made when they are used (`core/late.py`)."""
    assert ran[1]["patterns"] <= 50, ran[1]
    assert ran[1]["classes"] == 0, ran[1]
