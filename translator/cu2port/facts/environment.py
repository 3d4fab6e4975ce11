"""Variables of the environment that CUDA's driver, libraries and tools read, and what ROCm has in their place.

`CUDA_VISIBLE_DEVICES` is not here: HIP reads it too. The names of ROCm are those of its documents' tables of
environment variables (HIP, HIPCC, rocBLAS, Comgr), of CMake's manual and of MVAPICH's.
"""

from __future__ import annotations

from collections.abc import Mapping

#: The folder of CUDA's toolkit, which Make's variables name too.
TOOLKITS = frozenset(
    "CUDAPATH CUDA_PATH CUDA_HOME CUDA_ROOT CUDA_DIR CUDADIR CUDA_INSTALL_PATH CUDA_TOOLKIT_PATH CUDA_BASE".split()
)
#: With the same meaning as HIP's variable.
RENAMED: Mapping[str, str] = {"CUDA_LAUNCH_BLOCKING": "HIP_LAUNCH_BLOCKING"}
_MPS = "nothing: processes share AMD's GPUs without a server"
_JIT = "nothing: HIP's programs hold no PTX"
#: What to write in place of one that the driver, a library or a tool reads while the program or its build runs.
INSTEAD: Mapping[str, str] = {
    **RENAMED,
    "CUBLAS_WORKSPACE_CONFIG": "ROCBLAS_DEFAULT_ATOMICS_MODE=0, if sums are to be the same each time",
    "CUDA_CACHE_DISABLE": "AMD_COMGR_CACHE=0",
    "CUDA_CACHE_MAXSIZE": "AMD_COMGR_CACHE_POLICY",
    "CUDA_CACHE_PATH": "AMD_COMGR_CACHE_DIR",
    "CUDA_DEVICE_MAX_CONNECTIONS": "GPU_MAX_HW_QUEUES, which is 4 unless it is set",
    "CUDA_DISABLE_PTX_JIT": _JIT,
    "CUDA_FORCE_PTX_JIT": _JIT,
    "CUDA_MODULE_LOADING": "HIP_ENABLE_DEFERRED_LOADING=0 for EAGER",
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": _MPS,
    "CUDA_MPS_LOG_DIRECTORY": _MPS,
    "CUDA_MPS_PIPE_DIRECTORY": _MPS,
    "MPICH_RDMA_ENABLED_CUDA": "MPICH_GPU_SUPPORT_ENABLED",
    "MV2_USE_CUDA": "MV2_USE_ROCM",
    "NVCC_APPEND_FLAGS": "HIPCC_COMPILE_FLAGS_APPEND for hipcc, HIPFLAGS for CMake",
    "NVCC_PREPEND_FLAGS": "HIPCC_COMPILE_FLAGS_APPEND for hipcc, HIPFLAGS for CMake",
}
#: Of CMake and PyTorch, for scripts that build: a Makefile or a program may have variables of its own by these names.
OF_BUILDS: Mapping[str, str] = {
    "CUDAARCHS": "-DCMAKE_HIP_ARCHITECTURES=gfx942 as an option of cmake",
    "CUDACXX": "nothing, or HIPCXX with ROCm's clang++, since CMake takes no hipcc",
    "CUDAFLAGS": "HIPFLAGS",
    "CUDAHOSTCXX": "nothing: clang compiles the host's code too",
    "TORCH_CUDA_ARCH_LIST": "PYTORCH_ROCM_ARCH with AMD's GPUs, such as gfx942",
}
#: Of a script for a cluster, a line that loads NVIDIA's toolkit.
LOADS_MODULE = r"^\s*module\s+(?:load|add|swap|switch)\s[^#\n]{0,200}?\b(?:cuda|cudatoolkit|cudnn|nvhpc)\b"
