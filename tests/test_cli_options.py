"""Options that several commands share: typing errors are named, and the configuration reaches every command."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cu2port.cli import cli

ENV = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent / "translator")}
KERNEL = "__global__ void scale(float* x) { x[threadIdx.x] *= 2; }\nvoid f(float* x) { scale<<<1, 32>>>(x); }\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cu").write_text(KERNEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(*words: str, env: dict[str, str] | None = None, color: bool = False) -> Result:
    return CliRunner().invoke(cli, words, env=env, color=color)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--kernel", "scal=solo"), "--kernel scal: the input has no kernel of that name; did you mean scale?"),
        (("--kernel", "nosuch=solo"), "--kernel nosuch: the input has no kernel of that name"),
        (("--arch", "gfx9999"), "--arch: 'gfx9999' is not an AMD GPU that clang knows; one is gfx942"),
        (("--arch", "gfx90a,gfx94"), "--arch: 'gfx94' is not an AMD GPU that clang knows; did you mean gfx942?"),
        (("--rocm", "99"), "--rocm 99: the newest ROCm that cu2port knows is 10.0"),
        (("--cuda-arch", "sm_70"), "--cuda-arch sm_70: a GPU from sm_72 on, such as sm_80"),
        (("--cuda-arch", "ampere"), "--cuda-arch ampere: a GPU from sm_72 on, such as sm_80"),
        (("--rocm", "4.5"), "--rocm 4.5: the oldest ROCm that cu2port knows is 5.0"),
    ],
)
@pytest.mark.parametrize("path", ["src", "src/a.cu"])
def test_a_typing_error_is_named_before_anything_is_written(
    tree: Path, path: str, option: tuple[str, ...], said: str
) -> None:
    done = ran("convert", path, "-o", "out", *option)
    assert (done.exit_code, done.stderr) == (2, f"cu2port: {said}\n")
    assert not (tree / "out").exists()


def test_a_kernel_that_is_there_is_no_error(tree: Path) -> None:
    assert ran("convert", "src", "-o", "out", "--kernel", "scale=solo", "--arch", "gfx942:xnack+").exit_code == 0


@pytest.mark.parametrize("command", ["convert", "audit", "lint"])
def test_the_configuration_reaches_every_command(tree: Path, command: str) -> None:
    """`exclude`, `rocm`, `arch` and `defines` hold for all commands that look at sources."""
    words = {
        "convert": ("convert", "src", "--dry-run"),
        "audit": ("audit", "src", "--format", "json"),
        "lint": ("lint", "src", "--no-cache", "--select", "ALL"),
    }[command]
    (tree / "src" / "b.cu").write_text("void f() { cudaThreadExitAll_(); nvcuda::wmma::x(); cudaDeviceReset(); }\n")
    (tree / "cu2port.toml").write_text('exclude = ["b.cu"]\n')
    assert "b.cu" not in ran(*words).output
    for line, said in (
        ('rocm = "4.0"', "the oldest ROCm"),
        ('arch = ["gfx9999"]', "is not an AMD GPU"),
        ('defines = ["1X"]', "a macro's name"),
    ):
        (tree / "cu2port.toml").write_text(line + "\n")
        done = ran(*words)
        assert done.exit_code == 2 and said in done.stderr, line


def test_the_command_line_goes_before_the_configuration(tree: Path) -> None:
    (tree / "cu2port.toml").write_text('rocm = "5.7"\narch = ["gfx90a"]\n')
    for words, expected in (((), ("5.7", ["gfx90a"])), (("--rocm", "6.2", "--arch", "gfx1100"), ("6.2", ["gfx1100"]))):
        ran("convert", "src", "-o", "out", "--report", "r.json", *words)
        options = json.loads((tree / "r.json").read_text())["options"]
        assert (options["rocm"], options["archs"]) == expected


def test_no_arguments_print_the_help_as_it_is() -> None:
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-P", "-m", "cu2port"], capture_output=True, text=True, check=False, env=ENV)
    assert any(line.strip().startswith("convert ") for line in (done.stdout + done.stderr).splitlines())


@pytest.mark.parametrize(("value", "colours"), [("1", False), ("", True)])
def test_no_color_is_honoured(tree: Path, value: str, colours: bool) -> None:
    (tree / "src" / "a.cu").write_text("void f() { cudaDeviceFlushGPUDirectRDMAWrites(a, b); }\n")
    done = ran("convert", "src", "--dry-run", env={"NO_COLOR": value}, color=True)
    assert done.exit_code == 1 and ("\x1b[" in done.output) == colours


def test_a_tree_without_cuda_says_so(tree: Path) -> None:
    (tree / "src" / "a.cu").unlink()
    (tree / "src" / "a.cpp").write_text("int x;\n")
    done = ran("convert", "src", "-o", "out")
    assert done.exit_code == 0 and "no CUDA found: nothing was converted" in done.output


def test_rename_names_the_build_files_that_keep_the_old_name(tree: Path) -> None:
    (tree / "src" / "CMakeLists.txt").write_text("project(x)\nadd_executable(x a.cu aa.cu)\n")
    done = ran("convert", "src", "-o", "out", "--rename", ".hip", "--no-build-files")
    assert done.exit_code == 1
    assert "src/CMakeLists.txt: CU920 old-name-in-build-file: names a.cu in line 2, which is a.hip now" in done.output
    assert (tree / "out" / "CMakeLists.txt").read_text() == (tree / "src" / "CMakeLists.txt").read_text()
    assert "CU920" not in ran("convert", "src", "-o", "out2").output
    followed = ran("convert", "src", "-o", "out3", "--rename", ".hip")
    assert followed.exit_code == 0 and "CU920" not in followed.output
    assert "add_executable(x a.hip aa.cu)" in (tree / "out3" / "CMakeLists.txt").read_text()
