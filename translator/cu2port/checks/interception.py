from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.late import regex
from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

#: What nvcc calls in host code of its own -> what clang calls for HIP.
_COMPILERS = {
    "__cudaRegisterFatBinary": "__hipRegisterFatBinary",
    "__cudaRegisterFatBinaryEnd": "",
    "__cudaUnregisterFatBinary": "__hipUnregisterFatBinary",
    "__cudaRegisterFunction": "__hipRegisterFunction",
    "__cudaRegisterVar": "__hipRegisterVar",
    "__cudaRegisterManagedVar": "__hipRegisterManagedVar",
    "__cudaRegisterTexture": "__hipRegisterTexture",
    "__cudaRegisterSurface": "__hipRegisterSurface",
    "__cudaPushCallConfiguration": "__hipPushCallConfiguration",
    "__cudaPopCallConfiguration": "__hipPopCallConfiguration",
    "__cudaInitModule": "",
}
_LOOKS_UP = regex(r"\bdlv?sym\s*\(\s*RTLD_NEXT\b")
_RUNTIME = regex(r"(?:cuda|cu)[A-Z]\w+\Z")


class Interception(Check):
    """A library takes the place of functions that the compiler's own host code calls, or of the runtime's.

    nvcc registers kernels by `__cudaRegisterFatBinary` and its kin; clang calls `__hipRegisterFatBinary` and the like
    for HIP, with other structures behind the pointers (`__CudaFatBinaryWrapper` holds a bundle of code objects), and a
    launch calls `hipLaunchKernel`. What is defined under CUDA's name is never called. Where HIP has the same function,
    write its name, and compare the parameters with clang's; the functions without one are not called for HIP.
    """

    code, name = "CU607", "interception"
    minutes = 60
    examples = (
        Example(
            'extern "C" void** __cudaRegisterFatBinary(void* fat) { return next(fat); }',
            'extern "C" void** __cudaRegisterFatBinary(void* fat) { return next(fat); }',
        ),
        Example(
            'cudaError_t cudaMalloc(void** p, size_t n) { return ((F)dlsym(RTLD_NEXT, "cudaMalloc"))(p, n); }',
            'hipError_t cudaMalloc(void** p, size_t n) { return ((F)dlsym(RTLD_NEXT, "cudaMalloc"))(p, n); }',
            "a function of the runtime, for LD_PRELOAD",
            findings=1,
        ),
        Example('const char* s = "__cudaRegisterFatBinary";', note="a text"),
        Example("cudaError_t cudaMalloc(void** p, size_t n) { return mine(p, n); }", note="for builds without CUDA"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_COMPILERS):
            hip = _COMPILERS[unit.t[i]]
            yield self.finding(
                f"`{unit.t[i]}` is not called for HIP" + (f": clang calls `{hip}`" if hip else ""),
                unit.p[i],
                unit.end(i),
                effects=(("all", "wrong-result"),),
            )
        if "RTLD_NEXT" not in unit.words:
            return
        for f in unit.functions:
            if _RUNTIME.match(f.name) and unit.catalog.get(f.name) is not None and f.name in unit.words:
                if not _LOOKS_UP.search(unit.text, unit.p[f.body[0]], unit.end(f.body[1])):
                    continue
                row = unit.catalog.get(f.name)
                hip = row.hip if row is not None else ""
                yield self.finding(
                    f"`{f.name}` takes the place of the runtime's function; HIP programs call `{hip}`",
                    unit.p[f.name_at],
                    unit.end(f.name_at),
                    effects=(("all", "wrong-result"),),
                )
