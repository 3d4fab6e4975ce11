"""Programs built for the simulator, once a session and wave size."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from simulated import quick

from cu2port.verify import sim_build, sim_compiler, simulate

Build = Callable[..., Path]


@pytest.fixture(scope="session")
def toolchain() -> sim_compiler.Toolchain:
    return sim_compiler.find_toolchain()


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory, toolchain: sim_compiler.Toolchain) -> Build:
    """build(path, wave) -> binary. Without optimisation: the compiler is most of a test's time."""
    made: dict[tuple[Path, int], Path] = {}

    def get(path: Path, wave: int, *flags: str) -> Path:
        if (path, wave) not in made:
            program = sim_build.find_program(path)
            program = quick(program, *flags)
            folder = tmp_path_factory.mktemp("sim")
            made[path, wave] = sim_build.build(program, folder, (wave,), toolchain)[wave]
        return made[path, wave]

    return get


@pytest.fixture
def simulated(build: Build, tmp_path: Path) -> Callable[..., simulate.Ran]:
    """simulated(text, wave, *args) -> how a program of one file ended."""

    def get(text: str, wave: int = 64, *arguments: str, **limits: Any) -> simulate.Ran:
        path = tmp_path / sha256(text.encode()).hexdigest()[:16] / "program.hip"  # builds are kept by their path
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        binary = build(path, wave)
        return simulate.run(binary, arguments, simulate.Limits(**limits), capture=True)

    return get
