"""Tools of NVIDIA's that the wheel nvidia-cuda-nvcc brings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest


def tool(name: str) -> Path:
    """A tool: CU2PORT_NAME, or the wheel's. Skips where there is none."""
    variable = f"CU2PORT_{name.upper()}"
    named = os.environ.get(variable)
    brought = (p for entry in sys.path if entry for p in Path(entry).glob(f"nvidia/*/bin/{name}"))
    found = Path(named) if named else next(brought, None)
    if found is None:
        pytest.skip(f"no {name}: set {variable} or install nvidia-cuda-nvcc")
    return found
