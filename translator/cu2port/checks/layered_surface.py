from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit

_ACCESS = tuple(f"surf{kind}Layered{what}" for kind in ("1D", "2D") for what in ("read", "write"))
_LAYERED = frozenset({"cudaArrayLayered", "CUDA_ARRAY3D_LAYERED", "hipArrayLayered"})
_STORE = frozenset({"cudaArraySurfaceLoadStore", "CUDA_ARRAY3D_SURFACE_LDST", "hipArraySurfaceLoadStore"})


class LayeredSurface(Check):
    """A surface of a layered array is read or written.

    HIP's functions put the layer into the place of the mip level (ROCm 7.2, gfx90a): all layers read back as the one
    written last, and no synchronisation helps. Allocate a 3D array without the layered flag, and use `surf3Dread`,
    `surf3Dwrite` and `tex3D` with the layer as z.
    """

    code, name = "CU608", "layered-surface"
    triggers = frozenset({*_ACCESS, *_LAYERED})
    minutes = 60
    examples = (
        Example(
            "__global__ void k(cudaSurfaceObject_t s) { surf2DLayeredwrite(1.0f, s, 4, 2, 3); }",
            "__global__ void k(hipSurfaceObject_t s) { surf2DLayeredwrite(1.0f, s, 4, 2, 3); }",
        ),
        Example(
            "cudaMalloc3DArray(&a, &d, e, cudaArrayLayered | cudaArraySurfaceLoadStore);",
            "hipMalloc3DArray(&a, &d, e, hipArrayLayered | hipArraySurfaceLoadStore);",
            "the array",
        ),
        Example("cudaMalloc3DArray(&a, &d, e, cudaArrayLayered);", note="for textures alone"),
        Example("__global__ void k(cudaSurfaceObject_t s) { surf3Dwrite(1.0f, s, 4, 2, 3); }"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        for i in unit.find(*_ACCESS):
            yield self._at(unit, i, f"`{unit.t[i]}` takes the layer for a mip level in HIP")
        for i in unit.find(*_LAYERED):
            others = (unit.t[i - 2 : i] + unit.t[i + 1 : i + 3]) if "|" in unit.t[i - 1 : i + 2] else []
            if _STORE.intersection(others):
                yield self._at(unit, i, "surfaces of a layered array all lead to one layer in HIP")

    def _at(self, unit: Unit, i: int, message: str) -> Finding:
        return self.finding(message, unit.p[i], unit.end(i), effects=(("all", "wrong-result"),))
