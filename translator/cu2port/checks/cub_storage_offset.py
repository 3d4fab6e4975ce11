from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.engine.cubcalls import argument, device_calls
from cu2port.facts.unit import Unit

_ALGORITHMS = (
    "DeviceScan",
    "DeviceReduce",
    "DeviceRadixSort",
    "DeviceSelect",
    "DeviceRunLengthEncode",
    "DevicePartition",
)
_FAR = 8000  # bytes before a call in which its variable gets a value
_SUM = re.compile(r"[\w)\]]\s*\+\s*[\w(]")
_EVEN = re.compile(r"(?i)align|round|\b256\b|\bceil")


class CubStorageOffset(Check):
    """The temporary storage of a CUB algorithm is cut from a buffer at an offset that nothing rounds.

    CUB aligns it by itself. hipCUB's scan gave other values each run where the address modulo 8 was 4, 5 or 6
    (ROCm 7.2.1, gfx90a). Round the offset up to 256 bytes.
    """

    code, name = "CU713", "cub-storage-offset"
    triggers = frozenset(_ALGORITHMS)
    minutes = 10
    examples = (
        Example(
            "cub::DeviceScan::ExclusiveSum(base + m * sizeof(int), n, a, b, m);",
            "hipcub::DeviceScan::ExclusiveSum(base + m * sizeof(int), n, a, b, m);",
        ),
        Example(
            "void f(char* base, int m) { void* t = base + 4 * m; cub::DeviceScan::InclusiveSum(t, n, a, b, m); }",
            "void f(char* base, int m) { void* t = base + 4 * m; hipcub::DeviceScan::InclusiveSum(t, n, a, b, m); }",
            "through a variable",
        ),
        Example("cub::DeviceScan::ExclusiveSum(base + align(m * 4, 256), n, a, b, m);", note="rounded"),
        Example("cub::DeviceScan::ExclusiveSum(t, n, a + 4, b, m);", note="another argument"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i, call in device_calls(unit, *_ALGORITHMS):
            storage = argument(unit, call, 0)
            if storage.isidentifier():
                f = unit.function_at(i)
                value = re.compile(rf"\b{storage}\s*=(?!=)([^;]{{1,400}});")
                found = (
                    list(value.finditer(unit.text, max(unit.p[f.body[0]], unit.p[i] - _FAR), unit.p[i]))
                    if f is not None
                    else []
                )
                storage = found[-1][1] if found else ""
            if _SUM.search(storage) and not _EVEN.search(storage):
                yield self.finding(
                    "temporary storage at an offset that is not rounded gave wrong values on AMD GPUs",
                    unit.p[i],
                    unit.end(call.close),
                    effects=(("all", "wrong-result"),),
                )
