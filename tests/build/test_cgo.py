"""Go that calls CUDA by cgo. The results were checked once with Go's compiler and HIP's headers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cu2port.build.convert import convert
from cu2port.build.words import Asked
from cu2port.core.model import Outcome, Result

HEAD = 'package cu\n\n//#include <cuda.h>\nimport "C"\nimport "unsafe"\n'
NEEDS = "#cgo CFLAGS: -D__HIP_PLATFORM_AMD__ -I/opt/rocm/include\n"
NEW_HEAD = f'package cu\n\n//{NEEDS}//#include <hip/hip_runtime.h>\nimport "C"\nimport "unsafe"\n'


def port(text: str, **given_: object) -> Result:
    return convert(text.encode("latin-1"), "a.go", Asked("go", **given_))  # type: ignore[arg-type]  # fields by name


def body(text: str) -> str:
    out = port(HEAD + text).output.decode("latin-1")
    assert out.startswith(NEW_HEAD)
    return out.removeprefix(NEW_HEAD)


def manual(text: str) -> list[str]:
    return [j.finding.message for j in port(text).findings if j.outcome is not Outcome.APPLIED]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("var s C.CUstream = nil", "var s C.hipStream_t = nil"),
        ("C.cudaFree(p)", "C.hipFree(p)"),
        ("x := C.CUDA_SUCCESS", "x := C.hipSuccess"),
        ("var p C.struct_cudaDeviceProp", "var p C.struct_hipDeviceProp_t"),
        ("k := C.enum_cudaMemcpyKind(1)", "k := C.enum_hipMemcpyKind(1)"),
        ("l := C.CUlimit(0)", "l := C.enum_hipLimit_t(0)"),
        ("C.cuMemFree(C.CUdeviceptr(p))", "C.hipFree(unsafe.Pointer(C.hipDeviceptr_t(uintptr(p))))"),
        ("C.cuMemcpyDtoH(h, C.CUdeviceptr(0), n)", "C.hipMemcpyDtoH(h, C.hipDeviceptr_t(uintptr(0)), n)"),
        ("C.cuMemAlloc(&d, n)", "C.hipMalloc((*unsafe.Pointer)(unsafe.Pointer(&d)), n)"),
        ("C.cuMemAlloc_v2(&d, n)", "C.hipMalloc((*unsafe.Pointer)(unsafe.Pointer(&d)), n)"),
        ("C.cuDeviceGetAttribute(&a, k, dev)", "C.hipDeviceGetAttribute(&a, k, C.int(dev))"),
        (
            "C.cuMemcpyAsync(f(a, b), s, n, st)",
            "C.hipMemcpyAsync(unsafe.Pointer(f(a, b)), unsafe.Pointer(s), n, C.hipMemcpyDefault, st)",
        ),
        ("C.cuCtxCreate(&c, 0, d)", "C.hipCtxCreate(&c, 0, d)"),
        ('x := "C.cudaFree" // C.cudaFree', 'x := "C.cudaFree" // C.cudaFree'),
        ("x := `C.cudaFree` /* C.cudaFree */", "x := `C.cudaFree` /* C.cudaFree */"),
        ("x := 'C'; y := a.C.cudaFree; z := C.own(1)", "x := 'C'; y := a.C.cudaFree; z := C.own(1)"),
    ],
)
def test_names(before: str, after: str) -> None:
    assert body(before + "\n") == after + "\n"
    assert not manual(HEAD + before)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("C.cuMemcpyPeer(a, b, c, d, n)", "`C.cuMemcpyPeer` stays: it has no HIP counterpart"),
        ("var t C.CUtexObject", "a number in CUDA and a pointer in HIP"),
        ("f := C.cuCtxCreate", "is used in another way"),
        ("C.cuCtxCreate(&c, nil, 0, 0, d)", "is used in another way"),
        ("C.cuMemFree(", ""),
    ],
)
def test_what_stays(text: str, says: str) -> None:
    result = port(HEAD + text + "\n")
    if says:
        assert says in manual(HEAD + text)[0]
        assert result.left
    assert text.partition("(")[0] in result.output.decode() or not says


def test_without_unsafe_a_conversion_is_reported() -> None:
    text = 'package cu\n//#include <cuda.h>\nimport "C"\nfunc f(p C.CUdeviceptr) { C.cuMemFree(p) }\n'
    assert "import unsafe" in manual(text)[0]


def test_flags_and_code_before_the_import() -> None:
    text = (
        "package cu\n\n/*\n#cgo LDFLAGS: -lcudart -lcublas -lm\n#cgo linux LDFLAGS: -L/usr/local/cuda-12.4/lib64\n"
        "#cgo CFLAGS: -I/usr/local/cuda/include\n#cgo windows CFLAGS: -I/usr/local/cuda/include\n"
        '#include <cuda_runtime.h>\n#include "own.h"\n'
        "static cudaError_t f(void **p) { return cudaMalloc(p, 4); } // cudaMalloc\n"
        '*/\nimport "C"\n'
    )
    wanted = (
        "package cu\n\n/*\n#cgo LDFLAGS: -lamdhip64 -lhipblas -lm\n#cgo linux LDFLAGS: -L/opt/rocm/lib\n"
        "#cgo CFLAGS: -I/opt/rocm/include\n#cgo windows CFLAGS: -I/usr/local/cuda/include\n"
        f'{NEEDS}#include <hip/hip_runtime.h>\n#include "own.h"\n'
        "static hipError_t f(void **p) { return hipMalloc(p, 4); } // cudaMalloc\n"
        '*/\nimport "C"\n'
    )
    assert port(text).output.decode() == wanted
    assert port(wanted).output.decode() == wanted


@pytest.mark.parametrize(
    ("constraint", "changed"),
    [
        ("", True),
        ("linux ", True),
        ("!windows ", True),
        ("!windows,amd64 darwin ", True),
        ("windows ", False),
        ("windows,amd64 darwin ", False),
        ("!linux ", False),
    ],
)
def test_flags_count_where_linux_takes_them(constraint: str, changed: bool) -> None:
    text = f'package cu\n\n// #cgo {constraint}LDFLAGS: -L/opt/cuda/lib64 -lcuda -lcudart\nimport "C"\n'
    new = text.replace("-L/opt/cuda/lib64 -lcuda -lcudart", "-L/opt/rocm/lib -lamdhip64 -lamdhip64")
    assert port(text).output.decode() == (new if changed else text)


@pytest.mark.parametrize(
    "text",
    [
        'package cu\n\n// #include <cuda.h>\n\nimport "C"\n',  # an empty line parts them: the comment is none of cgo's
        "package cu\n\n// cuda: C.cudaFree(p)\nfunc f() { C.cudaFree(p) }\n",  # no cgo at all
    ],
)
def test_what_is_not_cgo_stays(text: str) -> None:
    assert port(text).output.decode() == text


def test_import_in_a_group() -> None:
    text = 'package cu\n\nimport (\n\t"fmt"\n\n\t// #include <cuda.h>\n\t"C"\n)\n'
    assert "hip/hip_runtime.h" in port(text).output.decode()


def test_rules_of_the_project_count() -> None:
    rules = 'library = "own"\ntitle = "own"\ntarget = "HIP"\n[rename]\nourAlloc = "hisAlloc"\n'
    text = HEAD + "C.ourAlloc(p)\n"
    assert "C.hisAlloc(p)" in port(text, rules=(("own.toml", rules),)).output.decode()


WORDS = ("//", "/*", "*/", "C.cuMemFree(", "C.CUdeviceptr", "C.cuMemAlloc(&d, 4)", "C.cuMemcpy", "#cgo x: ", "-lcuda ")
PIECES = st.sampled_from((*"(),\"`'\n\\ {}x\xe9", *WORDS, 'import "C"\n', "#include <cuda.h>", "cuda"))


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=60).map("".join))
def test_any_text(text: str) -> None:
    """Nothing fails, and a second run changes nothing more but what a conversion in the first made known."""
    result = port("// cuda\n" + text)
    assert len(result.output) >= len(text) // 2
    again = port(result.output.decode("latin-1"))
    assert again.output == port(again.output.decode("latin-1")).output
