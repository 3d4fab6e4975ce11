from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.hipcode import asks_for_hip
from cu2port.facts.unit import Unit

_GUARDS = {
    "__CUDA_RUNTIME_H__": "HIP_INCLUDE_HIP_HIP_RUNTIME_H",
    "__CUDA_RUNTIME_API_H__": "HIP_INCLUDE_HIP_HIP_RUNTIME_API_H",
    "__DRIVER_TYPES_H__": "HIP_INCLUDE_HIP_DRIVER_TYPES_H",
    "__cuda_cuda_h__": "HIP_INCLUDE_HIP_HIP_RUNTIME_API_H",
    "__CUDA_FP16_H__": "HIP_INCLUDE_HIP_HIP_FP16_H",
    "__CUDA_BF16_H__": "HIP_INCLUDE_HIP_HIP_BF16_H",
    "CU_COMPLEX_H_": "HIP_INCLUDE_HIP_HIP_COMPLEX_H",
    "CUBLAS_H_": "HIPBLAS_H",
    "CUBLAS_V2_H_": "HIPBLAS_H",
    "CUBLAS_API_H_": "HIPBLAS_H",
    "_CUFFT_H_": "HIPFFT_H_",
    "CURAND_H_": "HIPRAND_H_",
    "CURAND_KERNEL_H_": "HIPRAND_KERNEL_H_",
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
    triggers = frozenset(_GUARDS)
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
        Example("#if defined(CURAND_H_)\n#elif defined(__HIPCC__)\n#endif\n", note="there is a branch for HIP already"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_GUARDS):
            name = unit.t[i]
            hip = _GUARDS[name]
            d = unit.in_directive(i)
            if d is None or d.keyword not in _CONDITIONS or name in unit.macros:
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
