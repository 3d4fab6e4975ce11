from __future__ import annotations

from collections.abc import Iterator

from cu2port.branches import comparison, has_hip_branch, tested_defined
from cu2port.check import Check, Example
from cu2port.model import Finding, Severity, Side, Trust, insert
from cu2port.unit import Unit

_VERSIONS = frozenset(
    "CUDA_VERSION CUDART_VERSION CUDNN_VERSION CUDNN_MAJOR CUDNN_MINOR CUB_VERSION CUSPARSE_VERSION CUSOLVER_VERSION "
    "CUBLAS_VERSION CUFFT_VERSION CURAND_VERSION CUTENSOR_VERSION NVML_API_VERSION CUPTI_API_VERSION NVTX_VERSION "
    "__CUDACC_VER_MAJOR__ __CUDACC_VER_MINOR__ __CUDACC_VER_BUILD__ __CUDA_API_VERSION CUBLAS_VER_MAJOR "
    "CUSPARSE_VER_MAJOR CUSPARSE_VER_MINOR CUSOLVER_VER_MAJOR CUFFT_VER_MAJOR CURAND_VER_MAJOR".split()
)


class CudaVersion(Check):
    """A version of CUDA or of its compiler or libraries is asked for.

    HIP numbers its versions in another way, so the macro is never renamed. Under HIP it is undefined and counts as 0:
    a guard `CUDA_VERSION >= 9000` would quietly choose the code for CUDA 8. Comparisons are completed, so that HIP
    counts as newer than any version asked for; everything else is left for a person.
    """

    code, name, severity = "CU206", "cuda-version", Severity.WARNING
    examples = (
        Example(
            "#if CUDART_VERSION >= 9000\nint x;\n#endif\n",
            "#if (!defined(CUDART_VERSION) || CUDART_VERSION >= 9000)\nint x;\n#endif\n",
        ),
        Example(
            "#if A && CUDA_VERSION < 12000\nint x;\n#endif\n",
            "#if A && (defined(CUDA_VERSION) && CUDA_VERSION < 12000)\nint x;\n#endif\n",
        ),
        Example(
            "int f() { return CUDART_VERSION; }",
            "int f() { return CUDART_VERSION; }",
            "its value is used",
        ),
        Example("#define V CUDA_VERSION\n", "#define V CUDA_VERSION\n", "in a macro body"),
        Example("SHOW(CUDA_VERSION)", "SHOW(CUDA_VERSION)", "as a macro's argument"),
        Example("int MY_CUDA_VERSION;", note="another name"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_VERSIONS):
            tok = unit.t[i]
            if has_hip_branch(unit, i):
                continue
            if tested_defined(unit, i):
                if not _completed(unit, i):
                    yield self.finding(
                        f"`{tok}` is not defined by HIP",
                        unit.p[i],
                        unit.end(i),
                        cuda=tok,
                        effects=(("all", "wrong-result"),),
                    )
                continue
            found = comparison(unit, i)
            if found is None or found.op in ("==", "!="):
                d = unit.in_directive(i)
                if d is not None and d.keyword == "define" and i == d.first + 2:
                    continue
                yield self.finding(
                    f"`{tok}` is not defined by HIP, whose versions count differently",
                    unit.p[i],
                    unit.end(i),
                    cuda=tok,
                    effects=(("all", "compile-error" if d is None else "wrong-result"),),
                )
            elif not _completed(unit, i):
                newer = found.op in (">", ">=")
                before = f"(!defined({tok}) || " if newer else f"(defined({tok}) && "
                yield self.finding(
                    f"`{unit.text[found.start : found.end]}`: under HIP the macro counts as 0; completed so that HIP "
                    "counts as newer",
                    found.start,
                    found.end,
                    (insert(found.start, before), insert(found.end, ")", Side.LEFT)),
                    trust=Trust.REVIEW,
                    cuda=tok,
                    effects=(("all", "wrong-result"),),
                )


def _completed(unit: Unit, i: int) -> bool:
    """Whether the directive already asks for the macro's definedness beside its value."""
    d = unit.in_directive(i)
    if d is None:
        return False
    words = unit.t[d.first + 2 : d.stop]
    return "defined" in words and words.count(unit.t[i]) >= 2
