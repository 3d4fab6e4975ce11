from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity, replace
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit


class LaunchBounds(Check):
    """`__launch_bounds__` has a second or third argument, which HIP reads as something else.

    CUDA: the least number of blocks a multiprocessor, then the most blocks a cluster. HIP hands the second to
    `amdgpu_waves_per_eu`, another unit, and expands three arguments to nonsense. Both only tune, so they are dropped.
    """

    code, name, severity = "CU203", "launch-bounds", Severity.INFO
    triggers = frozenset({"__launch_bounds__"})
    minutes = 2
    examples = (
        Example(
            "__global__ void __launch_bounds__(256, 4) k();",
            "__global__ void __launch_bounds__(256) k();",
        ),
        Example(
            "__global__ void __launch_bounds__(N * 2, 4, 2) k();",
            "__global__ void __launch_bounds__(N * 2) k();",
            "blocks a cluster",
        ),
        Example("#define LB __launch_bounds__(128, 2)\n", "#define LB __launch_bounds__(128)\n", "in a macro body"),
        Example(
            "KERNEL(__launch_bounds__(A, B), k)",
            "KERNEL(__launch_bounds__(A), k)",
            "as a macro's argument",
        ),
        Example("__global__ void __launch_bounds__(256) k();", note="means the same in HIP"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find("__launch_bounds__"):
            call = unit.call(i)
            if call is None or len(call.args) < 2 or unit.text[call.args[1].start : call.args[1].end] in ("", "0"):
                continue
            extra = unit.text[call.args[1].start : call.args[-1].end]
            yield self.finding(
                f"launch bounds: `{extra}` counts blocks in CUDA and waves in HIP; dropped",
                unit.p[i],
                unit.end(call.close),
                (replace(call.args[0].end, call.args[-1].end, ""),),
                effects=(("all", "slower"),),
            )
