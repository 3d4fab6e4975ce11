"""CMake files: what each of CMake's words becomes, and that all other bytes stay."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cu2port.build.convert import convert, facts
from cu2port.build.kinds import kind_of
from cu2port.build.pages import BUILD_RULES
from cu2port.build.rule import BuildExample
from cu2port.build.syntax import commands
from cu2port.build.table import table
from cu2port.build.words import Asked
from cu2port.core.model import Outcome, Result, Severity

EXAMPLES = [(rule.code, e) for rule in BUILD_RULES.values() for e in rule.examples]


def port(text: str, name: str = "CMakeLists.txt", **asked: Any) -> Result:
    """A build file alone in its tree."""
    data = text.encode("latin-1")
    kind = kind_of(name)
    found = facts(kind, data)
    return convert(
        data, name, Asked(kind, **{"packages": tuple(sorted(found.packages)), "defined": found.defines, **asked})
    )


def ported(text: str, name: str = "CMakeLists.txt", **asked: Any) -> str:
    return port(text, name, **asked).output.decode("latin-1")


def told(result: Result) -> str:
    """The messages of what is left for a person."""
    return " | ".join(j.finding.message for j in result.findings if j.outcome is not Outcome.APPLIED)


@pytest.mark.parametrize(("code", "case"), EXAMPLES, ids=[f"{code}-{i}" for i, (code, _) in enumerate(EXAMPLES)])
def test_the_examples_are_what_happens(code: str, case: BuildExample) -> None:
    result = port(case.before, case.name)
    assert result.output.decode() == case.after
    assert code in {j.finding.code for j in result.findings}
    again = port(case.after, case.name)
    assert again.output.decode() == case.after
    assert not [j for j in again.findings if j.outcome is Outcome.APPLIED]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if(NCCL_FOUND AND NOT ${CCCL_FOUND})", "if(rccl_FOUND AND NOT ${rocthrust_FOUND})"),
        ("# CUDA\nset(NCCL_FOUND_X CUB_FOUNDS)", "# CUDA\nset(NCCL_FOUND_X CUB_FOUNDS)"),
        ("if(TARGET CCCL::CCCL AND X)", "if(TARGET roc::rocthrust AND TARGET hip::hipcub AND X)"),
        ("target_link_libraries(a CCCL::CCCL)", "target_link_libraries(a roc::rocthrust hip::hipcub)"),
        (
            "# CUDA\nPybind11_add_module(${n} MODULE\n  a.cpp)\npybind11_add_module(b NO_EXTRAS b.cpp)",
            "# CUDA\nPybind11_add_module(${n} NO_EXTRAS MODULE\n  a.cpp)\npybind11_add_module(b NO_EXTRAS b.cpp)",
        ),
        ("project(x VERSION 1.0 LANGUAGES CUDA)", "project(x VERSION 1.0 LANGUAGES HIP)"),
        ("project(CUDA CUDA CXX)", "project(CUDA HIP CXX)"),
        ("PROJECT(x CUDA)", "PROJECT(x HIP)"),
        ("enable_language(CUDA)", "enable_language(HIP)"),
        ("enable_language(CXX CUDA OPTIONAL)", "enable_language(CXX HIP OPTIONAL)"),
        ("check_language(CUDA)", "check_language(HIP)"),
        ("if(CMAKE_CUDA_COMPILER)", "if(CMAKE_HIP_COMPILER)"),
        ("if(CUDA_FOUND)\nelse(CUDA_FOUND)\nendif(CUDA_FOUND)", "if(hip_FOUND)\nelse(hip_FOUND)\nendif(hip_FOUND)"),
        ("find_cuda_helper_libs(curand)\n", ""),
        (
            'set(CMAKE_CUDA_FLAGS "-lineinfo" CACHE STRING "x")',
            'set(CMAKE_HIP_FLAGS "-gline-tables-only" CACHE STRING "x")',
        ),
        ("set(CMAKE_CUDA_FLAGS -Wno-deprecated-gpu-targets)", 'set(CMAKE_HIP_FLAGS "")'),
        ('set(CMAKE_CUDA_FLAGS "-restrict" CACHE STRING "x")', 'set(CMAKE_HIP_FLAGS "" CACHE STRING "x")'),
        # what is said of a variable stays
        (
            'set(MY_CUDA_FLAGS "-G" CACHE STRING "such as -gencode arch=compute_70,code=sm_70")',
            'set(MY_CUDA_FLAGS "-g" CACHE STRING "such as -gencode arch=compute_70,code=sm_70")',
        ),
        ("set(CMAKE_CUDA_FLAGS\n  -restrict\n  -Xcudafe --diag_suppress=1)", 'set(CMAKE_HIP_FLAGS\n  "")'),
        ("cmake_minimum_required(VERSION 3.8...3.29)\nenable_language(CUDA)", None),
        (
            "cmake_minimum_required(VERSION 3.8...3.18)\nenable_language(CUDA)",
            "cmake_minimum_required(VERSION 3.21)\nenable_language(HIP)",
        ),
        ("cmake_minimum_required(VERSION 3.8)", "cmake_minimum_required(VERSION 3.8)"),
        ("# project(x CUDA)\nenable_language(CUDA)", "# project(x CUDA)\nenable_language(HIP)"),
        ('message(STATUS "CUDA ${CUDA_VERSION}")', 'message(STATUS "CUDA ${CUDA_VERSION}")'),
        ("target_link_libraries(a PRIVATE CUDA::cufft x)", "target_link_libraries(a PRIVATE hip::hipfft x)"),
        ("target_link_libraries(a cublas -lcudart m)", "target_link_libraries(a roc::hipblas hip::host m)"),
        ("target_link_libraries(a b CUDA::culibos)", "target_link_libraries(a b)"),
        ("target_link_libraries(a $<LINK_ONLY:CUDA::cudart>)", "target_link_libraries(a $<LINK_ONLY:hip::host>)"),
        ("target_link_libraries(a ${CUDA_LIBRARIES})", "target_link_libraries(a hip::host)"),
        (
            'set(LIBS cuda x)\nlist(APPEND MY_LIBRARIES "cufft")\nset(OTHER_LIBS cuda)\nset(NCCL_LIB_NAME nccl)\n'
            "target_link_libraries(a PUBLIC ${LIBS} ${MY_LIBRARIES})",
            'set(LIBS hip::host x)\nlist(APPEND MY_LIBRARIES "hip::hipfft")\nset(OTHER_LIBS cuda)\n'
            "set(NCCL_LIB_NAME nccl)\n"
            "target_link_libraries(a PUBLIC ${LIBS} ${MY_LIBRARIES})",
        ),
        (
            "target_link_libraries(a ${CUDA_cublas_LIBRARY} ${CUDA_cudart_static_LIBRARY} ${CUDA_npps_LIBRARY})",
            "target_link_libraries(a roc::hipblas hip::host ${CUDA_npps_LIBRARY})",
        ),
        ("set_property(TARGET a PROPERTY CUDA_ARCHITECTURES 70 80)\nx()", "x()"),
        ("set_property(DIRECTORY . PROPERTY CUDA_SEPARABLE_COMPILATION ON)\nx()", "x()"),
        ("set_source_files_properties(a.cu PROPERTIES CUDA_SEPARABLE_COMPILATION ON)\nx()", "x()"),
        # what tells its arguments by their places keeps all of them
        ('my_check_nvcc_flag("--expt-relaxed-constexpr" HAS)', 'my_check_nvcc_flag("" HAS)'),
        ("check_cuda_compiler_flag(-extended-lambda HAS)", 'check_compiler_flag(HIP "" HAS)'),
        ("list(TRANSFORM CUDA_FLAGS PREPEND -Xcompiler=)", 'list(TRANSFORM CUDA_FLAGS PREPEND "")'),
        # elements that CMake joins without a `;` keep their blank
        ('list(TRANSFORM CUDA_FLAGS PREPEND " -Xcompiler ")', 'list(TRANSFORM CUDA_FLAGS PREPEND " ")'),
        (
            'string(REPLACE "-Xptxas -v" "" CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS}")',
            'string(REPLACE "-Xptxas -v" "" CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS}")',
        ),
        (
            "list(REMOVE_ITEM CUDA_NVCC_FLAGS -lineinfo --ptxas-options=-v)",
            "list(REMOVE_ITEM CMAKE_HIP_FLAGS -gline-tables-only --ptxas-options=-v)",
        ),
        (
            'set_target_properties(a PROPERTIES X 1 CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}")',
            "set_target_properties(a PROPERTIES X 1)",
        ),
        (
            "set_target_properties(a PROPERTIES CUDA_STANDARD 14 CUDA_ARCHITECTURES 70)",
            "set_target_properties(a PROPERTIES HIP_STANDARD 17)",
        ),
        (
            "set_target_properties(a PROPERTIES\n  CUDA_ARCHITECTURES 70 # why\n  X 1\n  CUDA_STANDARD 20)",
            "set_target_properties(a PROPERTIES\n # why\n  X 1\n  HIP_STANDARD 20)",
        ),
        (
            "if(NOT CMAKE_CUDA_ARCHITECTURES)\n  set(CMAKE_CUDA_ARCHITECTURES 70)\nendif()",
            "if(NOT CMAKE_HIP_ARCHITECTURES)\nendif()",
        ),
        (
            "set_target_properties(a PROPERTIES CUDA_STANDARD 17 LINKER_LANGUAGE CUDA)",
            "set_target_properties(a PROPERTIES HIP_STANDARD 17 LINKER_LANGUAGE HIP)",
        ),
        ("target_compile_features(a PUBLIC cuda_std_14)", "target_compile_features(a PUBLIC hip_std_17)"),
        ("target_compile_features(a PUBLIC cuda_std_20)", "target_compile_features(a PUBLIC hip_std_20)"),
        (
            "target_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-G;--expt-relaxed-constexpr;-O2>)",
            "target_compile_options(a PRIVATE $<$<COMPILE_LANGUAGE:HIP>:-g;;-O2>)",
        ),
        (
            "add_compile_options($<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Xcompiler=-Wall,-fPIC>)",
            'add_compile_options("$<$<COMPILE_LANG_AND_ID:HIP,Clang>:-Wall;-fPIC>")',
        ),
        (
            'add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-fPIC>")',
            'add_compile_options("$<$<COMPILE_LANGUAGE:HIP>:-Wall;-fPIC>")',
        ),
        (  # a property has one value, whatever its options become
            "set_source_files_properties(a.cu PROPERTIES COMPILE_FLAGS --use_fast_math COMPILE_OPTIONS -lineinfo)",
            'set_source_files_properties(a.cu PROPERTIES COMPILE_FLAGS "-fgpu-approx-transcendentals'
            ' -fgpu-flush-denormals-to-zero" COMPILE_OPTIONS -gline-tables-only)',
        ),
        ("target_compile_options(a PRIVATE -lineinfo)", "target_compile_options(a PRIVATE -gline-tables-only)"),
        ("target_link_libraries(a nvrtc)", "target_link_libraries(a hiprtc::hiprtc)"),
        (
            "set_target_properties(a PROPERTIES COMPILE_FLAGS -expt-relaxed-constexpr COMPILE_OPTIONS --use_fast_math)",
            'set_target_properties(a PROPERTIES COMPILE_FLAGS "" COMPILE_OPTIONS "-fgpu-approx-transcendentals'
            ';-fgpu-flush-denormals-to-zero")',
        ),
        (
            "set_target_properties(a PROPERTIES COMPILE_OPTIONS $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-g>)",
            'set_target_properties(a PROPERTIES COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:HIP>:-Wall;-g>")',
        ),
        ('string(APPEND CMAKE_CUDA_FLAGS " -arch=sm_70 -O3")', 'string(APPEND CMAKE_HIP_FLAGS " -O3")'),
        ('set(CMAKE_CUDA_FLAGS "-std=c++14")', 'set(CMAKE_HIP_FLAGS "-std=c++17")'),
        ('set(CMAKE_CXX_FLAGS "-std=c++14 -G -arch x86_64")', 'set(CMAKE_CXX_FLAGS "-std=c++14 -G -arch x86_64")'),
        (
            "set(CUDA_NVCC_FLAGS ${CUDA_NVCC_FLAGS};-O3;-Wall)",
            'set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS} -O3 -Wall")',
        ),
        (
            'set(CUDA_NVCC_FLAGS "${CUDA_NVCC_FLAGS};-gencode;arch=compute_50,code=sm_50;-O2")',
            'set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS}  -O2")',
        ),
        (
            "set(\n  CUDA_NVCC_FLAGS\n  -O3 # fast\n  -arch=sm_35\n  #[[ a\n b ]] -Wall\n  -arch=sm_50\n)",
            '# fast\n#[[ a\n b ]]\nset(\n  CMAKE_HIP_FLAGS\n  "-O3 \\\n -Wall"\n)',
        ),
        ("list(APPEND CUDA_NVCC_FLAGS\n  -O3\n  -g)", 'string(APPEND CMAKE_HIP_FLAGS\n  " -O3 \\\n  -g")'),
        ('list(APPEND CUDA_NVCC_FLAGS "-Xcompiler;-fPIC")', 'string(APPEND CMAKE_HIP_FLAGS " -fPIC")'),
        ('list(APPEND CUDA_NVCC_FLAGS "-Xcompiler" "${F}" -g)', 'string(APPEND CMAKE_HIP_FLAGS " ${F} -g")'),
        ('set(CUDA_NVCC_FLAGS "-Xcompiler" "-Wall" "-g")', 'set(CMAKE_HIP_FLAGS "-Wall -g")'),
        (
            'cuda_add_library(x a.cc OPTIONS ${K} -Xcompiler="-fPIE" -g)\n',
            "add_library(x a.cc)\nset(x_HIP_OPTIONS ${K} -fPIE -g)\n"
            'target_compile_options(x PRIVATE "$<$<COMPILE_LANGUAGE:HIP>:${x_HIP_OPTIONS}>")\n'
            "target_link_libraries(x hip::host)\n",
        ),
        ('list(APPEND CUDA_NVCC_FLAGS "-Xptxas;-v")', 'string(APPEND CMAKE_HIP_FLAGS " ")'),
        ("list(APPEND CUDA_NVCC_FLAGS -Xptxas -v -O3)", 'string(APPEND CMAKE_HIP_FLAGS " -O3")'),
        ('set(CUDA_NVCC_FLAGS "${CUDA_NVCC_FLAGS} -O3")', 'set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS} -O3")'),
        (
            "cuda_add_executable(a b.cpp OPTIONS -O3 -Xptxas -v -arch=sm_70 -lineinfo ${F})\n",
            "add_executable(a b.cpp)\nset(a_HIP_OPTIONS -O3 -gline-tables-only ${F})\n"
            'target_compile_options(a PRIVATE "$<$<COMPILE_LANGUAGE:HIP>:${a_HIP_OPTIONS}>")\n'
            "target_link_libraries(a hip::host)\n",
        ),
        (
            "  cuda_add_library(${T} STATIC\n    b.cpp\n    OPTIONS\n    -G\n  )\n",
            "  add_library(${T} STATIC\n    b.cpp)\n  set(${T}_HIP_OPTIONS\n    -g\n  )\n"
            '  target_compile_options(${T} PRIVATE "$<$<COMPILE_LANGUAGE:HIP>:${${T}_HIP_OPTIONS}>")\n'
            "  target_link_libraries(${T} hip::host)\n",
        ),
        *(  # a macro of the sources keeps its name; a variable that is handed on follows
            (text, text)
            for text in (
                'set(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} -DCUDA_FOUND")\n',
                "add_definitions(-DCUDA_FOUND -DCUDA_VERSION=10)\n",
                "target_compile_definitions(x PRIVATE -DCUDA_FOUND=1)\n",
            )
        ),
        ("add_custom_command(COMMAND cmake -DCUDA_FOUND=1)\n", "add_custom_command(COMMAND cmake -Dhip_FOUND=1)\n"),
        (
            "set(X ${CUDAToolkit_ROOT}/lib64 ${CUDAToolkit_ROOT}/lib64x)\n",
            "set(X ${CUDAToolkit_ROOT}/lib ${CUDAToolkit_ROOT}/lib64x)\n",
        ),
        (
            "set(X ${CUDAToolkit_ROOT}/targets/x86_64-linux/include /usr/local/cuda/targets/sbsa-linux/lib/stubs)\n",
            "set(X ${CUDAToolkit_ROOT}/include /opt/rocm/lib)\n",
        ),
        (
            "target_link_libraries(x /usr/local/cuda/lib64/libcudart.so $ENV{CUDA_HOME}/lib64/stubs/libcuda.so)\n",
            "target_link_libraries(x /opt/rocm/lib/libamdhip64.so $ENV{ROCM_PATH}/lib/libamdhip64.so)\n",
        ),
        (
            'set(X "${CUDA_TOOLKIT_ROOT_DIR}/lib64/libcufft.so;/usr/local/cuda/lib64/libmine.so" /lib64/libcufft.so)\n',
            'set(X "${CUDA_TOOLKIT_ROOT_DIR}/lib/libhipfft.so;/opt/rocm/lib/libmine.so" /lib64/libcufft.so)\n',
        ),
        ("set(X $ENV{CUDA_HOME}/targets/x86_64-linux/lib)\n", "set(X $ENV{ROCM_PATH}/lib)\n"),
        ('set(NVCC "${CUDA_PATH}/bin/nvcc")\n', 'set(NVCC "${CUDA_PATH}/bin/hipcc")\n'),
        ("find_program(X nvcc PATHS ${P})\n", "find_program(X hipcc PATHS ${P})\n"),
        (
            "cuda_add_library(a ${S} STATIC)\ncuda_add_executable(b WIN32 b.cpp EXCLUDE_FROM_ALL)\n",
            "add_library(a STATIC ${S})\ntarget_link_libraries(a hip::host)\n"
            "add_executable(b WIN32 EXCLUDE_FROM_ALL b.cpp)\ntarget_link_libraries(b hip::host)\n",
        ),
        (
            "cuda_add_library(a b.cpp SHARED OPTIONS -O3)\n",
            "add_library(a SHARED b.cpp )\nset(a_HIP_OPTIONS -O3)\n"
            'target_compile_options(a PRIVATE "$<$<COMPILE_LANGUAGE:HIP>:${a_HIP_OPTIONS}>")\n'
            "target_link_libraries(a hip::host)\n",
        ),
        (
            "cuda_add_executable(a b.cpp # c\n  OPTIONS -O3)\n",
            "add_executable(a b.cpp # c\n  )\nset(a_HIP_OPTIONS -O3)\n"
            'target_compile_options(a PRIVATE "$<$<COMPILE_LANGUAGE:HIP>:${a_HIP_OPTIONS}>")\n'
            "target_link_libraries(a hip::host)\n",
        ),
        (
            "cuda_add_executable(a b.cpp OPTIONS -O3 ${CUDA_NVCC_FLAGS})\n",
            "add_executable(a b.cpp)\ntarget_link_libraries(a hip::host)\n",
        ),
        (
            "cuda_add_executable(a b.cpp OPTIONS -O3 DEBUG -G)\n",
            "add_executable(a b.cpp)\ntarget_link_libraries(a hip::host)\n",
        ),
        ("find_library(A NAMES nccl libnccl HINTS x)", "find_library(A NAMES rccl libnccl HINTS x)"),
        ("find_library(A NAMES cudadevrt PATHS x)", 'set(A "")'),
        ('cuda_find_library_local_first(A cudadevrt "the library")', 'set(A "")'),
        ("find_path(A NAMES nccl.h curand.h x.h)", "find_path(A NAMES rccl/rccl.h hiprand/hiprand.h x.h)"),
        ("cuda_add_executable(a b.cpp)\n", "add_executable(a b.cpp)\ntarget_link_libraries(a hip::host)\n"),
        (
            "cuda_add_library(a b.cpp)\ntarget_link_libraries(a PUBLIC c)",
            "add_library(a b.cpp)\ntarget_link_libraries(a PUBLIC hip::host)\ntarget_link_libraries(a PUBLIC c)",
        ),
        (  # CMake takes one form of linking for a target: that of its own other links, not of the first in the file
            "target_link_libraries(i INTERFACE m)\ncuda_add_executable(a b.cpp)\ntarget_link_libraries(a i)",
            "target_link_libraries(i INTERFACE m)\nadd_executable(a b.cpp)\ntarget_link_libraries(a hip::host)\n"
            "target_link_libraries(a i)",
        ),
        (  # with INTERFACE the library itself would not get it
            "cuda_add_library(a b.cpp)\ntarget_link_libraries(a INTERFACE m)",
            "add_library(a b.cpp)\ntarget_link_libraries(a PUBLIC hip::host)\ntarget_link_libraries(a INTERFACE m)",
        ),
        ("cuda_add_cublas_to_target(a)", "target_link_libraries(a roc::hipblas)"),
        (
            'set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -lcudadevrt -O2 -lcublas")',
            'set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS} -O2 -lhipblas")',
        ),
        (
            'set(CMAKE_EXE_LINKER_FLAGS "-lcudart -lcurand")\ntarget_link_options(a PRIVATE -lcufft)',
            'set(CMAKE_EXE_LINKER_FLAGS "-lamdhip64 -lhiprand")\ntarget_link_options(a PRIVATE -lhipfft)',
        ),
        (
            'set(F "-lcudadevrt")\nset_target_properties(a PROPERTIES LINK_FLAGS "-lm -lcudadevrt")',
            'set(F "")\nset_target_properties(a PROPERTIES LINK_FLAGS "-lm")',
        ),
        (
            'target_link_libraries(a cudart.lib "-lcufft -lm" -lcublas cudadevrt.lib m.lib)',
            'target_link_libraries(a hip::host "-lhipfft -lm" roc::hipblas m.lib)',
        ),
        ("include(FindCUDA)\n", "enable_language(HIP)\nfind_package(hip)\n"),
        ("include(FindCUDAToolkit)\n", "find_package(hip)\n"),
        (
            "find_package(CUDAToolkit REQUIRED)\nInclude(FindCUDA)\ninclude(FindCUDA/select_compute_arch)\nx()",
            "find_package(hip REQUIRED)\nx()",
        ),
        (
            'include(FindCUDA/select_compute_arch)\nCUDA_DETECT_INSTALLED_GPUS(GPUS)\nstring(STRIP "${GPUS}" G)',
            'set(GPUS)\nstring(STRIP "${GPUS}" G)',
        ),
        (
            'set(CUDA_NVCC_FLAGS -Xcudafe "--diag_suppress=a" ; -Xptxas "-v" ; ${CUDA_NVCC_FLAGS})',
            'set(CMAKE_HIP_FLAGS "     ${CMAKE_HIP_FLAGS}")',
        ),
        (
            "try_run(R C ${B} a.cpp CMAKE_FLAGS -DLINK_LIBRARIES:STRING=${CUDA_CUDART_LIBRARY};${M} ARGS x)",
            "try_run(R C ${B} a.cpp LINK_LIBRARIES hip::host ${M} CMAKE_FLAGS ARGS x)",
        ),
        ("try_run(R C ${B} a.cpp CMAKE_FLAGS -DLINK_LIBRARIES=${M})", None),
        (
            "cuda_wrap_srcs(a OBJ objects b/c.cu OPTIONS ${CMAKE_CUDA_FLAGS})\n",
            "set_source_files_properties(b/c.cu PROPERTIES LANGUAGE HIP)\nset(objects b/c.cu)\n",
        ),
        (
            "cuda_compile(objects b.cu SHARED OPTIONS -G)\n",
            "set_source_files_properties(b.cu PROPERTIES LANGUAGE HIP)\nset(objects b.cu)\n",
        ),
        (
            "if(A)\n  CPMAddPackage(NAME CCCL GIT_REPOSITORY https://github.com/NVIDIA/cccl.git GIT_TAG v3)\nendif()\n",
            "if(A)\n  find_package(rocthrust REQUIRED)\n  find_package(hipcub REQUIRED)\nendif()\n",
        ),
        (  # names as NVIDIA's configurations have them, and targets of a copy of Hunter's
            "find_package(cub CONFIG REQUIRED)\nfind_package(thrust)\nlink_libraries(cub::cub cub::x)\n",
            "find_package(hipcub REQUIRED)\nfind_package(rocthrust)\nlink_libraries(hip::hipcub cub::x)\n",
        ),
        ('CPMAddPackage("gh:NVIDIA/thrust#1.17")', "find_package(rocthrust REQUIRED)"),
        ("FetchContent_Declare(cub GIT_REPOSITORY https://github.com/NVIDIA/cub)", None),
        ("find_dependency(CUDAToolkit)", "find_dependency(hip)"),
        (
            "cuda_wrap_srcs()\ncuda_wrap_srcs(a OBJ)\ncuda_compile()\n",
            "cuda_wrap_srcs()\ncuda_wrap_srcs(a OBJ)\ncuda_compile()\n",
        ),
        ("set(A ${CMAKE_CUDA_FLAGS_${type}})", None),
    ],
)
def test_words(before: str, after: str | None) -> None:
    found = ported(before)
    if after is not None:
        assert found == after
    assert ported(found) == found
    assert ported(before.replace("\n", "\r\n")) == found.replace("\n", "\r\n")


def test_find_cuda_brings_no_language_so_one_is_enabled() -> None:
    text = "cmake_minimum_required(VERSION 3.5)\nproject(x)\nfind_package(CUDA 9 REQUIRED)\ncuda_add_library(x a.cu)\n"
    assert ported(text) == (
        "cmake_minimum_required(VERSION 3.21)\nproject(x)\nenable_language(HIP)\nfind_package(hip REQUIRED)\n"
        "set_source_files_properties(a.cu PROPERTIES LANGUAGE HIP)\nadd_library(x a.cu)\n"
        "target_link_libraries(x hip::host)\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (r"-Xcompiler \"-Wall -g\"", "-Wall -g"),
        (r"-Xcompiler \"-Wall -ffast-math\"", "-Wall -Xarch_host -ffast-math"),
        (r"-Xcompiler=\"-Wall,-g\"", "-Wall -g"),
        (r"-Xcompiler '-Wall -g'", "-Wall -g"),
        (r"-Xptxas \"-v -dlcm=ca\"", ""),
        (r"-Xcudafe=\"--diag_suppress=x --y\"", ""),
        (r"-gencode \"arch=compute_70,code=sm_70\"", ""),
        (r"-gencode arch=compute_70,code=\"sm_70,compute_70\"", ""),
        (r"-Xcompiler \"-DX=\\\"a b\\\"\"", r"\"-DX=\\\"a b\\\"\""),
    ],
)
def test_values_in_quotes_for_the_shell_are_one_word(before: str, after: str) -> None:
    line = 'set(CMAKE_{}_FLAGS "${{CMAKE_{}_FLAGS}}{} -O3")\n'
    wanted = line.format("HIP", "HIP", f" {after}" if after else "")
    assert ported(line.format("CUDA", "CUDA", f" {before}")) == wanted
    preset = '{{"configurePresets": [{{"name": "x", "cacheVariables": {{"CMAKE_{}_FLAGS": "-g{} -O3"}}}}]}}\n'
    wanted = preset.format("HIP", f" {after}" if after else "")
    assert ported(preset.format("CUDA", f" {before}"), "CMakePresets.json") == wanted


def test_sources_that_are_c_plus_plus_without_a_gpu_are_marked() -> None:
    """The branch without CUDA says that they are C++; it still does, and the list of a pattern is HIP's before it."""
    without = "if(GPU)\n  enable_language(CUDA)\nelse()\n"
    without += "  set_source_files_properties({} PROPERTIES LANGUAGE CXX)\nendif()\n"
    mark = "set_source_files_properties({} PROPERTIES LANGUAGE HIP)\n"
    assert mark.format("${S}") in ported("file(GLOB S *.cu)\n" + without.format("${S}") + "add_library(x ${S})\n")
    found = ported(without.format("a.cu b.cu") + "add_library(x a.cu b.cu)\n")
    assert f"endif()\nif(CMAKE_HIP_COMPILER)\n  {mark.format('a.cu b.cu')}endif()\nadd_library(x a.cu b.cu)\n" in found
    assert ported(found) == found
    alone = "set_source_files_properties(a.cu PROPERTIES LANGUAGE CXX)\nadd_library(x a.cu)\n"
    assert ported(alone) == alone


def test_patterns_of_sources_are_marked_after_them() -> None:
    assert ported("file(GLOB S src/*.cu)\n") == (
        "file(GLOB S src/*.cu)\nset_source_files_properties(${S} PROPERTIES LANGUAGE HIP)\n"
    )
    assert ported("file(GLOB S RELATIVE ${D} src/*.cu)\n").endswith("(${S} PROPERTIES LANGUAGE HIP)\n")
    assert "set_source_files_properties(${S_HIP} " in ported('file(GLOB S "inc/a.cuh" "inc/b.h" "src/a.cu")\n')
    mixed = ported("if(A)\n  file(GLOB_RECURSE S src/*.cu src/*.cpp)\nendif()\n")
    assert mixed == (
        "if(A)\n  file(GLOB_RECURSE S src/*.cu src/*.cpp)\n  set(S_HIP ${S})\n"
        '  list(FILTER S_HIP INCLUDE REGEX "\\\\.cu$")\n'
        "  set_source_files_properties(${S_HIP} PROPERTIES LANGUAGE HIP)\nendif()\n"
    )
    assert ported(mixed) == mixed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("add_library(x a.cu src/b.cu c.cpp)", "add_library(x a.hip src/b.cu c.cpp)"),
        ("set(S ${CMAKE_CURRENT_SOURCE_DIR}/a.cu)", "set(S ${CMAKE_CURRENT_SOURCE_DIR}/a.hip)"),
        ("set(S ../lib/./a.cu)", "set(S ../lib/./a.hip)"),
        ("file(GLOB S *.cu)", "file(GLOB S *.hip)"),
        ('list(FILTER S INCLUDE REGEX "\\\\.cu$")', 'list(FILTER S INCLUDE REGEX "\\\\.hip$")'),
        ("foreach(f x y)\nadd_executable(${f} ${f}.cu)", "foreach(f x y)\nadd_executable(${f} ${f}.hip)"),
        ('message("see a.cu")', 'message("see a.cu")'),
        ("add_library(x a.cuh a.cu.in)", "add_library(x a.cuh a.cu.in)"),
    ],
)
def test_renamed_sources_are_followed(before: str, after: str) -> None:
    found = ported(before, folder="lib", renamed=frozenset({"lib/a.cu", "lib/sub/c.cu"}), suffix=".hip")
    assert found.replace("set_source_files_properties(src/b.cu PROPERTIES LANGUAGE HIP)\n", "") == after


def test_what_stays_is_told() -> None:
    text = (
        "find_package(CUDNN)\nif(CUDAToolkit_VERSION VERSION_LESS 12)\nendif()\n"
        "target_link_libraries(a CUDA::nvml CUDA::nppc)\nlink_libraries(nvgraph)\n"
        "set_target_properties(a PROPERTIES CUDA_PTX_COMPILATION ON)\n"
        "add_custom_command(OUTPUT x COMMAND nvcc -dlink k.o)\n"
        "CPMAddPackage(NAME c GITHUB_REPOSITORY NVIDIA/cutlass)\n"
    )
    result = port(text)
    assert result.output == text.encode()
    said = told(result)
    for word in (
        "CUDNN",
        "CUDAToolkit_VERSION",
        "CUDA::nvml",
        "CUDA::nppc",
        "nvgraph",
        "CUDA_PTX",
        "nvcc",
        "-dlink",
        "NVIDIA/cutlass",
    ):
        assert f"`{word}" in said


def test_libraries_of_a_module_for_a_script() -> None:
    """UseSWIG's own command links by plain names, too: they stayed, and the linker found none of them."""
    text = "find_package(CUDAToolkit)\nswig_link_libraries(m cudart cufft Python::Module)\n"
    assert ported(text) == (
        "find_package(hip)\nfind_package(hipfft)\nswig_link_libraries(m hip::host hip::hipfft Python::Module)\n"
    )


def test_a_library_by_its_path_is_no_target() -> None:
    """`get_filename_component(D hip::hipfft DIRECTORY)` would give an empty folder, without a word."""
    text = (
        "get_filename_component(D ${CUDA_cufft_LIBRARY} DIRECTORY)\n"
        'set_target_properties(a PROPERTIES IMPORTED_LOCATION_RELEASE "${CUDA_cublas_LIBRARY}" X 1)\n'
        "if(EXISTS ${CUDA_CUDART_LIBRARY})\nendif()\n"
    )
    result = port(text)
    assert result.output == text.encode()
    assert [word in told(result) for word in ("hip::hipfft", "roc::hipblas", "hip::host")] == [True] * 3
    assert "path" in told(result)
    linked = "set_target_properties(a PROPERTIES INTERFACE_LINK_LIBRARIES ${CUDA_cufft_LIBRARY})"
    assert ported(linked) == linked.replace("${CUDA_cufft_LIBRARY}", "hip::hipfft")


def test_a_tree_with_a_build_for_hip_is_left_alone() -> None:
    text = "if(HIP)\nenable_language(HIP)\nelse()\nenable_language(CUDA)\nendif()\n"
    assert facts("cmake", text.encode()).hip and facts("cmake", text.encode()).cuda
    for converts, severity in ((False, Severity.INFO), (True, Severity.WARNING)):
        result = port(text, own_hip=True, converts=converts)
        assert result.output == text.encode()
        assert [(j.finding.code, j.finding.severity) for j in result.findings] == [("CU812", severity)]
        assert ("add the sources" in result.findings[0].finding.message) is converts


def test_gpus_that_are_asked_for_stand_in_lists() -> None:
    archs = ("gfx942", "gfx1100")
    assert ported("set(CMAKE_CUDA_ARCHITECTURES 80 90)", archs=archs) == "set(CMAKE_HIP_ARCHITECTURES gfx942 gfx1100)"
    assert ported('set(CMAKE_CUDA_ARCHITECTURES "80" CACHE STRING "a")', archs=archs) == (
        'set(CMAKE_HIP_ARCHITECTURES "gfx942;gfx1100" CACHE STRING "a")'
    )
    assert ported("set_target_properties(a PROPERTIES CUDA_ARCHITECTURES 70)", archs=archs) == (
        'set_target_properties(a PROPERTIES HIP_ARCHITECTURES "gfx942;gfx1100")'
    )


@pytest.mark.parametrize(
    "text",
    [
        "project(x LANGUAGES CUDA",
        'set(A "CUDA',
        "(" * 5000 + "CUDA",
        "if(" + "(" * 3000 + "CUDA" + ")" * 3000 + ")",
        "if(A)\n" * 2000 + "enable_language(CUDA)",
        'execute_process(COMMAND rm -rf "/" CUDA)\ninclude(/etc/passwd)\n',
        "\0project(x CUDA)\xff\xfe",
        "[==[ CUDA ]==] #[[ enable_language(CUDA) ]]",
    ],
)
def test_broken_and_hostile_texts_are_read(text: str) -> None:
    once = ported(text)
    assert ported(once) == once


PIECES = st.sampled_from(
    [
        *(word for kind in ("option", "target", "library", "variable", "property") for word in table()[kind]),
        *"CUDA HIP a.cu b/c.cu *.cu ${S}.cu $<$<COMPILE_LANGUAGE:CUDA>: > 14 80 ON OFF PROPERTIES PROPERTY x".split(),
        *"TARGET LANGUAGES LANGUAGE CACHE REQUIRED OPTIONS APPEND GLOB ${CUDA_NVCC_FLAGS} -arch sm_70".split(),
        *("-gencode", "arch=compute_70,code=sm_70", " ", "\n", "\r\n", '"', ";", ",", "=", "# c\n", "[[", "]]", "\\"),
    ]
)
NAMES = st.sampled_from(
    [
        *table()["command"],
        *"project set list file add_library target_link_libraries set_target_properties set_property if".split(),
        *"message find_package string target_compile_options enable_language cmake_minimum_required".split(),
        "set_source_files_properties",
    ]
)
COMMANDS = st.builds(lambda name, args: f"{name}({' '.join(args)})\n", NAMES, st.lists(PIECES, max_size=6)) | st.lists(
    PIECES, max_size=4
).map("".join)


@settings(max_examples=150, deadline=None)
@given(st.lists(COMMANDS, max_size=5).map("".join), st.booleans(), st.booleans())
@example("set_target_properties(x PROPERTIES CUDA_ARCHITECTURES 14 CUDA_STANDARD 14)", False, False)
@example("cuda_wrap_srcs(x OBJ)\ncuda_wrap_srcs()\n", False, False)
@example("cuda_add_executable(--Wconversion)\n", False, False)
@example("cuda_add_cublas_to_target(-D__CUDA_NO_BFLOAT162_CONVERSIONS__ -Xcompiler --fmax-errors)\n", False, False)
@example("cuda_compile(cudadevrt -fabi-version)\ncuda_compile(CMAKE_CUDA_HOST_COMPILER)\n", False, False)
@example("set(--fdevice-time-trace CCCL::CCCL)\n", False, False)
def test_texts_change_where_findings_say_and_once(text: str, renames: bool, archs: bool) -> None:
    asked: dict[str, Any] = {"archs": ("gfx90a",) if archs else ()}
    if renames:
        asked |= {"renamed": frozenset({"a.cu", "b/c.cu"}), "suffix": ".hip"}
    result = port(text, **asked)
    spans = [(e.start, e.end) for j in result.findings if j.outcome is Outcome.APPLIED for e in j.finding.edits]
    kept = "".join(c for i, c in enumerate(text) if not any(a <= i < b for a, b in spans))
    rest = iter(result.output.decode("latin-1"))
    assert all(c in rest for c in kept)  # what no edit covers stands there in its order
    if not spans:
        assert result.output.decode("latin-1") == text
    if not any(j.outcome is Outcome.CONFLICT for j in result.findings):  # a person was told to finish those
        assert port(result.output.decode("latin-1"), **asked).output == result.output


def test_separate_compilation_of_a_target_without_sources_goes() -> None:
    text = "add_library(a INTERFACE)\nset_target_properties(a PROPERTIES CUDA_SEPARABLE_COMPILATION ON)\n"
    assert ported(text) == "add_library(a INTERFACE)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('set(CUDA_F\n  -Xcudafe "--diag_suppress=1 --diag_suppress=2"\n  -O3)', "set(CUDA_F\n  -O3)"),
        ('set(CUDA_F -Xcompiler "-Wall,-g" -Xptxas "-v -O3" -O3)', 'set(CUDA_F "-Wall" "-g" -O3)'),
        ('set(CUDA_F "-Xcompiler" "-Wall -g" "-Xcompiler" -fPIC)', 'set(CUDA_F "-Wall" "-g" -fPIC)'),
        ('set(F -Xlinker "-rpath,a b")', 'set(F -Xlinker "-rpath,a b")'),
        ('set(CUDA_F -Xlinker "-rpath,a b")', 'set(CUDA_F "-Wl,-rpath,a b")'),
        ('list(APPEND CUDA_NVCC_FLAGS -Xcompiler "-Wall -g" -O3)', 'string(APPEND CMAKE_HIP_FLAGS " -Wall -g -O3")'),
        ("set(CUDA_F $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas -v>)", "set(CUDA_F $<$<COMPILE_LANGUAGE:HIP>:>)"),
        ('set(CUDA_F "-Xcompiler=$<$<AND:$<A>,$<B>>:-Wall,-g>")', 'set(CUDA_F "$<$<AND:$<A>,$<B>>:-Wall;-g>")'),
        (
            'string(REPLACE ";" "," J "${W}")\nset(CUDA_F "-Xcompiler=${J}" -g)',
            'string(REPLACE ";" ";" J "${W}")\nset(CUDA_F "${J}" -g)',
        ),
        (
            'list(JOIN W "," J)\nstring(APPEND CMAKE_CUDA_FLAGS " -Xcompiler ${J}")',
            'list(JOIN W " " J)\nstring(APPEND CMAKE_HIP_FLAGS " ${J}")',
        ),
        (
            'string(REPLACE ";" "," J "${W}")\nset(CUDA_F "${J}")',
            'string(REPLACE ";" "," J "${W}")\nset(CUDA_F "${J}")',
        ),
        (
            "set(m --resource-usage -g)\nadd_compile_options($<$<COMPILE_LANGUAGE:CUDA>:${m}>)",
            "set(m -Rpass-analysis=kernel-resource-usage -g)\nadd_compile_options($<$<COMPILE_LANGUAGE:HIP>:${m}>)",
        ),
        (
            "set(mine --restrict -g)\nadd_compile_options($<$<COMPILE_LANGUAGE:CUDA,CXX>:${mine}>)",
            "set(mine --restrict -g)\nadd_compile_options($<$<COMPILE_LANGUAGE:HIP,CXX>:${mine}>)",
        ),
    ],
)
def test_values_in_arguments_of_their_own(before: str, after: str) -> None:
    assert ported(before) == after


def test_what_only_nvcc_does_is_told() -> None:
    result = port("execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE x)")
    assert "`--list-gpu-arch` stays" in told(result)
    result = port('execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" -o a --run a.cu)')
    assert "`--run` stays" in told(result)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("nvcc --version COMMAND grep release", "${CMAKE_COMMAND} -E echo %s COMMAND grep release"),
        ("${CUDA_NVCC_EXECUTABLE} -V", "${CMAKE_COMMAND} -E echo %s"),
        ("${CMAKE_CUDA_COMPILER} --version", "${CMAKE_COMMAND} -E echo %s"),
        ('sh -c "$ENV{D}/nvcc -V | grep V"', 'sh -c "echo Cuda compilation tools, release 12.6, V12.6.20 | grep V"'),
        ('sh -c "clang --version | grep V"', 'sh -c "clang --version | grep V"'),
    ],
)
def test_who_asks_nvcc_for_its_version_gets_one_of_cudas(before: str, after: str) -> None:
    said = '"Cuda compilation tools, release 12.6, V12.6.20"'
    made = f"execute_process(COMMAND {after} OUTPUT_VARIABLE x)\n".replace("%s", said)
    assert ported(f"execute_process(COMMAND {before} OUTPUT_VARIABLE x)\n") == made


def test_tools_of_nvidias_that_a_build_calls_are_named() -> None:
    text = "execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE x)\nadd_custom_target(t COMMAND cat nvprof)\n"
    result = port(text)
    assert result.output.decode() == text
    assert [j.finding.cuda for j in result.findings] == ["nvidia-smi"]


FLAGS = {  # an option of nvcc as shell words, and what it is for clang
    ("-Xcompiler", "-Wall"): ["-Wall"],
    ("-Xcompiler", "-Wall,-g"): ["-Wall", "-g"],
    ("-Xcompiler", "-fPIC -g"): ["-fPIC", "-g"],
    ("-Xptxas", "-v"): [],
    ("-Xptxas", "-v -O3"): [],
    ("-Xcudafe", "--diag_suppress=1 --display_error_number"): [],
    ("--expt-relaxed-constexpr",): [],
    ("-O3",): ["-O3"],
    ("-lineinfo",): ["-gline-tables-only"],
}
QUOTES = st.booleans()


@st.composite
def written(draw: st.DrawFn) -> tuple[str, list[str]]:
    """An option as arguments of CMake's, and what clang gets of it."""
    words = draw(st.sampled_from(sorted(FLAGS)))
    parts = ["=".join(words)] if " " not in words[-1] and draw(QUOTES) else list(words)
    shown = [f'"{p}"' if " " in p or draw(QUOTES) else p for p in parts]
    return draw(st.sampled_from((" ", "\n    "))).join(shown), FLAGS[words]


@given(st.lists(written(), min_size=1, max_size=5))
def test_any_way_to_write_options_gives_the_same(options: list[tuple[str, list[str]]]) -> None:
    output = ported(f"list(APPEND CUDA_FLAGS {' '.join(text for text, _ in options)} -last)\nset(end)\n")
    first, end = commands(output)[0]
    assert end.words == ("end",)
    words = [w for word in first.words[2:] for w in word.split()]
    assert words == [w for _, wanted in options for w in wanted] + ["-last"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'check_source_compiles(CUDA "\n#include <cuda_fp16.h>\nint main() { cudaFree(0); }" HAS)',
            'check_source_compiles(HIP "\n#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n'
            'int main() { hipFree(0); }" HAS)',
        ),
        (
            "file(WRITE a.txt [=[\n#include <cuda_runtime.h>\n__global__ void k() {}\n]=])\nset(CUDA_A 1)",
            "file(WRITE a.txt [=[\n#include <hip/hip_runtime.h>\n__global__ void k() {}\n]=])\nset(CUDA_A 1)",
        ),
        (
            'check_cxx_source_compiles("#include <nccl.h>\nint main() {}" HAS_CUDA)',
            'check_cxx_source_compiles("#define __HIP_PLATFORM_AMD__ 1\n#include <rccl/rccl.h>\n'
            'int main() {}" HAS_CUDA)',
        ),
        (
            'check_source_compiles(CUDA "#include <cuda.h>\nint main() {}" A)',
            'check_source_compiles(HIP "#include <hip/hip_runtime.h>\nint main() {}" A)',
        ),
        ('message("CUDA: int main() { cudaFree(0); }")', 'message("CUDA: int main() { cudaFree(0); }")'),
        (
            'include(CheckCUDASourceCompiles)\ncheck_cuda_source_compiles("int main() {}" X)',
            'include(CheckSourceCompiles)\ncheck_source_compiles(HIP "int main() {}" X)',
        ),
        (
            "add_definitions(-DCUDA_API_PER_THREAD_DEFAULT_STREAM)\n"
            "add_compile_definitions(__CUDA_NO_HALF_OPERATORS__ CUDA)\n"
            "target_compile_definitions(x PRIVATE CUDA_API_PER_THREAD_DEFAULT_STREAM=1)",
            "add_definitions(-DHIP_API_PER_THREAD_DEFAULT_STREAM)\n"
            "add_compile_definitions(__HIP_NO_HALF_OPERATORS__ CUDA)\n"
            "target_compile_definitions(x PRIVATE HIP_API_PER_THREAD_DEFAULT_STREAM=1)",
        ),
        ('check_source_runs(CUDA "int main() {}" X)', 'check_source_runs(HIP "int main() {}" X)'),
        (
            'get_property(L GLOBAL PROPERTY ENABLED_LANGUAGES)\nif("CUDA" IN_LIST L AND NOT CUDA IN_LIST other)\n'
            'endif()\nlist(FIND L CUDA i)\nif("${L}" MATCHES "CUDA" OR x MATCHES "CUDA")\nendif()',
            'get_property(L GLOBAL PROPERTY ENABLED_LANGUAGES)\nif("HIP" IN_LIST L AND NOT CUDA IN_LIST other)\n'
            'endif()\nlist(FIND L HIP i)\nif("${L}" MATCHES "HIP" OR x MATCHES "CUDA")\nendif()',
        ),
        (
            "include(CheckCUDACompilerFlag)\ncheck_cuda_compiler_flag(-lineinfo X)",
            "include(CheckCompilerFlag)\ncheck_compiler_flag(HIP -gline-tables-only X)",
        ),
    ],
)
def test_programs_and_checks_for_cuda(before: str, after: str) -> None:
    assert ported(before) == after


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("check_include_file_cxx(cuda_runtime.h HAVE_CUDA)", "CU806"),
        ("check_cxx_symbol_exists(cudaMalloc cuda_runtime.h HAVE_CUDA)", "CU806"),
        ("file(READ /usr/local/cuda/version.txt V)", "CU815"),
        ("pkg_check_modules(CUDA cuda-12.2)", "CU817"),
        ('set(CPACK_DEBIAN_PACKAGE_DEPENDS "cuda-cudart-12-2")', "CU817"),
        ("find_package(OpenCV COMPONENTS core cudaarithm)", "CU817"),
        ("set(ENV{CUDAARCHS} 80)", "CU817"),
        ("find_package(cudnn_frontend)", "CU802"),
    ],
)
def test_what_looks_for_cuda_and_finds_none_is_told(line: str, code: str) -> None:
    result = convert(f"{line}\n".encode(), "CMakeLists.txt", Asked("cmake"))
    assert [(j.finding.code, j.outcome) for j in result.findings] == [(code, Outcome.MANUAL)]
    assert result.output.decode() == f"{line}\n"


def test_headers_below_a_folder_of_cudas() -> None:
    text = 'file(STRINGS ${CUDAToolkit_INCLUDE_DIRS}/cuda.h V REGEX "define CUDA_VERSION")\n'
    found = convert(text.encode(), "CMakeLists.txt", Asked("cmake")).findings
    assert "`cuda.h` stays" in " ".join(j.finding.message for j in found)


def test_gpus_for_another_run_of_cmake() -> None:
    text = "ExternalProject_Add(x CMAKE_ARGS -DCMAKE_CUDA_ARCHITECTURES=80 -DCMAKE_CUDA_ARCHITECTURES:STRING=${A})\n"
    one = convert(text.encode(), "CMakeLists.txt", Asked("cmake", archs=("gfx942",))).output.decode()
    assert one == text.replace("CUDA_ARCH", "HIP_ARCH").replace("=80", "=gfx942")
    two = convert(text.encode(), "CMakeLists.txt", Asked("cmake", archs=("gfx90a", "gfx942"))).findings
    assert [j.finding.cuda for j in two if j.outcome is Outcome.MANUAL] == ["80"]


def test_what_a_program_cannot_have_is_told() -> None:
    text = 'check_source_compiles(CUDA "#include <npp.h>\nint main() { cudaDeviceFlushGPUDirectRDMAWrites(a, b); }" X)'
    result = port(text)
    assert "`npp.h` stays" in told(result)
    assert "`cudaDeviceFlushGPUDirectRDMAWrites` stays" in told(result)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("set(CUDA_F -Werror all-warnings -g)", "set(CUDA_F -Werror -g)"),
        ('set(CUDA_F "-Werror" cross-execution-space-call,reorder -g)', "set(CUDA_F -Werror=reorder -g)"),
        ("set(CUDA_F -Werror=cross-execution-space-call,default-stream-launch -g)", "set(CUDA_F -g)"),
        ("set(CUDA_F -Werror -g)", "set(CUDA_F -Werror -g)"),
        ("set(CUDA_F -Wno-error=subobject-linkage -Wno-unused)", "set(CUDA_F -Wno-unused)"),
        ('set(CUDA_F "-Xcompiler=-Wno-class-memaccess,-Wall")', 'set(CUDA_F "-Wall")'),
        ("set(X_FLAGS -Wno-class-memaccess)\nset(CUDA_F 1)", "set(X_FLAGS -Wno-class-memaccess)\nset(CUDA_F 1)"),
        (
            "set(CMAKE_ASM_FLAGS -arch ${CMAKE_OSX_ARCHITECTURES})\nset(CUDA_F 1)",
            "set(CMAKE_ASM_FLAGS -arch ${CMAKE_OSX_ARCHITECTURES})\nset(CUDA_F 1)",
        ),
        ("set(CMAKE_CUDA_FLAGS -O3 -arch ${SM})", "set(CMAKE_HIP_FLAGS -O3)"),
        (
            "execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -DCMAKE_CUDA_FLAGS=${CMAKE_CUDA_FLAGS})",
            "execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -DCMAKE_HIP_FLAGS=${CMAKE_HIP_FLAGS})",
        ),
        (
            'file(WRITE f "" "#include <cuda_runtime.h>\\n" "int main() { cudaFree(0); }")',
            'file(WRITE f "" "#include <hip/hip_runtime.h>\\n" "int main() { hipFree(0); }")',
        ),
        ("find_library(X nccl_static)\nset(CUDA_A 1)", "find_library(X rccl)\nset(CUDA_A 1)"),
    ],
)
def test_what_other_compilers_have_too(before: str, after: str) -> None:
    assert ported(before) == after


@pytest.mark.parametrize(
    "condition",
    [
        'CMAKE_CUDA_ARCHITECTURES MATCHES "90a"',
        '"90" IN_LIST CMAKE_CUDA_ARCHITECTURES',
        '"${CMAKE_CUDA_ARCHITECTURES}" STREQUAL "80"',
    ],
)
def test_a_comparison_with_nvidias_gpus_stays(condition: str) -> None:
    """gfx90a matches 90a."""
    text = f"if({condition})\nendif()\n"
    result = port(text)
    assert result.output.decode() == text
    assert "it is compared with NVIDIA's GPUs" in told(result)
    other = 'if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES OR CMAKE_CUDA_ARCHITECTURES STREQUAL "native")\nendif()\n'
    assert ported(other) == other.replace("CUDA", "HIP")


def test_a_file_with_the_name_of_cmakes_module_may_be_another() -> None:
    text = "macro(find_cuda)\n  find_package(CUDA QUIET)\nendmacro()\n"
    assert "find_package(hip QUIET)" in ported(text, "cmake/FindCUDA.cmake")
    assert ported("set(CUDA_NVCC_FLAGS -G)\n", "cmake/FindCUDA.cmake") == "set(CUDA_NVCC_FLAGS -G)\n"
    own = "enable_language(CUDA)\nfind_library(X NAMES cublas)\n"  # the project's own, which it includes
    assert ported(own, "FindCUDAConf.cmake") == "enable_language(HIP)\nfind_library(X NAMES hipblas)\n"


def test_a_list_of_all_files_is_one_of_sources_where_a_target_takes_it() -> None:
    """set_source_files_properties stops a script that `cmake -P` runs."""
    script = "set(CUDA_X 1)\nfile(GLOB all ${D}/*)\nforeach(f IN LISTS all)\n  file(REMOVE ${f})\nendforeach()\n"
    assert ported(script, cuda_sources=frozenset({"a.cu"})) == script
    build = "set(CUDA_X 1)\nfile(GLOB all src/*)\nadd_library(x ${all})\n"
    assert "LANGUAGE HIP" in ported(build, cuda_sources=frozenset({"src/a.cu"}))


def test_a_standard_of_all_sources_is_new_enough_for_hip() -> None:
    """FindCUDA gave such flags to none of CUDA's sources; they stand behind CMAKE_HIP_FLAGS."""
    flags = (
        "add_definitions(-std=c++11 -DA)\nadd_compile_options(-Wall -std=c99 $<$<COMPILE_LANGUAGE:CXX>:-std=c++11>)\n"
    )
    new = flags.replace("-std=c++11 ", "-std=c++17 ")
    assert ported(f"find_package(CUDA)\n{flags}").endswith(new)
    assert ported(f"cuda_add_library(a a.cu)\n{flags}").endswith(new)
    assert ported(f"find_package(CUDA)\nset(CMAKE_CUDA_STANDARD 17)\n{flags}").endswith(flags)
    assert ported(f"if(CUDA_FOUND)\nendif()\n{flags}").endswith(flags)


@pytest.mark.parametrize("value", ["/usr/local/cuda/bin/nvcc", "${CUDAToolkit_NVCC_EXECUTABLE}", "nvcc"])
def test_nvcc_is_not_the_compiler_of_hip(value: str) -> None:
    assert (
        ported(f'set(CMAKE_CUDA_COMPILER {value} CACHE STRING "")\nenable_language(CUDA)\n') == "enable_language(HIP)\n"
    )
    assert ported("set(CMAKE_CUDA_COMPILER clang++)\n") == "set(CMAKE_HIP_COMPILER clang++)\n"


def test_a_package_that_a_module_of_the_tree_finds_keeps_its_name() -> None:
    text = "find_package(CUDAToolkit REQUIRED)\nfind_package(NCCL)\n"
    assert "find_package(rccl)" in ported(text)
    assert "find_package(NCCL)" in ported(text, modules=frozenset({"NCCL", "CUDAToolkit"}))
    assert "find_package(hip REQUIRED)" in ported(text, modules=frozenset({"NCCL", "CUDAToolkit"}))


def test_a_static_target_by_a_variable_is_the_one_that_rocm_has() -> None:
    text = "target_link_libraries(x CUDA::cublas${static} CUDA::cudart)"
    assert ported(text) == "target_link_libraries(x roc::hipblas hip::host)"


@pytest.mark.parametrize("name", ["App5.4_linux64", "${PROJECT_NAME}_test", "a+b", "test_CUDA"])
def test_a_target_of_findcuda_links_the_runtime_whatever_its_name(name: str) -> None:
    found = ported(f"find_package(CUDA)\ncuda_add_executable({name} a.cpp)\n")
    assert found.endswith(f"add_executable({name} a.cpp)\ntarget_link_libraries({name} hip::host)\n")


def test_whether_a_package_was_found_is_the_trees_where_it_sets_that() -> None:
    text = "# CUDA\nif(NCCL_FOUND)\nendif()\n"
    assert b"rccl_FOUND" in port(text).output
    assert port(text, known=frozenset({"NCCL_FOUND"})).output == text.encode()
    assert port(text, modules=frozenset({"NCCL"})).output == text.encode()


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["if(A)", "elseif()", "ELSEIF ( )", "else()", "endif()", "endforeach(x)",
                                 "function(f x)", "endfunction()", "macro()", "# a (", "#[[ if( ]]",
                                 "while(NOT (B))"])))  # fmt: skip
@example(["if(A)", "elseif ()", "endif()"])
def test_commands_are_read_whatever_blocks_are_around_them(blocks: list[str]) -> None:
    """CMake complains about a block when it comes there; the parser read nothing of such a file."""
    text = "".join(f"{block}\n  enable_language(CUDA)\n" for block in blocks)
    found, unparsed = commands(text)
    assert [c.name for c in found].count("enable_language") == len(blocks)
    assert unparsed == ""
    assert ported(text) == text.replace("CUDA", "HIP")


def test_what_cannot_be_parsed_is_told() -> None:
    text = 'project(x LANGUAGES CXX)\n# find_package(CUDA)\nenable_language(CUDA)\nset(A "\nfind_package(CUDA)\n'
    result = port(text)
    assert "enable_language(HIP)" in result.output.decode()
    (left,) = [j.finding for j in result.findings if j.finding.code == "CU817"]
    assert left.message.startswith("names FindCUDA or the toolkit in text that cannot be parsed; write ")
    assert text[left.start :].startswith("find_package(CUDA)\n")


ABOVE = (
    "get_directory_property(HIP_SCOPE PARENT_DIRECTORY)\nwhile(HIP_SCOPE)\n"
    "  set_source_files_properties({} DIRECTORY ${{HIP_SCOPE}} PROPERTIES LANGUAGE HIP)\n"
    "  get_directory_property(HIP_SCOPE DIRECTORY ${{HIP_SCOPE}} PARENT_DIRECTORY)\nendwhile()\n"
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('set(m_SRC\n  src/a.cu\n  b.c)\nset(m_SRC "${m_SRC}" PARENT_SCOPE)\n', "src/a.cu"),
        ("set(m_SRC a.c)\nlist(APPEND m_SRC b.cu)\nset(ALL ${m_SRC} c.cu PARENT_SCOPE)\n", "b.cu c.cu"),
        ("set(m_SRC sub/a.cu PARENT_SCOPE)\n", "a.cu"),
    ],
)
def test_lists_for_the_folder_above_are_marked_there(text: str, names: str) -> None:
    """A property of a source counts in the folder where it is set; CMake drops sources without a language, silently."""
    after = port(text, folder="top/sub").output.decode()
    assert ABOVE.format(names) + text[text.rindex("set(") :] == after[after.index("get_directory_property") :]
    assert port(after, folder="top/sub").output.decode() == after
    assert "DIRECTORY" not in port(text).output.decode()  # of the root: there is none above


def test_lists_for_who_calls_a_function_are_of_the_same_folder() -> None:
    text = "function(f)\n  set(X a.cu PARENT_SCOPE)\nendfunction()\n"
    assert "DIRECTORY" not in port(text, folder="sub").output.decode()


def test_sources_for_a_target_of_another_file_are_marked_where_it_is() -> None:
    text = "add_library(mine b.c)\ntarget_sources(mine PRIVATE a.cu)\ntarget_sources(theirs PRIVATE c.cu)\n"
    assert port(text, folder="sub").output.decode() == (
        "add_library(mine b.c)\nset_source_files_properties(a.cu PROPERTIES LANGUAGE HIP)\n"
        "target_sources(mine PRIVATE a.cu)\n"
        "set_source_files_properties(c.cu TARGET_DIRECTORY theirs PROPERTIES LANGUAGE HIP)\n"
        "target_sources(theirs PRIVATE c.cu)\n"
    )


def test_gpus_that_are_appended_become_those_of_arch() -> None:
    """Each branch has them, and a second line of the same branch goes."""
    text = (
        "if(A)\n  list(APPEND CMAKE_CUDA_ARCHITECTURES 70)\n  list(APPEND CMAKE_CUDA_ARCHITECTURES 80)\n"
        'else()\n  message("x")\n  list(APPEND CMAKE_CUDA_ARCHITECTURES 80)\nendif()\n'
    )
    assert port(text, archs=("gfx942",)).output.decode() == (
        'if(A)\n  set(CMAKE_HIP_ARCHITECTURES gfx942)\nelse()\n  message("x")\n'
        "  set(CMAKE_HIP_ARCHITECTURES gfx942)\nendif()\n"
    )
    assert "HIP" not in port(text).output.decode()
