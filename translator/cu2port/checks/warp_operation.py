from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Options, Severity
from cu2port.engine.check import Check, Example
from cu2port.engine.warp_report import facts_of
from cu2port.facts.unit import Unit

_FLAG = Options(warp="flag")
_GROUP = """__device__ float f(float v) {
  auto block = cooperative_groups::this_thread_block();
  auto warp = cooperative_groups::tiled_partition<32>(block);
  return warp.shfl_xor(v, 16);
}
"""
_SYNC = "__device__ void f() { __syncwarp(); }\n"


class WarpOperation(Check):
    """An operation of a warp: of a tile of threads, or `__syncwarp`.

    Reported with `--warp flag`, so that no warp code is overlooked. A tile of 32 is half a wavefront of 64 and means
    the same; `__syncwarp()` without a mask holds the whole wavefront, which does no harm.
    """

    code, name, severity = "CU352", "warp-operation", Severity.INFO
    modes = frozenset({"flag"})
    examples = (
        Example(_GROUP, _GROUP, "a tile", options=_FLAG, findings=1),
        Example(_SYNC, _SYNC, "a fence", options=_FLAG),
        Example("__device__ int f(G x) { return x.any(3); }", note="no group that is known", options=_FLAG),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for d in facts_of(unit).devices:
            for e in d.events.values():
                if e.kind != "lanes" or (e.name.startswith("__") and (e.name != "__syncwarp" or e.values)):
                    continue
                yield self.finding(
                    f"`{e.name}` works on the lanes of a warp",
                    unit.p[e.at],
                    unit.end(e.at),
                    effects=(("wave64", "none"),),
                )
