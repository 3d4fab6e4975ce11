from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_MACROS = ("__AMDGCN_WAVEFRONT_SIZE__", "__AMDGCN_WAVEFRONT_SIZE")


class WavefrontMacro(Check):
    """`__AMDGCN_WAVEFRONT_SIZE`, which compilers of ROCm 7 no longer define.

    It was deprecated with ROCm 6.3 and is gone: `#if` takes it for 0, other code does not compile. Ported code that
    keeps warps of 32 lanes does not need it. Elsewhere ask when it runs (`warpSize` on the device,
    `hipDeviceAttributeWarpSize` on the host), or make the width a template parameter.
    """

    code, name, severity = "CU320", "wavefront-macro", Severity.WARNING
    triggers = frozenset(_MACROS)
    true_of_hip = True
    examples = (
        Example(
            "#ifdef __HIP_PLATFORM_AMD__\n#define WARP_SIZE __AMDGCN_WAVEFRONT_SIZE\n#endif\n",
            "#ifdef __HIP_PLATFORM_AMD__\n#define WARP_SIZE __AMDGCN_WAVEFRONT_SIZE\n#endif\n",
        ),
        Example(
            "#if __AMDGCN_WAVEFRONT_SIZE__ == 64\nint n;\n#endif\n",
            "#if __AMDGCN_WAVEFRONT_SIZE__ == 64\nint n;\n#endif\n",
            "in a condition",
        ),
        Example("#define WARP_SIZE 32\n", note="a number"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_MACROS):
            d = unit.in_directive(i)
            asked = d is not None and d.keyword in ("if", "elif", "ifdef", "ifndef")
            yield self.finding(
                f"`{unit.t[i]}` is not defined with ROCm 7" + ("; the condition treats it as 0" if asked else ""),
                unit.p[i],
                unit.end(i),
                effects=(("wave64", "wrong-result"), ("wave32", "none")) if asked else (("all", "compile-error"),),
            )
