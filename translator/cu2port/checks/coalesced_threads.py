from __future__ import annotations

from collections.abc import Iterator

from cu2port.checks.coalesced_split import is_split
from cu2port.core.model import Finding, Options, Severity
from cu2port.engine.check import Check, Example
from cu2port.engine.warp_report import hazard_findings
from cu2port.facts.unit import Unit
from cu2port.warp.hazard_kinds import HazardKind

_WIDE = """__device__ int f(int* p) {
  auto g = cooperative_groups::coalesced_threads();
  return g.thread_rank() == 0 ? atomicAdd(p, g.size()) : 0;
}
"""
_SPLIT = _WIDE.replace(
    "cooperative_groups::coalesced_threads()",
    "cooperative_groups::binary_partition(cooperative_groups::coalesced_threads(), cu2port::warp::upper())",
)


class CoalescedThreads(Check):
    """`coalesced_threads()` makes a group of the active lanes of a wavefront, which may be 64.

    Counts, ranks and leaders are then those of two CUDA warps. Code that only shares work among the lanes is right
    with 64 of them; code that relies on at most 32, or on one group a CUDA warp, is not: split the group by the half
    of the wavefront with `binary_partition`, as CU318 does.
    """

    code, name, severity = "CU366", "coalesced-threads", Severity.WARNING
    examples = (
        Example(_WIDE, _WIDE, "`--warp flag`", options=Options(warp="flag")),
        Example(_WIDE, note="split by CU318"),
        Example(_SPLIT, note="split already", options=Options(warp="flag")),
        Example("__device__ void f() { auto b = cooperative_groups::this_thread_block(); b.sync(); }", note="a block"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.options.warp != "flag" and unit.options.rocm >= (7, 0):
            return  # CU318 splits it
        split = {unit.p[i] for i in unit.find("coalesced_threads") if is_split(unit, i)}
        found = hazard_findings(self, unit, HazardKind.COALESCED, "wrong-result")
        yield from (f for f in found if f.start not in split)
