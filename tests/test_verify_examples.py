"""The examples of rows and checks compile for the host and for AMD GPUs: what the rules promise is HIP."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from loading import load

from cu2port.project.tree import CannotRun

TOOL = Path(__file__).resolve().parent.parent / "tools" / "compile_examples.py"

# Examples that do not compile by themselves, and why.
CANNOT = {
    "CU109 example 9": "pastes a name of hipBLAS, whose header the wheels do not have",
    "CU206 example 18": "assigns to a member of an object that it does not declare",
    "CU216 example 3": "includes no header of complex numbers",
    "CU232 example 12": "compares a member of a class that it does not declare",
    "CU232 example 13": "names a class template that it does not declare",
    "CU232 example 14": "names a class template that it does not declare",
    "CU248 example 0": "names the global namespace, and each example is in a namespace of its own here",
    "CU248 example 1": "names the global namespace, and each example is in a namespace of its own here",
    "CU258 example 0": "names the global namespace, and each example is in a namespace of its own here",
    "CU258 example 1": "names the global namespace, and each example is in a namespace of its own here",
    "CU261 example 1": "names a function of a namespace that another file has",
    "CU266 example 6": "names a macro that it does not define, which is what it shows",
    "CU313 example 5": "calls a device function in a host function, since the example says neither",
    "CU603 example 5": "has operands of types that it does not declare",
    "CU608 example 2": "is a statement outside of functions",
    "CU608 example 3": "writes to a surface, which gfx942 does not have",
    "CU718 example 1": "includes nothing of Thrust",
    "CU719 example 1": "is a statement outside of functions",
    "CU719 example 2": "is a statement outside of functions",
    "cuda::barrier": "has a scope without a value",
    "cuda::pipeline_shared_state": "has a scope without a value",
}
# More of them, where CU2PORT_TEST_ROCM names a ROCm that may be older than HIP 7.
CANNOT_THERE = {
    "CU318 example 0": "binary_partition is in HIP 7's cooperative groups",
    "CU318 example 2": "binary_partition is in HIP 7's cooperative groups",
    "CU366 example 1": "binary_partition is in HIP 7's cooperative groups",
    "cub::ShuffleDown": "names overloads and calls none",
    "cub::ShuffleIndex": "names overloads and calls none",
    "cub::ShuffleUp": "names overloads and calls none",
    "cub::WarpMask": "names overloads and calls none",
    "cublasGetProperty": "the macros of hipBLAS's version are in a header that its build writes",
}


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load(TOOL)


def test_types_of_operands(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA's prototypes name the operands' types; the address of one has what the parameter points to."""
    header = (
        "extern __host__ cudaError_t CUDARTAPI cudaFoo(const struct cudaBar *p, enum cudaKind k, size_t n[], "
        "cudaStream_t s __dv(0));\nextern __host__ cudaError_t CUDARTAPI cudaFoo(int n);\n"
    )
    parsed = tuple(tool.parameter_types(inside) for name, inside in tool.PROTOTYPE.findall(header) if name == "cudaFoo")
    monkeypatch.setattr(tool, "prototypes", lambda: {"cudaFoo": parsed})
    assert tool.operand_types("cudaFoo(&bar, kind, sizes, stream);") == {
        "bar": "cudaBar",
        "kind": "cudaKind",
        "sizes": "size_t*",
        "stream": "cudaStream_t",
    }
    assert tool.operand_types("cudaFoo(n);") == {"n": "int"}
    assert tool.operand_types("cudaFoo(a, b);") == {}
    assert tool.operand_types("cudaFoo(bar->x, f(kind), 0, (stream));") == {}


def test_what_is_declared(tool: ModuleType) -> None:
    def declared(text: str, kind: str, **types: str) -> str:
        return " ".join(tool.declarations(tool.Example("x", "x", text), tool.HOST, kind, types)).strip()

    assert declared("hipFree(p);", tool.TYPED, p="void*") == "void* p;"
    assert declared("hipFree(p);", tool.ANYTHING) == "cu2port_any p;"
    assert declared("int n = 0; hipStream_t s; s = 0; n = 1;", tool.ANYTHING) == ""
    assert "__attribute__((global)) void k(T...)" in declared("k<<<1, 2>>>();", tool.ANYTHING)


def real(tool: ModuleType, tmp_path: Path) -> object:
    """A compiler with the headers that are here, or those of CU2PORT_TEST_ROCM."""
    try:
        return tool.Compiler(("gfx942", "gfx1100"), os.environ.get("CU2PORT_TEST_ROCM", ""), "", tmp_path)
    except CannotRun as e:
        pytest.skip(f"the wheels of cu2port[verify] are not here: {e}")


@pytest.mark.slow
def test_wrong_rows_are_seen(tool: ModuleType, tmp_path: Path) -> None:
    """A name that HIP lacks, a cast or an argument left out, arguments that changed places, CUDA's name left."""
    right = {e.name: e for e in tool.row_examples() if e.group in ("driver", "runtime", "device")}
    edits = {
        "cudaMemAdvise": ("hipMemAdvise", "hipMemAdvice"),
        "cuGraphExecGetFlags": ("reinterpret_cast<unsigned long long*>(&flags)", "&flags"),
        "cuTexRefSetFilterMode": ("static_cast<hipTextureFilterMode>(mode)", "mode"),
        "cuMemcpyAsync": ("hipMemcpyDefault, stream", "stream"),
        "cudaMemPrefetchAsync": ("device, stream", "stream, device"),
        "cuStreamGetCaptureInfo form 1": ("(unsigned long long*)(&id)", "&status"),
        "cuDriverGetVersion": ("hipDriverGetVersion", "cuDriverGetVersion"),
    }
    planted = [replace(right[k], text=right[k].text.replace(*edit)) for k, edit in edits.items()]
    assert all(e.text != right[e.name].text for e in planted)
    found = tool.judge(real(tool, tmp_path), [*planted, right["cuMemcpy"], right["cudaLaunchKernel"]])
    assert {e.name for e, j in found.items() if j.message} == edits.keys(), found


@pytest.mark.slow
def test_examples_compile(tool: ModuleType, tmp_path: Path) -> None:
    """All whose headers are here, with CUDA's own operand types where they are known; CU2PORT_TEST_ROCM: that ROCm."""
    compiler = real(tool, tmp_path)
    found = {}
    for together in tool.examples_by_unit():
        if not together[0].group.endswith(".hpp"):  # those of our own headers: test_verify_parts.py
            found.update(tool.judge(compiler, together))
    failed = {e.name: j.message for e, j in found.items() if j.message and not j.missing}
    cannot = CANNOT | (CANNOT_THERE if os.environ.get("CU2PORT_TEST_ROCM") else {})
    assert {k: v for k, v in failed.items() if k not in cannot} == {}
    assert CANNOT.keys() - failed.keys() == set(), "strike what compiles now"
    good = [j for j in found.values() if not j.message and not j.missing]
    assert len(good) >= 650 and sum(j.typed for j in good) >= 500
