"""The rules of `pages.py` on other languages that call CUDA."""

from __future__ import annotations

from cu2port.build.rule import BuildExample, BuildRule
from cu2port.core.model import Severity

CGO = BuildRule(
    "CU821",
    "build-cgo",
    Severity.WARNING,
    """A Go file calls CUDA by cgo.

Names behind `C.`, and the C code of the comment before `import "C"`, get their names in HIP. Headers become HIP's, with
the macro for the platform in the flags of the package, since the host's compiler reads them. A function that takes
other arguments in HIP is reported: Go's types depend on them. An address of the device is a number in CUDA and a
pointer in HIP, so its conversion goes by `uintptr`; where the program computes with such a value, Go's compiler says
so.""",
    (
        BuildExample(
            "cu.go",
            'package cu\n\n//#cgo LDFLAGS: -lcuda\n//#include <cuda.h>\nimport "C"\n\n'
            "func free(p C.CUstream) C.CUresult { return C.cuStreamDestroy(p) }\n",
            "package cu\n\n//#cgo LDFLAGS: -lamdhip64\n//#cgo CFLAGS: -D__HIP_PLATFORM_AMD__ -I/opt/rocm/include\n"
            '//#include <hip/hip_runtime.h>\nimport "C"\n\n'
            "func free(p C.hipStream_t) C.hipError_t { return C.hipStreamDestroy(p) }\n",
        ),
        BuildExample(
            "texture.go",
            'package cu\n\n// #include <cuda.h>\nimport "C"\n\nvar t C.CUtexObject\n',
            "package cu\n\n//#cgo CFLAGS: -D__HIP_PLATFORM_AMD__ -I/opt/rocm/include\n"
            '// #include <hip/hip_runtime.h>\nimport "C"\n\nvar t C.CUtexObject\n',
        ),
    ),
)
FORTRAN = BuildRule(
    "CU822",
    "build-fortran",
    Severity.WARNING,
    """A Fortran file binds functions of CUDA, or is CUDA Fortran.

A function that is bound by its C name, `bind(C, name="cudaMalloc")`, gets its name in HIP where it takes the same
arguments there. Values of CUDA's enumerators that the file writes down are reported, since HIP's may differ, and so is
CUDA Fortran: hipfort has HIP's interfaces for Fortran, and kernels are written in C++.""",
    (
        BuildExample(
            "cuda.f90",
            'interface\n  integer(C_INT) function release(p) bind(C, name="cudaFree")\n'
            "    type(C_PTR), value :: p\n  end function\nend interface\n",
            'interface\n  integer(C_INT) function release(p) bind(C, name="hipFree")\n'
            "    type(C_PTR), value :: p\n  end function\nend interface\n",
        ),
        BuildExample(
            "kernel.cuf",
            "attributes(global) subroutine k(a)\nend subroutine\n",
            "attributes(global) subroutine k(a)\nend subroutine\n",
        ),
    ),
)
BINDING = BuildRule(
    "CU823",
    "build-binding",
    Severity.WARNING,
    """A file of another language uses CUDA: Rust, Python, Ruby, Cython, Julia, Java, C#, Lua, Perl or a notebook.

Such files are copied as they are, and the first line that uses CUDA, nvcc, nvidia-smi or NVML is reported, with what
there is for AMD GPUs. Names of Go's cgo (CU821) and of Fortran (CU822) are converted.""",
    (
        BuildExample(
            "driver.py",
            'import ctypes\n\ncudart = ctypes.CDLL("libcudart.so")\n',
            'import ctypes\n\ncudart = ctypes.CDLL("libcudart.so")\n',
        ),
    ),
)
