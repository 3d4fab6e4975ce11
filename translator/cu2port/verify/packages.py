"""CMake packages of ROCm, as `find_package` finds them: the names of their targets, for trees without ROCm.

The names are those that ROCm's own packages export (`rocm_export_targets` in each library's CMakeLists.txt, and
hip-config.cmake). A stub has the targets, their headers and empty libraries, so CMake configures and compilers run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

HOST = "hip::host"
DEVICE = "hip::device"  # it compiles C++ as HIP


@dataclass(frozen=True, slots=True)
class Package:
    """A package: `targets` are what it exports, the first is the library itself; `library` is the name that a linker
    has for it, "" for headers alone; `needs` is the target of HIP's that comes with it."""

    name: str
    targets: tuple[str, ...]
    library: str = ""
    needs: str = HOST


PACKAGES: tuple[Package, ...] = (
    Package("amd_comgr", ("amd_comgr",), "amd_comgr", ""),
    Package("amd_smi", ("amd_smi",), "amd_smi", ""),
    Package("hip", ("hip::amdhip64", HOST, DEVICE), "amdhip64", ""),
    Package("hipblas", ("roc::hipblas",), "hipblas"),
    Package("hipblaslt", ("roc::hipblaslt",), "hipblaslt"),
    Package("hipcub", ("hip::hipcub",), "", DEVICE),
    Package("hipfft", ("hip::hipfft",), "hipfft"),
    Package("hiprand", ("hip::hiprand",), "hiprand"),
    Package("hiprtc", ("hiprtc::hiprtc",), "hiprtc"),
    Package("hipsolver", ("roc::hipsolver",), "hipsolver"),
    Package("hipsparse", ("roc::hipsparse",), "hipsparse"),
    Package("hipsparselt", ("roc::hipsparselt",), "hipsparselt"),
    Package("hiptensor", ("hiptensor::hiptensor",), "hiptensor"),
    Package("hsa-runtime64", ("hsa-runtime64::hsa-runtime64",), "hsa-runtime64", ""),
    Package("miopen", ("MIOpen",), "MIOpen"),
    Package("rccl", ("roc::rccl",), "rccl"),
    Package("rocblas", ("roc::rocblas",), "rocblas"),
    Package("rocfft", ("roc::rocfft",), "rocfft"),
    Package("rocprim", ("roc::rocprim", "roc::rocprim_hip"), "", DEVICE),
    Package("rocrand", ("roc::rocrand",), "rocrand"),
    Package("rocsolver", ("roc::rocsolver",), "rocsolver"),
    Package("rocsparse", ("roc::rocsparse",), "rocsparse"),
    Package("rocthrust", ("roc::rocthrust",), "", DEVICE),
    Package("rocwmma", ("roc::rocwmma",), "", DEVICE),
    Package("roctracer", (), "roctracer64", ""),
    Package("roctx", (), "roctx64", ""),
)
_ROOT = 'get_filename_component(_cu2port_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)\n'
_TARGET = """if(NOT TARGET {target})
  add_library({target} INTERFACE IMPORTED)
  set_target_properties({target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${{_cu2port_root}}/include")
{more}endif()
"""
_PROPERTY = '  set_property(TARGET {target} APPEND PROPERTY {name} "{value}")\n'
_LINKED = "-Wl,--unresolved-symbols=ignore-all"  # the libraries are empty
_VERSION = """set(PACKAGE_VERSION "{version}")
set(PACKAGE_VERSION_COMPATIBLE TRUE)
if(PACKAGE_FIND_VERSION STREQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
"""


def configs(version: str) -> Iterator[tuple[str, str]]:
    """The files of all stub packages: their paths below `lib/cmake`, and their texts. `version`: HIP's."""
    for package in PACKAGES:
        if package.targets:
            yield f"{package.name}/{package.name}-config.cmake", config(package)
            yield f"{package.name}/{package.name}-config-version.cmake", _VERSION.format(version=version)
    yield "hip-lang/hip-lang-config.cmake", hip_lang()
    yield "hip-lang/hip-lang-config-version.cmake", _VERSION.format(version=version)


def config(package: Package) -> str:
    """A package's configuration, as find_package reads it."""
    out = [_ROOT]
    if package.name != "hip" and package.needs:
        out.append('include("${CMAKE_CURRENT_LIST_DIR}/../hip/hip-config.cmake")\n')
    for target in package.targets:
        out.append(_target(target, package))
    names = dict.fromkeys((package.name, package.name.upper()))
    for name in names:
        out.append(f"set({name}_FOUND TRUE)\n" if name != package.name else "")
        out.append(f'set({name}_INCLUDE_DIR "${{_cu2port_root}}/include")\n')
        out.append(f'set({name}_INCLUDE_DIRS "${{_cu2port_root}}/include")\n')
        out.append(f"set({name}_LIBRARIES {';'.join(package.targets[:1])})\n")
        if package.name == "hip":
            out.append(f'set({name}_LIB_INSTALL_DIR "${{_cu2port_root}}/lib")\n')
            out.append(f'set({name}_BIN_INSTALL_DIR "${{_cu2port_root}}/bin")\n')
            out.append(f'set({name}_HIPCC_EXECUTABLE "${{_cu2port_root}}/bin/hipcc")\n')
    return "".join(out)


def hip_lang() -> str:
    """What CMake's language HIP asks for: the runtime that it links to each target with sources in HIP."""
    out = [_ROOT]
    for name in ("amdhip64", "host", "device"):
        target = f"hip-lang::{name}"
        more = _links(target, "${_cu2port_root}/lib/libamdhip64.so")
        if name == "device":
            value = "$<$<LINK_LANGUAGE:HIP>:--hip-link>"
            more += _PROPERTY.format(target=target, name="INTERFACE_LINK_OPTIONS", value=value)
        out.append(_TARGET.format(target=target, more=more))
    return "".join([*out, 'set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET "hip-lang::device")\n'])


def _target(target: str, package: Package) -> str:
    more = ""
    if package.library:
        more += _links(target, f"${{_cu2port_root}}/lib/lib{package.library}.so")
    if package.needs:
        more += _PROPERTY.format(target=target, name="INTERFACE_LINK_LIBRARIES", value=package.needs)
    if target in (HOST, DEVICE):
        more += _PROPERTY.format(target=target, name="INTERFACE_COMPILE_DEFINITIONS", value="__HIP_PLATFORM_AMD__=1")
    if target == DEVICE:
        value = "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-x hip>"
        more += _PROPERTY.format(target=target, name="INTERFACE_COMPILE_OPTIONS", value=value)
    return _TARGET.format(target=target, more=more)


def _links(target: str, library: str) -> str:
    return _PROPERTY.format(target=target, name="INTERFACE_LINK_LIBRARIES", value=library) + _PROPERTY.format(
        target=target, name="INTERFACE_LINK_OPTIONS", value=_LINKED
    )
