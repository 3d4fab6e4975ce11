from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.model import Finding, Options, Severity
from cu2port.engine.check import Check, Example
from cu2port.facts.unit import Unit


class WmmaWavefront(Check):
    """Matrix fragments of `nvcuda::wmma` belong to a warp of 32 threads; rocWMMA's belong to a wavefront.

    Code gets rocWMMA with `--warp native` and `flag`; else fragments keep their 32 threads (`wmma.hpp`). On gfx9 GPUs a
    wavefront has 64 threads: launches that count 32 threads a fragment compute half of it or nothing. Take
    the number from the device, and look at the tile sizes that rocWMMA has.
    """

    code, name, severity = "CU720", "wmma-wavefront", Severity.WARNING
    triggers = frozenset({"nvcuda", "rocwmma"})
    minutes = 120
    examples = (
        Example(
            "using namespace nvcuda;\n__global__ void k() { wmma::fill_fragment(c, 0.0f); }",
            "using namespace rocwmma;\n__global__ void k() { rocwmma::fill_fragment(c, {0.0f}); }",
            options=Options(warp="native"),
        ),
        Example("using namespace nvcuda;\n__global__ void k() { wmma::fill_fragment(c, 0.0f); }", note="32 threads"),
        Example("namespace wmma { int fill_fragment(int); }", note="another's name"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if "rocwmma" not in unit.words and (unit.options.warp not in ("native", "flag") or "cu2port" in unit.words):
            return  # fragments of 32 threads
        if not unit.words & {"nvcuda", "rocwmma"}:
            return
        for i in unit.find("mma_sync", "load_matrix_sync", "fill_fragment"):
            yield self.finding(
                "fragments are spread over a wavefront, which has 64 threads on gfx9; reported once per file",
                unit.p[i],
                unit.end(i),
                effects=(("wave64", "wrong-result"),),
            )
            return
