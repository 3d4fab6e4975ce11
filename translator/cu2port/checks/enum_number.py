from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Trust, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

# What the numbers 0, 1, ... of an enumeration are called, where HIP's numbers are others.
_NAMES = {
    "cublasDiagType_t": ("CUBLAS_DIAG_NON_UNIT", "CUBLAS_DIAG_UNIT"),
    "cublasFillMode_t": ("CUBLAS_FILL_MODE_LOWER", "CUBLAS_FILL_MODE_UPPER"),
    "cublasOperation_t": ("CUBLAS_OP_N", "CUBLAS_OP_T", "CUBLAS_OP_C"),
    "cublasSideMode_t": ("CUBLAS_SIDE_LEFT", "CUBLAS_SIDE_RIGHT"),
    "cudnnDataType_t": ("CUDNN_DATA_FLOAT", "CUDNN_DATA_DOUBLE", "CUDNN_DATA_HALF", "CUDNN_DATA_INT8"),
    "cusolverEigMode_t": ("CUSOLVER_EIG_MODE_NOVECTOR", "CUSOLVER_EIG_MODE_VECTOR"),
}
_MANY = frozenset(
    "CUdevice_P2PAttribute CUdevice_attribute cublasGemmAlgo_t cublasStatus_t cudaDeviceAttr cudaDeviceP2PAttr "
    "cudnnActivationMode_t cudnnStatus_t cusolverEigType_t cusolverStatus_t".split()
)
_AFTER = frozenset(", ; ) } :".split())  # a converted number
_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*\Z")


class EnumNumber(Check):
    """A number is made a value of an enumeration whose numbers are others in HIP: `(cublasOperation_t)1`.

    It compiles and names another value or none: `(cudaDeviceAttr)16` asks for the number of multiprocessors in CUDA and
    for something else in HIP. Numbers from 0 of the small enumerations of cuBLAS, cuDNN and cuSOLVER become the names;
    write the name where there are many. Numbers that a program keeps in variables or files are not seen.
    """

    code, name = "CU721", "enum-number"
    triggers = frozenset(_NAMES) | _MANY
    minutes = 5
    examples = (
        Example("auto o = (cublasOperation_t)1;", "auto o = (hipblasOperation_t)HIPBLAS_OP_T;"),
        Example(
            "auto o = static_cast<cublasFillMode_t>(0);",
            "auto o = static_cast<hipblasFillMode_t>(HIPBLAS_FILL_MODE_LOWER);",
        ),
        Example("auto o = cusolverEigMode_t(1);", "auto o = hipsolverEigMode_t(HIPSOLVER_EIG_MODE_VECTOR);"),
        Example(
            "cudaDeviceGetAttribute(&v, (cudaDeviceAttr)16, 0);",
            "hipDeviceGetAttribute(&v, (hipDeviceAttribute_t)16, 0);",
        ),
        Example(
            "#define TRANSPOSED static_cast<cublasOperation_t>(1)",
            "#define TRANSPOSED static_cast<hipblasOperation_t>(HIPBLAS_OP_T)",
            note="in a macro body",
        ),
        Example(
            "CHECK(set(handle, cublasSideMode_t{1}));",
            "CHECK(set(handle, hipblasSideMode_t{HIPBLAS_SIDE_RIGHT}));",
            note="as a macro's argument",
        ),
        Example("auto o = (cublasOperation_t)n;", note="a variable, which may hold the name's number"),
        Example("#include <cublas_v2.h>\nauto s = (cublasStatus_t)0;", note="success, which is 0 in HIP too"),
        Example("auto k = (cudaMemcpyKind)1;", note="the same number in HIP"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*self.triggers):
            at = _operand(unit, i)
            if at is None or not _NUMBER.match(unit.tok(at)):
                continue
            text = unit.tok(at)
            names = _NAMES.get(unit.t[i], ())
            value = int(text.rstrip("uUlL") or "0", 0) if not re.match(r"0[0-9]", text) else len(names)
            if value == 0 and unit.t[i].endswith("Status_t"):
                continue  # success is 0 everywhere
            row = unit.catalog.get(names[value]) if value < len(names) else None
            edits = (replace(unit.p[at], unit.end(at), row.hip),) if row is not None else ()
            yield self.finding(
                f"{text} is another value of `{unit.t[i]}` in HIP",
                unit.p[at],
                unit.end(at),
                edits=edits,
                trust=Trust.EXACT,
                cuda=unit.t[i],
                effects=(("all", "wrong-result"),),
            )


def _operand(unit: Unit, i: int) -> int | None:
    """The one token that is converted to the type at token i; None if it is not written so."""
    tok = unit.tok
    before = i - 1 if tok(i - 1) in ("(", "<") else i - 2  # behind `enum`
    if tok(i + 1) == ")":  # (T)1, (enum T)1
        return i + 2 if tok(before) == "(" and tok(i + 3) in _AFTER else None
    k = i + 2 if tok(i + 1) == ">" and tok(before) == "<" else i + 1  # static_cast<T>(1)
    return k + 1 if tok(k) in ("(", "{") and tok(k + 2) in (")", "}") else None
