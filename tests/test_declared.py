"""Files that stand in for CUDA where there is none."""

from __future__ import annotations

import pytest

from cu2port.facts.declared import stands_in


@pytest.mark.parametrize(
    "text",
    [
        "using cudaError_t = int;",
        "int a;\n\t using CUstream = void*;\nnamespace n {}",
        "typedef int cudaError_t;",
        "using std::min;\ntypedef unsigned long x;\ntypedef void *cudaStream_t;",
        "typedef int cudaError_t;\nnamespace n {\nusing cudaEvent_t = int;\n}",
    ],
)
def test_a_stand_in(text: str) -> None:
    assert stands_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "namespace n {\nusing cudaError_t = int;\n}",
        "namespace n { }\ntypedef int cudaError_t;",
        "// using cudaError_t = int;",
        "x using cudaError_t = int;",
        "using cudaError_t = hipError_t;",
        "using cudaError_t_ = int;\ntypedef struct { int x; } cudaError_t;",
        "",
    ],
)
def test_no_stand_in(text: str) -> None:
    assert not stands_in(text)
