from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_CALLS = tuple(
    f"{begin}{name}"
    for begin in ("cublas", "hipblas")
    for name in ("GemmEx", "GemmBatchedEx", "GemmStridedBatchedEx", "GemmEx_64")
)
_BYTES = ("CUDA_R_8I", "HIP_R_8I")
_FLOATS = ("CUDA_R_32F", "HIP_R_32F")


class GemmInt8(Check):
    """A product of 8-bit integers gives floating point numbers: `cublasGemmEx` with CUDA_R_8I and CUDA_R_32F.

    cuBLAS has this form, rocBLAS has not: the call returns HIPBLAS_STATUS_NOT_SUPPORTED and writes nothing. Let it
    compute 32-bit integers (`HIP_R_32I`, `HIPBLAS_COMPUTE_32I`), and convert these.
    """

    code, name = "CU719", "gemm-int8"
    triggers = frozenset(_CALLS)
    minutes = 30
    _BEFORE = "gemm(h, o, o, 1, 1, 1, &a, x, CUDA_R_8I, 1, y, CUDA_R_8I, 1, &b, c, CUDA_R_32F, 1, t, g);"
    examples = (
        Example(
            f"cublasGemmEx{_BEFORE[4:]}",
            f"hipblasGemmEx{_BEFORE[4:].replace('CUDA', 'HIP')}",
        ),
        Example(
            f"cublasGemmEx{_BEFORE[4:].replace('CUDA_R_32F', 'CUDA_R_32I')}",
            note="32-bit integers",
        ),
        Example(f"cublasGemmEx{_BEFORE[4:].replace('CUDA_R_8I', 'CUDA_R_16F')}", note="halves"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_CALLS):
            call = unit.call(i)
            if call is None:
                continue
            words = [unit.text[a.start : a.end] for a in call.args]
            if any(w in words for w in _BYTES) and any(w in words for w in _FLOATS):
                yield self.finding(
                    f"`{unit.t[i]}` of 8-bit integers into floats is not supported by rocBLAS",
                    unit.p[i],
                    unit.end(i),
                    effects=(("all", "wrong-result"),),
                )
