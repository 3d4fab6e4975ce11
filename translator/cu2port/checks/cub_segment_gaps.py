from __future__ import annotations

import re
from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.engine.cubcalls import argument, device_calls
from cu2port.facts.unit import Unit


class CubSegmentGaps(Check):
    """A segmented sort works on a `DoubleBuffer`: elements outside of all segments are undefined behind it.

    CUB leaves them where they were in practice; hipCUB's `Current()` may be the buffer that they never got into. Where
    segments leave gaps that are read later, copy the input to both buffers first.
    """

    code, name, severity = "CU714", "cub-segment-gaps", Severity.INFO
    triggers = frozenset({"DeviceSegmentedRadixSort", "DeviceSegmentedSort"})
    note_minutes = 5
    examples = (
        Example(
            "cub::DoubleBuffer<int> k(a, b);\ncub::DeviceSegmentedRadixSort::SortKeys(t, n, k, 9, 3, o, e);\n",
            "hipcub::DoubleBuffer<int> k(a, b);\nhipcub::DeviceSegmentedRadixSort::SortKeys(t, n, k, 9, 3, o, e);\n",
        ),
        Example("cub::DeviceSegmentedRadixSort::SortKeys(t, n, a, b, 9, 3, o, e);\n", note="two pointers"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i, call in device_calls(unit, "DeviceSegmentedRadixSort", "DeviceSegmentedSort"):
            name = argument(unit, call, 2)
            if name.isidentifier() and re.search(rf"\bDoubleBuffer\s*<[^;]{{0,200}}>\s*&?\s*{name}\b", unit.text):
                yield self.finding(
                    f"elements of `{name}` outside of all segments are undefined after the sort",
                    unit.p[i],
                    unit.end(call.close),
                )
