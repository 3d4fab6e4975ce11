"""Asynchronous copies, pipelines and barriers of CUDA's headers: converted, and run with 32 and 64 lanes in a wave."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from simulated import quick

from cu2port.core.model import Options, Result
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService
from cu2port.verify import sim_build, sim_compiler, simulate

SOURCE = Path(__file__).parent / "headers" / "pipelines.cu"


@cache
def converted() -> Result:
    with ClangService() as clang:
        return translate(SOURCE.read_text(), Options(), path="pipelines.cu", clang=clang)


def ran(text: str, wave: int, folder: Path) -> simulate.Ran:
    (folder / "pipelines.hip").write_text(text)
    found = sim_build.find_program(folder / "pipelines.hip")
    program = quick(found)
    binary = sim_build.build(program, folder / "build", (wave,), sim_compiler.find_toolchain())[wave]
    return simulate.run(binary, (), simulate.Limits(60), capture=True)


def test_every_name_has_a_target() -> None:
    result = converted()
    assert [j.finding.message for j in result.findings if j.open] == []
    text = result.output.decode()
    assert "cuda::" not in text and "nvcuda" not in text and "__pipeline" not in text
    assert result.helpers == {"atomic.hpp", "pipeline.hpp"}


@pytest.mark.parametrize("wave", [pytest.param(32, marks=pytest.mark.slow), 64])
def test_what_is_copied(wave: int, tmp_path: Path) -> None:
    done = ran(converted().output.decode(), wave, tmp_path)
    assert done.code == 0, done.errors.decode()[-2000:]
    lines = dict(line.split() for line in done.output.decode().splitlines())
    assert len(lines) == 6 and set(lines.values()) == {"0"}, lines


def test_a_wait_that_is_left_out_shows(tmp_path: Path) -> None:
    text = converted().output.decode().replace("pipe.consumer_wait();", "")
    done = ran(text, 64, tmp_path)
    assert {line.split()[0] for line in done.output.decode().splitlines() if not line.endswith(" 0")}
