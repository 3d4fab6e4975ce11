"""Switching between lanes on other machines: aarch64 under an emulator, and ucontext where no assembly is written."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cu2port.verify import sim_build, sim_compiler

KERNELS = Path(__file__).parent / "kernels"
pytestmark = pytest.mark.slow


def _run(name: str, folder: Path, toolchain: sim_compiler.Toolchain, *emulator: str) -> None:
    program = sim_build.find_program(KERNELS / f"{name}.hip")
    binary = sim_build.build(program, folder, (64,), toolchain)[64]
    done = subprocess.run([*emulator, str(binary)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") >= 10


@pytest.mark.parametrize("name", ["control", "barriers"])
def test_aarch64(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler, emulator = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64-static")
    if compiler is None or emulator is None:
        pytest.skip("no cross compiler and emulator for aarch64 here")
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    _run(name, tmp_path, sim_compiler.find_toolchain(compiler), emulator, "-L", "/usr/aarch64-linux-gnu")


@pytest.mark.parametrize("name", ["control", "barriers"])
def test_ucontext(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CU2PORT_CACHE_DIR", str(tmp_path / "cache"))
    found = sim_compiler.find_toolchain()
    toolchain = sim_compiler.Toolchain((*found.command, "-DCU2PORT_SIM_UCONTEXT"), found.version)
    assert b"cu2port_sim_entry" not in toolchain.runtime().read_bytes()
    _run(name, tmp_path, toolchain)
