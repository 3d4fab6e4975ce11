"""nvcuda::wmma: fragments of 32 threads by default, rocWMMA where warps are wavefronts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from simulated import quick

from cu2port.core.model import Options
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService
from cu2port.verify import sim_build, sim_compiler, simulate

SOURCE = Path(__file__).parent / "headers" / "fragments.cu"
NATIVE = Path(__file__).resolve().parents[1] / "rules" / "native" / "wmma.toml"


@cache
def converted() -> str:
    with ClangService() as clang:
        result = translate(SOURCE.read_text(), Options(), path="fragments.cu", clang=clang)
    assert [j.finding.message for j in result.findings if j.open] == []
    return result.output.decode()


def ran(text: str, wave: int, folder: Path, *flags: str) -> list[str]:
    (folder / "fragments.hip").write_text(text)
    found = sim_build.find_program(folder / "fragments.hip")
    program = quick(found, *flags)
    binary = sim_build.build(program, folder / "build", (wave,), sim_compiler.find_toolchain())[wave]
    done = simulate.run(binary, (), simulate.Limits(200), capture=True)
    assert done.code == 0, done.errors.decode()[-2000:]
    return done.output.decode().splitlines()


def test_its_header_brings_halves() -> None:
    """CUDA's mma.h includes cuda_fp16.h; a file may depend on that without a fragment."""
    text = "#include <mma.h>\n__global__ void k(half* p) { *p = __float2half(1.f); }\n"
    assert "#include <hip/hip_fp16.h>" in translate(text, Options(), path="a.cu").output.decode()


@pytest.mark.slow
@pytest.mark.parametrize("wave", [pytest.param(32, marks=pytest.mark.slow), 64])
def test_products(wave: int, tmp_path: Path) -> None:
    """Whole numbers exactly, others within the bound that is promised; both warps of a block or one of them."""
    lines = ran(converted(), wave, tmp_path)
    assert len(lines) == 24
    assert [line for line in lines if not line.endswith(" 0")] == []


@pytest.mark.slow
@pytest.mark.parametrize("wave", [pytest.param(32, marks=pytest.mark.slow), 64])
def test_products_of_every_layout(wave: int, tmp_path: Path) -> None:
    lines = ran(converted(), wave, tmp_path, "-DALL_LAYOUTS")
    assert len(lines) == 81
    assert [line for line in lines if not line.endswith(" 0")] == []


def test_rocwmma_takes_the_place_of_wavefronts() -> None:
    text = "#include <mma.h>\nusing namespace nvcuda;\nvoid f() { wmma::fill_fragment(c, 0.0f); }\n"
    native = translate(text, Options(warp="native"), path="a.cu").output.decode()
    assert "#include <rocwmma/rocwmma.hpp>" in native and "rocwmma::fill_fragment(c, {0.0f})" in native
    plain = translate(text, Options(), path="a.cu").output.decode()
    assert '#include "cu2port/wmma.hpp"' in plain and "cu2port::wmma::fill_fragment(c, 0.0f)" in plain
    own = (("own.toml", '[rename]\n"nvcuda::wmma::fill_fragment" = { hip = "mine::fill" }\n'),)
    assert "mine::fill" in translate(text, Options(warp="native", rules=own), path="a.cu").output.decode()


def test_examples_of_rows_for_wavefronts() -> None:
    import tomllib

    wrong = []
    for row in tomllib.loads(NATIVE.read_text())["change"]:
        made = translate(row["example"]["before"], Options(warp="native"), path="a.cuh").output.decode()
        if row["example"]["after"] not in made:
            wrong.append(made)
    assert not wrong
