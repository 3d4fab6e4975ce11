"""Lines of build files that name CUDA and must change in a build for HIP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cu2port.project.build_files import lines_of

_RULES = (
    (
        r"enable_language\s*\(.*CUDA|LANGUAGES[^)]*\bCUDA\b|project\s*\([^)]*\bCUDA\b",
        "the language CUDA",
        "HIP is a language of CMake too, since 3.21",
    ),
    (r"find_package\s*\(\s*CUDA", "FindCUDA or the toolkit", "find_package(hip), find_package(hipblas), ..."),
    (
        r"CUDA_ARCHITECTURES|-gencode|-arch[= ]?sm_|compute_\d\d|sm_\d\d",
        "NVIDIA's architectures",
        "CMAKE_HIP_ARCHITECTURES or --offload-arch=gfx942",
    ),
    (
        r"cuda_add_(?:library|executable)|cuda_compile",
        "FindCUDA's targets",
        "add_library, add_executable with sources of the language HIP",
    ),
    (r"CUDAToolkit|CUDA::\w+", "targets of the toolkit", "hip::host, hip::device, roc::hipblas, ..."),
    (
        r"CUDAExtension|CUDA_HOME|torch\.utils\.cpp_extension",
        "PyTorch's extension builder",
        "under ROCm it runs hipify itself; keep converted files out of its way",
    ),
    (
        r"-l(?:cudart|cublas|cufft|curand|cusparse|cusolver|cudnn|nccl|cuda|nvrtc)\b",
        "NVIDIA's libraries",
        "-lamdhip64, -lhipblas, -lhipfft, ...",
    ),
    (
        r"-m(?:no-)?wavefrontsize\d*",
        "the wavefront's size",
        "drop it: the HIP runtime takes each GPU's own size alone, 64 lanes on gfx9 and 32 on gfx10 and later",
    ),
    (r"--?use_fast_math", "fast arithmetic", "-ffast-math, or -fgpu-approx-transcendentals"),
    (
        r"--expt-\w+|--extended-lambda|-Xptxas|-Xcompiler|-maxrregcount|-lineinfo|-rdc|--ptxas-options",
        "options of nvcc",
        "drop them; -fgpu-rdc for separate compilation",
    ),
    (r"\bnvcc\b|NVCC\b", "the compiler", "hipcc, or amdclang++ -x hip"),
    (
        r"nvidia/cuda|cuda-toolkit|nvidia-\w+-cu\d+|cupy-cuda|cudatoolkit",
        "an image or package of NVIDIA's",
        "rocm/dev-ubuntu images, ROCm's packages",
    ),
)
_COMPILED = tuple((re.compile(pattern), what, instead) for pattern, what, instead in _RULES)
_MOST = 40  # lines of one file


class BuildLine(NamedTuple):
    """A line of a build file that refers to CUDA."""

    path: str
    line: int
    what: str
    instead: str
    text: str


def look(path: str, shown: str) -> Iterator[BuildLine]:
    """The lines of a build file that refer to CUDA, each once, at most 40."""
    count = 0
    for number, line in enumerate(lines_of(path), 1):
        for pattern, what, instead in _COMPILED:
            if pattern.search(line):
                yield BuildLine(shown, number, what, instead, line.strip()[:200])
                count += 1
                break
        if count >= _MOST:
            return
