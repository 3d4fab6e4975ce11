from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.hipcode import asks_for_hip
from cu2port.facts.unit import Unit

#: the macros that guard CUDA's headers, with those of HIP's
GUARDS = {
    "__CUDA_RUNTIME_H__": "HIP_INCLUDE_HIP_HIP_RUNTIME_H",
    "__CUDA_RUNTIME_API_H__": "HIP_INCLUDE_HIP_HIP_RUNTIME_API_H",
    "__DRIVER_TYPES_H__": "HIP_INCLUDE_HIP_DRIVER_TYPES_H",
    "__cuda_cuda_h__": "HIP_INCLUDE_HIP_HIP_RUNTIME_API_H",
    "__CUDA_FP16_H__": "HIP_INCLUDE_HIP_HIP_FP16_H",
    "__CUDA_BF16_H__": "HIP_INCLUDE_HIP_HIP_BF16_H",
    "__CHANNEL_DESCRIPTOR_H__": "HIP_INCLUDE_HIP_CHANNEL_DESCRIPTOR_H",
    "__CUDA_GL_INTEROP_H__": "HIP_GL_INTEROP_H",
    "__DEVICE_LAUNCH_PARAMETERS_H__": "HIP_INCLUDE_HIP_HIP_RUNTIME_H",
    "__HOST_DEFINES_H__": "HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H",
    "__LIBRARY_TYPES_H__": "HIP_INCLUDE_HIP_LIBRARY_TYPES_H",
    "__SURFACE_TYPES_H__": "HIP_INCLUDE_HIP_SURFACE_TYPES_H",
    "__TEXTURE_TYPES_H__": "HIP_INCLUDE_HIP_TEXTURE_TYPES_H",
    "__VECTOR_FUNCTIONS_HPP__": "HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H",
    "__VECTOR_FUNCTIONS_H__": "HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H",
    "__VECTOR_TYPES_H__": "HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H",
    "_COOPERATIVE_GROUPS_H_": "HIP_INCLUDE_HIP_HIP_COOPERATIVE_GROUP_H",
    "CU_COMPLEX_H_": "HIP_INCLUDE_HIP_HIP_COMPLEX_H",
    "CUBLAS_H_": "HIPBLAS_H",
    "CUBLAS_V2_H_": "HIPBLAS_H",
    "CUBLAS_API_H_": "HIPBLAS_H",
    "_CUFFT_H_": "HIPFFT_H_",
    "CURAND_H_": "HIPRAND_H_",
    "CURAND_KERNEL_H_": "HIPRAND_KERNEL_H_",
    "CUSOLVERDN_H_": "HIPSOLVER_H",
    "CUSOLVER_COMMON_H_": "HIPSOLVER_H",
    "CUSPARSE_H_": "HIPSPARSE_H",
    "CUSPARSEAPI": "HIPSPARSE_H",  # its header defines it: the CUDA samples ask for this one
}
_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"})


class HeaderGuard(Check):
    """A condition asks whether one of CUDA's headers was included, by the macro that guards it.

    With HIP's headers that macro is never defined, so what depends on it would silently go (`checkCudaErrors` of the
    CUDA samples does). The guard of the HIP header that takes the other's place is asked for instead.
    """

    code, name, severity = "CU219", "header-guard", Severity.INFO
    triggers = frozenset(GUARDS)
    examples = (
        Example(
            "#ifdef __DRIVER_TYPES_H__\nint x;\n#endif\n",
            "#ifdef HIP_INCLUDE_HIP_DRIVER_TYPES_H\nint x;\n#endif\n",
        ),
        Example(
            "#if defined(_CUFFT_H_) || A\nint x;\n#endif\n",
            "#if defined(HIPFFT_H_) || A\nint x;\n#endif\n",
            "one of several conditions",
        ),
        Example("#ifdef CUSPARSEAPI\nint x;\n#endif\n", "#ifdef HIPSPARSE_H\nint x;\n#endif\n", "not the guard itself"),
        Example("#ifndef CURAND_H_\n#define CURAND_H_\n#endif\n", note="the file's own guard"),
        Example(
            "int y;\n#ifndef __VECTOR_TYPES_H__\n#define __VECTOR_TYPES_H__\nstruct int2 { int x, y; };\n#endif\n",
            "int y;\n#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H\n#define __VECTOR_TYPES_H__\n"
            "struct int2 { int x, y; };\n#endif\n",
            "types in place of a header that was not included",
        ),
        Example("#if defined(CURAND_H_)\n#elif defined(__HIPCC__)\n#endif\n", note="there is a branch for HIP already"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*GUARDS):
            name = unit.t[i]
            hip = GUARDS[name]
            d = unit.in_directive(i)
            if d is None or d.keyword not in _CONDITIONS or (name in unit.macros and _guards_all(unit, name)):
                continue
            if asks_for_hip(unit, i):
                continue
            yield self.finding(
                f"`{name}` is defined by a CUDA header; `{hip}` by the HIP header that takes its place",
                d.start,
                unit.end(i),
                (replace(unit.p[i], unit.end(i), hip),),
                cuda=name,
                hip=hip,
            )


def _guards_all(unit: Unit, name: str) -> bool:
    """Whether a macro guards the file itself: its first condition tests it, and nothing is outside of it."""
    first = next((d for d in unit.directives if d.keyword != "pragma"), None)
    if first is None or name not in unit.t[first.first : first.stop]:
        return False
    last = unit.directives[-1]
    begins = first.first == 0 or (first.first == 3 and unit.t[:3] == ["#", "pragma", "once"])
    return begins and last.keyword == "endif" and last.stop >= len(unit.t)
