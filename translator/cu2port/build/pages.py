"""CU8xx: what is found in build files. One row a rule; `explain` and the documents show its page and its examples."""

from __future__ import annotations

from collections.abc import Mapping

from cu2port.build.pages_languages import BINDING, CGO, FORTRAN
from cu2port.build.rule import BuildExample, BuildRule
from cu2port.core.model import Severity

LANGUAGE = BuildRule(
    "CU801",
    "build-language",
    Severity.WARNING,
    """A CMake file asks for the language CUDA.

It becomes HIP, in `project`, `enable_language`, `check_language`, `check_compiler_flag` and in generator expressions.
CMake has the language HIP since 3.21, so an older `cmake_minimum_required` is raised to that; read what its newer
policies change. Where CUDA comes from FindCUDA, which enables no language, `enable_language(HIP)` is added.""",
    (
        BuildExample(
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.18)\nproject(x LANGUAGES CXX CUDA)\n"
            "add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-O3>)\n",
            "cmake_minimum_required(VERSION 3.21)\nproject(x LANGUAGES CXX HIP)\n"
            "add_compile_options($<$<COMPILE_LANGUAGE:HIP>:-O3>)\n",
        ),
    ),
)
PACKAGE = BuildRule(
    "CU802",
    "build-package",
    Severity.WARNING,
    """A CMake file looks for CUDA's toolkit or a library of NVIDIA's.

`find_package(CUDAToolkit)` becomes `find_package(hip)`; versions and components are CUDA's and go. A package is found
for each library of ROCm that this file and those below it link; beside the language, where no file looks for the
toolkit. Variables that find_package(CUDA) would set, and that the tree reads, are set there: HIP counts as CUDA 12.6,
as it does in `#if`. `find_library` and `find_path` look for ROCm's names.""",
    (
        BuildExample(
            "CMakeLists.txt",
            "find_package(CUDAToolkit 11.8 REQUIRED)\ntarget_link_libraries(app CUDA::cublas)\n",
            "find_package(hip REQUIRED)\nfind_package(hipblas REQUIRED)\ntarget_link_libraries(app roc::hipblas)\n",
        ),
    ),
)
LIBRARY = BuildRule(
    "CU803",
    "build-library",
    Severity.WARNING,
    """A target links a library of NVIDIA's.

It becomes the library of ROCm that HIP's functions of that name are in: `CUDA::cublas` becomes `roc::hipblas`,
`-lcublas` becomes `-lhipblas`. Static libraries become shared ones, since ROCm is installed with those.""",
    (
        BuildExample(
            "CMakeLists.txt", "target_link_libraries(app CUDA::cudart)\n", "target_link_libraries(app hip::host)\n"
        ),
        BuildExample(
            "CMakeLists.txt", "target_link_libraries(app CUDA::nvml)\n", "target_link_libraries(app CUDA::nvml)\n"
        ),
    ),
)
VARIABLE = BuildRule(
    "CU804",
    "build-variable",
    Severity.WARNING,
    """A CMake file, or a command that calls cmake, has a variable or property of CMake's support for CUDA.

It becomes the one for HIP, also in scripts and Makefiles (`cmake -DCMAKE_CUDA_ARCHITECTURES=80`). `CMAKE_HIP_FLAGS` is
one text where FindCUDA's `CUDA_NVCC_FLAGS` was a list, so what is appended to it is joined with spaces. Standards
before C++17 are raised to 17: rocPRIM, which rocThrust and hipCUB are made of, needs it. Tests of CUDA's version stay
and are reported: HIP's versions are others.""",
    (
        BuildExample(
            "pyproject.toml",
            '[tool.scikit-build]\ncmake.args = ["-DCMAKE_CUDA_FLAGS=-lineinfo"]\n',
            '[tool.scikit-build]\ncmake.args = ["-DCMAKE_HIP_FLAGS=-gline-tables-only"]\n',
        ),
        BuildExample("CMakeLists.txt", "set(CMAKE_CUDA_STANDARD 14)\n", "set(CMAKE_HIP_STANDARD 17)\n"),
        BuildExample("build.sh", "cmake -DCMAKE_CUDA_FLAGS=-G ..\n", "cmake -DCMAKE_HIP_FLAGS=-g ..\n"),
        BuildExample(
            "CMakeLists.txt",
            "list(APPEND CUDA_NVCC_FLAGS -O3 -Wall)\n",
            'string(APPEND CMAKE_HIP_FLAGS " -O3 -Wall")\n',
        ),
        BuildExample(
            "CMakeLists.txt",
            "if(CUDA_VERSION VERSION_LESS 11)\nendif()\n",
            "if(CUDA_VERSION VERSION_LESS 11)\nendif()\n",
        ),
    ),
)
ARCHITECTURE = BuildRule(
    "CU805",
    "build-architecture",
    Severity.WARNING,
    """A build file names NVIDIA's GPUs.

With `--arch` the GPUs that it lists stand there instead. Without it, CMake's lists go, so that CMAKE_HIP_ARCHITECTURES
of the command line, or CMake's own choice, holds for all targets; and Make's options become `--offload-arch=native`,
the GPUs of the machine that builds.""",
    (
        BuildExample("CMakeLists.txt", "set(CMAKE_CUDA_ARCHITECTURES 80 90)\nset(A 1)\n", "set(A 1)\n"),
        BuildExample(
            "Makefile",
            "ARCH = sm_60\nNVCCFLAGS = -O3 -arch=$(ARCH)\n",
            "ARCH = native\nNVCCFLAGS = -O3 --offload-arch=$(ARCH)\n",
        ),
    ),
)
COMMAND = BuildRule(
    "CU806",
    "build-command",
    Severity.WARNING,
    """A CMake file calls a command of FindCUDA or of CUDA's libraries.

`cuda_add_executable` and `cuda_add_library` become CMake's own commands. What makes PTX, cubins or fatbins stays and is
reported: HIP's modules are code objects, which `hipcc --genco` makes. Where `execute_process` asks nvcc for its
version, it gets what nvcc 12.6 says, since HIP counts as that. nvidia-smi and CUDA's tools are named.""",
    (
        BuildExample(
            "CMakeLists.txt",
            "cuda_add_library(x STATIC x.cpp)\n",
            "add_library(x STATIC x.cpp)\ntarget_link_libraries(x hip::host)\n",
        ),
        BuildExample("CMakeLists.txt", "cuda_compile_ptx(files k.cpp)\n", "cuda_compile_ptx(files k.cpp)\n"),
        BuildExample(
            "CMakeLists.txt",
            "execute_process(COMMAND nvcc --version OUTPUT_VARIABLE said)\n",
            'execute_process(COMMAND ${CMAKE_COMMAND} -E echo "Cuda compilation tools, release 12.6, V12.6.20" '
            "OUTPUT_VARIABLE said)\n",
        ),
    ),
)
SOURCE = BuildRule(
    "CU807",
    "build-source-language",
    Severity.WARNING,
    """A CMake file names `.cu` sources, which CMake gives no language where CUDA is not enabled.

They get the property `LANGUAGE HIP` where they are named, in a line of its own; those of `file(GLOB ...)` after it,
also where a pattern such as `*.c*` finds them. With `--rename .hip` CMake knows the language by the suffix, and nothing
is added.""",
    (
        BuildExample(
            "CMakeLists.txt",
            "add_executable(app main.cpp a.cu b.cu)\n",
            "set_source_files_properties(a.cu b.cu PROPERTIES LANGUAGE HIP)\nadd_executable(app main.cpp a.cu b.cu)\n",
        ),
    ),
)
HOST_SOURCE = BuildRule(
    "CU820",
    "build-host-source",
    Severity.WARNING,
    """A build file has the host's compiler compile a source that includes Thrust or CUB.

NVIDIA's Thrust lets any compiler read its headers. Without the compiler of HIP, rocThrust looks for CUDA's, and rocPRIM
below it does not compile with GNU's. In CMake the source gets the property `LANGUAGE HIP` where it is named, as nvcc
would give it to the compiler of the device with `-x cu`. In a Makefile that calls nvcc, too, the command is reported:
have hipcc compile such sources. Includes are followed through the headers of the tree; one in a branch of `__CUDACC__`
does not count.""",
)
OPTION = BuildRule(
    "CU808",
    "build-option",
    Severity.WARNING,
    """A build file passes an option of nvcc.

It becomes an option of clang, is taken out where clang needs none, or is reported. `-Xcompiler X` becomes X: clang
compiles the host's code too. `--use_fast_math` does not become `-ffast-math`, which also assumes that there are no
infinities and NaNs. For the same reason `-Xcompiler -ffast-math` becomes `-Xarch_host -ffast-math`: nvcc gives it to
the compiler of the host alone.""",
    (
        BuildExample(
            "CMakeLists.txt",
            'set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -Xptxas -v -Xcompiler -Wall,-Wextra -rdc=true")\n',
            'set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS} -Wall -Wextra -fgpu-rdc")\n',
        ),
    ),
)
RENAMED = BuildRule(
    "CU809",
    "build-renamed-source",
    Severity.WARNING,
    """A build file names a source that --rename gives another suffix.

The name follows, in lists of sources, patterns and rules.""",
)
SEPARATE = BuildRule(
    "CU810",
    "build-separable",
    Severity.WARNING,
    """A CMake file asks for separable compilation, or a Makefile links what it compiles so.

CMake's language HIP has no switch for it. `-fgpu-rdc` does the same where it is given to compile and to link, so
options with it take the switch's place. A static library of such objects is linked with `-fgpu-rdc --hip-link`, and so
are objects of `-dc` in a Makefile, whose device code nvcc links without an option.""",
    (
        BuildExample(
            "CMakeLists.txt",
            "set_target_properties(x PROPERTIES CUDA_SEPARABLE_COMPILATION ON)\n",
            "target_compile_options(x PRIVATE $<$<COMPILE_LANGUAGE:HIP>:-fgpu-rdc>)\n"
            "target_link_options(x PUBLIC $<$<LINK_LANGUAGE:HIP>:-fgpu-rdc>)\n",
        ),
        BuildExample(
            "Makefile",
            "a.o: a.cu\n\tnvcc -dc a.cu\nx: a.o\n\tnvcc a.o -o x\n",
            "a.o: a.cu\n\thipcc -fgpu-rdc -c a.cu\nx: a.o\n\thipcc -fgpu-rdc --hip-link a.o -o x\n",
        ),
    ),
)
DEPENDENCY = BuildRule(
    "CU811",
    "build-dependency",
    Severity.WARNING,
    """A build file brings in a project that is written for CUDA.

What is fetched while building is not in the tree and not converted. The finding says what ROCm has in its place; where
that is a package, CPM's command, which brings a project in and adds it, becomes `find_package`.""",
    (
        BuildExample(
            "CMakeLists.txt",
            "FetchContent_Declare(thrust GIT_REPOSITORY https://github.com/NVIDIA/thrust.git)\n",
            "FetchContent_Declare(thrust GIT_REPOSITORY https://github.com/NVIDIA/thrust.git)\n",
        ),
        BuildExample(
            "CMakeLists.txt", 'CPMAddPackage("gh:NVIDIA/thrust#1.17")\n', "find_package(rocthrust REQUIRED)\n"
        ),
    ),
)
COMPILER = BuildRule(
    "CU814",
    "build-compiler",
    Severity.WARNING,
    """A Makefile or a shell's script calls nvcc, or a tool of NVIDIA's.

It calls hipcc instead, which takes `.cu` files too. Where it reads nvcc's version, it gets what nvcc 12.6 says, since
HIP counts as that. Tools, such as cuda-memcheck and nvidia-smi, are named.""",
    (
        BuildExample("Makefile", "C ?= nvcc\na.o: a.cu\n\t$(C) -c a.cu\n", "C ?= hipcc\na.o: a.cu\n\t$(C) -c a.cu\n"),
        BuildExample(
            "Makefile",
            "VERSION := $(shell nvcc --version | grep release)\n",
            "VERSION := $(shell echo Cuda compilation tools, release 12.6, V12.6.20 | grep release)\n",
        ),
    ),
)
TOOLKIT = BuildRule(
    "CU815",
    "build-toolkit-path",
    Severity.WARNING,
    """A Makefile or a CMake file names the folder of CUDA's toolkit, by its path or a variable of the environment.

It becomes `/opt/rocm`, where ROCm is as a rule. A variable such as CUDA_HOME that no file of the tree sets comes from
the environment, and becomes ROCM_PATH; one that the tree sets keeps its name and gets another value. g++ gets the
macro by which HIP's headers know the platform, beside the folder where they are.""",
    (
        BuildExample(
            "Makefile",
            "CUDA_PATH ?= /usr/local/cuda\nLIBS = -L$(CUDA_PATH)/lib64 -lcufft\n",
            "CUDA_PATH ?= /opt/rocm\nLIBS = -L$(CUDA_PATH)/lib -lhipfft\n",
        ),
        BuildExample(
            "Makefile", "FLAGS = -I$(CUDA_HOME)/include\n", "FLAGS = -I$(ROCM_PATH)/include -D__HIP_PLATFORM_AMD__\n"
        ),
        BuildExample("CMakeLists.txt", "f($ENV{CUDA_PATH}/include)\n", "f(${hip_INCLUDE_DIRS})\n"),
        BuildExample("CMakeLists.txt", "f(/usr/local/cuda/lib64)\n", "f(/opt/rocm/lib)\n"),
    ),
)
TORCH = BuildRule(
    "CU816",
    "build-torch",
    Severity.WARNING,
    """A setup.py builds an extension of PyTorch with CUDA, or a module of Python has torch build one as it runs.

torch for ROCm compiles a CUDAExtension, and the sources of `torch.utils.cpp_extension.load`, with hipcc, and what is
under "nvcc" or in `extra_cuda_cflags` goes to hipcc; so the names stay, and options of nvcc are ported (CU808). CUDA
code in strings, which `load_inline` builds, is reported and not converted. GPUs come from the variable
PYTORCH_ROCM_ARCH. `CUDA_HOME` is None there, so it becomes `ROCM_HOME`. A setup.py that asks nvcc for its version gets
what nvcc 12.6 says, since HIP counts as that. torch runs its own hipify over the sources before it compiles them. That
leaves HIP's names alone, but writes copies beside the sources: do not convert a tree that holds them.""",
    (
        BuildExample(
            "setup.py",
            "from torch.utils.cpp_extension import CUDA_HOME\nhere = torch.utils.cpp_extension.CUDA_HOME\n",
            "from torch.utils.cpp_extension import ROCM_HOME\nhere = torch.utils.cpp_extension.ROCM_HOME\n",
        ),
        BuildExample(
            "setup.py",
            "from torch.utils.cpp_extension import CUDAExtension\n"
            'said = subprocess.check_output([home + "/bin/nvcc", "-V"], universal_newlines=True)\n',
            "from torch.utils.cpp_extension import CUDAExtension\n"
            'said = "Cuda compilation tools, release 12.6, V12.6.20"\n',
        ),
        BuildExample(
            "backend.py",
            "from torch.utils.cpp_extension import load\n"
            'ours = load("x", ["x.cpp", "x.cu"], extra_cuda_cflags=["--expt-relaxed-constexpr", "-O3"])\n',
            "from torch.utils.cpp_extension import load\n"
            'ours = load("x", ["x.cpp", "x.cu"], extra_cuda_cflags=["-O3"])\n',
        ),
        BuildExample(
            "setup.py",
            "from torch.utils.cpp_extension import CUDAExtension\n"
            'CUDAExtension("x", ["x.cu"], extra_compile_args={"nvcc": ["-O3", "-restrict", "-lineinfo"]})\n',
            "from torch.utils.cpp_extension import CUDAExtension\n"
            'CUDAExtension("x", ["x.cu"], extra_compile_args={"nvcc": ["-O3", "-gline-tables-only"]})\n',
        ),
    ),
)
LINE = BuildRule(
    "CU817",
    "build-line",
    Severity.WARNING,
    """A build file that is not edited refers to CUDA.

Meson, Bazel, autoconf, qmake, Nix, Conan, MATLAB, Visual Studio, batch files, Docker, conda, lists of Python packages,
CI servers and the like are read line by line, as is what of a CMake file cannot be parsed, and lines of scripts that
no edit is known for. Variables that CUDA's driver or tools read from the environment are reported in all build files.
The finding says what a build for HIP has instead. In a pyproject.toml the variables that scikit-build-core gives to
CMake are ported (CU804, CU805, CU808), and other lines are reported.""",
    (
        BuildExample(
            "Dockerfile", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n", "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n"
        ),
        BuildExample(
            "meson.build",
            "project('x', ['cpp', 'cuda'])\nc = find_program('nvcc')\n",
            "project('x', ['cpp', 'cuda'])\nc = find_program('nvcc')\n",
        ),
    ),
)
EMBEDDED = BuildRule(
    "CU818",
    "build-embedded-kernel",
    Severity.WARNING,
    """A build file makes text or a binary of NVIDIA's out of a kernel's source, or a program in Python writes kernels.

The source is converted as others are. Where the text is compiled at run time, hipRTC finds no header by a path of the
build: give it those that the converted text includes (`cu2port/warp.hpp`) by name, as `headers` and `includeNames` of
`hiprtcCreateProgram`, or name their folder by `-I`. In place of a fat binary, a cubin or PTX, HIP loads the code object
that `hipcc --genco --offload-arch=... -o k.hsaco` writes, one for each GPU or all in a bundle.""",
    (
        BuildExample("Makefile", "k.h: k.cu\n\tbin2c k.cu > k.h\n", "k.h: k.cu\n\tbin2c k.cu > k.h\n"),
        BuildExample(
            "CMakeLists.txt",
            "# CUDA\nconfigure_file(k.cu.in k.cu)\n",
            "# CUDA\nconfigure_file(k.cu.in k.cu)\n",
        ),
    ),
)
HAZARD = BuildRule(
    "CU819",
    "build-hazard",
    Severity.WARNING,
    """A build file has a line that HIP's compilers take, and that makes a program wrong or unusable.

A warp's width as a constant of the whole build is right for one kind of GPU only, and converted code keeps CUDA's 32.
`__CUDACC__` in a HIP build makes Thrust and others take their branches for CUDA.
Link-time optimisation of a pybind11 module drops the function that Python calls; `NO_EXTRAS` is added to it.""",
    (
        BuildExample("Makefile", "CUDA_FLAGS = -DWARP_SIZE=64\n", "CUDA_FLAGS = -DWARP_SIZE=64\n"),
        BuildExample(
            "CMakeLists.txt",
            "# CUDA\npybind11_add_module(m m.cpp)\n",
            "# CUDA\npybind11_add_module(m NO_EXTRAS m.cpp)\n",
        ),
    ),
)
OWN_HIP = BuildRule(
    "CU812",
    "build-own-hip",
    Severity.INFO,
    """The tree has a build for HIP of its own.

Its build files are left alone: what is for CUDA stays the CUDA side of it. Build with what the files have for HIP.
Where HIP's side lacks files that CUDA's has, those are converted, and a warning says that the build needs them.""",
)
TOO_LARGE = BuildRule(
    "CU813",
    "build-too-large",
    Severity.WARNING,
    """A build file is larger than 1 MiB.

It was copied as it is. Build files of that size are usually generated: convert what generates it, then generate it
again.""",
)

_CMAKE = (LANGUAGE, PACKAGE, LIBRARY, VARIABLE, ARCHITECTURE, COMMAND, SOURCE, HOST_SOURCE, SEPARATE, DEPENDENCY)
_OF_ANY = (OPTION, RENAMED, OWN_HIP, TOO_LARGE, COMPILER, TOOLKIT, TORCH, LINE, EMBEDDED, HAZARD, CGO, FORTRAN, BINDING)
BUILD_RULES: Mapping[str, BuildRule] = {r.code: r for r in sorted((*_CMAKE, *_OF_ANY), key=lambda r: r.code)}
