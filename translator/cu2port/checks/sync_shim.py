from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.hipcode import is_hips
from cu2port.facts.unit import Unit
from cu2port.facts.warpnames import SHUFFLES, SYNC


class SyncShim(Check):
    """Code for HIP defines one of CUDA's `*_sync` builtins as a macro.

    Such shims date from before ROCm 7, which has the builtins: the macro rewrites HIP's own headers where they come
    after it. A shim that drops the mask and gives no width also makes a warp of the whole wavefront.
    """

    code, name, severity = "CU322", "sync-shim", Severity.WARNING
    triggers = frozenset(SYNC)
    true_of_hip = True
    _shim = "#ifdef __HIP_PLATFORM_AMD__\n#define __shfl_xor_sync(mask, v, bits) __shfl_xor(v, bits)\n#endif\n"
    _width = "#if defined(USE_ROCM)\n#define __shfl_sync(mask, v, lane, width) __shfl(v, lane, width)\n#endif\n"
    examples = (
        Example(_shim, _shim),
        Example(_width, _width, "with a width"),
        Example("#if CUDART_VERSION < 9000\n#define __shfl_sync(m, v, l) __shfl(v, l)\n#endif\n", note="for old CUDA"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if unit.words.isdisjoint(SYNC):
            return
        found = [m for name in SYNC & unit.macros.keys() for m in unit.macros[name]]
        for m in found:
            if not is_hips(unit, m.directive.start):
                continue
            calls = [unit.call(i) for i in range(m.first, m.stop) if unit.t[i] in SHUFFLES]
            narrow = bool(calls) and all(c is not None and len(c.args) > 2 for c in calls)
            yield self.finding(
                f"`{m.name}` is HIP's own since ROCm 7; this macro hides it" + ("" if narrow else " and says no width"),
                m.directive.start,
                m.directive.end,
                effects=(("all", "compile-error"),) if narrow else (("wave64", "wrong-result"),),
            )
