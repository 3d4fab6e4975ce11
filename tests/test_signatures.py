"""tools/signatures.py on a small header: what it calls, and the faults that it finds in what the calls become."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import ModuleType

import pytest
from loading import load

from cu2port.project.tree import CannotRun

TOOLS = Path(__file__).resolve().parent.parent / "tools"
# CUDA's declarations, and among them some that are not like HIP's
HEADER = """
#pragma once
#define __device__ __attribute__((device))
#define cudaOld cudaOld_v2
#define cudaHostAllocMapped 2
typedef enum cudaError { cudaSuccess = 0, cudaErrorInvalidTexture = 18 } cudaError_t;
typedef struct CUstream_st *cudaStream_t;
struct cudaExtent { unsigned long width; int lacking; };
extern "C" {
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaGetDevice(long *device);
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope);
cudaError_t cudaOld_v2(int (*f)(void *), const int a[2]);
void cudaPrivateThing(void);
}
"""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    load(TOOLS / "compile_examples.py")
    load(TOOLS / "names.py")
    return load(TOOLS / "signatures.py")


@pytest.mark.slow
def test_differences_are_found(tool: ModuleType, tmp_path: Path) -> None:
    try:
        compiler = tool.Compiler(["gfx942"], os.environ.get("CU2PORT_TEST_ROCM", ""), "", tmp_path)
    except CannotRun as e:
        pytest.skip(str(e))
    (tmp_path / "cuda_runtime.h").write_text(HEADER)
    public = tool.NameList((), (), re.compile(r"cuda\w+"), re.compile("cudaPrivate.*"), re.compile(r"cuda\w+"), ())
    command = [*compiler.program, *tool.AS_CUDA, *tool.ALLOWED, f"-I{tmp_path}"]
    uses = tool.read_headers(command, ["cuda_runtime.h"], public, tmp_path)
    told, absent = tool.judge(compiler, command, ["cuda_runtime.h"], uses, (7, 1))
    assert not absent
    by_name = {(u.kind, u.name): t for u, t in told.items()}
    good = {k for k, t in by_name.items() if not t.message and not t.by_hand}
    assert good >= {
        ("function", "cudaStreamSynchronize"),
        ("member", "cudaExtent.width"),
        ("enumerator", "cudaSuccess"),
        ("macro", "cudaHostAllocMapped"),
        ("type", "cudaStream_t"),
        ("tag", "cudaExtent"),
    }
    assert "no member named 'lacking'" in by_name["member", "cudaExtent.lacking"].message
    assert "no matching function" in by_name["function", "cudaGetDevice"].message
    assert by_name["function", "cudaDeviceFlushGPUDirectRDMAWrites"].by_hand
    texture = by_name["enumerator", "cudaErrorInvalidTexture"]
    assert (texture.cuda, texture.hip) == (18, 912)
    assert ("function", "cudaOld") in by_name and ("function", "cudaPrivateThing") not in by_name
    lines = list(tool.report("runtime", told, show=True, show_values=True))
    assert any(x.startswith("  cudaErrorInvalidTexture: 18, in HIP 912") for x in lines)


@pytest.mark.parametrize(
    "type_, declared",
    [("int *", "int * p"), ("int (*)(void *)", "int (* p)(void *)"), ("int[2]", "int p[2]")],
)
def test_variables(tool: ModuleType, type_: str, declared: str) -> None:
    assert tool.variable(type_, "p") == declared
