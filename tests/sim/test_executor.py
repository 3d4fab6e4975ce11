"""`simulate --executor`: a program is converted, compiled by the executor's own command, and run by it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cu2port.cli.commands import cli
from cu2port.verify import simulate
from cu2port.verify.executor import WAVES

PROGRAM = '#include <cuda_runtime.h>\n#include "more.h"\nint main() { int* p; return cudaMalloc(&p, 4 * N); }\n'
BUILD = """#!/bin/sh
printf '%s\\n' "$@" > "$(dirname "$0")/said"
grep -q FAULT "$2" && { echo "program.cu:1: error: FAULT" >&2; exit 1; }
cp "$2" "$3"
"""
RUN = """import pathlib, sys
here = pathlib.Path(__file__).parent
here.joinpath("ran").write_text(pathlib.Path(sys.argv[1]).read_text() + repr(sys.argv[2:]))
sys.exit(5)
"""


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    """A folder that is laid out as an executor's; its program is the converted source."""
    home = tmp_path / "executor"
    for path, text in (("amdemu/build.sh", BUILD), ("amdemu/run.py", RUN)):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
        (home / path).chmod(0o755)
    (home / "venv" / "bin").mkdir(parents=True)
    (home / "venv" / "bin" / "python").symlink_to(sys.executable)
    return home


def call(tmp_path: Path, *words: str, text: str = PROGRAM, where: str = "") -> Result:
    program = tmp_path / "program" / "main.cu"
    program.parent.mkdir(exist_ok=True)
    program.write_text(text)
    program.with_name("more.h").write_text("#define N 2\ninline int two() { return cudaSuccess; }\n")
    environment = {"CU2PORT_EXECUTOR": where}
    return CliRunner().invoke(cli, ["simulate", str(program), *words], env=environment)


@pytest.mark.parametrize("target", sorted(WAVES))
def test_the_converted_program_is_compiled_and_run(target: str, stub: Path, tmp_path: Path) -> None:
    done = call(tmp_path, "--executor", target, "-D", "M=3", "--", "one", "two", where=str(stub))
    assert done.exit_code == 5, done.output
    said = (stub / "amdemu" / "said").read_text().splitlines()
    assert said[0] == target and said[1].endswith("/main.cu") and "-DM=3" in said
    ran = (stub / "amdemu" / "ran").read_text()
    assert "hipMalloc(&p" in ran and "cuda" not in ran and ran.endswith("['one', 'two']")


def test_headers_are_converted_beside_the_sources(stub: Path, tmp_path: Path) -> None:
    (stub / "amdemu" / "build.sh").write_text(BUILD.replace('cp "$2"', 'cp "$(dirname "$2")/more.h"'))
    assert call(tmp_path, "--executor", "gfx942", "--executor-dir", str(stub)).exit_code == 5
    assert "hipSuccess" in (stub / "amdemu" / "ran").read_text()


def test_all_sources_of_a_folder_are_compiled(stub: Path, tmp_path: Path) -> None:
    other = tmp_path / "program" / "other.cu"
    other.parent.mkdir()
    other.write_text("int other() { return 1; }\n")
    call(tmp_path, "--executor", "gfx942", where=str(stub))
    done = CliRunner().invoke(cli, ["simulate", str(other.parent), "--executor", "gfx942", "--executor-dir", str(stub)])
    assert done.exit_code == 5, done.output
    said = (stub / "amdemu" / "said").read_text().splitlines()
    assert {Path(x).name for x in said if x.endswith(".cu")} == {"main.cu", "other.cu"}


def test_what_the_compiler_says_is_shown(stub: Path, tmp_path: Path) -> None:
    done = call(tmp_path, "--executor", "gfx1100", text="int FAULT;\n", where=str(stub))
    assert (done.exit_code, done.output.splitlines()) == (
        simulate.CANNOT,
        ["program.cu:1: error: FAULT", "cu2port simulate: the program does not build"],
    )


def test_without_an_executor_one_line_says_so(stub: Path, tmp_path: Path) -> None:
    none = call(tmp_path, "--executor", "gfx942")
    (stub / "amdemu" / "run.py").unlink()
    part = call(tmp_path, "--executor", "gfx942", where=str(stub))
    assert (none.exit_code, part.exit_code) == (simulate.CANNOT, simulate.CANNOT)
    assert none.output.splitlines() == [
        "cu2port simulate: no executor of GPU code: name its folder with --executor-dir or CU2PORT_EXECUTOR"
    ]
    assert part.output.splitlines() == [f"cu2port simulate: {stub}: no executor of GPU code: it has no amdemu/run.py"]


@pytest.mark.parametrize("option", [("--check",), ("--wave", "64"), ("--cflags",), ("--compiler", "g++")])
def test_options_of_the_simulator_are_refused(option: tuple[str, ...], stub: Path, tmp_path: Path) -> None:
    done = call(tmp_path, "--executor", "gfx942", *option, where=str(stub))
    assert done.exit_code == simulate.CANNOT and option[0] in done.output and len(done.output.splitlines()) == 1


def test_a_command_has_no_executor() -> None:
    done = CliRunner().invoke(cli, ["simulate", "--executor", "gfx942", "--", "make", "test"])
    assert done.exit_code == simulate.CANNOT and "--executor" in done.output
