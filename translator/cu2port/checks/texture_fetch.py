from __future__ import annotations

from collections.abc import Iterator

from cu2port.catalog import lack_images
from cu2port.core.model import Finding, Options, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_OF = ("1D", "2D", "3D", "1DLayered", "2DLayered", "3DLayered", "Cubemap", "CubemapLayered")
_FETCHES = frozenset(f"tex{of}{how}" for of in _OF for how in ("", "fetch", "Lod", "Grad", "gather"))


class TextureFetch(Check):
    """A texture is read. GPUs for computing alone (gfx942, gfx950) have no texture units.

    HIP defines `__HIP_NO_IMAGE_SUPPORT` there and marks `tex1D` and its kin as unavailable: the file does not
    compile. With such a GPU in `--arch`, arrays, texture objects and surfaces become those of `cu2port/texture.hpp`,
    which keeps them in plain memory and does the work of a texture unit; cubes, gradients and mipmaps stay.
    """

    code, name, severity = "CU209", "texture-fetch", Severity.WARNING
    triggers = _FETCHES
    minutes = 60
    examples = (
        Example(
            "__device__ float f(T t, float x) { return tex1D<float>(t, x); }",
            "__device__ float f(T t, float x) { return tex1D<float>(t, x); }",
        ),
        Example(
            "__device__ float f(T t, float x) { return tex1D<float>(t, x); }",
            note="replaced by `cu2port::tex1D`",
            options=Options(archs=("gfx942",)),
        ),
        Example("void f() { obj.tex1D(1); int tex2D = 0; }", note="another's name"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        replaced = lack_images(unit.options.archs)
        for i in unit.find(*_FETCHES):
            tok = unit.t[i]
            if unit.is_member(i) or tok in unit.macros or unit.owns(tok):
                continue
            row = unit.catalog.get(tok)
            call = unit.call(i)
            if call is None or (replaced and row is not None and row.no_images):
                continue
            software = "; `--arch gfx942` has it read in software" if not replaced and row and row.no_images else ""
            yield self.finding(
                f"`{tok}` needs texture units, which gfx942 and gfx950 do not have{software}",
                unit.p[i],
                unit.end(call.close),
                cuda=tok,
                effects=(("gfx942", "compile-error"), ("gfx950", "compile-error")),
            )
