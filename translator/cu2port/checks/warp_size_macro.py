from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.late import regex
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.structure import Macro
from cu2port.facts.unit import Unit, condition_words

_DEVICE = regex(r"__(?:GFX\d+__|gfx\w+__|AMDGCN\w*|HIP_DEVICE_COMPILE__)\Z")
_IN_DEVICE = ("__GFX", "__gfx", "__AMDGCN", "__HIP_DEVICE")
_WIDTHS = frozenset({"32", "64"})


class WarpSizeMacro(Check):
    """A macro is 64 or 32 by the GPU that is compiled for, so host and device disagree about it.

    Macros of the GPU (`__GFX9__` and its like) are not defined while the host's side is compiled. What counts warps
    there, grids and sizes of shared memory, is made from the other number. Ask for the size when it runs on the host,
    or keep 32 on both sides.
    """

    code, name, severity = "CU321", "warp-size-macro", Severity.WARNING
    _both = "#if defined(__GFX8__) || defined(__GFX9__)\n#define WARP 64\n#else\n#define WARP 32\n#endif\n"
    examples = (
        Example(_both, _both, findings=1),
        Example("#ifdef USE_HIP\n#define WARP 64\n#else\n#define WARP 32\n#endif\n", note="one number on both sides"),
        Example("#ifdef __GFX9__\n#define ROWS 64\n#define COLUMNS 32\n#endif\n", note="two macros"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not any(x in unit.text for x in _IN_DEVICE) or not unit.names(_DEVICE, "_") or not unit.words >= _WIDTHS:
            return
        for name, definitions in unit.macros.items():
            wide = [m for m in definitions if _width(unit, m) == "64" and _by_gpu(unit, m)]
            if wide and any(_width(unit, m) == "32" for m in definitions):
                at = wide[0].directive
                yield self.finding(
                    f"`{name}` is 64 on some GPUs and 32 on the host",
                    at.start,
                    at.end,
                    effects=(("wave64", "wrong-result"), ("wave32", "none")),
                )


def _width(unit: Unit, m: Macro) -> str:
    body = unit.t[m.first : m.stop]
    return body[0].rstrip("uUlL") if m.params is None and len(body) == 1 and body[0].rstrip("uUlL") in _WIDTHS else ""


def _by_gpu(unit: Unit, m: Macro) -> bool:
    return any(_DEVICE.match(w) for g in unit.conditions(m.directive.start) for w in condition_words(unit, g))
