from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.unit import Unit


class DynamicParallelism(Check):
    """A kernel launches a kernel. HIP has no dynamic parallelism.

    Let the host launch the child kernel, with the sizes read back or kept in a queue, or loop inside one kernel.
    """

    code, name, severity = "CU207", "dynamic-parallelism", Severity.ERROR
    triggers = frozenset({"__device__", "__global__"})
    lint = InLint(chosen=True)
    minutes = 480
    counterpart = False
    examples = (
        Example("__global__ void k() { child<<<1, 2>>>(); }", "__global__ void k() { child<<<1, 2>>>(); }"),
        Example("void f() { k<<<1, 2>>>(); }\n__global__ void k() {}", note="the host launches"),
        Example("__host__ __device__ void f();\nvoid g() { k<<<1, 2>>>(); }", note="the host launches"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for launch in unit.launches:
            f = unit.function_at(launch.open)
            if f is None or "__host__" in f.sides or not f.sides & {"__global__", "__device__"}:
                continue
            yield self.finding(
                f"`{f.name}` runs on the GPU and launches a kernel; HIP has no dynamic parallelism",
                unit.p[launch.callee],
                unit.end(launch.close + 2),
                effects=(("all", "compile-error"),),
            )
