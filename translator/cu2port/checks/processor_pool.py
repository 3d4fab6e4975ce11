from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.late import regex
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_COUNTS = frozenset(
    {
        "multiProcessorCount",
        "cudaDevAttrMultiProcessorCount",
        "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT",
        "hipDeviceAttributeMultiprocessorCount",
    }
)
_ID = regex(r"%smid\b")
_PRINTS = frozenset({"printf", "fprintf"})


class ProcessorPool(Check):
    """The number of the multiprocessor is read (`%smid`, `__smid()`), by which programs index storage.

    NVIDIA's numbers run from 0 to `multiProcessorCount` - 1. AMD's name shader engine and compute unit, with gaps: up
    to 125 was seen on a GPU with 104 units. An array with an element for each multiprocessor is too small, and the
    store beyond its end is silent. Make it as large as the largest number, found by a kernel; a remainder would let
    two units share an element. What is indexed by `blockIdx` is right as it is.
    """

    code, name = "CU605", "processor-number"
    minutes = 30
    examples = (
        Example(
            "__global__ void k(int* pool) { pool[__smid()] = 1; }\n",
            "__global__ void k(int* pool) { pool[__smid()] = 1; }\n",
            findings=1,
        ),
        Example(
            "int n(cudaDeviceProp p) { return p.multiProcessorCount; }\n__device__ unsigned id() { unsigned r; "
            'asm("mov.u32 %0, %%smid;" : "=r"(r)); return r; }\n',
            '#include "cu2port/ptx.hpp"\nint n(hipDeviceProp_t p) { return p.multiProcessorCount; }\n'
            "__device__ unsigned id() { unsigned r; r = cu2port::ptx::smid(); return r; }\n",
            "where the file counts multiprocessors",
        ),
        Example('__global__ void k() { printf("%d", __smid()); }\n', note="shown to people"),
        Example("int n(cudaDeviceProp p) { return p.multiProcessorCount; }\n"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        reads = [i for i in unit.find("__smid") if unit.tok(i + 1) == "("]
        reads += [a for a, first, last in unit.asms if any(_ID.search(w) for w in unit.t[first:last] if "smid" in w)]
        counts = bool(unit.words & _COUNTS)
        for i in sorted(reads):
            enclosing = unit.enclosing[i]
            if enclosing > 0 and unit.tok(enclosing - 1) in _PRINTS:
                continue
            indexes = enclosing >= 0 and unit.t[enclosing] == "["
            yield self.finding(
                "numbers of compute units have gaps on AMD GPUs, beyond `multiProcessorCount`",
                unit.p[i],
                unit.end(i),
                severity=Severity.WARNING if counts or indexes else Severity.INFO,
                effects=(("all", "wrong-result"),),
            )
