"""Fortran that calls CUDA."""

from __future__ import annotations

from pathlib import Path

import pytest

from cu2port.build.convert import convert
from cu2port.build.kinds import is_build_file, kind_of
from cu2port.build.words import Asked
from cu2port.core.model import Outcome, Result


def port(text: str) -> Result:
    return convert(text.encode(), "a.f90", Asked("fortran"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'integer(C_INT) function f(p) bind(C, name="cudaFree")',
            'integer(C_INT) function f(p) bind(C, name="hipFree")',
        ),
        ("  height, kind) &\n  BIND(C, NAME = 'cudaMemcpy2D')", "  height, kind) &\n  BIND(C, NAME = 'hipMemcpy2D')"),
        ('bind(C, name="cublasCreate_v2")', 'bind(C, name="hipblasCreate")'),
        ('bind(C, name="cuda_wrapper_init")', None),
        ('print *, "cudaFree"', None),
    ],
)
def test_functions_that_are_bound_by_name(before: str, after: str | None) -> None:
    result = port(before)
    assert result.output.decode() == (after or before)
    assert port(result.output.decode()).output == result.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('bind(C, name="cudaGLMapBufferObject")', "`cudaGLMapBufferObject` stays"),
        ("integer(C_INT), parameter :: cudaErrorNoDevice = 38_C_INT\ncudafor", "`cudaErrorNoDevice` is CUDA's"),
        ("program a\n  use cudafor\n", "`use cudafor` stays"),
        ("attributes(global) subroutine k(a)", "hipfort"),
    ],
)
def test_what_is_reported(text: str, said: str) -> None:
    (judged,) = port(text).findings
    assert judged.outcome is Outcome.MANUAL and judged.finding.code == "CU822" and said in judged.finding.message


def test_fortran_is_a_build_file_by_its_text(tmp_path: Path) -> None:
    for name, text in (("a.f90", 'bind(c, name="cudaFree")'), ("a.cuf", "attributes(global) subroutine k\n")):
        assert kind_of(name) == "fortran"
        (tmp_path / name).write_text(text)
        assert is_build_file(str(tmp_path / name))
    (tmp_path / "b.F90").write_text("! not cudafor, name='cuda', for attributes(x)\ncall f('cuda')\n")
    assert not is_build_file(str(tmp_path / "b.F90"))
