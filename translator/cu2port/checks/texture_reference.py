from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.unit import Unit


class TextureReference(Check):
    """A texture or surface reference, which CUDA 12 removed and HIP has marked as deprecated.

    HIP still declares `texture<T, dim, mode>`, but not for GPUs without texture units (gfx90a partly, gfx942, gfx950).
    Pass a texture object to the kernel, or read global memory.
    """

    code, name, severity = "CU208", "texture-reference", Severity.WARNING
    triggers = frozenset({"texture", "surface"})
    lint = InLint(chosen=True)
    minutes = 120
    counterpart = False
    examples = (
        Example("texture<float, 1> t;", "texture<float, 1> t;"),
        Example("surface<void, 2> s;", "surface<void, 2> s;", "a surface"),
        Example("my::texture<float> t; struct texture { int x; };", note="another's name"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find("texture", "surface"):
            tok = unit.t[i]
            if unit.tok(i + 1) != "<" or unit.tok(i - 1) in ("::", ".", "->"):
                continue
            close = unit.angle_close(i + 1)
            if close < 0 or unit.declares(i) or unit.function_at(i) is not None:
                continue
            yield self.finding(
                f"a {tok} reference: gone since CUDA 12, deprecated in HIP and missing on gfx942",
                unit.p[i],
                unit.end(close),
                effects=(("gfx942", "compile-error"),),
            )
