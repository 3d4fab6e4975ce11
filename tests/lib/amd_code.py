"""AMD's machine code of kernels that use cu2port's headers, without ROCm."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

INCLUDE = Path(__file__).parents[2] / "translator/cu2port/include"
HIP = """
#pragma once
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
"""


def clang() -> str:
    found = next((c for c in ("clang++-22", "clang++") if shutil.which(c)), None)
    if found is None:
        pytest.skip("no clang++")
    return found


def machine_code(source: str, tmp_path: Path, arch: str, *flags: str) -> dict[str, str]:
    """The assembly of each kernel."""
    parts = re.split(r"^(?=\w+:\s)", compiled(source, tmp_path, arch, *flags), flags=re.M)
    return {p.partition(":")[0]: p.partition("s_endpgm")[0] for p in parts if "s_endpgm" in p}


def compiled(source: str, tmp_path: Path, arch: str, *flags: str) -> str:
    """What clang makes of kernels, without ROCm, and so without what ptx.hpp makes of its functions."""
    shutil.copytree(INCLUDE / "cu2port", tmp_path / "cu2port", dirs_exist_ok=True)
    for needs_hip in ("ptx_device.hpp", "ptx_barrier.hpp"):
        (tmp_path / "cu2port" / needs_hip).write_text("")
    (tmp_path / "hip").mkdir(exist_ok=True)
    (tmp_path / "hip/hip_runtime.h").write_text(HIP)
    text = tmp_path / "kernels.hip"
    text.write_text(source)
    command = [
        clang(),
        "-x",
        "hip",
        f"--offload-arch={arch}",
        "--cuda-device-only",
        "-nogpuinc",
        "-nogpulib",
        "-S",
        "-O2",
    ]
    command += ["-std=c++17", "-w", f"-I{tmp_path}", "-o", "-", str(text), *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unknown target" in done.stderr or "unsupported CUDA gpu" in done.stderr:
        pytest.skip("this clang does not know AMD GPUs")
    assert done.returncode == 0, done.stderr[:3000]
    return done.stdout
