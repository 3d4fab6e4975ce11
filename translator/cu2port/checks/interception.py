from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog.api import api_facts
from cu2port.core.late import regex
from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.facts.conditionals import Nested
from cu2port.facts.structure import Function
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
    """A library takes the place of functions that the compiler's own host code calls, or of NVIDIA's libraries.

    nvcc registers kernels by `__cudaRegisterFatBinary` and its kin; clang calls `__hipRegisterFatBinary` and the like
    for HIP, with other structures behind the pointers (`__CudaFatBinaryWrapper` holds a bundle of code objects), and a
    launch calls `hipLaunchKernel`. What is defined under CUDA's name is never called. Where HIP has the same function,
    write its name, and compare the parameters with clang's; the functions without one are not called for HIP.

    So is a function of cuBLAS and the like that a program defines by `extern "C"`, for LD_PRELOAD: calls of it go to
    HIP's library, in that file too.
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
        Example(
            'extern "C" {\ncublasStatus_t cublasCreate_v2(cublasHandle_t* h) { return real(__func__)(h); }\n}',
            'extern "C" {\nhipblasStatus_t cublasCreate_v2(hipblasHandle_t* h) { return real(__func__)(h); }\n}',
            "a function of a library",
            findings=1,
        ),
        Example('const char* s = "__cudaRegisterFatBinary";', note="a text"),
        Example("cudaError_t cudaMalloc(void** p, size_t n) { return mine(p, n); }", note="for builds without CUDA"),
        Example('extern "C" int cudaMalloc(void** p, size_t n) { return mine(p, n); }', note="with no type of CUDA's"),
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
        if "RTLD_NEXT" not in unit.words and not ("extern" in unit.text and unit.once(_replaced)):
            return
        for f in unit.functions:
            row = unit.catalog.get(f.name) if f.name in unit.words else None
            if row is not None and (_is_linked_as(unit, f) or _looks_up(unit, f)):
                yield self.finding(
                    f"`{f.name}` takes the place of NVIDIA's function; HIP programs call "
                    + (f"`{row.hip}`" if row.hip else "none like it"),
                    unit.p[f.name_at],
                    unit.end(f.name_at),
                    effects=(("all", "wrong-result"),),
                )


def _looks_up(unit: Unit, f: Function) -> bool:
    """Whether a function with a name of the runtime asks for the next one of that name."""
    if "RTLD_NEXT" not in unit.words or not _RUNTIME.match(f.name):
        return False
    return _LOOKS_UP.search(unit.text, unit.p[f.body[0]], unit.end(f.body[1])) is not None


def _is_linked_as(unit: Unit, f: Function) -> bool:
    """Whether a function is linked by its name alone (`extern "C"`), keeps it, and returns a type of CUDA's."""
    named = '"C"' in (unit.tok(f.first - 1), *unit.t[f.first : f.name_at])
    if not named and next(unit.once(_blocks).around(f.name_at), None) is None:
        return False
    replaced = unit.once(_replaced)
    return unit.p[f.name_at] not in replaced and any(unit.p[k] in replaced for k in range(f.first, f.name_at))


def _replaced(unit: Unit) -> frozenset[int]:
    """Where the names of CUDA's begin that become HIP's."""
    return frozenset(e.start for found in api_facts(unit).findings.values() for e in found if e.edits)


def _blocks(unit: Unit) -> Nested:
    """The blocks of `extern "C"`."""
    opened = [i + 2 for i in unit.find("extern") if unit.tok(i + 1) == '"C"' and unit.match[i + 2] > i]
    return Nested((k, unit.match[k]) for k in opened)
