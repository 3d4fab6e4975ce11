"""What several tests of PTX need."""

from __future__ import annotations

from pathlib import Path

import pytest
from nvidia_tools import tool


@pytest.fixture(scope="session")
def ptxas() -> Path:
    """NVIDIA's assembler: CU2PORT_PTXAS, or what the wheel nvidia-cuda-nvcc brings. Skips where there is none."""
    return tool("ptxas")
