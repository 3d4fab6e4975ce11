"""Copies of CUB, NVTX and Thrust in a tree stay, and what includes them includes AMD's libraries."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from cu2port.cli import cli

CUB = "namespace cub { template <class T> struct WarpScan { static const int warps = 32; }; }\nint x = CUB_PTX_ARCH;\n"
USE = "__global__ void k() { __shared__ typename cub::BlockScan<int, 128>::TempStorage s; }\n"


def tree(root: Path, *headers: str) -> Path:
    for name in headers:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(CUB)
    (root / "a.cu").write_text(f'#include "cub/cub.cuh"\n{USE}')
    (root / "b.cu").write_text(f"#include <cub/block/block_scan.cuh>\n{USE}")
    return root


def converted(src: Path, *more: str) -> tuple[Path, str]:
    out = src.parent / "out"
    done = CliRunner().invoke(cli, ["convert", str(src), "-o", str(out), *more])
    assert done.exit_code in (0, 1), done.output
    return out, done.output


def test_a_copy_is_left_alone(tmp_path: Path) -> None:
    src = tree(tmp_path / "src", "cub/cub.cuh", "cub/util_ptx.cuh", "cub/block/block_scan.cuh")
    out, said = converted(src)
    for name in ("cub/cub.cuh", "cub/util_ptx.cuh", "cub/block/block_scan.cuh"):
        assert (out / name).read_text() == CUB
    for name in ("a.cu", "b.cu"):
        text = (out / name).read_text()
        assert "#include <hipcub/hipcub.hpp>" in text and "hipcub::BlockScan" in text, text
    assert said.count("CU921") == 1 and "cub/ is a copy of CUB: left alone, hipCUB is included in its place" in said
    assert "1 for information" in said


def test_a_copy_of_nvtx_is_left_alone(tmp_path: Path) -> None:
    src = tmp_path / "src"
    (src / "ext" / "nvtx3" / "nvtxDetail").mkdir(parents=True)
    kept = {
        "nvtx3/nvToolsExt.h": '#include "nvtxDetail/nvtxImpl.h"\nint nvtxRangePushA(const char*);\n',
        "nvtx3/nvtxDetail/nvtxImpl.h": "typedef struct nvtxResourceAttributes_v0 nvtxResourceAttributes_t;\n",
    }
    for name, text in kept.items():
        (src / "ext" / name).write_text(text)
    (src / "a.cu").write_text('#include "ext/nvtx3/nvToolsExt.h"\nvoid f() { nvtxRangePushA("f"); }\n')
    out, said = converted(src)
    assert all((out / "ext" / name).read_text() == text for name, text in kept.items())
    text = (out / "a.cu").read_text()
    assert "#include <rocprofiler-sdk-roctx/roctx.h>" in text and 'roctxRangePushA("f")' in text
    assert "ext/nvtx3/ is a copy of NVTX: left alone, ROCTX is included in its place" in said and "manual" not in said


def test_a_copy_of_eigen_with_a_side_for_hip_is_left_alone(tmp_path: Path) -> None:
    src = tmp_path / "src"
    (src / "ext" / "Eigen" / "src" / "Core" / "util").mkdir(parents=True)
    macros = "#ifdef __CUDACC__\n#define EIGEN_CUDACC\n#endif\n#ifdef __HIPCC__\n#define EIGEN_HIPCC\n#endif\n"
    (src / "ext" / "Eigen" / "src" / "Core" / "util" / "Macros.h").write_text(macros)
    (src / "a.cu").write_text("#include <Eigen/Core>\n__global__ void k() {}\n")
    assert (converted(src)[0] / "ext/Eigen/src/Core/util/Macros.h").read_text() != macros  # CUDA's side alone
    (src / "ext" / "Eigen" / "src" / "Core" / "arch" / "HIP" / "hcc").mkdir(parents=True)
    (src / "ext" / "Eigen" / "src" / "Core" / "arch" / "HIP" / "hcc" / "math_constants.h").write_text("")
    out, said = converted(src)
    assert (out / "ext/Eigen/src/Core/util/Macros.h").read_text() == macros
    assert "ext/Eigen/ is a copy of Eigen: left alone, it has code for HIP of its own" in said


def test_a_folder_of_the_same_name_is_the_project_s(tmp_path: Path) -> None:
    src = tree(tmp_path / "src", "cub/cub.cuh")
    out, said = converted(src)
    assert "CU921" not in said and '#include "cub/cub.cuh"' in (out / "a.cu").read_text()


def test_the_audit_does_not_count_a_copy(tmp_path: Path) -> None:
    src = tree(tmp_path / "src", "cub/cub.cuh", "cub/util_ptx.cuh")
    done = CliRunner().invoke(cli, ["audit", str(src)])
    assert "CUB_PTX_ARCH" not in done.output and done.exit_code == 0, done.output


def test_a_path_into_a_copy_names_the_library_where_the_copy_is_absent_too(tmp_path: Path) -> None:
    include = '#include "../far/cub/cub/block/block_scan.cuh"\n#include "../far/thrust/thrust/sort.h"\n'
    for name, headers in (("absent", ()), ("there", ("far/cub/cub/cub.cuh", "far/cub/cub/util_ptx.cuh"))):
        src = tree(tmp_path / name, *headers, "own/cub/mine.cuh")
        (src / "sub").mkdir()
        (src / "sub" / "c.cu").write_text(f'{include}#include "../own/cub/mine.cuh"\n{USE}')
        (src / "own" / "cub" / "mine.cuh").write_text("int mine;\n")
        out = tmp_path / f"out-{name}"
        done = CliRunner().invoke(cli, ["convert", str(src), "-o", str(out)])
        assert done.exit_code == 0, done.output
        text = (out / "sub" / "c.cu").read_text()
        assert "#include <hipcub/hipcub.hpp>\n#include <thrust/sort.h>\n" in text
        assert '#include "../own/cub/mine.cuh"\n' in text


VECTORS = """/* Copyright 1993-2024 NVIDIA Corporation. */
#if !defined(__VECTOR_TYPES_H__)
#define __VECTOR_TYPES_H__
struct char1 { signed char x; };
#endif
"""


def test_a_copy_of_a_header_of_cuda_is_left_alone(tmp_path: Path) -> None:
    src = tmp_path / "src"
    (src / "cudart").mkdir(parents=True)
    (src / "own").mkdir()
    (src / "cudart" / "vector_types.h").write_text(VECTORS)
    (src / "cudart" / "more.h").write_text('#include "vector_types.h"\nint f(char1);\n')
    own = "#pragma once\nstruct char1 { int x; };\n"
    (src / "own" / "vector_types.h").write_text(own)
    (src / "a.cu").write_text(
        '#include "cudart/vector_types.h"\n#include "cudart/more.h"\n__global__ void k(char1) {}\n'
    )
    (src / "b.cpp").write_text('#include "own/vector_types.h"\nchar1 x;\n')
    out, said = converted(src)
    assert (out / "cudart" / "vector_types.h").read_text() == VECTORS
    assert (out / "cudart" / "more.h").read_text().startswith("#include <hip/hip_runtime_api.h>\n")
    assert "cudart" not in (out / "a.cu").read_text().splitlines()[1]
    assert "cudart/vector_types.h: CU921 vendored-library: it is a copy of a header of CUDA's toolkit" in said
    assert (out / "own" / "vector_types.h").read_text() == own
    assert (out / "b.cpp").read_text().startswith('#include "own/vector_types.h"')
    assert said.count("CU921") == 1
