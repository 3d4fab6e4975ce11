"""What several tests of PTX need."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def ptxas() -> Path:
    """NVIDIA's assembler: CU2PORT_PTXAS, or what the wheel nvidia-cuda-nvcc brings. Skips where there is none."""
    named = os.environ.get("CU2PORT_PTXAS")
    brought = (p for entry in sys.path if entry for p in Path(entry).glob("nvidia/*/bin/ptxas"))
    found = Path(named) if named else next(brought, None)
    if found is None:
        pytest.skip("no ptxas: set CU2PORT_PTXAS or install nvidia-cuda-nvcc")
    return found
