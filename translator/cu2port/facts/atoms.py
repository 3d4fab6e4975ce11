"""What is known of macros where a program is built for HIP, and where it is not: the atoms of conditions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from cu2port.core.late import regex
from cu2port.syntax.conditions import ONE, SET, UNDEFINED, UNKNOWN, Lookup, Macro

#: Macros that tell a version of CUDA, its compiler or its libraries; HIP defines none of them.
VERSION_MACROS = frozenset(
    "CUDA_VERSION CUDART_VERSION CUDNN_VERSION CUDNN_MAJOR CUDNN_MINOR CUB_VERSION CUSPARSE_VERSION CUSOLVER_VERSION "
    "CUBLAS_VERSION CUFFT_VERSION CURAND_VERSION CUTENSOR_VERSION NVML_API_VERSION CUPTI_API_VERSION NVTX_VERSION "
    "__CUDACC_VER_MAJOR__ __CUDACC_VER_MINOR__ __CUDACC_VER_BUILD__ __CUDA_API_VERSION CUBLAS_VER_MAJOR "
    "CUSPARSE_VER_MAJOR CUSPARSE_VER_MINOR CUSOLVER_VER_MAJOR CUFFT_VER_MAJOR CURAND_VER_MAJOR".split()
)
#: What nvcc or CUDA's headers define, and no compiler for HIP does.
CUDA_MACROS = VERSION_MACROS | frozenset("__CUDACC__ __NVCC__ __CUDACC_RTC__ __CUDA_ARCH__ __CUDA__".split())
# nvcc defines them for one architecture or family alone (`-arch=sm_90a`, `sm_100f`); CUDA's headers the one that asks
_OF_ONE_ARCH = regex(r"__CUDA_ARCH_(?:SPECIFIC__|FAMILY_SPECIFIC__|FEAT_SM\w+|HAS_FEATURE__)")
_PARTS = r"(?:HIP|HIPCC|HIPRTC|ROCM|AMDGPU|AMDGCN)"
_HIP_WORD = regex(
    rf"__HIP\w*|HIP_VERSION|\w*(?:USE|ENABLE|WITH|HAVE|FOR|ON|IS)_?_?(?:HIP|ROCM|AMD)\w*|(?:\w*_)?{_PARTS}(?:_\w*)?"
)
IN_HIP_NAMES = ("HIP", "ROCM", "AMD")  # a text without these has no macro's name for HIP
_A_GUARD = regex(r"\w*(?:_(?:H|HPP|HH|HXX|CUH|INC|INL|IPP|TPP|TCC|CPP)_*|_(?:INCLUDED?|GUARD)\w*)\Z")
_OTHERS = regex(r"\w*(?:CUDA|NV(?:CC|IDIA|_|\Z))\w*")
_OF_GPU = regex(r"__(?:gfx|GFX)\w+__")
# clang 22 defines __AMDGCN__ in the host pass too
_OF_COMPILER = frozenset("__HIP__ __HIPCC__ __HIP_PLATFORM_AMD__ __AMDGCN__ __AMDGPU__".split())


@lru_cache(maxsize=4096)
def names_hip(word: str) -> bool:
    """Whether a macro's name refers to HIP, perhaps beside CUDA (`HIP_OR_CUDA`), and is no include guard's."""
    return _HIP_WORD.fullmatch(word) is not None and _A_GUARD.match(word) is None


@lru_cache(maxsize=4096)
def is_hip_word(word: str) -> bool:
    """Whether a macro, by its name, is only defined where a program is built for HIP on AMD GPUs."""
    return names_hip(word) and _OTHERS.fullmatch(word) is None


@lru_cache(maxsize=4096)
def is_of_one_arch(word: str) -> bool:
    """Whether a macro tells features of one of NVIDIA's architectures, which no edit makes true for HIP."""
    return _OF_ONE_ARCH.fullmatch(word) is not None


def without_hip(word: str, more: frozenset[str]) -> Macro:
    """What is known of a macro where the program is not built for HIP. `more`: the tree's own macros for HIP."""
    return UNDEFINED if word in more or is_hip_word(word) else UNKNOWN


def under_hip(word: str, device: bool, more: frozenset[str]) -> Macro:
    """What is known of a macro in HIP's host or device pass."""
    if word == "__HIP_DEVICE_COMPILE__":
        return ONE if device else UNDEFINED
    if _OF_GPU.fullmatch(word):
        return UNKNOWN if device else UNDEFINED
    if word in _OF_COMPILER:
        return ONE
    if word in CUDA_MACROS or is_of_one_arch(word):
        return UNDEFINED
    if names_hip(word) and _OTHERS.fullmatch(word):  # HIP on NVIDIA's GPUs, or either of the two
        return UNDEFINED if word.startswith("__HIP_PLATFORM_NV") else UNKNOWN
    if word.startswith("__AMDGCN") or word.endswith(("_H", "_MINOR", "_PATCH")):
        return UNKNOWN
    return SET if word in more or is_hip_word(word) else UNKNOWN


def of_pass(device: bool, more: Iterable[str] = ()) -> Lookup:
    """What is known of macros in one of HIP's passes, to decide conditions by."""
    known = frozenset(more)
    return lambda word: under_hip(word, device, known)
