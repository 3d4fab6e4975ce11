from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.engine.cubcalls import argument, device_calls
from cu2port.facts.unit import Unit

_ALL = re.compile(r"(?:32|64|.*\bsizeof\b.*)\Z", re.S)
_MOST = 64  # bits of a key


class CubSortBits(Check):
    """A radix sort begins at a bit above 0 and ends with the last bit of the key.

    With such a range hipCUB's sort lost or doubled keys (ROCm 7.2.1, gfx90a); other ranges are right. Sort from bit 0
    where the lower bits may decide the order of equal keys, or shift the keys.
    """

    code, name = "CU712", "cub-sort-bits"
    triggers = frozenset({"DeviceRadixSort"})
    minutes = 20
    examples = (
        Example(
            "cub::DeviceRadixSort::SortKeys(t, n, a, b, m, 8, 32);",
            "hipcub::DeviceRadixSort::SortKeys(t, n, a, b, m, 8, 32);",
        ),
        Example(
            "cub::DeviceRadixSort::SortPairs(t, n, k, v, m, 16, sizeof(T) * 8, s);",
            "hipcub::DeviceRadixSort::SortPairs(t, n, k, v, m, 16, sizeof(T) * 8, s);",
        ),
        Example("cub::DeviceRadixSort::SortKeys(t, n, a, b, m, 0, 32);", note="all bits"),
        Example("cub::DeviceRadixSort::SortKeys(t, n, a, b, m, 8, 16, s);", note="bits in the middle"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i, call in device_calls(unit, "DeviceRadixSort"):
            for n in range(4, len(call.args) - 1):
                begin, end = argument(unit, call, n), argument(unit, call, n + 1)
                if begin.isdigit() and 0 < int(begin) < _MOST and _ALL.match(end) and begin != end:
                    yield self.finding(
                        f"a sort of the bits from {begin} to the last lost keys on AMD GPUs",
                        unit.p[i],
                        unit.end(call.close),
                        effects=(("all", "wrong-result"),),
                    )
                    break
