"""Kernels of a module keep their names as symbols, whatever C++, HIP and the C library call so."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from cu2port.ptx.module import convert
from cu2port.ptx.reserved import KEYWORDS, OCCUPIED, free

ROOT = Path(__file__).resolve().parents[2]
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
LISTED = (ROOT / "translator/cu2port/ptx/reserved.txt").read_text().split()
MORE = ("__shfl", "__syncthreads", "hipMalloc", "hipLaunchKernel", "_Exit", "__double2int_rn", "__k", "half", "brev")


def module(names: Sequence[str]) -> str:
    return HEAD + "\n".join(
        f".visible .entry {name}(.param .u64 p) {{ .reg .b64 a; ld.param.u64 a, [p]; st.global.u32 [a], {n}; ret; }}"
        for n, name in enumerate(names)
    )


def test_a_kernel_of_the_librarys_name_is_found_under_both() -> None:
    done = convert(HEAD + ".entry memcpy(.param .u32 n) .maxntid 64 { ret; } .entry memcpy_body() { ret; }")
    assert done.renamed == (("memcpy", "memcpy_"),)
    assert (
        "static inline __device__ void memcpy_body_(std::uint32_t n) {\n    return;\n}\n\n"
        'extern "C" __global__ __launch_bounds__(64) void memcpy_(std::uint32_t n) {\n    memcpy_body_(n);\n}\n\n'
        "#ifdef __HIP_DEVICE_COMPILE__\n"
        'extern "C" __global__ __launch_bounds__(64) void memcpy_symbol(std::uint32_t n) __asm__("memcpy");\n'
        'extern "C" __global__ __launch_bounds__(64) void memcpy_symbol(std::uint32_t n) {\n    memcpy_body_(n);\n}\n'
        "#endif\n"
    ) in done.text


def test_a_word_of_cxx_is_a_symbol_on_both_sides() -> None:
    text = convert(HEAD + ".entry and() { ret; }").text
    assert 'extern "C" __global__ void and_() __asm__("and");' in text and "__HIP_DEVICE_COMPILE__" not in text


def test_variables_keep_their_symbols() -> None:
    text = convert(HEAD + ".global .u32 index = 3; .const .f32 free[4]; .global .u32 plain;").text
    assert 'extern "C" __device__ std::uint32_t index_ CU2PORT_SYMBOL("index") = 3;' in text
    assert 'extern "C" { __constant__ float free_[4] CU2PORT_SYMBOL("free"); }' in text
    assert "__device__ std::uint32_t plain; }" in text
    assert "#define CU2PORT_SYMBOL(name) __asm__(name)" in text


@pytest.mark.parametrize("name", ("add", "saxpy", "_Z3addPfS_", "kernel", "my_memcpy", "hip_add"))
def test_other_names_stay(name: str) -> None:
    assert free(name) == name


def test_every_name_that_is_taken_is_kept_as_a_symbol() -> None:
    names = [name for name in (*LISTED, *MORE, *sorted(KEYWORDS)) if free(name) != name][::5]
    text = convert(module(names)).text
    kept = set(re.findall(r'__asm__\("(\w+)"\);', text))
    assert len(names) > 800 and kept == set(names)
    functions = re.findall(r"__global__ void (\w+)\(std::uint64_t p\) {", text)
    assert len(functions) == len(set(functions)) and not set(functions) & {*LISTED, *KEYWORDS}


@pytest.mark.slow
def test_compilers_take_a_kernel_of_every_name(tmp_path: Path) -> None:
    root = os.environ.get("CU2PORT_TEST_ROCM", "")
    if not root:
        pytest.skip("no HIP headers: CU2PORT_TEST_ROCM is not set")
    clang = shutil.which("clang++-22")
    if clang is None:
        pytest.skip("no clang++-22 here")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "translator")}
    tool = [sys.executable, str(ROOT / "tools/reserved_names.py"), "--rocm", root]
    here = subprocess.run(tool, env=env, capture_output=True, text=True, check=True).stdout.split()
    # headers of other versions have some more
    assert len(here) > 2000 and len(set(here) - set(LISTED)) < len(here) // 10
    names = [*sorted({*LISTED, *KEYWORDS})[::6], *(n for n in MORE if n not in OCCUPIED)]
    (tmp_path / "all.hip").write_text(convert(module(names)).text)
    command = [clang, "-x", "hip", "--offload-arch=gfx942", f"--rocm-path={root}", "-nogpulib", "-O1", "-w"]
    command += [f"-I{ROOT / 'translator/cu2port/include'}", "all.hip", "-o"]
    subprocess.run([*command, "host.o", "--cuda-host-only", "-c"], cwd=tmp_path, check=True)
    subprocess.run([*command, "device.o", "--cuda-device-only", "--no-gpu-bundle-output"], cwd=tmp_path, check=True)
    code = (tmp_path / "device.o").read_bytes()
    symbols = {s.decode() for s in code.split(b"\0") if s[-3:] == b".kd"}
    assert {f"{name}.kd" for name in names} <= symbols
    plain = {free(name) for name in names if name not in KEYWORDS}
    assert {f"{name}.kd" for name in plain} <= symbols  # what the host's <<<>>> looks up
    # and the host's half of the program defines nothing of the C library's
    host = {s.decode() for s in (tmp_path / "host.o").read_bytes().split(b"\0") if re.fullmatch(rb"\w+", s)}
    assert not host & {"memcpy", "malloc", "write", "free"}
