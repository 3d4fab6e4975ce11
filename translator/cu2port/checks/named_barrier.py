from __future__ import annotations

from collections.abc import Iterator

from cu2port.check import Check, Example
from cu2port.model import Finding
from cu2port.unit import Unit
from cu2port.warp.hazards import Trouble
from cu2port.warp.report import hazard_findings

_CALL = """__device__ void meet(int id) { NamedBarrier::sync(64, id); }
"""


class NamedBarrierUse(Check):
    """A barrier with a number, or for some of a block's warps.

    AMD GPUs have one barrier, of the whole block. Warps that meet without the others need another way: a count in
    shared memory that whole wavefronts wait for, or a barrier of the block that all threads come to.
    """

    code, name = "CU364", "named-barrier"
    examples = (
        Example(_CALL, _CALL, "a class for it"),
        Example("__device__ void f() { __syncthreads(); }", note="the block's barrier"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        yield from hazard_findings(self, unit, Trouble.NAMED_BARRIER, "hang")
