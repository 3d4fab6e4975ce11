from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.engine.warp_report import hazard_findings
from cu2port.facts.unit import Unit
from cu2port.warp.hazard_kinds import HazardKind

_CALL = """__device__ void meet(int id) { NamedBarrier::sync(64, id); }
"""


class NamedBarrierUse(Check):
    """A barrier with a number, or for some of a block's warps.

    AMD GPUs have one barrier, of the whole block. PTX's numbered barriers become counts in shared memory, for which
    whole wavefronts wait: right with 32 lanes; with 64, where both warps of a wavefront take the same part, or with
    `--warp solo`. A class that hides such a barrier wants the same.
    """

    code, name = "CU364", "named-barrier"
    examples = (
        Example(_CALL, _CALL, "a class for it"),
        Example("__device__ void f() { __syncthreads(); }", note="the block's barrier"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        yield from hazard_findings(self, unit, HazardKind.NAMED_BARRIER, "hang")
