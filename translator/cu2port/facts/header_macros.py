"""Macros that a program or a build defines for CUDA's headers, and those that HIP's headers ask for in their place."""

from __future__ import annotations

#: Whether calls on the default stream are on one of each thread (cuda_runtime_api.h, hip_runtime_pt_api.h).
DEFAULT_STREAM = "CUDA_API_PER_THREAD_DEFAULT_STREAM"
HEADER_MACROS = {
    DEFAULT_STREAM: "HIP_API_PER_THREAD_DEFAULT_STREAM",
    "__CUDA_NO_HALF_CONVERSIONS__": "__HIP_NO_HALF_CONVERSIONS__",
    "__CUDA_NO_HALF_OPERATORS__": "__HIP_NO_HALF_OPERATORS__",
}
